"""A recipe of a loop of scalars in, LLVM IR out: what is carried stays in registers from round to round."""

from __future__ import annotations

from collections.abc import Sequence

from celadon.cpu import elements, elementwise
from celadon.cpu.bodies import Walk
from celadon.cpu.elements import Element
from celadon.cpu.ir import Function, Value
from celadon.cpu.loops import Table
from celadon.cpu.recipe import Body, Constant, Moved, Place


class Rounds:
    """The kernel's code. Facts: how many scalars stay, are carried, and come from arrays; then the body, or condition and body.

    Table: for a body alone the number of rounds; then for each operand, and each result, its address, and where it has a
    scalar a round the stride in bytes. The range is ignored: a loop is not split.
    """

    def __init__(self, f: Function, kernel: Moved):
        self.f = f
        still, carries, arrays, *bodies = kernel.facts
        dtypes, table = iter(kernel.dtypes), Table(f)
        trips = table.word() if len(bodies) == 1 else None
        held = [elements.load(f, table.address(), next(dtypes)) for _ in range(still)]
        self.first = [elements.load(f, table.address(), next(dtypes)) for _ in range(carries)]
        self.rows = [(Walk(table, "s"), next(dtypes)) for _ in range(arrays)]
        results = [(table.address(), next(dtypes)) for _ in range(carries)]
        self.stacks = [(Walk(table, "s"), dtype) for dtype in dtypes]
        tested = len(bodies[0].leaves) - carries if trips is None else 0
        self.body = _Staged(f, bodies[-1], held[tested:])
        self.condition = _Staged(f, bodies[0], held[:tested]) if trips is None else None
        for (pointer, dtype), element in zip(results, self._loop(trips), strict=True):
            elements.store(f, element, pointer, dtype)

    def _loop(self, trips: Value | None) -> list[Element]:
        """What is carried out of the loop."""
        f, before = self.f, self.f.block
        head, inside, done = (f.fresh(word) for word in ("head", "round", "done"))
        first = [f.constant("i64", 0), *elements.parts(self.first)]
        f.jump(head)
        f.label(head)
        at = len(f.lines)
        phis = [f.new("", v.kind) for v in first]
        index, state = phis[0], elements.rejoined(phis[1:], self.first)
        f.branch(self._goes_on(trips, index, state), inside, done)
        f.label(inside)
        then = [index + 1, *elements.parts(self._round(index, state))]
        f.jump(head)
        for k, (phi, start, after) in enumerate(zip(phis, first, then, strict=True)):
            arms = f"[ {start.text}, %{before} ], [ {after.text}, %{f.block} ]"
            f.lines[at + k] = f"  {phi.text} = phi {phi.type} {arms}"
        f.label(done)
        return state

    def _goes_on(self, trips: Value | None, index: Value, state: Sequence[Element]) -> Value:
        if trips is not None:
            return index.compare("slt", trips)
        assert self.condition is not None
        [flag] = self.condition.results(state)
        assert isinstance(flag, Value)
        return flag

    def _round(self, index: Value, state: Sequence[Element]) -> list[Element]:
        """What is carried on; the scalars that are stacked are stored."""
        f = self.f
        rows = [elements.load(f, self._at(walk, index), dtype) for walk, dtype in self.rows]
        found = self.body.results([*state, *rows])
        count = len(state)
        for (walk, dtype), element in zip(self.stacks, found[count:], strict=True):
            elements.store(f, element, self._at(walk, index), dtype)
        return found[:count]

    def _at(self, walk: Walk, index: Value) -> Value:
        return self.f.gep(walk.pointer, index * walk.strides[0], "i8")


class _Staged:
    """A body whose first leaves are known: what needs no others is computed where this is made, ahead of the loop."""

    def __init__(self, f: Function, body: Body, known: Sequence[Element]):
        self.f, self.body, self.known = f, body, dict(enumerate(known))
        for k in range(len(body.nodes)):
            if all(isinstance(x, Constant) or x in self.known for x in body.nodes[k].operands):
                self.known[len(body.leaves) + k] = self._node(k, self.known)

    def results(self, others: Sequence[Element]) -> list[Element]:
        """The results for the other leaves."""
        count = len(self.body.leaves)
        found = self.known | dict(enumerate(others, count - len(others)))
        for k in range(len(self.body.nodes)):
            if count + k not in found:
                found[count + k] = self._node(k, found)
        return [self._value(place, found) for place in self.body.results]

    def _node(self, k: int, found: dict[int, Element]) -> Element:
        node = self.body.nodes[k]
        operands, dtypes = [self._value(x, found) for x in node.operands], [self.body.dtype(x) for x in node.operands]
        return elementwise.emit(node.op, operands, dtypes, node.dtype, dict(node.params))

    def _value(self, place: Place, found: dict[int, Element]) -> Element:
        if isinstance(place, Constant):
            return elements.constant(self.f, place.dtype, place.bits)
        return found[place]
