"""A recipe of a matrix times a vector in, LLVM IR out: as many lines at a time as a vector has lanes, each with a sum of its own.

Every line is summed in the same order, whichever lines stand beside it: lanes by fused multiply-adds, parts of a line one
after the other, then the lanes by halves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from celadon.cpu.ir import Function, Value
from celadon.cpu.kinds import itemsize, lanes_of
from celadon.cpu.loops import Loop, Table, smaller
from celadon.cpu.recipe import Moved
from celadon.cpu.stores import Store, at, first_lanes

_PART = 4096  # elements of a line that are summed before they are added to its total


class Lines:
    """The kernel's code. Table: length of a line; address of the matrix and its lines' stride; of the vector; of the results.

    Range: lines.
    """

    def __init__(self, f: Function, kernel: Moved):
        self.f, [self.dtype] = f, kernel.dtypes
        self.lanes = lanes_of(itemsize(self.dtype))
        table = Table(f)
        self.length = table.word()
        self.matrix, self.stride = table.address(), table.word()
        self.vector, self.target = table.address(), table.address()
        store = Store(f, self.dtype, self.lanes)
        _, low, high = f.parameters
        with Loop(f, low, high, self.lanes) as loop:
            places = [smaller(loop.index + k, high - 1) if k else loop.index for k in range(self.lanes)]
            lines = [f.gep(self.matrix, place * self.stride, "i8") for place in places]
            store(folded(f, self._totals(lines)), at(f, self.target, loop.index, self.dtype), high - loop.index)

    def _totals(self, lines: Sequence[Value]) -> list[Value]:
        """The lines' sums, each still apart in lanes."""
        f, zero = self.f, self.f.constant("i64", 0)
        nothing = [f.constant(self.dtype, 0, self.lanes)] * len(lines)
        with Loop(f, zero, self.length, _PART, nothing) as parts:
            stop = smaller(parts.index + _PART, self.length)
            whole = parts.index + ((stop - parts.index) & -self.lanes)
            with Loop(f, parts.index, whole, self.lanes, nothing) as loop:
                loop.next = self._added(lines, loop.index, loop.values)
            with Loop(f, whole, stop, self.lanes, loop.results) as rest:
                mask = first_lanes(f, stop - rest.index, self.lanes)
                found = self._added(lines, rest.index, rest.values)
                rest.next = [mask.select(x, before) for x, before in zip(found, rest.values, strict=True)]
            parts.next = [total + x for total, x in zip(parts.values, rest.results, strict=True)]
        return parts.results

    def _added(self, lines: Sequence[Value], place: Value, sums: Sequence[Value]) -> list[Value]:
        f, lanes = self.f, self.lanes
        factor = f.load(at(f, self.vector, place, self.dtype), self.dtype, lanes)
        rows = [f.load(at(f, line, place, self.dtype), self.dtype, lanes) for line in lines]
        return [row.fma(factor, total) for row, total in zip(rows, sums, strict=True)]


def folded(f: Function, vectors: Sequence[Value]) -> Value:
    """The sums of the lanes of as many vectors as each has lanes, one a lane: upper halves are added to lower ones.

    Half a vector keeps to itself after the first addition, as moves between halves take longer.
    """
    lanes, half = len(vectors), len(vectors) // 2
    first, width = [[*range(half), *range(lanes, lanes + half)], [*range(half, lanes), *range(lanes + half, 2 * lanes)]], half
    found, order = _added_pairs(f, vectors, first), [([k], [k + 1]) for k in range(0, lanes, 2)]
    while width > 1:
        firsts = [start + k for start in (0, half) for side in (0, lanes) for k in range(side, side + half, width)]
        width //= 2
        found = _added_pairs(f, found, [[k + i + upper for k in firsts for i in range(width)] for upper in (0, width)])
        order = [(a[0] + b[0], a[1] + b[1]) for a, b in zip(order[::2], order[1::2], strict=True)]
    places = [*order[0][0], *order[0][1]]
    return f.shuffle(found[0], found[0], [places.index(k) for k in range(lanes)])


def _added_pairs(f: Function, vectors: Sequence[Value], sides: Sequence[Sequence[int]]) -> list[Value]:
    """Of each two vectors the lanes of one choice plus those of another."""
    pairs = zip(vectors[::2], vectors[1::2], strict=True)
    return [f.shuffle(a, b, sides[0]) + f.shuffle(a, b, sides[1]) for a, b in pairs]


class Columns:
    """The same sums where lines are columns: neighbours of a row belong to different lines, and a row lies in memory.

    As many rows at a time as a line's sum has lanes, each added to a line of sums of its own. Table: length of a column;
    address of the matrix and its rows' stride; of the vector; of the results; columns of a piece, and in all; an address in
    the arena, and its bytes for each piece. Range: pieces.
    """

    def __init__(self, f: Function, kernel: Moved):
        self.f, [self.dtype] = f, kernel.dtypes
        self.sums, self.size = lanes_of(itemsize(self.dtype)), itemsize(self.dtype)
        self.lanes = self.sums * (1 + f.target.wide)
        self.zero = f.constant("i64", 0)
        table = Table(f)
        self.length = table.word()
        matrix, self.stride = table.address(), table.word()
        self.vector, target = table.address(), table.address()
        width, columns = table.word(), table.word()
        room, nbytes = table.address(), table.word()
        store = Store(f, self.dtype, self.lanes)
        _, low, high = f.parameters
        with Loop(f, low, high) as piece:
            first = piece.index * width
            self.count = smaller(width, columns - first)
            self.line = (self.count + (self.lanes - 1)) & -self.lanes
            self.partial = f.gep(room, piece.index * nbytes, "i8")
            self.total = at(f, self.partial, self.line * self.sums, self.dtype)
            self._summed(at(f, matrix, first, self.dtype))
            with Loop(f, self.zero, self.count, self.lanes) as loop:
                lines = [f.load(self._place(self.total, k, loop.index), self.dtype, self.lanes) for k in range(self.sums)]
                while len(lines) > 1:
                    lines = [a + b for a, b in zip(lines, lines[len(lines) // 2 :], strict=False)]
                store(lines[0], at(f, target, first + loop.index, self.dtype), self.count - loop.index)

    def _summed(self, matrix: Value) -> None:
        f = self.f
        self._all(self.total, lambda place, _: f.constant(self.dtype, 0, self.lanes))
        with Loop(f, self.zero, self.length, _PART) as parts:
            stop = smaller(parts.index + _PART, self.length)
            whole = parts.index + ((stop - parts.index) & -self.sums)
            self._all(self.partial, lambda place, _: f.constant(self.dtype, 0, self.lanes))
            with Loop(f, parts.index, whole, self.sums) as rows:
                self._added(matrix, rows.index, self.zero, self.sums)
            with Loop(f, whole, stop) as row:
                self._added(matrix, row.index, row.index - whole, 1)
            self._all(self.total, lambda place, before: before + self._load(self.partial, place))

    def _load(self, pointer: Value, place: Value) -> Value:
        return self.f.load(at(self.f, pointer, place, self.dtype), self.dtype, self.lanes)

    def _all(self, sums: Value, value: Callable[[Value, Value], Value]) -> None:
        """Change every vector of the sums, from its place and what it was."""
        f = self.f
        with Loop(f, self.zero, self.line * self.sums, self.lanes) as loop:
            here = at(f, sums, loop.index, self.dtype)
            f.store(value(loop.index, f.load(here, self.dtype, self.lanes)), here)

    def _added(self, matrix: Value, row: Value, line: Value, count: int) -> None:
        """Add some rows to the lines of sums from one on."""
        f = self.f
        rows = [f.gep(matrix, (row + k) * self.stride, "i8") for k in range(count)]
        factors = [f.splat(f.load(at(f, self.vector, row + k, self.dtype), self.dtype), self.lanes) for k in range(count)]
        first = at(f, self.partial, line * self.line, self.dtype)
        with Loop(f, self.zero, self.count, self.lanes) as loop:
            for k in range(count):
                here = self._place(first, k, loop.index)
                one = self._load(rows[k], loop.index)
                f.store(one.fma(factors[k], f.load(here, self.dtype, self.lanes)), here)

    def _place(self, lines: Value, k: int, column: Value) -> Value:
        return at(self.f, lines, self.line * k + column if k else column, self.dtype)


KINDS: dict[str, Callable[[Function, Moved], object]] = {"lines": Lines, "columns": Columns}
