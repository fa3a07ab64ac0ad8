"""jax.lax's reductions with a function of the user's: over axes and over windows, of one array or a tree of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from celadon import errors, tree, vocabulary as ops
from celadon.array import Array
from celadon.lax import elementwise
from celadon.lax.convolutions import dilated, padtype_to_pads
from celadon.numpy.promotion import array, converted, operand, shape_from
from celadon.program import Literal, Program, fixed
from celadon.tracing import recorded
from celadon.types import ArrayType, DType, Shape, kind, result_type
from celadon.vocabulary.kinds import checked_axes
from celadon.vocabulary.reduce import highest, lowest
from celadon.vocabulary.window import combiner, reduce as reduce_op, windows

Function = Callable[..., Any]
_START: dict[Function, Callable[[DType], Any]] = {
    elementwise.add: lambda dtype: 0,
    elementwise.mul: lambda dtype: 1,
    elementwise.max: lowest,
    elementwise.min: highest,
    elementwise.bitwise_or: lambda dtype: 0,
    elementwise.bitwise_xor: lambda dtype: 0,
    elementwise.bitwise_and: lambda dtype: True if kind(dtype) == "b" else ~dtype.type(0),
}
_REDUCED: dict[Function, Function] = {
    elementwise.add: ops.reduce_sum, elementwise.mul: ops.reduce_prod, elementwise.max: ops.reduce_max,
    elementwise.min: ops.reduce_min, elementwise.bitwise_or: ops.reduce_or, elementwise.bitwise_xor: ops.reduce_xor,
    elementwise.bitwise_and: ops.reduce_and,
}  # fmt: skip
_WINDOWED: dict[Function, Function] = {
    elementwise.add: ops.add, elementwise.max: ops.maximum, elementwise.min: ops.minimum
}  # fmt: skip


def reduce(
    operands: Any, init_values: Any, computation: Function, dimensions: Sequence[int], out_sharding: Any = None
) -> Any:
    """An array, or each of a tree of them, reduced over axes by a function of two elements (or trees of them).

    Args: init_values: scalars in the same tree; computation: associative, it may not close over traced values; dimensions:
    the axes. Raises BodyMismatch, BodyCloses.

    >>> reduce(np.int32([3, 1, 2]), np.int32(0), lambda x, y: x + y * y, (0,))
    Array(14, dtype=int32)
    """
    xs, starts, form = _parted("lax.reduce", operands, init_values)
    axes = tuple(int(i) for i in dimensions)
    checked_axes("reduce", axes, xs[0].type.ndim)
    if len(xs) == 1 and computation in _REDUCED and _starts_plainly(computation, starts[0], xs[0].type.dtype):
        return form.unflatten([_REDUCED[computation](xs[0], axes=axes)])
    body = _body("reduce", computation, [x.type for x in xs], form)
    found = reduce_op(*xs, *starts, axes=axes, body=body)
    return form.unflatten([_weakened(r, x, s) for r, x, s in zip(found, xs, starts, strict=True)])


def reduce_window(
    operand: Any, init_value: Any, computation: Function, window_dimensions: Any, window_strides: Any = None,
    padding: Any = "VALID", base_dilation: Any = None, window_dilation: Any = None,
) -> Any:  # fmt: skip
    """The reduction of each window of an array, or of each of a tree of them, by a function of two elements.

    Args: init_value, computation: as for reduce; window_dimensions: the window's extents; window_strides: how far it moves;
    padding: "VALID", "SAME", "SAME_LOWER" or (low, high) for each axis; dilations: how far apart elements, or those of a
    window, are taken to lie. Raises BodyMismatch, BodyCloses, WindowNotPositive.

    >>> from celadon import lax
    >>> reduce_window(np.int32([3, 1, 2]), np.int32(0), lax.add, (2,))
    Array([4, 3], dtype=int32)
    """
    xs, starts, form = _parted("lax.reduce_window", operand, init_value)
    sizes = shape_from(window_dimensions)
    ones = (1,) * len(sizes)
    steps = [ones if s is None else shape_from(s) for s in (window_strides, base_dilation, window_dilation)]
    if not isinstance(padding, str):
        padding = tuple((int(low), int(high)) for low, high in padding)
    elif len(sizes) == xs[0].type.ndim == len(steps[0]) == len(steps[2]):
        padding = tuple(padtype_to_pads(xs[0].type.shape, dilated(sizes, steps[2]), steps[0], padding))
    params = {
        "window_dimensions": sizes, "window_strides": steps[0], "base_dilations": steps[1], "window_dilations": steps[2],
        "padding": padding,
    }  # fmt: skip
    if len(xs) == 1 and computation in _WINDOWED and _starts_plainly(computation, starts[0], xs[0].type.dtype):
        return form.unflatten([_plainly(xs[0], computation, params)])
    body = _body("reduce_window", computation, [x.type for x in xs], form)
    return form.unflatten(ops.reduce_window(*xs, *starts, body=body, **params))


_EXTREMES = {elementwise.max: ops.reduce_window_max, elementwise.min: ops.reduce_window_min}


def _plainly(x: Any, computation: Function, params: dict[str, Any]) -> Any:
    """Sums, maxima and minima start from a constant of the structure; extremes of plain windows are an op of their own."""
    dtype = x.type.dtype
    if computation in _EXTREMES and kind(dtype) in "iuf" and set(params["window_dilations"]) <= {1}:
        return _EXTREMES[computation](x, **params)
    start = ops.broadcast_in_dim(fixed(_START[computation](dtype), dtype), shape=(), broadcast_dimensions=())
    [found] = ops.reduce_window(x, start, body=combiner(_WINDOWED[computation], dtype), **params)
    return converted(found, dtype, x.type.weak_type)


def _parted(function: str, operands: Any, init_values: Any) -> tuple[list[Any], list[Any], tree.PyTreeDef]:
    """Leaves of both trees, which must be alike, the initial ones in the operands' dtypes where they are weak or equal."""
    leaves, form = tree.flatten(operands)
    starts, other = tree.flatten(init_values)
    if form != other or not leaves:
        raise errors.InitialTreeDiffers(function=function, operands=form, given=other)
    xs = [array(x, function) for x in leaves]
    return xs, [_start(function, s, x.type) for s, x in zip(starts, xs, strict=True)], form


def _start(function: str, start: Any, type: ArrayType) -> Any:
    found = operand(start, function)
    fits = found.type.weak_type and result_type([found.type, type.strong()])[0] == type.dtype
    return converted(found, type.dtype) if fits else found


def _starts_plainly(computation: Function, start: Any, dtype: DType) -> bool:
    """Whether a reduction starts from what changes nothing, so that it is one of the named ones."""
    if computation in (elementwise.bitwise_or, elementwise.bitwise_and, elementwise.bitwise_xor) and kind(dtype) not in "biu":
        return False
    value = start.value if type(start) is Literal else start.host[()] if type(start) is Array and not start.type.shape else None
    return value is not None and bool(value == fixed(_START[computation](dtype), dtype).value)


def _body(op: str, computation: Function, types: Sequence[ArrayType], form: tree.PyTreeDef) -> Program:
    scalars = [t.strong().with_shape(()) for t in types]
    with recorded("body") as record:
        before = form.unflatten([record.input(t) for t in scalars])
        then = form.unflatten([record.input(t) for t in scalars])
        leaves, made = tree.flatten(computation(before, then))
        body = record.program([_start(op, x, t) for x, t in zip(leaves, scalars, strict=False)])
    if made != form:
        raise errors.BodyMismatch(op=op, operands=f"{', '.join(map(str, types))} in {form}", body=f"one that returns {made}")
    if body.captures:
        raise errors.BodyCloses(op=op, type=body.captures[0][0].type)
    return body


def _weakened(found: Any, x: Any, start: Any) -> Any:
    return converted(found, x.type.dtype, x.type.weak_type and start.type.weak_type)


def reduce_window_shape_tuple(
    operand_shape: Any, window_dimensions: Any, window_strides: Any, padding: Any, base_dilation: Any = None,
    window_dilation: Any = None,
) -> Shape:  # fmt: skip
    """The shape of reduce_window's result.

    >>> reduce_window_shape_tuple((8, 9), (2, 3), (1, 2), [(0, 0), (1, 1)])
    (7, 5)
    """
    ones = (1,) * len(window_dimensions)
    dilations = zip(base_dilation or ones, window_dilation or ones, strict=True)
    return tuple(map(windows, operand_shape, window_dimensions, window_strides, dilations, padding))
