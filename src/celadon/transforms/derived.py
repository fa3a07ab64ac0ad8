"""Programs made from a program: its jvp, its forward and linear parts, its transpose, its batch; each is made once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from celadon import settings
from celadon.program import Operand, Program, Var, remembered
from celadon.tracing import Record, Recorded, interpreting, recorded
from celadon.transforms.backward import Linear, pull
from celadon.transforms.batching import Batch, at
from celadon.transforms.forward import Dual, Jvp, instantiated
from celadon.transforms.replay import replay
from celadon.vocabulary.bodies import closed

Mask = tuple[bool, ...]


class Forward(NamedTuple):
    """A program of primals and tangents, and which of its results have a tangent."""

    program: Program
    moved: Mask


class Linearized(NamedTuple):
    """A program in two: `forward` gives the results and residuals; `linear` takes residuals and tangents.

    A residual is an output of `forward`, or a place among the inputs of the program: `residuals` holds its index there, or
    -1 - k for the k-th residual of `forward`.
    """

    forward: Program
    linear: Program
    residuals: tuple[int, ...]
    moved: Mask

    def gathered(self, inputs: Sequence[Any], made: Sequence[Any]) -> list[Any]:
        """The residuals, from the program's inputs and what `forward` gave beyond its results."""
        return [inputs[i] if i >= 0 else made[-1 - i] for i in self.residuals]


class Transposed(NamedTuple):
    """A program of what is not linear, then cotangents; and which linear inputs get a cotangent from it."""

    program: Program
    moved: Mask


class Mapped(NamedTuple):
    """A program over a whole batch, and the batch axis of each result, or None."""

    program: Program
    axes: tuple[int | None, ...]


def jvp_of(program: Program, moving: Mask, whole: Mask | None = None) -> Forward:
    """The program that takes all inputs and the tangents of those that move; results marked in `whole` get one in any case."""
    return remembered(program, ("jvp", moving, whole, settings.key()), lambda: _jvp(program, moving, whole))


def _jvp(program: Program, moving: Mask, whole: Mask | None) -> Forward:
    with recorded(f"{program.name}_jvp", False) as record:
        _, duals, jvp = _duals(program, moving, record, None)
        with interpreting(jvp):
            results = [jvp.parts(x) for x in replay(program, duals)]
        tangents = [_wanted(x, t, whole[k] if whole else False) for k, (x, t) in enumerate(results)]
        outputs = [x for x, _ in results] + [t for t in tangents if t is not None]
        made = record.program(outputs)
    jvp.open = False
    return Forward(made, tuple([t is not None for t in tangents]))


def _wanted(x: Any, t: Any, wanted: bool) -> Any:
    return instantiated(t, x.type) if wanted else t


def _duals(program: Program, moving: Mask, record: Record, linear: Linear | None) -> tuple[list[Any], list[Any], Jvp]:
    primals = [record.input(var.type) for var in program.inputs]
    jvp = Jvp(record, linear)
    into = linear or record
    duals = [Dual(jvp, x, into.input(x.type)) if moves else x for x, moves in zip(primals, moving, strict=True)]
    return primals, duals, jvp


def linearized(program: Program, moving: Mask, whole: Mask | None = None) -> Linearized:
    """The program in a forward part and a part that is linear in the tangents of the inputs that move; results marked in
    `whole` have a tangent in any case."""
    return remembered(program, ("linearized", moving, whole, settings.key()), lambda: _linearized(program, moving, whole))


def _linearized(program: Program, moving: Mask, whole: Mask | None) -> Linearized:
    with recorded(f"{program.name}_forward", False) as record:
        linear = Linear(f"{program.name}_linear", record, False)
        primals, duals, jvp = _duals(program, moving, record, linear)
        with interpreting(jvp):
            results = [jvp.parts(x) for x in replay(program, duals)]
        tangents = [linear.zeros(x.type) if t is None and whole and whole[k] else t for k, (x, t) in enumerate(results)]
        body = linear.program([t for t in tangents if t is not None])
        places = {x.variable: i for i, x in enumerate(primals)}
        kept, residuals = _residuals(body, places)
        forward = record.program([*(x for x, _ in results), *kept])
    linear.open = jvp.open = False
    return Linearized(forward, closed(body), residuals, tuple([t is not None for t in tangents]))


def _residuals(body: Program, places: dict[Var, int]) -> tuple[list[Any], tuple[int, ...]]:
    kept: list[Any] = []
    indices: list[int] = []
    for _, value in body.captures:
        place = places.get(value.variable) if type(value) is Recorded else None
        if place is None:
            kept.append(value)
            place = -len(kept)
        indices.append(place)
    return kept, tuple(indices)


def transposed(program: Program, linear: Mask, given: Mask) -> Transposed:
    """The program that takes the inputs that are not linear, then the cotangents of the results marked in `given`."""
    return remembered(program, ("transposed", linear, given, settings.key()), lambda: _transposed(program, linear, given))


def _transposed(program: Program, linear: Mask, given: Mask) -> Transposed:
    with recorded(f"{program.name}_transposed", False) as record:
        recorder = Linear(program.name, record, False)
        inputs = [(recorder if one else record).input(x.type) for x, one in zip(program.inputs, linear, strict=True)]
        with interpreting(recorder):
            outputs = replay(program, inputs)
        body = recorder.program(outputs)
        cts = [record.input(x.type) if one else None for x, one in zip(program.outputs, given, strict=True)]
        found = pull(body, cts)
        made = record.program([ct for ct in found if ct is not None])
    recorder.open = False
    return Transposed(made, tuple([ct is not None for ct in found]))


def batched(program: Program, axes: tuple[int | None, ...], batch: tuple[int, Any], wanted: Any = None) -> Mapped:
    """The program over a batch (its size and axis name); `axes` says where the batch stands in each input.

    `wanted` forces the axis of each result: an integer, or None to leave it.
    """
    key = ("batched", axes, batch, wanted, settings.key())
    return remembered(program, key, lambda: _batched(program, axes, batch, wanted))


def _batched(program: Program, axes: tuple[int | None, ...], batch: tuple[int, Any], wanted: Any) -> Mapped:
    size, axis_name = batch
    with recorded(program.name, False) as record:
        inner = Batch(record, size, axis_name)
        inputs = [
            inner.joined(record.input(_whole(x, i, size)), i) for x, i in zip(program.inputs, axes, strict=True)
        ]
        with interpreting(inner):
            results = [inner.parts(x) for x in replay(program, inputs)]
        found = [i for _, i in results]
        if wanted is not None:
            results = [(at(x, i, w, size), i if w is None else w) for (x, i), w in zip(results, wanted, strict=True)]
            found = [i for _, i in results]
        made = record.program([x for x, _ in results])
    inner.open = False
    return Mapped(made, tuple(found))


def _whole(x: Operand, axis: int | None, size: int) -> Any:
    shape = x.type.shape
    return x.type if axis is None else x.type.with_shape((*shape[:axis], size, *shape[axis:]))


__all__ = ["Forward", "Linearized", "Mapped", "Transposed", "batched", "jvp_of", "linearized", "transposed"]
