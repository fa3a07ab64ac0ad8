"""Traced program in, lowered program out: dead code dropped, macro ops expanded; text and simplify are next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from celadon.compiler.keys import without_keys
from celadon.op import Op
from celadon.program import Equation, Literal, Operand, Program, Source, Var, bodies, remembered, with_bodies
from celadon.tracing import Record, Recorded, interpreting
from celadon.vocabulary.bodies import without_dead_code

NONE: frozenset[str] = frozenset()


def lower(program: Program, native: frozenset[str] = NONE) -> Program:
    """The program in lowered ops only: no dead code, no macro op but those named in `native`.

    Programs inside it (private functions, bodies) are lowered too, once each.

    >>> lower(Program((), (), ())).equations
    ()
    """
    return remembered(program, ("lowered", native), lambda: _lowered(program, native))


def _lowered(program: Program, native: frozenset[str]) -> Program:
    live = without_dead_code(without_keys(program))
    if all(_is_lowered(equation, native) for equation in live.equations):
        return live
    return without_dead_code(_Expansion(native).run(live))


def _is_lowered(equation: Equation, native: frozenset[str]) -> bool:
    op = equation.op
    if op.expand is not None and op.name not in native:
        return False
    return not op.multiple or all(lower(body, native) is body for body in bodies(equation.params))


class _Expansion:
    """Runs a program under a recorder that expands the macro ops it meets."""

    def __init__(self, native: frozenset[str]):
        self.native = native

    def run(self, program: Program) -> Program:
        record = _Expanding(program.name, self.native)
        values: dict[Var, Any] = {}
        for var in program.inputs:
            values[var] = Recorded(record, var)
        for var, _ in program.captures:
            values[var] = Recorded(record, var)
        record.inputs = list(program.inputs)
        with interpreting(record):
            for equation in program.equations:
                self._step(record, equation, values)
        outputs = [record.operand(_value(x, values)) for x in program.outputs]
        return Program(program.inputs, record.equations, outputs, program.captures, program.name)

    def _step(self, record: _Expanding, equation: Equation, values: dict[Var, Any]) -> None:
        record.source = equation.source
        inputs = [_value(x, values) for x in equation.inputs]
        results = record.apply(equation.op, inputs, equation.params)
        results = results if equation.op.multiple else [results]
        values.update(zip(equation.outputs, results, strict=True))


def _value(operand: Operand, values: dict[Var, Any]) -> Any:
    return operand if type(operand) is Literal else values[operand]  # pyright: ignore[reportArgumentType]


class _Expanding(Record):
    """A recorder whose equations keep the source of the one that is being expanded."""

    def __init__(self, name: str, native: frozenset[str]):
        super().__init__(name)
        self.native = native
        self.source: Source | None = None

    def apply(self, op: Op, operands: Sequence[Any], params: dict[str, Any]) -> Any:
        if op.multiple:
            params = with_bodies(params, lambda body: lower(body, self.native))
        if op.expand is not None and op.name not in self.native:
            return op.expand(*operands, **params)
        inputs = [self.operand(x) for x in operands]
        types = op.result_type(*[x.type for x in inputs], **params)
        outputs = [Var(t) for t in types] if op.multiple else [Var(types)]
        self.equations.append(Equation(op, inputs, outputs, params, self.source))
        if op.multiple:
            return [Recorded(self, var) for var in outputs]
        return Recorded(self, outputs[0])
