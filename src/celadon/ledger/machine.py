"""Nothing comes in; how fast this machine moves bytes and multiplies goes out, measured once a process and level of memory."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from celadon import inside
from celadon.array import from_host
from celadon.calling import jit
from celadon.cpu import threads as team
from celadon.cpu.inspect_plan import watched
from celadon.cpu.inspect_time import Timed
from celadon.types import enable_x64

_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_USUAL = {"L1": 32 << 10, "L2": 1 << 20, "L3": 32 << 20}
_UNITS = {"K": 1 << 10, "M": 1 << 20}
_MOST = 64 << 20  # bytes of the last cache that one program may count on: virtual machines report all of a socket's
_SIDE = 256  # of the matrices whose product is the measure of arithmetic, for each thread
_ROUNDS, _SECONDS = 5, 0.05  # so many runs at least, and for so long


@dataclass(frozen=True, slots=True)
class Rates:
    """What bounds a step: bytes a second of the level of memory that it works in, on as many threads, by a sum of two arrays;
    floating-point operations a second, by a product of matrices."""

    level: str
    threads: int
    dtype: str
    bytes_a_second: float
    flops_a_second: float


def rates(level: str, threads: int, wide: bool) -> Rates:
    """The rates for work in a level of memory, on so many threads, of float64 if `wide`, else of float32."""
    return Rates(level, threads, "f64" if wide else "f32", bandwidth(level, threads), peak(threads, wide))


def level_of(nbytes: int, threads: int = 1) -> str:
    """Where so many bytes stay between one use and the next: L2 (of each thread's own), L3, or memory.

    >>> level_of(1000), level_of(1 << 40)
    ('L2', 'memory')
    """
    sizes = caches()
    return "L2" if nbytes <= sizes["L2"] * threads else "L3" if nbytes <= sizes["L3"] else "memory"


@functools.cache
def caches() -> dict[str, int]:
    """Bytes of the caches that the first processor uses, by level; the usual sizes where the system does not tell.

    >>> sorted(caches())
    ['L1', 'L2', 'L3']
    """
    found: dict[str, int] = {}
    for place in _CACHES.glob("index*"):
        level, kind, size = ((place / name).read_text().strip() for name in ("level", "type", "size"))
        if kind != "Instruction":
            found[f"L{level}"] = int(size[:-1]) * _UNITS.get(size[-1], 1)
    return {name: min(found.get(name, usual), _MOST) for name, usual in _USUAL.items()}


@functools.cache
def bandwidth(level: str, threads: int) -> float:
    """Bytes a second that x * 2 + y reads and writes in a level of memory, on so many threads: the best of several runs."""
    count = _walked(level, threads) // 12
    x, y = np.ones(count, np.float32), np.ones(count, np.float32)
    return 12 * count / _best(lambda x, y: x * 2.0 + y, (x, y), threads)


def _walked(level: str, threads: int) -> int:
    """Bytes that lie in a level, but not in the one before."""
    sizes = caches()
    own = sizes["L2"] * threads
    return {"L2": own // 2, "L3": min(4 * own, (own + sizes["L3"]) // 2)}.get(level, 2 * sizes["L3"])


@functools.cache
def peak(threads: int, wide: bool) -> float:
    """Floating-point operations a second of a product of matrices by BLAS, on so many threads: the best of several runs."""
    x, y = (np.ones((rows, _SIDE), np.float64 if wide else np.float32) for rows in (_SIDE * threads, _SIDE))
    with enable_x64(wide):
        return 2 * x.size * _SIDE / _best(lambda x, y: x @ y, (x, y), threads)


def _best(function: Callable[..., Any], arrays: tuple[Any, ...], threads: int) -> float:
    """Seconds of the shortest of several runs of a function's one large step."""
    needed = jit(function).trace(*arrays).needed
    made = inside.made(needed)
    found = watched(made.executable.outline, made.structure.program)
    timed = Timed(found, made.executable, made.structure, made.numbers)
    largest = max(found.steps, key=lambda mark: mark.seconds)
    if threads == 1 or largest.pieces < team.threads():
        timed.share(largest, threads)
    given = [from_host(x) for x in arrays]
    times: list[float] = []
    while len(times) < _ROUNDS or sum(times) < _SECONDS:
        timed.run(given)
        times.append(timed.taken([largest])[0].seconds)
    return max(min(times), 1e-9)
