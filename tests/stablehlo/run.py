"""python tests/stablehlo/run.py FOLDER [PATTERN] [--executor NAME] [--json FILE]: run programs, and tell what came of them."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.stablehlo.outcomes import AGREED, CRASHED, ERROR, FAILED, PASSED, UNREADABLE
from tests.stablehlo.sources import files

_AT_ONCE = 200  # files that one process runs: what it leaves behind does not pile up
Finding = dict[str, str]


def findings(paths: Sequence[Path], executor: str) -> Iterator[Finding]:
    """What came of each program of some files: name, family, word and reason."""
    for start in range(0, len(paths), _AT_ONCE):
        yield from _batch(list(paths[start : start + _AT_ONCE]), executor)


def _batch(paths: list[Path], executor: str) -> Iterator[Finding]:
    """One process after the other: the program in which one ends is a finding of its own, and left out by the next."""
    known: set[str] = set()
    while True:
        started: Finding | None = None
        for line in _process(paths, executor, known):
            if "start" in line:
                started = line
            else:
                started = None
                known.add(line["name"])
                yield line
        if started is None:
            return
        known.add(started["start"])
        yield {"name": started["start"], "family": started["family"], "word": CRASHED, "reason": "the process ended"}


def _process(paths: Sequence[Path], executor: str, known: set[str]) -> Iterator[Finding]:
    environment = {"XLA_FLAGS": "--xla_cpu_experimental_ynn_fusion_type=", "JAX_PLATFORMS": "cpu", **os.environ}
    command = [sys.executable, str(Path(__file__).with_name("worker.py")), executor, *known]
    left = [path for path in paths if path.stem.removesuffix(".large") not in known]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write("".join(f"{path}\n" for path in left))
        process.stdin.close()
        for line in process.stdout:
            yield json.loads(line)


def table(found: Sequence[Finding]) -> Table:
    """A row for each family: how many programs passed, agreed with the reference, failed or could not be read, and what was
    lacking."""
    shown = Table(box=None)
    for column in ("family", "passed", "agreed", "failed", "unreadable", "what is lacking"):
        shown.add_column(column, justify="left" if column in ("family", "what is lacking") else "right")
    families: dict[str, list[Finding]] = defaultdict(list)
    for one in found:
        families[one["family"]].append(one)
    for family, members in sorted(families.items(), key=lambda item: (-len(item[1]), item[0])):
        shown.add_row(family, *_counts(members), _lacking(members))
    shown.add_row("all", *_counts(found), "", style="bold")
    return shown


def _counts(members: Sequence[Finding]) -> list[str]:
    counted = Counter(one["word"] for one in members)
    wrong = counted[FAILED] + counted[ERROR] + counted[CRASHED]
    return [str(counted[PASSED]), str(counted[AGREED] or ""), str(wrong or ""), str(counted[UNREADABLE] or "")]


def _lacking(members: Sequence[Finding]) -> str:
    reasons = Counter(one["reason"][:70] for one in members if one["word"] not in (PASSED, AGREED))
    return "; ".join(f"{count}x {reason}" if count > 1 else reason for reason, count in reasons.most_common(3))


def main() -> None:
    parser = argparse.ArgumentParser(description="Run StableHLO programs that check themselves.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("pattern", nargs="?", default="")
    parser.add_argument("--executor", default="cpu", choices=("cpu", "reference", "xla"))
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    paths = files(given.folder, given.pattern)
    found: list[Finding] = []
    with Progress() as progress:
        task = progress.add_task(given.executor, total=len(paths))
        for one in findings(paths, given.executor):
            found.append(one)
            progress.update(task, completed=len({each["name"].partition("/")[0] for each in found}))
    Console().print(table(found))
    if given.json is not None:
        given.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
