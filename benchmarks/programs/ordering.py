"""Programs that order and accumulate: a sort followed by a cumulative sum."""

from __future__ import annotations

from typing import Any

from programs.program import Program, normal


def _sorted_sum(package: Any, np: Any) -> Any:
    return lambda x: np.cumsum(np.sort(x))


def _line(rng: Any, n: int) -> tuple[Any, ...]:
    return (normal(rng, n),)


PROGRAMS = (Program("sort + cumsum 1e6", _sorted_sum, _line, {"n": 10**6}, {"n": 1001}, "n", numpy=True),)
