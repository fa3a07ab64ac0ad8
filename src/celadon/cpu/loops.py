"""What every kernel is written with: its table read word by word, loops with carried values, conditions."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType

from celadon.cpu import llvm
from celadon.cpu.ir import Function, Value

WORD = 8


def kernel_function(name: str) -> Function:
    """void name(table, lo, hi), which the driver calls."""
    return Function(name, [("ptr", 1), ("i64", 1), ("i64", 1)], None, external=True, target=llvm.target())


class Table:
    """Reads a kernel's table in order, in its entry block.

    An address takes two words: how far from this table the word lies that holds the buffer's address, and an offset.
    """

    def __init__(self, f: Function):
        self.f, self.base, self.at = f, f.parameters[0], 0

    def word(self, kind: str = "i64") -> Value:
        found = self.f.load(self.f.gep(self.base, self.at, "i64"), kind)
        self.at += 1
        return found

    def address(self) -> Value:
        f = self.f
        cell = f.gep(self.base, self.word(), "i8")
        return f.gep(f.load(cell, "ptr"), self.word(), "i8")


class Loop:
    """for index in range(start, stop, step), with carried values; use as a context manager.

    Set `next` to the values to carry on; after the block `results` are those carried out, or the first if it never ran.
    """

    def __init__(self, f: Function, start: Value, stop: Value, step: Value | int = 1, carried: Sequence[Value] = ()):
        self.f, self.start, self.stop, self.step, self.first = f, start, stop, step, list(carried)
        self.body, self.latch, self.exit = (f.fresh(word) for word in ("loop", "latch", "exit"))
        self.next: list[Value] = []
        self.results: list[Value] = []

    def __enter__(self) -> Loop:
        f = self.f
        self.before = f.block
        f.branch(f.compare("slt", self.start, self.stop), self.body, self.exit)
        f.label(self.body)
        self.at = len(f.lines)
        self.index = f.new("", "i64")
        self.values = [f.new("", v.kind, v.lanes) for v in self.first]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            return
        f = self.f
        f.jump(self.latch)
        f.label(self.latch)
        after = f.binary("add", self.index, self.step)
        f.branch(f.compare("slt", after, self.stop), self.body, self.exit)
        for k, (value, first, then) in enumerate(
            zip([self.index, *self.values], [self.start, *self.first], [after, *self.next], strict=True)
        ):
            arms = f"[ {first.text}, %{self.before} ], [ {then.text}, %{self.latch} ]"
            f.lines[self.at + k] = f"  {value.text} = phi {value.type} {arms}"
        f.label(self.exit)
        self.results = [
            f.phi(v.kind, v.lanes, [(v, self.before), (then, self.latch)])
            for v, then in zip(self.first, self.next, strict=True)
        ]


class When:
    """A block that runs where a condition holds; use as a context manager."""

    def __init__(self, f: Function, condition: Value):
        self.f, self.condition = f, condition
        self.yes, self.done = f.fresh("when"), f.fresh("done")

    def __enter__(self) -> When:
        self.f.branch(self.condition, self.yes, self.done)
        self.f.label(self.yes)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.f.jump(self.done)
            self.f.label(self.done)


def smaller(x: Value, y: Value | int) -> Value:
    """The smaller of two signed integers."""
    return x.compare("slt", y).select(x, y)


def digits_of(f: Function, number: Value, sizes: Sequence[Value]) -> list[Value]:
    """A number written in digits of the given sizes, the last the fastest."""
    digits: list[Value] = []
    for size in reversed(sizes[1:]):
        size = size.compare("sgt", 0).select(size, 1)
        digits.append(f.binary("urem", number, size))
        number = f.binary("udiv", number, size)
    return [number, *reversed(digits)]


def advanced(f: Function, digits: Sequence[Value], sizes: Sequence[Value]) -> list[Value]:
    """The digits of the next number."""
    found: list[Value] = []
    carry: Value | None = None
    for k in reversed(range(len(digits))):
        more = digits[k] + 1
        value = more if carry is None else carry.select(more, digits[k])
        if k:
            full = value.equals(sizes[k])
            found.append(full.select(0, value))
            carry = full
        else:
            found.append(value)
    return found[::-1]
