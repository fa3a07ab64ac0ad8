"""Rules of plan: how the table and the range of each kind of loop kernel are filled for concrete shapes."""

from __future__ import annotations

import functools
from typing import NamedTuple

from celadon.cpu.kinds import itemsize
from celadon.cpu.plan import WORD, Planner, extents_of, product, rules, unit_of
from celadon.cpu.recipe import Body, Launch, Map, Reduce, Rows, numbers_of

_CHEAP = 0.1
_DEAR = 1.0
_ARRAY = 0.15
STEP = 20.0
_DEAR_OPS = frozenset((
    "divide", "remainder", "power", "sine", "cosine", "tan", "tanh", "exponential", "exponential_minus_one",
    "log", "log_plus_one", "logistic", "sqrt", "rsqrt", "cbrt", "atan2", "erf", "erfc", "erf_inv", "lgamma",
    "digamma", "zeta", "polygamma", "bessel_i1e", "acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh",
    "sinh", "next_after", "threefry2x32",
))  # fmt: skip


@functools.lru_cache(4096)
def cost(body: Body) -> float:
    """Nanoseconds an element, roughly."""
    dear = sum(node.op in _DEAR_OPS for node in body.nodes)
    arrays = sum(leaf.source == "array" for leaf in body.leaves) + len(body.results)
    return _ARRAY * arrays + _DEAR * dear + _CHEAP * len(body.nodes)


def fill_map(planner: Planner, launch: Launch) -> None:
    kernel = planner.outline.schedule.kernels[launch.kernel]
    assert isinstance(kernel, Map)
    if not kernel.body.nodes and _stays(planner, launch, kernel):
        return
    loops, at = launch.loops, planner.here
    extents = extents_of(planner.shapes[launch.like], loops)
    words = extents + operands(planner, kernel.body, launch, at)
    for number, access in zip(launch.writes, kernel.writes, strict=True):
        words += planner.operand(number, _kept(launch) if launch.reduced else loops, access, at)
    nanoseconds = product(extents) * cost(kernel.body)
    extent = extents[0] if loops else 1
    multiple = 64 if len(loops) == 1 else 1
    planner.step(launch.kernel, words, extent, unit_of(extent, nanoseconds, multiple), nanoseconds + STEP)


def operands(planner: Planner, body: Body, launch: Launch, at: int) -> list[int]:
    """The words of a body's leaves: of all numbers together the first one's address, where the first of them stands."""
    words: list[int] = []
    numbers = numbers_of(body.leaves, launch.reads)
    reads = iter(launch.reads)
    for leaf in body.leaves:
        if leaf.source == "number":
            words += planner.numbers(numbers, at)
            next(reads)
            numbers = ()
        elif leaf.source != "iota":
            words += planner.operand(next(reads), launch.loops, leaf.access, at)
    return words


def _stays(planner: Planner, launch: Launch, kernel: Map) -> bool:
    """Whether copies would be to where the values are."""
    return len(launch.reads) == len(launch.writes) == len(kernel.body.leaves) and all(
        planner.place(a) == planner.place(b) for a, b in zip(launch.reads, launch.writes, strict=True)
    )


def _kept(launch: Launch) -> list[list[int]]:
    """The loops' axes counted among those that the results have."""
    return [[i - sum(axis < i for axis in launch.reduced) for i in loop] for loop in launch.loops]


def fill_reduce(planner: Planner, launch: Launch) -> None:
    """Split into pieces or blocks of columns where the work pays for threads and the kept loops do not give enough."""
    kernel = planner.outline.schedule.kernels[launch.kernel]
    assert isinstance(kernel, Reduce)
    extents = extents_of(planner.shapes[launch.like], launch.loops)
    split = _split(kernel, extents)
    target = planner.place(launch.writes[0])
    cell, offset = target.cell, target.offset
    if split.pieces > 1:
        cell, offset = planner.outline.arena_cell, planner.scratch(split.partial * itemsize(kernel.dtype))
    at = planner.here
    words = [*extents, *split.words, *operands(planner, kernel.body, launch, at)]
    words += (cell * WORD - at, offset)
    planner.step(launch.kernel, words, split.extent, split.unit, split.nanoseconds + STEP)
    if split.pieces > 1:
        _combine(planner, launch, split, offset)


class _Split(NamedTuple):
    """How the range of a reduction is made: kept loops, pieces and blocks, and the sizes of the last two."""

    kept: int
    row: int
    pieces: int
    words: list[int]
    extent: int
    unit: int
    nanoseconds: float

    @property
    def partial(self) -> int:
        return self.kept * self.pieces * self.row


_LARGE = 1 << 16  # elements; what is split depends on extents alone, as it decides the order of a sum
_ENOUGH = 16
_TOGETHER = 8
_IN_CACHE = 1 << 18


def _split(kernel: Reduce, extents: list[int]) -> _Split:
    columns = kernel.reduced[-1] == "k"
    inner = extents[-1] if columns else 1
    kept = product([n for n, letter in zip(extents, kernel.reduced, strict=True) if letter == "k"]) // (inner or 1)
    nanoseconds = product(extents) * (cost(kernel.body) + _CHEAP)
    first = extents[kernel.reduced.index("r")]
    length, width = max(first, 1), max(inner, 1)
    if _is_split(kernel.dtype, kept, product(extents)):
        if columns and inner >= _WIDE:
            width = _rounded(inner, 256)
        else:
            length = _piece(first, product(extents))
    pieces, blocks = max(-(-first // length), 1), max(-(-inner // width), 1)
    words = [length, pieces]
    if columns:
        bytes_walked = product(extents) * itemsize(kernel.dtype)
        half = kernel.dtype in ("bf16", "f16")
        together = length if half or bytes_walked < _IN_CACHE else _TOGETHER
        words += [width, blocks, together]
    extent = kept * pieces * blocks
    return _Split(kept, inner, pieces, words, extent, unit_of(extent, nanoseconds), nanoseconds)


_WIDE = 2048


def _is_split(dtype: str, kept: int, elements: int) -> bool:
    """Whether a reduction of so many elements to `kept` results is made of pieces."""
    return elements >= _LARGE and kept < _ENOUGH and dtype not in ("bf16", "f16")


def _piece(first: int, elements: int) -> int:
    """The length of pieces of the first reduced loop."""
    whole = elements // max(first, 1)
    return _rounded(first, 64 if whole == 1 else 1, max(4096 // max(whole, 1), 1))


def fill_rows(planner: Planner, launch: Launch) -> None:
    """Rows in ranges; the pieces of a row's reductions, which are those that a Reduce kernel has, follow one another."""
    kernel = planner.outline.schedule.kernels[launch.kernel]
    assert isinstance(kernel, Rows)
    extents = extents_of(planner.shapes[launch.like], launch.loops)
    elements, row = product(extents), extents[-1]
    kept = elements // row if row else product(extents[:-1])
    nanoseconds = elements * sum(cost(one.body) + _CHEAP for one in kernel.passes)
    unit = unit_of(kept, nanoseconds)
    length = _piece(row, elements) if _is_split(kernel.dtype, kept, elements) else max(row, 1)
    words = [*extents, length, max(-(-row // length), 1)]
    lines = sum(leaf.source == "line" for leaf in kernel.operands)
    at = planner.here
    if lines:
        room = _LINE_ENDS + row * WORD
        scratch = planner.scratch(-(-kept // max(unit, 1)) * room * lines)
        words += (max(unit, 1), room, planner.outline.arena_cell * WORD - at, scratch)
    words += _row_operands(planner, launch, kernel, at)
    planner.step(launch.kernel, words, kept, unit, nanoseconds + STEP)


def _row_operands(planner: Planner, launch: Launch, kernel: Rows, at: int) -> list[int]:
    """The words of what lies in memory, in the order of the kernel's operands."""
    words: list[int] = []
    numbers = numbers_of(kernel.operands, launch.reads)
    walks = iter(zip((*launch.reads, *launch.writes), launch.walks, strict=True))
    for leaf in kernel.operands:
        if leaf.source == "number":
            words += planner.numbers(numbers, at)
            next(walks)
            numbers = ()
        elif leaf.source in ("array", "scalar"):
            number, axes = next(walks)
            place = planner.place(number)
            words += (place.cell * WORD - at, place.offset)
            words += [place.strides[axis] for axis, letter in zip(axes, leaf.access, strict=True) if letter == "s"]
    return words


_LINE_ENDS = 128  # bytes that a vector may read past the end of a line


def _rounded(extent: int, multiple: int, least: int = 1) -> int:
    """The length of one of about 32 parts."""
    length = max(-(-extent // 32), least)
    return -(-length // multiple) * multiple


def _combine(planner: Planner, launch: Launch, split: _Split, offset: int) -> None:
    kernel = planner.outline.schedule.kernels[launch.then]
    assert isinstance(kernel, Reduce)
    size = itemsize(kernel.dtype)
    at, target = planner.here, planner.place(launch.writes[0])
    words = [split.kept, split.pieces, split.row, split.pieces, 1, split.row, 1, split.pieces]
    words += (planner.outline.arena_cell * WORD - at, offset, split.pieces * split.row * size, split.row * size)
    words += (target.cell * WORD - at, target.offset)
    planner.step(launch.then, words, split.kept, split.kept, STEP)


rules["map"] = fill_map
rules["reduce"] = fill_reduce
rules["rows"] = fill_rows
