"""How the values of one line are combined: vectors take turns at a few sums, which a fixed tree makes one in the end.

The order depends on the op, the dtype and the ends of the line alone: vector v, the last one too, goes to sum v modulo WAYS.
The tree pairs sums that are half of WAYS apart, so it does not matter which of them the first vector went to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from celadon.cpu import elements, elementwise
from celadon.cpu.elements import Element
from celadon.cpu.ir import Function, Value
from celadon.cpu.kinds import lanes_for
from celadon.cpu.loops import Loop
from celadon.cpu.stores import first_lanes
from celadon.types import from_short
from celadon.vocabulary.reduce import highest, lowest

WAYS = 4


def start_bits(op: str, dtype: str) -> bytes:
    """What a reduction by an op starts from."""
    known = from_short[dtype]
    if op in ("maximum", "minimum", "log_of_sum"):
        return (highest if op == "minimum" else lowest)(known).tobytes()
    if op == "and":
        return np.invert(known.type(0)).tobytes()
    return known.type(op == "multiply").tobytes()


def accumulated(dtype: str) -> str:
    """The dtype in which values of a dtype are combined."""
    return "f32" if dtype in ("bf16", "f16") else dtype


class Ends(NamedTuple):
    """What lies at an index of a line: how many elements up to its end, at most a vector, and the mask of their lanes."""

    left: Value
    mask: Value


def along(
    f: Function, ends: tuple[Value, Value], lanes: int, sums: Sequence[Element],
    inside: Callable[[Value, Ends, list[Element]], list[Element]],
) -> list[Element]:  # fmt: skip
    """A loop over a line, from end to end, that carries sums; `inside(index, ends, sums)` gives the new ones.

    It is run twice: over whole vectors, then over what is left. So the code is there once, and nothing depends on the index
    but addresses.
    """
    first, stop = ends
    whole = first + ((stop - first) & -lanes)
    zero, two = f.constant("i64", 0), f.constant("i64", 2)
    with Loop(f, zero, two, 1, elements.parts(sums)) as rounds:
        rest = rounds.index.compare("ne", 0)
        left = rest.select(stop - whole, lanes)
        mask = first_lanes(f, left, lanes)
        with Loop(f, rest.select(whole, first), rest.select(stop, whole), lanes, rounds.values) as loop:
            found = inside(loop.index, Ends(left, mask), elements.rejoined(loop.values, sums))
            loop.next = elements.parts(found)
        rounds.next = loop.results
    return elements.rejoined(rounds.results, sums)


class Combination:
    """A reduction by an elementwise op: what it starts from, how two values become one, the dtypes before and after.

    source: the dtype of the values; target: that of the result.
    """

    def __init__(self, f: Function, op: str, source: str, target: str):
        self.f, self.op, self.source, self.target = f, op, source, target
        self.dtype = accumulated(target)
        self.lanes = lanes_for([self.dtype])  # of the sum alone: the order must not depend on the body

    def __call__(self, x: Element, y: Element) -> Element:
        return elementwise.emit(self.op, [x, y], [self.dtype] * 2, self.dtype, {})

    def start(self, lanes: int) -> Element:
        return elements.constant(self.f, self.dtype, start_bits(self.op, self.dtype), lanes)

    @property
    def sums(self) -> list[Element]:
        """The sums of a line before its first vector."""
        return [self.start(self.lanes)] * WAYS

    def accumulating(self, x: Element) -> Element:
        """A value in the dtype in which values are combined."""
        return _converted(x, self.source, self.dtype)

    def resumed(self, x: Element) -> Element:
        """What was finished before, to be combined with more."""
        return _converted(x, self.target, self.dtype)

    def finished(self, x: Element) -> Element:
        """What was combined, in the dtype of the result."""
        return _converted(x, self.dtype, self.target)

    def added(self, sums: Sequence[Element], vector: Element, mask: Value | None = None) -> list[Element]:
        """The sums after one more vector, of which the lanes of the mask are in the line (None: all)."""
        if mask is not None:
            vector = elements.select(mask, vector, self.start(self.lanes))
        return [*sums[1:], self(sums[0], vector)]

    def total(self, sums: Sequence[Element]) -> Element:
        """All lanes of all sums combined: one half with the other, until one is left."""
        found = list(sums)
        while len(found) > 1:
            half = len(found) // 2
            found = [self(found[i], found[i + half]) for i in range(half)]
        vector, lanes = found[0], self.lanes
        while lanes > 1:
            lanes //= 2
            vector = self(_part(self.f, vector, range(lanes)), _part(self.f, vector, range(lanes, 2 * lanes)))
        return vector


def _part(f: Function, vector: Element, lanes: range) -> Element:
    def part(x: Value) -> Value:
        return f.extract(x, lanes[0]) if len(lanes) == 1 else f.shuffle(x, x, lanes)

    return elements.each(part, vector)


def _converted(x: Element, source: str, target: str) -> Element:
    return x if source == target else elementwise.emit("convert", [x], [source], target, {"new_dtype": target})

