"""Simplified program in, the same out with elementwise ops as late as they can be: what they give is not kept for long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from celadon.program import Equation, Program, Var


def late(program: Program) -> Program:
    """The program with each elementwise op moved to just before its result is first used.

    It is moved only if that keeps no more values alive: what it takes is needed until then in any case, or it is one value
    of the result's rank, which then waits in the result's stead. Backward passes profit: slopes computed in the forward
    pass would wait beside the values that they are computed from.

    >>> late(Program((), (), ())).equations
    ()
    """
    equations = program.equations
    first, last = _uses(program)
    moved: dict[int, int] = {}
    for k in range(len(equations) - 1, -1, -1):
        equation = equations[k]
        place = k
        if equation.op.kind == "elementwise":
            use = first.get(equation.outputs[0], k)
            if use > k + 1 and _waits_for_nothing(equation, use, last):
                moved[k] = place = use
        for x in equation.inputs:
            if type(x) is Var:
                if first.get(x, place) >= place:
                    first[x] = place
                if last.get(x, place) <= place:
                    last[x] = place
    if not moved:
        return program
    places = [moved.get(k, k) for k in range(len(equations))]
    order = sorted(range(len(equations)), key=lambda k: (places[k], places[k] == k, k))
    return replace(program, equations=[equations[k] for k in order])


def _uses(program: Program) -> tuple[dict[Var, int], dict[Var, int]]:
    """Where each value is used first and last, by the equations' places as they are; results stay in any case, so they are
    made where they stand."""
    end = len(program.equations)
    last = {x: end for x in program.outputs if type(x) is Var}
    last.update(dict.fromkeys([*program.inputs, *(var for var, _ in program.captures)], end))
    for k, equation in enumerate(program.equations):
        for x in equation.inputs:
            if type(x) is Var and last.get(x) != end:
                last[x] = k
    return {x: 0 for x in program.outputs if type(x) is Var}, last


def _waits_for_nothing(equation: Equation, use: int, last: dict[Var, int]) -> bool:
    rank = equation.outputs[0].type.ndim
    kept: Sequence[Var] = [x for x in set(equation.inputs) if type(x) is Var and last[x] < use and x.type.ndim]
    return not kept or (len(kept) == 1 and kept[0].type.ndim == rank)
