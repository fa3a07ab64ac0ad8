"""The rules of scan: its derivative, the same split in a forward and a linear scan, the latter backwards, and batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from celadon import tracing
from celadon.program import Literal, Operand, Program, Var, remembered
from celadon.tracing import interpreting
from celadon.transforms import derived
from celadon.transforms.backward import Linear, pull
from celadon.transforms.batching import Batch, at
from celadon.transforms.calls import moving, spread
from celadon.transforms.derived import Linearized, Mask
from celadon.transforms.forward import instantiated, zeros
from celadon.transforms.replay import replay
from celadon.vocabulary.arithmetic import add
from celadon.vocabulary.bodies import chosen, closed, effectful, has_effects, opened, traced, without_dead_code
from celadon.vocabulary.control import parts
from celadon.vocabulary.scan import scan

Values = Sequence[Any]
Params = dict[str, Any]
Rule = tuple[list[Any], list[Any]]


def either(first: Sequence[bool], second: Sequence[bool]) -> Mask:
    """Marks of what is marked in one of two."""
    return tuple([a or b for a, b in zip(first, second, strict=True)])


def given(values: Values) -> list[Any]:
    """The values that are not None."""
    return [x for x in values if x is not None]


def arranged(program: Program, order: Sequence[int], results: Sequence[int]) -> Program:
    """The program with its inputs and results in another order."""
    inputs, outputs = [program.inputs[i] for i in order], [program.outputs[i] for i in results]
    return remembered(
        program,
        ("arranged", tuple(order), tuple(results)),
        lambda: Program(inputs, program.equations, outputs, program.captures, program.name),
    )


# Derivatives


def tangent_rule(primals: Values, tangents: Values, *, body: Program, consts: int, carry: int, **params: Any) -> Rule:
    """The results and their tangents, of which those that are not moved are None."""
    marks = [tuple(one) for one in parts(moving(tangents), consts, carry)]
    if isinstance(tracing.active(), Linear):
        return _linear(primals, tangents, (body, consts, carry, params))
    rest = (False,) * (len(body.outputs) - carry)
    while True:
        forward = derived.jvp_of(body, sum(marks, ()), marks[1] + rest)
        after = either(marks[1], forward.moved[:carry])
        if after == marks[1]:
            break
        marks[1] = after
    dots = _instantiated(primals, tangents, sum(marks, ()))
    values = [*parts(primals, consts, carry), *parts(spread(dots, sum(marks, ())), consts, carry)]
    inputs = _interleaved(len(primals), consts, carry, marks)
    moved = sum(forward.moved[:carry])
    count = len(body.outputs)
    last = len(forward.program.outputs)
    results = [*range(carry), *range(count, count + moved), *range(carry, count), *range(count + moved, last)]
    program = arranged(forward.program, inputs, results)
    first, second = [[*a, *given(b)] for a, b in zip(values[:2], values[3:5], strict=True)]
    found = _scan(program, first, second, [*values[2], *given(values[5])], params)
    states, rows = found[: carry + moved], found[carry + moved :]
    ys = count - carry
    return [*states[:carry], *rows[:ys]], spread([*states[carry:], *rows[ys:]], forward.moved)


def _instantiated(primals: Values, tangents: Values, marks: Sequence[bool]) -> list[Any]:
    """Tangents of what moves, zeros where a loop makes it move later."""
    return [instantiated(t, x.type) for x, t, mark in zip(primals, tangents, marks, strict=True) if mark]


def _interleaved(count: int, consts: int, carry: int, marks: Sequence[Mask]) -> list[int]:
    """Inputs (primals, then tangents) as constants and their tangents, carried values and theirs, rows and theirs."""
    order: list[int] = []
    primal, dot = 0, count
    for size, mark in zip((consts, carry, count - consts - carry), marks, strict=True):
        order += range(primal, primal + size)
        order += range(dot, dot + sum(mark))
        primal, dot = primal + size, dot + sum(mark)
    return order


def _scan(body: Program, consts: Values, state: Values, xs: Values, params: Params) -> list[Any]:
    if not body.outputs and not effectful(body):
        return []
    body, captured = opened(body)
    consts = [*captured, *consts]
    return scan(*consts, *state, *xs, body=body, consts=len(consts), carry=len(state), **params)


class Parted(NamedTuple):
    """The forward part of a body, in three.

    known: the body whose results are its own, then what the linear part needs of each step. still: a program of the
    constants that gives what it needs and no step changes. held: captured values that are the first constants of both.
    residuals: for each residual ("const" or "row" or "still" or "stacked", its place among these).
    """

    known: Program
    still: Program
    held: tuple[Any, ...]
    residuals: tuple[tuple[str, int], ...]


def parted(made: Linearized, consts: int, carry: int) -> Parted:
    """What of a body's forward part stays within its scan, and what does not depend on the step."""
    return remembered(made.forward, ("parted", consts, carry), lambda: _parted(made, consts, carry))


def _parted(made: Linearized, consts: int, carry: int) -> Parted:
    forward, held = closed(made.forward), len(made.forward.captures)
    own = forward.inputs[held:]
    varying = _varying(forward, own[consts:])
    results = len(made.moved)
    still: list[Operand] = []
    stacks: list[Operand] = list(forward.outputs[:results])
    places = {x: k for k, x in enumerate(stacks) if k >= carry}
    residuals: list[tuple[str, int]] = []
    for i in made.residuals:
        x = own[i] if i >= 0 else forward.outputs[results - 1 - i]
        if 0 <= i < consts:
            residuals.append(("const", i))
        elif i >= consts + carry:
            residuals.append(("row", i))
        elif type(x) is Literal or x not in varying:
            residuals.append(("still", len(still)))
            still.append(x)
        else:
            place = places.setdefault(x, len(stacks))
            stacks += [x] if place == len(stacks) else []
            residuals.append(("stacked", place - carry))
    known = Program(forward.inputs, forward.equations, stacks, (), forward.name)
    quiet = [equation for equation in forward.equations if not has_effects(equation)]
    constants = Program(forward.inputs[: held + consts], quiet, still, (), forward.name)
    captured = tuple([kept for _, kept in made.forward.captures])
    return Parted(known, without_dead_code(constants), captured, tuple(residuals))


def _varying(program: Program, inputs: Sequence[Var]) -> set[Operand]:
    """The variables that depend on some inputs."""
    found: set[Operand] = set(inputs)
    for equation in program.equations:
        if not found.isdisjoint(equation.inputs):
            found.update(equation.outputs)
    return found


def _linear(primals: Values, tangents: Values, loop: tuple[Program, int, int, Params]) -> Rule:
    """A scan of the forward part, in the interpreter outside, and a scan of the linear part, which is recorded."""
    body, consts, carry, params = loop
    marks = [tuple(one) for one in parts(moving(tangents), consts, carry)]
    rest = (False,) * (len(body.outputs) - carry)
    while True:
        made = derived.linearized(body, sum(marks, ()), marks[1] + rest)
        after = either(marks[1], made.moved[:carry])
        if after == marks[1]:
            break
        marks[1] = after
    part = parted(made, consts, carry)
    held, state, xs = parts(primals, consts, carry)
    found = _scan(part.known, [*part.held, *held], state, xs, params)
    still = replay(part.still, [*part.held, *held]) if part.still.outputs else []
    sources = {"const": primals, "row": primals, "still": still, "stacked": found[carry:]}
    residuals = [(kind in ("row", "stacked"), sources[kind][place]) for kind, place in part.residuals]
    dots = _instantiated(primals, tangents, sum(marks, ()))
    if not any(made.moved):
        return found[: len(body.outputs)], [None] * len(body.outputs)
    count = len(residuals)
    fixed = [i for i, (stacked, _) in enumerate(residuals) if not stacked]
    rows = [i for i, (stacked, _) in enumerate(residuals) if stacked]
    program = arranged(made.linear, [*fixed, *range(count, len(made.linear.inputs)), *rows], range(len(made.linear.outputs)))
    c, s, x = parts(dots, sum(marks[0]), sum(marks[1]))
    out = _scan(program, [*(residuals[i][1] for i in fixed), *c], s, [*x, *(residuals[i][1] for i in rows)], params)
    return found[: len(body.outputs)], spread(out, made.moved)


# Backwards


class Backwards(NamedTuple):
    """A body that goes back: it takes `held`, constants, sums of cotangents of linear constants, cotangents of carried values
    and of rows, and rows. The masks say which linear constants, carried values and rows get a cotangent."""

    body: Program
    held: tuple[Any, ...]
    consts: Mask
    carry: Mask
    rows: Mask


def transpose_rule(cts: Values, operands: Values, *, body: Program, consts: int, carry: int, **params: Any) -> list[Any]:
    """The cotangents of the operands; None where there is none."""
    asked = tuple([type(x) is Var for x in operands])
    linear = remembered(body, ("linear", asked, consts, carry), lambda: _linear_inputs(body, asked, consts, carry))
    if not all(linear[consts : consts + carry]):
        return _split_first(cts, operands, (body, consts, carry, params))
    held, state, xs = parts(operands, consts, carry)
    known = [x for x in held if type(x) is not Var], [x for x in xs if type(x) is not Var]
    back = backwards(body, linear, moving(cts), (consts, carry))
    sums = [zeros(x.type) for x, got in zip(_linear_ones(held), back.consts, strict=True) if got]
    carried = [instantiated(ct, x.type) for ct, x, got in zip(cts, state, back.carry, strict=False) if got]
    rows = given(cts[carry:])
    back_params = params | {"reverse": not params["reverse"]}
    found = _scan(back.body, [*back.held, *known[0]], [*sums, *carried], [*rows, *known[1]], back_params)
    first, second, third = parts(found, len(sums), len(carried))
    spreads = [spread(first, back.consts), spread(second, back.carry), spread(third, back.rows)]
    found = spread([ct for column in spreads for ct in column], linear)
    return [ct if one else None for ct, one in zip(found, asked, strict=True)]


def _linear_inputs(body: Program, asked: Mask, consts: int, carry: int) -> Mask:
    """Which inputs depend on what is linear: carried values do if the next ones do, whatever they start from."""
    while True:
        varying = _varying(body, chosen(body.inputs, asked))
        after = tuple([x in varying for x in body.outputs[:carry]])
        more = asked[:consts] + either(asked[consts : consts + carry], after) + asked[consts + carry :]
        if more == asked:
            return asked
        asked = more


def _linear_ones(values: Values) -> list[Any]:
    return [x for x in values if type(x) is Var]


def backwards(body: Program, linear: Mask, ct_marks: Mask, sizes: tuple[int, int]) -> Backwards:
    """The body of the scan that takes cotangents back."""
    key = ("backwards", linear, ct_marks, sizes)
    return remembered(body, key, lambda: _backwards(body, linear, ct_marks, sizes))


def _backwards(body: Program, linear: Mask, ct_marks: Mask, sizes: tuple[int, int]) -> Backwards:
    consts, carry = sizes
    alive = ct_marks[:carry]
    count = sum(linear[:consts])
    while True:
        made = derived.transposed(body, linear, alive + ct_marks[carry:])
        after = either(alive, made.moved[count : count + carry])
        if after == alive:
            break
        alive = after
    got = [tuple(one) for one in parts(made.moved, count, carry)]
    known = [[var for var, one in zip(group, marks, strict=True) if not one] for group, marks in _groups(body, linear, sizes)]
    sums = chosen([var for var, one in zip(body.inputs, linear, strict=True) if one][:count], got[0])
    carried = chosen(body.inputs[consts : consts + carry], alive)
    rows = chosen(body.outputs[carry:], ct_marks[carry:])
    sections = [known[0], sums, carried, rows, known[1]]
    types = [x.type for section in sections for x in section]

    def step(*values: Any) -> list[Any]:
        rest = iter(values)
        held, totals, states, ys, xs = ([next(rest) for _ in section] for section in sections)
        found = iter(replay(made.program, [*held, *xs, *states, *ys]))
        one, two, three = ([next(found) if mark else None for mark in marks] for marks in got)
        next_sums = [add(total, ct) for total, ct in zip(totals, given(one), strict=True)]
        next_states = [instantiated(ct, var.type) for ct, var in zip(chosen(two, alive), carried, strict=True)]
        return [*next_sums, *next_states, *given(three)]

    program, held = traced(f"{body.name}_backwards", step, types)
    return Backwards(program, tuple(held), got[0], alive, got[2])


def _groups(body: Program, linear: Mask, sizes: tuple[int, int]) -> list[tuple[Sequence[Var], Mask]]:
    """The constants and the rows among a body's inputs, with the marks of the linear ones."""
    first = sum(sizes)
    return [(body.inputs[: sizes[0]], linear[: sizes[0]]), (body.inputs[first:], linear[first:])]


def _split_first(cts: Values, operands: Values, loop: tuple[Program, int, int, Params]) -> list[Any]:
    """Of a scan that carries more than what is linear, the linear part is recorded alone and goes back."""
    recorder = Linear("scan", tracing.active(), False)
    linear = [type(x) is Var for x in operands]
    tangents = [recorder.input(x.type) if one else None for x, one in zip(operands, linear, strict=True)]
    primals = [zeros(x.type) if one else x for x, one in zip(operands, linear, strict=True)]
    with interpreting(recorder):
        _, out = _linear(primals, tangents, loop)
    program = recorder.program([t for t in out if t is not None])
    recorder.open = False
    found = pull(program, [ct for ct, t in zip(cts, out, strict=True) if t is not None])
    return spread(found, linear)


# Batches


def batch_rule(
    batch: Batch, axes: Sequence[int | None], values: Values, *, body: Program, consts: int, carry: int, **params: Any
) -> tuple[list[Any], list[Any]]:
    """The results for a whole batch, and the axis of each along which its members lie."""
    held, state, xs = parts(values, consts, carry)
    held_axes, state_axes, xs_axes = parts(axes, consts, carry)
    row_axes = [None if i is None else max(i - 1, 0) for i in xs_axes]
    xs = [at(x, i, 1, batch.size) if i == 0 else x for x, i in zip(xs, xs_axes, strict=True)]
    marks: list[int | None] = [None if i is None else 0 for i in state_axes]
    rest = [None] * (len(body.outputs) - carry)
    while True:
        given_axes = (*held_axes, *marks, *row_axes)
        mapped = derived.batched(body, given_axes, (batch.size, batch.axis_name), (*marks, *rest))
        after = [None if a is None and b is None else 0 for a, b in zip(marks, mapped.axes, strict=False)]
        if after == marks:
            break
        marks = after
    state = [at(x, i, mark, batch.size) for x, i, mark in zip(state, state_axes, marks, strict=True)]
    found = _scan(mapped.program, held, state, xs, params)
    rows = [None if i is None else i + 1 for i in mapped.axes[carry:]]
    return found, [*marks, *rows]

__all__ = ["arranged", "backwards", "batch_rule", "either", "given", "parted", "tangent_rule", "transpose_rule"]
