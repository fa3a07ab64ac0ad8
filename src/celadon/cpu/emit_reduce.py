"""A Reduce recipe in, LLVM IR out: rows summed in fixed lanes and a fixed tree, columns summed side by side.

The order in which values are combined depends on the recipe and on extents alone. A range index counts the kept
loops, then pieces of the first reduced loop, then blocks of columns; where a plan makes pieces, a second kernel
combines them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from celadon.cpu import elements
from celadon.cpu.bodies import Emission, from_table
from celadon.cpu.elements import Element
from celadon.cpu.emit_lines import WAYS, Combination, Ends, along
from celadon.cpu.ir import Function, Value
from celadon.cpu.loops import Loop, Table, advanced, digits_of, kernel_function, smaller
from celadon.cpu.recipe import Reduce
from celadon.cpu.stores import Store, at

_LIGHT, _MIDDLING = 2, 6


def emit(kernel: Reduce, name: str) -> Function:
    """The kernel's function.

    Table: extents of the loops; length of a piece, number of pieces; for columns the width of a block, the number of
    blocks and how many steps of the first reduced loop are summed at a time; each leaf; the result's address.
    """
    f = kernel_function(name)
    (_Rows if kernel.reduced[-1] == "r" else _Columns)(f, kernel).emit()
    f.returns()
    return f


class _Nest:
    """What rows and columns share: the table, the walk over kept loops, the loops over reduced ones."""

    columns = False
    width: Value
    blocks: Value
    together: Value

    def __init__(self, f: Function, kernel: Reduce):
        self.f, self.kernel = f, kernel
        self.combine = Combination(f, kernel.op, kernel.body.result_dtypes[0], kernel.dtype)
        self.lanes = self.combine.lanes
        self.store = Store(f, kernel.dtype, self.lanes)
        table = Table(f)
        self.extents = [table.word() for _ in kernel.reduced]
        self.length, self.pieces = table.word(), table.word()
        if self.columns:
            self.width, self.blocks, self.together = table.word(), table.word(), table.word()
        self.emission = Emission(f, kernel.body, self.lanes, from_table(f, kernel.body.leaves, table))
        self.target = table.address()
        inner = len(kernel.reduced) - 1
        self.kept = [
            k for k, letter in enumerate(kernel.reduced) if letter == "k" and not (self.columns and k == inner)
        ]
        self.reduced = [k for k, letter in enumerate(kernel.reduced) if letter == "r"]

    def emit(self) -> None:
        """Walk the range with an odometer: one division a digit at the start, then additions."""
        f = self.f
        _, low, high = f.parameters
        sizes = [self.extents[k] for k in self.kept] + [self.pieces] + ([self.blocks] if self.columns else [])
        with Loop(f, low, high, 1, digits_of(f, low, sizes)) as loop:
            digits = loop.values
            pointers = self._pointers(digits[: len(self.kept)])
            piece = digits[len(self.kept)]
            first = piece * self.length
            stop = smaller(first + self.length, self.extents[self.reduced[0]])
            self.one(loop.index, digits, pointers, first, stop)
            loop.next = advanced(f, digits, sizes)

    def _pointers(self, indices: Sequence[Value]) -> list[Value]:
        found = self.emission.pointers
        for k, index in zip(self.kept, indices, strict=True):
            found = self.emission.stepped(found, k, index)
        return found

    def one(self, index: Value, digits: Sequence[Value], pointers: list[Value], first: Value, stop: Value) -> None:
        raise NotImplementedError

    def indices(self, digits: Sequence[Value], reduced: Sequence[Value], column: Value | None = None) -> list[Value]:
        """The index of each loop, in their order."""
        found = dict(zip(self.kept, digits, strict=False)) | dict(zip(self.reduced, reduced, strict=False))
        if column is not None:
            found[len(self.kernel.reduced) - 1] = column
        return [found[k] for k in sorted(found)]

    def value(self, pointers: Sequence[Value], indices: Sequence[Value], last: Value) -> Element:
        by_leaf = dict(zip(self.emission.arrays, pointers, strict=True))
        results = self.emission.results(lambda leaf: self.emission.read(leaf, by_leaf.get(leaf), indices, last))
        return self.combine.accumulating(results[0])

    def loops(
        self, ranges: Sequence[tuple[int, Value, Value]], pointers: list[Value], sums: list[Element],
        inside: Callable[[list[Value], list[Value], list[Element]], list[Element]], indices: tuple[Value, ...] = (),
    ) -> list[Element]:  # fmt: skip
        """A nest over reduced loops that carries sums; `inside(pointers, indices, sums)` gives the new ones."""
        if not ranges:
            return inside(pointers, list(indices), sums)
        (k, first, stop), *rest = ranges
        with Loop(self.f, first, stop, 1, elements.parts(sums)) as loop:
            inner = elements.rejoined(loop.values, sums)
            found = self.loops(
                rest, self.emission.stepped(pointers, k, loop.index), inner, inside, (*indices, loop.index)
            )
            loop.next = elements.parts(found)
        return elements.rejoined(loop.results, sums)


class _Rows(_Nest):
    """The innermost loop is reduced: several vectors of partial sums, combined by a tree at the end."""

    def one(self, index: Value, digits: Sequence[Value], pointers: list[Value], first: Value, stop: Value) -> None:
        f, zero = self.f, self.f.constant("i64", 0)
        ranges = [(k, zero, self.extents[k]) for k in self.reduced]
        ranges[0] = (self.reduced[0], first, stop)
        _, inner_first, inner_stop = ranges[-1]

        def inside(pointers: list[Value], outer: list[Value], sums: list[Element]) -> list[Element]:
            def value(at: Value) -> Element:
                return self.value(pointers, self.indices(digits, [*outer, at]), inner_stop - 1)

            return self._along(inner_first, inner_stop, sums, value)

        total = self.combine.finished(self.combine.total(self.loops(ranges[:-1], pointers, self.combine.sums, inside)))
        elements.store(f, total, at(f, self.target, index, self.kernel.dtype), self.kernel.dtype)

    def _along(
        self, first: Value, stop: Value, sums: list[Element], value: Callable[[Value], Element]
    ) -> list[Element]:
        """A light body is emitted several times in a row for whole vectors, and once more for the rest."""
        f, lanes = self.f, self.lanes
        if len(self.kernel.body.nodes) <= _LIGHT:
            whole = first + ((stop - first) & -(lanes * WAYS))
            with Loop(f, first, whole, lanes * WAYS, elements.parts(sums)) as loop:
                inner = elements.rejoined(loop.values, sums)
                for u in range(WAYS):
                    inner = self.combine.added(inner, value(loop.index + u * lanes if u else loop.index))
                loop.next = elements.parts(inner)
            first, sums = whole, elements.rejoined(loop.results, sums)

        def added(index: Value, ends: Ends, sums: list[Element]) -> list[Element]:
            return self.combine.added(sums, value(index), ends.mask)

        return along(f, (first, stop), lanes, sums, added)


class _Columns(_Nest):
    """The innermost loop is kept: a few rows at a time are added to a row of results that stays in cache."""

    columns = True

    @property
    def beside(self) -> int:
        """How many vectors of columns are summed at a time."""
        return 2 if len(self.kernel.body.nodes) <= _MIDDLING else 1

    def one(self, index: Value, digits: Sequence[Value], pointers: list[Value], first: Value, stop: Value) -> None:
        f = self.f
        low = digits[-1] * self.width
        high = smaller(low + self.width, self.extents[-1])
        sweep = _Sweep(digits, pointers, high, self._row(digits))
        once = (stop - first).compare("sgt", 0).select(stop, first + 1)
        with Loop(f, first, once, self.together) as rows:
            some = (rows.index, smaller(rows.index + self.together, stop))
            with Loop(f, low, high, self.lanes * self.beside) as loop:
                self._add(sweep, some, loop.index, rows.index.equals(first))

    def _row(self, digits: Sequence[Value]) -> Value:
        """The first result of this piece."""
        number = self.f.constant("i64", 0)
        for k, digit in zip(self.kept, digits, strict=False):
            number = number * self.extents[k] + digit
        number = (number * self.pieces + digits[len(self.kept)]) * self.extents[-1]
        return at(self.f, self.target, number, self.kernel.dtype)

    def _add(self, sweep: _Sweep, rows: tuple[Value, Value], column: Value, is_first: Value) -> None:
        """Add some rows to the vectors of results from `column` on."""
        f, dtype, lanes = self.f, self.kernel.dtype, self.lanes
        columns = [column + u * lanes if u else column for u in range(self.beside)]
        targets = [at(f, sweep.row, c, dtype) for c in columns]
        before = [self.combine.resumed(elements.load(f, t, dtype, lanes)) for t in targets]
        sums = [elements.select(is_first, self.combine.start(lanes), x) for x in before]
        zero = f.constant("i64", 0)
        ranges = [(self.reduced[0], *rows), *((k, zero, self.extents[k]) for k in self.reduced[1:])]

        def inside(pointers: list[Value], outer: list[Value], sums: list[Element]) -> list[Element]:
            values = [self.value(pointers, self.indices(sweep.digits, outer, c), sweep.high - 1) for c in columns]
            return [self.combine(s, v) for s, v in zip(sums, values, strict=True)]

        for total, target, c in zip(self.loops(ranges, sweep.pointers, sums, inside), targets, columns, strict=True):
            self.store(self.combine.finished(total), target, sweep.high - c)


class _Sweep(NamedTuple):
    """One block of columns of one piece: the range index in digits, the arrays there, its end, its row of results."""

    digits: Sequence[Value]
    pointers: list[Value]
    high: Value
    row: Value
