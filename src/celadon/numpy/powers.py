"""Powers: by multiplying for Python integers, by squaring for integer arrays, by the op for floats."""

from __future__ import annotations

from typing import Any

from celadon import errors, vocabulary as ops
from celadon.numpy.promotion import converted, fixed_like, numeric, operand
from celadon.numpy.selection import chosen
from celadon.numpy.ufuncs import binary, defined_in
from celadon.types import kind

_EXPONENT_BITS = 6


def power(x1: Any, x2: Any, /) -> Any:
    """x1 to the power of x2; a Python integer as x2 is raised to by multiplying.

    Raises TypeError for an integer array and a negative Python integer.

    >>> power(np.array([2, 3]), 2)
    Array([4, 9], dtype=int32)
    """
    if type(x2) is int:
        return integer_power(x1, x2)
    given = operand(x2, "power")
    x, y = numeric("power", x1, given)
    if kind(x.type.dtype) not in "fc":
        return _power_by_squaring(x, y)
    whole = kind(given.type.dtype) in "iu" and not given.type.weak_type
    return ops.power(x, converted(y, y.type.dtype) if whole else y)


def integer_power(x: Any, n: int) -> Any:
    """x to the power of a Python integer, which belongs to the structure of a program."""
    (x,) = numeric("power", x)
    if n < 0 and kind(x.type.dtype) in "iu":
        raise errors.NegativeIntegerPower(type=x.type, power=n)
    return ops.integer_pow(x, y=n)


def pow(x1: Any, x2: Any, /) -> Any:
    """The same as power.

    >>> pow(np.array([2, 3]), 2)
    Array([4, 9], dtype=int32)
    """
    return power(x1, x2)


def _power_by_squaring(x: Any, y: Any) -> Any:
    """Integers: the lowest six bits of the exponent decide, which is all that 64 bits can hold of a power of 2."""
    zero, one = fixed_like(0, x), fixed_like(1, x)
    nothing = ops.and_(ops.compare(x, zero, direction="EQ"), ops.compare(y, zero, direction="NE"))
    result = chosen(nothing, zero, one)
    for bit in range(_EXPONENT_BITS):
        odd = ops.and_(y, one)
        result = chosen(odd, ops.multiply(result, x), result)
        if bit < _EXPONENT_BITS - 1:
            x, y = ops.multiply(x, x), ops.shift_right_logical(y, one)
    return result


float_power = binary("float_power", lambda x, y: ops.power(x, y), "inexact", """x1 to the power of x2, as floats.

    >>> float_power(np.array([1, 1]), 2)
    Array([1., 1.], dtype=float32)
    """)  # fmt: skip

defined_in(__name__, float_power)
