"""Launches over the same rows in; out, one Rows kernel: what can be computed in one walk along the row is one pass.

A pass comes after those whose reductions it needs. What one launch makes and another reads stays in registers within a pass;
between passes it is a number of the row, or a row: of the result itself where one of its dtype comes later, else a line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from celadon.cpu.layout import Layout, access, merged
from celadon.cpu.recipe import Body, Constant, Launch, Leaf, Map, Node, Pass, Place, Reduce, Rows, Sink

Loops = tuple[tuple[int, ...], ...]


class Operand(NamedTuple):
    """What a launch reads or writes: `layout` by axis around the row, then along it; `axes` of the variable for the same."""

    source: str
    number: int
    dtype: str
    layout: Layout
    axes: tuple[int, ...]


class Member(NamedTuple):
    """A launch of a group. axes: those of its loops' variable longer than 1; around: it has one element a row."""

    launch: Launch
    kernel: Map | Reduce
    axes: tuple[int, ...]
    around: bool
    operands: tuple[Operand, ...]
    results: tuple[Operand, ...]


class Made(NamedTuple):
    """A kernel, and what it is launched on."""

    kernel: Rows
    like: int
    loops: Loops
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    walks: tuple[tuple[int, ...], ...]

    def launch(self, kernel: int) -> Launch:
        """The step; `kernel` is the kernel's number."""
        return Launch(kernel, "rows", self.like, self.loops, self.reads, self.writes, walks=self.walks)


def passed(
    members: Sequence[Member], ranks: tuple[int, int], roots: Mapping[int, int], stored: frozenset[int]
) -> Made:  # fmt: skip
    """One kernel for members in an order in which they can run.

    Args:
        members: launches.
        ranks: how many axes are around a row and along it.
        roots: for each variable that is read, the one whose view it is.
        stored: what members make that others need.
    """
    return _Builder(members, ranks, roots, stored).made()


class _Builder:
    def __init__(
        self, members: Sequence[Member], ranks: tuple[int, int], roots: Mapping[int, int], stored: frozenset[int]
    ):
        self.members, self.roots, self.stored = members, roots, stored
        self.kept, rank = ranks[0], sum(ranks)
        self.makers = {x.number: member for member in members for x in member.results}
        self.results = {x.number: x for member in members for x in member.results}
        layouts = [self._padded(x, rank) for x in self._outside()]
        self.rank = rank
        loops = merged([2] * rank, layouts, [d < self.kept for d in range(rank)])
        self.loops: Loops = loops
        self.levels: dict[int, int] = {}
        self._level()
        self.last = self._last_uses()
        self.operands: list[Leaf] = []
        self.walks: dict[int, tuple[int, ...]] = {}
        self.numbers: dict[int, int] = {}
        self.known: dict[object, int] = {}

    def _outside(self) -> list[Operand]:
        """Operands that have a place in memory, and indices."""
        read = [x for member in self.members for x in member.operands if x.layout and not self._is_made(x)]
        return read + [x for number, x in self.results.items() if number in self.stored]

    @staticmethod
    def _padded(x: Operand, rank: int) -> Layout:
        return x.layout + (None,) * (rank - len(x.layout))

    def _is_made(self, x: Operand) -> bool:
        return x.source != "iota" and self.roots[x.number] in self.makers

    # --- which pass makes what

    def _level(self) -> None:
        for member in self.members:
            level = max([self._available(self.roots[x.number]) for x in member.operands if self._is_made(x)], default=0)
            self.levels.update({x.number: level for x in member.results})

    def _available(self, number: int) -> int:
        """The first pass that can read what a member makes."""
        return self.levels[number] + isinstance(self.makers[number].kernel, Reduce)

    def _last_uses(self) -> dict[int, int]:
        last: dict[int, int] = {}
        for member in self.members:
            for x in member.operands:
                if self._is_made(x):
                    root = self.roots[x.number]
                    last[root] = max(last.get(root, 0), self.levels[member.results[0].number])
        return last

    # --- operands

    def made(self) -> Made:
        for x in (x for member in self.members for x in member.operands if not self._is_made(x)):
            self._operand(x)
        reads = dict(self.numbers)
        for number, x in self.results.items():
            if number in self.stored:
                self.known["made", number] = self._operand(x)
        self._inside()
        passes = [self._pass(level) for level in sorted(set(self.levels.values()))]
        first = next(member for member in self.members if not member.around)
        dtype = next(m.kernel.dtype for m in self.members if isinstance(m.kernel, Reduce))
        kernel = Rows(len(self.loops) - 1, dtype, tuple(self.operands), tuple(passes))
        loops = tuple([tuple([first.axes[d] for d in loop]) for loop in self.loops])
        numbers = [self.numbers[k] for k in self.numbers if k not in reads]
        return Made(kernel, first.launch.like, loops, tuple(reads.values()), tuple(numbers), tuple(self.walks.values()))

    def _operand(self, x: Operand) -> int:
        """The kernel's operand for one that is not made in a register."""
        layout = self._padded(x, self.rank) if x.layout else ()
        key = x.source, x.number, layout, x.dtype
        if key not in self.known:
            self.known[key] = len(self.operands)
            self.operands.append(Leaf(x.source, x.dtype, access(layout, self.loops) if layout else ""))
            if x.source != "iota":
                self.numbers[self.known[key]] = x.number
                self.walks[self.known[key]] = tuple([self._walked(x, loop[-1]) for loop in self.loops]) if layout else ()
        return self.known[key]

    @staticmethod
    def _walked(x: Operand, axis: int) -> int:
        return x.axes[axis] if axis < len(x.axes) and x.layout[axis] is not None else -1

    def _inside(self) -> None:
        """Places of what only other members read: registers, rows of results that come later, or lines."""
        taken: set[int] = set()
        for number, x in self.results.items():
            if ("made", number) in self.known or not self._is_kept(number):
                continue
            if self._is_number(number):
                self._place(number, Leaf("value", x.dtype))
                continue
            room = [n for n in self.stored - taken if self._has_room(n, number)]
            if room:
                taken.add(min(room))
                self.known["made", number] = self.known["made", min(room)]
            else:
                self._place(number, Leaf("line", x.dtype, "0" * (len(self.loops) - 1) + "1"))

    def _place(self, number: int, leaf: Leaf) -> None:
        self.known["made", number] = len(self.operands)
        self.operands.append(leaf)

    def _is_number(self, number: int) -> bool:
        maker = self.makers[number]
        return maker.around or isinstance(maker.kernel, Reduce)

    def _is_kept(self, number: int) -> bool:
        """Whether a later pass reads what a member makes."""
        return number in self.last and self.last[number] > self.levels[number]

    def _has_room(self, result: int, number: int) -> bool:
        """Whether a row may wait where a result will be."""
        alike = not self._is_number(result) and self.results[result].dtype == self.results[number].dtype
        return alike and self.levels[number] < self.levels[result] and self.last[number] <= self.levels[result]

    # --- passes

    def _pass(self, level: int) -> Pass:
        draft = _Draft()
        sinks: list[tuple[Place, Sink]] = []
        for member in self.members:
            if self.levels[member.results[0].number] == level:
                places = [self._read(draft, x, level) for x in member.operands]
                found = draft.computed(member.kernel.body, places)
                sinks += self._sinks(draft, member, found)
        places, targets = [place for place, _ in sinks], tuple([sink for _, sink in sinks])
        return Pass(draft.body(places), tuple(draft.operands), targets)

    def _read(self, draft: _Draft, x: Operand, level: int) -> Place:
        if not self._is_made(x):
            return draft.leaf(self._operand(x), self._leaf(self._operand(x)))
        root = self.roots[x.number]
        if root in draft.made:
            return draft.made[root]
        operand = self.known["made", root]
        return draft.leaf(operand, self._leaf(operand))

    def _leaf(self, operand: int) -> Leaf:
        leaf = self.operands[operand]
        return leaf._replace(source={"line": "array", "value": "scalar"}.get(leaf.source, leaf.source))

    def _sinks(self, draft: _Draft, member: Member, found: Sequence[Place]) -> list[tuple[Place, Sink]]:
        sinks: list[tuple[Place, Sink]] = []
        op = member.kernel.op if isinstance(member.kernel, Reduce) else ""
        for x, place in zip(member.results, found, strict=True):
            if not op:
                draft.made[x.number] = place
            target = self.known.get(("made", x.number))
            if target is not None:
                sinks.append((place, Sink(op, target)))
        return sinks


class _Draft:
    """A body under construction; node k is called -1 - k until it is finished."""

    def __init__(self) -> None:
        self.operands: list[int] = []
        self.leaves: list[Leaf] = []
        self.nodes: list[tuple[str, str, tuple[Any, ...], tuple[tuple[str, Any], ...]]] = []
        self.made: dict[int, Place] = {}

    def leaf(self, operand: int, leaf: Leaf) -> Place:
        """The place of an operand of the kernel."""
        if operand not in self.operands:
            self.operands.append(operand)
            self.leaves.append(leaf)
        return self.operands.index(operand)

    def computed(self, body: Body, leaves: Sequence[Place]) -> list[Place]:
        """The places of a body's results, its leaves being these; equal work is done once."""
        places = list(leaves)

        def final(place: Place) -> Place:
            return place if isinstance(place, Constant) else places[place]

        for node in body.nodes:
            one = node.op, node.dtype, tuple(map(final, node.operands)), node.params
            if one not in self.nodes:
                self.nodes.append(one)
            places.append(-1 - self.nodes.index(one))
        return list(map(final, body.results))

    def body(self, results: Sequence[Place]) -> Body:
        count = len(self.leaves)

        def final(place: Place) -> Place:
            return count - 1 - place if isinstance(place, int) and place < 0 else place

        nodes = [Node(op, dtype, tuple(map(final, operands)), params) for op, dtype, operands, params in self.nodes]
        return Body(tuple(self.leaves), tuple(nodes), tuple(map(final, results)))
