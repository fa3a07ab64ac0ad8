"""Rules of plan for loops and branches: their step lists, and the words that say where carried values and rows are."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from celadon.cpu.driver import runtime
from celadon.cpu.plan import WORD, Place, Planner, nested_rules, product
from celadon.cpu.recipe import Nested, Region

_TRIPS = 100.0  # of a loop that counts as it runs; for the estimate of its time
_LONG = 1e6  # nanoseconds: a loop of unknown length lets other threads run
_LINE = 64
_CLEARED_AT_MOST = 1 << 14  # bytes of a buffer whose unused end is cleared; beside larger ones it does not count


def _far(planner: Planner, cell: int) -> int:
    """The distance of a cell from the next table, in bytes."""
    return cell * WORD - planner.here


def _address(planner: Planner, place: Place) -> tuple[int, int]:
    return _far(planner, place.cell), place.offset


class _Carried:
    """The cells that a loop sets at its start, and what it does to them after each step."""

    def __init__(self, planner: Planner, nested: Nested, body: Region):
        self.planner, self.nested, self.body = planner, nested, body
        self.begun: list[tuple[int, Place]] = []
        self.advanced: list[tuple[int, int]] = []
        self.exchanged: list[tuple[int, int]] = []
        self.cells: dict[Place, int] = {}  # of blocks of stacks
        for number in nested.writes:
            if planner.places[number] is None:
                planner.define(number)
        for k in range(nested.carries):
            if k in nested.swapped:
                self._swapped(k)
            else:
                planner.define(body.inputs[k])

    def _swapped(self, k: int) -> None:
        """Two buffers that change their parts after each step."""
        planner, result = self.planner, self.nested.writes[k]
        place, nbytes = _whole(planner, result)
        offset = planner.arena.take(self.body.outputs[k], nbytes)
        if planner.defined is not None and planner.shapes[result]:
            planner.defined.append((Place(planner.outline.arena_cell, offset, ()), nbytes))
        now, then = planner.cell(), planner.cell()
        self.begun += [(now, place), (then, Place(planner.outline.arena_cell, offset, ()))]
        self.exchanged.append((now, then))
        planner.places[self.body.inputs[k]] = Place(now, 0, place.strides)
        planner.places[self.body.outputs[k]] = Place(then, 0, place.strides)

    def row(self, number: int, stack: int, length: int, reverse: bool) -> None:
        """A variable that is the next row of an array at each step; rows in one block are found from one cell."""
        place = self.planner.place(stack)
        block = self.planner.blocks.get(stack)
        if block is None:
            cell, offset = self._walked(place, place.strides[0], length, reverse), 0
        else:
            if block not in self.cells:
                self.cells[block] = self._walked(block, place.strides[0], length, reverse)
            cell, offset = self.cells[block], place.offset - block.offset
        self.planner.places[number] = Place(cell, offset, place.strides[1:])

    def _walked(self, start: Place, stride: int, length: int, reverse: bool) -> int:
        """A cell that goes from row to row."""
        cell = self.planner.cell()
        first = (length - 1) * stride if reverse else 0
        self.begun.append((cell, Place(start.cell, start.offset + first, ())))
        self.advanced.append((cell, -stride if reverse else stride))
        return cell

    def begin(self) -> None:
        if self.begun:
            planner = self.planner
            words = [len(self.begun)]
            for cell, place in self.begun:
                words += (_far(planner, cell), *_address(planner, place))
            planner.call(runtime().begin, words)

    def steps(self) -> None:
        """The body's steps, then the changes of cells."""
        planner = self.planner
        for step in self.body.steps:
            planner.take(step)
        for function, pairs in ((runtime().advance, self.advanced), (runtime().exchange, self.exchanged)):
            if pairs:
                second = [_far(planner, b) for _, b in pairs] if function == runtime().exchange else [b for _, b in pairs]
                words = [len(pairs)]
                for (cell, _), other in zip(pairs, second, strict=True):
                    words += (_far(planner, cell), other)
                planner.call(function, words)

    def end(self) -> None:
        """What is carried goes where the result is, if it is not there."""
        planner = self.planner
        for k, (now, _) in zip(self.nested.swapped, self.exchanged, strict=True):
            result = self.nested.writes[k]
            place, nbytes = _whole(planner, result)
            words = [*_address(planner, place), _far(planner, now), nbytes]
            planner.call(runtime().settle, words)
            planner.arena.free(self.body.outputs[k])


def _scan(planner: Planner, nested: Nested) -> None:
    params = planner.equations[nested.equation].params
    length, reverse, (body,) = params["length"], params["reverse"], nested.regions
    carried = _Carried(planner, nested, body)
    carries = nested.carries
    for number, x in zip(body.inputs[carries:], nested.reads, strict=True):
        carried.row(number, x, length, reverse)
    for number, y in zip(body.outputs[carries:], nested.writes[carries:], strict=True):
        carried.row(number, y, length, reverse)
    carried.begin()
    before = planner.nanoseconds
    at, count = planner.listed(carried.steps)
    planner.nanoseconds = before + (planner.nanoseconds - before) * length
    if planner.outline.hosts:
        planner.call(runtime().repeat_unless, [at - planner.here, count, length, _far(planner, planner.outline.stop_cell)])
    else:
        planner.call(runtime().repeat, [at - planner.here, count, length])
    carried.end()


def _while(planner: Planner, nested: Nested) -> None:
    condition, body = nested.regions
    carried = _Carried(planner, nested, body)
    carried.begin()
    before = planner.nanoseconds
    test_at, tests = planner.listed(lambda: _test(planner, condition))
    at, count = planner.listed(carried.steps)
    planner.nanoseconds = before + (planner.nanoseconds - before) * _TRIPS + _LONG
    flag = _address(planner, planner.place(condition.outputs[0]))
    planner.call(runtime().while_loop, [test_at - planner.here, tests, *flag, at - planner.here, count])
    carried.end()


def _test(planner: Planner, condition: Region) -> None:
    """A condition's steps; after a failed call of a Python function it does not hold."""
    _take(planner, condition)
    if planner.outline.hosts:
        flag = _address(planner, planner.place(condition.outputs[0]))
        planner.call(runtime().halt, [_far(planner, planner.outline.stop_cell), *flag])


def _take(planner: Planner, region: Region) -> None:
    for step in region.steps:
        planner.take(step)


def _branch(planner: Planner, nested: Nested) -> None:
    for number in nested.writes:
        if planner.places[number] is None:
            planner.define(number)
    before, longest = planner.nanoseconds, 0.0
    lists: list[tuple[int, int]] = []
    for region in nested.regions:
        _define(planner, region.outputs)
        lists.append(planner.listed(lambda region=region: _take(planner, region)))
        longest, planner.nanoseconds = max(longest, planner.nanoseconds - before), before
    planner.nanoseconds = before + longest
    words = [*_address(planner, planner.place(nested.reads[0])), len(lists)]
    for at, count in lists:
        words += (at - planner.here, count)
    planner.call(runtime().branch, words)


def _define(planner: Planner, numbers: Sequence[int]) -> None:
    for number in numbers:
        planner.define(number)


def _outermost_clears(rule: Callable[[Planner, Nested], None]) -> Callable[[Planner, Nested], None]:
    """Before an outermost loop the unused ends of the small buffers in it become 0.

    Kernels compute with them, and garbage that reads as subnormal numbers would slow each step down.
    """

    def loop(planner: Planner, nested: Nested) -> None:
        if planner.defined is not None:
            rule(planner, nested)
            return
        planner.defined = defined = []
        before, planner.steps = planner.steps, []
        rule(planner, nested)
        steps, planner.steps, planner.defined = planner.steps, before, None
        alone = [n for n in nested.writes if planner.shapes[n] and n not in planner.blocks]
        _clear(planner, [*defined, *(_whole(planner, n) for n in alone)])
        planner.steps += steps

    return loop


def _whole(planner: Planner, number: int) -> tuple[Place, int]:
    return planner.place(number), product(planner.shapes[number]) * planner.sizes[number]


def _clear(planner: Planner, buffers: Sequence[tuple[Place, int]]) -> None:
    ends = [(place, nbytes) for place, nbytes in buffers if nbytes % _LINE and nbytes < _CLEARED_AT_MOST]
    words = [len(ends)]
    for place, nbytes in ends:
        words += (_far(planner, place.cell), place.offset + nbytes // _LINE * _LINE, nbytes % _LINE)
    if ends:
        planner.call(runtime().clear, words)


nested_rules.update({"scan": _outermost_clears(_scan), "while": _outermost_clears(_while), "branch": _branch})

