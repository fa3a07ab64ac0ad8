"""x[...] for reading: the key is sorted out into slices, scalars and index arrays, and slice, dynamic_slice or gather read."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from celadon import errors, vocabulary as ops
from celadon.array import Array, as_array
from celadon.numpy.creation import asarray
from celadon.numpy.promotion import array, broadcasted, common_shape, converted, operand
from celadon.numpy.shapes import expanded, squeezed
from celadon.program import Literal, literal
from celadon.tracing import Tracer, Value, active
from celadon.types import Shape, bool_, canonical, kind

_NEW = None
_FAR = (1 << 31) - 1  # no axis is longer where places are of 32 bits


@dataclass(frozen=True, slots=True)
class Range:
    """A slice of one axis, within its extent: places from start to before stop, `step` apart."""

    start: int
    stop: int
    step: int

    @property
    def count(self) -> int:
        return len(range(self.start, self.stop, self.step))

    @property
    def upwards(self) -> tuple[int, int]:
        """Where the same places start and end, from the lowest up."""
        if self.step > 0:
            return self.start, max(self.start, self.stop)
        if not self.count:
            return self.stop + 1, self.stop + 1
        return self.start + (self.count - 1) * self.step, self.start + 1


@dataclass(frozen=True, slots=True)
class Place:
    """One place of an axis, by a concrete number inside it."""

    index: int


@dataclass(frozen=True, slots=True)
class Computed:
    """One place of an axis for each element of an integer operand (of rank 0: one place)."""

    indices: Any


Item = Range | Place | Computed | None


def getitem(x: Any, key: Any) -> Any:
    """x[key]. A concrete place outside the axis, like a computed one, means the nearest inside; negative ones count back.

    Args: key: integers, slices, None, ..., integer or boolean arrays, or a tuple of these, in which lists are arrays.

    >>> getitem(as_array(np.array([[1, 2], [3, 4]])), (slice(None), 0))
    Array([1, 3], dtype=int32)
    """
    x, items, together = sorted_out(array(x), key)
    axes = [item for item in items if item is not _NEW]
    if not any(isinstance(item, Computed) for item in axes):
        return _static(x, items, axes)
    if any(isinstance(item, Computed) and item.indices.type.ndim for item in axes):
        return _gathered(x, items, together)
    return _sliced_at_run_time(x, items, axes)


def sorted_out(x: Any, key: Any, wrap: bool = True) -> tuple[Any, list[Item], bool]:
    """x, with new axes for masks without axes; one item for each of its axes and each new axis, in order; and whether
    no slice, None or ... stands between two indices.

    Masks become index arrays, ... becomes full slices; `wrap`: concrete negative numbers count from the back.
    """
    shape = x.type.shape
    entries = [_entry(_listed(part), shape) for part in key] if isinstance(key, tuple) else [_entry(key, shape)]
    indices = [i for i, e in enumerate(entries) if not (e is None or e is Ellipsis or isinstance(e, slice))]
    together = bool(indices) and indices[-1] - indices[0] == len(indices) - 1
    used = sum(_axes_of(e) for e in entries)
    dots = [i for i, e in enumerate(entries) if e is Ellipsis]
    if used > len(shape) or len(dots) > 1:
        raise errors.TooManyIndices(given=f"{used} indices" if used > len(shape) else "two ellipses (...)", shape=shape)
    rest = [slice(None)] * (len(shape) - used)
    place = dots[0] if dots else len(entries)
    entries[place : place + 1] = rest
    if any(isinstance(e, bool | np.bool_) for e in entries):
        x, entries = _with_scalar_masks(x, entries)
    return x, _resolved(entries, x.type.shape, wrap), together


def _resolved(entries: Sequence[Any], shape: Shape, wrap: bool) -> list[Item]:
    items: list[Item] = []
    axis = 0
    for entry in entries:
        if entry is None:
            items.append(_NEW)
            continue
        count = _axes_of(entry)
        part = shape[axis : axis + count]
        items.extend([_place(entry, part[0], wrap)] if isinstance(entry, int) else _axis_items(entry, part, shape))
        axis += count
    return items


def _place(entry: int, extent: int, wrap: bool) -> Item:
    place = entry + extent if entry < 0 and wrap else entry
    return Place(place) if 0 <= place < extent else Computed(literal(max(min(entry, _FAR), -_FAR), np.dtype(np.int32)))


def _with_scalar_masks(x: Any, entries: list[Any]) -> tuple[Any, list[Any]]:
    """True and False add an axis of extent 1 or 0: a new axis of x, read at place 0 or nowhere."""
    axis, axes, replaced = 0, list[int](), list[Any]()
    for entry in entries:
        if isinstance(entry, bool | np.bool_):
            axes.append(axis)
            replaced.append(as_array(np.zeros(int(entry), np.int32)))
            axis += 1
        else:
            replaced.append(entry)
            axis += _axes_of(entry)
    return expanded(x, axes), replaced


def _entry(part: Any, shape: Shape) -> Any:
    """A part of a key, checked: None, ..., a slice, a concrete int, a bool, or an integer or boolean operand."""
    if part is None or part is Ellipsis or isinstance(part, slice | bool | np.bool_):
        return part
    if isinstance(part, int | np.integer):
        return int(part)
    if not isinstance(part, Value | np.ndarray):
        part = _as_index(part)
    if isinstance(part, np.ndarray) and part.size == 0 and part.dtype == np.float64:
        part = part.astype(np.int32)
    found = part if type(part) is Array else as_array(part) if getattr(part, "dtype", None) == bool_ else operand(part)
    if found.type.dtype == bool_ and not isinstance(found, Literal):
        return _mask(found, shape)
    if kind(found.type.dtype) not in "iu":
        raise errors.IndexNotSupported(index=f"an array {found.type}")
    if not found.type.shape and (isinstance(found, Literal) or type(found) is Array):
        return int(found.value if isinstance(found, Literal) else found)
    return found


def _listed(part: Any) -> Any:
    """A list or tuple within a tuple is an array; alone, it would be taken for several dimensions by some and not by others."""
    return part if not isinstance(part, list | tuple) else asarray(part) if part else np.zeros(0, np.int32)


def _as_index(part: Any) -> Any:
    if hasattr(part, "__jax_array__") or hasattr(part, "__array__"):
        return as_array(part)
    if isinstance(part, list | str | float | complex | dict | set) or not hasattr(part, "__index__"):
        raise errors.IndexNotSupported(index=f"{part!r} of type {type(part).__name__}")
    return np.asarray(operator.index(part))


def _mask(found: Any, shape: Shape) -> Any:
    if type(found) is not Array:
        raise found.asked(errors.NonConcreteBooleanIndexError, shape=shape)
    return bool(found) if not found.type.shape else found


def _axes_of(entry: Any) -> int:
    """How many axes an entry takes."""
    if entry is None or entry is Ellipsis or isinstance(entry, bool | np.bool_):
        return 0
    return entry.type.ndim if isinstance(entry, Value) and entry.type.dtype == bool_ else 1


def _axis_items(entry: Any, extents: Shape, shape: Shape) -> list[Item]:
    if isinstance(entry, slice):
        return [_range(entry, extents[0], shape)]
    if entry.type.dtype != bool_:
        return [Computed(entry)]
    if entry.type.shape != extents:
        raise errors.BooleanIndexShape(mask=entry.type.shape, dimensions=extents)
    return [Computed(as_array(found.astype(np.int32))) for found in np.nonzero(entry.host)]


def _range(entry: slice, extent: int, shape: Shape) -> Range:
    places = [None if b is None else _bound(b, shape) for b in (entry.start, entry.stop, entry.step)]
    start, stop, step = slice(*places).indices(extent)
    return Range(start, stop, step)


def _bound(given: Any, shape: Shape) -> int:
    try:
        return operator.index(given)
    except TypeError:
        traced = isinstance(given, Tracer)
        bound, origin = (f"a traced {given.type}", f"; it {given.origin()}") if traced else (repr(given), "")
        raise errors.SliceTraced(shape=shape, bound=bound, origin=origin) from None


def _static(x: Any, items: list[Item], axes: Sequence[Any]) -> Any:
    x = _sliced(x, [Range(a.index, a.index + 1, 1) if isinstance(a, Place) else a for a in axes])
    x = squeezed(x, [i for i, a in enumerate(axes) if isinstance(a, Place)])
    return _with_new(x, [i is _NEW for i in items if not isinstance(i, Place)])


def _with_new(x: Any, new: Sequence[bool]) -> Any:
    return expanded(x, [i for i, is_new in enumerate(new) if is_new])


def _sliced(x: Any, ranges: Sequence[Range]) -> Any:
    """One range for each axis: a slice upwards, then turned round where a step is negative."""
    bounds = [r.upwards for r in ranges]
    starts, limits = tuple([start for start, _ in bounds]), tuple([limit for _, limit in bounds])
    strides = tuple([abs(r.step) for r in ranges])
    if limits != x.type.shape or any(starts) or any(s != 1 for s in strides):
        x = ops.slice_(x, start_indices=starts, limit_indices=limits, strides=strides)
    turned = tuple(i for i, r in enumerate(ranges) if r.step < 0)
    return ops.reverse(x, dimensions=turned) if turned else x


def _sliced_at_run_time(x: Any, items: list[Item], axes: Sequence[Any]) -> Any:
    """Computed single places among ranges: one dynamic slice, then turned round where a step is negative."""
    coarse = [a if isinstance(a, Range) and abs(a.step) > 1 else None for a in axes]
    if any(coarse):
        x = _sliced(x, [a or Range(0, n, 1) for a, n in zip(coarse, x.type.shape, strict=True)])
        axes = [Range(0, a.count, 1) if c else a for a, c in zip(axes, coarse, strict=True)]
    dtype = index_dtype(axes)
    starts = [_from_front(_start(a, dtype), n) for a, n in zip(axes, x.type.shape, strict=True)]
    sizes = tuple(a.count if isinstance(a, Range) else 1 for a in axes)
    if any(size > n for size, n in zip(sizes, x.type.shape, strict=True)):
        raise errors.DimensionsUnfit(
            function="indexing", argument="index", value="a place", shape=x.type.shape, reason="an axis has no elements"
        )
    x = ops.dynamic_slice(x, *starts, slice_sizes=sizes)
    turned = tuple(i for i, a in enumerate(axes) if isinstance(a, Range) and a.step < 0)
    x = ops.reverse(x, dimensions=turned) if turned else x
    x = squeezed(x, [i for i, a in enumerate(axes) if not isinstance(a, Range)])
    return _with_new(x, [i is _NEW for i in items if i is _NEW or isinstance(i, Range)])


def _start(item: Any, dtype: np.dtype[Any]) -> Any:
    if isinstance(item, Range):
        return literal(item.start if item.step > 0 else item.start - item.count + 1, dtype)
    return literal(item.index, dtype) if isinstance(item, Place) else converted(item.indices, dtype)


def index_dtype(items: Sequence[Any]) -> np.dtype[Any]:
    """The dtype that places are computed in: int64 only if one of them is of 64 bits or an unsigned one of 32."""
    types = [item.indices.type for item in items if isinstance(item, Computed)]
    wide = any(t.dtype.itemsize == 8 or t.dtype == np.uint32 for t in types)
    return canonical(np.int64) if wide else np.dtype(np.int32)


def _from_front(index: Any, extent: int) -> Any:
    """Negative places count from the back."""
    if kind(index.type.dtype) == "u":
        return index
    dtype = index.type.dtype
    negative = ops.compare(index, literal(0, dtype), direction="LT")
    return ops.select(negative, ops.add(index, literal(extent, dtype)), index)


def _gathered(x: Any, items: list[Item], together: bool) -> Any:
    """Index arrays: ranges are sliced first, then all other axes are read by one gather."""
    axes = [item for item in items if item is not _NEW]
    x = _sliced(x, [a if isinstance(a, Range) else Range(0, n, 1) for a, n in zip(axes, x.type.shape, strict=True)])
    computed = tuple(i for i, a in enumerate(axes) if not isinstance(a, Range))
    dtype = index_dtype(axes)
    indices = [normalised(axes[i], x.type.shape[i], dtype) for i in computed]
    batch = common_shape("indexing", *[i.type.shape for i in indices])
    layout = _layout(items, len(batch), together)
    offsets = tuple(i for i, name in enumerate(n for n in layout if n != "new") if name == "range")
    found = _gather(x, [broadcasted(i, batch) for i in indices], computed, offsets)
    return _with_new(found, [name == "new" for name in layout])


def normalised(item: Any, extent: int, dtype: np.dtype[Any]) -> Any:
    """A single index or index array as places of a dtype, negative ones counted from the back (concrete ones are so)."""
    if isinstance(item, Place):
        return literal(item.index, dtype)
    index = converted(item.indices, dtype)
    counted = isinstance(index, Literal) or kind(item.indices.type.dtype) == "u"
    return index if counted else _from_front(index, extent)


def _layout(items: list[Item], batch_ndim: int, together: bool) -> list[str]:
    """What each axis of the result is: new, a range, or one of the index arrays' (which stand together)."""
    names = ["new" if i is _NEW else "range" if isinstance(i, Range) else "index" for i in items]
    kept = [n for n in names if n != "index"]
    place = names.index("index") if together else 0
    return kept[:place] + ["index"] * batch_ndim + kept[place:]


def _gather(x: Any, indices: list[Any], computed: tuple[int, ...], offsets: tuple[int, ...]) -> Any:
    shape, batch = x.type.shape, indices[0].type.shape
    if 0 in batch or any(n == 0 for i, n in enumerate(shape) if i not in computed):
        return _nothing(x, batch, computed, offsets)
    if any(shape[i] == 0 for i in computed):
        raise errors.DimensionsUnfit(
            function="indexing", argument="index", value="an array", shape=shape, reason="an axis has no elements"
        )
    last = len(batch)
    vectors = [ops.broadcast_in_dim(i, shape=(*batch, 1), broadcast_dimensions=tuple(range(last))) for i in indices]
    joined = ops.concatenate(*vectors, dimension=last) if len(vectors) > 1 else vectors[0]
    sizes = tuple(1 if i in computed else n for i, n in enumerate(shape))
    return ops.gather(
        x, joined, offset_dims=offsets, collapsed_slice_dims=computed, start_index_map=computed, slice_sizes=sizes,
        mode="promise_in_bounds",
    )


def _nothing(x: Any, batch: Shape, computed: tuple[int, ...], offsets: tuple[int, ...]) -> Any:
    rest, places = iter(n for i, n in enumerate(x.type.shape) if i not in computed), iter(batch)
    total = len(batch) + len(offsets)
    shape = tuple(next(rest) if i in offsets else next(places) for i in range(total))
    return ops.broadcast_in_dim(literal(0, x.type.dtype, x.type.weak_type), shape=shape, broadcast_dimensions=())


def iterate(x: Any) -> Iterator[Any]:
    """The parts of x along its first axis; outside any trace they share a copy of its memory."""
    if type(x) is not Array or active() is not None:
        parts: Any = x
        return iter([parts[i] for i in range(len(parts))])
    part, host = x.type.with_shape(x.type.shape[1:]), np.array(x.host)
    return iter([Array(part, host=host[i, ...]) for i in range(len(x))])
