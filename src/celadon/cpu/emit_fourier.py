"""Recipes of Fourier transforms in, LLVM IR out: Stockham's passes over tiles of a matrix, columns first, then rows.

A transform of n1 * n2 elements is one of the columns of a matrix, a product with roots of unity, and one of its rows. Each is
done for a vector of columns or rows at a time, so that a lane is a transform of its own and no lane meets another. A real
transform is one of half its length, of pairs of elements, put together from both ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from celadon.cpu import elements
from celadon.cpu.elements import Element
from celadon.cpu.emit_map import turned
from celadon.cpu.ir import Function, Value
from celadon.cpu.kinds import itemsize, lanes_of
from celadon.cpu.loops import Loop, Table, When, smaller
from celadon.cpu.recipe import Moved
from celadon.cpu.stores import Store

Pair = tuple[Value, Value]
_COMPLEX = {"f32": "c64", "f64": "c128"}


class _Fourier:
    """Range: pieces of a stack of transforms.

    Table: transforms of a piece, and in all; room: an address and its bytes for each piece, and where in it are what stands
    between the phases, a tile, its other copy, and the half transform; rows of columns' transforms, rounded up to whole
    vectors; half the length; operand and result, each an address and bytes of a transform; how far from the table the roots
    between the phases are, and those of halves; for each phase how far its passes are, and how many. See fourier_tables for
    what is there.
    """

    def __init__(self, f: Function, kernel: Moved):
        self.f, self.kind, self.type = f, kernel.dtypes[0], kernel.facts[0]
        self.dtype, self.size, self.lanes = _COMPLEX[self.kind], itemsize(self.kind), lanes_of(itemsize(kernel.dtypes[0]))
        self.vector, self.pair = self.size * self.lanes, 2 * self.size
        self.inverse = self.type == "IFFT"
        self.zero = f.constant("i64", 0)
        self.store = Store(f, self.dtype, self.lanes)
        table = Table(f)
        block, count = table.word(), table.word()
        room, nbytes = table.address(), table.word()
        places = [table.word() for _ in range(4)]
        self.padded, self.half = table.word(), table.word()
        source, source_step = table.address(), table.word()
        target, target_step = table.address(), table.word()
        self.between, self.roots = (f.gep(table.base, table.word(), "i8") for _ in range(2))
        self.phases = [(f.gep(table.base, table.word(), "i8"), table.word()) for _ in range(2)]
        self.lengths = [self._length(*phase) for phase in self.phases]
        _, low, high = f.parameters
        with Loop(f, low, high) as piece:
            mine = f.gep(room, piece.index * nbytes, "i8")
            self.middle, self.tile, self.other, self.whole = (f.gep(mine, place, "i8") for place in places)
            first = piece.index * block
            with Loop(f, first, smaller(first + block, count)) as loop:
                self._one(f.gep(source, loop.index * source_step, "i8"), f.gep(target, loop.index * target_step, "i8"))

    def _length(self, passes: Value, count: Value) -> Value:
        """The product of the passes' radices."""
        f = self.f
        with Loop(f, self.zero, count, 1, [f.constant("i64", 1), passes]) as loop:
            length, here = loop.values
            loop.next = [length * f.load(here, "i64"), self._following(here)]
        return loop.results[0]

    def _following(self, passes: Value) -> Value:
        return self.f.gep(passes, self.f.load(self.f.gep(passes, 3, "i64"), "i64"), "i8")

    def _one(self, source: Value, target: Value) -> None:
        """Both phases, a tile of columns at a time; they differ in what they read and in how they store."""
        f, (rows, columns) = self.f, self.lengths
        real = self.type == "RFFT"
        made = self.whole if real else target
        with Loop(f, self.zero, f.constant("i64", 2)) as phase:
            first = phase.index.equals(0)

            def either(x: Value, y: Value) -> Value:
                return first.select(x, y)

            here, step = either(source, self.middle), either(columns, self.padded) * self.pair
            passes = either(self.phases[0][0], self.phases[1][0]), either(self.phases[0][1], self.phases[1][1])
            length, width = either(rows, columns), either(columns, rows)
            with Loop(f, self.zero, width, self.lanes) as tile:
                self._load(first, f.gep(here, tile.index * self.pair, "i8"), step, length)
                found = self._passes(*passes)
                with When(f, first):
                    self._turn(found, tile.index)
                with When(f, ~first):
                    self._store(found, f.gep(made, tile.index * self.pair, "i8"), width - tile.index)
        if real:
            self._ends(target)

    # --- a tile

    def _load(self, first: Value, source: Value, step: Value, length: Value) -> None:
        f = self.f
        with Loop(f, self.zero, length) as row:
            here = f.gep(source, row.index * step, "i8")
            with When(f, first):
                self._put(self.tile, row.index, cast("Pair", elements.load(f, here, self.dtype, self.lanes)))
            with When(f, ~first):
                self._put(self.tile, row.index, self._get(here, self.zero))

    def _place(self, tile: Value, row: Value) -> Value:
        return self.f.gep(tile, row * (2 * self.vector), "i8")

    def _put(self, tile: Value, row: Value, pair: Pair) -> None:
        place = self._place(tile, row)
        for k, part in enumerate(pair):
            self.f.store(part, self.f.gep(place, k * self.vector, "i8"))

    def _get(self, tile: Value, row: Value) -> Pair:
        place = self._place(tile, row)
        re, im = (self.f.load(self.f.gep(place, k * self.vector, "i8"), self.kind, self.lanes) for k in range(2))
        return re, im

    def _turn(self, tile: Value, column: Value) -> None:
        """Products with roots, stored with rows and columns exchanged: the columns of the next phase are neighbours. What
        stands between the phases has a vector of real parts, then one of imaginary parts, and so on."""
        f, lanes, line = self.f, self.lanes, self.padded * self.pair
        roots, first = (f.gep(x, column * line, "i8") for x in (self.between, self.middle))
        with Loop(f, self.zero, self.padded) as row:
            self._put(tile, row.index, self._times(self._get(tile, row.index), self._get(roots, row.index)))
        with Loop(f, self.zero, self.padded, lanes) as block, Loop(f, self.zero, f.constant("i64", 2)) as part:
            place = f.gep(self._place(tile, block.index), part.index * self.vector, "i8")
            there = f.gep(first, block.index * self.pair + part.index * self.vector, "i8")
            rows = [f.load(f.gep(place, 2 * self.vector * k, "i8"), self.kind, lanes) for k in range(lanes)]
            for k, column in enumerate(turned(f, rows)):
                f.store(column, f.gep(there, line * k, "i8") if k else there)

    def _store(self, tile: Value, target: Value, left: Value) -> None:
        f, (rows, columns) = self.f, self.lengths
        with Loop(f, self.zero, columns) as row:
            self.store(self._get(tile, row.index), f.gep(target, row.index * (rows * self.pair), "i8"), left)

    # --- passes

    def _passes(self, first: Value, count: Value) -> Value:
        """All passes over a tile, from one copy of it to the other; the copy with the result."""
        f = self.f
        with Loop(f, self.zero, count, 1, [first, self.tile, self.other]) as loop:
            here, source, target = loop.values
            radix, left, beside = (f.load(f.gep(here, k, "i64"), "i64") for k in range(3))
            roots = f.gep(here, 4, "i64")
            for known in (2, 4):
                with When(f, radix.equals(known)):
                    self._pass(known, (source, target), (left, beside), roots)
            with When(f, (radix & 1).equals(1)):
                self._odd_pass(radix, (source, target), (left, beside), roots)
            loop.next = [self._following(here), target, source]
        return loop.results[1]

    def _pass(self, radix: int, tiles: tuple[Value, Value], extents: tuple[Value, Value], roots: Value) -> None:
        f, (source, target), (left, beside) = self.f, tiles, extents
        with Loop(f, self.zero, left) as outer:
            place = f.gep(roots, outer.index * ((radix - 1) * self.pair), "i8")
            factors = [self._splat(f.gep(place, k * self.pair, "i8")) for k in range(radix - 1)]
            with Loop(f, self.zero, beside) as inner:
                start = outer.index * beside + inner.index
                xs = [self._get(source, start + beside * left * k if k else start) for k in range(radix)]
                start = outer.index * beside * radix + inner.index
                for k, y in enumerate(self._two(xs) if radix == 2 else self._four(xs)):
                    self._put(target, start + beside * k if k else start, self._times(y, factors[k - 1]) if k else y)

    def _splat(self, place: Value) -> Pair:
        return cast("Pair", elements.splat(self.f, elements.load(self.f, place, self.dtype), self.lanes))

    def _times(self, x: Pair, y: Pair) -> Pair:
        return x[0].fma(y[0], -(x[1] * y[1])), x[0].fma(y[1], x[1] * y[0])

    def _odd_pass(self, radix: Value, tiles: tuple[Value, Value], extents: tuple[Value, Value], roots: Value) -> None:
        """Of any radix, by the definition; its own roots lie before the pass' ones."""
        f, (source, target), (left, beside) = self.f, tiles, extents
        twists = f.gep(roots, radix * radix * self.pair, "i8")
        with Loop(f, self.zero, left) as outer, Loop(f, self.zero, radix) as made, Loop(f, self.zero, beside) as inner:
            own = f.gep(roots, made.index * radix * self.pair, "i8")
            start = outer.index * beside + inner.index
            with Loop(f, f.constant("i64", 1), radix, 1, self._get(source, start)) as term:
                x = self._get(source, start + beside * left * term.index)
                y = self._splat(f.gep(own, term.index * self.pair, "i8"))
                re, im = self._times(x, y)
                term.next = [term.values[0] + re, term.values[1] + im]
            twist = self._splat(f.gep(twists, (outer.index * radix + made.index) * self.pair, "i8"))
            re, im = term.results
            self._put(target, (outer.index * radix + made.index) * beside + inner.index, self._times((re, im), twist))

    def _two(self, xs: Sequence[Pair]) -> list[Pair]:
        return [_sum(xs[0], xs[1]), _difference(xs[0], xs[1])]

    def _four(self, xs: Sequence[Pair]) -> list[Pair]:
        a, b = self._two([xs[0], xs[2]])
        c, d = self._two([xs[1], xs[3]])
        quarter = self._quarter(d)
        return [_sum(a, c), _sum(b, quarter), _difference(a, c), _difference(b, quarter)]

    def _quarter(self, x: Pair) -> Pair:
        """A quarter of a turn, in the transform's direction."""
        return (-x[1], x[0]) if self.inverse else (x[1], -x[0])

    # --- real transforms

    def _ends(self, target: Value) -> None:
        """Elements from the front of the half transform with those from its end."""
        f, lanes = self.f, self.lanes
        last = f.gep(self.whole, self.half * self.pair, "i8")
        elements.store(f, elements.load(f, self.whole, self.dtype), last, self.dtype)
        with Loop(f, self.zero, self.half + 1, lanes) as loop:
            x = cast("Pair", self._loaded(self.whole, loop.index))
            back = cast("Pair", self._loaded(self.whole, self.half - loop.index - (lanes - 1)))
            re, im = (f.shuffle(part, part, range(lanes - 1, -1, -1)) for part in back)
            conjugate = re, -im
            turned = self._times(_difference(x, conjugate), cast("Pair", self._loaded(self.roots, loop.index)))
            both = _sum(x, conjugate)
            result = both[0].fma(0.5, turned[0]), both[1].fma(0.5, turned[1])
            self.store(result, f.gep(target, loop.index * self.pair, "i8"), self.half + 1 - loop.index)

    def _loaded(self, pointer: Value, index: Value) -> Element:
        return elements.load(self.f, self.f.gep(pointer, index * self.pair, "i8"), self.dtype, self.lanes)


def _sum(x: Pair, y: Pair) -> Pair:
    return x[0] + y[0], x[1] + y[1]


def _difference(x: Pair, y: Pair) -> Pair:
    return x[0] - y[0], x[1] - y[1]


KINDS: dict[str, Callable[[Function, Moved], object]] = {"fourier": _Fourier}
