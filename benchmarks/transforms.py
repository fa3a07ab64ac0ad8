"""What tracing and lowering cost, of programs, their gradients and batches, beside JAX: ratios of medians; and how much
longer than a compiled scan its compiled gradient takes, on both.

    python benchmarks/transforms.py [--json FILE]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table
from sides import alternate, load, timed

ROUNDS = 9
WANTED = 2.0
LONG = (1_000, 10_000, 50_000)
LEAVES = 60
STEPS = (1_000, 10_000)
BACK_WANTED = 4.0


@dataclass(frozen=True)
class Row:
    """Seconds of both sides to trace and lower something, and the ratio JAX / Celadon."""

    what: str
    celadon: float
    jax: float

    @property
    def ratio(self) -> float:
        return self.jax / self.celadon


@dataclass(frozen=True)
class Backward:
    """Seconds of a compiled scan and of its compiled gradient, on both sides, and how many times longer the latter takes."""

    what: str
    celadon: tuple[float, float]
    jax: tuple[float, float]

    @property
    def ratios(self) -> tuple[float, float]:
        return self.celadon[1] / self.celadon[0], self.jax[1] / self.jax[0]


class Side:
    def __init__(self, name: str):
        self.package, self.numpy = load(name)

    def scanned(self, state: Any, xs: Any) -> Any:
        """The sum of what a scan carries at its end."""

        def step(state: Any, x: Any) -> Any:
            return [c * 0.9 + self.numpy.sin(c) * x for c in state], None

        return sum(c.sum() for c in self.package.lax.scan(step, state, xs)[0])

    def seconds(self, wrap: Callable[[Callable[..., Any]], Callable[..., Any]], state: Any, xs: Any) -> Callable[[], float]:
        """A compiled function of `scanned`, called until its results are there."""
        function = self.package.jit(wrap(self.scanned))
        return lambda: timed(lambda: self.package.block_until_ready(function(state, xs)))

    def elementwise(self, count: int) -> Callable[[Any], Any]:
        """`count` ops on one array, half of them on numbers."""
        np_ = self.numpy

        def f(x: Any) -> Any:
            for _ in range(count // 7):
                x = np_.sin(x) * x + 1.5
                x = x / 2.0 - np_.tanh(x) * 0.5
            return x.sum()

        return f

    def mixed(self, count: int) -> Callable[[Any, Any], Any]:
        """`count` ops, a fifth of them matrix products."""
        np_ = self.numpy

        def f(x: Any, w: Any) -> Any:
            for _ in range(count // 5):
                x = np_.tanh(x @ w) + x
                x = x * 0.5 - 1.0
            return x.sum()

        return f

    def network(self, weights: Any, x: Any) -> Any:
        for w, b in weights:
            x = self.numpy.tanh(x @ w + b)
        return (x * x).mean()

    def lowered(self, make: Callable[[], Callable[..., Any]], *args: Any) -> Callable[[], float]:
        """Trace and lower a function that was never seen."""
        return lambda: timed(lambda: self.package.jit(make()).trace(*args).lower())


def array(*shape: int) -> np.ndarray[Any, Any]:
    return np.ones(shape, np.float32)


def weights(layers: int) -> list[tuple[Any, Any]]:
    return [(array(16, 16), array(16)) for _ in range(layers)]


Measure = tuple[str, Callable[[Side], Callable[[], float]]]
MEASURES: list[Measure] = [
    ("1,000 elementwise ops", lambda s: s.lowered(lambda: s.elementwise(1000), array(8, 8))),
    ("their gradient", lambda s: s.lowered(lambda: s.package.grad(s.elementwise(1000)), array(8, 8))),
    ("their batch", lambda s: s.lowered(lambda: s.package.vmap(s.elementwise(1000)), array(4, 8, 8))),
    ("their jvp", lambda s: s.lowered(lambda: _along(s, s.elementwise(1000)), array(8, 8), array(8, 8))),
    ("1,000 ops with matrix products", lambda s: s.lowered(lambda: s.mixed(1000), array(8, 8), array(8, 8))),
    ("their gradient", lambda s: s.lowered(lambda: s.package.grad(s.mixed(1000)), array(8, 8), array(8, 8))),
    ("their batch", lambda s: s.lowered(lambda: s.package.vmap(s.mixed(1000)), array(4, 8, 8), array(4, 8, 8))),
    (
        "the batch of their gradient",
        lambda s: s.lowered(lambda: s.package.vmap(s.package.grad(s.mixed(1000))), array(4, 8, 8), array(4, 8, 8)),
    ),
    ("a network of 200 layers", lambda s: s.lowered(lambda: lambda w, x: s.network(w, x), weights(200), array(32, 16))),
    ("its gradient", lambda s: s.lowered(lambda: s.package.grad(lambda w, x: s.network(w, x)), weights(200), array(32, 16))),
]


def _along(side: Side, f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, t: side.package.jvp(f, (x,), (t,))


def growth(side: Side) -> list[tuple[int, float, float, float]]:
    """Microseconds an op to trace and lower programs of growing length, their gradients and batches."""
    return [(count, *_costs(side, count)) for count in LONG]


def _costs(side: Side, count: int) -> tuple[float, float, float]:
    wrappers = (lambda f: f, side.package.grad, side.package.vmap)
    program, gradient, batch = (
        side.lowered(lambda wrap=wrap: wrap(side.elementwise(count)), array(*shape))() / count * 1e6
        for wrap, shape in zip(wrappers, ((8, 8), (8, 8), (4, 8, 8)), strict=True)
    )
    return program, gradient, batch


def measured(measure: Measure, sides: list[Side]) -> Row:
    what, prepare = measure
    calls = [prepare(side) for side in sides]
    for call in calls:
        call()
    return Row(what, *alternate(*calls, rounds=ROUNDS))


def backward(what: str, state: list[np.ndarray[Any, Any]], steps: int, sides: list[Side]) -> Backward:
    xs = np.linspace(0.5, 1, steps, dtype=np.float32)
    wrappers = [(lambda f: f, lambda f, side=side: side.package.grad(f, argnums=(0, 1))) for side in sides]
    calls = [side.seconds(wrap, state, xs) for side, pair in zip(sides, wrappers, strict=True) for wrap in pair]
    for call in calls:
        call()
    one, two, three, four = alternate(*calls, rounds=ROUNDS)
    return Backward(f"{what}, {steps:,} steps", (one, two), (three, four))


def backwards(sides: list[Side]) -> list[Backward]:
    """A scan that carries many small leaves, and its gradient with respect to them and to what it scans over."""
    arrays = [np.linspace(0, 1, 4 + k * 12 // (LEAVES - 1), dtype=np.float32) for k in range(LEAVES)]
    scalars = list(np.linspace(0, 1, LEAVES, dtype=np.float32))
    states = {f"{LEAVES} arrays of 4 to 16": arrays, f"{LEAVES} scalars": scalars}
    return [backward(what, state, steps, sides) for what, state in states.items() for steps in STEPS]


def show_backwards(rows: list[Backward]) -> None:
    table = Table("carried", "Celadon", "JAX", title="Compiled scans: gradient / forward")
    for row in rows:
        ours, theirs = row.ratios
        met = "[green]" if ours <= BACK_WANTED else "[red]"
        times = [f"{a * 1e3:.3g}, {b * 1e3:.3g} ms" for a, b in (row.celadon, row.jax)]
        table.add_row(row.what, f"{met}{ours:.1f}x[/] ({times[0]})", f"{theirs:.1f}x ({times[1]})")
    Console().print(table)


def show(rows: list[Row], lengths: list[tuple[int, float, float, float]]) -> None:
    table = Table("trace and lower", "Celadon", "JAX", "ratio", title="JAX / Celadon, medians of alternating measurements")
    for row in rows:
        met = "[green]" if row.ratio >= WANTED else "[red]"
        table.add_row(row.what, f"{row.celadon * 1e3:.4g} ms", f"{row.jax * 1e3:.4g} ms", f"{met}{row.ratio:.1f}x")
    growing = Table("ops", "program", "gradient", "batch", title="Celadon, microseconds an op")
    for count, *each in lengths:
        growing.add_row(f"{count:,}", *[f"{x:.1f}" for x in each])
    Console().print(table, growing)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", help="also write the tables to this file")
    arguments = parser.parse_args()
    sides = [Side("celadon"), Side("jax")]
    rows = [measured(m, sides) for m in track(MEASURES, "measuring", console=Console(stderr=True))]
    lengths = growth(sides[0])
    back = backwards(sides)
    show(rows, lengths)
    show_backwards(back)
    if arguments.json:
        with open(arguments.json, "w") as file:
            figures = {
                "rows": [{**asdict(r), "ratio": r.ratio} for r in rows],
                "growth": lengths,
                "backward": [{**asdict(r), "ratios": r.ratios} for r in back],
            }
            json.dump(figures, file, indent=1)


if __name__ == "__main__":
    main()
