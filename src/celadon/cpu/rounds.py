"""The rule of fuse for loops that only compute scalars: condition and body are one kernel, with the loop inside of it."""

from __future__ import annotations

from collections.abc import Sequence

from celadon.cpu.fuse import Fusion
from celadon.cpu.recipe import Body, Moved
from celadon.cpu.scalar_bodies import scalar_body
from celadon.program import Operand, Program
from celadon.types import short_name
from celadon.vocabulary.control import parts

_CARRIED_AT_MOST = 64
_NODES_AT_MOST = 192  # machine code for many values at once takes long to make


def while_in_kernel(fusion: Fusion, index: int) -> bool:
    """Launch a loop of scalars; false where it is none, or too long.

    Where a step before it may raise an exception, what it would have given might decide when the loop ends: then it has to be
    one that ends by the driver's word.
    """
    if fusion.may_fail:
        return False
    equation = fusion.program.equations[index]
    params = equation.params
    condition, body = _held(params["condition"]), _held(params["body"])
    if condition is None or body is None:
        return False
    tested, held, state = parts(equation.inputs, params["condition_consts"], params["body_consts"])
    return _launch(fusion, index, (condition, body), ([*tested, *held], state, []))


def scan_in_kernel(fusion: Fusion, index: int) -> bool:
    """The same for a scan over arrays of scalars."""
    equation = fusion.program.equations[index]
    body = _held(equation.params["body"])
    if body is None:
        return False
    return _launch(fusion, index, (body,), parts(equation.inputs, equation.params["consts"], equation.params["carry"]))


def _held(program: Program) -> Body | None:
    variables = [*program.inputs, *(var for equation in program.equations for var in equation.outputs)]
    if any(var.type.ndim for var in variables) or any(equation.op.multiple for equation in program.equations):
        return None
    return scalar_body(program)


def _launch(fusion: Fusion, index: int, bodies: Sequence[Body], operands: Sequence[Sequence[Operand]]) -> bool:
    """`operands`: what stays, what is carried, arrays of a scalar a round."""
    still, state, arrays = operands
    if len(state) > _CARRIED_AT_MOST or sum(len(body.nodes) for body in bodies) > _NODES_AT_MOST:
        return False
    equation = fusion.program.equations[index]
    dtypes = tuple([short_name(x.type.dtype) for x in (*still, *state, *arrays, *equation.outputs)])
    kernel = Moved("rounds", dtypes, (len(still), len(state), len(arrays), *bodies))
    reads = tuple([fusion.number(x) for x in (*still, *state, *arrays)])
    writes = tuple([fusion.define(var) for var in equation.outputs])
    if not writes:
        return False
    fusion.launch(kernel, rule="rounds", like=writes[0], loops=(), reads=reads, writes=writes, equation=index)
    return True


__all__ = ["scan_in_kernel", "while_in_kernel"]
