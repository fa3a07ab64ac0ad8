"""Lowered program in, smaller one out, same bits: calls inlined, equal work shared, what does nothing dropped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from celadon.compiler import hoist
from celadon.compiler.late import late
from celadon.program import Equation, Literal, Operand, Program, Var, bodies, exact, fixed, with_bodies
from celadon.vocabulary.bodies import closed, has_effects, without_dead_code


def simplify(program: Program) -> Program:
    """Inline calls, share equal equations, drop identities, compute what is fixed, put off what can wait; in bodies too.

    It never looks at a number.

    >>> x = Var(__import__("celadon").types.ArrayType((), np.dtype("float32")))
    >>> simplify(Program([x], [], [x])).outputs == [x]
    True
    """
    work = _Work()
    outputs = work.inline(program, {})
    captures = tuple(work.captures.values())
    return late(without_dead_code(Program(program.inputs, work.equations, outputs, captures, program.name)))


class _Work:
    def __init__(self) -> None:
        self.equations: list[Equation] = []
        self.captures: dict[int, tuple[Var, Any]] = {}
        self.shared: dict[object, Sequence[Operand]] = {}

    def inline(self, program: Program, values: dict[Operand, Operand]) -> list[Operand]:
        for var, array in program.captures:
            values[var] = self.captures.setdefault(id(array), (var, array))[0]
        for equation in program.equations:
            inputs = equation.inputs
            if not values.keys().isdisjoint(inputs):
                inputs = [values.get(x, x) for x in inputs]
            results = self._results(equation, inputs)
            if results is not equation.outputs:
                values.update(zip(equation.outputs, results, strict=True))
        return [values.get(x, x) for x in program.outputs]

    def _results(self, equation: Equation, inputs: Sequence[Operand]) -> Sequence[Operand]:
        """What stands for the results of an equation; its own outputs if it is kept."""
        op = equation.op
        if op.kind != "elementwise":
            if op.name == "call":
                body: Program = equation.params["program"]
                return self.inline(copied(body), dict(zip(body.inputs, inputs, strict=True)))
            if op.kind == "barrier" or has_effects(equation):
                return self._kept(equation, inputs)
        rule = _IDENTITIES.get(op.name)
        if rule is not None and rule(equation, inputs):
            return [inputs[1 if op.name == "select" else 0]]
        key = (op.name, *[id_of(x) if type(x) is Literal else x for x in inputs], *_structure_of(equation))
        found = self.shared.get(key)
        if found is None:
            found = self.shared[key] = self._kept(equation, inputs)
        return found

    def _kept(self, equation: Equation, inputs: Sequence[Operand]) -> Sequence[Operand]:
        op = equation.op
        if inputs and type(inputs[0]) is Literal and all(map(_is_fixed, inputs)) and _folds(equation):
            return [_folded(equation, inputs)]
        params = with_bodies(equation.params, _simplified_body) if op.multiple else equation.params
        if params is not equation.params or inputs is not equation.inputs:
            equation = Equation(op, inputs, equation.outputs, params, equation.source)
        if op.widen is not None:
            equation = self._ahead(self._closed(equation))
        self.equations.append(equation)
        return equation.outputs

    def _closed(self, equation: Equation) -> Equation:
        """Arrays that a call in a body captured become operands."""
        inside = [*bodies(equation.params)]
        if not any(body.captures for body in inside):
            return equation
        operands = [[self._captured(var, array) for var, array in body.captures] for body in inside]
        assert equation.op.widen is not None
        return equation.op.widen(equation, [*map(closed, inside)], operands)

    def _ahead(self, equation: Equation) -> Equation:
        """What no step of a loop changes is computed before it."""
        parts = hoist.parted(equation)
        if not parts:
            return equation
        pairs = zip(parts, hoist.operands_of(equation, parts), strict=True)
        made = [self.inline(copied(part.ahead), dict(zip(part.ahead.inputs, consts, strict=True))) for part, consts in pairs]
        assert equation.op.widen is not None
        return equation.op.widen(equation, [part.body for part in parts], made)

    def _captured(self, var: Var, array: Any) -> Var:
        return self.captures.setdefault(id(array), (Var(var.type), array))[0]


def _simplified_body(body: Program) -> Program:
    return simplify(copied(body, inputs=True))


def copied(body: Program, inputs: bool = False) -> Program:
    """The program with variables and numbers of its own, so that it may stand in another one more than once.

    That two calls share a program is chance (their operands have equal types); they must not share numbers for it.
    With `inputs` its inputs are its own too.
    """
    made = {var for equation in body.equations for var in equation.outputs}
    own: dict[Operand, Operand] = {}

    def copy(x: Operand) -> Operand:
        if x not in own:
            keep = x.fixed if type(x) is Literal else not inputs and x not in made
            own[x] = x if keep else Literal(x.value, x.type) if type(x) is Literal else Var(x.type)
        return own[x]

    def renewed(x: Var) -> Var:
        return cast(Var, copy(x))

    equations = [
        Equation(e.op, [*map(copy, e.inputs)], [*map(renewed, e.outputs)], e.params, e.source) for e in body.equations
    ]
    own_inputs = [*map(renewed, body.inputs)] if inputs else body.inputs
    return Program(own_inputs, equations, [*map(copy, body.outputs)], body.captures, body.name)


def id_of(operand: Literal) -> object:
    """What makes two literals the same: a fixed one's bits, otherwise identity (never a lifted number's value)."""
    return (operand.type, np.asarray(operand.value).tobytes()) if operand.fixed else operand


def _is_fixed(x: Operand) -> bool:
    return type(x) is Literal and x.fixed


def _structure_of(equation: Equation) -> tuple[object, ...]:
    """Numbers that are equal in one call may differ in the next, so only the same equation, inlined twice, shares them."""
    params = equation.params
    if not params:
        return ()
    return (id(params),) if equation.op.numbers else (*params, *map(exact, params.values()))


def _folds(equation: Equation) -> bool:
    if equation.op.multiple or equation.outputs[0].type.shape:
        return False
    return equation.op.exactly([x.type for x in equation.inputs])


def _folded(equation: Equation, inputs: Sequence[Operand]) -> Literal:
    assert equation.op.numpy is not None
    arrays = [np.asarray(x.value) for x in inputs if isinstance(x, Literal)]
    with np.errstate(all="ignore"):
        return fixed(equation.op.numpy(*arrays, **equation.params), equation.outputs[0].type.dtype)


def _same_dtype(equation: Equation, inputs: Sequence[Operand]) -> bool:
    return equation.outputs[0].type.dtype == inputs[0].type.dtype


def _same_choice(equation: Equation, inputs: Sequence[Operand]) -> bool:
    return inputs[1] is inputs[2] and equation.outputs[0].type.ndim == inputs[1].type.ndim


def _same_order(equation: Equation, inputs: Sequence[Operand]) -> bool:
    return tuple(equation.params["permutation"]) == tuple(range(inputs[0].type.ndim))


def _no_growth(equation: Equation, inputs: Sequence[Operand]) -> bool:
    before, after = inputs[0].type.shape, equation.outputs[0].type.shape
    if tuple(equation.params["broadcast_dimensions"]) != tuple(range(len(after))):
        return False
    return len(after) > 0 and all((a == 1) == (b == 1) for a, b in zip(before, after, strict=True))


_IDENTITIES: dict[str, Callable[[Equation, Sequence[Operand]], bool]] = {
    "convert": _same_dtype,
    "bitcast_convert": _same_dtype,
    "transpose": _same_order,
    "broadcast_in_dim": _no_growth,
    "select": _same_choice,
}
