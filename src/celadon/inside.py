"""A traced program in; out, what a stage of the compiler makes of it, as data and as text: what `Compiled.as_text` prints."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from celadon import cache, errors
from celadon.compiler import Numbers, Structure
from celadon.facade import Lazy
from celadon.program import Program

if TYPE_CHECKING:
    from celadon.compiler import listing
    from celadon.cpu import inspect_kernels, inspect_steps, inspect_text, inspect_views
else:
    listing = Lazy("celadon.compiler.listing")
    inspect_kernels, inspect_steps = Lazy("celadon.cpu.inspect_kernels"), Lazy("celadon.cpu.inspect_steps")
    inspect_text = Lazy("celadon.cpu.inspect_text")


class Made(NamedTuple):
    """What the stages made of a program: see `cache.Staged`; and the executable."""

    executor: str
    program: Program
    structure: Structure
    numbers: Numbers
    executable: Any
    lacking: tuple[str, ...]


def made(program: Program) -> Made:
    """Take a traced program through the stages; what is in a cache is not compiled again.

    Raises: `KernelMissing` for an op for which the executor has no kernel.
    """
    chosen, simplified, structure, numbers, lacking = cache.staged(program)
    return Made(chosen.name, simplified, structure, numbers, cache.store.get(chosen, structure)[0], tuple(lacking))


def text(program: Program, stage: str) -> str:
    """A traced program as a stage leaves it: "simplified", "kernels", "llvm" or "asm".

    Raises: `StageUnknown`, `StageAbsent`.
    """
    return _stage(stage).text(_at(program, stage))


def data(program: Program, stage: str) -> dict[str, Any]:
    """The same as plain data, ready for JSON.

    Raises: as `text`.
    """
    return {"stage": stage} | _stage(stage).data(_at(program, stage))


class _Stage(NamedTuple):
    text: Callable[[Made], str]
    data: Callable[[Made], dict[str, Any]]


def _stage(name: str) -> _Stage:
    if name not in _STAGES:
        raise errors.StageUnknown(stage=name, known=", ".join(STAGES))
    return _STAGES[name]


def _at(program: Program, stage: str) -> Made:
    found = made(program)
    if stage != "simplified":
        require_kernels(found, stage)
    return found


def require_kernels(found: Made, stage: str) -> None:
    """Refuse what has no kernels of ours: `StageAbsent`."""
    if found.executor != "cpu":
        reason = f"the CPU has no kernel for {', '.join(found.lacking)}" if found.lacking else "it makes none of its own"
        raise errors.StageAbsent(stage=stage, program=found.program.name, executor=found.executor, reason=reason)


def _listed(found: Made) -> Any:
    return listing.listed(found.program)


def schedule(found: Made) -> inspect_views.ScheduleView:
    """The kernels and steps of what the CPU executor compiled, with the names that the simplified program has for values."""
    names = listing.Names()
    listing.listed(found.program, names)
    return inspect_steps.schedule(found.executable, found.structure, found.numbers, names)


def _code(write: Callable[[Any], str]) -> _Stage:
    def text(found: Made) -> str:
        return write(found.executable.outline.schedule.kernels)

    return _Stage(text, lambda found: {"name": found.program.name, "text": text(found)})


_STAGES = {
    "simplified": _Stage(lambda found: listing.text(_listed(found)) + "\n", lambda found: dataclasses.asdict(_listed(found))),
    "kernels": _Stage(lambda found: inspect_text.text(schedule(found)) + "\n", lambda found: dataclasses.asdict(schedule(found))),
    "llvm": _code(lambda kernels: inspect_kernels.ir(kernels)),
    "asm": _code(lambda kernels: inspect_kernels.assembly(kernels)),
}
STAGES = ("stablehlo", *_STAGES)
