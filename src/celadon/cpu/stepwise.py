"""A lowered program in; out, the same with loops over single elements for ops whose body no kernel can hold.

A kernel holds a body of elementwise ops on scalars. One with a loop, a branch, a table or a callback in it runs as a list of
steps of its own, once for each pair of elements, in the order of the op's meaning.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from celadon.cpu.scalar_bodies import scalar_body
from celadon.op import Op
from celadon.program import Equation, Program, Var, bodies, literal, remembered, with_bodies
from celadon.tracing import Record, Recorded, interpreting
from celadon.transforms.replay import replay
from celadon.types import Shape, bool_, int32
from celadon.vocabulary import arithmetic, bitwise, comparison, index, shape
from celadon.vocabulary.bodies import traced
from celadon.vocabulary.control import cond, while_loop
from celadon.vocabulary.conversion import convert
from celadon.vocabulary.scatter import batch_axes, gathered
from celadon.vocabulary.window import windows

Values = Sequence[Any]
Step = Callable[[Any, Values], Values]
COMBINING = frozenset(("index", "reduce", "window"))  # kinds of ops whose bodies combine single elements


def is_scalar(body: Program) -> bool:
    """Whether a kernel can hold a body."""
    return scalar_body(body) is not None


def stepwise(program: Program) -> Program:
    """The program with loops in place of what no kernel can hold; itself, if there is nothing of that kind.

    >>> stepwise(Program((), (), ())).equations
    ()
    """
    if not any(map(_has_any, program.equations)):
        return program
    return remembered(program, "stepwise", lambda: _rewritten(program))


def _has_any(equation: Equation) -> bool:
    if _is_apart(equation.op, equation.params):
        return True
    return equation.op.multiple and any(_has_any(inner) for body in bodies(equation.params) for inner in body.equations)


def _is_apart(op: Op, params: dict[str, Any]) -> bool:
    return op.kind in COMBINING and not all(map(is_scalar, bodies(params)))


def _rewritten(program: Program) -> Program:
    record = _Apart(program.name, tracing=False)
    held = {var: Recorded(record, var) for var, _ in program.captures}
    record.inputs = list(program.inputs)
    opened = replace(program, captures=tuple(held.items()))
    with interpreting(record):
        found = replay(opened, [Recorded(record, var) for var in program.inputs])
    return Program(program.inputs, record.equations, [record.operand(x) for x in found], program.captures, program.name)


class _Apart(Record):
    """A recorder that takes apart what no kernel can hold."""

    def apply(self, op: Op, operands: Sequence[Any], params: dict[str, Any]) -> Any:
        if op.multiple:
            params = with_bodies(params, stepwise)
        return _RULES[op.name](*operands, **params) if _is_apart(op, params) else super().apply(op, operands, params)


# --- loops and elements


def _counted(count: int, step: Step, state: Values) -> list[Any]:
    """The state after step(i, state) for i from 0 to count - 1."""
    first = literal(0, int32)
    types = [first.type, *(x.type.strong() for x in state)]
    body, held = traced("body", lambda i, *xs: [arithmetic.add(i, literal(1, int32)), *step(i, xs)], types)
    condition, _ = traced("condition", lambda i, *xs: [comparison.compare(i, literal(count, int32), direction="LT")], types)
    found = while_loop(
        *held, first, *state, condition=condition, body=body, condition_consts=0, body_consts=len(held)
    )
    return found[1:]


def _where(holds: Any, function: Callable[..., Values], state: Values) -> list[Any]:
    """function(*state) where a condition holds, else the state."""
    types = [x.type for x in state]
    same, _ = traced("kept", lambda *xs: xs, types)
    made, held = traced("taken", function, types)
    inputs = [*(Var(var.type) for var in made.inputs[: len(held)]), *same.inputs]
    return cond(convert(holds, new_dtype=int32), *held, *state, branches=(replace(same, inputs=inputs), made))


def _flat(x: Any) -> Any:
    return shape.reshape(x, shape=(x.type.size,))


def _element(x: Any, place: Any) -> Any:
    """One element of a vector; a place outside is moved in."""
    return shape.reshape(index.dynamic_slice(x, place, slice_sizes=(1,)), shape=())


def _with_element(x: Any, place: Any, value: Any) -> Any:
    return index.dynamic_update_slice(x, shape.reshape(value, shape=(1,)), place)


def _repeated(x: Any, extents: Shape) -> Any:
    return shape.broadcast_in_dim(x, shape=extents, broadcast_dimensions=())


# --- reductions


def _halves(operands: Values) -> tuple[Values, Values]:
    return operands[: len(operands) // 2], operands[len(operands) // 2 :]


def _reduced(*operands: Any, axes: tuple[int, ...], body: Program) -> list[Any]:
    xs, starts = _halves(operands)
    extents = xs[0].type.shape
    kept = tuple([i for i in range(len(extents)) if i not in axes])
    left, gone = tuple([extents[i] for i in kept]), math.prod(extents[i] for i in axes)
    columns = [_flat(shape.transpose(x, permutation=kept + axes)) for x in xs]

    def fold(line: Any, found: Values) -> list[Any]:
        first = arithmetic.multiply(line, literal(gone, int32))

        def step(i: Any, held: Values) -> list[Any]:
            return replay(body, [*held, *(_element(x, arithmetic.add(first, i)) for x in columns)])

        made = _counted(gone, step, starts)
        return [_with_element(x, line, one) for x, one in zip(found, made, strict=True)]

    return _by_lines(math.prod(left), left, fold, starts) if gone else [_repeated(start, left) for start in starts]


def _by_lines(count: int, extents: Shape, fold: Step, starts: Values) -> list[Any]:
    found = [_repeated(start, (count,)) for start in starts]
    return [shape.reshape(x, shape=extents) for x in (_counted(count, fold, found) if count else found)]


def _windowed(*operands: Any, body: Program, **params: Any) -> list[Any]:
    xs, starts = _halves(operands)
    extents, size, places, holds = _window_places(xs[0].type.shape, params)
    columns = [_flat(x) for x in xs]

    def fold(window: Any, found: Values) -> list[Any]:
        first = arithmetic.multiply(window, literal(size, int32))

        def step(i: Any, held: Values) -> list[Any]:
            at = arithmetic.add(first, i)
            place = _element(places, at)
            return _where(_element(holds, at), lambda *kept: replay(body, [*kept, *(_element(x, place) for x in columns)]), held)

        made = _counted(size, step, starts)
        return [_with_element(x, window, one) for x, one in zip(found, made, strict=True)]

    if not columns[0].type.size:
        return [_repeated(start, extents) for start in starts]
    return _by_lines(math.prod(extents), extents, fold, starts)


def _window_places(extents: Shape, params: dict[str, Any]) -> tuple[Shape, int, Any, Any]:
    """The extents of the result, how many places a window has, and for each of them, window by window, the element there in row
    order and whether there is one."""
    rank = len(extents)
    names = ("window_dimensions", "window_strides", "base_dilations", "window_dilations")
    sizes, strides, base, apart = (params.get(name, (1,) * rank) for name in names)
    padding = params["padding"]
    result = tuple(map(windows, extents, sizes, strides, zip(base, apart, strict=True), padding))
    whole = (*result, *sizes)
    places, holds = _repeated(literal(0, int32), whole), _repeated(literal(True, bool_), whole)
    for i, n in enumerate(extents):
        window, inner = (shape.iota(shape=whole, dtype=int32, dimension=k) for k in (i, rank + i))
        at = arithmetic.add(_times(window, strides[i]), _times(inner, apart[i]))
        at = arithmetic.subtract(at, literal(padding[i][0], int32))
        reach, step = literal((n - 1) * base[i] + 1 if n else 0, int32), literal(base[i], int32)
        inside = bitwise.and_(_compared(at, literal(0, int32), "GE"), _compared(at, reach, "LT"))
        inside = bitwise.and_(inside, _compared(arithmetic.remainder(at, step), literal(0, int32), "EQ"))
        holds = bitwise.and_(holds, inside)
        places = arithmetic.add(places, _times(arithmetic.divide(at, step), math.prod(extents[i + 1 :])))
    return result, math.prod(sizes), _flat(places), _flat(holds)


def _times(x: Any, factor: int) -> Any:
    return arithmetic.multiply(x, literal(factor, int32))


def _compared(x: Any, y: Any, direction: str) -> Any:
    return comparison.compare(x, y, direction=direction)


# --- scatters


def _scattered(x: Any, indices: Any, updates: Any, *, body: Program, **params: Any) -> list[Any]:
    """Each update's place is read from an array of places, -1 where the update is dropped."""
    if not x.type.size or not updates.type.size:
        return [x]
    order = (*batch_axes(updates.type.ndim, params), *params["update_window_dims"])
    numbers = shape.reshape(shape.iota(shape=(x.type.size,), dtype=int32, dimension=0), shape=x.type.shape)
    counted = arithmetic.add(numbers, literal(1, int32))
    zeros = _repeated(literal(0, int32), updates.type.shape)
    found = arithmetic.subtract(gathered(counted, indices, zeros, params), literal(1, int32))
    places, values = (_flat(shape.transpose(v, permutation=order)) for v in (found, updates))

    def step(i: Any, held: Values) -> list[Any]:
        place = _element(places, i)
        new = _element(values, i)

        def combined(whole: Any) -> list[Any]:
            return [_with_element(whole, place, replay(body, [_element(whole, place), new])[0])]

        return _where(_compared(place, literal(0, int32), "GE"), combined, held)

    [result] = _counted(updates.type.size, step, [_flat(x)])
    return [shape.reshape(result, shape=x.type.shape)]


def _selected(x: Any, source: Any, start: Any, *, select: Program, scatter: Program, **params: Any) -> list[Any]:
    _, size, places, holds = _window_places(x.type.shape, params)
    column, values = _flat(x), _flat(source)
    target = _repeated(start, (x.type.size,))

    def fold(window: Any, held: Values) -> list[Any]:
        first = arithmetic.multiply(window, literal(size, int32))

        def better(i: Any, best: Values) -> list[Any]:
            at = arithmetic.add(first, i)
            place = _element(places, at)

            def decided(*best: Any) -> list[Any]:
                stays = bitwise.and_(best[1], replay(select, [_element(column, best[0]), _element(column, place)])[0])
                return [comparison.select(stays, best[0], place), _repeated(literal(True, bool_), ())]

            return _where(_element(holds, at), decided, best)

        nothing = [_repeated(literal(0, int32), ()), _repeated(literal(False, bool_), ())]
        place, found = _counted(size, better, nothing)

        def combined(whole: Any) -> list[Any]:
            return [_with_element(whole, place, replay(scatter, [_element(whole, place), _element(values, window)])[0])]

        return _where(found, combined, held)

    if not x.type.size or not source.type.size:
        return [shape.reshape(target, shape=x.type.shape)]
    [result] = _counted(source.type.size, fold, [target])
    return [shape.reshape(result, shape=x.type.shape)]


_RULES: dict[str, Callable[..., list[Any]]] = {
    "reduce": _reduced,
    "reduce_window": _windowed,
    "scatter": _scattered,
    "select_and_scatter": _selected,
}

__all__ = ["is_scalar", "stepwise"]
