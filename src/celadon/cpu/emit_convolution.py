"""Recipes of convolutions in, LLVM IR out: parts of an image are laid out with their padding, then multiplied by tiles.

Laid out, an output's element is a sum over a column of weights, and what they meet lies at the same distances for all
outputs side by side: a product of matrices one of which is never written down.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from celadon.cpu import elements, elementwise
from celadon.cpu.elements import Element
from celadon.cpu.ir import Function, Value
from celadon.cpu.kinds import itemsize, lanes_for
from celadon.cpu.loops import Loop, Table, When, smaller
from celadon.cpu.recipe import Moved, sums_in_parts
from celadon.cpu.stores import Store, at

_TILES = ((2, 4), (1, 8))  # vectors and rows of a tile


class _Axis:
    """One spatial axis in the table: outputs, stride of windows; the array's extent, dilation and padding before it;
    extent laid out; strides in bytes of array and result."""

    def __init__(self, table: Table):
        self.outputs, self.step, self.extent, self.dilation, self.before = (table.word() for _ in range(5))
        self.reach, self.source, self.result = (table.word() for _ in range(3))


class _Convolution:
    """Range: pieces, each some items; an item is a block of the first spatial axis' outputs for one member of the batch.

    Table: items of a piece, items in all, blocks of a batch member, outputs of a block; groups, input features and output
    features of one, depth of a sum, and the part of it that is summed at a time; spatial axes (see _Axis); the array: its
    address and strides along batch, features and groups; weights: address, stride along output features, and along depth;
    result: address and strides along batch and features; room: an address, its bytes for each piece, strides along features,
    along each spatial axis but the last one (a step of the window), and of the last one (see the subclasses); whether the
    array is read where it is, as it has no padding; then, for each place of a sum, its distance in bytes.
    """

    def __init__(self, f: Function, kernel: Moved):
        self.f = f
        self.dtype, self.sum, self.out = kernel.dtypes
        rank, self.plain, self.spread, self.in_order, self.stores_lines = kernel.facts
        self.moved, self.size = lanes_for([self.sum, self.out]), itemsize(self.sum)  # lanes that are laid out at a time
        self.lanes = self.moved * (1 + f.target.wide)
        self.in_parts = sums_in_parts(kernel)
        self.store = Store(f, self.out, self.lanes)
        self.zero = f.constant("i64", 0)
        table = Table(f)
        per, items, blocks, block = (table.word() for _ in range(4))
        self.groups, self.features, self.rows, self.depth, self.span = (table.word() for _ in range(5))
        self.axes = [_Axis(table) for _ in range(rank)]
        source, self.source_steps = table.address(), [table.word() for _ in range(3)]
        weights, self.weights_step, self.deeper = table.address(), table.word(), table.word()
        result, self.result_steps = table.address(), [table.word() for _ in range(2)]
        room, size, self.room_step = table.address(), table.word(), table.word()
        self.lines = [table.word() for _ in range(rank - 1)]
        self.part, self.in_place = table.word(), table.word()
        self.distances = f.gep(table.base, table.at, "i64")
        _, low, high = f.parameters
        with Loop(f, low, high) as piece:
            self.room = f.gep(room, piece.index * size, "i8")
            first = piece.index * per
            with Loop(f, first, smaller(first + per, items)) as item:
                member, number = f.binary("udiv", item.index, blocks), f.binary("urem", item.index, blocks)
                self.first = number * block
                self.count = smaller(block, self.axes[0].outputs - self.first)
                here = f.gep(source, member * self.source_steps[0], "i8")
                there = f.gep(result, member * self.result_steps[0], "i8")
                self._groups(here, weights, there)

    def _groups(self, source: Value, weights: Value, result: Value) -> None:
        f = self.f
        with Loop(f, self.zero, self.groups) as group:
            first = group.index * self.rows
            room = self.laid_out(f.gep(source, group.index * self.source_steps[2], "i8"))
            weights = f.gep(weights, first * self.weights_step, "i8")
            result = f.gep(result, first * self.result_steps[1], "i8")
            with Loop(f, self.zero, self.depth + self.depth.compare("eq", 0).convert("zext", "i64"), self.span) as part:
                self.depths = part.index, smaller(part.index + self.span, self.depth)
                self._outputs(0, room, f.gep(weights, part.index * self.deeper, "i8"), result)

    def laid_out(self, source: Value) -> Value:
        """Where one group's features are laid out for the outputs of an item."""
        raise NotImplementedError

    def line(self, source: Value, target: Value) -> None:
        """Lay out a line, one along the last spatial axis."""
        raise NotImplementedError

    def sums(self, count: Value, room: Value, weights: Value, result: Value) -> None:
        """A line's outputs."""
        raise NotImplementedError

    # --- laying out

    def begin(self, k: int) -> Value:
        """The place of an axis, in the array with its dilation, where what is laid out begins."""
        axis = self.axes[k]
        return self.first * axis.step - axis.before if k == 0 else self.zero - axis.before

    def reach(self, k: int) -> Value:
        """The places of an axis that are laid out."""
        axis = self.axes[k]
        return (self.count - 1) * axis.step + axis.reach if k == 0 else (axis.outputs - 1) * axis.step + axis.reach

    def lay_out(self, k: int, source: Value, target: Value) -> None:
        """One axis after the other; lines that are padding, or lie between elements, are zero."""
        f, axis = self.f, self.axes[k]
        if k == len(self.axes) - 1:
            self.line(source, target)
            return
        with Loop(f, self.zero, self.reach(k)) as loop:
            index, inside = self.found(axis, self.begin(k) + loop.index)
            line = f.gep(target, loop.index * self.lines[k], "i8")
            with When(f, inside):
                self.lay_out(k + 1, f.gep(source, index * axis.source, "i8"), line)
            with When(f, ~inside):
                self.clear(line, self.zero, self.lines[k])

    def found(self, axis: _Axis, place: Value) -> tuple[Value, Value]:
        """The element of an axis at a place of the array with its dilation, and whether there is one."""
        f = self.f
        index, rest = f.binary("sdiv", place, axis.dilation), f.binary("srem", place, axis.dilation)
        return index, place.compare("sge", 0) & index.compare("slt", axis.extent) & rest.compare("eq", 0)

    def clear(self, target: Value, first: Value, last: Value) -> None:
        """Zero bytes from `first` to at least `last`, a vector at a time."""
        f = self.f
        nothing = elements.constant(f, self.sum, bytes(self.size), self.moved)
        with Loop(f, first, last, self.size * self.moved) as loop:
            elements.store(f, nothing, f.gep(target, loop.index, "i8"), self.sum)

    def copy(self, source: Value, target: Value, start: Value, stop: Value, step: Value) -> None:
        """Elements from `start` to `stop`, and what then lies there: something else comes over it."""
        f, lanes = self.f, self.moved if self.in_order else 1
        with Loop(f, start, stop, lanes) as loop:
            here = at(f, source, loop.index, self.dtype) if self.in_order else f.gep(source, loop.index * step, "i8")
            elements.store(f, self.loaded(here, lanes), at(f, target, loop.index, self.sum), self.sum)

    def loaded(self, pointer: Value, lanes: int) -> Element:
        return self._cast(elements.load(self.f, pointer, self.dtype, lanes), self.dtype, self.sum)

    # --- tiles

    def _outputs(self, k: int, room: Value, weights: Value, result: Value) -> None:
        f, axis, last = self.f, self.axes[k], k == len(self.axes) - 1
        count = self.count if k == 0 else axis.outputs
        result = f.gep(result, self.first * axis.result, "i8") if k == 0 else result
        if last:
            self.sums(count, room, weights, result)
            return
        with Loop(f, self.zero, count) as loop:
            line = f.gep(room, loop.index * axis.step * self.lines[k], "i8")
            self._outputs(k + 1, line, weights, f.gep(result, loop.index * axis.result, "i8"))

    def tiles(self, columns: Value, rows: Value, tile: Callable[[Value, list[Value], int], None]) -> None:
        """Wide tiles, then narrow ones for what is left; where rows of a tile are left over, its last ones are one row."""
        f, start = self.f, self.zero
        for vectors, height in _TILES:
            wide = vectors * self.lanes
            stop = columns & -wide if vectors > 1 else columns
            with Loop(f, start, stop, wide) as column, Loop(f, self.zero, rows, height) as row:
                last = rows - 1
                tile(column.index, [smaller(row.index + r, last) if r else row.index for r in range(height)], vectors)
            start = stop

    def summed(
        self, place: tuple[Value, Value], offsets: Sequence[Value], vectors: int, targets: Sequence[Value]
    ) -> list[Element]:
        """The sums of a tile, row by row; each row is some bytes from the first. What earlier parts gave is in the targets."""
        f, lanes, size, rows = self.f, self.lanes, self.size, len(offsets)
        (weights, room), (first, last) = place, self.depths
        nothing = elements.constant(f, self.sum, bytes(size), lanes)
        sums = [self._before(target, first, nothing) for target in targets]
        with Loop(f, first, last, 1, [weights, *elements.parts(sums)]) as loop:
            here, *carried = loop.values
            before = elements.rejoined(carried, sums)
            there = f.gep(room, f.load(f.gep(self.distances, loop.index, "i64"), "i64"), "i8")
            scalars, wide = self.roles(here, there)
            y = [elements.load(f, f.gep(wide, u * lanes * size, "i8"), self.sum, lanes) for u in range(vectors)]
            x = [self._splat(f.gep(scalars, offset, "i8") if r else scalars) for r, offset in enumerate(offsets)]
            known = ((r, u, before[r * vectors + u]) for r in range(rows) for u in range(vectors))
            after = [elementwise.multiply_add(x[r], y[u], sum, self.sum) for r, u, sum in known]
            loop.next = [f.gep(here, self.deeper, "i8"), *elements.parts(after)]
        return elements.rejoined(loop.results[1:], sums)

    def _before(self, target: Value, first: Value, nothing: Element) -> Element:
        if not self.in_parts:
            return nothing
        return elements.select(first.compare("eq", 0), nothing, elements.load(self.f, target, self.sum, self.lanes))

    def roles(self, weights: Value, room: Value) -> tuple[Value, Value]:
        """Which of the two is read one by one, for a tile's rows, and which by vectors."""
        raise NotImplementedError

    def _splat(self, pointer: Value) -> Element:
        return elements.splat(self.f, elements.load(self.f, pointer, self.sum), self.lanes)

    def stored(self, total: Element, target: Value, stride: Value, left: Value | None) -> None:
        """Store a vector of a tile of which `left` lanes may be, or all."""
        element = self._cast(total, self.sum, self.out)
        if not self.stores_lines:
            self.store.one_by_one(element, target, stride, left)
        elif left is None:
            elements.store(self.f, element, target, self.out)
        else:
            self.store.first(element, target, left)

    def _cast(self, x: Element, source: str, target: str) -> Element:
        if source == target:
            return x
        return elementwise.emit("convert", [x], [source], target, {"new_dtype": target})


class _ByPlaces(_Convolution):
    """A vector is a feature's outputs at places side by side; `part` is the bytes of a line's places that are whole steps of
    the window from its first one; those from the second one follow, and so on."""

    def laid_out(self, source: Value) -> Value:
        f = self.f
        with Loop(f, self.zero, self.features) as feature:
            self.lay_out(
                0,
                f.gep(source, feature.index * self.source_steps[1], "i8"),
                f.gep(self.room, feature.index * self.room_step, "i8"),
            )
        return self.room

    def line(self, source: Value, target: Value) -> None:
        f, axis, k = self.f, self.axes[-1], len(self.axes) - 1
        begin, size, reach = self.begin(k), self.size, self.reach(k)
        if self.plain:
            start = begin.compare("slt", 0).select(self.zero - begin, self.zero)
            stop = smaller(reach, axis.extent - begin)
            self.clear(target, self.zero, smaller(start, reach) * size)
            self.copy(f.gep(source, begin * axis.source, "i8"), target, start, stop, axis.source)
            last = stop.compare("sgt", start).select(stop, smaller(start, reach))
            self.clear(target, last * size, reach * size)
            return
        self.clear(target, self.zero, self.part * axis.step)
        with Loop(f, self.zero, axis.step) as part:
            self._part(source, f.gep(target, part.index * self.part, "i8"), begin + part.index, reach - part.index)

    def _part(self, source: Value, target: Value, begin: Value, reach: Value) -> None:
        """Every so many places of a line, from its first on, of which those that no element stands at are zero already."""
        f, axis = self.f, self.axes[-1]
        first = begin.compare("slt", 0).select(self._parts(self.zero - begin, axis.step), self.zero)
        stop = smaller(self._parts((axis.extent - 1) * axis.dilation + 1 - begin, axis.step), self._parts(reach, axis.step))
        with Loop(f, first, stop) as loop:
            place = loop.index * axis.step + begin
            index = f.binary("sdiv", place, axis.dilation) if self.spread else place
            inside = f.binary("srem", place, axis.dilation).compare("eq", 0) if self.spread else f.constant("i1", True)
            with When(f, inside):
                one = self.loaded(f.gep(source, index * axis.source, "i8"), 1)
                elements.store(f, one, at(f, target, loop.index, self.sum), self.sum)

    def _parts(self, length: Value, step: Value) -> Value:
        """How many steps begin within a length."""
        return self.f.binary("sdiv", length + step - 1, step)

    def sums(self, count: Value, room: Value, weights: Value, result: Value) -> None:
        f, stride = self.f, self.axes[-1].result

        def tile(column: Value, rows: list[Value], vectors: int) -> None:
            first = f.gep(weights, rows[0] * self.weights_step, "i8")
            offsets = [(row - rows[0]) * self.weights_step for row in rows]
            lines = [f.gep(result, row * self.result_steps[1], "i8") for row in rows]
            places = [column + u * self.lanes for u in range(vectors)]
            targets = [f.gep(line, place * stride, "i8") for line in lines for place in places]
            found = self.summed((first, at(f, room, column, self.sum)), offsets, vectors, targets)
            for k, (total, target) in enumerate(zip(found, targets, strict=True)):
                self.stored(total, target, stride, None if vectors > 1 else count - places[k % vectors])

        self.tiles(count, self.rows, tile)

    def roles(self, weights: Value, room: Value) -> tuple[Value, Value]:
        return weights, room


class _ByFeatures(_Convolution):
    """A vector is a place's output features; a place's input features are neighbours, and `part` is the bytes from one place
    of a line to the next."""

    def laid_out(self, source: Value) -> Value:
        f, there = self.f, source
        with When(f, self.in_place.compare("eq", 0)):
            self.lay_out(0, source, self.room)
        for k, axis in enumerate(self.axes):
            there = f.gep(there, self.begin(k) * axis.source, "i8")
        return self.in_place.compare("ne", 0).select(there, self.room)

    def line(self, source: Value, target: Value) -> None:
        f, axis, k = self.f, self.axes[-1], len(self.axes) - 1
        begin = self.begin(k)
        with Loop(f, self.zero, self.reach(k)) as loop:
            index, inside = self.found(axis, begin + loop.index)
            there = f.gep(target, loop.index * self.part, "i8")
            with When(f, inside):
                here = f.gep(source, index * axis.source, "i8")
                self.copy(here, there, self.zero, self.features, self.source_steps[1])
            with When(f, ~inside):
                self.clear(there, self.zero, self.part)

    def sums(self, count: Value, room: Value, weights: Value, result: Value) -> None:
        f, axis = self.f, self.axes[-1]
        apart = axis.step * self.part

        def tile(column: Value, rows: list[Value], vectors: int) -> None:
            first = f.gep(room, rows[0] * apart, "i8")
            offsets = [(row - rows[0]) * apart for row in rows]
            lines = [f.gep(result, row * axis.result, "i8") for row in rows]
            features = [column + u * self.lanes for u in range(vectors)]
            targets = [f.gep(line, feature * self.result_steps[1], "i8") for line in lines for feature in features]
            found = self.summed((at(f, weights, column, self.sum), first), offsets, vectors, targets)
            for k, (total, target) in enumerate(zip(found, targets, strict=True)):
                left = None if vectors > 1 else self.rows - features[k % vectors]
                self.stored(total, target, self.result_steps[1], left)

        self.tiles(self.rows, count, tile)

    def roles(self, weights: Value, room: Value) -> tuple[Value, Value]:
        return room, weights


KINDS: dict[str, Callable[[Function, Moved], object]] = {
    "convolution": _ByPlaces,
    "convolution_by_features": _ByFeatures,
}
