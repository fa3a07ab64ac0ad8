"""Extremes of windows, as pooling layers take them, and what their derivatives select: gathers and scatters by windows."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from celadon import errors
from celadon.op import Op
from celadon.program import Program, fixed
from celadon.tracing import recorded
from celadon.types import ArrayType, DType, Shape, bool_
from celadon.vocabulary.arithmetic import add, maximum, minimum
from celadon.vocabulary.call import for_each
from celadon.vocabulary.comparison import compare, select
from celadon.vocabulary.kinds import ORDERED, like, one_per_axis, require, same_dtype
from celadon.vocabulary.reduce import highest, lowest
from celadon.vocabulary.scatter import combine
from celadon.vocabulary.shape import broadcast_in_dim, in_front, pad, slice_, unite_first
from celadon.vocabulary.window import (
    Padding,
    combination,
    combiner,
    reduce_window,
    second,
    window_type,
    windows,
)

Array = Any
Axes = tuple[int, ...]
_NUMBERS = ("window_dimensions", "padding")


def _batched(params: dict[str, Any]) -> dict[str, Any]:
    """The parameters of windows behind a batch axis in front."""
    names = ("window_dimensions", "window_strides", "base_dilations", "window_dilations")
    found = {name: (1, *params[name]) for name in names if name in params}
    return {**params, **found, "padding": ((0, 0), *params["padding"])}


def _windowed(name: str, body: Callable[..., Any], start: Callable[[DType], Any], **rules: Any) -> Op:
    """A macro op: a reduction of windows that starts from what changes nothing."""

    def result_type(x: ArrayType, **params: Any) -> ArrayType:
        require(name, x, ORDERED)
        [found] = window_type(x, ArrayType((), x.dtype), body=combiner(body, x.dtype), **params)
        return x.with_shape(found.shape)

    def rule(x: Array, **params: Any) -> Array:
        assert reduce_window.numpy is not None
        return reduce_window.numpy(x, np.asarray(start(x.dtype)), body=combiner(body, x.dtype), **params)[0]

    def expand(x: Any, **params: Any) -> Any:
        dtype = x.type.dtype
        first = broadcast_in_dim(fixed(start(dtype), dtype), shape=(), broadcast_dimensions=())
        return reduce_window(x, first, body=combiner(body, dtype), **params)[0]

    def batch_rule(batch: Any, axes: Sequence[Any], values: Sequence[Any], **params: Any) -> Any:
        return op(in_front(values[0], axes[0], batch.size), **_batched(params)), 0

    op = Op(name, result_type, rule, expand=expand, numbers=_NUMBERS, kind="window", batch=batch_rule, **rules)
    return op


def _chosen(direction: str) -> Callable[..., Any]:
    return lambda t, out, x, **params: select_and_gather_add(t, x, direction=direction, **params)


reduce_window_max = _windowed("reduce_window_max", maximum, lowest, tangent=(_chosen("GE"),), exact="iuf")
reduce_window_min = _windowed("reduce_window_min", minimum, highest, tangent=(_chosen("LE"),), exact="iuf")


def _gather_type(t: ArrayType, x: ArrayType, *, direction: str, **params: Any) -> ArrayType:
    if t.shape != x.shape:
        raise errors.ShapesDiffer(op="select_and_gather_add", shapes=f"{t.shape} and {x.shape}")
    [found] = window_type(x, ArrayType((), x.dtype), body=combiner(maximum, x.dtype), **params)
    return t.with_shape(found.shape)


def _gather(t: Array, x: Array, *, direction: str, **params: Any) -> Array:
    start = (lowest if direction == "GE" else highest)(x.dtype)
    places, holds = _selected(x, _COMPARED[direction], params, start)
    return np.where(holds, t.reshape(-1)[places] if t.size else 0, 0).astype(t.dtype)


_COMPARED: dict[str, Callable[..., Any]] = {"GE": np.greater_equal, "LE": np.less_equal}


def _selected(
    x: Array, select: Callable[..., Any], params: dict[str, Any], start: Any = None
) -> tuple[Array, Array]:
    """For each window the place, in row order, of the element that is selected, and whether there is one.

    An element as far out as what a search starts from, if there is such a value, is not selected in its place.
    """
    names = ("window_dimensions", "window_strides", "base_dilations", "window_dilations", "padding")
    sizes, strides, base, apart, padding = (params.get(name, (1,) * x.ndim) for name in names)
    shape = tuple(map(windows, x.shape, sizes, strides, zip(base, apart, strict=True), padding))
    places, holds = np.zeros(shape, np.int64), np.zeros(shape, bool)
    for position in itertools.product(*map(range, sizes)):
        here, inside = np.zeros(shape, np.int64), np.ones(shape, bool)
        for i, n in enumerate(x.shape):
            at = np.arange(shape[i]) * strides[i] + position[i] * apart[i] - padding[i][0]
            fits = (at >= 0) & (at < (n - 1) * base[i] + 1) & (at % base[i] == 0)
            along = [-1 if k == i else 1 for k in range(x.ndim)]
            inside &= fits.reshape(along)
            here += (np.where(fits, at // base[i], 0) * math.prod(x.shape[i + 1 :])).reshape(along)
        if x.size:
            flat = x.reshape(-1)
            kept = select(np.where(holds, flat[places], flat[places] if start is None else start), flat[here])
            better = inside & ~(kept if start is not None else holds & kept)
            places, holds = np.where(better, here, places), holds | better
    return places, holds


def _gather_expand(t: Any, x: Any, *, direction: str, **params: Any) -> Any:
    """Windows of pairs: of two the one whose element is selected."""
    dtype = x.type.dtype
    start = (lowest if direction == "GE" else highest)(dtype)
    body = _pair_body(direction, dtype, t.type.dtype)
    return reduce_window(x, t, fixed(start, dtype), fixed(0, t.type.dtype), body=body, **params)[1]


def _pair_body(direction: str, dtype: DType, tangent: DType) -> Program:
    with recorded("body") as record:
        x, t, y, u = (record.input(ArrayType((), one)) for one in (dtype, tangent) * 2)
        first = compare(x, y, direction=direction)
        return record.program([select(first, x, y), select(first, t, u)])


def _gather_back(ct: Any, t: Any, x: Any, *, direction: str, **params: Any) -> Any:
    """Each cotangent added to where its element was selected: the array is padded with what is never selected."""
    if any(d != 1 for d in params["window_dilations"]):
        raise errors.NotTransposable(op=f"select_and_gather_add with window_dilations {params['window_dilations']}",
                                     place="", what="the extremes of windows")  # fmt: skip
    dtype, base = x.type.dtype, params["base_dilations"]
    low, high = (tuple([pair[k] for pair in params["padding"]]) for k in range(2))
    never = fixed((lowest if direction == "GE" else highest)(dtype), dtype)
    whole = pad(x, never, low=low, high=high, interior=tuple([d - 1 for d in base]))
    [found] = select_and_scatter(
        whole, ct, like(0, ct), select=_comparing(direction, dtype), scatter=combiner(add, dtype),
        window_dimensions=params["window_dimensions"], window_strides=params["window_strides"],
        padding=((0, 0),) * x.type.ndim,
    )  # fmt: skip
    return _cut(found, x.type.shape, params["padding"], base)


def _cut(whole: Any, shape: Shape, padding: Padding, base: Axes) -> Any:
    """The elements of a padded array that are not padding, zeros for those that were cut off."""
    lost = [(max(-low, 0), max(-high, 0)) for low, high in padding]
    ends = tuple(zip(*lost, strict=True)) or ((), ())
    back = pad(whole, like(0, whole), low=ends[0], high=ends[1], interior=(0,) * len(base)) if any(map(any, lost)) else whole
    starts = tuple([max(low, 0) for low, _ in padding])
    limits = tuple([a + (n - 1) * d + 1 if n else a for a, n, d in zip(starts, shape, base, strict=True)])
    return slice_(back, start_indices=starts, limit_indices=limits, strides=base)


def _comparing(direction: str, dtype: DType) -> Program:
    with recorded("body") as record:
        x, y = (record.input(ArrayType((), dtype)) for _ in range(2))
        return record.program([compare(x, y, direction=direction)])


def _gather_batch(batch: Any, axes: Sequence[Any], values: Sequence[Any], *, direction: str, **params: Any) -> Any:
    whole = [in_front(x, i, batch.size) for x, i in zip(values, axes, strict=True)]
    return select_and_gather_add(*whole, direction=direction, **_batched(params)), 0


select_and_gather_add = Op(
    "select_and_gather_add", _gather_type, _gather, expand=_gather_expand, numbers=_NUMBERS, exact="iuf", kind="window",
    tangent=("linear", None), transpose=(_gather_back, None), batch=_gather_batch,
)  # fmt: skip
"""For each window, what stands in the first operand where the second one is largest ("GE") or smallest ("LE")."""


def _scatter_type(
    x: ArrayType, source: ArrayType, start: ArrayType, *, select: Program, scatter: Program, window_dimensions: Axes,
    window_strides: Axes, padding: Padding,
) -> list[ArrayType]:  # fmt: skip
    """C1 to C12."""
    scalar = ArrayType((), same_dtype("select_and_scatter", x, source, start))
    one_per_axis("select_and_scatter", x.ndim, window_dimensions=window_dimensions, window_strides=window_strides)
    ones = (1,) * x.ndim
    [found] = window_type(
        x, scalar, body=combiner(second, x.dtype), window_dimensions=window_dimensions, window_strides=window_strides,
        base_dilations=ones, window_dilations=ones, padding=padding,
    )  # fmt: skip
    if found.shape != source.shape or start.shape:
        raise errors.ShapesDiffer(op="select_and_scatter", shapes=f"{found.shape}, {source.shape} and {start.shape}")
    for body, result in ((select, ArrayType((), bool_)), (scatter, scalar)):
        if [v.type.strong() for v in (*body.inputs, *body.outputs)] != [scalar, scalar, result]:
            raise errors.BodyMismatch(op="select_and_scatter", operands=f"{x} and {source}", body=body)
    return [x if source.weak_type else x.strong()]


def _scatter(x: Array, source: Array, start: Array, *, select: Program, scatter: Program, **params: Any) -> list[Array]:
    """In the order of the windows; of elements that are selected alike, the first one."""
    places, holds = _selected(x, lambda a, b: for_each(select, [a, b])[0], params)
    result = np.full(x.shape, start, x.dtype)
    combine(result.reshape(-1), places[holds], source[holds], scatter)
    return [result]


def _scatter_tangent(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[list[Any], list[Any]]:
    """Linear in the source, and in the initial value of a sum; what is selected has no derivative by the array."""
    x, (_, t, first) = primals[0], tangents
    [out] = select_and_scatter(*primals, **params)
    moved = None if t is None else select_and_scatter(x, t, like(0, x), **params)[0]
    if first is None:
        return [out], [moved]
    if combination(params["scatter"]) != "add":
        raise errors.NotDifferentiable(op="select_and_scatter by its initial value")
    spread = broadcast_in_dim(first, shape=out.type.shape, broadcast_dimensions=())
    return [out], [spread if moved is None else add(moved, spread)]


def _scatter_back(
    cts: Sequence[Any], operands: Sequence[Any], *, select: Program, scatter: Program, **params: Any
) -> list[Any]:
    x = operands[0]
    ones = (1,) * x.type.ndim
    direction = select.equations[0].params["direction"]
    found = select_and_gather_add(cts[0], x, direction=direction, base_dilations=ones, window_dilations=ones, **params)
    return [None, found, None]


def _scatter_batch(batch: Any, axes: Sequence[Any], values: Sequence[Any], **params: Any) -> Any:
    """Initial values of each member's own are added to what is selected."""
    x, source = (in_front(x, i, batch.size) for x, i in zip(values[:2], axes[:2], strict=True))
    start = values[2]
    if axes[2] is None:
        return select_and_scatter(x, source, start, **_batched(params)), [0]
    if combination(params["scatter"]) != "add":
        raise errors.NotBatchable(op="select_and_scatter with initial values of each member's own")
    spread = broadcast_in_dim(start, shape=x.type.shape, broadcast_dimensions=(0,))
    return [add(spread, select_and_scatter(x, source, like(0, start), **_batched(params))[0])], [0]


select_and_scatter = Op(
    "select_and_scatter", _scatter_type, _scatter, multiple=True, unite=unite_first, numbers=_NUMBERS, exact="iuf",
    kind="window", tangent=_scatter_tangent, transpose=_scatter_back, batch=_scatter_batch,
)  # fmt: skip
