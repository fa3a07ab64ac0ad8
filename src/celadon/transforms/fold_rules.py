"""The rules of reduce and reduce_window: derivatives through elements combined in pairs, batches as one more axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from celadon.program import Program, Var, fixed, remembered
from celadon.tracing import recorded
from celadon.transforms import derived
from celadon.transforms.batching import Batch, leading, member
from celadon.transforms.forward import filled
from celadon.transforms.replay import replay
from celadon.types import ArrayType, bool_, kind
from celadon.vocabulary.bitwise import or_
from celadon.vocabulary.call import call
from celadon.vocabulary.comparison import compare, select
from celadon.vocabulary.kinds import like
from celadon.vocabulary.reduce import highest, kept_axes, lowest
from celadon.vocabulary.shape import beside, concatenate, inserted, pad, reshape, slice_, transpose
from celadon.vocabulary.window import combination, reduce, reduce_window

Values = Sequence[Any]
Params = dict[str, Any]
Rule = tuple[list[Any], list[Any]]


def combined(body: Program, first: Values, second: Values) -> list[Any]:
    """A body of two scalars (or pairs of several) applied to all elements of arrays of one shape."""
    shape = first[0].type.shape
    if all(equation.op.kind == "elementwise" for equation in body.equations):
        found = replay(body, [*first, *second])
    else:
        size, count = math.prod(shape), len(first)
        mapped = derived.batched(body, (0,) * (2 * count), (size, None), (0,) * count)
        flat = [reshape(x, shape=(size,)) for x in (*first, *second)]
        found = [reshape(x, shape=shape) for x in call(*flat, program=mapped.program)]
    return [x if x.type.shape == shape else filled(x, x.type.with_shape(shape)) for x in found]


def _chosen(body: Program, first: Values, second: Values) -> list[Any]:
    """As `combined`; of a maximum or minimum the first of equal elements has the derivative, as in a pooling layer."""
    direction = {"maximum": "GE", "minimum": "LE"}.get(combination(body))
    [x, *_], [y, *_] = first, second
    if direction is None or kind(x.type.dtype) == "c":
        return combined(body, first, second)
    wins = compare(x, y, direction=direction)
    if kind(x.type.dtype) == "f":
        wins = or_(wins, compare(x, x, direction="NE"))
    return [select(wins, x, y)]


# reduce


def folded(*operands: Any, axes: tuple[int, ...], body: Program) -> list[Any]:
    """The meaning of reduce: neighbours are combined until one is left."""
    count = len(operands) // 2
    starts, kept = operands[count:], kept_axes(operands[0].type.ndim, axes)
    shape = operands[0].type.shape
    rest = tuple([shape[i] for i in kept])
    n = math.prod(shape[i] for i in axes)
    xs = [reshape(transpose(x, permutation=(*axes, *kept)), shape=(n, *rest)) for x in operands[:count]]
    spread = [filled(x, x.type.with_shape(rest)) for x in starts]
    if n == 0:
        return spread
    while xs[0].type.shape[0] > 1:
        xs = _halved(body, xs)
    return combined(body, spread, [reshape(x, shape=rest) for x in xs])


def _halved(body: Program, xs: Values) -> list[Any]:
    n = xs[0].type.shape[0]
    even = n - n % 2
    both = combined(body, [_taken(x, 0, (0, even), 2) for x in xs], [_taken(x, 0, (1, even), 2) for x in xs])
    if even == n:
        return both
    return [concatenate(y, _taken(x, 0, (even, n), 1), dimension=0) for x, y in zip(xs, both, strict=True)]


def _taken(x: Any, axis: int, part: tuple[int, int], stride: int) -> Any:
    shape = x.type.shape
    starts, limits = inserted((0,) * (len(shape) - 1), axis, part[0]), (*shape[:axis], part[1], *shape[axis + 1 :])
    return slice_(x, start_indices=starts, limit_indices=limits, strides=inserted((1,) * (len(shape) - 1), axis, stride))


def reduce_tangent_rule(primals: Values, tangents: Values, **params: Any) -> Rule:
    """The results and their tangents, of which those that are not moved are None."""
    return _through("reduce", folded, primals, tangents, params)


def _through(name: str, function: Any, primals: Values, tangents: Values, params: Params) -> Rule:
    """The derivative of a call of the function that has an op's meaning."""
    program = _traced(name, function, tuple([x.type.strong() for x in primals]), params)
    assert call.tangent is not None
    return call.tangent(primals, tangents, program=program)


def _traced(name: str, function: Any, types: tuple[ArrayType, ...], params: Params) -> Program:
    def make() -> Program:
        with recorded(name, tracing=False) as record:
            return record.program(function(*[record.input(t) for t in types], **params))

    key = (name, types, *((k, x) for k, x in params.items() if k != "body"))
    return remembered(params["body"], key, make)


def reduce_batch_rule(batch: Batch, at: Sequence[int | None], values: Values, /, *, axes: tuple[int, ...], body: Program) -> Rule:
    """The results for a whole batch, and the axis of each along which its members lie."""
    count = len(values) // 2
    if any(i is not None for i in at[count:]):
        return _batched("reduce", folded, (batch, at), values, {"axes": axes, "body": body})
    xs, place = _together(batch, at[:count], values[:count])
    reduced = beside(axes, place)
    return reduce(*xs, *values[count:], axes=reduced, body=body), [place - sum(i < place for i in reduced)] * count


def _together(batch: Batch, axes: Sequence[int | None], xs: Values) -> tuple[list[Any], int]:
    """Values with their batch at one place."""
    places = {i for i in axes if i is not None}
    if len(places) == 1 and None not in axes:
        return list(xs), places.pop()
    return [leading(x, i, batch.size) for x, i in zip(xs, axes, strict=True)], 0


def _batched(name: str, function: Any, at: tuple[Batch, Sequence[int | None]], values: Values, params: Params) -> Rule:
    """Initial values that differ from member to member: no reduction has them, the function that has its meaning does."""
    batch, axes = at
    types = tuple([member(x.type, i).strong() for x, i in zip(values, axes, strict=True)])
    assert call.batch is not None
    return call.batch(batch, axes, values, program=_traced(name, function, types, params))


# reduce_window


def slid(*operands: Any, body: Program, **params: Any) -> list[Any]:
    """The meaning of reduce_window: elements that lie apart along an axis are combined, one axis after the other."""
    count = len(operands) // 2
    xs, starts = operands[:count], operands[count:]
    shape = reduce_window.result_type(*[x.type for x in operands], body=body, **params)[0].shape
    spread = [filled(x, x.type.with_shape(shape)) for x in starts]
    if 0 in (*shape, *params["window_dimensions"]):
        return spread
    body, found = _padded(body, xs, starts, params)
    for axis in reversed(range(len(shape))):
        found = _window_along(body, found, axis, (params["window_dimensions"][axis], params["window_dilations"][axis]))
        found = [_taken(x, axis, (0, x.type.shape[axis]), params["window_strides"][axis]) for x in found]
    if len(found) > count:
        spread.append(filled(fixed(True, bool_), ArrayType(shape, bool_)))
    return _chosen(body, found, spread)[:count]


_UNCHANGING: dict[str, Any] = {"add": lambda dtype: 0, "multiply": lambda dtype: 1, "maximum": lowest, "minimum": highest}


def _padded(body: Program, xs: Values, starts: Values, params: Params) -> tuple[Program, list[Any]]:
    """Padding takes no part: it is what changes nothing, or a further operand of the body says where elements are."""
    holes = tuple([d - 1 for d in params["base_dilations"]])
    low, high = zip(*params["padding"], strict=True) if holes else ((), ())
    widths = {"low": low, "high": high, "interior": holes}
    dtypes = [x.type.dtype for x in xs]
    name = combination(body)
    if name in _UNCHANGING and kind(dtypes[0]) != "c":
        return body, [pad(xs[0], fixed(_UNCHANGING[name](dtypes[0]), dtypes[0]), **widths)]
    there = filled(fixed(True, bool_), ArrayType(xs[0].type.shape, bool_))
    padded = [pad(x, start, **widths) for x, start in zip(xs, starts, strict=True)]
    return remembered(body, "marked", lambda: _marked(body)), [*padded, pad(there, fixed(False, bool_), **widths)]


def _marked(body: Program) -> Program:
    """The body of elements of which some are not there."""
    count = len(body.outputs)
    with recorded(body.name, tracing=False) as record:
        operands = [record.input(x.type) for x in body.inputs]
        first, second = record.input(ArrayType((), bool_)), record.input(ArrayType((), bool_))
        found = replay(body, operands)
        kept = [
            select(first, select(second, z, x), y)
            for x, y, z in zip(operands[:count], operands[count:], found, strict=True)
        ]
        outputs = [*kept, or_(first, second)]
        made = record.program(outputs)
    order = [*made.inputs[:count], made.inputs[-2], *made.inputs[count:-2], made.inputs[-1]]
    return replace(made, inputs=order)


def _window_along(body: Program, xs: Values, axis: int, window: tuple[int, int]) -> list[Any]:
    """`size` elements that lie `step` apart, combined from blocks of 1, 2, 4 ... of them."""
    size, step = window
    blocks, reach, found, done = list(xs), 1, None, 0
    while True:
        if size & reach:
            found = blocks if found is None else _beside(body, found, blocks, axis, done * step)
            done += reach
        if done == size:
            assert found is not None
            return found
        blocks, reach = _beside(body, blocks, blocks, axis, reach * step), 2 * reach


def _beside(body: Program, first: Values, second: Values, axis: int, distance: int) -> list[Any]:
    """Each element combined with the one of `second` that lies at a distance behind it."""
    n = second[0].type.shape[axis] - distance
    near = [_taken(x, axis, (0, n), 1) for x in first]
    return _chosen(body, near, [_taken(x, axis, (distance, distance + n), 1) for x in second])


def window_tangent_rule(primals: Values, tangents: Values, *, body: Program, **params: Any) -> Rule:
    """A sum is linear."""
    if combination(body) == "add" and tangents[1] is None:
        moving = reduce_window(tangents[0], fixed(0, primals[1].type.dtype), body=body, **params)
        return reduce_window(*primals, body=body, **params), moving
    return _through("reduce_window", slid, primals, tangents, params | {"body": body})


def window_transpose_rule(cts: Values, operands: Values, *, body: Program, **params: Any) -> list[Any]:
    """Of a sum: the cotangents, at the places of their windows, are summed in windows of the same form."""
    x, [ct] = operands[0], cts
    assert type(x) is Var and type(operands[1]) is not Var
    sizes, dilations = params["window_dimensions"], params["window_dilations"]
    padding: list[tuple[int, int]] = []
    for i, (n, size, dilation) in enumerate(zip(x.type.shape, sizes, dilations, strict=True)):
        reach = (size - 1) * dilation
        low = reach - params["padding"][i][0]
        own = max((ct.type.shape[i] - 1) * params["window_strides"][i] + 1, 0)
        padding.append((low, max((n - 1) * params["base_dilations"][i] + 1, 0) + reach - own - low))
    if 0 in (*x.type.shape, *ct.type.shape, *sizes):
        return [None, None]
    strides = {"window_strides": params["base_dilations"], "base_dilations": params["window_strides"]}
    given = params | strides | {"padding": tuple(padding)}
    return [reduce_window(ct, like(0, ct), body=body, **given)[0], None]


def window_batch_rule(batch: Batch, axes: Sequence[int | None], values: Values, **params: Any) -> Rule:
    """The results for a whole batch, and the axis of each along which its members lie."""
    count = len(values) // 2
    if any(i is not None for i in axes[count:]):
        return _batched("reduce_window", slid, (batch, axes), values, params)
    xs, place = _together(batch, axes[:count], values[:count])
    whole = {name: inserted(params[name], place, 1) for name in params if name not in ("body", "padding")}
    whole |= {"body": params["body"], "padding": inserted(params["padding"], place, (0, 0))}
    return reduce_window(*xs, *values[count:], **whole), [place] * count

__all__ = [
    "combined", "folded", "reduce_batch_rule", "reduce_tangent_rule", "slid", "window_batch_rule", "window_tangent_rule",
    "window_transpose_rule",
]  # fmt: skip
