"""Ops that move elements: broadcast, reshape, transpose, reverse, concatenate, pad, slice; and iota."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from celadon import errors
from celadon.op import Axis, Op
from celadon.program import Equation
from celadon.types import ArrayType, DType, Shape
from celadon.vocabulary.kinds import NUMBER, checked_axes, kept, one_per_axis, require, same_dtype

Array = Any
Axes = tuple[int, ...]
Pairs = Iterable[tuple[Axis, Axis]]


@kept
def _broadcast_type(x: ArrayType, *, shape: Shape, broadcast_dimensions: Axes) -> ArrayType:
    """C2 to C5."""
    one_per_axis("broadcast_in_dim", x.ndim, broadcast_dimensions=broadcast_dimensions)
    checked_axes("broadcast_in_dim", broadcast_dimensions, len(shape))
    for extent, axis in zip(x.shape, broadcast_dimensions, strict=True):
        if extent not in (1, shape[axis]):
            raise errors.NotBroadcastable(shape=x.shape, wanted=shape, dimensions=broadcast_dimensions)
    return x.with_shape(shape)


def _broadcast(x: Array, *, shape: Shape, broadcast_dimensions: Axes) -> Array:
    order = sorted(range(x.ndim), key=broadcast_dimensions.__getitem__)
    spread = [1] * len(shape)
    for extent, axis in zip(x.shape, broadcast_dimensions, strict=True):
        spread[axis] = extent
    return np.broadcast_to(np.transpose(x, order).reshape(spread), shape)


def _unite_broadcast(equation: Equation) -> Pairs:
    x, result = equation.inputs[0].type, equation.outputs[0].type
    axes = equation.params["broadcast_dimensions"]
    return [((0, i), (1, j)) for i, j in enumerate(axes) if x.shape[i] != 1 or result.shape[j] == 1]


@kept
def _reshape_type(x: ArrayType, *, shape: Shape) -> ArrayType:
    """C2."""
    if math.prod(shape) != x.size:
        raise errors.ReshapeChangesSize(shape=x.shape, size=x.size, wanted=shape, wanted_size=math.prod(shape))
    return x.with_shape(shape)


def _reshape(x: Array, *, shape: Shape) -> Array:
    return np.reshape(x, shape)


@kept
def _transpose_type(x: ArrayType, *, permutation: Axes) -> ArrayType:
    """C2 and C3."""
    if sorted(permutation) != list(range(x.ndim)):
        raise errors.NotAPermutation(permutation=permutation, ndim=x.ndim)
    return x.with_shape(tuple([x.shape[i] for i in permutation]))


def _transpose(x: Array, *, permutation: Axes) -> Array:
    return np.transpose(x, permutation)


def _unite_transposed(equation: Equation) -> Pairs:
    return [((0, i), (1, j)) for j, i in enumerate(equation.params["permutation"])]


def _reverse_type(x: ArrayType, *, dimensions: Axes) -> ArrayType:
    """C2 and C3."""
    checked_axes("reverse", dimensions, x.ndim)
    return x


def _reverse(x: Array, *, dimensions: Axes) -> Array:
    return np.flip(x, dimensions)


def unite_first(equation: Equation) -> Pairs:
    """The first operand and the result have one shape."""
    last = len(equation.inputs)
    return [((0, i), (last, i)) for i in range(equation.inputs[0].type.ndim)]


def _concatenate_type(*xs: ArrayType, dimension: int) -> ArrayType:
    """C1 to C6."""
    if not xs:
        raise errors.NothingToConcatenate()
    dtype, first = same_dtype("concatenate", *xs), xs[0]
    checked_axes("concatenate", (dimension,), first.ndim)
    before, after = first.shape[:dimension], first.shape[dimension + 1 :]
    if any(x.shape[:dimension] != before or x.shape[dimension + 1 :] != after for x in xs):
        raise errors.ShapesDiffer(op=f"concatenate along {dimension}", shapes=" and ".join(str(x.shape) for x in xs))
    extent = sum(x.shape[dimension] for x in xs)
    return ArrayType((*before, extent, *after), dtype, all(x.weak_type for x in xs))


def _concatenate(*xs: Array, dimension: int) -> Array:
    return np.concatenate(xs, dimension)


def _unite_beside(equation: Equation) -> Pairs:
    dimension, last = equation.params["dimension"], len(equation.inputs)
    axes = [i for i in range(equation.outputs[0].type.ndim) if i != dimension]
    return [((k, i), (last, i)) for k in range(last) for i in axes]


def _pad_type(x: ArrayType, value: ArrayType, *, low: Axes, high: Axes, interior: Axes) -> ArrayType:
    """C1 to C4."""
    same_dtype("pad", x, value)
    if value.shape:
        raise errors.PaddingNotScalar(type=value)
    one_per_axis("pad", x.ndim, low=low, high=high, interior=interior)
    shape = tuple([n + a + b + max(n - 1, 0) * i for n, a, b, i in zip(x.shape, low, high, interior, strict=True)])
    if min(interior, default=0) < 0 or min(shape, default=0) < 0:
        raise errors.PaddingNegative(shape=x.shape, low=low, high=high, interior=interior)
    return ArrayType(shape, x.dtype, x.weak_type and value.weak_type)


def _pad(x: Array, value: Array, *, low: Axes, high: Axes, interior: Axes) -> Array:
    extents = [max(n + (n - 1) * i, 0) for n, i in zip(x.shape, interior, strict=True)]
    shape = [max(n, 0) + max(a, 0) + max(b, 0) for n, a, b in zip(extents, low, high, strict=True)]
    full = np.full(shape, value, x.dtype)
    full[tuple(slice(max(a, 0), max(a, 0) + n, i + 1) for a, n, i in zip(low, extents, interior, strict=True))] = x
    return full[tuple(slice(max(-a, 0), n - max(-b, 0)) for a, b, n in zip(low, high, shape, strict=True))]


@kept
def _slice_type(x: ArrayType, *, start_indices: Axes, limit_indices: Axes, strides: Axes) -> ArrayType:
    """C2 to C5."""
    one_per_axis("slice", x.ndim, start_indices=start_indices, limit_indices=limit_indices, strides=strides)
    parts = list(zip(start_indices, limit_indices, strides, strict=True))
    for (start, limit, stride), n in zip(parts, x.shape, strict=True):
        if not (0 <= start <= limit <= n and stride > 0):
            raise errors.SliceOutOfBounds(shape=x.shape, start=start_indices, limit=limit_indices, strides=strides)
    return x.with_shape(tuple([-((start - limit) // stride) for start, limit, stride in parts]))


def _slice(x: Array, *, start_indices: Axes, limit_indices: Axes, strides: Axes) -> Array:
    return x[tuple(map(slice, start_indices, limit_indices, strides))]


def _iota_type(*, shape: Shape, dtype: DType, dimension: int) -> ArrayType:
    """C1."""
    checked_axes("iota", (dimension,), len(shape))
    found = ArrayType(shape, dtype)
    require("iota", found, NUMBER)
    return found


def _iota(*, shape: Shape, dtype: DType, dimension: int) -> Array:
    counted = np.arange(shape[dimension]).astype(dtype)
    return _broadcast(counted, shape=shape, broadcast_dimensions=(dimension,))


broadcast_in_dim = Op(
    "broadcast_in_dim", _broadcast_type, _broadcast, unite=_unite_broadcast, numbers=("shape",), exact=True, kind="move"
)
reshape = Op("reshape", _reshape_type, _reshape, numbers=("shape",), exact=True, kind="move")
transpose = Op("transpose", _transpose_type, _transpose, unite=_unite_transposed, exact=True, kind="move")
reverse = Op("reverse", _reverse_type, _reverse, unite=unite_first, exact=True, kind="move")
concatenate = Op("concatenate", _concatenate_type, _concatenate, unite=_unite_beside, exact=True, kind="move")
pad = Op("pad", _pad_type, _pad, numbers=("low", "high"), exact=True, kind="move")
slice_ = Op("slice", _slice_type, _slice, numbers=("start_indices", "limit_indices"), exact=True, kind="move")
iota = Op("iota", _iota_type, _iota, numbers=("shape",), exact=True, kind="move")
