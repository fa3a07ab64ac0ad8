"""The mechanism of the error catalogue: a class an error, with its page as data; this package's modules fill it."""

from __future__ import annotations

import os
import sys
import warnings
from types import FrameType
from typing import ClassVar

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

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


def _rebuild(cls: type[CeladonError], facts: dict[str, object], line: str) -> CeladonError:
    error = cls.__new__(cls)
    error.facts, error.line = facts, line
    Exception.__init__(error, error._text())  # pyright: ignore[reportPrivateUsage]
    return error


def user_frame(frame: FrameType | None = None) -> FrameType | None:
    """The innermost frame outside Celadon's own files, or None.

    >>> user_frame().f_code.co_name
    '<module>'
    """
    frame = frame or sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return frame


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
    where = (frame.f_code.co_filename, frame.f_lineno) if frame is not None else ("celadon", 1)
    assert isinstance(warning, Warning)
    warnings.warn_explicit(warning, type(warning), *where)
