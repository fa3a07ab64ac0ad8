"""Programs: typed equations over variables and literals; tracing makes them, every later stage rewrites them."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from weakref import WeakSet

import numpy as np

from celadon.types import ArrayType, DType

if TYPE_CHECKING:
    from celadon.op import Op


class Var:
    """A variable of a program: one value of one type, known by identity."""

    __slots__ = ("type",)

    def __init__(self, type: ArrayType):
        self.type = type

    def __repr__(self) -> str:
        return f"%{id(self) & 0xFFFF:04x}:{self.type}"


class Literal:
    """A scalar in a program. It is lifted out of the structure unless it is `fixed`."""

    __slots__ = ("fixed", "type", "value")

    def __init__(self, value: Any, type: ArrayType, fixed: bool = False):
        self.value, self.type, self.fixed = value, type, fixed

    def __repr__(self) -> str:
        return f"{self.value}:{self.type}"


Operand = Var | Literal
Source = tuple[str, int, str]  # file, line, function: errors.describe writes it


def literal(value: Any, dtype: DType, weak_type: bool = False) -> Literal:
    """A literal of a dtype, to be lifted."""
    return Literal(_scalar(value, dtype), ArrayType((), dtype, weak_type))


def fixed(value: Any, dtype: DType) -> Literal:
    """A literal that stays in the structure: for what no argument, static value or extent can change."""
    return Literal(_scalar(value, dtype), ArrayType((), dtype), True)


def _scalar(value: Any, dtype: DType) -> Any:
    with np.errstate(all="ignore"):
        return np.asarray(value).astype(dtype)[()]


@dataclass(slots=True, eq=False, repr=False)
class Equation:
    """outputs = op(inputs, **params), and the user's line that asked for it."""

    op: Op
    inputs: Sequence[Operand]
    outputs: Sequence[Var]
    params: dict[str, Any]
    source: Source | None = None


@dataclass(slots=True, eq=False, repr=False, weakref_slot=True)
class Program:
    """Inputs, captured arrays, equations in order, outputs; a capture is a variable and the array it stands for."""

    inputs: Sequence[Var]
    equations: Sequence[Equation]
    outputs: Sequence[Operand]
    captures: Sequence[tuple[Var, Any]] = ()
    name: str = "main"
    memory: dict[Any, Any] = field(default_factory=dict[Any, Any], init=False)

    def __str__(self) -> str:
        return show(self)


def bodies(params: Mapping[str, Any]) -> Iterator[Program]:
    """The programs among the parameters of an equation, those in a tuple one after the other.

    >>> [body.name for body in bodies({"axes": (0,), "branches": (Program((), (), (), name="a"),)})]
    ['a']
    """
    for value in params.values():
        if isinstance(value, Program):
            yield value
        elif isinstance(value, tuple):
            yield from (one for one in cast("tuple[Any, ...]", value) if isinstance(one, Program))


def with_bodies(params: dict[str, Any], change: Callable[[Program], Program]) -> dict[str, Any]:
    """The parameters with each program among them changed; the same dict if none is there.

    >>> with_bodies({"axes": (0,)}, str)
    {'axes': (0,)}
    """
    if next(bodies(params), None) is None:
        return params
    return {name: _changed(value, change) for name, value in params.items()}


def _changed(value: Any, change: Callable[[Program], Program]) -> Any:
    if isinstance(value, Program):
        return change(value)
    if isinstance(value, tuple) and Program in map(type, cast("tuple[Any, ...]", value)):
        return tuple([_changed(one, change) for one in cast("tuple[Any, ...]", value)])
    return value


def exact(value: Any) -> object:
    """A parameter as part of a key: inexact numbers by their digits, for 0.0 equals -0.0, and NaN does not equal itself.

    >>> exact(0.0) == exact(-0.0), exact(float("nan")) == exact(float("nan")), exact((0, 1))
    (False, True, (0, 1))
    """
    return (type(value).__name__, repr(value)) if isinstance(value, float | complex | np.inexact) else value


class Module(NamedTuple):
    """A lowered program with what the text says about it: names of results, donated inputs (input -> output)."""

    program: Program
    results: tuple[str, ...] = ()
    aliases: Mapping[int, int] = MappingProxyType({})

    @property
    def name(self) -> str:
        return self.program.name


if TYPE_CHECKING:
    run: Callable[[Program, Sequence[Any]], list[Any]]


def __getattr__(name: str) -> Any:
    """`run` executes a Program on concrete arrays: calling.py, the upper end of this hook, fills it in when needed."""
    if name != "run":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module("celadon.calling").run


class Memory(WeakSet[Program]):
    """The programs from which something was derived that is kept with them."""

    def clear(self) -> None:
        """Have every program forget what was derived from it."""
        for program in self:
            program.memory.clear()
        super().clear()


memory = Memory()


def remembered(program: Program, key: Any, make: Callable[[], Any]) -> Any:
    """A result derived from a program (its lowering, say), kept as long as the program lives."""
    table = program.memory
    if key not in table:
        table[key] = make()
        memory.add(program)
    return table[key]


def show(program: Program) -> str:
    """The program as text, one equation a line, the programs in it below the equations that hold them.

    >>> x = Var(ArrayType((2,), np.dtype("float32")))
    >>> print(Program([x], [], [x]))
    main(a:f32[2]) -> (a)
    """
    names: dict[Var, str] = {}

    def name(operand: Operand) -> str:
        if isinstance(operand, Literal):
            return str(operand.value)
        return names.setdefault(operand, letters(len(names)))

    head = ", ".join(f"{name(v)}:{v.type}" for v in [*program.inputs, *(v for v, _ in program.captures)])
    lines: list[str] = []
    for equation in program.equations:
        lines.append(f"  {_line(equation, name)}")
        lines += [f"    {line}" for body in bodies(equation.params) for line in show(body).splitlines()]
    outputs = ", ".join(map(name, program.outputs))
    return "\n".join([f"{program.name}({head}) -> ({outputs})", *lines])


def _line(equation: Equation, name: Callable[[Operand], str]) -> str:
    params = " ".join(f"{key}={_param(value)}" for key, value in equation.params.items())
    inputs = ", ".join(map(name, equation.inputs))
    outputs = ", ".join(f"{name(v)}:{v.type}" for v in equation.outputs)
    return f"{outputs} = {equation.op.name}({inputs})" + (f" [{params}]" if params else "")


def _param(value: Any) -> str:
    if isinstance(value, tuple) and Program in map(type, cast("tuple[Any, ...]", value)):
        return f"({', '.join(map(_param, cast('tuple[Any, ...]', value)))})"
    return value.name if isinstance(value, Program) else str(value)


def letters(index: int) -> str:
    """The name of the variable of a number.

    >>> letters(0), letters(25), letters(26)
    ('a', 'z', 'aa')
    """
    text = ""
    while True:
        text = chr(97 + index % 26) + text
        index = index // 26 - 1
        if index < 0:
            return text
