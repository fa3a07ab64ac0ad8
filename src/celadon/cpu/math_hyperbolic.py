"""Floats come in, hyperbolic functions and their inverses go out; built on exponentials and logarithms."""

from __future__ import annotations

import math

from celadon.cpu.ir import Value
from celadon.cpu.kinds import MANTISSA
from celadon.cpu.math_exponential import expm1_part, exponential_times, log_plus_one, power_of_two, reduced
from celadon.cpu.outline import outlined, outlined_wide

SINH_SMALL = (0.1666666716337204, 0.008333316072821617, 0.00019841382163576782, 2.7919761578232283e-06)
TANH_SMALL = (-0.333333283662796, 0.13332857191562653, -0.05381888523697853, 0.019960658624768257)
LARGE = 2.0**60


@outlined
def tanh(x: Value) -> Value:
    size = x.abs()
    limit = {"f32": 10.0, "f64": 20.0}[x.kind]
    size = (size > limit).select(limit, size)
    shifted, r = reduced(size + size)
    power = power_of_two(shifted)
    e = power.fma(expm1_part(r), power - 1.0)
    result = e / (e + 2.0)
    return (_odd(size, 0.3, TANH_SMALL, result) if x.kind == "f32" else result).copysign(x)


@outlined
def sinh(x: Value) -> Value:
    size = x.abs()
    limit = {"f32": 89.6, "f64": 710.7}[x.kind]
    shifted, r = reduced((size > limit).select(limit, size))
    quarter_power = power_of_two(shifted, -2)
    quarter = quarter_power.fma(expm1_part(r), quarter_power - 0.25)
    half = quarter + quarter
    bounded = (half > LARGE).select(LARGE, half)
    result = half + bounded / (bounded + bounded + 1.0)
    if x.kind == "f32":
        return _odd(x.abs(), 1.0, SINH_SMALL, result).copysign(x)
    return (x.abs() < 2.0 ** -MANTISSA[x.kind]).select(x, result.copysign(x))


def _odd(size: Value, border: float, coefficients: tuple[float, ...], beyond: Value) -> Value:
    """An odd function of size >= 0, by its series where that is more precise."""
    z = size * size
    return (size < border).select((size * z).fma(z.polynomial(coefficients), size), beyond)


@outlined
def cosh(x: Value) -> Value:
    e = exponential_times(x.abs(), -1)
    return e + 0.25 / e


@outlined_wide
def asinh(x: Value) -> Value:
    size = x.abs()
    large = size > 2.0**500
    sum_less_one = size + size * size / ((size * size + 1.0).sqrt() + 1.0)
    return _logarithm(large.select(size, sum_less_one), large).copysign(x)


@outlined_wide
def acosh(x: Value) -> Value:
    t = x - 1.0
    large = x > 2.0**500
    result = _logarithm(large.select(x, t + t.fma(t, t + t).sqrt()), large)
    return (x < 1.0).select(float("nan"), result)


@outlined_wide
def atanh(x: Value) -> Value:
    size = x.abs()
    return (log_plus_one.inline((size + size) / (1.0 - size)) * 0.5).copysign(x)


def _logarithm(u: Value, large: Value) -> Value:
    """log(1 + u), or log(2 u) where u is so large that the one makes no difference."""
    zero = u.function.like(u, 0.0)
    return log_plus_one.inline(u) + large.select(math.log(2), zero)
