"""What an op is: a name of StableHLO or CHLO with its rules; calling it hands it to the current interpreter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from celadon import tracing
from celadon.program import Equation, Operand, Program, Var
from celadon.types import ArrayType, kind

Axis = tuple[int | Var, int]  # (operand, axis) of an equation, results counted on after the operands; or of a variable
Widen = Callable[[Equation, Sequence[Program], Sequence[Sequence[Operand]]], Equation]
registry: dict[str, Op] = {}


class Through(NamedTuple):
    """A tangent rule: a function of other ops, with the same meaning, that is differentiated instead."""

    function: Callable[..., Any]



class Op:
    """An op and its rules.

    result_type(*types, **params): the type of its result, or a list of them if `multiple`; checks the operands.
    numpy(*arrays, **params): its meaning, on NumPy arrays.
    tangent: the derivative; a tuple with an entry for each operand: None (none), "linear" (the op is linear in all such
        operands together), "multilinear" (in this one alone), or rule(t, out, *operands, **params) -> tangent of the result.
        The last entry stands for all operands that follow. Or rule(primals, tangents, **params) -> (results, tangents) does the
        whole; tangents that are None are zero. Through(f) differentiates f(*operands, **params) instead, which has the same
        meaning. Without any a macro op is expanded.
    transpose: for linear operands, a tuple of rule(ct, *operands, **params) -> ct of that operand, where linear operands
        are variables, known by their type alone; or one
        rule(cts, operands, **params) -> [ct of each operand or None].
    batch: rule(batch, axes, operands, **params) -> (result, axis), or lists of them if `multiple`; an axis of None means
        not batched. Elementwise ops have one; a macro op without one is expanded.
    expand(*values, **params): for a macro op, the same in terms of other ops.
    text: the name it has in StableHLO text if it prints like an elementwise op, or a rule (see compiler/stablehlo.py).
    unite(equation): pairs of axes whose extents are one number by the op's own type rule.
    numbers: names of the parameters that are numbers, or functions to call back; all others are structure.
    effects: it does something besides its results: dead-code removal keeps it.
    widen(equation, bodies, operands): for an op with bodies, the equation with these bodies for its own, each of which
        takes further inputs ahead of them: these operands.
    prune(equation, wanted): for an op with bodies, the equation with only the results that are wanted (a bool for each).
    exact: NumPy has an executor's bits, so Evaluate may use it; or the kinds of dtypes ("biuf") for which it has.
    """

    __slots__ = (
        "batch", "effects", "exact", "expand", "kind", "multiple", "name", "numbers", "numpy", "prune", "result_type", "tangent",
        "text", "transpose", "unite", "widen",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        result_type: Callable[..., Any],
        numpy: Callable[..., Any] | None = None,
        **rules: Any,
    ):
        if name in registry:
            raise ValueError(f"op {name} is defined twice")
        self.name, self.result_type, self.numpy = name, result_type, numpy
        self.tangent: Any = rules.pop("tangent", None)
        self.transpose: Any = rules.pop("transpose", None)
        self.batch: Callable[..., Any] | None = rules.pop("batch", None)
        self.expand: Callable[..., Any] | None = rules.pop("expand", None)
        self.text: str | Callable[..., Any] | None = rules.pop("text", None)
        self.unite: Callable[[Equation], Iterable[tuple[Axis, Axis]]] = rules.pop("unite", unite_none)
        self.numbers: frozenset[str] = frozenset(rules.pop("numbers", ()))
        self.effects: bool = rules.pop("effects", False)
        self.widen: Widen | None = rules.pop("widen", None)
        self.prune: Callable[[Equation, Sequence[bool]], Equation] | None = rules.pop("prune", None)
        self.exact: bool | str = rules.pop("exact", False)
        self.multiple: bool = rules.pop("multiple", False)
        self.kind: str = rules.pop("kind", "")
        if rules:
            raise TypeError(f"op {name} has no rule called {', '.join(rules)}")
        registry[name] = self

    def __call__(self, *operands: Any, **params: Any) -> Any:
        return tracing.current().apply(self, operands, params)

    def define(self, **rules: Any) -> None:
        """Give an op rules that can't stand where it does, because they transform its body."""
        for name, rule in rules.items():
            if getattr(self, name) is not None:
                raise ValueError(f"the op {self.name} has a rule called {name} already")
            setattr(self, name, rule)

    def exactly(self, types: Iterable[ArrayType]) -> bool:
        """Whether NumPy has an executor's bits for operands of these types."""
        exact = self.exact
        return exact if isinstance(exact, bool) else all(kind(t.dtype) in exact for t in types)

    def __repr__(self) -> str:
        return f"<op {self.name}>"


def unite_none(equation: Equation) -> Iterable[tuple[Axis, Axis]]:
    return ()


def unite_all(equation: Equation) -> Iterable[tuple[Axis, Axis]]:
    """Every operand and result of full rank has the same extents: elementwise ops."""
    values = [*equation.inputs, *equation.outputs]
    last = len(values) - 1
    rank = values[last].type.ndim
    return [((k, i), (last, i)) for k in range(last) if values[k].type.ndim == rank for i in range(rank)]


def same_type(*types: ArrayType, **params: Any) -> ArrayType:
    """The type of the operand of highest rank."""
    return max(types, key=lambda t: t.ndim)
