"""custom_vjp: a function whose derivative is given by a forward rule, which keeps residuals, and one for cotangents."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from celadon import errors, tree
from celadon.op import Op
from celadon.program import Var
from celadon.signature import parameters_of
from celadon.tracing import Tracer, interpreting
from celadon.transforms.batching import moved
from celadon.transforms.custom import (
    Arguments,
    Axes,
    Mapped,
    Rule,
    Values,
    called,
    closing,
    linear_recorder,
    op_of,
    split,
    tree_name,
)  # fmt: skip
from celadon.transforms.custom_zeros import CustomVJPPrimal, SymbolicZero, tangent_value
from celadon.transforms.values import as_value, is_inexact
from celadon.tree_paths import keystr
from celadon.types import ArrayType, float0
from celadon.vocabulary.reduce import reduce_sum

Function = Callable[..., Any]

call_op = op_of("custom_vjp")


class custom_vjp:
    """Wrap a function to give it a rule for reverse mode of your own.

    Args:
        fun: the function.
        nondiff_argnums, nondiff_argnames: arguments without a derivative; the backward rule gets them first.

    Raises:
        CustomRuleMissing, CustomRuleResult, ForwardModeOfCustomVjp.

    >>> import celadon
    >>> f = custom_vjp(lambda x: x * x)
    >>> f.defvjp(lambda x: (x * x, x), lambda x, ct: (ct * 10,))
    >>> celadon.grad(f)(1.0)
    Array(10., dtype=float32, weak_type=True)
    """

    def __init__(self, fun: Function, nondiff_argnums: Sequence[int] = (), nondiff_argnames: Sequence[str] = ()):
        functools.update_wrapper(self, fun, updated=())
        self.fun = fun
        self.apart = (tuple(nondiff_argnums), tuple(nondiff_argnames))
        self.fwd: Function | None = None
        self.bwd: Function | None = None
        self.symbolic_zeros = False

    def defvjp(self, fwd: Function, bwd: Function, symbolic_zeros: bool = False, optimize_remat: bool = False) -> None:
        """Give the rules.

        Args:
            fwd: takes fun's arguments, returns (result, residuals).
            bwd: takes the nondifferentiable arguments, the residuals and the result's cotangent; returns a tuple with a
                cotangent for each differentiable argument (None stands for zero).
            symbolic_zeros: fwd gets pairs (value, perturbed), bwd gets SymbolicZero for cotangents known to be zero.
            optimize_remat: accepted; what fwd computes in vain is dropped in any case.
        """
        self.fwd, self.bwd, self.symbolic_zeros = fwd, bwd, symbolic_zeros

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.fwd is None:
            raise errors.CustomRuleMissing(function=tree_name(self.fun), wrapper="custom_vjp", method="defvjp")
        given = split(self.fun, self.apart, args, kwargs)
        for i, x in given.others.items():
            _require_concrete(self.fun, i, x)
        return called(_Rule(self, given), given.leaves)


def _require_concrete(fun: Function, index: int, argument: Any) -> None:
    for path, x in tree.flatten_with_path(argument)[0]:
        if isinstance(x, Tracer):
            name = parameters_of(fun).name_of(index) + keystr(path)
            raise x.asked(errors.NondiffTraced, argument=name, wrapped=tree_name(fun))


class _Vjp(Rule):
    """A rule in two: forward(primals, moving) -> (results, residuals), backward(residuals, cts) -> cotangents, all flat."""

    op = call_op

    def forward(self, primals: Values, moving: tuple[bool, ...]) -> tuple[list[Any], list[Any]]:
        raise NotImplementedError

    def backward(self, residuals: Values, cts: Values) -> list[Any]:
        raise NotImplementedError

    def tangent(self, primals: Values, tangents: Values) -> tuple[list[Any], list[Any]]:
        """Tangents only pass through an op of which nothing is known but its transpose."""
        recorder = linear_recorder()
        if recorder is None:
            raise errors.ForwardModeOfCustomVjp(function=self.name)
        with interpreting(recorder.outer):
            outs, residuals = self.forward([as_value(x) for x in primals], tuple([t is not None for t in tangents]))
        marks = [t is not None for t in tangents]
        given = [t for t in tangents if t is not None]
        types = tuple([x.type for x in outs if is_inexact(x.type)])
        moved = iter(passed(*residuals, *given, rule=self, kept=len(residuals), marks=tuple(marks), types=types))
        return outs, [next(moved) if is_inexact(x.type) else None for x in outs]


class _Rule(_Vjp):
    def __init__(self, owner: custom_vjp, given: Arguments):
        self.owner, self.given, self.name = owner, given._replace(leaves=[]), tree_name(owner.fun)
        self.types = tuple([x.type for x in given.leaves])
        self.residuals: tree.PyTreeDef | None = None
        self.results: tuple[ArrayType, ...] = ()

    def run(self, values: Values) -> list[Any]:
        found, self.tree = tree.flatten(self.owner.fun(*self.given.whole(values)))
        return [as_value(x) for x in found]

    def forward(self, primals: Values, moving: tuple[bool, ...]) -> tuple[list[Any], list[Any]]:
        assert self.owner.fwd is not None
        leaves: Values = primals
        if self.owner.symbolic_zeros:
            leaves = [CustomVJPPrimal(x, moves) for x, moves in zip(primals, moving, strict=True)]
        pair = self.owner.fwd(*self.given.whole(leaves))
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            self._refuse("forward", "a pair (result, residuals)", type(pair).__name__)
        outs, self.tree = tree.flatten(pair[0])
        kept, self.residuals = tree.flatten(pair[1])
        outs = [as_value(x) for x in outs]
        self.results = tuple([x.type for x in outs])
        return outs, [as_value(x) for x in kept]

    def backward(self, residuals: Values, cts: Values) -> list[Any]:
        assert self.owner.bwd is not None and self.residuals is not None and self.tree is not None
        symbolic = self.owner.symbolic_zeros
        given = [tangent_value(ct, t, symbolic) for ct, t in zip(_placed(cts, self.results), self.results, strict=True)]
        kept = self.residuals.unflatten([as_value(x) for x in residuals])
        with closing(self.name, later=True):
            found = self.owner.bwd(*self.given.others.values(), kept, self.tree.unflatten(given))
        return self._flat(found)

    def _flat(self, found: Any) -> list[Any]:
        """Cotangents of the arguments' leaves, None for zero."""
        count = self.given.total - len(self.given.others)
        if not isinstance(found, tuple | list) or len(found) != count:
            self._refuse("backward", f"a tuple of {count} cotangents, one for each differentiable argument", _words(found))
        whole = self.given.part(range(len(self.types)))
        cts: list[Any] = [None] * len(self.types)
        for k, (ct, places) in enumerate(zip(found, whole, strict=True)):
            if ct is None:
                continue
            form, argument = tree.structure(places), self._argument(k)
            words = "the cotangent from the backward rule", f"argument {argument} of {self.name}"
            parts = tree.spread(ct, form, lambda x: x is None, *words)
            for i, path, one in zip(tree.leaves(places), tree.paths(form), parts, strict=True):
                cts[i] = self._checked(i, one, argument + keystr(path))
        return cts

    def _argument(self, index: int) -> str:
        """The name of an argument that the rule is about."""
        positions = [i for i in range(self.given.total) if i not in self.given.others]
        return parameters_of(self.owner.fun).name_of(positions[index])

    def _checked(self, index: int, ct: Any, argument: str) -> Any:
        type = self.types[index]
        if ct is None or isinstance(ct, SymbolicZero) or not is_inexact(type) or getattr(ct, "dtype", None) == float0:
            return None
        ct = as_value(ct)
        if ct.type.shape != type.shape or ct.type.dtype != type.dtype:
            self._refuse("backward", f"a cotangent of type {type} for argument {argument}", str(ct.type))
        return ct

    def _refuse(self, rule: str, wanted: str, found: str) -> None:
        raise errors.CustomRuleResult(rule=rule, function=self.name, wanted=wanted, found=found)

    def batched(self, batch: Any, axes: Axes) -> Rule:
        return _Mapped(self, batch, axes)


def _words(found: Any) -> str:
    return f"{type(found).__name__} of {len(found)}" if isinstance(found, tuple | list) else type(found).__name__


def _placed(cts: Values, types: Sequence[ArrayType]) -> list[Any]:
    """Cotangents of inexact results, at their places among all."""
    rest = iter(cts)
    return [next(rest) if is_inexact(t) else None for t in types]


class _Mapped(Mapped, _Vjp):
    """The rule over a batch; an argument that all members share gets the sum of their cotangents."""

    rule: _Vjp

    def forward(self, primals: Values, moving: tuple[bool, ...]) -> tuple[list[Any], list[Any]]:
        counts: list[int] = []

        def both(xs: Values) -> list[Any]:
            outs, residuals = self.rule.forward(xs, moving)
            counts.append(len(outs))
            return [*outs, *residuals]

        found = self.each(both, (primals, self.axes))
        return found[: counts[0]], found[counts[0] :]

    def backward(self, residuals: Values, cts: Values) -> list[Any]:
        found = self.each(self.rule.backward, (residuals, [0] * len(residuals)), (cts, [0] * len(cts)))
        return [_own(ct, axis) for ct, axis in zip(found, self.axes, strict=True)]

    tangent = _Vjp.tangent


def _own(ct: Any, axis: int | None) -> Any:
    if ct is None:
        return None
    return reduce_sum(ct, axes=(0,)) if axis is None else moved(ct, 0, axis)


# What tangents pass through


def _passed_back(cts: Values, operands: Values, *, rule: Any, kept: int, marks: Any, types: Any) -> list[Any]:
    found = rule.backward(operands[:kept], cts)
    moving = [ct for ct, mark in zip(found, marks, strict=True) if mark]
    return [None] * kept + [ct if type(x) is Var else None for ct, x in zip(moving, operands[kept:], strict=True)]


def _passed_tangent(primals: Values, tangents: Values, *, rule: Any, **params: Any) -> Any:
    raise errors.ForwardModeOfCustomVjp(function=rule.name)


passed = Op(
    "custom_vjp_tangent", lambda *types, **params: list(params["types"]), tangent=_passed_tangent, transpose=_passed_back,
    multiple=True, kind="custom_tangent",
)  # fmt: skip
