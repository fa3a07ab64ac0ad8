"""A job comes in; where the time of its function's steady call goes, step by step, and what bounds each step, goes out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, NamedTuple

from celadon import cache, inside
from celadon.array import concrete
from celadon.calling import Request
from celadon.cpu import threads as team
from celadon.cpu.inspect_plan import Mark, Watched, watched
from celadon.cpu.inspect_time import Timed
from celadon.cpu.inspect_views import StepView
from celadon.cpu.inspect_work import NOTHING, Work, footprint, work
from celadon.ledger import machine, measure, specs
from celadon.ledger.measure import Advance, Interval
from celadon.ledger.pricing import Job, failing

_BOUND = 0.4  # of what the machine can do: a step that does as much is bound by it
_SHORT = 2e-7  # seconds a run, in which a step has hardly begun


@dataclass(frozen=True, slots=True)
class StepCost:
    """What one step costs in a steady call.

    path, what, note, kernel, calls, ops, sources: as `StepView` has them. runs: how often it ran. seconds: the median over
    calls of all its runs in a call, of a loop with all that it runs; share: that of the call. read, written, flops: in all
    runs. level: where its data are; bandwidth, rate: bytes and floating-point operations a second as shares of what the
    machine can do there, on as many threads. bound: "memory", "arithmetic", "threads" (woken for too little), "latency" (it has
    hardly begun, or each operation waits for another), "Python", "library", "steps" (of a loop), or "instructions": none of
    the others.
    """

    path: str
    what: str
    note: str
    kernel: int
    calls: str
    ops: tuple[str, ...]
    sources: tuple[str, ...]
    runs: int
    seconds: float
    share: float
    read: int
    written: int
    flops: float
    threads: int
    level: str
    bandwidth: float
    rate: float
    bound: str
    depth: int


@dataclass(frozen=True, slots=True)
class SteadyCall:
    """A steady call: its time; its steps; seconds that are in none, of Python and of the driver; and the machine's rates."""

    steady: Interval
    steps: tuple[StepCost, ...]
    rest: float
    threads: int
    machine: tuple[machine.Rates, ...]


def steady_call(job: Job, plan: measure.Plan, advance: Advance = lambda share: None) -> SteadyCall:
    """Measure the steady call of a job's function, each static argument at its first value, and each step of it.

    Raises: `StageAbsent` if the CPU executor does not run it, `TargetFailed`, and the errors of `specs.bind`.
    """
    with job.side.answering():
        subject = _subject(job)
        with failing(job.side):
            samples, steady = _sampled(subject, plan, advance)
    found = _Costs(subject, samples, steady.median)
    steps = tuple(found.steps(subject.found.steps, subject.views, 0))
    rest = steady.median - sum(step.seconds for step in steps if not step.depth)
    return SteadyCall(steady, steps, rest, team.threads(), found.used())


class _Subject(NamedTuple):
    """A program: a call of it, its plan and views, and the same that notes how long steps took."""

    call: Callable[[], object]
    found: Watched
    views: tuple[StepView, ...]
    timed: Timed
    timed_call: Callable[[], object]


def _subject(job: Job) -> _Subject:
    own = {name: job.side.own(value) for name, value in job.traced.items()}
    values = {name: values[0] for name, values in job.statics.items()}
    args, kwargs = specs.bind(job.side.function, {**own, **values})
    jitted, finished = job.side.jit(tuple(job.statics)), job.side.finished
    with failing(job.side):
        finished(jitted(*args, **kwargs))
        traced = jitted.trace(*args, **kwargs)
    made = inside.made(traced.needed)
    inside.require_kernels(made, "kernels")
    found = watched(made.executable.outline, made.structure.program)
    timed = Timed(found, made.executable, made.structure, made.numbers)
    leaves = Request(jitted, args, kwargs).leaves
    run = cache.typed(timed.run, traced.needed, made.structure)
    arrays = [concrete(leaves[i]) for i in traced.kept]
    return _Subject(
        lambda: finished(jitted(*args, **kwargs)), found, inside.schedule(made).steps, timed, lambda: run(arrays)
    )  # fmt: skip


def _sampled(subject: _Subject, plan: measure.Plan, advance: Advance) -> tuple[list[list[Any]], Interval]:
    """What steps took in each of many calls, and calls without a clock inside, in turn with them."""
    samples: list[list[Any]] = []

    def timed() -> None:
        subject.timed_call()
        samples.append(subject.timed.taken(subject.found.steps))

    steady, _ = measure.alternating([subject.call, timed], plan, advance)
    return samples, steady


class _Costs:
    """Measured times and known work put together."""

    def __init__(self, subject: _Subject, samples: Sequence[Sequence[Any]], call: float):
        self.planner, self.wake, self.call = subject.found.planner, subject.timed.clock().wake, call
        columns = zip(*samples, strict=True)
        self.taken = iter([(median([x.runs for x in column]), median([x.seconds for x in column])) for column in columns])
        self.rates: dict[tuple[str, int, bool], machine.Rates] = {}

    def used(self) -> tuple[machine.Rates, ...]:
        return tuple(self.rates.values())

    def steps(self, marks: Sequence[Mark], views: Sequence[StepView], depth: int) -> Iterator[StepCost]:
        """Of steps in a list and, after each, of those that it runs."""
        together = footprint(self.planner, marks)
        for mark, view in zip(marks, views, strict=True):
            runs, seconds = next(self.taken)
            inside: list[StepCost] = []
            for inner, shown in zip(mark.lists, view.lists, strict=True):
                inside += self.steps(inner, shown.steps, depth + 1)
            yield self._cost(mark, view, (int(runs), seconds), (together, depth), inside)
            yield from inside

    def _cost(
        self, mark: Mark, view: StepView, taken: tuple[int, float], where: tuple[int, int], inside: Sequence[StepCost]
    ) -> StepCost:
        (runs, seconds), (together, depth) = taken, where
        threads = min(mark.pieces, team.threads())
        one = work(self.planner, mark)
        all_runs = _times(one, runs) if not mark.lists else _sum(inside, depth + 1)
        rates = self._rates(together, threads, one.wide)
        bandwidth = (all_runs.read + all_runs.written) / seconds / rates.bytes_a_second if seconds else 0.0
        rate = all_runs.flops / seconds / rates.flops_a_second if seconds else 0.0
        each = seconds / runs if runs else 0.0
        bound = "steps" if mark.lists else self._bound(view, each, (bandwidth, rate), threads)
        return StepCost(
            view.path, view.what, view.note, view.kernel, view.calls, view.ops, view.sources, runs, seconds, seconds / self.call,
            all_runs.read, all_runs.written, all_runs.flops, threads, rates.level, bandwidth, rate, bound, depth,
        )  # fmt: skip

    def _rates(self, nbytes: int, threads: int, wide: bool) -> machine.Rates:
        key = machine.level_of(nbytes, team.threads()), threads, wide
        if key not in self.rates:
            self.rates[key] = machine.rates(*key)
        return self.rates[key]

    def _bound(self, view: StepView, seconds: float, shares: tuple[float, float], threads: int) -> str:
        if view.what == "python":
            return "Python"
        memory, arithmetic = shares
        if max(shares) >= _BOUND:
            return "memory" if memory > arithmetic else "arithmetic"
        if threads > 1 and seconds < 3 * self.wake:
            return "threads"
        if seconds < _SHORT or view.what == "rounds":
            return "latency"
        return "library" if view.what == "routine" else "instructions"


def _times(one: Work, runs: int) -> Work:
    return Work(one.read * runs, one.written * runs, one.flops * runs, one.wide)


def _sum(steps: Sequence[StepCost], depth: int) -> Work:
    own = [step for step in steps if step.depth == depth]
    return Work(sum(s.read for s in own), sum(s.written for s in own), sum(s.flops for s in own), False) if own else NOTHING
