"""Where elements are in memory and how whole and partial vectors of them are stored; kernels of every kind use it."""

from __future__ import annotations

from celadon.cpu import elements
from celadon.cpu.elements import Element
from celadon.cpu.ir import Function, Value
from celadon.cpu.loops import Loop, When, smaller

MASKED = frozenset({"f32", "f64", "i32", "u32", "i64", "u64"})  # machines load and store single lanes of these


def at(f: Function, pointer: Value, index: Value, dtype: str) -> Value:
    """The address of element `index`."""
    kind = elements.memory_kind(dtype)
    return f.gep(pointer, index + index if elements.is_complex(dtype) else index, kind)


def room(f: Function, dtype: str, count: int) -> Value:
    """Room on the stack for some elements; to be made in the entry block."""
    return f.new(f"alloca [{count * elements.itemsize(dtype)} x i8], align 64", "ptr")


def first_lanes(f: Function, left: Value, lanes: int) -> Value:
    """The mask of the lanes below `left`."""
    return f.lane_numbers("i32", lanes).compare("slt", f.splat(smaller(left, lanes).convert("trunc", "i32"), lanes))


class Store:
    """Stores vectors of a dtype; of one that runs over the end only the first lanes. Made in the entry block."""

    def __init__(self, f: Function, dtype: str, lanes: int):
        self.f, self.dtype, self.lanes = f, dtype, lanes
        self.room = room(f, dtype, lanes) if lanes > 1 else None

    def __call__(self, element: Element, target: Value, left: Value, mask: Value | None = None) -> None:
        """Store an element at an address from which on `left` elements may be written; their mask, where it is known."""
        f = self.f
        if self.room is None:
            elements.store(f, element, target, self.dtype)
            return
        whole, part, done = f.fresh("whole"), f.fresh("part"), f.fresh("stored")
        f.branch(left.compare("sge", self.lanes), whole, part)
        f.label(whole)
        elements.store(f, element, target, self.dtype)
        f.jump(done)
        f.label(part)
        if self.dtype in MASKED and isinstance(element, Value):
            f.masked_store(element, target, first_lanes(f, left, self.lanes) if mask is None else mask)
        else:
            elements.store(f, element, self.room, self.dtype)
            self._copy(self.room, target, left)
        f.jump(done)
        f.label(done)

    def first(self, element: Element, target: Value, left: Value) -> None:
        """The same by a mask whether or not all lanes are stored, where the machine has masks: fewer branches."""
        if self.dtype in MASKED and isinstance(element, Value):
            self.f.masked_store(element, target, first_lanes(self.f, left, self.lanes))
        else:
            self(element, target, left)

    def _copy(self, source: Value, target: Value, count: Value) -> None:
        f, kind = self.f, f"i{8 * elements.itemsize(self.dtype)}"
        with Loop(f, f.constant("i64", 0), count) as loop:
            f.store(f.load(f.gep(source, loop.index, kind), kind, align=1), f.gep(target, loop.index, kind), align=1)

    def one_by_one(self, element: Element, target: Value, stride: Value, left: Value | None) -> None:
        """As `apart`, in a loop: shorter text, for where little time is spent."""
        f, kind = self.f, f"i{8 * elements.itemsize(self.dtype)}"
        if self.room is None:
            elements.store(f, element, target, self.dtype)
            return
        elements.store(f, element, self.room, self.dtype)
        count = f.constant("i64", self.lanes) if left is None else smaller(left, self.lanes)
        with Loop(f, f.constant("i64", 0), count) as lane:
            one = f.load(f.gep(self.room, lane.index, kind), kind, align=1)
            f.store(one, f.gep(target, lane.index * stride, "i8"), align=1)

    def apart(self, element: Element, target: Value, stride: Value, left: Value) -> None:
        """Store the lanes of an element `stride` bytes apart, the first `left` of them."""
        for lane in range(self.lanes):
            place = self.f.gep(target, stride * lane, "i8") if lane else target
            with When(self.f, left.compare("sgt", lane)):
                elements.store(self.f, elements.extract(self.f, element, lane), place, self.dtype)
