"""Work beside the caller's: on a thread of its own, or done at once where no thread can be started."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

Wait = Callable[[], None]


def begin(work: Callable[..., Any], *args: Any) -> Wait:
    """Start `work(*args)`, which must not raise; calling the result waits for its end.

    The interpreter waits for it before it ends. At that end, and where a process may have no more threads, the work is done
    before this returns.

    >>> found = []
    >>> begin(found.append, 1)()
    >>> found
    [1]
    """
    thread = threading.Thread(target=work, args=args, daemon=False)
    try:
        thread.start()
    except RuntimeError:
        work(*args)
        return _nothing
    return thread.join


def _nothing() -> None:
    """There is nothing left to wait for."""
