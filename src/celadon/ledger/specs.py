"""Argument specs of the command line (`x=f32[2048,2048]`, `s=2.0,3.0`) come in, values bound to a signature go out."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan, prod
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from celadon import errors
from celadon.memory import ADDRESSABLE
from celadon.types import DType, every_dtype, short_name

NDArray = np.ndarray[Any, Any]

_EMPTY = re.compile(r"(\w+)\[\s*\]")


@dataclass(frozen=True, slots=True)
class Spec:
    """One argument on the command line: its name and the text after `=`."""

    argument: str
    text: str


def split(text: str) -> Spec:
    """
    >>> split("x=f32[2,3]")
    Spec(argument='x', text='f32[2,3]')
    """
    argument, equals, rest = text.partition("=")
    if not equals or not argument.strip().isidentifier() or not rest.strip():
        raise errors.SpecMalformed(argument=argument.strip(), spec=text, reason="it is not name=value")
    return Spec(argument.strip(), rest.strip())


def argument(text: str) -> tuple[str, Any]:
    """The name and the value of a traced argument.

    Args:
        text: name=spec; a spec is dtype[shape] (filled with fixed pseudo-random numbers), a Python number, a .npy file,
            or a list, tuple or dict of specs.

    Raises: `SpecMalformed`, `SpecDTypeUnknown`, `SpecFileUnreadable`.

    >>> argument("n=3")
    ('n', 3)
    >>> name, value = argument("x=[f32[2,3], i32[]]")
    >>> [x.shape for x in value]
    [(2, 3), ()]
    """
    spec = split(text)
    if spec.text.endswith(".npy"):
        return spec.argument, _file(spec, spec.text)
    try:
        tree = ast.parse(_EMPTY.sub(r"\1[()]", spec.text), mode="eval").body
    except SyntaxError as error:
        raise _malformed(spec, "it is none of the known forms") from error
    return spec.argument, _Reader(spec).value(tree)


class _Reader:
    """Reads one spec; arrays are filled from a generator of its own, so that the same spec gives the same numbers."""

    def __init__(self, spec: Spec):
        self.spec = spec
        self.random = np.random.default_rng(0)

    def value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=str(path)):
                return _file(self.spec, path)
            case ast.Subscript(value=ast.Name(id=dtype), slice=shape):
                return self._array(dtype, shape)
            case ast.List(elts=parts):
                return [self.value(part) for part in parts]
            case ast.Tuple(elts=parts):
                return tuple(self.value(part) for part in parts)
            case ast.Dict(keys=keys, values=values):
                return {self._literal(key): self.value(value) for key, value in zip(keys, values, strict=True)}
            case _:
                return self._literal(node)

    def _array(self, name: str, shape: ast.expr) -> NDArray:
        dtype = _dtype(self.spec, name)
        found = self._literal(shape)
        extents: tuple[Any, ...] = found if isinstance(found, tuple) else (found,)
        if not all(type(extent) is int and extent >= 0 for extent in extents):
            raise _malformed(self.spec, "a shape consists of integers that are not negative")
        return filled(extents, dtype, self.random)

    def _literal(self, node: ast.expr | None) -> Any:
        try:
            return ast.literal_eval(node) if node is not None else None
        except ValueError as error:
            raise _malformed(self.spec, f"'{ast.unparse(node) if node else ''}' is no number") from error


def _malformed(spec: Spec, reason: str) -> errors.SpecMalformed:
    return errors.SpecMalformed(argument=spec.argument, spec=spec.text, reason=reason)


def _dtype(spec: Spec, name: str) -> DType:
    known = {word: dtype for dtype in every_dtype() for word in (short_name(dtype), dtype.name)}
    if name not in known:
        raise errors.SpecDTypeUnknown(
            argument=spec.argument, spec=spec.text, dtype=name, known=", ".join(map(short_name, every_dtype()))
        )
    return known[name]


def filled(shape: Sequence[int], dtype: DType, random: np.random.Generator) -> NDArray:
    """An array of a dtype: bools, integers below 10, or numbers of a standard normal distribution.

    Raises: `OutOfMemory`.
    """
    nbytes = prod(max(extent, 1) for extent in shape) * dtype.itemsize
    if nbytes >= ADDRESSABLE:  # NumPy refuses these in other words
        raise errors.OutOfMemory(bytes=nbytes)
    try:
        return _drawn(shape, dtype, random)
    except MemoryError as error:
        raise errors.OutOfMemory(bytes=nbytes) from error


def _drawn(shape: Sequence[int], dtype: DType, random: np.random.Generator) -> NDArray:
    if dtype == np.dtype(bool):
        return random.integers(0, 2, shape).astype(dtype)
    if dtype.kind in "iu":
        return random.integers(0, 10, shape).astype(dtype)
    real = random.standard_normal(shape, np.float32)
    return np.asarray(real + 1j * real if dtype.kind == "c" else real).astype(dtype)


def _file(spec: Spec, path: str) -> NDArray:
    try:
        with Path(path).open("rb") as file:
            return np.lib.format.read_array(file, allow_pickle=False)
    except FileNotFoundError as error:
        raise errors.SpecFileUnreadable(argument=spec.argument, path=path, reason="there is no such file") from error
    except OSError as error:
        raise errors.SpecFileUnreadable(argument=spec.argument, path=path, reason=error.strerror or error) from error
    except (ValueError, EOFError) as error:  # NumPy's words are about pickles
        reason = "it is no .npy file of numbers, or it is cut off"
        raise errors.SpecFileUnreadable(argument=spec.argument, path=path, reason=reason) from error
    except MemoryError as error:
        raise errors.OutOfMemory(bytes=Path(path).stat().st_size) from error


def static(text: str, module: ModuleType | None = None) -> tuple[str, list[Any]]:
    """The name and the values of a static argument, split at top-level commas.

    Args:
        text: name=value,value,...; a value is a Python literal, nan or inf, a name or a call of a name of the target's
            module or of Python's own (`Config(width=2)`, `slice(3)`), or else a bare word, which is a string.
        module: the module in which names are looked up.

    Raises: `SpecMalformed`.

    >>> static("s=2.0,3.0")
    ('s', [2.0, 3.0])
    >>> static("axes=(0,1),(1,),None")
    ('axes', [(0, 1), (1,), None])
    >>> static("mode=fast,'very slow'")
    ('mode', ['fast', 'very slow'])
    >>> static("s=nan,-inf,slice(3)")
    ('s', [nan, -inf, slice(None, 3, None)])
    """
    spec = split(text)
    return spec.argument, [_static_value(spec, part, module) for part in _parts(spec)]


def _parts(spec: Spec) -> list[ast.expr]:
    try:
        tree = ast.parse(f"({spec.text.rstrip(',')},)", mode="eval").body
    except SyntaxError as error:
        raise _malformed(spec, "its values are no Python literals") from error
    assert isinstance(tree, ast.Tuple)
    return tree.elts


def _static_value(spec: Spec, node: ast.expr, module: ModuleType | None) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return _named(spec, node, module)


def _named(spec: Spec, node: ast.expr, module: ModuleType | None) -> Any:
    match node:
        case ast.Name(id=name):
            return getattr(module, name, _WORDS.get(name, name))
        case ast.UnaryOp(op=ast.USub(), operand=ast.Name(id=name)) if name in _WORDS:
            return -_WORDS[name]
        case ast.Attribute(value=value, attr=name):
            return _attribute(spec, _named(spec, value, module), name)
        case ast.Call(func=function, args=args, keywords=keywords):
            values = [_static_value(spec, x, module) for x in args]
            named = {k.arg: _static_value(spec, k.value, module) for k in keywords if k.arg is not None}
            return _called(spec, _named(spec, function, module), values, named)
        case _:
            raise _malformed(spec, f"'{ast.unparse(node)}' is no literal, name or call")


_BUILT_IN: dict[str, Any] = {
    kind.__name__: kind for kind in (bool, bytes, complex, dict, float, frozenset, int, range, set, slice, str, tuple)
}
_WORDS: dict[str, Any] = {"nan": nan, "inf": inf}


def _attribute(spec: Spec, value: Any, name: str) -> Any:
    if not hasattr(value, name):
        raise _malformed(spec, f"there is no '{name}' in {value!r}")
    return getattr(value, name)


def _called(spec: Spec, function: Any, values: list[Any], named: dict[str, Any]) -> Any:
    if isinstance(function, str):
        function = _BUILT_IN.get(function, function)
    if not callable(function):
        raise _malformed(spec, f"the target's module has no function or class '{function}'")
    try:
        return function(*values, **named)
    except Exception as error:  # the user's own class may refuse its arguments in any way
        raise _malformed(spec, f"the call raised {type(error).__name__}: {error}") from error


def merged(
    traced: Sequence[tuple[str, Any]], statics: Sequence[tuple[str, list[Any]]]
) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """Both kinds of arguments as dicts, each name once.

    Raises: `ArgumentGivenTwice`.

    >>> merged([("x", 1.0)], [("s", [2.0])])
    ({'x': 1.0}, {'s': [2.0]})
    """
    seen: set[str] = set()
    for name, _ in (*traced, *statics):
        if name in seen:
            raise errors.ArgumentGivenTwice(argument=name)
        seen.add(name)
    return dict(traced), dict(statics)


def bind(function: Callable[..., Any], values: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Values by name as a call: positional where the signature allows it, by keyword after the first gap.

    Raises: `ArgumentUnknown`, `ArgumentMissing`.

    >>> bind(lambda x, n=1, *, k=2: x, {"x": 1.0, "k": 3})
    ((1.0,), {'k': 3})
    """
    name = getattr(function, "__name__", type(function).__name__)
    try:
        parameters = inspect.signature(function).parameters
    except (ValueError, TypeError):
        return tuple(values.values()), {}
    _check_names(name, parameters, values)
    return _placed(parameters, values)


_KIND = inspect.Parameter


def _check_names(function: str, parameters: Mapping[str, inspect.Parameter], values: Mapping[str, Any]) -> None:
    named = [n for n, p in parameters.items() if p.kind not in (_KIND.VAR_POSITIONAL, _KIND.VAR_KEYWORD)]
    more = any(p.kind is _KIND.VAR_KEYWORD for p in parameters.values())
    for argument in values:
        if argument not in named and not more:
            raise errors.ArgumentUnknown(function=function, argument=argument, known=", ".join(named) or "none")
    missing = [n for n in named if parameters[n].default is _KIND.empty and n not in values]
    if missing:
        raise errors.ArgumentMissing(function=function, missing=", ".join(missing))


def _placed(
    parameters: Mapping[str, inspect.Parameter], values: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    args: list[Any] = []
    for name, parameter in parameters.items():
        if parameter.kind not in (_KIND.POSITIONAL_ONLY, _KIND.POSITIONAL_OR_KEYWORD) or name not in values:
            break
        args.append(values[name])
    rest = list(parameters)[: len(args)]
    return tuple(args), {name: value for name, value in values.items() if name not in rest}
