"""The math functions against mpmath: stated bounds in units in the last place, special values, weaker processors."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.special

from celadon.cpu.kinds import Target
from tests.cpu import flat

mpmath.mp.prec = 160
SAMPLES = 1200
DTYPE = {"f32": np.float32, "f64": np.float64}
Range = tuple[float, float]


@dataclass(frozen=True)
class Bound:
    """What an op may be off by, in ulp of float32 and float64, over ranges; `floor` allows for zeros that it misses."""

    op: str
    exact: Callable[[Any], Any]
    ulp: tuple[float, float]
    ranges: tuple[Range, ...]
    ranges64: tuple[Range, ...] = ()
    floor: float = 0.0

    def of(self, dtype: str) -> tuple[float, tuple[Range, ...]]:
        return (self.ulp[0], self.ranges) if dtype == "f32" else (self.ulp[1], self.ranges64 or self.ranges)


def real(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: mpmath.re(function(x))


NEAR: tuple[Range, ...] = ((-3, 3), (-0.5, 0.5), (-1e-3, 1e-3))
TURNS: tuple[Range, ...] = ((-10, 10), (-9e4, 9e4), (-1e12, 1e12))

BOUNDS = [
    Bound("exponential", mpmath.exp, (1.1, 1.1), ((-103, 88.7), *NEAR), ((-745, 709.7), *NEAR)),
    Bound("exponential_minus_one", mpmath.expm1, (1.6, 2), ((-20, 88.7), *NEAR), ((-40, 709.7), *NEAR)),
    Bound("log", mpmath.log, (1, 1), ((0, 3), (0.9, 1.1), (0, 1e30)), ((0, 3), (0.9, 1.1), (0, 1e300))),
    Bound("log_plus_one", mpmath.log1p, (1, 1), ((-1, 3), *NEAR[1:], (0, 1e20)), ((-1, 3), *NEAR[1:], (0, 1e200))),
    Bound("logistic", lambda x: 1 / (1 + mpmath.exp(-x)), (1.8, 1.8), ((-103, 20), *NEAR), ((-744, 40), *NEAR)),
    Bound("tanh", mpmath.tanh, (1.6, 2.7), ((-11, 11), *NEAR), ((-22, 22), *NEAR)),
    Bound("sinh", mpmath.sinh, (1.6, 2.6), ((-89.4, 89.4), *NEAR), ((-710.4, 710.4), *NEAR)),
    Bound("cosh", mpmath.cosh, (1.6, 1.6), ((-89.4, 89.4), *NEAR), ((-710.4, 710.4), *NEAR)),
    Bound("asinh", mpmath.asinh, (0.51, 3), (*NEAR, (-1e10, 1e10)), (*NEAR, (-1e200, 1e200))),
    Bound("acosh", mpmath.acosh, (0.51, 3), ((1, 3), (1, 1.01), (1, 1e10)), ((1, 3), (1, 1.01), (1, 1e200))),
    Bound("atanh", mpmath.atanh, (0.51, 2.5), ((-1, 1), *NEAR[1:], (0.99, 1))),
    Bound("sine", mpmath.sin, (1.8, 1.8), TURNS, (*TURNS, (-1e300, 1e300))),
    Bound("cosine", mpmath.cos, (1.8, 1.8), TURNS, (*TURNS, (-1e300, 1e300))),
    Bound("tan", mpmath.tan, (0.51, 3.5), TURNS, (*TURNS, (-1e300, 1e300))),
    Bound("atan", mpmath.atan, (0.51, 2), (*NEAR, (-1e5, 1e5))),
    Bound("asin", mpmath.asin, (0.51, 2.5), ((-1, 1), *NEAR[1:], (0.45, 0.55), (0.99, 1))),
    Bound("acos", mpmath.acos, (0.51, 2.5), ((-1, 1), *NEAR[1:], (0.45, 0.55), (0.99, 1))),
    Bound("sqrt", mpmath.sqrt, (0.51, 0.51), ((0, 3), (0, 1e30), (0, 1e-40))),
    Bound("rsqrt", lambda x: 1 / mpmath.sqrt(x), (1.5, 1.5), ((0, 3), (0, 1e30), (0, 1e-40))),
    Bound("cbrt", lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), (0.51, 1), (*NEAR, (-1e30, 1e30), (-1e-40, 1e-40))),
    Bound("erf", mpmath.erf, (1.3, 1.3), ((-4.2, 4.2), *NEAR), ((-6.2, 6.2), *NEAR)),
    Bound("erfc", mpmath.erfc, (0.51, 4), ((-4, 10), *NEAR), ((-6, 26.5), *NEAR)),
    Bound("erf_inv", mpmath.erfinv, (2, 2), ((-1, 1), *NEAR[1:], (0.99, 1))),
    Bound("bessel_i1e", lambda x: mpmath.exp(-abs(x)) * mpmath.besseli(1, x), (0.51, 4), (*NEAR, (-100, 100))),
    Bound("lgamma", real(mpmath.loggamma), (0.51, 4), ((0.01, 10), (0.9, 1.1), (1.9, 2.1), (0, 1e5)), floor=1e-16),
    Bound("digamma", mpmath.digamma, (0.51, 4), ((0.01, 10), (10, 1e5)), floor=2e-15),
]  # fmt: skip


@pytest.mark.parametrize("bound", BOUNDS, ids=lambda bound: bound.op)
@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_bound(bound: Bound, dtype: str) -> None:
    limit, ranges = bound.of(dtype)
    x = uniform(ranges, dtype)
    found = flat.op(bound.op, [dtype], dtype)(x)
    expected = [bound.exact(mpmath.mpf(float(v))) for v in x]
    assert_within(limit, bound.floor, x, found, expected)


def uniform(ranges: tuple[Range, ...], dtype: str) -> np.ndarray[Any, Any]:
    random = np.random.default_rng(len(ranges))
    values = [random.uniform(low, high, SAMPLES // len(ranges)) for low, high in ranges]
    return np.concatenate(values).astype(DTYPE[dtype])


def assert_within(limit: float, floor: float, x: Any, found: np.ndarray[Any, Any], expected: list[Any]) -> None:
    """Each value within `limit` ulp, or `floor`, of the exact one; an infinite one where rounding overflows."""
    for operand, got, exact in zip(x, found, expected, strict=True):
        with np.errstate(over="ignore"):
            rounded = found.dtype.type(float(exact))
        if np.isfinite(rounded):
            ulp = float(np.spacing(np.abs(rounded)))
            error = abs(mpmath.mpf(float(got)) - exact) if np.isfinite(got) else mpmath.inf
            assert error <= max(limit * ulp, floor), (operand, got, rounded)
        else:
            assert got == rounded, (operand, got, rounded)


DENSE = [
    ("exponential", np.exp, (-20, 20), 1.1),
    ("exponential_minus_one", np.expm1, (-2, 2), 1.6),
    ("tanh", np.tanh, (-2, 2), 1.6),
    ("log", np.log, (0.1, 3), 1),
    ("log_plus_one", np.log1p, (-0.9, 3), 1),
    ("sine", np.sin, (-4, 4), 1.8),
    ("cosine", np.cos, (-4, 4), 1.8),
    ("logistic", scipy.special.expit, (-17, 10), 1.8),
    ("erf", scipy.special.erf, (-1.2, 1.2), 1.3),
    ("erf_inv", scipy.special.erfinv, (-0.999, 0.999), 2),
]


@pytest.mark.parametrize(("op", "exact", "ends", "limit"), DENSE, ids=[row[0] for row in DENSE])
def test_float32_densely(op: str, exact: Callable[[Any], Any], ends: Range, limit: float) -> None:
    x = np.random.default_rng(0).uniform(*ends, 1 << 18).astype(np.float32)
    found, expected = flat.op(op, ["f32"], "f32")(x), exact(x.astype(np.float64))
    errors = np.abs(found - expected) / np.spacing(np.abs(expected.astype(np.float32)))
    assert errors.max() <= limit + 0.01


HUGE = np.array(
    [1e5, 1e22, 2.0**100, -(2.0**127), 6381956970095103 * 2.0**797, 5.0e-324, 1e308, np.pi * 2.0**60, 2.0**28, 1e16]
)


@pytest.mark.parametrize(("op", "exact"), [("sine", mpmath.sin), ("cosine", mpmath.cos), ("tan", mpmath.tan)])
@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_huge_angles_are_reduced_exactly(op: str, exact: Callable[[Any], Any], dtype: str) -> None:
    with np.errstate(over="ignore", under="ignore"):
        x = HUGE.astype(DTYPE[dtype])
    x = x[np.isfinite(x)]
    with mpmath.workprec(1300):
        expected = [exact(mpmath.mpf(float(v))) for v in x]
    assert_within(3, 0, x, flat.op(op, [dtype], dtype)(x), expected)


SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 2.0, -2.0, 0.5, 1e-40, -1e-40, 1e-300, 1e300])
ORACLES: dict[str, Callable[[Any], Any]] = {
    "exponential": np.exp, "exponential_minus_one": np.expm1, "log": np.log, "log_plus_one": np.log1p,
    "logistic": scipy.special.expit, "tanh": np.tanh, "sinh": np.sinh, "cosh": np.cosh, "asinh": np.arcsinh,
    "acosh": np.arccosh, "atanh": np.arctanh, "sine": np.sin, "cosine": np.cos, "tan": np.tan, "atan": np.arctan,
    "asin": np.arcsin, "acos": np.arccos, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "cbrt": np.cbrt,
    "erf": scipy.special.erf, "erfc": scipy.special.erfc, "erf_inv": lambda x: np.copysign(scipy.special.erfinv(x), x),
    "floor": np.floor, "ceil": np.ceil, "round_nearest_even": np.rint,
    "lgamma": lambda x: np.where(x == -np.inf, np.inf, scipy.special.gammaln(x)),
}  # fmt: skip


@pytest.mark.parametrize("op", ORACLES)
@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_special_values(op: str, dtype: str) -> None:
    with np.errstate(all="ignore"):
        x = SPECIAL.astype(DTYPE[dtype])
        expected = np.asarray(ORACLES[op](x.astype(np.float64))).astype(x.dtype)
    found = flat.op(op, [dtype], dtype)(x)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    ends = ~np.isfinite(expected) | (expected == 0)
    np.testing.assert_array_equal(found[ends], expected[ends])
    zero = (expected == 0) & (op != "lgamma")
    np.testing.assert_array_equal(np.signbit(found[zero]), np.signbit(expected[zero]))
    with np.errstate(all="ignore"):
        near = np.abs(found - expected) <= 4 * np.spacing(np.abs(expected))
    assert (near | ends | np.isnan(expected)).all()


CORNERS = np.array(
    [0.0, -0.0, 1, -1, 2, -2, 0.5, -0.5, 3, -3, 1.5, np.inf, -np.inf, np.nan, 1e30, 1e-40, 2.0**24 + 2, 1 / 3]
)


def pairs(dtype: str) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    x, y = np.meshgrid(CORNERS.astype(DTYPE[dtype]), CORNERS.astype(DTYPE[dtype]))
    return x.ravel(), y.ravel()


@pytest.mark.parametrize(("op", "exact"), [("power", np.power), ("atan2", np.arctan2), ("remainder", np.fmod)])
@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_special_pairs(op: str, exact: Callable[..., Any], dtype: str) -> None:
    x, y = pairs(dtype)
    with np.errstate(all="ignore"):
        expected = exact(x.astype(np.float64), y.astype(np.float64)).astype(x.dtype)
    found = flat.op(op, [dtype, dtype], dtype)(x, y)
    with np.errstate(all="ignore"):
        near = np.abs(found - expected) <= (0 if op == "remainder" else 2) * np.spacing(np.abs(expected))
    same = (found == expected) | near | (np.isnan(found) & np.isnan(expected))
    same &= (np.signbit(found) == np.signbit(expected)) | np.isnan(expected)
    assert same.all(), list(zip(x[~same], y[~same], found[~same], expected[~same], strict=True))


@pytest.mark.parametrize(("dtype", "limit"), [("f32", 0.51), ("f64", 1.1)])
def test_power(dtype: str, limit: float) -> None:
    random = np.random.default_rng(1)
    x = np.concatenate([random.uniform(0.5, 2, SAMPLES), np.exp2(random.uniform(-100, 100, SAMPLES))]).astype(
        DTYPE[dtype]
    )
    reach = np.log(np.finfo(x.dtype).max) / np.abs(np.log(x))
    y = (random.uniform(-1, 1, x.size) * np.minimum(reach, 1e6)).astype(x.dtype)
    expected = [mpmath.mpf(float(a)) ** mpmath.mpf(float(b)) for a, b in zip(x, y, strict=True)]
    assert_within(limit, 0, x, flat.op("power", [dtype, dtype], dtype)(x, y), expected)


@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_remainder_is_exact_for_any_quotient(dtype: str) -> None:
    info = np.finfo(DTYPE[dtype])
    random = np.random.default_rng(2)
    low, high = int(info.minexp) - int(info.nmant), int(info.maxexp) - 1
    x, y = (
        np.ldexp(random.uniform(1, 2, 20000), random.integers(low, high, 20000)).astype(info.dtype) for _ in range(2)
    )
    x = np.where(random.random(x.size) < 0.5, x, -x)
    found, expected = flat.op("remainder", [dtype, dtype], dtype)(x, y), np.fmod(x, y)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


def test_zeta() -> None:
    random = np.random.default_rng(3)
    x = np.concatenate([random.uniform(1.05, 10, 60), random.uniform(1, 250, 40)])
    q = np.concatenate([random.uniform(0.01, 30, 60), random.uniform(0.1, 90, 40)])
    with mpmath.workprec(900):
        expected = [mpmath.zeta(mpmath.mpf(a), mpmath.mpf(b)) for a, b in zip(x, q, strict=True)]
    assert_within(8, 1e-300, x, flat.op("zeta", ["f64", "f64"], "f64")(x, q), expected)


def test_polygamma() -> None:
    random = np.random.default_rng(4)
    n, x = random.integers(0, 7, 100).astype(float), random.uniform(0.05, 20, 100)
    expected = [mpmath.polygamma(int(a), mpmath.mpf(b)) for a, b in zip(n, x, strict=True)]
    assert_within(16, 4e-15, x, flat.op("polygamma", ["f64", "f64"], "f64")(n, x), expected)


PLAIN = Target(fma=False, half=False, rounding=False)
ON_PLAIN = ["exponential", "log", "log_plus_one", "tanh", "sine", "cosine", "erf", "cbrt", "atan", "asin", "lgamma"]


@pytest.mark.parametrize("bound", [b for b in BOUNDS if b.op in ON_PLAIN], ids=lambda bound: bound.op)
@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_bound_without_fma_and_rounding_instructions(bound: Bound, dtype: str) -> None:
    """The float64 fallback of a fused multiply-add is exact but for its last rounding; float32's rounds twice."""
    limit, ranges = bound.of(dtype)
    x = uniform(tuple(ends for ends in ranges if abs(ends[1]) < 1e200), dtype)
    found = flat.op(bound.op, [dtype], dtype, target=PLAIN)(x)
    expected = [bound.exact(mpmath.mpf(float(v))) for v in x]
    assert_within(limit + 0.1, bound.floor, x, found, expected)


def half_away(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    with np.errstate(invalid="ignore"):
        up = np.abs(x - np.trunc(x)) >= 0.5
    return np.copysign(np.trunc(x) + np.copysign(up, x), x)


@pytest.mark.parametrize("op", ["floor", "ceil", "round_nearest_even", "round_nearest_afz"])
@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_rounding_is_the_same_with_and_without_its_instructions(op: str, dtype: str) -> None:
    wide = np.random.default_rng(5).standard_normal(2000) * 2.0 ** np.random.default_rng(6).integers(-3, 60, 2000)
    halves = np.arange(-20, 20) / 2
    x = np.concatenate([wide, halves, SPECIAL[:5], [0.49999999999999994, 2.0**52 - 0.5]]).astype(DTYPE[dtype])
    numpy = {"floor": np.floor, "ceil": np.ceil, "round_nearest_even": np.rint}
    expected = numpy[op](x) if op in numpy else half_away(x)
    for target in (Target(), PLAIN):
        found = flat.op(op, [dtype], dtype, target=target)(x)
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))
