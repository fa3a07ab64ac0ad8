"""LAPACK's routines for the ops named like them: what each is called with, for one matrix of a stack; plan is next."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, NamedTuple

from celadon.program import Equation
from celadon.types import DType, Shape, short_name
from celadon.vocabulary.stacks import ranks

_PREFIXES = {"f32": "s", "f64": "d", "c64": "c", "c128": "z"}
_BLOCK = 64  # columns that LAPACK works on together, at most
_CALL, _NANOSECONDS = 300.0, 0.015


class Argument(NamedTuple):
    """An argument of a Fortran routine, by a letter.

    l: a number or character, as bytes; o or r: the equation's operand or result of this index; w: room for work of so
    many bytes; n: none.
    """

    letter: str
    value: Any = None
    skipped: int = 0  # elements of an operand or result ahead of the first one that is given


class Call(NamedTuple):
    """A routine's name in the library, its arguments, how many of them are characters, and, roughly, its floating-point
    operations and nanoseconds."""

    name: str
    arguments: list[Argument]
    characters: int
    flops: float
    nanoseconds: float


class Routine(NamedTuple):
    """How an op is a call of a routine.

    make: the arguments for these shapes. inplace: for some results the operand that becomes it. kept: operands that the
    routine leaves alone. rows: whether matrices are given as they lie, row by row; else column by column.
    """

    make: Callable[[Shapes], Call]
    inplace: dict[int, int]
    kept: frozenset[int] = frozenset()
    rows: bool = False


class Shapes:
    """The shapes of one matrix's operands and results, the dtype, and the parameters of the equation."""

    def __init__(self, equation: Equation):
        types = [x.type for x in (*equation.inputs, *equation.outputs)]
        own = [t.shape[t.ndim - rank :] for t, rank in zip(types, ranks(equation), strict=True)]
        count = len(equation.inputs)
        self.given, self.made, self.params = own[:count], own[count:], equation.params
        self.dtype: DType = next(t.dtype for t in types if t.dtype.kind in "fc")
        self.is_complex = self.dtype.kind == "c"
        self.real_size = self.dtype.itemsize // (2 if self.is_complex else 1)

    @property
    def first(self) -> Shape:
        return self.given[0]

    def name(self, real: str, complex_: str = "") -> str:
        return _PREFIXES[short_name(self.dtype)] + (complex_ if self.is_complex and complex_ else real) + "_"

    def work(self, count: int) -> list[Argument]:
        """Room for numbers of the dtype, and how many."""
        return [self.room(count), integer(max(count, 1))]

    def room(self, count: int) -> Argument:
        return Argument("w", max(count, 1) * self.dtype.itemsize)

    def real_room(self, count: int) -> Argument:
        return Argument("w", max(count, 1) * self.real_size)

    def call(self, name: str, *arguments: Argument | list[Argument], cost: float) -> Call:
        flat = [one for x in arguments for one in ([x] if isinstance(x, Argument) else x)]
        characters = sum(x.letter == "l" and len(x.value) == 1 for x in flat)
        return Call(name, flat, characters, float(cost), _CALL + cost * _NANOSECONDS * self.dtype.itemsize)


def integer(n: int) -> Argument:
    return Argument("l", struct.pack("<i", n))


def leading(n: int) -> Argument:
    """The leading dimension of a matrix of n rows."""
    return integer(max(n, 1))


def character(letter: str) -> Argument:
    return Argument("l", letter.encode())


def operand(index: int) -> Argument:
    return Argument("o", index)


def result(index: int) -> Argument:
    return Argument("r", index)


_INFO = Argument("w", 4)
_NONE = Argument("n")


def _indices(count: int) -> Argument:
    return Argument("w", 4 * max(count, 1))


def _potrf(s: Shapes) -> Call:
    """Row by row the lower triangle is what LAPACK, column by column, calls the upper one."""
    n = s.first[0]
    return s.call(s.name("potrf"), character("U"), integer(n), result(0), leading(n), result(1), cost=n**3 / 3)


def _getrf(s: Shapes) -> Call:
    m, n = s.first
    sizes = [integer(m), integer(n), result(0), leading(m)]
    return s.call(s.name("getrf"), sizes, result(1), result(2), cost=m * n * min(m, n))


def _geqrf(s: Shapes) -> Call:
    m, n = s.first
    sizes = [integer(m), integer(n), result(0), leading(m)]
    return s.call(s.name("geqrf"), sizes, result(1), s.work(n * _BLOCK), _INFO, cost=2 * m * n * min(m, n))


def _geqp3(s: Shapes) -> Call:
    m, n = s.first
    sizes = [integer(m), integer(n), result(0), leading(m), result(1), result(2)]
    rest = [s.real_room(2 * n)] if s.is_complex else []
    return s.call(s.name("geqp3"), sizes, s.work(2 * n + (n + 1) * _BLOCK), rest, _INFO, cost=4 * m * n * min(m, n))


def _orgqr(s: Shapes) -> Call:
    (m, n), (k,) = s.given
    sizes = [integer(m), integer(n), integer(k), result(0), leading(m), operand(1)]
    return s.call(s.name("orgqr", "ungqr"), sizes, s.work(n * _BLOCK), _INFO, cost=2 * m * n * k)


def _ormqr(s: Shapes) -> Call:
    (r, _), (k,), (m, n) = s.given
    left = s.params["left"]
    turn = ("C" if s.is_complex else "T") if s.params["transpose"] else "N"
    flags = [character("L" if left else "R"), character(turn)]
    sizes = [integer(m), integer(n), integer(k), operand(0), leading(r), operand(1), result(0), leading(m)]
    room = s.work((n if left else m) * _BLOCK + (_BLOCK + 1) * _BLOCK)
    return s.call(s.name("ormqr", "unmqr"), flags, sizes, room, _INFO, cost=4 * m * n * k)


def _syevd(s: Shapes) -> Call:
    n = s.first[0]
    flags = [character("V"), character("L" if s.params["lower"] else "U")]
    sizes = [integer(n), result(0), leading(n), result(1)]
    whole = 3 + 5 * n
    if s.is_complex:
        real = 1 + 5 * n + 2 * n * n
        room = [*s.work(max(2 * n + n * n, n * (_BLOCK + 1))), s.real_room(real), integer(real)]
    else:
        room = s.work(max(1 + 6 * n + 2 * n * n, n * (_BLOCK + 2)))
    return s.call(
        s.name("syevd", "heevd"), flags, sizes, room, _indices(whole), integer(whole), result(2), cost=9 * n**3
    )  # fmt: skip


def _gesdd(s: Shapes) -> Call:
    m, n = s.first
    k, large = min(m, n), max(m, n)
    vectors, full = s.params["compute_uv"], s.params["full_matrices"]
    flag = ("A" if full else "S") if vectors else "N"
    factors = [result(1), leading(m), result(2), leading(n if full else k)] if vectors else [_NONE, leading(1)] * 2
    blocks = (m + n) * _BLOCK
    real: list[Argument] = []
    if s.is_complex:
        real = [s.real_room(max(5 * k * k + 7 * k, 2 * large * k + 2 * k * k + k))]
        room = s.work(k * k + 3 * k + large + blocks)
    else:
        room = s.work(4 * k * k + 7 * k + large + blocks)
    return s.call(
        s.name("gesdd"), character(flag), integer(m), integer(n), operand(0), leading(m), result(0), factors, room, real,
        _indices(8 * k), result(3 if vectors else 1), cost=(20 if vectors else 4) * m * n * k,
    )  # fmt: skip


def _geev(s: Shapes) -> Call:
    n, left, right = s.first[0], s.params["left"], s.params["right"]
    values = [result(0)] if s.is_complex else [result(0), result(1)]
    sides = [
        (result(len(values) + sum((left, right)[:side])), leading(n)) if asked else (_NONE, leading(1))
        for side, asked in enumerate((left, right))
    ]
    flags = [character("V" if asked else "N") for asked in (left, right)]
    real = [s.real_room(2 * n)] if s.is_complex else []
    return s.call(
        s.name("geev"), flags, integer(n), operand(0), leading(n), values, *map(list, sides),
        s.work(4 * n + n * (_BLOCK + 12)), real, result(len(s.made) - 1), cost=25 * n**3,
    )  # fmt: skip


def _gees(s: Shapes) -> Call:
    n, vectors = s.first[0], s.params["vectors"]
    values = [s.room(n)] if s.is_complex else [s.room(n), s.room(n)]
    basis = [result(1), leading(n)] if vectors else [_NONE, leading(1)]
    real = [s.real_room(n)] if s.is_complex else []
    return s.call(
        s.name("gees"), character("V" if vectors else "N"), character("N"), _NONE, integer(n), result(0), leading(n),
        _indices(1), values, basis, s.work(4 * n + n * (_BLOCK + 12)), real, _indices(n), result(2 if vectors else 1),
        cost=25 * n**3,
    )  # fmt: skip


def _gehrd(s: Shapes) -> Call:
    n = s.first[0]
    sizes = [integer(n), integer(1), integer(n), result(0), leading(n), result(1)]
    return s.call(s.name("gehrd"), sizes, s.work(n * _BLOCK + (_BLOCK + 1) * _BLOCK), result(2), cost=4 * n**3)


def _sytrd(s: Shapes) -> Call:
    n = s.first[0]
    sizes = [character("L" if s.params["lower"] else "U"), integer(n), result(0), leading(n)]
    return s.call(
        s.name("sytrd", "hetrd"), sizes, result(1), result(2), result(3), s.work(n * _BLOCK), result(4), cost=2 * n**3
    )  # fmt: skip


def _gtsv(s: Shapes) -> Call:
    n, columns = s.made[0]
    sizes = [integer(n), integer(columns), Argument("o", 0, 1), operand(1), operand(2), result(0), leading(n)]
    return s.call(s.name("gtsv"), sizes, result(1), cost=20 * n * max(columns, 1))


def _trsm(s: Shapes) -> Call:
    """Row by row, x solves the transposed system: the side and the triangle are the other ones."""
    m, n = s.made[0]
    params = s.params
    flags = [
        character("R" if params["left_side"] else "L"), character("U" if params["lower"] else "L"),
        character(params["transpose_a"][0].replace("A", "C")), character("U" if params["unit_diagonal"] else "N"),
    ]  # fmt: skip
    one = Argument("l", struct.pack("<f" if s.real_size == 4 else "<d", 1.0) + bytes(s.dtype.itemsize - s.real_size))
    order = s.first[0]
    sizes = [integer(n), integer(m), one, operand(0), leading(order), result(0), leading(n)]
    return s.call(s.name("trsm"), flags, sizes, cost=m * n * order)


ROUTINES: dict[str, Routine] = {
    "potrf": Routine(_potrf, {0: 0}, rows=True),
    "getrf": Routine(_getrf, {0: 0}),
    "geqrf": Routine(_geqrf, {0: 0}),
    "geqp3": Routine(_geqp3, {0: 0, 1: 1}),
    "orgqr": Routine(_orgqr, {0: 0}, frozenset({1})),
    "ormqr": Routine(_ormqr, {0: 2}, frozenset({1})),
    "syevd": Routine(_syevd, {0: 0}),
    "gesdd": Routine(_gesdd, {}),
    "geev": Routine(_geev, {}),
    "gees": Routine(_gees, {0: 0}),
    "gehrd": Routine(_gehrd, {0: 0}),
    "sytrd": Routine(_sytrd, {0: 0}),
    "gtsv": Routine(_gtsv, {0: 3}),
    "triangular_solve": Routine(_trsm, {0: 1}, frozenset({0}), rows=True),
}
