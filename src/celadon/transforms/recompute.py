"""checkpoint: a function whose intermediate values the backward pass computes again instead of keeping them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from celadon import errors, statics, tracing, tree, voids
from celadon.op import Op
from celadon.program import Equation, Program, Var, remembered
from celadon.signature import Parameters, leaf_names, parameters_of, resolved_indices, select
from celadon.tracing import Tracer
from celadon.transforms import derived
from celadon.transforms.backward import Linear
from celadon.transforms.batching import Batch
from celadon.transforms.bodies import Body, Form, name_of, result, traced, value
from celadon.transforms.calls import moving, spread
from celadon.transforms.replay import replay
from celadon.transforms.saving import Policy, nothing_saveable, saves
from celadon.tree_paths import keystr
from celadon.types import ArrayType
from celadon.vocabulary.barrier import optimization_barrier
from celadon.vocabulary.bodies import without_dead_code
from celadon.vocabulary.call import call, execute
from celadon.vocabulary.callback import acts

Function = Callable[..., Any]
Values = Sequence[Any]
Mask = tuple[bool, ...]


class Options(NamedTuple):
    """What checkpoint was asked for, besides the function."""

    prevent_cse: bool | tuple[bool, ...]
    policy: Policy | None


def checkpoint(
    fun: Function | None = None, *, prevent_cse: Any = True, policy: Policy | None = None,
    static_argnums: int | Sequence[int] = (), static_argnames: str | Iterable[str] = (), concrete: Any = None,
) -> Any:  # fmt: skip
    """Make a function whose intermediate values are computed again in the backward pass, which saves memory.

    Args:
        fun: a function of arrays and pytrees of them; without it, a decorator is returned.
        prevent_cse: keep compilers from sharing the second computation with the first; also a tree of booleans that begins
            like the tuple of positional arguments, for the arguments it is asked for.
        policy: says of each op whether its result is saved; see `checkpoint_policies`. By default nothing is.
        static_argnums, static_argnames: arguments that are read while tracing, as for jit.

    Raises:
        ArgnumsOutOfRange, ArgnamesUnknown, StaticArgumentUnhashable.

    >>> import celadon, celadon.numpy as cnp
    >>> celadon.grad(checkpoint(lambda x: cnp.sin(cnp.sin(x))))(0.0)
    Array(1., dtype=float32, weak_type=True)
    """
    if concrete is not None:
        raise errors.ConcreteRemoved()
    if policy is not None and not callable(policy):
        raise errors.NotCallable(transform="the policy of checkpoint", type=type(policy).__name__)
    given = (prevent_cse, policy, static_argnums, static_argnames)
    if fun is None:
        return lambda function: _Checkpointed(function, *given)
    return _Checkpointed(fun, *given)


remat = checkpoint


class _Checkpointed:
    """A checkpointed function; see `checkpoint`."""

    __wrapped__: Function

    def __init__(self, function: Function, prevent_cse: Any, policy: Policy | None, argnums: Any, argnames: Any):
        if not callable(function):
            raise errors.NotCallable(transform="checkpoint", type=type(function).__name__)
        functools.update_wrapper(self, function, updated=())
        self.name = name_of(function)
        self.parameters: Parameters = parameters_of(function)
        numbers = None if isinstance(argnums, tuple) and not argnums else argnums
        self.static = select(self.parameters, numbers, argnames or None, "static", self.name)
        self.prevent_cse, self.policy = prevent_cse, policy
        if self.static.indices and not isinstance(prevent_cse, bool):
            raise errors.PreventCseWithStatics(function=self.name, value=repr(prevent_cse))
        self.bodies: dict[object, Function] = {}

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        return f"<checkpointed {self.name}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        positions = self._positions(len(args))
        moving_args = tuple([x for i, x in enumerate(args) if i not in positions])
        moving_kwargs = {k: v for k, v in kwargs.items() if k not in self.static.names}
        leaves, form = tree.flatten(voids.hidden((moving_args, moving_kwargs)))
        values = [self._value(x, i, form, args, positions) for i, x in enumerate(leaves)]
        fixed = {i: args[i] for i in sorted(positions) if i < len(args)}
        named = {k: v for k, v in kwargs.items() if k in self.static.names}
        types, names = tuple([x.type for x in values]), self._names(form, len(args), positions)
        body = self._traced(fixed, named, Form(form, types, names))
        options = Options(self._barriers(moving_args, moving_kwargs), self.policy)
        found = checkpoint_op(*body.held, *values, program=body.program, options=(options, len(body.held)))
        return body.tree.unflatten([result(x) for x in found])

    def _positions(self, count: int) -> frozenset[int]:
        if not self.static.indices:
            return frozenset()
        return resolved_indices(self.parameters, self.static.indices, count, self.name)

    def _value(self, x: Any, index: int, form: Any, args: Any, positions: frozenset[int]) -> Any:
        try:
            return value(x)
        except errors.NotAnArray:
            name = self._names(form, len(args), positions)[index]
            raise errors.ArgumentNotArray(argument=name, function=self.name, type=type(x).__name__) from None

    def _barriers(self, args: Any, kwargs: Any) -> bool | tuple[bool, ...]:
        if isinstance(self.prevent_cse, bool):
            return self.prevent_cse
        given = tuple(self.prevent_cse) if isinstance(self.prevent_cse, list) else self.prevent_cse
        marks = tree.spread(given, tree.structure(args), None, "prevent_cse", "the arguments")
        return (*map(bool, marks), *([True] * len(tree.leaves(kwargs))))

    def _names(self, form: Any, count: int, positions: frozenset[int]) -> tuple[str, ...]:
        return _leaf_names(self.parameters, form, [i for i in range(count) if i not in positions])

    def _traced(self, fixed: dict[int, Any], named: dict[str, Any], form: Form) -> Body:
        """The function's program; kept only where `==` tells static values apart and none can change."""
        keys = self._keys(fixed, named)
        body = functools.partial(_called, self.__wrapped__, fixed, named)
        functools.update_wrapper(body, self.__wrapped__, updated=())
        if keys is not None:
            body = self.bodies.setdefault((form.tree, keys), body)
            if len(self.bodies) > 256:
                self.bodies.clear()
        return traced(body, form)

    def _keys(self, fixed: dict[int, Any], named: dict[str, Any]) -> Any:
        found: list[object] = []
        plain = True
        for name, x in [*((self.parameters.name_of(i), x) for i, x in fixed.items()), *named.items()]:
            if isinstance(x, Tracer):  # it is captured, as a closed-over value is
                plain = False
                continue
            found.append((name, statics.key_of(x, name, self.name)))
            plain = plain and type(x) in (bool, int, float, complex, str, type(None))
        return tuple(found) if plain else None


def _leaf_names(parameters: Parameters, form: Any, places: list[int]) -> tuple[str, ...]:
    """Names of the leaves of (args, kwargs), whose positional arguments stand at these places of the call."""
    paths = tree.paths(form)
    pairs = [(path[1].idx if path[0].idx == 0 else path[1].key, keystr(path[2:])) for path in paths]
    return leaf_names(parameters, pairs, places)


def _called(function: Function, fixed: dict[int, Any], named: dict[str, Any], args: Any, kwargs: Any) -> Any:
    rest = iter(args)
    whole = [fixed[i] if i in fixed else next(rest) for i in range(len(args) + len(fixed))]
    return function(*whole, **named, **kwargs)


# The op


def _type(*types: ArrayType, program: Program, options: Any) -> list[ArrayType]:
    return [x.type for x in program.outputs]


def _numpy(*arrays: Any, program: Program, options: Any) -> list[Any]:
    return execute(program, arrays)


def _expand(*values: Any, program: Program, options: Any) -> list[Any]:
    return replay(program, values)


def _tangent(primals: Values, tangents: Values, *, program: Program, options: Any) -> tuple[list[Any], list[Any]]:
    marks, given = moving(tangents), [t for t in tangents if t is not None]
    count = len(program.outputs)
    if isinstance(tracing.active(), Linear):
        policy = options[0].policy or nothing_saveable
        again = remembered(program, ("again", marks, policy), lambda: _again(program, marks, policy))
        found = replay(again.forward, primals)
        kept = found[count:]
        moved = checkpoint_op(*primals, *kept, *given, program=again.linear, options=_extended(options, kept, given))
        return found[:count], spread(moved, again.moved)
    forward = derived.jvp_of(program, marks)
    found = checkpoint_op(*primals, *given, program=forward.program, options=_extended(options, [], given))
    return found[:count], spread(found[count:], forward.moved)


def _extended(options: Any, kept: Values, tangents: Values) -> Any:
    """Options for a program that takes saved values and tangents after the primals."""
    given, held = options
    if isinstance(given.prevent_cse, bool):
        return options
    more = (False,) * len(kept) + (False,) * len(tangents)
    return given._replace(prevent_cse=given.prevent_cse + more), held


class Again(NamedTuple):
    """A program in two: `forward` gives results and what the policy saves; `linear` takes the inputs, what was saved, and
    tangents, computes again what it needs, and gives the tangents of the results marked in `moved`."""

    forward: Program
    linear: Program
    moved: Mask


def _again(program: Program, marks: Mask, policy: Policy) -> Again:
    parts = derived.linearized(inlined(program), marks)
    count = len(program.outputs)
    made = parts.forward.outputs[count:]
    residuals = parts.gathered(parts.forward.inputs, made)
    equations = parts.forward.equations
    saved = [var for e in equations if acts(e) or saves(policy(e.op, *_types(e), **e.params)) for var in e.outputs]
    rest = without_dead_code(_second(parts.forward, saved, residuals))
    needed = _used(rest)
    saved = [var for var in saved if var in needed]
    rest = without_dead_code(_second(parts.forward, saved, residuals))
    forward = without_dead_code(_with(parts.forward, parts.forward.inputs, [*parts.forward.outputs[:count], *saved]))
    return Again(forward, _joined(rest, parts.linear), parts.moved)


def _types(equation: Equation) -> list[ArrayType]:
    return [x.type for x in equation.inputs]


def _with(program: Program, inputs: Sequence[Var], outputs: Sequence[Any]) -> Program:
    """The program cut at some of its variables, which become inputs."""
    given = set(inputs)
    equations = [e for e in program.equations if not e.outputs or not given.issuperset(e.outputs)]
    return Program(inputs, equations, outputs, program.captures, program.name)


def _second(program: Program, saved: Sequence[Var], outputs: Sequence[Any]) -> Program:
    """What is computed again; what acts on the world is not."""
    equations = [e for e in program.equations if not acts(e)]
    return _with(replace(program, equations=equations), [*program.inputs, *saved], outputs)


def _used(program: Program) -> set[Any]:
    found = {x for e in program.equations for x in e.inputs if type(x) is Var}
    return found | {x for x in program.outputs if type(x) is Var}


def _joined(first: Program, second: Program) -> Program:
    """A program that hands the outputs of one, then inputs of its own, to another."""
    with tracing.recorded(second.name, False) as record:
        inputs = [record.input(x.type) for x in first.inputs]
        residuals = replay(first, inputs)
        more = [record.input(x.type) for x in second.inputs[len(residuals) :]]
        return record.program(replay(second, [*residuals, *more]))


def inlined(program: Program) -> Program:
    """The program with its calls replaced by what they call, so that a policy sees every op."""
    if not any(e.op is call for e in program.equations):
        return program
    return remembered(program, "inlined", lambda: _inlined(program))


def _inlined(program: Program) -> Program:
    with tracing.recorded(program.name, False) as record:
        inputs = [record.input(x.type) for x in program.inputs]
        known: dict[Any, Any] = dict(zip(program.inputs, inputs, strict=True))
        for e in program.equations:
            given = [known.get(x, x) for x in e.inputs]
            with tracing.standing_for(e.source):
                found = replay(inlined(e.params["program"]), given) if e.op is call else record.apply(e.op, given, e.params)
            known.update(zip(e.outputs, found if e.op.multiple else [found], strict=True))
        return record.program([known.get(x, x) for x in program.outputs])


def _transpose(cts: Values, operands: Values, *, program: Program, options: Any) -> list[Any]:
    """The second computation takes its inputs through a barrier, so that nothing is shared with the first."""
    linear = tuple([type(x) is Var for x in operands])
    back = derived.transposed(program, linear, moving(cts))
    known = [x for x in operands if type(x) is not Var]
    found = replay(back.program, [*_behind_barrier(known, options, linear), *[ct for ct in cts if ct is not None]])
    return spread(spread(found, back.moved), linear)


def _behind_barrier(known: list[Any], options: Any, linear: Mask) -> list[Any]:
    given, held = options
    wanted = given.prevent_cse
    if isinstance(wanted, bool):
        marks = [wanted] * len(known)
    else:
        whole = (True,) * held + wanted
        marks = [mark for mark, moves in zip(whole, linear, strict=True) if not moves]
    chosen = [x for x, mark in zip(known, marks, strict=True) if mark]
    if not chosen:
        return known
    through = iter(optimization_barrier(*chosen))
    return [next(through) if mark else x for x, mark in zip(known, marks, strict=True)]


def _batch(batch: Batch, axes: Sequence[int | None], values: Values, *, program: Program, options: Any) -> tuple[list[Any], Any]:
    mapped = derived.batched(program, tuple(axes), (batch.size, batch.axis_name))
    return checkpoint_op(*values, program=mapped.program, options=options), mapped.axes


checkpoint_op = Op(
    "checkpoint", _type, _numpy, tangent=_tangent, transpose=_transpose, batch=_batch, expand=_expand, multiple=True,
    kind="call",
)  # fmt: skip


# What is saved


def print_saved_residuals(f: Function, *args: Any, **kwargs: Any) -> None:
    """Print what the backward pass of a function keeps: a type a line, and where each value comes from.

    >>> import celadon.numpy as cnp
    >>> print_saved_residuals(lambda x: cnp.sin(x) * 2.0, 1.0)  # doctest: +ELLIPSIS
    f32[] result of cosine at ...
    """
    for line in saved_residuals(f, *args, **kwargs):
        print(line)


def saved_residuals(f: Function, *args: Any, **kwargs: Any) -> list[str]:
    """The lines that print_saved_residuals prints."""
    leaves, form = tree.flatten((args, kwargs))
    names = _leaf_names(parameters_of(f), form, list(range(len(args))))
    types = tuple([value(x).type for x in leaves])
    return _lines(_flat_body(f, form, types, names), names)


def _flat_body(f: Function, form: Any, types: tuple[ArrayType, ...], names: tuple[str, ...]) -> Program:
    def flat(args: Any, kwargs: Any) -> Any:
        return f(*args, **kwargs)

    functools.update_wrapper(flat, f, updated=())
    return traced(flat, Form(form, types, names)).program


def _lines(program: Program, names: tuple[str, ...]) -> list[str]:
    held = len(program.inputs) - len(names)
    whole = inlined(program)
    marks = tuple([x.type.dtype.kind in "fcV" for x in whole.inputs])
    parts = derived.linearized(whole, marks)
    sources: dict[object, Equation] = {var: e for e in parts.forward.equations for var in e.outputs}
    found: list[str] = []
    for index in parts.residuals:
        if index < 0:
            var = parts.forward.outputs[len(whole.outputs) - 1 - index]
            found.append(f"{var.type} {_origin(sources.get(var))}")
            continue
        place = "closed over" if index < held else f"from the argument {names[index - held]}"
        found.append(f"{whole.inputs[index].type} {place}")
    return list(dict.fromkeys(found))


def _origin(equation: Equation | None) -> str:
    if equation is None:
        return "a constant"
    place = errors.describe(*equation.source) if equation.source else "an unknown line"
    if equation.op.name == "name":
        return f"named {equation.params['name']!r} at {place}"
    return f"result of {equation.op.name} at {place}"


__all__ = ["checkpoint", "print_saved_residuals"]
