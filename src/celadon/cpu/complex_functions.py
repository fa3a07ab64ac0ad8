"""Complex elements as pairs of float64 Values come in, trigonometric and hyperbolic functions of them go out."""

from __future__ import annotations

import math

from celadon.cpu import math_exponential, math_hyperbolic, math_trigonometric
from celadon.cpu.complex_rules import (
    INFINITY,
    Pair,
    add,
    conj,
    divide,
    exponential,
    log,
    multiply,
    one_minus,
    one_plus,
    over_i,
    reciprocal,
    square_root,
    times_i,
)
from celadon.cpu.ir import Value


def sinh(x: Pair) -> Pair:
    re, im = x
    return (
        _times(math_hyperbolic.sinh(re), math_trigonometric.cosine(im)),
        _times(math_trigonometric.sine(im), math_hyperbolic.cosh(re)),
    )


def cosh(x: Pair) -> Pair:
    re, im = x
    return (
        _times(math_hyperbolic.cosh(re), math_trigonometric.cosine(im)),
        _times(math_hyperbolic.sinh(re), math_trigonometric.sine(im)),
    )


def _times(x: Value, y: Value) -> Value:
    """A product that is zero if a factor is, be the other infinite."""
    zero = x.function.like(x, 0.0).copysign((x.bits() ^ y.bits()).floats())
    return (x.equals(0.0) | y.equals(0.0)).select(zero, x * y)


def sine(x: Pair) -> Pair:
    return over_i(sinh(times_i(x)))


def cosine(x: Pair) -> Pair:
    return cosh(times_i(x))


def tanh(x: Pair) -> Pair:
    """Kahan's form, which has no cancellation; far out the real part is 1 and the imaginary one falls as e^(-2 re)."""
    re, im = x
    t, s = math_trigonometric.tan(im), math_hyperbolic.sinh(re)
    beta = t * t + 1.0
    below = beta * s * s + 1.0
    near = beta * (s * s + 1.0).sqrt() * s / below, t / below
    fall = math_exponential.exponential(re.abs() * -2.0) * 4.0
    far_im = math_trigonometric.sine(im) * math_trigonometric.cosine(im) * fall
    far_im = re.abs().equals(INFINITY).select(0.0, far_im)
    far = re.abs() > 20.0
    one = re.function.like(re, 1.0).copysign(re)
    return far.select(one, near[0]), far.select(far_im, near[1])


def tan(x: Pair) -> Pair:
    return over_i(tanh(times_i(x)))


def logistic(x: Pair) -> Pair:
    """1 / (1 + w) with w = e^-x, or w / (1 + w) with w = e^x, whichever w is at most 1 in magnitude."""
    left = x[0] < 0.0
    w = exponential((-x[0].abs(), left.select(x[1], -x[1])))
    inverse = reciprocal(one_plus(w))
    product = multiply(w, inverse)
    return left.select(product[0], inverse[0]), left.select(product[1], inverse[1])


def _tamed(x: Pair) -> tuple[Pair, Value]:
    """The number, smaller where its roots' products would overflow, and by how much its logarithm is smaller."""
    huge = (x[0].abs() > 2.0**1000) | (x[1].abs() > 2.0**1000)
    scale = huge.select(2.0**-16, x[0].function.like(x[0], 1.0))
    return (x[0] * scale, x[1] * scale), huge.select(16 * math.log(2), x[0].function.like(x[0], 0.0))


def _inverse_sinh(x: Value, missing: Value) -> Value:
    """asinh of a number whose logarithm is larger by what is missing."""
    found = math_hyperbolic.asinh(x)
    return found + missing.copysign(found)


def asin(x: Pair) -> Pair:
    """Kahan's form from the roots of 1 - x and 1 + x."""
    x, missing = _tamed(x)
    below, above = square_root(one_minus(x)), square_root(one_plus(x))
    endless = x[0].abs().equals(INFINITY) | x[1].abs().equals(INFINITY)
    run = endless.select(x[1].abs(), multiply(below, above)[0])
    im = _inverse_sinh(multiply(conj(below), above)[1], missing)
    im = endless.select(x[0].function.like(im, INFINITY).copysign(x[1]), im)
    return math_trigonometric.atan2(x[0], run), im


def acos(x: Pair) -> Pair:
    x, missing = _tamed(x)
    below, above = square_root(one_minus(x)), square_root(one_plus(x))
    re = math_trigonometric.atan2(below[0], above[0]) * 2.0
    return re, _inverse_sinh(multiply(conj(above), below)[1], missing)


def acosh(x: Pair) -> Pair:
    x, missing = _tamed(x)
    below, above = square_root((x[0] - 1.0, x[1])), square_root(one_plus(x))
    re = _inverse_sinh(multiply(conj(below), above)[0], missing)
    return re, math_trigonometric.atan2(below[1], above[0]) * 2.0


def asinh(x: Pair) -> Pair:
    return over_i(asin(times_i(x)))


def atanh(x: Pair) -> Pair:
    """log(((1 + re)^2 + im^2) / ((1 - re)^2 + im^2)) / 4 as log(1 + 4 re / ...), for re >= 0 and by sign."""
    re, im = x[0].abs(), x[1]
    less = 1.0 - re
    below = less * less + im * im
    ratio = below.equals(INFINITY).select(0.0, re * 4.0 / below)
    beside = (math.log(2) - math_exponential.log(im.abs())) * 0.5  # of 1, where the square of im has few digits, or none
    size = (below < 2.0**-900).select(beside, math_exponential.log_plus_one(ratio) * 0.25)
    endless = re.equals(INFINITY) | im.abs().equals(INFINITY)
    run = endless.select(-INFINITY, (less * (re + 1.0) - im * im) * 0.5)  # halves, so that only this may overflow
    rise = endless.select(0.0, im).copysign(im)
    return endless.select(0.0, size).copysign(x[0]), math_trigonometric.atan2(rise, run) * 0.5


def atan(x: Pair) -> Pair:
    return over_i(atanh(times_i(x)))


def atan2(y: Pair, x: Pair) -> Pair:
    """-i log((x + i y) / sqrt(x^2 + y^2))."""
    root = square_root(add(multiply(x, x), multiply(y, y)))
    return over_i(log(divide(add(x, times_i(y)), root)))
