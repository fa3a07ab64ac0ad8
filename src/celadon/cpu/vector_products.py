"""A matrix times a vector: the rules of fuse and plan for the kernels that sum many lines at a time, as they lie or across."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from celadon.cpu.fuse import Fusion
from celadon.cpu.kinds import itemsize, lanes_of
from celadon.cpu.layout import Layout, access, dense, merged
from celadon.cpu.plan import WORD, Planner, extents_of, product, rules, unit_of
from celadon.cpu.recipe import Launch, Moved
from celadon.cpu.tables import STEP
from celadon.program import Var
from celadon.types import ArrayType, short_name

_DTYPES = ("f32", "f64")
_BYTE = 0.03  # nanoseconds
_WIDTH = 512  # columns whose sums stay in cache
_SLACK = 16  # columns of a vector that is not whole


class Form(NamedTuple):
    """How a matrix (operand `big`) is walked: "lines" if its lines lie in memory, "columns" if they are columns of what does."""

    kind: str
    big: int
    loops: tuple[tuple[int, ...], ...]


def form_of(types: Sequence[ArrayType], layouts: Sequence[Layout], letters: str, out: Var) -> Form | None:
    """The form of two operands that lie so along axes that the letters name (k: summed); None if there is no kernel for it."""
    if short_name(out.type.dtype) not in _DTYPES or any(type.dtype != out.type.dtype for type in types):
        return None
    kept = iter(dense(out.type.shape))
    target = tuple([None if letter == "k" else next(kept) for letter in letters])
    loops = merged(types[0].shape, [*layouts, target], ["k" if letter == "k" else "m" for letter in letters])
    walks = [access(layout, loops) for layout in layouts]
    if "01" not in walks or [letters[loop[0]] == "k" for loop in loops] != [False, True]:
        return None
    big = 1 - walks.index("01")
    outer = layouts[big][loops[0][-1]]
    if walks[big] == "s1":
        return Form("lines", big, loops)
    return Form("columns", big, loops) if walks[big] == "ss" and outer is not None and outer.unit else None


def launched(fusion: Fusion, views: Sequence[int], letters: str, equation: int) -> bool:
    """Launch the kernel for operands as they lie; false where there is none."""
    [out] = fusion.program.equations[equation].outputs
    form = form_of([fusion.types[view] for view in views], [fusion.layouts[view] for view in views], letters, out)
    if form is None:
        return False
    axes = tuple([i for i, letter in enumerate(letters) if letter == "k"])
    matrix, vector = views[form.big], views[1 - form.big]
    fusion.launch(
        Moved(form.kind, (short_name(out.type.dtype),)), rule=form.kind, like=matrix, loops=form.loops, reads=(matrix, vector),
        writes=(fusion.define(out),), reduced=axes, equation=equation,
    )  # fmt: skip
    return True


def _lines(planner: Planner, launch: Launch) -> None:
    extents, at = extents_of(planner.shapes[launch.like], launch.loops), planner.here
    kernel = planner.outline.schedule.kernels[launch.kernel]
    assert isinstance(kernel, Moved)
    matrix, vector = launch.reads
    target, [dtype] = planner.place(launch.writes[0]), kernel.dtypes
    words = [extents[1], *planner.operand(matrix, launch.loops, "s1", at), *planner.operand(vector, launch.loops, "01", at)]
    words += (target.cell * WORD - at, target.offset)
    nanoseconds = product(extents) * itemsize(dtype) * _BYTE
    unit = unit_of(extents[0], nanoseconds, lanes_of(itemsize(dtype)))
    planner.step(launch.kernel, words, extents[0], unit, nanoseconds + STEP)


def _columns(planner: Planner, launch: Launch) -> None:
    extents = extents_of(planner.shapes[launch.like], launch.loops)
    kernel = planner.outline.schedule.kernels[launch.kernel]
    assert isinstance(kernel, Moved)
    matrix, vector = launch.reads
    target, [dtype] = planner.place(launch.writes[0]), kernel.dtypes
    nanoseconds = product(extents) * itemsize(dtype) * _BYTE
    width = min(extents[0], _WIDTH)
    pieces = -(-extents[0] // max(width, 1))
    nbytes = 2 * lanes_of(itemsize(dtype)) * (width + _SLACK) * itemsize(dtype)
    room, at = planner.scratch(pieces * nbytes), planner.here
    walk = planner.operand(matrix, launch.loops, "1s", at)
    words = [extents[1], *walk, *planner.operand(vector, launch.loops, "01", at)]
    words += (target.cell * WORD - at, target.offset, width, extents[0], planner.outline.arena_cell * WORD - at, room, nbytes)
    planner.step(launch.kernel, words, pieces, unit_of(pieces, nanoseconds), nanoseconds + STEP)


rules["lines"] = _lines
rules["columns"] = _columns
