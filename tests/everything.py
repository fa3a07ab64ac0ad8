"""A program of every op of the vocabulary, small and (where its shape is free) large, and every program of the benchmarks.

    python -m tests.everything

prints the digests of the bits that their jitted calls give, with how many kernels were compiled for them.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

import celadon
import celadon.numpy as cnp
from celadon import enable_x64, events, tree
from tests.fuzz import generators, trees
from tests.fuzz.draw import Draw

sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))
from programs import PROGRAMS  # a folder of scripts

LARGE, LARGE_MOVE = 150_001, 1_000_003
"""Elements that pay for more than one thread, in no even pieces; what only moves them needs more."""


@dataclass(frozen=True)
class Whole:
    """A function with its arguments; the last ones by keyword are static."""

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    static: dict[str, Any]

    def jitted(self) -> Callable[[], Any]:
        run = celadon.jit(self.function, static_argnames=tuple(self.static) or None)
        return lambda: run(*self.arguments, **self.static)

    def eager(self) -> Any:
        return self.function(*tree.map(cnp.asarray, self.arguments), **self.static)


class Large(Draw):
    """Draws large shapes of few axes, and operands that are arrays."""

    def __init__(self, seed: int, elements: int):
        super().__init__(seed, elements)
        self.fuel, self.style, self.elements = 0, "ordinary", elements

    def shape(self, least: int = 0, most: int = 8, empty: float = 0.0) -> tuple[int, ...]:
        n = self.elements
        return ((n,), (3, n // 3), (n // 7, 7))[self.whole(0, 2 if most > 1 else 0)]


FREE = frozenset({"elementwise", "move", "reduce", "cumulative", "sort", "index", "contract", "bitcast", "barrier"})
"""Kinds of ops whose generators take any shape, so that large ones are theirs too."""
NOT_LARGE = frozenset({"reduce", "convolution", "dot_general", "scatter_apply", "gather", "scatter"})
"""Theirs take small ones only."""


def ops() -> Iterator[Whole]:
    """Two small calls of each op, operands made by others, and a large one."""
    for name in generators.NAMES:
        for seed in (11, 12):
            yield _of(f"{name} {seed}", generators.case(seed, name))
        kind, make = generators.registry[name].kind, generators.maker(name)
        assert make is not None
        if kind in FREE and name not in NOT_LARGE:
            moves = kind in ("move", "barrier", "bitcast") or name.startswith("dynamic") or name == "stop_gradient"
            yield _of(f"{name} large", make(Large(13, LARGE_MOVE if moves else LARGE), name))


def _of(name: str, root: trees.Node) -> Whole:
    return Whole(name, trees.function_of(root), tuple([leaf.given for leaf in trees.leaves(root)]), {})


def benchmarks() -> Iterator[Whole]:
    """The programs of the benchmarks at the sizes for tests, and at sizes of which many pay for threads."""
    for program in PROGRAMS:
        more = {name: max(n, int((n * program.sizes[name] ** 3) ** 0.25)) for name, n in program.small.items()}
        for word, sizes in (("", program.small), (" large", more)):
            given = program.given(0, sizes=sizes)
            yield Whole(f"{program.name}{word}", program.build(celadon, cnp), given, program.options())


def raw(results: Any) -> tuple[object, ...]:
    """All bytes of results, those of NaN and of zeros too."""
    return tuple([(str(x.dtype), x.shape, np.asarray(x).tobytes()) for x in tree.leaves(results)])


def digest(results: Any) -> str:
    return sha256(repr(raw(results)).encode()).hexdigest()


def main() -> None:
    with enable_x64(True), np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {one.name: digest(one.jitted()()) for one in ops()}
    found |= {one.name: digest(one.jitted()()) for one in benchmarks()}
    compiled = sum(event.facts["compiled"] for event in events.log if event.kind == "compile")
    print(json.dumps({"digests": found, "compiled": compiled}))


if __name__ == "__main__":
    main()
