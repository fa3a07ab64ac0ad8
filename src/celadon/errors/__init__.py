"""The error catalogue: every error that Celadon raises, by name; `entries` maps codes to classes."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from celadon.errors import catalogue
from celadon.errors.catalogue import CeladonError, JaxRuntimeError, describe, user_frame, user_line, warn
from celadon.facade import Lazy

if TYPE_CHECKING:
    from celadon.errors.arrays import *  # noqa: F403
    from celadon.errors.catalogue import entries
    from celadon.errors.commands import *  # noqa: F403
    from celadon.errors.control import *  # noqa: F403
    from celadon.errors.effects import *  # noqa: F403
    from celadon.errors.execution import *  # noqa: F403
    from celadon.errors.functions import *  # noqa: F403
    from celadon.errors.linalg import *  # noqa: F403
    from celadon.errors.nn import *  # noqa: F403
    from celadon.errors.promotion import *  # noqa: F403
    from celadon.errors.random import *  # noqa: F403
    from celadon.errors.statics import *  # noqa: F403
    from celadon.errors.tracers import *  # noqa: F403
    from celadon.errors.transforms import *  # noqa: F403
    from celadon.errors.trees import *  # noqa: F403
    from celadon.errors.windows import *  # noqa: F403
else:  # most programs raise none of them
    pkgutil = Lazy("pkgutil")

    def __getattr__(name: str) -> Any:
        """The first error that is asked for loads all."""
        known = globals()
        if name[0] != "_" and "entries" not in known:
            for family in pkgutil.iter_modules(__path__):  # noqa: F405
                importlib.import_module(f"{__name__}.{family.name}")
            known.update({error.__name__: error for error in catalogue.entries.values()}, entries=catalogue.entries)
        if name not in known:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return known[name]


__all__ = ["CeladonError", "JaxRuntimeError", "describe", "entries", "user_frame", "user_line", "warn"]
