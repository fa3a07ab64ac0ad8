"""What an op is: a name of StableHLO or CHLO with its rules; calling it hands it to the current interpreter."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from celadon import tracing
from celadon.program import Equation
from celadon.types import ArrayType, kind

Axis = tuple[int, int]  # (operand, axis) of an equation; results are counted on after the operands
registry: dict[str, Op] = {}


class Op:
    """An op and its rules.

    result_type(*types, **params): the type of its result, or a list of them if `multiple`; checks the operands.
    numpy(*arrays, **params): its meaning, on NumPy arrays.
    expand(*values, **params): for a macro op, the same in terms of other ops.
    text: the name it has in StableHLO text if it prints like an elementwise op, or a rule (see compiler/stablehlo.py).
    unite(equation): pairs of axes whose extents are one number by the op's own type rule.
    numbers: names of the parameters that are numbers; all others are structure.
    exact: NumPy has an executor's bits, so Evaluate may use it; or the kinds of dtypes ("biuf") for which it has.
    """

    __slots__ = ("exact", "expand", "kind", "multiple", "name", "numbers", "numpy", "result_type", "text", "unite")

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
        self.expand: Callable[..., Any] | None = rules.pop("expand", None)
        self.text: str | Callable[..., Any] | None = rules.pop("text", None)
        self.unite: Callable[[Equation], Iterable[tuple[Axis, Axis]]] = rules.pop("unite", unite_none)
        self.numbers: frozenset[str] = frozenset(rules.pop("numbers", ()))
        self.exact: bool | str = rules.pop("exact", False)
        self.multiple: bool = rules.pop("multiple", False)
        self.kind: str = rules.pop("kind", "")
        if rules:
            raise TypeError(f"op {name} has no rule called {', '.join(rules)}")
        registry[name] = self

    def __call__(self, *operands: Any, **params: Any) -> Any:
        return tracing.current().apply(self, operands, params)

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
