"""A program of StableHLO in, what came of it on one of the executors out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from celadon import cache
from celadon.program import Program
from celadon.reference import evaluate
from celadon.types import enable_x64
from tests.cpu.programs import near
from tests.stablehlo import (
    broadcasting,
    contractions,
    control,
    elementwise,
    folds,
    normalization,
    parallel,
    places,
    randomness,
    shapes,
)
from tests.stablehlo.checking import complaint
from tests.stablehlo.drawn import program_of
from tests.stablehlo.elements import Unreadable
from tests.stablehlo.reader import Read, Reader, read, takes_arguments
from tests.stablehlo.sources import Case, context, parsed

RULES = (  # imported for the rules that they add
    broadcasting, contractions, control, elementwise, folds, normalization, parallel, places, randomness, shapes,
)  # fmt: skip
PASSED, AGREED, FAILED, UNREADABLE, ERROR, CRASHED = "passed", "agreed", "failed", "unreadable", "error", "crashed"


class Outcome(NamedTuple):
    """What came of a program: one of the words above, and why. One that takes arguments and claims nothing has agreed if the
    executor computes what the reference does.
    """

    word: str
    reason: str = ""


def outcome(case: Case, executor: str = "cpu") -> Outcome:
    """Read, compile and run a program, and decide its checks.

    Args:
        executor: "cpu" or "reference", or "xla", which compiles the module itself.
    """
    try:
        module = parsed(case.text)
    except Exception as refused:
        return Outcome(UNREADABLE, f"parser: {_first_line(refused)}")
    try:
        with context():
            return (_on_xla if executor == "xla" else _on_celadon(executor))(module)
    except Unreadable as lacking:
        return Outcome(UNREADABLE, str(lacking))
    except Exception as error:
        return Outcome(ERROR, f"{type(error).__name__}: {_first_line(error)}")


def _first_line(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()] or [""]
    return (lines[1] if lines[0].startswith("Unable to parse") and len(lines) > 1 else lines[0])[:200]


def _on_xla(module: Any) -> Outcome:
    from tests.stablehlo.on_xla import results

    return _decided(*results(module))


def _on_celadon(executor: str) -> Callable[[Any], Outcome]:
    def run(module: Any) -> Outcome:
        with enable_x64(True), cache.executor_name(executor):
            reader = Reader(module)
            if takes_arguments(reader.main):
                return _agreement(program_of(module, reader.main))
            found: Read = read(module)
            return _decided(found.checks, _results(found.program))

    return run


def _results(program: Program) -> list[Any]:
    return [np.asarray(x.host) for x in cache.bind(program).bound([])]


def _agreement(program: Program) -> Outcome:
    for k, (found, wanted) in enumerate(zip(_results(program), evaluate(program, []), strict=True)):
        if (found.shape, found.dtype) != (wanted.shape, wanted.dtype) or not near(found, wanted):
            return Outcome(FAILED, f"result {k} is not the reference's")
    return Outcome(AGREED)


def _decided(checks: Any, made: Any) -> Outcome:
    pairs = zip(checks, made[::2], made[1::2], strict=True)
    complaints = [words for check, actual, expected in pairs if (words := complaint(check, actual, expected))]
    return Outcome(FAILED, "; ".join(complaints)) if complaints else Outcome(PASSED)


__all__ = ["AGREED", "CRASHED", "ERROR", "FAILED", "PASSED", "UNREADABLE", "Outcome", "outcome"]
