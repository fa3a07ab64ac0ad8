"""A Map recipe in, LLVM IR out: one flat loop where memory is walked in order, else a nest with run-time strides."""

from __future__ import annotations

from collections.abc import Sequence

from celadon.cpu import elements
from celadon.cpu.bodies import Emission, Walk, from_table, lane_indices, lanes_of
from celadon.cpu.elements import Element
from celadon.cpu.ir import Function, Value
from celadon.cpu.loops import Loop, Table, kernel_function, smaller
from celadon.cpu.recipe import Map
from celadon.cpu.stores import Store, at, room

_UNROLL = 2
_UNROLLED_AT_MOST = 16  # nodes of a body


def emit(kernel: Map, name: str) -> Function:
    """The kernel's function. Table: extents of the loops, then for each leaf, then each result, address and strides.

    Range: elements, from a multiple of 64 on, if there is one loop; else the outermost loop.
    """
    f = kernel_function(name)
    _Nest(f, kernel).emit()
    f.returns()
    return f


class _Nest:
    def __init__(self, f: Function, kernel: Map):
        self.f, self.kernel, self.body = f, kernel, kernel.body
        self.dtypes = kernel.body.result_dtypes
        self.lanes = lanes_of(kernel.body, self.dtypes) if kernel.loops else 1
        self.stores = [Store(f, dtype, self.lanes) for dtype in self.dtypes]
        leaves = enumerate(kernel.body.leaves)
        self.tiles = {k: room(f, leaf.dtype, self.lanes**2) for k, leaf in leaves if "t" in leaf.access}
        table = Table(f)
        self.extents = [table.word() for _ in range(kernel.loops)]
        self.emission = Emission(f, kernel.body, self.lanes, from_table(f, kernel.body.leaves, table))
        self.writes = [Walk(table, access) for access in kernel.writes]
        self.indices: list[Value] = []
        self.row: Value | None = None  # within a block

    def emit(self) -> None:
        reads, writes = self.emission.pointers, [walk.pointer for walk in self.writes]
        if not self.kernel.loops:
            for pointer, element, dtype in zip(writes, self.emission.scalar_results(), self.dtypes, strict=True):
                elements.store(self.f, element, pointer, dtype)
        elif self.kernel.whole:
            self._flat(reads, writes)
        else:
            self._loop(0, reads, writes)

    def _flat(self, reads: Sequence[Value], writes: Sequence[Value]) -> None:
        """One loop over whole arrays; it may run over their ends."""
        f, lanes = self.f, self.lanes
        _, low, high = f.parameters
        times = _UNROLL if len(self.body.nodes) <= _UNROLLED_AT_MOST else 1
        with Loop(f, low, high, lanes * times) as loop:
            for u in range(times):
                index = loop.index + u * lanes if u else loop.index
                results = self._results(reads, index, index)
                for pointer, element, dtype in zip(writes, results, self.dtypes, strict=True):
                    elements.store(f, element, at(f, pointer, index, dtype), dtype)

    def _loop(self, k: int, reads: Sequence[Value], writes: Sequence[Value]) -> None:
        f = self.f
        start, stop = (f.parameters[1], f.parameters[2]) if k == 0 else (f.constant("i64", 0), self.extents[k])
        if k == self.kernel.loops - 1:
            self._inner((start, stop), reads, writes)
        elif self.kernel.tiled and k == self.kernel.loops - 2:
            self._blocks((start, stop), reads, writes)
        else:
            with Loop(f, start, stop) as loop:
                self.indices.append(loop.index)
                self._loop(k + 1, *self._stepped(k, loop.index, reads, writes))
                self.indices.pop()

    def _stepped(self, k: int, index: Value, reads: Sequence[Value], writes: Sequence[Value]) -> list[list[Value]]:
        f = self.f
        return [
            self.emission.stepped(reads, k, index),
            [walk.stepped(f, pointer, k, index) for walk, pointer in zip(self.writes, writes, strict=True)],
        ]

    # --- blocks of the last two loops

    def _blocks(self, bounds: tuple[Value, Value], reads: Sequence[Value], writes: Sequence[Value]) -> None:
        """Blocks of as many rows as lanes: what has its neighbours along the other loop is turned once a block."""
        f, k = self.f, self.kernel.loops - 2
        with Loop(f, *bounds, self.lanes) as rows:
            row_stop = smaller(rows.index + self.lanes, bounds[1])
            with Loop(f, f.constant("i64", 0), self.extents[-1], self.lanes) as columns:
                self._turn(reads, rows.index, columns.index)
                column_stop = smaller(columns.index + self.lanes, self.extents[-1])
                with Loop(f, rows.index, row_stop) as loop:
                    self.indices.append(loop.index)
                    self.row = loop.index - rows.index
                    self._inner((columns.index, column_stop), *self._stepped(k, loop.index, reads, writes))
                    self.indices.pop()

    def _turn(self, reads: Sequence[Value], row: Value, column: Value) -> None:
        """Write a block of each turned array to its tile, a vector a row of the block."""
        f, last = self.f, self.extents[-1] - 1
        for (k, walk), pointer in zip(self.emission.arrays.items(), reads, strict=True):
            if k not in self.tiles:
                continue
            dtype, stride = self.body.leaves[k].dtype, walk.strides[self.kernel.loops - 1]
            first = at(f, pointer, row, dtype)
            places = lane_indices(f, column, last, self.lanes)
            kind, align = elements.word_kind(dtype)
            lines = [f.load(f.gep(first, place * stride, "i8"), kind, self.lanes, align) for place in places]
            for r, line in enumerate(turned(f, lines)):
                f.store(line, f.gep(self.tiles[k], r * self.lanes, kind), align)

    def _from_tile(self, leaf: int) -> Element:
        f, dtype = self.f, self.body.leaves[leaf].dtype
        assert self.row is not None
        return elements.load(f, at(f, self.tiles[leaf], self.row * self.lanes, dtype), dtype, self.lanes)

    # --- the innermost loop

    def _inner(self, bounds: tuple[Value, Value], reads: Sequence[Value], writes: Sequence[Value]) -> None:
        """One body for whole and partial vectors: reads may run over the end of memory, writes may not."""
        start, stop = bounds
        last = stop - 1
        still = self.emission.standing(reads)
        with Loop(self.f, start, stop, self.lanes) as loop:
            results = self._results(reads, loop.index, last, still)
            for k, element in enumerate(results):
                self._write(k, element, writes[k], loop.index, stop - loop.index)

    def _results(
        self, reads: Sequence[Value], index: Value, last: Value, still: dict[int, Element] | None = None
    ) -> list[Element]:
        indices = [*self.indices, index]
        pointers = dict(zip(self.emission.arrays, reads, strict=True))

        def read(leaf: int) -> Element:
            if still and leaf in still:
                return still[leaf]
            if leaf in self.tiles:
                return self._from_tile(leaf)
            return self.emission.read(leaf, pointers.get(leaf), indices, last)

        return self.emission.results(read)

    def _write(self, k: int, element: Element, pointer: Value, index: Value, left: Value) -> None:
        walk, store = self.writes[k], self.stores[k]
        if walk.access[-1] == "s":
            stride = walk.strides[self.kernel.loops - 1]
            store.apart(element, self.f.gep(pointer, index * stride, "i8"), stride, left)
        else:
            store(element, at(self.f, pointer, index, store.dtype), left)


def turned(f: Function, lines: Sequence[Value]) -> list[Value]:
    """A square of vectors with lines and lanes exchanged, a bit of their numbers at a time."""
    found, lanes = list(lines), range(len(lines))
    step = len(lines) // 2
    while step:
        for i in [i for i in lanes if not i & step]:
            a, b = found[i], found[i + step]
            found[i] = f.shuffle(a, b, [len(lines) + (k ^ step) if k & step else k for k in lanes])
            found[i + step] = f.shuffle(a, b, [len(lines) + k if k & step else k ^ step for k in lanes])
        step //= 2
    return found
