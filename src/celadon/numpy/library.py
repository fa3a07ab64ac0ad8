"""Library functions: a public signature comes in; a call of it is one private function of the program that makes it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from celadon.vocabulary.call import named

Function = Callable[..., Any]


def library(*structure: str, name: str = "") -> Callable[[Function], Function]:
    """A decorator for functions of arrays. Arguments named in `structure` are read while tracing and must be hashable.

    An argument that a call leaves out is a constant of the private function; a given one is its operand. Outside a trace
    the function runs as one program.

    >>> @library("times")
    ... def repeated(x, times, offset=1.0):
    ...     return x * times + offset
    >>> repeated(2.0, times=3)
    Array(7., dtype=float32, weak_type=True)
    """

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)
        names = tuple(signature.parameters)

        @named(name or function.__name__, whole=True)
        def body(*operands: Any, given: tuple[str, ...], **params: Any) -> Any:
            return function(**dict(zip(given, operands, strict=True)), **params)

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            found: Mapping[str, Any] = dict(zip(names, args, strict=False))
            if kwargs or len(args) > len(names):
                signature.bind(*args, **kwargs)  # raises TypeError for what does not fit
                found = {**found, **dict(sorted(kwargs.items()))}
            operands = {name: x for name, x in found.items() if name not in structure}
            params = {name: x for name, x in found.items() if name in structure}
            return body(*operands.values(), given=tuple(operands), **params)

        return wrapper

    return decorate
