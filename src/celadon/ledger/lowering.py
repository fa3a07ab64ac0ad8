"""A job and a stage of the compiler come in; what the stage makes of the job's function goes out, as text or data."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from celadon import errors, inside
from celadon.ledger import specs
from celadon.ledger.pricing import Job, failing


def text(job: Job, stage: str = "stablehlo") -> str:
    """The text of a job's function as a stage leaves it, each static argument at its first value.

    Args:
        job: on Celadon's side.
        stage: one of `inside.STAGES`.

    Raises: `StageUnknown`, `StageAbsent`, `TargetFailed`, and the errors of `specs.bind`.

    >>> from celadon.ledger.sides import Celadon
    >>> print(text(Job(Celadon(lambda x: x + 1.0), {"x": 1.0}, {}), "simplified"), end="")
    <lambda>(a: f32[]) -> (b)
      b: f32[] = add(a, {1.0}) ...
    """
    with _lowered(job, stage) as lowered:
        return lowered.as_text() if stage == "stablehlo" else inside.text(lowered.traced.needed, stage)


def data(job: Job, stage: str = "stablehlo") -> str:
    """The same as one JSON object.

    Raises: as `text`.
    """
    with _lowered(job, stage) as lowered:
        if stage == "stablehlo":
            found = {"stage": stage, "name": lowered.module.name, "text": lowered.as_text()}
        else:
            found = inside.data(lowered.traced.needed, stage)
    return json.dumps(found, indent=2)


@contextmanager
def _lowered(job: Job, stage: str) -> Generator[Any]:
    if stage not in inside.STAGES:
        raise errors.StageUnknown(stage=stage, known=", ".join(inside.STAGES))
    values = {name: values[0] for name, values in job.statics.items()}
    args, kwargs = specs.bind(job.side.function, {**job.traced, **values})
    with job.side.answering(), failing(job.side):
        lowered = job.side.jit(tuple(job.statics)).lower(*args, **kwargs)
    yield lowered
