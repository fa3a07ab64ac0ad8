"""Errors of compiling, memory, executors and the disk cache (codes 5xx)."""

from __future__ import annotations

from celadon.errors.catalogue import CeladonError


class OutOfMemory(CeladonError, MemoryError):
    code = "CEL501"
    title = "Memory is exhausted"
    message = "could not allocate {bytes:,} bytes"
    cause = "The machine has no room for a buffer that the program needs."
    cure = "Make the arrays smaller, process them in pieces, or free arrays that are no longer needed."
    when = "When an array is made, or a program needs a result or an intermediate, larger than the memory that is left."
    trigger = "cnp.zeros((1 << 20, 1 << 20, 1 << 10))"
    cured = "cnp.zeros((1 << 10,))"
