"""A program with loops and branches in; out, the same ready to be fused, and all its variables and equations in one order."""

from __future__ import annotations

from dataclasses import replace

from celadon.program import Equation, Operand, Program, Var, bodies, remembered
from celadon.vocabulary.conversion import convert


def bodies_of(equation: Equation) -> list[Program]:
    """The bodies that become step lists: those of loops and branches."""
    return [*bodies(equation.params)] if equation.op.kind == "control" else []


def _holders(program: Program) -> list[Equation]:
    return [equation for equation in program.equations if equation.op.kind == "control"]


def prepared(program: Program) -> Program:
    """The program with bodies each of whose results is made by an equation of its own, so that it has one place.

    A result that is an input of the body, a number, or another result again, becomes a copy.
    """
    if not _holders(program):
        return program
    return remembered(program, "prepared", lambda: replace(program, equations=_equations(program)))


def _equations(program: Program) -> list[Equation]:
    return [_prepared(equation) if equation.op.kind == "control" else equation for equation in program.equations]


def _prepared(equation: Equation) -> Equation:
    params = dict(equation.params)
    for name, value in params.items():
        if isinstance(value, Program):
            params[name] = prepared(value) if name == "condition" else _with_own_results(value)
        elif isinstance(value, tuple):
            params[name] = tuple(map(_with_own_results, value))
    return replace(equation, params=params)


def _with_own_results(body: Program) -> Program:
    equations, outputs = _equations(body), list(body.outputs)
    made = {var for equation in equations for var in equation.outputs}
    seen: set[Operand] = set()
    for k, x in enumerate(outputs):
        if x not in made or x in seen:
            outputs[k] = copy = Var(x.type)
            equations.append(Equation(convert, [x], [copy], {"new_dtype": x.type.dtype}))
        seen.add(outputs[k])
    return replace(body, equations=equations, outputs=outputs)


def equations(program: Program) -> list[Equation]:
    """The equations of a program, then those of each body, in the order of the equations that hold them."""
    found = list(program.equations)
    for equation in _holders(program):
        for body in bodies_of(equation):
            found += equations(body)
    return found


def variables(program: Program) -> list[Var]:
    """The inputs of a program, the results of its equations, then the variables of each body likewise."""
    found = [*program.inputs]
    for equation in program.equations:
        found += equation.outputs
    for equation in _holders(program):
        for body in bodies_of(equation):
            found += variables(body)
    return found


def starts(program: Program) -> dict[int, int]:
    """For each body, and the program itself, by identity the place of its first equation among `equations(program)`."""
    found: dict[int, int] = {}
    _place(program, 0, found)
    return found


def _place(program: Program, start: int, found: dict[int, int]) -> int:
    found[id(program)] = start
    after = start + len(program.equations)
    for equation in _holders(program):
        for body in bodies_of(equation):
            after = _place(body, after, found)
    return after


def blocks(program: Program) -> dict[int, tuple[int, int]]:
    """For each equation with bodies, by identity, the range of its bodies' variables among `variables(program)`."""
    found: dict[int, tuple[int, int]] = {}
    _block(program, 0, found)
    return found


def _block(program: Program, start: int, found: dict[int, tuple[int, int]]) -> int:
    after = start + len(program.inputs) + sum(len(equation.outputs) for equation in program.equations)
    for equation in _holders(program):
        inside = bodies_of(equation)
        first = after
        for body in inside:
            after = _block(body, after, found)
        if inside:
            found[id(equation)] = first, after
    return after


__all__ = ["blocks", "bodies_of", "equations", "prepared", "starts", "variables"]
