"""What a user asks of one compile: how much time code generation may take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celadon import errors
from celadon.errors.catalogue import warn
from celadon.settings import Setting

LEVEL = "xla_backend_optimization_level"

optimization_level = Setting("celadon_optimization_level", 1, keyed=True)


def level() -> int:
    """1, or 0 where machine code is wanted in less time and may run slower; its results are the same.

    >>> level()
    1
    """
    return min(int(optimization_level.value), 1)


def level_asked(options: Mapping[str, Any] | None, function: str) -> int | None:
    """The level that `compiler_options` ask for; None if they don't. Other options of XLA's are left to XLA, with a warning.

    Raises:
        CompilerOptionInvalid: for an option that is unknown or a level that is no number.

    >>> level_asked({"xla_backend_optimization_level": 0}, "f")
    0
    """
    if options is not None and not isinstance(options, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise errors.CompilerOptionInvalid(function=function, option=repr(options), reason="options come as a dictionary")
    for name in options or ():
        if name != LEVEL and not str(name).startswith("xla_"):
            raise errors.CompilerOptionInvalid(function=function, option=repr(name), reason=f"the one that counts is {LEVEL}")
        if name != LEVEL:
            warn(errors.CompilerOptionIgnoredWarning(function=function, option=name))
    wanted = (options or {}).get(LEVEL)
    try:
        return None if wanted is None else max(int(wanted), 0)
    except (TypeError, ValueError):
        raise errors.CompilerOptionInvalid(function=function, option=LEVEL, reason=f"{wanted!r} is no level") from None
