"""Recipes of moves at computed places in, LLVM IR out: where a dynamic slice begins, gathers, running sums."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from celadon.cpu import elements, elementwise
from celadon.cpu.bodies import Walk
from celadon.cpu.elements import Element
from celadon.cpu.emit_lines import accumulated, start_bits
from celadon.cpu.ir import Function, Value
from celadon.cpu.kinds import lanes_for
from celadon.cpu.loops import WORD, Loop, Table
from celadon.cpu.recipe import CUMULATIVE, Moved
from celadon.cpu.stores import Store, at


def clamped(f: Function, start: Value, dtype: str, limit: Value) -> tuple[Value, Value]:
    """A start index moved into [0, limit] as an i64, and whether it was inside."""
    if start.kind != "i64":
        start = start.convert("sext" if dtype[0] == "i" else "zext", "i64")
    inside = start.compare("ule", limit)
    low = f.constant("i64", 0)
    below = start.compare("slt", low) if dtype[0] == "i" else f.constant("i1", False)
    return inside.select(start, below.select(low, limit)), inside


def _address(f: Function, kernel: Moved) -> None:
    """Table: the word to write; the source's address; for each axis the start's address, its limit and its stride."""
    table = Table(f)
    target = f.gep(table.base, table.word(), "i8")
    pointer = table.address()
    for dtype in kernel.dtypes:
        start = elements.load(f, table.address(), dtype)
        assert isinstance(start, Value)
        index, _ = clamped(f, start, dtype, table.word())
        pointer = f.gep(pointer, index * table.word(), "i8")
    f.store(pointer, target, WORD)


class _Gather:
    """Loops over batches of indices, then over offsets in a slice.

    Table: extents of the loops; operand, indices and result, each an address and strides; the stride of an index
    vector; for each of its entries its limit and its stride in the operand; the address of the fill value.
    """

    def __init__(self, f: Function, kernel: Moved):
        letters, moved, read, write, mode, length = kernel.facts
        self.f, self.dtype, self.index_dtype, self.loops = f, kernel.dtypes[0], kernel.dtypes[1], letters
        vector = letters[-1:] == "o" and moved[-1] == write[-1] == "1"
        self.lanes = lanes_for([self.dtype]) if vector else 1
        self.store = Store(f, self.dtype, self.lanes)
        table = Table(f)
        self.extents = [table.word() for _ in letters]
        self.walks = [Walk(table, access) for access in (moved, read, write)]
        step = table.word() if length else None
        self.entries = [(table.word(), table.word()) for _ in range(length)]
        self.step = step
        self.fill = elements.load(f, table.address(), self.dtype) if mode == "fill" else None
        self._loop(0, [walk.pointer for walk in self.walks], None)

    def _loop(self, k: int, pointers: Sequence[Value], inside: Value | None) -> None:
        f = self.f
        if "b" not in self.loops[k:]:
            moved, found = self._placed(pointers[0], pointers[1])
            self._offsets(k, [moved, pointers[2]], found)
            return
        with Loop(f, *self._range(k)) as loop:
            inner = [w.stepped(f, p, k, loop.index) for w, p in zip(self.walks, pointers, strict=True)]
            for walk in (0, 2):
                inner[walk] = self._unit(walk, k, inner[walk], loop.index)
            self._loop(k + 1, inner, inside)

    def _range(self, k: int) -> tuple[Value, Value]:
        f = self.f
        return (f.parameters[1], f.parameters[2]) if k == 0 else (f.constant("i64", 0), self.extents[k])

    def _unit(self, walk: int, k: int, pointer: Value, index: Value) -> Value:
        """Walks by one element have no word in the table."""
        return at(self.f, pointer, index, self.dtype) if self.walks[walk].access[k] == "1" else pointer

    def _placed(self, pointer: Value, indices: Value) -> tuple[Value, Value | None]:
        """Where a slice begins, and whether its index vector was inside."""
        f, inside = self.f, None
        for k, (limit, stride) in enumerate(self.entries):
            assert self.step is not None
            place = f.gep(indices, self.step * k, "i8") if k else indices
            start = elements.load(f, place, self.index_dtype)
            assert isinstance(start, Value)
            index, found = clamped(f, start, self.index_dtype, limit)
            inside = found if inside is None else inside & found
            pointer = f.gep(pointer, index * stride, "i8")
        return pointer, inside

    def _offsets(self, k: int, pointers: Sequence[Value], inside: Value | None) -> None:
        f = self.f
        if k >= len(self.loops):
            elements.store(f, self._chosen(elements.load(f, pointers[0], self.dtype), inside), pointers[1], self.dtype)
            return
        last = k == len(self.loops) - 1
        with Loop(f, *self._range(k), self.lanes if last else 1) as loop:
            walks = [self.walks[0], self.walks[2]]
            inner = [w.stepped(f, p, k, loop.index) for w, p in zip(walks, pointers, strict=True)]
            inner = [self._unit(i, k, p, loop.index) for i, p in zip((0, 2), inner, strict=True)]
            if not last or self.lanes == 1:
                self._offsets(k + 1, inner, inside)
            else:
                element = self._chosen(elements.load(f, inner[0], self.dtype, self.lanes), inside)
                self.store(element, inner[1], self._range(k)[1] - loop.index)

    def _chosen(self, element: Element, inside: Value | None) -> Element:
        if self.fill is None or inside is None:
            return element
        lanes = elements.parts([element])[0].lanes
        return elements.select(inside, element, elements.splat(self.f, self.fill, lanes))


class _Cumulative:
    """Running combinations along one axis, side by side where the innermost other axis allows.

    Table: extents of the other loops, the axis' extent; operand and result, each an address and strides; the strides
    of both along the axis. Range: the first of the other loops.
    """

    def __init__(self, f: Function, kernel: Moved):
        op, read, write = kernel.facts
        self.f, self.op, self.dtype = f, CUMULATIVE[op], kernel.dtypes[0]
        self.kind = accumulated(self.dtype)
        self.lanes = lanes_for([self.dtype]) if read[-1:] == write[-1:] == "1" else 1
        self.store = Store(f, self.dtype, self.lanes)
        table = Table(f)
        self.extents = [table.word() for _ in read]
        self.length = table.word()
        self.walks = [Walk(table, read), Walk(table, write)]
        self.steps = [table.word(), table.word()]
        self._loop(0, [walk.pointer for walk in self.walks], None)

    def _loop(self, k: int, pointers: Sequence[Value], left: Value | None) -> None:
        f = self.f
        if k == len(self.extents):
            self._along(pointers, left)
            return
        first, stop = (f.parameters[1], f.parameters[2]) if k == 0 else (f.constant("i64", 0), self.extents[k])
        last = k == len(self.extents) - 1
        with Loop(f, first, stop, self.lanes if last else 1) as loop:
            inner = [w.stepped(f, p, k, loop.index) for w, p in zip(self.walks, pointers, strict=True)]
            inner = [
                at(f, p, loop.index, self.dtype) if w.access[k] == "1" else p
                for w, p in zip(self.walks, inner, strict=True)
            ]
            self._loop(k + 1, inner, stop - loop.index)

    def _along(self, pointers: Sequence[Value], left: Value | None) -> None:
        f, lanes = self.f, self.lanes
        start = elements.constant(f, self.kind, start_bits(self.op, self.kind), lanes)
        with Loop(f, f.constant("i64", 0), self.length, 1, elements.parts([start])) as loop:
            source, target = (f.gep(p, loop.index * s, "i8") for p, s in zip(pointers, self.steps, strict=True))
            value = self._cast(elements.load(f, source, self.dtype, lanes), self.dtype, self.kind)
            before = elements.rejoined(loop.values, [start])[0]
            total = self._combined(before, value)
            loop.next = elements.parts([total])
            result = self._cast(total, self.kind, self.dtype)
            if lanes == 1 or left is None:
                elements.store(f, result, target, self.dtype)
            else:
                self.store(result, target, left)

    def _combined(self, x: Element, y: Element) -> Element:
        return self._log_of_sum(x, y) if self.op == "log_of_sum" else self._emitted(self.op, x, y)

    def _log_of_sum(self, x: Element, y: Element) -> Element:
        """log(exp(x) + exp(y)), stable; a NaN difference (of infinities or NaN) gives the sum."""
        larger, difference, total = (self._emitted(op, x, y) for op in ("maximum", "subtract", "add"))
        undefined = elementwise.emit("compare", [difference] * 2, [self.kind] * 2, "bool", {"direction": "NE"})
        for op in ("abs", "negate", "exponential", "log_plus_one"):
            difference = self._emitted(op, difference)
        stable = self._emitted("add", larger, difference)
        assert isinstance(undefined, Value)
        return elements.select(undefined, total, stable)

    def _emitted(self, op: str, *operands: Element) -> Element:
        return elementwise.emit(op, operands, [self.kind] * len(operands), self.kind, {})

    def _cast(self, x: Element, source: str, target: str) -> Element:
        if source == target:
            return x
        return elementwise.emit("convert", [x], [source], target, {"new_dtype": target})


KINDS: dict[str, Callable[[Function, Moved], object]] = {
    "address": _address,
    "gather": _Gather,
    "cumulative": _Cumulative,
}
