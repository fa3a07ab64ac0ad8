"""Complex elements as pairs of float Values come in, the arithmetic and roots of complex numbers go out."""

from __future__ import annotations

from celadon.cpu import math_exponential, math_trigonometric
from celadon.cpu.ir import Value

Pair = tuple[Value, Value]
INFINITY = float("inf")


def add(x: Pair, y: Pair) -> Pair:
    return x[0] + y[0], x[1] + y[1]


def subtract(x: Pair, y: Pair) -> Pair:
    return x[0] - y[0], x[1] - y[1]


def multiply(x: Pair, y: Pair) -> Pair:
    """Four real products, unfused."""
    return x[0] * y[0] - x[1] * y[1], x[0] * y[1] + x[1] * y[0]


def square(x: Pair) -> Pair:
    return multiply(x, x)


def negate(x: Pair) -> Pair:
    return -x[0], -x[1]


def conj(x: Pair) -> Pair:
    return x[0], -x[1]


def times_i(x: Pair) -> Pair:
    return -x[1], x[0]


def over_i(x: Pair) -> Pair:
    return x[1], -x[0]


def one_plus(x: Pair) -> Pair:
    return x[0] + 1.0, x[1]


def one_minus(x: Pair) -> Pair:
    return 1.0 - x[0], -x[1]


def divide(x: Pair, y: Pair) -> Pair:
    """Smith's method: by the larger part of y first, so that nothing overflows that need not."""
    flat = y[0].abs() >= y[1].abs()
    larger, smaller = flat.select(y[0], y[1]), flat.select(y[1], y[0])
    zero = larger.equals(0.0)
    ratio = zero.select(0.0, smaller / larger)
    below = zero.select(0.0, larger + smaller * ratio)
    re = flat.select(x[0] + x[1] * ratio, x[0] * ratio + x[1])
    im = flat.select(x[1] - x[0] * ratio, x[1] * ratio - x[0])
    return zero.select(x[0], re) / below, zero.select(x[1], im) / below


def reciprocal(x: Pair) -> Pair:
    one, zero = x[0].function.like(x[0], 1.0), x[0].function.like(x[0], 0.0)
    return divide((one, zero), x)


def magnitude(x: Pair) -> Value:
    """|x| without overflow; infinite if a part is, even beside NaN."""
    a, b = x[0].abs(), x[1].abs()
    larger, smaller = (a > b).select(a, b), (a > b).select(b, a)
    ratio = larger.equals(0.0).select(0.0, smaller / larger)
    result = larger * (ratio * ratio + 1.0).sqrt()
    result = (a.is_nan() | b.is_nan()).select(float("nan"), result)
    return (a.equals(INFINITY) | b.equals(INFINITY)).select(INFINITY, result)


def sign(x: Pair) -> Pair:
    size = magnitude(x)
    zero = size.equals(0.0)
    return zero.select(0.0, x[0] / size), zero.select(0.0, x[1] / size)


def maximum(x: Pair, y: Pair) -> Pair:
    """By the real parts, then the imaginary ones."""
    return _chosen(_above(x, y), x, y)


def minimum(x: Pair, y: Pair) -> Pair:
    return _chosen(_above(y, x), x, y)


def _above(x: Pair, y: Pair) -> Value:
    return x[0].equals(y[0]).select(x[1] > y[1], x[0] > y[0])


def _chosen(mask: Value, x: Pair, y: Pair) -> Pair:
    return mask.select(x[0], y[0]), mask.select(x[1], y[1])


def square_root(x: Pair) -> Pair:
    """From the half of |re| + |x|, scaled away from overflow and underflow."""
    a, b = x[0].abs(), x[1].abs()
    larger = (a > b).select(a, b)
    huge, tiny = larger > 2.0**1000, larger < 2.0**-900
    scale = huge.select(2.0**-4, tiny.select(x[0].function.like(a, 2.0**108), 1.0))
    back = huge.select(4.0, tiny.select(x[0].function.like(a, 2.0**-54), 1.0))
    a, b = a * scale, b * scale
    t = ((a + magnitude((a, b))) * 0.5).sqrt()
    other = t.equals(0.0).select(t, b / (t + t))
    t, other = t * back, other * back
    right = x[0].compare("uge", 0.0)
    re, im = right.select(t, other), right.select(other, t).copysign(x[1])
    endless = b.equals(INFINITY)
    im = (a.equals(INFINITY) & (b < INFINITY)).select(right.select(0.0, t).copysign(x[1]), im)
    re = (a.equals(INFINITY) & (b < INFINITY) & ~right).select(0.0, re)
    return endless.select(INFINITY, re), endless.select(b.copysign(x[1]), im)


def reciprocal_square_root(x: Pair) -> Pair:
    return reciprocal(square_root(x))


def exponential(x: Pair) -> Pair:
    """In two factors, so that e^re may overflow where the result does not; real operands stay real."""
    half = math_exponential.exponential(x[0] * 0.5)
    nothing, angle = half.equals(0.0), x[1]
    re = half * math_trigonometric.cosine(angle) * half
    im = angle.equals(0.0).select(angle, half * math_trigonometric.sine(angle) * half)
    return nothing.select(0.0, re), nothing.select(0.0, im)


def log(x: Pair) -> Pair:
    return _log_magnitude(x), math_trigonometric.atan2(x[1], x[0])


def _log_magnitude(x: Pair) -> Value:
    """log |x|, by log(1 + ...) near the unit circle."""
    a, b = x[0].abs(), x[1].abs()
    larger, smaller = (a > b).select(a, b), (a > b).select(b, a)
    near = (larger > 0.5) & (larger < 2.0)
    ratio = larger.equals(0.0).select(0.0, smaller / larger)
    square_less_one = near.select((larger - 1.0) * (larger + 1.0) + smaller * smaller, ratio * ratio)
    rest = math_exponential.log_plus_one(square_less_one) * 0.5
    result = near.select(rest, math_exponential.log(larger) + rest)
    result = (a.is_nan() | b.is_nan()).select(float("nan"), result)
    return (a.equals(INFINITY) | b.equals(INFINITY)).select(INFINITY, result)


def log_plus_one(x: Pair) -> Pair:
    """|1 + x|^2 - 1 is re (2 + re) + im^2, exact near zero."""
    small = x[0].abs().compare("olt", 0.5) & x[1].abs().compare("olt", 0.5)
    near = math_exponential.log_plus_one(x[0] * (x[0] + 2.0) + x[1] * x[1]) * 0.5
    re, im = log(one_plus(x))
    return small.select(near, re), im


def exponential_minus_one(x: Pair) -> Pair:
    """e^re cos im - 1 as expm1(re) cos im - 2 sin^2(im / 2)."""
    re, im = exponential(x)
    half_sine = math_trigonometric.sine(x[1] * 0.5)
    grown = math_exponential.exponential_minus_one(x[0])
    near = grown * math_trigonometric.cosine(x[1]) - half_sine * half_sine * 2.0
    return (x[0].abs() < 1.0).select(near, re - 1.0), im


def power(x: Pair, y: Pair) -> Pair:
    """e^(y log x); x^0 is 1, x^1 is x, and 0^y is 0 for a positive y."""
    re, im = exponential(multiply(y, log(x)))
    none = x[0].equals(0.0) & x[1].equals(0.0)
    empty = none & (y[0] > 0.0)
    unit, same = y[0].equals(0.0) & y[1].equals(0.0), y[0].equals(1.0) & y[1].equals(0.0)
    re, im = empty.select(0.0, re), empty.select(0.0, im)
    re, im = unit.select(1.0, re), unit.select(0.0, im)
    return same.select(x[0], re), same.select(x[1], im)
