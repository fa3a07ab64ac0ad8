"""Programs where the call or the compiler is the work: a chain of 1,000 ops on a small array, 1,000 arrays as arguments."""

from __future__ import annotations

from typing import Any

from programs.program import Program, normal

_OPS, _GROUPS, _EACH = 1000, 100, 10


def chain(package: Any, np: Any, ops: int = _OPS) -> Any:
    """A function of `ops` elementwise ops, one of eight a sine."""

    def run(x: Any) -> Any:
        for i in range(ops // 8):
            x = np.sin(x) * (1.0 + i / ops) + x * 0.5 - (x - 0.25) * 0.125 + 0.75
        return x

    return run


def _many(package: Any, np: Any) -> Any:
    return lambda tree: {name: [x + 1 for x in group] for name, group in tree.items()}


def _square(rng: Any, n: int) -> tuple[Any, ...]:
    return (normal(rng, n, n),)


def _tree(rng: Any, n: int) -> tuple[Any, ...]:
    return ({f"group{i}": [normal(rng, n) for _ in range(_EACH)] for i in range(_GROUPS)},)


PROGRAMS = (
    Program("chain of 1000 ops 32x32", chain, _square, {"n": 32}, {"n": 5}, "n"),
    Program("call with 1000 leaves", _many, _tree, {"n": 4}, {"n": 4}, "n"),
)
