"""What a call costs beside the work it does: JAX, Celadon, and Celadon with its calls through Python, measured in turn.

python benchmarks/dispatch.py [--rounds N]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sides import alternate, load, timed

Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]
NATIVE = "celadon_native_call"


def calls(package: Any, numpy: Any) -> dict[str, tuple[Call, int, float]]:
    """Calls by what they show, with how many are timed at once and how many times quicker than JAX they should be."""

    def small() -> Any:
        return numpy.asarray(np.ones(4, np.float32))

    def nested() -> Any:
        return {f"layer {i}": [small() for _ in range(10)] for i in range(100)}

    def flat() -> Any:
        return [small() for _ in range(1000)]

    jit, increased = package.jit, lambda t: package.tree.map(lambda x: x + 1, t)
    return {
        "x + 1 on 4 floats": ((jit(lambda x: x + 1), (small(),), {}), 1000, 10),
        "a Python float": ((jit(lambda x, s: x * s), (small(), 2.5), {}), 1000, 10),
        "a static int": ((jit(lambda x, n: x * n, static_argnums=1), (small(), 3), {}), 1000, 10),
        "a keyword": ((jit(lambda x, y: x + y), (small(),), {"y": small()}), 1000, 10),
        "14 arrays, one result": ((jit(lambda *xs: sum(xs)), tuple(small() for _ in range(14)), {}), 500, 10),
        "14 arrays, 14 results": ((jit(lambda *xs: [x + 1 for x in xs]), tuple(small() for _ in range(14)), {}), 300, 4),
        "1,000 leaves, one result": ((jit(lambda t: t["layer 3"][1] + t["layer 7"][0]), (nested(),), {}), 20, 4),
        "1,000 leaves, nested": ((jit(increased), (nested(),), {}), 5, 4),
        "1,000 leaves, a list": ((jit(increased), (flat(),), {}), 5, 4),
    }


def measured(call: Call, repeat: int, before: Callable[[], None]) -> Callable[[], float]:
    """A measurement of a call that is warm; `before` is done first each time."""
    f, args, kwargs = call
    before()
    for _ in range(5000 if repeat > 20 else 40):
        f(*args, **kwargs)

    def repeated() -> None:
        for _ in range(repeat):
            f(*args, **kwargs)

    def measure() -> float:
        before()
        f(*args, **kwargs)
        return timed(repeated) / repeat

    return measure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    celadon, jax = load("celadon"), load("jax")
    update = celadon[0].config.update
    table = Table("", "JAX", "Celadon", "ratio", "wanted", "through Python", "ratio", title="microseconds a call")
    ours, theirs = calls(*celadon), calls(*jax)
    for what, (call, repeat, wanted) in ours.items():
        sides = [
            measured(theirs[what][0], repeat, lambda: None),
            measured(call, repeat, lambda: update(NATIVE, True)),
            measured(call, repeat, lambda: update(NATIVE, False)),
        ]
        jax_takes, native, python = (1e6 * seconds for seconds in alternate(*sides, rounds=rounds))
        met = "[green]" if jax_takes / native >= wanted else "[red]"
        ratios = f"{met}{jax_takes / native:.1f}x", f"{wanted:g}x", f"{python:.2f}", f"{jax_takes / python:.1f}x"
        table.add_row(what, f"{jax_takes:.2f}", f"{native:.2f}", *ratios)
    Console().print(table)


if __name__ == "__main__":
    main()
