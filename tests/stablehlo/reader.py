"""A module of MLIR in, a Program of Celadon's ops out, with what the module says about its own results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from celadon.program import Program
from celadon.reference import evaluate
from celadon.tracing import Tracer, recorded, recording
from celadon.types import ArrayType
from celadon.vocabulary.bodies import traced, without_dead_code
from tests.stablehlo.elements import Unreadable, constant_of, dtype_of, shape_of
from tests.stablehlo.narrow import allowed, widened, within

Rule = Callable[..., Any]
rules: dict[str, Rule] = {}
"""By the name of an op of MLIR: a function of the Site and the operands' values that returns the results' values."""


class Check(NamedTuple):
    """A claim of a program: two of its results, or one and a constant, agree as a word says.

    word: expect_eq, expect_close (units in the last place) or expect_almost_eq (a distance of at most `tolerance`).
    """

    word: str
    tolerance: float
    expected: Any = None


class Read(NamedTuple):
    """A program whose results come in pairs, one for each check: what was computed, and what was expected."""

    program: Program
    checks: list[Check]


def rule(*names: str) -> Callable[[Rule], Rule]:
    """A decorator for the rule of ops with these names."""

    def decorate(function: Rule) -> Rule:
        rules.update(dict.fromkeys(names, function))
        return function

    return decorate


def read(module: Any) -> Read:
    """The program of a module's main function, which is `main` or the only one.

    Raises `Unreadable` for ops, dtypes or forms of ops without a rule.
    """
    reader = Reader(module)
    if takes_arguments(reader.main):
        raise Unreadable("a main function with arguments")
    with recorded("main", tracing=False) as record:
        reader.call(reader.entry, [])
        if not reader.checks:
            raise Unreadable("no check in it")
        return Read(record.program([x for pair in reader.pairs for x in pair]), reader.checks)


def read_with(module: Any, arguments: Sequence[Any]) -> Program:
    """The program that a module's main function is for these arguments, with its own results."""
    reader = Reader(module)
    with recorded("main", tracing=False) as record:
        return record.program(reader.call(reader.entry, arguments))


class Reader:
    """The functions of a module, the values of its variables, and the checks that were met."""

    def __init__(self, module: Any):
        self.functions = {op.attributes["sym_name"].value: op for op in module.body.operations}
        names = list(self.functions)
        if len(names) > 1 and "main" not in names:
            raise Unreadable("functions without a main one")
        self.entry = "main" if "main" in names else names[0]
        self.values: dict[Any, Any] = {}
        self.checks: list[Check] = []
        self.pairs: list[tuple[Any, Any]] = []

    @property
    def main(self) -> Any:
        """The function that is run."""
        return self.functions[self.entry]

    def held(self, x: Any) -> Any:
        """A constant in a dtype that arrays can have."""
        return widened(x)

    def call(self, name: str, operands: Sequence[Any]) -> list[Any]:
        """The results of a function."""
        return self.block(self.functions[name].regions[0].blocks[0], operands)

    def block(self, block: Any, operands: Sequence[Any]) -> list[Any]:
        """What a block returns for values of its arguments."""
        self.values.update(zip(block.arguments, operands, strict=True))
        for each in block.operations:
            op = each.operation
            inputs = [self.values[x] for x in op.operands]
            if op.name in ("func.return", "stablehlo.return"):
                return inputs
            types = [x.type for x in (*op.operands, *op.results)]
            allowed(op.name.partition(".")[2], types)
            found = _rule(op.name)(Site(self, op), *inputs)
            outputs = list(found) if isinstance(found, tuple | list) and len(op.results) != 1 else [found]
            outputs = [within(x, type) for x, type in zip(outputs, types[len(inputs) :], strict=False)]
            self.values.update(zip(op.results, outputs, strict=False))
        return []


def takes_arguments(main: Any) -> bool:
    return len(main.regions[0].blocks[0].arguments) > 0


def _rule(name: str) -> Rule:
    if name not in rules:
        raise Unreadable(f"op {name}")
    return rules[name]


class Site(NamedTuple):
    """An op where it stands: its attributes, regions and result types."""

    reader: Reader
    op: Any

    @property
    def name(self) -> str:
        """The name without its dialect."""
        return self.op.name.partition(".")[2]

    def has(self, name: str) -> bool:
        return name in self.op.attributes

    def attribute(self, name: str) -> Any:
        return self.op.attributes[name]

    def ints(self, name: str, default: Sequence[int] = ()) -> tuple[int, ...]:
        """A list of integers."""
        return tuple(map(int, self.attribute(name))) if self.has(name) else tuple(default)

    def number(self, name: str, default: Any = None) -> Any:
        """An integer, truth or string."""
        return self.attribute(name).value if self.has(name) else default

    def word(self, name: str, default: str = "") -> str:
        """The case of an enumeration."""
        return str(self.attribute(name)).rstrip(">").split(" ")[-1] if self.has(name) else default

    def pairs(self, name: str, count: int) -> tuple[tuple[int, int], ...]:
        """A matrix of pairs, one for each axis; zeros if it is not there."""
        if not self.has(name):
            return ((0, 0),) * count
        return tuple((int(a), int(b)) for a, b in constant_of(self.op, name).reshape(-1, 2))

    def dtype(self, index: int = 0) -> np.dtype[Any]:
        return dtype_of(self.op.results[index].type)

    def shape(self, index: int = 0) -> tuple[int, ...]:
        return shape_of(self.op.results[index].type)

    def region(self, index: int = 0) -> Callable[..., list[Any]]:
        """A region as a function of values."""
        region = self.op.regions[index]
        return lambda *operands: self.reader.block(region.blocks[0], operands)

    def body(self, types: Sequence[ArrayType], index: int = 0) -> Program:
        """A region as a program of operands of these types; it may read nothing from around it."""
        program, captured = traced("body", self.region(index), types)
        if captured:
            raise Unreadable(f"a region of {self.name} that reads from around it")
        return program


def type_of(x: Any) -> ArrayType:
    """The type of a value, which is traced or a NumPy array."""
    return x.type if isinstance(x, Tracer) else ArrayType(np.shape(x), np.asarray(x).dtype)


def scalar(x: Any) -> ArrayType:
    """The type of a value's elements."""
    return ArrayType((), type_of(x).dtype)


def concrete(x: Any) -> np.ndarray[Any, Any]:
    """The elements of a value that depends on constants only: what says a shape.

    Raises `Unreadable` if it depends on more, as it does in a loop.
    """
    record = recording()
    if not isinstance(x, Tracer):
        return np.asarray(x)
    program = without_dead_code(record.program([x])) if record is not None else None
    if program is None or program.inputs:
        raise Unreadable("a shape that is computed from operands")
    return evaluate(program, [])[0]


def integers(x: Any) -> tuple[int, ...]:
    """The elements of such a value as integers."""
    return tuple(map(int, concrete(x).reshape(-1)))


__all__ = [
    "Check", "Read", "Reader", "Rule", "Site", "concrete", "integers", "read", "read_with", "rule", "rules", "scalar",
    "takes_arguments", "type_of",
]  # fmt: skip
