"""Running sums, products and differences along an axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from celadon import errors, vocabulary as ops
from celadon.numpy.comparison import isnan, not_equal
from celadon.numpy.creation import filled
from celadon.numpy.dtypes import requested
from celadon.numpy.elementwise import subtract
from celadon.numpy.joining import concatenate, part
from celadon.numpy.promotion import accept, array, axis_of, broadcasted, converted, inexact, no_out, operand
from celadon.numpy.reductions import sum as sum_of
from celadon.numpy.selection import chosen
from celadon.numpy.shapes import expanded, ravel
from celadon.program import fixed, literal
from celadon.types import bool_, canonical, kind
from celadon.vocabulary.call import named


def cumsum(a: Any, axis: int | None = None, dtype: Any = None, out: None = None) -> Any:
    """The sums of ever more elements along an axis, or of all in row order.

    >>> cumsum(np.array([1, 2, 3]))
    Array([1, 3, 6], dtype=int32)
    """
    no_out("cumsum", out)
    return _cumsum(operand(a, "cumsum"), axis=axis, dtype=None if dtype is None else requested(dtype))


def cumprod(a: Any, axis: int | None = None, dtype: Any = None, out: None = None) -> Any:
    """The products of ever more elements along an axis, or of all in row order.

    >>> cumprod(np.array([1, 2, 3]))
    Array([1, 2, 6], dtype=int32)
    """
    no_out("cumprod", out)
    return _cumprod(operand(a, "cumprod"), axis=axis, dtype=None if dtype is None else requested(dtype))


def nancumsum(a: Any, axis: int | None = None, dtype: Any = None, out: None = None) -> Any:
    """cumsum with 0 in place of NaN.

    >>> nancumsum(np.array([1.0, np.nan], "float32"))
    Array([1., 1.], dtype=float32)
    """
    no_out("nancumsum", out)
    return _nancumsum(operand(a, "nancumsum"), axis=axis, dtype=None if dtype is None else requested(dtype))


def nancumprod(a: Any, axis: int | None = None, dtype: Any = None, out: None = None) -> Any:
    """cumprod with 1 in place of NaN.

    >>> nancumprod(np.array([2.0, np.nan], "float32"))
    Array([2., 2.], dtype=float32)
    """
    no_out("nancumprod", out)
    return _nancumprod(operand(a, "nancumprod"), axis=axis, dtype=None if dtype is None else requested(dtype))


@named("cumsum")
def _cumsum(x: Any, *, axis: int | None, dtype: Any) -> Any:
    return _running(ops.cumsum, x, axis, dtype)


@named("cumprod")
def _cumprod(x: Any, *, axis: int | None, dtype: Any) -> Any:
    return _running(ops.cumprod, x, axis, dtype)


@named("nancumsum")
def _nancumsum(x: Any, *, axis: int | None, dtype: Any) -> Any:
    return _running(ops.cumsum, _without_nan(x, 0), axis, dtype)


@named("nancumprod")
def _nancumprod(x: Any, *, axis: int | None, dtype: Any) -> Any:
    return _running(ops.cumprod, _without_nan(x, 1), axis, dtype)


def _without_nan(x: Any, value: int) -> Any:
    return chosen(isnan(x), fixed(value, x.type.dtype), x) if kind(x.type.dtype) in "fc" else x


def _running(op: Any, x: Any, axis: int | None, dtype: Any) -> Any:
    x = array(x)
    if axis is None or x.type.ndim == 0:
        x = ops.reshape(x, shape=(x.type.size,))
        axis = 0
    i = axis_of(axis, x.type.ndim)
    wanted = dtype or (canonical(np.int64) if x.type.dtype == bool_ else x.type.dtype)
    if wanted == bool_:
        return converted(op(converted(converted(x, bool_), canonical(np.int64)), axis=i, reverse=False), bool_)
    return op(converted(x, wanted), axis=i, reverse=False)


def cumulative_sum(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    """cumsum, small integers in the default integer; include_initial puts a 0 in front.

    >>> cumulative_sum(np.array([1, 2, 3]), include_initial=True)
    Array([0, 1, 3, 6], dtype=int32)
    """
    return _array_api("cumulative_sum", _cumsum, 0, x, (axis, dtype, include_initial))


def cumulative_prod(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    """cumprod, small integers in the default integer; include_initial puts a 1 in front.

    >>> cumulative_prod(np.array([1, 2, 3]))
    Array([1, 2, 6], dtype=int32)
    """
    return _array_api("cumulative_prod", _cumprod, 1, x, (axis, dtype, include_initial))


def _array_api(name: str, function: Any, start: int, x: Any, options: tuple[Any, ...]) -> Any:
    axis, dtype, include_initial = options
    found = array(x, name)
    if found.type.ndim == 0 or (axis is None and found.type.ndim != 1):
        raise errors.DimensionsUnfit(
            function=name, argument="axis", value=axis, shape=found.type.shape, reason="only a vector needs no axis"
        )
    i = axis_of(0 if axis is None else axis, found.type.ndim)
    result = function(found, axis=i, dtype=None if dtype is None else requested(dtype))
    if not include_initial:
        return result
    shape = tuple(1 if k == i else n for k, n in enumerate(result.type.shape))
    return ops.concatenate(filled(shape, fixed(start, result.type.dtype)), result, dimension=i)


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """The differences of neighbours along an axis, taken n times.

    Args: prepend, append: put before and after a first (scalars as one element).

    >>> diff(np.array([1, 4, 9]))
    Array([3, 5], dtype=int32)
    """
    x = array(a, "diff")
    if n < 0:
        raise errors.OptionUnknown(function="diff", argument="n", value=n, allowed="numbers of at least 0")
    if not x.type.ndim:
        raise errors.DimensionsUnfit(
            function="diff", argument="a", value="a scalar", shape=(), reason="a scalar has no neighbours"
        )
    if n == 0:
        return x
    i = axis_of(axis, x.type.ndim)
    given = [operand(v, "diff") for v in (prepend, append) if v is not None]
    return _diff(x, *given, n=n, axis=i, has=(prepend is not None, append is not None))


@named("diff")
def _diff(x: Any, *given: Any, n: int, axis: int, has: tuple[bool, bool]) -> Any:
    parts = [x]
    if has[0]:
        parts.insert(0, _slab(given[0], x, axis))
    if has[1]:
        parts.append(_slab(given[-1], x, axis))
    x = concatenate(parts, axis) if len(parts) > 1 else x
    for _ in range(n):
        extent = x.type.shape[axis]
        later, sooner = part(x, axis, min(1, extent), extent), part(x, axis, 0, max(extent - 1, 0))
        x = not_equal(later, sooner) if x.type.dtype == bool_ else subtract(later, sooner)
    return x


def _slab(value: Any, x: Any, axis: int) -> Any:
    if value.type.ndim:
        return value
    return broadcasted(value, tuple(1 if i == axis else n for i, n in enumerate(x.type.shape)))


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """The differences of neighbours in row order, with to_begin before and to_end after them.

    >>> ediff1d(np.array([1, 4, 9]))
    Array([3, 5], dtype=int32)
    """
    x = ravel(ary)
    found = diff(x)
    ends = [None if e is None else converted(ravel(e), x.type.dtype) for e in (to_begin, to_end)]
    parts = [p for p in (ends[0], found, ends[1]) if p is not None]
    return concatenate(parts) if len(parts) > 1 else found


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int | None = None) -> Any:
    """The slope along each axis: half the difference of both neighbours, at the ends the difference to the only one.

    Args: varargs: the spacing, one number or one for each axis; axis: an axis or several.

    >>> gradient(np.array([1.0, 2.0, 4.0], "float32"))
    Array([1. , 1.5, 2. ], dtype=float32)
    """
    (x,) = inexact("gradient", array(f, "gradient"))
    if edge_order not in (None, 1):
        raise errors.OptionUnknown(function="gradient", argument="edge_order", value=edge_order, allowed="1")
    axes = range(x.type.ndim) if axis is None else axis if isinstance(axis, tuple | list) else (axis,)
    places = [axis_of(i, x.type.ndim) for i in axes]
    steps = list(varargs) * len(places) if len(varargs) == 1 else list(varargs) or [1.0] * len(places)
    if len(steps) != len(places):
        raise errors.ArgumentCount(function="gradient", wanted=len(places), given=len(steps))
    found = [_slope(x, i, h) for i, h in zip(places, steps, strict=True)]
    return found[0] if len(found) == 1 and not isinstance(axis, tuple | list) else found


def _slope(x: Any, axis: int, step: Any) -> Any:
    extent = x.type.shape[axis]
    if extent < 2:
        raise errors.DimensionsUnfit(
            function="gradient", argument="f", value="an array", shape=x.type.shape, reason="two elements are needed"
        )
    h = operand(step, "gradient")
    if h.type.ndim:
        return _uneven_slope(x, axis, h)
    first = part(x, axis, 1, 2) - part(x, axis, 0, 1)
    last = part(x, axis, extent - 1, extent) - part(x, axis, extent - 2, extent - 1)
    middle = (part(x, axis, 2, extent) - part(x, axis, 0, extent - 2)) * 0.5
    return ops.concatenate(first, middle, last, dimension=axis) / h


def _uneven_slope(x: Any, axis: int, places: Any) -> Any:
    extent = x.type.shape[axis]
    h = converted(diff(places), x.type.dtype)
    h = expanded(h, tuple(i for i in range(x.type.ndim) if i != axis))
    change = diff(x, axis=axis) / h
    before, after = part(h, axis, 0, extent - 2), part(h, axis, 1, extent - 1)
    left, right = part(change, axis, 0, extent - 2), part(change, axis, 1, extent - 1)
    middle = (left * after + right * before) / (before + after)
    ends = part(change, axis, 0, 1), part(change, axis, extent - 2, extent - 1)
    return ops.concatenate(ends[0], middle, ends[1], dimension=axis)


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """The integral along an axis by the trapezoidal rule; x holds the places, or dx the distance between them.

    >>> trapezoid(np.array([1.0, 2.0, 3.0], "float32"))
    Array(4., dtype=float32)
    """
    given = inexact("trapezoid", array(y, "trapezoid"))[0]
    i = axis_of(axis, given.type.ndim)
    extent = given.type.shape[i]
    if x is None:
        (distance,) = inexact("trapezoid", dx)
    else:
        distance = diff(array(x, "trapezoid"), axis=i if np.ndim(x) > 1 else 0)
        if distance.type.ndim == 1:
            distance = expanded(distance, tuple(k for k in range(given.type.ndim) if k != i))
    pairs = part(given, i, 1, extent) + part(given, i, 0, extent - 1)
    return sum_of(distance * pairs, i) * 0.5


def unwrap(p: Any, discont: Any = None, axis: int = -1, period: Any = 2 * np.pi) -> Any:
    """p with multiples of the period added, so that neighbours along an axis differ by at most half a period.

    >>> unwrap(np.array([0.0, 3.0, 6.0], "float32"), period=4.0)
    Array([ 0., -1., -2.], dtype=float32)
    """
    x = array(p, "unwrap")
    accept("unwrap", x.type.dtype, "biuf")
    i = axis_of(axis, x.type.ndim)
    x = x + 0 * period
    half = period / 2 if kind(x.type.dtype) == "f" else period // 2
    change = diff(x, axis=i)
    wrapped = (change + half) % period - half
    wrapped = chosen(ops.and_(wrapped == -half, change > 0), literal(half, x.type.dtype), wrapped)
    correction = wrapped - change
    limit = half if discont is None else discont
    correction = chosen(abs(change) < limit, fixed(0, x.type.dtype), correction)
    rest = part(x, i, 1, x.type.shape[i]) + cumsum(correction, axis=i)
    return ops.concatenate(part(x, i, 0, 1), rest, dimension=i)
