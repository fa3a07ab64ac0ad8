"""Choosing between elements: where, select, clip, choose, piecewise, nan_to_num, and larger or smaller ones past NaN."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from celadon import errors, vocabulary as ops
from celadon.array import Array
from celadon.numpy.comparison import compared, isnan, truth
from celadon.numpy.positions import nonzero
from celadon.numpy.promotion import (
    array,
    broadcasted,
    common_shape,
    converted,
    fixed_like,
    inexact,
    no_out,
    operand,
    same,
)
from celadon.program import fixed, literal
from celadon.types import Shape, finfo, kind, result_type
from celadon.vocabulary.call import named


def chosen(condition: Any, x: Any, y: Any) -> Any:
    """where(condition, x, y) of operands: the private function _where."""
    return _where(condition, x, y)


@named("_where")
def _where(condition: Any, x: Any, y: Any) -> Any:
    condition, x, y = truth(condition), operand(x, "where"), operand(y, "where")
    dtype, weak = result_type((x.type, y.type))
    x, y = converted(x, dtype, weak), converted(y, dtype, weak)
    shape = common_shape("where", condition.type.shape, x.type.shape, y.type.shape)
    whole = condition if not condition.type.shape else _spread(condition, shape)
    return ops.select(whole, _spread(x, shape), _spread(y, shape))


def _spread(x: Any, shape: Shape) -> Any:
    return x if x.type.shape == shape else broadcasted(x, shape)


def clip(arr: Any = None, /, min: Any = None, max: Any = None) -> Any:
    """The elements of arr, but at least min and at most max (where these are given).

    >>> clip(np.array([-1, 3, 9]), 0, 5)
    Array([0, 3, 5], dtype=int32)
    """
    if arr is None:
        raise errors.ArgumentCount(function="clip", wanted="at least 1 of its", given=0)
    x = operand(arr, "clip")
    for one in (x, *[operand(bound, "clip") for bound in (min, max) if bound is not None]):
        accept_real("clip", one)
    return _clip(x, *[operand(bound) for bound in (min, max) if bound is not None], low=min is not None)


def accept_real(name: str, x: Any) -> None:
    if kind(x.type.dtype) == "c":
        raise errors.DTypeNotAccepted(function=name, dtype=x.type.dtype, accepted="real numbers")


@named("clip")
def _clip(x: Any, *bounds: Any, low: bool) -> Any:
    x = array(x)
    if low:
        x = ops.maximum(*_bound_first(bounds[0], x))
    return ops.minimum(*_bound_first(bounds[-1], x)) if len(bounds) == 2 or (bounds and not low) else x


def _bound_first(bound: Any, x: Any) -> list[Any]:
    return same("clip", bound, x)


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Any:
    """For each element the choice whose condition is the first to hold, or else the default.

    Args: condlist of boolean arrays, choicelist of as many arrays.

    >>> x = np.array([1, 2, 3])
    >>> select([x > 2, x > 1], [x, -x], 0)
    Array([ 0, -2,  3], dtype=int32)
    """
    if len(condlist) != len(choicelist) or not condlist:
        raise errors.ArgumentCount(function="select", wanted=len(condlist) or 1, given=len(choicelist))
    conditions = [truth(operand(c, "select")) for c in condlist]
    *choices, result = same("select", *choicelist, default)
    shape = common_shape("select", result.type.shape, *[x.type.shape for x in (*choices, *conditions)])
    result = _spread(result, shape)
    for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
        result = ops.select(_spread(condition, shape), _spread(choice, shape), result)
    return result


def choose(a: Any, choices: Any, out: None = None, mode: str = "raise") -> Any:
    """For each element of a, the element of the choice with that number.

    Args: a: integers; choices: arrays; mode: "clip" or "wrap" numbers out of range, or "raise" PlaceOutOfRange, for which
        the numbers must be concrete.

    >>> choose(np.array([0, 1]), [np.array([1, 2]), np.array([3, 4])])
    Array([1, 4], dtype=int32)
    """
    no_out("choose", out)
    if mode not in ("clip", "wrap", "raise"):
        raise errors.OptionUnknown(function="choose", argument="mode", value=mode, allowed="'clip', 'wrap' or 'raise'")
    arrays = same("choose", *(choices if isinstance(choices, tuple | list) else list(array(choices))))
    index = operand(a, "choose")
    if mode == "raise":
        _check_places(index, len(arrays))
    shape = common_shape("choose", index.type.shape, *[x.type.shape for x in arrays])
    index, arrays = _spread(index, shape), [_spread(x, shape) for x in arrays]
    if mode == "wrap":
        index = index % len(arrays)
    result = arrays[0]
    for number, choice in enumerate(arrays[1:], 1):
        result = ops.select(index >= number, choice, result)
    return result


def _check_places(index: Any, count: int) -> None:
    host = index.host if type(index) is Array else np.asarray(index.tolist())  # a traced value refuses
    outside = host[(host < 0) | (host >= count)]
    if outside.size:
        raise errors.PlaceOutOfRange(function="choose", index=int(outside[0]), extent=count)


def piecewise(x: Any, condlist: Any, funclist: list[Any], *args: Any, **kw: Any) -> Any:
    """x with each element replaced by the function, or value, whose condition is the last to hold for it.

    Args: condlist: boolean arrays; funclist: as many functions or scalars, and one more for no condition at all.

    >>> x = np.array([-1.0, 2.0], "float32")
    >>> piecewise(x, [x < 0, x >= 0], [lambda v: -v, lambda v: v])
    Array([1., 2.], dtype=float32)
    """
    x = array(x, "piecewise")
    conditions = list(condlist) if isinstance(condlist, tuple | list) else list(array(condlist))
    if len(funclist) not in (len(conditions), len(conditions) + 1):
        raise errors.ArgumentCount(function="piecewise", wanted=len(conditions), given=len(funclist))
    rest = funclist[len(conditions)] if len(funclist) > len(conditions) else 0
    result = _piece(rest, x, args, kw)
    for condition, function in zip(conditions, funclist, strict=False):
        result = where(condition, _piece(function, x, args, kw), result)
    return result


def _piece(function: Any, x: Any, args: tuple[Any, ...], kw: dict[str, Any]) -> Any:
    made = operand(function(x, *args, **kw) if callable(function) else function)
    return converted(made, x.type.dtype)


def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """x with NaN replaced by nan, and infinities by posinf and neginf (by default the largest and smallest float).

    >>> nan_to_num(np.array([1.0, np.nan], "float32"))
    Array([1., 0.], dtype=float32)
    """
    x = array(x, "nan_to_num")
    usual = type(nan) is float and nan == 0
    given = {"nan": None if usual else nan, "posinf": posinf, "neginf": neginf}
    names = tuple(name for name, value in given.items() if value is not None)
    return _nan_to_num(x, *[operand(given[name]) for name in names], names=names)


@named("nan_to_num")
def _nan_to_num(x: Any, *values: Any, names: tuple[str, ...]) -> Any:
    if kind(x.type.dtype) == "c":
        parts = [_nan_to_num(part, *values, names=names) for part in (ops.real(x), ops.imag(x))]
        return ops.complex_(*parts)
    if kind(x.type.dtype) != "f":
        return x
    dtype, given = x.type.dtype, dict(zip(names, values, strict=True))
    info = finfo(dtype)
    replaced = [(isnan, "nan", 0), (_is(np.inf), "posinf", info.max), (_is(-np.inf), "neginf", info.min)]
    for found, name, default in replaced:
        x = chosen(found(x), converted(given[name], dtype) if name in given else literal(default, dtype), x)
    return x


def _is(value: float) -> Any:
    return lambda x: ops.compare(x, fixed_like(value, x), direction="EQ")


def fmax(x1: Any, x2: Any) -> Any:
    """The larger element of each pair, the other one where one is NaN.

    >>> fmax(np.array([1.0, np.nan], "float32"), 0.5)
    Array([1. , 0.5], dtype=float32)
    """
    return _fmax(*same("fmax", x1, x2))


@named("fmax")
def _fmax(x: Any, y: Any) -> Any:
    return _past_nan(x, y, direction="GT")


def fmin(x1: Any, x2: Any) -> Any:
    """The smaller element of each pair, the other one where one is NaN.

    >>> fmin(np.array([1.0, np.nan], "float32"), 0.5)
    Array([0.5, 0.5], dtype=float32)
    """
    return _fmin(*same("fmin", x1, x2))


@named("fmin")
def _fmin(x: Any, y: Any) -> Any:
    return _past_nan(x, y, direction="LT")


def _past_nan(x: Any, y: Any, direction: str) -> Any:
    beats = compared(direction)(x, y)
    return chosen(ops.or_(beats, isnan(y)), x, y)


def heaviside(x1: Any, x2: Any, /) -> Any:
    """0 where x1 is negative, 1 where it is positive, x2 where it is 0.

    >>> heaviside(np.array([-1.0, 0.0, 2.0], "float32"), 0.5)
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    x, y = inexact("heaviside", x1, x2)
    accept_real("heaviside", x)
    return _heaviside(x, y)


@named("heaviside")
def _heaviside(x: Any, y: Any) -> Any:
    zero, one = fixed(0, x.type.dtype), fixed(1, x.type.dtype)
    negative, positive = (ops.compare(x, zero, direction=d) for d in ("LT", "GT"))
    return chosen(negative, zero, chosen(positive, one, chosen(isnan(x), x, y)))


def where(condition: Any, x: Any = None, y: Any = None, /, *, size: Any = None, fill_value: Any = None) -> Any:
    """x where the condition holds and y elsewhere; without x and y, the indices at which it holds (a concrete one).

    Args: three arrays that broadcast; size and fill_value only without x and y, see nonzero.
    Returns an array of the common dtype of x and y, or a tuple of index arrays.

    >>> where(np.array([True, False]), 1, np.array([5, 6]))
    Array([1, 6], dtype=int32)
    """
    if x is None and y is None:
        return nonzero(condition, size=size, fill_value=fill_value)
    if x is None or y is None or size is not None or fill_value is not None:
        raise errors.ArgumentCount(function="where", wanted="1 or 3", given=2)
    return _where(operand(condition, "where"), operand(x, "where"), operand(y, "where"))
