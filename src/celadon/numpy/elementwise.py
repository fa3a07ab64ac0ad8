"""Arithmetic, element by element: operands are promoted and handed to one op, or few; methods.py makes operators of these."""

from __future__ import annotations

import math
from typing import Any

from celadon import vocabulary as ops
from celadon.numpy.promotion import accept, array, constant, inexact, operand, same
from celadon.numpy.ufuncs import binary, defined_in, is_bool, unary
from celadon.types import kind
from celadon.vocabulary.call import named


def add(x1: Any, x2: Any, /) -> Any:
    """The sum, element by element; of booleans, their disjunction.

    Args: arrays or scalars that broadcast. Returns an array of their common dtype.

    >>> add(np.array([1, 2]), 3)
    Array([4, 5], dtype=int32)
    """
    x, y = same("add", x1, x2)
    return ops.or_(x, y) if is_bool(x) else ops.add(x, y)


def multiply(x1: Any, x2: Any, /) -> Any:
    """The product, element by element; of booleans, their conjunction.

    >>> multiply(np.array([1, 2]), 3)
    Array([3, 6], dtype=int32)
    """
    x, y = same("multiply", x1, x2)
    return ops.and_(x, y) if is_bool(x) else ops.multiply(x, y)


def subtract(x1: Any, x2: Any, /) -> Any:
    """The difference, element by element; booleans have none.

    >>> subtract(np.array([1, 2]), 3)
    Array([-2, -1], dtype=int32)
    """
    x, y = same("subtract", x1, x2)
    accept("subtract", x.type.dtype, "iufc")
    return ops.subtract(x, y)


def negative(x: Any, /) -> Any:
    """The negated elements; booleans have none.

    >>> negative(np.array([1, -2]))
    Array([-1,  2], dtype=int32)
    """
    x = operand(x, "negative")
    accept("negative", x.type.dtype, "iufc")
    return ops.negate(x)


maximum = binary("maximum", lambda x, y: ops.maximum(x, y), "same", """The larger element of each pair; NaN if either is.

    >>> maximum(np.array([1, 5]), 3)
    Array([3, 5], dtype=int32)
    """)  # fmt: skip

minimum = binary("minimum", lambda x, y: ops.minimum(x, y), "same", """The smaller element of each pair; NaN if either is.

    >>> minimum(np.array([1, 5]), 3)
    Array([1, 3], dtype=int32)
    """)  # fmt: skip

divide = binary("divide", lambda x, y: ops.divide(x, y), "inexact", """The quotient, element by element; of integers, as floats.

    >>> divide(np.array([1, 5]), 2)
    Array([0.5, 2.5], dtype=float32)
    """)  # fmt: skip


def true_divide(x1: Any, x2: Any, /) -> Any:
    """The same as divide.

    >>> true_divide(np.array([1, 5]), 2)
    Array([0.5, 2.5], dtype=float32)
    """
    return divide(x1, x2)


def positive(x: Any, /) -> Any:
    """The elements as they are.

    >>> positive(np.array([1, -2]))
    Array([ 1, -2], dtype=int32)
    """
    return array(x, "positive")


def abs(x: Any, /) -> Any:
    """The absolute value; of complex numbers the modulus, as floats.

    >>> abs(np.array([1, -2]))
    Array([1, 2], dtype=int32)
    """
    x = array(x, "abs")
    return x if kind(x.type.dtype) in "bu" else ops.abs_(x)


def absolute(x: Any, /) -> Any:
    """The same as abs.

    >>> absolute(np.array([1, -2]))
    Array([1, 2], dtype=int32)
    """
    return abs(x)


def fabs(x: Any, /) -> Any:
    """The absolute value as a float; complex numbers have none.

    >>> fabs(np.array([1, -2]))
    Array([1., 2.], dtype=float32)
    """
    (x,) = inexact("fabs", x)
    accept("fabs", x.type.dtype, "f")
    return ops.abs_(x)


def sign(x: Any, /) -> Any:
    """-1, 0 or 1 by the sign of each element; of complex numbers x / abs(x).

    >>> sign(np.array([3, 0, -2]))
    Array([ 1,  0, -1], dtype=int32)
    """
    x = operand(x, "sign")
    accept("sign", x.type.dtype, "iufc")
    return ops.sign(x) if kind(x.type.dtype) != "u" else _unsigned_sign(x)


def _unsigned_sign(x: Any) -> Any:
    zero = ops.compare(x, constant(0, x), direction="EQ")
    whole = x.type.shape
    parts = [ops.broadcast_in_dim(constant(n, x), shape=whole, broadcast_dimensions=()) for n in (0, 1)]
    return ops.select(zero, *parts)


square = unary("square", lambda x: ops.square(x), "numeric", """The elements times themselves.

    >>> square(np.array([3, -2]))
    Array([9, 4], dtype=int32)
    """)  # fmt: skip

reciprocal = unary("reciprocal", lambda x: ops.integer_pow(x, y=-1), "inexact", """One divided by each element.

    >>> reciprocal(np.array([2.0, 4.0], "float32"))
    Array([0.5 , 0.25], dtype=float32)
    """)  # fmt: skip

sqrt = unary("sqrt", lambda x: ops.sqrt(x), "inexact", """The square root; NaN for negative floats.

    >>> sqrt(np.array([4, 9]))
    Array([2., 3.], dtype=float32)
    """)  # fmt: skip


def cbrt(x: Any, /) -> Any:
    """The cube root, real for negative elements too.

    >>> float(cbrt(np.float32(0.0)))
    0.0
    """
    (x,) = inexact("cbrt", x)
    accept("cbrt", x.type.dtype, "f")
    return ops.cbrt(x)


nextafter = binary("nextafter", lambda x, y: ops.next_after(x, y), "inexact", """The next float after x1 towards x2.

    >>> nextafter(np.float32(0), np.float32(1)) > 0
    Array(True, dtype=bool)
    """)  # fmt: skip


def real(val: Any, /) -> Any:
    """The real part.

    >>> real(np.array([1 + 2j], "complex64"))
    Array([1.], dtype=float32)
    """
    x = array(val, "real")
    return ops.real(x) if kind(x.type.dtype) == "c" else x


def imag(val: Any, /) -> Any:
    """The imaginary part; zeros for real arrays.

    >>> imag(np.array([1 + 2j], "complex64"))
    Array([2.], dtype=float32)
    """
    x = operand(val, "imag")
    if kind(x.type.dtype) == "c":
        return ops.imag(x)
    zero = constant(0, x)
    return ops.broadcast_in_dim(zero, shape=x.type.shape, broadcast_dimensions=())


def conjugate(x: Any, /) -> Any:
    """The complex conjugate.

    >>> conjugate(np.array([1 + 2j], "complex64"))
    Array([1.-2.j], dtype=complex64)
    """
    x = array(x, "conjugate")
    return ops.conj(x) if kind(x.type.dtype) == "c" else x


def conj(x: Any, /) -> Any:
    """The same as conjugate.

    >>> conj(np.array([1 + 2j], "complex64"))
    Array([1.-2.j], dtype=complex64)
    """
    return conjugate(x)


def angle(z: Any, deg: bool = False) -> Any:
    """The angle of complex numbers, in radians, or in degrees if deg.

    >>> angle(np.array([1.0], "complex64"))
    Array([0.], dtype=float32)
    """
    return _angle(operand(z, "angle"), deg=deg)


@named("angle")
def _angle(z: Any, *, deg: bool) -> Any:
    found = ops.atan2(*inexact("angle", imag(z), real(z)))
    return ops.multiply(found, constant(180 / math.pi, found)) if deg else found


defined_in(__name__, maximum, minimum, divide, square, reciprocal, sqrt, nextafter)
