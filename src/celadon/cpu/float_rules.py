"""Float elements come in, what comparisons and single bits decide goes out: maxima, signs, neighbours, fewer bits."""

from __future__ import annotations

from celadon.cpu.ir import Value
from celadon.cpu.kinds import BIAS, MANTISSA, NARROW, bits_of
from celadon.cpu.narrow import packed, unpacked


def maximum(x: Value, y: Value) -> Value:
    """The greater; NaN if there is one; +0.0 is above -0.0."""
    equal = (x.bits() & y.bits()).floats()
    result = (x > y).select(x, y)
    result = x.equals(y).select(equal, result)
    return x.is_nan().select(x, result)


def minimum(x: Value, y: Value) -> Value:
    equal = (x.bits() | y.bits()).floats()
    result = (x < y).select(x, y)
    result = x.equals(y).select(equal, result)
    return x.is_nan().select(x, result)


def sign(x: Value) -> Value:
    """-1, 1, or x itself where it is a zero or NaN."""
    one = x.function.like(x, 1.0).copysign(x)
    return x.compare("ueq", 0.0).select(x, one)


def is_finite(x: Value) -> Value:
    return x.abs() < float("inf")


def next_after(x: Value, y: Value, dtype: str) -> Value:
    """The neighbour of x towards y, in the dtype's own bits."""
    a, b = _own_bits(x, dtype), _own_bits(y, dtype)
    smallest = (b & _sign_bit(a)) | 1
    up = (x.equals(0.0)).select(smallest, (x < y).equals(a >= 0).select(a + 1, a - 1))
    result = x.equals(y).select(b, up)
    return (x.is_nan() | y.is_nan()).select(float("nan"), _from_bits(result, dtype))


def _own_bits(x: Value, dtype: str) -> Value:
    return packed(x, dtype) if dtype in NARROW else x.bits()


def _from_bits(bits: Value, dtype: str) -> Value:
    return unpacked(bits, dtype) if dtype in NARROW else bits.floats()


def _sign_bit(bits: Value) -> int:
    return 1 << bits_of(bits.kind) - 1


def reduce_precision(x: Value, dtype: str, exponent_bits: int, mantissa_bits: int) -> Value:
    """The mantissa rounded to even, then too large exponents to infinity and too small ones to zero, by sign."""
    mantissa, bias = _format(dtype)
    bits = _own_bits(x, dtype)
    sign_of = bits & _sign_bit(bits)
    rounded = _mantissa_cut(bits, mantissa - mantissa_bits) if mantissa_bits < mantissa else bits
    reach = (1 << exponent_bits - 1) - 1
    if reach < bias:
        size = rounded & ~_sign_bit(bits)
        infinite = size >= (bias + reach + 1 << mantissa)
        rounded = infinite.select(sign_of | (2 * bias + 1 << mantissa), rounded)
        rounded = (size < (bias - reach + 1 << mantissa)).select(sign_of, rounded)
    return x.is_nan().select(x, _from_bits(rounded, dtype))


def _format(dtype: str) -> tuple[int, int]:
    return (7, 127) if dtype == "bf16" else (MANTISSA[dtype], BIAS[dtype])


def _mantissa_cut(bits: Value, drop: int) -> Value:
    return (bits + ((1 << drop - 1) - 1) + (bits >> drop & 1)) & -(1 << drop)
