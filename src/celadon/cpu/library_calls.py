"""How ops are calls of LAPACK: matrices are put as it wants them, then a routine is called for each of a stack."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from celadon.cpu import blas
from celadon.cpu.fuse import Fusion
from celadon.cpu.layout import dense
from celadon.cpu.plan import WORD, Planner, product, unit_of
from celadon.cpu.recipe import Alias, Extra, Launch, Moved
from celadon.cpu.routines import ROUTINES, Argument, Call, Shapes
from celadon.cpu.tables import STEP
from celadon.program import Equation, Var
from celadon.types import ArrayType, short_name
from celadon.vocabulary.stacks import ranks

_MOVED = 1.0
_ALIGNED = 64


class _Matrices:
    """The operands and results of one equation on their way to a routine."""

    def __init__(self, fusion: Fusion, index: int):
        self.fusion, self.index = fusion, index
        self.equation = fusion.program.equations[index]
        self.routine = ROUTINES[self.equation.op.name]
        found = ranks(self.equation)
        count = len(self.equation.inputs)
        self.given, self.made = found[:count], found[count:]

    def run(self) -> None:
        fusion, inputs, outputs = self.fusion, self.equation.inputs, self.equation.outputs
        into = {operand: result for result, operand in self.routine.inplace.items()}
        reads = [self._operand(i, into.get(i)) for i in range(len(inputs))]
        writes = [self._result(k, reads) for k in range(len(outputs))]
        copies = [reads[i] for i in range(len(inputs)) if i not in self.routine.kept and i not in into]
        call = Shapes(self.equation)
        kernel = Moved("routine", (), letters(self.routine.make(call)))
        fusion.launch(
            kernel, rule="routine", like=writes[0], loops=(), reads=tuple(reads), writes=(*writes, *copies),
            equation=self.index,
        )  # fmt: skip
        for k, (var, buffer) in enumerate(zip(outputs, writes, strict=True)):
            if self._by_columns(self.made[k]):
                self._seen_by_rows(var, buffer)

    def _by_columns(self, rank: int) -> bool:
        return rank == 2 and not self.routine.rows

    def _operand(self, i: int, result: int | None) -> int:
        fusion = self.fusion
        number = fusion.number(self.equation.inputs[i])
        if i in self.routine.kept:
            return fusion.dense(number)
        if self._by_columns(self.given[i]):
            number = self._turned(number)
        elif result is not None:
            fusion.copy(number, out := fusion.define(self.equation.outputs[result]))
            return out
        copy = fusion.temporary(number, short_name(fusion.types[number].dtype))
        fusion.copy(number, copy)
        return copy

    def _turned(self, number: int) -> int:
        """A view with rows and columns exchanged."""
        type = self.fusion.types[number]
        axes = exchanged(type.ndim)
        extents = tuple([(number, i) for i in axes])
        return self.fusion.arranged(number, axes, type.with_shape(tuple([type.shape[i] for i in axes])), extents)

    def _result(self, k: int, reads: Sequence[int]) -> int:
        fusion, var = self.fusion, self.equation.outputs[k]
        if k in self.routine.inplace:
            return reads[self.routine.inplace[k]]
        if not self._by_columns(self.made[k]):
            return fusion.define(var)
        number, axes = fusion.numbers[var], exchanged(var.type.ndim)
        shape = tuple([var.type.shape[i] for i in axes])
        extra = Extra(short_name(var.type.dtype), axes=tuple([(number, i) for i in axes]))
        return fusion.extra(extra, ArrayType(shape, var.type.dtype))

    def _seen_by_rows(self, var: Var, buffer: int) -> None:
        fusion, number, axes = self.fusion, self.fusion.numbers[var], exchanged(var.type.ndim)
        layout = dense(fusion.types[buffer].shape)
        fusion.layouts[number] = tuple([layout[i] for i in axes])
        fusion.steps.append(Alias("arranged", -1, buffer, number, axes))


def exchanged(rank: int) -> tuple[int, ...]:
    """All axes, the last two exchanged."""
    return (*range(rank - 2), rank - 1, rank - 2)


def letters(call: Call) -> tuple[str, int]:
    """What the code of a call depends on."""
    found = ["a" if x.letter in "or" else x.letter for x in call.arguments]
    return "".join(found), call.characters


def routine(fusion: Fusion, index: int) -> None:
    _Matrices(fusion, index).run()


def plan_routine(planner: Planner, launch: Launch) -> None:
    equation = planner.equations[launch.equation]
    call = ROUTINES[equation.op.name].make(Shapes(equation))
    count, own = stack_of(equation)
    if not count:
        return
    nanoseconds = count * call.nanoseconds
    block = unit_of(count, nanoseconds)
    pieces = -(-count // block)
    sizes = [-(-x.value // _ALIGNED) * _ALIGNED if x.letter == "w" else 0 for x in call.arguments]
    room = planner.scratch(pieces * sum(sizes))
    at = planner.here
    words = [blas.address(call.name), block, count]
    used = 0
    for argument, size in zip(call.arguments, sizes, strict=True):
        words += _argument_words(planner, launch, argument, own, at)
        if argument.letter == "w":
            words += (planner.outline.arena_cell * WORD - at, room + used, sum(sizes))
            used += size
    planner.step(launch.kernel, words, pieces, 1, nanoseconds + STEP)


def _argument_words(planner: Planner, launch: Launch, argument: Argument, own: Sequence[int], at: int) -> list[int]:
    """The words of a literal or an array; those of work are the caller's, that of none is none."""
    if argument.letter == "l":
        return list(struct.unpack("<2q", argument.value.ljust(16, b"\0")))
    if argument.letter not in "or":
        return []
    operands = len(launch.reads)
    number = (launch.reads if argument.letter == "o" else launch.writes)[argument.value]
    place = planner.place(number)
    size = own[argument.value + (operands if argument.letter == "r" else 0)] * planner.sizes[number]
    return [place.cell * WORD - at, place.offset + argument.skipped * planner.sizes[number], size]


def stack_of(equation: Equation) -> tuple[int, list[int]]:
    """How many matrices there are, and how many elements each operand and result has for one of them."""
    types = [x.type for x in (*equation.inputs, *equation.outputs)]
    found = ranks(equation)
    stack = types[0].shape[: types[0].ndim - found[0]]
    return product(stack), [product(t.shape[t.ndim - rank :]) for t, rank in zip(types, found, strict=True)]


# --- exchanges of rows


def laswp(fusion: Fusion, index: int) -> None:
    equation = fusion.program.equations[index]
    out = fusion.define(equation.outputs[0])
    fusion.copy(fusion.number(equation.inputs[0]), out)
    _exchange(fusion, index, "i32", (out, fusion.stored(equation.inputs[1])), out)


def permutation(fusion: Fusion, index: int) -> None:
    equation = fusion.program.equations[index]
    pivots = fusion.stored(equation.inputs[0])
    out = fusion.define(equation.outputs[0])
    _exchange(fusion, index, short_name(equation.inputs[0].type.dtype), (pivots,), out)


def _exchange(fusion: Fusion, index: int, dtype: str, reads: tuple[int, ...], out: int) -> None:
    kernel = Moved("exchange", (dtype,), (len(reads) == 1,))
    fusion.launch(kernel, rule="exchange", like=out, loops=(), reads=reads, writes=(out,), equation=index)


def plan_exchange(planner: Planner, launch: Launch) -> None:
    """Pivots of laswp are counted from 1; those of a permutation from 0."""
    equation, at = planner.equations[launch.equation], planner.here
    out, pivots = launch.writes[0], launch.reads[-1]
    counted = equation.op.name != "laswp"
    size, shape = planner.sizes[out], planner.shapes[out]
    rows, columns = (shape[-1], 1) if counted else shape[-2:]
    count = planner.shapes[pivots][-1]
    matrices = product(shape[:-1] if counted else shape[:-2])
    if not rows * columns * matrices:
        return
    reverse = equation.params.get("reverse", False)
    words = [rows, columns * size // 4, count, *((count - 1, -1) if reverse else (0, 1)), 0 if counted else 1]
    for number, elements in ((out, rows * columns), (pivots, count)):
        place = planner.place(number)
        words += (place.cell * WORD - at, place.offset, elements * planner.sizes[number])
    nanoseconds = matrices * (count * columns * _MOVED + rows * counted)
    planner.step(launch.kernel, words, matrices, unit_of(matrices, nanoseconds), nanoseconds + STEP)
