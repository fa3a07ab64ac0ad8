"""Callables come in and are called in turn; medians with an interval of confidence go out."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb

Call = Callable[[], object]
Advance = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """How long to measure: a number of calls of each callable, or else seconds for each within bounds of calls.

    First calls are repeated from cold, `passes` times unless that takes longer than `pass_seconds`.
    """

    calls: int | None = None
    seconds: float = 0.5
    fewest: int = 15
    most: int = 2000
    passes: int = 3
    pass_seconds: float = 2.0


@dataclass(frozen=True, slots=True)
class Interval:
    """A median in seconds, the bounds of its 95 % interval of confidence, and the number of measurements."""

    median: float
    low: float
    high: float
    calls: int

    def overlaps(self, other: Interval) -> bool:
        """Whether two medians are the same within noise.

        >>> Interval(1.0, 0.9, 1.1, 9).overlaps(Interval(1.2, 1.05, 1.3, 9))
        True
        """
        return self.low <= other.high and other.low <= self.high


def interval(times: Sequence[float]) -> Interval:
    """The median of some times and a 95 % interval that holds for any distribution (order statistics).

    Source: David and Nagaraja, Order Statistics, section 7.1.

    >>> interval([3.0, 1.0, 2.0])
    Interval(median=2.0, low=1.0, high=3.0, calls=3)
    """
    ordered, n = sorted(times), len(times)
    middle = (ordered[(n - 1) // 2] + ordered[n // 2]) / 2
    rank = _rank(n)
    return Interval(middle, ordered[rank], ordered[n - 1 - rank], n)


def _rank(n: int) -> int:
    """How many of the ordered times may be left out at each end: the chance of the median there stays within 2.5 %."""
    chance, rank = 0.0, 0
    for k in range(n // 2):
        chance += comb(n, k) / 2**n
        if chance > 0.025:
            break
        rank = k
    return rank


def alternating(calls: Sequence[Call], plan: Plan, advance: Advance = lambda share: None) -> list[Interval]:
    """Measure callables in turn, so that a machine that changes its pace changes all of them alike.

    Each round has an order of its own, and each call follows one of the same callable that is not measured: what
    another one left behind (caches, threads that spin) is not charged to it.

    Args:
        calls: callables without arguments that return when their work is done; each has been called before.
        plan: how often.
        advance: told after each round which share of the work it was.

    Returns: an interval a callable, in seconds.
    """
    rounds = plan.calls or _rounds(calls, plan)
    times: list[list[float]] = [[] for _ in calls]
    shuffle = random.Random(0)
    for _ in range(rounds):
        for k in shuffle.sample(range(len(calls)), len(calls)):
            calls[k]()
            times[k].append(seconds(calls[k]))
        advance(1 / rounds)
    return [interval(each) for each in times]


def _rounds(calls: Sequence[Call], plan: Plan) -> int:
    slowest = max(min(seconds(call) for _ in range(3)) for call in calls)
    return max(plan.fewest, min(plan.most, int(plan.seconds / max(slowest, 1e-7))))


def seconds(call: Call) -> float:
    """How long one call takes.

    >>> seconds(lambda: None) < 1.0
    True
    """
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
