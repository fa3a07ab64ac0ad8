"""Units in; out, for each live one, the equations its kernel computes: cheap work again, dear work stored and read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from celadon.cpu.group import Token, Unit
from celadon.program import Program, Var
from celadon.vocabulary.bodies import has_effects

_CHEAP = frozenset((
    "abs", "add", "subtract", "multiply", "negate", "maximum", "minimum", "compare", "select", "and", "or",
    "xor", "not", "convert", "clamp", "square", "floor", "ceil", "is_finite", "shift_left",
    "shift_right_logical", "shift_right_arithmetic", "sign", "whole_power", "real", "imag", "complex", "bitcast_convert",
))  # fmt: skip
_AGAIN_AT_MOST = 4
_SCALAR_AT_MOST = 8


class Work(NamedTuple):
    """A unit whose results are wanted: `roots` are stored; `equations` are computed, other units' among them."""

    unit: Unit
    roots: list[Var]
    equations: list[int]


def inlined(program: Program, units: Sequence[Unit], shapes: dict[Var, Token], virtual: Iterable[Var]) -> list[Work]:
    """The units that are needed, in order. `virtual` variables need no memory where elementwise kernels read them."""
    walk = _Walk(program, units, shapes, frozenset(virtual))
    found = [work for unit in reversed(units) if (work := walk.visit(unit)) is not None]
    return found[::-1]


class _Walk:
    def __init__(self, program: Program, units: Sequence[Unit], shapes: dict[Var, Token], virtual: frozenset[Var]):
        self.program, self.shapes, self.virtual = program, shapes, virtual
        self.live: set[Var] = {x for x in program.outputs if type(x) is Var}
        self.producer: dict[Var, int] = {}
        self.elementwise: dict[Var, Unit] = {}
        self.readers: dict[Var, set[int]] = {}
        for unit in units:
            for i in unit.equations:
                self._note(unit, i)

    def _note(self, unit: Unit, i: int) -> None:
        equation = self.program.equations[i]
        for var in equation.outputs:
            self.producer[var] = i
            if unit.kind == "map":
                self.elementwise[var] = unit
        for x in equation.inputs:
            if type(x) is Var:
                self.readers.setdefault(x, set()).add(i)

    def visit(self, unit: Unit) -> Work | None:
        made = [var for i in unit.equations for var in self.program.equations[i].outputs]
        roots = [var for var in made if var in self.live]
        if not roots and not (unit.kind == "other" and any(has_effects(self.program.equations[i]) for i in unit.equations)):
            return None
        if unit.kind in ("map", "reduce"):
            return Work(unit, roots, self._closure(unit, roots))
        for i in unit.equations:
            self.live.update(x for x in self.program.equations[i].inputs if type(x) is Var)
        return Work(unit, roots, list(unit.equations))

    def _closure(self, unit: Unit, roots: list[Var]) -> list[int]:
        own = set(unit.equations)
        found: set[int] = set()
        pending = [self.producer[var] for var in roots]
        while pending:
            i = pending.pop()
            if i in found:
                continue
            found.add(i)
            for x in self.program.equations[i].inputs:
                if type(x) is Var and x not in self.virtual:
                    self._need(x, unit, own, pending)
        return sorted(found)

    def _need(self, x: Var, unit: Unit, own: set[int], pending: list[int]) -> None:
        """Compute x within this kernel, or store it by its own."""
        if self.producer.get(x) in own or (x in self.elementwise and self._is_cheaper_again(x, unit)):
            pending.append(self.producer[x])
        else:
            self.live.add(x)

    def _is_cheaper_again(self, x: Var, unit: Unit) -> bool:
        cone = self._cone(x, self.elementwise[x])
        if x.type.ndim == 0:
            return len(cone) <= _SCALAR_AT_MOST
        if unit.kind == "map" and self.shapes[x] != unit.token:
            return False
        if unit.kind == "reduce" and self._is_for(cone, unit):
            return x not in self.live
        equations = [self.program.equations[i] for i in cone]
        arrays = {
            y
            for e in equations
            for y in e.inputs
            if type(y) is Var and y.type.ndim and self.producer.get(y) not in cone
        }
        cheap = all(e.op.name in _CHEAP for e in equations)
        return x not in self.live and cheap and len(cone) <= _AGAIN_AT_MOST and len(arrays) <= 2

    def _cone(self, x: Var, home: Unit) -> set[int]:
        """The equations of its own unit that x needs."""
        own, found = set(home.equations), set[int]()
        pending = [self.producer[x]]
        while pending:
            i = pending.pop()
            found.add(i)
            inputs = self.program.equations[i].inputs
            needed = {self.producer[y] for y in inputs if type(y) is Var and y in self.producer}
            pending.extend((needed & own) - found)
        return found

    def _is_for(self, cone: set[int], unit: Unit) -> bool:
        """Whether nothing but this unit reads what the cone computes."""
        allowed = cone | set(unit.equations)
        made = [var for i in cone for var in self.program.equations[i].outputs]
        return all(self.readers.get(var, allowed) <= allowed and var not in self.live for var in made)
