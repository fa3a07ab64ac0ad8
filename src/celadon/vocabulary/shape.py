"""Ops that move elements: broadcast, reshape, transpose, reverse, concatenate, pad, slice; and iota."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from celadon import errors
from celadon.op import Axis, Op, registry
from celadon.program import Equation, Var, fixed
from celadon.types import ArrayType, DType, Shape, bool_
from celadon.vocabulary.kinds import NUMBER, checked_axes, kept, like, one_per_axis, require, same_dtype

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


def _broadcast_back(ct: Any, x: Any, *, shape: Shape, broadcast_dimensions: Axes) -> Any:
    """The sum over what was repeated."""
    own = x.type.shape
    repeated = [j for i, j in enumerate(broadcast_dimensions) if own[i] == 1 and shape[j] != 1]
    new = [j for j in range(len(shape)) if j not in broadcast_dimensions]
    summed = registry["reduce_sum"](ct, axes=(*sorted(new + repeated),)) if new or repeated else ct
    kept_places = sorted(j for j in broadcast_dimensions if j not in repeated)
    order = [kept_places.index(j) for j in broadcast_dimensions if j not in repeated]
    if order != sorted(order):
        summed = transpose(summed, permutation=tuple(order))
    return reshape(summed, shape=own) if repeated else summed


def _transpose_back(ct: Any, x: Any, *, permutation: Axes) -> Any:
    return transpose(ct, permutation=tuple(permutation.index(i) for i in range(len(permutation))))


def _concatenate_back(ct: Any, operands: Sequence[Any], *, dimension: int) -> list[Any]:
    found: list[Any] = []
    start = 0
    for x in operands:
        extent = x.type.shape[dimension]
        found.append(_part(ct, dimension, start, start + extent) if type(x) is Var else None)
        start += extent
    return found


def _part(x: Any, axis: int, start: int, limit: int) -> Any:
    ndim = x.type.ndim
    starts = tuple(start if i == axis else 0 for i in range(ndim))
    limits = tuple(limit if i == axis else n for i, n in enumerate(x.type.shape))
    return slice_(x, start_indices=starts, limit_indices=limits, strides=(1,) * ndim)


def _pad_back(ct: Any, x: Any, value: Any, *, low: Axes, high: Axes, interior: Axes) -> Any:
    """The elements of the operand that are still there, zeros for those that were cut off."""
    zero, none = like(0, ct), (0,) * ct.type.ndim
    whole = pad(ct, zero, low=tuple(-n for n in low), high=tuple(-n for n in high), interior=none)
    if not any(interior):
        return whole
    steps = tuple(n + 1 for n in interior)
    return slice_(whole, start_indices=none, limit_indices=whole.type.shape, strides=steps)


def _pad_value_back(ct: Any, x: Any, value: Any, **padding: Axes) -> Any:
    sum_of, axes = registry["reduce_sum"], tuple(range(ct.type.ndim))
    inside = _pad_back(ct, x, value, **padding)
    return registry["subtract"](sum_of(ct, axes=axes), sum_of(inside, axes=axes))


def _slice_back(ct: Any, x: Any, *, start_indices: Axes, limit_indices: Axes, strides: Axes) -> Any:
    reached = [a + (n - 1) * s + 1 if n else a for a, n, s in zip(start_indices, ct.type.shape, strides, strict=True)]
    high = tuple(n - end for n, end in zip(x.type.shape, reached, strict=True))
    return pad(ct, like(0, ct), low=start_indices, high=high, interior=tuple(s - 1 for s in strides))


def inserted(values: Sequence[Any], axis: int, value: Any) -> tuple[Any, ...]:
    """Numbers of one member's axes with the one of the batch axis put in."""
    return (*values[:axis], value, *values[axis:])


def beside(axes: Sequence[int], batch: int) -> Axes:
    """The axes of one member, counted beside a batch axis."""
    return tuple([i + (i >= batch) for i in axes])


def _broadcast_batch(batch: Any, axes: Sequence[Any], values: Sequence[Any], *, shape: Shape, broadcast_dimensions: Axes) -> Any:
    [x], [i] = values, axes
    dimensions = inserted([j + 1 for j in broadcast_dimensions], i, 0)
    return broadcast_in_dim(x, shape=(batch.size, *shape), broadcast_dimensions=dimensions), 0


def _moved_front(x: Any, axis: int) -> Any:
    order = (axis, *(i for i in range(x.type.ndim) if i != axis))
    return transpose(x, permutation=order) if axis else x


def _reshape_batch(batch: Any, axes: Sequence[Any], values: Sequence[Any], *, shape: Shape) -> Any:
    return reshape(_moved_front(values[0], axes[0]), shape=(batch.size, *shape)), 0


def _transpose_batch(batch: Any, axes: Sequence[Any], values: Sequence[Any], *, permutation: Axes) -> Any:
    [x], [i] = values, axes
    return transpose(x, permutation=(i, *beside(permutation, i))), 0


def _reverse_batch(batch: Any, axes: Sequence[Any], values: Sequence[Any], *, dimensions: Axes) -> Any:
    return reverse(values[0], dimensions=beside(dimensions, axes[0])), axes[0]


def _concatenate_batch(batch: Any, axes: Sequence[Any], values: Sequence[Any], *, dimension: int) -> Any:
    whole = [in_front(x, i, batch.size) for x, i in zip(values, axes, strict=True)]
    return concatenate(*whole, dimension=dimension + 1), 0


def in_front(x: Any, axis: int | None, size: int) -> Any:
    """A value with its batch axis in front; one that all members share is repeated."""
    if axis is not None:
        return _moved_front(x, axis)
    return broadcast_in_dim(x, shape=(size, *x.type.shape), broadcast_dimensions=tuple(range(1, x.type.ndim + 1)))


def _pad_batch(batch: Any, axes: Sequence[Any], values: Sequence[Any], *, low: Axes, high: Axes, interior: Axes) -> Any:
    """A padding value that differs from member to member is selected by a mask of what is padding."""
    (x, value), (i, own) = values, axes
    x, i = (in_front(x, i, batch.size), 0) if own is not None else (x, i)
    widths = {"low": inserted(low, i, 0), "high": inserted(high, i, 0), "interior": inserted(interior, i, 0)}
    if own is None:
        return pad(x, value, **widths), i
    shape = x.type.shape
    ones = broadcast_in_dim(fixed(True, bool_), shape=shape, broadcast_dimensions=())
    mask = pad(ones, fixed(False, bool_), **widths)
    padded = pad(x, like(0, x), **widths)
    spread = broadcast_in_dim(value, shape=padded.type.shape, broadcast_dimensions=(0,))
    return registry["select"](mask, padded, spread), 0


def _slice_batch(
    batch: Any, axes: Sequence[Any], values: Sequence[Any], *, start_indices: Axes, limit_indices: Axes, strides: Axes
) -> Any:
    [x], [i] = values, axes
    starts, limits = inserted(start_indices, i, 0), inserted(limit_indices, i, batch.size)
    return slice_(x, start_indices=starts, limit_indices=limits, strides=inserted(strides, i, 1)), i


broadcast_in_dim = Op(
    "broadcast_in_dim", _broadcast_type, _broadcast, unite=_unite_broadcast, numbers=("shape",), exact=True, kind="move",
    tangent=("linear",), transpose=(_broadcast_back,), batch=_broadcast_batch,
)
reshape = Op(
    "reshape", _reshape_type, _reshape, numbers=("shape",), exact=True, kind="move",
    tangent=("linear",), transpose=(lambda ct, x, *, shape: reshape(ct, shape=x.type.shape),), batch=_reshape_batch,
)  # fmt: skip
transpose = Op(
    "transpose", _transpose_type, _transpose, unite=_unite_transposed, exact=True, kind="move",
    tangent=("linear",), transpose=(_transpose_back,), batch=_transpose_batch,
)  # fmt: skip
reverse = Op(
    "reverse", _reverse_type, _reverse, unite=unite_first, exact=True, kind="move",
    tangent=("linear",), transpose=(lambda ct, x, *, dimensions: reverse(ct, dimensions=dimensions),), batch=_reverse_batch,
)  # fmt: skip
concatenate = Op(
    "concatenate", _concatenate_type, _concatenate, unite=_unite_beside, exact=True, kind="move",
    tangent=("linear",), transpose=_concatenate_back, batch=_concatenate_batch,
)  # fmt: skip
pad = Op(
    "pad", _pad_type, _pad, numbers=("low", "high"), exact=True, kind="move",
    tangent=("linear",), transpose=(_pad_back, _pad_value_back), batch=_pad_batch,
)  # fmt: skip
slice_ = Op(
    "slice", _slice_type, _slice, numbers=("start_indices", "limit_indices"), exact=True, kind="move",
    tangent=("linear",), transpose=(_slice_back,), batch=_slice_batch,
)  # fmt: skip
iota = Op("iota", _iota_type, _iota, numbers=("shape",), exact=True, kind="move")
