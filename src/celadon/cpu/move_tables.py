"""Rules of plan for moves: where parts begin in a result, the tables of dynamic addresses, gathers and running sums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from celadon.cpu.kinds import lanes_for
from celadon.cpu.layout import Strides
from celadon.cpu.plan import WORD, Place, Planner, extents_of, product, rules, unit_of
from celadon.cpu.recipe import Launch, Map, Moved
from celadon.cpu.tables import STEP, cost

_GATHERED = 3.0
_ACCUMULATED = 1.0
_LOGARITHMS = 20.0
_SORTED = 20.0


def _fill_part(planner: Planner, launch: Launch, extents: Sequence[int], source: int, target: Place) -> None:
    """A copy of `extents` elements from `source` bytes further than the operand's start to a place in the result."""
    if not product(extents):
        return
    kernel = planner.outline.schedule.kernels[launch.kernel]
    assert isinstance(kernel, Map)
    at = planner.here
    sizes = extents_of(tuple(extents), launch.loops)
    read = planner.operand(launch.reads[0], launch.loops, kernel.body.leaves[0].access, at)
    read[1] += source
    write = [target.cell * WORD - at, target.offset]
    write += [
        target.strides[loop[-1]] for loop, letter in zip(launch.loops, kernel.writes[0], strict=True) if letter == "s"
    ]
    nanoseconds = product(sizes) * cost(kernel.body)
    extent = sizes[0] if sizes else 1
    unit = unit_of(extent, nanoseconds, 64 if len(sizes) == 1 else 1)
    planner.step(launch.kernel, [*sizes, *read, *write], extent, unit, nanoseconds + STEP)


def _beside(planner: Planner, launch: Launch) -> None:
    equation, out = planner.equations[launch.equation], planner.place(launch.writes[0])
    axis = equation.params["dimension"]
    before = sum(x.type.shape[axis] for x in equation.inputs[: launch.part])
    target = Place(out.cell, out.offset + before * out.strides[axis], out.strides)
    _fill_part(planner, launch, planner.shapes[launch.like], 0, target)


def _padded(planner: Planner, launch: Launch) -> None:
    params, out = planner.equations[launch.equation].params, planner.place(launch.writes[0])
    source, shape = planner.place(launch.reads[0]), planner.shapes[launch.writes[0]]
    extents: list[int] = []
    strides: list[int] = []
    skipped, offset = 0, out.offset
    for i, n in enumerate(planner.shapes[launch.like]):
        low, gap = params["low"][i], params["interior"][i] + 1
        first = max(-(low // gap), 0) if low < 0 else 0
        last = min(n - 1, (shape[i] - 1 - low) // gap)
        extents.append(max(last - first + 1, 0))
        strides.append(out.strides[i] * gap)
        skipped += first * source.strides[i]
        offset += (low + first * gap) * out.strides[i]
    _fill_part(planner, launch, extents, skipped, Place(out.cell, offset, tuple(strides)))


def _address(planner: Planner, launch: Launch) -> None:
    """The step writes an address to a new cell, which the next step or view uses."""
    source, *starts = launch.reads
    place, shape, sizes = planner.place(source), planner.shapes[source], planner.shapes[launch.like]
    cell = len(planner.words)
    planner.words.append(0)
    at = planner.here
    words = [cell * WORD - at, place.cell * WORD - at, place.offset]
    for i, start in enumerate(starts):
        words += planner.operand(start, (), "", at)
        words += (shape[i] - sizes[i], place.strides[i])
    planner.step(launch.kernel, words, 1, 1, STEP)
    planner.addressed = Place(cell, 0, place.strides)


def _addressed(planner: Planner, launch: Launch) -> None:
    assert planner.addressed is not None
    _fill_part(planner, launch, planner.shapes[launch.like], 0, planner.addressed)


def _gather(planner: Planner, launch: Launch) -> None:
    kernel, params = planner.outline.schedule.kernels[launch.kernel], planner.equations[launch.equation].params
    assert isinstance(kernel, Moved)
    _, moved, read, write, _, length = kernel.facts
    source, places = launch.reads[0], launch.reads[1]
    shape, at = planner.shapes[source], planner.here
    extents = extents_of(planner.shapes[launch.like], launch.loops)
    operand, indices = planner.place(source), planner.place(places)
    words = list(extents)
    words += _walked(
        operand, _operand_strides(params, operand.strides, len(planner.shapes[launch.like])), launch, moved, at
    )
    words += _walked(
        indices, _batch_strides(params, indices.strides, len(planner.shapes[launch.like])), launch, read, at
    )
    words += planner.operand(launch.writes[0], launch.loops, write, at)
    words += [indices.strides[-1]] if length else []
    for axis in params["start_index_map"]:
        words += (shape[axis] - params["slice_sizes"][axis], operand.strides[axis])
    for number in launch.reads[2:]:
        words += planner.operand(number, (), "", at)
    nanoseconds = product(extents) * _GATHERED
    extent = extents[0] if extents else 1
    planner.step(launch.kernel, words, extent, unit_of(extent, nanoseconds), nanoseconds + STEP)


def _walked(place: Place, strides: Sequence[int], launch: Launch, access: str, at: int) -> list[int]:
    """The words of an operand that walks the loops by strides of its own."""
    steps = [strides[loop[-1]] for loop, letter in zip(launch.loops, access, strict=True) if letter == "s"]
    return [place.cell * WORD - at, place.offset, *steps]


def _operand_strides(params: dict[str, Any], strides: Strides, rank: int) -> list[int]:
    """The operand's strides along the axes of a gather's result."""
    batching = params.get("operand_batching_dims", ())
    dropped = (*params["collapsed_slice_dims"], *batching)
    kept = iter([stride for i, stride in enumerate(strides) if i not in dropped])
    pairs = dict(zip(params.get("start_indices_batching_dims", ()), batching, strict=True))
    batches = iter(range(rank))
    return [
        next(kept) if i in params["offset_dims"] else strides[pairs[b]] if (b := next(batches)) in pairs else 0
        for i in range(rank)
    ]


def _batch_strides(params: dict[str, Any], strides: Strides, rank: int) -> list[int]:
    batch = iter(strides)
    return [0 if i in params["offset_dims"] else next(batch) for i in range(rank)]


def _cumulative(planner: Planner, launch: Launch) -> None:
    kernel, params = planner.outline.schedule.kernels[launch.kernel], planner.equations[launch.equation].params
    assert isinstance(kernel, Moved)
    op, read, write = kernel.facts
    axis, shape, at = params["axis"], planner.shapes[launch.like], planner.here
    length = shape[axis]
    extents = extents_of(shape, launch.loops)
    words = [*extents, length]
    steps: list[int] = []
    for number, access in ((launch.reads[0], read), (launch.writes[0], write)):
        stride = planner.place(number).strides[axis]
        found = planner.operand(number, launch.loops, access, at)
        if params.get("reverse"):
            found[1] += max(length - 1, 0) * stride
            stride = -stride
        words += found
        steps.append(stride)
    nanoseconds = product(shape) * (_LOGARITHMS if op == "cumlogsumexp" else _ACCUMULATED)
    extent = extents[0] if extents else 1
    lanes = lanes_for([kernel.dtypes[0]])
    unit = unit_of(extent, nanoseconds, lanes if len(extents) == 1 else 1)
    planner.step(launch.kernel, words + steps, extent, unit, nanoseconds + STEP)


def _sort(planner: Planner, launch: Launch) -> None:
    axis, shape = planner.equations[launch.equation].params["dimension"], planner.shapes[launch.like]
    extents, length = extents_of(shape, launch.loops), shape[axis]
    lines = product(extents)
    nanoseconds = lines * length * _SORTED
    if not lines * length:
        return
    block = unit_of(lines, nanoseconds)
    pieces = -(-lines // block)
    room = 4 * length * WORD
    scratch = planner.scratch(pieces * room)
    at = planner.here
    words = [*extents, block, lines, length, planner.outline.arena_cell * WORD - at, scratch, room]
    for number in (*launch.reads, *launch.writes):
        words += planner.operand(number, launch.loops, "s" * len(launch.loops), at)
        words.append(planner.place(number).strides[axis])
    planner.step(launch.kernel, words, pieces, 1, nanoseconds + STEP)


rules.update(
    sort=_sort, beside=_beside, padded=_padded, address=_address, addressed=_addressed, gather=_gather, cumulative=_cumulative
)
