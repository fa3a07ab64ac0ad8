"""Floats come in, sines, cosines, tangents and their inverses go out; any finite argument is reduced exactly enough."""

from __future__ import annotations

import functools
import math

from celadon.cpu.ir import Value
from celadon.cpu.kinds import MANTISSA, bits_of
from celadon.cpu.outline import Outlined, outlined, outlined_wide

PI = {
    "f32": (3.1415927410125732, -8.742277657347586e-08, -3.430249306424355e-15),
    "f64": (3.141592653589793, 1.2246467991473532e-16, -2.9947698097183397e-33),
}
SINE = {
    "f32": (-0.1666666716337204, 0.008333347737789154, -0.0001984258706215769, 2.7598296128417132e-06,
            -2.498250850635486e-08),
    "f64": (-0.16666666666666666, 0.008333333333333224, -0.00019841269841220982, 2.755731921271536e-06,
            -2.5052106865241815e-08, 1.6058917152115618e-10, -7.64055239642119e-13, 2.600981436524275e-15,
            2.9160814294456214e-17, -2.819914080432023e-18),
}  # fmt: skip
SINE_QUARTER = (
    -0.16666666666666666, 0.008333333333333102, -0.00019841269841060292, 2.7557319131457665e-06,
    -2.5052086662827808e-08, 1.6056351105405029e-10, -7.49056572513433e-13,
)  # fmt: skip
COSINE_QUARTER = (
    0.041666666666666664, -0.001388888888888844, 2.4801587301252334e-05, -2.7557319097877855e-07,
    2.0876731261415703e-09, -1.1467971321088304e-11, 4.644299349988481e-14,
)  # fmt: skip
ATAN = (
    -0.33333333333333326, 0.1999999999999725, -0.14285714285346662, 0.11111111086045751, -0.09090908078669814,
    0.07692281451479996, -0.06666209488701359, 0.05876868267903576, -0.052174964678566894, 0.045001254248115234,
    -0.03339994364110224, 0.015123950726889915,
)  # fmt: skip
ASIN = (
    0.16666666666666763, 0.07499999999970164, 0.04464285717517305, 0.030381942682561936, 0.022372215664492334,
    0.01735160028463175, 0.013980957317718732, 0.011397818400193252, 0.010786260734810826, 0.00368414508650023,
    0.02176060486382917, -0.0210728683332778, 0.03267388729138115,
)  # fmt: skip
REDUCED_BELOW = {"f32": 1e5, "f64": 2.0**28}


@outlined
def sine(x: Value) -> Value:
    shifted, n = _turns(x, 0.0)
    result = _flipped(_sine_part(_less_turns(x, n)), shifted.bits())
    return _beyond(x, x.equals(0.0).select(x, result), sine_huge)


@outlined
def cosine(x: Value) -> Value:
    shifted, n = _turns(x, -0.5)
    result = _flipped(-_sine_part(_less_turns(x, n + 0.5)), shifted.bits())
    return _beyond(x, result, cosine_huge)


@outlined_wide
def tan(x: Value) -> Value:
    magic = 1.5 * 2.0 ** MANTISSA[x.kind]
    shifted = x.fma(2 / math.pi, magic)
    n = shifted - magic
    result = _tan_part(_less_turns(x, n * 0.5), shifted.bits())
    return _beyond(x, x.equals(0.0).select(x, result), tan_huge)


@outlined_wide
def atan(x: Value) -> Value:
    size = x.abs()
    steep = size > 1.0
    r = _ratio_angle(steep.select(1.0, size), steep.select(size, 1.0))
    return steep.select(_from_quarter(r), r).copysign(x)


@outlined_wide
def atan2(y: Value, x: Value) -> Value:
    """The angle of the point (x, y), with the signs of zeros as C99 has them."""
    rise, run = y.abs(), x.abs()
    steep = rise > run
    least, most = steep.select(run, rise), steep.select(rise, run)
    both = least.equals(float("inf"))
    r = _ratio_angle(both.select(1.0, least), both.select(1.0, most))
    r = steep.select(_from_quarter(r), r)
    r = (x.bits() < 0).select(math.pi - (r - PI["f64"][1]), r)
    return (x.is_nan() | y.is_nan()).select(x + y, r.copysign(y))


@outlined_wide
def asin(x: Value) -> Value:
    size = x.abs()
    steep, half = _arc_part(size)
    return steep.select(math.pi / 2 - (half + half - PI["f64"][1] / 2), half).copysign(x)


@outlined_wide
def acos(x: Value) -> Value:
    steep, half = _arc_part(x.abs())
    twice = half + half
    far = (x < 0.0).select(math.pi - (twice - PI["f64"][1]), twice)
    return steep.select(far, math.pi / 2 - (half.copysign(x) - PI["f64"][1] / 2))


def _arc_part(size: Value) -> tuple[Value, Value]:
    """Whether size > 1/2, and asin(size), or where it is so asin(sqrt((1 - size) / 2))."""
    steep = size > 0.5
    z = steep.select((1.0 - size) * 0.5, size * size)
    s = steep.select(z.sqrt(), size)
    return steep, (z * z.polynomial(ASIN)).fma(s, s)


def _ratio_angle(least: Value, most: Value) -> Value:
    """atan(least / most) for 0 <= least <= most; 0 for 0 / 0."""
    t = most.equals(0.0).select(0.0, least / most)
    far = t > math.tan(math.pi / 8)
    u = far.select((t - 1.0) / (t + 1.0), t)
    z = u * u
    r = (z * z.polynomial(ATAN)).fma(u, u)
    return far.select(r + PI["f64"][1] / 4 + math.pi / 4, r)


def _from_quarter(r: Value) -> Value:
    return math.pi / 2 - (r - PI["f64"][1] / 2)


def _turns(x: Value, offset: float) -> tuple[Value, Value]:
    """The whole number n nearest to x / pi + offset, in the low bits of a large float and as a float."""
    magic = 1.5 * 2.0 ** MANTISSA[x.kind]
    shifted = x.fma(1 / math.pi, offset) + magic if offset else x.fma(1 / math.pi, magic)
    return shifted, shifted - magic


def _less_turns(x: Value, n: Value) -> Value:
    """x - n pi; pi in three parts, so that what is left is right to its last bit."""
    for part in PI[x.kind]:
        x = n.fma(-part, x)
    return x


def _sine_part(r: Value) -> Value:
    """sin(r) for |r| <= pi / 2."""
    z = r * r
    return (z * z.polynomial(SINE[r.kind])).fma(r, r)


def _flipped(x: Value, count: Value) -> Value:
    """-x where the lowest bit of the integer count is set."""
    return (x.bits() ^ (count << bits_of(x.kind) - 1)).floats()


def _tan_part(r: Value, count: Value) -> Value:
    """tan(r) for |r| <= pi / 4, or -1 / tan(r) where the lowest bit of count is set."""
    z = r * r
    s = (z * z.polynomial(SINE_QUARTER)).fma(r, r)
    c = (z * z).fma(z.polynomial(COSINE_QUARTER), z.fma(-0.5, 1.0))
    odd = (count & 1).differs(0)
    return odd.select(-c, s) / odd.select(s, c)


def _beyond(x: Value, usual: Value, huge: Outlined) -> Value:
    """`usual`, or where x is too large for the short reduction, what a scalar function makes of it, lane by lane."""
    size = x.abs()
    far = (size >= REDUCED_BELOW[x.kind]) & (size < float("inf"))
    wide = far.select(x, 2.0**40)
    return x.function.rarely(far, usual, lambda: far.select(_lane_by_lane(huge, wide), usual))


def _lane_by_lane(scalar: Outlined, x: Value) -> Value:
    """A loop over the lanes in memory: code for one lane only."""
    f = x.function
    lanes = f.new(f"alloca [{x.lanes} x double], align 64", "ptr")
    f.store(x.convert("fpext", "f64"), lanes)
    start, loop, done = f.block, f.fresh("loop"), f.fresh("done")
    f.jump(loop)
    f.label(loop)
    i = f.phi("i64", 1, [(f.constant("i64", 0), start), ("%next", loop)])
    place = f.gep(lanes, i, "f64")
    f.store(scalar(f.load(place, "f64")), place)
    f.named("%next", i + 1)
    f.branch(i + 1 < x.lanes, loop, done)
    f.label(done)
    return f.load(lanes, "f64", x.lanes).convert("fptrunc", x.kind)


@outlined
def sine_huge(x: Value) -> Value:
    place = _turn_place(x)
    result = _sine_part(_angle(place << 1, PI["f64"]))
    return _flipped(result, _whole_turns(place, 127) ^ (x.bits() >> 63))


@outlined
def cosine_huge(x: Value) -> Value:
    place = _turn_place(x) - (1 << 126)
    result = -_sine_part(_angle(place << 1, PI["f64"]))
    return _flipped(result, _whole_turns(place, 127))


@outlined
def tan_huge(x: Value) -> Value:
    place = _turn_place(x)
    high, low, _ = PI["f64"]
    result = _tan_part(_angle(place << 2, (high / 2, low / 2)), _whole_turns(place, 126))
    return _flipped(result, x.bits() >> 63)


def _turn_place(x: Value) -> Value:
    """|x| / pi modulo 2 in units of 2^-127 (Payne and Hanek): x times a window of the bits of 1 / pi."""
    f = x.function
    bits = x.bits() & ((1 << 63) - 1)
    mantissa = (bits & ((1 << 52) - 1) | (1 << 52)).convert("zext", "i128")
    first = (bits >> 52) - 1012
    words = f.table("i64", inverse_pi())
    place = f.gep(words, first >> 6, "i64")
    w = [f.load(f.gep(place, i, "i64"), "i64") for i in range(4)]
    a = [f.intrinsic("fshl", w[i], w[i + 1], first & 63).convert("zext", "i128") for i in range(3)]
    return (mantissa * a[0] << 64) + mantissa * a[1] + (mantissa * a[2] >> 64)


@functools.cache
def inverse_pi() -> tuple[int, ...]:
    """Twenty 64-bit words: 64 zero bits, then the binary digits of 1 / pi (Machin's formula in integers).

    >>> hex(inverse_pi()[1])
    '0x517cc1b727220a94'
    """
    one = 1 << 1400
    pi = 4 * (4 * _inverse_tangent(5, one) - _inverse_tangent(239, one))
    digits = (one * one // pi) >> 1400 - 1216
    return tuple(digits >> 64 * (19 - i) & ((1 << 64) - 1) for i in range(20))


def _inverse_tangent(n: int, one: int) -> int:
    """one * atan(1 / n)."""
    term, total, k = one // n, 0, 1
    while term:
        total += term // k
        term, k = -term // (n * n), k + 2
    return total


def _whole_turns(place: Value, unit: int) -> Value:
    """The lowest bit of place / 2^unit, rounded to the nearest."""
    return (place + (1 << unit - 1) >> unit).convert("trunc", "i64")


def _angle(fraction: Value, unit: tuple[float, ...]) -> Value:
    """A signed 128-bit fraction of one, times a unit in two parts, as float64."""
    f = fraction.function
    size = (fraction < 0).select(-fraction, fraction)
    zeros = f.intrinsic("ctlz", size, flags=["false"])
    whole = size << zeros
    high = (whole >> 75).convert("trunc", "i64").convert("sitofp", "f64")
    low = (whole >> 22 & ((1 << 53) - 1)).convert("trunc", "i64").convert("sitofp", "f64") * 2.0**-53
    product = high * unit[0]
    rest = high.fma(unit[0], -product) + high.fma(unit[1], low * unit[0])
    scale = (1023 - 53 - zeros.convert("trunc", "i64") << 52).floats()
    angle = (product + rest) * scale
    return (fraction < 0).select(-angle, angle)
