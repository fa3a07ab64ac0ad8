"""Arrays in other shapes: reshaped, transposed, with axes moved, added, dropped or broadcast."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from celadon import errors, vocabulary as ops
from celadon.numpy.promotion import (
    array,
    axes_of,
    axis_of,
    broadcasted,
    common_shape,
    extents_given,
    operand,
    shape_from,
)
from celadon.types import Shape


def reshape(a: Any, shape: Any, order: str = "C", *, copy: bool | None = None, out_sharding: Any = None) -> Any:
    """The elements of a, in row order, in another shape; one extent may be -1.

    Args: shape: an integer or a sequence of them; order: "C" (rows) or "F" (columns).
    Raises ReshapeImpossible where the sizes differ.

    >>> reshape(np.array([1, 2, 3, 4]), (2, -1))
    Array([[1, 2],
           [3, 4]], dtype=int32)
    """
    x = array(a, "reshape")
    wanted = _reshaped(x.type.shape, shape)
    if order == "F":
        return transpose(_moved(transpose(x), wanted[::-1]))
    if order not in ("C", "A"):
        raise errors.OptionUnknown(function="reshape", argument="order", value=order, allowed="'C' or 'F'")
    return _moved(x, wanted)


def _moved(x: Any, shape: Shape) -> Any:
    return x if x.type.shape == shape else ops.reshape(x, shape=shape)


def _reshaped(shape: Shape, wanted: Any) -> Shape:
    given = extents_given(wanted)
    try:
        extents = [operator.index(n) for n in given]
    except errors.CeladonError:
        raise
    except TypeError:
        raise errors.ShapeInvalid(shape=wanted) from None
    size = math.prod(shape)
    known = math.prod(n for n in extents if n != -1)
    if extents.count(-1) == 1 and known and size % known == 0:
        extents[extents.index(-1)] = size // known
    if min(extents, default=0) < 0 or math.prod(extents) != size:
        raise errors.ReshapeImpossible(shape=shape, size=size, wanted=tuple(given))
    return tuple(extents)


def ravel(a: Any, order: str = "C", *, out_sharding: Any = None) -> Any:
    """The elements of a as a vector.

    >>> ravel(np.array([[1, 2], [3, 4]]))
    Array([1, 2, 3, 4], dtype=int32)
    """
    return reshape(a, (-1,) if np.prod(np.shape(a)) else (0,), order)


def transpose(a: Any, axes: Sequence[int] | None = None) -> Any:
    """a with its axes in another order, reversed by default.

    >>> transpose(np.array([[1, 2]]))
    Array([[1],
           [2]], dtype=int32)
    """
    x = array(a, "transpose")
    order = tuple(range(x.type.ndim))[::-1] if axes is None else axes_of(tuple(axes), x.type.ndim)
    if len(order) != x.type.ndim:
        raise errors.DimensionsUnfit(
            function="transpose", argument="axes", value=axes, shape=x.type.shape, reason="each axis must be named once"
        )
    return _permuted(x, order)


def _permuted(x: Any, order: tuple[int, ...]) -> Any:
    return x if order == tuple(range(len(order))) else ops.transpose(x, permutation=order)


def permute_dims(a: Any, /, axes: tuple[int, ...]) -> Any:
    """The same as transpose, with the axes required.

    >>> permute_dims(np.array([[1, 2]]), (1, 0))
    Array([[1],
           [2]], dtype=int32)
    """
    return transpose(a, axes)


def matrix_transpose(x: Any, /) -> Any:
    """x with its last two axes exchanged.

    >>> matrix_transpose(np.array([[1, 2]]))
    Array([[1],
           [2]], dtype=int32)
    """
    found = array(x, "matrix_transpose")
    if found.type.ndim < 2:
        raise errors.DimensionsUnfit(
            function="matrix_transpose", argument="x", value="an array", shape=found.type.shape, reason="no two axes"
        )
    return swapaxes(found, -1, -2)


def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    """a with two axes exchanged.

    >>> swapaxes(np.array([[1, 2]]), 0, 1)
    Array([[1],
           [2]], dtype=int32)
    """
    x = array(a, "swapaxes")
    order = list(range(x.type.ndim))
    i, j = axis_of(axis1, x.type.ndim), axis_of(axis2, x.type.ndim)
    order[i], order[j] = order[j], order[i]
    return _permuted(x, tuple(order))


def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    """a with axes moved to other places, the rest staying in order.

    >>> moveaxis(np.ones((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    x = array(a, "moveaxis")
    origins, targets = axes_of(_tuple(source), x.type.ndim), axes_of(_tuple(destination), x.type.ndim)
    if len(origins) != len(targets):
        raise errors.DimensionsUnfit(
            function="moveaxis", argument="destination", value=destination, shape=x.type.shape,
            reason="as many places as axes are needed",
        )  # fmt: skip
    order = [i for i in range(x.type.ndim) if i not in origins]
    for target, origin in sorted(zip(targets, origins, strict=True)):
        order.insert(target, origin)
    return _permuted(x, tuple(order))


def _tuple(axis: Any) -> tuple[Any, ...]:
    return tuple(axis) if isinstance(axis, tuple | list | np.ndarray) else (axis,)


def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    """a with one axis moved before the axis `start`.

    >>> rollaxis(np.ones((2, 3, 4)), 2).shape
    (4, 2, 3)
    """
    x = array(a, "rollaxis")
    ndim = x.type.ndim
    axis = axis_of(axis, ndim)
    start = axis_of(start, ndim + 1) if start < 0 else start
    if start > ndim:
        raise errors.AxisNotInArray(axis=start, ndim=ndim)
    return moveaxis(x, axis, start - 1 if start > axis else start)


def expand_dims(a: Any, axis: Any) -> Any:
    """a with axes of extent 1 put in, at the places they have in the result.

    >>> expand_dims(np.array([1, 2]), 0)
    Array([[1, 2]], dtype=int32)
    """
    x = array(a, "expand_dims")
    return expanded(x, axes_of(_tuple(axis), x.type.ndim + len(_tuple(axis))))


def expanded(x: Any, axes: Sequence[int]) -> Any:
    """x with axes of extent 1 put in at the given places of the result, which count from the front."""
    if not axes:
        return x
    kept = tuple(i for i in range(x.type.ndim + len(axes)) if i not in axes)
    extents = iter(x.type.shape)
    shape = tuple(1 if i in axes else next(extents) for i in range(len(kept) + len(axes)))
    return ops.broadcast_in_dim(x, shape=shape, broadcast_dimensions=kept)


def squeeze(a: Any, axis: Any = None) -> Any:
    """a without its axes of extent 1, or without the named ones.

    >>> squeeze(np.array([[1, 2]]))
    Array([1, 2], dtype=int32)
    """
    x = array(a, "squeeze")
    shape = x.type.shape
    axes = [i for i, n in enumerate(shape) if n == 1] if axis is None else axes_of(_tuple(axis), len(shape))
    for i in axes:
        if shape[i] != 1:
            raise errors.SqueezeNotOne(axis=i, shape=shape)
    return squeezed(x, axes)


def squeezed(x: Any, axes: Sequence[int]) -> Any:
    """x without axes whose extent is 1."""
    return _moved(x, tuple(n for i, n in enumerate(x.type.shape) if i not in axes)) if axes else x


def broadcast_to(array: Any, shape: Any, *, out_sharding: Any = None) -> Any:
    """The array repeated to a shape that its own shape broadcasts to.

    >>> broadcast_to(np.array([1, 2]), (2, 2))
    Array([[1, 2],
           [1, 2]], dtype=int32)
    """
    x, wanted = operand(array, "broadcast_to"), shape_from(shape)
    if x.type.ndim > len(wanted) or common_shape("broadcast_to", x.type.shape, wanted) != wanted:
        raise errors.ShapesDiffer(op="broadcast_to", shapes=f"{x.type.shape} to {wanted}")
    return _as_result(x) if x.type.shape == wanted else broadcasted(x, wanted)


def _as_result(x: Any) -> Any:
    return array(x, "broadcast_to")


def broadcast_arrays(*args: Any) -> list[Any]:
    """The arrays, each repeated to their common shape.

    >>> broadcast_arrays(np.array([1, 2]), 5)[1]
    Array([5, 5], dtype=int32, weak_type=True)
    """
    xs = [array(x, "broadcast_arrays") for x in args]
    shape = common_shape("broadcast_arrays", *[x.type.shape for x in xs])
    return [broadcasted(x, shape) for x in xs]


def broadcast_shapes(*shapes: Any) -> Shape:
    """The shape that arrays of these shapes broadcast to.

    >>> broadcast_shapes((2, 1), (3,))
    (2, 3)
    """
    return common_shape("broadcast_shapes", *[shape_from(shape) for shape in shapes])


def atleast_1d(*arys: Any) -> Any:
    """Each array, a scalar as a vector of one element; a list of several arguments' results.

    >>> atleast_1d(np.array(3))
    Array([3], dtype=int32)
    """
    return _each(arys, lambda x: expanded(x, (0,)) if x.type.ndim == 0 else x)


def atleast_2d(*arys: Any) -> Any:
    """Each array with at least two axes, new ones in front.

    >>> atleast_2d(np.array([3, 4]))
    Array([[3, 4]], dtype=int32)
    """
    return _each(arys, lambda x: expanded(x, tuple(range(max(2 - x.type.ndim, 0)))))


def atleast_3d(*arys: Any) -> Any:
    """Each array with at least three axes; a vector becomes the middle one, a matrix gets a last one.

    >>> atleast_3d(np.array([3, 4])).shape
    (1, 2, 1)
    """
    places = {0: (0, 1, 2), 1: (0, 2), 2: (2,)}
    return _each(arys, lambda x: expanded(x, places.get(x.type.ndim, ())))


def _each(arys: tuple[Any, ...], function: Any) -> Any:
    found = [function(array(x, "atleast")) for x in arys]
    return found[0] if len(found) == 1 else found


def shape(a: Any) -> Shape:
    """The extents of an array.

    >>> shape(np.ones((2, 3)))
    (2, 3)
    """
    return tuple(a.shape) if hasattr(a, "shape") else operand(a, "shape").type.shape


def ndim(a: Any) -> int:
    """The number of axes.

    >>> ndim(np.ones((2, 3)))
    2
    """
    return len(shape(a))


def size(a: Any, axis: Any = None) -> int:
    """The number of elements, or the extent of an axis or of several together.

    >>> size(np.ones((2, 3))), size(np.ones((2, 3)), 1)
    (6, 3)
    """
    extents = shape(a)
    return math.prod(extents[i] for i in axes_of(axis, len(extents)))


def isscalar(element: Any) -> bool:
    """Whether element is a Python or NumPy scalar, or an array of rank 0.

    >>> isscalar(1.0), isscalar(np.ones(1))
    (True, False)
    """
    if np.isscalar(element):
        return True
    return hasattr(element, "shape") and hasattr(element, "dtype") and not element.shape


def iterable(y: Any) -> bool:
    """Whether y can be iterated over.

    >>> iterable([1]), iterable(1)
    (True, False)
    """
    return bool(np.iterable(y))
