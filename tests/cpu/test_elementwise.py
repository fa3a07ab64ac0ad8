"""Every row of the CPU's elementwise table on every dtype: against the vocabulary's NumPy rules and XLA's values."""

from collections.abc import Iterator
from typing import Any

import mpmath
import numpy as np
import pytest

from celadon.cpu import elements, elementwise
from celadon.cpu.conversion_rules import letter
from celadon.cpu.kinds import Target
from celadon.op import Op, registry
from celadon.types import from_short, kind, short_name
from tests.cpu import flat
from tests.vocabulary.samples import Sample, samples

Array = np.ndarray[Any, Any]
PLAIN = Target(fma=False, half=False, rounding=False)
OPS = sorted(name for name, op in registry.items() if op.kind == "elementwise" and op.expand is None)
EPSILON = {"bf16": 2.0**-8, "f16": 2.0**-11, "f32": 2.0**-23, "f64": 2.0**-52, "c64": 2.0**-23, "c128": 2.0**-52}
SMALLEST = {"bf16": 2.0**-133, "f16": 2.0**-24, "f32": 2.0**-149, "c64": 2.0**-149}
# Where NumPy's rules themselves are imprecise, absolutely or in units in the last place; test_math.py is stricter.
FLOOR = {"bessel_i1e": 1e-15, "digamma": 2e-15, "lgamma": 4e-15, "polygamma": 1e-14, "zeta": 1e-14}
COMPLEX_FLOOR = {"atan2": 1e-15}
ULP = {"polygamma": 64, "zeta": 64}
COMPLEX_ULP = {"c64": 16, "c128": 16, "power c128": 512}  # a power's error grows with its logarithm


def whole_samples(op: Op) -> Iterator[Sample]:
    """Samples whose operands all have one shape, with elements."""
    for sample in samples(op.name):
        if len({x.shape for x in sample.arrays}) == 1 and sample.arrays[0].size > 1:
            yield sample


def ours(sample: Sample, out: str, target: Target) -> Array:
    dtypes = [short_name(x.dtype) for x in sample.arrays]
    assert elementwise.has(sample.op.name, dtypes, out)
    run = flat.op(sample.op.name, dtypes, out, sample.params, target=target)
    return run(*[x.ravel() for x in sample.arrays])


def assert_agree(sample: Sample, found: Array, expected: Array) -> None:
    out = short_name(expected.dtype)
    if letter(out) in "biu":
        np.testing.assert_array_equal(found, expected, str(sample))
        return
    wide = np.complex128 if letter(out) == "c" else np.float64
    exact = sample.op.exact is True or letter(short_name(sample.dtype)) in (sample.op.exact or "")
    found, expected = found.astype(wide), expected.astype(wide)
    agree = equal(found, expected) if exact else close(sample, found, expected, out)
    wrong = ~agree
    shown = [(*(x.ravel()[wrong][:3] for x in sample.arrays), found[wrong][:3], expected[wrong][:3])]
    assert agree.all(), (str(sample), shown)


def equal(x: Array, y: Array) -> Array:
    """Of the same value and sign of zero, or both NaN."""
    if short_name(x.dtype) in ("bf16", "f16"):
        x, y = x.astype(np.float32), y.astype(np.float32)
    return ((x == y) & (np.signbit(x.real) == np.signbit(y.real))) | (np.isnan(x) & np.isnan(y))


def close(sample: Sample, found: Array, expected: Array, out: str) -> Array:
    name, is_complex = sample.op.name, letter(out) == "c"
    ulp = COMPLEX_ULP.get(f"{name} {out}", COMPLEX_ULP[out]) if is_complex else ULP.get(name, 4)
    floor = max(SMALLEST.get(out, 0), (COMPLEX_FLOOR if is_complex else FLOOR).get(name, 0))
    with np.errstate(all="ignore"):
        near = np.abs(found - expected) <= ulp * EPSILON[out] * np.abs(expected) + floor
        part = (np.isinf(found) & np.isinf(expected)) if is_complex else found == expected
    undefined = np.isnan(expected) & (is_complex | np.isnan(found))
    return near | part | undefined | outside(sample)


def outside(sample: Sample) -> Array:
    """Complex operands for which NumPy, XLA and C99 differ: with a NaN in them, infinite powers, the cuts of atan2."""
    found = np.zeros(sample.arrays[0].size, bool)
    for x in map(np.ravel, sample.arrays):
        if kind(x.dtype) == "c":
            found |= np.isnan(x)
            found |= ((x.real == 0) | (x.imag == 0)) & (sample.op.name == "atan2")
            found |= ~np.isfinite(x) & (sample.op.name == "power")
    return found


@pytest.mark.parametrize("name", OPS)
def test_row_agrees_with_numpy(name: str) -> None:
    op = registry[name]
    tried = 0
    for sample in whole_samples(op):
        with np.errstate(all="ignore"):
            expected = np.asarray(op.numpy(*sample.arrays, **sample.params)).ravel()
        assert_agree(sample, ours(sample, short_name(expected.dtype), Target()), expected)
        tried += 1
    assert tried


KNOWN: list[tuple[str, str, list[Any], list[Any]]] = [
    ("divide", "i32", [[7, -7, 5, -(2**31), -(2**31)], [0, 0, 2, -1, 0]], [-1, -1, 2, -(2**31), -1]),
    ("remainder", "i32", [[7, -7, 5, -(2**31), -(2**31)], [0, 0, 2, -1, 0]], [7, -7, 1, 0, -(2**31)]),
    ("divide", "i64", [[7, -7, 5, -(2**63)], [0, -2, 2, -1]], [-1, 3, 2, -(2**63)]),
    ("remainder", "i64", [[7, -7, 5, -(2**63)], [0, -2, 2, -1]], [7, -1, 1, 0]),
    ("divide", "u32", [[7, 0, 2**32 - 1], [0, 0, 2]], [2**32 - 1, 2**32 - 1, 2**31 - 1]),
    ("remainder", "u8", [[7, 250], [0, 7]], [7, 5]),
    ("power", "i32", [[2, 1, -1, -1, 0, 3, -2], [-1, -3, -3, -2, 0, 4, 3]], [0, 1, -1, 1, 1, 81, -8]),
    ("shift_left", "i8", [[1, -1, 8, -8], [8, 100, -1, 2]], [0, 0, 0, -32]),
    ("shift_right_arithmetic", "i8", [[1, -1, 8, -8], [8, 100, -1, 2]], [0, -1, 0, -2]),
    ("shift_right_logical", "i8", [[1, -1, 8, -8], [8, 100, -1, 2]], [0, 0, 0, 62]),
    ("abs", "i8", [[-128, -1]], [-128, 1]),
    ("popcnt", "i8", [[-1, 3]], [8, 2]),
    ("count_leading_zeros", "i8", [[-1, 3, 0]], [0, 6, 8]),
    ("maximum", "f32", [[-0.0, 0.0, np.nan, 1], [0.0, -0.0, 1, np.nan]], [0.0, 0.0, np.nan, np.nan]),
    ("minimum", "f32", [[-0.0, 0.0, np.nan, 1], [0.0, -0.0, 1, np.nan]], [-0.0, -0.0, np.nan, np.nan]),
    ("sign", "f32", [[-0.0, 0.0, np.nan, -3]], [-0.0, 0.0, np.nan, -1]),
    ("clamp", "f32", [[0, 0, 0, 3], [np.nan, 5, -1, np.nan], [1, 1, 1, 1]], [np.nan, 1, 0, np.nan]),
    ("clamp", "f32", [[3, 3], [5, -1], [1, 1]], [1, 1]),
    ("remainder", "f32", [[1e30, -5.5, -0.0, 5, np.inf, 5], [3e-5, 2, 1, np.inf, 2, 0]],
     [6.1375613e-07, -1.5, -0.0, 5, np.nan, np.nan]),
    ("next_after", "f32", [[0, -0.0, 1, np.nan, np.inf, -0.0], [1, 0.0, 1, 1, 0, -1]],
     [1e-45, 0.0, 1, np.nan, 3.4028235e38, -1e-45]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "dtype", "operands", "expected"), KNOWN, ids=[f"{k[0]}-{k[1]}" for k in KNOWN])
def test_values_of_xla(name: str, dtype: str, operands: list[Any], expected: list[Any]) -> None:
    arrays = [np.array(x, from_short[dtype]) for x in operands]
    found = flat.op(name, [dtype] * len(arrays), dtype)(*arrays)
    assert equal(found, np.array(expected, found.dtype)).all(), found


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        ("i8", [0, 127, -128, 127, -5, 3, -3, 127]),
        ("u8", [0, 255, 0, 255, 0, 3, 0, 255]),
        ("u32", [0, 2**32 - 1, 0, 300, 0, 3, 0, 2**32 - 1]),
        ("i64", [0, 2**63 - 1, -(2**63), 300, -5, 3, -3, 2**63 - 1]),
        ("u64", [0, 2**64 - 1, 0, 300, 0, 3, 0, 2**64 - 1]),
        ("bool", [True, True, True, True, True, True, True, True]),
    ],
)
def test_floats_saturate_as_integers(dtype: str, expected: list[Any]) -> None:
    x = np.array([np.nan, 1e30, -1e30, 300, -5, 3.7, -3.7, np.inf], np.float32)
    np.testing.assert_array_equal(flat.op("convert", ["f32"], dtype)(x), np.array(expected, from_short[dtype]))


@pytest.mark.parametrize(("dtype", "largest"), [("c64", 3.4e38), ("c128", 1.79e308)])
@pytest.mark.parametrize("name", ["atan", "atanh", "asin", "acos", "asinh", "acosh", "log", "sqrt"])
def test_complex_functions_of_numbers_near_overflow(name: str, dtype: str, largest: float) -> None:
    parts = [largest, -largest, largest / 3, 12345.0, -0.5, 1e-3, 0.0]
    x = np.array([complex(a, b) for a in parts for b in parts], from_short[dtype])
    with np.errstate(all="ignore"), mpmath.workprec(2300):
        functions = {"log": mpmath.log, "sqrt": mpmath.sqrt}
        expected = [complex((functions.get(name) or getattr(mpmath, name))(mpmath.mpmathify(one))) for one in x[:-1].tolist()]
    usual = (x[:-1].real != 0) & (x[:-1].imag != 0)
    found = flat.op(name, [dtype], dtype)(x)[:-1]
    np.testing.assert_allclose(found[usual], np.array(expected)[usual], rtol=8 * EPSILON[dtype])


def test_lgamma_and_atanh_near_their_poles() -> None:
    """Where the sine of a reflection, or the square of an imaginary part, is subnormal."""
    x = np.array([1.58e-322, -1.58e-322, 5e-324, 1e-310, -1e-305, 1e-300, 1e-301, 1e-20, 0.3, -0.7])
    logs = [float(mpmath.log(abs(mpmath.gamma(mpmath.mpf(one))))) for one in x.tolist()]
    np.testing.assert_allclose(flat.op("lgamma", ["f64"], "f64")(x), logs, rtol=2e-15)
    sides = [1.5e-323, 1e-200, 1e-150, 1e-135, 3e-136, 1e-100, 1e-10]
    z = np.array([complex(a, b) for a in (1, -1) for b in (*sides, *(-one for one in sides))])
    areas = [complex(mpmath.atanh(mpmath.mpmathify(one))) for one in z.tolist()]
    np.testing.assert_allclose(flat.op("atanh", ["c128"], "c128")(z), areas, rtol=2e-15)


def test_reduce_precision() -> None:
    """As XLA: to float16's bits without its subnormal numbers; to bfloat16's as bfloat16 rounds."""
    x = np.array([65520, 70000, 6e-8, 2e-8, np.nan, 1 + 2**-11, 1 + 3 * 2**-11], np.float32)
    run = flat.op("reduce_precision", ["f32"], "f32", {"exponent_bits": 5, "mantissa_bits": 10})
    np.testing.assert_array_equal(run(x), np.array([np.inf, np.inf, 0, 0, np.nan, 1, 1 + 2**-9], np.float32))
    run = flat.op("reduce_precision", ["f32"], "f32", {"exponent_bits": 8, "mantissa_bits": 7})
    np.testing.assert_array_equal(run(x), x.astype(from_short["bf16"]).astype(np.float32))


@pytest.mark.parametrize("target", [Target(), PLAIN], ids=["full", "plain"])
@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_every_16_bit_float(dtype: str, target: Target) -> None:
    """To float32 and back, and through an op, over all of them."""
    x = np.arange(1 << 16, dtype=np.uint16).view(from_short[dtype])
    wide = flat.op("convert", [dtype], "f32", target=target)(x)
    assert equal(wide, x.astype(np.float32)).all()
    assert equal(flat.op("convert", ["f32"], dtype, target=target)(wide), x).all()
    found = flat.op("multiply", [dtype, dtype], dtype, target=target)(x, np.full_like(x, 0.37))
    factor = np.float32(np.full(1, 0.37).astype(x.dtype)[0])
    with np.errstate(over="ignore", invalid="ignore"):
        product = (wide * factor).astype(x.dtype)
    assert equal(found, product).all()


@pytest.mark.parametrize("target", [Target(), PLAIN], ids=["full", "plain"])
@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_rounding_to_16_bits_is_to_even(dtype: str, target: Target) -> None:
    random = np.random.default_rng(0).integers(0, 1 << 32, 1 << 16, dtype=np.uint32).view(np.float32)
    grid = np.arange(0, 1 << 15, dtype=np.uint16).view(from_short[dtype]).astype(np.float32)
    with np.errstate(all="ignore"):
        halfway = (grid[:-1] + grid[1:]) / 2
    x = np.concatenate([random, halfway, np.nextafter(halfway, 0), np.nextafter(halfway, np.inf), -halfway])
    with np.errstate(all="ignore"):
        expected = x.astype(from_short[dtype])
    assert equal(flat.op("convert", ["f32"], dtype, target=target)(x), expected).all()


def test_float64_is_rounded_to_float16_once() -> None:
    grid = np.arange(0, 0x7C00, dtype=np.uint16).view(np.float16).astype(np.float64)
    halfway = (grid[:-1] + grid[1:]) / 2
    x = np.concatenate(
        [halfway, halfway * (1 + 2.0**-50), halfway * (1 - 2.0**-50), [65520.0, 65519.999999, 1e300, np.nan]]
    )
    with np.errstate(over="ignore"):
        expected = np.concatenate([x, -x]).astype(np.float16)
    assert equal(flat.op("convert", ["f64"], "f16")(np.concatenate([x, -x])), expected).all()


@pytest.mark.parametrize("name", ["tanh", "power", "sine", "remainder", "divide", "erf_inv", "atan2"])
@pytest.mark.parametrize("dtype", ["f32", "f64", "bf16"])
def test_one_lane_has_the_bits_of_many(name: str, dtype: str) -> None:
    count = 2 if name in ("power", "remainder", "divide", "atan2") else 1
    arrays = np.random.default_rng(1).normal(0, 3, (count, 4096)).astype(from_short[dtype])
    many, one = (flat.op(name, [dtype] * count, dtype, lanes=lanes)(*arrays) for lanes in (0, 1))
    np.testing.assert_array_equal(many.view(np.uint8), one.view(np.uint8))


@pytest.mark.parametrize("dtype", ["bool", "i8", "u16", "f16", "bf16", "c64"])
def test_memory_and_registers(dtype: str) -> None:
    x = np.arange(256).astype(from_short[dtype])
    np.testing.assert_array_equal(flat.Flat(lambda e: e, [dtype], dtype)(x), x)
    assert elements.itemsize(dtype) == x.dtype.itemsize


@pytest.mark.parametrize(("name", "dtype"), [("sine", "i32"), ("not", "f32"), ("floor", "c64"), ("no_such_op", "f32")])
def test_no_row_where_the_op_is_not_defined(name: str, dtype: str) -> None:
    assert not elementwise.has(name, [dtype], dtype)
