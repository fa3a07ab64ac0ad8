"""Rounding, and special functions that are made of a few elementwise ones."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from celadon import vocabulary as ops
from celadon.facade import Lazy
from celadon.numpy.division import remainder
from celadon.numpy.promotion import accept, array, constant, converted, fixed_like, inexact, no_out, operand
from celadon.numpy.selection import chosen
from celadon.program import fixed, literal
from celadon.types import kind
from celadon.vocabulary.call import named
from celadon.vocabulary.kinds import real_dtype

if TYPE_CHECKING:
    from celadon.transforms import custom_tangents
else:
    custom_tangents = Lazy("celadon.transforms.custom_tangents")


def floor(x: Any, /) -> Any:
    """The largest whole number not above each element.

    >>> floor(np.array([1.5, -1.5], "float32"))
    Array([ 1., -2.], dtype=float32)
    """
    return _to_whole("floor", ops.floor, x)


def ceil(x: Any, /) -> Any:
    """The smallest whole number not below each element.

    >>> ceil(np.array([1.5, -1.5], "float32"))
    Array([ 2., -1.], dtype=float32)
    """
    return _to_whole("ceil", ops.ceil, x)


def _to_whole(name: str, op: Any, x: Any) -> Any:
    x = array(x, name)
    accept(name, x.type.dtype, "biuf")
    return op(x) if kind(x.type.dtype) == "f" else x


def trunc(x: Any) -> Any:
    """Each element rounded towards zero.

    >>> trunc(np.array([1.5, -1.5], "float32"))
    Array([ 1., -1.], dtype=float32)
    """
    x = array(x, "trunc")
    accept("trunc", x.type.dtype, "biuf")
    return _trunc(x)


@named("trunc")
def _trunc(x: Any) -> Any:
    if kind(x.type.dtype) != "f":
        return x
    return chosen(ops.compare(x, fixed_like(0, x), direction="LT"), ops.ceil(x), ops.floor(x))


def rint(x: Any, /) -> Any:
    """The nearest whole number, the even one of two as near; as a float.

    >>> rint(np.array([0.5, 1.5], "float32"))
    Array([0., 2.], dtype=float32)
    """
    return _rint(operand(x, "rint"))


@named("rint")
def _rint(x: Any) -> Any:
    if kind(x.type.dtype) == "c":
        return ops.complex_(_rint(ops.real(x)), _rint(ops.imag(x)))
    return ops.round_nearest_even(x) if kind(x.type.dtype) == "f" else array(inexact("rint", x)[0])


def round(a: Any, decimals: int = 0, out: None = None) -> Any:
    """Each element rounded to a number of decimals, to even where two are as near.

    >>> round(np.array([0.125, 2.5], "float32"), 0)
    Array([0., 2.], dtype=float32)
    """
    no_out("round", out)
    x = array(a, "round")
    accept("round", x.type.dtype, "iufc")
    return _round(x, decimals=decimals)


@named("round")
def _round(x: Any, *, decimals: int) -> Any:
    dtype = x.type.dtype
    if kind(dtype) == "c":
        return ops.complex_(_round_float(ops.real(x), decimals), _round_float(ops.imag(x), decimals))
    if kind(dtype) == "f":
        return _round_float(x, decimals)
    if decimals >= 0:
        return x
    factor = constant(10**-decimals, x)
    return _round_integer(x, factor)


def _round_integer(x: Any, factor: Any) -> Any:
    """To a multiple of the factor, to the even one of two as near."""
    below = ops.divide(ops.subtract(x, x % factor), factor)
    rest = ops.subtract(x, ops.multiply(below, factor))
    twice, two = ops.add(rest, rest), fixed_like(2, x)
    odd = ops.compare(ops.remainder(below, two), fixed_like(0, x), direction="NE")
    half = ops.and_(ops.compare(twice, factor, direction="EQ"), odd)
    up = ops.or_(ops.compare(twice, factor, direction="GT"), half)
    return ops.multiply(ops.add(below, converted(up, x.type.dtype)), factor)


def _round_float(x: Any, decimals: int) -> Any:
    if decimals == 0:
        return ops.round_nearest_even(x)
    dtype = x.type.dtype
    wide = converted(x, np.dtype(np.float32), x.type.weak_type) if dtype.itemsize < 4 else x
    factor = constant(10.0**decimals, wide)
    rounded = ops.divide(ops.round_nearest_even(ops.multiply(wide, factor)), factor)
    return converted(rounded, dtype, x.type.weak_type)


def around(a: Any, decimals: int = 0, out: None = None) -> Any:
    """The same as round.

    >>> around(np.array([0.5, 1.5], "float32"))
    Array([0., 2.], dtype=float32)
    """
    return round(a, decimals, out)


def hypot(x1: Any, x2: Any, /) -> Any:
    """The length of the vector (x1, x2), without overflow on the way.

    >>> hypot(np.array([3.0], "float32"), np.array([0.0], "float32"))
    Array([3.], dtype=float32)
    """
    x, y = operand(x1, "hypot"), operand(x2, "hypot")
    accept("hypot", x.type.dtype, "biuf")
    accept("hypot", y.type.dtype, "biuf")
    return _hypot(x, y)


@named("hypot")
def _hypot(x: Any, y: Any) -> Any:
    x, y = (ops.abs_(one) for one in inexact("hypot", x, y))
    zero, one, infinity = fixed_like(0, x), fixed_like(1, x), fixed(np.inf, x.type.dtype)
    infinite = ops.or_(ops.compare(x, infinity, direction="EQ"), ops.compare(y, infinity, direction="EQ"))
    large, small = ops.maximum(x, y), ops.minimum(x, y)
    nothing, again = (ops.compare(large, zero, direction="EQ") for _ in range(2))
    ones = ops.broadcast_in_dim(one, shape=large.type.shape, broadcast_dimensions=())
    ratio = ops.divide(small, chosen(again, ones, large))
    length = ops.multiply(large, ops.sqrt(ops.add(one, ops.square(ratio))))
    return chosen(infinite, infinity, chosen(nothing, large, length))


def logaddexp(x1: Any, x2: Any, /) -> Any:
    """log(exp(x1) + exp(x2)), without overflow on the way.

    >>> logaddexp(np.array([-np.inf], "float32"), np.array([1.0], "float32"))
    Array([1.], dtype=float32)
    """
    return _log_of_sum()(*inexact("logaddexp", x1, x2))


@functools.cache
def _log_of_sum() -> Any:
    """The function with its derivative, which the formula has not where both operands are equal."""

    def function(x: Any, y: Any) -> Any:
        return _complex_logaddexp(x, y) if kind(x.type.dtype) == "c" else _logaddexp(x, y)

    found = custom_tangents.custom_jvp(function)
    found.defjvps(lambda t, out, x, y: _share(t, out, x), lambda t, out, x, y: _share(t, out, y))
    return found


def _share(t: Any, out: Any, x: Any) -> Any:
    """t times the share that x has in the sum, of which the logarithm is out."""
    return ops.multiply(t, ops.exponential(ops.subtract(_or_zero(x, x), _or_zero(out, ops.abs_(out)))))


def _or_zero(x: Any, sized: Any) -> Any:
    """0 in place of infinity, which is looked for in `sized`: two values of -inf have no share in their sum."""
    part = ops.real(sized) if kind(sized.type.dtype) == "c" else sized
    infinite = ops.compare(part, fixed(np.inf, real_dtype(x.type.dtype)), direction="EQ")
    return ops.select(infinite, fixed(0, x.type.dtype), x)


def _logaddexp(x: Any, y: Any, power: Any = None, factor: Any = None) -> Any:
    largest, distance = ops.maximum(x, y), ops.subtract(x, y)
    undefined, plain = ops.compare(distance, distance, direction="NE"), ops.add(x, y)
    rest = ops.log_plus_one((power or ops.exponential)(ops.negate(ops.abs_(distance))))
    rest = rest if factor is None else ops.multiply(factor, rest)
    return ops.select(undefined, plain, ops.add(largest, rest))


def _complex_logaddexp(x: Any, y: Any) -> Any:
    larger = ops.compare(ops.real(x), ops.real(y), direction="GT")
    large, small = ops.select(larger, x, y), ops.select(larger, y, x)
    found = ops.add(large, ops.log_plus_one(ops.exponential(ops.subtract(small, large))))
    return ops.complex_(ops.real(found), _within_pi(ops.imag(found)))


def _within_pi(angle: Any) -> Any:
    half, turn = literal(math.pi, angle.type.dtype), literal(2 * math.pi, angle.type.dtype)
    return ops.subtract(remainder(ops.add(angle, half), turn), half)


def logaddexp2(x1: Any, x2: Any, /) -> Any:
    """log2(2**x1 + 2**x2), without overflow on the way.

    >>> logaddexp2(np.array([-np.inf], "float32"), np.array([0.0], "float32"))
    Array([0.], dtype=float32)
    """
    x, y = inexact("logaddexp2", x1, x2)
    if kind(x.type.dtype) == "c":
        factor = constant(math.log(2), x)
        return ops.divide(_complex_logaddexp(ops.multiply(x, factor), ops.multiply(y, factor)), factor)
    return _logaddexp(x, y, ops.exp2, literal(1 / math.log(2), x.type.dtype))


def sinc(x: Any, /) -> Any:
    """sin(pi * x) / (pi * x), and 1 at 0.

    >>> sinc(np.array([0.0], "float32"))
    Array([1.], dtype=float32)
    """
    return _sinc(operand(x, "sinc"))


@named("sinc")
def _sinc(x: Any) -> Any:
    (x,) = inexact("sinc", x)
    one = fixed_like(1, x)
    nothing = ops.compare(x, fixed_like(0, x), direction="EQ")
    angle = ops.multiply(constant(math.pi, x), x)
    safe = chosen(nothing, one, angle)
    limit = ops.add(ops.multiply(angle, fixed_like(0, x)), one)
    return chosen(nothing, limit, ops.divide(ops.sine(safe), safe))
