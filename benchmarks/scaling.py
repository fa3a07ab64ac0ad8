"""What a first call and a new shape cost from 100 to 20,000 ops, beside JAX as far as one call takes it no longer than a minute:
a chain of elementwise ops on a small array, each measurement in a process of its own with an empty disk cache.

    python benchmarks/scaling.py [sizes ...] [--json FILE] [--svg FILE]
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path

from charts import lines
from programs.calls import chain
from rich.console import Console
from rich.progress import track
from rich.table import Table
from sides import compiled_to_bytecode, in_fresh_process, load, timed

SIZES = (100, 300, 1000, 3000, 10_000, 20_000)
LONGEST = 60.0  # seconds of a first call, after which larger sizes are left out
SIDES = ("celadon", "jax")
KINDS = ("first call", "new shape")
Points = dict[str, dict[int, float]]  # seconds by number of ops, by "side, kind"


def one(side: str, ops: int) -> dict[str, float]:
    """Seconds in this process, which has compiled a trivial function before."""
    package, numpy = load(side)
    package.block_until_ready(package.jit(lambda x: x - 1)(numpy.ones(3)))
    function = package.jit(chain(package, numpy, ops))
    small, large = numpy.ones((32, 32)), numpy.ones((32, 33))
    first = timed(lambda: package.block_until_ready(function(small)))
    return {"first call": first, "new shape": timed(lambda: package.block_until_ready(function(large)))}


def measured(sizes: list[int]) -> Points:
    """Both sides at all sizes, each up to the first that takes it too long."""
    compiled_to_bytecode()
    found: Points = {f"{side}, {kind}": {} for side in SIDES for kind in KINDS}
    over: set[str] = set()
    for ops in track(sizes, console=Console(stderr=True), description="Ops"):
        for side in SIDES:
            if side in over:
                continue
            seconds = in_fresh_process(_script(side, ops))
            for kind in KINDS:
                found[f"{side}, {kind}"][ops] = seconds[kind]
            if seconds["first call"] > LONGEST:
                over.add(side)
    return found


def _script(side: str, ops: int) -> str:
    here = str(Path(__file__).parent)
    return f"import json, sys; sys.path.insert(0, {here!r}); import scaling; print(json.dumps(scaling.one({side!r}, {ops})))"


def growth(points: dict[int, float]) -> float:
    """The exponent with which time grows with the number of ops, between the largest size and one of a tenth or more of it."""
    last = max(points)
    first = min((ops for ops in points if ops * 10 >= last and ops < last), default=last)
    return math.log(points[last] / points[first]) / math.log(last / first) if first < last else math.nan


def show(found: Points) -> None:
    """The table: milliseconds, microseconds an op, and how they grow."""
    sizes = sorted({ops for points in found.values() for ops in points})
    table = Table("ops", *found, title="Milliseconds (microseconds an op)")
    for ops in sizes:
        cells = [points.get(ops) for points in found.values()]
        table.add_row(f"{ops:,}", *["" if s is None else f"{s * 1e3:,.1f} ({s / ops * 1e6:.1f})" for s in cells])
    table.add_section()
    table.add_row("grows with the power", *[f"{growth(points):.2f}" if len(points) > 1 else "" for points in found.values()])
    Console().print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", type=int, default=list(SIZES), help="numbers of ops")
    parser.add_argument("--json", help="also write the points to this file")
    parser.add_argument("--svg", help="also draw them to this file")
    arguments = parser.parse_args()
    found = measured(sorted(arguments.sizes))
    show(found)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(found, indent=1) + "\n")
    if arguments.svg:
        lines(found, arguments.svg, ("ops", "seconds"))


if __name__ == "__main__":
    main()
