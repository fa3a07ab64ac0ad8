"""Python's collector of reference cycles, put off while a program is compiled: it would walk the whole process many times
for nothing, as almost all that a compile makes is kept or dies at once."""

from __future__ import annotations

import gc
import os
import threading


class PutOff:
    """A context in which the collector does not start by itself; threads may enter it together, and the last one to leave
    starts it again, unless it was off before the first one came.

    >>> with put_off:
    ...     gc.isenabled()
    False
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside, self._was_on = 0, False
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._begin_anew)

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._was_on = gc.isenabled()
                gc.disable()
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside = max(self._inside - 1, 0)
            if not self._inside and self._was_on:
                gc.enable()

    def _begin_anew(self) -> None:
        """In a child process only the thread that forked goes on, which compiles nothing."""
        if self._inside and self._was_on:
            gc.enable()
        self._lock = threading.Lock()
        self._inside = 0


put_off = PutOff()
