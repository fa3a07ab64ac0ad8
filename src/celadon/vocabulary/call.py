"""call: a program as an op, printed as a private function; and what a program means in NumPy, op by op."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from celadon import errors, settings, tracing
from celadon.op import Op
from celadon.program import Equation, Literal, Operand, Program, Var, exact, remembered
from celadon.tracing import recorded
from celadon.types import ArrayType
from celadon.vocabulary.bodies import chosen, needed, replaced, taking

Array = Any
Signature = tuple[ArrayType | None, ...]


def execute(program: Program, arrays: Sequence[Any]) -> list[Any]:
    """The outputs of a program, each op computed by its NumPy rule; a macro op without one is expanded.

    Args:
        program: lowered or as traced; calls and bodies are executed likewise.
        arrays: one NumPy array of the right dtype for each input; in a reduction's body also for stacks of them.

    Returns:
        One NumPy array for each output.
    """
    values: dict[Var, Any] = {var: np.asarray(kept) for var, kept in program.captures}
    values.update(zip(program.inputs, arrays, strict=True))
    with np.errstate(all="ignore"):
        for equation in program.equations:
            results = _results(equation, [_value(x, values) for x in equation.inputs])
            values.update(zip(equation.outputs, results, strict=True))
    return [_value(x, values) for x in program.outputs]


def for_each(body: Program, arrays: Sequence[Any]) -> list[Any]:
    """The outputs of a body of scalars for stacks of them: at once if all its ops are elementwise, else one after the other."""
    if is_elementwise(body):
        return execute(body, arrays)
    stacks = np.broadcast_arrays(*arrays)
    found = [np.empty(stacks[0].shape, x.type.dtype) for x in body.outputs]
    for place in np.ndindex(stacks[0].shape):
        for whole, one in zip(found, execute(body, [stack[place] for stack in stacks]), strict=True):
            whole[place] = one
    return found


def is_elementwise(program: Program) -> bool:
    """Whether a program consists of elementwise ops alone.

    >>> is_elementwise(Program((), (), ()))
    True
    """
    return remembered(program, "elementwise", lambda: all(map(_is_elementwise, program.equations)))


def _is_elementwise(equation: Equation) -> bool:
    if equation.op.kind == "call":
        return is_elementwise(equation.params["program"])
    return equation.op.kind == "elementwise"


def _value(operand: Operand, values: dict[Var, Any]) -> Any:
    return np.asarray(operand.value, operand.type.dtype) if type(operand) is Literal else values[operand]  # pyright: ignore


def _results(equation: Equation, arrays: list[Any]) -> list[Any]:
    op, params = equation.op, equation.params
    if op.numpy is None:
        return execute(_expansion(op, tuple([x.type for x in equation.inputs]), params), arrays)
    try:
        found = op.numpy(*arrays, **params)
    except MemoryError:
        if op.kind == "callback":
            raise
        raise errors.OutOfMemory(bytes=sum(x.type.nbytes for x in equation.outputs)) from None
    return [np.asarray(one) for one in (found if op.multiple else [found])]


def _expansion(op: Op, types: tuple[ArrayType, ...], params: dict[str, Any]) -> Program:
    if op.expand is None:
        raise errors.OpWithoutMeaning(op=op.name)
    return _program(op.name, op.expand, types, params)[0]


def _program(name: str, function: Callable[..., Any], types: Signature, params: dict[str, Any]) -> tuple[Program, bool]:
    """The function traced for operands of these types, and whether it returns several values."""
    with recorded(name) as record:
        inputs = [None if t is None else record.input(t, f"operand {i}") for i, t in enumerate(types)]
        found = function(*inputs, **params)
        several = isinstance(found, tuple | list)
        return record.program(found if several else [found]), several


def _call_type(*types: ArrayType, program: Program) -> list[ArrayType]:
    wanted = [var.type for var in program.inputs]
    if [(t.shape, t.dtype) for t in types] != [(t.shape, t.dtype) for t in wanted]:
        raise errors.CallMismatch(name=program.name, wanted=wanted, given=list(types))
    return [x.type for x in program.outputs]


def _call(*arrays: Array, program: Program) -> list[Array]:
    return execute(program, arrays)


def _prune_call(equation: Equation, wanted: Sequence[bool]) -> Equation:
    program, marks = equation.params["program"], tuple(wanted)
    live, used = needed(program, marks)
    if all(marks) and all(used) and live is program:
        return equation
    called = remembered(program, ("called for", marks), lambda: taking(live, used))
    inputs, outputs = chosen(equation.inputs, used), chosen(equation.outputs, marks)
    return replaced(equation, inputs, outputs, equation.params | {"program": called})


call = Op("call", _call_type, _call, multiple=True, prune=_prune_call, kind="call")


def named(name: str, whole: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator for functions that programs call by name, as private functions in their text.

    Positional arguments are operands (arrays, scalars, or None), keyword arguments are structure and must be hashable.
    While a program is recorded, the function is traced once for operands of the same types, and a call is recorded;
    otherwise it runs as it is, or if `whole` as one program too.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.lru_cache(512)
        def traced(types: Signature, params: tuple[tuple[str, Any], ...], key: object) -> tuple[Program, bool]:
            return _program(name, function, types, dict(params))

        @functools.wraps(function)
        def wrapper(*operands: Any, **params: Any) -> Any:
            if not whole and tracing.recording() is None:
                return function(*operands, **params)
            types = tuple([None if x is None else tracing.type_of(x) for x in operands])
            key = (settings.key(), *map(exact, params.values()))
            program, several = traced(types, tuple(params.items()), key)
            results = call(*[x for x in operands if x is not None], program=program)
            return tuple(results) if several else results[0]

        return wrapper

    return decorate


__all__ = ["call", "execute", "for_each", "is_elementwise", "named"]
