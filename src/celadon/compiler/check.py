"""Any program in, the same out, if it holds together: every value is made before it is used, and has the type its op gives."""

from __future__ import annotations

from celadon import errors
from celadon.program import Literal, Program, Var
from celadon.settings import Setting

enable_checks = Setting("jax_enable_checks", False)


def check(program: Program, stage: str) -> Program:
    """The program itself.

    Raises `ProgramInvalid`, which names the stage that made it.

    >>> check(Program((), (), ()), "lower").equations
    ()
    """
    known = {*program.inputs, *(var for var, _ in program.captures)}
    for equation in program.equations:
        for x in equation.inputs:
            _require(type(x) is Literal or x in known, program, stage, f"{equation.op.name} uses a value before it is made")
        found = equation.op.result_type(*[x.type for x in equation.inputs], **equation.params)
        types = list(found) if equation.op.multiple else [found]
        same = [(t.shape, t.dtype) for t in types] == [(x.type.shape, x.type.dtype) for x in equation.outputs]
        _require(same, program, stage, f"{equation.op.name} gives {types}, its results are {list(equation.outputs)}")
        known.update(equation.outputs)
    for x in program.outputs:
        _require(type(x) is not Var or x in known, program, stage, "a result is never made")
    return program


def _require(holds: bool, program: Program, stage: str, reason: str) -> None:
    if not holds:
        raise errors.ProgramInvalid(name=program.name, stage=stage, reason=reason)
