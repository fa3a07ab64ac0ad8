"""The CPU executor: a Structure comes in and is compiled to kernels; bound to numbers, it is one call a program."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any

from celadon import events
from celadon.array import Array
from celadon.compiler.lift import EVERYTHING, Numbers, Structure
from celadon.compiler.simplify import simplify
from celadon.cpu import (
    bound,
    contract,
    contract_tables,
    control,
    control_tables,
    convolution_tables,
    convolutions,
    emit,
    fourier,
    fourier_tables,
    library,
    move_tables,
    moves,
    round_tables,
    scatter_tables,
    scatters,
    tables,
    window_tables,
    windows,
)
from celadon.cpu.fuse import fuse
from celadon.cpu.plan import outlined, planned
from celadon.cpu.recipe import CUMULATIVE
from celadon.cpu.stepwise import stepwise
from celadon.cpu.totality import lacking
from celadon.memory import got_ready
from celadon.program import Program
from celadon.types import Shape

_RULES = (
    contract,
    moves,
    control,
    contract_tables,
    control_tables,
    library,
    move_tables,
    round_tables,
    convolutions,
    convolution_tables,
    fourier,
    fourier_tables,
    scatters,
    scatter_tables,
    tables,
    window_tables,
    windows,
)  # imported for the rules that they add to fuse and plan
Call = Callable[[Sequence[Array]], list[Array]]
_PLANS_AT_MOST = 256


class CPU:
    """Compiles to machine code of this processor; takes scalars, captured arrays and extents at run time."""

    name = "cpu"
    takes = EVERYTHING
    native: frozenset[str] = frozenset([*CUMULATIVE, *library.NATIVE, "logistic", "scan", "threefry2x32", "whole_power"])
    reserve = None

    def adapted(self, program: Program) -> Program:
        """The program with loops over single elements for ops with a body that no kernel holds."""
        return simplify(found) if (found := stepwise(program)) is not program else program

    def lacks(self, program: Program) -> list[str]:
        """The ops of a lowered program for which there is no kernel, with dtypes: "sine:c64"."""
        return lacking(program)

    def compile(self, structure: Structure) -> Executable:
        """Machine code for a structure; kernels that are known already are not compiled again."""
        with got_ready([x.type.nbytes for x in structure.program.outputs]):
            return Executable(structure)


class Executable:
    """The kernels of a structure and its plans, one for each set of shapes."""

    def __init__(self, structure: Structure):
        constants = range(len(structure.program.inputs) - structure.scalars, len(structure.program.inputs))
        with events.Stage("fuse"):
            schedule = fuse(structure.program, constants)
        found = emit.compiled(schedule.kernels)
        self.codes = found.codes
        self.nbytes = sum(code.nbytes for code in found.codes)
        self.kernels, self.compiled = len(found.codes), found.fresh
        addresses = [code.address for code in found.codes]
        with events.Stage("plan"):
            self.outline = outlined(schedule, structure.program, structure.arrays, structure.scalars, addresses)
        self._plans: dict[tuple[tuple[Shape, ...], tuple[Any, ...]], bound.Frames] = {}
        self._sources: dict[bool, CodeType] = {}
        self._lock = threading.Lock()

    def bind(self, structure: Structure, numbers: Numbers) -> Call:
        """A callable of the program's own inputs, planned for the shapes of `structure`, its numbers filled in."""
        key = (numbers.shapes, numbers.integers)
        frames = self._plans.get(key)
        if frames is None:
            with events.Stage("plan"):
                plan = planned(self.outline, structure.program)
            with self._lock:
                frames = self._plans.setdefault(key, bound.Frames(plan, self._sources))
                if len(self._plans) > _PLANS_AT_MOST:
                    self._plans.pop(next(iter(self._plans)))
        with events.Stage("bind"):
            return bound.call(frames, self, structure, numbers)
