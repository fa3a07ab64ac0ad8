"""A job comes in; where the time of its function's first call goes, stage by stage, goes out."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from celadon.events import Event
from celadon.ledger import measure, specs
from celadon.ledger.pricing import Call, Job, failing
from celadon.ledger.sides import outermost, within

STAGES = ("trace", "lower", "simplify", "lift", "fuse", "emit", "LLVM", "link", "store", "plan", "bind")


@dataclass(frozen=True, slots=True)
class Part:
    """One stage of a first call: its name, and seconds."""

    name: str
    seconds: float


@dataclass(frozen=True, slots=True)
class FirstCall:
    """A first call from cold: all of it in seconds, and the parts, which add up to it."""

    seconds: float
    parts: tuple[Part, ...]


def first_call(job: Job, plan: measure.Plan) -> FirstCall:
    """Measure the first call of a job's function, each static argument at its first value: the median of several from cold.

    Raises: `TargetFailed`, and the errors of `specs.bind`.
    """
    own = {name: job.side.own(value) for name, value in job.traced.items()}
    values = {name: values[0] for name, values in job.statics.items()}
    call = specs.bind(job.side.function, {**own, **values})
    job.side.warm(own)
    with job.side.answering(), failing(job.side):
        found = [_measured(job, call)]
        while len(found) < plan.passes and sum(one.seconds for one in found) < plan.pass_seconds:
            found.append(_measured(job, call))
    return sorted(found, key=lambda one: one.seconds)[(len(found) - 1) // 2]


def _measured(job: Job, call: Call) -> FirstCall:
    (args, kwargs), side = call, job.side
    jitted = side.jit(tuple(job.statics))
    with side.cold(), side.watching() as seen:
        start = time.perf_counter()
        side.finished(jitted(*args, **kwargs))
        end = time.perf_counter()
    return FirstCall(end - start, parts(seen, start, end))


def parts(seen: Sequence[Event], start: float, end: float) -> tuple[Part, ...]:
    """The stages of a call between two readings of the clock, from its events; what no event tells of is its first run, and
    before that what the call does itself: keys, look-ups, notes of what it cost.

    >>> seen = [Event("trace", 2.0, 0.5), Event("stage", 3.0, 0.75, {"stage": "lower"}), Event("bind", 4.0, 1.0)]
    >>> [(part.name, part.seconds) for part in parts(seen, 1.0, 6.0)]
    [('call', 1.75), ('trace', 0.5), ('lower', 0.75), ('first run', 2.0)]
    """
    traces = outermost([event for event in seen if event.kind == "trace"])[:1]
    own = [event for event in seen if not any(within(event, trace) for trace in traces)]
    bound = next((i for i, event in enumerate(own) if event.kind == "bind"), -1)
    spent = dict.fromkeys(STAGES, 0.0) | {"trace": sum(trace.seconds for trace in traces)}
    for event in own[: max(bound, 0)]:
        if event.kind == "stage":
            spent[event.facts["stage"]] += event.seconds
    run = end - own[bound].at if own else 0.0
    call = max(end - start - run - sum(spent.values()), 0.0)
    return tuple([Part(name, x) for name, x in {"call": call, **spent, "first run": run}.items() if x > 0])
