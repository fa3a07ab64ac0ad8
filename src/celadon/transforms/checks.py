"""Checks: the interpreter of checkify; every op is run, and what may fail in it is kept in a state of arrays."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from celadon import errors, settings, tracing, tree
from celadon.program import Program, fixed, literal, remembered
from celadon.tracing import Interpreter, apply_in, interpreting, recorded
from celadon.transforms.batching import Batch, at
from celadon.transforms.custom import Axes, Mapped, Rule, Watcher, invoke_in
from celadon.transforms.forward import zeros
from celadon.transforms.replay import replay
from celadon.types import ArrayType, int32
from celadon.vocabulary.check import CheckError, Faults, Kind, Site
from celadon.vocabulary.comparison import compare, select
from celadon.vocabulary.conversion import convert

if TYPE_CHECKING:
    from celadon.op import Op

Values = Sequence[Any]
Categories = frozenset[type[CheckError]]
CheckRule = Callable[["Checks", "Op", Values, dict[str, Any]], Any]
rules: dict[str, CheckRule] = {}

codes = itertools.count(1)
NOTHING = Faults()


class State:
    """What failed first: a code (None until something may fail, 0 while nothing did), and the values of its message."""

    def __init__(self, faults: Faults = NOTHING, values: Values = ()):
        self.code = values[0] if values else None
        self.values: dict[Kind, list[Any]] = dict(zip(faults.kinds, faults.split(values[1:]), strict=True))
        self.sites: dict[int, Site] = dict(faults.sites)

    @property
    def faults(self) -> Faults:
        return Faults(tuple(sorted(self.values, key=repr)), tuple(sorted(self.sites.items(), key=operator.itemgetter(0))))

    def flat(self) -> list[Any]:
        """The code, then values by kind."""
        code = fixed(0, int32) if self.code is None else self.code
        return [code, *(x for kind in self.faults.kinds for x in self.values[kind])]

    def take(self, code: Any, values: dict[Kind, list[Any]]) -> None:
        """Another failure, which counts if there was none before; its code is 0 if there is none."""
        if self.code is None:
            self.code = code
            self.values.update(values)
            return
        free = compare(self.code, fixed(0, int32), direction="EQ")
        self.code = select(free, code, self.code)
        for kind, found in values.items():
            before = self.values.get(kind, found)
            self.values[kind] = [x if x is y else select(free, x, y) for x, y in zip(found, before, strict=True)]

    def widen(self, faults: Faults) -> None:
        """Make room for values of more kinds."""
        for kind in faults.kinds:
            if kind not in self.values:
                self.values[kind] = [zeros(t) for t in kind]

    def follow(self, faults: Faults, values: Values) -> list[Any]:
        """Take over the state that a checked program gave first; the program's own results are returned."""
        count = size_of(faults)
        after = State(faults, values[:count])
        self.code, self.values = after.code, after.values
        self.sites |= after.sites
        return list(values[count:])


def size_of(faults: Faults) -> int:
    """How many values a state has."""
    return 1 + sum(map(len, faults.kinds))


def types_of(faults: Faults) -> list[ArrayType]:
    """The types of a state's values."""
    return [ArrayType((), int32), *(t for kind in faults.kinds for t in kind)]


class Checks(Watcher):
    """Runs every op in the interpreter outside, and notes in its state what failed first."""

    name, open = "a checked function", True

    def __init__(self, outer: Interpreter | None, enabled: Categories, state: State | None = None):
        self.outer, self.enabled, self.state = outer, enabled, state or State()

    def apply(self, op: Op, operands: Values, params: dict[str, Any]) -> Any:
        rule = rules.get(op.name)
        if rule is None:
            return apply_in(self.outer, op, operands, params)
        with interpreting(self.outer):
            return rule(self, op, operands, params)

    def failed(self, bad: Any, category: type[CheckError], text: str, values: Values = ()) -> None:
        """Note that something failed, if `bad` (a boolean scalar) holds; the values fill the places of the text."""
        self.take(bad, site(category, text, (tuple(values), {})), values)

    def take(self, bad: Any, site: Site, values: Values) -> None:
        code = next(codes)
        self.state.sites[code] = site
        given = {site.kind: [_strong(x) for x in values]} if site.kind else {}
        self.state.take(select(bad, literal(code, int32), fixed(0, int32)), given)

    def invoke(self, rule: Rule, values: Values) -> list[Any]:
        if tracing.recording() is not None:
            self.state.widen(_discovered(rule, self.enabled, self.state.faults, [x.type for x in values]))
        before = self.state.faults
        over = CheckedRule(rule, self.enabled, before)
        found = invoke_in(self.outer, over, [*self.state.flat(), *values])
        return self.state.follow(over.after, found)


def site(category: type[CheckError], text: str, shown: Any) -> Site:
    """What fails on the line of the user's that is at work."""
    leaves, form = tree.flatten(shown)
    source = tracing.state.source
    place = errors.describe(*source) if source else errors.user_line()
    return Site(category, text, form, tuple([x.type.strong() for x in leaves]), place)


def _strong(x: Any) -> Any:
    return convert(x, new_dtype=x.type.dtype) if x.type.weak_type else x


class CheckedRule(Rule):
    """A rule of the same function of a state and values, which returns both; derivatives leave the state as it is."""

    def __init__(self, rule: Rule, enabled: Categories, faults: Faults):
        self.inner, self.enabled, self.faults, self.after = rule, enabled, faults, faults
        self.op, self.name, self.count = rule.op, rule.name, size_of(faults)

    def run(self, values: Values) -> list[Any]:
        checks = Checks(tracing.active(), self.enabled, State(self.faults, values[: self.count]))
        with interpreting(checks):
            found = self.inner.run(values[self.count :])
        checks.open = False
        self.after = checks.state.faults
        return [*checks.state.flat(), *found]

    def tangent(self, primals: Values, tangents: Values) -> tuple[list[Any], list[Any]]:
        outs, moved = self.inner.tangent(primals[self.count :], tangents[self.count :])
        return [*primals[: self.count], *outs], [*[None] * self.count, *moved]

    def batched(self, batch: Batch, axes: Axes) -> Rule:
        return _Over(self, batch, axes)


class _Over(Mapped):
    """A checked rule over a batch."""

    def __init__(self, rule: Any, batch: Batch, axes: Axes):
        super().__init__(rule, batch, axes)
        self.count = rule.count
        self.inner = rule.inner.batched(batch, axes[rule.count :])

    @property
    def after(self) -> Faults:
        return self.rule.after  # pyright: ignore[reportAttributeAccessIssue]

    def run(self, values: Values) -> list[Any]:
        """A function with a batch rule runs by it, without checks."""
        if self.op.name != "custom_vmap":
            return super().run(values)
        return [*self._state(values), *self.inner.run(values[self.count :])]

    def tangent(self, primals: Values, tangents: Values) -> tuple[list[Any], list[Any]]:
        outs, moved = self.inner.tangent(primals[self.count :], tangents[self.count :])
        return [*self._state(primals), *outs], [*[None] * self.count, *moved]

    def _state(self, values: Values) -> list[Any]:
        return [at(x, i, 0, self.size) for x, i in zip(values[: self.count], self.axes, strict=False)]


def _discovered(rule: Rule, enabled: Categories, faults: Faults, types: Sequence[ArrayType]) -> Faults:
    """What may fail in a function, found by a trace that nothing else comes of."""
    over = CheckedRule(rule, enabled, faults)
    with recorded(rule.name, tracing=False) as record:
        over.run([record.input(t) for t in (*types_of(faults), *types)])
    return over.after


class Checked(NamedTuple):
    """A program that takes and returns a state ahead of its own values, and what may have failed after it."""

    program: Program
    faults: Faults


def checked(program: Program, enabled: Categories, kinds: Sequence[Kind]) -> Checked:
    """The program with its checks as a part of its values; `kinds` says for which kinds of values its state has room."""
    key = ("checked", enabled, tuple(kinds), settings.key())
    return remembered(program, key, lambda: _checked(program, enabled, Faults(tuple(kinds))))


def _checked(program: Program, enabled: Categories, faults: Faults) -> Checked:
    with recorded(program.name, tracing=False) as record:
        state = State(faults, [record.input(t) for t in types_of(faults)])
        checks = Checks(record, enabled, state)
        inputs = [record.input(var.type) for var in program.inputs]
        with interpreting(checks):
            outputs = replay(program, inputs)
        made = record.program([*state.flat(), *outputs])
    checks.open = False
    return Checked(made, state.faults)


def unchecked(program: Program) -> Program:
    """The program without its checks."""
    return remembered(program, ("unchecked", settings.key()), lambda: _unchecked(program))


def _unchecked(program: Program) -> Program:
    with recorded(program.name, tracing=False) as record:
        checks = Checks(record, frozenset())
        with interpreting(checks):
            outputs = replay(program, [record.input(var.type) for var in program.inputs])
        return record.program(outputs)


__all__ = [
    "Checked", "CheckedRule", "Checks", "State", "checked", "codes", "rules", "site", "size_of", "types_of", "unchecked",
]  # fmt: skip
