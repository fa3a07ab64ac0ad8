"""Sorting, searching sorted arrays, and sets of elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from celadon import errors, vocabulary as ops
from celadon.array import as_array
from celadon.numpy.comparison import less, truth
from celadon.numpy.dtypes import requested
from celadon.numpy.elementwise import subtract
from celadon.numpy.joining import flip
from celadon.numpy.positions import concrete
from celadon.numpy.promotion import accept, array, axis_of, converted, operand, same
from celadon.numpy.reductions import any as any_of, sum as sum_of
from celadon.numpy.selection import chosen
from celadon.numpy.shapes import expanded, ravel
from celadon.program import fixed, literal
from celadon.types import canonical, kind as kind_of
from celadon.vocabulary.call import named


def sort(
    a: Any, axis: int | None = -1, *, kind: None = None, order: None = None, stable: bool = True, descending: bool = False
) -> Any:
    """The elements in order along an axis (None: in row order, as a vector); NaN comes last.

    >>> sort(np.array([3, 1, 2]))
    Array([1, 2, 3], dtype=int32)
    """
    _no_options("sort", kind, order)
    x, i = _on_axis("sort", a, axis)
    return _sort(x, axis=i, stable=stable, descending=descending)


@named("sort")
def _sort(x: Any, *, axis: int, stable: bool, descending: bool) -> Any:
    (found,) = ops.sort(x, dimension=axis, is_stable=stable, num_keys=1)
    return flip(found, axis) if descending else found


def argsort(
    a: Any, axis: int | None = -1, *, kind: None = None, order: None = None, stable: bool = True, descending: bool = False,
    dtype: Any = None,
) -> Any:  # fmt: skip
    """The indices that put the elements in order along an axis.

    >>> argsort(np.array([3, 1, 2]))
    Array([1, 2, 0], dtype=int32)
    """
    _no_options("argsort", kind, order)
    x, i = _on_axis("argsort", a, axis)
    return _argsort(x, axis=i, stable=stable, descending=descending, dtype=requested(dtype, np.int64))


@named("argsort")
def _argsort(x: Any, *, axis: int, stable: bool, descending: bool, dtype: Any) -> Any:
    index = ops.iota(shape=x.type.shape, dtype=dtype, dimension=axis)
    if descending:
        x, index = flip(x, axis), flip(index, axis)
    _, found = ops.sort(x, index, dimension=axis, is_stable=stable, num_keys=1)
    return flip(found, axis) if descending else found


def _no_options(function: str, kind: Any, order: Any) -> None:
    if kind is not None:
        raise errors.OptionUnknown(function=function, argument="kind", value=kind, allowed="None only; see stable")
    if order is not None:
        raise errors.OptionUnknown(function=function, argument="order", value=order, allowed="None only")


def _on_axis(function: str, a: Any, axis: int | None) -> tuple[Any, int]:
    x = array(a, function)
    if axis is None:
        return ravel(x), 0
    return x, axis_of(axis, x.type.ndim)


def lexsort(keys: Any, axis: int = -1) -> Any:
    """The indices that sort by several keys, the last one first.

    Args: keys: arrays of one shape.

    >>> lexsort((np.array([2, 1, 0]), np.array([0, 0, 1])))
    Array([1, 0, 2], dtype=int32)
    """
    given = [array(k, "lexsort") for k in keys]
    if not given:
        raise errors.NoArraysGiven(function="lexsort")
    shape = given[0].type.shape
    if any(k.type.shape != shape for k in given):
        raise errors.ShapesDiffer(op="lexsort", shapes=", ".join(str(k.type.shape) for k in given))
    if not shape:
        return as_array(np.zeros((), canonical(np.int64)))
    i = axis_of(axis, len(shape))
    index = ops.iota(shape=shape, dtype=canonical(np.int64), dimension=i)
    return ops.sort(*reversed(given), index, dimension=i, is_stable=True, num_keys=len(given))[-1]


def sort_complex(a: Any) -> Any:
    """The elements in order as complex numbers.

    >>> sort_complex(np.array([2, 1]))
    Array([1.+0.j, 2.+0.j], dtype=complex64)
    """
    x = array(a, "sort_complex")
    wanted = np.promote_types(x.type.dtype, np.complex64) if kind_of(x.type.dtype) in "fc" else np.dtype(np.complex64)
    return sort(converted(x, canonical(wanted)))


def partition(a: Any, kth: int, axis: int = -1) -> Any:
    """An array whose kth element along an axis stands where sorting puts it, none greater before, none less after.

    >>> int(partition(np.array([3, 1, 2]), 1)[1])
    2
    """
    _in_range("partition", a, kth, axis)
    return sort(a, axis)


def argpartition(a: Any, kth: int, axis: int = -1) -> Any:
    """The indices that partition an array.

    >>> int(argpartition(np.array([3, 1, 2]), 1)[1])
    2
    """
    _in_range("argpartition", a, kth, axis)
    return argsort(a, axis)


def _in_range(function: str, a: Any, kth: int, axis: int) -> None:
    shape = array(a, function).type.shape
    extent = shape[axis_of(axis, len(shape))]
    if not -extent <= kth < extent:
        raise errors.DimensionsUnfit(
            function=function, argument="kth", value=kth, shape=shape, reason="there is no such element along the axis"
        )


_SEARCHES = ("scan", "scan_unrolled", "sort", "compare_all")


def searchsorted(
    a: Any, v: Any, side: str = "left", sorter: Any = None, *, method: str = "scan"
) -> Any:
    """The index at which each element of v can be put into the sorted vector a.

    Args: side: "left" (before equal elements) or "right"; sorter: indices that sort a.

    >>> searchsorted(np.array([1, 3, 5]), np.array([0, 3, 9]))
    Array([0, 1, 3], dtype=int32)
    """
    if side not in ("left", "right"):
        raise errors.OptionUnknown(function="searchsorted", argument="side", value=side, allowed="'left' or 'right'")
    if method not in _SEARCHES:
        raise errors.OptionUnknown(
            function="searchsorted", argument="method", value=method, allowed=", ".join(_SEARCHES)
        )
    x = array(a, "searchsorted")
    if x.type.ndim != 1:
        raise errors.DimensionsUnfit(
            function="searchsorted", argument="a", value="an array", shape=x.type.shape, reason="a must be a vector"
        )
    x = x if sorter is None else x[array(sorter)]
    dtype, weak = _common(x, operand(v, "searchsorted"))
    return _searchsorted(converted(x, dtype, weak), converted(operand(v), dtype, weak), side=side)


def _common(x: Any, v: Any) -> tuple[Any, bool]:
    one = same("searchsorted", zero_like(x), zero_like(v))[0]
    return one.type.dtype, one.type.weak_type


def zero_like(x: Any) -> Any:
    return literal(0, x.type.dtype, x.type.weak_type)


@named("searchsorted")
def _searchsorted(a: Any, v: Any, *, side: str) -> Any:
    """By halving: as many steps as the extent has bits."""
    index, count = canonical(np.int32), a.type.shape[0]
    low = ops.broadcast_in_dim(fixed(0, index), shape=v.type.shape, broadcast_dimensions=())
    high = ops.broadcast_in_dim(literal(count, index), shape=v.type.shape, broadcast_dimensions=())
    for _ in range(count.bit_length()):
        middle = ops.shift_right_logical(ops.add(low, high), fixed(1, index))
        right = _precedes(a[middle], v, side)
        open_ = ops.compare(low, high, direction="LT")
        low = ops.select(ops.and_(open_, right), ops.add(middle, fixed(1, index)), low)
        high = ops.select(ops.and_(open_, ops.not_(right)), middle, high)
    return low


def _precedes(x: Any, v: Any, side: str) -> Any:
    """Whether x stands before the place of v; NaN is last."""
    found = x < v if side == "left" else x <= v
    if kind_of(v.type.dtype) not in "fc":
        return found
    nan_v, nan_x = v != v, x != x
    last = ops.and_(nan_v, ops.not_(nan_x))
    return ops.or_(ops.or_(found, last), ops.and_(nan_v, nan_x)) if side == "right" else ops.or_(found, last)


def digitize(x: Any, bins: Any, right: bool = False, *, method: str | None = None) -> Any:
    """The number of the bin, between sorted borders, in which each element lies.

    >>> digitize(np.array([0, 2, 9]), np.array([1, 5]))
    Array([0, 1, 2], dtype=int32)
    """
    borders = array(bins, "digitize")
    side = "left" if right else "right"
    rising = searchsorted(borders, x, side)
    if borders.type.size < 2:
        return rising
    falling = subtract(borders.type.size, searchsorted(flip(borders), x, side))
    return chosen(less(borders[-1], borders[0]), falling, rising)


def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *, method: str = "auto"
) -> Any:
    """Whether each element is one of the test elements.

    >>> isin(np.array([1, 2, 3]), np.array([2, 5]))
    Array([False,  True, False], dtype=bool)
    """
    x, tests = array(element, "isin"), ravel(array(test_elements, "isin"))
    rows = expanded(tests, tuple(range(x.type.ndim)))
    found = any_of(expanded(x, (x.type.ndim,)) == rows, -1) if tests.type.size else x != x
    return ops.not_(found) if invert else found


def bincount(
    x: Any, weights: Any = None, minlength: int = 0, *, length: int | None = None, out_sharding: Any = None
) -> Any:
    """How often each number 0, 1, 2 ... occurs in a vector, or the sum of the weights where it occurs.

    Args: length: of the result, needed while tracing; minlength: the least length of it.

    >>> bincount(np.array([0, 2, 2]))
    Array([1, 0, 2], dtype=int32)
    """
    found = array(x, "bincount")
    accept("bincount", found.type.dtype, "biu")
    if length is None:
        host = concrete(found, "bincount")
        length = max(int(host.max()) + 1 if host.size else 0, minlength)
    numbers = ops.iota(shape=(length,), dtype=canonical(np.int64), dimension=0)
    inside = ops.maximum(*same("bincount", found, 0))
    here = expanded(numbers, (1,)) == expanded(inside, (0,))
    if weights is None:
        return sum_of(here, 1)
    return sum_of(truth(here) * expanded(array(weights, "bincount"), (0,)), 1)
