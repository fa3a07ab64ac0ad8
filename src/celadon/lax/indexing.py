"""jax.lax's functions that take and put parts of an array at traced places, under JAX's names."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from celadon import errors, vocabulary as ops
from celadon.numpy import joining, shapes
from celadon.numpy.promotion import array, axes_of, axis_of, converted, operand, shape_from
from celadon.program import Literal, literal
from celadon.types import canonical, kind
from celadon.vocabulary.call import named


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
        """The mode of a name ("clip", "fill", "drop", "promise_in_bounds", "one_hot"), of None, or of itself."""
        if isinstance(s, GatherScatterMode):
            return s
        found = {"clip": 0, "fill": 1, "drop": 1, "promise_in_bounds": 2, "one_hot": 3, None: 1}.get(s)
        if found is None:
            raise errors.OptionUnknown(
                function="GatherScatterMode", argument="mode", value=s, allowed="clip, fill, drop, promise_in_bounds or one_hot"
            )
        return GatherScatterMode(found)


def _number(x: Any) -> Any:
    return operand(x, "lax")


def _starts(x: Any, start_indices: Any, allow_negative: Any) -> list[Any]:
    """The starts as scalars of one dtype; negative ones count from the back where that is allowed."""
    given = _each(start_indices)
    if len(given) != x.type.ndim:
        raise errors.DimensionsUnfit(
            function="lax.dynamic_slice", argument="start_indices", value=f"{len(given)} numbers", shape=x.type.shape,
            reason="one is needed for each axis",
        )  # fmt: skip
    values = [_number(v) for v in given]
    dtype = max((v.type.dtype for v in values if not v.type.weak_type), key=lambda d: d.itemsize, default=canonical("int64"))
    allowed = allow_negative if isinstance(allow_negative, tuple | list) else [allow_negative] * len(values)
    return [_start(v, n, dtype, a) for v, n, a in zip(values, x.type.shape, allowed, strict=True)]


def _each(start_indices: Any) -> list[Any]:
    """The numbers in a tuple, list or vector."""
    if isinstance(start_indices, tuple | list | np.ndarray):
        return list(start_indices)
    vector = array(start_indices)
    if vector.type.ndim != 1:
        return list(vector)
    return [shapes.squeezed(joining.part(vector, 0, i, i + 1), (0,)) for i in range(vector.type.shape[0])]


def _start(value: Any, extent: int, dtype: Any, allow_negative: bool) -> Any:
    value = value if value.type.dtype == dtype else converted(value, dtype)
    if not allow_negative or kind(dtype) == "u":
        return value
    if type(value) is Literal:
        return literal(int(value.value) + extent * bool(value.value < 0), dtype)
    negative = ops.compare(value, literal(0, dtype), direction="LT")
    return ops.select(negative, ops.add(converted(value, dtype), literal(extent, dtype)), value)


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
    index = _number(start)
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
    i = axis_of(axis, x.type.ndim)
    return _taken(x, _scalar(index), axis=i, keepdims=bool(keepdims), negative=bool(allow_negative_indices))


def _scalar(index: Any) -> Any:
    """A place as what a private function takes: scalars of Python stay what they are."""
    return index if isinstance(index, int) else array(index)


@named("dynamic_index_in_dim")
def _taken(x: Any, index: Any, *, axis: int, keepdims: bool, negative: bool) -> Any:
    found = dynamic_slice_in_dim(x, index, 1, axis, allow_negative_indices=negative)
    return found if keepdims else shapes.squeezed(found, (axis,))


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
    return _replaced(x, part, _scalar(index), axis=i, negative=bool(allow_negative_indices))


@named("dynamic_update_index_in_dim")
def _replaced(x: Any, part: Any, index: Any, *, axis: int, negative: bool) -> Any:
    part = part if part.type.ndim == x.type.ndim else shapes.expanded(part, (axis,))
    return dynamic_update_slice_in_dim(x, part, index, axis, allow_negative_indices=negative)


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
        mode="fill" if fills else found.name.lower(), fill_value=fill_value if fills else None,
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
