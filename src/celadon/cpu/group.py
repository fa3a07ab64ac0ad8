"""A program in, its equations in units out: elementwise ones of a shape together, in an order that fuse can follow."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence

from celadon.compiler.lift import Extents
from celadon.cpu.layout import VIEWS
from celadon.program import Equation, Program, Var
from celadon.vocabulary.bodies import has_effects

Token = tuple[object, ...]


class Unit:
    """Equations that run as one. `before` is a bit set of the units that must have run, directly or not; `follows` is the
    unit with the effects that come just before its own, or -1."""

    __slots__ = ("before", "equations", "follows", "kind", "token")

    def __init__(self, kind: str, token: Token):
        self.kind, self.token = kind, token
        self.equations: list[int] = []
        self.before = 0
        self.follows = -1


def kind_of(equation: Equation) -> str:
    """map, view, iota, reduce, or other."""
    name = equation.op.name
    if equation.op.kind == "elementwise":
        rank = equation.outputs[0].type.ndim
        return "map" if all(x.type.ndim in (0, rank) for x in equation.inputs) else "other"
    if name in VIEWS:
        return "view"
    return "iota" if name == "iota" else "reduce" if name in REDUCTIONS else "other"


REDUCTIONS = {
    "reduce_sum": "add", "reduce_prod": "multiply", "reduce_max": "maximum", "reduce_min": "minimum",
    "reduce_and": "and", "reduce_or": "or", "reduce_xor": "xor", "argmax": "argmax", "argmin": "argmin",
}  # fmt: skip


_AT_MOST = 128  # equations of a unit: registers do not hold more, and code takes longer to make than in proportion
_TOGETHER_AT_MOST = 96  # the same for values that nothing connects


def tokens(program: Program) -> dict[Var, Token]:
    """For each variable its shape as the structure knows it: equal tokens are equal shapes, whatever the extents."""
    extents = Extents()
    extents.program(program)
    return {var: extents.shape(var) for var in extents.dims}


def grouped(program: Program, shapes: dict[Var, Token], together: bool = False) -> list[Unit]:
    """The units, each after those whose results it reads; `together`: scalars share units though nothing connects them."""
    grouping = _Grouping(program, shapes, together)
    for i, equation in enumerate(program.equations):
        grouping.add(i, equation)
    return grouping.ordered()


class _Grouping:
    def __init__(self, program: Program, shapes: dict[Var, Token], together: bool):
        self.program, self.shapes, self.together = program, shapes, together
        self.units: list[Unit] = []
        self.home: dict[Var, int] = {}
        self.readers: dict[Var, int] = {}
        self.moved: dict[int, int] = {}
        self.followed = 0  # a bit set of the units that others come after
        self.scalars: set[int] = set()  # units of scalars that more may join
        self.effects = -1
        self.results = {x for x in program.outputs if type(x) is Var}
        self.stored: set[Var] = set()  # what a contraction or the like has read: it is in memory in any case

    def add(self, index: int, equation: Equation) -> None:
        kind = kind_of(equation)
        token = self.shapes[equation.outputs[0]] if kind != "other" else ("other",)
        read = [x for x in equation.inputs if type(x) is Var]
        place = self._joined(self._near(equation, read), read, token) if kind == "map" else -1
        if place < 0:
            place = len(self.units)
            self.units.append(Unit(kind, token))
            self.scalars |= {place} if kind == "map" and not token else set()
        self._enter(place, index, equation, read)
        if kind == "other":
            self.stored.update(read)
        if kind == "other" and has_effects(equation):
            self._in_order(place)

    def _near(self, equation: Equation, read: Sequence[Var]) -> list[Var]:
        """Of what an elementwise equation reads, that beside whose maker it may run.

        A value that is in memory is read again instead: what is made of it would only wait there beside it.
        """
        if self.results.intersection(equation.outputs):
            return list(read)
        return [x for x in read if x not in self.stored]

    def _in_order(self, place: int) -> None:
        """What has effects comes after all earlier effects."""
        before, self.effects = self.effects, place
        self.units[place].follows = before
        if before >= 0:
            self._order(place, self.units[before].before | 1 << before)

    def _find(self, unit: int) -> int:
        root = unit
        while root in self.moved:
            root = self.moved[root]
        while unit != root:
            self.moved[unit], unit = root, self.moved[unit]
        return root

    def _before(self, read: Iterable[Var], place: int) -> int:
        bits = 0
        for x in read:
            home = self._find(self.home[x]) if x in self.home else place
            if home != place:
                bits |= self.units[home].before | 1 << home
        return bits

    def _enter(self, place: int, index: int, equation: Equation, read: Sequence[Var]) -> None:
        unit = self.units[place]
        unit.equations.append(index)
        for var in equation.outputs:
            self.home[var] = place
        for x in read:
            if x.type.ndim:
                self.readers[x] = place
        self._order(place, self._before(read, place))

    def _order(self, place: int, bits: int) -> None:
        unit = self.units[place]
        if unit.before | bits != unit.before:
            unit.before |= bits
            self.followed |= bits
            self._pass_on(place)

    def _pass_on(self, place: int) -> None:
        if not self.followed >> place & 1:
            return
        bits = self.units[place].before
        for unit in self.units:
            if unit.before >> place & 1:
                unit.before |= bits

    def _joined(self, near: Sequence[Var], read: Sequence[Var], token: Token) -> int:
        """The unit that an elementwise equation may join without a cycle; units that it connects become one."""
        found = {self._find(self.home[x]) for x in near if x in self.home}
        found |= {self._find(self.readers[x]) for x in near if x in self.readers}
        if self.together and not token:
            roots = map(self._find, self.scalars)
            self.scalars = {u for u in roots if len(self.units[u].equations) < _TOGETHER_AT_MOST}
            found |= self.scalars
        fit = [u for u in sorted(found, reverse=True) if self._takes(u, token) and not self._before(read, u) >> u & 1]
        for other in fit[1:]:
            self._merge(fit[0], other)
        return fit[0] if fit else -1

    def _takes(self, place: int, token: Token) -> bool:
        unit = self.units[place]
        return unit.kind == "map" and unit.token == token and len(unit.equations) < _AT_MOST

    def _merge(self, place: int, other: int) -> None:
        into, gone = self.units[place], self.units[other]
        if into.before >> other & 1 or gone.before >> place & 1 or len(into.equations) + len(gone.equations) > _AT_MOST:
            return
        into.equations.extend(gone.equations)
        gone.equations = []
        self.moved[other] = place
        into.before |= gone.before
        if self.followed >> other & 1:
            self.followed |= 1 << place
            for unit in self.units:
                if unit.before >> other & 1:
                    unit.before |= 1 << place
        self._pass_on(place)

    def ordered(self) -> list[Unit]:
        """As the equations stand in the program, as far as what they read allows."""
        live = [i for i, unit in enumerate(self.units) if unit.equations]
        waits = {i: self._reads(i) for i in live}
        readers: dict[int, list[int]] = {i: [] for i in live}
        for i, sources in waits.items():
            for source in sources:
                readers[source].append(i)
        ready = [(max(self.units[i].equations), i) for i in live if not waits[i]]
        heapq.heapify(ready)
        order: list[Unit] = []
        while ready:
            _, i = heapq.heappop(ready)
            order.append(self.units[i])
            self.units[i].equations.sort()
            for reader in readers[i]:
                waits[reader].discard(i)
                if not waits[reader]:
                    heapq.heappush(ready, (max(self.units[reader].equations), reader))
        assert len(order) == len(live), "units wait for one another"
        return order

    def _reads(self, place: int) -> set[int]:
        equations = self.program.equations
        read = {
            x for i in self.units[place].equations for x in equations[i].inputs if type(x) is Var and x in self.home
        }
        follows = self.units[place].follows
        sources = {self._find(self.home[x]) for x in read} - {place}
        return sources | {follows} if follows >= 0 else sources
