"""Recipes of scatters in, LLVM IR out: windows of updates combined with an array at computed places, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from celadon.cpu import elements
from celadon.cpu.bodies import Walk, applied
from celadon.cpu.emit_moves import clamped
from celadon.cpu.ir import Function, Value
from celadon.cpu.kinds import lanes_for
from celadon.cpu.loops import Loop, Table, When
from celadon.cpu.recipe import Body, Moved
from celadon.cpu.stores import Store, at


class _Scatter:
    """Loops over what is apart from each other ("p"), over index vectors in order ("b"), then over places in a window ("w").

    Table: extents of the loops; updates, indices and the array, each an address and strides; the stride of an index
    vector; for each of its entries its limit and its stride in the array. Range: the first "p" loop, else the first "w"
    loop; without either, one piece is all.
    """

    def __init__(self, f: Function, kernel: Moved):
        letters, given, read, write, drops, length, body = kernel.facts
        self.f, self.letters, self.drops = f, letters, drops
        self.dtype, self.index_dtype = kernel.dtypes
        self.body: Body = body
        self.split = letters.index("p") if "p" in letters else letters.index("w") if "w" in letters else -1
        vector = letters[-1:] == "w" and given[-1] == write[-1] == "1"
        self.lanes = lanes_for([self.dtype]) if vector else 1
        self.store = Store(f, self.dtype, self.lanes)
        table = Table(f)
        self.extents = [table.word() for _ in letters]
        self.walks = [Walk(table, access) for access in (given, read, write)]
        self.step = table.word() if length else None
        self.entries = [(table.word(), table.word()) for _ in range(length)]
        self._loop(0, [walk.pointer for walk in self.walks])

    def _range(self, k: int) -> tuple[Value, Value]:
        f = self.f
        return (f.parameters[1], f.parameters[2]) if k == self.split else (f.constant("i64", 0), self.extents[k])

    def _moved(self, pointers: Sequence[Value], k: int, index: Value) -> list[Value]:
        """Updates, indices and the array at an index of a loop."""
        found = [walk.stepped(self.f, p, k, index) for walk, p in zip(self.walks, pointers, strict=True)]
        for i in (0, 2):
            if self.walks[i].access[k] == "1":
                found[i] = at(self.f, found[i], index, self.dtype)
        return found

    def _loop(self, k: int, pointers: Sequence[Value]) -> None:
        if k == len(self.letters) or self.letters[k] == "w":
            self._placed(k, pointers)
            return
        with Loop(self.f, *self._range(k)) as loop:
            self._loop(k + 1, self._moved(pointers, k, loop.index))

    def _placed(self, k: int, pointers: Sequence[Value]) -> None:
        """One index vector: its window, unless it is outside and is dropped."""
        f, target, inside = self.f, pointers[2], None
        for i, (limit, stride) in enumerate(self.entries):
            assert self.step is not None
            place = f.gep(pointers[1], self.step * i, "i8") if i else pointers[1]
            start = elements.load(f, place, self.index_dtype)
            assert isinstance(start, Value)
            index, found = clamped(f, start, self.index_dtype, limit)
            inside = found if inside is None else inside & found
            target = f.gep(target, index * stride, "i8")
        moved = [pointers[0], pointers[1], target]
        if inside is None or not self.drops:
            self._window(k, moved)
            return
        with When(f, inside):
            self._window(k, moved)

    def _window(self, k: int, pointers: Sequence[Value]) -> None:
        f = self.f
        if k == len(self.letters):
            elements.store(f, self._combined(pointers[0], pointers[2], 1), pointers[2], self.dtype)
            return
        last = k == len(self.letters) - 1
        with Loop(f, *self._range(k), self.lanes if last else 1) as loop:
            inner = self._moved(pointers, k, loop.index)
            if last and self.lanes > 1:
                self.store(self._combined(inner[0], inner[2], self.lanes), inner[2], self._range(k)[1] - loop.index)
            else:
                self._window(k + 1, inner)

    def _combined(self, update: Value, target: Value, lanes: int) -> elements.Element:
        new = elements.load(self.f, update, self.dtype, lanes)
        old = elements.load(self.f, target, self.dtype, lanes) if self._reads else new
        return applied(self.f, self.body, [old, new], lanes)[0]

    @property
    def _reads(self) -> bool:
        """Whether a body looks at what was there."""
        used = {place for node in self.body.nodes for place in node.operands} | set(self.body.results)
        return 0 in used


KINDS: dict[str, Callable[[Function, Moved], object]] = {"scatter": _Scatter}
