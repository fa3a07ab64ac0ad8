"""What is measured of one program: in this process, both sides in turn (steady calls, new shapes, new static values); or one
side in a process of its own (first call, time from the process's start, peak memory; other libraries).

    python benchmarks/measures.py celadon "scale_add 2048x2048"     one side's first call, as JSON; or jax, or others
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import optree
from programs import named, with_numba, with_torch
from programs.program import Program
from sides import alternate, load, timed

STARTED = "CELADON_BENCHMARK_STARTED"
SHORTEST = 300e-6  # seconds: shorter calls are timed several at once
FRESH = 5  # new shapes and new static values a program


class Case:
    """A program jitted on one side, with two sets of arguments that are called with in turn."""

    def __init__(self, side: str, program: Program):
        self.package, self.numpy = load(side)
        self.program = program
        self.names = [program.static] if program.static else None
        self.function = self.jitted()
        self.sets = [self.placed(program.given(seed)) for seed in (0, 1)]
        self.options = program.options()

    def jitted(self) -> Callable[..., Any]:
        return self.package.jit(self.program.build(self.package, self.numpy), static_argnames=self.names)

    def placed(self, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        return self.package.tree.map(self.numpy.asarray, arguments)

    def run(self, arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
        wait(self.function(*arguments, **options))

    def both(self) -> None:
        for arguments in self.sets:
            self.run(arguments, self.options)

    def steady(self) -> Callable[[], float]:
        """Seconds of a call, the two sets in turn."""
        self.both()
        repeat = max(1, int(SHORTEST / timed(self.both)))
        return lambda: timed(self.both, repeat) / 2

    def new_shape(self, k: int) -> float:
        """A call at a shape that was never seen, less a call at it afterwards."""
        arguments = self.placed(self.program.given(0, more=k))
        return self._excess(arguments, self.options)

    def new_value(self, k: int) -> float:
        """The same for a static value that was never seen."""
        return self._excess(self.sets[0], self.program.options(k))

    def _excess(self, arguments: tuple[Any, ...], options: dict[str, Any]) -> float:
        first = timed(lambda: self.run(arguments, options))
        return max(first - statistics.median(timed(lambda: self.run(arguments, options)) for _ in range(5)), 1e-6)


def wait(result: Any) -> None:
    """Wait for one result: those of one call are ready together, and a walk over a thousand would be measured too."""
    while isinstance(result, dict | list | tuple):
        result = next(iter(result.values())) if isinstance(result, dict) else result[0]
    if hasattr(result, "block_until_ready"):
        result.block_until_ready()


def together(program: Program, rounds: int) -> dict[str, list[float]]:
    """Medians of Celadon and JAX by what was measured."""
    cases = [Case(side, program) for side in ("celadon", "jax")]
    found = {"steady": alternate(*[case.steady() for case in cases], rounds=rounds)}
    found["new shape"] = _fresh([case.new_shape for case in cases])
    if program.static:
        found["new static value"] = _fresh([case.new_value for case in cases])
    return found


def elsewhere(program: Program, rounds: int) -> dict[str, float]:
    """Medians of a steady call in the other libraries that can express the program; their threads would disturb others."""
    calls = {name: call for name, make in _OTHERS.items() if (call := make(program)) is not None}
    return dict(zip(calls, alternate(*calls.values(), rounds=rounds), strict=True))


def _fresh(measures: list[Callable[[int], float]]) -> list[float]:
    """Medians over values that are new each; the first is dropped, as it meets what is done once a program."""
    seconds = [[measure(k) for k in range(1, FRESH + 2)][1:] for measure in measures]
    return [statistics.median(s) for s in seconds]


def _with_numpy(program: Program) -> Callable[[], float] | None:
    import numpy

    return _steady(program.build(None, numpy), program, lambda x: x) if program.numpy else None


def _with_numba(program: Program) -> Callable[[], float] | None:
    return _steady(with_numba.function_of(program), program, lambda x: x)


def _with_torch(program: Program) -> Callable[[], float] | None:
    function = with_torch.function_of(program)
    if function is None:
        return None
    import torch

    torch.set_num_threads(len(os.sched_getaffinity(0)))
    return _steady(function, program, torch.as_tensor)


def _steady(function: Callable[..., Any] | None, program: Program, place: Callable[[Any], Any]) -> Callable[[], float] | None:
    """Seconds of a call of a library that waits for its results, the two sets of arguments in turn."""
    if function is None:
        return None
    sets = [optree.tree_map(place, program.given(seed)) for seed in (0, 1)]
    options = program.options()

    def both() -> None:
        for arguments in sets:
            function(*arguments, **options)

    both()
    repeat = max(1, int(SHORTEST / timed(both)))
    return lambda: timed(both, repeat) / 2


_OTHERS = {"NumPy": _with_numpy, "numba": _with_numba, "torch.compile": _with_torch}


def first(side: str, program: Program) -> dict[str, float]:
    """The first call in this process, which has compiled a trivial function before: seconds, and bytes at the peak."""
    package, numpy = load(side)
    wait(package.jit(lambda x: x - 1)(numpy.ones(3)))
    before = time.time()
    case = Case(side, program)
    making = time.time() - before
    seconds = timed(lambda: case.run(case.sets[0], case.options))
    since = time.time() - float(os.environ.get(STARTED, before)) - making
    for _ in range(3):
        case.both()
    return {"first call": seconds, "process start to result": since, "peak": _peak()}


def _peak() -> float:
    """The most bytes of memory that this process has had; unlike getrusage's, not what its parent had before it."""
    with open("/proc/self/status") as file:
        [line] = [line for line in file if line.startswith("VmHWM")]
    return float(line.split()[1]) * 1024


def main() -> None:
    side, name = sys.argv[1:]
    [program] = [program for program in named([name]) if program.name == name]
    print(json.dumps(elsewhere(program, 9) if side == "others" else first(side, program)))


if __name__ == "__main__":
    main()
