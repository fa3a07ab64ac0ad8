"""What a documented misuse is, and what is asked of it: the same snippet fails in JAX and here, and here the error helps."""

from __future__ import annotations

import builtins
import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest

import celadon
from celadon import errors

jax = importlib.import_module("jax")
importlib.import_module("jax.errors")

Snippet = Callable[[ModuleType], Any]


@dataclass(frozen=True)
class Misuse:
    """A snippet that takes the module to misuse, and what its error is here.

    `page` is the page of JAX's documentation; `words` must all stand in the message. The line of the user's that the message
    must name is the one that ends in `# here`. `silent` marks what JAX accepts: it says why it is refused here.
    """

    page: str
    snippet: Snippet
    error: type[Exception]
    words: tuple[str, ...]
    silent: str = ""

    @property
    def line(self) -> str:
        lines, first = inspect.getsourcelines(self.snippet)
        [found] = [first + k for k, line in enumerate(lines) if line.rstrip().endswith("# here")]
        return f"{inspect.getsourcefile(self.snippet)}:{found} ("


class Table(list[Misuse]):
    """The misuses of one file of tests."""

    def documented(self, page: str, error: type[Exception], *words: str, silent: str = "") -> Callable[[Snippet], Snippet]:
        def add(snippet: Snippet) -> Snippet:
            self.append(Misuse(page, snippet, error, words, silent))
            return snippet

        return add

    @property
    def each(self) -> Any:
        return pytest.mark.parametrize("misuse", self, ids=lambda one: one.snippet.__name__)


def check(misuse: Misuse) -> None:
    """The error has the class, names what it is about and the user's line, and is caught by what catches JAX's."""
    with pytest.raises(Exception) as ours:
        misuse.snippet(celadon)
    assert ours.type is misuse.error, f"{ours.type.__name__}: {ours.value}"
    text = str(ours.value)
    assert isinstance(ours.value, errors.CeladonError) and f"[{ours.value.code}]" in text
    assert [word for word in misuse.words if word not in text] == [], text
    assert misuse.line in text, text
    if misuse.silent:
        misuse.snippet(jax)
        return
    with pytest.raises(Exception) as theirs:
        misuse.snippet(jax)
    assert [name for name in caught_by(theirs.type) if name not in {one.__name__ for one in ours.type.__mro__}] == []


def caught_by(theirs: type[BaseException]) -> list[str]:
    """The names by which code written for JAX catches an error: documented classes of JAX's, and its first built-in one."""
    found: list[str] = []
    for one in theirs.__mro__:
        if getattr(builtins, one.__name__, None) is one:
            return [*found, one.__name__]
        if getattr(jax.errors, one.__name__, None) is one and one.__name__ not in ("JAXTypeError", "JAXIndexError"):
            found.append(one.__name__)
    return found
