"""What checking_leaks asks for: after a trace, no value of it may still be held by anyone."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any, TypeVar

from celadon import errors
from celadon.settings import Setting
from celadon.tracing import Tracer

checking_leaks = Setting("jax_check_tracer_leaks", False, keyed=True)


Result = TypeVar("Result")


def watched(trace: Callable[[], Result]) -> Result:
    """What a trace returns. Raises `TracerLeaked` if values of it are alive after its end, and the setting asks for that.

    >>> watched(lambda: 3)
    3
    """
    if not checking_leaks.value:
        return trace()
    before = _ended()  # those that leaked earlier are none of this trace's; kept, so that no other gets their ids
    known = {id(x) for x in before}
    result = trace()
    alive = [x for x in _ended() if id(x) not in known]
    if alive:  # what only waits to be collected is held by nobody
        alive.clear()
        gc.collect()
        alive = [x for x in _ended() if id(x) not in known]
    if alive:
        one = alive[0]
        holders = _holders(one, alive)
        raise errors.TracerLeaked(type=one.type, function=one.interpreter.name, made=one.made(), holders=holders)
    return result


def _ended() -> list[Tracer]:
    """The values alive whose trace has ended."""
    return [x for x in gc.get_objects() if isinstance(x, Tracer) and not x.interpreter.open]


def _holders(x: Tracer, found: list[Any]) -> str:
    """Who refers to a value, in words."""
    named: list[str] = []
    for holder in gc.get_referrers(x):
        if holder is found or type(holder).__name__ == "frame":
            continue
        named.append(_words(holder, x))
    return ", ".join(dict.fromkeys(named)) or "something that can't be seen from Python"


def _words(holder: Any, x: Tracer) -> str:
    if isinstance(holder, dict):
        keys = [key for key, value in holder.items() if value is x]
        module = holder.get("__name__")
        return f"the global {keys[0]} of {module}" if isinstance(module, str) and keys else f"a dict under {keys[0]!r}"
    if isinstance(holder, Tracer):
        return "another traced value"
    return f"a {type(holder).__name__}"
