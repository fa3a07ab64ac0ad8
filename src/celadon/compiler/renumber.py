"""Traced program in, the Structure of an earlier one with this one's Numbers out, if the two differ in numbers only.

No stage looks at a number, so two such programs lower, simplify and lift alike; only the numbers' places have to be known.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import ref

from celadon.compiler.lift import Numbers, Structure
from celadon.keys import is_key
from celadon.program import Literal, Operand, Program, bodies, exact


class Skeleton(NamedTuple):
    """A traced program's key without its numbers, and these: literals and captured arrays, in the order they are met."""

    key: tuple[object, ...]
    literals: list[Literal]
    arrays: list[Any]


class Places(NamedTuple):
    """A structure; what of its numbers all programs of one skeleton have alike (no literals, no arrays); which of a
    skeleton's literals were taken out, or those that came from private functions; which of its arrays."""

    structure: Structure
    alike: Numbers
    literals: list[int | Literal]
    arrays: list[int]


def skeleton(program: Program) -> Skeleton | None:
    """The skeleton of a program; None for one with loops, branches or other programs that are traced anew each time, or
    with a user's function, which nothing here may keep alive.

    >>> skeleton(Program((), (), ())).key
    ((), (), (), ())
    """
    met = _Met()
    inputs = tuple([met.made(var) for var in program.inputs])
    captures = tuple([(met.made(var), met.array(array)) for var, array in program.captures])
    equations: list[object] = []
    for equation in program.equations:
        op, params = equation.op, equation.params
        if op.name == "call":
            params = {**params, "program": ref(params["program"])}
        elif any(map(callable, params.values())) or (op.multiple and next(bodies(params), None) is not None):
            return None
        operands = [met.operand(x) for x in equation.inputs]
        equations.append((op.name, *operands, *map(met.made, equation.outputs), *params, *map(exact, params.values())))
    outputs = tuple([met.operand(x) for x in program.outputs])
    if any(is_key(x.type.dtype) for x in met.literals):  # they are numbers of another type in the structure
        return None
    return Skeleton((inputs, captures, tuple(equations), outputs), met.literals, list(met.arrays.values()))


class _Met:
    def __init__(self) -> None:
        self.numbers: dict[Operand, int] = {}
        self.literals: list[Literal] = []
        self.arrays: dict[int, Any] = {}
        self.places: dict[int, int] = {}

    def made(self, x: Operand) -> object:
        self.numbers[x] = len(self.numbers)
        return x.type

    def operand(self, x: Operand) -> object:
        found = self.numbers.get(x)
        if found is not None:
            return found
        if type(x) is not Literal:  # an input that is not needed, in dead code
            return "nothing", self.made(x)
        if x.fixed:
            return x.type, x.value.tobytes()
        self.literals.append(x)
        return "number", self.made(x)

    def array(self, array: Any) -> int:
        self.arrays[id(array)] = array
        return self.places.setdefault(id(array), len(self.places))


def places(found: Skeleton, structure: Structure, numbers: Numbers) -> Places | None:
    """Where a program's numbers stood before it was lowered; None if it captured arrays that the skeleton has not."""
    literals, arrays = ({id(x): i for i, x in enumerate(one)} for one in (found.literals, found.arrays))
    if any(id(array) not in arrays for array in numbers.arrays):
        return None
    alike = numbers._replace(literals=(), arrays=())
    chosen = [literals.get(id(x), x) for x in numbers.literals]
    return Places(structure, alike, chosen, [arrays[id(array)] for array in numbers.arrays])


def renumbered(known: Places, found: Skeleton) -> Numbers:
    """The numbers of a program whose skeleton was met before."""
    literals = tuple([found.literals[x] if type(x) is int else x for x in known.literals])
    return known.alike._replace(literals=literals, arrays=tuple([found.arrays[i] for i in known.arrays]))
