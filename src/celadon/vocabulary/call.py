"""The call op: a program called by another, a private function in text; `named` makes library functions such calls."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from celadon import tracing
from celadon.op import Op
from celadon.program import Program
from celadon.tracing import Record
from celadon.types import ArrayType

P = ParamSpec("P")
R = TypeVar("R")


def _result_types(*types: ArrayType, program: Program) -> list[ArrayType]:
    return [x.type for x in program.outputs]


call = Op("call", _result_types, multiple=True)

_bodies: WeakKeyDictionary[Callable[..., Any], dict[object, Program]] = WeakKeyDictionary()


def named(name: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a function of arrays (positional) and hashable options (keyword) a private function called `name`.

    Outside a trace it runs as it is. Inside one it is recorded once for each combination of types and options.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def wrapped(*args: P.args, **options: P.kwargs) -> R:
            record = tracing.recording()
            if record is None:
                return function(*args, **options)
            (result,) = call(*args, program=_body(record, name, function, args, options))
            return result

        return wrapped

    return decorate


def _body(
    record: Record, name: str, function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]
) -> Program:
    types = tuple(tracing.type_of(x) for x in args)
    bodies = _bodies.setdefault(function, {})
    key = (types, tuple(options.items()))
    found = bodies.get(key)
    if found is None:
        with tracing.recorded(name, tracing=False) as inner:
            inputs = [inner.input(t) for t in types]
            found = bodies[key] = inner.program([function(*inputs, **options)])
    return found
