"""A program's equations, applied again by the current interpreter: how every transform of a program begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from celadon import tracing
from celadon.program import Literal, Program, Var
from celadon.tracing import outside


def replay(program: Program, values: Sequence[Any]) -> list[Any]:
    """The outputs of a program on values of the current interpreter; equations recorded meanwhile keep their lines."""
    known: dict[Any, Any] = dict(program.captures)
    known.update(zip(program.inputs, values, strict=True))
    current = tracing.active() or outside.interpreter
    state = tracing.state
    before = state.source
    try:
        for equation in program.equations:
            state.source = equation.source
            inputs = [x if type(x) is Literal else known[x] for x in equation.inputs]
            results = current.apply(equation.op, inputs, equation.params)
            known.update(zip(equation.outputs, results if equation.op.multiple else [results], strict=True))
    finally:
        state.source = before
    return [known[x] if type(x) is Var else x for x in program.outputs]
