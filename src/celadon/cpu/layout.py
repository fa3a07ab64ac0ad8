"""Views, twice: Layouts say what the structure tells of how a view walks memory, strides what a plan knows of it."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

from celadon.program import Equation


class Axis(NamedTuple):
    """How one axis of a view walks its source.

    source: which of the source's axes longer than 1; unit: by neighbouring elements; step: by one of that axis;
    whole: over all of it.
    """

    source: int
    unit: bool
    step: bool = True
    whole: bool = True


Layout = tuple[Axis | None, ...]  # None where the view stands still: broadcast, or an extent of 1
VIEWS = frozenset({"transpose", "broadcast_in_dim", "slice", "reverse"})


def dense(shape: Sequence[int]) -> Layout:
    """The layout of an array in memory of its own, in C order."""
    return _dense(tuple([extent != 1 for extent in shape]))


@functools.cache
def _dense(longer: tuple[bool, ...]) -> Layout:
    places = [i for i, long in enumerate(longer) if long]
    return tuple([Axis(places.index(i), i == places[-1]) if long else None for i, long in enumerate(longer)])


def is_dense(layout: Layout, shape: Sequence[int]) -> bool:
    """Whether a view of this layout and shape is its whole source in order."""
    if layout == dense(shape):
        return True
    if any(axis is None and extent != 1 for axis, extent in zip(layout, shape, strict=True)):
        return False
    axes = [axis for axis in layout if axis is not None]
    in_order = all(axis.source == k and axis.step and axis.whole for k, axis in enumerate(axes))
    return in_order and (not axes or axes[-1].unit)


def viewed(equation: Equation, operand: Layout) -> Layout:
    """The layout of a view op's result."""
    params = equation.params
    if equation.op.name == "transpose":
        return tuple(operand[i] for i in params["permutation"])
    if equation.op.name == "broadcast_in_dim":
        place = {d: k for k, d in enumerate(params["broadcast_dimensions"])}
        return tuple(operand[place[d]] if d in place else None for d in range(len(params["shape"])))
    steps = _steps(equation, len(operand))
    shape = equation.outputs[0].type.shape
    return tuple(
        None
        if axis is None or extent == 1
        else Axis(axis.source, axis.unit and step == 1, axis.step and step == 1, whole)
        for axis, extent, (step, whole) in zip(operand, shape, _walked(equation, operand, steps), strict=True)
    )


def _steps(equation: Equation, rank: int) -> list[int]:
    if equation.op.name == "slice":
        return list(equation.params["strides"] or (1,) * rank)
    return [-1 if i in equation.params["dimensions"] else 1 for i in range(rank)]


def _walked(equation: Equation, operand: Layout, steps: list[int]) -> list[tuple[int, bool]]:
    """Step and wholeness of each axis; where a slice begins and ends is a number, so it is never known to be whole."""
    sliced = equation.op.name == "slice"
    return [
        (step, not sliced and step == 1 and (axis is None or axis.whole))
        for axis, step in zip(operand, steps, strict=True)
    ]


def merged(
    shape: Sequence[int], layouts: Sequence[Layout], marks: Sequence[object] = ()
) -> tuple[tuple[int, ...], ...]:
    """The axes longer than 1, grouped where all layouts walk neighbours as one; axes with unequal marks stay apart."""
    loops: list[list[int]] = []
    for i, extent in enumerate(shape):
        if extent == 1:
            continue
        before = loops[-1][-1] if loops else -1
        same_mark = not marks or (before >= 0 and marks[before] == marks[i])
        if loops and same_mark and all(_joined(layout[before], layout[i]) for layout in layouts):
            loops[-1].append(i)
        else:
            loops.append([i])
    return tuple(tuple(loop) for loop in loops)


def _joined(a: Axis | None, b: Axis | None) -> bool:
    if a is None or b is None:
        return a is b
    return b.source == a.source + 1 and b.step and b.whole and a.step


def tiled(layouts: Sequence[Layout], loops: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...] | None:
    """The loops in another order if a layout's neighbours are not along the innermost one: theirs comes second last."""
    inner = loops[-1][-1] if loops else -1
    for layout in layouts:
        for loop in loops[:-1]:
            across, axis = layout[inner], layout[loop[-1]]
            if axis is not None and axis.unit and across is not None:
                return (*(other for other in loops[:-1] if other != loop), loop, loops[-1])
    return None


def access(layout: Layout, loops: Sequence[Sequence[int]], blocks: bool = False) -> str:
    """A letter a loop, see Leaf; `blocks` if the last two loops are walked in blocks."""
    letters = ""
    for k, loop in enumerate(loops):
        axis = layout[loop[-1]]
        letters += "0" if axis is None else "1" if axis.unit and k == len(loops) - 1 else "s"
    if blocks and letters[-1] == "s" and getattr(layout[loops[-2][-1]], "unit", False):
        letters = letters[:-2] + "ts"
    return letters


Strides = tuple[int, ...]  # in bytes


def dense_strides(shape: Sequence[int], itemsize: int) -> Strides:
    """
    >>> dense_strides((2, 3), 4)
    (12, 4)
    """
    strides: list[int] = []
    step = itemsize
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


def transpose_view(params: dict[str, Any], shape: Sequence[int], offset: int, strides: Strides) -> tuple[int, Strides]:
    return offset, tuple([strides[i] for i in params["permutation"]])


def broadcast_view(params: dict[str, Any], shape: Sequence[int], offset: int, strides: Strides) -> tuple[int, Strides]:
    found = [0] * len(params["shape"])
    for k, d in enumerate(params["broadcast_dimensions"]):
        if shape[k] != 1:
            found[d] = strides[k]
    return offset, tuple(found)


def slice_view(params: dict[str, Any], shape: Sequence[int], offset: int, strides: Strides) -> tuple[int, Strides]:
    for start, stride in zip(params["start_indices"], strides, strict=True):
        offset += start * stride
    steps = params["strides"]
    return offset, tuple([a * b for a, b in zip(strides, steps, strict=True)]) if steps else strides


def reverse_view(params: dict[str, Any], shape: Sequence[int], offset: int, strides: Strides) -> tuple[int, Strides]:
    found = list(strides)
    for d in params["dimensions"]:
        offset += max(shape[d] - 1, 0) * strides[d]
        found[d] = -strides[d]
    return offset, tuple(found)


VIEW_RULES = {
    "transpose": transpose_view,
    "broadcast_in_dim": broadcast_view,
    "slice": slice_view,
    "reverse": reverse_view,
}
