"""A Plan and the numbers of a program in; out, a function that fills a frame, makes one native call, wraps results.

The function's source (call_text.py) is compiled once a structure and names what differs between plans and programs.
"""

from __future__ import annotations

import ctypes
import struct
from array import array
from collections.abc import Callable, Sequence
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import numpy as np

from celadon.array import Array
from celadon.compiler.lift import Numbers, Structure
from celadon.cpu.call_text import call_text, plan_names, program_names
from celadon.cpu.driver import runtime
from celadon.cpu.hosts import Caller, functions
from celadon.cpu.plan import WORD, Outline, Plan
from celadon.cpu.recipe import NUMBER_BYTES
from celadon.errors.catalogue import GENERATED
from celadon.memory import Block, allocate
from celadon.types import ArrayType, DType

_ARENA_KEPT = 1 << 20
_HOLD_BELOW = 20_000.0


class Frame:
    """The memory of one call at a time: cells, tables and steps, and the arena if it is small."""

    __slots__ = ("arena", "block", "caller", "cells", "count", "steps")

    def __init__(self, plan: Plan):
        self.block = allocate(len(plan.words) * WORD)
        words = array("q", plan.words)
        for i in plan.tables:
            words[i] += self.block.pointer
        self.caller: Caller | None = None
        if plan.outline.hosts:
            self.caller = Caller(plan, self.block.pointer + plan.outline.stop_cell * WORD)
            for i in plan.callers:
                words[i] = self.caller.address
        ctypes.memmove(self.block.pointer, words.buffer_info()[0], len(words) * WORD)
        self.cells = (ctypes.c_int64 * (plan.outline.arena_cell + 1)).from_address(self.block.pointer)
        self.steps = ctypes.c_void_p(self.block.pointer + plan.first_step * WORD)
        self.count = ctypes.c_int64(plan.steps)
        self.arena = allocate(plan.arena if plan.arena <= _ARENA_KEPT else 0)


class Frames:
    """A plan, the code of the function that runs it, and the frames that no call uses now.

    `large`: whether a call takes its arena from the pool; `held`: whether it holds Python's lock meanwhile.
    """

    __slots__ = ("code", "free", "held", "large", "names", "plan")

    def __init__(self, plan: Plan, codes: dict[bool, CodeType]):
        """`codes` belongs to the executable: code by whether a call takes its arena from the pool."""
        self.plan = plan
        self.free: list[Frame] = []
        self.large = plan.arena > _ARENA_KEPT
        self.held = plan.nanoseconds < _HOLD_BELOW
        if self.large not in codes:
            codes[self.large] = _code(call_text(plan.outline, self.large))
        self.code = codes[self.large]
        self.names: dict[str, Any] = {
            "Array": Array, "allocate": allocate, "fresh": self.fresh, "pop": self.free.pop, "push": self.free.append,
            "pack": struct.Struct(f"{plan.outline.arena_cell + 1}q").pack_into,
            "run": runtime().hold if self.held else runtime().release, "arena_bytes": plan.arena,
        } | plan_names(plan)  # fmt: skip

    def fresh(self) -> Frame:
        return Frame(self.plan)


class Parts(NamedTuple):
    """What a bound program is made of, for whoever runs it in another way: frames, the address of its numbers, captured
    arrays, types of results, and what lives as long."""

    frames: Frames
    numbers: int
    arrays: tuple[Array, ...]
    types: tuple[ArrayType, ...]
    keeper: object


def call(
    frames: Frames, keeper: object, structure: Structure, numbers: Numbers
) -> Callable[[Sequence[Array]], list[Array]]:
    """The function that runs the plan with these numbers. `keeper` lives as long: it holds the machine code."""
    outline = frames.plan.outline
    block = _numbers_block(outline, structure, numbers)
    names: dict[str, Any] = {**frames.names, "keeper": (keeper, block), "numbers": block.pointer}
    names |= program_names(outline, structure.program, numbers)
    if outline.hosts:
        names["functions"] = functions(frames.plan, structure.program)
    found: Any = FunctionType(frames.code, names)
    found.temporary_bytes = frames.plan.arena
    types = tuple([out.type for out in structure.program.outputs])
    found.parts = Parts(frames, block.pointer, tuple(numbers.arrays), types, names["keeper"])
    return found


def _code(text: str) -> CodeType:
    """The code of the one function in a text."""
    [found] = [one for one in compile(text, GENERATED, "exec").co_consts if isinstance(one, CodeType)]
    return found


def _numbers_block(outline: Outline, structure: Structure, numbers: Numbers) -> Block:
    """The lifted scalars and the constants, each wherever kernels want it."""
    extras = outline.schedule.extras
    first_extra = outline.variables - len(extras)
    scalars = structure.program.inputs[outline.inputs :]
    bits = [_bits(x, var.type.dtype) for var, x in zip(scalars, numbers.scalars, strict=True)]
    found = [extras[n - first_extra].bits if n >= first_extra else bits[n - outline.inputs] for n in outline.numbers.order]
    content = b"".join([one * (NUMBER_BYTES // len(one)) for one in found])
    block = allocate(len(content))
    ctypes.memmove(block.pointer, content, len(content))
    return block


def _bits(x: Any, dtype: DType) -> bytes:
    return x.tobytes() if isinstance(x, np.generic) and x.dtype == dtype else np.asarray(x).astype(dtype).tobytes()
