"""The functions that are ufuncs: elementwise ones with the methods reduce, accumulate and outer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celadon.facade import Lazy
from celadon.numpy import comparison, elementwise, rounding
from celadon.numpy.ufuncs import Function, ufunc

if TYPE_CHECKING:
    from celadon.numpy import cumulative, reductions
else:
    cumulative, reductions = Lazy("celadon.numpy.cumulative"), Lazy("celadon.numpy.reductions")


def _late(find: Function) -> Function:
    """A function of a module that is loaded when the function is first called."""
    return lambda *args, **options: find()(*args, **options)


add = ufunc(elementwise.add, 2, _late(lambda: reductions.sum), _late(lambda: cumulative.cumsum))
multiply = ufunc(elementwise.multiply, 2, _late(lambda: reductions.prod), _late(lambda: cumulative.cumprod))
subtract = ufunc(elementwise.subtract, 2)
negative = ufunc(elementwise.negative, 1)
maximum = ufunc(elementwise.maximum, 2, _late(lambda: reductions.max))
minimum = ufunc(elementwise.minimum, 2, _late(lambda: reductions.min))
logical_and = ufunc(comparison.logical_and, 2, _late(lambda: reductions.all))
logical_or = ufunc(comparison.logical_or, 2, _late(lambda: reductions.any))
logical_xor = ufunc(comparison.logical_xor, 2)
bitwise_and = ufunc(comparison.bitwise_and, 2)
bitwise_or = ufunc(comparison.bitwise_or, 2)
bitwise_xor = ufunc(comparison.bitwise_xor, 2)
logaddexp = ufunc(rounding.logaddexp, 2)
logaddexp2 = ufunc(rounding.logaddexp2, 2)
