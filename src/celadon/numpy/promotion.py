"""Promotion: operands of any dtypes and shapes come in, operands of one dtype and one shape (or scalars) go to the ops."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from celadon import errors
from celadon.array import Array, as_array, is_masked
from celadon.program import Literal, fixed, literal
from celadon.tracing import Recorded, Tracer, recording
from celadon.types import (
    ArrayType,
    DType,
    Shape,
    bool_,
    canonical,
    enable_x64,
    int32,
    is_supported,
    kind,
    numpy_dtype_promotion,
    numpy_rank_promotion,
    result_type,
    scalar_type,
)
from celadon.vocabulary.elementwise import convert
from celadon.vocabulary.reduce import broadcast_in_dim

_SCALARS = (bool, int, float, complex)


class Plan(NamedTuple):
    """What promotion does to operands of given types: their dtype and weakness, and for each its broadcasts."""

    dtype: DType
    weak: bool
    shape: Shape
    converts: tuple[bool, ...]
    broadcasts: tuple[tuple[tuple[Shape, tuple[int, ...]], ...], ...]
    scalar: ArrayType
    idle: bool


def operand(x: Any, function: str = "the function") -> Any:
    """What stands for x in an op: an Array or Tracer, or a Literal for a scalar (a Python scalar is weak).

    A NumPy array under a trace is captured once, however often it is used.
    """
    found = type(x)
    if found is Recorded:
        return x
    if found is Array:
        return x if x.type.shape or recording() is None else Literal(x.host[()], x.type)
    if found in _SCALARS:
        return _scalar(x)
    return _other(x, function)


def _scalar(x: Any) -> Literal:
    found = _python_type(x, enable_x64.value)
    return Literal(_number(x, found.dtype), found)


def _python_type(x: Any, wide: bool) -> ArrayType:
    return scalar_type(x) if type(x) is int else _scalar_types(type(x), wide)


@lru_cache
def _scalar_types(python: type, wide: bool) -> ArrayType:
    return scalar_type(python(0))


_SAFE = 1e38
_PYTHON_LIKE: tuple[type, ...] = (np.float32, np.float64, np.int32, np.int64)


def _number(value: Any, dtype: DType) -> Any:
    """A scalar of a dtype: the short way for Python numbers that surely fit, else NumPy's conversion."""
    if (type(value) is float and -_SAFE < value < _SAFE and dtype.itemsize > 2) or (type(value) is int and -128 <= value < 128):
        return dtype.type(value) if value >= 0 or dtype.kind not in "ub" else literal(value, dtype).value
    return literal(value, dtype).value


def _other(x: Any, function: str) -> Any:
    if isinstance(x, Literal | Tracer | Array):
        return x
    if isinstance(x, np.ndarray | np.generic) and not is_masked(x):
        return _from_numpy(np.asarray(x) if isinstance(x, np.generic) else x)
    if isinstance(x, list | tuple):
        raise errors.SequenceNotArray(function=function, type=type(x).__name__)
    return operand(as_array(x)) if not isinstance(x, _SCALARS) else _scalar(x)


def _from_numpy(x: np.ndarray[Any, Any]) -> Any:
    dtype = canonical(x.dtype)
    if not is_supported(dtype):
        raise errors.DTypeNotSupported(dtype=x.dtype)
    record = recording()
    if x.ndim == 0 and record is not None:
        return literal(x, dtype)
    if record is None:
        return as_array(x)
    return Recorded(record, record.capture(x))  # pyright: ignore[reportArgumentType]


def operand_type(x: Any, function: str = "the function") -> ArrayType:
    return operand(x, function).type


def array(x: Any, function: str = "the function") -> Any:
    """x as an Array or Tracer, for functions that may return their argument unchanged."""
    found = operand(x, function)
    return as_array(found) if type(found) is Literal else found


def shape_of(x: Any) -> Shape:
    return operand(x).type.shape


def same(function: str, *xs: Any) -> list[Any]:
    """The operands in their common dtype and shape; scalars keep rank 0."""
    return _promoted(function, xs, "")


def inexact(function: str, *xs: Any) -> list[Any]:
    """As `same`, and integers and booleans become the default float dtype."""
    return _promoted(function, xs, "inexact")


def numeric(function: str, *xs: Any) -> list[Any]:
    """As `same`, and booleans become the default integer dtype."""
    return _promoted(function, xs, "numeric")


def _promoted(function: str, xs: Sequence[Any], least: str) -> list[Any]:
    wide = enable_x64.value
    values = [x if type(x) in _SCALARS else operand(x, function) for x in xs]
    types = tuple([_python_type(x, wide) if type(x) in _SCALARS else x.type for x in values])
    plan = _plan(types, least, wide)
    if plan is None:
        raise errors.ShapesDiffer(op=function, shapes=", ".join(str(t.shape) for t in types))
    if plan.idle:
        return values
    if numpy_dtype_promotion.value == "strict":
        _require_one_dtype(function, types)
    if numpy_rank_promotion.value != "allow":
        _require_one_rank(function, types)
    return [_planned(x, plan, k) for k, x in enumerate(values)]


def _require_one_dtype(function: str, types: Sequence[ArrayType]) -> None:
    strong = {t.dtype for t in types if not t.weak_type}
    if len(strong) > 1 or any(kind(t.dtype) not in _HOLDS[kind(d)] for t in types if t.weak_type for d in strong):
        raise errors.TypePromotionError(function=function, types=", ".join(map(str, types)))


def _require_one_rank(function: str, types: Sequence[ArrayType]) -> None:
    if len({t.ndim for t in types if t.shape}) < 2:
        return
    facts = {"function": function, "types": ", ".join(map(str, types))}
    if numpy_rank_promotion.value == "raise":
        raise errors.RankPromotionError(**facts)
    errors.warn(errors.RankPromotionWarning(**facts))


_HOLDS = {"b": "b", "i": "biu", "u": "biu", "f": "biuf", "c": "biufc"}  # kinds of weak scalars that each kind takes in


def _planned(x: Any, plan: Plan, k: int) -> Any:
    if type(x) in _SCALARS:
        x = Literal(_number(x, plan.dtype), plan.scalar)
    elif plan.converts[k]:
        x = converted(x, plan.dtype, plan.weak)
    return _broadcasted(x, plan.broadcasts[k]) if plan.broadcasts[k] else x


def _broadcasted(x: Any, steps: Iterable[tuple[Shape, tuple[int, ...]]]) -> Any:
    for shape, dimensions in steps:
        x = broadcast_in_dim(x, shape=shape, broadcast_dimensions=dimensions)
    return x


def _warn_of_cut(types: tuple[ArrayType, ...]) -> None:
    strong = {str(t.dtype) for t in types if not t.weak_type}
    signed = strong & {"int8", "int16", "int32"}
    if signed and "uint32" in strong:
        errors.warn(errors.UnsignedPromotionWarning(other=", ".join(sorted(signed))))


@lru_cache(8192)
def _plan(types: tuple[ArrayType, ...], least: str, wide: bool) -> Plan | None:
    dtype, weak = result_type(types)
    if dtype == int32 and not wide:
        _warn_of_cut(types)
    dtype = least_dtype(dtype, least)
    shape = _common_shape([t.shape for t in types])
    if shape is None:
        return None
    converts = tuple(t.dtype != dtype or t.weak_type != weak for t in types)
    broadcasts = tuple(broadcast_steps(t.shape, shape) if t.shape else () for t in types)
    idle = not any(converts) and not any(broadcasts) and not any(t.weak_type or t.dtype == bool_ for t in types)
    return Plan(dtype, weak, shape, converts, broadcasts, ArrayType((), dtype, weak), idle)


def least_dtype(dtype: DType, least: str) -> DType:
    """The dtype raised to the float or integer default, if the function asks for no less."""
    if least == "inexact" and kind(dtype) in "biu":
        return canonical(np.float64)
    return canonical(np.int64) if least == "numeric" and dtype == bool_ else dtype


def _common_shape(shapes: Sequence[Shape]) -> Shape | None:
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    extents = [{n for n in column if n != 1} for column in zip(*padded, strict=True)]
    if any(len(found) > 1 for found in extents):
        return None
    return tuple(found.pop() if found else 1 for found in extents)


def common_shape(function: str, *shapes: Shape) -> Shape:
    """The shape that arrays of these shapes broadcast to."""
    found = _common_shape(shapes) if shapes else ()
    if found is None:
        raise errors.ShapesDiffer(op=function, shapes=", ".join(map(str, shapes)))
    return found


def broadcast_steps(shape: Shape, wanted: Shape) -> tuple[tuple[Shape, tuple[int, ...]], ...]:
    """The broadcasts from one shape to another: first to its rank with leading extents of 1, then to its extents."""
    if shape == wanted:
        return ()
    lead = len(wanted) - len(shape)
    ranked = (1,) * lead + shape
    to_rank = ((ranked, tuple(range(lead, len(wanted)))),) if lead else ()
    to_shape = ((wanted, tuple(range(len(wanted)))),) if ranked != wanted else ()
    return to_rank + to_shape


def converted(x: Any, dtype: DType, weak: bool = False) -> Any:
    """x in another dtype or weakness: a Literal stays one, anything else is converted by the op."""
    found = x.type
    if found.dtype == dtype and found.weak_type == weak:
        return x
    if type(x) is not Literal:
        return convert(x, new_dtype=dtype, weak_type=weak)
    value = x.value.real if kind(found.dtype) == "c" and kind(dtype) != "c" else x.value
    return Literal(_number(_python(value), dtype), ArrayType((), dtype, weak), x.fixed)


def _python(value: Any) -> Any:
    return value.item() if type(value) in _PYTHON_LIKE else value


def broadcasted(x: Any, shape: Shape) -> Any:
    """x, whose trailing dimensions fit, broadcast to a shape in one step."""
    if x.type.shape == shape:
        return x
    dimensions = tuple(range(len(shape) - x.type.ndim, len(shape)))
    return broadcast_in_dim(x, shape=shape, broadcast_dimensions=dimensions)


def constant(value: Any, like: Any) -> Literal:
    """A lifted scalar of another operand's dtype."""
    return literal(value, like.type.dtype, like.type.weak_type)


def fixed_like(value: Any, like: Any) -> Literal:
    """A scalar of another operand's dtype and weakness that stays in the structure."""
    found = fixed(value, like.type.dtype)
    return Literal(found.value, like.type.with_shape(()), True) if like.type.weak_type else found


def axis_of(axis: Any, ndim: int) -> int:
    """An axis counted from the front."""
    found = operator.index(axis)
    if not -ndim <= found < ndim:
        raise errors.AxisNotInArray(axis=found, ndim=ndim)
    return found % ndim


def axes_of(axis: Any, ndim: int) -> tuple[int, ...]:
    """Axes counted from the front; None means all."""
    if axis is None:
        return tuple(range(ndim))
    given = tuple(axis) if isinstance(axis, tuple | list) else (axis,)
    found = tuple(axis_of(a, ndim) for a in given)
    if len(set(found)) != len(found):
        raise errors.AxisNamedTwice(axes=given, ndim=ndim)
    return found


def shape_from(shape: Any) -> Shape:
    """A shape of what a user gave: an integer or a sequence of them."""
    given = extents_given(shape)
    try:
        found = tuple([operator.index(n) for n in given])
    except errors.CeladonError:
        raise
    except TypeError:
        raise errors.ShapeInvalid(shape=shape) from None
    if found and min(found) < 0:
        raise errors.ShapeInvalid(shape=shape)
    return found


def extents_given(shape: Any) -> tuple[Any, ...]:
    """The parts of a shape, which may be a vector of numbers too."""
    if isinstance(shape, np.ndarray) or type(shape) is Array:
        shape = shape.tolist()
    return tuple(shape) if isinstance(shape, tuple | list) else (shape,)


def no_out(function: str, out: Any) -> None:
    if out is not None:
        raise errors.OutNotSupported(function=function)


def accept(function: str, dtype: DType, kinds: str) -> None:
    """Raise unless the dtype is of one of the kinds (letters of types.kind)."""
    if kind(dtype) not in kinds:
        accepted = " or ".join(_KIND_NAMES[k] for k in kinds)
        raise errors.DTypeNotAccepted(function=function, dtype=dtype, accepted=accepted)


_KIND_NAMES = {
    "b": "booleans", "i": "signed integers", "u": "unsigned integers", "f": "floats", "c": "complex numbers"
}  # fmt: skip
