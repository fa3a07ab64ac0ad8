"""A target (file.py:name, module:name) comes in, the function it names goes out, loaded for Celadon or for JAX."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MethodType, ModuleType
from typing import Any

from celadon import errors
from celadon.errors.catalogue import PACKAGE
from celadon.ledger.alias import answering

Function = Callable[..., Any]
RAISED = (Exception, SystemExit)  # what a user's code may raise: anything but an interrupt


@dataclass(frozen=True, slots=True)
class Target:
    """Where a function stands: a file or a module, and a dotted name in it."""

    place: str
    name: str

    @property
    def is_file(self) -> bool:
        return self.place.endswith(".py")


@dataclass(frozen=True, slots=True)
class Loaded:
    """A function and the module it came from."""

    target: Target
    function: Function
    module: ModuleType


def parse(text: str) -> Target:
    """Take a target apart.

    >>> parse("examples/scale.py:scale_add")
    Target(place='examples/scale.py', name='scale_add')
    """
    place, _, name = text.rpartition(":")
    if not place or not name or not all(part.isidentifier() for part in name.split(".")):
        raise errors.TargetMalformed(target=text)
    return Target(place, name)


def load(text: str, library: str = "celadon") -> Loaded:
    """Import the target's file or module and take the function out of it, without a jit that may be around it.

    Args:
        text: file.py:name or module:name.
        library: which library answers to `import jax` and `import celadon` in the target's own files.

    Raises: `TargetMalformed`, `TargetNotFound`, `TargetImportFailed`, `TargetNameMissing`, `TargetNotCallable`.

    >>> load("math:sqrt").function(4)
    2.0
    """
    target = parse(text)
    with answering(library), _freshly(target):
        module = _imported(target)
    return Loaded(target, unjitted(_found(module, target)), module)


def arguments(loaded: Loaded, library: str = "celadon") -> dict[str, Any]:
    """The arguments by name that a target's module gives for its function: what its function `arguments` returns, if it has
    one, for the first parameters.

    >>> arguments(load("math:sqrt"))
    {}
    """
    given = getattr(loaded.module, "arguments", None)
    if not callable(given):
        return {}
    with answering(library):
        values: Any = given()
    names = list(inspect.signature(loaded.function).parameters)
    return dict(zip(names, values, strict=False))


def unjitted(function: Function) -> Function:
    """The function inside a jitted one, a method with its object; any other callable as it is."""
    if isinstance(function, MethodType):
        return MethodType(unjitted(function.__func__), function.__self__)
    while hasattr(function, "lower") and hasattr(function, "__wrapped__"):
        function = function.__wrapped__  # pyright: ignore[reportFunctionMemberAccess]
    return function


@contextmanager
def _freshly(target: Target) -> Generator[None]:
    """Import the target's own modules anew, with its folder on the path; sys.modules and sys.path are restored."""
    folder = str(Path(target.place).resolve().parent) if target.is_file else str(Path.cwd())
    before, path = dict(sys.modules), list(sys.path)
    own = [] if target.is_file else [name for name in before if _is_own(name, target) and not _answers(name)]
    for name in own:
        del sys.modules[name]
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path[:] = path
        for name in [name for name, module in sys.modules.items() if name not in before and _below(module, folder)]:
            del sys.modules[name]
        sys.modules.update({name: before[name] for name in own})


def _is_own(name: str, target: Target) -> bool:
    return name.split(".")[0] == target.place.split(".")[0]


def _answers(name: str) -> bool:
    """Whether a module must stay the one that it is: Celadon's own, Python's, and those that can't be loaded twice."""
    return name.split(".")[0] in sys.stdlib_module_names | {"celadon", "numpy", "jax", "jaxlib", "__main__"}


def _below(module: ModuleType, folder: str) -> bool:
    origin = getattr(module, "__file__", None)
    return origin is not None and Path(origin).resolve().is_relative_to(folder) and "site-packages" not in origin


def _imported(target: Target) -> ModuleType:
    try:
        return _from_file(target) if target.is_file else importlib.import_module(target.place)
    except errors.CeladonError:
        raise
    except ModuleNotFoundError as error:
        if not target.is_file and error.name is not None and target.place.startswith(error.name):
            raise errors.TargetNotFound(kind="module", place=target.place, name=target.name) from error
        raise _failed(target, error) from error
    except RAISED as error:
        raise _failed(target, error) from error


def _from_file(target: Target) -> ModuleType:
    path = Path(target.place)
    if not path.is_file():
        raise errors.TargetNotFound(kind="file", place=target.place, name=target.name)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    replaced = sys.modules.get(path.stem)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    finally:
        sys.modules.pop(path.stem)
        if replaced is not None:
            sys.modules[path.stem] = replaced
    return module


def _failed(target: Target, error: BaseException) -> errors.TargetImportFailed:
    return errors.TargetImportFailed(place=target.place, error=with_line(error))


def summary(error: BaseException) -> str:
    """An error in one line: its type and the first line of its text.

    >>> summary(ValueError("no\\nmore"))
    'ValueError: no'
    """
    lines = str(error).splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def with_line(error: BaseException) -> str:
    """The summary of an error, and the user's line that it came through if there is one."""
    line = raised_at(error)
    return f"{summary(error)} at {line}" if line else summary(error)


def raised_at(error: BaseException) -> str:
    """The innermost line outside Celadon and outside installed packages that an error came through, or nothing."""
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}"
    frames = [f for f in traceback.extract_tb(error.__traceback__) if _is_users(f.filename)]
    if not frames:
        return ""
    return errors.describe(frames[-1].filename, frames[-1].lineno or 0, frames[-1].name)


def _is_users(filename: str) -> bool:
    inside = (PACKAGE, "<frozen")
    return not filename.startswith(inside) and "site-packages" not in filename and "importlib" not in filename


def _found(module: ModuleType, target: Target) -> Function:
    found: Any = module
    for part in target.name.split("."):
        if not hasattr(found, part):
            raise errors.TargetNameMissing(place=target.place, name=target.name, known=_functions(module))
        found = getattr(found, part)
    if not callable(found):
        raise errors.TargetNotCallable(place=target.place, name=target.name, type=type(found).__name__)
    return found


def _functions(module: ModuleType) -> str:
    own = [n for n, v in vars(module).items() if callable(v) and not n.startswith("_") and _defined_in(v, module)]
    return ", ".join(own[:12]) + (", ..." if len(own) > 12 else "") or "none"


def _defined_in(value: Any, module: ModuleType) -> bool:
    return getattr(value, "__module__", "").split(".")[0] == module.__name__.split(".")[0]
