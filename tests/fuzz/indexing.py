"""Random calls of ops that read and write at computed places, sort, take windows, and multiply matrices."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from celadon import vocabulary
from celadon.op import registry
from celadon.program import Program
from celadon.tracing import recorded
from celadon.types import ArrayType, DType, float32, int32, kind
from celadon.vocabulary.window import combiner, second, windows
from tests.fuzz.draw import PRODUCERS, Draw, Shape
from tests.fuzz.makers import INDICES, NUMBERS
from tests.fuzz.trees import Leaf, Node, leaf_of
from tests.vocabulary.samples import accepts


@functools.cache
def comparing(direction: str, dtype: DType) -> Program:
    """A body that compares two scalars."""
    with recorded("select") as record:
        x, y = (record.input(ArrayType((), dtype)) for _ in range(2))
        return record.program([vocabulary.compare(x, y, direction=direction)])


def _places(draw: Draw, shape: Shape, most: int, inside: bool = False) -> Leaf:
    """Indices about an axis, some of them outside, some as far as their dtype goes."""
    dtype = draw.pick(INDICES)
    if inside:
        found = draw.random.integers(0, max(most, 1), shape)
        return leaf_of(np.asarray(found).astype(np.dtype(np.int32)))
    found = np.asarray(draw.random.integers(-3, most + 4, shape)).astype(dtype)
    info = np.iinfo(dtype)
    far = draw.random.choice(np.array([info.min, info.max, info.max - 1, 0], dtype), shape)
    return leaf_of(np.asarray(np.where(draw.random.random(shape) < 0.1, far, found), dtype))


def _starts(draw: Draw, shape: Shape) -> list[Leaf]:
    dtype, found = draw.pick(INDICES), []
    for n in shape:
        info = np.iinfo(dtype)
        value = draw.pick((draw.whole(-3, n + 2), int(info.max), int(info.min)))
        found.append(leaf_of(np.array(value).astype(dtype)))
    return found


def _within(draw: Draw, shape: Shape) -> Shape:
    return tuple([draw.whole(0 if draw.chance(0.1) else min(n, 1), n) for n in shape])


def dynamic_slice(draw: Draw, shape: Shape, dtype: DType) -> Node | None:
    before = tuple([n + draw.pick((0, 0, 1, 5)) for n in shape])
    if math.prod(before) > 40 * draw.most:
        return None
    return draw.node("dynamic_slice", [draw.operand(before, dtype), *_starts(draw, before)], slice_sizes=shape)


def dynamic_update_slice(draw: Draw, shape: Shape, dtype: DType) -> Node:
    update = draw.operand(_within(draw, shape), dtype)
    return draw.node("dynamic_update_slice", [draw.operand(shape, dtype), update, *_starts(draw, shape)])


def gather(draw: Draw, name: str) -> Node:
    shape, dtype = draw.shape(most=5), draw.dtype()
    rank = len(shape)
    mapped = draw.some(range(rank), draw.whole(0, rank))
    batching = draw.some([i for i in range(rank) if i not in mapped], draw.whole(0, min(2, rank - len(mapped))))
    batching = tuple(sorted(batching))
    collapsed = tuple(sorted(draw.some([i for i in range(rank) if i not in batching and shape[i] > 0])))
    sizes = tuple([min(n, 1) if i in (*collapsed, *batching) else _size(draw, n, i in mapped) for i, n in enumerate(shape)])
    batch = [*(shape[i] for i in batching), *(draw.extent(most=11) for _ in range(draw.whole(0, 2)))]
    order = draw.some(range(len(batch)), len(batch))
    indices = _places(draw, (*(batch[i] for i in order), len(mapped)), max(shape, default=1))
    offsets = rank - len(collapsed) - len(batching)
    params: dict[str, Any] = {
        "offset_dims": tuple(sorted(draw.some(range(len(batch) + offsets), offsets))), "collapsed_slice_dims": collapsed,
        "start_index_map": mapped, "slice_sizes": sizes, "mode": draw.pick(("clip", "fill")),
    }  # fmt: skip
    if batching:
        places = tuple([order.index(k) for k in range(len(batching))])
        params |= {"operand_batching_dims": batching, "start_indices_batching_dims": places}
    return draw.node(name, [draw.operand(shape, dtype), indices], **params)


def _size(draw: Draw, n: int, mapped: bool) -> int:
    return draw.whole(min(1, n), n) if mapped or draw.chance(0.3) else n


def _windowed(draw: Draw, shape: Shape) -> tuple[dict[str, Any], Shape, Shape]:
    """Parameters of a scatter into a shape, that of its indices, and that of its updates."""
    rank = len(shape)
    named = draw.some(range(rank), draw.whole(0, rank))
    inserted = tuple(sorted(draw.some([i for i in range(rank) if shape[i] > 0])))
    kept = [i for i in range(rank) if i not in inserted]
    batch = tuple(draw.pick((1, 2, 3, 7, 13)) for _ in range(draw.whole(0, 2)))
    sizes = [_size(draw, shape[i], i in named) for i in kept]
    whole = len(batch) + len(kept)
    dims = tuple(sorted(draw.some(range(whole), len(kept))))
    inside, outside = iter(sizes), iter(batch)
    updates = tuple([next(inside) if i in dims else next(outside) for i in range(whole)])
    params = {"update_window_dims": dims, "inserted_window_dims": inserted, "scatter_dims_to_operand_dims": named}
    return params, (*batch, len(named)), updates


def scatter(draw: Draw, name: str) -> Node:
    shape, dtype = draw.shape(most=5), draw.dtype()
    params, places, updates = _windowed(draw, shape)
    names = ("second", "maximum", "minimum", "add", "multiply", "subtract")[: 6 if kind(dtype) != "b" else 1]
    chosen = draw.pick(names)
    params |= {"body": combiner(second if chosen == "second" else getattr(vocabulary, chosen), dtype)}
    params |= {"mode": draw.pick(("drop", "clip"))}
    indices = _places(draw, places, max(shape, default=1))
    return draw.node(name, [draw.operand(shape, dtype), indices, draw.operand(updates, dtype)], **params)


def scatter_apply(draw: Draw, name: str) -> Node:
    """A body of one operand; where places repeat it is applied again."""
    shape, dtype = draw.shape(most=4), draw.pick((float32, np.dtype(np.float64), int32))
    params, places, updates = _windowed(draw, shape)
    inputs = [draw.operand(shape, dtype), _places(draw, places, max(shape, default=1))]
    return draw.node(name, inputs, **params, body=squared(dtype), update_shape=updates)


@functools.cache
def squared(dtype: DType) -> Program:
    """A body that makes the larger of x * x and x of its first operand."""
    with recorded("squared") as record:
        x, _ = (record.input(ArrayType((), dtype)) for _ in range(2))
        return record.program([vocabulary.maximum(vocabulary.multiply(x, x), x)])


def sort(draw: Draw, name: str) -> Node:
    shape, count = draw.shape(least=1), draw.whole(1, 3)
    inputs = [draw.operand(shape, draw.dtype()) for _ in range(count)]
    keys = draw.whole(1, count)
    params = {"dimension": draw.whole(0, len(shape) - 1), "is_stable": True, "num_keys": keys}
    return draw.node(name, inputs, draw.whole(0, count - 1), **params)


def _sort_for(draw: Draw, shape: Shape, dtype: DType) -> Node | None:
    if not shape:
        return None
    return draw.node("sort", [draw.operand(shape, dtype)], dimension=draw.whole(0, len(shape) - 1), is_stable=True, num_keys=1)


def top_k(draw: Draw, name: str) -> Node:
    shape = draw.shape(least=1)
    dtype = draw.dtype(lambda one: kind(one) != "c")
    return draw.node(name, [draw.operand(shape, dtype)], draw.whole(0, 1), k=draw.whole(0, shape[-1]))


# Windows


def _window(draw: Draw, shape: Shape, dilated: bool = True) -> dict[str, Any]:
    sizes = tuple([draw.whole(1, max(1, min(n, 5))) for n in shape])
    found: dict[str, Any] = {"window_dimensions": sizes, "window_strides": tuple([draw.pick((1, 1, 2, 3)) for _ in shape])}
    found["padding"] = tuple([(draw.whole(-1, 3), draw.whole(-1, 3)) for _ in shape])
    if dilated:
        found |= {name: tuple([draw.pick((1, 1, 2)) for _ in shape]) for name in ("base_dilations", "window_dilations")}
    return found


def _small(draw: Draw, most: int = 4) -> Shape:
    while True:
        shape = draw.shape(most=most)
        if math.prod(shape) <= 3000:
            return shape


def reduce_window(draw: Draw, name: str) -> Node:
    shape, dtype = _small(draw), draw.pick(NUMBERS)
    names = ("add", "multiply") if kind(dtype) == "c" else ("add", "maximum", "minimum", "multiply")
    body = combiner(getattr(vocabulary, draw.pick(names)), dtype)
    return draw.node(name, [draw.operand(shape, dtype), draw.operand((), dtype)], body=body, **_window(draw, shape))


def pooling(draw: Draw, name: str) -> Node:
    shape = _small(draw)
    dtype = draw.dtype(lambda one: kind(one) in "iuf")
    inputs = [draw.operand(shape, dtype) for _ in range(2 if name == "select_and_gather_add" else 1)]
    extra = {"direction": draw.pick(("GE", "LE"))} if len(inputs) == 2 else {}
    return draw.node(name, inputs, **extra, **_window(draw, shape))


def select_and_scatter(draw: Draw, name: str) -> Node:
    shape = _small(draw, 3)
    dtype = draw.dtype(lambda one: kind(one) in "iuf")
    params = _window(draw, shape, dilated=False)
    ends = zip(shape, params["window_dimensions"], params["window_strides"], params["padding"], strict=True)
    source = tuple([windows(n, window, stride, (1, 1), pads) for n, window, stride, pads in ends])
    inputs = [draw.operand(shape, dtype), draw.operand(source, dtype), draw.operand((), dtype)]
    bodies = {"select": comparing(draw.pick(("GE", "LE")), dtype), "scatter": combiner(vocabulary.add, dtype)}
    return draw.node(name, inputs, **params, **bodies)


# Products


def dot_general(draw: Draw, shape: Shape, dtype: DType) -> Node | None:
    """Batch axes first, then those of the left, then those of the right operand."""
    batch = draw.whole(0, min(len(shape), 2)) if draw.chance(0.4) else 0
    left = draw.whole(batch, len(shape))
    inner = tuple([draw.extent(most=37) if draw.chance(0.95) else 0 for _ in range(draw.pick((0, 1, 1, 1, 1, 2)))])
    if math.prod(shape) * math.prod(inner) > 3_000_000:
        return None
    x, contract_x, batch_x = _arranged(draw, shape[:batch], shape[batch:left], inner)
    y, contract_y, batch_y = _arranged(draw, shape[:batch], shape[left:], inner)
    if max(math.prod(x), math.prod(y)) > 400_000:
        return None
    numbers = ((contract_x, contract_y), (batch_x, batch_y))
    return draw.node("dot_general", [draw.operand(x, dtype), draw.operand(y, dtype)], dimension_numbers=numbers)


def _arranged(draw: Draw, batch: Shape, free: Shape, inner: Shape) -> tuple[Shape, Shape, Shape]:
    """A shape with these axes anywhere (the free ones in their order), and where the inner and the batch axes are."""
    whole = len(batch) + len(free) + len(inner)
    order = draw.some(range(whole), whole)
    places = [*order[: len(batch)], *sorted(order[len(batch) : len(batch) + len(free)]), *order[len(batch) + len(free) :]]
    shape = [0] * whole
    for n, place in zip((*batch, *free, *inner), places, strict=True):
        shape[place] = n
    return tuple(shape), tuple(places[len(batch) + len(free) :]), tuple(places[: len(batch)])


WIDER = {"int8": (int32,), "uint8": (int32,), "float16": (float32,), "bfloat16": (float32,), "float32": (np.dtype(np.float64),)}


def product(draw: Draw, name: str) -> Node:
    while True:
        found = dot_general(draw, draw.shape(most=5), draw.dtype())
        if found is not None:
            wider = WIDER.get(found.type.dtype.name, ())
            if wider and draw.chance(0.3):
                return draw.node(name, found.inputs, **found.params, preferred_element_type=wider[0])
            return found


def convolution(draw: Draw, name: str) -> Node:
    while True:
        found = _convolution(draw)
        if found is not None:
            return found


def _convolution(draw: Draw) -> Node | None:
    dtype, spatial = draw.dtype(lambda one: kind(one) != "c"), draw.whole(0, 3)
    groups, by_batch = draw.pick((1, 1, 1, 2, 3)), draw.chance(0.3)
    batch, features, out = (draw.whole(1, 4) for _ in range(3))
    extents = (1, 2, 3, 5, 7, 11, 16)
    array = tuple([draw.pick((0, *extents) if draw.chance(0.1) else extents) for _ in range(spatial)])
    kernel = tuple([draw.whole(1, 3) for _ in range(spatial)])
    x = [batch * (groups if by_batch else 1), features * (1 if by_batch else groups), *array]
    y = [out * groups, features, *kernel]
    specs = [draw.some(range(spatial + 2), spatial + 2) for _ in range(3)]
    steps = ("window_strides", "lhs_dilation", "rhs_dilation")
    params: dict[str, Any] = {name: tuple([draw.pick((1, 1, 2, 3)) for _ in array]) for name in steps}
    params |= {"padding": tuple([(draw.whole(-1, 3), draw.whole(-1, 3)) for _ in array]), "dimension_numbers": tuple(specs)}
    if groups > 1:
        params["batch_group_count" if by_batch else "feature_group_count"] = groups
    shapes = [_put(x, specs[0]), _put(y, specs[1])]
    if not accepts(registry["convolution"], *[ArrayType(shape, dtype) for shape in shapes], **params):
        return None
    return draw.node("convolution", [draw.operand(shape, dtype) for shape in shapes], **params)


def _put(extents: list[int], spec: tuple[int, ...]) -> Shape:
    shape = [0] * len(extents)
    for n, axis in zip(extents, spec, strict=True):
        shape[axis] = n
    return tuple(shape)


def _for(producer: Any) -> Any:
    def make(draw: Draw, name: str) -> Node:
        while True:
            found = producer(draw, draw.shape(most=5), draw.dtype())
            if found is not None:
                return found

    return make


MAKERS: dict[str, Any] = {
    "dynamic_slice": _for(dynamic_slice), "dynamic_update_slice": _for(dynamic_update_slice), "gather": gather,
    "scatter": scatter, "scatter_apply": scatter_apply, "sort": sort, "top_k": top_k, "reduce_window": reduce_window,
    **dict.fromkeys(("reduce_window_max", "reduce_window_min", "select_and_gather_add"), pooling),
    "select_and_scatter": select_and_scatter, "dot_general": product, "convolution": convolution,
}  # fmt: skip
PRODUCERS += [dynamic_slice, dynamic_update_slice, dot_general, _sort_for]
