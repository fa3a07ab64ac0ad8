"""A step of a plan in; out, what it has to do: bytes that it reads and writes at least, floating-point operations."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import NamedTuple

from celadon.compiler.price import flops_of
from celadon.cpu import elements, elementwise, llvm
from celadon.cpu.inspect_plan import Mark
from celadon.cpu.ir import Function
from celadon.cpu.kinds import letter
from celadon.cpu.library_calls import stack_of
from celadon.cpu.plan import Place, Planner, extents_of, product
from celadon.cpu.recipe import Body, Constant, Hosted, Launch, Map, Pass, Reduce, Rows
from celadon.cpu.routines import ROUTINES, Shapes
from celadon.program import Equation

_PARTS = ("beside", "padded", "addressed")  # rules of plan whose step fills a part of what it writes
_ARITHMETIC = re.compile(r"= (?:fadd|fsub|fmul|fdiv|frem) |@llvm\.sqrt\.")
_TWO = re.compile(r"@llvm\.fma\.")


class Work(NamedTuple):
    """What one run of a step reads and writes in bytes, each place once, and its floating-point operations, those of
    polynomials counted; `wide` if they are of float64."""

    read: int
    written: int
    flops: float
    wide: bool


NOTHING = Work(0, 0, 0.0, False)


def work(planner: Planner, mark: Mark) -> Work:
    """The work of a step but for what the lists do that it runs."""
    purpose = mark.purpose
    if purpose is None or mark.function:
        return NOTHING
    read, written = _moved_bytes(planner, mark)
    dtypes = [planner.outline.dtypes[n] for n in (*purpose.reads, *purpose.writes)]
    wide = any(dtype in ("f64", "c128") for dtype in dtypes)
    equation = planner.equations[purpose.equation] if purpose.equation >= 0 else None
    if isinstance(purpose, Hosted):
        return Work(read, written, flops_of(equation) if equation is not None and equation.op.name == "fft" else 0.0, wide)
    assert isinstance(purpose, Launch)
    return Work(read, written, _flops(planner, mark, purpose, equation), wide)


def footprint(planner: Planner, marks: Iterable[Mark]) -> int:
    """The bytes that steps and the lists that they run touch: of each buffer from the first one to the last."""
    ends: dict[int, tuple[int, int]] = {}
    for mark in marks:
        _touch(planner, mark, ends)
    return sum(last - first for first, last in ends.values())


def _touch(planner: Planner, mark: Mark, ends: dict[int, tuple[int, int]]) -> None:
    for number, place in mark.places.items():
        start, end = ends.get(place.cell, (place.offset, 0))
        ends[place.cell] = min(start, place.offset), max(end, place.offset + _bytes(planner, number, place))
    for inner in mark.lists:
        for one in inner:
            _touch(planner, one, ends)


def _moved_bytes(planner: Planner, mark: Mark) -> tuple[int, int]:
    purpose = mark.purpose
    assert purpose is not None
    read = _sum(planner, mark, purpose.reads)
    written = _sum(planner, mark, purpose.writes)
    rule = purpose.rule if isinstance(purpose, Launch) else ""
    if rule in _PARTS and isinstance(purpose, Launch):
        written = product(planner.shapes[purpose.like]) * planner.sizes[purpose.writes[0]]
        read = min(read, written)
    elif rule == "gather":
        read = read - _sum(planner, mark, purpose.reads[:1]) + written
    elif rule == "scatter":
        combined = _sum(planner, mark, purpose.reads[:1])
        read, written = read + combined, combined
    elif rule == "address":
        read, written = _sum(planner, mark, purpose.reads[1:]), 8
    return read, written


def _sum(planner: Planner, mark: Mark, numbers: Iterable[int]) -> int:
    known = [(mark.places[n], _bytes(planner, n, mark.places[n])) for n in numbers if n in mark.places]
    return sum(nbytes for _, _, nbytes in {(place.cell, place.offset, nbytes) for place, nbytes in known})


def _bytes(planner: Planner, number: int, place: Place) -> int:
    """Of the elements that a view has, each counted once."""
    pairs = zip(planner.shapes[number], place.strides or (1,) * len(planner.shapes[number]), strict=True)
    return product([extent for extent, stride in pairs if stride]) * planner.sizes[number]


def _flops(planner: Planner, mark: Mark, launch: Launch, equation: Equation | None) -> float:
    kernel = planner.outline.schedule.kernels[mark.kernel]
    if isinstance(kernel, Map):
        loops = extents_of(planner.shapes[launch.like], launch.loops) if launch.loops else [1]
        return product(loops) * _body(kernel.body)
    if isinstance(kernel, Reduce):
        if mark.kernel != launch.kernel:
            return 0.0
        combining = operations(kernel.op, (kernel.dtype, kernel.dtype), kernel.dtype) if kernel.op in elementwise.rows else 1
        return product(planner.shapes[launch.like]) * (_body(kernel.body) + combining)
    if isinstance(kernel, Rows):
        return sum(_of_pass(planner, kernel, one, launch) for one in kernel.passes)
    if equation is None:
        return 0.0
    if kernel.kind == "rounds":
        rounds = equation.params.get("length", 0)  # of a loop that counts as it runs, not known
        return float(rounds * sum(_body(fact) for fact in kernel.facts if isinstance(fact, Body)))
    if kernel.kind == "routine":
        return stack_of(equation)[0] * ROUTINES[equation.op.name].make(Shapes(equation)).flops
    return flops_of(equation)


def _of_pass(planner: Planner, kernel: Rows, one: Pass, launch: Launch) -> float:
    """Of a walk along all rows, or of what is computed once a row; each reduction combines once an element."""
    shape = planner.shapes[launch.like]
    once = all(kernel.operands[k].source in ("value", "number", "scalar") for k in one.operands)
    elements = product([shape[i] for loop in launch.loops[: kernel.kept] for i in loop]) if once else product(shape)
    return elements * (_body(one.body) + sum(bool(sink.op) for sink in one.sinks))


def _body(body: Body) -> int:
    return sum(
        operations(node.op, tuple([body.dtype(place) for place in node.operands]), node.dtype, node.params)
        for node in body.nodes
        if not all(isinstance(place, Constant) for place in node.operands)
    )


@functools.lru_cache(1024)
def operations(op: str, dtypes: tuple[str, ...], out: str, params: tuple[tuple[str, object], ...] = ()) -> int:
    """Floating-point operations of the machine code of an elementwise op, an element: of its usual path.

    >>> operations("add", ("f32", "f32"), "f32"), operations("add", ("i32", "i32"), "i32")
    (1, 0)
    >>> operations("multiply", ("c64", "c64"), "c64") >= 6, operations("exponential", ("f32",), "f32") > 10
    (True, True)
    """
    if letter(out) not in "fc" and not any(letter(dtype) in "fc" for dtype in dtypes):
        return 0
    f = Function("counted", [("ptr", 1)] * len(dtypes), None, target=llvm.target())
    given = [elements.load(f, pointer, dtype) for pointer, dtype in zip(f.parameters, dtypes, strict=True)]
    before = len(f.lines)
    elementwise.emit(op, given, dtypes, out, dict(params))
    return _counted(f, before)


def _counted(f: Function, start: int = 0) -> int:
    """Of a function's lines and of those that it calls, without blocks that run for rare arguments only."""
    callees = {name: calls[0].callee for name, calls in f.calls.items()}
    total, skipped_to = 0, ""
    for line in f.lines[start:]:
        block = re.match(r"(rare|when)(\d+):", line)
        if skipped_to:
            skipped_to = "" if line == skipped_to else skipped_to
        elif block is not None:
            skipped_to = f"done{int(block[2]) + 1}:"
        else:
            called = re.search(r"call fastcc .*@([\w.]+)\(", line)
            total += bool(_ARITHMETIC.search(line)) + 2 * bool(_TWO.search(line))
            total += _counted(callees[called[1]]) if called is not None and called[1] in callees else 0
    return total


__all__ = ["NOTHING", "Work", "footprint", "operations", "work"]
