"""The reference executor: a lowered program in, computed op by op with the NumPy rules; the oracle of the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from celadon.array import Array
from celadon.compiler import Numbers, Structure
from celadon.op import registry
from celadon.program import Program
from celadon.vocabulary.call import execute

Run = Callable[[Sequence[Array]], list[Array]]


def evaluate(program: Program, arrays: Sequence[Any]) -> list[Any]:
    """Run any program, traced or lowered, on NumPy arrays.

    Args:
        program: its ops have NumPy rules, or expand to ops that have.
        arrays: one for each input, of its shape and dtype.

    Returns:
        One NumPy array for each output, of its shape and dtype.

    >>> from celadon.tracing import recorded
    >>> from celadon.types import ArrayType, float32
    >>> from celadon.vocabulary import add
    >>> with recorded() as record:
    ...     x = record.input(ArrayType((2,), float32))
    ...     program = record.program([add(x, x)])
    >>> evaluate(program, [np.ones(2, "float32")])
    [array([2., 2.], dtype=float32)]
    """
    return execute(program, [np.asarray(x) for x in arrays])


class Reference:
    """The executor that has NumPy compute each op. It has every op; compiling costs nothing."""

    name = "reference"
    takes = frozenset({"scalars", "arrays"})
    reserve = None

    @property
    def native(self) -> frozenset[str]:
        """All macro ops with a NumPy rule of their own."""
        macros = {name: op for name, op in registry.items() if op.expand is not None and not op.effects}
        return frozenset(name for name, op in macros.items() if op.numpy is not None)

    def adapted(self, program: Program) -> Program:
        """The program as it is."""
        return program

    def lacks(self, program: Program) -> list[str]:
        """The ops that have no meaning in NumPy."""
        return sorted({x.op.name for x in program.equations if x.op.numpy is None and x.op.expand is None})

    def compile(self, structure: Structure) -> Executable:
        """Nothing is made; the structure's program is what runs."""
        return Executable(structure.program)


class Executable:
    """A program that runs op by op."""

    nbytes = kernels = compiled = 0

    def __init__(self, program: Program):
        self.program = program

    def bind(self, structure: Structure, numbers: Numbers) -> Run:
        """A callable of the program's own arrays; captured arrays and scalars are handed over with them."""
        program = self.program
        scalars = zip(numbers.scalars, program.inputs[len(program.inputs) - structure.scalars :], strict=True)
        held = [*map(np.asarray, numbers.arrays), *(np.asarray(x, var.type.dtype) for x, var in scalars)]
        types = [x.type for x in structure.program.outputs]

        def run(arrays: Sequence[Array]) -> list[Array]:
            results = execute(program, [*(x.host for x in arrays), *held])
            return [Array(t, host=x) for t, x in zip(types, results, strict=True)]

        return run
