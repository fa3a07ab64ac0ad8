"""Cases run in another process, which may crash, hang or leak: seeds go in, what is wrong comes out, line by line."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import queue
import subprocess
import sys
import threading
from typing import IO, Any

from celadon import clear_caches, memory
from tests.fuzz import generators, running

SECONDS_A_CASE = 120.0
REPLAYED, ROUNDS = 25, 12
LEAK_BYTES = 6 << 20


def resident() -> int:
    """Bytes of this process in memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def outcome(seed: int, name: str) -> dict[str, Any]:
    """What is wrong with the case of a seed, and a program to paste."""
    with running.quiet():
        root = generators.case(seed, name)
    said = running.trouble(root)
    return {"op": root.name, "said": said, "program": running.report(root, said) if said else ""}


def growth(seeds: list[int], name: str) -> int:
    """Bytes that the same cases leave behind each time they are run again, all caches emptied between."""
    before = 0
    for turn in range(ROUNDS):
        for seed in seeds:
            with running.quiet():
                root = generators.case(seed, name)
            running.trouble(root)
        clear_caches()
        memory.trim()
        gc.collect()
        if turn == ROUNDS // 3:
            before = resident()
    return resident() - before


def work() -> None:
    """Answers lines of {"seed", "op"}, or {"replay", "op"}, on standard input."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints is no answer
    for line in sys.stdin:
        asked = json.loads(line)
        if "replay" in asked:
            found = {"grown": growth(asked["replay"], asked["op"])}
        else:
            found = outcome(asked["seed"], asked["op"]) | {"seed": asked["seed"], "resident": resident()}
        print(json.dumps(found), file=answers, flush=True)


class Worker:
    """A process that runs cases one after the other; it is started anew when it crashed or hung."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None
        self.lines: queue.Queue[str] = queue.Queue()

    def ask(self, question: dict[str, Any], seconds: float = SECONDS_A_CASE) -> dict[str, Any]:
        """The answer; or what became of the process."""
        process = self._running()
        assert process.stdin is not None
        try:
            print(json.dumps(question), file=process.stdin, flush=True)
            line = self.lines.get(timeout=seconds)
        except queue.Empty:
            self.close()
            return {"said": f"it takes more than {seconds:.0f} seconds"}
        except BrokenPipeError:
            line = ""
        if not line:
            code = process.wait()
            self.close()
            return {"said": f"the process ends with {code}"}
        return json.loads(line)

    def _running(self) -> subprocess.Popen[str]:
        if self.process is None:
            command = [sys.executable, "-X", "faulthandler", "-c", "from tests.fuzz.workers import work; work()"]
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.lines = queue.Queue()
            assert self.process.stdout is not None
            threading.Thread(target=_read, args=(self.process.stdout, self.lines), daemon=True).start()
        return self.process

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            process, self.process = self.process, None
            process.kill()
            process.wait()
            assert process.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()


def _read(lines: IO[str], into: queue.Queue[str]) -> None:
    with lines:
        for line in lines:
            into.put(line)
    into.put("")
