"""Reductions over axes: sums, products, extremes, truth, counts, and the places of extremes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from celadon import errors, vocabulary as ops
from celadon.facade import Lazy
from celadon.numpy.dtypes import requested
from celadon.numpy.elementwise import add, maximum, minimum, multiply
from celadon.numpy.promotion import accept, array, axes_of, axis_of, converted, no_out, operand
from celadon.numpy.shapes import broadcast_to, expanded, ravel
from celadon.program import fixed, literal
from celadon.types import DType, bool_, canonical, kind
from celadon.vocabulary.call import named
from celadon.vocabulary.reduce import highest, lowest

if TYPE_CHECKING:
    from celadon.numpy import selection
else:
    selection = Lazy("celadon.numpy.selection")

Axes = tuple[int, ...]
_SMALL_FLOATS = 2


class Reduction(NamedTuple):
    """How one reduction works: its op, what nothing reduces to, how an initial value joins, and its dtypes."""

    name: str
    op: Callable[..., Any]
    nothing: Callable[[DType], Any] | None
    join: Callable[..., Any]
    adds: bool = False


class Options(NamedTuple):
    """The arguments that all reductions share."""

    axis: Any = None
    dtype: Any = None
    keepdims: bool = False
    initial: Any = None
    where: Any = None


def reduced(reduction: Reduction, a: Any, options: Options, promote: bool = True) -> Any:
    """One reduction of an array."""
    x = array(a, reduction.name)
    axes = axes_of(options.axis, x.type.ndim)
    result_dtype, compute = _dtypes(reduction, x.type.dtype, options.dtype, promote)
    if options.initial is None and options.where is None:
        _require_elements(reduction, x, axes)
    x = converted(x, compute)
    if options.where is not None:
        x = _masked(reduction, x, options)
    found = reduction.op(x, axes=axes)
    if options.initial is not None:
        found = reduction.join(converted(_scalar(reduction.name, options.initial), compute), found)
    if options.keepdims:
        found = expanded(found, axes)
    return converted(found, result_dtype)


def _dtypes(reduction: Reduction, dtype: DType, wanted: Any, promote: bool) -> tuple[DType, DType]:
    """The result's dtype and the one to compute in."""
    if wanted is not None:
        found = requested(wanted)
        return found, found
    if not reduction.adds:
        return dtype, dtype
    if promote and kind(dtype) in "biu":
        dtype = summed_dtype(dtype)
    elif dtype == bool_:
        dtype = canonical(np.int64)
    return dtype, np.dtype(np.float32) if is_small_float(dtype) else dtype


def is_small_float(dtype: DType) -> bool:
    return kind(dtype) == "f" and dtype.itemsize <= _SMALL_FLOATS


def summed_dtype(dtype: DType) -> DType:
    """Integers narrower than the default are summed in the default of their kind."""
    default = canonical(np.uint64 if kind(dtype) == "u" else np.int64)
    return dtype if dtype.itemsize >= default.itemsize and dtype != bool_ else default


def _require_elements(reduction: Reduction, x: Any, axes: Axes) -> None:
    if reduction.nothing is None and 0 in [x.type.shape[i] for i in axes]:
        raise errors.EmptyReduction(function=reduction.name, shape=x.type.shape, axes=axes)


def _masked(reduction: Reduction, x: Any, options: Options) -> Any:
    if reduction.nothing is None and options.initial is None:
        raise errors.InitialMissing(function=reduction.name)
    dtype, mask = x.type.dtype, operand(options.where, reduction.name)
    accept(f"the argument where of {reduction.name}", mask.type.dtype, "b")
    nothing = reduction.nothing(dtype) if reduction.nothing else _LIMITS[reduction.name](dtype)
    return selection.chosen(mask, x, fixed(nothing, dtype))


def _scalar(name: str, initial: Any) -> Any:
    found = operand(initial, name)
    if found.type.shape:
        reason = "it is the value of no element, a scalar"
        raise errors.DimensionsUnfit(function=name, argument="initial", value="an array", shape=found.type.shape, reason=reason)
    return found


_LIMITS: dict[str, Callable[[DType], Any]] = {"max": lowest, "min": highest}
_SUM = Reduction("sum", lambda x, axes: ops.reduce_sum(x, axes=axes), lambda dtype: 0, add, adds=True)
_PROD = Reduction("prod", lambda x, axes: ops.reduce_prod(x, axes=axes), lambda dtype: 1, multiply, adds=True)
_MAX = Reduction("max", lambda x, axes: ops.reduce_max(x, axes=axes), None, maximum)
_MIN = Reduction("min", lambda x, axes: ops.reduce_min(x, axes=axes), None, minimum)
_ALL = Reduction("all", lambda x, axes: ops.reduce_and(x, axes=axes), lambda dtype: True, multiply)
_ANY = Reduction("any", lambda x, axes: ops.reduce_or(x, axes=axes), lambda dtype: False, add)


def sum(
    a: Any, axis: Any = None, dtype: Any = None, out: None = None, keepdims: bool = False, initial: Any = None,
    where: Any = None, promote_integers: bool = True,
) -> Any:  # fmt: skip
    """The sum of the elements over all axes, or the named ones.

    Args: axis: an axis or a tuple; dtype: to sum in (by default that of a, small integers as the default integer);
    keepdims: leave extents of 1; initial: added to the sum; where: which elements count.

    >>> sum(np.array([[1, 2], [3, 4]]), axis=0)
    Array([4, 6], dtype=int32)
    """
    no_out("sum", out)
    return reduced(_SUM, a, Options(axis, dtype, keepdims, initial, where), promote_integers)


def prod(
    a: Any, axis: Any = None, dtype: Any = None, out: None = None, keepdims: bool = False, initial: Any = None,
    where: Any = None, promote_integers: bool = True,
) -> Any:  # fmt: skip
    """The product of the elements over all axes, or the named ones; arguments as for sum.

    >>> prod(np.array([2, 3, 4]))
    Array(24, dtype=int32)
    """
    no_out("prod", out)
    return reduced(_PROD, a, Options(axis, dtype, keepdims, initial, where), promote_integers)


def max(
    a: Any, axis: Any = None, out: None = None, keepdims: bool = False, initial: Any = None, where: Any = None
) -> Any:
    """The largest element over all axes, or the named ones; NaN if there is one. Of nothing it needs initial.

    >>> max(np.array([2, 7, 4]))
    Array(7, dtype=int32)
    """
    no_out("max", out)
    return reduced(_MAX, a, Options(axis, None, keepdims, initial, where))


def min(
    a: Any, axis: Any = None, out: None = None, keepdims: bool = False, initial: Any = None, where: Any = None
) -> Any:
    """The smallest element over all axes, or the named ones; NaN if there is one. Of nothing it needs initial.

    >>> min(np.array([2, 7, 4]))
    Array(2, dtype=int32)
    """
    no_out("min", out)
    return reduced(_MIN, a, Options(axis, None, keepdims, initial, where))


def amax(
    a: Any, axis: Any = None, out: None = None, keepdims: bool = False, initial: Any = None, where: Any = None
) -> Any:
    """The same as max.

    >>> amax(np.array([2, 7, 4]))
    Array(7, dtype=int32)
    """
    return max(a, axis, out, keepdims, initial, where)


def amin(
    a: Any, axis: Any = None, out: None = None, keepdims: bool = False, initial: Any = None, where: Any = None
) -> Any:
    """The same as min.

    >>> amin(np.array([2, 7, 4]))
    Array(2, dtype=int32)
    """
    return min(a, axis, out, keepdims, initial, where)


def all(a: Any, axis: Any = None, out: None = None, keepdims: bool = False, *, where: Any = None) -> Any:
    """Whether all elements are true (not zero), over all axes or the named ones.

    >>> all(np.array([True, False]))
    Array(False, dtype=bool)
    """
    no_out("all", out)
    return reduced(_ALL, converted(operand(a, "all"), bool_), Options(axis, None, keepdims, None, where))


def any(a: Any, axis: Any = None, out: None = None, keepdims: bool = False, *, where: Any = None) -> Any:
    """Whether any element is true (not zero), over all axes or the named ones.

    >>> any(np.array([True, False]))
    Array(True, dtype=bool)
    """
    no_out("any", out)
    return reduced(_ANY, converted(operand(a, "any"), bool_), Options(axis, None, keepdims, None, where))


def ptp(a: Any, axis: Any = None, out: None = None, keepdims: bool = False) -> Any:
    """The largest element less the smallest, over all axes or the named ones.

    >>> ptp(np.array([2, 7, 4]))
    Array(5, dtype=int32)
    """
    no_out("ptp", out)
    x = operand(a, "ptp")
    return _ptp(x, axis=axes_of(axis, x.type.ndim), keepdims=keepdims)


@named("_ptp")
def _ptp(x: Any, *, axis: Axes, keepdims: bool) -> Any:
    return ops.subtract(max(x, axis, keepdims=keepdims), min(x, axis, keepdims=keepdims))


def count_nonzero(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The number of elements that are not zero, over all axes or the named ones.

    >>> count_nonzero(np.array([2, 0, 4]))
    Array(2, dtype=int32)
    """
    x = operand(a, "count_nonzero")
    return _count_nonzero(x, axis=axes_of(axis, x.type.ndim), keepdims=keepdims)


@named("count_nonzero")
def _count_nonzero(x: Any, *, axis: Axes, keepdims: bool) -> Any:
    true = ops.compare(x, fixed(0, x.type.dtype), direction="NE")
    return sum(true, axis, canonical(np.int64), keepdims=keepdims)


def argmax(a: Any, axis: int | None = None, out: None = None, keepdims: bool | None = None) -> Any:
    """The index of the first largest element, along an axis, or in row order; the first NaN counts as largest.

    >>> argmax(np.array([2, 7, 4]))
    Array(1, dtype=int32)
    """
    no_out("argmax", out)
    return _place_of("argmax", ops.argmax, a, axis, keepdims)


def argmin(a: Any, axis: int | None = None, out: None = None, keepdims: bool | None = None) -> Any:
    """The index of the first smallest element, along an axis, or in row order; the first NaN counts as smallest.

    >>> argmin(np.array([2, 7, 4]))
    Array(0, dtype=int32)
    """
    no_out("argmin", out)
    return _place_of("argmin", ops.argmin, a, axis, keepdims)


def _place_of(name: str, op: Any, a: Any, axis: int | None, keepdims: bool | None) -> Any:
    x = array(a, name)
    accept(name, x.type.dtype, "biuf")
    ndim = x.type.ndim
    i = 0 if axis is None else axis_of(axis, ndim)
    if axis is None:
        x = ravel(x) if ndim != 1 else x
    if x.type.shape[i] == 0:
        raise errors.EmptyReduction(function=name, shape=x.type.shape, axes=(i,))
    found = op(x, axes=(i,), index_dtype=canonical(np.int64))
    if not keepdims:
        return found
    return expanded(found, tuple(range(ndim)) if axis is None else (i,))


def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: None = None, keepdims: bool = False, *, where: Any = None
) -> Any:
    """The arithmetic mean over all axes, or the named ones; of integers as a float.

    >>> mean(np.array([1, 2, 6]))
    Array(3., dtype=float32)
    """
    no_out("mean", out)
    x = array(a, "mean")
    wanted = requested(dtype) if dtype is not None else _mean_dtype(x.type.dtype)
    compute = np.dtype(np.float32) if dtype is None and is_small_float(wanted) else wanted
    axes = axes_of(axis, x.type.ndim)
    count = counted(x, axes, where, compute, keepdims)
    if x.type.dtype == bool_:
        x = converted(x, canonical(np.int64))
    total = reduced(_SUM, x, Options(axes, compute, keepdims, None, where))
    return converted(ops.divide(total, count), wanted)


def _mean_dtype(dtype: DType) -> DType:
    return canonical(np.float64) if kind(dtype) in "biu" else dtype


def counted(x: Any, axes: Axes, where: Any, dtype: DType, keepdims: bool) -> Any:
    """How many elements are reduced: a literal, or the sum of a mask."""
    if where is None:
        return literal_count(x, axes, dtype)
    accept("the argument where of mean", operand(where).type.dtype, "b")
    mask = converted(broadcast_to(where, x.type.shape), canonical(np.int64))
    return reduced(_SUM, mask, Options(axes, dtype, keepdims))


def literal_count(x: Any, axes: Axes, dtype: DType) -> Any:
    """The number of elements reduced, as a literal."""
    return literal(math.prod(x.type.shape[i] for i in axes), dtype)
