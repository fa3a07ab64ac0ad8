"""Random calls of elementwise ops, moves, reductions and running combinations, most of them made for a wanted result."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from celadon import vocabulary
from celadon.op import registry
from celadon.types import ArrayType, DType, bool_, float32, int32, kind
from celadon.vocabulary.window import combiner
from tests.fuzz.draw import DTYPES, PRODUCERS, Draw, Shape
from tests.fuzz.trees import Node, leaf_of
from tests.vocabulary.samples import accepts

NUMBERS = tuple(dtype for dtype in DTYPES if kind(dtype) != "b")
INDICES = tuple(np.dtype(name) for name in ("int8", "int32", "int64", "uint8", "uint32", "uint64"))
PRECISIONS = ((8, 7), (5, 10), (2, 1), (11, 52), (5, 0), (8, 23))
ELEMENTWISE = tuple(name for name, op in registry.items() if op.kind == "elementwise")


# Elementwise


def elementwise(draw: Draw, name: str) -> Node:
    """Of any dtypes that the op takes; some operands are scalars."""
    op, shape = registry[name], draw.shape()
    params = _params(draw, name)
    dtypes = _operand_dtypes(draw, name, params)
    shapes = [() if len(dtypes) > 1 and draw.chance(0.15) else shape for _ in dtypes]
    if name == "clamp":
        shapes = [draw.pick([(), shape])] * 2
        shapes = [shapes[0], shape, shapes[1]]
    if name == "select":
        shapes = [draw.pick([(), shape]), shape, shape]
    inputs = [draw.operand(one, dtype) for one, dtype in zip(shapes, dtypes, strict=True)]
    return Node(name, op, inputs, params)


def whole_power(draw: Draw, name: str) -> Node:
    """To powers of integers from 0 on: what integer_pow is for powers that are no structure."""
    shape = draw.shape()
    powers = np.asarray(draw.random.integers(0, 40, draw.pick([(), shape])), np.int32)
    return draw.node(name, [draw.operand(shape, draw.dtype(lambda one: kind(one) in "iuf")), leaf_of(powers)])


def _params(draw: Draw, name: str) -> dict[str, Any]:
    match name:
        case "compare":
            total = {"direction": "LT", "total_order": True}
            some = [] if draw.fuel > 0 else [total]  # by the signs of NaN, too: those of arrays, not of what ops make
            return draw.pick([*some, *({"direction": word} for word in ("EQ", "NE", "GE", "GT", "LE", "LT"))])
        case "convert":
            return {"new_dtype": draw.dtype()}
        case "reduce_precision":
            exponent_bits, mantissa_bits = draw.pick(PRECISIONS)
            return {"exponent_bits": exponent_bits, "mantissa_bits": mantissa_bits}
        case "integer_pow":
            return {"y": draw.pick((-3, -2, -1, 0, 1, 2, 3, 4, 5, 7, 11, 33))}
        case "threefry2x32":
            return {"folded": draw.chance(0.5)}
        case _:
            return {}


def _operand_dtypes(draw: Draw, name: str, params: dict[str, Any]) -> list[DType]:
    if name == "select":
        dtype = draw.dtype()
        return [bool_, dtype, dtype]
    if name == "threefry2x32":
        return [np.dtype(np.uint32)] * 4
    options = [[dtype] * count for dtype in DTYPES for count in (1, 2, 3, 4) if _takes(name, [dtype] * count, params)]
    return draw.pick(options)


def _takes(name: str, dtypes: list[DType], params: dict[str, Any]) -> bool:
    return accepts(registry[name], *[ArrayType((), dtype) for dtype in dtypes], **params)


CHEAP = (
    "add", "subtract", "multiply", "maximum", "minimum", "negate", "abs", "and", "or", "xor", "not", "square", "sign", "floor",
    "exponential", "tanh", "sine", "log", "sqrt", "logistic", "divide", "remainder", "power", "select", "convert", "compare",
    "clamp", "rsqrt", "erf", "cosine", "shift_left", "popcnt", "real", "imag", "complex", "is_finite",
)  # fmt: skip


def _elementwise_for(draw: Draw, shape: Shape, dtype: DType) -> Node | None:
    name = draw.pick(CHEAP)
    params = {"new_dtype": dtype} if name == "convert" else _params(draw, name)
    options = [[bool_, dtype, dtype]] if name == "select" else [
        [one] * count for one in DTYPES for count in (1, 2, 3) if _takes(name, [one] * count, params)
    ]  # fmt: skip
    fitting = [one for one in options if _result(name, one, params) == dtype]
    if not fitting:
        return None
    dtypes = draw.pick(fitting)
    scalar = [() if len(dtypes) == 2 and draw.chance(0.2) else shape for _ in dtypes]
    shapes = scalar if shape in scalar else [shape] * len(dtypes)
    return draw.node(name, [draw.operand(*one) for one in zip(shapes, dtypes, strict=True)], **params)


def _result(name: str, dtypes: list[DType], params: dict[str, Any]) -> DType:
    return registry[name].result_type(*[ArrayType((), dtype) for dtype in dtypes], **params).dtype


# Moves


def transpose(draw: Draw, shape: Shape, dtype: DType) -> Node:
    permutation = draw.some(range(len(shape)), len(shape))
    before = [0] * len(shape)
    for i, axis in enumerate(permutation):
        before[axis] = shape[i]
    return draw.node("transpose", [draw.operand(tuple(before), dtype)], permutation=permutation)


def reverse(draw: Draw, shape: Shape, dtype: DType) -> Node:
    return draw.node("reverse", [draw.operand(shape, dtype)], dimensions=tuple(sorted(draw.some(range(len(shape))))))


def reshape(draw: Draw, shape: Shape, dtype: DType) -> Node:
    return draw.node("reshape", [draw.operand(_another(draw, shape), dtype)], shape=shape)


def _another(draw: Draw, shape: Shape) -> Shape:
    """A shape of as many elements."""
    left, found = math.prod(shape), []
    while left > 1 and len(found) < 6 and draw.chance(0.8):
        n = draw.pick([n for n in (1, 2, 3, 4, 5, 7, 11, 13, 16, 17, 31, 37, left) if left % n == 0])
        found.append(n)
        left //= n
    found += [left] if left != 1 else [1] * draw.whole(0, 2)
    return draw.some(found, len(found))


def broadcast_in_dim(draw: Draw, shape: Shape, dtype: DType) -> Node:
    axes = draw.some(range(len(shape)))
    axes = tuple(sorted(axes)) if draw.chance(0.7) else axes
    before = tuple([1 if draw.chance(0.3) else shape[i] for i in axes])
    return draw.node("broadcast_in_dim", [draw.operand(before, dtype)], shape=shape, broadcast_dimensions=axes)


def slice_(draw: Draw, shape: Shape, dtype: DType) -> Node | None:
    strides = tuple([draw.pick((1, 1, 1, 2, 3)) for _ in shape])
    starts = tuple([draw.pick((0, 0, 1, 2, 5)) for _ in shape])
    limits = tuple([a + (max(n - 1, 0) * s + 1 if n else 0) for a, n, s in zip(starts, shape, strides, strict=True)])
    before = tuple([limit + draw.pick((0, 0, 1, 4)) for limit in limits])
    if math.prod(before) > 40 * draw.most:
        return None
    return draw.node("slice", [draw.operand(before, dtype)], start_indices=starts, limit_indices=limits, strides=strides)


def pad(draw: Draw, shape: Shape, dtype: DType) -> Node | None:
    interior = tuple([draw.pick((0, 0, 1, 2)) for _ in shape])
    before = tuple([max(0, n // (i + 1) + draw.whole(-1, 2)) for n, i in zip(shape, interior, strict=True)])
    if math.prod(before) > 40 * draw.most:
        return None
    low = tuple([draw.whole(-2, 2) for _ in shape])
    wide = [n + max(n - 1, 0) * i for n, i in zip(before, interior, strict=True)]
    high = tuple([n - w - a for n, w, a in zip(shape, wide, low, strict=True)])
    node = draw.operand(before, dtype), draw.operand((), dtype)
    params = {"low": low, "high": high, "interior": interior}
    return draw.node("pad", node, **params) if accepts(registry["pad"], *_types(node), **params) else None


def _types(operands: Any) -> list[ArrayType]:
    return [x.types[0] if not isinstance(x, Node) else x.type for x in operands]


def concatenate(draw: Draw, shape: Shape, dtype: DType) -> Node | None:
    if not shape:
        return None
    axis = draw.whole(0, len(shape) - 1)
    cuts = sorted(draw.whole(0, shape[axis]) for _ in range(draw.whole(0, 3)))
    pieces = np.diff([0, *cuts, shape[axis]]).tolist()
    inputs = [draw.operand((*shape[:axis], n, *shape[axis + 1 :]), dtype) for n in pieces]
    return draw.node("concatenate", inputs, dimension=axis)


def iota(draw: Draw, shape: Shape, dtype: DType) -> Node | None:
    if not shape or kind(dtype) == "b":
        return None
    return draw.node("iota", [], shape=shape, dtype=dtype, dimension=draw.whole(0, len(shape) - 1))


def _cast(old: DType, new: DType) -> bool:
    return accepts(registry["bitcast_convert"], ArrayType((max(1, new.itemsize // old.itemsize),), old), new_dtype=new)


def bitcast_convert(draw: Draw, name: str) -> Node:
    pairs = [(a, b) for a in DTYPES for b in DTYPES if _cast(a, b)]
    old, new = draw.pick(pairs)
    ratio = new.itemsize // old.itemsize
    shape = (*draw.shape(most=6), ratio) if ratio > 1 else draw.shape(most=6)
    return draw.node(name, [draw.operand(shape, old)], new_dtype=new)


# Reductions

REDUCTIONS = tuple(n for n, op in registry.items() if op.kind == "reduce" and n not in ("argmax", "argmin", "reduce"))

def reduction(draw: Draw, name: str) -> Node:
    op = registry[name]
    extra = {"index_dtype": draw.pick((int32, np.dtype(np.int64), np.dtype(np.uint8)))} if name.startswith("arg") else {}
    axes = (0,) if extra else ()
    dtype = draw.dtype(lambda one: accepts(op, ArrayType((1,), one), axes=axes, **extra))
    shape = draw.shape(least=1 if extra else 0)
    if extra:
        axis = draw.whole(0, len(shape) - 1)
        shape = tuple([max(n, 1) if i == axis else n for i, n in enumerate(shape)])
        return draw.node(name, [draw.operand(shape, dtype)], axes=(axis,), **extra)
    return draw.node(name, [draw.operand(shape, dtype)], axes=tuple(sorted(draw.some(range(len(shape))))))


def _reduction_for(draw: Draw, shape: Shape, dtype: DType) -> Node | None:
    if len(shape) > 6 or math.prod(shape) > 1000:
        return None
    names = [n for n in REDUCTIONS if _takes(n, [dtype], {"axes": ()})]
    axis, extent = draw.whole(0, len(shape)), draw.extent(most=37)
    before = (*shape[:axis], extent, *shape[axis:])
    return draw.node(draw.pick(names), [draw.operand(before, dtype)], axes=(axis,))


def reduce(draw: Draw, name: str) -> Node:
    """Of one operand and a body of one op, or the place of an extreme, which needs two operands."""
    shape = draw.shape(most=4)
    while math.prod(shape) > 2000:
        shape = draw.shape(most=4)
    dtype = draw.pick(NUMBERS)
    body = combiner(getattr(vocabulary, draw.pick(_bodies(dtype))), dtype)
    start = draw.operand((), dtype)
    return draw.node(name, [draw.operand(shape, dtype), start], axes=tuple(sorted(draw.some(range(len(shape))))), body=body)


def _bodies(dtype: DType) -> tuple[str, ...]:
    return ("add", "multiply") if kind(dtype) == "c" else ("add", "multiply", "maximum", "minimum")


def cumulative(draw: Draw, name: str) -> Node:
    op, shape = registry[name], draw.shape(least=1)
    dtype = draw.dtype(lambda one: accepts(op, ArrayType((1,), one), axis=0))
    return draw.node(name, [draw.operand(shape, dtype)], axis=draw.whole(0, len(shape) - 1), reverse=draw.chance(0.5))


def _cumulative_for(draw: Draw, shape: Shape, dtype: DType) -> Node | None:
    name = draw.pick(("cumsum", "cummax", "cumprod"))
    if not shape or not accepts(registry[name], ArrayType((1,), dtype), axis=0):
        return None
    return draw.node(name, [draw.operand(shape, dtype)], axis=draw.whole(0, len(shape) - 1), reverse=draw.chance(0.5))


def _for(producer: Any, accepted: Any = lambda _: True) -> Any:
    """A maker of a random result from what makes a wanted one."""

    def make(draw: Draw, name: str) -> Node:
        while True:
            found = producer(draw, draw.shape(), draw.dtype(accepted))
            if found is not None:
                return found

    return make


MOVES = {
    "transpose": transpose, "reverse": reverse, "reshape": reshape, "broadcast_in_dim": broadcast_in_dim, "slice": slice_,
    "pad": pad, "concatenate": concatenate, "iota": iota,
}  # fmt: skip
MAKERS: dict[str, Any] = {
    **{name: _for(producer) for name, producer in MOVES.items()}, "bitcast_convert": bitcast_convert, "reduce": reduce,
    "whole_power": whole_power,
}  # fmt: skip
KINDS: dict[str, Any] = {"elementwise": elementwise, "reduce": reduction, "cumulative": cumulative}
PRODUCERS += [*MOVES.values(), *[_elementwise_for] * 8, _reduction_for, _cumulative_for]
__all__ = ["KINDS", "MAKERS", "float32"]
