"""custom_jvp: a function whose derivative is given by a rule on tangents, which serves forward and reverse mode."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from celadon import errors, tree
from celadon.tracing import Value
from celadon.transforms.custom import Arguments, Mapped, Rule, Values, called, op_of, split, tree_name
from celadon.transforms.custom_zeros import SymbolicZero, tangent_value
from celadon.transforms.forward import tangent_sum
from celadon.transforms.values import as_value, is_inexact
from celadon.types import float0

Function = Callable[..., Any]

call_op = op_of("custom_jvp")


class custom_jvp:
    """Wrap a function to give it a derivative of your own.

    Args:
        fun: the function.
        nondiff_argnums, nondiff_argnames: arguments that the rule gets first, undifferentiated.

    Raises:
        CustomRuleMissing, CustomRuleResult.

    >>> import celadon
    >>> f = custom_jvp(lambda x: x * x)
    >>> f.defjvps(lambda t, out, x: 10 * t)
    >>> celadon.grad(f)(1.0)
    Array(10., dtype=float32, weak_type=True)
    """

    def __init__(self, fun: Function, nondiff_argnums: Sequence[int] = (), nondiff_argnames: Sequence[str] = ()):
        functools.update_wrapper(self, fun, updated=())
        self.fun = fun
        self.apart = (tuple(nondiff_argnums), tuple(nondiff_argnames))
        self.jvp: Function | None = None
        self.symbolic_zeros = False

    def defjvp(self, jvp: Function, symbolic_zeros: bool = False) -> Function:
        """Give the rule jvp(*nondiff, primals, tangents) -> (result, tangent of the result)."""
        self.jvp, self.symbolic_zeros = jvp, symbolic_zeros
        return jvp

    def defjvps(self, *jvps: Function | None) -> None:
        """Give a rule for each argument: jvp(t, result, *primals) -> tangent; None for a zero one."""
        if self.apart != ((), ()):
            raise errors.CustomRuleResult(
                rule="derivative", function=tree_name(self.fun), wanted="defjvp, as it has nondiff_argnums", found="defjvps"
            )

        def jvp(primals: Any, tangents: Any) -> Any:
            out = self(*primals)
            pieces = [rule(t, out, *primals) for rule, t in zip(jvps, tangents, strict=True) if rule is not None]
            total = functools.reduce(lambda x, y: tree.map(tangent_sum, x, y), pieces) if pieces else tree.map(_zero, out)
            return out, total

        self.defjvp(jvp)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.jvp is None:
            raise errors.CustomRuleMissing(function=tree_name(self.fun), wrapper="custom_jvp", method="defjvp")
        given = split(self.fun, self.apart, args, kwargs)
        return called(_Rule(self, given), given.leaves)


def _zero(x: Any) -> Any:
    return x * 0


class _Rule(Rule):
    op = call_op

    def __init__(self, owner: custom_jvp, given: Arguments):
        self.owner, self.given, self.name = owner, given._replace(leaves=[]), tree_name(owner.fun)

    def run(self, values: Values) -> list[Any]:
        found, self.tree = tree.flatten(self.owner.fun(*self.given.whole(values)))
        return [as_value(x) for x in found]

    def tangent(self, primals: Values, tangents: Values) -> tuple[list[Any], list[Any]]:
        values = [as_value(x) for x in primals]
        symbolic = self.owner.symbolic_zeros
        moved = [tangent_value(t, x.type, symbolic) for x, t in zip(values, tangents, strict=True)]
        assert self.owner.jvp is not None
        others = list(self.given.others.values())
        pair = self.owner.jvp(*others, self.given.part(values), self.given.part(moved))
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            self._refuse("a pair (result, tangent)", type(pair).__name__)
        outs, self.tree = tree.flatten(pair[0])
        moves, moves_tree = tree.flatten(pair[1])
        if self.tree != moves_tree:
            self._refuse(f"a tangent of the tree of its result, {self.tree}", str(moves_tree))
        outs = [as_value(x) for x in outs]
        return outs, [self._checked(x, t) for x, t in zip(outs, moves, strict=True)]

    def _checked(self, x: Any, t: Any) -> Any:
        if isinstance(t, SymbolicZero) or not is_inexact(x.type) or getattr(t, "dtype", None) == float0:
            return None
        t = t if isinstance(t, Value) else as_value(t)
        if t.type.shape != x.type.shape or t.type.dtype != x.type.dtype:
            self._refuse(f"a tangent of type {x.type}", str(t.type))
        return t

    def _refuse(self, wanted: str, found: str) -> None:
        raise errors.CustomRuleResult(rule="derivative", function=self.name, wanted=wanted, found=found)

    def batched(self, batch: Any, axes: Any) -> Rule:
        return _Mapped(self, batch, axes)


class _Mapped(Mapped):
    def tangent(self, primals: Values, tangents: Values) -> tuple[list[Any], list[Any]]:
        def both(xs: Values, ts: Values) -> list[Any]:
            outs, moved = self.rule.tangent(xs, ts)
            return [*outs, *moved]

        found = self.each(both, (primals, self.axes), (tangents, self.axes))
        half = len(found) // 2
        return found[:half], found[half:]
