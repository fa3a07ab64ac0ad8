"""Random calls of every op, alone and in compositions, beside the NumPy rules and in bits beside each other.

    python -m tests.fuzz.kernels --seconds 3600 --seed 0 --json found.json

Each case is a call of one op of the vocabulary: random shapes up to rank 8 with extents of 0, 1 and primes, any dtypes, arrays
that lie in memory in any way, ordinary, subnormal, infinite and extreme values; its operands may be made by other ops. Every
call outside of jit is compared with its NumPy rule (exact ops in bits, others within their bounds), and the whole, jitted, baked,
called again and on other numbers of threads, with that in bits. Cases run in a process of their own, which is started anew when
one crashes or hangs; from time to time the latest ones are run again and again to see whether memory is left behind.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.syntax import Syntax

from tests.fuzz.workers import LEAK_BYTES, REPLAYED, Worker

BETWEEN_REPLAYS = 2500


@dataclass
class Found:
    """What a run has seen: cases by op, those that are wrong, and bytes left behind by replays."""

    cases: Counter[str] = field(default_factory=Counter)
    failures: list[dict[str, Any]] = field(default_factory=list)
    grown: list[int] = field(default_factory=list)
    largest: int = 0

    def add(self, seed: int, op: str, answer: dict[str, Any]) -> bool:
        """Whether it is wrong."""
        self.cases[answer.get("op", op)] += 1
        self.largest = max(self.largest, answer.get("resident", 0))
        if answer["said"]:
            self.failures.append({"seed": seed, **answer})
        return bool(answer["said"])

    def report(self) -> dict[str, Any]:
        leaks = [n for n in self.grown if n > LEAK_BYTES]
        return {
            "cases": sum(self.cases.values()), "by op": dict(self.cases), "failures": self.failures, "leaks": leaks,
            "left behind": self.grown, "largest resident": self.largest,
        }  # fmt: skip


def run(seconds: float, seed: int, op: str, console: Console) -> Found:
    """Cases of seeds from `seed` on until the time is over."""
    found, worker, end, latest = Found(), Worker(), time.monotonic() + seconds, []
    columns = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()]
    try:
        with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
            task = progress.add_task("seconds", total=int(seconds))
            while time.monotonic() < end:
                answer = worker.ask({"seed": seed, "op": op})
                if found.add(seed, op, answer):
                    tell(console, found.failures[-1])
                latest = [*latest, seed][-REPLAYED:]
                seed += 1
                if sum(found.cases.values()) % BETWEEN_REPLAYS == 0:
                    found.grown.append(worker.ask({"replay": latest, "op": op}, 1200).get("grown", 0))
                said = f"{sum(found.cases.values())} cases, {len(found.failures)} wrong"
                progress.update(task, completed=int(seconds - max(end - time.monotonic(), 0)), description=said)
    finally:
        worker.close()
    return found


def tell(console: Console, failure: dict[str, Any]) -> None:
    console.print(f"[bold red]seed {failure['seed']}[/] {failure.get('op', '')}: {failure['said']}", highlight=False)
    if failure.get("program"):
        console.print(Syntax(failure["program"][:4000], "python", background_color="default", word_wrap=True))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.kernels", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="how long")
    parser.add_argument("--seed", type=int, default=0, help="the first seed; with --op one seed is one case for ever")
    parser.add_argument("--op", default="", help="calls of this op only")
    parser.add_argument("--json", type=Path, help="write what was found to this file")
    asked = parser.parse_args()
    console = Console()
    found = run(asked.seconds, asked.seed, asked.op, console).report()
    if asked.json:
        asked.json.write_text(json.dumps(found, indent=1))
    ops = len(found["by op"])
    console.print(f"{found['cases']} cases of {ops} ops: {len(found['failures'])} wrong, {len(found['leaks'])} leaks")
    return 1 if found["failures"] or found["leaks"] else 0


if __name__ == "__main__":
    sys.exit(main())
