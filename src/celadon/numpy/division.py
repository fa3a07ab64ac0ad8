"""Division with a whole quotient, its rest, common divisors, and floats taken apart into fraction and exponent."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from celadon import vocabulary as ops
from celadon.numpy.comparison import isinf, isnan, signbit_of
from celadon.numpy.promotion import accept, constant, converted, fixed_like, inexact, numeric, operand, same
from celadon.numpy.selection import chosen
from celadon.program import fixed
from celadon.types import finfo, kind
from celadon.vocabulary.call import named


def _zero(x: Any) -> Any:
    return fixed_like(0, x)


def floor_divide(x1: Any, x2: Any, /) -> Any:
    """The quotient rounded down, element by element; complex numbers have none.

    >>> floor_divide(np.array([7, -7]), 2)
    Array([ 3, -4], dtype=int32)
    """
    return _floor_divide(*_divisible("floor_divide", x1, x2))


@named("floor_divide")
def _floor_divide(x: Any, y: Any) -> Any:
    x, y = numeric("floor_divide", x, y)
    letter = kind(x.type.dtype)
    if letter == "u":
        return ops.divide(x, y)
    if letter == "f":
        return _float_divmod(x, y)[0]
    quotient = ops.divide(x, y)
    signs_differ = ops.compare(ops.sign(x), ops.sign(y), direction="NE")
    rest = ops.compare(ops.remainder(x, y), _zero(x), direction="NE")
    return chosen(ops.and_(signs_differ, rest), ops.subtract(quotient, fixed_like(1, x)), quotient)


def _divisible(name: str, x: Any, y: Any) -> tuple[Any, Any]:
    x, y = operand(x, name), operand(y, name)
    for one in (x, y):
        accept(name, one.type.dtype, "biuf")
    return x, y


def _float_divmod(x: Any, y: Any) -> tuple[Any, Any]:
    rest = ops.remainder(x, y)
    by_zero = ops.compare(y, _zero(y), direction="EQ")
    quotient = ops.divide(chosen(by_zero, x, ops.subtract(x, rest)), y)
    left_over = ops.compare(rest, _zero(rest), direction="NE")
    below = ops.and_(left_over, ops.compare(ops.sign(y), ops.sign(rest), direction="NE"))
    rest = ops.select(below, ops.add(rest, y), rest)
    quotient = ops.select(below, ops.subtract(quotient, fixed_like(1, y)), quotient)
    return ops.round_nearest_afz(quotient), rest


def remainder(x1: Any, x2: Any, /) -> Any:
    """The rest of floor_divide, with the sign of x2.

    >>> remainder(np.array([7, -7]), 3)
    Array([1, 2], dtype=int32)
    """
    return _remainder(*_divisible("remainder", x1, x2))


@named("remainder")
def _remainder(x: Any, y: Any) -> Any:
    x, y = numeric("remainder", x, y)
    zero = _zero(x)
    y = _not_zero(y)
    rest = ops.remainder(x, y)
    left_over = ops.compare(rest, zero, direction="NE")
    negative = ops.compare(rest, zero, direction="LT")
    signs_differ = ops.compare(negative, ops.compare(y, zero, direction="LT"), direction="NE")
    return ops.select(ops.and_(signs_differ, left_over), ops.add(rest, y), rest)


def _not_zero(y: Any) -> Any:
    """An integer divisor with 1 in place of 0."""
    if kind(y.type.dtype) == "f":
        return y
    nothing = ops.compare(y, _zero(y), direction="EQ")
    return chosen(nothing, _ones(y) if y.type.shape else fixed_like(1, y), y)


def mod(x1: Any, x2: Any, /) -> Any:
    """The same as remainder.

    >>> mod(np.array([7, -7]), 3)
    Array([1, 2], dtype=int32)
    """
    return remainder(x1, x2)


def fmod(x1: Any, x2: Any, /) -> Any:
    """The rest of a division rounded towards zero, with the sign of x1.

    >>> fmod(np.array([7, -7]), 3)
    Array([ 1, -1], dtype=int32)
    """
    return _fmod(*_divisible("fmod", x1, x2))


@named("fmod")
def _fmod(x: Any, y: Any) -> Any:
    booleans = kind(x.type.dtype) == kind(y.type.dtype) == "b"
    x, y = numeric("fmod", x, y)
    return ops.remainder(x, y if booleans else _not_zero(y))


def divmod(x1: Any, x2: Any, /) -> tuple[Any, Any]:
    """The quotient rounded down, and its rest.

    >>> divmod(np.array([7]), 2)
    (Array([3], dtype=int32), Array([1], dtype=int32))
    """
    return _divmod(*_divisible("divmod", x1, x2))


@named("divmod")
def _divmod(x: Any, y: Any) -> Any:
    x, y = numeric("divmod", x, y)
    if kind(x.type.dtype) == "f":
        return _float_divmod(x, y)
    return _floor_divide(x, y), _remainder(x, y)


def gcd(x1: Any, x2: Any) -> Any:
    """The greatest common divisor of integers, element by element.

    >>> gcd(np.array([12, 7]), 8)
    Array([4, 1], dtype=int32)
    """
    x, y = same("gcd", x1, x2)
    accept("gcd", x.type.dtype, "iu")
    return _gcd(x, y)


@named("gcd")
def _gcd(x: Any, y: Any) -> Any:
    """Euclid's algorithm, as often as the longest run of quotients of 1 (Fibonacci numbers) can ask for."""
    if kind(x.type.dtype) == "i":
        x, y = ops.abs_(x), ops.abs_(y)
    shape = np.broadcast_shapes(x.type.shape, y.type.shape)
    x, y = (one if one.type.shape == shape else ops.broadcast_in_dim(one, shape=shape, broadcast_dimensions=())
            for one in (x, y))  # fmt: skip
    for _ in range(math.ceil(8 * x.type.dtype.itemsize * math.log(2) / math.log((1 + math.sqrt(5)) / 2)) + 1):
        done = ops.compare(y, _zero(y), direction="EQ")
        rest = ops.remainder(x, ops.select(done, x, y))
        x, y = ops.select(done, x, y), ops.select(done, y, rest)
    return x


def lcm(x1: Any, x2: Any) -> Any:
    """The least common multiple of integers, element by element.

    >>> lcm(np.array([4, 7]), 6)
    Array([12, 42], dtype=int32)
    """
    x, y = same("lcm", x1, x2)
    accept("lcm", x.type.dtype, "iu")
    return _lcm(x, y)


@named("lcm")
def _lcm(x: Any, y: Any) -> Any:
    if kind(x.type.dtype) == "i":
        x, y = ops.abs_(x), ops.abs_(y)
    divisor = _gcd(x, y)
    nothing = ops.compare(divisor, _zero(divisor), direction="EQ")
    product = ops.multiply(x, ops.divide(y, ops.select(nothing, _ones(divisor), divisor)))
    return ops.select(nothing, divisor, product)


def _ones(x: Any) -> Any:
    return ops.broadcast_in_dim(fixed_like(1, x), shape=x.type.shape, broadcast_dimensions=())


def modf(x: Any, /, out: None = None) -> tuple[Any, Any]:
    """The fraction and the whole part of floats, both with the sign of x.

    >>> modf(np.array([1.5, -0.25], "float32"))
    (Array([ 0.5 , -0.25], dtype=float32), Array([ 1., -0.], dtype=float32))
    """
    x = operand(x, "modf")
    accept("modf", x.type.dtype, "biuf")
    return _modf(x)


@named("modf")
def _modf(x: Any) -> Any:
    (x,) = inexact("modf", x)
    whole = chosen(ops.compare(x, _zero(x), direction="GE"), ops.floor(x), ops.ceil(x))
    return ops.subtract(x, whole), whole


def copysign(x1: Any, x2: Any, /) -> Any:
    """The magnitude of x1 with the sign of x2, as floats.

    >>> copysign(np.array([1.0, -2.0], "float32"), -0.0)
    Array([-1., -2.], dtype=float32)
    """
    x, y = inexact("copysign", x1, x2)
    accept("copysign", x.type.dtype, "f")
    return _copysign(x, y)


@named("copysign")
def _copysign(x: Any, y: Any) -> Any:
    return chosen(signbit_of(y), ops.negate(ops.abs_(x)), ops.abs_(x))


def spacing(x: Any, /) -> Any:
    """The distance from each float to the next one away from zero.

    >>> float(spacing(np.float32(1.0))) == 2.0**-23
    True
    """
    (x,) = inexact("spacing", x)
    accept("spacing", x.type.dtype, "f")
    away = _copysign(constant(np.inf, x), x)
    distance = ops.subtract(ops.next_after(x, away), x)
    least = _copysign(constant(finfo(x.type.dtype).smallest_subnormal, x), x)
    return chosen(ops.compare(distance, _zero(x), direction="EQ"), least, distance)


def frexp(x: Any, /) -> tuple[Any, Any]:
    """The fraction in [0.5, 1) and the exponent of 2 whose product each float is.

    >>> frexp(np.array([8.0, 0.75], "float32"))
    (Array([0.5 , 0.75], dtype=float32), Array([4, 0], dtype=int32))
    """
    x = operand(x, "frexp")
    accept("frexp", x.type.dtype, "biuf")
    return _frexp(x)


@named("frexp")
def _frexp(x: Any) -> Any:
    (x,) = inexact("frexp", x)
    info = finfo(x.type.dtype)
    integer = np.dtype(f"i{x.type.dtype.itemsize}")
    denormal = ops.compare(ops.abs_(x), fixed_like(info.smallest_normal, x), direction="LT")
    normal = chosen(denormal, ops.multiply(x, fixed_like(2.0**info.nmant, x)), x)
    shifted = chosen(denormal, fixed(-info.nmant, integer), fixed(0, integer))
    bits = ops.bitcast_convert(normal, new_dtype=integer)
    exponent = ops.add(shifted, ops.add(_exponent_bits(bits, info), fixed(1, integer)))
    fraction = ops.bitcast_convert(_with_exponent_of_half(bits, info), new_dtype=x.type.dtype)
    unchanged = ops.or_(ops.or_(isinf(x), isnan(x)), ops.compare(x, _zero(x), direction="EQ"))
    nothing = ops.broadcast_in_dim(fixed(0, integer), shape=x.type.shape, broadcast_dimensions=())
    exponent = chosen(unchanged, nothing, exponent)
    return chosen(unchanged, x, fraction), converted(exponent, np.dtype(np.int32))


def _exponent_bits(bits: Any, info: Any) -> Any:
    integer = bits.type.dtype
    mask, bias = (1 << info.nexp) - 1, (1 << (info.nexp - 1)) - 1
    moved = ops.shift_right_arithmetic(bits, fixed(info.nmant, integer))
    return ops.subtract(ops.and_(moved, fixed(mask, integer)), fixed(bias, integer))


def _with_exponent_of_half(bits: Any, info: Any) -> Any:
    integer = bits.type.dtype
    mask, half = ((1 << info.nexp) - 1) << info.nmant, ((1 << (info.nexp - 1)) - 2) << info.nmant
    return ops.or_(ops.and_(bits, fixed(~mask, integer)), fixed(half, integer))


def ldexp(x1: Any, x2: Any, /) -> Any:
    """x1 times 2 to the power of the integer x2.

    >>> ldexp(np.array([0.5], "float32"), 4)
    Array([8.], dtype=float32)
    """
    x, y = operand(x1, "ldexp"), operand(x2, "ldexp")
    accept("ldexp", x.type.dtype, "biuf")
    accept("ldexp", y.type.dtype, "biu")
    return _ldexp(x, y)


@named("ldexp")
def _ldexp(x: Any, y: Any) -> Any:
    (x,) = inexact("ldexp", x)
    dtype = x.type.dtype
    x, y = same("ldexp", x, converted(y, dtype, y.type.weak_type and x.type.weak_type))
    fraction, exponent = _frexp(x)
    exponent = ops.add(converted(exponent, dtype, x.type.weak_type), y)
    large = ops.compare(exponent, _zero(exponent), direction="GT")
    fraction = chosen(large, ops.multiply(fraction, fixed(2, dtype)), fraction)
    exponent = chosen(large, ops.subtract(exponent, fixed(1, dtype)), exponent)
    scaled = ops.multiply(fraction, ops.power(fixed(2, dtype), exponent))
    unchanged = ops.or_(isinf(x), ops.compare(x, _zero(x), direction="EQ"))
    return chosen(unchanged, x, scaled)
