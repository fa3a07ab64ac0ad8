"""A Rows recipe in, LLVM IR out: all passes over one row, then the next row; what a pass makes once a row stays in registers.

A reduction has the order that emit_reduce gives it, with the same pieces, which are combined one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from celadon.cpu import elements
from celadon.cpu.bodies import Emission, Given, from_table, index_element
from celadon.cpu.elements import Element
from celadon.cpu.emit_lines import Combination, Ends, accumulated, along
from celadon.cpu.ir import Function, Value
from celadon.cpu.kinds import lanes_for
from celadon.cpu.loops import Loop, Table, advanced, digits_of, kernel_function, smaller
from celadon.cpu.recipe import Pass, Rows
from celadon.cpu.stores import Store, at


def emit(kernel: Rows, name: str) -> Function:
    """The kernel's function; its range counts rows.

    Table: extents of the loops, the row's last; length and number of the pieces of a reduction; where there are lines, the
    size of a piece of the range, the room of a line and the address of the lines of all pieces; each operand in memory.
    """
    f = kernel_function(name)
    _Nest(f, kernel).emit()
    f.returns()
    return f


class _Row(NamedTuple):
    """Where the kernel is: kept loops' indices, addresses of operands in memory, and numbers of this row by operand."""

    digits: Sequence[Value]
    pointers: dict[int, Value]
    numbers: dict[int, Element]


class _Nest:
    def __init__(self, f: Function, kernel: Rows):
        self.f, self.kernel, self.operands = f, kernel, kernel.operands
        self.lanes = lanes_for([accumulated(kernel.dtype)])
        self.lines = [k for k, leaf in enumerate(kernel.operands) if leaf.source == "line"]
        dtypes = {kernel.operands[sink.target].dtype for one in kernel.passes for sink in one.sinks if self.is_along(sink.target)}
        self.stores = {dtype: Store(f, dtype, self.lanes) for dtype in sorted(dtypes)}
        table = Table(f)
        self.extents = [table.word() for _ in range(kernel.kept + 1)]
        self.length, self.pieces = table.word(), table.word()
        self.line_pointers = self._lines(table) if self.lines else {}
        self.given = from_table(f, kernel.operands, table)

    def _lines(self, table: Table) -> dict[int, Value]:
        """The lines of this piece of the range, one after the other."""
        f, unit, room = self.f, table.word(), table.word()
        piece = f.binary("udiv", f.parameters[1], unit)
        first = f.gep(table.address(), piece * room * len(self.lines), "i8")
        return {k: f.gep(first, room * i, "i8") for i, k in enumerate(self.lines)}

    def is_along(self, operand: int) -> bool:
        """Whether an operand has an element for each of the row."""
        return self.operands[operand].access[-1:] not in ("", "0")

    def emit(self) -> None:
        f = self.f
        _, low, high = f.parameters
        sizes = self.extents[:-1]
        with Loop(f, low, high, 1, digits_of(f, low, sizes)) as loop:
            digits = loop.values
            pointers = dict(self.line_pointers)
            for k, walk in self.given.arrays.items():
                pointers[k] = walk.pointer
                for i, digit in enumerate(digits):
                    pointers[k] = walk.stepped(f, pointers[k], i, digit)
            row = _Row(digits, pointers, dict(self.given.scalars))
            for one in self.kernel.passes:
                self._pass(one, row)
            loop.next = advanced(f, digits, sizes)

    def _pass(self, one: Pass, row: _Row) -> None:
        along = any(sink.op or self.is_along(sink.target) for sink in one.sinks)
        emission = Emission(self.f, one.body, self.lanes if along else 1, self._given(one, row))
        for place, sink in zip(one.body.results, one.sinks, strict=True):
            if not sink.op and not self.is_along(sink.target):
                self._keep(sink.target, emission.scalar(place), row)
        if along:
            self._along(one, emission, row)

    def _given(self, one: Pass, row: _Row) -> Given:
        found = Given({}, {}, {}, {})
        for leaf, k in enumerate(one.operands):
            if k in self.given.numbers:
                found.numbers[leaf] = self.given.numbers[k]
            elif not self.is_along(k):
                kind = found.scalars if k in self.given.scalars else found.around
                kind[leaf] = self._number(k, row)
            elif k in self.given.arrays:
                found.arrays[leaf] = self.given.arrays[k]
        return found

    def _number(self, operand: int, row: _Row) -> Element:
        """An operand that is one number in this row."""
        found = row.numbers.get(operand)
        if found is None:
            leaf = self.operands[operand]
            if leaf.source == "iota":
                loop = next(k for k, letter in enumerate(leaf.access) if letter != "0")
                found = index_element(self.f, row.digits[loop], leaf.dtype, 1)
            else:
                found = elements.load(self.f, row.pointers[operand], leaf.dtype)
            row.numbers[operand] = found
        return found

    def _keep(self, operand: int, element: Element, row: _Row) -> None:
        row.numbers[operand] = element
        if operand in self.given.arrays:
            elements.store(self.f, element, row.pointers[operand], self.operands[operand].dtype)

    def _along(self, one: Pass, emission: Emission, row: _Row) -> None:
        f, zero = self.f, self.f.constant("i64", 0)
        walk = _Walk(self, one, emission, row)
        if not walk.combinations:
            walk.piece(zero, self.extents[-1])
            return
        starts = [combination.start(1) for combination in walk.combinations]
        with Loop(f, zero, self.pieces, 1, elements.parts(starts)) as loop:
            first = loop.index * self.length
            totals = walk.piece(first, smaller(first + self.length, self.extents[-1]))
            before = elements.rejoined(loop.values, starts)
            pairs = zip(walk.combinations, before, totals, strict=True)
            loop.next = elements.parts([combination(x, y) for combination, x, y in pairs])
        found = elements.rejoined(loop.results, starts)
        targets = [sink.target for sink in one.sinks if sink.op]
        for target, combination, x in zip(targets, walk.combinations, found, strict=True):
            self._keep(target, combination.finished(x), row)


class _Walk:
    """One pass along a row."""

    def __init__(self, nest: _Nest, one: Pass, emission: Emission, row: _Row):
        self.nest, self.one, self.emission, self.row = nest, one, emission, row
        self.combinations = [
            Combination(nest.f, sink.op, dtype, nest.operands[sink.target].dtype)
            for sink, dtype in zip(one.sinks, one.body.result_dtypes, strict=True)
            if sink.op
        ]

    def piece(self, first: Value, stop: Value) -> list[Element]:
        """Walk from one index to another; the totals of the reductions."""
        starts = [combination.sums for combination in self.combinations]

        def inside(index: Value, ends: Ends, flat: list[Element]) -> list[Element]:
            carried, results = iter(flat), self._results(index, stop - 1)
            values = [x for x, sink in zip(results, self.one.sinks, strict=True) if sink.op]
            found: list[Element] = []
            for combination, value, sums in zip(self.combinations, values, starts, strict=True):
                found += combination.added([next(carried) for _ in sums], combination.accumulating(value), ends.mask)
            self._store(results, index, ends)
            return found

        flat = [x for sums in starts for x in sums]
        carried = iter(along(self.nest.f, (first, stop), self.nest.lanes, flat, inside))
        pairs = zip(self.combinations, starts, strict=True)
        return [combination.total([next(carried) for _ in sums]) for combination, sums in pairs]

    def _results(self, index: Value, last: Value) -> list[Element]:
        indices = [*self.row.digits, index]

        def read(leaf: int) -> Element:
            return self.emission.read(leaf, self.row.pointers.get(self.one.operands[leaf]), indices, last)

        return self.emission.results(read)

    def _store(self, results: Sequence[Element], index: Value, ends: Ends) -> None:
        nest = self.nest
        for element, sink in zip(results, self.one.sinks, strict=True):
            if not sink.op and nest.is_along(sink.target):
                dtype = nest.operands[sink.target].dtype
                nest.stores[dtype](element, at(nest.f, self.row.pointers[sink.target], index, dtype), ends.left, ends.mask)
