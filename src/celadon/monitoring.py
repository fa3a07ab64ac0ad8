"""Listeners for compile events under JAX's names; `celadon.events` has the whole log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from celadon import events

EventListener = Callable[..., Any]

_event_listeners: list[EventListener] = []
_duration_listeners: list[EventListener] = []

_NAMES = {
    "store_hit": "/jax/compilation_cache/cache_hits",
    "store_miss": "/jax/compilation_cache/cache_misses",
}
_DURATIONS = {
    "trace": "/jax/core/compile/jaxpr_trace_duration",
    "lower": "/jax/core/compile/jaxpr_to_mlir_module_duration",
    "compile": "/jax/core/compile/backend_compile_duration",
}


def register_event_listener(callback: EventListener) -> None:
    """Call `callback(event, **facts)` for every event that has a name in JAX (disk cache hits and misses)."""
    _event_listeners.append(callback)


def register_event_duration_secs_listener(callback: EventListener) -> None:
    """Call `callback(event, seconds, **facts)` for every trace, lowering and compile."""
    _duration_listeners.append(callback)


def clear_event_listeners() -> None:
    """Forget all callbacks."""
    _event_listeners.clear()
    _duration_listeners.clear()


def _forward(event: events.Event) -> None:
    if event.kind in _NAMES:
        for callback in tuple(_event_listeners):
            callback(_NAMES[event.kind])
    if event.kind in _DURATIONS:
        for callback in tuple(_duration_listeners):
            callback(_DURATIONS[event.kind], event.seconds)


events.listeners.append(_forward)
