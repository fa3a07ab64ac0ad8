"""The programs that are compared: each an array program in the words that JAX, Celadon and (some) NumPy share, with its
arguments at any size. `PROGRAMS` is the list, `named` picks from it."""

from __future__ import annotations

from programs import calls, elementwise, linear, loops, networks, ordering, reductions, science
from programs.program import Program

_FAMILIES = (elementwise, reductions, linear, networks, loops, science, ordering, calls)
PROGRAMS: tuple[Program, ...] = tuple(program for family in _FAMILIES for program in family.PROGRAMS)


def named(words: list[str]) -> list[Program]:
    """The programs whose names hold one of some words; all of them for none."""
    return [program for program in PROGRAMS if not words or any(word in program.name for word in words)]
