"""Static values as keys: typed comparison that descends into containers, and errors for what can't be a key."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from celadon import errors
from celadon.tracing import Tracer, Value

_PLAIN = frozenset((int, bool, str, bytes, type(None), type(Ellipsis), type, types.FunctionType))


def typed(value: Any) -> object:
    """A key of a static value: equal exactly if type and value are, with 1, 1.0 and True apart and NaN equal to itself.

    >>> typed((1, 2.0)) == typed((1, 2))
    False
    >>> typed(float("nan")) == typed(float("nan"))
    True
    """
    kind = type(value)
    if kind in _PLAIN:
        return kind, value
    rule = _RULES.get(kind)
    if rule is not None:
        return kind, rule(value)
    return kind, _by_family(value)


def _by_family(value: Any) -> object:
    if isinstance(value, np.generic):
        return value.tobytes()
    if isinstance(value, tuple):
        return tuple(typed(x) for x in value)  # pyright: ignore[reportUnknownVariableType]
    if _is_plain_dataclass(type(value)):
        hash(value)
        return tuple((f.name, typed(getattr(value, f.name))) for f in dataclasses.fields(value) if f.compare)
    hash(value)
    return value


def _is_plain_dataclass(kind: type) -> bool:
    return dataclasses.is_dataclass(kind) and "__eq__" in kind.__dict__ and _generated(kind.__dict__["__eq__"])


def _generated(method: Any) -> bool:
    return getattr(getattr(method, "__code__", None), "co_filename", "") == "<string>" or hasattr(method, "__wrapped__")


def _float(value: float) -> object:
    return value if value == value and value != 0 else value.hex()


_RULES: dict[type, Callable[[Any], object]] = {
    float: _float,
    complex: lambda value: (_float(value.real), _float(value.imag)),
    tuple: lambda value: tuple([typed(x) for x in value]),
    frozenset: lambda value: frozenset([typed(x) for x in value]),
    slice: lambda value: (typed(value.start), typed(value.stop), typed(value.step)),
    types.MethodType: lambda value: (value.__func__, id(value.__self__)),
}


def key_of(value: Any, argument: str, function: str) -> object:
    """`typed(value)` with a catalogued error for what can't be a key: unhashable values, traced values, arrays."""
    if isinstance(value, Tracer):
        raise errors.StaticArgumentTraced(argument=argument, function=function, type=value.type)
    try:
        found = typed(value)
        hash(found)
    except Exception as error:
        reason = f"__hash__ raised {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        if isinstance(value, Value | np.ndarray):
            reason = "an array has no hash"
        raise errors.StaticArgumentUnhashable(
            argument=argument, function=function, type=type(value).__name__, reason=reason
        ) from error
    return found
