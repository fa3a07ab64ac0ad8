"""scan: a body applied along the leading axis of arrays while values are carried; a macro op made of while_loop."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from celadon import errors
from celadon.op import Axis, Op
from celadon.program import Equation, Operand, Program, Var, fixed, literal, remembered
from celadon.types import ArrayType, Shape, canonical
from celadon.vocabulary.arithmetic import add, subtract
from celadon.vocabulary.bodies import carried, check_body, chosen, replaced, same_extents, taking, traced
from celadon.vocabulary.call import call, execute, named
from celadon.vocabulary.comparison import compare
from celadon.vocabulary.control import parts, while_loop
from celadon.vocabulary.index import dynamic_slice, dynamic_update_slice
from celadon.vocabulary.shape import broadcast_in_dim, concatenate, reshape, slice_

Array = Any
Values = Sequence[Any]


def row_type(x: ArrayType) -> ArrayType:
    """The type of what one step gets of an array."""
    return x.with_shape(x.shape[1:])


def stacked_type(x: ArrayType, length: int) -> ArrayType:
    """The type of what all steps together make of a value."""
    return x.with_shape((length, *x.shape))


def _scan_type(
    *operands: ArrayType, body: Program, length: int, reverse: bool, unroll: int, consts: int, carry: int
) -> list[ArrayType]:
    """The body maps constants, carried values and rows of arrays to carried values and rows of the stacked results."""
    held, state, xs = parts(operands, consts, carry)
    for x in xs:
        if not x.shape or x.shape[0] != length:
            raise errors.BodyUnfit(op="scan", operands=str(x), body=f"arrays with a leading axis of {length}")
    made = [x.type for x in body.outputs]
    check_body("scan", body, [*held, *state, *map(row_type, xs)], [*state, *made[carry:]])
    return [*made[:carry], *(stacked_type(t, length) for t in made[carry:])]


def _scan(
    *operands: Array, body: Program, length: int, reverse: bool, unroll: int, consts: int, carry: int
) -> list[Array]:
    held, state, xs = parts(operands, consts, carry)
    stacks = [np.empty((length, *x.type.shape), x.type.dtype) for x in body.outputs[carry:]]
    for i in reversed(range(length)) if reverse else range(length):
        found = execute(body, [*held, *state, *(x[i] for x in xs)])
        state = found[:carry]
        for stack, y in zip(stacks, found[carry:], strict=True):
            stack[i] = y
    return [*state, *stacks]


def _unite_scan(equation: Equation) -> Iterable[tuple[Axis, Axis]]:
    params = equation.params
    body, carry, first = params["body"], params["carry"], params["consts"] + params["carry"]
    xs, ys = equation.inputs[first:], equation.outputs[carry:]
    yield from same_extents(equation.inputs[:first], body.inputs[:first])
    yield from same_extents(xs, body.inputs[first:], 1)
    yield from same_extents(equation.outputs[:carry], body.outputs[:carry])
    yield from same_extents(equation.outputs[:carry], body.inputs[params["consts"] : first])
    yield from same_extents(ys, body.outputs[carry:], 1)
    scanned = [x for x in (*xs, *ys) if isinstance(x, Var)]
    yield from [((scanned[0], 0), (x, 0)) for x in scanned[1:]]


def _widen_scan(equation: Equation, bodies: Sequence[Program], operands: Sequence[Sequence[Operand]]) -> Equation:
    changed = {"body": bodies[0], "consts": equation.params["consts"] + len(operands[0])}
    return replaced(equation, [*operands[0], *equation.inputs], equation.outputs, equation.params | changed)


def _prune_scan(equation: Equation, wanted: Sequence[bool]) -> Equation:
    params = equation.params
    held, carry = params["consts"], params["carry"]
    keep, body, taken = carried(params["body"], tuple(wanted), held, carry)
    if all(keep + taken) and body is params["body"]:
        return equation
    counts = {"consts": sum(taken[:held]), "carry": sum(keep[:carry])}
    inputs, outputs = chosen(equation.inputs, taken), chosen(equation.outputs, keep)
    return replaced(equation, inputs, outputs, params | counts | {"body": taking(body, taken)})


# The loop that it stands for


@named("dynamic_index_in_dim")
def row_at(x: Any, i: Any) -> Any:
    """Row i of an array."""
    shape, zero = x.type.shape, fixed(0, i.type.dtype)
    found = dynamic_slice(x, i, *[zero] * (len(shape) - 1), slice_sizes=(1, *shape[1:]))
    return reshape(found, shape=shape[1:])


@named("dynamic_update_index_in_dim")
def with_row(x: Any, row: Any, i: Any) -> Any:
    """The array with another row i."""
    zero = fixed(0, i.type.dtype)
    return dynamic_update_slice(x, expanded(row), i, *[zero] * row.type.ndim)


def expanded(x: Any) -> Any:
    """The array with a leading axis of 1."""
    shape = x.type.shape
    return broadcast_in_dim(x, shape=(1, *shape), broadcast_dimensions=tuple(range(1, len(shape) + 1)))


def static_row(x: Any, i: int) -> Any:
    """Row i of an array, known while tracing."""
    shape = x.type.shape
    return reshape(rows(x, i, i + 1), shape=shape[1:])


def rows(x: Any, start: int, stop: int) -> Any:
    """Some rows of an array, known while tracing."""
    shape = x.type.shape
    zeros = (0,) * (len(shape) - 1)
    return slice_(x, start_indices=(start, *zeros), limit_indices=(stop, *shape[1:]), strides=(1,) * len(shape))


def stacked(ones: Values) -> Any:
    """Arrays along a new leading axis."""
    found = [expanded(row) for row in ones]
    return concatenate(*found, dimension=0) if len(found) > 1 else found[0]


def _empty(type: ArrayType, leading: Shape) -> Any:
    return broadcast_in_dim(fixed(0, type.dtype), shape=leading + type.shape, broadcast_dimensions=())


def _split(x: Any, start: int, reverse: bool) -> tuple[Any, Any]:
    """The rows that the loop takes and those that stand beside it; in reverse these are the first."""
    first, second = rows(x, 0, start), rows(x, start, x.type.shape[0])
    return (second, first) if reverse else (first, second)


class _Loop:
    """A scan as a loop of `trips` rounds of `unroll` steps, and `rest` steps beside it."""

    def __init__(self, body: Program, held: Values, carry: int, reverse: bool):
        self.body = remembered(body, "closed_call", lambda: replace(body, name="closed_call"))
        self.held, self.carry, self.reverse = held, carry, reverse

    def step(self, state: Values, taken: Values) -> tuple[list[Any], list[Any]]:
        found = call(*self.held, *state, *taken, program=self.body)
        return found[: self.carry], found[self.carry :]

    def unrolled(self, count: int, state: Values, xs: Values) -> tuple[list[Any], list[Any]]:
        made: list[list[Any]] = []
        for i in reversed(range(count)) if self.reverse else range(count):
            state, ys = self.step(state, [static_row(x, i) for x in xs])
            made.append(ys)
        made = made[::-1] if self.reverse else made
        return list(state), [stacked(ys) for ys in zip(*made, strict=True)]

    def rolled(self, trips: int, unroll: int, state: Values, xs: Values) -> tuple[list[Any], list[Any]]:
        outputs = [x.type for x in self.body.outputs[self.carry :]]
        leading = (trips,) if unroll == 1 else (trips, unroll)
        xs = xs if unroll == 1 else [reshape(x, shape=(*leading, *x.type.shape[1:])) for x in xs]
        start = [*state, *(_empty(t, leading) for t in outputs)]
        if trips:
            start = self._while(trips, unroll, start, xs)
        ys = start[self.carry :]
        ys = ys if unroll == 1 else [reshape(y, shape=(trips * unroll, *y.type.shape[2:])) for y in ys]
        return start[: self.carry], ys

    def _while(self, trips: int, unroll: int, start: Values, xs: Values) -> list[Any]:
        index = ArrayType((), canonical(np.int64), True)
        types = [index, *(x.type for x in start)]

        def going(i: Any, *rest: Any) -> Values:
            return [compare(i, literal(trips, index.dtype), direction="LT")]

        def step(i: Any, *rest: Any) -> Values:
            place = i
            if self.reverse:
                place = subtract(subtract(literal(trips, index.dtype), i), fixed(1, index.dtype))
            taken = [row_at(x, place) for x in xs]
            state, stacks = rest[: self.carry], rest[self.carry :]
            state, ys = self.step(state, taken) if unroll == 1 else self.unrolled(unroll, state, taken)
            stacks = [with_row(stack, y, place) for stack, y in zip(stacks, ys, strict=True)]
            return [add(i, fixed(1, index.dtype)), *state, *stacks]

        condition, tested = traced("cond", going, types)
        body, held = traced("body", step, types)
        counts = {"condition_consts": len(tested), "body_consts": len(held)}
        first = fixed(0, index.dtype)
        return while_loop(*tested, *held, first, *start, condition=condition, body=body, **counts)[1:]


def _expand_scan(
    *operands: Any, body: Program, length: int, reverse: bool, unroll: int, consts: int, carry: int
) -> list[Any]:
    held, state, xs = parts(operands, consts, carry)
    loop = _Loop(body, held, carry, reverse)
    trips, rest = divmod(length, unroll) if unroll else (0, length)
    if unroll != 1 and trips == 1 and not rest:
        trips, rest = 0, length
    beside: list[Any] = []
    if rest and unroll != 1:
        split = [_split(x, rest if reverse else trips * unroll, reverse) for x in xs]
        xs, beside = [a for a, _ in split], [b for _, b in split]
    state, ys = loop.rolled(trips, unroll if trips else 1, state, xs)
    if rest:
        state, more = loop.unrolled(rest, state, beside)
        pairs = zip(more, ys, strict=True) if reverse else zip(ys, more, strict=True)
        ys = [concatenate(a, b, dimension=0) for a, b in pairs]
    return [*state, *ys]


scan = Op(
    "scan", _scan_type, _scan, expand=_expand_scan, multiple=True, unite=_unite_scan, widen=_widen_scan,
    prune=_prune_scan, numbers=("length", "unroll"), kind="control",
)  # fmt: skip
