"""Reductions that leave NaN out."""

from __future__ import annotations

from typing import Any

import numpy as np

from celadon import vocabulary as ops
from celadon.numpy import reductions
from celadon.numpy.comparison import isnan
from celadon.numpy.elementwise import conj
from celadon.numpy.promotion import accept, axes_of, converted, no_out, operand, same
from celadon.numpy.selection import chosen
from celadon.program import fixed
from celadon.types import DType, canonical, kind
from celadon.vocabulary.call import named
from celadon.vocabulary.kinds import real_dtype

Axes = tuple[int, ...]


def _reduced(name: str, a: Any, nothing: float, options: tuple[Any, ...]) -> Any:
    x = operand(a, name)
    axis, dtype, keepdims, initial, where = options
    given = [operand(v, name) for v in (initial, where) if v is not None]
    return _REDUCED[name](
        x, *given, axis=axes_of(axis, x.type.ndim), dtype=None if dtype is None else str(np.dtype(dtype)),
        keepdims=keepdims, nothing=nothing, has=(initial is not None, where is not None),
    )  # fmt: skip




def _make(name: str, reduce: Any, extreme: bool) -> Any:
    @named(name)
    def function(
        x: Any, *given: Any, axis: Axes, dtype: Any, keepdims: bool, nothing: float, has: tuple[bool, bool]
    ) -> Any:
        initial, where = (given[0] if has[0] else None), (given[-1] if has[1] else None)
        options: dict[str, Any] = {"keepdims": keepdims, "initial": initial, "where": where}
        if not extreme:
            options["dtype"] = dtype
        if kind(x.type.dtype) not in "fc":
            return reduce(x, axis, **options)
        absent = isnan(x)
        found = reduce(chosen(absent, fixed(nothing, x.type.dtype), x), axis, **options)
        if not extreme or initial is not None:
            return found
        none = reductions.all(absent, axis, keepdims=keepdims)
        return chosen(none, fixed(np.nan, x.type.dtype), found)

    return function


_REDUCED: dict[str, Any] = {
    "nansum": _make("nansum", reductions.sum, False), "nanprod": _make("nanprod", reductions.prod, False),
    "nanmax": _make("nanmax", reductions.max, True), "nanmin": _make("nanmin", reductions.min, True),
}  # fmt: skip


def nansum(
    a: Any, axis: Any = None, dtype: Any = None, out: None = None, keepdims: bool = False, initial: Any = None,
    where: Any = None,
) -> Any:  # fmt: skip
    """sum of the elements that are not NaN.

    >>> nansum(np.array([1.0, np.nan], "float32"))
    Array(1., dtype=float32)
    """
    no_out("nansum", out)
    return _reduced("nansum", a, 0, (axis, dtype, keepdims, initial, where))


def nanprod(
    a: Any, axis: Any = None, dtype: Any = None, out: None = None, keepdims: bool = False, initial: Any = None,
    where: Any = None,
) -> Any:  # fmt: skip
    """prod of the elements that are not NaN.

    >>> nanprod(np.array([2.0, np.nan], "float32"))
    Array(2., dtype=float32)
    """
    no_out("nanprod", out)
    return _reduced("nanprod", a, 1, (axis, dtype, keepdims, initial, where))


def nanmax(
    a: Any, axis: Any = None, out: None = None, keepdims: bool = False, initial: Any = None, where: Any = None
) -> Any:
    """max of the elements that are not NaN; NaN if there are none.

    >>> nanmax(np.array([2.0, np.nan], "float32"))
    Array(2., dtype=float32)
    """
    no_out("nanmax", out)
    return _reduced("nanmax", a, -np.inf, (axis, None, keepdims, initial, where))


def nanmin(
    a: Any, axis: Any = None, out: None = None, keepdims: bool = False, initial: Any = None, where: Any = None
) -> Any:
    """min of the elements that are not NaN; NaN if there are none.

    >>> nanmin(np.array([2.0, np.nan], "float32"))
    Array(2., dtype=float32)
    """
    no_out("nanmin", out)
    return _reduced("nanmin", a, np.inf, (axis, None, keepdims, initial, where))


def nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: None = None, keepdims: bool = False, where: Any = None
) -> Any:
    """mean of the elements that are not NaN.

    >>> nanmean(np.array([2.0, np.nan], "float32"))
    Array(2., dtype=float32)
    """
    no_out("nanmean", out)
    x = operand(a, "nanmean")
    if kind(x.type.dtype) not in "fc":
        return reductions.mean(x, axis, dtype, out, keepdims, where=where)
    given = [] if where is None else [operand(where, "nanmean")]
    return _nanmean(x, *given, axis=axes_of(axis, x.type.ndim), dtype=dtype, keepdims=keepdims)


@named("nanmean")
def _nanmean(x: Any, *where: Any, axis: Axes, dtype: Any, keepdims: bool) -> Any:
    wanted = np.dtype(dtype) if dtype is not None else x.type.dtype
    mask = where[0] if where else None
    present = converted(ops.not_(isnan(x)), canonical(np.int64))
    count = reductions.sum(present, axis, wanted, keepdims=keepdims, where=mask)
    return ops.divide(*same("nanmean", nansum(x, axis, wanted, keepdims=keepdims, where=mask), count))


def nanvar(
    a: Any, axis: Any = None, dtype: Any = None, out: None = None, ddof: int = 0, keepdims: bool = False,
    where: Any = None, mean: Any = None,
) -> Any:  # fmt: skip
    """var of the elements that are not NaN.

    >>> nanvar(np.array([1.0, np.nan, 3.0], "float32"))
    Array(1., dtype=float32)
    """
    no_out("nanvar", out)
    return _spread(_nanvar, a, (axis, dtype, ddof, keepdims), (where, mean))


def nanstd(
    a: Any, axis: Any = None, dtype: Any = None, out: None = None, ddof: int = 0, keepdims: bool = False,
    where: Any = None, mean: Any = None,
) -> Any:  # fmt: skip
    """std of the elements that are not NaN.

    >>> nanstd(np.array([1.0, np.nan, 3.0], "float32"))
    Array(1., dtype=float32)
    """
    no_out("nanstd", out)
    return _spread(_nanstd, a, (axis, dtype, ddof, keepdims), (where, mean))


def _spread(function: Any, a: Any, options: tuple[Any, ...], values: tuple[Any, ...]) -> Any:
    x = operand(a, "nanvar")
    axis, dtype, ddof, keepdims = options
    given = [operand(v, "nanvar") for v in values if v is not None]
    return function(
        x, *given, axis=axes_of(axis, x.type.ndim), dtype=dtype, ddof=ddof, keepdims=keepdims,
        has=tuple(v is not None for v in values),
    )  # fmt: skip


@named("nanstd")
def _nanstd(x: Any, *given: Any, **options: Any) -> Any:
    return ops.sqrt(_nanvar(x, *given, **options))


@named("nanvar")
def _nanvar(
    x: Any, *given: Any, axis: Axes, dtype: Any, ddof: int, keepdims: bool, has: tuple[bool, bool]
) -> Any:  # fmt: skip
    where = given[0] if has[0] else None
    compute = x.type.dtype if kind(x.type.dtype) in "fc" else canonical(np.float64)
    x, real = converted(x, compute), real_dtype(compute)
    center = given[-1] if has[1] else nanmean(x, axis, keepdims=True, where=where)
    distance = chosen(isnan(x), fixed(0, compute), ops.subtract(*same("nanvar", x, center)))
    squared = ops.square(distance) if kind(compute) != "c" else ops.real(ops.multiply(distance, conj(distance)))
    return _divided(squared, isnan(x), (axis, ddof, keepdims, where), np.dtype(dtype) if dtype else real)


def _divided(squared: Any, absent: Any, options: tuple[Any, ...], wanted: DType) -> Any:
    axis, ddof, keepdims, where = options
    index = canonical(np.int64)
    count = reductions.sum(converted(ops.not_(absent), index), axis, keepdims=keepdims, where=where)
    count = count - ddof
    nothing = ops.compare(count, fixed(0, count.type.dtype), direction="LE")
    total = reductions.sum(squared, axis, keepdims=keepdims, where=where)
    total = chosen(nothing, fixed(np.nan, total.type.dtype), total)
    divisor = chosen(nothing, fixed(1, count.type.dtype), count)
    return converted(ops.divide(*same("nanvar", total, converted(divisor, total.type.dtype))), wanted)


def nanargmax(a: Any, axis: int | None = None, out: None = None, keepdims: bool | None = None) -> Any:
    """argmax of the elements that are not NaN; -1 if there are none.

    >>> nanargmax(np.array([np.nan, 2.0], "float32"))
    Array(1, dtype=int32)
    """
    no_out("nanargmax", out)
    return _place(_nanargmax, reductions.argmax, a, axis, keepdims)


def nanargmin(a: Any, axis: int | None = None, out: None = None, keepdims: bool | None = None) -> Any:
    """argmin of the elements that are not NaN; -1 if there are none.

    >>> nanargmin(np.array([np.nan, 2.0], "float32"))
    Array(1, dtype=int32)
    """
    no_out("nanargmin", out)
    return _place(_nanargmin, reductions.argmin, a, axis, keepdims)


def _place(function: Any, plain: Any, a: Any, axis: int | None, keepdims: bool | None) -> Any:
    x = operand(a, "nanargmax")
    accept("nanargmax", x.type.dtype, "biuf")
    if kind(x.type.dtype) != "f":
        return plain(x, axis, keepdims=keepdims)
    return function(x, axis=axis, keepdims=bool(keepdims))


@named("_nanargmax")
def _nanargmax(x: Any, *, axis: int | None, keepdims: bool) -> Any:
    return _known_place(x, reductions.argmax, -np.inf, axis, keepdims)


@named("_nanargmin")
def _nanargmin(x: Any, *, axis: int | None, keepdims: bool) -> Any:
    return _known_place(x, reductions.argmin, np.inf, axis, keepdims)


def _known_place(x: Any, place: Any, nothing: float, axis: int | None, keepdims: bool) -> Any:
    absent = isnan(x)
    found = place(chosen(absent, fixed(nothing, x.type.dtype), x), axis, keepdims=keepdims)
    none = reductions.all(absent, axis, keepdims=keepdims)
    return chosen(none, fixed(-1, found.type.dtype), found)
