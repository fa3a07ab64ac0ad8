"""Elements taken by index arrays with a choice of what happens outside, diagonals, triangles and places of flat indices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from celadon import errors, vocabulary as ops
from celadon.array import Array, as_array
from celadon.numpy.comparison import less
from celadon.numpy.creation import filled, lower_mask
from celadon.numpy.division import floor_divide, remainder
from celadon.numpy.dtypes import requested
from celadon.numpy.joining import concatenate
from celadon.numpy.positions import concrete, nonzero
from celadon.numpy.promotion import (
    accept,
    array,
    axes_of,
    axis_of,
    broadcasted,
    constant,
    converted,
    no_out,
    operand,
    shape_from,
)
from celadon.numpy.selection import chosen, clip
from celadon.numpy.shapes import expanded, moveaxis, ravel
from celadon.program import fixed, literal
from celadon.types import Shape, canonical, kind
from celadon.vocabulary.call import named

_MODES = ("fill", "clip", "wrap", "promise_in_bounds")


def take(
    a: Any, indices: Any, axis: int | None = None, out: None = None, mode: str | None = None, unique_indices: bool = False,
    indices_are_sorted: bool = False, fill_value: Any = None,
) -> Any:  # fmt: skip
    """The elements, or parts along an axis, at the given places.

    Args: indices: integers, negative ones counting from the back; axis: None takes from the vector of all elements; mode:
    outside the axis "fill" (the default) gives fill_value (NaN, or a limit of the integers), "clip" the nearest, "wrap"
    counts round.

    >>> take(np.array([4, 5, 6]), np.array([2, 0]))
    Array([6, 4], dtype=int32)
    """
    no_out("take", out)
    x, index = operand(a, "take"), operand(indices, "take")
    accept("take", index.type.dtype, "iu")
    return _take(x, index, axis=axis, mode=_mode("take", mode), fill_value=fill_value)


def _mode(function: str, mode: Any) -> str:
    found = "fill" if mode is None else str(getattr(mode, "name", mode)).lower().replace("fill_or_drop", "fill")
    if found not in _MODES:
        raise errors.OptionUnknown(function=function, argument="mode", value=mode, allowed=", ".join(_MODES))
    return found


@named("_take")
def _take(x: Any, index: Any, *, axis: int | None, mode: str, fill_value: Any) -> Any:
    x = ravel(array(x)) if axis is None else array(x)
    i = axis_of(0 if axis is None else axis, x.type.ndim)
    extent, batch = x.type.shape[i], index.type.shape
    index = _placed(index, extent, mode)
    vectors = ops.broadcast_in_dim(index, shape=(*batch, 1), broadcast_dimensions=tuple(range(len(batch))))
    offsets = tuple(k if k < i else k - 1 + len(batch) for k in range(x.type.ndim) if k != i)
    if not extent:
        return _from_nothing(x, i, batch)
    sizes = tuple(1 if k == i else n for k, n in enumerate(x.type.shape))
    return ops.gather(
        x, vectors, offset_dims=offsets, collapsed_slice_dims=(i,), start_index_map=(i,), slice_sizes=sizes,
        mode="fill" if mode == "fill" else "clip", fill_value=fill_value if mode == "fill" else None,
    )  # fmt: skip


def _placed(index: Any, extent: int, mode: str, choose: Any = chosen) -> Any:
    if mode == "wrap":
        return remainder(index, literal(extent, index.type.dtype))
    if kind(index.type.dtype) == "u":
        return converted(index, canonical(np.int64) if index.type.dtype.itemsize == 8 else np.dtype(np.int32))
    if mode == "clip":
        return index
    index = converted(index, index.type.dtype)
    negative = ops.compare(index, fixed(0, index.type.dtype), direction="LT")
    return choose(negative, ops.add(index, literal(extent, index.type.dtype)), index)


def _from_nothing(x: Any, axis: int, batch: Shape) -> Any:
    shape = (*x.type.shape[:axis], *batch, *x.type.shape[axis + 1 :])
    if 0 not in shape:
        raise errors.DimensionsUnfit(
            function="take", argument="indices", value="an array", shape=x.type.shape, reason="the axis has no elements"
        )
    return filled(shape, fixed(0, x.type.dtype))


def take_along_axis(
    arr: Any, indices: Any, axis: int | None = -1, mode: Any = None, fill_value: Any = None, *,
    wrap_negative_indices: bool | None = None,
) -> Any:  # fmt: skip
    """For each place of the indices, the element of arr that stands there along an axis.

    Args: indices: integers of arr's rank, whose other extents fit arr's; mode, fill_value: as for take.

    >>> take_along_axis(np.array([[3, 1, 2]]), np.array([[1, 2]]), 1)
    Array([[1, 2]], dtype=int32)
    """
    x, index = operand(arr, "take_along_axis"), operand(indices, "take_along_axis")
    accept("take_along_axis", index.type.dtype, "iu")
    if axis is None:
        x, index, axis = ravel(x), array(index), 0
    if x.type.ndim != index.type.ndim:
        raise errors.DimensionsUnfit(
            function="take_along_axis", argument="indices", value=f"of shape {index.type.shape}", shape=x.type.shape,
            reason="both need the same number of axes",
        )  # fmt: skip
    i = axis_of(axis, x.type.ndim)
    return _take_along_axis(x, index, axis=i, mode=_mode("take_along_axis", mode), fill_value=fill_value)


@named("take_along_axis")
def _take_along_axis(x: Any, index: Any, *, axis: int, mode: str, fill_value: Any) -> Any:
    others = [k for k in range(x.type.ndim) if k != axis]
    pairs = list(zip(x.type.shape, index.type.shape, strict=True))
    if any(1 not in pairs[k] and pairs[k][0] != pairs[k][1] for k in others):
        raise errors.ShapesDiffer(op="take_along_axis", shapes=f"{x.type.shape} and {index.type.shape}")
    shape = tuple(n if k == axis else max(m, n) if 0 not in (m, n) else 0 for k, (m, n) in enumerate(pairs))
    x = broadcasted(x, tuple(m if k == axis else shape[k] for k, (m, _) in enumerate(pairs)))
    index = _placed(broadcasted(index, shape), x.type.shape[axis], mode, ops.select)
    if 0 in shape:
        return filled(shape, fixed(0, x.type.dtype))
    vectors = ops.reshape(index, shape=(*shape, 1))
    return ops.gather(
        x, vectors, offset_dims=(), collapsed_slice_dims=(axis,), start_index_map=(axis,),
        operand_batching_dims=tuple(others), start_indices_batching_dims=tuple(others), slice_sizes=(1,) * x.type.ndim,
        mode="fill" if mode == "fill" else "clip", fill_value=fill_value if mode == "fill" else None,
    )  # fmt: skip


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The diagonals of the matrices in two axes, as the last axis.

    >>> diagonal(np.array([[1, 2], [3, 4]]))
    Array([1, 4], dtype=int32)
    """
    x = operand(a, "diagonal")
    return _diagonal(x, offset=offset, axes=axes_of((axis1, axis2), x.type.ndim))


@named("diagonal")
def _diagonal(x: Any, *, offset: int, axes: tuple[int, int]) -> Any:
    x = moveaxis(x, axes, (-2, -1))
    rows, columns = x.type.shape[-2:]
    count = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    index = ops.iota(shape=(count,), dtype=canonical(np.int64), dimension=0)
    places = [index if not move else ops.add(index, literal(move, index.type.dtype))
              for move in (max(-offset, 0), max(offset, 0))]  # fmt: skip
    return x[(..., *places)]


def diag(v: Any, k: int = 0) -> Any:
    """The matrix with a vector on its k-th diagonal, or the k-th diagonal of a matrix.

    >>> diag(np.array([1, 2]))
    Array([[1, 0],
           [0, 2]], dtype=int32)
    """
    x = operand(v, "diag")
    if x.type.ndim not in (1, 2):
        raise errors.DimensionsUnfit(
            function="diag", argument="v", value="an array", shape=x.type.shape, reason="a vector or matrix is needed"
        )
    return _diag(x, k=k)


@named("_diag")
def _diag(x: Any, *, k: int) -> Any:
    if x.type.ndim == 2:
        return _diagonal(x, offset=k, axes=(0, 1))
    count = x.type.shape[0] + abs(k)
    zero, index = fixed(0, x.type.dtype), np.dtype(np.int32)
    padded = ops.pad(x, zero, low=(max(0, k),), high=(max(0, -k),), interior=(0,))
    rows, columns = (ops.iota(shape=(count, count), dtype=index, dimension=axis) for axis in (0, 1))
    mask = ops.compare(ops.add(rows, literal(k, index)), columns, direction="EQ")
    return chosen(mask, expanded(padded, (1,) if k == 0 else (0,)), zero)


def diagflat(v: Any, k: int = 0) -> Any:
    """The matrix with the elements of an array, in row order, on its k-th diagonal.

    >>> diagflat(np.array([[1], [2]]))
    Array([[1, 0],
           [0, 2]], dtype=int32)
    """
    return diag(ravel(v), k)


def tril(m: Any, k: int = 0) -> Any:
    """Matrices with zeros above their k-th diagonal.

    >>> tril(np.array([[1, 2], [3, 4]]))
    Array([[1, 0],
           [3, 4]], dtype=int32)
    """
    return _tril(_matrix("tril", m), k=k)


def triu(m: Any, k: int = 0) -> Any:
    """Matrices with zeros below their k-th diagonal.

    >>> triu(np.array([[1, 2], [3, 4]]))
    Array([[1, 2],
           [0, 4]], dtype=int32)
    """
    return _triu(_matrix("triu", m), k=k)


def _matrix(function: str, m: Any) -> Any:
    x = operand(m, function)
    if x.type.ndim < 2:
        raise errors.DimensionsUnfit(
            function=function, argument="m", value="an array", shape=x.type.shape, reason="a matrix is needed"
        )
    return x


@named("tril")
def _tril(x: Any, *, k: int) -> Any:
    return ops.select(_lower(x, k), x, filled(x.type.shape, fixed(0, x.type.dtype)))


@named("triu")
def _triu(x: Any, *, k: int) -> Any:
    return ops.select(_lower(x, k - 1), filled(x.type.shape, fixed(0, x.type.dtype)), x)


def _lower(x: Any, k: int) -> Any:
    mask, ndim = lower_mask(x.type.shape[-2:], k), x.type.ndim
    if ndim == 2:
        return mask
    return ops.broadcast_in_dim(mask, shape=x.type.shape, broadcast_dimensions=(ndim - 2, ndim - 1))


def compress(
    condition: Any, a: Any, axis: int | None = None, *, size: int | None = None, fill_value: Any = 0, out: None = None
) -> Any:
    """The parts along an axis (None: the elements) where a mask holds.

    Args: size: the number of results, needed while tracing; fill_value: what stands in the results past the last part.
    Raises ResultSizeTraced for a traced mask without size.

    >>> compress(np.array([True, False, True]), np.array([4, 5, 6]))
    Array([4, 6], dtype=int32)
    """
    no_out("compress", out)
    x = ravel(a) if axis is None else moveaxis(a, axis, 0)
    mask = array(condition, "compress")
    if size is None:
        found = x[as_array(np.flatnonzero(concrete(mask, "compress")).astype(np.int32))]
    else:
        found = _first_parts(x, mask, size, fill_value)
    return found if axis is None else moveaxis(found, 0, axis)


def _first_parts(x: Any, mask: Any, size: int, fill_value: Any) -> Any:
    (places,) = nonzero(mask, size=size, fill_value=x.type.shape[0])
    inside = expanded(less(places, x.type.shape[0]), tuple(range(1, x.type.ndim)))
    return chosen(inside, take(x, places, axis=0, mode="clip"), converted(operand(fill_value), x.type.dtype))


def extract(condition: Any, arr: Any, *, size: int | None = None, fill_value: Any = 0) -> Any:
    """The elements of arr, in row order, where a mask holds; size and fill_value as for compress.

    >>> extract(np.array([True, False]), np.array([4, 5]))
    Array([4], dtype=int32)
    """
    return compress(ravel(condition), arr, size=size, fill_value=fill_value)


def delete(arr: Any, obj: Any, axis: int | None = None, *, assume_unique_indices: bool = False) -> Any:
    """An array without the parts along an axis at the given (concrete) places.

    >>> delete(np.array([4, 5, 6]), 1)
    Array([4, 6], dtype=int32)
    """
    x = ravel(arr) if axis is None else array(arr, "delete")
    i = axis_of(0 if axis is None else axis, x.type.ndim)
    if isinstance(obj, list | tuple):
        raise errors.SequenceNotArray(function="delete", type=type(obj).__name__)
    left = np.delete(np.arange(x.type.shape[i]), _concrete(obj))
    return x[(slice(None),) * i + (as_array(left.astype(np.int32)),)]


def _concrete(obj: Any) -> Any:
    return concrete(obj, "delete") if isinstance(obj, Array) else obj


def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Any:
    """An array with values put in before the given (concrete) places along an axis.

    >>> insert(np.array([4, 6]), 1, 5)
    Array([4, 5, 6], dtype=int32)
    """
    x = ravel(arr) if axis is None else array(arr, "insert")
    i = axis_of(0 if axis is None else axis, x.type.ndim)
    extent = x.type.shape[i]
    places = np.arange(extent)[obj] if isinstance(obj, slice) else np.asarray(_concrete(obj))
    v = converted(array(values, "insert"), x.type.dtype)
    if places.ndim == 0 and v.type.ndim:
        v = expanded(v, tuple(range(x.type.ndim - v.type.ndim)))
    flat = places.reshape(-1)
    flat = np.where(flat < 0, flat + extent, flat)
    count = v.type.shape[i] if len(flat) == 1 and v.type.ndim == x.type.ndim else len(flat)
    flat = np.repeat(flat, count) if len(flat) == 1 else flat
    v = broadcasted(v, tuple(len(flat) if k == i else n for k, n in enumerate(x.type.shape)))
    order = np.argsort(np.concatenate([np.arange(extent) + 0.5, flat.astype(float)]), kind="stable")
    return concatenate([x, v], i)[(slice(None),) * i + (as_array(order.astype(np.int32)),)]


def unravel_index(indices: Any, shape: Any) -> tuple[Any, ...]:
    """The place in an array of a shape, as an index for each axis, of places counted in row order.

    >>> unravel_index(np.array([5]), (2, 3))
    (Array([1], dtype=int32), Array([2], dtype=int32))
    """
    x = array(indices, "unravel_index")
    accept("unravel_index", x.type.dtype, "iu")
    extents = shape_from(shape)
    total = constant(math.prod(extents), x)
    x = clip(x, -total.value, total.value - 1)
    x = chosen(x < 0, x + total, x)
    found: list[Any] = []
    for extent in reversed(extents):
        found.insert(0, remainder(x, constant(extent, x)))
        x = floor_divide(x, constant(extent, x))
    return tuple(found)


def ravel_multi_index(
    multi_index: Any, dims: Any, mode: str = "raise", order: str = "C", *, dtype: Any = None
) -> Any:
    """The place, counted in row order, that an index for each axis of an array of a shape means.

    Args: mode: "clip" or "wrap" for places outside; "raise" needs concrete indices.

    >>> ravel_multi_index((np.array([1]), np.array([2])), (2, 3))
    Array([5], dtype=int32)
    """
    extents = shape_from(dims)
    given = [array(i, "ravel_multi_index") for i in multi_index]
    if len(given) != len(extents):
        raise errors.ArgumentCount(function="ravel_multi_index", wanted=len(extents), given=len(given))
    if mode not in ("raise", "clip", "wrap"):
        raise errors.OptionUnknown(
            function="ravel_multi_index", argument="mode", value=mode, allowed="'raise', 'clip' or 'wrap'"
        )
    if order not in ("C", "F"):
        raise errors.OptionUnknown(function="ravel_multi_index", argument="order", value=order, allowed="'C' or 'F'")
    pairs = list(zip(given, extents, strict=True))
    total: Any = as_array(np.zeros((), requested(dtype, np.int64)))
    for index, extent in pairs if order == "C" else reversed(pairs):
        total = total * extent + _inside(index, extent, mode)
    return total


def _inside(index: Any, extent: int, mode: str) -> Any:
    if mode == "wrap":
        return remainder(index, extent)
    if mode == "clip":
        return clip(index, 0, extent - 1)
    host = np.asarray(concrete(index, "ravel_multi_index"))
    if ((host < 0) | (host >= extent)).any():
        raise errors.DimensionsUnfit(
            function="ravel_multi_index", argument="multi_index", value=host, shape=(extent,), reason="it is out of range"
        )
    return index


def ix_(*args: Any) -> tuple[Any, ...]:
    """Vectors shaped so that indexing with them reads every combination of their elements.

    >>> [i.shape for i in ix_(np.array([0, 1]), np.array([2]))]
    [(2, 1), (1, 1)]
    """
    found: list[Any] = []
    for k, arg in enumerate(args):
        x = array(arg, "ix_")
        if kind(x.type.dtype) == "b":
            x = as_array(np.flatnonzero(concrete(x, "ix_")).astype(np.int32))
        found.append(expanded(x, tuple(i for i in range(len(args)) if i != k)))
    return tuple(found)
