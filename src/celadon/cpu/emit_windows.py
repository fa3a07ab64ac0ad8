"""Recipes of windows in, LLVM IR out: elements of each window taken one after the other, for several windows at once.

Of a line of windows those in the middle lie in the array: their elements have the same distances. At the ends each window
has places of its own that count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from celadon.cpu import elements
from celadon.cpu.bodies import applied
from celadon.cpu.elements import Element
from celadon.cpu.ir import Function, Value
from celadon.cpu.kinds import lanes_for
from celadon.cpu.loops import Loop, Table, When, smaller
from celadon.cpu.recipe import Body, Moved
from celadon.cpu.stores import Store


class _Axis:
    """One axis in the table: windows along it, the step from one to the next, a window's elements and what lies between two
    of them, padding before the array, one more than the array's last place; what lies between two of its elements; the
    first window that lies in the array, and the first that does not any more."""

    def __init__(self, table: Table):
        self.windows, self.step, self.size, self.apart, self.before, self.limit, self.spread = (table.word() for _ in range(7))
        self.first, self.last = table.word(), table.word()


class _Part(NamedTuple):
    """Which elements of a window along an axis lie in the array, as it begins at a place of it: counted in the array where
    that has gaps and the window has none, else in the window."""

    begin: Value
    first: Value
    last: Value


class _Inside(NamedTuple):
    """An element within a window: its distance from where the window begins in each array, and how many windows side by
    side are meant."""

    offsets: list[Value]
    lanes: int


class _Windows:
    """Range: windows of one axis.

    Table: the axis of the range; axes (see _Axis); arrays that windows lie on, each an address and strides; arrays with an
    element for each window, each an address and strides; the address of a scalar for each of the former; how many elements
    a window has if one list serves all windows inside, else 0; that list: distances in bytes, one for each array.
    """

    def __init__(self, f: Function, kernel: Moved, around: int, beside: int, scalars: Sequence[str]):
        self.f, self.around = f, kernel.dtypes[:around]
        spread, apart, self.near, self.lines, wide = kernel.facts[:5]
        self.rank, self.spread, self.apart = len(spread), spread, apart
        self.zero = f.constant("i64", 0)
        table = Table(f)
        self.split = table.word()
        self.axes = [_Axis(table) for _ in spread]
        self.arrays = [(table.address(), [table.word() for _ in spread]) for _ in range(around)]
        self.results = [(table.address(), [table.word() for _ in spread]) for _ in range(beside)]
        self.scalars = [elements.load(f, table.address(), dtype) for dtype in scalars]
        self.count = table.word()
        self.list = f.gep(table.base, table.at, "i64")
        self.lanes = lanes_for(kernel.dtypes) if wide else 1
        self.stores = [Store(f, dtype, self.lanes) for dtype in kernel.dtypes[around:]]
        inside = self.count.compare("sgt", 0)
        self._loop(0, [p for p, _ in self.arrays], [p for p, _ in self.results], [], inside)

    def start(self, lanes: int) -> list[Element]:
        """What is known of a window before any of its elements."""
        raise NotImplementedError

    def step(self, known: Sequence[Element], places: Sequence[Value], offsets: Sequence[Value], lanes: int) -> list[Element]:
        """What is known after one more element, which is `offsets` from where the window begins in each array."""
        raise NotImplementedError

    def end(self, known: Sequence[Element], places: Sequence[Value], results: Sequence[Value], left: Value) -> None:
        """Use what is known of windows; of the lanes only the first `left` count."""
        raise NotImplementedError

    # --- loops over windows

    def _loop(self, k: int, places: Sequence[Value], results: Sequence[Value], parts: list[_Part], inside: Value) -> None:
        f, axis = self.f, self.axes[k]
        own = self.split.compare("eq", k)
        start, stop = own.select(f.parameters[1], self.zero), own.select(f.parameters[2], axis.windows)
        if k == self.rank - 1:
            self._line((start, stop), (places, results), parts, inside)
            return
        with Loop(f, start, stop) as loop:
            fits = loop.index.compare("sge", axis.first) & loop.index.compare("slt", axis.last)
            there, beside = self._moved(k, places, results, loop.index)
            self._loop(k + 1, there, beside, [*parts, self._part(k, loop.index)], inside & fits)

    def _moved(self, k: int, places: Sequence[Value], results: Sequence[Value], index: Value) -> tuple[list[Value], list[Value]]:
        """Where a window begins in the arrays along an axis, and where its own elements are."""
        f, axis = self.f, self.axes[k]
        there = list(places)
        if not self.spread[k]:
            begin = index * axis.step - axis.before
            there = [f.gep(p, begin * steps[k], "i8") for p, (_, steps) in zip(places, self.arrays, strict=True)]
        return there, [f.gep(p, index * steps[k], "i8") for p, (_, steps) in zip(results, self.results, strict=True)]

    def _part(self, k: int, index: Value) -> _Part:
        axis = self.axes[k]
        begin = index * axis.step - axis.before
        if self._counts_in_array(k):
            first, last, limit = (self._steps(x, axis.spread) for x in (begin, begin + axis.size, axis.limit))
            return _Part(begin, begin.compare("slt", 0).select(self.zero, first), smaller(last, limit))
        before, rest = self.zero - begin, axis.limit - begin
        if self.apart[k]:
            before, rest = (self._steps(x, axis.apart) for x in (before, rest))
        return _Part(begin, begin.compare("slt", 0).select(before, self.zero), smaller(axis.size, rest))

    def _counts_in_array(self, k: int) -> bool:
        return self.spread[k] and not self.apart[k]

    def _steps(self, length: Value, step: Value) -> Value:
        """How many steps begin within a length."""
        return self.f.binary("sdiv", length + step - 1, step)

    def _line(
        self, span: tuple[Value, Value], pointers: tuple[Sequence[Value], Sequence[Value]], parts: list[_Part], inside: Value
    ) -> None:
        """The windows at the beginning one by one, those in the middle by vectors, then those at the end."""
        f, k = self.f, self.rank - 1
        axis, (start, stop), (places, results) = self.axes[k], span, pointers
        first = start.compare("slt", axis.first).select(smaller(axis.first, stop), start)
        last = smaller(axis.last, stop)
        last = last.compare("slt", first).select(first, last)
        with Loop(f, self.zero, f.constant("i64", 2)) as end:
            begins = end.index.compare("eq", 0)
            with Loop(f, begins.select(start, last), begins.select(first, stop)) as loop:
                there, beside = self._moved(k, places, results, loop.index)
                own = [*parts, self._part(k, loop.index)]
                known = self._ranges(0, own, self.start(1), there, _Inside(self._nowhere, 1))
                self.end(known, there, beside, f.constant("i64", 1))
            for listed in (False,) if any(self.spread) else (True, False):
                with When(f, begins & (inside if listed else ~inside)):
                    self._middle(first, last, places, results, None if listed else parts)

    def _middle(
        self, first: Value, last: Value, places: Sequence[Value], results: Sequence[Value], parts: list[_Part] | None
    ) -> None:
        """Windows of a line that lie in the array along it; without `parts` along all other axes, too."""
        f, k = self.f, self.rank - 1
        with Loop(f, first, last, self.lanes) as loop:
            self.left = last - loop.index
            there, beside = self._moved(k, places, results, loop.index)
            known = self.start(self.lanes)
            if parts is None:
                known = self._listed(known, there)
            else:
                whole = _Part(self.zero, self.zero, self.axes[k].size)
                known = self._ranges(0, [*parts, whole], known, there, _Inside(self._nowhere, self.lanes))
            self.end(known, there, beside, self.left)

    # --- loops over a window

    @property
    def _nowhere(self) -> list[Value]:
        return [self.zero] * len(self.arrays)

    def _listed(self, known: list[Element], places: Sequence[Value]) -> list[Element]:
        f, count = self.f, len(self.arrays)
        with Loop(f, self.zero, self.count, 1, elements.parts(known)) as loop:
            at = loop.index * count
            offsets = [f.load(f.gep(self.list, at + j if j else at, "i64"), "i64") for j in range(count)]
            after = self.step(elements.rejoined(loop.values, known), places, offsets, self.lanes)
            loop.next = elements.parts(after)
        return elements.rejoined(loop.results, known)

    def _ranges(
        self, k: int, parts: list[_Part], known: list[Element], places: Sequence[Value], at: _Inside
    ) -> list[Element]:
        """Axis after axis; of an axis with gaps between its elements, those of the window that fall in one do not count."""
        f, part, axis = self.f, parts[0], self.axes[k]
        gaps = self.spread[k] and not self._counts_in_array(k)
        with Loop(f, part.first, part.last, 1, elements.parts(known)) as loop:
            before = elements.rejoined(loop.values, known)
            distance = loop.index * axis.apart if self.apart[k] else loop.index
            place = f.binary("sdiv", part.begin + distance, axis.spread) if gaps else distance
            inner = [o + place * steps[k] for o, (_, steps) in zip(at.offsets, self.arrays, strict=True)]
            if k == self.rank - 1:
                after = self.step(before, places, inner, at.lanes)
            else:
                after = self._ranges(k + 1, parts[1:], before, places, _Inside(inner, at.lanes))
            if gaps:
                counts = f.binary("srem", part.begin + distance, axis.spread).compare("eq", 0)
                after = [elements.select(counts, x, y) for x, y in zip(after, before, strict=True)]
            loop.next = elements.parts(after)
        return elements.rejoined(loop.results, known)

    def loaded(self, j: int, place: Value, offset: Value, lanes: int) -> Element:
        """An element of an array for each of some windows side by side."""
        f, dtype = self.f, self.around[j]
        pointer = f.gep(place, offset, "i8")
        if lanes == 1 or self.near[j] == "1":
            return elements.load(f, pointer, dtype, lanes)
        if self.near[j] == "0":
            return elements.splat(f, elements.load(f, pointer, dtype), lanes)
        apart = self.axes[-1].step * self.arrays[j][1][-1]
        return elements.strided(f, pointer, apart, [smaller(f.constant("i64", i), self.left - 1) for i in range(lanes)], dtype)


class _Reduced(_Windows):
    """Windows combined by a body, which is given what was found so far and the elements of all arrays."""

    def __init__(self, f: Function, kernel: Moved):
        count = len(kernel.dtypes) // 2
        self.body: Body = kernel.facts[5]
        super().__init__(f, kernel, count, count, kernel.dtypes[:count])

    def start(self, lanes: int) -> list[Element]:
        return [elements.splat(self.f, x, lanes) for x in self.scalars]

    def step(self, known: Sequence[Element], places: Sequence[Value], offsets: Sequence[Value], lanes: int) -> list[Element]:
        pairs = enumerate(zip(places, offsets, strict=True))
        return applied(self.f, self.body, [*known, *(self.loaded(j, p, o, lanes) for j, (p, o) in pairs)], lanes)

    def end(self, known: Sequence[Element], places: Sequence[Value], results: Sequence[Value], left: Value) -> None:
        f = self.f
        for j, (x, target, store) in enumerate(zip(known, results, self.stores, strict=True)):
            if elements.parts([x])[0].lanes == 1:
                elements.store(f, x, target, store.dtype)
            elif self.lines:
                store(x, target, left)
            else:
                store.apart(x, target, self.results[j][1][-1], left)


class _Selected(_Windows):
    """Of each window the element that is selected, at whose place in a second array the window's own element is added or
    otherwise combined."""

    def __init__(self, f: Function, kernel: Moved):
        self.select, self.body = kernel.facts[5:]
        super().__init__(f, kernel, 2, 1, ())

    def start(self, lanes: int) -> list[Element]:
        """The element, how far its place in the second array is from the window's beginning, and whether there is one."""
        f, dtype = self.f, self.around[0]
        nothing = elements.constant(f, dtype, bytes(elements.itemsize(dtype)), lanes)
        return [nothing, f.constant("i64", 0, lanes), f.constant("i1", False)]

    def step(self, known: Sequence[Element], places: Sequence[Value], offsets: Sequence[Value], lanes: int) -> list[Element]:
        f = self.f
        (best, place, there), found = known, self.loaded(0, places[0], offsets[0], lanes)
        assert isinstance(there, Value)
        [kept] = applied(f, self.select, [best, found], lanes)
        assert isinstance(kept, Value)
        always = there if lanes == 1 else f.splat(there, lanes)
        kept = kept & always
        here = elements.splat(f, offsets[1], lanes)
        return [elements.select(kept, best, found), elements.select(kept, place, here), f.constant("i1", True)]

    def end(self, known: Sequence[Element], places: Sequence[Value], results: Sequence[Value], left: Value) -> None:
        f, dtype, (_, place, there) = self.f, self.around[1], known
        assert isinstance(place, Value) and isinstance(there, Value)
        with When(f, there):
            for lane in range(place.lanes):
                target, source = places[1], results[0]
                if lane:
                    target = f.gep(target, self.axes[-1].step * self.arrays[1][1][-1] * lane, "i8")
                    source = f.gep(source, self.results[0][1][-1] * lane, "i8")
                with When(f, left.compare("sgt", lane)):
                    target = f.gep(target, f.extract(place, lane) if place.lanes > 1 else place, "i8")
                    pair = [elements.load(f, target, dtype), elements.load(f, source, dtype)]
                    elements.store(f, applied(f, self.body, pair)[0], target, dtype)


KINDS: dict[str, Callable[[Function, Moved], object]] = {"windows": _Reduced, "selected": _Selected}
