"""Ops with a body that combines two elements: reduce and reduce_window of any body, and the cumulative macro ops."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from celadon import errors
from celadon.op import Op, Through, registry
from celadon.program import Program, fixed
from celadon.tracing import recorded
from celadon.types import ArrayType, DType, Shape, kind
from celadon.vocabulary.arithmetic import abs_, add, greater, maximum, minimum, multiply, negate, smaller, subtract
from celadon.vocabulary.call import for_each
from celadon.vocabulary.comparison import compare, select
from celadon.vocabulary.kinds import FLOAT, HALF, NUMBER, checked_axes, one_per_axis, require
from celadon.vocabulary.precision import narrowed, wide
from celadon.vocabulary.reduce import highest, lowest, reduced_shape
from celadon.vocabulary.shape import concatenate, slice_, unite_first
from celadon.vocabulary.transcendental import exponential, log_plus_one

Array = Any
Axes = tuple[int, ...]
Padding = tuple[tuple[int, int], ...]


@functools.cache
def combiner(op: Callable[[Any, Any], Any], dtype: DType) -> Program:
    """The body that combines two scalars of a dtype with an op or a function of ops."""
    with recorded("body") as record:
        x, y = (record.input(ArrayType((), dtype)) for _ in range(2))
        return record.program([op(x, y)])


def second(x: Any, y: Any) -> Any:
    """What a body that replaces consists of."""
    return y


_NAMED = frozenset({"add", "subtract", "multiply", "maximum", "minimum", "and", "or", "xor"})


def combination(body: Program) -> str:
    """The op that a body of two elements consists of, "second" if it returns the second one, "" for any other body."""
    inputs, outputs = list(body.inputs), list(body.outputs)
    if len(inputs) != 2 or len(body.equations) > 1:
        return ""
    if not body.equations:
        return "second" if outputs == inputs[1:] else ""
    [equation] = body.equations
    whole = list(equation.inputs) == inputs and list(equation.outputs) == outputs
    return equation.op.name if whole and equation.op.name in _NAMED else ""


def log_of_sum(x: Any, y: Any) -> Any:
    """log(exp(x) + exp(y)), stable; a NaN difference (of infinities or NaN) gives the sum."""
    larger, difference = maximum(x, y), subtract(x, y)
    undefined, total = compare(difference, difference, direction="NE"), add(x, y)
    stable = add(larger, log_plus_one(exponential(negate(abs_(difference)))))
    return select(undefined, total, stable)


def _halves(operands: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
    return operands[: len(operands) // 2], operands[len(operands) // 2 :]


def _checked_bodies(name: str, operands: Sequence[ArrayType], body: Program) -> Shape:
    """C1 to C3 of reduce: one shape, one initial value of the same dtype for each operand; the body fits."""
    xs, starts = _halves(operands)
    shape = xs[0].shape if xs else ()
    scalars = [ArrayType((), x.dtype) for x in xs]
    if len(operands) % 2 or not xs or any(x.shape != shape for x in xs) or any(start.shape for start in starts):
        raise errors.BodyMismatch(op=name, operands=", ".join(map(str, operands)), body=body)
    given = [x.type.strong() for x in (*body.inputs, *body.outputs)]
    if [start.strong() for start in starts] != scalars or given != scalars * 3:
        raise errors.BodyMismatch(op=name, operands=", ".join(map(str, operands)), body=body)
    return shape


def _reduce_type(*operands: ArrayType, axes: Axes, body: Program) -> list[ArrayType]:
    """C1 to C8: results of the operands' dtypes without the reduced axes."""
    shape = _checked_bodies("reduce", operands, body)
    checked_axes("reduce", axes, len(shape))
    return [ArrayType(reduced_shape(shape, axes), x.dtype) for x in _halves(operands)[0]]


def _reduce(*operands: Array, axes: Axes, body: Program) -> list[Array]:
    xs, results = _halves(operands)
    stacks = [np.moveaxis(x, axes, range(len(axes))) for x in xs]
    rest = stacks[0].shape[len(axes) :]
    results = [np.broadcast_to(start, rest) for start in results]
    for position in np.ndindex(stacks[0].shape[: len(axes)]):
        results = for_each(body, [*results, *(stack[position] for stack in stacks)])
    return list(results)


def windows(n: int, window: int, stride: int, dilations: Axes, pads: Axes) -> int:
    """How many windows there are along an axis: (base, window) dilations, (low, high) pads."""
    extent = sum(pads) + ((n - 1) * dilations[0] + 1 if n else 0)
    reach = (window - 1) * dilations[1] + 1 if window else 0
    return 0 if extent <= 0 or reach > extent else (extent - reach) // stride + 1


def window_type(
    *operands: ArrayType,
    body: Program,
    window_dimensions: Axes,
    window_strides: Axes,
    base_dilations: Axes,
    window_dilations: Axes,
    padding: Padding,
) -> list[ArrayType]:
    """C1 to C16."""
    shape = _checked_bodies("reduce_window", operands, body)
    sizes = {"window_dimensions": window_dimensions, "window_strides": window_strides}
    sizes |= {"base_dilations": base_dilations, "window_dilations": window_dilations}
    one_per_axis("reduce_window", len(shape), **sizes, padding=padding)  # pyright: ignore[reportArgumentType]
    for param, values in sizes.items():
        if min(values, default=1) < 1:
            raise errors.WindowNotPositive(param=param, values=values)
    dilations = zip(base_dilations, window_dilations, strict=True)
    found = tuple(map(windows, shape, window_dimensions, window_strides, dilations, padding))
    return [ArrayType(found, x.dtype) for x in _halves(operands)[0]]


def _window(
    *operands: Array,
    body: Program,
    window_dimensions: Axes,
    window_strides: Axes,
    base_dilations: Axes,
    window_dilations: Axes,
    padding: Padding,
) -> list[Array]:
    """As XLA has it, padding and what lies between elements take no part, whatever the initial value is."""
    xs, starts = _halves(operands)
    full = [padded(x, start, base_dilations, padding) for x, start in zip(xs, starts, strict=True)]
    there = padded(np.ones(xs[0].shape, bool), np.False_, base_dilations, padding)
    dilations = zip(base_dilations, window_dilations, strict=True)
    shape = tuple(map(windows, xs[0].shape, window_dimensions, window_strides, dilations, padding))
    results = [np.broadcast_to(start, shape) for start in starts]
    for position in itertools.product(*map(range, window_dimensions)):
        first = [k * step for k, step in zip(position, window_dilations, strict=True)]
        index = tuple(slice(a, a + n * s, s) for a, n, s in zip(first, shape, window_strides, strict=True))
        found = for_each(body, [*results, *(x[index] for x in full)])
        results = [np.where(there[index], new, old) for new, old in zip(found, results, strict=True)]
    return list(results)


def padded(x: Array, start: Array, dilations: Axes, padding: Padding) -> Array:
    """An array with a scalar between and around its elements, or cut where the padding is negative."""
    extents = [(n - 1) * step + 1 if n else 0 for n, step in zip(x.shape, dilations, strict=True)]
    full = np.full([n + max(a, 0) + max(b, 0) for n, (a, b) in zip(extents, padding, strict=True)], start, x.dtype)
    inner = [slice(max(a, 0), max(a, 0) + n, d) for n, d, (a, _) in zip(extents, dilations, padding, strict=True)]
    full[tuple(inner)] = x
    return full[tuple(slice(max(-a, 0), n - max(-b, 0)) for n, (a, b) in zip(full.shape, padding, strict=True))]


reduce = Op("reduce", _reduce_type, _reduce, multiple=True, kind="reduce")
reduce_window = Op(
    "reduce_window",
    window_type,
    _window,
    multiple=True,
    numbers=("window_dimensions", "padding"),
    kind="window",
)


def _cumulative(name: str, numpy: Callable[..., Any], body: Any, start: Callable[[DType], Any], exact: str) -> Op:
    """A macro op: the reduction of all elements up to each one (from each one on, if `reverse`)."""

    def result_type(x: ArrayType, *, axis: int, reverse: bool = False) -> ArrayType:
        require(name, x, FLOAT if body is log_of_sum else NUMBER)
        checked_axes(name, (axis,), x.ndim)
        return x

    def rule(x: Array, *, axis: int, reverse: bool = False) -> Array:
        return np.flip(numpy(np.flip(x, axis), axis), axis) if reverse else numpy(x, axis)

    def expand(x: Any, *, axis: int, reverse: bool = False) -> Any:
        n, ndim, dtype = x.type.shape[axis], x.type.ndim, x.type.dtype
        if n == 0:
            return x
        ones, before = (1,) * ndim, (0, n - 1) if reverse else (n - 1, 0)
        [result] = reduce_window(
            x,
            fixed(start(dtype), dtype),
            body=combiner(body, dtype),
            window_dimensions=tuple([n if i == axis else 1 for i in range(ndim)]),
            window_strides=ones,
            base_dilations=ones,
            window_dilations=ones,
            padding=tuple([before if i == axis else (0, 0) for i in range(ndim)]),
        )
        return result

    def batch_rule(batch: Any, axes: Sequence[Any], values: Sequence[Any], *, axis: int, reverse: bool = False) -> Any:
        return registry[name](values[0], axis=axis + (axes[0] <= axis), reverse=reverse), axes[0]

    derivative = (
        {"tangent": ("linear",), "transpose": (lambda ct, x, *, axis, reverse=False: cumsum(ct, axis=axis, reverse=not reverse),)}
        if name == "cumsum" else {"tangent": Through(functools.partial(_in_passes, body))}
    )  # fmt: skip
    return Op(
        name, result_type, rule, expand=expand, unite=unite_first, exact=exact, kind="cumulative", batch=batch_rule,
        **derivative,
    )  # fmt: skip


def _in_passes(body: Any, x: Any, *, axis: int, reverse: bool = False) -> Any:
    """All elements up to each one combined in as many passes as the extent has bits."""
    n, reach = x.type.shape[axis], 1
    while reach < n:
        near, far = (0, n - reach), (reach, n)
        here, there = (near, far) if reverse else (far, near)
        both = body(_between(x, axis, *here), _between(x, axis, *there))
        rest = _between(x, axis, n - reach, n) if reverse else _between(x, axis, 0, reach)
        x = concatenate(*([both, rest] if reverse else [rest, both]), dimension=axis)
        reach *= 2
    return x


def _between(x: Any, axis: int, start: int, limit: int) -> Any:
    shape = x.type.shape
    starts = tuple([start if i == axis else 0 for i in range(len(shape))])
    limits = tuple([limit if i == axis else n for i, n in enumerate(shape)])
    return slice_(x, start_indices=starts, limit_indices=limits, strides=(1,) * len(shape))


def _accumulated(function: np.ufunc) -> Callable[..., Any]:
    """Integers wrap, 16-bit floats accumulate in float32, others in double."""

    def rule(x: Array, axis: int) -> Array:
        dtype = x.dtype
        if kind(dtype) in "biu":
            return function.accumulate(x, axis, dtype=dtype)
        accumulator = np.dtype(np.float32) if dtype in HALF else wide(dtype)
        return narrowed(function.accumulate(np.asarray(x, accumulator), axis), dtype)

    return rule


def _doubling(pair: Callable[..., Any]) -> Callable[..., Any]:
    """For a pair function that may meet an element twice: each pass doubles the reach."""

    def rule(x: Array, axis: int) -> Array:
        x = np.array(np.moveaxis(x, axis, 0))
        reach = 1
        while reach < len(x):
            x = np.concatenate([x[:reach], pair(x[reach:], x[:-reach])])
            reach *= 2
        return np.moveaxis(x, 0, axis)

    return rule


def _zero(dtype: DType) -> Any:
    return dtype.type(0)


def _one(dtype: DType) -> Any:
    return dtype.type(1)


cumsum = _cumulative("cumsum", _accumulated(np.add), add, _zero, "iu")
cumprod = _cumulative("cumprod", _accumulated(np.multiply), multiply, _one, "iu")
cummax = _cumulative("cummax", _doubling(greater), maximum, lowest, "iuf")
cummin = _cumulative("cummin", _doubling(smaller), minimum, highest, "iuf")
cumlogsumexp = _cumulative("cumlogsumexp", _accumulated(np.logaddexp), log_of_sum, lowest, "iu")
