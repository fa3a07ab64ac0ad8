"""One library under measurement: how it jits a function, waits for a result and reports its stages; pricing asks it."""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import numpy as np

import celadon
from celadon import array, events, tree
from celadon.calling import jit
from celadon.configuration import config
from celadon.cpu import store
from celadon.events import Event
from celadon.ledger.alias import answering

STAGES = {"trace": "trace", "bind": "lower", "compile": "compile"}


class Side(Protocol):
    """What pricing needs of a library with JAX's interface."""

    name: str
    version: str
    function: Callable[..., Any]

    def jit(self, static: Sequence[str]) -> Any: ...
    def own(self, value: Any) -> Any: ...
    def finished(self, result: Any) -> Any: ...
    def watching(self) -> AbstractContextManager[list[Event]]: ...
    def executables(self, jitted: Any) -> int: ...
    def warm(self, values: Any) -> None: ...
    def cold(self) -> AbstractContextManager[None]: ...
    def answering(self) -> AbstractContextManager[None]: ...


class Celadon:
    """Celadon itself: stages come from the event log.

    >>> Celadon(abs).name
    'celadon'
    """

    name = "celadon"
    version = celadon.__version__

    def __init__(self, function: Callable[..., Any]):
        self.function = function

    def jit(self, static: Sequence[str]) -> Any:
        return jit(self.function, static_argnames=tuple(static))

    def own(self, value: Any) -> Any:
        """The value with NumPy arrays turned into arrays of this library; Python scalars stay what they are."""
        return tree.map(_own, value)

    def finished(self, result: Any) -> Any:
        return celadon.block_until_ready(result)

    @contextmanager
    def watching(self) -> Generator[list[Event]]:
        with events.watching() as seen:
            yield seen

    def executables(self, jitted: Any) -> int:
        return len({id(entry.executable) for entry in jitted.entries.values()})

    def warm(self, values: Any) -> None:
        """Load the compiler, start threads and touch memory for results as large as these arrays.

        Without it the first measurement would be that of an import and of page faults.
        """
        with self.cold():
            for x in (0.0, *tree.leaves(values)):
                self.finished(jit(_next)(x))

    @contextmanager
    def cold(self) -> Generator[None]:
        """Begin with nothing known, in memory or on disk; what the block compiles goes to a folder of its own."""
        before = config.read("jax_compilation_cache_dir")
        celadon.clear_caches()
        gc.collect()
        with TemporaryDirectory(prefix="celadon-cold-") as folder:
            config.update("jax_compilation_cache_dir", folder)
            try:
                yield
            finally:
                config.update("jax_compilation_cache_dir", before)
                store.settle()  # what is still written would come into a folder that goes

    def answering(self) -> AbstractContextManager[None]:
        return answering("celadon")


def _own(x: Any) -> Any:
    return array.as_array(x) if isinstance(x, np.ndarray | np.generic) else x


def _next(x: Any) -> Any:
    return x + 1


@dataclass(frozen=True, slots=True)
class Stages:
    """Seconds of one call by stage; `run` is what is left of the call."""

    trace: float
    lower: float
    compile: float
    run: float


def stages(seen: Sequence[Event], total: float) -> Stages:
    """Split a call into stages by its events; what happened inside a trace belongs to the trace.

    >>> stages([Event("trace", 1.0, 0.5, {}), Event("compile", 2.0, 0.25, {})], 1.0)
    Stages(trace=0.5, lower=0.0, compile=0.25, run=0.25)
    """
    traces = outermost([event for event in seen if event.kind == "trace"])
    rest = [event for event in seen if event.kind != "trace" and not any(within(event, t) for t in traces)]
    spent = dict.fromkeys(STAGES.values(), 0.0)
    for event in (*traces, *rest):
        if event.kind in STAGES:
            spent[STAGES[event.kind]] += event.seconds
    return Stages(**spent, run=max(0.0, total - sum(spent.values())))


def outermost(seen: Sequence[Event]) -> list[Event]:
    """The events that no other one holds."""
    return [event for event in seen if not any(within(event, other) for other in seen if other is not event)]


def within(event: Event, other: Event) -> bool:
    """Whether an event happened while another did."""
    return other.at - other.seconds <= event.at - event.seconds and event.at <= other.at
