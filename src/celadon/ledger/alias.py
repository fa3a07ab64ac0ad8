"""While a target's files are imported, one library answers to both names: Celadon to `jax`, or JAX to `celadon`."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

OTHER = {"celadon": "jax", "jax": "celadon"}


class Alias(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules of one package under the name of another: `import jax.numpy` gives celadon.numpy."""

    def __init__(self, asked: str, given: str):
        self.asked, self.given = asked, given
        self.own: dict[str, tuple[Any, Any]] = {}
        self.flat: list[ModuleType] = []

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if _is_public(fullname, self.asked):
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        module = self._answer(spec.name.removeprefix(self.asked))
        self.own[spec.name] = (module.__spec__, module.__loader__)
        if not hasattr(module, "__path__"):
            self.flat.append(module)
        return module

    def exec_module(self, module: ModuleType) -> None:
        name = module.__spec__.name if module.__spec__ is not None else ""
        module.__spec__, module.__loader__ = self.own.pop(name, (module.__spec__, module.__loader__))

    def undo(self) -> None:
        """Take the marks of a package off the modules that are none."""
        for module in self.flat:
            vars(module).pop("__path__", None)

    def _answer(self, rest: str) -> ModuleType:
        """The module of that name, or the module that is an attribute of that name."""
        try:
            return importlib.import_module(self.given + rest)
        except ModuleNotFoundError as error:
            found: Any = sys.modules[self.given]
            for part in rest.split(".")[1:]:
                found = getattr(found, part, None)
            if not isinstance(found, ModuleType):
                raise ModuleNotFoundError(f"{self.given} has no module {rest[1:]}", name=self.given + rest) from error
            return found


@contextmanager
def answering(library: str) -> Generator[None]:
    """Let a library ("celadon" or "jax") answer to both names in this block; what was loaded before is back after it.

    Files that were imported inside keep what they got.
    """
    asked = OTHER[library]
    importlib.import_module(library)
    hidden = _taken(asked)
    finder = Alias(asked, library)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        finder.undo()
        _taken(asked)
        sys.modules.update(hidden)


def answering_to_jax() -> Any:
    """Celadon answers to the name jax in this block.

    >>> with answering_to_jax():
    ...     import jax.numpy
    >>> jax.numpy.__name__
    'celadon.numpy'
    """
    return answering("celadon")


def _is_public(name: str, package: str) -> bool:
    """Whether a module is one that users import; private ones (jax._src) stay what they are: JAX loads more of its own
    while it runs."""
    return name.split(".")[0] == package and not name.startswith(package + "._")


def _taken(package: str) -> dict[str, ModuleType]:
    """Take a package and its public modules out of sys.modules."""
    names = [name for name in sys.modules if _is_public(name, package)]
    return {name: sys.modules.pop(name) for name in names}
