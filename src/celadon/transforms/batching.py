"""Batch: the interpreter of vmap; values with a batch axis come in, ops over the whole batch go to the interpreter outside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from celadon import errors
from celadon.program import Program, remembered
from celadon.tracing import Interpreter, Tracer, apply_in, argument_words, interpreting
from celadon.types import ArrayType
from celadon.vocabulary.shape import broadcast_in_dim, transpose

if TYPE_CHECKING:
    from celadon.op import Op

Values = Sequence[Any]
Axes = Sequence[int | None]


class Batched(Tracer):
    """A value for each member of a batch; its type is that of one member."""

    __slots__ = ("axis", "sources", "value")
    interpreter: Batch

    def __init__(self, interpreter: Batch, value: Any, axis: int, sources: int = 0):
        """`sources` has a bit for each leaf of the mapped function's arguments that the value is known to depend on."""
        self.interpreter = interpreter  # pyright: ignore[reportIncompatibleVariableOverride]
        self.value, self.axis, self.sources = value, axis, sources
        shape = value.type.shape
        self.type = value.type.with_shape(shape[:axis] + shape[axis + 1 :])

    def origin(self) -> str:
        label = self.interpreter.label
        names = [label(i) for i in range(self.sources.bit_length()) if self.sources >> i & 1] if label else []
        return argument_words(names, "mapped") if names else "differs from member to member of a batch"

    def made(self) -> str:
        return self.value.made() if isinstance(self.value, Tracer) else super().made()


class Batch:
    """Applies ops to all members of a batch at once, in the interpreter outside; `axis_name` names the batch for collectives."""

    name, open = "a batched function", True
    label: Callable[[int], str] | None = None  # how messages call a leaf of the arguments

    def __init__(self, outer: Interpreter | None, size: int, axis_name: Any = None):
        self.outer, self.size, self.axis_name = outer, size, axis_name

    def apply(self, op: Op, operands: Values, params: dict[str, Any]) -> Any:
        mine = [type(x) is Batched and x.interpreter is self for x in operands]
        if True not in mine and (self.axis_name is None or not named(op, params, self.axis_name)):
            return apply_in(self.outer, op, operands, params)
        if op.batch is None and op.expand is not None and op.kind != "elementwise":
            return op.expand(*operands, **params)
        values = [x.value if own else x for x, own in zip(operands, mine, strict=True)]
        axes = [x.axis if own else None for x, own in zip(operands, mine, strict=True)]
        with interpreting(self.outer):
            out, axis = batched(op, self, axes, values, params)
        sources = 0
        for x, own in zip(operands, mine, strict=True):
            sources |= x.sources if own else 0
        if op.multiple:
            return [self.joined(x, i, sources) for x, i in zip(out, axis, strict=True)]
        return self.joined(out, axis, sources)

    def joined(self, value: Any, axis: int | None, sources: int = 0) -> Any:
        return value if axis is None else Batched(self, value, axis, sources)

    def parts(self, x: Any) -> tuple[Any, int | None]:
        """The value and the batch axis of any value; None where all members share it."""
        return (x.value, x.axis) if type(x) is Batched and x.interpreter is self else (x, None)


def named(op: Op, params: dict[str, Any], axis_name: Any) -> bool:
    """Whether an op, or one in a program that it holds, speaks of a named axis."""
    if op.kind == "collective":
        return axis_name in params["axes"]
    return any(_speaks(program, axis_name) for program in bodies(params))


def bodies(params: dict[str, Any]) -> list[Program]:
    """The programs that an op holds."""
    found: list[Program] = []
    for value in params.values():
        found += [x for x in (value if type(value) is tuple else (value,)) if type(x) is Program]
    return found


def _speaks(program: Program, axis_name: Any) -> bool:
    return remembered(
        program, ("speaks", axis_name), lambda: any(named(e.op, e.params, axis_name) for e in program.equations)
    )


def batched(op: Op, batch: Batch, axes: Axes, values: Values, params: dict[str, Any]) -> tuple[Any, Any]:
    """An op on batched values, by its rule."""
    if op.batch is not None:
        return op.batch(batch, axes, values, **params)
    if op.kind == "elementwise":
        return elementwise(op, axes, values, params)
    raise errors.NotBatchable(op=op.name)


def elementwise(op: Op, axes: Axes, values: Values, params: dict[str, Any]) -> tuple[Any, int]:
    """Batch axes are brought together; a scalar that all members share stays one."""
    ranks = [x.type.ndim - (i is not None) for x, i in zip(values, axes, strict=True)]
    rank = max(ranks)
    known = {i for i, r in zip(axes, ranks, strict=True) if i is not None and r == rank}
    axis = known.pop() if len(known) == 1 else 0
    shape = next(x.type.shape for x, i in zip(values, axes, strict=True) if i is not None)
    size = shape[next(i for i in axes if i is not None)]
    full = next(without(x.type.shape, i) for x, i, r in zip(values, axes, ranks, strict=True) if r == rank)
    whole = (*full[:axis], size, *full[axis:])
    return op(*[_aligned(x, i, axis, whole) for x, i in zip(values, axes, strict=True)], **params), axis


def _aligned(x: Any, own: int | None, axis: int, whole: tuple[int, ...]) -> Any:
    if own is None and not x.type.ndim:
        return x
    if own is None:
        return spread(x, axis, whole[axis])
    if x.type.ndim < len(whole):
        return broadcast_in_dim(x, shape=whole, broadcast_dimensions=(axis,))
    return moved(x, own, axis)


def without(shape: tuple[int, ...], axis: int | None) -> tuple[int, ...]:
    return shape if axis is None else shape[:axis] + shape[axis + 1 :]


def moved(x: Any, source: int, target: int) -> Any:
    """An array with one axis at another place."""
    if source == target:
        return x
    order = [i for i in range(x.type.ndim) if i != source]
    order.insert(target, source)
    return transpose(x, permutation=tuple(order))


def spread(x: Any, axis: int, size: int) -> Any:
    """An array repeated along a new axis."""
    shape = x.type.shape
    kept = tuple(i + (i >= axis) for i in range(len(shape)))
    return broadcast_in_dim(x, shape=(*shape[:axis], size, *shape[axis:]), broadcast_dimensions=kept)


def leading(x: Any, axis: int | None, size: int) -> Any:
    """An array with its batch in front: moved there, or repeated if it has none."""
    return spread(x, 0, size) if axis is None else moved(x, axis, 0)


def at(x: Any, axis: int | None, target: int | None, size: int) -> Any:
    """A batched value with its axis where it is wanted; None is wanted only of what has none."""
    if target is None:
        return x
    place: int = target % (x.type.ndim + (axis is None))
    return spread(x, place, size) if axis is None else moved(x, axis, place)


def member(type: ArrayType, axis: int | None) -> ArrayType:
    """The type of one member."""
    return type.with_shape(without(type.shape, axis))


__all__ = ["Batch", "Batched", "at", "batched", "bodies", "leading", "member", "moved", "spread"]
