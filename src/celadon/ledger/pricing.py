"""A function and the values of its static arguments come in; what each costs goes out as data, for rendering."""

from __future__ import annotations

import difflib
import re
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from statistics import median
from typing import Any

from celadon import errors, tracing, tree
from celadon.events import Event
from celadon.ledger import measure, specs, targets, verdicts
from celadon.ledger.measure import Advance, Interval, Plan
from celadon.ledger.sides import Side, Stages, stages
from celadon.ledger.verdicts import Evidence, Verdict

PLAN = Plan()
Call = tuple[tuple[Any, ...], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Job:
    """A side with the arguments of the function: traced ones by name, and the values that each static one takes."""

    side: Side
    traced: dict[str, Any]
    statics: dict[str, list[Any]]

    def call(self, argument: str, value: Any) -> Call:
        """The arguments of a call in which one static argument has this value, and the others have their first."""
        others = {name: values[0] for name, values in self.statics.items()}
        return specs.bind(self.side.function, {**self.traced, **others, argument: value})


@dataclass(frozen=True, slots=True)
class FirstCall:
    """The first call at one value, in seconds: all of it, and by stage; the median one of several passes from cold."""

    value: str
    total: float
    stages: Stages


@dataclass(frozen=True, slots=True)
class Way:
    """A function with the argument traced, or static: a steady call, first calls, what the cache holds, and the debt.

    `debt` is the first call at a new value in steady calls: the median over all values but the first one.
    """

    steady: Interval
    first: tuple[FirstCall, ...]
    entries: int
    executables: int
    debt: float


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the program traced beside one of the program static; None where the other has no such line.

    They differ if more than the numbering of values is different.
    """

    traced: str | None
    static: str | None
    differs: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """The same on another library, and how many times as much each figure is there."""

    library: str
    version: str
    traced: Way | None
    static: Way
    ratios: dict[str, float]


@dataclass(frozen=True, slots=True)
class StaticPrice:
    """What one static argument costs. `traced` is None where it can't be traced; seconds throughout."""

    argument: str
    values: tuple[str, ...]
    programs: tuple[Row, ...]
    traced: Way | None
    static: Way
    same: bool | None
    break_even: float | None
    verdict: Verdict
    fallbacks: tuple[str, ...]
    against: Comparison | None


@dataclass(frozen=True, slots=True)
class Steps:
    """A function without static arguments, called again and again: its first call, a steady one, and what was traced and
    compiled in all of them."""

    library: str
    first: FirstCall
    steady: Interval
    traces: int
    compiles: int


@dataclass(frozen=True, slots=True)
class Price:
    """The prices of all static arguments of a function; of one without any, its steps on each library."""

    function: str
    arguments: dict[str, str]
    statics: tuple[StaticPrice, ...]
    steps: tuple[Steps, ...] = ()


def price(job: Job, other: Job | None = None, plan: Plan = PLAN, advance: Advance = lambda share: None) -> Price:
    """Measure what each static argument of a function costs.

    Args:
        job: Celadon's side, and the arguments.
        other: the same on another library, measured in turn with it.
        plan: how long to measure steady calls.
        advance: told which share of one argument's work is done, in steps that add up to 1 an argument.

    Raises: `TargetFailed`, and the errors of `specs.bind`.

    >>> from celadon.ledger.sides import Celadon
    >>> job = Job(Celadon(lambda x, s: x * s), {"x": 1.0}, {"s": [2.0, 3.0]})
    >>> price(job, plan=Plan(calls=5)).statics[0].verdict.kind
    'trace it'
    """
    name = getattr(job.side.function, "__name__", type(job.side.function).__name__)
    arguments = {k: _typed(v) for k, v in job.traced.items()}
    if not job.statics:
        return Price(name, arguments, (), _steps([job, other] if other else [job], plan, advance))
    found = [_Study(job, other, argument, plan, advance).price() for argument in job.statics]
    return Price(name, arguments, tuple(found))


def _steps(jobs: Sequence[Job], plan: Plan, advance: Advance) -> tuple[Steps, ...]:
    """A function's first call and its steady calls, on each side in turn."""
    trials: list[_Trial] = []
    for job in jobs:
        own = {name: job.side.own(value) for name, value in job.traced.items()}
        trial = _Trial(job.side, (), [specs.bind(job.side.function, own)])
        job.side.warm(own)
        with job.side.answering():
            trial.first_calls([""], plan)
        if trial.error is not None:
            with failing(job.side):
                raise trial.error
        trials.append(trial)
    times = measure.alternating([trial.steady_call() for trial in trials], plan, lambda share: advance(share))
    return tuple([
        Steps(trial.side.name, trial.first[0], steady, trial.jitted._cache_size(), trial.side.executables(trial.jitted))
        for trial, steady in zip(trials, times, strict=True)
    ])  # fmt: skip


@contextmanager
def failing(side: Side) -> Generator[None]:
    """Report what the user's function raises as a failure of the target."""
    try:
        yield
    except targets.RAISED as error:
        name = getattr(side.function, "__name__", type(side.function).__name__)
        raise errors.TargetFailed(function=name, error=targets.with_line(error)) from error


def _typed(value: Any) -> str:
    """The types of an argument's arrays, in its tree."""
    return repr(tree.map(tracing.type_of, value))


class _Study:
    """One static argument under measurement, on one or two sides."""

    def __init__(self, job: Job, other: Job | None, argument: str, plan: Plan, advance: Advance):
        self.argument, self.plan, self.advance = argument, plan, advance
        self.ours = _Bench(job, argument)
        self.theirs = _Bench(other, argument) if other is not None else None
        self.benches = [bench for bench in (self.ours, self.theirs) if bench is not None]

    def price(self) -> StaticPrice:
        for bench in self.benches:
            bench.first_calls(self.plan)
            self.advance(0.5 / len(self.benches))
        self._steady()
        static = self.ours.static.way()
        traced = self.ours.traced.way() if self.ours.traced.works else None
        break_even = _break_even(traced, static)
        return StaticPrice(
            self.argument, tuple(self.ours.shown), self.ours.programs(), traced, static,
            traced.steady.overlaps(static.steady) if traced is not None else None, break_even,
            verdicts.verdict(self._evidence(traced, static, break_even)), self.ours.fallbacks(),
            self._comparison(traced, static),
        )  # fmt: skip

    def _steady(self) -> None:
        trials = [trial for bench in self.benches for trial in bench.trials if trial.works]
        calls = [trial.steady_call() for trial in trials]
        found = measure.alternating(calls, self.plan, lambda share: self.advance(0.5 * share))
        for trial, steady in zip(trials, found, strict=True):
            trial.steady = steady

    def _evidence(self, traced: Way | None, static: Way, break_even: float | None) -> Evidence:
        bench = self.ours
        return Evidence(
            self.argument,
            values=bench.static.entries,
            identical=[e.facts["type"] for e in bench.static.seen if e.kind == "identity"],
            refused=bench.traced.error,
            shapes=len(set(bench.static.shapes)),
            spent=sum(call.total for call in static.first),
            gain=_gain(traced, static),
            share=_gain(traced, static) / static.steady.median,
            break_even=break_even,
        )

    def _comparison(self, traced: Way | None, static: Way) -> Comparison | None:
        bench = self.theirs
        if bench is None:
            return None
        other = bench.traced.way() if bench.traced.works else None
        ratios = {f"static {k}": v for k, v in _ratios(static, bench.static.way()).items()}
        if traced is not None and other is not None:
            ratios |= {f"traced {k}": v for k, v in _ratios(traced, other).items()}
        return Comparison(bench.side.name, bench.side.version, other, bench.static.way(), ratios)


class _Bench:
    """One side: the function with the argument static, and with it traced."""

    def __init__(self, job: Job, argument: str):
        self.job, self.side, self.argument = job, job.side, argument
        self.own = {name: job.side.own(value) for name, value in job.traced.items()}
        calls = [Job(job.side, self.own, job.statics).call(argument, value) for value in job.statics[argument]]
        self.shown = [verdicts.told(value) for value in job.statics[argument]]
        rest = [name for name in job.statics if name != argument]
        self.static = _Trial(job.side, [*rest, argument], calls)
        self.traced = _Trial(job.side, rest, calls)
        self.trials = (self.static, self.traced)

    def first_calls(self, plan: Plan) -> None:
        """Call both at each value for the first time; the static one must run, the traced one need not."""
        self.side.warm(self.own)
        with self.side.answering():
            for trial in self.trials:
                trial.first_calls(self.shown, plan)
        if self.static.error is not None:
            with failing(self.side):
                raise self.static.error

    def programs(self) -> tuple[Row, ...]:
        """Both programs' text, line by line."""
        with self.side.answering():
            static = self.static.text()
            traced = self.traced.text() if self.traced.works else None
        return tuple(Row(None, text, False) for text in static) if traced is None else tuple(_rows(traced, static))

    def fallbacks(self) -> tuple[str, ...]:
        """The ops for which the executor had no kernel, so that the program ran on the reference executor."""
        found = [e.facts["ops"] for trial in self.trials for e in trial.seen if e.kind == "fallback"]
        return tuple(sorted({op for ops in found for op in ops}))


class _Trial:
    """A jitted function with the calls that are made of it."""

    def __init__(self, side: Side, static: Sequence[str], calls: Sequence[Call]):
        self.side, self.calls = side, calls
        self.jitted = side.jit(static)
        self.first: list[FirstCall] = []
        self.seen: list[Event] = []
        self.shapes: list[Any] = []
        self.error: BaseException | None = None
        self.steady: Interval | None = None
        self.entries = self.executables = 0

    @property
    def works(self) -> bool:
        return self.error is None

    def first_calls(self, shown_values: Sequence[str], plan: Plan) -> None:
        """First calls at all values, from cold, several times over: of each value the median one is kept."""
        try:
            passes = [self._pass(shown_values)]
            while len(passes) < plan.passes and sum(call.total for each in passes for call in each) < plan.pass_seconds:
                passes.append(self._pass(shown_values))
        except targets.RAISED as error:  # what the user's function raised is the finding
            self.error = error
        else:
            ordered = [sorted(calls, key=lambda call: call.total) for calls in zip(*passes, strict=True)]
            self.first = [calls[(len(calls) - 1) // 2] for calls in ordered]

    def _pass(self, shown_values: Sequence[str]) -> list[FirstCall]:
        self.seen, self.shapes = [], []
        with self.side.cold():
            found = [self._first_call(call, value) for call, value in zip(self.calls, shown_values, strict=True)]
            self.entries, self.executables = self.jitted._cache_size(), self.side.executables(self.jitted)
        return found

    def _first_call(self, call: Call, value: str) -> FirstCall:
        args, kwargs = call
        results: list[Any] = []
        with self.side.watching() as seen, _quietly():
            total = measure.seconds(lambda: results.append(self.side.finished(self.jitted(*args, **kwargs))))
        self.seen.extend(seen)
        self.shapes.append(tuple((x.shape, x.dtype) for x in tree.leaves(results[0]) if hasattr(x, "shape")))
        return FirstCall(value, total, stages(seen, total))

    def steady_call(self) -> Callable[[], object]:
        (args, kwargs), jitted, finished = self.calls[0], self.jitted, self.side.finished
        if kwargs:
            return lambda: finished(jitted(*args, **kwargs))
        return lambda: finished(jitted(*args))

    def text(self) -> list[str]:
        args, kwargs = self.calls[0]
        return self.jitted.lower(*args, **kwargs).as_text().splitlines()

    def way(self) -> Way:
        assert self.steady is not None
        return Way(self.steady, tuple(self.first), self.entries, self.executables, _new(self) / self.steady.median)


@contextmanager
def _quietly() -> Generator[None]:
    """Silence the warnings that the price itself tells: equal-looking keys, and many traces."""
    with warnings.catch_warnings():
        for kind in (errors.StaticByIdentityWarning, errors.ChurnWarning):
            warnings.simplefilter("ignore", kind)
        yield


def _rows(traced: Sequence[str], static: Sequence[str]) -> Iterator[Row]:
    matcher = difflib.SequenceMatcher(None, _unnumbered(traced), _unnumbered(static), autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        for left, right in zip_longest(traced[a:b], static[c:d]):
            yield Row(left, right, tag != "equal")


def _unnumbered(lines: Sequence[str]) -> list[str]:
    """Lines without the names of values (%3, %cst_0), whose numbers shift when a line is added."""
    return [re.sub(r"%(?!arg)\w+", "%", line) for line in lines]


def _gain(traced: Way | None, static: Way) -> float:
    """Seconds that a steady call is faster for being static."""
    return 0.0 if traced is None else traced.steady.median - static.steady.median


def _break_even(traced: Way | None, static: Way) -> float | None:
    """After how many calls at one value its first call is paid back by faster ones; None if they are not faster."""
    if traced is None or traced.steady.overlaps(static.steady):
        return None
    gain = _gain(traced, static)
    return (static.debt * static.steady.median - static.steady.median) / gain if gain > 0 else None


def _ratios(ours: Way, theirs: Way) -> dict[str, float]:
    """Theirs over ours, of each figure."""
    pairs: dict[str, tuple[float, float]] = {
        "steady call": (ours.steady.median, theirs.steady.median),
        "first call": (ours.first[0].total, theirs.first[0].total),
        "cache entries": (ours.entries, theirs.entries),
        "executables": (ours.executables, theirs.executables),
    }
    if len(ours.first) > 1:
        pairs["new value"] = (_new(ours), _new(theirs))
    for stage in Stages.__slots__:
        pairs[f"new value: {stage}"] = (_stage(ours, stage), _stage(theirs, stage))
    return {name: b / a for name, (a, b) in pairs.items() if a > 0}


def _new(way: Way | _Trial) -> float:
    """Seconds of the first call at a value that is not the very first one, if there is such a value."""
    return median(call.total for call in way.first[1:] or way.first)


def _stage(way: Way, stage: str) -> float:
    return median(getattr(call.stages, stage) for call in way.first[1:] or way.first)
