"""cond and switch: functions in, an op with their traced programs as branches out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from celadon import errors, tracing, tree, voids
from celadon.program import Program, Var, fixed, remembered
from celadon.transforms.bodies import (
    Body,
    Form,
    Names,
    at,
    known,
    operands as arrays_of,
    require_callable,
    result,
    returning,
    same_type,
    traced,
    value,
)  # fmt: skip
from celadon.tree_paths import keystr
from celadon.types import ArrayType, bool_, int32, kind
from celadon.vocabulary import control as ops
from celadon.vocabulary.bodies import effectful
from celadon.vocabulary.comparison import clamp, compare
from celadon.vocabulary.conversion import convert

Function = Callable[..., Any]
_UNSET: Any = object()


def cond(pred: Any, true_fun: Any, false_fun: Any, *operands: Any, operand: Any = _UNSET) -> Any:
    """true_fun(*operands) if pred holds, else false_fun(*operands); both are traced, one runs.

    Args:
        pred: a boolean scalar, or a real number, of which 0 is false.
        true_fun, false_fun: functions of the operands with results of equal trees, shapes and dtypes.
        operands: pytrees of arrays; `operand=` is an older form of a single one. The older call
            cond(pred, x, true_fun, y, false_fun) is true_fun(x) or false_fun(y).

    Raises:
        BodyNotCallable, PredicateNotScalar, BranchTypesDiffer, BranchTreesDiffer, OperandTwice.

    >>> cond(True, lambda x: x + 1, lambda x: x - 1, 2.0)
    Array(3., dtype=float32, weak_type=True)
    """
    if not (callable(true_fun) and callable(false_fun)):
        if callable(false_fun) and len(operands) == 2 and callable(operands[1]):
            first, second = operands
            return cond(pred, lambda x, _: false_fun(x), lambda _, y: second(y), true_fun, first)
        require_callable("lax.cond", true_fun=true_fun, false_fun=false_fun)
    operands = _operands("cond", operands, operand)
    pred = _predicate(pred)
    if tracing.disable_jit.value and (chosen := known(bool, pred)) is not None:
        return (true_fun if chosen else false_fun)(*operands)
    return _branched("cond", convert(pred, new_dtype=int32), {"true_fun": true_fun, "false_fun": false_fun}, operands)


def switch(index: Any, branches: Sequence[Function], *operands: Any, operand: Any = _UNSET) -> Any:
    """branches[index](*operands), the index moved inside the range; all branches are traced, one runs.

    Args:
        index: an integer scalar.
        branches: functions of the operands with results of equal trees, shapes and dtypes.
        operands: pytrees of arrays.

    Raises:
        NoBranches, BodyNotCallable, PredicateNotScalar, BranchTypesDiffer, BranchTreesDiffer, OperandTwice.

    >>> switch(1, [lambda x: x, lambda x: x * 10], 2)
    Array(20, dtype=int32, weak_type=True)
    """
    functions = list(branches)
    require_callable("lax.switch", **{f"branches[{k}]": one for k, one in enumerate(functions)})
    operands = _operands("switch", operands, operand)
    place = _scalar("switch", index, "iu", "an integer scalar as index")
    if not functions:
        raise errors.NoBranches()
    if len(functions) == 1:
        return functions[0](*operands)
    last = len(functions) - 1
    if tracing.disable_jit.value and (chosen := known(int, place)) is not None:
        return functions[min(max(chosen, 0), last)](*operands)
    place = clamp(fixed(0, int32), convert(place, new_dtype=int32), fixed(last, int32))
    return _branched("switch", place, {f"branches[{k}]": one for k, one in enumerate(functions)}, operands)


def _operands(name: str, operands: tuple[Any, ...], operand: Any) -> tuple[Any, ...]:
    if operand is _UNSET:
        return operands
    if operands:
        raise errors.OperandTwice(name=name, count=len(operands))
    return (operand,)


def _scalar(name: str, x: Any, kinds: str, wanted: str) -> Any:
    if x is None or isinstance(x, Sequence):
        raise errors.PredicateNotScalar(name=name, wanted=wanted, given=f"a {type(x).__name__}")
    try:
        found = value(x)
    except errors.NotAnArray:
        raise errors.PredicateNotScalar(name=name, wanted=wanted, given=f"a {type(x).__name__}") from None
    if found.type.shape or kind(found.type.dtype) not in kinds:
        raise errors.PredicateNotScalar(name=name, wanted=wanted, given=found.type)
    return found


def _predicate(pred: Any) -> Any:
    found = _scalar("cond", pred, "biuf", "a boolean scalar or a real number as predicate")
    if found.type.dtype == bool_:
        return found
    return compare(found, fixed(0, found.type.dtype), direction="NE")


def _branched(name: str, index: Any, functions: dict[str, Function], operands: tuple[Any, ...]) -> Any:
    given, form = tree.flatten(voids.hidden(operands))
    values = arrays_of(name, "operands", given, form)
    shape = Form(form, tuple([x.type for x in values]), Names((form, "operands")))
    traces = [traced(function, shape) for function in functions.values()]
    for argument, one in zip(list(functions)[1:], traces[1:], strict=True):
        _check_branches(name, next(iter(functions)), traces[0], argument, one)
    held, branches = _joined(name, traces)
    values = [*held, *values]
    found: list[Any] = []
    if branches.programs[0].outputs or any(map(effectful, branches.programs)):
        found = ops.cond(index, *values, branches=branches.programs)
    made = iter(found)
    results = [next(made) if place is None else result(values[place]) for place in branches.forwarded]
    return traces[0].tree.unflatten(results)


class Branches(NamedTuple):
    """Branches that take what all of them captured, without results that all return as they get them: their places."""

    programs: tuple[Program, ...]
    forwarded: tuple[int | None, ...]


def _joined(name: str, traces: Sequence[Body]) -> tuple[list[Any], Branches]:
    """What the branches captured, and the branches; for cond the one of false comes first."""
    held = {id(x): x for one in traces for x in one.held}
    order = {key: i for i, key in enumerate(held)}
    places = tuple([tuple([order[id(x)] for x in one.held]) for one in traces])
    programs = tuple([one.program for one in traces])
    if name == "cond":
        places, programs = places[::-1], programs[::-1]
    types = [x.type for x in held.values()]
    key = ("branches", programs, places)
    return list(held.values()), remembered(programs[0], key, lambda: _together(programs, places, types))


def _together(programs: Sequence[Program], places: Sequence[Sequence[int]], types: Sequence[ArrayType]) -> Branches:
    made: list[Program] = []
    for program, own in zip(programs, places, strict=True):
        first = [Var(t) for t in types]
        for place, var in zip(own, program.inputs, strict=False):
            first[place] = var
        made.append(Program([*first, *program.inputs[len(own) :]], program.equations, program.outputs, (), program.name))
    forwarded = _forwarded(made)
    keep = [place is None for place in forwarded]
    return Branches(tuple([returning(program, keep) for program in made]), tuple(forwarded))


def _check_branches(name: str, first: str, one: Body, second: str, other: Body) -> None:
    parting = tree.difference(one.tree, other.tree) if one.tree != other.tree else None
    if parting is not None:
        raise errors.BranchTreesDiffer(
            name=name, first=first, second=second, here=parting.here, there=parting.there, path=at(keystr(parting.path))
        )
    for path, a, b in zip(tree.paths(one.tree), one.types, other.types, strict=True):
        if not same_type(a, b):
            raise errors.BranchTypesDiffer(
                name=name, first=first, second=second, type=a, other=b, path=at(keystr(path)), place=" there" if path else ""
            )


def _forwarded(programs: Sequence[Program]) -> list[int | None]:
    """For each result, the input that all programs return there as it is, or None."""
    places = [{var: i for i, var in enumerate(program.inputs)} for program in programs]
    columns = zip(*(program.outputs for program in programs), strict=True)
    found: list[int | None] = []
    for column in columns:
        known = {place.get(x) if type(x) is Var else None for place, x in zip(places, column, strict=True)}
        found.append(known.pop() if len(known) == 1 else None)
    return found


__all__ = ["cond", "switch"]


def platform_dependent(*args: Any, default: Function | None = None, **per_platform: Function) -> Any:
    """Call the function for the platform that programs run on, which is the CPU.

    Args:
        args: what the function is called with; per_platform: functions by platform (cpu, cuda, rocm, tpu); default: for all
            others.

    Raises:
        PlatformMissing.

    >>> platform_dependent(2.0, cpu=lambda x: x + 1.0, default=lambda x: x)
    3.0
    """
    chosen = per_platform.get("cpu", default)
    if chosen is None:
        raise errors.PlatformMissing(platforms=", ".join(per_platform) or "none")
    return chosen(*args)
