"""Special functions against mpmath: relative errors in float64, and correct rounding to float32 within one unit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

import celadon.vocabulary  # noqa: F401
from celadon.op import registry

Array = np.ndarray[Any, Any]
random = np.random.default_rng(7)


def uniform(low: float, high: float, count: int = 300) -> Array:
    return random.uniform(low, high, count)


def spread(low: float, high: float, count: int = 200) -> Array:
    """Positive numbers of all magnitudes between two powers of ten."""
    return 10.0 ** random.uniform(low, high, count)


def both(x: Array) -> Array:
    return np.concatenate([x, -x])


def _polygamma(n: Any, x: Any) -> Any:
    return mpmath.psi(int(n), x)


def _zeta(x: Any, q: Any) -> Any:
    """By Euler and Maclaurin's formula from the 200th term on, in 60 digits."""
    first = mpmath.fsum((q + k) ** -x for k in range(200))
    return first + mpmath.sumem(lambda k: (q + k) ** -x, [200, mpmath.inf], tol=mpmath.mpf(10) ** -30)


def _bessel(order: int) -> Callable[..., Any]:
    return lambda x: mpmath.exp(-abs(x)) * mpmath.besseli(order, x)


def _log_gamma(x: Any) -> Any:
    return mpmath.log(abs(mpmath.gamma(x)))


near_one = 1 - 10.0 ** random.uniform(-15, -1, 100)
CASES: list[tuple[str, Callable[..., Any], tuple[Array, ...], float]] = [
    ("erf", mpmath.erf, (both(np.concatenate([uniform(0, 6), spread(-20, 0)])),), 1e-15),
    ("erfc", mpmath.erfc, (np.concatenate([uniform(-6, 6), uniform(6, 26)]),), 2e-15),
    ("erf_inv", mpmath.erfinv, (both(np.concatenate([uniform(0, 1, 100), near_one, spread(-300, -1, 50)])),), 1e-15),
    ("bessel_i1e", _bessel(1), (both(np.concatenate([uniform(0, 30), spread(-10, 10)])),), 5e-15),
    ("lgamma", _log_gamma, (np.concatenate([uniform(0, 20), spread(-20, 3), 1 + both(spread(-8, -1, 50))]),), 2e-15),
    ("digamma", mpmath.digamma, (np.concatenate([uniform(0, 1.4), uniform(1.5, 20), spread(-10, 10)]),), 1e-14),
    ("polygamma", _polygamma, (np.floor(uniform(0, 12, 200)), uniform(0.1, 40, 200)), 1e-13),
    ("polygamma", _polygamma, (np.floor(uniform(0, 6, 100)), uniform(-9.9, 0, 100)), 1e-12),
    ("zeta", _zeta, (uniform(1.01, 30, 30), uniform(0.1, 40, 30)), 1e-14),
    ("exponential_minus_one", mpmath.expm1, (both(np.concatenate([uniform(0, 10), spread(-20, 0)])),), 1e-15),
    ("log_plus_one", mpmath.log1p, (np.concatenate([uniform(-0.99, 10), both(spread(-20, -1))]),), 1e-15),
    ("logistic", lambda x: 1 / (1 + mpmath.exp(-x)), (uniform(-700, 700),), 1e-15),
    ("cbrt", lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), (both(spread(-30, 30)),), 1e-15),
    ("rsqrt", lambda x: 1 / mpmath.sqrt(x), (spread(-30, 30),), 1e-15),
    ("bessel_i0e", _bessel(0), (both(np.concatenate([uniform(0, 30), spread(-10, 10)])),), 5e-15),
]


def exact(function: Callable[..., Any], operands: tuple[Array, ...]) -> list[Any]:
    with mpmath.workdps(60):
        return [mpmath.re(function(*map(mpmath.mpf, map(float, one)))) for one in zip(*operands, strict=True)]


def relative_errors(found: Array, true: list[Any]) -> list[float]:
    with mpmath.workdps(60):
        return [float(abs((mpmath.mpf(float(x)) - t) / t)) for x, t in zip(found, true, strict=True)]


@pytest.mark.parametrize(("name", "function", "operands", "limit"), CASES, ids=[case[0] for case in CASES])
def test_double_precision(name: str, function: Callable[..., Any], operands: tuple[Array, ...], limit: float) -> None:
    with np.errstate(all="ignore"):
        found = registry[name].numpy(*operands)
    assert max(relative_errors(found, exact(function, operands))) <= limit


@pytest.mark.parametrize(("name", "function", "operands", "limit"), CASES, ids=[case[0] for case in CASES])
def test_single_precision(name: str, function: Callable[..., Any], operands: tuple[Array, ...], limit: float) -> None:
    with np.errstate(all="ignore"):
        rounded = tuple(x.astype(np.float32) for x in operands)
        usual = np.logical_and.reduce([np.abs(x) > 1e-30 for x in rounded]) & (np.abs(rounded[-1]) != 1)
        rounded = tuple(x[usual] for x in rounded)
        found = registry[name].numpy(*rounded)
    assert found.dtype == np.float32
    normal = (np.abs(found) > 1e-37) & np.isfinite(found)
    assert normal.sum() > len(found) / 2
    true = exact(function, tuple(x[normal] for x in rounded))
    assert max(relative_errors(found[normal], true)) <= 2.0**-24 * 1.001


@pytest.mark.parametrize(
    ("name", "x", "value"),
    [
        ("erf", np.inf, 1.0), ("erf", -np.inf, -1.0), ("erfc", np.inf, 0.0), ("erfc", -np.inf, 2.0),
        ("erf_inv", 1.0, np.inf), ("erf_inv", -1.0, -np.inf), ("erf_inv", 1.5, np.nan), ("erf_inv", 0.0, 0.0),
        ("lgamma", 0.0, np.inf), ("lgamma", -3.0, np.inf), ("lgamma", -np.inf, np.inf), ("lgamma", 1.0, 0.0),
        ("lgamma", 2.0, 0.0), ("digamma", -1.0, np.nan), ("digamma", np.inf, np.inf), ("bessel_i1e", np.inf, 0.0),
        ("logistic", -np.inf, 0.0), ("logistic", np.inf, 1.0), ("log_plus_one", -1.0, -np.inf),
    ],
)  # fmt: skip
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_edges(name: str, x: float, value: float, dtype: str) -> None:
    with np.errstate(all="ignore"):
        found = registry[name].numpy(np.array(x, dtype))
    assert np.array_equal(found, np.array(value, dtype), equal_nan=True)


@pytest.mark.parametrize("name", ["erf", "erfc", "erf_inv", "lgamma", "digamma", "bessel_i0e", "bessel_i1e"])
def test_nan_stays(name: str) -> None:
    assert np.isnan(registry[name].numpy(np.array(np.nan, "float32")))


def test_signed_zeros_stay() -> None:
    for name in ("erf", "erf_inv", "bessel_i1e", "cbrt", "sine", "tanh", "asinh", "log_plus_one"):
        found = registry[name].numpy(np.array([0.0, -0.0], "float32"))
        assert np.array_equal(np.signbit(found), [False, True]), name
