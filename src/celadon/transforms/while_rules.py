"""The rules of while_loop: its derivative, and batches, whose members may end at different steps; it does not run backwards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from celadon import errors, tracing
from celadon.program import Program, Var
from celadon.transforms import derived
from celadon.transforms.backward import Linear
from celadon.transforms.batching import Batch, at
from celadon.transforms.calls import moving, spread
from celadon.transforms.derived import Mask
from celadon.transforms.forward import instantiated
from celadon.transforms.replay import replay
from celadon.transforms.scan_rules import arranged, either, given
from celadon.vocabulary.bodies import opened, traced
from celadon.vocabulary.comparison import select
from celadon.vocabulary.control import parts, while_loop
from celadon.vocabulary.reduce import reduce_or
from celadon.vocabulary.shape import broadcast_in_dim

Values = Sequence[Any]
Axes = Sequence[int | None]


def _looped(condition: Program, body: Program, tested: Values, held: Values, carry: Values) -> list[Any]:
    condition, captured = opened(condition)
    tested = [*captured, *tested]
    body, captured = opened(body)
    held = [*captured, *held]
    counts = {"condition_consts": len(tested), "body_consts": len(held)}
    return while_loop(*tested, *held, *carry, condition=condition, body=body, **counts)


def tangent_rule(
    primals: Values, tangents: Values, *, condition: Program, body: Program, condition_consts: int, body_consts: int
) -> tuple[list[Any], list[Any]]:
    """The loop of values and tangents; where tangents are recorded, the values are computed once more beside them."""
    tested, held, carry = parts(primals, condition_consts, body_consts)
    _, held_dots, dots = parts(tangents, condition_consts, body_consts)
    held_marks, marks = moving(held_dots), moving(dots)
    while True:
        forward = derived.jvp_of(body, held_marks + marks, marks)
        after = either(marks, forward.moved)
        if after == marks:
            break
        marks = after
    started = [instantiated(t, x.type) for x, t, mark in zip(carry, dots, marks, strict=True) if mark]
    count = len(carry)
    if not any(marks):
        return _looped(condition, body, tested, held, carry), [None] * count
    program = arranged(forward.program, _order(body_consts, count, held_marks, marks), range(len(forward.program.outputs)))
    test = _with_more(condition, [x.type for x in started])
    found = _looped(test, program, tested, [*held, *given(held_dots)], [*carry, *started])
    results = found[:count]
    if isinstance(tracing.active(), Linear):
        results = _looped(condition, body, tested, held, carry)
    return results, spread(found[count:], marks)


def _order(held: int, carry: int, held_marks: Mask, marks: Mask) -> list[int]:
    """Inputs (primals, then tangents of what moves) as: constants, their tangents, carried values, their tangents."""
    dots = held + carry
    moved = sum(held_marks)
    return [*range(held), *range(dots, dots + moved), *range(held, dots), *range(dots + moved, dots + moved + sum(marks))]


def _with_more(condition: Program, types: Sequence[Any]) -> Program:
    """A condition that is given more carried values, which it does not read."""
    inputs = [*condition.inputs, *(Var(t) for t in types)]
    return Program(inputs, condition.equations, condition.outputs, condition.captures, condition.name)


def transpose_rule(cts: Values, operands: Values, **params: Any) -> list[Any]:
    """The cotangents of the operands; None where there is none."""
    raise errors.WhileBackwards(where="")


def batch_rule(
    batch: Batch, axes: Axes, values: Values, *, condition: Program, body: Program, condition_consts: int, body_consts: int
) -> tuple[list[Any], list[Any]]:
    tested, held, carry = parts(values, condition_consts, body_consts)
    tested_axes, held_axes, carry_axes = parts(axes, condition_consts, body_consts)
    named = batch.size, batch.axis_name
    marks: list[int | None] = [None if i is None else 0 for i in carry_axes]
    while True:
        mapped = derived.batched(body, (*held_axes, *marks), named, tuple(marks))
        after = [None if a is None and b is None else 0 for a, b in zip(marks, mapped.axes, strict=True)]
        if after == marks:
            break
        marks = after
    test = derived.batched(condition, (*tested_axes, *marks), named)
    each = test.axes[0] is not None
    if each:
        marks = [0] * len(marks)
        mapped = derived.batched(body, (*held_axes, *marks), named, tuple(marks))
        test = derived.batched(condition, (*tested_axes, *marks), named, (0,))
    state = [at(x, i, mark, batch.size) for x, i, mark in zip(carry, carry_axes, marks, strict=True)]
    run = _each_its_own if each else _looped
    return run(test.program, mapped.program, tested, held, state), marks


def _each_its_own(condition: Program, body: Program, tested: Values, held: Values, state: Values) -> list[Any]:
    """A loop that goes on while any member does; members that have ended keep their values."""
    [going] = replay(condition, [*tested, *state])
    count = len(state)

    def step(*values: Any) -> list[Any]:
        first, second, (before, *old) = parts(values, len(tested), len(held))
        new = replay(body, [*second, *old])
        kept = [select(_spread(before, x.type.shape), x, y) for x, y in zip(new, old, strict=True)]
        return [replay(condition, [*first, *kept])[0], *kept]

    types = [x.type for x in (*tested, *held, going, *state)]
    program, captured = traced(body.name, step, types)
    test, _ = traced(condition.name, lambda *carry: [reduce_or(carry[0], axes=(0,))], types[-1 - count :])
    return _looped(test, program, [], [*captured, *tested, *held], [going, *state])[1:]


def _spread(going: Any, shape: tuple[int, ...]) -> Any:
    return broadcast_in_dim(going, shape=shape, broadcast_dimensions=(0,)) if len(shape) > 1 else going
