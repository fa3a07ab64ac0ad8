"""A matrix whose lines lie in memory times a vector: the rules of fuse and plan for the kernel that sums many lines at a time."""

from __future__ import annotations

from collections.abc import Sequence

from celadon.cpu.fuse import Fusion
from celadon.cpu.kinds import itemsize, lanes_of
from celadon.cpu.layout import access, dense, merged
from celadon.cpu.plan import WORD, Planner, extents_of, product, rules, unit_of
from celadon.cpu.recipe import Launch, Moved
from celadon.cpu.tables import STEP
from celadon.program import Var
from celadon.types import ArrayType, short_name

_DTYPES = ("f32", "f64")
_BYTE = 0.03  # nanoseconds


def by_lines(fusion: Fusion, views: Sequence[int], letters: str, out: Var) -> bool:
    """Launch the kernel for two operands along axes that the letters name (k: summed); false where it is not for these."""
    types: list[ArrayType] = [fusion.types[view] for view in views]
    dtype = short_name(out.type.dtype)
    if dtype not in _DTYPES or any(type.dtype != out.type.dtype for type in types):
        return False
    kept = iter(dense(out.type.shape))
    target = tuple([None if letter == "k" else next(kept) for letter in letters])
    layouts = [fusion.layouts[view] for view in views]
    loops = merged(types[0].shape, [*layouts, target], ["k" if letter == "k" else "m" for letter in letters])
    walks = [access(layout, loops) for layout in layouts]
    if sorted(walks) != ["01", "s1"] or [letters[loop[0]] == "k" for loop in loops] != [False, True]:
        return False
    matrix, vector = views if walks[0] == "s1" else views[::-1]
    axes = tuple([i for i, letter in enumerate(letters) if letter == "k"])
    fusion.launch(
        Moved("lines", (dtype,)), rule="lines", like=matrix, loops=loops, reads=(matrix, vector),
        writes=(fusion.define(out),), reduced=axes,
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


rules["lines"] = _lines
