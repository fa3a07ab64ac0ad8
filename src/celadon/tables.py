"""The tables of signatures: one per function and options, dying with the function; its wrappers share them."""

from __future__ import annotations

import types
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from celadon.stages import Entry, Options, Traced


class Table:
    """What is known of one function under one set of options: traces and entries by key, in the order they came."""

    __slots__ = ("entries", "misses", "names", "traces", "warned")

    def __init__(self) -> None:
        self.entries: dict[object, Entry] = {}
        self.traces: dict[object, Traced] = {}
        self.warned: set[object] = set()
        self.misses: list[Any] = []
        self.names: dict[object, tuple[str, ...]] = {}

    def clear(self) -> None:
        self.entries.clear()
        self.traces.clear()
        self.warned.clear()
        self.misses.clear()


_functions: weakref.WeakKeyDictionary[Any, dict[object, Table]] = weakref.WeakKeyDictionary()
_instances: dict[int, Any] = {}


def shared_table(function: Callable[..., Any], options: Options) -> Table:
    """The table of a function; a bound method is the pair of its function and its object, compared by identity."""
    if isinstance(function, types.MethodType):
        return _method_table(function, options)
    try:
        return _functions.setdefault(function, {}).setdefault(options.key(), Table())
    except TypeError:  # no hash or no weak reference: the wrapper has a table of its own
        return Table()


def _method_table(method: types.MethodType, options: Options) -> Table:
    owner = id(method.__self__)
    try:
        if owner not in _instances:
            _instances[owner] = weakref.ref(method.__self__, lambda _: _forget(owner))
    except TypeError:
        return Table()
    tables = _functions.setdefault(method.__func__, {})
    return tables.setdefault((owner, options.key()), Table())


def _forget(owner: int) -> None:
    _instances.pop(owner, None)
    for tables in list(_functions.values()):
        for key in [key for key in tables if isinstance(key, tuple) and key[0] == owner]:
            del tables[key]


def every_table() -> list[Table]:
    """All tables that live."""
    return [table for tables in _functions.values() for table in tables.values()]
