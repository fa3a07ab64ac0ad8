"""Ops that text rules write on the way to their own: comparisons, selections, parts of complex numbers, identities."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from celadon.compiler.constants import integers, signature, type_text, types_text
from celadon.compiler.scope import Scope
from celadon.program import Equation
from celadon.types import ArrayType, DType, bool_, kind

TRUTH = ArrayType((), bool_)


def function_type(equation: Equation) -> str:
    """The types of an equation's operands and results."""
    return signature([x.type for x in equation.inputs], [var.type for var in equation.outputs])


def elementwise(scope: Scope, equation: Equation, operands: list[str]) -> str:
    """The form of most elementwise ops: name, operands, types; a scalar among the operands is broadcast before."""
    out = equation.outputs[0].type
    types = scope.alike(equation.inputs, operands, out)
    text = f"{equation.op.text} {', '.join(operands)} : "
    if text.startswith("chlo"):
        return f"{text}{types_text(types)} -> {type_text(out)}"
    dtype = out.dtype
    for type in types:
        if type.dtype is not dtype:
            return text + signature(types, [out])
    return text + type_text(out)


def plain(scope: Scope, op: str, type: ArrayType, *operands: str) -> str:
    """Write an op whose operands and result have one type."""
    return scope.value(f"stablehlo.{op} {', '.join(operands)} : {type_text(type)}")


def filled(scope: Scope, value: Any, type: ArrayType) -> str:
    """Write a constant of any shape, all elements equal."""
    name = scope.constant(value, type)
    return scope.broadcast(name, ArrayType((), type.dtype), type) if type.ndim else name


def spread(scope: Scope, name: str, before: ArrayType, after: ArrayType, dims: Iterable[int]) -> str:
    """Write a broadcast, unless the shape stays the same."""
    if before.shape == after.shape:
        return name
    return scope.value(f"stablehlo.broadcast_in_dim {name}, dims = {integers(dims)} : {signature([before], [after])}")


def comparison(direction: str, x: str, y: str, type: ArrayType, total: bool = False) -> str:
    """The text of a comparison of operands of one type."""
    order = "TOTALORDER" if total else {"i": "SIGNED", "f": "FLOAT", "c": "FLOAT"}.get(kind(type.dtype), "UNSIGNED")
    types = signature([type, type], [ArrayType(type.shape, bool_)])
    return f"stablehlo.compare {direction}, {x}, {y}, {order} : {types}"


def selection(predicate: str, x: str, y: str, type: ArrayType) -> str:
    """The text of a choice between operands of one type."""
    return f"stablehlo.select {predicate}, {x}, {y} : {type_text(ArrayType(type.shape, bool_))}, {type_text(type)}"


def real_part(scope: Scope, name: str, type: ArrayType, part: str = "real") -> tuple[ArrayType, str]:
    """Write the real (or imaginary) part of a complex value; its type and name."""
    half = ArrayType(type.shape, np.dtype(f"f{type.dtype.itemsize // 2}"))
    return half, scope.value(f"stablehlo.{part} {name} : {signature([type], [half])}")


def identity(op: str, dtype: DType) -> Any:
    """What a reduction starts from."""
    match op:
        case "add" | "or" | "xor":
            return 0
        case "multiply":
            return 1
        case "and":
            return True if kind(dtype) == "b" else ~dtype.type(0)
        case "maximum":
            return _extreme(dtype, -np.inf, False)
        case _:
            return _extreme(dtype, np.inf, True)


def _extreme(dtype: DType, infinity: float, largest: bool) -> Any:
    if kind(dtype) in "fc":
        return infinity
    if dtype.kind == "b":
        return largest
    return np.iinfo(dtype).max if largest else np.iinfo(dtype).min


def long_array(values: Sequence[object]) -> str:
    """An attribute that is a plain array of integers."""
    return f"array<i64: {', '.join(map(str, values))}>" if values else "array<i64>"
