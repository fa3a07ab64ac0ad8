"""Settings: a global value with a per-thread override, each defined beside what it governs; key() is part of keys."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

ENVIRONMENT = ("celadon_executor", "celadon_native_call")  # read from the environment, as JAX's own settings are
registry: dict[str, Setting] = {}


class _Thread(threading.local):
    overrides: dict[str, Any] | None = None
    key: tuple[object, ...] = ()


thread = _Thread()
everywhere: list[tuple[object, ...]] = [()]  # the key without overrides; native calls look for it in this list
_keys: dict[tuple[object, ...], tuple[object, ...]] = {}
_KEYS_AT_MOST = 1000


class Setting:
    """One setting under JAX's name; `keyed` ones are part of every program's key.

    >>> deep = Setting("celadon_example_setting", 1)
    >>> with deep(2):
    ...     deep.value
    2
    >>> deep.value
    1
    """

    def __init__(self, name: str, default: Any, keyed: bool = False, changed: Callable[[Any], None] | None = None):
        self.name, self.default, self.keyed, self.changed = name, default, keyed, changed
        self.everywhere = _from_environment(name, default)
        registry[name] = self
        _refresh()

    @property
    def value(self) -> Any:
        overrides = thread.overrides
        if overrides is not None and self.name in overrides:
            return overrides[self.name]
        return self.everywhere

    def update(self, value: Any) -> None:
        """Set the global value."""
        self.everywhere = value
        if self.changed is not None:
            self.changed(value)
        _refresh()

    @contextmanager
    def __call__(self, value: Any = True) -> Generator[None]:
        before = thread.overrides
        _override({**(before or {}), self.name: value})
        try:
            yield
        finally:
            _override(before)


def key() -> tuple[object, ...]:
    """The values of all keyed settings, in the order in which they were defined."""
    return everywhere[0] if thread.overrides is None else thread.key


def names() -> tuple[str, ...]:
    """The names of the keyed settings, in the order of key()."""
    return tuple(name for name, setting in registry.items() if setting.keyed)


def _override(overrides: dict[str, Any] | None) -> None:
    thread.overrides = overrides
    thread.key = _values()


def _refresh() -> None:
    everywhere[0] = _one_of(tuple(setting.everywhere for setting in registry.values() if setting.keyed))
    thread.key = _values()


def _values() -> tuple[object, ...]:
    return _one_of(tuple(setting.value for setting in registry.values() if setting.keyed))


def _one_of(values: tuple[object, ...]) -> tuple[object, ...]:
    """The same object for equal keys as a rule, so that native calls, which compare by identity, find it again."""
    if len(_keys) > _KEYS_AT_MOST:
        _keys.clear()
    try:
        return _keys.setdefault(values, values)
    except TypeError:  # a value without a hash: whoever looks something up by the key says so
        return values


def _from_environment(name: str, default: Any) -> Any:
    text = os.environ.get(name.upper())
    if not text or not (name in ENVIRONMENT or name.startswith("jax_")):
        return default
    return parsed(text, default)


def parsed(text: str, default: Any) -> Any:
    """A setting's value from a word, read as the default's kind.

    >>> parsed("on", False)
    True
    """
    if isinstance(default, bool):
        return text.lower() in ("1", "true", "yes", "on")
    return type(default)(text) if default is not None else text
