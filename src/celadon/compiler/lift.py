"""Simplified program in; Structure (what is compiled and cached) and Numbers (what a call hands over) out."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from celadon.op import unite_all, unite_none
from celadon.program import Equation, Literal, Operand, Program, Var, bodies, exact
from celadon.types import Shape, short_name

EVERYTHING = frozenset({"scalars", "arrays", "extents"})
NOTHING: frozenset[str] = frozenset()


class Numbers(NamedTuple):
    """What was taken out of a program: its lifted scalars, its captured arrays, its input shapes, and the number
    parameters of its equations in order."""

    literals: tuple[Literal, ...]
    arrays: tuple[Any, ...]
    shapes: tuple[Shape, ...]
    integers: tuple[Any, ...]

    @property
    def scalars(self) -> list[Any]:
        """The values of the lifted scalars."""
        return [x.value for x in self.literals]


class Structure:
    """A program without its numbers. Inputs of `program` are: the program's own, captured arrays, lifted scalars.

    `program` has the types of one call; its extents other than 0 and 1 are an example, and no code may depend on them.
    Two structures are equal if their keys are.
    """

    def __init__(self, program: Program, key: tuple[object, ...], arrays: int, scalars: int):
        self.program, self.key, self.arrays, self.scalars = program, key, arrays, scalars

    @functools.cached_property
    def digest(self) -> str:
        """A stable name of the structure, the same in every process."""
        return hashlib.sha256(repr(self.key).encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Structure) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


def lift(program: Program, what: frozenset[str] = EVERYTHING) -> tuple[Structure, Numbers]:
    """Take the numbers named in `what` ("scalars", "arrays", "extents") out of a simplified program.

    Captured arrays always become inputs; with "arrays" absent their types, not their contents, are structure all the
    same. With "scalars" absent literals stay where they are; with "extents" absent shapes are part of the key.
    """
    scalars = _Scalars("scalars" in what)
    equations = [scalars.rewritten(equation) for equation in program.equations]
    outputs = [scalars.lifted(x) for x in program.outputs]
    arrays = [var for var, _ in program.captures]
    inputs = [*program.inputs, *arrays, *scalars.vars]
    lifted = Program(inputs, equations, outputs, (), program.name)
    extents = Extents() if "extents" in what else _Baked()
    key = (len(arrays), len(scalars.vars), _key(lifted, extents))
    structure = Structure(lifted, key, len(arrays), len(scalars.vars))
    shapes = tuple(var.type.shape for var in inputs[: len(inputs) - len(scalars.vars)])
    return structure, Numbers(
        tuple(scalars.found), tuple(array for _, array in program.captures), shapes, _integers(equations)
    )


class _Scalars:
    def __init__(self, wanted: bool):
        self.wanted = wanted
        self.vars: list[Var] = []
        self.found: dict[Literal, Var] = {}

    def rewritten(self, equation: Equation) -> Equation:
        if not self.wanted:
            return equation
        if equation.op.widen is not None:
            equation = _widened(equation)
        if Literal not in map(type, equation.inputs):
            return equation
        inputs = [self.lifted(x) for x in equation.inputs]
        return Equation(equation.op, inputs, equation.outputs, equation.params, equation.source)

    def lifted(self, x: Operand) -> Operand:
        if not self.wanted or type(x) is not Literal or x.fixed:
            return x
        var = self.found.get(x)
        if var is None:
            var = self.found[x] = Var(x.type)
            self.vars.append(var)
        return var


def _widened(equation: Equation) -> Equation:
    """The equation with the numbers in its bodies as operands."""
    found = [_opened(body) for body in bodies(equation.params)]
    assert equation.op.widen is not None
    return equation.op.widen(equation, [body for body, _ in found], [numbers for _, numbers in found])


def _opened(body: Program) -> tuple[Program, list[Literal]]:
    """A body that takes its numbers as first inputs, and these."""
    scalars = _Scalars(True)
    equations = [scalars.rewritten(equation) for equation in body.equations]
    outputs = [scalars.lifted(x) for x in body.outputs]
    numbers = [Literal(x.value, x.type) for x in scalars.found]
    return Program([*scalars.vars, *body.inputs], equations, outputs, (), body.name), numbers


def _integers(equations: Sequence[Equation]) -> tuple[Any, ...]:
    found: list[Any] = []
    for equation in equations:
        op, params = equation.op, equation.params
        if op.numbers:
            found += [params[name] for name in params if name in op.numbers and not callable(params[name])]
        if op.multiple:
            found += [number for body in bodies(params) for number in _integers(body.equations)]
    return tuple(found)


class _Baked:
    """Extents, and the parameters that depend on them, as part of the key."""

    baked = True

    def program(self, program: Program) -> None:
        return

    def shape(self, var: Var) -> tuple[object, ...]:
        return var.type.shape


class Extents:
    """Classes of dimensions that are one number by the ops' type rules; 0 and 1 stand for themselves."""

    baked = False

    def __init__(self) -> None:
        self.parents: list[int] = []
        self.dims: dict[Var, list[int]] = {}
        self.names: dict[int, str] = {}

    def define(self, var: Var) -> None:
        start = len(self.parents)
        self.dims[var] = dims = list(range(start, start + var.type.ndim))
        self.parents += dims

    def equation(self, equation: Equation) -> None:
        if equation.op.unite is unite_all:
            self._elementwise(equation)
            return
        if equation.op.multiple:
            for body in bodies(equation.params):
                self.program(body)
        for var in equation.outputs:
            self.define(var)
        if equation.op.unite is unite_none:
            return
        values = [*equation.inputs, *equation.outputs]
        for (k, i), (m, j) in equation.op.unite(equation):
            x, y = values[k] if type(k) is int else k, values[m] if type(m) is int else m  # pyright: ignore
            if isinstance(x, Var) and isinstance(y, Var):
                self._join(self.dims[x][i], self.dims[y][j])

    def program(self, program: Program) -> None:
        """Meet a program: its inputs and equations."""
        for var in program.inputs:
            self.define(var)
        for equation in program.equations:
            self.equation(equation)

    def _elementwise(self, equation: Equation) -> None:
        out = equation.outputs[0]
        rank = out.type.ndim
        found: list[int] | None = None
        for x in equation.inputs:
            if type(x) is not Var or x.type.ndim != rank:
                continue
            dims = self.dims[x]
            if found is None:
                found = dims
            elif found is not dims:
                for i, j in zip(found, dims, strict=True):
                    self._join(i, j)
        if found is None:
            self.define(out)
        else:
            self.dims[out] = found

    def _root(self, i: int) -> int:
        parents = self.parents
        while parents[i] != i:
            parents[i] = parents[parents[i]]
            i = parents[i]
        return i

    def _join(self, i: int, j: int) -> None:
        a, b = self._root(i), self._root(j)
        if a != b:
            self.parents[max(a, b)] = min(a, b)

    def shape(self, var: Var) -> tuple[object, ...]:
        extents = var.type.shape
        if not extents:
            return ()
        return tuple([n if n < 2 else self._name(i) for n, i in zip(extents, self.dims[var], strict=True)])

    def _name(self, i: int) -> str:
        root = self._root(i)
        found = self.names.get(root)
        if found is None:
            found = self.names[root] = f"n{len(self.names)}"
        return found


def _key(program: Program, extents: Extents | _Baked) -> tuple[object, ...]:
    extents.program(program)
    return _named_key(program, extents)


def _named_key(program: Program, extents: Extents | _Baked) -> tuple[object, ...]:
    numbers = {var: i for i, var in enumerate(program.inputs)}
    for equation in program.equations:
        for var in equation.outputs:
            numbers[var] = len(numbers)
    inputs = tuple((short_name(v.type.dtype), extents.shape(v)) for v in program.inputs)
    body = tuple(_equation_key(equation, numbers, extents) for equation in program.equations)
    return inputs, body, tuple(_operand_key(x, numbers) for x in program.outputs)


def _equation_key(equation: Equation, numbers: dict[Var, int], extents: Extents | _Baked) -> tuple[object, ...]:
    op = equation.op
    inputs = tuple([numbers[x] if type(x) is Var else _operand_key(x, numbers) for x in equation.inputs])
    given = equation.params
    params = tuple([(k, _plain(v, extents)) for k, v in given.items() if extents.baked or k not in op.numbers]) if given else ()
    if op.unite is unite_all:
        return op.name, inputs, params
    shapes = tuple([(short_name(v.type.dtype), extents.shape(v)) for v in equation.outputs])
    return op.name, inputs, params, shapes


def _operand_key(x: Operand, numbers: dict[Var, int]) -> object:
    if isinstance(x, Var):
        return numbers[x]
    return short_name(x.type.dtype), np.asarray(x.value).tobytes()


def _plain(value: Any, extents: Extents | _Baked) -> object:
    if isinstance(value, np.dtype):
        return short_name(value)
    if isinstance(value, Program):
        return _named_key(value, extents)
    if isinstance(value, tuple) and Program in map(type, cast("tuple[Any, ...]", value)):
        return tuple([_plain(one, extents) for one in cast("tuple[Any, ...]", value)])
    return exact(value)
