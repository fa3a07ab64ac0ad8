"""A Map recipe in, LLVM IR out: one flat loop where memory is walked in order, else a nest with run-time strides."""

from __future__ import annotations

from collections.abc import Sequence

from celadon.cpu import elements
from celadon.cpu.bodies import Emission, Walk, index_element, lane_indices
from celadon.cpu.elements import Element, lanes_for
from celadon.cpu.ir import Function, Value
from celadon.cpu.loops import Loop, Table, When, kernel_function, smaller
from celadon.cpu.recipe import Body, Map

_UNROLL = 2


def emit(kernel: Map, name: str) -> Function:
    """The kernel's function. Table: extents of the loops, then for each leaf, then each result, address and strides.

    Range: elements, from a multiple of 64 on, if there is one loop; else the outermost loop.
    """
    f = kernel_function(name)
    _Nest(f, kernel).emit()
    f.returns()
    return f


def lanes_of(body: Body, dtypes: Sequence[str]) -> int:
    return lanes_for([leaf.dtype for leaf in body.leaves] + [node.dtype for node in body.nodes] + list(dtypes))


class _Nest:
    def __init__(self, f: Function, kernel: Map):
        self.f, self.kernel = f, kernel
        self.dtypes = kernel.body.result_dtypes
        self.lanes = lanes_of(kernel.body, self.dtypes) if kernel.loops else 1
        self.scratch = [self._room(dtype, 1) for dtype in self.dtypes] if self.lanes > 1 and not kernel.whole else []
        leaves = enumerate(kernel.body.leaves)
        self.tiles = {k: self._room(leaf.dtype, self.lanes) for k, leaf in leaves if "t" in leaf.access}
        table = Table(f)
        self.extents = [table.word() for _ in range(kernel.loops)]
        self.emission = Emission(f, kernel.body, self.lanes, table, kernel.loops)
        self.writes = [Walk(table, access) for access in kernel.writes]
        self.indices: list[Value] = []
        self.row: Value | None = None  # within a block

    def emit(self) -> None:
        if not self.kernel.loops:
            self._store_scalars()
        elif self.kernel.whole:
            self._flat()
        else:
            self._loop(0, [w.pointer for w in self.emission.arrays.values()], [w.pointer for w in self.writes])

    def _store_scalars(self) -> None:
        for walk, element, dtype in zip(self.writes, self.emission.scalar_results(), self.dtypes, strict=True):
            elements.store(self.f, element, walk.pointer, dtype)

    def _room(self, dtype: str, vectors: int) -> Value:
        size = vectors * self.lanes * elements.itemsize(dtype)
        return self.f.new(f"alloca [{size} x i8], align 64", "ptr")

    # --- one loop over whole arrays

    def _flat(self) -> None:
        f, lanes = self.f, self.lanes
        _, low, high = f.parameters
        pointers = [w.pointer for w in self.emission.arrays.values()]
        with Loop(f, low, high, lanes * _UNROLL) as loop:
            for u in range(_UNROLL):
                index = loop.index + u * lanes if u else loop.index
                results = self._results(pointers, [index], index, index)
                for walk, element, dtype in zip(self.writes, results, self.dtypes, strict=True):
                    elements.store(f, element, self._at(walk.pointer, index, dtype), dtype)

    def _at(self, pointer: Value, index: Value, dtype: str) -> Value:
        return at(self.f, pointer, index, dtype)

    # --- a nest

    def _loop(self, k: int, reads: Sequence[Value], writes: Sequence[Value]) -> None:
        f = self.f
        start, stop = (f.parameters[1], f.parameters[2]) if k == 0 else (f.constant("i64", 0), self.extents[k])
        if k == self.kernel.loops - 1:
            self._inner(start, stop, reads, writes)
            return
        if self.kernel.tiled and k == self.kernel.loops - 2:
            self._blocks(start, stop, reads, writes)
            return
        with Loop(f, start, stop) as loop:
            self.indices.append(loop.index)
            walks = self.emission.arrays.values()
            inner = [w.stepped(f, p, k, loop.index) for w, p in zip(walks, reads, strict=True)]
            outer = [w.stepped(f, p, k, loop.index) for w, p in zip(self.writes, writes, strict=True)]
            self._loop(k + 1, inner, outer)
            self.indices.pop()

    def _blocks(self, start: Value, stop: Value, reads: Sequence[Value], writes: Sequence[Value]) -> None:
        """Blocks of as many rows as lanes: what has its neighbours along the other loop is turned once a block."""
        f, k = self.f, self.kernel.loops - 2
        with Loop(f, start, stop, self.lanes) as rows:
            row_stop = smaller(rows.index + self.lanes, stop)
            with Loop(f, f.constant("i64", 0), self.extents[-1], self.lanes) as columns:
                self._turn(reads, rows.index, columns.index)
                column_stop = smaller(columns.index + self.lanes, self.extents[-1])
                with Loop(f, rows.index, row_stop) as loop:
                    self.indices.append(loop.index)
                    walks = self.emission.arrays.values()
                    inner = [w.stepped(f, p, k, loop.index) for w, p in zip(walks, reads, strict=True)]
                    outer = [w.stepped(f, p, k, loop.index) for w, p in zip(self.writes, writes, strict=True)]
                    self.row = loop.index - rows.index
                    self._inner(columns.index, column_stop, inner, outer)
                    self.indices.pop()

    def _turn(self, reads: Sequence[Value], row: Value, column: Value) -> None:
        """Write a block of each turned array to its tile, a vector a row of the block."""
        f, last = self.f, self.extents[-1] - 1
        for (k, walk), pointer in zip(self.emission.arrays.items(), reads, strict=True):
            if k not in self.tiles:
                continue
            dtype, stride = self.kernel.body.leaves[k].dtype, walk.strides[self.kernel.loops - 1]
            first = at(f, pointer, row, dtype)
            places = lane_indices(f, column, last, self.lanes)
            kind, align = elements.word_kind(dtype)
            lines = [f.load(f.gep(first, place * stride, "i8"), kind, self.lanes, align) for place in places]
            for r, line in enumerate(turned(f, lines)):
                f.store(line, f.gep(self.tiles[k], r * self.lanes, kind), align)

    def _inner(self, start: Value, stop: Value, reads: Sequence[Value], writes: Sequence[Value]) -> None:
        """One body for whole and partial vectors: reads may run over the end of memory, writes may not."""
        f, last = self.f, stop - 1
        still = self._standing(reads)
        with Loop(f, start, stop, self.lanes) as loop:
            results = self._results(reads, [*self.indices, loop.index], loop.index, last, still)
            left = stop - loop.index
            for k, element in enumerate(results):
                self._write(k, element, writes[k], loop.index, left)

    def _standing(self, reads: Sequence[Value]) -> dict[int, Element]:
        """Elements that the innermost loop does not move, loaded ahead of it."""
        found: dict[int, Element] = {}
        for (k, walk), pointer in zip(self.emission.arrays.items(), reads, strict=True):
            if walk.access[-1] == "0":
                element = elements.load(self.f, pointer, self.kernel.body.leaves[k].dtype)
                found[k] = elements.splat(self.f, element, self.lanes)
        return found

    def _results(
        self, reads: Sequence[Value], indices: Sequence[Value], index: Value, last: Value,
        still: dict[int, Element] | None = None,
    ) -> list[Element]:  # fmt: skip
        pointers = dict(zip(self.emission.arrays, reads, strict=True))

        def read(leaf: int) -> Element:
            if still and leaf in still:
                return still[leaf]
            if leaf in self.tiles:
                return self._from_tile(leaf)
            return read_leaf(self.emission, leaf, pointers.get(leaf), indices, last)

        return self.emission.results(read)

    def _from_tile(self, leaf: int) -> Element:
        f, dtype = self.f, self.kernel.body.leaves[leaf].dtype
        assert self.row is not None
        return elements.load(f, at(f, self.tiles[leaf], self.row * self.lanes, dtype), dtype, self.lanes)

    def _write(self, k: int, element: Element, pointer: Value, index: Value, left: Value) -> None:
        f, dtype, walk = self.f, self.dtypes[k], self.writes[k]
        if walk.access[-1] == "s":
            self._scatter(element, pointer, walk.strides[self.kernel.loops - 1], index, left, dtype)
            return
        target = self._at(pointer, index, dtype)
        if self.lanes == 1:
            elements.store(f, element, target, dtype)
            return
        store_some(f, element, target, dtype, left, self.scratch[k])

    def _scatter(self, element: Element, pointer: Value, stride: Value, index: Value, left: Value, dtype: str) -> None:
        f = self.f
        for lane in range(self.lanes):
            with When(f, left.compare("sgt", lane)):
                elements.store(f, elements.extract(f, element, lane), f.gep(pointer, (index + lane) * stride, "i8"), dtype)


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


def at(f: Function, pointer: Value, index: Value, dtype: str) -> Value:
    """The address of element `index`."""
    kind = elements.memory_kind(dtype)
    return f.gep(pointer, index + index if elements.is_complex(dtype) else index, kind)


def read_leaf(emission: Emission, leaf: int, pointer: Value | None, indices: Sequence[Value], last: Value) -> Element:
    """Elements of an array or an index at the loops' indices, of which the innermost is a vector's first."""
    f, lanes = emission.f, emission.lanes
    one = emission.body.leaves[leaf]
    if one.source == "iota":
        loop = next(k for k, letter in enumerate(one.access) if letter != "0")
        if loop == len(one.access) - 1:
            return index_element(f, indices[loop], one.dtype, lanes)
        return elements.splat(f, index_element(f, indices[loop], one.dtype, 1), lanes)
    assert pointer is not None
    index = indices[-1]
    if one.access[-1] == "1":
        return elements.load(f, at(f, pointer, index, one.dtype), one.dtype, lanes)
    if one.access[-1] == "0":
        return elements.splat(f, elements.load(f, pointer, one.dtype), lanes)
    stride = emission.arrays[leaf].strides[len(one.access) - 1]
    return elements.strided(f, pointer, stride, lane_indices(f, index, last, lanes), one.dtype)


def store_some(f: Function, element: Element, target: Value, dtype: str, left: Value, scratch: Value) -> None:
    """A whole vector, or its first `left` elements where there are fewer lanes left."""
    lanes = elements.parts([element])[0].lanes
    whole, part, done = f.fresh("whole"), f.fresh("part"), f.fresh("stored")
    f.branch(left.compare("sge", lanes), whole, part)
    f.label(whole)
    elements.store(f, element, target, dtype)
    f.jump(done)
    f.label(part)
    elements.store(f, element, scratch, dtype)
    width = elements.itemsize(dtype)
    with Loop(f, f.constant("i64", 0), left) as loop:
        kind = f"i{8 * width}" if width < 16 else "i128"
        f.store(f.load(f.gep(scratch, loop.index, kind), kind, align=1), f.gep(target, loop.index, kind), align=1)
    f.jump(done)
    f.label(done)
