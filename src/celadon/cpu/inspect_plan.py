"""An Outline and a program in; out, its Plan together with what each of the driver's steps is for: inspect_steps tells it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from celadon.cpu import nests
from celadon.cpu.driver import runtime
from celadon.cpu.plan import WORD, Outline, Place, Plan, Planner
from celadon.cpu.recipe import Hosted, Launch, Nested, Step
from celadon.program import Program

Purpose = Launch | Nested | Hosted

_LISTS = {"repeat": (0,), "repeat_unless": (0,), "while_loop": (0, 4)}  # where a table names step lists


class Mark(NamedTuple):
    """One of the driver's steps.

    word: where it stands in the frame. purpose: the schedule's step that it belongs to, None for the clearing before a
    loop. kernel: the number of the kernel that it runs, or -1; function: the name of the runtime's function where it runs
    that one, else "". places: where the variables of the purpose are. seconds: as the plan estimates. lists: those that it
    runs, in the table's order.
    """

    word: int
    purpose: Purpose | None
    kernel: int
    function: str
    words: tuple[int, ...]
    extent: int
    unit: int
    places: dict[int, Place]
    seconds: float
    lists: tuple[tuple[Mark, ...], ...]

    @property
    def pieces(self) -> int:
        """In how many pieces the range is handed to threads; 1 if it is not."""
        return -(-self.extent // self.unit) if 0 < self.unit < self.extent else 1


class Watched(NamedTuple):
    """A plan, the planner that made it, and its steps."""

    plan: Plan
    planner: Planner
    steps: tuple[Mark, ...]


def watched(outline: Outline, program: Program) -> Watched:
    """The plan for the concrete shapes and parameters of `program`, as `plan.planned` makes it, and its steps."""
    planner = _Watching(outline, nests.prepared(program))
    for step in outline.steps:
        planner.take(step)
    plan = planner.finished()
    return Watched(plan, planner, planner.marked(tuple(planner.steps), plan.first_step))


class _Call(NamedTuple):
    purpose: Purpose | None
    kernel: int
    words: tuple[int, ...]
    places: dict[int, Place]
    seconds: float


_Steps = tuple[tuple[int, int, int, int], ...]


class _Watching(Planner):
    """A planner that keeps what it was doing when it added a step, by the place of the step's table."""

    def __init__(self, outline: Outline, program: Program):
        super().__init__(outline, program)
        self.within: list[Step] = []
        self.running: tuple[int, float] = (-1, 0.0)
        self.made: dict[int, _Call] = {}
        self.lists: dict[int, _Steps] = {}
        known = runtime()
        self.names = {getattr(known, name): name for name in known._fields if isinstance(getattr(known, name), int)}

    def take(self, step: Step) -> None:
        self.within.append(step)
        super().take(step)
        self.within.pop()

    def step(self, kernel: int, words: list[int], extent: int, unit: int, nanoseconds: float) -> None:
        self.running = kernel, nanoseconds * 1e-9
        super().step(kernel, words, extent, unit, nanoseconds)
        self.running = -1, 0.0

    def call(self, function: int, words: list[int], extent: int = 1, unit: int = 1) -> None:
        purpose = self.within[-1]
        assert isinstance(purpose, Purpose)
        kernel, seconds = self.running
        clears = self.names.get(function) == "clear"
        self.made[self.here] = _Call(None if clears else purpose, kernel, tuple(words), self._places(purpose), seconds)
        super().call(function, words, extent, unit)

    def _places(self, purpose: Purpose) -> dict[int, Place]:
        found = {number: self.places[number] for number in (*purpose.reads, *purpose.writes)}
        return {number: place for number, place in found.items() if place is not None}

    def listed(self, make: Callable[[], None]) -> tuple[int, int]:
        found: list[_Steps] = []

        def watched() -> None:
            make()
            found.append(tuple(self.steps))

        at, count = super().listed(watched)
        self.lists[at] = found[0]
        return at, count

    def marked(self, steps: _Steps, word: int) -> tuple[Mark, ...]:
        return tuple([self._mark(step, word + 4 * i) for i, step in enumerate(steps)])

    def _mark(self, step: tuple[int, int, int, int], word: int) -> Mark:
        function, table, extent, unit = step
        call, name = self.made[table], self.names.get(function, "")
        where = range(3, 3 + 2 * call.words[2], 2) if name == "branch" else _LISTS.get(name, ())
        starts = [table + call.words[i] for i in where]
        lists = tuple([self.marked(self.lists[at], at // WORD) for at in starts])
        return Mark(word, call.purpose, call.kernel, name, call.words, extent, unit, call.places, call.seconds, lists)
