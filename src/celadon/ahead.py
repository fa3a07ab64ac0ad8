"""While LLVM works and Python would wait, the modules that most programs need next are loaded on another thread."""

from __future__ import annotations

import functools
import importlib
import os

from celadon.background import Wait, begin

MODULES = (
    "celadon.cpu.emit_reduce", "celadon.cpu.emit_rows", "celadon.cpu.emit_moved", "celadon.cpu.conversion_rules",
    "celadon.cpu.float_rules", "celadon.cpu.math_exponential", "celadon.numpy.shapes", "celadon.numpy.reductions",
    "celadon.numpy.selection", "celadon.numpy.contractions", "celadon.numpy.transcendentals", "celadon.numpy.division",
    "celadon.transforms.gradients", "celadon.transforms.batching", "celadon.transforms.custom_tangents",
    "celadon.transforms.loops", "celadon.tree_util",
)  # fmt: skip


@functools.cache
def load() -> Wait:
    """Begin to load them, once a process; calling the result waits for the end, as a fork does: no child inherits the lock
    of a module that is half loaded.

    >>> load()()
    """
    wait = begin(_load)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=wait)
    return wait


def _load() -> None:
    for name in MODULES:
        importlib.import_module(name)
