"""The op that writes at computed places: updates are combined with the elements there, one after the other."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from celadon import errors
from celadon.op import Axis, Op
from celadon.program import Equation, Program, Var, fixed
from celadon.types import ArrayType, Shape
from celadon.vocabulary.arithmetic import add, divide, greater, multiply, negate, smaller
from celadon.vocabulary.bitwise import or_
from celadon.vocabulary.call import for_each
from celadon.vocabulary.comparison import compare, select
from celadon.vocabulary.index import gather, inside, zeros_like
from celadon.vocabulary.kinds import INTEGER, checked_axes, like, require, same_dtype
from celadon.vocabulary.shape import broadcast_in_dim, in_front, iota, reshape, unite_first
from celadon.vocabulary.window import combination, combiner, second

Array = Any
Axes = tuple[int, ...]


def kept_axes(ndim: int, params: dict[str, Any]) -> Axes:
    """The axes of a scatter's operand that its windows have."""
    gone = (*params["inserted_window_dims"], *params.get("operand_batching_dims", ()))
    return tuple([i for i in range(ndim) if i not in gone])


def batch_axes(ndim: int, params: dict[str, Any]) -> Axes:
    """The axes of a scatter's updates that count its index vectors."""
    return tuple([i for i in range(ndim) if i not in params["update_window_dims"]])


def windows(shape: Shape, updates: Shape, params: dict[str, Any]) -> Shape:
    """The extents of a scatter's windows along the operand's axes."""
    found = [1] * len(shape)
    for axis, i in zip(kept_axes(len(shape), params), params["update_window_dims"], strict=True):
        found[axis] = updates[i]
    return tuple(found)


def _type(
    x: ArrayType,
    indices: ArrayType,
    updates: ArrayType,
    *,
    body: Program,
    update_window_dims: Axes,
    inserted_window_dims: Axes,
    scatter_dims_to_operand_dims: Axes,
    operand_batching_dims: Axes = (),
    scatter_indices_batching_dims: Axes = (),
    mode: str = "drop",
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
) -> list[ArrayType]:
    """C1 to C25, the index vector being the last axis of the indices."""
    require("scatter", indices, INTEGER)
    scalar = ArrayType((), same_dtype("scatter", x, updates))
    if [var.type.strong() for var in (*body.inputs, *body.outputs)] != [scalar] * 3:
        raise errors.BodyMismatch(op="scatter", operands=f"{x} and {updates}", body=body)
    gone = inserted_window_dims + operand_batching_dims
    checked_axes("scatter", gone, x.ndim)
    checked_axes("scatter", scatter_dims_to_operand_dims + operand_batching_dims, x.ndim)
    checked_axes("scatter", scatter_indices_batching_dims, indices.ndim - 1)
    checked_axes("scatter", update_window_dims, updates.ndim)
    for dims in (update_window_dims, inserted_window_dims, operand_batching_dims):
        _check(list(dims) == sorted(dims), f"{dims} must be in ascending order")
    _check(len(update_window_dims) + len(gone) == x.ndim, "every axis of the operand is a window's, inserted or batched")
    named = len(scatter_dims_to_operand_dims)
    _check(named == indices.shape[-1], "scatter_dims_to_operand_dims must be as long as an index vector")
    batched = [x.shape[i] for i in operand_batching_dims]
    paired = batched == [indices.shape[i] for i in scatter_indices_batching_dims]
    _check(paired, "batched axes of operand and indices must have equal extents")
    params = {"inserted_window_dims": gone, "update_window_dims": update_window_dims}
    counted = tuple([updates.shape[i] for i in batch_axes(updates.ndim, params)])
    _check(counted == indices.shape[:-1], f"updates of shape {updates.shape} don't fit indices of shape {indices.shape}")
    sizes = windows(x.shape, updates.shape, params)
    if any(sizes[i] > x.shape[i] for i in kept_axes(x.ndim, params)):
        raise errors.SliceTooLarge(op="scatter", shape=x.shape, sizes=sizes)
    return [x if updates.weak_type else x.strong()]


def _check(holds: bool, rule: str) -> None:
    if not holds:
        raise errors.ScatterMismatch(rule=rule)


def _scatter(
    x: Array, indices: Array, updates: Array, *, body: Program, mode: str = "drop", indices_are_sorted: bool = False,
    unique_indices: bool = False, **params: Any,
) -> list[Array]:  # fmt: skip
    """In the order of the index vectors; a window that is not wholly inside is dropped, or moved inside under "clip"."""
    batch = batch_axes(updates.ndim, params)
    values = np.transpose(updates, (*batch, *params["update_window_dims"]))
    sizes = windows(x.shape, updates.shape, params)
    starts, holds = _starts(x.shape, indices, sizes, params)
    result = np.array(x, order="C")
    if mode == "clip" and x.size:
        holds = np.ones_like(holds)
    if math.prod(indices.shape[:-1]) == 1:
        return [_one_window(result, values, body, [int(s.item()) for s in starts], holds, sizes, params)]
    places = _places(x.shape, starts, values.shape, params)
    chosen = np.broadcast_to(holds.reshape(holds.shape + (1,) * (values.ndim - holds.ndim)), values.shape)
    combine(result.reshape(-1), places[chosen], values[chosen], body)
    return [result]


def _starts(shape: Shape, indices: Array, sizes: Shape, params: dict[str, Any]) -> tuple[list[Array], Array]:
    """Where each window begins along each axis, moved inside, and whether it was inside."""
    batch = indices.shape[:-1]
    holds, starts = np.ones(batch, bool), [np.zeros(batch, np.int64) for _ in shape]
    for k, axis in enumerate(params["scatter_dims_to_operand_dims"]):
        start = indices[..., k]
        starts[axis] = inside(start, shape[axis] - sizes[axis])
        holds &= (start >= 0) & (start <= shape[axis] - sizes[axis])
    pairs = params.get("operand_batching_dims", ()), params.get("scatter_indices_batching_dims", ())
    for axis, i in zip(*pairs, strict=True):
        starts[axis] = np.broadcast_to(np.arange(batch[i]).reshape([-1 if k == i else 1 for k in range(len(batch))]), batch)
    return starts, holds


def _one_window(
    result: Array, values: Array, body: Program, starts: Sequence[int], holds: Array, sizes: Shape, params: dict[str, Any]
) -> Array:
    if holds.all() and values.size:
        place = tuple(slice(start, start + size) for start, size in zip(starts, sizes, strict=True))
        values = values.reshape(sizes)
        result[place] = values if combination(body) == "second" else for_each(body, [result[place], values])[0]
    return result


def _places(shape: Shape, starts: Sequence[Array], updates: Shape, params: dict[str, Any]) -> Array:
    """The place of each update among all elements in row order."""
    strides = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    batch = len(updates) - len(params["update_window_dims"])
    found = np.zeros(updates[:batch], np.int64)
    for start, stride in zip(starts, strides, strict=True):
        found = found + start * stride
    found = found.reshape(updates[:batch] + (1,) * (len(updates) - batch))
    for k, axis in enumerate(kept_axes(len(shape), params), batch):
        steps = np.arange(updates[k]) * strides[axis]
        found = found + steps.reshape([-1 if i == k else 1 for i in range(len(updates))])
    return np.broadcast_to(found, updates)


def combine(result: Array, places: Array, values: Array, body: Program) -> None:
    """Combine values with the elements of a vector at places, in place and in order."""
    name = combination(body)
    if name == "second":
        result[places] = values
    elif name in _AT and result.dtype.kind != "c":
        _AT[name].at(result, places, values)
    elif name in _EXTREMES and result.dtype.kind != "c":
        firsts, extremes = _halved(places, values, _EXTREMES[name])
        result[firsts] = _EXTREMES[name](result[firsts], extremes)
    else:
        for same in _rounds(places):
            result[places[same]] = for_each(body, [result[places[same]], values[same]])[0]


_AT: dict[str, np.ufunc] = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply}
_EXTREMES: dict[str, Callable[..., Any]] = {"maximum": greater, "minimum": smaller}


def _ranks(ordered: Array) -> Array:
    """For each of sorted numbers, how many equal ones stand before it."""
    new = np.flatnonzero(np.diff(ordered, prepend=ordered[:1] - 1))
    counted = np.arange(len(ordered))
    return counted - np.repeat(new, np.diff(np.append(new, len(ordered))))


def _rounds(places: Array) -> Iterable[Array]:
    """Indices of different places: first all that are met first, then those met again, and so on."""
    order = np.argsort(places, kind="stable")
    ranks = _ranks(places[order])
    by_rank = order[np.argsort(ranks, kind="stable")]
    borders = np.cumsum(np.bincount(ranks)) if len(ranks) else np.zeros(0, int)
    return [by_rank[a:b] for a, b in itertools.pairwise([0, *borders.tolist()])]


def _halved(places: Array, values: Array, pair: Callable[..., Any]) -> tuple[Array, Array]:
    """Each place once, with its values combined: neighbours in pairs, as often as needed."""
    order = np.argsort(places, kind="stable")
    places, values = places[order], values[order]
    while True:
        even = _ranks(places) % 2 == 0
        if even.all():
            return places, values
        odd = np.flatnonzero(~even)
        values[odd - 1] = pair(values[odd - 1], values[odd])
        places, values = places[even], values[even]


def _unite(equation: Equation) -> Iterable[tuple[Axis, Axis]]:
    """Operand and result have one shape; the updates count the index vectors, and batched axes are the indices'."""
    params = equation.params
    batch = batch_axes(equation.inputs[2].type.ndim, params)
    pairs = [*unite_first(equation), *(((1, i), (2, j)) for i, j in enumerate(batch))]
    batching = params.get("operand_batching_dims", ()), params.get("scatter_indices_batching_dims", ())
    return [*pairs, *(((0, i), (1, j)) for i, j in zip(*batching, strict=True))]


def _apply_type(x: ArrayType, indices: ArrayType, *, update_shape: Shape, **params: Any) -> list[ArrayType]:
    return _type(x, indices, ArrayType(update_shape, x.dtype, x.weak_type), **params)


def _apply(x: Array, indices: Array, *, update_shape: Shape, **params: Any) -> list[Array]:
    return _scatter(x, indices, np.zeros(update_shape, x.dtype), **params)


def _apply_expand(x: Any, indices: Any, *, update_shape: Shape, **params: Any) -> list[Any]:
    zeros = broadcast_in_dim(fixed(0, x.type.dtype), shape=update_shape, broadcast_dimensions=())
    return scatter(x, indices, zeros, **params)


def gathered(x: Any, indices: Any, updates: Any, params: dict[str, Any]) -> Any:
    """What stands where a scatter writes its updates: zero where it drops them."""
    if not updates.type.size:
        return zeros_like(updates)
    drops = params.get("mode", "drop") != "clip"
    return gather(
        x, indices, offset_dims=params["update_window_dims"], collapsed_slice_dims=params["inserted_window_dims"],
        start_index_map=params["scatter_dims_to_operand_dims"],
        operand_batching_dims=params.get("operand_batching_dims", ()),
        start_indices_batching_dims=params.get("scatter_indices_batching_dims", ()),
        slice_sizes=windows(x.type.shape, updates.type.shape, params), mode="fill" if drops else "clip",
        fill_value=0 if drops else None,
    )  # fmt: skip


def _added(x: Any, indices: Any, updates: Any, params: dict[str, Any]) -> Any:
    return scatter(x, indices, updates, body=combiner(add, x.type.dtype), **params)[0]


def _tangent(primals: Sequence[Any], tangents: Sequence[Any], *, body: Program, **params: Any) -> tuple[list[Any], list[Any]]:
    """Sums and replacements are linear in operand and updates together; products and extremes have rules of their own."""
    x, indices, updates = primals
    [out] = scatter(*primals, body=body, **params)
    t, _, u = [zeros_like(v) if m is None else m for v, m in zip(primals, tangents, strict=True)]
    match combination(body):
        case "add" | "subtract" | "second":
            return [out], scatter(t, indices, u, body=body, **params)
        case "multiply" if tangents[2] is None or params.get("unique_indices"):
            [scaled] = scatter(t, indices, updates, body=body, **params)
            return [out], [_added(scaled, indices, multiply(u, gathered(x, indices, updates, params)), params)]
        case "maximum" | "minimum":
            return [out], [_extreme_tangent(out, primals, (t, u), params)]
        case _:
            raise errors.NotDifferentiable(op=f"scatter ({body})")


def _extreme_tangent(out: Any, primals: Sequence[Any], moved: tuple[Any, Any], params: dict[str, Any]) -> Any:
    """The mean of the tangents of those that have won."""
    (x, indices, updates), (t, u) = primals, moved
    zero, one, nothing = like(0, x), like(1, x), zeros_like(x)
    stays = or_(compare(x, out, direction="EQ"), compare(x, x, direction="NE"))
    wins = compare(updates, gathered(out, indices, updates, params), direction="EQ")
    ones = select(wins, broadcast_in_dim(one, shape=updates.type.shape, broadcast_dimensions=()), zero)
    count = _added(select(stays, broadcast_in_dim(one, shape=x.type.shape, broadcast_dimensions=()), zero), indices, ones, params)
    total = _added(select(stays, t, nothing), indices, select(wins, u, zeros_like(u)), params)
    return divide(total, count)


def _transpose(cts: Sequence[Any], operands: Sequence[Any], *, body: Program, **params: Any) -> list[Any]:
    (x, indices, updates), [ct] = operands, cts
    name, found = combination(body), [None, None, None]
    if type(x) is Var:
        replaced = zeros_like(updates) if name == "second" else updates
        found[0] = ct if name in ("add", "subtract") else scatter(ct, indices, replaced, body=body, **params)[0]
    if type(updates) is Var:
        part = gathered(ct, indices, updates, params)
        found[2] = negate(part) if name == "subtract" else part
        if name == "second" and not params.get("unique_indices"):
            found[2] = select(_stays(ct, indices, updates, params), part, zeros_like(updates))
    return found


def _stays(x: Any, indices: Any, updates: Any, params: dict[str, Any]) -> Any:
    """Which updates are not replaced by later ones."""
    shape, index = updates.type.shape, np.dtype(np.int32)
    numbers = reshape(iota(shape=(math.prod(shape),), dtype=index, dimension=0), shape=shape)
    start = broadcast_in_dim(fixed(-1, index), shape=x.type.shape, broadcast_dimensions=())
    [written] = scatter(start, indices, numbers, body=combiner(second, index), **params)
    return compare(gathered(written, indices, updates, params), numbers, direction="EQ")


def _batch(batch: Any, axes: Sequence[Any], values: Sequence[Any], **params: Any) -> Any:
    """A batch axis of the indices is a batching axis of all; else it is one more axis of windows."""
    x, updates = (in_front(values[k], axes[k], batch.size) for k in (0, 2))
    names = ("update_window_dims", "inserted_window_dims", "scatter_dims_to_operand_dims", "operand_batching_dims")
    numbers = {name: tuple([i + 1 for i in params.get(name, ())]) for name in names}
    batching = params.get("scatter_indices_batching_dims", ())
    if axes[1] is None:
        numbers |= {"update_window_dims": (0, *numbers["update_window_dims"]), "scatter_indices_batching_dims": batching}
        return scatter(x, values[1], updates, **{**params, **numbers}), [0]
    numbers["operand_batching_dims"] = (0, *numbers["operand_batching_dims"])
    numbers["scatter_indices_batching_dims"] = (0, *[i + 1 for i in batching])
    return scatter(x, in_front(values[1], axes[1], batch.size), updates, **{**params, **numbers}), [0]


scatter = Op(
    "scatter", _type, _scatter, multiple=True, unite=_unite, exact="biuf", kind="index",
    tangent=_tangent, transpose=_transpose, batch=_batch,
)  # fmt: skip
scatter_apply = Op(
    "scatter_apply", _apply_type, _apply, multiple=True, expand=_apply_expand, unite=unite_first, numbers=("update_shape",),
    kind="index",
)  # fmt: skip
"""A function applied to the elements at computed places, as often as each is met: the body ignores its second operand."""
