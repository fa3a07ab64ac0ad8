"""Comparisons, logic and bits, element by element, and whether arrays are equal or close."""

from __future__ import annotations

from typing import Any

import numpy as np

from celadon import vocabulary as ops
from celadon.array import as_array
from celadon.numpy.elementwise import imag, real
from celadon.numpy.promotion import accept, converted, fixed_like, inexact, operand, same, shape_of
from celadon.numpy.ufuncs import binary, defined_in, described, is_bool, unary
from celadon.program import fixed, literal
from celadon.types import bool_, kind
from celadon.vocabulary.call import named


def compared(direction: str) -> Any:
    """The rule of a comparison of promoted operands; complex numbers are ordered by their real, then imaginary parts."""

    def compare(x: Any, y: Any) -> Any:
        if direction in ("EQ", "NE") or kind(x.type.dtype) != "c":
            return ops.compare(x, y, direction=direction)
        level = ops.compare(ops.real(x), ops.real(y), direction="EQ")
        by_imag = ops.compare(ops.imag(x), ops.imag(y), direction=direction)
        return ops.select(level, by_imag, ops.compare(ops.real(x), ops.real(y), direction=direction))

    return compare


equal = binary("equal", compared("EQ"), "same", """Whether x and y are equal, element by element.

    >>> equal(np.array([1, 2]), 2)
    Array([False,  True], dtype=bool)
    """)  # fmt: skip
not_equal = binary("not_equal", compared("NE"), "same", """Whether x and y differ, element by element.

    >>> not_equal(np.array([1, 2]), 2)
    Array([ True, False], dtype=bool)
    """)  # fmt: skip
less = binary("less", compared("LT"), "same", """Whether x < y, element by element.

    >>> less(np.array([1, 2]), 2)
    Array([ True, False], dtype=bool)
    """)  # fmt: skip
less_equal = binary("less_equal", compared("LE"), "same", """Whether x <= y, element by element.

    >>> less_equal(np.array([1, 2]), 2)
    Array([ True,  True], dtype=bool)
    """)  # fmt: skip
greater = binary("greater", compared("GT"), "same", """Whether x > y, element by element.

    >>> greater(np.array([1, 2]), 1)
    Array([False,  True], dtype=bool)
    """)  # fmt: skip
greater_equal = binary("greater_equal", compared("GE"), "same", """Whether x >= y, element by element.

    >>> greater_equal(np.array([1, 2]), 2)
    Array([False,  True], dtype=bool)
    """)  # fmt: skip


def truth(x: Any) -> Any:
    """Whether elements are not zero."""
    return x if is_bool(x) else ops.compare(x, _zero(x), direction="NE")


def _zero(x: Any) -> Any:
    return fixed_like(0, x)


def _logical(name: str, op: Any, doc: str) -> Any:
    def function(x1: Any, x2: Any, /) -> Any:
        given = [operand(x, name) for x in (x1, x2)]
        zero = fixed_like if all(x.type.weak_type for x in given) else _strong_like
        x, y = (v if is_bool(v) else ops.compare(v, zero(0, v), direction="NE") for v in same(name, *given))
        return op(x, y)

    return described(function, name, doc)


def _strong_like(value: Any, x: Any) -> Any:
    return fixed(value, x.type.dtype)


logical_and = _logical("logical_and", lambda x, y: ops.and_(x, y), """Whether both elements are true.

    >>> logical_and(np.array([True, False]), True)
    Array([ True, False], dtype=bool)
    """)  # fmt: skip
logical_or = _logical("logical_or", lambda x, y: ops.or_(x, y), """Whether one element or both are true.

    >>> logical_or(np.array([True, False]), False)
    Array([ True, False], dtype=bool)
    """)  # fmt: skip
logical_xor = _logical("logical_xor", lambda x, y: ops.xor(x, y), """Whether exactly one element is true.

    >>> logical_xor(np.array([True, False]), True)
    Array([False,  True], dtype=bool)
    """)  # fmt: skip
logical_not = unary("logical_not", lambda x: ops.not_(truth(x)), "same", """Whether elements are false (zero).

    >>> logical_not(np.array([True, False]))
    Array([False,  True], dtype=bool)
    """)  # fmt: skip


def _bits(name: str, op: Any) -> Any:
    def rule(*xs: Any) -> Any:
        accept(name, xs[0].type.dtype, "biu")
        return op(*xs)

    return rule


bitwise_and = binary("bitwise_and", _bits("bitwise_and", lambda x, y: ops.and_(x, y)), "same", """The bits set in both.

    >>> bitwise_and(np.array([6, 3]), 2)
    Array([2, 2], dtype=int32)
    """)  # fmt: skip
bitwise_or = binary("bitwise_or", _bits("bitwise_or", lambda x, y: ops.or_(x, y)), "same", """The bits set in one or both.

    >>> bitwise_or(np.array([4, 3]), 2)
    Array([6, 3], dtype=int32)
    """)  # fmt: skip
bitwise_xor = binary("bitwise_xor", _bits("bitwise_xor", lambda x, y: ops.xor(x, y)), "same", """The bits set in exactly one.

    >>> bitwise_xor(np.array([6, 3]), 2)
    Array([4, 1], dtype=int32)
    """)  # fmt: skip
bitwise_not = unary("bitwise_not", _bits("bitwise_not", lambda x: ops.not_(x)), "same", """Every bit inverted.

    >>> bitwise_not(np.array([0, 5]))
    Array([-1, -6], dtype=int32)
    """)  # fmt: skip
bitwise_invert = unary("bitwise_invert", bitwise_not, "same", """The same as bitwise_not.

    >>> bitwise_invert(np.array([0, 5]))
    Array([-1, -6], dtype=int32)
    """)  # fmt: skip
invert = unary("invert", bitwise_not, "same", """The same as bitwise_not.

    >>> invert(np.array([0, 5]))
    Array([-1, -6], dtype=int32)
    """)  # fmt: skip


def left_shift(x: Any, y: Any, /) -> Any:
    """x with its bits moved left by y places, zeros coming in.

    >>> left_shift(np.array([1, 3]), 2)
    Array([ 4, 12], dtype=int32)
    """
    return _shifted("left_shift", lambda a, b: ops.shift_left(a, b), x, y)


def right_shift(x1: Any, x2: Any, /) -> Any:
    """x1 with its bits moved right by x2 places; negative numbers stay negative.

    >>> right_shift(np.array([8, -8]), 2)
    Array([ 2, -2], dtype=int32)
    """

    def shift(x: Any, y: Any) -> Any:
        return (ops.shift_right_logical if kind(x.type.dtype) == "u" else ops.shift_right_arithmetic)(x, y)

    return _shifted("right_shift", shift, x1, x2)


def _shifted(name: str, shift: Any, x: Any, y: Any) -> Any:
    x, y = same(name, x, y)
    accept(name, x.type.dtype, "biu")
    if is_bool(x):
        x, y = (converted(one, np.dtype(np.int32)) for one in (x, y))
    return shift(x, y)


def bitwise_left_shift(x: Any, y: Any, /) -> Any:
    """The same as left_shift.

    >>> bitwise_left_shift(np.array([1, 3]), 2)
    Array([ 4, 12], dtype=int32)
    """
    return left_shift(x, y)


def bitwise_right_shift(x1: Any, x2: Any, /) -> Any:
    """The same as right_shift.

    >>> bitwise_right_shift(np.array([8, -8]), 2)
    Array([ 2, -2], dtype=int32)
    """
    return right_shift(x1, x2)


def bitwise_count(x: Any, /) -> Any:
    """How many bits of the absolute value are set, as uint8.

    >>> bitwise_count(np.array([6, -1]))
    Array([2, 1], dtype=uint8)
    """
    x = operand(x, "bitwise_count")
    accept("bitwise_count", x.type.dtype, "biu")
    return _bitwise_count(x)


@named("bitwise_count")
def _bitwise_count(x: Any) -> Any:
    if is_bool(x):
        x = converted(x, np.dtype(np.int32))
    if kind(x.type.dtype) == "i":
        x = ops.abs_(x)
    return converted(ops.popcnt(x), np.dtype(np.uint8))


def isnan(x: Any, /) -> Any:
    """Whether elements are NaN.

    >>> isnan(np.array([1.0, np.nan]))
    Array([False,  True], dtype=bool)
    """
    x = operand(x, "isnan")
    return ops.compare(x, x, direction="NE")


def _all_are(value: bool, x: Any) -> Any:
    return ops.broadcast_in_dim(fixed(value, bool_), shape=x.type.shape, broadcast_dimensions=())


def isfinite(x: Any, /) -> Any:
    """Whether elements are neither infinite nor NaN.

    >>> isfinite(np.array([1.0, np.inf]))
    Array([ True, False], dtype=bool)
    """
    x = operand(x, "isfinite")
    if kind(x.type.dtype) == "c":
        return ops.and_(ops.is_finite(ops.real(x)), ops.is_finite(ops.imag(x)))
    return ops.is_finite(x) if kind(x.type.dtype) == "f" else _all_are(True, x)


def isinf(x: Any, /) -> Any:
    """Whether elements are infinite.

    >>> isinf(np.array([1.0, -np.inf]))
    Array([False,  True], dtype=bool)
    """
    return _isinf(operand(x, "isinf"))


@named("isinf")
def _isinf(x: Any) -> Any:
    if kind(x.type.dtype) == "c":
        return ops.or_(_infinite(ops.real(x)), _infinite(ops.imag(x)))
    return _infinite(x) if kind(x.type.dtype) == "f" else _all_are(False, x)


def _infinite(x: Any) -> Any:
    return ops.compare(ops.abs_(x), fixed_like(np.inf, x), direction="EQ")


def isposinf(x: Any, /, out: None = None) -> Any:
    """Whether elements are plus infinity.

    >>> isposinf(np.array([np.inf, -np.inf]))
    Array([ True, False], dtype=bool)
    """
    return _is_signed_infinity("isposinf", x, np.inf)


def isneginf(x: Any, /, out: None = None) -> Any:
    """Whether elements are minus infinity.

    >>> isneginf(np.array([np.inf, -np.inf]))
    Array([False,  True], dtype=bool)
    """
    return _is_signed_infinity("isneginf", x, -np.inf)


def _is_signed_infinity(name: str, x: Any, infinity: float) -> Any:
    x = operand(x, name)
    accept(name, x.type.dtype, "biuf")
    if kind(x.type.dtype) != "f":
        return _all_are(False, x)
    return ops.compare(x, fixed_like(infinity, x), direction="EQ")


def iscomplex(x: Any) -> Any:
    """Whether elements have an imaginary part that is not zero.

    >>> iscomplex(np.array([1j, 1.0], "complex64"))
    Array([ True, False], dtype=bool)
    """
    return _iscomplex(operand(x, "iscomplex"))


@named("iscomplex")
def _iscomplex(x: Any) -> Any:
    part = imag(x)
    return ops.compare(part, _zero(part), direction="NE")


def isreal(x: Any) -> Any:
    """Whether elements have no imaginary part.

    >>> isreal(np.array([1j, 1.0], "complex64"))
    Array([False,  True], dtype=bool)
    """
    return _isreal(operand(x, "isreal"))


@named("isreal")
def _isreal(x: Any) -> Any:
    part = imag(x)
    return ops.compare(part, _zero(part), direction="EQ")


def signbit(x: Any, /) -> Any:
    """Whether the sign bit is set, so True for -0.0 too.

    >>> signbit(np.array([-0.0, 1.0], "float32"))
    Array([ True, False], dtype=bool)
    """
    x = operand(x, "signbit")
    accept("signbit", x.type.dtype, "biuf")
    return signbit_of(x)


@named("signbit")
def signbit_of(x: Any) -> Any:
    """signbit, of an operand."""
    if is_bool(x):
        return _all_are(False, x)
    if kind(x.type.dtype) != "f":
        return ops.compare(x, _zero(x), direction="LT")
    width = x.type.dtype.itemsize
    whole = ops.bitcast_convert(x, new_dtype=np.dtype(f"i{width}"))
    return converted(ops.shift_right_arithmetic(whole, fixed_like(8 * width - 1, whole)), bool_)


def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Any:
    """Whether abs(a - b) <= atol + rtol * abs(b), element by element; infinities are close to themselves.

    >>> isclose(np.array([1.0, 2.0]), np.array([1.0, 2.1]))
    Array([ True, False], dtype=bool)
    """
    x, y = operand(a), operand(b)
    return _isclose(x, y, _unless(1e-05, rtol), _unless(1e-08, atol), equal_nan=bool(equal_nan))


def _unless(default: float, given: Any) -> Any:
    """An operand of a private function that has the default in itself."""
    return None if type(given) is float and given == default else operand(given)


@named("isclose")
def _isclose(a: Any, b: Any, rtol: Any, atol: Any, *, equal_nan: bool) -> Any:
    a, b = inexact("isclose", a, b)
    real_dtype = real(b).type.dtype
    rtol = literal(1e-05, real_dtype) if rtol is None else converted(rtol, real_dtype)
    atol = literal(1e-08, real_dtype) if atol is None else converted(atol, real_dtype)
    both_nan = ops.and_(isnan(a), isnan(b)) if equal_nan else None
    finite, far = isfinite(b), ops.abs_(ops.subtract(a, b))
    limit = ops.add(*same("isclose", atol, ops.multiply(*same("isclose", rtol, ops.abs_(b)))))
    near = ops.compare(*same("isclose", far, limit), direction="LE")
    result = ops.or_(ops.compare(a, b, direction="EQ"), ops.and_(finite, near))
    return result if both_nan is None else ops.or_(result, both_nan)


def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Any:
    """Whether all elements are close, as isclose says; a boolean array of rank 0.

    >>> allclose(np.array([1.0, 2.0]), np.array([1.0, 2.0]))
    Array(True, dtype=bool)
    """
    x, y = operand(a), operand(b)
    return _allclose(x, y, _unless(1e-05, rtol), _unless(1e-08, atol), equal_nan=bool(equal_nan))


@named("allclose")
def _allclose(a: Any, b: Any, rtol: Any, atol: Any, *, equal_nan: bool) -> Any:
    rtol = operand(1e-05) if rtol is None else rtol
    atol = operand(1e-08) if atol is None else atol
    return _all(_isclose(a, b, rtol, atol, equal_nan=equal_nan))


def _all(x: Any) -> Any:
    return ops.reduce_and(converted(x, bool_), axes=tuple(range(x.type.ndim)))


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    """Whether two arrays have one shape and equal elements; a boolean array of rank 0.

    >>> array_equal(np.array([1, 2]), np.array([1, 2]))
    Array(True, dtype=bool)
    """
    if shape_of(a1) != shape_of(a2):
        return fixed_array(False)
    x, y = same("array_equal", a1, a2)
    found = ops.compare(x, y, direction="EQ")
    if equal_nan:
        found = ops.or_(found, ops.and_(isnan(x), isnan(y)))
    return _all(found)


def array_equiv(a1: Any, a2: Any) -> Any:
    """Whether two arrays are equal once broadcast against each other.

    >>> array_equiv(np.array([1, 1]), np.array(1))
    Array(True, dtype=bool)
    """
    try:
        np.broadcast_shapes(shape_of(a1), shape_of(a2))
    except ValueError:
        return fixed_array(False)
    return _all(equal(a1, a2))


def fixed_array(value: bool) -> Any:
    """A boolean array of rank 0 whose value the shapes decided."""
    return as_array(np.bool_(value))


defined_in(
    __name__, equal, not_equal, less, less_equal, greater, greater_equal, logical_and, logical_or, logical_xor, logical_not,
    bitwise_and, bitwise_or, bitwise_xor, bitwise_not, bitwise_invert, invert,
)  # fmt: skip
