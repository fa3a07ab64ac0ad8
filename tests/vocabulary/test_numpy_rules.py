"""The NumPy rule of every op against real JAX: bits where the op is exact, else units in the last place."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import celadon.vocabulary  # noqa: F401
from celadon.op import registry
from celadon.types import kind
from tests.vocabulary.oracle import FUNCTIONS, expected
from tests.vocabulary.samples import Sample, sampled, samples

Array = np.ndarray[Any, Any]
_LAST_PLACE = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}
_SMALLEST = {"float16": 2.0**-14, "bfloat16": 2.0**-126, "float32": 2.0**-126, "float64": 2.0**-1022}


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def computed(sample: Sample) -> list[Array]:
    found = sample.op.numpy(*sample.arrays, **sample.params)
    return [np.asarray(x) for x in (found if sample.op.multiple else [found])]


def parts(x: Array) -> list[Array]:
    return [x.real, x.imag] if x.dtype.kind == "c" else [x]


def same_bits(x: Array, y: Array) -> bool:
    """Equal, zeros by sign, all NaN alike; results that are subnormal in either may be zero in the other."""
    if x.dtype != y.dtype or x.shape != y.shape:
        return False
    if kind(x.dtype) not in "fc":
        return bool((x == y).all())
    return all(_same_real(a, b) for a, b in zip(parts(x), parts(y), strict=True))


def _same_real(x: Array, y: Array) -> bool:
    small = _SMALLEST[x.dtype.name]
    wide_x, wide_y = x.astype(np.float64), y.astype(np.float64)
    flushed = (np.abs(wide_x) < small) & (np.abs(wide_y) < small) & ((wide_x != 0) | (wide_y != 0))
    nan = np.isnan(wide_x) & np.isnan(wide_y)
    return bool((nan | flushed | ((wide_x == wide_y) & (np.signbit(wide_x) == np.signbit(wide_y)))).all())


def widened(x: Array) -> Array:
    if kind(x.dtype) not in "fc" or x.dtype in (np.float64, np.complex128):
        return x
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def distance(x: Array, y: Array) -> Array:
    """Units in the last place of x between x and y, where both are finite; 0 for like infinities and NaN."""
    scale = _LAST_PLACE[x.dtype.name]
    wide_x, wide_y = x.astype(np.float64), y.astype(np.float64)
    size = np.maximum(np.abs(wide_x), _SMALLEST[x.dtype.name] / scale)
    apart = np.abs(wide_x - wide_y) / (scale * size)
    alike = (wide_x == wide_y) | (np.isnan(wide_x) & np.isnan(wide_y))
    return np.where(alike, 0, np.where(np.isfinite(apart), apart, np.inf))


def away_from_cuts(*xs: Array) -> Array:
    """Where all operands are finite and neither part is zero: elsewhere complex functions differ by convention."""
    return np.logical_and.reduce([np.isfinite(x) & (x.real != 0) & (x.imag != 0) for x in xs])


def complex_distance(x: Array, y: Array) -> Array:
    """The distance in units in the last place of |x|."""
    scale = _LAST_PLACE[x.real.dtype.name]
    return np.abs(widened(x) - widened(y)) / (scale * np.maximum(np.abs(widened(x)), 1e-300))


def beside_jax(sample: Sample) -> bool:
    """What jax.lax refuses although StableHLO has it."""
    name, dtype = sample.op.name, sample.dtype
    if name in ("real", "imag"):
        return dtype.kind != "c"
    if name == "power":
        return kind(dtype) in "iu"
    return name == "bitcast_convert" and dtype.kind == "c" and sample.params["new_dtype"] != dtype


def test_oracle_knows_every_op() -> None:
    assert FUNCTIONS.keys() >= set(sampled())


@pytest.mark.parametrize("name", sampled())
def test_exact_rules_have_the_bits_of_jax(name: str) -> None:
    chosen = [one for one in samples(name) if one.op.exactly(one.types) and not beside_jax(one)]
    wanted = expected(name, [(one.arrays, one.params) for one in chosen])
    for sample, results in zip(chosen, wanted, strict=True):
        for x, y in zip(computed(sample), results, strict=True):
            assert same_bits(x, y), f"{sample}: {x} is not {y} for {sample.arrays}"


FUNCTION_OPS = [name for name, op in registry.items() if op.kind == "elementwise" and op.exact is not True]
# In float64 XLA's own error counts; mpmath judges ours in test_special_functions.
_DOUBLE_LIMITS = {"lgamma": 200.0, "digamma": 100.0, "polygamma": 100.0, "zeta": 40.0}
_COMPLEX_LIMITS = {"tanh": 64.0, "power": 256.0, "atan2": 1e4}


@pytest.mark.parametrize("name", FUNCTION_OPS)
def test_functions_are_those_of_jax_in_double(name: str) -> None:
    chosen = [one for one in samples(name) if not one.op.exactly(one.types) and not beside_jax(one)]
    wanted = expected(name, [(tuple(map(widened, one.arrays)), one.params) for one in chosen])
    for sample, [y] in zip(chosen, wanted, strict=True):
        [x] = computed(sample)
        compared = (_complex_apart if sample.dtype.kind == "c" else _real_apart)(sample, x, y.astype(x.dtype))
        assert (compared <= _limit(name, x.dtype)).all(), f"{sample}: {compared.max()} units"


def _limit(name: str, dtype: np.dtype[Any]) -> float:
    if dtype.itemsize < 8 or dtype == np.complex64:
        return 5.0 if dtype.kind == "c" else 1.0
    return (_COMPLEX_LIMITS if dtype.kind == "c" else _DOUBLE_LIMITS).get(name, 16.0)


def _real_apart(sample: Sample, x: Array, y: Array) -> Array:
    apart = distance(x, y)
    if sample.op.name in ("zeta", "polygamma"):  # XLA sums too few terms for others
        first, second = np.broadcast_arrays(*sample.arrays)
        return apart[(first.astype(np.float64) < 1e5) & np.isfinite(second) & (second.astype(np.float64) > -4)]
    return apart


def _complex_apart(sample: Sample, x: Array, y: Array) -> Array:
    usual = away_from_cuts(*np.broadcast_arrays(*sample.arrays))
    finite = usual & np.isfinite(x) & np.isfinite(y)
    apart = distance(x, y) if x.dtype.kind != "c" else complex_distance(x, y)
    return apart[finite]


SUM_OPS = ("reduce_sum", "reduce_prod", "cumsum", "cumprod", "cumlogsumexp", "dot_general")


@pytest.mark.parametrize("name", SUM_OPS)
def test_sums_are_those_of_jax_in_double(name: str) -> None:
    inexact = [one for one in samples(name) if not one.op.exactly(one.types)]
    chosen = [one for one in inexact if all(np.isfinite(x).all() for x in one.arrays)]
    wanted = expected(name, [(tuple(map(widened, one.arrays)), _in_double(one.params)) for one in chosen])
    for sample, [y] in zip(chosen, wanted, strict=True):
        [x] = computed(sample)
        if np.isfinite(y.astype(x.dtype)).all():
            assert (np.abs(widened(x) - widened(y)) <= _rounding(sample, x, y)).all(), str(sample)


def _in_double(params: dict[str, Any]) -> dict[str, Any]:
    if params.get("preferred_element_type") == np.float32:
        return {**params, "preferred_element_type": np.dtype(np.float64)}
    return params


def _rounding(sample: Sample, x: Array, y: Array) -> Array:
    """What one rounding of the result, and in double one of each term, may amount to."""
    first = sample.arrays[0]
    largest = np.abs(widened(first)).max(initial=0) ** 2 * first.size
    result = (
        _LAST_PLACE[x.real.dtype.name] * np.abs(widened(y)) * (max(first.size, 2) if x.real.dtype == np.float64 else 2)
    )
    terms = _LAST_PLACE["float32" if first.dtype.itemsize == 2 else "float64"] * largest
    return result + terms


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint64"])
def test_integer_powers_wrap(dtype: str) -> None:
    info = np.iinfo(dtype)
    x = np.array([0, 1, 2, 3, 7, info.max, info.min, *([-1, -2, -3] if info.min else [])], dtype)
    y = np.array([0, 1, 2, 5, 63, *([-1, -2, -3] if info.min else [])], dtype)
    bases, exponents = (side.ravel() for side in np.meshgrid(x, y))
    found = registry["power"].numpy(bases, exponents)
    for a, b, c in zip(bases.tolist(), exponents.tolist(), found.tolist(), strict=True):
        assert c == _wrapped_power(a, b, info)


def _wrapped_power(a: int, b: int, info: Any) -> int:
    if b < 0:
        return 0 if abs(a) != 1 else a**-b
    return (a**b - info.min) % (1 << info.bits) + info.min
