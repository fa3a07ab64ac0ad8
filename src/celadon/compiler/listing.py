"""A program in; out, data and text for people: one equation a line with the types of its results and the user's line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from celadon import errors
from celadon.program import Equation, Literal, Operand, Program, Source, Var, bodies, letters
from celadon.types import short_name

_COLUMN = 64  # where the user's line stands, if the equation ends before


@dataclass(frozen=True, slots=True)
class Line:
    """One equation: results as pairs of a name and a type, operands by name, parameters as text, the user's line or ""."""

    op: str
    results: tuple[tuple[str, str], ...]
    operands: tuple[str, ...]
    parameters: dict[str, str]
    source: str
    bodies: tuple[Listing, ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """A program: its inputs and captured arrays as pairs of a name and a type, its equations, the names of its outputs."""

    name: str
    inputs: tuple[tuple[str, str], ...]
    captures: tuple[tuple[str, str], ...]
    equations: tuple[Line, ...]
    outputs: tuple[str, ...]


class Names:
    """Names of variables, one for each in all of a program and its bodies: a, b, ... in the order of the text.

    >>> from celadon.types import ArrayType, float32
    >>> x = Var(ArrayType((2,), float32))
    >>> Names()(x)
    'a'
    """

    def __init__(self) -> None:
        self.known: dict[Var, str] = {}

    def __call__(self, x: Operand) -> str:
        """The name of a variable; of a literal its value, in braces where it is handed to the machine code at each call."""
        if isinstance(x, Literal):
            return written(x.value) if x.fixed else f"{{{written(x.value)}}}"
        if x not in self.known:
            self.known[x] = letters(len(self.known))
        return self.known[x]


def written(value: Any) -> str:
    """A scalar as the text shows it.

    >>> written(np.float32(2.0)), written(np.bool_(True))
    ('2.0', 'True')
    """
    return str(np.asarray(value)[()])


def listed(program: Program, names: Names | None = None) -> Listing:
    """The listing of a program; the names that it gives are kept in `names`."""
    return _Lister(names or Names()).program(program)


class _Lister:
    def __init__(self, names: Names):
        self.name = names

    def program(self, program: Program) -> Listing:
        inputs, captures = self._typed(program.inputs), self._typed([var for var, _ in program.captures])
        equations = tuple(map(self._line, program.equations))
        return Listing(program.name, inputs, captures, equations, tuple(map(self.name, program.outputs)))

    def _typed(self, variables: Sequence[Var]) -> tuple[tuple[str, str], ...]:
        return tuple([(self.name(x), str(x.type)) for x in variables])

    def _line(self, equation: Equation) -> Line:
        operands = tuple(map(self.name, equation.inputs))
        results = self._typed(equation.outputs)
        inside = tuple(map(self.program, bodies(equation.params)))
        return Line(equation.op.name, results, operands, _parameters(equation), place(equation.source), inside)


def _parameters(equation: Equation) -> dict[str, str]:
    """All but the programs; those that are numbers, not structure, in braces."""
    found = {name: _parameter(value) for name, value in equation.params.items()}
    return {name: f"{{{text}}}" if name in equation.op.numbers else text for name, text in found.items() if text}


def _parameter(value: Any) -> str:
    if isinstance(value, Program):
        return ""
    if isinstance(value, tuple):
        parts = list(map(_parameter, value))
        return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})" if all(parts) else ""
    if isinstance(value, np.dtype):
        return short_name(value)
    return getattr(value, "__qualname__", "") or str(value)


def place(source: Source | None) -> str:
    """The user's line that an equation came from, or nothing.

    >>> place(("a.py", 3, "f")), place(None)
    ('a.py:3 (f)', '')
    """
    return errors.describe(*source) if source is not None else ""


def text(listing: Listing) -> str:
    """The text of a listing.

    >>> from celadon.types import ArrayType, float32
    >>> x = Var(ArrayType((2,), float32))
    >>> print(text(listed(Program([x], [], [x]))))
    main(a: f32[2]) -> (a)
    """
    return "\n".join(_program(listing, ""))


def _program(listing: Listing, indent: str) -> Iterator[str]:
    inputs = ", ".join([f"{name}: {type}" for name, type in (*listing.inputs, *listing.captures)])
    yield f"{indent}{listing.name}({inputs}) -> ({', '.join(listing.outputs)})"
    for name, _ in listing.captures:
        yield f"{indent}  # {name} is a captured array"
    for line in listing.equations:
        yield f"{indent}  {_equation(line, _COLUMN - len(indent))}"
        for body in line.bodies:
            yield from _program(body, f"{indent}    ")


def _equation(line: Line, column: int) -> str:
    results = ", ".join([f"{name}: {type}" for name, type in line.results])
    parameters = "".join([f" {name}={value}" for name, value in line.parameters.items()])
    words = f"{results} = {line.op}({', '.join(line.operands)}){parameters}"
    return f"{words.ljust(column)}  # {line.source}" if line.source else words


__all__ = ["Line", "Listing", "Names", "listed", "place", "text", "written"]
