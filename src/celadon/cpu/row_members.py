"""A Schedule in; out, for each launch that works on rows, its operands by the axes around a row and along it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from celadon.cpu.emit_lines import accumulated
from celadon.cpu.group import Token
from celadon.cpu.kinds import lanes_for
from celadon.cpu.layout import Axis, Layout, is_dense, merged
from celadon.cpu.lifetimes import reads, writes
from celadon.cpu.recipe import Alias, Kernel, Launch, Map, Nested, Reduce, Schedule, Step
from celadon.cpu.row_passes import Member, Operand
from celadon.types import ArrayType

_OPS = frozenset(("add", "multiply", "maximum", "minimum", "and", "or", "xor"))
_VIEWS = frozenset(("transpose", "broadcast_in_dim", "slice", "reverse", "arranged"))


class Known(NamedTuple):
    """What fuse knows of variables: types, layouts, shapes as the structure knows them, dtypes by their short names."""

    types: Sequence[ArrayType]
    layouts: Mapping[int, Layout]
    token: Callable[[int], Token]
    dtype: Callable[[int], str]


class RowAxes(NamedTuple):
    """The dimensions of a row kernel: those around a row, and those along it."""

    kept: Token
    row: Token
    sums: tuple[int, bool]  # what rows that are reduced together have in common: lanes, and whether they may be in pieces


class RowLaunches:
    """The launches of a schedule, and who reads what."""

    def __init__(self, schedule: Schedule, known: Known):
        self.known, self.kernels = known, list(schedule.kernels)
        self.kept: list[object] = [schedule]  # the steps that are known by their ids
        self._touches: dict[int, tuple[frozenset[int], frozenset[int]]] = {}
        self.numbers = {kernel: i for i, kernel in enumerate(self.kernels)}
        self.roots: dict[int, tuple[int, bool]] = {}
        self.users: dict[int, set[int]] = {}
        self._note(schedule.steps)
        self._use(-1, schedule.outputs)

    # --- what there is

    def root(self, number: int) -> tuple[int, bool]:
        """The variable that a view sees, and whether its elements and its axes longer than 1 are that one's."""
        return self.roots.get(number, (number, True))

    def _note(self, steps: Iterable[Step]) -> None:
        for step in steps:
            if isinstance(step, Alias):
                self._see(step)
                continue
            if isinstance(step, Nested):
                for region in step.regions:
                    self._note(region.steps)
                    self._use(-1, (*region.inputs, *region.outputs))
            self._use(id(step), (*reads(step), *writes(step)))

    def _see(self, step: Alias) -> None:
        if step.rule == "addressed":  # its place is known to one step only, so it is taken for a variable of its own
            self._use(-1, (step.operand,))
            return
        source, same = self.root(step.operand)
        self.roots[step.result] = source, same and self._keeps(step)

    def _keeps(self, step: Alias) -> bool:
        if step.rule != "dense":
            return step.rule in _VIEWS
        layout, shape = self.known.layouts[step.operand], self.known.types[step.operand].shape
        before, after = ((self.known.dtype(n), longer_axes(self.known.token(n))) for n in (step.operand, step.result))
        return is_dense(layout, shape) and before == after

    def _use(self, user: int, numbers: Iterable[int]) -> None:
        for number in numbers:
            self.users.setdefault(self.root(number)[0], set()).add(user)

    def touched(self, step: Step) -> tuple[frozenset[int], frozenset[int]]:
        """The variables that a step reads, and those that it makes."""
        found = self._touches.get(id(step))
        if found is None:
            read, made = (frozenset([self.root(n)[0] for n in numbers]) for numbers in (reads(step), writes(step)))
            found = self._touches[id(step)] = read, made
        return found

    # --- launches as members of a group

    def axes(self, launch: Launch) -> RowAxes | None:
        """The rows of a reduction along the last axes, or None."""
        kernel = self.kernels[launch.kernel]
        if not isinstance(kernel, Reduce) or launch.rule != "reduce" or kernel.op not in _OPS or kernel.dtype[0] == "c":
            return None
        shape = self.known.types[launch.like].shape
        longer = [i for i, n in enumerate(shape) if n != 1]
        count = sum(i not in launch.reduced for i in longer)
        if not 0 < count < len(longer) or any(i in launch.reduced for i in longer[:count]) or 0 in shape:
            return None
        tokens = longer_axes(self.known.token(launch.like))
        return RowAxes(tokens[:count], tokens[count:], (lanes_for([accumulated(kernel.dtype)]), kernel.dtype in ("bf16", "f16")))

    def member(self, step: Step, axes: RowAxes) -> Member | None:
        """A launch as one that works on these rows, or None."""
        if not isinstance(step, Launch) or step.rule not in ("map", "reduce"):
            return None
        kernel = self.kernels[step.kernel]
        if not isinstance(kernel, Map | Reduce) or not self._fits(kernel, step, axes):
            return None
        shape = self.known.types[step.like].shape
        longer = [i for i, n in enumerate(shape) if n != 1]
        tokens = longer_axes(self.known.token(step.like))
        around = tokens == axes.kept
        if not around and (tokens != axes.kept + axes.row or not (isinstance(kernel, Reduce) or kernel.body.nodes)):
            return None
        if any(not is_dense(self.known.layouts[n], self.known.types[n].shape) for n in step.writes):
            return None
        results = tuple(map(self._own, step.writes))
        member = Member(step, kernel, tuple(longer), around, self._operands(step, kernel, longer), results)
        still = around or len(axes.row) == 1 or self._is_one_loop(member, len(axes.kept))
        return member if still else None

    def _fits(self, kernel: Map | Reduce, step: Launch, axes: RowAxes) -> bool:
        dtypes = [*(leaf.dtype for leaf in kernel.body.leaves), *(node.dtype for node in kernel.body.nodes)]
        if any(dtype[0] == "c" for dtype in dtypes):
            return False
        if isinstance(kernel, Reduce):
            return self.axes(step) == axes
        return not kernel.tiled and step.equation < 0

    def _operands(self, step: Launch, kernel: Map | Reduce, longer: Sequence[int]) -> tuple[Operand, ...]:
        given = iter(step.reads)
        found: list[Operand] = []
        for leaf in kernel.body.leaves:
            if leaf.source == "iota":
                loop = next((k for k, letter in enumerate(leaf.access) if letter != "0"), -1)
                axis = step.loops[loop][-1] if loop >= 0 else -1
                found.append(Operand("iota", -1, leaf.dtype, tuple(Axis(0, True) if i == axis else None for i in longer), ()))
                continue
            number = next(given)
            layout = self.known.layouts[number] if leaf.source == "array" else ()
            walked = tuple(layout[i] for i in longer) if layout else ()
            found.append(Operand(leaf.source, number, leaf.dtype, walked, tuple(longer)))
        return tuple(found)

    def _own(self, number: int) -> Operand:
        shape, layout = self.known.types[number].shape, self.known.layouts[number]
        longer = tuple(i for i, n in enumerate(shape) if n != 1)
        return Operand("array", number, self.known.dtype(number), tuple(layout[i] for i in longer), longer)

    def _is_one_loop(self, member: Member, kept: int) -> bool:
        layouts = [x.layout for x in (*member.operands, *member.results) if len(x.layout) > kept]
        count = max(map(len, layouts), default=0)
        marks = [axis < kept for axis in range(count)]
        return sum(loop[0] >= kept for loop in merged([2] * count, layouts, marks)) == 1

    def use(self, launch: Launch) -> None:
        """Note a new step."""
        self.kept.append(launch)
        self._use(id(launch), (*launch.reads, *launch.writes))

    def kernel(self, kernel: Kernel) -> int:
        """The number of a kernel."""
        if kernel not in self.numbers:
            self.numbers[kernel] = len(self.kernels)
            self.kernels.append(kernel)
        return self.numbers[kernel]


def longer_axes(token: Token) -> Token:
    """Without the axes of one element."""
    return tuple(n for n in token if n != 1)
