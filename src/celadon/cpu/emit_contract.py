"""Recipes of matrix products in, LLVM IR out: tiles of our own for small ones, and calls of BLAS on panels."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from celadon.cpu import elements, elementwise
from celadon.cpu.elements import Element
from celadon.cpu.ir import Function, Value
from celadon.cpu.kinds import lanes_for
from celadon.cpu.loops import Loop, Table, smaller
from celadon.cpu.recipe import TILE_ROWS, Moved
from celadon.cpu.stores import MASKED, Store, at, first_lanes

VECTORS = 2
_ROW_MAJOR = 101


class _Tiles:
    """Our own product. Range: blocks of rows, counted on over batches.

    Table: rows, columns, depth; rows of a block, blocks of a batch; left, right and result, each an address, its stride
    along batches and along rows (left, result) or depth (right); the left one's stride along depth. The right operand's
    and the result's columns are neighbours.
    """

    def __init__(self, f: Function, kernel: Moved):
        self.f = f
        self.left_dtype, self.right_dtype, self.sum, self.dtype = kernel.dtypes
        self.lanes = lanes_for(kernel.dtypes) * (1 + f.target.wide)
        self.store = Store(f, self.dtype, self.lanes)
        table = Table(f)
        self.rows, self.columns, self.depth = (table.word() for _ in range(3))
        block, blocks = table.word(), table.word()
        operands = [(table.address(), table.word(), table.word()) for _ in range(3)]
        self.left_step = table.word()
        self.steps = [step for _, _, step in operands]
        _, low, high = f.parameters
        with Loop(f, low, high) as loop:
            batch, number = f.binary("udiv", loop.index, blocks), f.binary("urem", loop.index, blocks)
            first = number * block
            pointers = [f.gep(pointer, batch * stride, "i8") for pointer, stride, _ in operands]
            self._block(pointers, first, smaller(first + block, self.rows))

    def _block(self, pointers: Sequence[Value], first: Value, last: Value) -> None:
        """Wide columns, then what is left of them; where rows of a tile are left over, its last ones are one row. Of complex
        numbers, of which only few come here, one row of narrow columns at a time: the code is short."""
        f, zero = self.f, self.f.constant("i64", 0)
        most = self.columns & -(self.lanes * VECTORS)
        columns, height = [(zero, most, VECTORS), (most, self.columns, 1)], TILE_ROWS
        if elements.is_complex(self.sum):
            columns, height = [(zero, self.columns, 1)], 1
        for start, stop, vectors in columns:
            with Loop(f, start, stop, vectors * self.lanes) as column, Loop(f, first, last, height) as row:
                rows = [smaller(row.index + r, last - 1) if r else row.index for r in range(height)]
                self._tile(pointers, rows, column.index, vectors)

    def _tile(self, pointers: Sequence[Value], rows: Sequence[Value], column: Value, vectors: int) -> None:
        f, lanes = self.f, self.lanes
        left = f.gep(pointers[0], rows[0] * self.steps[0], "i8")
        right = at(f, pointers[1], column, self.right_dtype)
        offsets = [(row - rows[0]) * self.steps[0] for row in rows]
        mask = first_lanes(f, self.columns - column, lanes) if vectors == 1 and self.right_dtype in MASKED else None
        start = elements.constant(f, self.sum, bytes(elements.itemsize(self.sum)), lanes)
        sums = [start] * (len(rows) * vectors)
        with Loop(f, f.constant("i64", 0), self.depth, 1, [left, right, *elements.parts(sums)]) as loop:
            here, there, *carried = loop.values
            before = elements.rejoined(carried, sums)
            y = [self._loaded(there, u, mask) for u in range(vectors)]
            x = [self._splat(f.gep(here, offset, "i8") if r else here) for r, offset in enumerate(offsets)]
            known = ((r, u, before[r * vectors + u]) for r in range(len(rows)) for u in range(vectors))
            after = [elementwise.multiply_add(x[r], y[u], sum, self.sum) for r, u, sum in known]
            loop.next = [f.gep(here, self.left_step, "i8"), f.gep(there, self.steps[1], "i8"), *elements.parts(after)]
        for k, total in enumerate(elements.rejoined(loop.results[2:], sums)):
            target = f.gep(pointers[2], rows[k // vectors] * self.steps[2], "i8")
            place = column + k % vectors * lanes if k % vectors else column
            self._store(self._cast(total, self.sum, self.dtype), at(f, target, place, self.dtype), place, vectors)

    def _loaded(self, pointer: Value, u: int, mask: Value | None) -> Element:
        """A vector of a row; without lanes beyond its end, which slow arithmetic down if they are subnormal."""
        if mask is not None:
            loaded = self.f.masked_load(pointer, mask, elements.memory_kind(self.right_dtype))
            return self._cast(loaded, self.right_dtype, self.sum)
        place = self.f.gep(pointer, u * self.lanes * elements.itemsize(self.right_dtype), "i8") if u else pointer
        return self._cast(elements.load(self.f, place, self.right_dtype, self.lanes), self.right_dtype, self.sum)

    def _splat(self, pointer: Value) -> Element:
        one = self._cast(elements.load(self.f, pointer, self.left_dtype), self.left_dtype, self.sum)
        return elements.splat(self.f, one, self.lanes)

    def _cast(self, x: Element, source: str, target: str) -> Element:
        if source == target:
            return x
        return elementwise.emit("convert", [x], [source], target, {"new_dtype": target})

    def _store(self, total: Element, target: Value, column: Value, vectors: int) -> None:
        if vectors > 1:
            elements.store(self.f, total, target, self.dtype)
        else:
            self.store.first(total, target, self.columns - column)


def _blas(f: Function, kernel: Moved) -> None:
    """Panels of rows and columns, each a call of BLAS. Range: panels of columns (the fastest), of rows, of batches.

    Table: the routine; rows, columns, depth; rows of a panel, columns of one, panels of rows, panels of columns; for
    left and right whether they are transposed (a BLAS code) and the leading dimension, then the result's leading
    dimension; left, right and result, each an address and its strides along batches, rows and columns.
    """
    dtype = kernel.dtypes[0]
    table = Table(f)
    routine = table.word("ptr")
    rows, columns, depth, height, width, down, across = (table.word() for _ in range(7))
    shapes = [table.word() for _ in range(5)]
    operands = [(table.address(), table.word(), table.word(), table.word()) for _ in range(3)]
    _, low, high = f.parameters
    with Loop(f, low, high) as loop:
        panel = f.binary("udiv", loop.index, across)
        column = f.binary("urem", loop.index, across) * width
        batch, row = f.binary("udiv", panel, down), f.binary("urem", panel, down) * height
        places = [batch, row, column]
        pointers = [_moved(f, pointer, places, strides) for pointer, *strides in operands]
        sizes = [smaller(rows - row, height), smaller(columns - column, width), depth]
        _call(f, routine, dtype, [x.convert("trunc", "i32") for x in (*sizes, *shapes)], pointers)


def _moved(f: Function, pointer: Value, places: Sequence[Value], strides: Sequence[Value]) -> Value:
    for place, stride in zip(places, strides, strict=True):
        pointer = f.gep(pointer, place * stride, "i8")
    return pointer


def _call(f: Function, routine: Value, dtype: str, numbers: Sequence[Value], pointers: Sequence[Value]) -> None:
    m, n, k, left, lda, right, ldb, ldc = (x.typed for x in numbers)
    a, b, c = (x.typed for x in pointers)
    if elements.is_complex(dtype):
        kind = elements.memory_kind(dtype)
        one, zero = (f.table(kind, pair).typed for pair in ([1.0, 0.0], [0.0, 0.0]))
    else:
        one, zero = (f.constant(dtype, x).typed for x in (1.0, 0.0))
    given = [f"i32 {_ROW_MAJOR}", left, right, m, n, k, one, a, lda, b, ldb, zero, c, ldc]
    f.raw(f"call void {routine.text}({', '.join(given)})")


KINDS: dict[str, Callable[[Function, Moved], object]] = {"matmul": _Tiles, "blas": _blas}
