"""Rules of fuse for loops and branches: their bodies become step lists, what they carry gets a place of its own."""

from __future__ import annotations

from collections.abc import Sequence

from celadon.cpu.fuse import Fusion, rules
from celadon.cpu.layout import Axis, Layout, dense, is_dense
from celadon.cpu.recipe import Nested
from celadon.cpu.rounds import scan_in_kernel, while_in_kernel
from celadon.program import Equation, Operand, Var
from celadon.types import Shape
from celadon.vocabulary.control import parts


def _shared(fusion: Fusion, variables: Sequence[Var], operands: Sequence[Operand]) -> None:
    """Inputs of a body that are values around it."""
    for var, x in zip(variables, operands, strict=True):
        fusion.numbers[var] = fusion.number(x)


def _own(fusion: Fusion, variables: Sequence[Var]) -> tuple[int, ...]:
    return tuple([fusion.define(var) for var in variables])


def _started(fusion: Fusion, equation: Equation, operands: Sequence[Operand]) -> tuple[int, ...]:
    """The results of a loop, which hold what is carried at the start; others are empty yet."""
    results = _own(fusion, equation.outputs)
    pairs = list(zip([fusion.number(x) for x in operands], results, strict=False))
    scalars = [(source, target) for source, target in pairs if not fusion.types[target].ndim]
    if scalars:
        fusion.copy_scalars(scalars)
    for source, target in pairs:
        if fusion.types[target].ndim:
            fusion.copy(source, target)
    return results


def _crowd(fusion: Fusion, results: Sequence[int], *others: Sequence[int]) -> None:
    """Variables that may stand where rows do are rows."""
    for column in zip(results, *others, strict=False):
        if column[0] in fusion.crowded:
            fusion.crowded.update(column)


def _while_loop(fusion: Fusion, index: int) -> None:
    if while_in_kernel(fusion, index):
        return
    equation = fusion.program.equations[index]
    params = equation.params
    condition, body = params["condition"], params["body"]
    tested, held, state = parts(equation.inputs, params["condition_consts"], params["body_consts"])
    _shared(fusion, condition.inputs[: len(tested)], tested)
    _shared(fusion, body.inputs[: len(held)], held)
    carried = _own(fusion, body.inputs[len(held) :])
    _shared(fusion, condition.inputs[len(tested) :], body.inputs[len(held) :])
    results = _started(fusion, equation, state)
    _crowd(fusion, results, carried, [fusion.numbers[x] for x in body.outputs])
    regions = (
        fusion.region(condition, equation, (), True),
        fusion.region(body, equation, carried, True),
    )
    fusion.steps.append(Nested("while", index, (), results, regions, len(state)))


def _scan(fusion: Fusion, index: int) -> None:
    if scan_in_kernel(fusion, index):
        return
    equation = fusion.program.equations[index]
    params = equation.params
    body, consts, carry = params["body"], params["consts"], params["carry"]
    held, state, arrays = parts(equation.inputs, consts, carry)
    _shared(fusion, body.inputs[:consts], held)
    xs = tuple([fusion.number(x) for x in arrays])
    inputs = _own(fusion, body.inputs[consts:])
    for number, x in zip(inputs[carry:], xs, strict=True):
        fusion.layouts[number] = _row(fusion.layouts[x], fusion.types[number].shape)
    results = _started(fusion, equation, state)
    rows = [fusion.numbers[x] for x in body.outputs[carry:]]
    fusion.crowded.update(rows)
    _crowd(fusion, results[:carry], inputs, [fusion.numbers[x] for x in body.outputs])
    region = fusion.region(body, equation, inputs, True)
    fusion.steps.append(Nested("scan", index, xs, results, (region,), carry))


def _row(layout: Layout, shape: Shape) -> Layout:
    """How a row walks memory: in order, if an array walks its own so apart from its first axis."""
    rest = layout[1:]
    first = next((axis.source for axis in rest if axis is not None), 0)
    moved = tuple(Axis(axis.source - first, axis.unit, axis.step, axis.whole) if axis else None for axis in rest)
    return dense(shape) if is_dense(moved, shape) else rest


def _cond(fusion: Fusion, index: int) -> None:
    equation = fusion.program.equations[index]
    place, *operands = equation.inputs
    results = _own(fusion, equation.outputs)
    for branch in equation.params["branches"]:
        _shared(fusion, branch.inputs, operands)
        _crowd(fusion, results, [fusion.numbers[x] for x in branch.outputs])
    regions = tuple([fusion.region(branch, equation, (), False) for branch in equation.params["branches"]])
    fusion.steps.append(Nested("branch", index, (fusion.number(place),), results, regions))


rules.update(cond=_cond, while_loop=_while_loop, scan=_scan)
