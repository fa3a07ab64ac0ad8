"""Lowered program in, smaller one out, same bits: calls inlined, equal work shared, what does nothing dropped."""

from __future__ import annotations

from collections.abc import Callable
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
        self.shared: dict[object, list[Operand]] = {}

    def inline(self, program: Program, values: dict[Operand, Operand]) -> list[Operand]:
        for var, array in program.captures:
            values[var] = self.captures.setdefault(id(array), (var, array))[0]
        for equation in program.equations:
            inputs = [values.get(x, x) for x in equation.inputs]
            values.update(zip(equation.outputs, self._results(equation, inputs), strict=True))
        return [values.get(x, x) for x in program.outputs]

    def _results(self, equation: Equation, inputs: list[Operand]) -> list[Operand]:
        if equation.op.name == "call":
            body: Program = equation.params["program"]
            return self.inline(copied(body), dict(zip(body.inputs, inputs, strict=True)))
        rule = _IDENTITIES.get(equation.op.name)
        if rule is not None and rule(equation, inputs[0]):
            return [inputs[0]]
        if equation.op.name == "select" and inputs[1] is inputs[2] and _same_shape(equation, inputs[1]):
            return [inputs[1]]
        if has_effects(equation) or equation.op.kind == "barrier":
            return self._kept(equation, inputs)
        key = (equation.op.name, *map(id_of, inputs), *_structure_of(equation))
        found = self.shared.get(key)
        if found is None:
            found = self.shared[key] = self._kept(equation, inputs)
        return found

    def _kept(self, equation: Equation, inputs: list[Operand]) -> list[Operand]:
        if all(type(x) is Literal and x.fixed for x in inputs) and inputs and _folds(equation):
            return [_folded(equation, inputs)]
        params = with_bodies(equation.params, _simplified_body) if equation.op.multiple else equation.params
        if params is not equation.params or any(a is not b for a, b in zip(inputs, equation.inputs, strict=True)):
            equation = Equation(equation.op, inputs, equation.outputs, params, equation.source)
        if equation.op.widen is not None:
            equation = self._ahead(self._closed(equation))
        self.equations.append(equation)
        return list(equation.outputs)

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


def id_of(operand: Operand) -> object:
    """What makes two operands the same: a fixed literal's bits, otherwise identity (never a lifted number's value)."""
    if type(operand) is Literal and operand.fixed:
        return operand.type, np.asarray(operand.value).tobytes()
    return id(operand)


def _structure_of(equation: Equation) -> tuple[object, ...]:
    """Numbers that are equal in one call may differ in the next, so only the same equation, inlined twice, shares them."""
    return (id(equation.params),) if equation.op.numbers else (*equation.params, *map(exact, equation.params.values()))


def _folds(equation: Equation) -> bool:
    if equation.op.multiple or equation.outputs[0].type.shape:
        return False
    return equation.op.exactly([x.type for x in equation.inputs])


def _folded(equation: Equation, inputs: list[Operand]) -> Literal:
    assert equation.op.numpy is not None
    arrays = [np.asarray(x.value) for x in inputs if isinstance(x, Literal)]
    with np.errstate(all="ignore"):
        return fixed(equation.op.numpy(*arrays, **equation.params), equation.outputs[0].type.dtype)


def _same_dtype(equation: Equation, x: Operand) -> bool:
    return equation.outputs[0].type.dtype == x.type.dtype


def _same_shape(equation: Equation, x: Operand) -> bool:
    return equation.outputs[0].type.ndim == x.type.ndim


def _same_order(equation: Equation, x: Operand) -> bool:
    return tuple(equation.params["permutation"]) == tuple(range(x.type.ndim))


def _no_growth(equation: Equation, x: Operand) -> bool:
    before, after = x.type.shape, equation.outputs[0].type.shape
    return len(before) == len(after) > 0 and all((a == 1) == (b == 1) for a, b in zip(before, after, strict=True))


_IDENTITIES: dict[str, Callable[[Equation, Operand], bool]] = {
    "convert": _same_dtype,
    "bitcast_convert": _same_dtype,
    "transpose": _same_order,
    "broadcast_in_dim": _no_growth,
}
