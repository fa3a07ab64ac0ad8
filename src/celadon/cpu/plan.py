"""A Schedule and the shapes of one call in; out, a Plan: the words that the native driver reads, and how to call it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from celadon import errors
from celadon.cpu import nests
from celadon.cpu.layout import VIEW_RULES, Strides, dense_strides
from celadon.cpu.lifetimes import calls_host, lifetimes
from celadon.cpu.recipe import (
    NUMBER_BYTES,
    Alias,
    Extra,
    Free,
    Hosted,
    Launch,
    Moved,
    Nested,
    Rows,
    Schedule,
    Step,
    numbers_of,
)  # fmt: skip
from celadon.memory import ADDRESSABLE
from celadon.program import Equation, Program
from celadon.types import ArrayType, Shape, from_short, short_name

WORD = 8
_SLOT = 64
_HOST = 0  # where a step's function is one of the frame's own
_HOST_TAKES = 5_000.0
_ROW_AT_MOST = 2048  # bytes of a row that lies beside others; a longer one is better off where lines of the cache begin


class Place(NamedTuple):
    """Where a variable is: the cell with its buffer's address, an offset and strides in bytes."""

    cell: int
    offset: int
    strides: Strides


class Listed(NamedTuple):
    """How the numbers of a call lie in their block: lifted scalars and constants, then those again that kernels read together.

    order: the variable of each place. places: where each variable is. groups: where each group begins.
    """

    order: tuple[int, ...]
    places: dict[int, int]
    groups: dict[tuple[int, ...], int]


class Outline(NamedTuple):
    """What of a plan follows from the structure alone.

    steps: the schedule's, with the ends of buffers between them. sources: for each variable, the one whose buffer it is in.
    numbers: how those of a call lie. cells: for each buffer outside the arena its cell: first inputs, then outputs, then
    numbers, then the arena.
    read: the buffers that kernels read. stacks: for each that lies in a block with others, all of these.
    hosts: whether Python functions may be called.
    """

    schedule: Schedule
    codes: tuple[int, ...]
    numbers: Listed
    inputs: int
    arrays: int
    scalars: int
    steps: tuple[Step, ...]
    sources: tuple[int, ...]
    cells: dict[int, int]
    results: tuple[int, ...]
    dtypes: tuple[str, ...]
    read: frozenset[int]
    stacks: dict[int, tuple[int, ...]]
    hosts: bool

    @property
    def variables(self) -> int:
        return len(self.sources)

    @property
    def numbers_cell(self) -> int:
        return self.inputs + len(self.results)

    @property
    def arena_cell(self) -> int:
        return self.numbers_cell + 1

    @property
    def stop_cell(self) -> int:
        """The word that is not 0 once a Python function has raised an exception; it is no cell."""
        return self.arena_cell + 1


def outlined(schedule: Schedule, program: Program, arrays: int, scalars: int, codes: Sequence[int]) -> Outline:
    """The structural part of every plan of a schedule."""
    dtypes = _dtypes(schedule, program)
    inputs = len(program.inputs) - scalars
    lives = lifetimes(schedule, dtypes, len(program.inputs))
    sources = lives.sources
    first_extra = len(dtypes) - len(schedule.extras)
    numbers = [*range(inputs, inputs + scalars)]
    numbers += [first_extra + k for k, extra in enumerate(schedule.extras) if extra.is_constant]
    results = tuple(dict.fromkeys(sources[n] for n in schedule.outputs if sources[n] in lives.made))
    cells = {i: i for i in range(inputs)} | {n: inputs + k for k, n in enumerate(results)}
    stacks = {n: group for group in lives.stacks for n in group}
    return Outline(
        schedule, tuple(codes), _listed(schedule, numbers, sources), inputs, arrays, scalars, lives.steps, sources, cells,
        results, tuple(dtypes), lives.read, stacks, calls_host(schedule.steps),
    )  # fmt: skip


def _listed(schedule: Schedule, numbers: Sequence[int], sources: Sequence[int]) -> Listed:
    order, places = list(numbers), {number: k for k, number in enumerate(numbers)}
    groups: dict[tuple[int, ...], int] = {}
    for launch in _launches(schedule.steps):
        kernel = schedule.kernels[launch.kernel]
        if not isinstance(kernel, Moved):
            leaves = kernel.operands if isinstance(kernel, Rows) else kernel.body.leaves
            group = tuple([sources[n] for n in numbers_of(leaves, launch.reads)])
            if group and group not in groups:
                groups[group] = _found(group, places, order)
    return Listed(tuple(order), places, groups)


def _found(group: tuple[int, ...], places: dict[int, int], order: list[int]) -> int:
    """Where a group lies as it is wanted; else it is appended."""
    first = places[group[0]]
    if tuple(order[first : first + len(group)]) == group:
        return first
    order += group
    return len(order) - len(group)


def _launches(steps: Sequence[Step]) -> Iterator[Launch]:
    for step in steps:
        if isinstance(step, Launch):
            yield step
        elif isinstance(step, Nested):
            for region in step.regions:
                yield from _launches(region.steps)


def _dtypes(schedule: Schedule, program: Program) -> list[str]:
    dtypes = [short_name(var.type.dtype) for var in nests.variables(nests.prepared(program))]
    return dtypes + [extra.dtype for extra in schedule.extras]


class HostCall(NamedTuple):
    """A call of the Python function that an equation names, with arrays of these types, for arrays of these types."""

    equation: int
    given: tuple[ArrayType, ...]
    made: tuple[ArrayType, ...]


class Plan(NamedTuple):
    """What the driver needs for one set of shapes, but for addresses.

    words: cells, tables, then steps of four words. tables: the words of `words` that hold an offset in bytes to which
    the frame's own address is added. callers: those that hold the address of what calls Python functions; calls: what it
    needs to know of each.
    """

    outline: Outline
    words: list[int]
    tables: list[int]
    callers: list[int]
    calls: list[HostCall]
    first_step: int
    steps: int
    arena: int
    nanoseconds: float
    result_bytes: list[int]


rules: dict[str, Callable[[Planner, Launch], None]] = {}
nested_rules: dict[str, Callable[[Planner, Nested], None]] = {}


def planned(outline: Outline, program: Program) -> Plan:
    """The plan for the concrete shapes and parameters of `program`."""
    planner = Planner(outline, nests.prepared(program))
    for step in outline.steps:
        planner.take(step)
    return planner.finished()


class Arena:
    """Offsets of buffers that live between steps; those whose lifetimes do not meet share memory."""

    def __init__(self) -> None:
        self.size = 0
        self.room: list[tuple[int, int]] = []  # offset, size
        self.used: dict[int, tuple[int, int]] = {}

    def take(self, number: int, nbytes: int) -> int:
        size = (nbytes + _SLOT - 1) // _SLOT * _SLOT
        offset = self._fit(size)
        self.used[number] = offset, size
        return offset

    def _fit(self, size: int) -> int:
        best = -1
        for k, (_, free) in enumerate(self.room):
            if free >= size and (best < 0 or free < self.room[best][1]):
                best = k
        if best < 0:
            return self._grown(size)
        offset, free = self.room[best]
        if free == size:
            del self.room[best]
        else:
            self.room[best] = offset + size, free - size
        return offset

    def _grown(self, size: int) -> int:
        at_the_end = self.room and sum(self.room[-1]) == self.size
        offset = self.room.pop()[0] if at_the_end else self.size
        self.size = offset + size
        return offset

    def free(self, number: int) -> None:
        if number not in self.used:
            return
        offset, size = self.used.pop(number)
        room = self.room
        room.append((offset, size))
        room.sort()
        k = room.index((offset, size))
        for i in (k, k - 1):
            if 0 <= i < len(room) - 1 and sum(room[i]) == room[i + 1][0]:
                room[i : i + 2] = [(room[i][0], room[i][1] + room[i + 1][1])]


class Planner:
    """A plan under construction: shapes and places of variables, table words and steps."""

    def __init__(self, outline: Outline, program: Program):
        self.outline = outline
        self.equations: Sequence[Equation] = nests.equations(program)
        shapes = [var.type.shape for var in nests.variables(program)]
        for extra in outline.schedule.extras:
            shapes.append(_shape(extra, shapes))
        self.shapes: list[Shape] = shapes
        self.sizes = [from_short[dtype].itemsize for dtype in outline.dtypes]
        _check_addressable(shapes, self.sizes)
        self.places: list[Place | None] = [None] * outline.variables
        self.blocks: dict[int, Place] = {}  # where the block of an interleaved stack begins
        self.arena = Arena()
        self.words: list[int] = [0] * (outline.stop_cell + 1)
        self.steps: list[tuple[int, int, int, int]] = []
        self.tables: list[int] = []
        self.callers: list[int] = []
        self.calls: list[HostCall] = []
        self.nanoseconds = 0.0
        self.addressed: Place | None = None  # what the last address step found
        self.defined: list[tuple[Place, int]] | None = None  # within loops: the buffers of arrays, and their bytes
        self._place_given()

    def _place_given(self) -> None:
        outline = self.outline
        for i in range(outline.inputs):
            self.places[i] = Place(i, 0, dense_strides(self.shapes[i], self.sizes[i]))
        for number, k in outline.numbers.places.items():
            self.places[number] = Place(outline.numbers_cell, k * NUMBER_BYTES, ())

    def take(self, step: Step) -> None:
        if isinstance(step, Launch):
            for number in step.writes:
                if self.places[number] is None and step.rule != "small":
                    self.define(number)
            rules[step.rule](self, step)
        elif isinstance(step, Alias):
            self._alias(step)
        elif isinstance(step, Hosted):
            self.hosted(step)
        elif isinstance(step, Free):
            for number in step.numbers:
                self.arena.free(number)
        else:
            nested_rules[step.rule](self, step)

    def _alias(self, step: Alias) -> None:
        place = self.place(step.operand)
        if step.rule == "addressed":
            assert self.addressed is not None
            self.places[step.result] = self.addressed
            return
        if step.rule == "arranged":
            strides = tuple([place.strides[i] if i >= 0 else 0 for i in step.axes])
            self.places[step.result] = Place(place.cell, place.offset, strides)
            return
        view = VIEW_RULES.get(step.rule)
        if view is None:
            strides = dense_strides(self.shapes[step.result], self.sizes[step.result])
            self.places[step.result] = Place(place.cell, place.offset, strides)
            return
        params = self.equations[step.equation].params
        offset, strides = view(params, self.shapes[step.operand], place.offset, place.strides)
        self.places[step.result] = Place(place.cell, offset, strides)

    def hosted(self, step: Hosted) -> None:
        """Add a call of the Python function that a step names."""
        for number in step.writes:
            if self.places[number] is None:
                self.define(number)
        equation = self.equations[step.equation]
        words = [len(self.calls)]
        for number in (*step.reads, *step.writes):
            place = self.place(number)
            words += (place.cell * WORD - self.here, place.offset)
        given, made = (tuple([x.type for x in xs]) for xs in (equation.inputs, equation.outputs))
        self.calls.append(HostCall(step.equation, given, made))
        self.call(_HOST, words)
        self.nanoseconds += _HOST_TAKES

    def place(self, number: int) -> Place:
        found = self.places[number]
        assert found is not None
        return found

    def define(self, number: int) -> None:
        """Give a variable memory: another one's that it shares, an output's block, or room in the arena."""
        size = self.sizes[number]
        strides = dense_strides(self.shapes[number], size)
        source = self.outline.sources[number]
        if source != number:
            shared = self.place(source)
            self.places[number] = Place(shared.cell, shared.offset, strides)
            return
        cell = self.outline.cells.get(number)
        if cell is not None:
            self.places[number] = Place(cell, 0, strides)
            return
        if number in self.outline.stacks and self._row(number) <= _ROW_AT_MOST:
            self._define_together([n for n in self.outline.stacks[number] if self._row(n) <= _ROW_AT_MOST])
            return
        nbytes = product(self.shapes[number]) * size
        place = self.places[number] = Place(self.outline.arena_cell, self.arena.take(number, nbytes), strides)
        if self.defined is not None and strides:
            self.defined.append((place, nbytes))

    def _row(self, number: int) -> int:
        """The bytes of a row."""
        return product(self.shapes[number][1:]) * self.sizes[number]

    def _define_together(self, stacks: Sequence[int]) -> None:
        """Give stacks a block in which the first rows of all come first, then the second ones ..."""
        rows = list(map(self._row, stacks))
        stride = sum(rows)
        nbytes = self.shapes[stacks[0]][0] * stride
        cell, at = self.outline.arena_cell, self.arena.take(stacks[0], nbytes)
        block = Place(cell, at, ())
        for number, row in zip(stacks, rows, strict=True):
            strides = dense_strides(self.shapes[number][1:], self.sizes[number])
            self.places[number], self.blocks[number] = Place(cell, at, (stride, *strides)), block
            at += row
        if self.defined is not None:
            self.defined.append((block, nbytes))

    def scratch(self, nbytes: int) -> int:
        """Room in the arena for one step; its offset."""
        offset = self.arena.take(-1, nbytes)
        self.arena.free(-1)
        return offset

    def step(self, kernel: int, words: list[int], extent: int, unit: int, nanoseconds: float) -> None:
        """Add a step whose table is `words`, made for `here`."""
        self.call(self.outline.codes[kernel], words, extent, unit)
        self.nanoseconds += nanoseconds

    def call(self, function: int, words: list[int], extent: int = 1, unit: int = 1) -> None:
        """Add a step that calls the function at an address."""
        self.steps.append((function, self.here, extent, unit))
        self.words += words

    def listed(self, make: Callable[[], None]) -> tuple[int, int]:
        """What `make` adds as a step list of its own: where it is, in bytes from the frame's start, and how many steps."""
        before, self.steps = self.steps, []
        make()
        own, self.steps = self.steps, before
        at = self.here
        self._write(own)
        return at, len(own)

    def cell(self) -> int:
        """A new word for the address of a buffer."""
        self.words.append(0)
        return len(self.words) - 1

    @property
    def here(self) -> int:
        """Where the next table will be, in bytes from the frame's start."""
        return len(self.words) * WORD

    def operand(self, number: int, loops: Sequence[Sequence[int]], access: str, at: int) -> list[int]:
        """The words of one operand: address (see loops.Table) and the strides that its access asks for."""
        place = self.place(number)
        words = [place.cell * WORD - at, place.offset]
        for loop, letter in zip(loops, access, strict=False):
            if letter == "s":
                words.append(place.strides[loop[-1]])
        return words

    def numbers(self, numbers: tuple[int, ...], at: int) -> list[int]:
        """The words of the address from which on some numbers lie; none for no numbers."""
        outline = self.outline
        if not numbers:
            return []
        first = outline.numbers.groups[tuple([outline.sources[n] for n in numbers])]
        return [outline.numbers_cell * WORD - at, first * NUMBER_BYTES]

    def finished(self) -> Plan:
        first = len(self.words)
        self._write(self.steps)
        outline = self.outline
        result_bytes = [product(self.shapes[n]) * self.sizes[n] for n in outline.results]
        return Plan(
            outline, self.words, self.tables, self.callers, self.calls, first, len(self.steps), self.arena.size,
            self.nanoseconds, result_bytes,
        )  # fmt: skip

    def _write(self, steps: Sequence[tuple[int, int, int, int]]) -> None:
        for step in steps:
            if step[0] == _HOST:
                self.callers.append(len(self.words))
            self.tables.append(len(self.words) + 1)
            self.words += step


def _check_addressable(shapes: Sequence[Shape], sizes: Sequence[int]) -> None:
    """Refuse values that no address reaches, even those that fusion never stores: to compute one takes days."""
    for shape, size in zip(shapes, sizes, strict=True):
        if product(shape) * size >= ADDRESSABLE:
            raise errors.OutOfMemory(bytes=product(shape) * size)


def _shape(extra: Extra, shapes: Sequence[Shape]) -> Shape:
    if extra.like >= 0:
        return shapes[extra.like]
    return tuple(shapes[number][axis] for number, axis in extra.axes)


def product(shape: Sequence[int]) -> int:
    size = 1
    for extent in shape:
        size *= extent
    return size


def extents_of(shape: Shape, loops: Sequence[Sequence[int]]) -> list[int]:
    """The extent of each loop."""
    return [shape[loop[0]] if len(loop) == 1 else product([shape[i] for i in loop]) for loop in loops]


PAYS = 50_000.0
_PIECE = 25_000.0
_PIECES_AT_MOST = 64


def unit_of(extent: int, nanoseconds: float, multiple: int = 1) -> int:
    """The size of the pieces of a range that are handed to threads; the whole range if it does not pay."""
    if nanoseconds < PAYS:
        return extent
    pieces = min(int(nanoseconds / _PIECE), _PIECES_AT_MOST)
    unit = -(-extent // pieces)
    return -(-unit // multiple) * multiple
