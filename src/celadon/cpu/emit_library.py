"""Recipes of calls into LAPACK in, LLVM IR out: a routine called for each matrix of a stack, and exchanges of rows."""

from __future__ import annotations

from collections.abc import Callable

from celadon.cpu import elements
from celadon.cpu.ir import Function, Value
from celadon.cpu.loops import Loop, Table, smaller
from celadon.cpu.recipe import Moved


class _Routine:
    """Calls of one Fortran routine, all arguments by address. Range: pieces of the stack.

    Table: the routine; matrices of a piece, matrices in all; then the arguments, by a letter each: l, a number or character
    that stands in the table itself; a, an array's address and its bytes for each matrix; w, room for work: its address and
    its bytes for each piece; n, no address. Fortran wants the lengths of character arguments at the end.
    """

    def __init__(self, f: Function, kernel: Moved):
        letters, characters = kernel.facts
        self.f, table = f, Table(f)
        routine, block, count = table.word("ptr"), table.word(), table.word()
        arguments = [self._argument(table, letter) for letter in letters]
        _, low, high = f.parameters
        with Loop(f, low, high) as piece:
            first = piece.index * block
            with Loop(f, first, smaller(first + block, count)) as matrix:
                steps = {"a": matrix.index, "w": piece.index}
                given = [
                    pointer if step is None else f.gep(pointer, steps[letter] * step, "i8")
                    for letter, (pointer, step) in zip(letters, arguments, strict=True)
                ]
                lengths = ["i64 1"] * characters
                f.raw(f"call void {routine.text}({', '.join([*(x.typed for x in given), *lengths])})")

    def _argument(self, table: Table, letter: str) -> tuple[Value, Value | None]:
        if letter == "l":
            place = self.f.gep(table.base, table.at, "i64")
            table.at += 2
            return place, None
        if letter == "n":
            return Value("null", "ptr", 1, self.f), None
        return table.address(), table.word()


class _Exchange:
    """Rows of matrices exchanged by pivots, one after the other. Range: matrices of a stack.

    Table: rows and words of four bytes in a row; how many pivots, the first one's number, the step to the next, what is
    subtracted from a pivot; the matrices and the pivots, each an address and bytes for each matrix. The rows of a kernel
    that numbers them are their own numbers first.
    """

    def __init__(self, f: Function, kernel: Moved):
        self.f, (dtype,), (numbers,) = f, kernel.dtypes, kernel.facts
        table = Table(f)
        rows, self.words, count, start, step, base = (table.word() for _ in range(6))
        matrices, pivots = ((table.address(), table.word()) for _ in range(2))
        zero = f.constant("i64", 0)
        _, low, high = f.parameters
        with Loop(f, low, high) as matrix:
            x, order = (f.gep(pointer, matrix.index * size, "i8") for pointer, size in (matrices, pivots))
            if numbers:
                with Loop(f, zero, rows) as row:
                    f.store(self._narrowed(row.index, dtype), f.gep(x, row.index, dtype_kind(dtype)))
            with Loop(f, zero, count) as turn:
                place = start + turn.index * step
                found = elements.load(f, f.gep(order, place, dtype_kind(dtype)), dtype)
                assert isinstance(found, Value)
                other = (found if found.kind == "i64" else found.convert("sext", "i64")) - base
                self._swap(x, place, other)

    def _narrowed(self, number: Value, dtype: str) -> Value:
        kind = dtype_kind(dtype)
        return number if kind == "i64" else number.convert("trunc", kind)

    def _swap(self, x: Value, one: Value, other: Value) -> None:
        f = self.f
        first, second = (f.gep(x, row * self.words, "i32") for row in (one, other))
        with Loop(f, f.constant("i64", 0), self.words) as word:
            here, there = (f.gep(row, word.index, "i32") for row in (first, second))
            kept, moved = f.load(here, "i32", align=4), f.load(there, "i32", align=4)
            f.store(moved, here, align=4)
            f.store(kept, there, align=4)


def dtype_kind(dtype: str) -> str:
    """How integers of a dtype lie in memory."""
    return f"i{elements.itemsize(dtype) * 8}"


KINDS: dict[str, Callable[[Function, Moved], object]] = {"routine": _Routine, "exchange": _Exchange}

