"""Choices of the fuzzer: shapes, dtypes and operands, drawn from one random state; operands may be made by other ops."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from celadon.op import Op, registry
from celadon.types import ArrayType, DType, every_dtype, short_name
from tests.fuzz.trees import Leaf, Node, Part, seeded, type_of
from tests.fuzz.values import STORAGE, STYLES
from tests.vocabulary.samples import accepts

T = TypeVar("T")
Shape = tuple[int, ...]
EXTENTS = (1, 1, 1, 2, 2, 3, 3, 4, 5, 7, 8, 11, 13, 16, 17, 31, 37, 64, 97, 127, 257)
LARGE = (1009, 4099, 70001, 200003)
DTYPES = every_dtype()
RANKS = (0, 1, 1, 2, 2, 2, 3, 3, 4, 5, 6, 7, 8)

Producer = Callable[["Draw", Shape, DType], "Node | None"]
PRODUCERS: list[Producer] = []
"""What makes a value of a shape and dtype; None where it can't."""


class Draw:
    """A random state, the fuel for operands that are no plain arrays, and what was made before."""

    def __init__(self, seed: int, most: int = 6000):
        self.random = np.random.default_rng([20, seed])
        self.fuel = self.pick((0, 0, 1, 2, 3, 4, 6, 9))
        self.most = most
        self.style = self.pick(STYLES)
        self.known: list[Part] = []

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def whole(self, low: int, high: int) -> int:
        """From low to high, both included."""
        return int(self.random.integers(low, high + 1))

    def pick(self, options: Sequence[T]) -> T:
        return options[int(self.random.integers(len(options)))]

    def some(self, options: Iterable[T], count: int | None = None) -> tuple[T, ...]:
        """Different ones of the options, in any order."""
        whole = list(options)
        count = self.whole(0, len(whole)) if count is None else count
        return tuple([whole[int(i)] for i in self.random.permutation(len(whole))[:count]])

    def shape(self, least: int = 0, most: int = 8, empty: float = 0.06) -> Shape:
        """Extents 0 (seldom), 1, small and prime ones; sometimes one that pays for threads."""
        rank = max(least, min(most, self.pick(RANKS)))
        if rank and self.most > 5000 and self.chance(0.03):
            return self._with_one(rank, self.pick(LARGE))
        found: list[int] = []
        for _ in range(rank):
            room = self.most // max(math.prod(found), 1)
            fits = [n for n in EXTENTS if n <= max(room, 1)]
            found.append(self.pick(fits))
        found = [found[int(i)] for i in self.random.permutation(rank)]
        if rank and self.chance(empty):
            found[self.whole(0, rank - 1)] = 0
        return tuple(found)

    def _with_one(self, rank: int, large: int) -> Shape:
        found = [self.pick((1, 2, 3)) if i < 3 else 1 for i in range(rank)]
        found[self.whole(0, rank - 1)] = large
        return tuple(found)

    def extent(self, least: int = 1, most: int = 40) -> int:
        return self.pick([n for n in EXTENTS if least <= n <= most] or [least])

    def dtype(self, accepted: Callable[[DType], bool] = lambda _: True) -> DType:
        return self.pick([dtype for dtype in DTYPES if accepted(dtype)])

    def dtype_for(self, op: Op, operands: int, **params: Any) -> DType:
        """One that the op's own type rule takes for all operands."""
        return self.dtype(lambda dtype: accepts(op, *[ArrayType((), dtype)] * operands, **params))

    # Operands

    def leaf(self, shape: Shape, dtype: DType, style: str = "") -> Leaf:
        stored = self.pick(STORAGE) if self.chance(0.5) else "rows"
        found = seeded(self.whole(0, 1 << 30), short_name(dtype), shape, style or self.style, stored)
        self.known.append(found)
        return found

    def operand(self, shape: Shape, dtype: DType, style: str = "") -> Part:
        """A value of a shape and dtype: an array, one that is there already, or what an op makes."""
        wanted = ArrayType(shape, dtype)
        same = [x for x in self.known if type_of(x).strong() == wanted] if self.chance(0.25) else []
        if same:
            return self.pick(same)
        for _ in range(4 if self.fuel > 0 and not style else 0):
            self.fuel -= 1
            made = self.pick(PRODUCERS)(self, shape, dtype)
            if made is not None:
                assert made.type.strong() == wanted, (made.name, made.types, wanted)
                self.known.append(made)
                return made
        return self.leaf(shape, dtype, style)

    def node(self, name: str, inputs: Sequence[Part], result: int = 0, **params: Any) -> Node:
        """A call of an op of the registry."""
        return Node(name, registry[name], list(inputs), params, result=result)
