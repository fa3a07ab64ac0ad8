"""The event log: what every trace, compile, miss and fall-back cost, as data; listeners and readers render it."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, NamedTuple


class Event(NamedTuple):
    """One thing that happened: its kind, when it ended (seconds of perf_counter), how long it took, and its facts."""

    kind: str
    at: float
    seconds: float
    facts: Mapping[str, Any] = MappingProxyType({})


log: deque[Event] = deque(maxlen=20_000)
listeners: list[Callable[[Event], None]] = []


def record(kind: str, seconds: float = 0.0, **facts: Any) -> Event:
    """Write one event.

    >>> record("example", 0.5, name="f").facts
    {'name': 'f'}
    """
    event = Event(kind, time.perf_counter(), seconds, facts)
    log.append(event)
    for listener in tuple(listeners):
        listener(event)
    return event


@contextmanager
def timed(kind: str, **facts: Any) -> Generator[dict[str, Any]]:
    """Record how long the block took; the block may add facts to the dict it is given."""
    start = time.perf_counter()
    yield facts
    record(kind, time.perf_counter() - start, **facts)


class Stage:
    """Times a block as one stage of a call, an event "stage", while somebody listens; costs next to nothing otherwise.

    >>> with watching() as seen, Stage("fuse"):
    ...     pass
    >>> seen[0].kind, seen[0].facts["stage"]
    ('stage', 'fuse')
    """

    __slots__ = ("name", "start")

    def __init__(self, name: str):
        self.name, self.start = name, 0.0

    def __enter__(self) -> None:
        self.start = time.perf_counter()

    def __exit__(self, *raised: object) -> None:
        if listeners:
            record("stage", time.perf_counter() - self.start, stage=self.name)


@contextmanager
def watching() -> Generator[list[Event]]:
    """Collect the events of a block in a list.

    >>> with watching() as seen:
    ...     _ = record("example")
    >>> [event.kind for event in seen]
    ['example']
    """
    seen: list[Event] = []
    listeners.append(seen.append)
    listener = listeners[-1]
    try:
        yield seen
    finally:
        listeners.remove(listener)
