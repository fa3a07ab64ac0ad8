"""Signatures: which arguments of a call are static, traced or donated; the key of a call; how two keys differ."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, cast

from celadon import errors, settings, tree
from celadon.tree_paths import KeyPath, bare, keystr
from celadon.types import ArrayType

Names = tuple[str, ...]
Numbers = tuple[int, ...]


class Parameters(NamedTuple):
    """What is known of a callable's parameters: names by position, keyword-only names, and whether more are taken."""

    positional: Names
    positional_only: Names
    keyword_only: Names
    more_positional: bool
    more_keywords: bool
    known: bool = True

    def name_of(self, index: int) -> str:
        """The name by which messages call a positional argument."""
        return self.positional[index] if index < len(self.positional) else f"args[{index}]"


_KIND = inspect.Parameter


def parameters_of(function: Callable[..., Any]) -> Parameters:
    """The parameters of any callable; one that hides its signature takes anything.

    >>> parameters_of(lambda x, *, n: x).keyword_only
    ('n',)
    """
    try:
        found = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):
        return Parameters((), (), (), True, True, known=False)
    ordered = [p for p in found if p.kind in (_KIND.POSITIONAL_ONLY, _KIND.POSITIONAL_OR_KEYWORD)]
    return Parameters(
        tuple(p.name for p in ordered),
        tuple(p.name for p in ordered if p.kind is _KIND.POSITIONAL_ONLY),
        tuple(p.name for p in found if p.kind is _KIND.KEYWORD_ONLY),
        any(p.kind is _KIND.VAR_POSITIONAL for p in found),
        any(p.kind is _KIND.VAR_KEYWORD for p in found),
    )


class Selection(NamedTuple):
    """Arguments chosen by position and by name, for one purpose (static, donated)."""

    indices: Numbers = ()
    names: Names = ()

    def __bool__(self) -> bool:
        return bool(self.indices or self.names)


def select(
    parameters: Parameters, argnums: Any, argnames: Any, option: str = "static", function: str = "the function"
) -> Selection:
    """Check argnums and argnames (an int or str, or an iterable of them) against the parameters; each gives the other.

    Raises `ArgnumsOutOfRange`, `ArgnamesUnknown`, `ArgnumsNotIntegers`, `ArgnamesNotStrings` or `ArgumentsRepeated`.
    """
    indices = _integers(argnums, option, function) if argnums is not None else None
    names = _strings(argnames, option, function) if argnames is not None else None
    if indices is not None:
        indices = _in_range(parameters, indices, option, function)
    if names is not None:
        _known(parameters, names, option, function)
    if indices is None:
        indices = tuple(i for i, name in enumerate(parameters.positional) if name in (names or ()))
    if names is None:
        flexible = set(parameters.positional) - set(parameters.positional_only)
        names = tuple(n for i, n in enumerate(parameters.positional) if i in indices and n in flexible)
    return Selection(indices, names)


def _integers(argnums: Any, option: str, function: str) -> Numbers:
    entries: Iterable[Any] = (cast(Any, argnums),) if isinstance(argnums, str) or not isinstance(argnums, Iterable) else argnums
    found: list[int] = []
    for entry in entries:
        if isinstance(entry, bool) or not hasattr(entry, "__index__"):
            raise errors.ArgnumsNotIntegers(option=f"{option}_argnums", value=repr(argnums), function=function)
        found.append(entry.__index__())
    return tuple(found)


def _strings(argnames: Any, option: str, function: str) -> Names:
    entries = tuple(argnames) if isinstance(argnames, Iterable) and not isinstance(argnames, str) else (argnames,)
    if not all(isinstance(entry, str) for entry in entries):
        raise errors.ArgnamesNotStrings(option=f"{option}_argnames", value=repr(argnames), function=function)
    repeated = sorted({name for name in entries if entries.count(name) > 1})
    if repeated:
        raise errors.ArgumentsRepeated(option=f"{option}_argnames", value=repr(repeated[0]), function=function)
    return entries


def _in_range(parameters: Parameters, indices: Numbers, option: str, function: str) -> Numbers:
    count = len(parameters.positional)
    if parameters.more_positional:
        return indices
    for index in indices:
        if not -count <= index < count:
            raise errors.ArgnumsOutOfRange(option=f"{option}_argnums", value=index, count=count, function=function)
    resolved = tuple(index % count for index in indices)
    for index in resolved:
        if resolved.count(index) > 1:
            raise errors.ArgumentsRepeated(option=f"{option}_argnums", value=index, function=function)
    return resolved


def _known(parameters: Parameters, names: Names, option: str, function: str) -> None:
    for name in names:
        if name in parameters.positional_only:
            raise errors.ArgnamesPositionalOnly(option=f"{option}_argnames", value=name, function=function)
        allowed = (*parameters.positional, *parameters.keyword_only)
        if name not in allowed and not parameters.more_keywords:
            known = ", ".join(allowed)
            raise errors.ArgnamesUnknown(option=f"{option}_argnames", value=name, known=known, function=function)


def resolved_indices(parameters: Parameters, indices: Numbers, count: int, name: str) -> frozenset[int]:
    """Positions within a call of `count` positional arguments; only where *args are taken is more to check than before.

    Raises `ArgnumsOutOfRange`.
    """
    if parameters.more_positional:
        limit = max(count, len(parameters.positional))
        outside = [i for i in indices if not -count <= i < limit]
        if outside:
            raise errors.ArgnumsOutOfRange(option="argnums", value=outside[0], count=count, function=name)
    return frozenset(i + count if i < 0 else i for i in indices)


class Signature(NamedTuple):
    """What one call looked like: its tree, the names of traced positional arguments, leaf names and types, static values,
    settings. Calls with equal keys share a program."""

    tree: tree.PyTreeDef
    positions: Names
    names: Names
    types: tuple[ArrayType, ...]
    statics: tuple[tuple[str, Any], ...]
    keys: tuple[object, ...]
    context: tuple[object, ...]

    def difference(self, other: Signature) -> Difference | None:
        """The first part in which this call differs from an earlier one, or None."""
        return (
            _tree_difference(self, other)
            or _static_difference(self, other)
            or _context_difference(self, other)
            or _type_difference(self, other)
        )

    def distance(self, other: Signature) -> int:
        """How many parts differ: the smallest is the closest earlier key."""
        far = 0 if self.tree == other.tree else 1000
        types = 0 if self.types == other.types else sum(map(operator.is_not, self.types, other.types))
        statics = 0 if self.keys == other.keys else sum(map(operator.ne, self.keys, other.keys))
        return far + types + statics + (self.context != other.context)


class Difference(NamedTuple):
    """One part in which two calls differ: what kind, of which argument, before and now (for people), and a hint."""

    kind: str
    argument: str
    before: str
    after: str
    hint: str = ""

    def __str__(self) -> str:
        what = f"{self.kind} of {self.argument}" if self.argument else self.kind
        hint = f" ({self.hint})" if self.hint else ""
        return f"{what} was {self.before}, is now {self.after}{hint}"


def _tree_difference(new: Signature, old: Signature) -> Difference | None:
    if new.tree == old.tree:
        return None
    parting = tree.difference(old.tree, new.tree)
    if parting is None:
        return Difference("tree structure", "the arguments", str(old.tree), str(new.tree))
    return Difference("tree structure", _argument_at(new, parting.path), parting.here, parting.there)


def _argument_at(signature: Signature, path: KeyPath) -> str:
    """The argument that a path in (args, kwargs) leads into, and the path within it."""
    if len(path) < 2:
        return "the arguments"
    key = bare(path[1])
    base = signature.positions[key] if bare(path[0]) == 0 else str(key)
    return base + keystr(path[2:])


def _type_difference(new: Signature, old: Signature) -> Difference | None:
    for name, a, b in zip(new.names, new.types, old.types, strict=False):
        if a is b:
            continue
        if a.shape == b.shape and a.dtype == b.dtype:
            return Difference("weak_type", name, _typed(b), _typed(a), _WEAK_HINT)
        kind = "shape" if a.dtype == b.dtype else "dtype"
        return Difference(kind, name, _typed(b), _typed(a))
    return None


_WEAK_HINT = "a Python scalar is weakly typed; start from a typed one such as celadon.numpy.float32(0.0)"


def _typed(type: ArrayType) -> str:
    return f"{type}{' weak_type=True' if type.weak_type else ''}"


def _static_difference(new: Signature, old: Signature) -> Difference | None:
    pairs = zip(new.statics, new.keys, old.statics, old.keys, strict=False)
    for (name, value), key, (other_name, before), other_key in pairs:
        if (name, key) != (other_name, other_key):
            return Difference("static argument", name, shown(before), shown(value), static_hint(value, before))
    if len(new.statics) != len(old.statics):
        return Difference("static arguments", "", str(len(old.statics)), str(len(new.statics)))
    return None


def shown(value: object) -> str:
    """A value in a message: its repr, cut, with its type where the repr does not tell."""
    text = repr(value)
    text = text if len(text) <= 80 else text[:77] + "..."
    return text if type(value).__name__ in text else f"{text} ({type(value).__name__})"


def static_hint(value: object, before: object) -> str:
    """Why two static values that look alike are different keys."""
    if type(value) is not type(before):
        return f"the types differ: {type(before).__name__} and {type(value).__name__}"
    if looks_equal(value, before):
        name = type(value).__name__
        return (
            f"{name} has no __eq__ and __hash__ by value, so each instance is a key by identity; "
            f"both have the fields {fields_of(value)}"
        )
    return ""


def _context_difference(new: Signature, old: Signature) -> Difference | None:
    for name, a, b in zip(settings.names(), new.context, old.context, strict=False):
        if a != b:
            return Difference("setting", name.removeprefix("jax_"), str(b), str(a))
    return None


def fields_of(value: object) -> dict[str, Any]:
    """The attributes of an object: its vars, or its slots; one level deep."""
    found: dict[str, Any] = dict(getattr(value, "__dict__", {}))
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            if slot not in ("__dict__", "__weakref__") and hasattr(value, slot):
                found[slot] = getattr(value, slot)
    return found


def by_identity(value: object) -> bool:
    """Whether equality of this value is identity: its class defines no __eq__."""
    return type(value).__eq__ is object.__eq__ and type(value).__module__ != "builtins" and not callable(value)


def looks_equal(value: object, other: object) -> bool:
    """Whether two objects that compare by identity are of one type and have the same fields."""
    return (
        value is not other
        and type(value) is type(other)
        and by_identity(value)
        and same_fields(fields_of(value), fields_of(other))
    )


def same_fields(fields: dict[str, Any], others: dict[str, Any]) -> bool:
    """Equality of two objects' fields, one level deep; values that can't be compared count as different."""
    return fields.keys() == others.keys() and all(_same(fields[name], others[name]) for name in fields)


def _same(a: object, b: object) -> bool:
    if a is b:
        return True
    try:
        return type(a) is type(b) and bool(a == b)
    except Exception:  # a user's __eq__ may raise anything; then nothing is known, and nothing is claimed
        return False


def leaf_names(parameters: Parameters, paths: Sequence[tuple[object, str]], shift: Sequence[int]) -> Names:
    """Names of leaves from (argument key, path within it) pairs: `x`, `d['r'][1]`; `shift` gives original positions."""
    names: list[str] = []
    for key, path in paths:
        base = parameters.name_of(shift[key]) if isinstance(key, int) else str(key)
        names.append(base + path)
    return tuple(names)
