"""Programs that ops hold as bodies: traced from functions, compared with operands, cut down to what is wanted of them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from celadon import errors
from celadon.op import Axis
from celadon.program import Equation, Operand, Program, Var, bodies, remembered
from celadon.tracing import recorded
from celadon.types import ArrayType

Types = Sequence[ArrayType]
Mask = tuple[bool, ...]


def closed(program: Program) -> Program:
    """The program with its captured values as inputs, ahead of its own.

    >>> closed(Program((), (), ())).inputs
    []
    """
    return replace(program, inputs=[*(var for var, _ in program.captures), *program.inputs], captures=())


def opened(program: Program) -> tuple[Program, list[Any]]:
    """The program closed, and the captured values that are then its first inputs."""
    if not program.captures:
        return program, []
    return remembered(program, "closed", lambda: closed(program)), [kept for _, kept in program.captures]


def traced(name: str, function: Callable[..., Sequence[Any]], types: Types) -> tuple[Program, list[Any]]:
    """A body traced for operands of these types, and the captured values that are its first inputs."""
    with recorded(name, tracing=False) as record:
        made = record.program(function(*[record.input(t) for t in types]))
    return closed(made), [kept for _, kept in made.captures]


def check_body(op: str, body: Program, operands: Types, results: Types | None = None) -> None:
    """Raise unless a body takes operands, and gives results, of these shapes and dtypes."""
    given = [var.type for var in body.inputs]
    made = [x.type for x in body.outputs]
    if not alike(given, operands) or (results is not None and not alike(made, results)):
        raise errors.BodyUnfit(op=op, operands=", ".join(map(str, operands)), body=body)


def alike(types: Types, others: Types) -> bool:
    """Whether types agree one by one, apart from weakness."""
    return [(t.shape, t.dtype) for t in types] == [(t.shape, t.dtype) for t in others]


def same_extents(xs: Iterable[Any], ys: Iterable[Any], first: int = 0) -> Iterable[tuple[Axis, Axis]]:
    """Pairs of axes of variables that have one shape; those of `xs` are counted from axis `first` on."""
    for x, y in zip(xs, ys, strict=True):
        if type(x) is Var and type(y) is Var:
            yield from [((x, i + first), (y, i)) for i in range(y.type.ndim)]


def needed(program: Program, wanted: Mask) -> tuple[Program, Mask]:
    """The program with only the outputs that are wanted, and which of its inputs it then needs."""
    return remembered(program, ("needed", wanted), lambda: _needed(program, wanted))


def _needed(program: Program, wanted: Mask) -> tuple[Program, Mask]:
    asked = program if all(wanted) else replace(program, outputs=chosen(program.outputs, wanted))
    live = without_dead_code(asked)
    used: set[Any] = {x for equation in live.equations for x in equation.inputs if type(x) is Var}
    used.update(x for x in live.outputs if type(x) is Var)
    return live, tuple([var in used for var in program.inputs])


def carried(body: Program, wanted: Mask, held: int, carry: int) -> tuple[Mask, Program, Mask]:
    """What is wanted of a loop's body, whose inputs are `held` constants, `carry` carried values and others.

    Returns:
        Which of its results are, those that later steps need included; the body with these alone; the inputs that it takes.
    """
    while True:
        live, used = needed(body, wanted)
        before = used[held : held + carry]
        more = tuple([a or b for a, b in zip(wanted[:carry], before, strict=True)])
        if more == wanted[:carry]:
            return wanted, live, used[:held] + more + used[held + carry :]
        wanted = more + wanted[carry:]


def chosen(values: Iterable[Any], marks: Iterable[bool]) -> list[Any]:
    """The values that are marked."""
    return [x for x, mark in zip(values, marks, strict=True) if mark]


def taking(program: Program, marks: Iterable[bool]) -> Program:
    """The program with only those of its inputs that are marked."""
    return replace(program, inputs=chosen(program.inputs, marks))


def without_dead_code(program: Program) -> Program:
    """The program with only the equations and captures that its outputs need, and those that do something besides.

    >>> without_dead_code(Program((), (), ())).equations
    ()
    """
    live: set[Operand] = set(program.outputs)
    kept: list[Equation] = []
    for equation in reversed(program.equations):
        op = equation.op
        if live.isdisjoint(equation.outputs) and not has_effects(equation):
            continue
        if op.prune is not None:
            equation = op.prune(equation, tuple([var in live for var in equation.outputs]))
        kept.append(equation)
        live.update(equation.inputs)
    kept.reverse()
    captures = tuple(capture for capture in program.captures if capture[0] in live)
    if len(captures) == len(program.captures) and _same(kept, program.equations):
        return program
    return replace(program, equations=kept, captures=captures)


def _same(kept: Sequence[Equation], equations: Sequence[Equation]) -> bool:
    return len(kept) == len(equations) and all(map(operator.is_, kept, equations))


def has_effects(equation: Equation) -> bool:
    """Whether an equation does something besides its results, itself or in a body."""
    return equation.op.effects or (equation.op.multiple and any(map(effectful, bodies(equation.params))))


def effectful(program: Program) -> bool:
    """Whether a program does something besides its results.

    >>> effectful(Program((), (), ()))
    False
    """
    return remembered(program, "effects", lambda: any(map(has_effects, program.equations)))


def replaced(equation: Equation, inputs: Sequence[Any], outputs: Sequence[Var], params: dict[str, Any]) -> Equation:
    """An equation of the same op and source."""
    return Equation(equation.op, inputs, outputs, params, equation.source)


__all__ = [
    "Mask", "alike", "carried", "check_body", "chosen", "closed", "effectful", "has_effects", "needed", "opened", "replaced",
    "same_extents", "taking", "traced", "without_dead_code",
]  # fmt: skip
