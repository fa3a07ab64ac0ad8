"""The mechanism of the error catalogue: a class an error, with its page as data; this package's modules fill it."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import warnings
from types import FrameType
from typing import ClassVar

import numpy as np

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GENERATED = "<a program of celadon>"  # the file name of the functions that run programs
_LIBRARIES = os.path.dirname(os.path.dirname(os.path.abspath(np.__file__)))
OURS = (os.path.join(PACKAGE, ""), GENERATED)
_FOREIGN = (*(os.path.join(_LIBRARIES, name, "") for name in ("numpy", "scipy")), functools.__file__, contextlib.__file__)



class _Between(dict[str, bool]):
    """By file name: whether its code may lie between the user's line and the place that asks for the line."""

    def __missing__(self, filename: str) -> bool:
        found = self[filename] = filename.startswith((*OURS, *_FOREIGN))
        return found


between = _Between()
entries: dict[str, type[CeladonError]] = {}


class CeladonError(Exception):
    """An error of the catalogue; `raise SomeError(fact=...)` fills the class' message with the facts.

    A subclass states everything a reader needs: `code`, `title`, the `message` template, its `cause` and `cure`, `when`
    it happens, a `trigger` (a snippet that raises exactly this class), a `cured` snippet (the same, working) and the
    codes of `related` errors. Snippets run with `celadon`, `cnp` (celadon.numpy) and `np` in scope.
    """

    code: ClassVar[str]
    title: ClassVar[str]
    message: ClassVar[str]
    cause: ClassVar[str]
    cure: ClassVar[str]
    when: ClassVar[str]
    trigger: ClassVar[str]
    cured: ClassVar[str]
    related: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        if cls.code in entries:
            raise TypeError(f"{cls.__name__} reuses the code of {entries[cls.code].__name__}: {cls.code}")
        entries[cls.code] = cls

    def __init__(self, **facts: object) -> None:
        self.facts = facts
        self.line = user_line()
        super().__init__(self._text())

    def _text(self) -> str:
        where = f"\n  at {self.line}" if self.line else ""
        return f"{self.message.format(**self.facts)}{where}\n  {self.cure} [{self.code}]"

    def __str__(self) -> str:
        return str(self.args[0])  # a KeyError would show its repr

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.facts, self.line)


class JaxRuntimeError(RuntimeError):
    """What fails while a compiled program runs, for an `except` of jax.errors.JaxRuntimeError; entries derive from it."""


def _rebuild(cls: type[CeladonError], facts: dict[str, object], line: str) -> CeladonError:
    error = cls.__new__(cls)
    error.facts, error.line = facts, line
    Exception.__init__(error, error._text())  # pyright: ignore[reportPrivateUsage]
    return error


def user_frame(frame: FrameType | None = None) -> FrameType | None:
    """The innermost frame outside Celadon's own files and those through which the user's call reached them, or None.

    >>> user_frame().f_code.co_name
    '<module>'
    """
    frame = frame or sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None and between[frame.f_code.co_filename]:
        frame = frame.f_back
    return frame


def asked_by_us() -> bool:
    """Whether a value was asked for by our own code, not by the user's or by NumPy for the user."""
    frame = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_FOREIGN):
        frame = frame.f_back
    return frame.f_code.co_filename.startswith(OURS)


def user_line() -> str:
    """The user's own line as `file:line (function)`, empty when there is none."""
    frame = user_frame()
    return "" if frame is None else describe(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)


def describe(filename: str, line: int, function: str) -> str:
    """One form for a place in the user's code everywhere.

    >>> describe("a.py", 3, "f")
    'a.py:3 (f)'
    """
    return f"{filename}:{line} ({function})"


def warn(warning: CeladonError) -> None:
    """Issue a catalogued warning at the user's line."""
    frame = user_frame()
    assert isinstance(warning, Warning)
    if frame is None:
        return warnings.warn_explicit(warning, type(warning), "celadon", 1)
    module, said = frame.f_globals.get("__name__"), frame.f_globals.setdefault("__warningregistry__", {})
    return warnings.warn_explicit(warning, type(warning), frame.f_code.co_filename, frame.f_lineno, module, said)
