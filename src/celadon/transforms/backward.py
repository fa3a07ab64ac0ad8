"""Linear: the recorder of what happens to tangents; and pull, which sends cotangents back through what it recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from celadon import errors
from celadon.program import Equation, Literal, Program, Var
from celadon.tracing import Record, Recorded, apply_in, state
from celadon.transforms.forward import for_each, zero
from celadon.types import ArrayType
from celadon.vocabulary.arithmetic import add
from celadon.vocabulary.reduce import reduce_sum
from celadon.vocabulary.shape import broadcast_in_dim

if TYPE_CHECKING:
    from celadon.op import Op


class Linear(Record):
    """Records ops on tangents only; what they meet besides stays a value of the interpreter outside, captured as it is."""

    word = "differentiated"

    def apply(self, op: Op, operands: Sequence[Any], params: dict[str, Any]) -> Any:
        for x in operands:
            if type(x) is Recorded and x.interpreter is self:
                if op.kind == "custom" and op.expand is not None:  # it is linear itself: no rule is asked for
                    return op.expand(*operands, **params)
                return super().apply(op, operands, params)
        return apply_in(self.outer, op, operands, params)

    def zeros(self, type: ArrayType) -> Any:
        """A zero among the tangents: recorded here, though it comes from none."""
        params = {"shape": type.shape, "broadcast_dimensions": ()}
        return super().apply(broadcast_in_dim, [zero(type)], params) if type.shape else zero(type)


def pull(program: Program, cotangents: Sequence[Any]) -> list[Any]:
    """Cotangents of a linear program's inputs from those of its outputs; None stands for zero.

    The program's captures are values of the current interpreter, which does all the arithmetic.
    """
    found: dict[Var, Any] = {}
    for x, ct in zip(program.outputs, cotangents, strict=True):
        if type(x) is Var and ct is not None:
            _gather(found, x, ct)
    constants: dict[Any, Any] = dict(program.captures)
    before = state.source
    try:
        for equation in reversed(program.equations):
            cts = [found.pop(var, None) for var in equation.outputs]
            if any(ct is not None for ct in cts):
                state.source = equation.source or before
                _step(equation, cts, constants, found)
    finally:
        state.source = before
    return [found.get(var) for var in program.inputs]


def _step(equation: Equation, cts: list[Any], constants: dict[Any, Any], found: dict[Var, Any]) -> None:
    operands = [x if type(x) is Literal else constants.get(x, x) for x in equation.inputs]
    for x, ct in zip(operands, transposed(equation, cts, operands), strict=True):
        if type(x) is Var and ct is not None:
            _gather(found, x, ct)


def _gather(found: dict[Var, Any], var: Var, ct: Any) -> None:
    if ct.type.shape != var.type.shape:  # a scalar beside an array was spread over it
        ct = reduce_sum(ct, axes=tuple(range(ct.type.ndim)))
    before = found.get(var)
    found[var] = ct if before is None else add(before, ct)


def transposed(equation: Equation, cts: Sequence[Any], operands: Sequence[Any]) -> Sequence[Any]:
    """The cotangents of an equation's operands, None for those that are not linear; linear operands are variables."""
    op = equation.op
    rules: Any = op.transpose
    if rules is None:
        raise _not_transposable(op, "a linear function")
    if type(rules) is not tuple:
        return rules(cts if op.multiple else cts[0], operands, **equation.params)
    _require_linear(op, operands)
    ct, params = cts[0], equation.params
    pairs = zip(operands, for_each(rules, len(operands)), strict=True)
    return [_one(op, rule, ct, operands, params) if type(x) is Var else None for x, rule in pairs]


def _not_transposable(op: Op, what: str) -> errors.CeladonError:
    place = f", called at {errors.describe(*state.source)}," if state.source else ""
    return errors.NotTransposable(op=op.name, place=place, what=what)


def _require_linear(op: Op, operands: Sequence[Any]) -> None:
    """Raise where several operands are linear at once and the op is linear in each of them alone."""
    if op.tangent is not None and "multilinear" in op.tangent and sum(type(x) is Var for x in operands) > 1:
        raise _not_transposable(op, "a function that is not linear")


def _one(op: Op, rule: Any, ct: Any, operands: Sequence[Any], params: dict[str, Any]) -> Any:
    if rule is None:
        raise _not_transposable(op, "a linear function")
    return rule(ct, *operands, **params)


