"""Where NaN or infinity in a program's results comes from: the program runs again op by op, each result looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from celadon import errors, nans
from celadon.array import Array
from celadon.program import Equation, Program, Var
from celadon.tracing import interpreting, outside, standing_for
from celadon.vocabulary.control import parts

Bound = Callable[[Sequence[Any]], list[Any]]
Arrays = Sequence[Any]


def watched(bound: Bound, program: Program) -> Bound:
    """The same, but results that hold what jax_debug_nans and jax_debug_infs forbid are an error that names their origin."""

    def run(arrays: Arrays) -> list[Any]:
        results = bound(arrays)
        if nans.found_in(results):
            _explain(program, arrays, results)
        return results

    return run


def _explain(program: Program, arrays: Arrays, results: Arrays) -> None:
    with interpreting(None):
        _run(program, arrays)
    what = nans.found_in(results)
    origin = "an argument of" if nans.found_in(arrays) else "no op alone, but the whole of"
    raise errors.InvalidValue(what=what, op=f"{origin} {program.name}", place=nans.place())


def _run(program: Program, arrays: Arrays) -> list[Any]:
    known: dict[Any, Any] = dict(program.captures)
    known.update(zip(program.inputs, arrays, strict=True))

    def value(x: Any) -> Any:
        return known[x] if type(x) is Var else outside.as_array(x)

    for equation in program.equations:
        with standing_for(equation.source):
            results = _step(equation, [value(x) for x in equation.inputs])
            nans.require_none(equation.op.name, results)
        known.update(zip(equation.outputs, results, strict=True))
    return [value(x) for x in program.outputs]


def _step(equation: Equation, arrays: list[Array]) -> list[Any]:
    """The results of an equation; bodies are run op by op too."""
    op, params = equation.op, equation.params
    inside = _INSIDE.get(op.name)
    made = inside(arrays, params) if inside is not None else None
    if made is not None:
        return made
    with nans.debug_nans(False), nans.debug_infs(False):
        found = op(*arrays, **params)
    return found if op.multiple else [found]


def _called(arrays: list[Array], params: dict[str, Any]) -> list[Any]:
    return _run(params["program"], arrays)


def _branch(arrays: list[Array], params: dict[str, Any]) -> list[Any]:
    place, branches = int(arrays[0]), params["branches"]
    return _run(branches[place if 0 <= place < len(branches) else -1], arrays[1:])


def _loop(arrays: list[Array], params: dict[str, Any]) -> list[Any]:
    tested, held, carry = parts(arrays, params["condition_consts"], params["body_consts"])
    while _run(params["condition"], [*tested, *carry])[0]:
        carry = _run(params["body"], [*held, *carry])
    return carry


def _scan(arrays: list[Array], params: dict[str, Any]) -> None:
    """Runs the steps, for what goes wrong in them; the results are left to the op."""
    held, state, xs = parts(arrays, params["consts"], params["carry"])
    steps = range(params["length"])
    for i in reversed(steps) if params["reverse"] else steps:
        rows = [Array(x.type.with_shape(x.type.shape[1:]), host=x.host[i]) for x in xs]
        state = _run(params["body"], [*held, *state, *rows])[: params["carry"]]


_INSIDE: dict[str, Callable[[list[Array], dict[str, Any]], list[Any] | None]] = {
    "call": _called, "checkpoint": _called, "custom_jvp": _called, "custom_vjp": _called, "cond": _branch,
    "while_loop": _loop, "scan": _scan,
}  # fmt: skip

__all__ = ["watched"]
