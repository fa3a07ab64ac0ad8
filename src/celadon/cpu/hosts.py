"""Calls of Python functions among native steps: the rule of fuse, and what the driver enters to make one."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from celadon.array import Array
from celadon.cpu import nests
from celadon.cpu.fuse import Fusion, rules
from celadon.cpu.plan import HostCall, Plan
from celadon.cpu.recipe import Hosted
from celadon.memory import allocate
from celadon.program import Equation, Program
from celadon.types import ArrayType

_Entry = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


def _callback(fusion: Fusion, index: int) -> None:
    equation = fusion.program.equations[index]
    reads = tuple([fusion.stored(x) for x in equation.inputs])
    fusion.steps.append(Hosted(index, reads, tuple([fusion.define(var) for var in equation.outputs])))


rules.update(pure_callback=_callback, io_callback=_callback, debug_callback=_callback)


def functions(plan: Plan, program: Program) -> list[Callable[[Sequence[Any]], list[Any]]]:
    """The Python functions that a program calls, in the order of the plan's calls."""
    equations = nests.equations(nests.prepared(program))
    return [_function(equations[call.equation]) for call in plan.calls]


def _function(equation: Equation) -> Callable[[Sequence[Any]], list[Any]]:
    """The function that a callback names, or NumPy's for an op that has no native entry point."""
    if equation.op.name == "fft":
        return partial(_transformed, equation.params["fft_type"], equation.params["fft_length"])
    return equation.params["function"]


def _transformed(fft_type: str, lengths: Sequence[int], arrays: Sequence[Array]) -> list[Any]:
    """A Fourier transform in the precision of its operand."""
    transform: Any = getattr(np.fft, f"{fft_type.lower()}n")
    return [transform(arrays[0].host, lengths, tuple(range(-len(lengths), 0)))]


class Caller:
    """What the driver's steps enter; belongs to one frame, which runs one call at a time.

    The native loops around a call can't be left by an exception: it is kept in `error`, and they end by the word `stop`.
    Python functions may call the same program again: that call has a frame of its own.
    """

    __slots__ = ("address", "calls", "entry", "error", "functions", "stop")

    def __init__(self, plan: Plan, stop: int):
        self.calls, self.stop = plan.calls, stop
        self.error: BaseException | None = None
        self.functions: list[Callable[[Sequence[Any]], list[Any]]] = []
        self.entry = _Entry(self._enter)
        self.address = ctypes.cast(self.entry, ctypes.c_void_p).value or 0

    def _enter(self, table: int, lo: int, hi: int) -> None:
        if self.error is not None:
            return
        try:
            self._call(table)
        except BaseException as error:
            self.error = error
            ctypes.c_int64.from_address(self.stop).value = 1

    def _call(self, table: int) -> None:
        """A table has the number of the call, then for each array the distance of its cell and an offset."""
        number: int = ctypes.c_int64.from_address(table).value
        call: HostCall = self.calls[number]
        count = len(call.given) + len(call.made)
        words = (ctypes.c_int64 * (2 * count)).from_address(table + 8)
        places = [
            ctypes.c_int64.from_address(table + words[2 * k]).value + words[2 * k + 1] for k in range(count)
        ]
        found = self.functions[number](list(map(_read, call.given, places)))
        for x, type, place in zip(found, call.made, places[len(call.given) :], strict=True):
            _write(x, type, place)

    def failed(self) -> BaseException | None:
        """The exception that a function raised; the functions are let go."""
        self.functions = []
        return self.error


def _read(type: ArrayType, place: int) -> Array:
    """A copy: memory of a program is used again as soon as it goes on."""
    block = allocate(type.nbytes)
    ctypes.memmove(block.pointer, place, type.nbytes)
    return Array(type, block)


def _write(x: Any, type: ArrayType, place: int) -> None:
    host = np.ascontiguousarray(x)
    ctypes.memmove(place, host.ctypes.data, type.nbytes)


__all__ = ["Caller", "functions"]
