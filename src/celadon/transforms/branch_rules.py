"""The rules of cond: its derivative, the same in a forward and a linear part, the latter backwards, and batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from celadon import tracing
from celadon.program import Operand, Program, Var, fixed
from celadon.transforms import derived
from celadon.transforms.backward import Linear
from celadon.transforms.batching import Batch, leading
from celadon.transforms.calls import moving, spread
from celadon.transforms.derived import Linearized, Mask
from celadon.transforms.forward import instantiated, zeros
from celadon.transforms.replay import replay
from celadon.transforms.scan_rules import given
from celadon.types import ArrayType, int32, is_inexact
from celadon.vocabulary.bodies import effectful, traced
from celadon.vocabulary.comparison import compare, select
from celadon.vocabulary.control import cond
from celadon.vocabulary.shape import broadcast_in_dim
from celadon.vocabulary.stop_gradient import stop_gradient

Values = Sequence[Any]
Rule = tuple[list[Any], list[Any]]


def _chosen(index: Any, operands: Values, branches: Sequence[Program]) -> list[Any]:
    if not branches[0].outputs and not any(map(effectful, branches)):
        return []
    programs, captured = _together(branches)
    return cond(index, *captured, *operands, branches=tuple(programs))


def _together(programs: Sequence[Program]) -> tuple[Sequence[Program], list[Any]]:
    """Programs that take what all of them captured as first inputs."""
    captured = [kept for program in programs for _, kept in program.captures]
    if not captured:
        return programs, []
    found: list[Program] = []
    for k, program in enumerate(programs):
        first = [var if own == k else Var(var.type) for own, one in enumerate(programs) for var, _ in one.captures]
        found.append(Program([*first, *program.inputs], program.equations, program.outputs, (), program.name))
    return found, captured


def _any(marks: Sequence[Mask]) -> Mask:
    return tuple([any(column) for column in zip(*marks, strict=True)])


# Derivatives


def tangent_rule(primals: Values, tangents: Values, *, branches: Sequence[Program]) -> Rule:
    """The results and their tangents, of which those that are not moved are None."""
    index, *operands = primals
    marks = moving(tangents[1:])
    if isinstance(tracing.active(), Linear):
        return _linear(index, operands, tangents[1:], branches)
    whole = _any([derived.jvp_of(branch, marks).moved for branch in branches])
    programs = [derived.jvp_of(branch, marks, whole).program for branch in branches]
    found = _chosen(index, [*operands, *given(tangents[1:])], programs)
    count = len(branches[0].outputs)
    return found[:count], spread(found[count:], whole)


def _linear(index: Any, operands: Values, tangents: Values, branches: Sequence[Program]) -> Rule:
    """What the linear parts need of a branch is handed over in slots, each for one residual of every branch at most."""
    marks, count = moving(tangents), len(branches[0].outputs)
    whole = _any([derived.linearized(branch, marks).moved for branch in branches])
    parts = [derived.linearized(branch, marks, whole) for branch in branches]
    slots, places = _slots(parts, count)
    forwards = [_filling(part, place, slots, count) for part, place in zip(parts, places, strict=True)]
    found = _chosen(index, operands, forwards)
    if not any(whole):
        return found[:count], [None] * count
    read = sorted({i for part in parts for i in part.residuals if i >= 0})
    order = {i: k for k, i in enumerate(read)}
    linears = [
        _reading(part, place, [*(operands[i].type for i in read), *slots], order)
        for part, place in zip(parts, places, strict=True)
    ]
    given_values = [*(operands[i] for i in read), *found[count:], *given(tangents)]
    return found[:count], spread(_chosen(index, given_values, linears), whole)


def _slots(parts: Sequence[Linearized], count: int) -> tuple[list[ArrayType], list[list[int]]]:
    """Types of the slots, and for each branch the slot of each residual that its forward part makes."""
    slots: list[ArrayType] = []
    places: list[list[int]] = []
    for part in parts:
        free: dict[ArrayType, list[int]] = {}
        for k, type in enumerate(slots):
            free.setdefault(type, []).append(k)
        own: list[int] = []
        for x in part.forward.outputs[count:]:
            fitting = free.get(x.type.strong())
            own.append(fitting.pop(0) if fitting else len(slots))
            slots += [] if own[-1] < len(slots) else [x.type.strong()]
        places.append(own)
    return slots, places


def _filling(part: Linearized, own: Sequence[int], slots: Sequence[ArrayType], count: int) -> Program:
    """A forward part that returns every slot, zeros in those of other branches."""
    program = part.forward
    kept = dict(zip(own, program.outputs[count:], strict=True))
    missing = [type for k, type in enumerate(slots) if k not in kept]
    empty, _ = traced("empty", lambda: [zeros(type) for type in missing], [])
    rest = iter(empty.outputs)
    filled: list[Operand] = [kept[k] if k in kept else next(rest) for k in range(len(slots))]
    equations = [*program.equations, *empty.equations]
    return Program(program.inputs, equations, [*program.outputs[:count], *filled], program.captures, program.name)


def _reading(part: Linearized, own: Sequence[int], types: Sequence[ArrayType], order: dict[int, int]) -> Program:
    """A linear part whose first inputs are operands that any branch needs, then all slots."""
    program = part.linear
    count = len(part.residuals)
    places = [order[i] if i >= 0 else len(order) + own[-1 - i] for i in part.residuals]
    first: list[Var] = [Var(type) for type in types]
    for place, var in zip(places, program.inputs[:count], strict=True):
        first[place] = var
    return Program([*first, *program.inputs[count:]], program.equations, program.outputs, (), program.name)


# Backwards


def transpose_rule(cts: Values, operands: Values, *, branches: Sequence[Program]) -> list[Any]:
    """The cotangents of the operands; None where there is none."""
    index, *rest = operands
    linear, marks = tuple([type(x) is Var for x in rest]), moving(cts)
    backs = [derived.transposed(branch, linear, marks) for branch in branches]
    moved = _any([back.moved for back in backs])
    types = [x.type for x in rest if type(x) is Var]
    wanted = [t for t, one in zip(types, moved, strict=True) if one]
    programs = [_whole(back.program, _kept(back.moved, moved), wanted) for back in backs]
    known = [x for x in rest if type(x) is not Var]
    found = _chosen(index, [*known, *given(cts)], programs)
    return [None, *spread(spread(found, moved), linear)]


def _kept(own: Mask, moved: Mask) -> list[bool]:
    return [a for a, b in zip(own, moved, strict=True) if b]


def _whole(program: Program, own: Sequence[bool], types: Sequence[ArrayType]) -> Program:
    """The program with zeros where it has no cotangent and another branch has."""
    if all(own):
        return program

    def filled(*values: Any) -> list[Any]:
        found = spread(replay(program, values), own)
        return [instantiated(ct, t) for ct, t in zip(found, types, strict=True)]

    made, captured = traced(program.name, filled, [var.type for var in program.inputs])
    first = made.inputs[: len(captured)]
    captures = tuple(zip(first, captured, strict=True))
    return Program(made.inputs[len(captured) :], made.equations, made.outputs, captures, made.name)


# Batches


def batch_rule(batch: Batch, axes: Sequence[int | None], values: Values, *, branches: Sequence[Program]) -> Rule:
    """If members take different branches, all branches run and each member's result is chosen."""
    (index, *operands), (place, *given_axes) = values, axes
    named = batch.size, batch.axis_name
    if place is None:
        found = [derived.batched(branch, tuple(given_axes), named).axes for branch in branches]
        wanted = tuple([None if all(i is None for i in column) else 0 for column in zip(*found, strict=True)])
        programs = [derived.batched(branch, tuple(given_axes), named, wanted).program for branch in branches]
        return _chosen(index, operands, programs), list(wanted)
    index = leading(index, place, batch.size)
    sloped = [is_inexact(x.type.dtype) for x in operands]
    operands = [leading(x, i, batch.size) if one else x for x, i, one in zip(operands, given_axes, sloped, strict=True)]
    own_axes = tuple([0 if one else i for i, one in zip(given_axes, sloped, strict=True)])
    results: list[list[Any]] = []
    for k, branch in enumerate(branches):
        mapped = derived.batched(branch, own_axes, named)
        here = compare(index, fixed(k, int32), direction="EQ")
        made = replay(mapped.program, [_where_taken(here, x) for x in operands])
        results.append([leading(x, i, batch.size) for x, i in zip(made, mapped.axes, strict=True)])
    columns = zip(*results, strict=True)
    return [_selected(index, column) for column in columns], [0] * len(branches[0].outputs)


def _where_taken(here: Any, x: Any) -> Any:
    """The operand; to a derivative it is constant for members that do not take the branch, whose slope may be infinite."""
    return select(_spread(here, x.type.shape), x, stop_gradient(x)) if is_inexact(x.type.dtype) else x


def _spread(here: Any, shape: tuple[int, ...]) -> Any:
    return broadcast_in_dim(here, shape=shape, broadcast_dimensions=(0,)) if len(shape) > 1 else here


def _selected(index: Any, column: Sequence[Any]) -> Any:
    """Of the branches' results those that the indices name; the last one's where an index is out of range."""
    found = column[-1]
    for k in reversed(range(len(column) - 1)):
        here = compare(index, fixed(k, int32), direction="EQ")
        found = select(_spread(here, found.type.shape), column[k], found)
    return found
