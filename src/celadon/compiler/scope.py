"""One region of StableHLO text while it is written: MLIR's names for its values, and its lines; for stablehlo.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from celadon.compiler import constants
from celadon.compiler.constants import signature
from celadon.program import Equation, Literal, Operand, Program, Var
from celadon.types import ArrayType

Lines = list[str]
Later = Callable[[], Lines]


class Symbols(Protocol):
    """What a scope asks of the module it is part of."""

    full: bool
    located: bool

    def location(self, equation: Equation) -> str:
        """What a line says of where its op comes from."""
        ...

    def symbol(self, equation: Equation) -> str:
        """The name of the private function that an equation calls, with its @."""
        ...

    def callback(self, equation: Equation) -> int:
        """The index of the call of a Python function."""
        ...

    def write(self, scope: Scope, equation: Equation, operands: list[str]) -> None:
        """Write one equation."""
        ...


class Scope:
    """The lines of one region and the names in it.

    MLIR numbers all values of a region before those of the regions nested in it, so the text of an op with regions is
    made at the end of its own (`later`). Values without a name of their own are %0, %1; constants are %cst and %c, and
    a name already taken gets a number, counted for the whole function.
    """

    __slots__ = ("arguments", "bases", "conflicts", "lines", "names", "nested", "pad", "pending", "symbols", "values")

    def __init__(self, symbols: Symbols, outer: Scope | None = None):
        self.symbols = symbols
        self.nested = outer is not None
        self.values: int = outer.values if outer else 0
        self.arguments: int = outer.arguments if outer else 0
        self.conflicts: int = outer.conflicts if outer else 0
        self.bases: set[str] = set(outer.bases) if outer else set()
        self.names: dict[Var, str] = outer.names if outer else {}
        self.pad: str = outer.pad + "  " if outer else "    "
        self.lines: Lines = []
        self.pending: list[tuple[int, Later]] = []

    def region(self) -> Scope:
        """A region nested in this one; only for text that is made later."""
        return Scope(self.symbols, self)

    def argument(self) -> str:
        """The name of the next argument of this region."""
        self.arguments += 1
        return f"%arg{self.arguments - 1}"

    def named(self, base: str) -> str:
        """A value name with a meaning, made unique as MLIR does."""
        if base not in self.bases:
            self.bases.add(base)
            return f"%{base}"
        self.conflicts += 1
        return f"%{base}_{self.conflicts - 1}"

    def number(self) -> str:
        """The next name of a value that has none of its own."""
        self.values += 1
        return f"%{self.values - 1}"

    def value(self, text: str) -> str:
        """Write an op with one result; its name is returned."""
        name = self.number()
        self.lines.append(f"{self.pad}{name} = {text}")
        return name

    def bind(self, variables: Sequence[Var], text: str | None = None) -> str:
        """Name the results of an op that has any count of them, writing it if its text is known; returns `%0:2 = `."""
        count = len(variables)
        number = self.number() if count else ""
        if count == 1:
            self.names[variables[0]] = number
        else:
            self.names.update({var: f"{number}#{i}" for i, var in enumerate(variables)})
        head = f"{number} = " if count == 1 else f"{number}:{count} = " if count else ""
        if text is not None:
            self.lines.append(f"{self.pad}{head}{text}")
        return head

    def later(self, make: Later) -> None:
        """Keep a place for lines that are made once all values of this region have their names."""
        self.pending.append((len(self.lines), make))
        self.lines.append("")

    def finished(self) -> Lines:
        """All lines, nested regions included."""
        if not self.pending:
            return self.lines
        lines: Lines = []
        start = 0
        for place, make in self.pending:
            lines += self.lines[start:place]
            lines += make()
            start = place + 1
        return lines + self.lines[start:]

    def constant(self, value: Any, type: ArrayType) -> str:
        """Write a scalar constant; its name is returned."""
        name = self.named(constants.base_name(type.dtype))
        text = constants.scalar_constant(np.asarray(value, type.dtype).tobytes(), type.dtype)
        self.lines.append(f"{self.pad}{name} = {text}")
        return name

    def captured(self, array: Any) -> str:
        """Write a constant array; its name is returned."""
        host = np.asarray(array)
        name = self.named(constants.base_name(host.dtype))
        self.lines.append(f"{self.pad}{name} = {constants.array_constant(host, self.symbols.full)}")
        return name

    def operand(self, x: Operand) -> str:
        """The name of an operand; a literal's constant is written here, at its point of use."""
        return self.constant(x.value, x.type) if isinstance(x, Literal) else self.names[x]

    def broadcast(self, name: str, before: ArrayType, after: ArrayType) -> str:
        """Write the broadcast of a scalar to the shape of `after`; the name of the result is returned."""
        made = ArrayType(after.shape, before.dtype)
        return self.value(f"stablehlo.broadcast_in_dim {name}, dims = [] : {signature([before], [made])}")

    def alike(self, inputs: Sequence[Operand], operands: list[str], out: ArrayType) -> list[ArrayType]:
        """Broadcast the scalars among the operands of an elementwise op, in place; their types are returned."""
        types = [x.type for x in inputs]
        if out.ndim:
            for i, type in enumerate(types):
                if not type.ndim:
                    operands[i] = self.broadcast(operands[i], type, out)
                    types[i] = ArrayType(out.shape, type.dtype)
        return types

    def _locate(self, start: tuple[int, int], location: str) -> None:
        """Say of the lines from `start` on where they come from; of an op with regions its last line says it."""
        line, later = start
        self.lines[line:] = [text + location if text else text for text in self.lines[line:]]
        self.pending[later:] = [(place, _located(make, location)) for place, make in self.pending[later:]]

    def body(self, program: Program) -> list[str]:
        """Write the captured arrays and equations of a program; the names of its outputs are returned."""
        names, write = self.names, self.symbols.write
        for var, array in program.captures:
            names[var] = self.captured(array)
        located = self.symbols.located
        for equation in program.equations:
            start = len(self.lines), len(self.pending)
            write(self, equation, [names[x] if type(x) is Var else self.operand(x) for x in equation.inputs])
            if located:
                self._locate(start, self.symbols.location(equation))
        return [self.operand(x) for x in program.outputs]


def _located(make: Later, location: str) -> Later:
    def lines() -> Lines:
        *rest, last = make()
        return [*rest, last + location]

    return lines
