"""What a new static value, a new shape, a first call, an import and a dispatch cost, beside JAX: ratios of medians.

python benchmarks/price.py [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table
from sides import alternate, alternate_processes, load, timed

VALUES = 32
AT_ONCE = 8  # as a sweep has them; one at a time, each of ours would find the processor's caches as JAX's compiler left them


@dataclass(frozen=True)
class Row:
    """One figure of both sides in seconds, the ratio JAX / Celadon, and the ratio that is wanted at least."""

    what: str
    celadon: float
    jax: float
    wanted: float

    @property
    def ratio(self) -> float:
        return self.jax / self.celadon


class Side:
    def __init__(self, name: str):
        self.package, self.numpy = load(name)
        self.values = iter(np.linspace(1.5, 2.5, 100_000).tolist())
        self.extents = iter(range(40, 100_000))

    def scale_add(self, **options: Any) -> Callable[..., Any]:
        return self.package.jit(lambda x, s: x * s + 1.0, **options)

    def wait(self, x: Any) -> Any:
        return x.block_until_ready()

    def new_value(self, f: Callable[..., Any], x: Any) -> float:
        """A call at a static value never seen, less a second call at it."""
        value = next(self.values)
        first = timed(lambda: self.wait(f(x, value)))
        return first - statistics.median(timed(lambda: self.wait(f(x, value))) for _ in range(5))

    def new_shape(self, f: Callable[..., Any]) -> float:
        rows = next(self.extents)
        x = self.numpy.asarray(np.ones((rows, 64), np.float32))
        first = timed(lambda: self.wait(f(x, 2.0)))
        return first - statistics.median(timed(lambda: self.wait(f(x, 2.0))) for _ in range(5))

    def steady(self, extent: int) -> Callable[[], float]:
        f, x = self.scale_add(), self.numpy.asarray(np.ones((extent, extent), np.float32))
        self.wait(f(x, 2.0))
        return lambda: timed(lambda: self.wait(f(x, 2.0)))

    def dispatch(self) -> Callable[[], float]:
        f, x = self.package.jit(lambda x: x + 1), self.numpy.asarray(np.ones(4, np.float32))
        self.wait(f(x))
        return lambda: timed(lambda: f(x), 2000)


def warm(side: Side) -> None:
    side.wait(side.package.jit(lambda x: x - 1)(side.numpy.ones(3)))


def in_process(sides: list[Side]) -> list[Row]:
    rows: list[Row] = []
    for extent in (64, 2048):
        calls = [_values_of(side, extent) for side in sides]
        rows.append(Row(f"a new static value, {extent} x {extent}", *_fresh(calls), 100))
        if extent == 64:
            rows.append(Row("  each after one of the other's", *alternate(*calls, rounds=VALUES), 0))
    rows.append(Row("a new shape", *_fresh([_shapes_of(side) for side in sides]), 60))
    rows.append(Row("steady call, 2048 x 2048", *alternate(*[s.steady(2048) for s in sides], rounds=60), 1))
    rows.append(Row("dispatch of x + 1 on 4 floats", *alternate(*[s.dispatch() for s in sides], rounds=40), 1))
    return rows


def _fresh(calls: list[Callable[[], float]]) -> list[float]:
    return alternate(*calls, rounds=VALUES // AT_ONCE, at_once=AT_ONCE)


def _values_of(side: Side, extent: int) -> Callable[[], float]:
    f, x = side.scale_add(static_argnums=1), side.numpy.asarray(np.ones((extent, extent), np.float32))
    side.new_value(f, x)
    return lambda: side.new_value(f, x)


def _shapes_of(side: Side) -> Callable[[], float]:
    f = side.scale_add(static_argnums=1)
    side.new_shape(f)
    return lambda: side.new_shape(f)


FIRST = """
import json, time, numpy as np
import {package} as package, {package}.numpy as cnp
package.jit(lambda x: x - 1)(cnp.asarray(np.ones(3, np.float32))).block_until_ready()
x = cnp.asarray(np.ones((2048, 2048), np.float32))
f = package.jit(lambda x, s: x * s + 1.0)
start = time.perf_counter()
f(x, 2.0).block_until_ready()
first = time.perf_counter() - start
start = time.perf_counter()
f(x, 2.0).block_until_ready()
print(json.dumps(dict(first=first)))
"""
START = """
import {package} as package, {package}.numpy as cnp, numpy as np
package.jit(lambda x, s: x * s + 1.0)(cnp.asarray(np.ones((64, 64), np.float32)), 2.0).block_until_ready()
"""
IMPORT = """
import json, time
start = time.perf_counter()
import {package}, {package}.numpy
print(json.dumps(dict(seconds=time.perf_counter() - start)))
"""


def between_processes() -> list[Row]:
    rows: list[Row] = []
    for what, code, key, wanted in (
        ("first call of scale_add, empty disk cache", FIRST, "first", 5),
        ("process start to first result", START, "process", 3),
        ("import", IMPORT, "seconds", 4),
    ):
        codes = {name: code.format(package=name) for name in ("celadon", "jax")}
        found = alternate_processes(codes)
        rows.append(Row(what, found["celadon"][key], found["jax"][key], wanted))
    return rows


def show(rows: list[Row]) -> None:
    table = Table("", "Celadon", "JAX", "ratio", "wanted", title="JAX / Celadon, medians of alternating measurements")
    for row in rows:
        met = "[green]" if row.ratio >= row.wanted else "[red]"
        wanted = f"{row.wanted:g}x" if row.wanted else ""
        table.add_row(row.what, _ms(row.celadon), _ms(row.jax), f"{met}{row.ratio:.1f}x", wanted)
    Console().print(table)


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.4g} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", help="also write the table to this file")
    arguments = parser.parse_args()
    sides = [Side("celadon"), Side("jax")]
    for side in sides:
        warm(side)
    rows: list[Row] = []
    for measure in track((lambda: in_process(sides), between_processes), "measuring", console=Console(stderr=True)):
        rows += measure()
    show(rows)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump([{**asdict(row), "ratio": row.ratio} for row in rows], file, indent=1)


if __name__ == "__main__":
    main()
