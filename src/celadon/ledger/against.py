"""The same measurements on real JAX, in the same process: a side for pricing, loaded only when it is asked for."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from celadon import errors
from celadon.events import Event
from celadon.ledger.alias import answering
from celadon.ledger.sides import Side
from celadon.xla import require

_KINDS = {
    "/jax/core/compile/jaxpr_trace_duration": "trace",
    "/jax/core/compile/jaxpr_to_mlir_module_duration": "bind",
    "/jax/core/compile/backend_compile_duration": "compile",
}
_watchers: list[list[Event]] = []
_listening: list[Any] = []


class JAX:
    """Real JAX: stages come from its monitoring events.

    Raises: `JaxMissing`.
    """

    name = "jax"

    def __init__(self, function: Callable[..., Any]):
        self.function = function
        self.jax = require()
        self.version: str = self.jax.__version__
        if self.jax not in _listening:
            _listening.append(self.jax)
            self.jax.monitoring.register_event_duration_secs_listener(_heard)

    def jit(self, static: Sequence[str]) -> Any:
        """A jitted function with a cache of its own: JAX shares one among all jits of the same function."""
        function = self.function
        apart = functools.wraps(function)(lambda *args, **kwargs: function(*args, **kwargs))
        return self.jax.jit(apart, static_argnames=tuple(static))

    def own(self, value: Any) -> Any:
        return self.jax.tree.map(self._own, value)

    def _own(self, x: Any) -> Any:
        return self.jax.numpy.asarray(x) if isinstance(x, np.ndarray | np.generic) else x

    def finished(self, result: Any) -> Any:
        return self.jax.block_until_ready(result)

    @contextmanager
    def watching(self) -> Generator[list[Event]]:
        seen: list[Event] = []
        _watchers.append(seen)
        try:
            yield seen
        finally:
            _watchers[:] = [other for other in _watchers if other is not seen]

    def executables(self, jitted: Any) -> int:
        return jitted._cache_size()

    def warm(self, values: Any) -> None:
        """Start the backend and touch memory, as Celadon does."""
        for x in (0.0, *self.jax.tree.leaves(values)):
            self.finished(self.jax.jit(self.jax.numpy.square)(x))

    @contextmanager
    def cold(self) -> Generator[None]:
        self.jax.clear_caches()
        yield

    def answering(self) -> AbstractContextManager[None]:
        return answering("jax")


def _heard(name: str, seconds: float, **facts: Any) -> None:
    if name in _KINDS:
        event = Event(_KINDS[name], time.perf_counter(), seconds, {})
        for seen in _watchers:
            seen.append(event)


_LIBRARIES: dict[str, Callable[[Callable[..., Any]], Side]] = {"jax": JAX}


def library(name: str) -> Callable[[Callable[..., Any]], Side]:
    """The side of a library by name.

    Raises: `ComparisonUnknown`.

    >>> library("jax").name
    'jax'
    """
    if name not in _LIBRARIES:
        raise errors.ComparisonUnknown(library=name, known=", ".join(_LIBRARIES))
    return _LIBRARIES[name]
