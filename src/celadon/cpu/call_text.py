"""An Outline in; out, the source of the function `call(arrays)` that runs its plans, for bound.py.

For few arrays it names each of them, which is quickest to run; for many it loops, as so long a text takes long to compile.
"""

from __future__ import annotations

from typing import Any

from celadon.compiler.lift import Numbers
from celadon.cpu.plan import Outline, Plan
from celadon.program import Program

_NAMED_AT_MOST = 64  # arrays and results

_TAKING = ["    try:", "        frame = pop()", "    except IndexError:", "        frame = fresh()"]
_CALLING = [
    "    frame.caller.functions = functions",
    "    run(frame.steps, frame.count)",
    "    error = frame.caller.failed()",
    "    if error is not None:",
    "        raise error",
]


def call_text(outline: Outline, large: bool) -> str:
    """The source: x are arrays, o the blocks of results, b their bytes, t the results' types; `large`: whether a call takes
    its arena from the pool."""
    lines = _looping(outline, large) if _is_long(outline) else _naming(outline, large)
    return "\n".join(["def call(arrays):", *lines])


def plan_names(plan: Plan) -> dict[str, Any]:
    """What the source calls the facts of a plan."""
    sizes = plan.result_bytes
    return {"b": sizes} if _is_long(plan.outline) else {f"b{k}": nbytes for k, nbytes in enumerate(sizes)}


def program_names(outline: Outline, program: Program, numbers: Numbers) -> dict[str, Any]:
    """What the source calls the facts of a program."""
    types = [x.type for x in program.outputs]
    if not _is_long(outline):
        own = outline.inputs - outline.arrays
        names: dict[str, Any] = {f"x{k}": kept for k, kept in enumerate(numbers.arrays, own)}
        return names | {f"t{k}": type for k, type in enumerate(types)}
    places = {number: k for k, number in enumerate(outline.results)}
    sources = [outline.sources[number] for number in outline.schedule.outputs]
    homes = [(type, source, places.get(source, 0)) for type, source in zip(types, sources, strict=True)]
    read = [i in outline.read for i in range(outline.inputs)]
    return {"captured": numbers.arrays, "read": read, "homes": homes, "inputs": outline.inputs}


def _is_long(outline: Outline) -> bool:
    return outline.inputs + len(outline.results) > _NAMED_AT_MOST


def _naming(outline: Outline, large: bool) -> list[str]:
    own = outline.inputs - outline.arrays
    read = outline.read
    sources = [outline.sources[number] for number in outline.schedule.outputs]
    lines = [f"    x{i} = arrays[{i}]" for i in range(own) if i in read or i in sources]
    if outline.results or outline.hosts:
        lines += [*_TAKING, *[f"    o{k} = allocate(b{k})" for k in range(len(outline.results))]]
        cells = [f"x{i}.block.pointer" if i in read else "0" for i in range(outline.inputs)]
        cells += [f"o{k}.pointer" for k in range(len(outline.results))]
        lines += _running(outline, ", ".join(cells), large)
    held = [f"x{s}.block" if s < outline.inputs else f"o{outline.results.index(s)}" for s in sources]
    returned = ", ".join(f"Array(t{k}, {block})" for k, block in enumerate(held))
    return [*lines, f"    return [{returned}]"]


def _looping(outline: Outline, large: bool) -> list[str]:
    lines = ["    x = [*arrays, *captured]"]
    if outline.results or outline.hosts:
        lines += [*_TAKING, "    o = [allocate(nbytes) for nbytes in b]"]
        cells = "*[a.block.pointer if seen else 0 for a, seen in zip(x, read)], *[block.pointer for block in o]"
        lines += _running(outline, cells, large)
    return [*lines, "    return [Array(t, x[s].block if s < inputs else o[k]) for t, s, k in homes]"]


def _running(outline: Outline, cells: str, large: bool) -> list[str]:
    arena = ["    arena = allocate(arena_bytes)"] if large else []
    return [
        *arena,
        f"    pack(frame.cells, 0, {cells}, numbers, {'arena.pointer' if large else 'frame.arena.pointer'})",
        *(_CALLING if outline.hosts else ["    run(frame.steps, frame.count)"]),
        "    push(frame)",
    ]
