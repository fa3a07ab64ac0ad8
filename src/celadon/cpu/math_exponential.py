"""Floats come in, exponentials and logarithms go out as vector polynomials in the operand's own precision."""

from __future__ import annotations

from celadon.cpu.ir import Value
from celadon.cpu.kinds import BIAS, MANTISSA
from celadon.cpu.outline import outlined

LOG2_E = 1.4426950408889634
LN2 = {"f32": (0.693145751953125, 1.4286068203094172e-06), "f64": (0.6931471805598903, 5.497923018708371e-14)}
EXP = {
    "f32": (0.5, 0.1666651964187622, 0.041666436940431595, 0.008368846029043198, 0.0013937536859884858),
    "f64": (
        0.5000000000000013, 0.1666666666666669, 0.041666666666511615, 0.008333333333312392, 0.0013888888947887462,
        0.00019841269906329092, 2.4801489100787786e-05, 2.7557226077907773e-06, 2.763157133620237e-07,
        2.5114788265987727e-08,
    ),
}  # fmt: skip
EXP_LIMITS = {"f32": (-104.5, 89.0), "f64": (-746.0, 710.0)}
LOG = {
    "f32": (0.6666677594184875, 0.3997756838798523, 0.2987111508846283),
    "f64": (
        0.6666666666666735, 0.39999999999411906, 0.2857142874280412, 0.22222198539288704, 0.18183565882692604,
        0.15314013443759214, 0.14796302246928728,
    ),
}  # fmt: skip
SQRT_HALF = 0.7071067811865476


@outlined
def exponential(x: Value) -> Value:
    return exponential_times(x, 0)


def exponential_times(x: Value, exponent: int) -> Value:
    """e^x * 2^exponent, for an exponent of a few units, rounded once however large or small it is."""
    low, high = EXP_LIMITS[x.kind]
    shifted, r = reduced(clamped(x, low, high - exponent * 0.7))
    return scaled(expm1_part(r) + 1.0, shifted, exponent)


def scaled(x: Value, shifted: Value, exponent: int = 0) -> Value:
    """x * 2^(n + exponent), rounded once, for an x about 1.

    A processor takes a hundred times as long for a product that is subnormal. Such a one is added to a large number instead,
    whose last bits it then is.
    """
    mantissa, bias = MANTISSA[x.kind], BIAS[x.kind]
    first, second = (power.bits() for power in two_powers(shifted, exponent))
    tiny = _doubled(shifted, exponent).compare("ule", bias)
    up = tiny.select(x.function.like(first, mantissa + bias - 1 << mantissa), 0)
    product = x * first.floats() * (second + up).floats()
    last_bits = (product + 2.0**mantissa).bits() - (bias + mantissa << mantissa)
    return tiny.select(last_bits.floats(), product)


def clamped(x: Value, low: float, high: float) -> Value:
    """x within limits; NaN stays."""
    x = (x > high).select(high, x)
    return (x < low).select(low, x)


def reduced(x: Value) -> tuple[Value, Value]:
    """x as n ln 2 + r with |r| <= ln 2 / 2: n in the low bits of a large float, and r."""
    magic = 1.5 * 2.0 ** MANTISSA[x.kind]
    shifted = x.fma(LOG2_E, magic)
    n = shifted - magic
    high, low = LN2[x.kind]
    return shifted, n.fma(-low, n.fma(-high, x))


def expm1_part(r: Value) -> Value:
    """e^r - 1 for |r| <= ln 2 / 2."""
    return (r * r).fma(r.polynomial(EXP[r.kind]), r)


def power_of_two(shifted: Value, exponent: int = 0) -> Value:
    """2^(n + exponent), which must be a normal number, from what `reduced` gave."""
    bits = shifted.bits() + (BIAS[shifted.kind] + exponent)
    return (bits << MANTISSA[shifted.kind]).floats()


def two_powers(shifted: Value, exponent: int = 0) -> tuple[Value, Value]:
    """Two normal numbers with the product 2^(n + exponent), so that a subnormal result is rounded once."""
    mantissa, doubled = MANTISSA[shifted.kind], _doubled(shifted, exponent)
    half = doubled >> 1
    return (half << mantissa).floats(), (doubled - half << mantissa).floats()


def _doubled(shifted: Value, exponent: int) -> Value:
    """n + exponent, more by twice the bias."""
    mantissa, bias = MANTISSA[shifted.kind], BIAS[shifted.kind]
    magic_bits = (bias + mantissa << mantissa) + (1 << mantissa - 1)
    return shifted.bits() - (magic_bits - 2 * bias - exponent)


@outlined
def exponential_minus_one(x: Value) -> Value:
    low, high = {"f32": (-20.0, 89.0), "f64": (-40.0, 710.0)}[x.kind]
    is_tiny = x.abs() < 2.0 ** -MANTISSA[x.kind]
    shifted, r = reduced(clamped(is_tiny.select(0.0, x), low, high))
    half_power = power_of_two(shifted, -1)
    result = half_power.fma(expm1_part(r), half_power - 0.5) * 2.0
    return is_tiny.select(x, result)


@outlined
def logistic(x: Value) -> Value:
    """1 / (1 + a b (1 + q)) with e^-x = a b (1 + q), a and b powers of two: as 1 / a over (1 / a + b (1 + q))."""
    limit = -EXP_LIMITS[x.kind][0]
    shifted, r = reduced(clamped(-x, -limit, limit))
    first, second = two_powers(shifted)
    inverse = ((2 * BIAS[x.kind] << MANTISSA[x.kind]) - first.bits()).floats()
    total = second + inverse
    lost = second - total + inverse
    return inverse / (second.fma(expm1_part(r), lost) + total)


@outlined
def log(x: Value) -> Value:
    k, f = split(x)
    s, _, half_square, r = log_terms(f)
    high, low = LN2[x.kind]
    tail = half_square - s.fma(half_square + r, k * low)
    return log_special(x, k.fma(high, f - tail))


@outlined
def log_plus_one(x: Value) -> Value:
    given, is_tiny = x, x.abs() < 2.0 ** (-MANTISSA[x.kind] - 2)
    x = is_tiny.select(0.0, x)  # a subnormal number would slow down whatever is computed with it
    u = x + 1.0
    k, f = split(u)
    lost = (x > 1.0).select(1.0 - (u - x), x - (u - 1.0)) / u
    near = k.equals(0.0)
    f, lost = near.select(x, f), near.select(0.0, lost)
    s, _, half_square, r = log_terms(f)
    high, low = LN2[x.kind]
    tail = half_square - s.fma(half_square + r, k.fma(low, lost))
    result = log_special(u, k.fma(high, f - tail))
    return is_tiny.select(given, result)


def split(x: Value) -> tuple[Value, Value]:
    """A positive finite x as 2^k (1 + f), sqrt(1/2) <= 1 + f < sqrt(2)."""
    mantissa, bias = MANTISSA[x.kind], BIAS[x.kind]
    tiny = x < 2.0 ** (1 - bias)
    bits = tiny.select(x * 2.0 ** (mantissa + 1), x).bits()
    root = x.function.like(x, SQRT_HALF).bits()
    moved = bits - root + (bias << mantissa)
    whole = (moved >> mantissa | (bias + mantissa << mantissa)).floats()
    offset = 2.0**mantissa + bias
    k = whole - tiny.select(x.function.like(x, offset + mantissa + 1), offset)
    return k, ((moved & ((1 << mantissa) - 1)) + root).floats() - 1.0


def log_terms(f: Value) -> tuple[Value, Value, Value, Value]:
    """s = f / (2 + f), s^2, f^2 / 2 and R, where log(1 + f) = f - (f^2 / 2 - s (f^2 / 2 + R))."""
    s = f / (f + 2.0)
    z = s * s
    return s, z, f * f * 0.5, z * z.polynomial(LOG[f.kind])


def log_special(x: Value, result: Value) -> Value:
    """The logarithm's values outside of (0, inf)."""
    infinity = float("inf")
    negative = (x < 0.0).select(float("nan"), x)
    outside = x.equals(0.0).select(-infinity, negative)
    return ((x > 0.0) & (x < infinity)).select(result, outside)
