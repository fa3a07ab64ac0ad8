"""named_scope and named_call, which name what is traced, and ensure_compile_time_eval, in which concrete values are computed."""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator, Sequence
from contextlib import _GeneratorContextManager, contextmanager  # pyright: ignore[reportPrivateUsage]
from typing import TYPE_CHECKING, Any

from celadon import errors, tracing
from celadon.tracing import Interpreter, Tracer, apply_in, interpreting
from celadon.transforms.custom import Rule, Watcher, invoke_in

if TYPE_CHECKING:
    from celadon.op import Op

Function = Callable[..., Any]


def named_scope(name: str) -> _GeneratorContextManager[None]:
    """Give a name to what is traced in the block, or in a function that this decorates.

    The name stands in `lower(...).as_text(debug_info=True)`, and in messages beside the user's line. Scopes nest.

    Raises `ScopeNameInvalid` for a name that is no string.

    >>> import celadon
    >>> @named_scope("twice")
    ... def f(x):
    ...     return x * 2
    >>> "jit(f)/twice/multiply" in celadon.jit(f).lower(1.0).as_text(debug_info=True)
    True
    """
    if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise errors.ScopeNameInvalid(name=repr(name), type=type(name).__name__)
    return _within(name)


@contextmanager
def _within(name: str) -> Generator[None]:
    outer = tracing.state.scope
    with tracing.in_scope(f"{outer}/{name}" if outer else name):
        yield


def named_call(fun: Function, *, name: str | None = None) -> Function:
    """A function that is traced in a scope of its own name, or of another.

    >>> named_call(lambda x: x + 1, name="next")(1)
    2
    """
    return functools.wraps(fun, updated=())(named_scope(fun.__name__ if name is None else name)(fun))


class _Eager(Watcher):
    """Computes ops on concrete values at once; those on traced values go where they went."""

    name, open = "an evaluation within a trace", True

    def __init__(self, outer: Interpreter | None):
        self.outer = outer

    def _home(self, values: Sequence[Any]) -> Interpreter | None:
        return self.outer if any(isinstance(x, Tracer) for x in values) else None

    def apply(self, op: Op, operands: Sequence[Any], params: dict[str, Any]) -> Any:
        return apply_in(self._home(operands), op, operands, params)

    def invoke(self, rule: Rule, values: Sequence[Any]) -> list[Any]:
        return invoke_in(self._home(values), rule, values)


@contextmanager
def ensure_compile_time_eval() -> Generator[None]:
    """While a function is traced, compute at once, in the block, what is made of concrete values alone.

    >>> import celadon, celadon.numpy as cnp
    >>> @celadon.jit
    ... def f(x):
    ...     with ensure_compile_time_eval():
    ...         count = int(cnp.arange(3).sum())
    ...     return x + count
    >>> f(1.0)
    Array(4., dtype=float32, weak_type=True)
    """
    with interpreting(_Eager(tracing.active())):
        yield


__all__ = ["ensure_compile_time_eval", "named_call", "named_scope"]
