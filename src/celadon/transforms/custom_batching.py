"""custom_vmap: a function with a batch rule of its own; sequential_vmap: one that a loop maps."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from celadon import errors, tree
from celadon.op import Op
from celadon.transforms import loops
from celadon.transforms.batching import Batch, leading, moved
from celadon.transforms.custom import Axes, Mapped, Plain, Rule, Values, called, invoke, op_of, tree_name
from celadon.transforms.values import as_value

Function = Callable[..., Any]

class custom_vmap:
    """Wrap a function to say how vmap runs it.

    Raises:
        CustomRuleMissing, CustomRuleResult.

    >>> import celadon, celadon.numpy as cnp
    >>> f = custom_vmap(lambda x: x + 1)
    >>> @f.def_vmap
    ... def rule(axis_size, in_batched, x):
    ...     return x + 100, in_batched[0]
    >>> celadon.vmap(f)(cnp.arange(2))
    Array([100, 101], dtype=int32)
    """

    def __init__(self, fun: Function):
        functools.update_wrapper(self, fun, updated=())
        self.fun = fun
        self.vmap_rule: Function | None = None

    def def_vmap(self, vmap_rule: Function) -> Function:
        """Give the rule vmap_rule(axis_size, in_batched, *args) -> (result, out_batched).

        Batched arguments and results have the batch in front; in_batched and out_batched are trees of bool like them.
        """
        self.vmap_rule = vmap_rule
        return vmap_rule

    def __call__(self, *args: Any) -> Any:
        if self.vmap_rule is None:
            raise errors.CustomRuleMissing(function=tree_name(self.fun), wrapper="custom_vmap", method="def_vmap")
        leaves, form = tree.flatten(args)
        return called(_Rule(self, form), [as_value(x) for x in leaves])


class _Rule(Plain):
    op: Op

    def __init__(self, owner: custom_vmap, form: tree.PyTreeDef):
        self.owner, self.form, self.name, self.op = owner, form, tree_name(owner.fun), call_op

    def run(self, values: Values) -> list[Any]:
        found, self.tree = tree.flatten(self.owner.fun(*self.form.unflatten(values)))
        return [as_value(x) for x in found]

    def batched(self, batch: Batch, axes: Axes) -> Rule:
        return _OverBatch(self, batch.size, tuple(axes))

    def mapped(self, size: int, axes: Axes, values: Values) -> list[Any]:
        """The results over a batch by the user's rule, the batch in front."""
        front = [x if i is None else moved(x, i, 0) for x, i in zip(values, axes, strict=True)]
        marks = self.form.unflatten([i is not None for i in axes])
        assert self.owner.vmap_rule is not None
        pair = self.owner.vmap_rule(size, list(marks), *self.form.unflatten(front))
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            found = type(pair).__name__
            raise errors.CustomRuleResult(rule="batch", function=self.name, wanted="a pair (result, out_batched)", found=found)
        leaves, self.tree = tree.flatten(pair[0])
        marked = tree.spread(pair[1], self.tree, None, "out_batched", "the result")
        return [leading(as_value(x), 0 if batched else None, size) for x, batched in zip(leaves, marked, strict=True)]


class _OverBatch(Plain):
    """The user's batch rule as a function of its own."""

    def __init__(self, rule: _Rule, size: int, axes: tuple[int | None, ...]):
        self.rule, self.size, self.axes = rule, size, axes
        self.name, self.op = rule.name, rule.op

    def run(self, values: Values) -> list[Any]:
        return self.rule.mapped(self.size, self.axes, values)

    def batched(self, batch: Batch, axes: Axes) -> Rule:
        return _MappedAgain(self, batch, axes)


class _MappedAgain(Mapped, Plain):
    """The rule over a batch of batches."""

    tangent = Plain.tangent


def _batch(batch: Batch, axes: Axes, values: Values, *, program: Any, rule: Rule, held: int) -> tuple[list[Any], list[int]]:
    if held:
        raise errors.CustomRuleClosure(function=rule.name, place="")
    found = invoke(rule.batched(batch, axes), values)
    return found, [0] * len(found)


call_op = op_of("custom_vmap", _batch)


def sequential_vmap(f: Function) -> Function:
    """A function that vmap runs member by member, in a loop.

    >>> import celadon, celadon.numpy as cnp
    >>> celadon.vmap(sequential_vmap(lambda x: x + 1))(cnp.arange(2))
    Array([1, 2], dtype=int32)
    """
    function = custom_vmap(f)

    @function.def_vmap
    def rule(axis_size: int, in_batched: Any, *args: Any) -> Any:
        leaves, form = tree.flatten(args)
        marks = tree.leaves(in_batched)

        def one(rows: Any) -> Any:
            rest = iter(rows)
            return f(*form.unflatten([next(rest) if mark else x for x, mark in zip(leaves, marks, strict=True)]))

        found = loops.map(one, [x for x, mark in zip(leaves, marks, strict=True) if mark])
        return found, tree.map(lambda _: True, found)

    return function
