"""A call that recurs and what runs it come in; a record goes out: the words by which the native call does it again."""

from __future__ import annotations

import types
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import count
from typing import Any, NamedTuple

from celadon import memory
from celadon.array import Array
from celadon.cpu import native_source as source
from celadon.cpu.bound import Parts
from celadon.tree_nodes import Leaf, Node, build, is_namedtuple, ordered_keys, registrations
from celadon.types import ArrayType, scalar_type

Record = tuple[bytes, "Keeper"]
_SCRATCH_AT_MOST = 8192
_COMPARED = (int, str, bool, type(None))
_SAME = (*_COMPARED, float, bytes, type, types.FunctionType, types.BuiltinFunctionType)
_WORD = source.CONSTANTS
_ARGUMENTS, _KEPT = 0, 1  # the registers that a call begins with


class Call(NamedTuple):
    """How a jitted function was called: positional values and then those by keyword, the keywords, which of the values are
    static, the types of the leaves of the others, and the key of the settings."""

    values: tuple[Any, ...]
    names: tuple[str, ...]
    static: frozenset[int]
    types: tuple[ArrayType, ...]
    key: tuple[object, ...]


class Keeper:
    """Keeps what the words of a record name by its address; it is of this process, and there is one of each."""

    __slots__ = ("kept",)

    def __init__(self, kept: list[Any]):
        self.kept = kept

    def __deepcopy__(self, memo: dict[int, Any]) -> Keeper:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a record of native calls is of this process")


class _Unfit(Exception):
    """The call is one that only Python can do."""


def record(call: Call, parts: Parts, kept: Sequence[int], results: Node | Leaf) -> Record | None:
    """The record of a call, or None if only Python can do it.

    Args:
        call: a call that was made.
        parts: of the bound program that it runs.
        kept: which leaves of the traced arguments the program takes.
        results: the outline of the tree of results.
    """
    if parts.frames.plan.calls:  # Python functions among the steps
        return None
    try:
        return _Writer(call, parts, kept, results).record()
    except (_Unfit, RecursionError):
        return None


class _Writer:
    def __init__(self, call: Call, parts: Parts, kept: Sequence[int], results: Node | Leaf):
        self.call, self.parts, self.results = call, parts, results
        outline = parts.frames.plan.outline
        self.outline = outline
        self.given = [outline.sources[n] for n in outline.schedule.outputs]
        self.places = {source: k for k, source in enumerate(outline.results)}
        self.needed = outline.read | {s for s in self.given if s < outline.inputs}
        self.inputs = {leaf: i for i, leaf in enumerate(kept)}
        self.guards: list[list[int]] = []
        self.registers = 2
        self.slots = 0
        self.dicts: list[tuple[list[int], tuple[Any, ...]]] = []  # guards with the keys of their dicts, in the call's order
        self.making: list[list[int]] = []
        self.keys: list[tuple[list[int], tuple[Any, ...]]] = []
        self.depth = self.deepest = 0
        self.keep: list[Any] = [parts, call.key, call.names]

    def record(self) -> Record:
        if not self.outline.results and not self.parts.frames.free:  # Python runs no steps, and needs no frame
            self.parts.frames.free.append(self.parts.frames.fresh())
        self._arguments()
        self._captured()
        self._results()
        return array("q", self._words()).tobytes(), Keeper(self.keep)

    def _id(self, x: Any) -> int:
        self.keep.append(x)
        return id(x)

    def _arguments(self) -> None:
        values, names = self.call.values, self.call.names
        positional = len(values) - len(names)
        order = [*range(positional), *(positional + names.index(name) for name in sorted(names))]
        leaves = count()
        for i in order:
            if i in self.call.static:
                self._static(values[i], i)
            else:
                self._traced(values[i], _ARGUMENTS, i, leaves)
        if next(leaves) != len(self.call.types):
            raise _Unfit

    def _input(self, leaf: int, type: ArrayType) -> int:
        """Which of the program's inputs a leaf is; -1 if it is none."""
        if leaf >= len(self.call.types) or self.call.types[leaf] is not type:
            raise _Unfit
        return self.inputs.get(leaf, -1)

    def _guard(self, kind: str, register: int, index: int, *words: int) -> list[int]:
        guard = [_WORD[kind], register, index, *words]
        guard += [0] * (source.GUARD_WORDS - len(guard))
        self.guards.append(guard)
        return guard

    def _static(self, x: Any, index: int) -> None:
        compared = type(x) in _COMPARED or (type(x) is float and x == x != 0.0)
        if not compared and not _is_constant(x):
            raise _Unfit
        self._guard("STATIC" if compared else "SAME", _ARGUMENTS, index, self._id(x))

    def _traced(self, x: Any, register: int, index: int, leaves: Iterator[int]) -> None:
        kind = type(x)
        if kind is Array:
            self._array(x, register, index, self._input(next(leaves), x.type))
        elif kind in (float, int, bool):
            self._scalar(x, register, index, self._input(next(leaves), scalar_type(x)))
        elif x is None:
            self._guard("SAME", register, index, self._id(x))
        elif kind is dict:
            self._dict(x, register, index, leaves)
        elif kind is list or kind is tuple or (is_namedtuple(kind) and kind not in registrations):
            own = self._register()
            self._guard("LIST" if kind is list else "TUPLE", register, index, self._id(kind), len(x), own)
            for i, child in enumerate(x):
                self._traced(child, own, i, leaves)
        else:
            raise _Unfit

    def _register(self) -> int:
        self.registers += 1
        return self.registers - 1

    def _array(self, x: Array, register: int, index: int, place: int) -> None:
        self._guard("ARRAY", register, index, self._id(x.type), place if place in self.needed else -1)

    def _scalar(self, x: complex, register: int, index: int, place: int) -> None:
        if place in self.given:  # the result would be memory that ends with the call
            raise _Unfit
        dtype = scalar_type(x).dtype
        slot = self.slots * source.SLOT_WORDS
        self.slots += 1
        place = place if place in self.needed else -1
        self._guard(type(x).__name__.upper(), register, index, dtype.itemsize, place, slot)

    def _dict(self, x: dict[Any, Any], register: int, index: int, leaves: Iterator[int]) -> None:
        keys = tuple(x)
        if not all(type(key) is str for key in keys) and not all(type(key) is int for key in keys):
            raise _Unfit
        own = self._register()
        self.dicts.append((self._guard("DICT", register, index, 0, len(keys), own), keys))
        place = {key: i for i, key in enumerate(keys)}
        for key in ordered_keys(keys):
            self._traced(x[key], own, place[key], leaves)

    def _captured(self) -> None:
        own = self.outline.inputs - self.outline.arrays
        for i, x in enumerate(self.parts.arrays):
            if own + i in self.needed:
                self._guard("ARRAY", _KEPT, i, self._id(x.type), own + i)

    def _results(self) -> None:
        outputs = iter(zip(self.parts.types, self.given, strict=True))
        self._make(self.results, outputs)

    def _make(self, node: Node | Leaf, outputs: Any) -> None:
        if isinstance(node, Leaf):
            type, source = next(outputs)
            given = source < self.outline.inputs
            place = source if given else self.places[source]
            self._making("GIVEN" if given else "MADE", self._id(type), place, 0)
            return
        for child in node.children:
            self._make(child, outputs)
        self._container(node)

    def _container(self, node: Node) -> None:
        size = len(node.children)
        kind = _CONTAINERS.get(node.type)
        if kind == "A_DICT":
            self._making(kind, 0, size, size)
            self.keys.append((self.making[-1], node.data))
        elif kind is not None:
            self._making(kind, 0, size, size)
        elif is_namedtuple(node.type) and node.type not in registrations:
            self._making("BUILT", self._id(node.type), size, size)
        else:
            self._making("BUILT", self._id(partial(_built, node.type, node.data)), size, size)

    def _making(self, kind: str, first: int, second: int, taken: int) -> None:
        self.making.append([_WORD[kind], first, second])
        self.depth += 1 - taken
        self.deepest = max(self.deepest, self.depth)

    def _buffers(self) -> Iterable[tuple[int, int, int]]:
        plan = self.parts.frames.plan
        for k, nbytes in enumerate(plan.result_bytes):
            yield self._shelf(nbytes), self._id(nbytes), self.outline.inputs + k
        if self.parts.frames.large:
            yield self._shelf(plan.arena), self._id(plan.arena), self.outline.arena_cell

    def _shelf(self, nbytes: int) -> int:
        shelf = memory.shelf(nbytes)
        return 0 if shelf is None else self._id(shelf)

    def _words(self) -> list[int]:
        call, plan = self.call, self.parts.frames.plan
        words = [0] * len(source.HEADER)

        def put(name: str, *rest: int) -> None:
            words[_WORD[name]] = len(words)
            words.extend(rest)

        def note(**facts: int) -> None:
            for name, value in facts.items():
                words[_WORD[name]] = value

        put("NAMES_AT", *map(self._id, call.names))
        put("KEPT_AT", *map(self._id, self.parts.arrays))
        for guard, keys in self.dicts:
            guard[3] = len(words)
            words.extend(map(self._id, keys))
        for making, keys in self.keys:
            making[1] = len(words)
            words.extend(map(self._id, keys))
        rows = list(self._buffers())
        put("BUFFERS_AT", *(word for row in rows for word in row))
        scratch = self._scratch(len(rows))
        put("GUARDS_AT", *(word for guard in self.guards for word in guard))
        put("MAKING_AT", *(word for making in self.making for word in making))
        note(KEY=id(call.key), COUNT=len(call.values) - len(call.names), NAMED=len(call.names), GUARDS=len(self.guards))
        note(INPUTS=self.outline.inputs, FRAMES=self._id(self.parts.frames.free), FIRST_STEP=8 * plan.first_step)
        note(STEPS=plan.steps if self.outline.results else 0, HOLD=self.parts.frames.held, NUMBERS=self.parts.numbers)
        note(NUMBERS_CELL=self.outline.numbers_cell, BUFFERS=len(rows), MAKING=len(self.making), VALUES=self.deepest)
        note(**scratch)
        return words

    def _scratch(self, buffers: int) -> dict[str, int]:
        """Where things are in the memory that a call has on the stack; scalars come first, on lines of the cache."""
        size = self.slots * source.SLOT_WORDS
        found: dict[str, int] = {}
        wanted = {
            "REGISTERS_AT": self.registers, "HELD_AT": self.outline.inputs, "REGIONS_AT": buffers, "BLOCKS_AT": buffers,
            "VALUES_AT": self.deepest,
        }  # fmt: skip
        for name, words in wanted.items():
            found[name] = size
            size += words
        for guard, keys in self.dicts:
            guard[6] = size
            size += len(keys) + 3
        if size > _SCRATCH_AT_MOST:
            raise _Unfit
        return found | {"SCRATCH": size}


_CONTAINERS = {type(None): "A_NONE", tuple: "A_TUPLE", list: "A_LIST", dict: "A_DICT"}


def _built(kind: type[Any], data: Any, *children: Any) -> Any:
    return build(kind, data, children)


def _is_constant(x: Any) -> bool:
    """Whether a static value can't change while it is the same object."""
    return type(x) in _SAME or (type(x) is tuple and all(map(_is_constant, x)))
