"""An Executable and one program of its structure in; out, as data, the steps of a call: what runs, on what, where, how split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from celadon.compiler.lift import Numbers, Structure
from celadon.compiler.listing import Names, place as line_of, written
from celadon.cpu import nests, threads
from celadon.cpu.contract import BLAS
from celadon.cpu.group import kind_of
from celadon.cpu.inspect_kernels import constant, kernels, kind, walk
from celadon.cpu.inspect_plan import Mark, Watched, watched
from celadon.cpu.inspect_views import ListView, ScheduleView, StepView, ValueView
from celadon.cpu.layout import dense_strides
from celadon.cpu.plan import Outline, Place
from celadon.cpu.recipe import NUMBER_BYTES, Alias, Hosted, Kernel, Launch, Map, Moved, Nested, Reduce, Rows, Step
from celadon.cpu.routines import ROUTINES, Shapes
from celadon.program import Equation, Var
from celadon.types import Shape

_VIEWS = {"dense": "reshape", "arranged": "view", "addressed": "part"}
_NOTES = {
    "begin": "sets where carried values and rows begin",
    "advance": "moves on to the next rows",
    "exchange": "swaps the old and the new of carried values",
    "settle": "puts carried values where the results are",
    "clear": "clears the unused ends of small buffers",
    "halt": "ends the loop if a Python function failed",
}
_FUSED = ("map", "view", "iota", "reduce")


def schedule(executable: Any, structure: Structure, numbers: Numbers, names: Names) -> ScheduleView:
    """The view of a program's schedule; variables are called as `names` calls them."""
    outline: Outline = executable.outline
    found = watched(outline, structure.program)
    sizes = [code.nbytes for code in executable.codes]
    steps = Viewer(found, structure, numbers, names).steps(found.steps, "")
    plan = found.plan
    return ScheduleView(
        structure.program.name, kernels(outline.schedule.kernels, sizes), steps, plan.arena, len(plan.words) * 8,
        tuple(plan.result_bytes), threads.threads(),
    )  # fmt: skip


class Viewer:
    """Turns marks into views."""

    def __init__(self, found: Watched, structure: Structure, numbers: Numbers, names: Names):
        self.planner, self.outline = found.planner, found.planner.outline
        self.equations = found.planner.equations
        program = nests.prepared(structure.program)
        variables = nests.variables(program)
        self.numbers = {var: i for i, var in enumerate(variables)}
        self.producers = {self.numbers[var]: i for i, e in enumerate(self.equations) for var in e.outputs}
        self.views = dict(_aliases(self.outline.steps))
        first = len(structure.program.inputs) - structure.scalars
        self.names = {first + k: f"{{{written(x)}}}" for k, x in enumerate(numbers.scalars)}
        self.names |= {i: names(var) for i, var in enumerate(variables) if i not in self.names}
        for k, extra in enumerate(self.outline.schedule.extras, len(variables)):
            self.names[k] = constant(extra.dtype, extra.bits) if extra.is_constant else f"t{k - len(variables)}"

    def steps(self, marks: Sequence[Mark], path: str) -> tuple[StepView, ...]:
        return tuple([self._step(mark, f"{path}{i}") for i, mark in enumerate(marks)])

    def _step(self, mark: Mark, path: str) -> StepView:
        fused = self.fused(mark)
        reads, writes = self._values(mark)
        ops, sources = [e.op.name for e in fused], [line_of(e.source) for e in fused if e.source is not None]
        return StepView(
            path, self.what(mark), self._note(mark), mark.kernel, self._calls(mark), _distinct(ops), _distinct(sources), reads,
            writes, mark.extent, mark.unit, mark.pieces, mark.seconds, self._lists(mark, path),
        )  # fmt: skip

    def _note(self, mark: Mark) -> str:
        kernel = self.kernel(mark)
        if isinstance(kernel, Map) and not kernel.body.nodes:
            return "copies"
        if self.splits(mark):
            return "in parts"
        return "combines the parts" if self.combines(mark) else _NOTES.get(mark.function, "")

    def kernel(self, mark: Mark) -> Kernel | None:
        return self.outline.schedule.kernels[mark.kernel] if mark.kernel >= 0 else None

    def what(self, mark: Mark) -> str:
        kernel = self.kernel(mark)
        return kind(kernel) if kernel is not None else mark.function or "python"

    def _calls(self, mark: Mark) -> str:
        purpose, kernel = mark.purpose, self.kernel(mark)
        if isinstance(purpose, Hosted):
            return _function(self.equations[purpose.equation])
        if isinstance(kernel, Moved) and kernel.kind == "blas":
            return BLAS[kernel.dtypes[0]]
        if isinstance(kernel, Moved) and kernel.kind == "routine" and isinstance(purpose, Launch):
            equation = self.equations[purpose.equation]
            return ROUTINES[equation.op.name].make(Shapes(equation)).name
        return ""

    def _lists(self, mark: Mark, path: str) -> tuple[ListView, ...]:
        trips = mark.words[2] if mark.function.startswith("repeat") else -1
        if mark.function == "while_loop":
            names = ["condition", "body"]
        else:
            names = ["body"] if trips >= 0 else [f"branch {k}" for k in range(len(mark.lists))]
        pairs = enumerate(zip(names, mark.lists, strict=True))
        several = len(mark.lists) > 1
        return tuple([
            ListView(name, trips, self.steps(inner, f"{path}.{f'{k}.' if several else ''}")) for k, (name, inner) in pairs
        ])  # fmt: skip

    # --- what a step computes

    def fused(self, mark: Mark) -> list[Equation]:
        """The equations that a step computes, in order."""
        purpose = mark.purpose
        if purpose is None or mark.function in _NOTES or self.combines(mark):
            return []
        if not isinstance(purpose, Launch):
            return [self.equations[purpose.equation]]
        given, found = set(purpose.reads), set[int]()
        pending = [self.producers[n] for n in purpose.writes if n in self.producers]
        pending += [purpose.equation] if purpose.equation >= 0 else []
        while pending:
            index = pending.pop()
            if index not in found:
                found.add(index)
                pending += self._before(index, given)
        made = found or {self.producers[n] for n in map(self._viewed, purpose.reads) if n in self.producers}
        return [self.equations[i] for i in sorted(made)]

    def _viewed(self, number: int) -> int:
        """What a view that no equation makes is one of."""
        while number in self.views and number not in self.producers:
            number = self.views[number][1]
        return number

    def _before(self, index: int, given: set[int]) -> list[int]:
        """The equations that make what an equation reads and nothing stored."""
        equation = self.equations[index]
        if kind_of(equation) not in _FUSED:
            return []
        read = [self.numbers[x] for x in equation.inputs if isinstance(x, Var) and x in self.numbers]
        inside = [self.producers[n] for n in read if n not in given and n in self.producers]
        return [i for i in inside if kind_of(self.equations[i]) in _FUSED]

    # --- what it reads and writes

    def _values(self, mark: Mark) -> tuple[tuple[ValueView, ...], tuple[ValueView, ...]]:
        purpose = mark.purpose
        if purpose is None or mark.function in _NOTES:
            return (), ()
        walks, known = self._walks(mark), mark.places
        reads = tuple([self._value(n, known[n], walks.get((0, k), "")) for k, n in enumerate(purpose.reads) if n in known])
        writes = tuple([self._value(n, known[n], walks.get((1, k), "")) for k, n in enumerate(purpose.writes) if n in known])
        if self.combines(mark):
            return self._parts(mark, mark.words[-5], writes[0]), writes
        return reads, self._parts(mark, mark.words[-1], writes[0]) if self.splits(mark) else writes

    def splits(self, mark: Mark) -> bool:
        """Whether a step reduces parts of what a further one combines."""
        kernel = self.kernel(mark)
        is_first = isinstance(mark.purpose, Launch) and mark.kernel == mark.purpose.kernel
        return isinstance(kernel, Reduce) and is_first and mark.words[len(kernel.reduced) + 1] > 1

    def combines(self, mark: Mark) -> bool:
        """Whether a step combines what the one before it reduced."""
        purpose = mark.purpose
        return isinstance(purpose, Launch) and purpose.rule == "reduce" and mark.kernel == purpose.then != purpose.kernel

    def _parts(self, mark: Mark, offset: int, whole: ValueView) -> tuple[ValueView, ...]:
        return (replace(whole, name=f"parts of {whole.name}", buffer="arena", offset=offset, walk="", shares=""),)

    def _walks(self, mark: Mark) -> dict[tuple[int, int], str]:
        """How loops walk reads (0, k) and writes (1, k)."""
        kernel = self.kernel(mark)
        if isinstance(kernel, Rows):
            return _row_walks(kernel)
        if not isinstance(kernel, Map | Reduce):
            return {}
        leaves = [leaf for leaf in kernel.body.leaves if leaf.source != "iota"]
        found = {(0, k): walk(leaf.access) for k, leaf in enumerate(leaves)}
        if isinstance(kernel, Map):
            found |= {(1, k): walk(access) for k, access in enumerate(kernel.writes)}
        return found

    def _value(self, number: int, place: Place, walked: str) -> ValueView:
        shape, dtype = self.planner.shapes[number], self.outline.dtypes[number]
        buffer, offset = self._buffer(place)
        in_order = place.strides == dense_strides(shape, self.planner.sizes[number])
        shares = self._shared(number)
        return ValueView(self.names[number], typed(shape, dtype), place.strides, in_order, buffer, offset, walked, shares)

    def _shared(self, number: int) -> str:
        if number in self.views:
            rule, operand = self.views[number]
            return f"{_VIEWS.get(rule, rule)} of {self.names[operand]}"
        source = self.outline.sources[number]
        return f"in the buffer of {self.names[source]}" if source != number else ""

    def _buffer(self, place: Place) -> tuple[str, int]:
        outline, cell = self.outline, place.cell
        own = outline.inputs - outline.arrays
        if cell < outline.inputs:
            return (f"argument {cell}", place.offset) if cell < own else (f"captured array {cell - own}", place.offset)
        if cell < outline.numbers_cell:
            return f"result {cell - outline.inputs}", place.offset
        if cell == outline.numbers_cell:
            return f"number {place.offset // NUMBER_BYTES}", 0
        return "arena" if cell == outline.arena_cell else f"moving {cell - outline.stop_cell}", place.offset


def typed(shape: Shape, dtype: str) -> str:
    """A type as the text writes it.

    >>> typed((2, 3), "f32")
    'f32[2,3]'
    """
    return f"{dtype}[{','.join(map(str, shape))}]"


def _row_walks(kernel: Rows) -> dict[tuple[int, int], str]:
    found = [walk(one.access) for one in kernel.operands if one.source in ("array", "scalar")]
    written = {sink.target for one in kernel.passes for sink in one.sinks if kernel.operands[sink.target].source == "array"}
    first = len(found) - len(written)
    return {((0, k) if k < first else (1, k - first)): words for k, words in enumerate(found)}


def _aliases(steps: Sequence[Step]) -> list[tuple[int, tuple[str, int]]]:
    found: list[tuple[int, tuple[str, int]]] = []
    for step in steps:
        if isinstance(step, Alias):
            found.append((step.result, (step.rule, step.operand)))
        elif isinstance(step, Nested):
            found += [pair for region in step.regions for pair in _aliases(region.steps)]
    return found


def _function(equation: Equation) -> str:
    if equation.op.name == "fft":
        return f"numpy.fft.{equation.params['fft_type'].lower()}n"
    return equation.params["function"].name


def _distinct(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))
