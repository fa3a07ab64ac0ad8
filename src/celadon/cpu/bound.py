"""A Plan and the numbers of one program in; out, a Python function that fills a frame, makes one native call, wraps results."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from celadon.array import Array
from celadon.compiler.lift import Numbers, Structure
from celadon.cpu.driver import runtime
from celadon.cpu.recipe import Launch
from celadon.cpu.plan import NUMBER_BYTES, WORD, Outline, Plan
from celadon.memory import Block, allocate
from celadon.types import ArrayType

_ARENA_KEPT = 1 << 20
_HOLD_BELOW = 20_000.0


class Frame:
    """The memory of one call at a time: cells, tables and steps, and the arena if it is small."""

    __slots__ = ("arena", "block", "cells", "count", "steps")

    def __init__(self, plan: Plan):
        self.block = allocate(len(plan.words) * WORD)
        words = self.block.view(np.int64, (len(plan.words),))
        words[:] = plan.words
        words[plan.tables] += self.block.pointer
        self.cells = memoryview(words)
        self.steps = ctypes.c_void_p(self.block.pointer + plan.first_step * WORD)
        self.count = ctypes.c_int64(plan.steps)
        self.arena = allocate(plan.arena) if plan.arena <= _ARENA_KEPT else None
        if self.arena is not None:
            words[plan.outline.arena_cell] = self.arena.pointer


class Frames:
    """A plan and its frames that no call uses now."""

    __slots__ = ("free", "plan")

    def __init__(self, plan: Plan):
        self.plan = plan
        self.free: list[Frame] = []

    def fresh(self) -> Frame:
        return Frame(self.plan)


def call(frames: Frames, keeper: object, structure: Structure, numbers: Numbers) -> Callable[[Sequence[Array]], list[Array]]:
    """The function that runs the plan with these numbers. `keeper` lives as long: it holds the machine code."""
    plan = frames.plan
    names: dict[str, Any] = {
        "Array": Array, "allocate": allocate, "fresh": frames.fresh, "pop": frames.free.pop, "push": frames.free.append,
        "keeper": keeper, "pack": struct.Struct(f"{plan.outline.arena_cell + 1}q").pack_into,
        "run": runtime().hold if plan.nanoseconds < _HOLD_BELOW else runtime().release,
    }  # fmt: skip
    text = _text(plan, structure, numbers, names)
    exec(text, names)
    return names["call"]


def _text(plan: Plan, structure: Structure, numbers: Numbers, names: dict[str, Any]) -> str:
    """The function's source. It names what it uses in `names`."""
    outline = plan.outline
    block = names["numbers"] = _numbers_block(outline, structure, numbers)
    own = outline.inputs - outline.arrays
    captured = [array.block for array in numbers.arrays]
    names["captured"] = captured
    used = _used(outline)
    lines = [f"    x{i} = arrays[{i}]" for i in range(own) if i in used or i in _sources_of_results(outline)]
    if not plan.steps and not outline.results:
        return _joined(lines, _returned(plan, structure, names))
    lines += ["    try:", "        frame = pop()", "    except IndexError:", "        frame = fresh()"]
    lines += [f"    o{k} = allocate({nbytes})" for k, nbytes in enumerate(plan.result_bytes)]
    cells = [f"x{i}.block.pointer" if i in used else "0" for i in range(own)]
    cells += [str(kept.pointer) for kept in captured]
    cells += [f"o{k}.pointer" for k in range(len(outline.results))] + [str(block.pointer)]
    lines += _arena_lines(plan, cells)
    lines += [f"    pack(frame.cells, 0, {', '.join(cells)})", "    run(frame.steps, frame.count)", "    push(frame)"]
    return _joined(lines, _returned(plan, structure, names))


def _arena_lines(plan: Plan, cells: list[str]) -> list[str]:
    """A large arena is taken from the pool for each call; a small one stays with the frame."""
    if plan.arena <= _ARENA_KEPT:
        cells.append("frame.arena.pointer")
        return []
    cells.append("arena.pointer")
    return [f"    arena = allocate({plan.arena})"]


def _joined(lines: list[str], returned: str) -> str:
    return "\n".join(["def call(arrays):", *lines, f"    return [{returned}]"])


def _used(outline: Outline) -> set[int]:
    return {place for n in _read(outline) if (place := outline.sources[n]) < outline.inputs}


def _read(outline: Outline) -> set[int]:
    return {n for step in outline.schedule.steps if isinstance(step, Launch) for n in step.reads}


def _sources_of_results(outline: Outline) -> set[int]:
    return {outline.sources[n] for n in outline.schedule.outputs}


def _returned(plan: Plan, structure: Structure, names: dict[str, Any]) -> str:
    outline = plan.outline
    own = outline.inputs - outline.arrays
    found: list[str] = []
    for k, (number, out) in enumerate(zip(outline.schedule.outputs, structure.program.outputs, strict=True)):
        names[f"t{k}"] = _type(out)
        source = outline.sources[number]
        if source < own:
            held = f"x{source}.block"
        elif source < outline.inputs:
            held = f"captured[{source - own}]"
        else:
            held = f"o{outline.results.index(source)}"
        found.append(f"Array(t{k}, {held})")
    return ", ".join(found)


def _type(out: Any) -> ArrayType:
    return out.type


def _numbers_block(outline: Outline, structure: Structure, numbers: Numbers) -> Block:
    """The lifted scalars and the constants, each in its own place."""
    constants = [extra for extra in outline.schedule.extras if extra.is_constant]
    block = allocate(NUMBER_BYTES * (outline.scalars + len(constants)))
    content = bytearray(block.size)
    scalars = structure.program.inputs[outline.inputs :]
    for k, (var, value) in enumerate(zip(scalars, numbers.scalars, strict=True)):
        _put(content, k, np.asarray(value).astype(var.type.dtype).tobytes())
    for k, extra in enumerate(constants, outline.scalars):
        _put(content, k, extra.bits)
    block.view(np.uint8, (len(content),))[:] = np.frombuffer(bytes(content), np.uint8)
    return block


def _put(content: bytearray, k: int, bits: bytes) -> None:
    content[k * NUMBER_BYTES : k * NUMBER_BYTES + len(bits)] = bits


__all__ = ["Frame", "Frames", "call"]
