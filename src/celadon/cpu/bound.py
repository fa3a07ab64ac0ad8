"""A Plan and the numbers of a program in; out, a function that fills a frame, makes one native call, wraps results.

The function's source is made once a structure, its text naming what differs between plans and between programs.
"""

from __future__ import annotations

import ctypes
import struct
from array import array
from collections.abc import Callable, Sequence
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from celadon.array import Array
from celadon.compiler.lift import Numbers, Structure
from celadon.cpu.driver import runtime
from celadon.cpu.hosts import Caller, functions
from celadon.cpu.plan import NUMBER_BYTES, WORD, Outline, Plan
from celadon.errors.catalogue import GENERATED
from celadon.memory import Block, allocate
from celadon.types import DType

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
        if plan.calls:
            self.caller = Caller(plan, self.block.pointer + plan.outline.stop_cell * WORD)
            for i in plan.callers:
                words[i] = self.caller.address
        ctypes.memmove(self.block.pointer, words.buffer_info()[0], len(words) * WORD)
        self.cells = (ctypes.c_int64 * (plan.outline.arena_cell + 1)).from_address(self.block.pointer)
        self.steps = ctypes.c_void_p(self.block.pointer + plan.first_step * WORD)
        self.count = ctypes.c_int64(plan.steps)
        self.arena = allocate(plan.arena if plan.arena <= _ARENA_KEPT else 0)


class Frames:
    """A plan, the code of the function that runs it, and the frames that no call uses now."""

    __slots__ = ("code", "free", "names", "plan")

    def __init__(self, plan: Plan, codes: dict[bool, CodeType]):
        """`codes` belongs to the executable: code by whether a call takes its arena from the pool."""
        self.plan = plan
        self.free: list[Frame] = []
        large = plan.arena > _ARENA_KEPT
        if large not in codes:
            codes[large] = _code(_text(plan.outline, large))
        self.code = codes[large]
        self.names: dict[str, Any] = {
            "Array": Array, "allocate": allocate, "fresh": self.fresh, "pop": self.free.pop, "push": self.free.append,
            "pack": struct.Struct(f"{plan.outline.arena_cell + 1}q").pack_into,
            "run": runtime().hold if plan.nanoseconds < _HOLD_BELOW else runtime().release, "arena_bytes": plan.arena,
        } | {f"b{k}": nbytes for k, nbytes in enumerate(plan.result_bytes)}  # fmt: skip

    def fresh(self) -> Frame:
        return Frame(self.plan)


def call(
    frames: Frames, keeper: object, structure: Structure, numbers: Numbers
) -> Callable[[Sequence[Array]], list[Array]]:
    """The function that runs the plan with these numbers. `keeper` lives as long: it holds the machine code."""
    outline = frames.plan.outline
    block = _numbers_block(outline, structure, numbers)
    names: dict[str, Any] = {**frames.names, "keeper": (keeper, block), "numbers": block.pointer}
    own = outline.inputs - outline.arrays
    for k, kept in enumerate(numbers.arrays, own):
        names[f"x{k}"] = kept
    for k, out in enumerate(structure.program.outputs):
        names[f"t{k}"] = out.type
    if frames.plan.calls:
        names["functions"] = functions(frames.plan, structure.program)
    found: Any = FunctionType(frames.code, names)
    found.temporary_bytes = frames.plan.arena
    return found


def _code(text: str) -> CodeType:
    """The code of the one function in a text."""
    [found] = [one for one in compile(text, GENERATED, "exec").co_consts if isinstance(one, CodeType)]
    return found


def _text(outline: Outline, large: bool) -> str:
    """`call(arrays)`: x are arrays, o the blocks of results, b their bytes, t the results' types."""
    own = outline.inputs - outline.arrays
    read = outline.read
    given = {outline.sources[n] for n in outline.schedule.outputs}
    lines = [f"    x{i} = arrays[{i}]" for i in range(own) if i in read | given]
    if outline.results or outline.hosts:
        lines += _running(outline, large, read)
    return "\n".join(["def call(arrays):", *lines, f"    return [{_returned(outline)}]"])


def _running(outline: Outline, large: bool, read: frozenset[int]) -> list[str]:
    lines = ["    try:", "        frame = pop()", "    except IndexError:", "        frame = fresh()"]
    lines += [f"    o{k} = allocate(b{k})" for k in range(len(outline.results))]
    lines += ["    arena = allocate(arena_bytes)"] if large else []
    cells = [f"x{i}.block.pointer" if i in read else "0" for i in range(outline.inputs)]
    cells += [f"o{k}.pointer" for k in range(len(outline.results))]
    cells += ["numbers", "arena.pointer" if large else "frame.arena.pointer"]
    return [
        *lines,
        f"    pack(frame.cells, 0, {', '.join(cells)})",
        *(_CALLING if outline.hosts else ["    run(frame.steps, frame.count)"]),
        "    push(frame)",
    ]


_CALLING = [
    "    frame.caller.functions = functions",
    "    run(frame.steps, frame.count)",
    "    error = frame.caller.failed()",
    "    if error is not None:",
    "        raise error",
]


def _returned(outline: Outline) -> str:
    sources = [outline.sources[number] for number in outline.schedule.outputs]
    held = [f"x{s}.block" if s < outline.inputs else f"o{outline.results.index(s)}" for s in sources]
    return ", ".join(f"Array(t{k}, {block})" for k, block in enumerate(held))


def _numbers_block(outline: Outline, structure: Structure, numbers: Numbers) -> Block:
    """The lifted scalars and the constants, each in its own place."""
    constants = [extra for extra in outline.schedule.extras if extra.is_constant]
    scalars = structure.program.inputs[outline.inputs :]
    bits = [_bits(x, var.type.dtype) for var, x in zip(scalars, numbers.scalars, strict=True)]
    content = b"".join([one.ljust(NUMBER_BYTES, b"\0") for one in [*bits, *(extra.bits for extra in constants)]])
    block = allocate(len(content))
    ctypes.memmove(block.pointer, content, len(content))
    return block


def _bits(x: Any, dtype: DType) -> bytes:
    return x.tobytes() if isinstance(x, np.generic) and x.dtype == dtype else np.asarray(x).astype(dtype).tobytes()
