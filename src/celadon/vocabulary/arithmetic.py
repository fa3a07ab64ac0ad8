"""Elementwise arithmetic as XLA means it: nothing traps, integers wrap, NaN propagates, -0 is below +0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from celadon import errors
from celadon.op import Op, registry, unite_all
from celadon.program import Literal, fixed, literal
from celadon.types import ArrayType, int32, kind
from celadon.vocabulary.kinds import (
    ANY,
    FLOAT,
    NUMBER,
    ORDERED,
    SIGNED,
    common_shape,
    elementwise,
    like,
    of_kind,
    real_dtype,
    require,
    strong,
)
from celadon.vocabulary.precision import by_kind, in_double, in_single
from celadon.vocabulary.shape import broadcast_in_dim

Array = Any


def complex_product(x: Array, y: Array) -> Array:
    """Four real products, unfused, in the parts' own precision."""
    return joined(x.real * y.real - x.imag * y.imag, x.real * y.imag + x.imag * y.real)


def joined(re: Array, im: Array) -> Array:
    """A complex array of its parts, keeping signed zeros and infinities."""
    re, im = np.broadcast_arrays(re, im)
    result = np.empty(re.shape, np.result_type(re.dtype, np.complex64))
    result.real, result.imag = re, im
    return result


def _quotient(x: Array, y: Array) -> Array:
    """Integers, rounded to zero; x / 0 has all bits set and the smallest integer / -1 is itself."""
    one = y.dtype.type(1)
    special = (y == 0) | ((y == -1) if y.dtype.kind == "i" else False)
    safe = np.where(special, one, y)
    floor = x // safe
    truncated = floor + ((x - floor * safe != 0) & ((x < 0) != (safe < 0))).astype(x.dtype)
    all_bits = ~y.dtype.type(0)
    return np.where(y == 0, all_bits, np.where(special, np.negative(x), truncated))


def _rest(x: Array, y: Array) -> Array:
    """Integers, with the sign of x; x rest 0 is x."""
    special = (y == 0) | ((y == -1) if y.dtype.kind == "i" else False)
    rest = np.fmod(x, np.where(special, y.dtype.type(1), y))
    return np.where(y == 0, x, rest)


def _integer_power(x: Array, y: Array) -> Array:
    """By squaring, wrapping; a negative exponent is 1/x**-y rounded to zero."""
    whole = np.power(x, np.maximum(y, y.dtype.type(0)))
    if y.dtype.kind == "u":
        return whole
    odd = np.where(y & 1, x, x.dtype.type(1))
    inverse = np.where((x == 1) | (x == -1), odd, x.dtype.type(0))
    return np.where(y < 0, inverse, whole)


def _greater(x: Array, y: Array) -> Array:
    zero = (x == 0) & (y == 0)
    return np.where(zero, np.where(np.signbit(x), y, x), np.maximum(x, y))


def _smaller(x: Array, y: Array) -> Array:
    zero = (x == 0) & (y == 0)
    return np.where(zero, np.where(np.signbit(x), x, y), np.minimum(x, y))


def _first_by_parts(x: Array, y: Array) -> Array:
    return np.where(x.real == y.real, x.imag > y.imag, x.real > y.real)


greater = by_kind(biu=np.maximum, f=in_single(_greater), c=lambda x, y: np.where(_first_by_parts(x, y), x, y))
smaller = by_kind(biu=np.minimum, f=in_single(_smaller), c=lambda x, y: np.where(_first_by_parts(y, x), x, y))


def _next_after(x: Array, y: Array) -> Array:
    return np.where(x == y, y, np.nextafter(x, y))


def _sign(x: Array) -> Array:
    return np.where(x == 0, x, np.sign(x))


def _complex_sign(x: Array) -> Array:
    size = np.abs(x)
    return np.where(size == 0, 0, joined(x.real / size, x.imag / size))


def _half_away(x: Array) -> Array:
    whole = np.trunc(x)
    return np.copysign(whole + np.copysign(np.abs(x - whole) >= 0.5, x), x)


def _abs_type(x: ArrayType) -> ArrayType:
    """C2: the absolute value of a complex number is real."""
    require("abs", x, SIGNED)
    dtype = real_dtype(x.dtype)
    return x if dtype == x.dtype else ArrayType(x.shape, dtype, x.weak_type)


def _abs(x: Array) -> Array:
    return np.abs(np.asarray(x, np.complex128)).astype(real_dtype(x.dtype)) if x.dtype.kind == "c" else np.abs(x)


def _by_squaring(x: Array, y: int, product: Callable[[Array, Array], Array]) -> Array:
    if y == 3:
        return product(product(x, x), x)
    result = None
    while True:
        if y & 1:
            result = x if result is None else product(result, x)
        y >>= 1
        if not y:
            return result
        x = product(x, x)


def _integer_pow_type(x: ArrayType, *, y: int) -> ArrayType:
    require("integer_pow", x, NUMBER)
    if y < 0 and x.dtype.kind in "iu":
        raise errors.NegativeIntegerPower(type=x, power=y)
    return x


def _integer_pow(x: Array, *, y: int) -> Array:
    one = np.ones_like(x)
    if y == 0:
        return one
    power = _by_squaring(x, abs(y), _product)
    return _ratio(one, power) if y < 0 else power


def _integer_pow_expand(x: Array, *, y: int) -> Array:
    one = fixed(1, x.type.dtype)
    if y == 0:
        return broadcast_in_dim(one, shape=x.type.shape, broadcast_dimensions=())
    few = abs(y) < 3 or kind(x.type.dtype) == "c"
    power = _by_squaring(x, abs(y), multiply) if few else whole_power(x, literal(abs(y), int32))
    return divide(one, power) if y < 0 else power


def _whole_power_type(x: ArrayType, n: ArrayType) -> ArrayType:
    """Floats or integers, and how often each is multiplied: integers of the same shape, or one for all; 0 if below."""
    require("whole_power", x, ORDERED)
    require("whole_power", n, of_kind("i"))
    shape = common_shape("whole_power", x, n)
    return x if shape == x.shape else x.with_shape(shape)


def _whole_power(x: Array, n: Array) -> Array:
    result, n = np.ones(np.broadcast_shapes(x.shape, n.shape), x.dtype), np.maximum(n, n.dtype.type(0))
    while np.any(n > 0):
        result, x, n = np.where(n & 1, _product(result, x), result), _product(x, x), n >> 1
    return result


def _whole_power_expand(x: Any, n: Any) -> Any:
    """By squaring; a number that is not known is looked at bit by bit."""
    if isinstance(n, Literal) and n.value > 0:
        return _by_squaring(x, int(n.value), multiply)
    result, n = None, registry["maximum"](n, like(0, n))
    for bit in range(8 * n.type.dtype.itemsize - 1):
        digit = registry["and"](n, fixed(1 << bit, n.type.dtype))
        factor = registry["select"](registry["compare"](digit, like(0, n), direction="NE"), x, like(1, x))
        result = factor if result is None else multiply(result, factor)
        x = multiply(x, x)
    return result


def _whole_quotient(x: Any, y: Any) -> Any:
    """x / y rounded to zero."""
    quotient = divide(x, y)
    return multiply(sign(quotient), floor(abs_(quotient)))


def _power_by_base(x: Any, y: Any) -> Any:
    """y x**(y - 1); zero where both are."""
    neither = registry["and"](_is(x, 0), _is(y, 0))
    return multiply(y, power(registry["select"](neither, like(1, x), x), subtract(y, like(1, y))))


def _power_by_exponent(out: Any, x: Any, y: Any) -> Any:
    """log(x) x**y; zero where x is and x**y is no infinity."""
    logarithm = registry["log"](registry["select"](_is(x, 0), like(1, x), x))
    return multiply(logarithm, out)


def _is(x: Any, value: int) -> Any:
    return registry["compare"](x, like(value, x), direction="EQ")


def _integer_pow_tangent(t: Any, out: Any, x: Any, *, y: int) -> Any:
    if y in (0, 1):
        return t if y else None
    return multiply(t, multiply(literal(y, x.type.dtype), integer_pow(x, y=y - 1)))


def _whole_power_tangent(t: Any, out: Any, x: Any, n: Any) -> Any:
    factor = registry["convert"](n, new_dtype=x.type.dtype, weak_type=x.type.weak_type)
    return multiply(t, multiply(factor, whole_power(x, subtract(n, like(1, n)))))


def _share(out: Any, x: Any, y: Any) -> Any:
    """1 where x is the extreme one, 1/2 where both are, else 0."""
    select, equal = registry["select"], registry["compare"]
    half = select(equal(x, y, direction="EQ"), like(0.5, out), like(1, out))
    return select(equal(x, out, direction="EQ"), half, like(0, out))


def _sign_tangent(t: Any, out: Any, x: Any) -> Any:
    """None of real numbers; a complex one turns: what of t is at right angles to it, by its size."""
    if kind(x.type.dtype) != "c":
        return None
    size = abs_(x)
    none = _is(size, 0)
    turn = divide(registry["imag"](multiply(registry["conj"](out), t)), registry["select"](none, like(1, size), size))
    return multiply(registry["complex"](like(0, turn), turn), out)


def _abs_tangent(t: Any, out: Any, x: Any) -> Any:
    """The sign of x, 1 at zero."""
    if kind(x.type.dtype) != "c":
        rising = registry["compare"](x, like(0, x), direction="GE")
        return multiply(t, registry["select"](rising, like(1, x), like(-1, x)))
    size = registry["select"](_is(out, 0), like(1, out), out)
    direction = divide(registry["conj"](x), registry["convert"](size, new_dtype=x.type.dtype))
    return registry["real"](multiply(t, direction))


_product = by_kind(biuf=np.multiply, c=complex_product)
_ratio = by_kind(iu=_quotient, f=np.divide, c=in_double(np.divide))

add = elementwise(
    "add", np.add, ANY, 2, exact=True,
    tangent=(lambda t, out, x, y: t, lambda t, out, x, y: t), transpose=(lambda ct, x, y: ct,),
)  # fmt: skip
subtract = elementwise(
    "subtract", np.subtract, NUMBER, 2, exact=True,
    tangent=(lambda t, out, x, y: t, lambda t, out, x, y: negate(t)),
    transpose=(lambda ct, x, y: ct, lambda ct, x, y: negate(ct)),
)  # fmt: skip
multiply = elementwise(
    "multiply", _product, ANY, 2, exact="biuf",
    tangent=("multilinear",), transpose=(lambda ct, x, y: multiply(ct, y), lambda ct, x, y: multiply(x, ct)),
)  # fmt: skip
divide = elementwise(
    "divide", _ratio, NUMBER, 2, exact="iuf",
    tangent=("multilinear", lambda t, out, x, y: multiply(t, negate(divide(out, y)))),
    transpose=(lambda ct, x, y: divide(ct, y), None),
)  # fmt: skip
remainder = elementwise(
    "remainder", by_kind(iu=_rest, f=in_single(np.fmod)), ORDERED, 2, exact=True,
    tangent=(lambda t, out, x, y: t, lambda t, out, x, y: negate(multiply(t, _whole_quotient(x, y)))),
)  # fmt: skip
power = elementwise(
    "power", by_kind(iu=_integer_power, fc=in_double(np.power)), NUMBER, 2,
    tangent=(lambda t, out, x, y: multiply(t, _power_by_base(x, y)),
             lambda t, out, x, y: multiply(t, _power_by_exponent(out, x, y))),
)  # fmt: skip
integer_pow = Op(
    "integer_pow",
    _integer_pow_type,
    _integer_pow,
    expand=_integer_pow_expand,
    unite=unite_all,
    exact="iuf",
    kind="elementwise",
    tangent=(_integer_pow_tangent,),
)
whole_power = Op(
    "whole_power", _whole_power_type, _whole_power,
    expand=_whole_power_expand, unite=unite_all, exact=True, kind="elementwise",
    tangent=(_whole_power_tangent, None),
)  # fmt: skip
square = elementwise(
    "square", by_kind(iuf=np.square, c=lambda x: complex_product(x, x)), NUMBER, text="chlo.square", exact="iuf",
    tangent=(lambda t, out, x: multiply(t, multiply(strong(2, x), x)),),
)

maximum = elementwise(
    "maximum", greater, ANY, 2, exact=True,
    tangent=(lambda t, out, x, y: multiply(t, _share(out, x, y)), lambda t, out, x, y: multiply(t, _share(out, y, x))),
)  # fmt: skip
minimum = elementwise(
    "minimum", smaller, ANY, 2, exact=True,
    tangent=(lambda t, out, x, y: multiply(t, _share(out, x, y)), lambda t, out, x, y: multiply(t, _share(out, y, x))),
)  # fmt: skip
negate = elementwise("negate", np.negative, NUMBER, exact=True, tangent=("linear",), transpose=(lambda ct, x: negate(ct),))
sign = elementwise(
    "sign", by_kind(i=np.sign, f=in_single(_sign), c=in_double(_complex_sign)), SIGNED, exact="if",
    tangent=(_sign_tangent,),
)  # fmt: skip
abs_ = Op("abs", _abs_type, _abs, text="stablehlo.abs", unite=unite_all, exact="if", kind="elementwise", tangent=(_abs_tangent,))

floor = elementwise("floor", in_single(np.floor), FLOAT, exact=True, tangent=(None,))
ceil = elementwise("ceil", in_single(np.ceil), FLOAT, exact=True, tangent=(None,))
round_nearest_even = elementwise("round_nearest_even", in_single(np.rint), FLOAT, exact=True, tangent=(None,))
round_nearest_afz = elementwise("round_nearest_afz", in_single(_half_away), FLOAT, exact=True, tangent=(None,))
next_after = elementwise(
    "next_after", _next_after, FLOAT, 2, text="chlo.next_after", exact=True,
    tangent=(lambda t, out, x, y: t, None),
)  # fmt: skip
