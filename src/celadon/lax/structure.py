"""jax.lax's functions that move elements: shapes, slices, joins, pads, gather and sort, under JAX's names."""

from __future__ import annotations

import builtins
import enum
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from celadon import errors
from celadon import vocabulary as ops
from celadon.numpy import joining, ordering, shapes
from celadon.numpy.creation import filled
from celadon.numpy.creation import full as _full
from celadon.numpy.creation import full_like as _full_like
from celadon.numpy.dtypes import requested
from celadon.numpy.promotion import array, axes_of, axis_of, common_shape, converted, operand, shape_from
from celadon.program import fixed, literal
from celadon.types import Shape, canonical, kind


class GatherDimensionNumbers(NamedTuple):
    """Which axes gather reads and writes, as StableHLO names them."""

    offset_dims: tuple[int, ...]
    collapsed_slice_dims: tuple[int, ...]
    start_index_map: tuple[int, ...]
    operand_batching_dims: tuple[int, ...] = ()
    start_indices_batching_dims: tuple[int, ...] = ()


class GatherScatterMode(enum.Enum):
    """What happens to indices outside an array."""

    CLIP = 0
    FILL_OR_DROP = 1
    PROMISE_IN_BOUNDS = 2
    ONE_HOT = 3

    @staticmethod
    def from_any(s: Any) -> GatherScatterMode:
        """The mode of a name ("clip", "fill", "drop", "promise_in_bounds"), of None, or of itself."""
        if isinstance(s, GatherScatterMode):
            return s
        found = {"clip": 0, "fill": 1, "drop": 1, "promise_in_bounds": 2, None: 1}.get(s)
        if found is None:
            raise errors.OptionUnknown(
                function="GatherScatterMode", argument="mode", value=s, allowed="clip, fill, drop or promise_in_bounds"
            )
        return GatherScatterMode(found)


def broadcast_in_dim(operand: Any, shape: Any, broadcast_dimensions: Sequence[int], *, out_sharding: Any = None) -> Any:
    """An array repeated to a shape; broadcast_dimensions says which axis of the result each of its axes becomes.

    >>> broadcast_in_dim(np.int32([1, 2]), (2, 2), (0,))
    Array([[1, 1],
           [2, 2]], dtype=int32)
    """
    dimensions = tuple(int(i) for i in broadcast_dimensions)
    return ops.broadcast_in_dim(array(operand), shape=shape_from(shape), broadcast_dimensions=dimensions)


def broadcast(operand: Any, sizes: Any, *, out_sharding: Any = None) -> Any:
    """An array repeated along new leading axes.

    >>> broadcast(np.int32([1, 2]), (2,))
    Array([[1, 2],
           [1, 2]], dtype=int32)
    """
    x, lead = array(operand), shape_from(sizes)
    dimensions = tuple(range(len(lead), len(lead) + x.type.ndim))
    return ops.broadcast_in_dim(x, shape=lead + x.type.shape, broadcast_dimensions=dimensions)


def broadcast_to_rank(x: Any, rank: int) -> Any:
    """An array with leading axes of extent 1 up to a rank.

    >>> broadcast_to_rank(np.int32([1, 2]), 2).shape
    (1, 2)
    """
    found = array(x)
    return shapes.expanded(found, tuple(range(rank - found.type.ndim)))


def broadcast_like(arr: Any, like_arr: Any) -> Any:
    """An array repeated to the shape of another.

    >>> broadcast_like(np.int32(1), np.ones(2))
    Array([1, 1], dtype=int32)
    """
    return shapes.broadcast_to(arr, np.shape(like_arr) if not hasattr(like_arr, "shape") else like_arr.shape)


def broadcast_shapes(*shapes: Any) -> Shape:
    """The shape that arrays of these shapes broadcast to.

    >>> broadcast_shapes((2, 1), (3,))
    (2, 3)
    """
    return common_shape("lax.broadcast_shapes", *[shape_from(s) for s in shapes])


def reshape(operand: Any, new_sizes: Any, dimensions: Sequence[int] | None = None, *, out_sharding: Any = None) -> Any:
    """The elements in another shape; dimensions: the order in which the axes are read, if it is not theirs.

    >>> reshape(np.int32([1, 2]), (2, 1))
    Array([[1],
           [2]], dtype=int32)
    """
    x = array(operand)
    if dimensions is not None and tuple(dimensions) != tuple(range(x.type.ndim)):
        x = ops.transpose(x, permutation=tuple(dimensions))
    return shapes.reshape(x, shape_from(new_sizes))


def transpose(operand: Any, permutation: Any) -> Any:
    """An array with its axes in another order.

    >>> transpose(np.int32([[1, 2]]), (1, 0)).shape
    (2, 1)
    """
    order = tuple(int(i) for i in permutation)
    x = array(operand)
    return x if order == tuple(range(x.type.ndim)) else ops.transpose(x, permutation=order)


def expand_dims(array: Any, dimensions: Sequence[int]) -> Any:
    """An array with axes of extent 1 put in.

    >>> expand_dims(np.int32([1, 2]), (0,)).shape
    (1, 2)
    """
    return shapes.expand_dims(array, tuple(dimensions))


def squeeze(array: Any, dimensions: Sequence[int]) -> Any:
    """An array without axes of extent 1.

    >>> squeeze(np.int32([[1, 2]]), (0,)).shape
    (2,)
    """
    return shapes.squeeze(array, tuple(dimensions))


def collapse(operand: Any, start_dimension: int, stop_dimension: int | None = None) -> Any:
    """An array with the axes from start to stop merged into one.

    >>> collapse(np.ones((2, 3, 4)), 1).shape
    (2, 12)
    """
    x = array(operand)
    extents = x.type.shape
    start, stop, _ = builtins.slice(start_dimension, stop_dimension).indices(len(extents))
    return shapes.reshape(x, (*extents[:start], math.prod(extents[start:stop]), *extents[stop:]))


def rev(operand: Any, dimensions: Sequence[int]) -> Any:
    """An array with the order of its elements turned round along axes.

    >>> rev(np.int32([1, 2]), (0,))
    Array([2, 1], dtype=int32)
    """
    x = array(operand)
    return ops.reverse(x, dimensions=axes_of(tuple(dimensions), x.type.ndim))


def concatenate(operands: Any, dimension: int) -> Any:
    """Arrays of one dtype joined along an axis.

    >>> concatenate([np.int32([1]), np.int32([2])], 0)
    Array([1, 2], dtype=int32)
    """
    parts = [array(x) for x in operands]
    if not parts:
        raise errors.NoArraysGiven(function="lax.concatenate")
    return ops.concatenate(*parts, dimension=axis_of(dimension, parts[0].type.ndim))


def stack(operands: Sequence[Any], axis: int = 0) -> Any:
    """Arrays of one type joined along a new axis.

    >>> stack([np.int32([1]), np.int32([2])]).shape
    (2, 1)
    """
    return joining.stack(list(operands), axis)


def unstack(x: Any, axis: int = 0) -> tuple[Any, ...]:
    """The arrays along an axis, each without it.

    >>> unstack(np.int32([1, 2]))
    (Array(1, dtype=int32), Array(2, dtype=int32))
    """
    return joining.unstack(x, axis=axis)


def split(operand: Any, sizes: Sequence[int], axis: int = 0) -> list[Any]:
    """An array in parts of the given sizes along an axis.

    >>> split(np.int32([1, 2, 3]), (1, 2))
    [Array([1], dtype=int32), Array([2, 3], dtype=int32)]
    """
    x = array(operand)
    i = axis_of(axis, x.type.ndim)
    if sum(sizes) != x.type.shape[i]:
        raise errors.DimensionsUnfit(
            function="lax.split", argument="sizes", value=tuple(sizes), shape=x.type.shape, reason="they must sum to the extent"
        )
    return joining.array_split(x, list(np.cumsum(sizes)[:-1]), i)


def tile(operand: Any, reps: Sequence[int]) -> Any:
    """An array repeated as a whole along each axis.

    >>> tile(np.int32([1, 2]), (2,))
    Array([1, 2, 1, 2], dtype=int32)
    """
    return joining.tile(operand, tuple(reps))


def pad(operand: Any, padding_value: Any, padding_config: Sequence[tuple[int, int, int]]) -> Any:
    """An array with a value put before, after and between the elements of each axis; negative numbers take away.

    Args: padding_config: (low, high, interior) for each axis.

    >>> pad(np.int32([1, 2]), np.int32(0), [(1, 0, 1)])
    Array([0, 1, 0, 2], dtype=int32)
    """
    low, high, interior = ([int(c[k]) for c in padding_config] for k in range(3))
    return ops.pad(
        array(operand), _scalar(padding_value), low=tuple(low), high=tuple(high), interior=tuple(interior)
    )  # fmt: skip


def _scalar(x: Any) -> Any:
    return operand(x, "lax")


def slice(
    operand: Any, start_indices: Sequence[int], limit_indices: Sequence[int], strides: Sequence[int] | None = None
) -> Any:
    """The part of an array from start to limit along each axis, every stride-th element.

    >>> slice(np.int32([1, 2, 3]), (1,), (3,))
    Array([2, 3], dtype=int32)
    """
    x = array(operand)
    steps = (1,) * x.type.ndim if strides is None else tuple(strides)
    return ops.slice_(x, start_indices=shape_from(tuple(start_indices)), limit_indices=shape_from(tuple(limit_indices)), strides=steps)


def slice_in_dim(
    operand: Any, start_index: int | None, limit_index: int | None, stride: int = 1, axis: int = 0
) -> Any:
    """The part of an array from start to limit along one axis.

    >>> slice_in_dim(np.int32([1, 2, 3]), 1, None)
    Array([2, 3], dtype=int32)
    """
    x = array(operand)
    i = axis_of(axis, x.type.ndim)
    extent = x.type.shape[i]
    start, limit = (
        default if n is None else int(n) + extent if int(n) < 0 else int(n)
        for n, default in ((start_index, 0), (limit_index, extent))
    )
    starts = tuple(start if k == i else 0 for k in range(x.type.ndim))
    limits = tuple(limit if k == i else n for k, n in enumerate(x.type.shape))
    return ops.slice_(
        x, start_indices=starts, limit_indices=limits, strides=tuple(stride if k == i else 1 for k in range(x.type.ndim))
    )


def index_in_dim(operand: Any, index: int, axis: int = 0, keepdims: bool = True) -> Any:
    """The part of an array at one place of an axis, which stays with extent 1 unless keepdims is False.

    >>> index_in_dim(np.int32([1, 2, 3]), -1)
    Array([3], dtype=int32)
    """
    x = array(operand)
    i = axis_of(axis, x.type.ndim)
    extent = x.type.shape[i]
    if not -extent <= index < extent:
        raise errors.PlaceOutOfRange(function="lax.index_in_dim", index=index, extent=extent)
    found = joining.part(x, i, index % extent, index % extent + 1)
    return found if keepdims else shapes.squeezed(found, (i,))


def _starts(x: Any, start_indices: Any, allow_negative: Any) -> list[Any]:
    """The starts as scalars of one dtype; negative ones count from the back where that is allowed."""
    given = list(start_indices) if isinstance(start_indices, tuple | list) else list(array(start_indices))
    if len(given) != x.type.ndim:
        raise errors.DimensionsUnfit(
            function="lax.dynamic_slice", argument="start_indices", value=f"{len(given)} numbers", shape=x.type.shape,
            reason="one is needed for each axis",
        )  # fmt: skip
    values = [_scalar(v) for v in given]
    dtype = max((v.type.dtype for v in values if not v.type.weak_type), key=lambda d: d.itemsize, default=canonical("int64"))
    allowed = allow_negative if isinstance(allow_negative, tuple | list) else [allow_negative] * len(values)
    return [_start(v, n, dtype, a) for v, n, a in zip(values, x.type.shape, allowed, strict=True)]


def _start(value: Any, extent: int, dtype: Any, allow_negative: bool) -> Any:
    value = converted(value, dtype)
    if not allow_negative or kind(dtype) == "u":
        return value
    negative = ops.compare(value, literal(0, dtype), direction="LT")
    return ops.select(negative, ops.add(value, literal(extent, dtype)), value)


def dynamic_slice(
    operand: Any, start_indices: Any, slice_sizes: Any, *, allow_negative_indices: bool | Sequence[bool] = True
) -> Any:
    """The part of an array of fixed sizes that starts where (traced) numbers say; it is moved inside if it sticks out.

    >>> dynamic_slice(np.int32([1, 2, 3]), (np.int32(1),), (2,))
    Array([2, 3], dtype=int32)
    """
    x = array(operand)
    return ops.dynamic_slice(x, *_starts(x, start_indices, allow_negative_indices), slice_sizes=shape_from(slice_sizes))


def dynamic_slice_in_dim(
    operand: Any, start_index: Any, slice_size: int, axis: int = 0, *, allow_negative_indices: bool = True
) -> Any:
    """dynamic_slice along one axis.

    >>> dynamic_slice_in_dim(np.int32([1, 2, 3]), np.int32(1), 2)
    Array([2, 3], dtype=int32)
    """
    x = array(operand)
    i = axis_of(axis, x.type.ndim)
    starts, allowed = _in_dim(x, start_index, i, allow_negative_indices)
    sizes = tuple(slice_size if k == i else n for k, n in enumerate(x.type.shape))
    return dynamic_slice(x, starts, sizes, allow_negative_indices=allowed)


def _in_dim(x: Any, start: Any, axis: int, allow_negative: bool) -> tuple[list[Any], list[bool]]:
    index = _scalar(start)
    dtype = canonical(np.int64) if index.type.weak_type else index.type.dtype
    starts = [index if k == axis else literal(0, dtype) for k in range(x.type.ndim)]
    return starts, [allow_negative and k == axis for k in range(x.type.ndim)]


def dynamic_index_in_dim(
    operand: Any, index: Any, axis: int = 0, keepdims: bool = True, *, allow_negative_indices: bool = True
) -> Any:
    """The part of an array at a (traced) place of an axis, which stays with extent 1 unless keepdims is False.

    >>> dynamic_index_in_dim(np.int32([1, 2, 3]), np.int32(1))
    Array([2], dtype=int32)
    """
    x = array(operand)
    found = dynamic_slice_in_dim(x, index, 1, axis, allow_negative_indices=allow_negative_indices)
    return found if keepdims else shapes.squeezed(found, (axis_of(axis, x.type.ndim),))


def dynamic_update_slice(
    operand: Any, update: Any, start_indices: Any, *, allow_negative_indices: bool | Sequence[bool] = True
) -> Any:
    """An array with a part replaced that starts where (traced) numbers say; it is moved inside if it sticks out.

    >>> dynamic_update_slice(np.int32([1, 2, 3]), np.int32([9]), (np.int32(1),))
    Array([1, 9, 3], dtype=int32)
    """
    x = array(operand)
    return ops.dynamic_update_slice(x, array(update), *_starts(x, start_indices, allow_negative_indices))


def dynamic_update_slice_in_dim(
    operand: Any, update: Any, start_index: Any, axis: int, *, allow_negative_indices: bool = True
) -> Any:
    """dynamic_update_slice along one axis.

    >>> dynamic_update_slice_in_dim(np.int32([1, 2, 3]), np.int32([9]), np.int32(1), 0)
    Array([1, 9, 3], dtype=int32)
    """
    x = array(operand)
    starts, allowed = _in_dim(x, start_index, axis_of(axis, x.type.ndim), allow_negative_indices)
    return dynamic_update_slice(x, update, starts, allow_negative_indices=allowed)


def dynamic_update_index_in_dim(
    operand: Any, update: Any, index: Any, axis: int, *, allow_negative_indices: bool = True
) -> Any:
    """An array with the part at a (traced) place of an axis replaced.

    >>> dynamic_update_index_in_dim(np.int32([1, 2, 3]), np.int32(9), np.int32(1), 0)
    Array([1, 9, 3], dtype=int32)
    """
    x, part = array(operand), array(update)
    i = axis_of(axis, x.type.ndim)
    part = part if part.type.ndim == x.type.ndim else shapes.expanded(part, (i,))
    return dynamic_update_slice_in_dim(x, part, index, i, allow_negative_indices=allow_negative_indices)


def gather(
    operand: Any, start_indices: Any, dimension_numbers: GatherDimensionNumbers, slice_sizes: Any, *,
    unique_indices: bool = False, indices_are_sorted: bool = False, mode: Any = None, fill_value: Any = None,
) -> Any:  # fmt: skip
    """Parts of an array that start where index vectors (the last axis of start_indices) say.

    Args: dimension_numbers: as in StableHLO; mode: "clip", "fill" (the default) or "promise_in_bounds".

    >>> numbers = GatherDimensionNumbers((), (0,), (0,))
    >>> gather(np.int32([1, 2, 3]), np.int32([[2], [0]]), numbers, (1,))
    Array([3, 1], dtype=int32)
    """
    found = GatherScatterMode.from_any(mode)
    fills = found is GatherScatterMode.FILL_OR_DROP
    return ops.gather(
        array(operand), array(start_indices), **dimension_numbers._asdict(), slice_sizes=shape_from(slice_sizes),
        mode="fill" if fills else "clip", fill_value=fill_value if fills else None,
    )  # fmt: skip


def index_take(src: Any, idxs: Any, axes: Sequence[int]) -> Any:
    """The parts of an array at the places that index vectors name, one vector for each axis.

    >>> index_take(np.int32([1, 2, 3]), (np.int32([2, 0]),), (0,))
    Array([3, 1], dtype=int32)
    """
    x = array(src)
    vectors = [shapes.expanded(array(i), (array(i).type.ndim,)) for i in idxs]
    joined = ops.concatenate(*vectors, dimension=vectors[0].type.ndim - 1) if len(vectors) > 1 else vectors[0]
    taken = axes_of(tuple(axes), x.type.ndim)
    last = joined.type.ndim - 1
    return ops.gather(
        x, joined, offset_dims=tuple(range(last, last + x.type.ndim - len(taken))), collapsed_slice_dims=taken,
        start_index_map=taken, slice_sizes=tuple(1 if i in taken else n for i, n in enumerate(x.type.shape)), mode="clip",
    )  # fmt: skip


def iota(dtype: Any, size: int) -> Any:
    """The numbers 0, 1, 2, ...

    >>> iota("int32", 3)
    Array([0, 1, 2], dtype=int32)
    """
    return ops.iota(shape=shape_from(size), dtype=requested(dtype), dimension=0)


def broadcasted_iota(dtype: Any, shape: Any, dimension: int, *, out_sharding: Any = None) -> Any:
    """An array whose elements are their places along an axis.

    >>> broadcasted_iota("int32", (1, 3), 1)
    Array([[0, 1, 2]], dtype=int32)
    """
    extents = shape_from(shape)
    return ops.iota(shape=extents, dtype=requested(dtype), dimension=axis_of(dimension, len(extents)))


def empty(shape: Any, dtype: Any, *, out_sharding: Any = None) -> Any:
    """An array of zeros: none has undefined contents.

    >>> empty((2,), "int32")
    Array([0, 0], dtype=int32)
    """
    return filled(shape_from(shape), fixed(0, requested(dtype)))


def full(shape: Any, fill_value: Any, dtype: Any = None, *, sharding: Any = None) -> Any:
    """An array that repeats a scalar.

    >>> full((2,), 7)
    Array([7, 7], dtype=int32, weak_type=True)
    """
    return _full(shape, fill_value, dtype)


def full_like(x: Any, fill_value: Any, dtype: Any = None, shape: Any = None, sharding: Any = None) -> Any:
    """fill_value repeated, in the shape and dtype of an array where these are not given.

    >>> full_like(np.int32([1, 2]), 7)
    Array([7, 7], dtype=int32)
    """
    return _full_like(x, fill_value, dtype, shape)


def sort(operand: Any, dimension: int = -1, is_stable: bool = True, num_keys: int = 1) -> Any:
    """Arrays in order along an axis, by the first num_keys of them; one array alone gives one.

    >>> sort(np.int32([3, 1, 2]))
    Array([1, 2, 3], dtype=int32)
    """
    several = isinstance(operand, tuple | list)
    parts = [array(x) for x in operand] if several else [array(operand)]
    i = axis_of(dimension, parts[0].type.ndim)
    found = ops.sort(*parts, dimension=i, is_stable=is_stable, num_keys=num_keys)
    return tuple(found) if several else found[0]


def sort_key_val(keys: Any, values: Any, dimension: int = -1, is_stable: bool = True) -> tuple[Any, Any]:
    """keys in order along an axis, and values in the same order.

    >>> sort_key_val(np.int32([2, 1]), np.int32([7, 8]))
    (Array([1, 2], dtype=int32), Array([8, 7], dtype=int32))
    """
    return sort((keys, values), dimension, is_stable)


def top_k(operand: Any, k: int, *, axis: int = -1) -> tuple[Any, Any]:
    """The k largest elements along an axis, from the largest down, and where they stand.

    >>> top_k(np.int32([3, 1, 2]), 2)
    (Array([3, 2], dtype=int32), Array([0, 2], dtype=int32))
    """
    x = array(operand)
    i = axis_of(axis, x.type.ndim)
    if not 0 <= k <= x.type.shape[i]:
        raise errors.PlaceOutOfRange(function="lax.top_k", index=k, extent=x.type.shape[i])
    order = ordering.argsort(x, i, descending=True, dtype=np.int32)
    values = ordering.sort(x, i, descending=True)
    return joining.part(values, i, 0, k), joining.part(order, i, 0, k)
