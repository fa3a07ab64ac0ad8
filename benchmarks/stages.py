"""What tracing and every later stage in Python cost an equation, from 10 to 10,000 equations, against the budget of
0.2 ms plus 50 microseconds an equation; JAX's trace and lowering of the same program stand beside it.

    python benchmarks/stages.py [--json FILE]
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from rich.bar import Bar
from rich.console import Console
from rich.progress import track
from rich.table import Table
from sides import load

SIZES = (10, 30, 100, 300, 1000, 3000, 10_000)
BUDGET_FIXED, BUDGET_EACH = 200e-6, 50e-6


@dataclass(frozen=True)
class Point:
    """Seconds by stage at one size."""

    equations: int
    trace: float
    lower: float
    simplify: float
    lift: float
    jax: float

    @property
    def total(self) -> float:
        return self.trace + self.lower + self.simplify + self.lift

    @property
    def budget(self) -> float:
        return BUDGET_FIXED + BUDGET_EACH * self.equations


def chain(numpy: Any, equations: int) -> Callable[[Any], Any]:
    def function(x: Any) -> Any:
        for i in range(equations // 4):
            x = numpy.sin(x * (1.0 + i)) + x - 0.5
        return x

    return function


def stages(package: Any, function: Callable[[Any], Any], x: Any) -> list[float]:
    from celadon import compiler

    marks = [time.perf_counter()]
    program = package.jit(function).trace(x).program
    marks.append(time.perf_counter())
    for stage in (compiler.lower, compiler.simplify, compiler.lift):
        program = stage(program)
        marks.append(time.perf_counter())
    return [b - a for a, b in itertools.pairwise(marks)]


def measure(equations: int) -> Point:
    celadon, cnp = load("celadon")
    jax, jnp = load("jax")
    rounds = 9 if equations < 3000 else 3
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(stages(celadon, chain(cnp, equations), cnp.ones((8, 8))))
        start = time.perf_counter()
        jax.jit(chain(jnp, equations)).lower(jnp.ones((8, 8)))
        theirs.append(time.perf_counter() - start)
    return Point(equations, *map(statistics.median, zip(*ours, strict=True)), statistics.median(theirs))


def show(points: list[Point]) -> None:
    table = Table("equations", "trace", "lower", "simplify", "lift", "all", "budget", "JAX trace + lower", "of the budget")
    for p in points:
        cells = [f"{1e3 * s:.2f} ms" for s in (p.trace, p.lower, p.simplify, p.lift, p.total, p.budget, p.jax)]
        table.add_row(str(p.equations), *cells, Bar(1.0, 0, min(p.total / p.budget, 1.0), width=20))
    Console().print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", help="also write the table to this file")
    arguments = parser.parse_args()
    points = [measure(size) for size in track(SIZES, "measuring", console=Console(stderr=True))]
    show(points)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump([asdict(point) for point in points], file, indent=1)


if __name__ == "__main__":
    main()
