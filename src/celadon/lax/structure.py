"""jax.lax's functions that make and move elements: shapes, slices, joins, pads and sort, under JAX's names."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from celadon import errors, vocabulary as ops
from celadon.numpy import joining, shapes
from celadon.numpy.creation import filled, full as _full, full_like as _full_like
from celadon.numpy.dtypes import requested
from celadon.numpy.promotion import array, axes_of, axis_of, common_shape, operand as _operand, shape_from
from celadon.program import fixed
from celadon.types import Shape


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
        array(operand), _operand(padding_value, "lax.pad"), low=tuple(low), high=tuple(high), interior=tuple(interior)
    )  # fmt: skip


def slice(
    operand: Any, start_indices: Sequence[int], limit_indices: Sequence[int], strides: Sequence[int] | None = None
) -> Any:
    """The part of an array from start to limit along each axis, every stride-th element.

    >>> slice(np.int32([1, 2, 3]), (1,), (3,))
    Array([2, 3], dtype=int32)
    """
    x = array(operand)
    steps = (1,) * x.type.ndim if strides is None else tuple(strides)
    starts, limits = shape_from(tuple(start_indices)), shape_from(tuple(limit_indices))
    return ops.slice_(x, start_indices=starts, limit_indices=limits, strides=steps)


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
    last = x.type.ndim - 1
    if i == last:
        return tuple(ops.top_k(x, k=k))
    return tuple(shapes.swapaxes(part, i, last) for part in ops.top_k(shapes.swapaxes(x, i, last), k=k))
