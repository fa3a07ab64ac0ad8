"""Branches and loops whose bodies are programs: cond and while_loop."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from celadon import errors
from celadon.op import Axis, Op
from celadon.program import Equation, Operand, Program, Var
from celadon.types import ArrayType, bool_, int32
from celadon.vocabulary.bodies import (
    carried,
    check_body,
    chosen,
    needed,
    replaced,
    same_extents,
    taking,
)
from celadon.vocabulary.call import execute

Array = Any


def _cond_type(index: ArrayType, *operands: ArrayType, branches: Sequence[Program]) -> list[ArrayType]:
    """C1 to C4 of case; results are as weak as the first branch's."""
    if not branches or index.shape or index.dtype != int32:
        raise errors.BodyUnfit(op="cond", operands=str(index), body="at least one branch, chosen by an i32[]")
    results = [x.type for x in branches[0].outputs]
    for branch in branches:
        check_body("cond", branch, operands, results)
    return results


def _cond(index: Array, *operands: Array, branches: Sequence[Program]) -> list[Array]:
    """An index that is out of range takes the last branch."""
    place = int(index)
    return execute(branches[place if 0 <= place < len(branches) else -1], operands)


def _unite_cond(equation: Equation) -> Iterable[tuple[Axis, Axis]]:
    for branch in equation.params["branches"]:
        yield from same_extents(equation.inputs[1:], branch.inputs)
        yield from same_extents(equation.outputs, branch.outputs)


def _widen_cond(equation: Equation, bodies: Sequence[Program], operands: Sequence[Sequence[Operand]]) -> Equation:
    """Every branch takes the operands of all others too."""
    more = [x for one in operands for x in one]
    branches: list[Program] = []
    for k, body in enumerate(bodies):
        own = len(operands[k])
        added = [[Var(x.type) for x in one] for one in operands]
        added[k] = list(body.inputs[:own])
        inputs = [*(var for one in added for var in one), *body.inputs[own:]]
        branches.append(Program(inputs, body.equations, body.outputs, (), body.name))
    index, *rest = equation.inputs
    return replaced(equation, [index, *more, *rest], equation.outputs, equation.params | {"branches": tuple(branches)})


def _prune_cond(equation: Equation, wanted: Sequence[bool]) -> Equation:
    found = [needed(branch, tuple(wanted)) for branch in equation.params["branches"]]
    used = [any(marks) for marks in zip(*(marks for _, marks in found), strict=True)]
    if all(wanted) and all(used) and all(a is b for (a, _), b in zip(found, equation.params["branches"], strict=True)):
        return equation
    branches = tuple([taking(branch, used) for branch, _ in found])
    index, *operands = equation.inputs
    inputs, outputs = [index, *chosen(operands, used)], chosen(equation.outputs, wanted)
    return replaced(equation, inputs, outputs, equation.params | {"branches": branches})


def parts(operands: Sequence[Any], first: int, second: int) -> tuple[list[Any], list[Any], list[Any]]:
    """The operands of a loop in three: `first` of them, `second` of them, the others."""
    return list(operands[:first]), list(operands[first : first + second]), list(operands[first + second :])


def _while_type(
    *operands: ArrayType, condition: Program, body: Program, condition_consts: int, body_consts: int
) -> list[ArrayType]:
    """C1 to C3 of while."""
    tested, held, carry = parts(operands, condition_consts, body_consts)
    check_body("while_loop", condition, [*tested, *carry], [ArrayType((), bool_)])
    check_body("while_loop", body, [*held, *carry], carry)
    return [x.type for x in body.outputs]


def _while(
    *operands: Array, condition: Program, body: Program, condition_consts: int, body_consts: int
) -> list[Array]:
    tested, held, carry = parts(operands, condition_consts, body_consts)
    while execute(condition, [*tested, *carry])[0]:
        carry = execute(body, [*held, *carry])
    return carry


def _unite_while(equation: Equation) -> Iterable[tuple[Axis, Axis]]:
    params = equation.params
    tested, held, carry = parts(equation.inputs, params["condition_consts"], params["body_consts"])
    yield from same_extents([*tested, *carry], params["condition"].inputs)
    yield from same_extents([*held, *carry], params["body"].inputs)
    yield from same_extents(carry, params["body"].outputs)
    yield from same_extents(equation.outputs, params["body"].outputs)
    yield from same_extents(equation.outputs, params["body"].inputs[len(held) :])


def _widen_while(equation: Equation, bodies: Sequence[Program], operands: Sequence[Sequence[Operand]]) -> Equation:
    params = equation.params
    tested, held, carry = parts(equation.inputs, params["condition_consts"], params["body_consts"])
    tested, held = [*operands[0], *tested], [*operands[1], *held]
    changed = {"condition": bodies[0], "body": bodies[1], "condition_consts": len(tested), "body_consts": len(held)}
    return replaced(equation, [*tested, *held, *carry], equation.outputs, params | changed)


def _prune_while(equation: Equation, wanted: Sequence[bool]) -> Equation:
    """What the condition reads is wanted too."""
    params = equation.params
    tested, held = params["condition_consts"], params["body_consts"]
    condition, used = needed(params["condition"], (True,))
    read = tuple([a or b for a, b in zip(wanted, used[tested:], strict=True)])
    keep, body, taken = carried(params["body"], read, held, len(wanted))
    used = used[:tested] + keep
    if all(used + taken) and condition is params["condition"] and body is params["body"]:
        return equation
    condition, body = taking(condition, used), taking(body, taken)
    counts = {"condition_consts": sum(used[:tested]), "body_consts": sum(taken[:held])}
    inputs = chosen(equation.inputs, used[:tested] + taken)
    return replaced(equation, inputs, chosen(equation.outputs, keep), params | counts | {"condition": condition, "body": body})


cond = Op(
    "cond", _cond_type, _cond, multiple=True, unite=_unite_cond, widen=_widen_cond, prune=_prune_cond, kind="control"
)
while_loop = Op(
    "while_loop", _while_type, _while, multiple=True, unite=_unite_while, widen=_widen_while, prune=_prune_while,
    kind="control",
)  # fmt: skip
