"""The rules of call: a program inside a program is transformed once for all of its calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from celadon import tracing
from celadon.program import Program, Var
from celadon.transforms import derived
from celadon.transforms.backward import Linear
from celadon.transforms.batching import Batch
from celadon.vocabulary.call import call

Values = Sequence[Any]


def moving(values: Values) -> tuple[bool, ...]:
    return tuple([x is not None for x in values])


def spread(values: Values, marks: Sequence[bool]) -> list[Any]:
    """Values at the places that are marked, None at the others."""
    rest = iter(values)
    return [next(rest) if mark else None for mark in marks]


def tangent_rule(primals: Values, tangents: Values, *, program: Program) -> tuple[list[Any], list[Any]]:
    """The results and their tangents, of which those that are not moved are None."""
    marks, given = moving(tangents), [t for t in tangents if t is not None]
    count = len(program.outputs)
    if isinstance(tracing.active(), Linear):
        parts = derived.linearized(program, marks)
        found = call(*primals, program=parts.forward)
        residuals = parts.gathered(primals, found[count:])
        return found[:count], spread(call(*residuals, *given, program=parts.linear), parts.moved)
    forward = derived.jvp_of(program, marks)
    found = call(*primals, *given, program=forward.program)
    return found[:count], spread(found[count:], forward.moved)


def transpose_rule(cts: Values, operands: Values, *, program: Program) -> list[Any]:
    """The cotangents of the operands; None where there is none."""
    linear = tuple([type(x) is Var for x in operands])
    back = derived.transposed(program, linear, moving(cts))
    known = [x for x in operands if type(x) is not Var]
    found = call(*known, *[ct for ct in cts if ct is not None], program=back.program)
    return spread(spread(found, back.moved), linear)


def batch_rule(batch: Batch, axes: Sequence[int | None], values: Values, *, program: Program) -> tuple[list[Any], Sequence[Any]]:
    """The results for a whole batch, and the axis of each along which its members lie."""
    mapped = derived.batched(program, tuple(axes), (batch.size, batch.axis_name))
    return call(*values, program=mapped.program), mapped.axes
