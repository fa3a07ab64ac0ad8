"""Locks of what a process has once (pool, compiler, runtime): a fork waits for them, so no child inherits one held."""

from __future__ import annotations

import os
import threading


def process_lock() -> threading.Lock:
    """A lock for the life of the process.

    >>> with process_lock():
    ...     pass
    """
    lock = threading.Lock()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock
