"""Where the elements of a mask stand: concrete masks are searched by NumPy, traced ones need a fixed number of results."""

from __future__ import annotations

from typing import Any

import numpy as np

from celadon import errors, vocabulary as ops
from celadon.array import Array, as_array
from celadon.numpy.comparison import truth
from celadon.numpy.promotion import array, constant, converted, operand
from celadon.program import literal
from celadon.types import DType, canonical


def nonzero(a: Any, *, size: int | None = None, fill_value: Any = None) -> tuple[Any, ...]:
    """The indices of the elements that are not zero, one array for each dimension.

    Args: a: an array; size: the number of results, needed while tracing; fill_value: what stands in the results past the
    last found element (0 by default), a scalar or one for each dimension.
    Raises ResultSizeTraced for a traced array without size.

    >>> nonzero(np.array([0, 3, 5]))
    (Array([1, 2], dtype=int32),)
    """
    x = array(a, "nonzero")
    if not x.type.shape:
        raise errors.DimensionsUnfit(
            function="nonzero", argument="a", value="a scalar", shape=(), reason="a scalar has no positions"
        )
    if size is None:
        return tuple(as_array(found) for found in np.nonzero(concrete(ops.stop_gradient(x), "nonzero")))
    return _sized(x, size, fill_value)


def concrete(x: Any, function: str) -> Any:
    """The NumPy array of a concrete array whose values decide the shape of a function's result."""
    if type(x) is not Array:
        raise x.asked(errors.ResultSizeTraced, called=function)
    return x.host


def _sized(x: Any, size: int, fill_value: Any) -> tuple[Any, ...]:
    """The first `size` positions: those of true elements come first in a stable sort of their negation."""
    dtype, shape = canonical(np.int64), x.type.shape
    mask = ops.reshape(truth(x), shape=(x.type.size,))
    order = ops.iota(shape=(x.type.size,), dtype=dtype, dimension=0)
    _, order = ops.sort(converted(ops.not_(mask), np.dtype(np.int32)), order, dimension=0, is_stable=True, num_keys=1)
    count = ops.reduce_sum(converted(mask, dtype), axes=(0,))
    places = _first(order, size)
    filled = ops.compare(ops.iota(shape=(size,), dtype=dtype, dimension=0), count, direction="GE")
    return tuple(
        ops.select(filled, _fill(fill_value, axis, size, dtype), index)
        for axis, index in enumerate(_unraveled(places, shape, dtype))
    )


def _first(x: Any, size: int) -> Any:
    """Cut or filled up by one op, so that no size decides the structure."""
    return ops.pad(x, constant(0, x), low=(0,), high=(size - x.type.size,), interior=(0,))


def _fill(fill_value: Any, axis: int, size: int, dtype: DType) -> Any:
    value = fill_value[axis] if isinstance(fill_value, tuple | list) else 0 if fill_value is None else fill_value
    return ops.broadcast_in_dim(converted(operand(value), dtype), shape=(size,), broadcast_dimensions=())


def _unraveled(places: Any, shape: tuple[int, ...], dtype: DType) -> list[Any]:
    found: list[Any] = []
    for extent in reversed(shape):
        divisor = literal(max(extent, 1), dtype)
        found.insert(0, ops.remainder(places, divisor))
        places = ops.divide(places, divisor)
    return found


def flatnonzero(a: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """The indices, in row order, of the elements that are not zero; see nonzero.

    >>> flatnonzero(np.array([[0, 3], [5, 0]]))
    Array([1, 2], dtype=int32)
    """
    x = array(a, "flatnonzero")
    return nonzero(ops.reshape(x, shape=(x.type.size,)), size=size, fill_value=fill_value)[0]


def argwhere(a: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """The indices of the elements that are not zero, one row for each; see nonzero.

    >>> argwhere(np.array([[0, 3], [5, 0]]))
    Array([[0, 1],
           [1, 0]], dtype=int32)
    """
    x = array(a, "argwhere")
    found = nonzero(x, size=size, fill_value=fill_value)
    columns = [ops.broadcast_in_dim(i, shape=(*i.type.shape, 1), broadcast_dimensions=(0,)) for i in found]
    return ops.concatenate(*columns, dimension=1)
