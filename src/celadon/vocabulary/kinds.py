"""Kinds of ops and the type rules they share; every other module of the vocabulary makes its ops with these."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from celadon import errors
from celadon.op import Op, unite_all
from celadon.program import Literal, fixed
from celadon.types import ArrayType, DType, DTypes, Shape, bool_, every_dtype, of_kind, short_name

Rule = Callable[..., Any]
kept = functools.lru_cache(2048)  # for type rules that are asked for the same types again and again

ANY = of_kind("biufc")
BOOL = of_kind("b")
BITS = of_kind("biu")
INTEGER = of_kind("iu")
REAL = of_kind("biuf")
FLOAT = of_kind("f")
COMPLEX = of_kind("c")
INEXACT = of_kind("fc")
NUMBER = of_kind("iufc")
SIGNED = of_kind("ifc")
ORDERED = of_kind("iuf")
HALF = DTypes([np.float16], half=True)


def elementwise(name: str, numpy: Rule, accepted: DTypes, operands: int = 1, **rules: Any) -> Op:
    """An op of one or two operands of one dtype whose result has that dtype and their shape."""
    rules.setdefault("text", f"stablehlo.{name}")
    result_type = one_type(name, accepted) if operands == 1 else two_types(name, accepted)
    return Op(name, result_type, numpy, unite=unite_all, kind="elementwise", **rules)


def one_type(name: str, accepted: DTypes) -> Rule:
    """The result has the type of the operand (C1 of StableHLO's unary ops)."""

    @kept
    def result_type(x: ArrayType) -> ArrayType:
        if x.dtype in accepted:
            return x
        raise not_accepted(name, x, accepted)

    return result_type


def two_types(name: str, accepted: DTypes) -> Rule:
    """The operands have one dtype and one shape, or a scalar is among them (C1 of StableHLO's binary ops)."""

    @kept
    def result_type(x: ArrayType, y: ArrayType) -> ArrayType:
        if x.dtype not in accepted:
            raise not_accepted(name, x, accepted)
        return x if x is y else common_type(name, x, y)

    return result_type


def common_type(name: str, x: ArrayType, y: ArrayType) -> ArrayType:
    """The type of the operand that is no scalar, weak only if both are."""
    if x.dtype != y.dtype:
        raise errors.OperandDTypesDiffer(op=name, types=f"{x} and {y}")
    if x.shape != y.shape and x.shape and y.shape:
        raise errors.ShapesDiffer(op=name, shapes=f"{x.shape} and {y.shape}")
    full = x if x.shape else y
    return full if x.weak_type and y.weak_type else full.strong()


def common_shape(name: str, *types: ArrayType) -> Shape:
    """The shape of the operands that are no scalars; they must agree."""
    found: Shape = ()
    for one in types:
        if one.shape and one.shape != found:
            if found:
                raise errors.ShapesDiffer(op=name, shapes=" and ".join(str(t.shape) for t in types))
            found = one.shape
    return found


def not_accepted(name: str, x: ArrayType, accepted: DTypes) -> Exception:
    words = " ".join(short_name(dtype) for dtype in every_dtype() if dtype in accepted)
    return errors.OperandDTypeNotAccepted(op=name, type=x, accepted=words)


def require(name: str, x: ArrayType, accepted: DTypes) -> None:
    """Raise unless the operand's dtype is one that the op takes."""
    if x.dtype not in accepted:
        raise not_accepted(name, x, accepted)


def same_dtype(name: str, *types: ArrayType) -> DType:
    """The one dtype of the operands."""
    dtype = types[0].dtype
    if any(t.dtype != dtype for t in types):
        raise errors.OperandDTypesDiffer(op=name, types=" and ".join(map(str, types)))
    return dtype


def checked_axes(name: str, axes: Iterable[int], ndim: int) -> None:
    """Raise unless the axes are different ones from 0 to ndim - 1."""
    seen: set[int] = set()
    for axis in axes:
        if not 0 <= axis < ndim:
            raise errors.AxisOutOfRange(op=name, axis=axis, ndim=ndim, last=ndim - 1)
        if axis in seen:
            raise errors.AxisRepeated(op=name, axis=axis)
        seen.add(axis)


def one_per_axis(name: str, ndim: int, **params: tuple[int, ...]) -> None:
    """Raise unless every parameter has one number for each axis."""
    for param, values in params.items():
        if len(values) != ndim:
            raise errors.OneNumberPerAxis(op=name, param=param, values=values, ndim=ndim)


def like(value: Any, x: Any) -> Literal:
    """A number of a value's dtype and weakness that stays in the structure: for the constants of rules."""
    return Literal(fixed(value, x.type.dtype).value, x.type.with_shape(()), True)


def strong(value: Any, x: Any) -> Literal:
    """A number of a value's dtype that stays in the structure and is not weak: where JAX's derivatives are not."""
    return fixed(value, x.type.dtype)


def real_dtype(dtype: DType) -> DType:
    """The dtype of a complex number's parts; that of a real one is itself.

    >>> real_dtype(np.dtype("complex64"))
    dtype('float32')
    """
    return np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype


def boolean_type(name: str, accepted: DTypes) -> Rule:
    """A predicate of one operand: its shape, booleans (C1 of is_finite)."""

    def result_type(x: ArrayType) -> ArrayType:
        require(name, x, accepted)
        return ArrayType(x.shape, bool_, x.weak_type)

    return result_type
