"""jax.lax's elementwise functions: each is one op of the vocabulary, under JAX's name; dtypes must agree, scalars broadcast."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

from celadon import errors, vocabulary as ops
from celadon.array import Array
from celadon.numpy.dtypes import requested
from celadon.numpy.elementwise import sign as sign_of
from celadon.numpy.promotion import broadcast_steps, common_shape, operand
from celadon.program import Literal
from celadon.types import kind

Function = Callable[..., Any]


class RoundingMethod(enum.IntEnum):
    """Where round puts a number halfway between two."""

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1


def _value(x: Any) -> Any:
    """An operand that an op can take: no lone literals but scalars among arrays."""
    return operand(x, "a function of lax")


def spread(name: str, *xs: Any) -> list[Any]:
    """Operands of one rank broadcast to one shape; scalars stay as they are."""
    values = [_value(x) for x in xs]
    shapes = {v.type.shape for v in values if v.type.shape}
    if len(shapes) < 2:
        return values
    if len({len(shape) for shape in shapes}) > 1:
        raise errors.ShapesDiffer(op=f"lax.{name}", shapes=", ".join(map(str, sorted(shapes))))
    shape = common_shape(f"lax.{name}", *shapes)
    return [_broadcast(v, shape) for v in values]


def _broadcast(x: Any, shape: tuple[int, ...]) -> Any:
    if not x.type.shape:
        return x
    for wanted, dimensions in broadcast_steps(x.type.shape, shape):
        x = ops.broadcast_in_dim(x, shape=wanted, broadcast_dimensions=dimensions)
    return x


def _unary(name: str, op: Function, doc: str, example: str, accuracy: bool = False) -> Function:
    def plain(x: Any) -> Any:
        return op(_value(x))

    def with_accuracy(x: Any, *, accuracy: Any = None) -> Any:
        return op(_value(x))

    return described(with_accuracy if accuracy else plain, name, doc, example)


def _binary(name: str, op: Function, doc: str, example: str) -> Function:
    def function(x: Any, y: Any) -> Any:
        return op(*spread(name, x, y))

    return described(function, name, doc, example)


def described(function: Any, name: str, doc: str, example: str, module: str = __name__) -> Function:
    """Give a made function its name, its page with an example (`call == result`), and the module that offers it."""
    function.__name__ = function.__qualname__ = name
    call, _, shown = example.partition(" == ")
    function.__doc__ = f"{doc}\n\n    >>> {call}\n    {shown}\n    "
    function.__module__ = module
    return function


abs = _unary("abs", lambda x: x if kind(x.type.dtype) == "u" else ops.abs_(x),
             "The absolute value.", "abs(np.int32(-2)) == Array(2, dtype=int32)")  # fmt: skip
neg = _unary("neg", lambda x: ops.negate(x), "The negated number.", "neg(np.int32(2)) == Array(-2, dtype=int32)")
ceil = _unary("ceil", lambda x: ops.ceil(x), "The next whole number above.", "ceil(np.float32(1.5)) == Array(2., dtype=float32)")
floor = _unary("floor", lambda x: ops.floor(x), "The next whole number below.",
               "floor(np.float32(1.5)) == Array(1., dtype=float32)")  # fmt: skip
is_finite = _unary("is_finite", lambda x: ops.is_finite(x), "Whether a float is neither infinite nor NaN.",
                   "is_finite(np.float32(1.5)) == Array(True, dtype=bool)")  # fmt: skip
square = _unary("square", lambda x: ops.square(x), "The number times itself.", "square(np.int32(3)) == Array(9, dtype=int32)")
reciprocal = _unary("reciprocal", lambda x: ops.integer_pow(x, y=-1), "One divided by the number.",
                    "reciprocal(np.float32(4)) == Array(0.25, dtype=float32)")  # fmt: skip
conj = _unary("conj", lambda x: ops.conj(x) if kind(x.type.dtype) == "c" else ops.complex_(x, _zero_like(x)),
              "The complex conjugate.", "conj(np.complex64(1j)) == Array(0.-1.j, dtype=complex64)")  # fmt: skip
real = _unary("real", lambda x: ops.real(x), "The real part of a complex number.",
              "real(np.complex64(2 + 1j)) == Array(2., dtype=float32)")  # fmt: skip
imag = _unary("imag", lambda x: ops.imag(x), "The imaginary part of a complex number.",
              "imag(np.complex64(2 + 1j)) == Array(1., dtype=float32)")  # fmt: skip
bitwise_not = _unary("bitwise_not", lambda x: ops.not_(x), "Every bit inverted.",
                     "bitwise_not(np.int32(5)) == Array(-6, dtype=int32)")  # fmt: skip
population_count = _unary("population_count", lambda x: ops.popcnt(x), "The number of bits that are set.",
                          "population_count(np.int32(6)) == Array(2, dtype=int32)")  # fmt: skip
clz = _unary("clz", lambda x: ops.count_leading_zeros(x), "The number of zero bits before the first that is set.",
             "clz(np.int32(1)) == Array(31, dtype=int32)")  # fmt: skip
exp = _unary("exp", lambda x: ops.exponential(x), "e to the power of x.", "float(exp(0.0)) == 1.0", True)
exp2 = _unary("exp2", lambda x: ops.exp2(x), "2 to the power of x.", "float(exp2(0.0)) == 1.0", True)
expm1 = _unary("expm1", lambda x: ops.exponential_minus_one(x), "exp(x) - 1.", "float(expm1(0.0)) == 0.0", True)
log = _unary("log", lambda x: ops.log(x), "The natural logarithm.", "float(log(1.0)) == 0.0", True)
log1p = _unary("log1p", lambda x: ops.log_plus_one(x), "log(1 + x).", "float(log1p(0.0)) == 0.0", True)
logistic = _unary("logistic", lambda x: ops.logistic(x), "1 / (1 + exp(-x)).", "float(logistic(0.0)) == 0.5", True)
sqrt = _unary("sqrt", lambda x: ops.sqrt(x), "The square root.", "float(sqrt(4.0)) == 2.0", True)
rsqrt = _unary("rsqrt", lambda x: ops.rsqrt(x), "One divided by the square root.", "float(rsqrt(4.0)) == 0.5", True)
cbrt = _unary("cbrt", lambda x: ops.cbrt(x), "The cube root.", "float(cbrt(0.0)) == 0.0", True)
sin = _unary("sin", lambda x: ops.sine(x), "The sine.", "float(sin(0.0)) == 0.0", True)
cos = _unary("cos", lambda x: ops.cosine(x), "The cosine.", "float(cos(0.0)) == 1.0", True)
tan = _unary("tan", lambda x: ops.tan(x), "The tangent.", "float(tan(0.0)) == 0.0", True)
tanh = _unary("tanh", lambda x: ops.tanh(x), "The hyperbolic tangent.", "float(tanh(0.0)) == 0.0", True)
sinh = _unary("sinh", lambda x: ops.sinh(x), "The hyperbolic sine.", "float(sinh(0.0)) == 0.0")
cosh = _unary("cosh", lambda x: ops.cosh(x), "The hyperbolic cosine.", "float(cosh(0.0)) == 1.0")
asin = _unary("asin", lambda x: ops.asin(x), "The angle whose sine is x.", "float(asin(0.0)) == 0.0")
acos = _unary("acos", lambda x: ops.acos(x), "The angle whose cosine is x.", "float(acos(1.0)) == 0.0")
atan = _unary("atan", lambda x: ops.atan(x), "The angle whose tangent is x.", "float(atan(0.0)) == 0.0")
asinh = _unary("asinh", lambda x: ops.asinh(x), "The number whose hyperbolic sine is x.", "float(asinh(0.0)) == 0.0")
acosh = _unary("acosh", lambda x: ops.acosh(x), "The number whose hyperbolic cosine is x.", "float(acosh(1.0)) == 0.0")
atanh = _unary("atanh", lambda x: ops.atanh(x), "The number whose hyperbolic tangent is x.", "float(atanh(0.0)) == 0.0")
erf = _unary("erf", lambda x: ops.erf(x), "The error function.", "float(erf(0.0)) == 0.0")
erfc = _unary("erfc", lambda x: ops.erfc(x), "1 - erf(x).", "float(erfc(0.0)) == 1.0")
erf_inv = _unary("erf_inv", lambda x: ops.erf_inv(x), "The number whose error function is x.", "float(erf_inv(0.0)) == 0.0")
lgamma = _unary("lgamma", lambda x: ops.lgamma(x), "The logarithm of the gamma function.", "float(lgamma(1.0)) == 0.0")
digamma = _unary("digamma", lambda x: ops.digamma(x), "The derivative of lgamma.", "bool(digamma(1.0) < 0) == True")
bessel_i0e = _unary("bessel_i0e", lambda x: ops.bessel_i0e(x), "The modified Bessel function of order 0, times exp(-abs(x)).",
                    "1.0 <= float(bessel_i0e(0.0)) < 1.00001 == True")  # fmt: skip
bessel_i1e = _unary("bessel_i1e", lambda x: ops.bessel_i1e(x), "The modified Bessel function of order 1, times exp(-abs(x)).",
                    "float(bessel_i1e(0.0)) == 0.0")  # fmt: skip


def _zero_like(x: Any) -> Any:
    return ops.broadcast_in_dim(Literal(x.type.dtype.type(0), _scalar(x)), shape=x.type.shape, broadcast_dimensions=())


def _scalar(x: Any) -> Any:
    return x.type.with_shape(())


def sign(x: Any) -> Any:
    """-1, 0 or 1 by the sign of x; of complex numbers x / abs(x).

    >>> sign(np.int32(-3))
    Array(-1, dtype=int32)
    """
    return sign_of(x)


add = _binary("add", lambda x, y: ops.add(x, y), "The sum.", "add(np.int32(1), np.int32(2)) == Array(3, dtype=int32)")
sub = _binary("sub", lambda x, y: ops.subtract(x, y), "The difference.",
              "sub(np.int32(1), np.int32(2)) == Array(-1, dtype=int32)")  # fmt: skip
div = _binary("div", lambda x, y: ops.divide(x, y), "The quotient; of integers rounded towards zero.",
              "div(np.int32(-7), np.int32(2)) == Array(-3, dtype=int32)")  # fmt: skip
rem = _binary("rem", lambda x, y: ops.remainder(x, y), "The rest of the division, with the sign of x.",
              "rem(np.int32(-7), np.int32(2)) == Array(-1, dtype=int32)")  # fmt: skip
max = _binary("max", lambda x, y: ops.maximum(x, y), "The larger one; NaN if either is.",
              "max(np.int32(1), np.int32(2)) == Array(2, dtype=int32)")  # fmt: skip
min = _binary("min", lambda x, y: ops.minimum(x, y), "The smaller one; NaN if either is.",
              "min(np.int32(1), np.int32(2)) == Array(1, dtype=int32)")  # fmt: skip
atan2 = _binary("atan2", lambda x, y: ops.atan2(x, y), "The angle of the point (y, x).", "float(atan2(0.0, 1.0)) == 0.0")
nextafter = _binary("nextafter", lambda x, y: ops.next_after(x, y), "The next float after x1 towards x2.",
                    "bool(nextafter(0.0, 1.0) > 0) == True")  # fmt: skip
complex = _binary("complex", lambda x, y: ops.complex_(x, y), "The complex number x + iy.",
                  "complex(np.float32(1), np.float32(2)) == Array(1.+2.j, dtype=complex64)")  # fmt: skip
bitwise_and = _binary("bitwise_and", lambda x, y: ops.and_(x, y), "The bits set in both.",
                      "bitwise_and(np.int32(6), np.int32(3)) == Array(2, dtype=int32)")  # fmt: skip
bitwise_or = _binary("bitwise_or", lambda x, y: ops.or_(x, y), "The bits set in one or both.",
                     "bitwise_or(np.int32(6), np.int32(3)) == Array(7, dtype=int32)")  # fmt: skip
bitwise_xor = _binary("bitwise_xor", lambda x, y: ops.xor(x, y), "The bits set in exactly one.",
                      "bitwise_xor(np.int32(6), np.int32(3)) == Array(5, dtype=int32)")  # fmt: skip
shift_left = _binary("shift_left", lambda x, y: ops.shift_left(x, y), "x with its bits moved left.",
                     "shift_left(np.int32(3), np.int32(2)) == Array(12, dtype=int32)")  # fmt: skip
shift_right_arithmetic = _binary("shift_right_arithmetic", lambda x, y: ops.shift_right_arithmetic(x, y),
                                 "x with its bits moved right, the sign coming in.",
                                 "shift_right_arithmetic(np.int32(-8), np.int32(2)) == Array(-2, dtype=int32)")  # fmt: skip
shift_right_logical = _binary("shift_right_logical", lambda x, y: ops.shift_right_logical(x, y),
                              "x with its bits moved right, zeros coming in.",
                              "shift_right_logical(np.int32(8), np.int32(2)) == Array(2, dtype=int32)")  # fmt: skip
zeta = _binary("zeta", lambda x, y: ops.zeta(x, y), "The Hurwitz zeta function.", "bool(zeta(2.0, 1.0) > 1) == True")
polygamma = _binary("polygamma", lambda x, y: ops.polygamma(x, y), "The derivative of order m of digamma.",
                    "bool(polygamma(1.0, 1.0) > 1) == True")  # fmt: skip


def _comparison(name: str, direction: str, doc: str) -> Function:
    shown = {"EQ": "False", "NE": "True", "LT": "True", "LE": "True", "GT": "False", "GE": "False"}[direction]
    example = f"{name}(np.int32(1), np.int32(2)) == Array({shown}, dtype=bool)"
    return _binary(name, lambda x, y: ops.compare(x, y, direction=direction), doc, example)


eq, ne = _comparison("eq", "EQ", "Whether x == y."), _comparison("ne", "NE", "Whether x != y.")
lt, le = _comparison("lt", "LT", "Whether x < y."), _comparison("le", "LE", "Whether x <= y.")
gt, ge = _comparison("gt", "GT", "Whether x > y."), _comparison("ge", "GE", "Whether x >= y.")


def mul(x: Any, y: Any, *, out_dtype: Any = None) -> Any:
    """The product; out_dtype: what both are converted to first.

    >>> mul(np.int32(2), np.int32(3))
    Array(6, dtype=int32)
    """
    x, y = spread("mul", x, y)
    if out_dtype is not None:
        x, y = (ops.convert(v, new_dtype=requested(out_dtype), weak_type=False) for v in (x, y))
    return ops.multiply(x, y)


def mulhi(x: Any, y: Any, /) -> Any:
    """The upper half of the bits of the product of two integers of at most 32 bits.

    >>> mulhi(np.int32(1 << 30), np.int32(8))
    Array(2, dtype=int32)
    """
    x, y = spread("mulhi", x, y)
    dtype = x.type.dtype
    if kind(dtype) not in "iu" or dtype.itemsize > 4:
        raise errors.DTypeNotAccepted(function="lax.mulhi", dtype=dtype, accepted="integers of at most 32 bits")
    bits = 8 * dtype.itemsize // 2
    low_mask, shift = Literal(dtype.type((1 << bits) - 1), _scalar(x)), Literal(dtype.type(bits), _scalar(x))
    return _upper_half(x, y, low_mask, shift)


def _upper_half(x: Any, y: Any, mask: Any, shift: Any) -> Any:
    """Products of halves, with the carries between them."""
    right = ops.shift_right_arithmetic if kind(x.type.dtype) == "i" else ops.shift_right_logical
    x0, y0, x1, y1 = ops.and_(x, mask), ops.and_(y, mask), right(x, shift), right(y, shift)
    carry = ops.shift_right_logical(ops.multiply(x0, y0), shift)
    middle = ops.add(ops.multiply(x1, y0), carry)
    other = ops.add(ops.multiply(x0, y1), ops.and_(middle, mask))
    return ops.add(ops.add(ops.multiply(x1, y1), right(middle, shift)), right(other, shift))


def pow(x: Any, y: Any) -> Any:
    """x to the power of y; y may be an integer where x is a float.

    >>> float(pow(np.float32(2), np.float32(1)))
    2.0
    """
    x, y = spread("pow", x, y)
    if kind(x.type.dtype) in "fc" and kind(y.type.dtype) in "iu":
        if isinstance(y, Literal):
            y = Literal(x.type.dtype.type(y.value), y.type.with_dtype(x.type.dtype))
        else:
            y = ops.convert(y, new_dtype=x.type.dtype, weak_type=False)
    return ops.power(x, y)


def integer_pow(x: Any, y: int) -> Any:
    """x to the power of a Python integer.

    >>> integer_pow(np.int32(3), 2)
    Array(9, dtype=int32)
    """
    x = _value(x)
    if y < 0 and kind(x.type.dtype) in "iu":
        raise errors.NegativeIntegerPower(type=x.type, power=y)
    return ops.integer_pow(x, y=y)


def round(x: Any, rounding_method: RoundingMethod = RoundingMethod.AWAY_FROM_ZERO) -> Any:
    """The nearest whole number.

    >>> round(np.float32(2.5))
    Array(3., dtype=float32)
    """
    away = rounding_method == RoundingMethod.AWAY_FROM_ZERO
    return (ops.round_nearest_afz if away else ops.round_nearest_even)(_value(x))


def select(pred: Any, on_true: Any, on_false: Any) -> Any:
    """on_true where pred holds, on_false elsewhere; both of one shape and dtype.

    >>> select(np.array([True, False]), np.int32([1, 2]), np.int32([3, 4]))
    Array([1, 4], dtype=int32)
    """
    mask, x, y = _value(pred), _value(on_true), _value(on_false)
    if x.type.shape != y.type.shape:
        raise errors.ShapesDiffer(op="lax.select", shapes=f"{x.type.shape} and {y.type.shape}")
    return ops.select(mask, x, y)


def select_n(which: Any, *cases: Any) -> Any:
    """The case whose number stands in which (or for a boolean, the second where it holds).

    >>> select_n(np.array([True, False]), np.int32([1, 2]), np.int32([3, 4]))
    Array([3, 2], dtype=int32)
    """
    index, values = _value(which), [_value(c) for c in cases]
    if not values:
        raise errors.NoArraysGiven(function="lax.select_n")
    if any(v.type.shape != values[0].type.shape for v in values):
        raise errors.ShapesDiffer(op="lax.select_n", shapes=", ".join(str(v.type.shape) for v in values))
    if kind(index.type.dtype) == "b":
        return ops.select(index, values[-1], values[0])
    result = values[0]
    for number, case in enumerate(values[1:], 1):
        at_least = ops.compare(index, Literal(index.type.dtype.type(number), _scalar(index)), direction="GE")
        result = ops.select(at_least, case, result)
    return result


def clamp(min: Any, x: Any, max: Any) -> Any:
    """x, but at least min and at most max, which are scalars or of x's shape.

    >>> clamp(np.int32(0), np.int32([-1, 5]), np.int32(3))
    Array([0, 3], dtype=int32)
    """
    return ops.clamp(_value(min), _value(x), _value(max))


def convert_element_type(operand: Any, new_dtype: Any) -> Any:
    """x in another dtype, with no weakness left.

    >>> convert_element_type(np.float32(1.5), "int32")
    Array(1, dtype=int32)
    """
    x, wanted = _value(operand), requested(new_dtype)
    if isinstance(x, Array) and x.type.dtype == wanted and not x.type.weak_type:
        return x
    if kind(x.type.dtype) == "c" and kind(wanted) != "c":
        x = ops.real(x)
    return ops.convert(x, new_dtype=wanted, weak_type=False)


def bitcast_convert_type(operand: Any, new_dtype: Any) -> Any:
    """The same bits, read as another dtype; a smaller one adds a last axis, a larger one takes one away.

    >>> bitcast_convert_type(np.float32(1.0), "int32")
    Array(1065353216, dtype=int32)
    """
    return ops.bitcast_convert(_value(operand), new_dtype=requested(new_dtype))


def reduce_precision(operand: Any, exponent_bits: int, mantissa_bits: int) -> Any:
    """A float rounded to fewer bits of exponent and mantissa.

    >>> reduce_precision(np.float32(1.001), 5, 2)
    Array(1., dtype=float32)
    """
    return ops.reduce_precision(_value(operand), exponent_bits=exponent_bits, mantissa_bits=mantissa_bits)

