"""Loading at first use: of a package's public names, by a table of their modules, and of single modules."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

Parts = tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]


def facade(package: str, homes: dict[str, str]) -> Parts:
    """`__all__`, `__getattr__` and `__dir__` of a package whose names live in its modules.

    Args:
        package: the package's `__name__`.
        homes: names, separated by blanks, by the module that defines them.

    >>> names, get, _ = facade("celadon", {"types": "ArrayType"})
    >>> names, get("ArrayType").__name__
    (['ArrayType'], 'ArrayType')
    """
    home_of = {name: home for home, names in homes.items() for name in names.split()}

    def load(name: str) -> Any:
        home = home_of.get(name)
        if home is None:
            return _submodule(package, name)
        value = getattr(importlib.import_module(f"{package}.{home}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return list(home_of), load, lambda: [*vars(sys.modules[package]), *home_of]


class Lazy:
    """Stands for a module that is loaded when an attribute of it is first asked for: what a program may never need.

    >>> Lazy("celadon.types").float32
    dtype('float32')
    """

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, name: str) -> Any:
        value = getattr(importlib.import_module(self._name), name)
        setattr(self, name, value)
        return value


def _submodule(package: str, name: str) -> Any:
    full = f"{package}.{name}"
    if not name.startswith("_"):
        try:
            return importlib.import_module(full)
        except ModuleNotFoundError as error:
            if error.name != full:
                raise
    raise AttributeError(f"module {package!r} has no attribute {name!r}")
