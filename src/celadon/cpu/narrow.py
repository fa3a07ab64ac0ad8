"""16-bit floats as float32 on their own grid: rounded to it, packed for memory, unpacked; without library calls."""

from __future__ import annotations

from celadon.cpu.ir import Value


def rounded(x: Value, dtype: str) -> Value:
    """A float32 rounded once, ties to even, to the nearest value of a 16-bit float; it stays a float32."""
    if dtype == "bf16":
        return _rounded_bits(x, 16)
    return unpacked(packed(x, dtype), dtype) if x.function.target.half else _rounded_half(x)


def packed(x: Value, dtype: str) -> Value:
    """The 16 bits of a float32 that is on the grid."""
    if dtype == "bf16":
        return (x.bits() >> 16).convert("trunc", "i16")
    if x.function.target.half:
        return x.convert("fptrunc", "f16").bits()
    size = (x.abs() * 2.0**-112).bits() >> 13
    size = (size > 0x7C00).select(0x7C00, size)
    bits = x.is_nan().select(0x7E00, size) | (x.bits() >> 16 & 0x8000)
    return bits.convert("trunc", "i16")


def unpacked(bits: Value, dtype: str) -> Value:
    """The float32 of 16 bits."""
    if dtype == "bf16":
        return (bits.convert("zext", "i32") << 16).floats()
    if bits.function.target.half:
        return bits.floats().convert("fpext", "f32")
    wide = bits.convert("zext", "i32")
    size = wide << 13 & 0x0FFFE000
    finite = (size.floats() * 2.0**112).bits()
    special = size >= 0x0F800000
    return (special.select(size | 0x7F800000, finite) | (wide << 16 & 0x80000000)).floats()


def narrowed(x: Value) -> Value:
    """A float64 as float32 whose last bit says whether anything was lost: rounding it to fewer bits rounds once."""
    near = x.convert("fptrunc", "f32")
    back = near.convert("fpext", "f64")
    toward_zero = near.bits() - (back.abs() > x.abs()).convert("zext", "i32")
    return (toward_zero | back.differs(x).convert("zext", "i32")).floats()


def _rounded_bits(x: Value, drop: int) -> Value:
    bits = x.bits()
    even = bits + ((1 << drop - 1) - 1) + (bits >> drop & 1)
    kept = x.is_nan().select(bits | 0x00400000, even) & -(1 << drop)
    return kept.floats()


def _rounded_half(x: Value) -> Value:
    size = x.abs()
    small = (size + 0.5) - 0.5
    normal = _rounded_bits(size, 13)
    large = (size >= 65520.0).select(float("inf"), normal)
    return (size < 2.0**-14).select(small, large).copysign(x)
