"""All programs beside JAX: first call with an empty and a filled disk cache, from the process's start, new shapes, new static
values, steady calls and peak memory; the table with geometric means is printed, stored and drawn.

    python benchmarks/compare.py [words of program names ...] [--threads N] [--json FILE] [--svg FILE]
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from charts import draw
from measures import STARTED, together
from programs import named
from programs.program import Program
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from sides import ENVIRONMENT, compiled_to_bytecode

ROUNDS = 15
FIRSTS = 3
WANTED = {
    "first call": 8.0,
    "first call, warm disk cache": 20.0,
    "process start to result": 3.0,
    "new shape": 60.0,
    "new static value": 100.0,
    "steady": 1.5,
    "peak": 1.0,
}
Found = dict[str, list[float]]
Others = dict[str, float]


def measured(program: Program) -> tuple[Found, Others]:
    """Everything of one program: what was measured -> [Celadon, JAX]; and steady calls of other libraries."""
    seen: dict[str, list[list[float]]] = {}
    for _ in range(FIRSTS):
        with tempfile.TemporaryDirectory() as folder:
            ours = _in_process("celadon", program, folder)
            warm = _in_process("celadon", program, folder)
            theirs = _in_process("jax", program, folder)
        rows = {key: [ours[key], theirs[key]] for key in ours}
        rows["first call, warm disk cache"] = [warm["first call"], theirs["first call"]]
        for key, pair in rows.items():
            seen.setdefault(key, []).append(pair)
    firsts = {key: [statistics.median(side) for side in zip(*pairs, strict=True)] for key, pairs in seen.items()}
    return firsts | together(program, ROUNDS), _in_process("others", program)


def _in_process(side: str, program: Program, folder: str = "") -> dict[str, float]:
    here = Path(__file__).parent / "measures.py"
    environment = {**os.environ, **ENVIRONMENT, "CELADON_CACHE_DIR": folder, STARTED: repr(time.time())}
    done = subprocess.run(
        [sys.executable, str(here), side, program.name], env=environment, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def means(results: dict[str, Found]) -> dict[str, float]:
    """The geometric mean over programs of JAX / Celadon, by what was measured."""
    ratios: dict[str, list[float]] = {}
    for found in results.values():
        for what, (ours, theirs) in found.items():
            ratios.setdefault(what, []).append(theirs / ours)
    return {what: _geometric(found) for what, found in ratios.items()}


def _geometric(ratios: Iterable[float]) -> float:
    logs = [math.log(ratio) for ratio in ratios]
    return math.exp(sum(logs) / len(logs))


def show(results: dict[str, Found]) -> None:
    table = Table("", *WANTED, title="JAX / Celadon (Celadon's milliseconds, MB)")
    for name, found in results.items():
        table.add_row(name, *[_cell(found.get(what), what) for what in WANTED])
    found = means(results)
    table.add_section()
    table.add_row("geometric mean", *[f"{found[what]:.2f}x" if what in found else "" for what in WANTED])
    table.add_row("wanted", *[f"{wanted:g}x" for wanted in WANTED.values()])
    Console(width=None if sys.stdout.isatty() else 170).print(table)


def show_others(results: dict[str, Found], others: dict[str, Others]) -> None:
    """Steady calls of libraries other than JAX, where the program can be written in them and they are installed."""
    names = list(dict.fromkeys(name for found in others.values() for name in found))
    table = Table("", "Celadon", *names, title="a steady call in milliseconds (and how many times Celadon's)")
    for program, found in others.items():
        if found:
            ours = results[program]["steady"][0]
            cells = [f"{found[name] * 1e3:.3g} ({found[name] / ours:.2f}x)" if name in found else "" for name in names]
            table.add_row(program, f"{ours * 1e3:.3g}", *cells)
    Console(width=None if sys.stdout.isatty() else 130).print(table)


def _cell(found: list[float] | None, what: str) -> str:
    if found is None:
        return ""
    ours, theirs = found
    ratio = theirs / ours
    colour = "green" if ratio >= WANTED[what] else "yellow" if ratio >= 0.95 else "red"
    scaled = ours / 1e6 if what == "peak" else ours * 1e3
    return f"[{colour}]{ratio:.2f}x[/] ({scaled:.3g})"


def _on_processors(count: int) -> None:
    """Leave this process and its children so many processors: that is how many threads both sides then use."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:count])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="only programs with one of these in their names")
    parser.add_argument("--threads", type=int, help="processors that both sides may use; all without it")
    parser.add_argument("--json", help="also write what was measured to this file")
    parser.add_argument("--svg", help="also draw the ratios to this file")
    arguments = parser.parse_args()
    if arguments.threads:
        _on_processors(arguments.threads)
    compiled_to_bytecode()
    results: dict[str, Found] = {}
    others: dict[str, Others] = {}
    with Progress(console=Console(stderr=True)) as progress:
        chosen = named(arguments.words)
        task = progress.add_task("", total=len(chosen))
        for program in chosen:
            progress.update(task, description=program.name)
            results[program.name], others[program.name] = measured(program)
            progress.advance(task)
            if arguments.json:
                _write(arguments.json, results, others)
    show(results)
    show_others(results, others)
    if arguments.svg:
        draw(results, arguments.svg)


def _write(path: str, results: dict[str, Found], others: dict[str, Others]) -> None:
    processors = len(os.sched_getaffinity(0))
    content = {"processors": processors, "means": means(results), "programs": results, "steady calls of others": others}
    Path(path).write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
