"""Arrays joined, split, repeated and turned around."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from celadon import errors, vocabulary as ops
from celadon.array import as_array
from celadon.numpy.dtypes import requested
from celadon.numpy.positions import concrete
from celadon.numpy.promotion import array, axes_of, axis_of, converted, no_out, operand
from celadon.numpy.shapes import atleast_1d, atleast_2d, atleast_3d, expanded, ravel, reshape, squeezed, transpose
from celadon.program import literal
from celadon.tracing import Tracer, Value
from celadon.types import result_type
from celadon.vocabulary.call import named


def _arrays(function: str, arrays: Any, dtype: Any = None) -> list[Any]:
    """The parts in their common dtype; an array stands for its rows."""
    if isinstance(arrays, Value | np.ndarray):
        parts = list(array(arrays))
    elif isinstance(arrays, tuple | list):
        parts = [array(x, function) for x in arrays]
    else:
        raise errors.NotAnArray(type=type(arrays).__name__)
    if not parts:
        raise errors.NoArraysGiven(function=function)
    found, weak = result_type([x.type for x in parts])
    found, weak = (requested(dtype), False) if dtype is not None else (found, weak)
    return [converted(x, found, weak) for x in parts]


def concatenate(arrays: Any, axis: int | None = 0, dtype: Any = None) -> Any:
    """Arrays joined along an axis that they have; None joins them as vectors.

    >>> concatenate([np.array([1, 2]), np.array([3])])
    Array([1, 2, 3], dtype=int32)
    """
    parts = _arrays("concatenate", arrays, dtype)
    if axis is None:
        return concatenate([ravel(x) for x in parts])
    if parts[0].type.ndim == 0:
        raise errors.DimensionsUnfit(
            function="concatenate", argument="arrays", value="scalars", shape=(), reason="a scalar has no axis; use stack"
        )
    dimension = axis_of(axis, parts[0].type.ndim)
    if len(parts) == 1:
        return parts[0]
    if any(x.type.ndim != parts[0].type.ndim for x in parts):
        raise errors.ShapesDiffer(op="concatenate", shapes=", ".join(str(x.type.shape) for x in parts))
    return ops.concatenate(*parts, dimension=dimension)


def concat(arrays: Sequence[Any], /, *, axis: int | None = 0) -> Any:
    """The same as concatenate.

    >>> concat([np.array([1, 2]), np.array([3])])
    Array([1, 2, 3], dtype=int32)
    """
    return concatenate(arrays, axis)


def stack(arrays: Any, axis: int = 0, out: None = None, dtype: Any = None) -> Any:
    """Arrays of one shape joined along a new axis.

    >>> stack([np.array([1, 2]), np.array([3, 4])])
    Array([[1, 2],
           [3, 4]], dtype=int32)
    """
    no_out("stack", out)
    parts = _arrays("stack", arrays, dtype)
    shapes = [x.type.shape for x in parts]
    if any(shape != shapes[0] for shape in shapes):
        raise errors.ShapesDiffer(op="stack", shapes=", ".join(map(str, shapes)))
    dimension = axis_of(axis, parts[0].type.ndim + 1)
    return ops.concatenate(*[expanded(x, (dimension,)) for x in parts], dimension=dimension)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """The arrays along an axis, each without it.

    >>> unstack(np.array([[1, 2], [3, 4]]))
    (Array([1, 2], dtype=int32), Array([3, 4], dtype=int32))
    """
    x = array(x, "unstack")
    if x.type.ndim == 0:
        raise errors.DimensionsUnfit(
            function="unstack", argument="x", value="a scalar", shape=(), reason="a scalar has no axis"
        )
    i = axis_of(axis, x.type.ndim)
    return tuple(squeezed(part(x, i, k, k + 1), (i,)) for k in range(x.type.shape[i]))


def part(x: Any, axis: int, start: int, stop: int) -> Any:
    """x from start to stop along an axis."""
    shape = x.type.shape
    starts = tuple(start if i == axis else 0 for i in range(len(shape)))
    limits = tuple(stop if i == axis else n for i, n in enumerate(shape))
    return ops.slice_(x, start_indices=starts, limit_indices=limits, strides=(1,) * len(shape))


def _rows(tup: Any) -> list[Any]:
    return list(array(tup)) if isinstance(tup, Value | np.ndarray) else list(tup)


def vstack(tup: Any, dtype: Any = None) -> Any:
    """Arrays joined along the first axis, vectors as rows.

    >>> vstack([np.array([1, 2]), np.array([3, 4])])
    Array([[1, 2],
           [3, 4]], dtype=int32)
    """
    return concatenate([atleast_2d(x) for x in _rows(tup)], 0, dtype)


def hstack(tup: Any, dtype: Any = None) -> Any:
    """Arrays joined along the second axis, vectors along their only one.

    >>> hstack([np.array([1, 2]), np.array([3])])
    Array([1, 2, 3], dtype=int32)
    """
    parts = [atleast_1d(x) for x in _rows(tup)]
    return concatenate(parts, 0 if parts and parts[0].type.ndim == 1 else 1, dtype)


def dstack(tup: Any, dtype: Any = None) -> Any:
    """Arrays joined along the third axis.

    >>> dstack([np.array([1, 2]), np.array([3, 4])]).shape
    (1, 2, 2)
    """
    return concatenate([atleast_3d(x) for x in _rows(tup)], 2, dtype)


def column_stack(tup: Any) -> Any:
    """Vectors as the columns of a matrix; matrices beside each other.

    >>> column_stack([np.array([1, 2]), np.array([3, 4])])
    Array([[1, 3],
           [2, 4]], dtype=int32)
    """
    parts = [array(x, "column_stack") for x in _rows(tup)]
    return concatenate([transpose(atleast_2d(x)) if x.type.ndim < 2 else x for x in parts], 1)


def block(arrays: Any) -> Any:
    """An array of blocks: innermost lists are joined along the last axis, the next along the one before, and so on.

    >>> block([np.array([1, 2]), np.array([3])])
    Array([1, 2, 3], dtype=int32)
    """
    return _blocks(arrays, _depth(arrays))[0]


def _depth(arrays: Any) -> int:
    return 1 + max((_depth(x) for x in arrays), default=0) if isinstance(arrays, list) else 0


def _blocks(arrays: Any, depth: int) -> tuple[Any, int]:
    if not isinstance(arrays, list):
        x = array(arrays, "block")
        return expanded(x, tuple(range(max(depth - x.type.ndim, 0)))), 1
    found = [_blocks(x, depth) for x in arrays]
    level = found[0][1]
    return concatenate([x for x, _ in found], -level), level + 1


def append(arr: Any, values: Any, axis: int | None = None) -> Any:
    """values joined behind arr along an axis, or both as vectors.

    >>> append(np.array([1, 2]), np.array([3]))
    Array([1, 2, 3], dtype=int32)
    """
    return _append(operand(arr, "append"), operand(values, "append"), axis=axis)


@named("append")
def _append(arr: Any, values: Any, *, axis: int | None) -> Any:
    return concatenate([arr, values], axis)


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """An array in parts along an axis: as equal as can be if a number of parts is given, or split at the given places.

    >>> array_split(np.array([1, 2, 3]), 2)
    [Array([1, 2], dtype=int32), Array([3], dtype=int32)]
    """
    x = array(ary, "array_split")
    i = axis_of(axis, x.type.ndim)
    extent = x.type.shape[i]
    borders = _borders(indices_or_sections, extent)
    return [part(x, i, a, b) for a, b in itertools.pairwise(borders)]


def _borders(indices_or_sections: Any, extent: int) -> list[int]:
    if isinstance(indices_or_sections, tuple | list) or getattr(indices_or_sections, "ndim", 0):
        places = [int(i) for i in np.asarray(indices_or_sections)]
        borders = [0, *[i + extent if i < 0 else i for i in places], extent]
        if borders != sorted(borders):
            raise errors.DimensionsUnfit(
                function="split", argument="indices_or_sections", value=places, shape=(extent,),
                reason="places must rise, and lie inside",
            )  # fmt: skip
        return borders
    count = int(indices_or_sections)
    if count <= 0:
        raise errors.OptionUnknown(
            function="split", argument="indices_or_sections", value=count, allowed="a number of parts above 0"
        )
    each, extra = divmod(extent, count)
    return [k * each + min(k, extra) for k in range(count + 1)]


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """An array in equal parts along an axis, or split at the given places.

    Raises SplitUneven where a number of parts does not divide the extent.

    >>> split(np.array([1, 2, 3, 4]), 2)
    [Array([1, 2], dtype=int32), Array([3, 4], dtype=int32)]
    """
    x = array(ary, "split")
    extent = x.type.shape[axis_of(axis, x.type.ndim)]
    whole = not isinstance(indices_or_sections, tuple | list) and not getattr(indices_or_sections, "ndim", 0)
    sections: Any = int(cast(Any, indices_or_sections)) if whole else 0
    if sections > 0 and extent % sections:
        raise errors.SplitUneven(extent=extent, sections=sections)
    return array_split(x, indices_or_sections, axis)


def vsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """split along the first axis.

    >>> len(vsplit(np.ones((2, 3)), 2))
    2
    """
    return split(ary, indices_or_sections, 0)


def hsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """split along the second axis, or the only one.

    >>> len(hsplit(np.ones((2, 3)), 3))
    3
    """
    x = array(ary, "hsplit")
    return split(x, indices_or_sections, 0 if x.type.ndim == 1 else 1)


def dsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """split along the third axis.

    >>> len(dsplit(np.ones((1, 2, 2)), 2))
    2
    """
    return split(ary, indices_or_sections, 2)


def tile(A: Any, reps: Any) -> Any:
    """An array repeated as a whole along each axis.

    >>> tile(np.array([1, 2]), 2)
    Array([1, 2, 1, 2], dtype=int32)
    """
    x = array(A, "tile")
    counts = tuple(int(n) for n in reps) if isinstance(reps, tuple | list | np.ndarray) else (int(reps),)
    ndim = max(len(counts), x.type.ndim)
    counts = (1,) * (ndim - len(counts)) + counts
    shape = (1,) * (ndim - x.type.ndim) + x.type.shape
    beside = tuple(n for extent in shape for n in (1, extent))
    spread = tuple(n for pair in zip(counts, shape, strict=True) for n in pair)
    x = ops.reshape(x, shape=beside)
    x = ops.broadcast_in_dim(x, shape=spread, broadcast_dimensions=tuple(range(2 * ndim)))
    return ops.reshape(x, shape=tuple(a * b for a, b in zip(counts, shape, strict=True)))


def repeat(
    a: Any, repeats: Any, axis: int | None = None, *, total_repeat_length: int | None = None, out_sharding: Any = None
) -> Any:
    """An array with each element repeated, along an axis or as a vector.

    Args: repeats: a number, or one for each element (concrete, or total_repeat_length says what they sum to).

    >>> repeat(np.array([1, 2]), 2)
    Array([1, 1, 2, 2], dtype=int32)
    """
    x = ravel(a) if axis is None else array(a, "repeat")
    if x.type.ndim == 0:
        x = reshape(x, (1,))
    i = axis_of(0 if axis is None else axis, x.type.ndim)
    if isinstance(repeats, Tracer) or (not isinstance(repeats, int) and np.shape(repeats) not in ((), (1,))):
        return _repeat_each(x, repeats, i, total_repeat_length)
    count = int(repeats) if isinstance(repeats, int) else int(np.asarray(repeats).reshape(()))
    found = _repeat_all(x, count, i)
    return found if total_repeat_length is None else part(found, i, 0, total_repeat_length)


def _repeat_all(x: Any, count: int, axis: int) -> Any:
    shape = x.type.shape
    kept = tuple(k + (k > axis) for k in range(len(shape)))
    spread = ops.broadcast_in_dim(
        x, shape=(*shape[: axis + 1], count, *shape[axis + 1 :]), broadcast_dimensions=kept
    )  # fmt: skip
    return ops.reshape(spread, shape=(*shape[:axis], shape[axis] * count, *shape[axis + 1 :]))


def _repeat_each(x: Any, repeats: Any, axis: int, total: int | None) -> Any:
    if total is not None:
        return x[(slice(None),) * axis + (_repeated_places(array(repeats), x.type.shape[axis], total),)]
    counts = np.broadcast_to(np.asarray(concrete(array(repeats), "repeat")), x.type.shape[axis : axis + 1])
    return x[(slice(None),) * axis + (as_array(np.repeat(np.arange(len(counts)), counts)),)]


def _repeated_places(counts: Any, extent: int, total: int) -> Any:
    """Which element stands at each of `total` places: as many as end at or before it; the last one past all."""
    index = np.dtype(np.int32)
    counts = ops.broadcast_in_dim(converted(counts, index), shape=(extent,), broadcast_dimensions=tuple(range(counts.type.ndim)))
    shape = (total, extent)
    ends = ops.broadcast_in_dim(ops.cumsum(counts, axis=0), shape=shape, broadcast_dimensions=(1,))
    passed = ops.compare(ends, ops.iota(shape=shape, dtype=index, dimension=0), direction="LE")
    places = ops.reduce_sum(converted(passed, index), axes=(1,))
    return ops.minimum(places, literal(extent - 1, index))


def flip(m: Any, axis: Any = None) -> Any:
    """An array with the order of its elements turned round along all axes, or the named ones.

    >>> flip(np.array([1, 2, 3]))
    Array([3, 2, 1], dtype=int32)
    """
    x = operand(m, "flip")
    return _flip(x, axes=axes_of(axis, x.type.ndim))


@named("_flip")
def _flip(x: Any, *, axes: tuple[int, ...]) -> Any:
    return ops.reverse(x, dimensions=axes)


def flipud(m: Any) -> Any:
    """flip along the first axis.

    >>> flipud(np.array([1, 2]))
    Array([2, 1], dtype=int32)
    """
    return flip(m, 0)


def fliplr(m: Any) -> Any:
    """flip along the second axis.

    >>> fliplr(np.array([[1, 2]]))
    Array([[2, 1]], dtype=int32)
    """
    return flip(m, 1)


def rot90(m: Any, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Any:
    """An array turned by k quarters of a circle in the plane of two axes, from the first to the second.

    >>> rot90(np.array([[1, 2], [3, 4]]))
    Array([[2, 4],
           [1, 3]], dtype=int32)
    """
    x = array(m, "rot90")
    return _rot90(x, k=k % 4, axes=axes_of(tuple(axes), x.type.ndim))


@named("rot90")
def _rot90(x: Any, *, k: int, axes: tuple[int, int]) -> Any:
    i, j = axes
    if k == 0:
        return array(x)
    if k == 2:
        return _flip(x, axes=(i, j))
    order = list(range(x.type.ndim))
    order[i], order[j] = order[j], order[i]
    if k == 1:
        return ops.transpose(_flip(x, axes=(j,)), permutation=tuple(order))
    return _flip(ops.transpose(x, permutation=tuple(order)), axes=(j,))


def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """An array with its elements moved along axes; those pushed out at the end come in at the front.

    Args: shift: an integer, or one for each axis (traced ones too); axis: None moves the elements as a vector.

    >>> roll(np.array([1, 2, 3]), 1)
    Array([3, 1, 2], dtype=int32)
    """
    x = array(a, "roll")
    if axis is None:
        return reshape(roll(ravel(x), shift, 0), x.type.shape)
    axes = axes_of(axis, x.type.ndim)
    shifts = list(shift) if isinstance(shift, tuple | list) or getattr(shift, "ndim", 0) else [shift] * len(axes)
    if len(shifts) == 1:
        shifts *= len(axes)
    for i, by in zip(axes, shifts, strict=True):
        x = _roll_static(x, by=int(by), axis=i) if _concrete(by) else _roll_traced(x, by, i)
    return x


def _concrete(x: Any) -> bool:
    return isinstance(x, int | np.integer) or type(x).__name__ == "Array" or isinstance(x, np.ndarray)


def _roll_static(x: Any, *, by: int, axis: int) -> Any:
    extent = x.type.shape[axis]
    place = -by % extent if extent else 0
    return _rolled(x, place=place, axis=axis) if place else x


@named("_roll_static")
def _rolled(x: Any, *, place: int, axis: int) -> Any:
    extent = x.type.shape[axis]
    return ops.concatenate(part(x, axis, place, extent), part(x, axis, 0, place), dimension=axis)


def _roll_traced(x: Any, by: Any, axis: int) -> Any:
    """Two copies side by side, and a window that starts where the shift says."""
    extent = x.type.shape[axis]
    if not extent:
        return x
    start = -operand(by) % extent
    doubled = ops.concatenate(x, x, dimension=axis)
    zero = start - start
    starts = [start if i == axis else zero for i in range(x.type.ndim)]
    return ops.dynamic_slice(doubled, *starts, slice_sizes=x.type.shape)


def resize(a: Any, new_shape: Any) -> Any:
    """The elements of a, repeated as often as a shape needs.

    >>> resize(np.array([1, 2]), (3,))
    Array([1, 2, 1], dtype=int32)
    """
    shape = (int(new_shape),) if isinstance(new_shape, int) else tuple(int(n) for n in new_shape)
    x = ravel(a)
    total = math.prod(shape)
    if not x.type.size:
        return ops.broadcast_in_dim(operand(0, "resize"), shape=shape, broadcast_dimensions=()).astype(x.type.dtype)
    return reshape(part(tile(x, -(-total // x.type.size)), 0, 0, total), shape)
