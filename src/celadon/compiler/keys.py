"""A program with typed random keys in, the same program on their bits out: the first thing that lower does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from celadon.keys import BITS, is_key
from celadon.program import Equation, Literal, Operand, Program, Var, remembered
from celadon.types import ArrayType


def without_keys(program: Program) -> Program:
    """The program with unsigned integers of 64 bits where it had keys; programs in its equations' parameters likewise.

    >>> without_keys(Program((), (), ())).outputs
    ()
    """
    return remembered(program, "without keys", lambda: _Bits().program(program) if _has_keys(program) else program)


def _has_keys(program: Program) -> bool:
    made = [var for equation in program.equations for var in equation.outputs]
    values = [*program.inputs, *(var for var, _ in program.captures), *made, *program.outputs]
    if any(is_key(x.type.dtype) for x in values):
        return True
    return any(_has_keys(inner) for equation in program.equations for inner in _inner(equation))


def _inner(equation: Equation) -> list[Program]:
    found: list[Program] = []
    for value in equation.params.values():
        found += [x for x in (value if isinstance(value, tuple | list) else [value]) if isinstance(x, Program)]
    return found


class _Bits:
    """A program being rewritten: what stands for its variables and literals that are keys."""

    def __init__(self) -> None:
        self.found: dict[Operand, Operand] = {}

    def program(self, program: Program) -> Program:
        captures = [(self.var(var), self._array(array)) for var, array in program.captures]
        inputs = [self.var(x) for x in program.inputs]
        equations = [self._equation(equation) for equation in program.equations]
        outputs = [self.operand(x) for x in program.outputs]
        return replace(program, inputs=inputs, equations=equations, outputs=outputs, captures=captures)

    def operand(self, x: Operand) -> Operand:
        if not is_key(x.type.dtype):
            return x
        if x not in self.found:
            type = ArrayType(x.type.shape, BITS)
            self.found[x] = Var(type) if isinstance(x, Var) else Literal(_bits(x.value), type, x.fixed)
        return self.found[x]

    def var(self, x: Var) -> Var:
        found = self.operand(x)
        assert isinstance(found, Var)
        return found

    def _array(self, array: Any) -> Any:
        return array.typed(ArrayType(array.type.shape, BITS)) if is_key(array.type.dtype) else array

    def _equation(self, equation: Equation) -> Equation:
        params = {name: _param(value) for name, value in equation.params.items()}
        inputs, outputs = [*map(self.operand, equation.inputs)], [*map(self.var, equation.outputs)]
        return replace(equation, inputs=inputs, outputs=outputs, params=params)


def _bits(value: Any) -> Any:
    return np.asarray(value).view(BITS)[()]


def _param(value: Any) -> Any:
    if isinstance(value, Program):
        return without_keys(value)
    if isinstance(value, tuple | list):
        return type(value)(map(_param, value)) if any(isinstance(x, Program) for x in value) else value
    return BITS if isinstance(value, np.dtype) and is_key(value) else value
