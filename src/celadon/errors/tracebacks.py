"""Tracebacks that show the user's own lines: an exception comes in, and goes out without this package's frames."""

from __future__ import annotations

from types import TracebackType

from celadon.errors.catalogue import OURS
from celadon.settings import Setting

filtering = Setting("jax_traceback_filtering", "auto")


def without_own_frames(error: Exception) -> Exception:
    """The exception with the frames of this package taken out of its traceback, unless the setting is "off".

    >>> without_own_frames(ValueError("no")).__traceback__ is None
    True
    """
    if filtering.value == "off":
        return error
    frames: list[TracebackType] = []
    trace = error.__traceback__
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith(OURS):
            frames.append(trace)
        trace = trace.tb_next
    found: TracebackType | None = None
    for one in reversed(frames):
        found = TracebackType(found, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return error.with_traceback(found)
