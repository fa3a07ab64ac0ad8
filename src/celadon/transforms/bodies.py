"""Functions of a loop or branch in, closed programs out: traced once for a function and types, checked, their carries typed."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from celadon import errors, leaks, settings, tracing, tree, tree_nodes, voids
from celadon.array import Array
from celadon.program import Literal, Program, literal
from celadon.tracing import Tracer, Value, outside, recorded, type_of
from celadon.transforms.forward import Dual
from celadon.tree import PyTreeDef
from celadon.tree_paths import KeyPath, keystr
from celadon.types import ArrayType, canonical, result_type, scalar_type
from celadon.vocabulary.bodies import chosen, closed
from celadon.vocabulary.conversion import convert

Function = Callable[..., Any]
Types = tuple[ArrayType, ...]


class Names:
    """Names of leaves, made when a message wants them."""

    def __init__(self, *arguments: tuple[PyTreeDef, str]):
        self.arguments = arguments

    def __iter__(self) -> Iterator[str]:
        for treedef, argument in self.arguments:
            yield from [argument + keystr(path) for path in tree.paths(treedef)]

    def at(self, path: KeyPath) -> str:
        """The name of what stands somewhere in one tree of all arguments, which is the argument's if there is only one."""
        if len(self.arguments) == 1 or not path:
            return self.arguments[0][1] + keystr(path)
        first, *rest = path
        return self.arguments[first.idx][1] + keystr(tuple(rest))


class Form(NamedTuple):
    """The arguments of a body without their values: their tree, and each leaf's type and name."""

    tree: PyTreeDef
    types: Types
    names: Iterable[str] = ()


class Body(NamedTuple):
    """A traced function: its program, the values that it captured (its first inputs), and the tree of its result."""

    program: Program
    held: tuple[Any, ...]
    tree: PyTreeDef

    @property
    def types(self) -> Types:
        return tuple([x.type for x in self.program.outputs])


class Memory:
    """What was made of functions, by identity, for as long as they live."""

    def __init__(self) -> None:
        self.tables: dict[int, tuple[weakref.ref[Function], dict[object, Body]]] = {}

    def table(self, function: Function) -> dict[object, Body]:
        """What is kept of a function; a fresh table if it can't be referred to weakly, as a method."""
        key = id(function)
        found = self.tables.get(key)
        if found is not None and found[0]() is function:
            return found[1]
        try:
            reference = weakref.ref(function, lambda _: self.tables.pop(key, None))
        except TypeError:
            return {}
        table: dict[object, Body] = {}
        self.tables[key] = reference, table
        return table

    def clear(self) -> None:
        self.tables.clear()


memory = Memory()
_KEPT = 64


def name_of(function: Any) -> str:
    """How messages call a function."""
    return getattr(function, "__name__", None) or type(function).__name__


def require_callable(name: str, **functions: Any) -> None:
    for argument, function in functions.items():
        if not callable(function):
            raise errors.BodyNotCallable(name=name, argument=argument, type=tree_nodes.name_of(type(function)))


def value(x: Any) -> Any:
    """A leaf as an operand: a scalar of a program is a literal, all else an Array or traced value."""
    if isinstance(x, Tracer | Literal):
        return x
    recording = tracing.recording() is not None
    if isinstance(x, Array):
        return Literal(x.host[()], x.type) if recording and not x.type.shape and not x.is_deleted() else x
    if recording and isinstance(x, bool | int | float | complex) and not isinstance(x, np.generic):
        found = scalar_type(x)
        return literal(x, found.dtype, found.weak_type)
    if recording and isinstance(x, np.generic):
        return literal(x, canonical(x.dtype))
    return outside.as_array(x)


def operands(function: str, argument: str, leaves: Iterable[Any], form: PyTreeDef) -> list[Any]:
    """The leaves of an argument of a loop or branch as operands. Raises ArgumentNotArray, which names the leaf."""
    found: list[Any] = []
    for x in leaves:
        try:
            found.append(value(x))
        except errors.NotAnArray:
            name = argument + keystr(tree.paths(form)[len(found)])
            raise errors.ArgumentNotArray(argument=name, function=function, type=type(x).__name__) from None
    return found


def known(convert_to: Callable[[Any], Any], x: Any) -> Any:
    """A value as a Python number or truth value; None if it is traced and has none yet."""
    while isinstance(x, Dual):
        x = x.primal
    return None if isinstance(x, Tracer) else convert_to(result(x))


def result(x: Any) -> Any:
    """An operand as a caller gets it back."""
    return outside.as_array(x) if type(x) is Literal else x


def traced(function: Function, form: Form, axes: object = None) -> Body:
    """The function traced for arguments of a form, which is the tree of its positional arguments."""
    table = memory.table(function)
    key = (form.tree, form.types, settings.key(), axes)
    found = table.get(key)
    if found is None:
        found = leaks.watched(lambda: _trace(function, form))
        if not any(isinstance(x, Tracer) for x in found.held):
            if len(table) >= _KEPT:
                table.clear()
            table[key] = found
    return found


def _trace(function: Function, form: Form) -> Body:
    with recorded(name_of(function)) as record:
        inputs = [record.input(t) for t in form.types]
        record.late_names = form.names
        found = voids.hidden(function(*form.tree.unflatten(inputs)))
        leaves, out_tree = tree.flatten(found)
        made = record.program([_output(x, k, found, name_of(function)) for k, x in enumerate(leaves)])
    return Body(closed(made), tuple([kept for _, kept in made.captures]), out_tree)


def _output(x: Any, index: int, found: Any, name: str) -> Any:
    if isinstance(x, Value | Literal | bool | int | float | complex | np.ndarray | np.generic):
        return x
    try:
        return outside.as_array(x)
    except errors.NotAnArray:
        path = keystr(tree.flatten_with_path(found)[0][index][0])
        raise errors.ResultNotArray(function=name, path=path, type=type(x).__name__) from None


def returning(program: Program, keep: Sequence[bool]) -> Program:
    """The program with only the results that are marked."""
    return Program(program.inputs, program.equations, chosen(program.outputs, keep), (), program.name)


# Carried values


def same_type(a: ArrayType, b: ArrayType) -> bool:
    """Whether types agree, apart from weakness."""
    return a.shape == b.shape and a.dtype == b.dtype


def settled(
    trace: Callable[[Types], Any], state: Sequence[Any], carry_of: Callable[[Any], Types]
) -> tuple[Any, list[Any]]:
    """What `trace` makes of the carried values' types once weak ones have taken the dtypes that the body gives them.

    A weak value that comes back with another dtype starts with their common one; that may change what others come back
    with, so it is done until nothing changes.
    """
    values = list(state)
    while True:
        made = trace(tuple([x.type for x in values]))
        promoted = [_promoted(x, t) for x, t in zip(values, carry_of(made), strict=False)]
        if all(a is b for a, b in zip(values, promoted, strict=False)):
            return made, values
        values = promoted + values[len(promoted) :]


def _promoted(x: Any, after: ArrayType) -> Any:
    if not x.type.weak_type or same_type(x.type, after):
        return x
    dtype, _ = result_type([x.type, after])
    if dtype == x.type.dtype:
        return x
    if type(x) is Literal:
        return literal(x.value, dtype)
    return convert(x, new_dtype=dtype)


def check_carry(loop: str, function: Function, form: Form, made: PyTreeDef, types: Types) -> None:
    """Raise unless a body returns what it carries in the tree and with the types in which it takes it."""
    parting = tree.difference(form.tree, made) if form.tree != made else None
    if parting is not None:
        assert isinstance(form.names, Names)
        raise errors.CarryTreeChanges(
            loop=loop, function=name_of(function), here=parting.here, there=parting.there, path=form.names.at(parting.path)
        )
    for name, before, after in zip(form.names, form.types, types, strict=True):
        if not same_type(before, after):
            raise errors.CarryTypeChanges(loop=loop, function=name_of(function), path=name, before=before, after=after)


def at(path: str) -> str:
    return f" at {path}" if path else ""


__all__ = ["Body", "Form", "Types", "check_carry", "settled", "traced", "type_of", "value"]
