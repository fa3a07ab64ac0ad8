"""The rule of plan for convolution: blocks that stay in cache, how they are laid out, and the distances of a sum's terms."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

from celadon.cpu.kinds import itemsize
from celadon.cpu.plan import PAYS, WORD, Planner, rules
from celadon.cpu.recipe import TILE_ROWS, Launch, Moved, sums_in_parts
from celadon.cpu.tables import STEP
from celadon.vocabulary.convolution import extents_of

_IN_CACHE = 1 << 18
_WEIGHTS = 1 << 17  # bytes of weights that many outputs meet before the next ones are read
_PIECES = 16
_NANOSECONDS = 0.05
_SLACK = 256  # bytes that loads and stores of whole vectors may reach beyond what is laid out


class _Axis(NamedTuple):
    """One spatial axis: extents of array, kernel and result, and how windows walk it."""

    extent: int
    window: int
    outputs: int
    step: int
    spread: int
    apart: int
    before: int

    @property
    def reach(self) -> int:
        """The places that one window spans."""
        return (self.window - 1) * self.apart + 1 if self.window else 1


_NO_AXIS = _Axis(1, 1, 1, 1, 1, 1, 0)


def _axes(planner: Planner, launch: Launch, params: dict[str, Any]) -> list[_Axis]:
    left, right, out = params["dimension_numbers"]
    lhs, result = planner.shapes[launch.reads[0]], planner.shapes[launch.writes[0]]
    kernel = planner.equations[launch.equation].inputs[1].type.shape
    names = ("window_strides", "lhs_dilation", "rhs_dilation")
    steps = zip(*(params[name] for name in names), params["padding"], strict=True)
    return [
        _Axis(lhs[i], kernel[j], result[k], stride, spread, apart, before)
        for i, j, k, (stride, spread, apart, (before, _)) in zip(left[2:], right[2:], out[2:], steps, strict=True)
    ] or [_NO_AXIS]


class _Room(NamedTuple):
    """How a block is laid out, in bytes: all of it, strides along features, the axes but the last one, and that one: see
    emit_convolution."""

    nbytes: int
    feature: int
    lines: tuple[int, ...]
    part: int


def _extents(axes: list[_Axis], block: int) -> list[int]:
    counts = [block, *(axis.outputs for axis in axes[1:])]
    return [(n - 1) * axis.step + axis.reach for n, axis in zip(counts, axes, strict=True)]


def _by_places(axes: list[_Axis], block: int, features: int, size: int) -> _Room:
    extents = _extents(axes, block)
    part = _rounded(-(-extents[-1] // axes[-1].step) * size)
    lines, feature = _lines(extents, part * axes[-1].step)
    return _Room(features * feature, feature, lines, part)


def _by_features(axes: list[_Axis], block: int, features: int, size: int) -> _Room:
    extents = _extents(axes, block)
    part = features * size
    lines, nbytes = _lines(extents, _rounded(extents[-1] * part))
    return _Room(nbytes, size, lines, part)


def _lines(extents: list[int], line: int) -> tuple[tuple[int, ...], int]:
    """The strides of the axes but the last one, and the bytes of everything."""
    lines: list[int] = []
    for extent in reversed(extents[:-1]):
        lines.append(line)
        line *= extent
    return tuple(reversed(lines)), line


def _rounded(nbytes: int) -> int:
    return -(-nbytes // 32) * 32


def _distances(axes: list[_Axis], room: _Room, features: int, size: int, by_features: bool) -> list[int]:
    """Where each term of a sum lies, from where an output's window begins."""
    places: list[int] = []
    for place in itertools.product(*(range(axis.window) for axis in axes)):
        at = [k * axis.apart for k, axis in zip(place, axes, strict=True)]
        outer, last = sum(a * line for a, line in zip(at, room.lines, strict=False)), axes[-1].step
        places.append(outer + (at[-1] * room.part if by_features else at[-1] % last * room.part + at[-1] // last * size))
    starts = [feature * room.feature for feature in range(features)]
    return [x + y for x in places for y in starts] if by_features else [x + y for x in starts for y in places]


def _block(axes: list[_Axis], members: int, needs: Callable[[int], _Room]) -> int:
    """How many outputs along the first axis are computed at once: what they need stays in cache, and threads get some."""
    block = axes[0].outputs
    while block > TILE_ROWS and needs(block).nbytes > _IN_CACHE:
        block = -(-block // 2)
    pieces = max(_PIECES // max(members, 1), 1)
    return max(min(block, -(-axes[0].outputs // pieces)), 1) if len(axes) > 1 else block


def _span(kernel: Moved, depth: int, line: int) -> int:
    """How much of a sum is made at a time: weights that stay in cache while many outputs meet them."""
    return min(max(_WEIGHTS // max(line, 1), 16), max(depth, 1)) if sums_in_parts(kernel) else max(depth, 1)


def _is_inside(axis: _Axis) -> bool:
    """Whether all windows lie in the array."""
    return axis.spread == 1 and axis.before <= 0 and (axis.outputs - 1) * axis.step + axis.reach - axis.before <= axis.extent


def _convolution(planner: Planner, launch: Launch) -> None:
    kernel, params = planner.outline.schedule.kernels[launch.kernel], planner.equations[launch.equation].params
    assert isinstance(kernel, Moved)
    lhs, weights, result = (planner.place(number) for number in (*launch.reads, *launch.writes))
    left, _, out = params["dimension_numbers"]
    kernel_shape = planner.equations[launch.equation].inputs[1].type.shape
    found = extents_of(planner.shapes[launch.reads[0]], kernel_shape, params["dimension_numbers"])
    outputs = math.prod(planner.shapes[launch.writes[0]])
    if not outputs:
        return
    by_feature, by_batch = params.get("feature_group_count", 1), params.get("batch_group_count", 1)
    groups, members = max(by_feature, by_batch), found.batch // by_batch
    features, rows, size = found.features_in // by_feature, found.features_out // groups, itemsize(kernel.dtypes[1])
    axes, turned = _axes(planner, launch, params), kernel.kind == "convolution_by_features"
    shape = _by_features if turned else _by_places
    block = _block(axes, members, lambda block: shape(axes, block, features, size))
    room, depth = shape(axes, block, features, size), features * math.prod(axis.window for axis in axes)
    spatial = [lhs.strides[i] for i in left[2:]] or [0]
    in_place = turned and kernel.dtypes[0] == kernel.dtypes[1] and all(map(_is_inside, axes))
    if in_place:
        room = _Room(0, lhs.strides[left[1]], tuple(spatial[:-1]), spatial[-1])
    blocks = -(-axes[0].outputs // block)
    items = members * blocks
    nanoseconds = outputs * max(depth, 1) * _NANOSECONDS
    pieces = min(items, 4 * _PIECES) if nanoseconds >= PAYS else 1
    per = -(-items // pieces)
    pieces = -(-items // per)
    nbytes = 0 if in_place else _rounded(room.nbytes) + _SLACK
    scratch, at = planner.scratch(pieces * nbytes), planner.here
    words = [per, items, blocks, block, groups, features, rows, depth, _span(kernel, depth, found.features_out * size)]
    for axis, source, target in zip(axes, spatial, [result.strides[k] for k in out[2:]] or [0], strict=True):
        words += (axis.outputs, axis.step, axis.extent, axis.spread, axis.before, axis.reach, source, target)
    apart = features * lhs.strides[left[1]] if by_feature > 1 else members * lhs.strides[left[0]]
    words += (lhs.cell * WORD - at, lhs.offset, lhs.strides[left[0]], lhs.strides[left[1]], apart)
    words += (weights.cell * WORD - at, weights.offset)
    words += (size, found.features_out * size) if turned else (depth * size, size)
    words += (result.cell * WORD - at, result.offset, result.strides[out[0]], result.strides[out[1]])
    words += (planner.outline.arena_cell * WORD - at, scratch, nbytes, room.feature, *room.lines, room.part, int(in_place))
    words += _distances(axes, room, features, size, turned)
    planner.step(launch.kernel, words, pieces, 1, nanoseconds + STEP)


rules["convolution"] = _convolution
