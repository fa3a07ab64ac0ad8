"""The rule of plan for windows: which of them lie in the array, the distances of their elements, and what threads share."""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

from celadon.cpu.plan import WORD, Place, Planner, rules, unit_of
from celadon.cpu.recipe import Launch, Moved
from celadon.cpu.tables import STEP
from celadon.program import Equation
from celadon.types import Shape
from celadon.vocabulary.window import windows

_LISTED = 1024
_TAKEN = 0.6
_VECTOR = 16
_PIECES = 16


class _Axis(NamedTuple):
    """One axis: how many windows; extent; a window's elements, the step from window to window, gaps between elements of the
    array and between a window's, padding before it."""

    windows: int
    extent: int
    size: int
    step: int
    spread: int
    apart: int
    before: int

    @property
    def limit(self) -> int:
        return (self.extent - 1) * self.spread + 1 if self.extent else 0

    @property
    def inside(self) -> tuple[int, int]:
        """The first window that lies in the array, and the first that does not any more."""
        if self.spread != 1:
            return 0, 0
        first = max(-(-self.before // self.step), 0)
        last = (self.limit - 1 - (self.size - 1) * self.apart + self.before) // self.step + 1
        return first, max(min(last, self.windows), first)


def _axes(equation: Equation, shape: Shape) -> list[_Axis]:
    params = equation.params
    if equation.op.name == "reduce":
        found = [_whole(n) if i in params["axes"] else _Axis(n, n, 1, 1, 1, 1, 0) for i, n in enumerate(shape)]
    else:
        ones = (1,) * len(shape)
        names = ("window_dimensions", "window_strides", "base_dilations", "window_dilations")
        columns = zip(*(params.get(name, ones) for name in names), params["padding"], strict=True)
        found = [
            _Axis(windows(n, size, step, (spread, apart), padding), n, size, step, spread, apart, padding[0])
            for n, (size, step, spread, apart, padding) in zip(shape, columns, strict=True)
        ]
    return found or [_whole(1)]


def _whole(n: int) -> _Axis:
    """One window that is the whole axis."""
    return _Axis(1, n, n, max(n, 1), 1, 1, 0)


def _windows(planner: Planner, launch: Launch) -> None:
    kernel, equation = planner.outline.schedule.kernels[launch.kernel], planner.equations[launch.equation]
    assert isinstance(kernel, Moved)
    axes, selects = _axes(equation, planner.shapes[launch.like]), kernel.kind == "selected"
    count, size = (math.prod(numbers) for numbers in zip(*((axis.windows, axis.size) for axis in axes), strict=True))
    if not count:
        return
    reads = [planner.place(number) for number in launch.reads]
    writes = [planner.place(number) for number in launch.writes]
    around, beside = ([reads[0], *writes], reads[1:]) if selects else (reads[: len(writes)], writes)
    walks = [place.strides or (0,) for place in around]
    listed = size if size <= _LISTED and all(axis.spread == 1 for axis in axes) else 0
    split = _split(axes, selects)
    at = planner.here
    words = [split]
    for axis in axes:
        words += (axis.windows, axis.step, axis.size, axis.apart, axis.before, axis.limit, axis.spread, *axis.inside)
    for place, walk in zip(around, walks, strict=True):
        words += (place.cell * WORD - at, place.offset, *walk)
    for place in beside:
        words += (place.cell * WORD - at, place.offset, *_beside(place, equation, len(axes)))
    if not selects:
        for number in launch.reads[len(writes) :]:
            words += planner.operand(number, (), "", at)
    words.append(listed)
    if listed:
        for position in itertools.product(*(range(axis.size) for axis in axes)):
            elements = [k * axis.apart for k, axis in zip(position, axes, strict=True)]
            words += [sum(e * stride for e, stride in zip(elements, walk, strict=True)) for walk in walks]
    nanoseconds = count * (size + 2) * _TAKEN
    extent = axes[split].windows if split >= 0 else 1
    multiple = _VECTOR if split == len(axes) - 1 else 1
    unit = unit_of(extent, nanoseconds, multiple) if split >= 0 else 1
    planner.step(launch.kernel, words, extent, unit, nanoseconds + STEP)


def _beside(place: Place, equation: Equation, rank: int) -> list[int]:
    """The strides of what has an element for each window."""
    if equation.op.name != "reduce":
        return list(place.strides) or [0] * rank
    kept = iter(place.strides)
    return [0 if i in equation.params["axes"] else next(kept, 0) for i in range(rank)]


def _split(axes: list[_Axis], selects: bool) -> int:
    """The axis that threads share: the first long one, of those along which no two windows meet if they write to where
    they lie; -1 if there is none."""
    apart = [i for i, axis in enumerate(axes) if not selects or axis.size <= axis.step]
    long = [i for i in apart if axes[i].windows >= _PIECES]
    return long[0] if long else max(apart, key=lambda i: axes[i].windows, default=-1)


rules["windows"] = _windows
