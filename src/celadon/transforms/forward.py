"""Jvp: the interpreter that carries tangents; values with one come in, op and derivative go to the interpreter outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from celadon import errors
from celadon.op import Through
from celadon.program import Literal, fixed
from celadon.tracing import Interpreter, Recorded, Tracer, apply_in, interpreting, notes_lines, state, user_source
from celadon.types import ArrayType, kind
from celadon.vocabulary.arithmetic import add
from celadon.vocabulary.shape import broadcast_in_dim

if TYPE_CHECKING:
    from celadon.op import Op

Values = Sequence[Any]


class Dual(Tracer):
    """A value with its tangent; it has concrete bool, int, float and index where its primal has."""

    __slots__ = ("primal", "tangent")

    def __init__(self, interpreter: Interpreter, primal: Any, tangent: Any):
        self.interpreter, self.primal, self.tangent, self.type = interpreter, primal, tangent, primal.type

    def __bool__(self) -> bool:
        return bool(self.primal)

    def __int__(self) -> int:
        return int(self.primal)

    def __float__(self) -> float:
        return float(self.primal)

    def __complex__(self) -> complex:
        return complex(self.primal)

    def __index__(self) -> int:
        return self.primal.__index__()

    def origin(self) -> str:
        if isinstance(self.primal, Tracer):
            return self.primal.origin()
        known = isinstance(self.tangent, Recorded) and self.tangent.interpreter.late_names
        return self.tangent.origin() if known else "is being differentiated"

    def made(self) -> str:
        return self.primal.made() if isinstance(self.primal, Tracer) else super().made()


class Jvp:
    """Computes primal results in the interpreter outside, and tangents in `target` (a recorder of linear ops, or the same)."""

    name, open = "a differentiated function", True

    def __init__(self, outer: Interpreter | None, target: Interpreter | None = None):
        self.outer, self.target = outer, target or outer
        self.tracing = notes_lines(outer)

    def apply(self, op: Op, operands: Values, params: dict[str, Any]) -> Any:
        duals = [type(x) is Dual and x.interpreter is self for x in operands]
        if True not in duals:
            return apply_in(self.outer, op, operands, params)
        if not self.tracing or state.source is not None or op.kind == "custom":  # a user's rule has lines of its own
            return self._derived(op, operands, duals, params)
        state.source = user_source()  # of all that is recorded for this op
        try:
            return self._derived(op, operands, duals, params)
        finally:
            state.source = None

    def _derived(self, op: Op, operands: Values, duals: Sequence[bool], params: dict[str, Any]) -> Any:
        primals = [x.primal if own else x for x, own in zip(operands, duals, strict=True)]
        tangents = [x.tangent if own else None for x, own in zip(operands, duals, strict=True)]
        rule: Any = op.tangent
        if type(rule) is Through:
            return rule.function(*operands, **params)
        if rule is None and op.expand is not None:
            return op.expand(*operands, **params)
        if type(rule) is not tuple and rule is not None:
            with interpreting(self.target):
                outs, moved = rule(primals, tangents, **params)
            return [self.joined(x, t) for x, t in zip(outs, moved, strict=True)] if op.multiple else self.joined(outs, moved)
        out = apply_in(self.outer, op, primals, params)
        if rule is None:
            _require_constant(op, out if op.multiple else [out])
            return out
        with interpreting(self.target):
            return self.joined(out, tangent_of(op, out, primals, tangents, params))

    def joined(self, primal: Any, tangent: Any) -> Any:
        """The value of a primal and its tangent; a zero tangent (None) needs none."""
        return primal if tangent is None else Dual(self, primal, tangent)

    def parts(self, x: Any) -> tuple[Any, Any]:
        """The primal and the tangent of any value; None where it does not depend on what is differentiated."""
        return (x.primal, x.tangent) if type(x) is Dual and x.interpreter is self else (x, None)


def _require_constant(op: Op, outs: Values) -> None:
    if any(kind(x.type.dtype) in "fc" for x in outs):
        raise errors.NotDifferentiable(op=op.name)


def for_each(rules: tuple[Any, ...], count: int) -> tuple[Any, ...]:
    """A rule for each operand: the last one given stands for all that follow."""
    return rules if len(rules) == count else rules[:count] + rules[-1:] * (count - len(rules))


def tangent_of(op: Op, out: Any, primals: Values, tangents: Values, params: dict[str, Any]) -> Any:
    """The tangent of an op's one result, by its rules, in the current interpreter; None if it is zero."""
    rules = for_each(op.tangent, len(primals))
    total, jointly = None, False
    for k, (rule, t) in enumerate(zip(rules, tangents, strict=True)):
        if t is None or rule is None:
            continue
        if rule == "linear":
            jointly = True
            continue
        swapped = (*primals[:k], t, *primals[k + 1 :])
        piece = op(*swapped, **params) if rule == "multilinear" else rule(t, out, *primals, **params)
        if piece is not None:
            total = piece if total is None else add(total, piece)
    if jointly:
        piece = op(*_in_place(op, rules, primals, tangents), **params)
        total = piece if total is None else add(total, piece)
    return None if total is None else _fitting(total, out.type)


def _in_place(op: Op, rules: Sequence[Any], primals: Values, tangents: Values) -> list[Any]:
    """The operands of a linear op with tangents for primals, zeros where there is none."""
    return [
        x if rule != "linear" else (zero_like(x, op) if t is None else t)
        for rule, x, t in zip(rules, primals, tangents, strict=True)
    ]


def zero_like(x: Any, op: Op) -> Any:
    return zero(x.type) if op.kind == "elementwise" else zeros(x.type)


def zero(type: ArrayType) -> Literal:
    """A scalar zero of a type's dtype and weakness."""
    found = fixed(0, type.dtype)
    return Literal(found.value, type.with_shape(()), True)


def zeros(type: ArrayType) -> Any:
    """An array of zeros of a type."""
    return filled(zero(type), type)


def filled(scalar: Any, type: ArrayType) -> Any:
    """A scalar repeated in the shape of a type."""
    return broadcast_in_dim(scalar, shape=type.shape, broadcast_dimensions=()) if type.shape else scalar


def _fitting(t: Any, type: ArrayType) -> Any:
    """A scalar tangent spread over its result: elementwise ops take scalars beside arrays."""
    return filled(t, type) if t.type.shape != type.shape else t


def instantiated(t: Any, type: ArrayType) -> Any:
    """The tangent, zeros where it is None."""
    return zeros(type) if t is None else t


def tangent_sum(x: Any, y: Any) -> Any:
    """The sum of two tangents."""
    return add(x, y)
