"""Spread and order statistics: var, std, average, quantiles, medians, covariance."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from celadon import errors, vocabulary as ops
from celadon.numpy.comparison import isnan
from celadon.numpy.dtypes import requested
from celadon.numpy.elementwise import conj, multiply
from celadon.numpy.promotion import accept, array, axes_of, broadcasted, converted, inexact, no_out, operand, same
from celadon.numpy.reductions import any as any_of, counted, is_small_float, mean, sum as sum_of
from celadon.numpy.selection import chosen
from celadon.numpy.shapes import expanded, moveaxis, reshape
from celadon.program import Literal, fixed, literal
from celadon.types import ArrayType, DType, canonical, kind
from celadon.vocabulary.call import named
from celadon.vocabulary.kinds import real_dtype

Axes = tuple[int, ...]


def var(
    a: Any, axis: Any = None, dtype: Any = None, out: None = None, ddof: int = 0, keepdims: bool = False, *,
    where: Any = None, mean: Any = None, correction: Any = None,
) -> Any:  # fmt: skip
    """The mean of the squared distances from the mean; the divisor is the number of elements less ddof.

    Args: axis, dtype, keepdims, where as for mean; mean: the mean, if it is known; correction: another name of ddof.

    >>> var(np.array([1.0, 3.0], "float32"))
    Array(1., dtype=float32)
    """
    no_out("var", out)
    return _spread(_var, "var", a, (axis, dtype, keepdims), (_correction("var", ddof, correction), where, mean))


def std(
    a: Any, axis: Any = None, dtype: Any = None, out: None = None, ddof: int = 0, keepdims: bool = False, *,
    where: Any = None, mean: Any = None, correction: Any = None,
) -> Any:  # fmt: skip
    """The square root of var.

    >>> std(np.array([1.0, 3.0], "float32"))
    Array(1., dtype=float32)
    """
    no_out("std", out)
    return _spread(_std, "std", a, (axis, dtype, keepdims), (_correction("std", ddof, correction), where, mean))


def _correction(name: str, ddof: Any, correction: Any) -> Any:
    if correction is None:
        return ddof
    if not isinstance(ddof, int) or ddof != 0:
        raise errors.OptionsExclude(function=name, one="ddof", other="correction")
    return correction


def _spread(function: Any, name: str, a: Any, options: tuple[Any, ...], values: tuple[Any, ...]) -> Any:
    x = operand(a, name)
    axis, dtype, keepdims = options
    ddof, where, mean = values
    given = [operand(ddof), *[operand(v, name) for v in (where, mean) if v is not None]]
    return function(
        x, *given, axis=axes_of(axis, x.type.ndim), dtype=None if dtype is None else requested(dtype), keepdims=keepdims,
        has=(where is not None, mean is not None),
    )  # fmt: skip


@named("_std")
def _std(x: Any, *given: Any, axis: Axes, dtype: DType | None, keepdims: bool, has: tuple[bool, bool]) -> Any:
    return ops.sqrt(_var(x, *given, axis=axis, dtype=dtype, keepdims=keepdims, has=has))


@named("_var")
def _var(
    x: Any, ddof: Any, *given: Any, axis: Axes, dtype: DType | None, keepdims: bool, has: tuple[bool, bool]
) -> Any:
    where = given[0] if has[0] else None
    compute, wanted = _var_dtypes(x.type.dtype, dtype)
    x = converted(x, compute)
    center = given[-1] if has[1] else mean(x, axis, compute, keepdims=True, where=where)
    distance = ops.subtract(*same("var", x, converted(operand(center), compute)))
    squared = ops.square(distance) if kind(compute) != "c" else ops.real(ops.multiply(distance, conj(distance)))
    real = real_dtype(compute)
    divisor = ops.subtract(*same("var", counted(x, axis, where, real, keepdims), converted(ddof, real)))
    total = sum_of(squared, axis, real, keepdims=keepdims, where=where)
    found = converted(ops.divide(*same("var", total, divisor)), wanted)
    some = ops.compare(divisor, fixed(0, real), direction="GT")
    return chosen(some, found, weak_nan())


def weak_nan() -> Any:
    """NaN as a Python float is."""
    found = fixed(np.nan, canonical(np.float64))
    return Literal(found.value, ArrayType((), found.type.dtype, True), True)


def _var_dtypes(dtype: DType, wanted: DType | None) -> tuple[DType, DType]:
    """What to compute in, and the result's dtype."""
    found = dtype if kind(dtype) in "fc" else canonical(np.float64)
    if wanted is None:
        return np.dtype(np.float32) if is_small_float(found) else found, real_dtype(found)
    if kind(dtype) == "c" and kind(wanted) != "c":
        raise errors.DTypeNotAccepted(function="var", dtype=dtype, accepted=f"with dtype={wanted} real numbers")
    return (np.result_type(found, wanted) if kind(wanted) in "fc" and found.itemsize >= 4 else wanted), wanted


def average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, keepdims: bool = False
) -> Any:
    """The mean, each element counted as often as its weight says; with returned also the sum of the weights.

    Args: weights: of a's shape, or of the extents of the axes, in the order in which `axis` names them.

    >>> average(np.array([1.0, 3.0], "float32"), weights=np.array([3.0, 1.0], "float32"))
    Array(1.5, dtype=float32)
    """
    if weights is None:
        x = array(a, "average")
        found = mean(x, axis, keepdims=keepdims)
        count = literal(x.type.size // max(found.type.size, 1), found.type.dtype)
        return (found, broadcasted(count, found.type.shape)) if returned else found
    x, w = inexact("average", array(a, "average"), _weights(array(a, "average"), array(weights, "average"), axis))
    total = sum_of(w, axis, keepdims=keepdims)
    found = ops.divide(*same("average", sum_of(multiply(x, w), axis, keepdims=keepdims), total))
    return (found, broadcasted(total, found.type.shape)) if returned else found


def _weights(x: Any, weights: Any, axis: Any) -> Any:
    if weights.type.shape == x.type.shape:
        return weights
    axes = () if axis is None else axes_of(axis, x.type.ndim)
    if weights.type.shape != tuple(x.type.shape[i] for i in axes):
        raise errors.ShapesDiffer(op="average", shapes=f"{x.type.shape} and weights {weights.type.shape}")
    turned = ops.transpose(weights, permutation=tuple(np.argsort(axes).tolist()))
    return reshape(turned, tuple(n if k in axes else 1 for k, n in enumerate(x.type.shape)))


_METHODS = ("linear", "lower", "higher", "midpoint", "nearest")


def quantile(
    a: Any, q: Any, axis: Any = None, out: None = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """The value below which a part q (0 to 1) of the sorted elements lies; NaN if any element is.

    Args: q: a number or an array of them, whose axes come first in the result; method: "linear", "lower", "higher",
    "midpoint" or "nearest": what is taken between two elements.

    >>> quantile(np.array([1.0, 2.0, 4.0], "float32"), 0.25)
    Array(1.5, dtype=float32)
    """
    no_out("quantile", out)
    return _quantile_of("quantile", a, q, (axis, method, keepdims), weights)


def nanquantile(
    a: Any, q: Any, axis: Any = None, out: None = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """quantile of the elements that are not NaN.

    >>> nanquantile(np.array([1.0, np.nan, 2.0], "float32"), 0.5)
    Array(1.5, dtype=float32)
    """
    no_out("nanquantile", out)
    return _quantile_of("nanquantile", a, q, (axis, method, keepdims), weights)


def _quantile_of(name: str, a: Any, q: Any, options: tuple[Any, str, bool], weights: Any) -> Any:
    x, part = operand(a, name), operand(q, name)
    axis, method, keepdims = options
    if method not in _METHODS:
        raise errors.OptionUnknown(function=name, argument="method", value=method, allowed=", ".join(_METHODS))
    if weights is not None:
        raise errors.OptionUnknown(function=name, argument="weights", value="an array", allowed="None only")
    accept(name, x.type.dtype, "biuf")
    axes = axes_of(axis, x.type.ndim)
    if 0 in [x.type.shape[i] for i in axes]:
        raise errors.EmptyReduction(function=name, shape=x.type.shape, axes=axes)
    function = _quantile if name == "quantile" else _nanquantile
    return function(x, part, axis=axes, method=method, keepdims=keepdims)


@named("quantile")
def _quantile(x: Any, q: Any, *, axis: Axes, method: str, keepdims: bool) -> Any:
    rows, q = _rows(x, q, axis)
    undefined = any_of(isnan(rows), -1, keepdims=True)
    ordered = _sorted(chosen(undefined, weak_nan(), rows))
    last = literal(rows.type.shape[-1] - 1, q.type.dtype)
    low, high, weight = _between(q, last)
    found = [moveaxis(ordered[..., place], (*range(-q.type.ndim, 0),), (*range(q.type.ndim),)) for place in (low, high)]
    shape = q.type.shape + (1,) * (found[0].type.ndim - q.type.ndim)
    return _mixed(found, reshape(weight, shape), (x.type.dtype, axis, method, keepdims), q.type.ndim)


@named("nanquantile")
def _nanquantile(x: Any, q: Any, *, axis: Axes, method: str, keepdims: bool) -> Any:
    rows, q = _rows(x, q, axis)
    ordered = _sorted(chosen(isnan(rows), weak_nan(), rows))
    counts = sum_of(converted(ops.not_(isnan(ordered)), q.type.dtype), -1)
    q_shape = q.type.shape + (1,) * counts.type.ndim
    last = ops.maximum(ops.subtract(counts, fixed(1, q.type.dtype)), fixed(0, q.type.dtype))
    low, high, weight = _between(reshape(q, q_shape), last)
    found = [_along(ordered, place) for place in (low, high)]
    return _mixed(found, weight, (x.type.dtype, axis, method, keepdims), q.type.ndim)


def _along(ordered: Any, place: Any) -> Any:
    """ordered[..., place], for each row its own place: the one element of a row that stands there."""
    steps = ops.iota(shape=ordered.type.shape, dtype=place.type.dtype, dimension=ordered.type.ndim - 1)
    here = steps == expanded(place, (place.type.ndim,))
    return sum_of(chosen(here, ordered, fixed(0, ordered.type.dtype)), -1)


def _rows(x: Any, q: Any, axis: Axes) -> tuple[Any, Any]:
    """The array with the reduced axes merged into a last one, and q, in one float dtype."""
    (x,) = inexact("quantile", x)
    kept = [i for i in range(x.type.ndim) if i not in axis]
    moved = ops.transpose(x, permutation=(*kept, *axis)) if (*kept, *axis) != tuple(range(x.type.ndim)) else array(x)
    extents = [x.type.shape[i] for i in kept]
    count = math.prod(x.type.shape[i] for i in axis)
    return reshape(moved, (*extents, count)), converted(q, x.type.dtype)


def _sorted(x: Any) -> Any:
    (found,) = ops.sort(x, dimension=x.type.ndim - 1, is_stable=True, num_keys=1)
    return found


def _between(q: Any, last: Any) -> tuple[Any, Any, Any]:
    """The indices below and above the place q of `last` + 1 elements, and how far it lies between them."""
    place = multiply(q, last)
    low, high = ops.floor(place), ops.ceil(place)
    weight = ops.subtract(place, low)
    zero = fixed(0, place.type.dtype)
    whole = [ops.maximum(*same("quantile", zero, ops.minimum(*same("quantile", n, last)))) for n in (low, high)]
    index = canonical(np.int32)
    return converted(whole[0], index), converted(whole[1], index), weight


def _mixed(found: list[Any], weight: Any, how: tuple[Any, ...], q_ndim: int) -> Any:
    dtype, axis, method, keepdims = how
    low, high = found
    one = fixed(1, weight.type.dtype)
    if method == "linear":
        result = multiply(low, ops.subtract(one, weight)) + multiply(high, weight)
    elif method in ("lower", "higher"):
        result = low if method == "lower" else high
    elif method == "nearest":
        half = ops.compare(weight, literal(0.5, weight.type.dtype), direction="LE")
        result = chosen(half, low, high)
    else:
        result = multiply(low + high, literal(0.5, weight.type.dtype))
    wanted = dtype if kind(dtype) == "f" else canonical(np.float64)
    result = converted(result, wanted)
    return expanded(result, tuple(q_ndim + i for i in sorted(axis))) if keepdims else result


def percentile(
    a: Any, q: Any, axis: Any = None, out: None = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False, *, weights: Any = None, out_sharding: Any = None,
) -> Any:  # fmt: skip
    """quantile, with q in hundredths.

    >>> percentile(np.array([1.0, 2.0, 4.0], "float32"), 25.0)
    Array(1.5, dtype=float32)
    """
    (part,) = inexact("percentile", q)
    return quantile(a, ops.divide(part, literal(100, part.type.dtype)), axis, out, False, method, keepdims, weights=weights)


def nanpercentile(
    a: Any, q: Any, axis: Any = None, out: None = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """percentile of the elements that are not NaN.

    >>> nanpercentile(np.array([1.0, np.nan, 2.0], "float32"), 50.0)
    Array(1.5, dtype=float32)
    """
    (part,) = inexact("nanpercentile", q)
    part = ops.divide(part, literal(100, part.type.dtype))
    return nanquantile(a, part, axis, out, False, method, keepdims, weights=weights)


def median(a: Any, axis: Any = None, out: None = None, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    """The middle one of the sorted elements, or the mean of the middle two.

    >>> median(np.array([4.0, 1.0, 2.0, 3.0], "float32"))
    Array(2.5, dtype=float32)
    """
    no_out("median", out)
    x = operand(a, "median")
    return _median(x, axis=axes_of(axis, x.type.ndim), keepdims=keepdims)


@named("median")
def _median(x: Any, *, axis: Axes, keepdims: bool) -> Any:
    return quantile(x, 0.5, axis, method="midpoint", keepdims=keepdims)


def nanmedian(
    a: Any, axis: Any = None, out: None = None, overwrite_input: bool = False, keepdims: bool = False
) -> Any:
    """median of the elements that are not NaN.

    >>> nanmedian(np.array([4.0, np.nan, 2.0], "float32"))
    Array(3., dtype=float32)
    """
    no_out("nanmedian", out)
    x = operand(a, "nanmedian")
    return _nanmedian(x, axis=axes_of(axis, x.type.ndim), keepdims=keepdims)


@named("nanmedian")
def _nanmedian(x: Any, *, axis: Axes, keepdims: bool) -> Any:
    return nanquantile(x, 0.5, axis, method="midpoint", keepdims=keepdims)
