"""NumPy's functions that put values at places of an array: here they return a new one, and want inplace=False."""

from __future__ import annotations

from typing import Any

import numpy as np

from celadon import errors, vocabulary as ops
from celadon.numpy.cumulative import cumsum
from celadon.numpy.division import remainder
from celadon.numpy.joining import resize
from celadon.numpy.promotion import accept, array, axis_of, broadcasted, common_shape, constant, converted, operand
from celadon.numpy.ranges import diag_indices
from celadon.numpy.selection import chosen, clip
from celadon.numpy.shapes import expanded, ravel, reshape
from celadon.numpy.taking import take
from celadon.types import bool_, kind
from celadon.vocabulary.call import named


def put(a: Any, ind: Any, v: Any, mode: str | None = None, *, inplace: bool = True) -> Any:
    """An array with values put at places counted in row order; values are repeated as often as needed.

    Args: mode: places outside mean the nearest inside, counted from the back if negative (None) or not ("clip"), or are
    counted round ("wrap"); inplace: must be False. Raises InPlaceNotPossible.

    >>> put(np.array([[4, 5], [6, 7]]), np.array([0, 3]), 9, inplace=False)
    Array([[9, 5],
           [6, 9]], dtype=int32)
    """
    _returns("put", inplace)
    x, index, values = array(a, "put"), ravel(array(ind, "put")), ravel(array(v, "put"))
    accept("put", index.type.dtype, "iu")
    if mode not in (None, "clip", "wrap"):
        raise errors.OptionUnknown(function="put", argument="mode", value=mode, allowed="None, 'clip' or 'wrap'")
    if not (x.type.size and index.type.size and values.type.size):
        return x
    index = _inside(index, x.type.size, mode)
    flat = ravel(x).at[index].set(resize(values, index.type.shape), mode="promise_in_bounds")
    return reshape(flat, x.type.shape)


def _returns(function: str, inplace: bool) -> None:
    if inplace:
        raise errors.InPlaceNotPossible(function=function)


def _inside(index: Any, size: int, mode: str | None) -> Any:
    if mode == "wrap":
        return remainder(index, constant(size, index))
    unsigned = kind(index.type.dtype) == "u"
    return clip(index, 0 if mode == "clip" or unsigned else -size, size - 1)


def place(arr: Any, mask: Any, vals: Any, *, inplace: bool = True) -> Any:
    """An array with the elements where a mask holds replaced by values in turn, which are repeated as often as needed.

    Args: mask: of as many elements as arr; inplace: must be False. Raises InPlaceNotPossible.

    >>> place(np.array([4, 5, 6]), np.array([True, False, True]), np.array([1, 2]), inplace=False)
    Array([1, 5, 2], dtype=int32)
    """
    _returns("place", inplace)
    x, holds, values = array(arr, "place"), ravel(array(mask, "place")), ravel(array(vals, "place"))
    if x.type.size != holds.type.size or not values.type.size:
        raise errors.DimensionsUnfit(
            function="place", argument="mask", value=f"of {holds.type.size} elements", shape=x.type.shape,
            reason=f"it needs as many elements as the array, and values, of which there are {values.type.size}",
        )  # fmt: skip
    holds = converted(holds, bool_)
    turn = remainder(cumsum(holds, dtype="int32") - 1, values.type.size)
    found = chosen(holds, converted(take(values, turn, mode="clip"), x.type.dtype, x.type.weak_type), ravel(x))
    return reshape(found, x.type.shape)


def put_along_axis(
    arr: Any, indices: Any, values: Any, axis: int | None, inplace: bool = True, *, mode: str | None = None
) -> Any:
    """An array with, for each place of the indices, the element that stands there along an axis replaced.

    Args: indices: integers of arr's rank; values: broadcast to the indices' shape; axis: None means the vector of all
    elements; mode: as for x.at[...]; inplace: must be False. Raises InPlaceNotPossible.

    >>> put_along_axis(np.array([[4, 5], [6, 7]]), np.array([[1], [0]]), 9, 1, inplace=False)
    Array([[4, 9],
           [9, 7]], dtype=int32)
    """
    _returns("put_along_axis", inplace)
    x, index, found = (array(v, "put_along_axis") for v in (arr, indices, values))
    accept("put_along_axis", index.type.dtype, "iu")
    if index.type.ndim != (1 if axis is None else x.type.ndim):
        raise errors.DimensionsUnfit(
            function="put_along_axis", argument="indices", value=f"of shape {index.type.shape}", shape=x.type.shape,
            reason="both need the same number of axes",
        )  # fmt: skip
    return _put_along_axis(x, index, found, axis=None if axis is None else axis_of(axis, x.type.ndim), mode=mode)


@named("put_along_axis")
def _put_along_axis(x: Any, index: Any, values: Any, *, axis: int | None, mode: Any) -> Any:
    flat, along = (ravel(x), 0) if axis is None else (x, axis)
    if common_shape("put_along_axis", values.type.shape, index.type.shape) != index.type.shape:
        raise errors.ShapesDiffer(op="put_along_axis", shapes=f"{index.type.shape} and {values.type.shape}")
    values = broadcasted(array(values), index.type.shape)
    places = [_counted(n, i, flat.type.ndim) if i != along else index for i, n in enumerate(flat.type.shape)]
    return reshape(flat.at[tuple(places)].set(values, mode=mode), x.type.shape)


def _counted(extent: int, axis: int, ndim: int) -> Any:
    index = ops.iota(shape=(extent,), dtype=np.dtype(np.int32), dimension=0)
    return expanded(index, tuple(i for i in range(ndim) if i != axis))


def fill_diagonal(a: Any, val: Any, wrap: bool = False, *, inplace: bool = True) -> Any:
    """An array with its main diagonal replaced by a scalar, or by values that are repeated as often as needed.

    Args: wrap: must be False; inplace: must be False. Raises InPlaceNotPossible.

    >>> fill_diagonal(np.array([[4, 5], [6, 7]]), 0, inplace=False)
    Array([[0, 5],
           [6, 0]], dtype=int32)
    """
    _returns("fill_diagonal", inplace)
    if wrap:
        raise errors.OptionUnknown(function="fill_diagonal", argument="wrap", value=wrap, allowed="False")
    x, value = array(a, "fill_diagonal"), operand(val, "fill_diagonal")
    shape = x.type.shape
    if len(shape) < 2 or (len(shape) > 2 and len(set(shape)) > 1):
        raise errors.DimensionsUnfit(
            function="fill_diagonal", argument="a", value="an array", shape=shape,
            reason="it needs two axes, or more of equal extents",
        )  # fmt: skip
    value = resize(ravel(array(value)), (min(shape),)) if value.type.shape else value
    return x.at[diag_indices(min(shape), len(shape))].set(value)
