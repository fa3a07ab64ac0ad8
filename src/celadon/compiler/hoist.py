"""A loop's body in; out, the part of it that no step changes, as a program of its constants, and the body without that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from celadon.program import Equation, Operand, Program, Var, bodies
from celadon.vocabulary.bodies import has_effects, without_dead_code

_CONSTANTS = {"scan": ("consts",), "while_loop": ("condition_consts", "body_consts")}
# What costs nothing within a step: views of memory, and what comes from no array.
_LIGHT = frozenset({"broadcast_in_dim", "reshape", "transpose", "slice", "reverse", "bitcast_convert", "iota"})
_HEAVY = frozenset({"elementwise", "reduce", "contract", "cumulative", "sort", "index", "move", "window", "linalg"})


class Parted(NamedTuple):
    """What of a body is computed ahead of its loop: a program of the constants; and the body, which takes its results first."""

    ahead: Program
    body: Program
    consts: int


def parted(equation: Equation) -> list[Parted]:
    """The bodies of a loop, each in two; none if there is nothing to compute ahead.

    Whether a thing is computed ahead depends on ops alone, never on extents: it must be work, and no larger than what it
    comes from.
    """
    counts = [equation.params[name] for name in _CONSTANTS.get(equation.op.name, ())]
    found = [_parted(body, count) for body, count in zip(bodies(equation.params), counts, strict=False)]
    return found if any(one.ahead.outputs for one in found) else []


def _parted(body: Program, consts: int) -> Parted:
    still: dict[Operand, bool] = dict.fromkeys(body.inputs[:consts], True)  # and whether it is as large as its sources
    heavy: set[Operand] = set()
    ahead: list[Equation] = []
    for equation in body.equations:
        variables = [x for x in equation.inputs if type(x) is Var]
        if has_effects(equation) or any(x not in still for x in variables) or not _is_movable(equation):
            continue
        whole = equation.op.name not in ("broadcast_in_dim", "iota") and any(still[x] for x in variables)
        is_heavy = whole and equation.op.name not in _LIGHT
        if is_heavy or equation.op.name in _LIGHT:
            ahead.append(equation)
            still.update(dict.fromkeys(equation.outputs, whole))
            heavy.update(equation.outputs if is_heavy else ())
    inside = [equation for equation in body.equations if heavy.isdisjoint(equation.outputs)]
    read = {x for equation in inside for x in equation.inputs} | set(body.outputs)
    wanted = [var for equation in ahead for var in equation.outputs if var in heavy and var in read]
    if not wanted:
        return Parted(Program(body.inputs[:consts], (), ()), body, consts)
    left = without_dead_code(Program([*wanted, *body.inputs], inside, body.outputs, (), body.name))
    return Parted(without_dead_code(Program(body.inputs[:consts], ahead, wanted, (), body.name)), left, consts)


def _is_movable(equation: Equation) -> bool:
    return equation.op.kind in _HEAVY or equation.op.name in _LIGHT


def operands_of(equation: Equation, parts: Sequence[Parted]) -> list[Sequence[Operand]]:
    """The constants of each body among the operands of a loop."""
    found: list[Sequence[Operand]] = []
    start = 0
    for part in parts:
        found.append(equation.inputs[start : start + part.consts])
        start += part.consts
    return found
