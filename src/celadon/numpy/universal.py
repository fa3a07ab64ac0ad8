"""The functions that are ufuncs: elementwise ones with the methods reduce, accumulate and outer."""

from __future__ import annotations

from celadon.numpy import comparison, cumulative, elementwise, reductions, rounding
from celadon.numpy.ufuncs import ufunc

add = ufunc(elementwise.add, 2, reductions.sum, cumulative.cumsum)
multiply = ufunc(elementwise.multiply, 2, reductions.prod, cumulative.cumprod)
subtract = ufunc(elementwise.subtract, 2)
negative = ufunc(elementwise.negative, 1)
maximum = ufunc(elementwise.maximum, 2, reductions.max)
minimum = ufunc(elementwise.minimum, 2, reductions.min)
logical_and = ufunc(comparison.logical_and, 2, reductions.all)
logical_or = ufunc(comparison.logical_or, 2, reductions.any)
logical_xor = ufunc(comparison.logical_xor, 2)
bitwise_and = ufunc(comparison.bitwise_and, 2)
bitwise_or = ufunc(comparison.bitwise_or, 2)
bitwise_xor = ufunc(comparison.bitwise_xor, 2)
logaddexp = ufunc(rounding.logaddexp, 2)
logaddexp2 = ufunc(rounding.logaddexp2, 2)
