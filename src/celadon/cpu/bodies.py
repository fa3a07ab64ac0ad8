"""A recipe's Body in, its values for one index out: what is scalar is computed once, ahead of the loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from celadon.cpu import elements, elementwise
from celadon.cpu.elements import Element
from celadon.cpu.ir import Function, Value
from celadon.cpu.kinds import itemsize, lanes_for
from celadon.cpu.loops import Table
from celadon.cpu.recipe import NUMBER_BYTES, Body, Constant, Leaf, Place
from celadon.cpu.stores import at

Read = Callable[[int], Element]
_HELD = 12  # numbers in registers; when there are more, each is loaded where it is used


class Given(NamedTuple):
    """The leaves of a body: arrays, by how they are walked; elements that a call does not change; where those lie that are
    loaded at their use; elements that no innermost loop changes, but one around it."""

    arrays: dict[int, Walk]
    scalars: dict[int, Element]
    numbers: dict[int, Value]
    around: dict[int, Element]


def from_table(f: Function, leaves: Sequence[Leaf], table: Table) -> Given:
    """Leaves as the words of a kernel's table give them. To be called in the entry block, after extents."""
    given, numbers = Given({}, {}, {}, {}), _Numbers(table)
    for k, leaf in enumerate(leaves):
        if leaf.source == "array":
            given.arrays[k] = Walk(table, leaf.access)
        elif leaf.source == "scalar":
            given.scalars[k] = elements.load(f, table.address(), leaf.dtype)
        elif leaf.source == "number":
            given.numbers[k] = numbers.next()
        elif leaf.source == "iota" and not set(leaf.access) - {"0"}:
            given.scalars[k] = index_element(f, f.constant("i64", 0), leaf.dtype, 1)
    return given


class Emission:
    """A body being emitted into a function, `lanes` elements at a time, of the leaves that are given."""

    def __init__(self, f: Function, body: Body, lanes: int, given: Given):
        self.f, self.body, self.lanes = f, body, lanes
        self.arrays, self.numbers = given.arrays, given.numbers
        self.scalars = given.scalars | given.around
        self.around: set[Place] = set(given.around)
        self.ahead: dict[int, Any] = {}  # by node, what is known of its last operand
        fixed, used = self._fixed()
        for k in fixed:
            if self._first_node + k in self.around and self._looks_ahead(k):
                self.ahead[k] = self._ahead(k, 1)
            self.scalars[self._first_node + k] = self._node(k, self.scalar)
        held = [*self.scalars, *(self.numbers if len(self.numbers) <= _HELD else ())]
        self.splats = {k: self._splat(k) for k in held if k in used}
        moving = [k for k in range(len(body.nodes)) if k not in fixed and self._looks_ahead(k)]
        self.ahead.update({k: self._ahead(k, lanes) for k in moving})

    @property
    def _first_node(self) -> int:
        return len(self.body.leaves)

    def _fixed(self) -> tuple[list[int], set[Place]]:
        """The nodes that no loop moves, and what the others and the results take."""
        still: set[Place] = {*self.scalars, *self.numbers}
        fixed: list[int] = []
        used: set[Place] = set(self.body.results)
        for k, node in enumerate(self.body.nodes):
            if all(isinstance(x, Constant) or x in still for x in node.operands):
                still.add(self._first_node + k)
                fixed.append(k)
                self.around |= {self._first_node + k} if self.around.intersection(node.operands) else set()
            else:
                used.update(node.operands)
        return fixed, used

    def _splat(self, place: int) -> Element:
        """A scalar in all lanes; a number lies in memory so."""
        dtype = self.body.dtype(place)
        if place in self.numbers and not elements.is_complex(dtype) and itemsize(dtype) * self.lanes <= NUMBER_BYTES:
            return elements.load(self.f, self.numbers[place], dtype, self.lanes)
        return elements.splat(self.f, self.scalar(place), self.lanes)

    def scalar(self, place: Place) -> Element:
        """A value of the body that no loop moves."""
        if isinstance(place, Constant):
            return elements.constant(self.f, place.dtype, place.bits)
        if place not in self.scalars:
            return elements.load(self.f, self.numbers[place], self.body.dtype(place))
        return self.scalars[place]

    def _looks_ahead(self, k: int) -> bool:
        """Whether a node's last operand is one that a call does not change, and that matters."""
        node = self.body.nodes[k]
        last = node.operands[-1]
        moves = not isinstance(last, Constant) and last not in self.scalars and last not in self.numbers
        return not moves and last not in self.around and elementwise.looks_ahead(node.op, node.dtype)

    def _ahead(self, k: int, lanes: int) -> Any:
        node = self.body.nodes[k]
        return elementwise.ahead(node.op, node.dtype, self.scalar(node.operands[-1]), lanes)

    def _node(self, k: int, value: Callable[[Place], Element]) -> Element:
        node = self.body.nodes[k]
        if k in self.ahead:
            return elementwise.emit_with(node.op, value(node.operands[0]), self.ahead[k], node.dtype)
        dtypes = [self.body.dtype(x) for x in node.operands]
        return elementwise.emit(node.op, [value(x) for x in node.operands], dtypes, node.dtype, dict(node.params))

    def results(self, read: Read) -> list[Element]:
        """The results at one place; `read(leaf)` gives an array's or an index's elements there."""
        found: dict[int, Element] = dict(self.splats)

        def value(place: Place) -> Element:
            if isinstance(place, Constant):
                return elements.constant(self.f, place.dtype, place.bits, self.lanes)
            if place in self.numbers and place not in found:
                return self._splat(place)
            if place not in found:
                found[place] = read(place) if place < self._first_node else self._node(place - self._first_node, value)
            return found[place]

        for k in range(len(self.body.nodes)):
            if self._first_node + k not in self.scalars:
                value(self._first_node + k)
        return [value(place) for place in self.body.results]

    @property
    def pointers(self) -> list[Value]:
        """Where each array begins."""
        return [walk.pointer for walk in self.arrays.values()]

    def stepped(self, pointers: Sequence[Value], loop: int, index: Value) -> list[Value]:
        """The arrays' addresses at an index of a loop."""
        walks = self.arrays.values()
        return [walk.stepped(self.f, pointer, loop, index) for walk, pointer in zip(walks, pointers, strict=True)]

    def standing(self, pointers: Sequence[Value]) -> dict[int, Element]:
        """Elements that the innermost loop does not move, to be loaded ahead of it."""
        found: dict[int, Element] = {}
        for (k, walk), pointer in zip(self.arrays.items(), pointers, strict=True):
            if walk.access[-1] == "0":
                element = elements.load(self.f, pointer, self.body.leaves[k].dtype)
                found[k] = elements.splat(self.f, element, self.lanes)
        return found

    def read(self, leaf: int, pointer: Value | None, indices: Sequence[Value], last: Value) -> Element:
        """Elements of an array or an index at the loops' indices, of which the innermost is a vector's first.

        last: the innermost loop's last index, which lanes of a strided array must not pass.
        """
        f, lanes, one, index = self.f, self.lanes, self.body.leaves[leaf], indices[-1]
        if one.source == "iota":
            return self._index(one.access, one.dtype, indices)
        assert pointer is not None
        if one.access[-1] == "1":
            return elements.load(f, at(f, pointer, index, one.dtype), one.dtype, lanes)
        if one.access[-1] == "0":
            return elements.splat(f, elements.load(f, pointer, one.dtype), lanes)
        stride = self.arrays[leaf].strides[len(one.access) - 1]
        return elements.strided(f, pointer, stride, lane_indices(f, index, last, lanes), one.dtype)

    def _index(self, access: str, dtype: str, indices: Sequence[Value]) -> Element:
        loop = next(k for k, letter in enumerate(access) if letter != "0")
        if loop == len(access) - 1:
            return index_element(self.f, indices[loop], dtype, self.lanes)
        return elements.splat(self.f, index_element(self.f, indices[loop], dtype, 1), self.lanes)

    def scalar_results(self) -> list[Element]:
        """The results of a body without loops."""
        return [self.scalar(place) for place in self.body.results]


def applied(f: Function, body: Body, values: Sequence[Element], lanes: int = 1) -> list[Element]:
    """The results of a body for values of its leaves, `lanes` at a time."""
    found = list(values)

    def value(place: Place) -> Element:
        return elements.constant(f, place.dtype, place.bits, lanes) if isinstance(place, Constant) else found[place]

    for node in body.nodes:
        dtypes = [body.dtype(x) for x in node.operands]
        found.append(elementwise.emit(node.op, [value(x) for x in node.operands], dtypes, node.dtype, dict(node.params)))
    return [value(place) for place in body.results]


def lanes_of(body: Body, dtypes: Sequence[str]) -> int:
    """Lanes of a loop over a body that has results of these dtypes."""
    return lanes_for([leaf.dtype for leaf in body.leaves] + [node.dtype for node in body.nodes] + list(dtypes))


class _Numbers:
    """Where a body's numbers lie: one after the other from the address in the table where the first of them stands."""

    def __init__(self, table: Table):
        self.table, self.count = table, 0

    def next(self) -> Value:
        if not self.count:
            self.first = self.table.address()
        self.count += 1
        return self.table.f.gep(self.first, (self.count - 1) * NUMBER_BYTES, "i8")


class Walk:
    """How a kernel walks one array: its address and the run-time strides of its table, by loop."""

    def __init__(self, table: Table, access: str):
        self.access = access
        self.pointer = table.address()
        self.strides = {k: table.word() for k, letter in enumerate(access) if letter == "s"}

    def stepped(self, f: Function, pointer: Value, loop: int, index: Value) -> Value:
        """The address at an index of a loop other than the vector one."""
        if loop not in self.strides:
            return pointer
        return f.gep(pointer, index * self.strides[loop], "i8")


def index_element(f: Function, index: Value, dtype: str, lanes: int) -> Element:
    """An index, from `index` upwards by lane, as an element of a dtype."""
    value = f.splat(index, lanes) + f.lane_numbers("i64", lanes) if lanes > 1 else index
    return elementwise.emit("convert", [value], ["i64"], dtype, {"new_dtype": dtype})


def lane_indices(f: Function, index: Value, last: Value, lanes: int) -> Sequence[Value]:
    """index, index + 1 ... but never beyond `last`, where lanes would touch memory that is not theirs."""
    found = [index + lane for lane in range(lanes)] if lanes > 1 else [index]
    return [i.compare("slt", last).select(i, last) for i in found]
