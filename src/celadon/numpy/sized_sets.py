"""Sets of a given size: what `size` makes possible while tracing, where no value may decide a shape."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from celadon import vocabulary as ops
from celadon.array import as_array
from celadon.numpy.comparison import isnan, logical_and, logical_not, not_equal
from celadon.numpy.cumulative import cumsum, diff
from celadon.numpy.joining import concatenate
from celadon.numpy.ordering import isin, lexsort
from celadon.numpy.positions import nonzero
from celadon.numpy.promotion import converted, operand
from celadon.numpy.reductions import any as any_of, sum as sum_of
from celadon.numpy.selection import where
from celadon.numpy.shapes import moveaxis
from celadon.types import canonical, kind


class Parts(NamedTuple):
    """The different parts of an array in order, where each stands first, which of them each part is, how often each is."""

    values: Any
    indices: Any
    inverse: Any
    counts: Any


class Members(NamedTuple):
    """Some elements of a vector, where each stands first, and how many they are."""

    values: Any
    indices: Any
    count: Any


def unique_of_size(x: Any, axis: int, equal_nan: bool, size: int, fill: Any) -> Parts:
    """The first `size` different parts along an axis; after the last stands `fill` (None: the first part)."""
    rows = moveaxis(x, axis, 0)
    extent = rows.type.shape[0]
    if not rows.type.size:
        return _no_parts(rows, axis, size, fill)
    order = lexsort(tuple(ops.reshape(rows, shape=(extent, rows.type.size // extent)).T[::-1]))
    rows = rows[order]
    firsts = _starts(rows, equal_nan)
    places, borders = nonzero(firsts, size=size)[0], nonzero(firsts, size=size + 1, fill_value=extent)[0]
    inverse = order.at[order].set(cumsum(firsts) - 1)
    values = _filled(rows[places], sum_of(firsts), fill)
    return Parts(moveaxis(values, 0, axis), order[places], inverse, diff(borders))


def members_of_size(x: Any, kept: Any, size: int, fill: Any) -> Members:
    """The first `size` different elements of a vector where `kept`; after the last stands `fill` (None: the first one)."""
    if not x.type.size:
        return _nothing(x, size, fill)
    order = lexsort((x, logical_not(kept)))
    values = x[order]
    firsts = logical_and(kept[order], _starts(values, equal_nan=True))
    places, count = nonzero(firsts, size=size)[0], sum_of(firsts)
    found = where(count > 0, values[places], _zero(x))
    return Members(_filled(found, count, fill), order[places], count)


def elements_of_size(x: Any, kept: Any, size: int, fill: Any) -> Any:
    """The first `size` elements of a vector where `kept`, in their order; after the last stands `fill` (None: the first)."""
    if not x.type.size:
        return _nothing(x, size, fill).values
    count = sum_of(kept)
    found = where(count > 0, x[nonzero(kept, size=size)[0]], _zero(x))
    return _filled(found, count, fill)


def intersection_of_size(x: Any, y: Any, size: int, fill: Any) -> tuple[Any, Any, Any]:
    """What two vectors share, and where that stands first in each; indices after the last are the lengths of the vectors."""
    here, there = (members_of_size(a, isin(a, b), size, fill) for a, b in ((x, y), (y, x)))
    places = [_filled(m.indices, m.count, a.type.size) for m, a in ((here, x), (there, y))]
    return here.values, places[0], places[1]


def _starts(rows: Any, equal_nan: bool) -> Any:
    """Where a sorted part differs from the one before it."""
    after, before = rows[1:], rows[:-1]
    differs = not_equal(after, before)
    if equal_nan and kind(rows.type.dtype) in "fc":
        differs = logical_and(differs, logical_not(logical_and(isnan(after), isnan(before))))
    return concatenate([np.ones(1, bool), any_of(differs, tuple(range(1, rows.type.ndim)))])


def _filled(values: Any, count: Any, fill: Any) -> Any:
    if fill is None:
        return values
    shape = values.type.shape
    place = ops.iota(shape=shape, dtype=count.type.dtype, dimension=0)
    return where(place < count, values, converted(operand(fill), values.type.dtype))


def _zero(x: Any) -> Any:
    return converted(operand(0), x.type.dtype)


def _no_parts(rows: Any, axis: int, size: int, fill: Any) -> Parts:
    """What is found in an array without elements."""
    none = _nothing(rows, size, fill)
    shape = (size, *rows.type.shape[1:])
    values = ops.broadcast_in_dim(none.values, shape=shape, broadcast_dimensions=(0,))
    inverse = as_array(np.zeros(rows.type.shape[0], none.indices.type.dtype))
    return Parts(moveaxis(values, 0, axis), none.indices, inverse, none.indices)


def _nothing(x: Any, size: int, fill: Any) -> Members:
    """What is found in an empty vector."""
    index = canonical(np.int64)
    count = as_array(np.zeros((), index))
    places = as_array(np.zeros(size, index))
    return Members(_filled(converted(places, x.type.dtype), count, fill), places, count)
