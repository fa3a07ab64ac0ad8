"""A watched plan in; out, how long each of its steps takes: a second driver runs them, which reads a clock around each."""

from __future__ import annotations

import ctypes
import functools
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from celadon.array import Array
from celadon.compiler.lift import Numbers, Structure
from celadon.cpu import bound, driver, threads
from celadon.cpu.inspect_plan import Mark, Watched
from celadon.cpu.plan import WORD, Plan
from celadon.memory import Block, allocate

_LOOPS = ("repeat", "while_loop", "branch", "repeat_unless")
_NOTHING = 256


class Taken(NamedTuple):
    """How often a step ran in a call, and the seconds that all of them took, less what reading the clock takes."""

    runs: int
    seconds: float


class Clock(NamedTuple):
    """What the clock's own reading costs, and what a step costs that does nothing; seconds.

    within: what is measured too much of a step; around: what that adds to the loop that it stands in. wake: a step that does
    nothing, in two pieces, once the threads sleep; 0 where a program has one thread.
    """

    tick: float
    within: float
    around: float
    wake: float


class Timed:
    """A program whose calls note how long each step took: `run` it, then ask `taken`."""

    def __init__(self, found: Watched, keeper: object, structure: Structure, numbers: Numbers):
        timer = _timer()
        frames = bound.Frames(_with_timed_loops(found.plan, timer), {})
        frames.names["run"] = self._entered(timer)
        self.frame = frames.fresh()
        frames.free.append(self.frame)
        self.counters = allocate(len(found.plan.words) * WORD)
        self.nbytes = len(found.plan.words) * WORD
        self.call = bound.call(frames, keeper, structure, numbers)
        self.frames = frames

    def _entered(self, timer: _Timer) -> Callable[[Any, Any], None]:
        """Counters lie as far from their steps as their block does from the frame."""

        def run(steps: Any, count: Any) -> None:
            timer.state[1] = self.counters.pointer - self.frame.block.pointer
            timer.run(steps, count)

        return run

    def run(self, arrays: Sequence[Array]) -> list[Array]:
        """One call, from counters at 0."""
        ctypes.memset(self.counters.pointer, 0, self.nbytes)
        return self.call(arrays)

    def share(self, mark: Mark, pieces: int) -> None:
        """Have a step's range handed to threads in so many pieces from now on."""
        unit = -(-mark.extent // pieces)
        ctypes.c_int64.from_address(self.frame.block.pointer + (mark.word + 3) * WORD).value = -(-unit // 64) * 64

    def taken(self, marks: Sequence[Mark]) -> list[Taken]:
        """Of each step and, after it, of the steps that it runs, what the last call took."""
        return [one for mark in marks for one in self._taken(mark)]

    def _taken(self, mark: Mark) -> list[Taken]:
        found = self.clock()
        inside = [one for inner in mark.lists for one in self.taken(inner)]
        ticks, runs = ((ctypes.c_int64 * 2).from_address(self.counters.pointer + mark.word * WORD))[:]
        own = sum(one.runs for one in inside) * found.around
        return [Taken(runs, max(ticks * found.tick - runs * found.within - own, 0.0)), *inside]

    @staticmethod
    def clock() -> Clock:
        """What measuring costs on this machine; measured once."""
        return _clock()


class _Timer(NamedTuple):
    """The second driver: its `run`, addresses of its loops, the two words of its state, and of a step that does nothing."""

    run: Callable[[Any, Any], None]
    loops: dict[str, int]
    state: Any
    nothing: int
    now: Callable[[], int]


@functools.cache
def _timer() -> _Timer:
    names = ("timed", "nothing", "now", "state", *_LOOPS)
    text = _text()
    symbols = driver.library(f"timer {sha256(text.encode()).hexdigest()}", lambda: text, names).pin().symbols
    state = (ctypes.c_int64 * 2).from_address(symbols["state"])
    state[0] = ctypes.cast(driver.runtime().hold, ctypes.c_void_p).value or 0  # pyright: ignore[reportArgumentType]
    run = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(symbols["timed"])
    now = ctypes.PYFUNCTYPE(ctypes.c_int64)(symbols["now"])
    return _Timer(run, {name: symbols[name] for name in _LOOPS}, state, symbols["nothing"], now)


def _with_timed_loops(plan: Plan, timer: _Timer) -> Plan:
    """Loops and branches run their lists by the second driver, too."""
    known = driver.runtime()
    instead = {getattr(known, name): address for name, address in timer.loops.items()}
    words = list(plan.words)
    for i in plan.tables:  # where a step's table stands, after its function
        words[i - 1] = instead.get(words[i - 1], words[i - 1])
    return plan._replace(words=words)


@functools.cache
def _clock() -> Clock:
    timer = _timer()
    tick = statistics.median([_tick(timer) for _ in range(5)])
    found = [_nothing(timer, tick, _NOTHING) for _ in range(9)]
    within, around = (statistics.median(column) for column in zip(*found, strict=True))
    wake = statistics.median([_woken(timer, tick) for _ in range(9)]) if threads.threads() > 1 else 0.0
    return Clock(tick, within, around, wake)


def _woken(timer: _Timer, tick: float) -> float:
    """Seconds of a step that does nothing in two pieces, for a thread that fell asleep."""
    time.sleep(2e-3)
    return _nothing(timer, tick, 1, 2)[0]


def _tick(timer: _Timer) -> float:
    """Seconds of one tick of the clock."""
    start, ticks = time.perf_counter(), timer.now()
    while time.perf_counter() < start + 2e-3:
        continue
    return (time.perf_counter() - start) / max(timer.now() - ticks, 1)


def _nothing(timer: _Timer, tick: float, count: int, pieces: int = 1) -> tuple[float, float]:
    """Seconds that are measured of a step that does nothing, and that measuring adds to the time of many."""
    steps, counters = allocate(count * 4 * WORD), allocate(count * 4 * WORD)
    ctypes.memmove(steps.pointer, (ctypes.c_int64 * (4 * count))(*[timer.nothing, 0, pieces, 1] * count), steps.size)
    ctypes.memset(counters.pointer, 0, counters.size)
    timer.state[1] = counters.pointer - steps.pointer
    plain, timed = (_ticks(timer, run, steps) for run in (driver.runtime().hold, timer.run))
    found = (ctypes.c_int64 * (4 * count)).from_address(counters.pointer)[::4]
    plain = plain if pieces == 1 else 0.0
    return (statistics.median(found) - plain) * tick, (timed - plain) * tick


def _ticks(timer: _Timer, run: Callable[[Any, Any], None], steps: Block) -> float:
    """Of each of the steps in a block."""
    count = steps.size // (4 * WORD)
    start = timer.now()
    run(steps.pointer, count)
    return (timer.now() - start) / count


def _text() -> str:
    timed = _TIMED.replace("CLOCK", _ARM if platform.machine().lower() in ("aarch64", "arm64") else _CYCLES)
    return driver.ATTRIBUTES + timed + driver.STEPS


_CYCLES = "call i64 @llvm.readcyclecounter()"
_ARM = 'call i64 asm sideeffect "mrs $0, cntvct_el0", "=r"()'

# `state`: the first driver's `run`, which runs one step, and the distance from a step to its counters {ticks, runs}.
_TIMED = """
@state = dso_local global [2 x i64] zeroinitializer
declare i64 @llvm.readcyclecounter()

define i64 @now() {
  %t = CLOCK
  ret i64 %t
}

define void @nothing(ptr %t, i64 %lo, i64 %hi) #0 {
  ret void
}

define void @timed(ptr %steps, i64 %count) {
  call void @run(ptr %steps, i64 %count)
  ret void
}

define internal void @run(ptr %steps, i64 %count) {
entry:
  %plain = load ptr, ptr @state
  %far = getelementptr i64, ptr @state, i64 1
  %shift = load i64, ptr %far
  %none = icmp eq i64 %count, 0
  br i1 %none, label %out, label %step
step:
  %i = phi i64 [0, %entry], [%i1, %step]
  %s = getelementptr [4 x i64], ptr %steps, i64 %i
  %t0 = CLOCK
  call void %plain(ptr %s, i64 1)
  %t1 = CLOCK
  %ticks = sub i64 %t1, %t0
  %c0 = getelementptr i8, ptr %s, i64 %shift
  %old = load i64, ptr %c0
  %sum = add i64 %old, %ticks
  store i64 %sum, ptr %c0
  %c1 = getelementptr i64, ptr %c0, i64 1
  %before = load i64, ptr %c1
  %runs = add i64 %before, 1
  store i64 %runs, ptr %c1
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %count
  br i1 %more, label %step, label %out
out:
  ret void
}
"""
