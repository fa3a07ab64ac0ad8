"""A structure's program in, its Schedule out: kernels and the steps that run them; depends on no extent above 1."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from celadon.cpu import inline, nests, rows
from celadon.cpu.group import REDUCTIONS, Token, grouped, tokens
from celadon.cpu.inline import Work
from celadon.cpu.layout import Axis, Layout, access, dense, is_dense, merged, tiled, viewed
from celadon.cpu.nests import prepared
from celadon.cpu.recipe import (
    Alias,
    Body,
    Constant,
    Extra,
    Kernel,
    Launch,
    Leaf,
    Map,
    Node,
    Place,
    Reduce,
    Region,
    Schedule,
    Step,
)  # fmt: skip
from celadon.cpu.row_members import Known
from celadon.program import Equation, Literal, Operand, Program, Var
from celadon.types import ArrayType, DType, Shape, from_short, short_name

Rule = Callable[["Fusion", int], None]
_MAY_FAIL = frozenset(("pure_callback", "io_callback", "debug_callback", "fft"))  # ops whose steps may raise an exception
_PARTS = ("slice", "reverse", "addressed")
rules: dict[str, Rule] = {}  # by op name: how an equation that is no map, view, iota or reduce becomes steps


def fuse(program: Program, scalars: Collection[int] = ()) -> Schedule:
    """The schedule of a lifted program whose ops all have a kernel or a view rule; `scalars` are its lifted inputs."""
    program = prepared(program)
    fusion = Fusion(program, scalars)
    fusion.take(program)
    outputs = tuple(fusion.output(x) for x in program.outputs)
    schedule = Schedule(tuple(fusion.kernels), tuple(fusion.steps), tuple(fusion.extras), outputs)
    return rows.joined(schedule, Known(fusion.types, fusion.layouts, fusion.token, fusion.dtype))


class _Draft:
    """A body under construction, with the layouts of its operands."""

    __slots__ = ("leaves", "nodes", "places", "reads")

    def __init__(self) -> None:
        self.leaves: list[tuple[str, str, Layout]] = []
        self.reads: list[int] = []
        self.nodes: list[tuple[str, str, list[Any], tuple[tuple[str, Any], ...]]] = []
        self.places: dict[Var, Place] = {}

    def read(self, source: str, dtype: str, layout: Layout, number: int) -> None:
        self.leaves.append((source, dtype, layout))
        self.reads.append(number)

    def dtype(self, place: Place) -> str:
        if isinstance(place, Constant):
            return place.dtype
        return self.leaves[place][1] if place >= 0 else self.nodes[-1 - place][1]


Drawn = tuple[_Draft, Place]  # a body under construction and which of its values is meant


class _Scope(NamedTuple):
    """Steps of a program or body under construction, dense copies of variables in it, and the numbers at home in it.

    hoists: what does not change from step to step of a loop may be made ahead of it.
    """

    steps: list[Step]
    copies: dict[int, int]
    block: tuple[int, int]
    first_extra: int
    hoists: bool

    def is_home(self, number: int, variables: int) -> bool:
        return self.block[0] <= number < self.block[1] if number < variables else number >= self.first_extra


class Fusion:
    """What is known of each variable while steps are made: its number, type, layout, and its dense copy.

    `program` has the equations of the bodies after its own, see nests.py.
    """

    def __init__(self, program: Program, scalars: Collection[int]):
        self.shapes, self.starts, self.blocks = tokens(program), nests.starts(program), nests.blocks(program)
        self.program, self.scalars = replace(program, equations=nests.equations(program)), scalars
        self.numbers: dict[Var, int] = {var: i for i, var in enumerate(nests.variables(program))}
        self.types: list[ArrayType] = [var.type for var in self.numbers]
        self.variables = len(self.types)
        self.tokens: list[Token] = [self.shapes[var] for var in self.numbers]
        self.layouts: dict[int, Layout] = {i: dense(var.type.shape) for i, var in enumerate(program.inputs)}
        self.virtual = _virtual(self.program)
        self.kernels: dict[Kernel, int] = {}
        self.extras: list[Extra] = []
        self.scopes = [_Scope([], {}, (0, self.variables), self.variables, False)]
        self.aliased: set[int] = set()
        self.parts: set[int] = set()  # aliases that begin elsewhere than their source, or lie among the numbers: no result is one
        self.may_fail = any(equation.op.name in _MAY_FAIL for equation in self.program.equations)
        self.numeric: set[int] = set()  # aliases of numbers
        self.crowded: set[int] = set()  # rows of a larger array: nothing may be written past their ends

    @property
    def steps(self) -> list[Step]:
        return self.scopes[-1].steps

    # --- programs and bodies

    def take(self, program: Program, together: bool = False) -> None:
        """The steps of a program, or of a body (whose scalars are computed together)."""
        units = grouped(program, self.shapes, together)
        works = inline.inlined(program, units, self.shapes, self.virtual)
        start = self.starts[id(program)]
        for unit in units if start else ():
            unit.equations = [start + i for i in unit.equations]
        for work in works:
            self.run(work._replace(equations=[start + i for i in work.equations]))

    def region(self, body: Program, equation: Equation, inputs: Sequence[int], hoists: bool) -> Region:
        """A body as steps of their own; its results are stored in memory of their own."""
        self.scopes.append(_Scope([], {}, self.blocks[id(equation)], len(self.types), hoists))
        self.take(body, True)
        outputs = tuple([self._owned(x) for x in body.outputs])
        return Region(tuple(self.scopes.pop().steps), tuple(inputs), outputs)

    def _owned(self, x: Operand) -> int:
        number = self.number(x)
        if number not in self.aliased and is_dense(self.layouts[number], self.types[number].shape):
            return number
        own = self.temporary(number, short_name(self.types[number].dtype))
        if number in self.crowded:
            self.crowded.add(own)
        self.copy(number, own)
        return own

    # --- variables

    def number(self, x: Operand) -> int:
        """The variable of an operand; a literal becomes a constant one."""
        if type(x) is Var:
            return self.numbers[x]
        assert isinstance(x, Literal)
        return self.constant(_bits(x), x.type.dtype)

    def constant(self, bits: bytes, dtype: DType) -> int:
        return self.extra(Extra(short_name(dtype), bits), ArrayType((), dtype))

    def dtype(self, number: int) -> str:
        return short_name(self.types[number].dtype) if number < self.variables else self._extra(number).dtype

    def token(self, number: int) -> Token:
        """The shape of a variable as the structure knows it."""
        if number < self.variables:
            return self.tokens[number]
        extra = self._extra(number)
        return self.token(extra.like) if extra.like >= 0 else tuple(self.token(n)[axis] for n, axis in extra.axes)

    def extra(self, extra: Extra, type: ArrayType) -> int:
        if extra.is_constant and extra in self.extras:
            return len(self.numbers) + self.extras.index(extra)
        self.extras.append(extra)
        self.types.append(type)
        number = len(self.types) - 1
        self.layouts[number] = dense(type.shape)
        return number

    def temporary(self, like: int, dtype: str) -> int:
        """A new dense variable with the shape of another."""
        return self.extra(Extra(dtype, like=like), ArrayType(self.types[like].shape, from_short[dtype]))

    def stored(self, x: Operand) -> int:
        """The variable of an operand in memory of its own, in order."""
        return self.dense(self.number(x))

    def output(self, x: Operand) -> int:
        """As stored, but in a buffer: not among the numbers of the call."""
        number = self.stored(x)
        return self._copied(number) if self._is_number(number) or number in self.parts else number

    def _is_number(self, number: int) -> bool:
        """Whether a variable is among the numbers of the call: a lifted scalar or a constant."""
        return number in self.scalars or (number >= len(self.numbers) and self._extra(number).is_constant)

    def _extra(self, number: int) -> Extra:
        return self.extras[number - len(self.numbers)]

    def dense(self, number: int) -> int:
        """The variable itself, or a copy of it in order."""
        if is_dense(self.layouts[number], self.types[number].shape):
            return number
        return self._copied(number)

    def _copied(self, number: int) -> int:
        found = [scope.copies[number] for scope in self.scopes if number in scope.copies]
        if found:
            return found[0]
        copy = self.temporary(number, short_name(self.types[number].dtype))
        inner = self.scopes
        while self.scopes[-1].hoists and not self.scopes[-1].is_home(number, self.variables):
            self.scopes = self.scopes[:-1]
        self.scopes[-1].copies[number] = copy
        self.copy(number, copy)
        self.scopes = inner
        return copy

    def copy(self, source: int, target: int, **facts: Any) -> None:
        """Store a variable's elements as another variable of its shape."""
        self._map(self._draft_of(source), source, [0], [target], **facts)

    def copy_scalars(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Store scalars as other ones, all by one kernel."""
        draft = _Draft()
        for source, _ in pairs:
            draft.read(self._source(source), short_name(self.types[source].dtype), (), source)
        self._map(draft, pairs[0][1], range(len(pairs)), [target for _, target in pairs])

    def copy_into(self, source: int, target: int, layout: Layout, **facts: Any) -> None:
        """Store a variable's elements in a part of another: as `layout`, at the place that a rule of plan finds."""
        draft = self._draft_of(source)
        loops = merged(self.types[source].shape, [self.layouts[source], layout])
        body, reads = _finished(draft, loops, [0])
        kernel = Map(len(loops), body, (access(layout, loops),))
        self.launch(kernel, like=source, loops=loops, reads=reads, writes=(target,), **facts)

    def fill(self, value: int, target: int) -> None:
        """Store a scalar everywhere in a variable."""
        self._map(self._draft_of(value), target, [0], [target])

    def _draft_of(self, number: int) -> _Draft:
        draft = _Draft()
        draft.read(*self._leaf_of(number), number)
        return draft

    def _leaf_of(self, number: int) -> tuple[str, str, Layout]:
        """A variable as the leaf of a body."""
        return self._source(number), short_name(self.types[number].dtype), self.layouts[number]

    def _source(self, number: int) -> str:
        return "number" if number in self.numeric or self._is_number(number) else "array"

    def arranged(self, number: int, axes: Sequence[int], shape: ArrayType, extents: tuple[tuple[int, int], ...]) -> int:
        """A view of a variable with its axes in another order, and still along new ones (-1)."""
        result = self.extra(Extra(short_name(self.types[number].dtype), axes=extents), shape)
        layout = self.layouts[number]
        self.layouts[result] = tuple(layout[i] if i >= 0 else None for i in axes)
        self.aliased.add(result)
        self.steps.append(Alias("arranged", -1, number, result, tuple(axes)))
        return result

    # --- steps

    def run(self, work: Work) -> None:
        rule = {"map": self._run_map, "view": self._run_view, "iota": self._run_iota, "reduce": self._run_reduce}
        found = rule.get(work.unit.kind)
        if found is not None:
            found(work)
            return
        for i in work.equations:
            rules[self.program.equations[i].op.name](self, i)

    def kernel(self, kernel: Kernel) -> int:
        return self.kernels.setdefault(kernel, len(self.kernels))

    def launch(self, kernel: Kernel, **facts: Any) -> None:
        self.steps.append(Launch(self.kernel(kernel), **facts))

    def define(self, var: Var) -> int:
        """The variable as one that is stored densely."""
        number = self.numbers[var]
        self.layouts[number] = dense(var.type.shape)
        return number

    def alias(self, rule: str, equation: int, operand: int, result: int, layout: Layout) -> None:
        self.layouts[result] = layout
        self.aliased.add(result)
        if rule in _PARTS or operand in self.parts or self._is_number(operand):
            self.parts.add(result)
        if self._source(operand) == "number":
            self.numeric.add(result)
        self.steps.append(Alias(rule, equation, operand, result))

    def _run_view(self, work: Work) -> None:
        for i in work.equations:
            equation = self.program.equations[i]
            operand = self.number(equation.inputs[0])
            layout = viewed(equation, self.layouts[operand])
            self.alias(equation.op.name, i, operand, self.numbers[equation.outputs[0]], layout)

    def _run_iota(self, work: Work) -> None:
        for var in work.roots:
            draft = _Draft()
            self._leaf(draft, var)
            self._map(draft, self.numbers[var], [0], [self.define(var)])

    def _run_map(self, work: Work) -> None:
        draft = self._drafted(work.equations)
        places = [draft.places[var] for var in work.roots]
        self._map(draft, self.numbers[work.roots[0]], places, [self.define(var) for var in work.roots])

    def _map(
        self, draft: _Draft, like: int, places: Sequence[Place], writes: Sequence[int], **facts: Any
    ) -> None:
        shape = self.types[like].shape
        targets = [self.layouts[number] for number in writes]
        arrays = [layout for _, _, layout in draft.leaves if layout]
        loops = merged(shape, arrays + targets)
        blocks = tiled(arrays, loops)
        loops = blocks or loops
        body, reads = _finished(draft, loops, places, blocks is not None)
        letters = tuple(access(layout, loops) for layout in targets)
        whole = len(loops) == 1 and set(letters) == {"1"} and all(leaf.access in ("", "1") for leaf in body.leaves)
        whole = whole and self.crowded.isdisjoint(writes)
        kernel = Map(len(loops), body, letters, whole, blocks is not None)
        facts = {"rule": "map"} | facts
        self.launch(kernel, like=like, loops=loops, reads=reads, writes=tuple(writes), **facts)

    def _run_reduce(self, work: Work) -> None:
        index = work.unit.equations[0]
        equation = self.program.equations[index]
        draft = self._drafted([i for i in work.equations if i != index])
        operand = equation.inputs[0]
        place = self._place(draft, operand)
        axes = tuple(sorted(equation.params["axes"]))
        like = self.number(operand) if isinstance(operand, Var) else self.numbers[equation.outputs[0]]
        self.reduce(REDUCTIONS[equation.op.name], (draft, place), like, axes, equation.outputs[0])

    def map(self, drawn: Drawn, like: int, out: Var) -> None:
        """A kernel that stores what is drawn."""
        draft, place = drawn
        self._map(draft, like, [place], [self.define(out)])

    def reduce(self, op: str, drawn: Drawn, like: int, axes: Shape, out: Var) -> None:
        """A kernel that reduces what is drawn, of the shape of `like`, over axes.

        The order of a sum must not depend on where its operand is: reduced axes side by side are always walked as one,
        and what can't be walked so is stored first.
        """
        shape = self.types[like].shape
        kept = iter(dense(out.type.shape))
        target = tuple(None if i in axes else next(kept) for i in range(len(shape)))
        marks = ["r" if i in axes else "k" for i in range(len(shape))]
        loops = self._loops(drawn, like, target, marks)
        if "rr" in "".join(marks[loop[0]] for loop in loops):
            drawn = self._stored_first(drawn, like)
            loops = self._loops(drawn, like, target, marks)
        reduced = "".join(marks[loop[0]] for loop in loops)
        body, reads = _finished(drawn[0], loops, [drawn[1]])
        facts = {"like": like, "loops": loops, "reads": reads, "writes": (self.define(out),), "reduced": axes}
        if "r" in reduced:
            kernel = Reduce(op, reduced, body, short_name(out.type.dtype))
            self.launch(kernel, rule="reduce", **facts, then=self.kernel(combining(kernel)))
        else:
            self.launch(Map(len(loops), body, (access(target, loops),)), rule="map", **facts)

    def _loops(self, drawn: Drawn, like: int, target: Layout, marks: Sequence[str]) -> tuple[tuple[int, ...], ...]:
        layouts = [layout for _, _, layout in drawn[0].leaves if layout]
        return merged(self.types[like].shape, [*layouts, target], marks)

    def _stored_first(self, drawn: Drawn, like: int) -> Drawn:
        return self._draft_of(self.kept(drawn, like)), 0

    def kept(self, drawn: Drawn, like: int) -> int:
        """A new variable, of the shape of another, that holds what is drawn."""
        draft, place = drawn
        stored = self.temporary(like, draft.dtype(place))
        self._map(draft, like, [place], [stored])
        return stored

    # --- bodies

    def drawn(self, reads: Sequence[int], nodes: Sequence[Node]) -> Drawn:
        """A body over variables, whose last node is meant; nodes' operands count the reads, then the nodes."""
        draft = _Draft()
        for number in reads:
            draft.read(*self._leaf_of(number), number)
        count = len(reads)
        for node in nodes:
            operands = [x if isinstance(x, Constant) or x < count else count - 1 - x for x in node.operands]
            draft.nodes.append((node.op, node.dtype, operands, node.params))
        return draft, -len(nodes)

    def _drafted(self, equations: Sequence[int]) -> _Draft:
        draft = _Draft()
        for i in equations:
            equation = self.program.equations[i]
            operands = [self._place(draft, x) for x in equation.inputs]
            var = equation.outputs[0]
            if equation.op.name == "convert" and equation.inputs[0].type.dtype == var.type.dtype:
                draft.places[var] = operands[0]
                continue
            draft.nodes.append((equation.op.name, short_name(var.type.dtype), operands, _node_params(equation)))
            draft.places[var] = -len(draft.nodes)
        return draft

    def _place(self, draft: _Draft, x: Operand) -> Place:
        if isinstance(x, Literal):
            return Constant(short_name(x.type.dtype), _bits(x))
        found = draft.places.get(x)
        return self._leaf(draft, x) if found is None else found

    def _leaf(self, draft: _Draft, var: Var) -> int:
        place = draft.places[var] = len(draft.leaves)
        dtype = short_name(var.type.dtype)
        if var in self.virtual:
            draft.leaves.append(("iota", dtype, self.virtual[var]))
        else:
            number = self.numbers[var]
            draft.read(*self._leaf_of(number), number)
        return place


def combining(kernel: Reduce) -> Reduce:
    """The kernel that combines the pieces of another, one after the other."""
    return Reduce(kernel.op, "krk", Body((Leaf("array", kernel.dtype, "ss1"),), (), (0,)), kernel.dtype)


def _finished(
    draft: _Draft, loops: Sequence[Sequence[int]], places: Sequence[Place], blocks: bool = False
) -> tuple[Body, tuple[int, ...]]:
    """The body for these loops; while it was drafted, node k was called -1 - k."""
    count = len(draft.leaves)
    leaves = tuple(
        _leaf(source, dtype, access(layout, loops, blocks) if layout else "") for source, dtype, layout in draft.leaves
    )

    def final(place: Place) -> Place:
        return count - 1 - place if isinstance(place, int) and place < 0 else place

    nodes = tuple(Node(op, dtype, tuple(map(final, operands)), params) for op, dtype, operands, params in draft.nodes)
    return Body(leaves, nodes, tuple(map(final, places))), tuple(draft.reads)


def _leaf(source: str, dtype: str, letters: str) -> Leaf:
    if source == "number":
        return Leaf("number", dtype)
    if source == "array" and set(letters) <= {"0"}:
        return Leaf("scalar", dtype)
    return Leaf(source, dtype, letters)


def _virtual(program: Program) -> dict[Var, Layout]:
    """Variables that are an index along one axis: iota, and what only broadcasts and transposes it."""
    found: dict[Var, Layout] = {}
    for equation in program.equations:
        if equation.op.multiple:
            continue
        out = equation.outputs[0]
        if equation.op.name == "iota":
            along = equation.params["dimension"]
            found[out] = tuple(
                Axis(0, True) if i == along and extent != 1 else None for i, extent in enumerate(out.type.shape)
            )
        elif equation.op.name in ("broadcast_in_dim", "transpose") and equation.inputs[0] in found:
            found[out] = viewed(equation, found[equation.inputs[0]])  # pyright: ignore[reportArgumentType]
    return found


def _bits(x: Literal) -> bytes:
    return np.asarray(x.value).astype(x.type.dtype).tobytes()


def _node_params(equation: Equation) -> tuple[tuple[str, Any], ...]:
    pairs = sorted(equation.params.items())
    return tuple((k, short_name(v) if isinstance(v, np.dtype) else v) for k, v in pairs if k != "weak_type")


__all__ = ["Fusion", "Token", "fuse", "rules"]
