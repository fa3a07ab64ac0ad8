"""Sorted-out keys in, index vectors and dimension numbers out: what one gather reads, or one scatter writes, of x[key]."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from celadon import errors, vocabulary as ops
from celadon.numpy.indexing import Computed, Item, Place, Range, index_dtype, normalised, sorted_out
from celadon.numpy.promotion import broadcasted, common_shape, converted, operand
from celadon.program import literal
from celadon.types import Shape

Axes = tuple[int, ...]
_NOWHERE = np.zeros(0, np.int32)


@dataclass(slots=True)
class Address:
    """Which parts of an array a key means.

    array: with new axes for the key's masks without axes; parts: the shape of x[key]; new: axes of it that None made;
    turned: axes of it, without the new ones, that are walked backwards; vectors: one operand for each axis that is
    indexed, and the batch axis at which its own axes begin; batch: the extents of what is not walked by slices.
    The other fields are named as parameters of gather.
    """

    array: Any
    distinct: bool
    parts: list[int] = field(default_factory=list[int])
    new: list[int] = field(default_factory=list[int])
    turned: list[int] = field(default_factory=list[int])
    batch: list[int] = field(default_factory=list[int])
    vectors: list[tuple[Any, int]] = field(default_factory=list[tuple[Any, int]])
    offset_dims: list[int] = field(default_factory=list[int])
    collapsed_slice_dims: list[int] = field(default_factory=list[int])
    start_index_map: list[int] = field(default_factory=list[int])
    slice_sizes: list[int] = field(default_factory=list[int])

    @property
    def kept(self) -> Shape:
        """The shape of the parts without new axes."""
        return tuple([n for i, n in enumerate(self.parts) if i not in self.new])

    @property
    def is_empty(self) -> bool:
        return 0 in self.parts

    def indices(self) -> Any:
        """The index vectors, along the last axis."""
        if not self.vectors:
            return operand(_NOWHERE)
        if len(self.vectors) == 1:
            [(index, _)] = self.vectors
            shape = (*index.type.shape, 1)
            return ops.broadcast_in_dim(index, shape=shape, broadcast_dimensions=tuple(range(index.type.ndim)))
        shape = (*self.batch, 1)
        columns = [
            ops.broadcast_in_dim(index, shape=shape, broadcast_dimensions=tuple(range(at, at + index.type.ndim)))
            for index, at in self.vectors
        ]
        return ops.concatenate(*columns, dimension=len(self.batch))


def address(x: Any, key: Any, wrap: bool = True) -> Address:
    """The address of x[key]; `wrap`: negative places count from the back. Ranges with a step of 1 are windows."""
    x, items, together = sorted_out(x, key, wrap)
    arrays = [item for item in items if isinstance(item, Computed) and item.indices.type.ndim]
    work = _Work(x, items, wrap, bool(arrays))
    if arrays and not together:
        work.arrays()
    for item in items:
        if not isinstance(item, Place | Computed):
            work.take(item)
        elif not arrays:
            work.single(item)
        elif together:
            work.arrays()
        if item is not None:
            work.axis += 1
    return work.found


class _Work:
    """An address under construction: the axis of the array that comes next, and whether the index arrays were met."""

    def __init__(self, x: Any, items: list[Item], wrap: bool, advanced: bool):
        self.found = Address(x, not advanced)
        self.axes = [item for item in items if item is not None]
        self.wrap, self.axis, self.met = wrap, 0, False
        self.dtype = index_dtype(self.axes)
        self.normal = {i: self._normal(i, advanced) for i, item in enumerate(self.axes) if not isinstance(item, Range)}
        self.found.slice_sizes = [item.count if isinstance(item, Range) else 1 for item in self.axes]
        self.found.collapsed_slice_dims = [i for i, item in enumerate(self.axes) if not _is_window(item)]

    def _normal(self, axis: int, advanced: bool) -> Any:
        item, extent = self.axes[axis], self.found.array.type.shape[axis]
        if isinstance(item, Place) and advanced:
            return literal(item.index, self.dtype, True)
        if isinstance(item, Computed) and not self.wrap:
            return converted(item.indices, self.dtype)
        return normalised(item, extent, self.dtype)

    def take(self, item: Range | None) -> None:
        found, place = self.found, len(self.found.parts)
        found.parts.append(1 if item is None else item.count)
        if item is None:
            found.new.append(place)
        elif _is_window(item):
            self._window(item, place - len(found.new))
        else:
            self._steps(item, place - len(found.new))

    def _window(self, item: Range, place: int) -> None:
        found = self.found
        found.offset_dims.append(place)
        if item.count != found.array.type.shape[self.axis]:
            self._mapped(literal(item.start, self.dtype))

    def _steps(self, item: Range, place: int) -> None:
        """A range with another step: each of its places is an index, from the first in memory on."""
        found = self.found
        found.slice_sizes[self.axis] = 1
        start, step = literal(item.start, self.dtype), literal(item.step, self.dtype)
        index = ops.add(start, ops.multiply(step, ops.iota(shape=(item.count,), dtype=self.dtype, dimension=0)))
        if item.step < 0:
            found.turned.append(place)
            index = ops.reverse(index, dimensions=(0,))
        self._mapped(index)
        found.batch.append(item.count)

    def _mapped(self, index: Any) -> None:
        self.found.vectors.append((index, len(self.found.batch)))
        self.found.start_index_map.append(self.axis)

    def single(self, item: Place | Computed) -> None:
        if not self.found.array.type.shape[self.axis]:
            raise errors.DimensionsUnfit(
                function="indexing", argument="index", value="a place", shape=self.found.array.type.shape,
                reason="an axis has no elements",
            )  # fmt: skip
        self._mapped(self.normal[self.axis])

    def arrays(self) -> None:
        """All single indices and index arrays, broadcast together."""
        if self.met:
            return
        self.met = True
        found, at = self.found, len(self.found.batch)
        batch = common_shape("indexing", *[index.type.shape for index in self.normal.values()])
        spread = [broadcasted(index, batch) for index in self.normal.values()]
        found.vectors.extend((converted(index, self.dtype), at) for index in spread)
        found.start_index_map.extend(self.normal)
        found.batch.extend(batch)
        found.parts.extend(batch)


def _is_window(item: Item) -> bool:
    return isinstance(item, Range) and item.step == 1
