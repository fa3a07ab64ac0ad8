"""A sort's recipe in, LLVM IR out: lines sorted stably by integer keys, by rank where short and byte by byte elsewhere.

Each line begins with the indices in order; for each key, the last first, indices are sorted by it; at the end every
operand is gathered by the indices.
"""

from __future__ import annotations

from collections.abc import Sequence

from celadon.cpu import elements
from celadon.cpu.elements import Element
from celadon.cpu.ir import Function, Value
from celadon.cpu.loops import Loop, Table, When, smaller
from celadon.cpu.recipe import Moved

BY_RANK = 32
_INDEX = "i64"


class Sort:
    """Table: extents of the other loops; lines of a piece, lines in all; the length of a line; scratch: an address and
    its bytes for each piece; for each operand, then each result, an address, strides of the other loops, the axis'
    stride. Range: pieces.
    """

    def __init__(self, f: Function, kernel: Moved):
        self.f, self.dtypes = f, kernel.dtypes
        loops, self.keys = kernel.facts
        self.counts = f.new("alloca [256 x i64], align 64", "ptr")
        table = Table(f)
        self.extents = [table.word() for _ in range(loops)]
        block, lines, self.length = table.word(), table.word(), table.word()
        scratch, room = table.address(), table.word()
        count = len(kernel.dtypes)
        arrays = [(table.address(), [table.word() for _ in range(loops)], table.word()) for _ in range(2 * count)]
        _, low, high = f.parameters
        with Loop(f, low, high) as piece:
            self.halves = self._halves(f.gep(scratch, piece.index * room, "i8"))
            first = piece.index * block
            with Loop(f, first, smaller(first + block, lines)) as line:
                digits = self._digits(line.index)
                placed = [self._placed(pointer, strides, digits) for pointer, strides, _ in arrays]
                steps = [step for _, _, step in arrays]
                self._line(list(zip(placed[:count], steps[:count], strict=True)), placed[count:], steps[count:])

    def _halves(self, scratch: Value) -> list[Value]:
        """Room for keys and indices, twice."""
        return [self.f.gep(scratch, self.length * k, _INDEX) for k in range(4)]

    def _digits(self, line: Value) -> list[Value]:
        digits: list[Value] = []
        for extent in reversed(self.extents[1:]):
            digits.append(self.f.binary("urem", line, extent))
            line = self.f.binary("udiv", line, extent)
        return [line, *reversed(digits)]

    def _placed(self, pointer: Value, strides: Sequence[Value], digits: Sequence[Value]) -> Value:
        for digit, stride in zip(digits, strides, strict=False):
            pointer = self.f.gep(pointer, digit * stride, "i8")
        return pointer

    def _line(self, operands: list[tuple[Value, Value]], results: list[Value], steps: list[Value]) -> None:
        f, zero = self.f, self.f.constant("i64", 0)
        keys, indices, other_keys, other_indices = self.halves
        with Loop(f, zero, self.length) as loop:
            f.store(loop.index, f.gep(indices, loop.index, _INDEX))
        for k in reversed(range(self.keys)):
            for part in reversed(range(2 if elements.is_complex(self.dtypes[k]) else 1)):
                self._fill(operands[k], self.dtypes[k], part, (keys, indices))
                halves = self._sorted(keys, indices, other_keys, other_indices, self._width(self.dtypes[k]))
                keys, indices, other_keys, other_indices = halves
        with Loop(f, zero, self.length) as loop:
            index = f.load(f.gep(indices, loop.index, _INDEX), _INDEX)
            for (source, step), target, out, dtype in zip(operands, results, steps, self.dtypes, strict=True):
                element = elements.load(f, f.gep(source, index * step, "i8"), dtype)
                elements.store(f, element, f.gep(target, loop.index * out, "i8"), dtype)

    def _fill(self, operand: tuple[Value, Value], dtype: str, part: int, to: tuple[Value, Value]) -> None:
        f, (source, step), (keys, indices) = self.f, operand, to
        with Loop(f, f.constant("i64", 0), self.length) as loop:
            index = f.load(f.gep(indices, loop.index, _INDEX), _INDEX)
            element = elements.load(f, f.gep(source, index * step, "i8"), dtype)
            f.store(key_of(element, dtype, part), f.gep(keys, loop.index, _INDEX))

    def _width(self, dtype: str) -> int:
        size = elements.itemsize(dtype) // (2 if elements.is_complex(dtype) else 1)
        return 4 if dtype in ("bf16", "f16") else size

    def _sorted(self, keys: Value, indices: Value, other_keys: Value, other_indices: Value, width: int) -> list[Value]:
        """Where keys and indices are after sorting, and the other half of the room."""
        f = self.f
        given = [keys, indices, other_keys, other_indices]
        short, long, done = f.fresh("short"), f.fresh("long"), f.fresh("sorted")
        f.branch(self.length.compare("sle", BY_RANK), short, long)
        f.label(short)
        self._by_rank(given)
        after_short = f.block
        f.jump(done)
        f.label(long)
        with Loop(f, f.constant("i64", 0), f.constant("i64", 8 * width), 8, given) as loop:
            loop.next = self._by_byte(loop.values, loop.index)
        after_long = f.block
        f.jump(done)
        f.label(done)
        turned = [*given[2:], *given[:2]]
        return [
            f.phi("ptr", 1, [(a, after_short), (b, after_long)]) for a, b in zip(turned, loop.results, strict=True)
        ]

    def _by_rank(self, halves: Sequence[Value]) -> None:
        """Each key goes where as many are smaller, or equal and before it."""
        f, zero = self.f, self.f.constant("i64", 0)
        keys, indices, to_keys, to_indices = halves
        with Loop(f, zero, self.length) as loop:
            key = f.load(f.gep(keys, loop.index, _INDEX), _INDEX)
            with Loop(f, zero, self.length, 1, [zero]) as other:
                rival = f.load(f.gep(keys, other.index, _INDEX), _INDEX)
                before = other.index.compare("slt", loop.index)
                ahead = before.select(rival.compare("ule", key), rival.compare("ult", key))
                other.next = [other.values[0] + ahead.convert("zext", _INDEX)]
            self._put(other.results[0], key, f.load(f.gep(indices, loop.index, _INDEX), _INDEX), (to_keys, to_indices))

    def _put(self, place: Value, key: Value, index: Value, to: tuple[Value, Value]) -> None:
        f = self.f
        f.store(key, f.gep(to[0], place, _INDEX))
        f.store(index, f.gep(to[1], place, _INDEX))

    def _by_byte(self, halves: Sequence[Value], shift: Value) -> list[Value]:
        """Sort by one byte of the keys; if it is the same in all, nothing is moved."""
        f = self.f
        keys, indices, to_keys, to_indices = halves
        self._count(keys, shift)
        first = self._counter(f.load(keys, _INDEX), shift)
        differs = f.load(first, _INDEX).compare("ne", self.length)
        with When(f, differs):
            self._sum_up()
            with Loop(f, f.constant("i64", 0), self.length) as loop:
                key = f.load(f.gep(keys, loop.index, _INDEX), _INDEX)
                counter = self._counter(key, shift)
                place = f.load(counter, _INDEX)
                f.store(place + 1, counter)
                self._put(place, key, f.load(f.gep(indices, loop.index, _INDEX), _INDEX), (to_keys, to_indices))
        turned = [to_keys, to_indices, keys, indices]
        return [differs.select(a, b) for a, b in zip(turned, halves, strict=True)]

    def _counter(self, key: Value, shift: Value) -> Value:
        return self.f.gep(self.counts, (key >> shift) & 255, _INDEX)

    def _count(self, keys: Value, shift: Value) -> None:
        f, zero = self.f, self.f.constant("i64", 0)
        with Loop(f, zero, f.constant("i64", 256)) as loop:
            f.store(zero, f.gep(self.counts, loop.index, _INDEX))
        with Loop(f, zero, self.length) as loop:
            counter = self._counter(f.load(f.gep(keys, loop.index, _INDEX), _INDEX), shift)
            f.store(f.load(counter, _INDEX) + 1, counter)

    def _sum_up(self) -> None:
        """Counts become the places where each byte's keys begin."""
        f, zero = self.f, self.f.constant("i64", 0)
        with Loop(f, zero, f.constant("i64", 256), 1, [zero]) as loop:
            counter = f.gep(self.counts, loop.index, _INDEX)
            loop.next = [loop.values[0] + f.load(counter, _INDEX)]
            f.store(loop.values[0], counter)


def key_of(element: Element, dtype: str, part: int = 0) -> Value:
    """An unsigned i64 in the order of the elements: NaN last, zeros equal, a complex number's part alone."""
    x = element[part] if isinstance(element, tuple) else element
    if dtype == "bool" or dtype[0] == "u":
        return x if x.kind == _INDEX else x.convert("zext", _INDEX)
    if x.is_float:
        found = x.equals(0.0).select(0, x.bits())
        width = 64 if x.kind == "f64" else 32
        turned = (found < 0).select(~found, found ^ -(1 << width - 1))
        found = x.is_nan().select(-1, turned)
    else:
        found = x ^ -(1 << elements.itemsize(dtype) * 8 - 1)
    return found if found.kind == _INDEX else found.convert("zext", _INDEX)
