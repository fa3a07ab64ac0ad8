"""What the fuzzer runs: a tree of calls over arrays, as functions for eager and jitted runs and as text to paste."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from celadon.op import Op, registry
from celadon.program import Program
from celadon.reference import evaluate
from celadon.tracing import recorded
from celadon.types import ArrayType, kind, short_name
from celadon.vocabulary.window import combination
from tests.fuzz.values import array

Array = np.ndarray[Any, Any]


class Text(str):
    """Source text, which stands for what it says."""

    def __repr__(self) -> str:
        return str(self)


@dataclass(eq=False)
class Leaf:
    """An array that a program is called with."""

    given: Array
    text: str

    @property
    def types(self) -> list[ArrayType]:
        return [ArrayType(self.given.shape, self.given.dtype)]


@dataclass(eq=False)
class Node:
    """A call of an op, or of a function made around one, on results of other nodes; `result` is the one that is used."""

    name: str
    function: Callable[..., Any]
    inputs: list[Part]
    params: dict[str, Any] = field(default_factory=dict)
    text: str = ""
    result: int = 0
    types: list[ArrayType] = field(default_factory=list)
    ours_alone: bool = False  # no NumPy rule has its values: only our own bits are compared

    def __post_init__(self) -> None:
        self.types = self.types or self._typed()

    def _typed(self) -> list[ArrayType]:
        own = registry.get(self.name)
        if own is self.function:
            found = own.result_type(*[x.type for x in map(_operand, self.inputs)], **self.params)
            return list(found) if isinstance(found, list | tuple) else [found]
        return [x.type for x in self.program().outputs]

    @property
    def type(self) -> ArrayType:
        return self.types[self.result]

    def __call__(self, *operands: Any) -> list[Any]:
        found = self.function(*operands, **self.params)
        return list(found) if isinstance(found, list | tuple) else [found]

    def program(self) -> Program:
        """The node alone, of its operands."""
        with recorded() as record:
            return record.program(self(*[record.input(x.type) for x in map(_operand, self.inputs)]))

    def reference(self, operands: Sequence[Array]) -> list[Array]:
        """Its results by the NumPy rules."""
        if isinstance(self.function, Op) and self.function.numpy is not None:
            with np.errstate(all="ignore"):
                found = self.function.numpy(*operands, **self.params)
            wanted = [np.asarray(x) for x in (found if self.function.multiple else [found])]
            return [np.broadcast_to(x.astype(t.dtype, copy=False), t.shape) for x, t in zip(wanted, self.types, strict=True)]
        return [np.asarray(x) for x in evaluate(self.program(), operands)]


Part = Leaf | Node


@dataclass(frozen=True)
class _Operand:
    type: ArrayType


def _operand(part: Part) -> _Operand:
    return _Operand(part.types[0] if isinstance(part, Leaf) else part.type)


def type_of(part: Part) -> ArrayType:
    """The type of the one result that others see."""
    return _operand(part).type


def parts(root: Part) -> list[Part]:
    """All parts of a tree, operands first, each once."""
    found: dict[int, Part] = {}

    def visit(part: Part) -> None:
        if id(part) not in found:
            for one in part.inputs if isinstance(part, Node) else ():
                visit(one)
            found[id(part)] = part

    visit(root)
    return list(found.values())


def leaves(root: Part) -> list[Leaf]:
    return [part for part in parts(root) if isinstance(part, Leaf)]


def nodes(root: Part) -> list[Node]:
    return [part for part in parts(root) if isinstance(part, Node)]


def function_of(root: Node, also: Sequence[Node] = ()) -> Callable[..., list[Any]]:
    """All results of the root, and those of other nodes, of the arrays of its leaves."""
    names = leaves(root)

    def run(*arrays: Any) -> list[Any]:
        known: dict[int, list[Any]] = {id(leaf): [x] for leaf, x in zip(names, arrays, strict=True)}
        for node in nodes(root):
            known[id(node)] = node(*[known[id(x)][_place(x)] for x in node.inputs])
        return [x for node in (root, *also) for x in known[id(node)]]

    return run


def _place(part: Part) -> int:
    return part.result if isinstance(part, Node) else 0


# Text


def shown(root: Node) -> str:
    """Lines that run the tree, jitted and not."""
    names = {id(part): f"{'x' if isinstance(part, Leaf) else 'y'}{k}" for k, part in enumerate(parts(root))}
    arguments = ", ".join(names[id(leaf)] for leaf in leaves(root))
    lines = [f"{names[id(leaf)]} = {leaf.text}" for leaf in leaves(root)]
    lines += [f"def f({arguments}):", *(f"    {line}" for line in _lines(root, names)), f"    return {names[id(root)]}"]
    return "\n".join([_HEAD, *lines, "with enable_x64(True):", f"    print(jit(f)({arguments}), f({arguments}), sep='\\n')"])


_HEAD = """import numpy as np
from celadon import enable_x64, jit
from celadon.array import as_array
from celadon.op import registry as op
from tests.fuzz.generators import *
globals().update(NESTED)"""


def _lines(root: Node, names: dict[int, str]) -> Iterator[str]:
    for node in nodes(root):
        operands = [_used(x, names[id(x)]) for x in node.inputs]
        called = node.text or f'op["{node.name}"]'
        words = [f"{key}={text_of(value)}" for key, value in node.params.items()]
        yield f"{names[id(node)]} = {called}({', '.join([*operands, *words])})"


def _used(part: Part, name: str) -> str:
    if isinstance(part, Leaf):
        return f"as_array({name})"
    several = len(part.types) > 1 or (isinstance(part.function, Op) and part.function.multiple)
    return f"{name}[{part.result}]" if several else name


def text_of(value: Any) -> str:
    """A parameter as Python reads it."""
    if isinstance(value, np.dtype):
        return f'from_short["{short_name(value)}"]'
    if isinstance(value, Program):
        dtype, name = value.inputs[0].type.dtype, combination(value)
        if value.name == "squared":
            return f"squared({text_of(dtype)})"
        if not name:
            return f'comparing("{value.equations[0].params["direction"]}", {text_of(dtype)})'
        return f"combiner({'second' if name == 'second' else f'op[{name!r}]'}, {text_of(dtype)})"
    return repr(value)


def literal(x: Array) -> str:
    """Text of an array by its bits."""
    if kind(x.dtype) in "biu" and x.size < 200:
        return f"np.array({x.tolist()}, {text_of(x.dtype)}).reshape({x.shape})"
    if x.size > 4 and x.size == np.unique(x.ravel().view(f"V{x.itemsize}"), return_counts=True)[1].max():
        return f"np.full({x.shape}, {literal(x.reshape(-1)[:1])}[0])"
    return f'np.frombuffer(bytes.fromhex("{x.tobytes().hex()}"), {text_of(x.dtype)}).reshape({x.shape})'


def leaf_of(x: Array) -> Leaf:
    return Leaf(x, literal(x))


def seeded(seed: int, short: str, shape: tuple[int, ...], style: str, stored: str) -> Leaf:
    """The leaf of a seed."""
    return Leaf(array(seed, short, shape, style, stored), f'array({seed}, "{short}", {shape}, "{style}", "{stored}")')
