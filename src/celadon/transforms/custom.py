"""Functions with rules of their own: a call goes to the interpreter that it concerns, which runs the function or its rule."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from celadon import errors, tracing, tree
from celadon.op import Op
from celadon.program import Program
from celadon.tracing import Interpreter, Record, Tracer, interpreting
from celadon.transforms import derived
from celadon.transforms.backward import Linear
from celadon.transforms.batching import Batch, Batched, at
from celadon.transforms.bodies import value
from celadon.transforms.forward import Jvp
from celadon.transforms.replay import replay
from celadon.transforms.values import as_value
from celadon.tree import PyTreeDef
from celadon.types import ArrayType
from celadon.vocabulary.bodies import closed
from celadon.vocabulary.call import execute

Function = Callable[..., Any]
Values = Sequence[Any]
Axes = Sequence[int | None]


class Rule:
    """A function of flat values with its rule; kinds of rules override what their op needs.

    `run(values)` is the function, `tangent(primals, tangents)` its derivative in the current interpreter, which records
    what is linear; tangents that are None are zero. `batched(batch, axes)` is the rule for a whole batch, whose results
    have the batch in front.
    """

    op: Op
    name: str
    tree: PyTreeDef | None = None  # of the results, once it ran

    def run(self, values: Values) -> list[Any]:
        raise NotImplementedError

    def tangent(self, primals: Values, tangents: Values) -> tuple[list[Any], list[Any]]:
        raise NotImplementedError

    def batched(self, batch: Batch, axes: Axes) -> Rule:
        raise NotImplementedError


class Plain(Rule):
    """A rule that says nothing of derivatives: they are those of the function."""

    def tangent(self, primals: Values, tangents: Values) -> tuple[list[Any], list[Any]]:
        recorder = linear_recorder()
        jvp = Jvp(recorder.outer, recorder) if recorder else Jvp(tracing.active())
        with interpreting(jvp):
            found = self.run([jvp.joined(x, t) for x, t in zip(primals, tangents, strict=True)])
        jvp.open = False
        pairs = [jvp.parts(x) for x in found]
        return [x for x, _ in pairs], [t for _, t in pairs]


class Watcher:
    """An interpreter to which every op goes, whoever its operands belong to; so do calls of functions with rules."""

    name: str
    open: bool
    outer: Interpreter | None

    def apply(self, op: Op, operands: Values, params: dict[str, Any]) -> Any:
        raise NotImplementedError

    def invoke(self, rule: Rule, values: Values) -> list[Any]:
        raise NotImplementedError


def invoke(rule: Rule, values: Values) -> list[Any]:
    """Call a function with a rule."""
    return invoke_in(tracing.active(), rule, values)


def called(rule: Rule, leaves: Values) -> Any:
    """The tree of results of a call of a function with a rule."""
    found = invoke(rule, leaves)
    assert rule.tree is not None
    return rule.tree.unflatten([as_value(x) for x in found])


def invoke_in(interpreter: Interpreter | None, rule: Rule, values: Values) -> list[Any]:
    """Call a function with a rule, in another interpreter than the current one."""
    while interpreter is not None and type(interpreter) is not Record and not _owns(interpreter, values):
        if isinstance(interpreter, Watcher):
            return interpreter.invoke(rule, values)
        interpreter = interpreter.outer
    if type(interpreter) is Jvp:
        return _differentiated(interpreter, rule, values)
    if type(interpreter) is Batch:
        return _mapped(interpreter, rule, values)
    if type(interpreter) is Record:
        return _recorded(interpreter, rule, values)
    with interpreting(interpreter), closing(rule.name):
        return rule.run(values)


def _owns(interpreter: Interpreter, values: Values) -> bool:
    return any(isinstance(x, Tracer) and x.interpreter is interpreter for x in values)


def _differentiated(jvp: Jvp, rule: Rule, values: Values) -> list[Any]:
    pairs = [jvp.parts(x) for x in values]
    with interpreting(jvp.target), noting_lines(jvp.target), closing(rule.name):
        outs, moved = rule.tangent([x for x, _ in pairs], [t for _, t in pairs])
    return [jvp.joined(x, t) for x, t in zip(outs, moved, strict=True)]


@contextmanager
def noting_lines(target: Interpreter | None) -> Generator[None]:
    """A user's rule is recorded with its own lines, for the errors that it leads to."""
    before = getattr(target, "tracing", None)
    if before is None or type(target) is not Linear:
        yield
        return
    target.tracing = True
    try:
        yield
    finally:
        target.tracing = before


@contextmanager
def closing(function: str, later: bool = False) -> Generator[None]:
    """A value of an outer trace that a function or its rule can't use is one over which it closes.

    A rule that runs `later` may find the trace closed; else a value of a closed one has leaked.
    """
    try:
        yield
    except errors.UnexpectedTracerError as error:
        if not (later or error.facts.get("open")):
            raise
        raise errors.CustomRuleClosure(function=function, place=f", a {error.facts['type']}, at {error.line}") from None


def _mapped(batch: Batch, rule: Rule, values: Values) -> list[Any]:
    pairs = [batch.parts(x) for x in values]
    over = rule.batched(batch, [i for _, i in pairs])
    return [Batched(batch, x, 0) for x in invoke_in(batch.outer, over, [x for x, _ in pairs])]


def _recorded(record: Record, rule: Rule, values: Values) -> list[Any]:
    inner = Record(rule.name, record, record.tracing)
    with interpreting(inner):
        made = inner.program(rule.run([inner.input(x.type) for x in values]))
    inner.open = False
    held = [kept for _, kept in made.captures]
    with interpreting(record):
        return record.apply(rule.op, [*held, *values], {"program": closed(made), "rule": rule, "held": len(held)})


# The ops that stand for such calls in programs


def _type(*types: ArrayType, program: Program, rule: Rule, held: int) -> list[ArrayType]:
    return [x.type for x in program.outputs]


def _expand(*values: Any, program: Program, rule: Rule, held: int) -> list[Any]:
    return replay(program, values)


def _numpy(*arrays: Any, program: Program, rule: Rule, held: int) -> list[Any]:
    return execute(program, arrays)


def _tangent(primals: Values, tangents: Values, *, program: Program, rule: Rule, held: int) -> tuple[list[Any], list[Any]]:
    if any(t is not None for t in tangents[:held]):
        raise errors.CustomRuleClosure(function=rule.name, place="")
    return rule.tangent(primals[held:], tangents[held:])


def _batch(batch: Batch, axes: Axes, values: Values, *, program: Program, rule: Rule, held: int) -> tuple[list[Any], list[int]]:
    front = derived.batched(program, tuple(axes), (batch.size, batch.axis_name), (0,) * len(program.outputs)).program
    params = {"program": front, "rule": rule.batched(batch, axes[held:]), "held": held}
    return rule.op(*values, **params), [0] * len(front.outputs)


def op_of(name: str, batch: Callable[..., Any] = _batch) -> Op:
    """An op that holds the program of a function and its rule; where no rule is asked for it is its program."""
    return Op(name, _type, _numpy, tangent=_tangent, batch=batch, expand=_expand, multiple=True, kind="custom")


# Arguments


class Arguments(NamedTuple):
    """A call's arguments: those that a rule is about, flat, and the others where they stand."""

    leaves: list[Any]
    tree: PyTreeDef
    others: dict[int, Any]
    total: int

    def whole(self, leaves: Values) -> list[Any]:
        """All positional arguments, with other leaves."""
        rest = iter(self.tree.unflatten(leaves))
        return [self.others[i] if i in self.others else next(rest) for i in range(self.total)]

    def part(self, leaves: Values) -> tuple[Any, ...]:
        """The arguments that the rule is about, with other leaves."""
        return tuple(self.tree.unflatten(leaves))


def split(fun: Function, apart: tuple[tuple[int, ...], tuple[str, ...]], args: Values, kwargs: dict[str, Any]) -> Arguments:
    """The arguments of a call, by position; those named by index or name are put apart, as they are."""
    given = by_position(fun, args, kwargs)
    positions, names = apart
    count = len(given)
    chosen = {i % count for i in positions if -count <= i < count} | set(_places(fun, names, count))
    leaves, form = tree.flatten(tuple([x for i, x in enumerate(given) if i not in chosen]))
    return Arguments([value(x) for x in leaves], form, {i: given[i] for i in sorted(chosen)}, count)


def by_position(fun: Function, args: Values, kwargs: dict[str, Any]) -> list[Any]:
    """A call's arguments, keywords and defaults brought to their places."""
    if not kwargs and not _has_defaults(fun):
        return list(args)
    try:
        bound = inspect.signature(fun).bind(*args, **kwargs)
    except ValueError:
        return list(args)
    bound.apply_defaults()
    if bound.kwargs:
        raise errors.KeywordOnlyArguments(function=tree_name(fun), names=", ".join(bound.kwargs))
    return list(bound.args)


@functools.lru_cache(512)
def _has_defaults(fun: Function) -> bool:
    try:
        return any(p.default is not p.empty for p in inspect.signature(fun).parameters.values())
    except (ValueError, TypeError):
        return False


def _places(fun: Function, names: tuple[str, ...], count: int) -> list[int]:
    if not names:
        return []
    known = list(inspect.signature(fun).parameters)
    return [known.index(name) for name in names if name in known and known.index(name) < count]


def tree_name(fun: Any) -> str:
    return getattr(fun, "__name__", None) or type(fun).__name__


class Mapped(Rule):
    """A rule over a whole batch, made of one for a member; what it returns has the batch in front."""

    def __init__(self, rule: Rule, batch: Batch, axes: Axes):
        self.rule, self.axes = rule, tuple(axes)
        self.size, self.axis_name = batch.size, batch.axis_name
        self.op, self.name = rule.op, rule.name

    def each(self, function: Callable[..., Any], *groups: tuple[Values, Axes]) -> list[Any]:
        """What a function of flat values, run for all members, returns: leaves with the batch in front, None kept."""
        inner = Batch(tracing.active(), self.size, self.axis_name)
        inner.name = self.name
        given = [[x if x is None else inner.joined(x, i) for x, i in zip(xs, axes, strict=True)] for xs, axes in groups]
        with interpreting(inner):
            found = function(*given)
        inner.open = False
        return [x if x is None else _front(inner, x) for x in found]

    def run(self, values: Values) -> list[Any]:
        return self.each(self.rule.run, (values, self.axes))

    def batched(self, batch: Batch, axes: Axes) -> Rule:
        return type(self)(self, batch, axes)


def _front(batch: Batch, x: Any) -> Any:
    from_batch, axis = batch.parts(x)
    return at(from_batch, axis, 0, batch.size)


def linear_recorder() -> Linear | None:
    """The current interpreter, if it records what is linear (reverse mode)."""
    found = tracing.active()
    return found if type(found) is Linear else None


__all__ = ["Arguments", "Mapped", "Plain", "Rule", "Watcher", "invoke", "invoke_in", "linear_recorder", "op_of", "split"]
