"""A container goes in; one node comes out: its class, metadata, keys and children, for partings, paths and treedefs."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from celadon import errors
from celadon.tree_paths import DictKey, FlattenedIndexKey, GetAttrKey, KeyPath, SequenceKey, listed, place

IsLeaf = Callable[[Any], bool] | None


class Leaf:
    """The place of a leaf in a treedef."""

    def __repr__(self) -> str:
        return "*"


LEAF = Leaf()


class Node(NamedTuple):
    """One container: children are values (of a tree) or nodes and LEAF (of a treedef).

    `named` are the keys of a registered class' children, where it gave them; see `keys`.
    """

    type: type[Any]
    data: Any
    children: tuple[Any, ...]
    named: KeyPath | None = None

    @property
    def keys(self) -> KeyPath:
        """The keys of the children."""
        if self.named is not None:
            return self.named
        if self.type in registrations:
            return tuple(map(FlattenedIndexKey, range(len(self.children))))
        if is_dict(self.type):
            return tuple(map(DictKey, self.data[1] if self.type is defaultdict else self.data))
        fields: tuple[str, ...] | None = getattr(self.type, "_fields", None)
        return tuple(map(SequenceKey, range(len(self.children)))) if fields is None else tuple(map(GetAttrKey, fields))


class Registration(NamedTuple):
    """How a class is taken apart and built; `fields` name the children of a dataclass."""

    flatten: Callable[[Any], Any]
    unflatten: Callable[[Any, Any], Any]
    flatten_with_keys: Callable[[Any], tuple[Iterable[tuple[Any, Any]], Any]] | None = None
    fields: tuple[str, ...] | None = None


registrations: dict[type[Any], Registration] = {}


def class_of(value: object) -> type[Any]:
    """The class of a value."""
    return type(value)


def is_dict(cls: type[Any]) -> bool:
    """Whether a class is dict or derives from it."""
    return issubclass(cls, dict)


def is_namedtuple(cls: type[Any]) -> bool:
    """Whether a class was made by namedtuple, or derives from such a class.

    >>> is_namedtuple(tuple)
    False
    """
    named = isinstance(getattr(cls, "_fields", None), tuple) and callable(getattr(cls, "_make", None))
    return named and issubclass(cls, tuple)


def is_struct_sequence(cls: type[Any]) -> bool:
    """Whether a class is one of the interpreter's own records, such as time.struct_time.

    >>> is_struct_sequence(tuple)
    False
    """
    return cls.__base__ is tuple and isinstance(getattr(cls, "n_sequence_fields", None), int)


def is_node(cls: type[Any]) -> bool:
    """Whether instances of a class are containers."""
    return cls in registrations or cls in openers or is_namedtuple(cls) or is_struct_sequence(cls)


def open_node(value: Any) -> Node | None:
    """One level of a tree, or None for a leaf.

    >>> open_node({"b": 1, "a": 2})
    Node(type=<class 'dict'>, data=('a', 'b'), children=(2, 1), named=None)
    """
    cls = class_of(value)
    if cls in registrations:
        return _open_registered(value, registrations[cls])
    if cls in openers:
        return openers[cls](value)
    return _open_sequence(value) if is_namedtuple(cls) or is_struct_sequence(cls) else None


def field_keys(cls: type[Any]) -> KeyPath | None:
    """The keys of the children of a registered dataclass; None for other classes."""
    fields = registrations[cls].fields if cls in registrations else None
    return None if fields is None else tuple(map(GetAttrKey, fields))


def _open_none(value: None) -> Node:
    return Node(type(None), None, ())


def _open_sequence(value: list[Any] | tuple[Any, ...]) -> Node:
    return Node(type(value), None, tuple(value))


def _open_dict(value: dict[Any, Any]) -> Node:
    keys = tuple(ordered_keys(value))
    return Node(dict, keys, tuple([value[key] for key in keys]))


def _open_ordered(value: OrderedDict[Any, Any]) -> Node:
    return Node(OrderedDict, tuple(value), tuple(value.values()))


def _open_default(value: defaultdict[Any, Any]) -> Node:
    keys = tuple(ordered_keys(value))
    return Node(defaultdict, (value.default_factory, keys), tuple([value[key] for key in keys]))


openers: dict[type[Any], Callable[[Any], Node]] = {
    type(None): _open_none,
    tuple: _open_sequence,
    list: _open_sequence,
    dict: _open_dict,
    OrderedDict: _open_ordered,
    defaultdict: _open_default,
}


def ordered_keys(keys: Iterable[Any]) -> list[Any]:
    """Keys in the order of a tree's children: sorted, else by type name and value, else as they were inserted.

    >>> ordered_keys({"q": 0, 3: 1, 1: 2})
    [1, 3, 'q']
    """
    listing = list(keys)
    for by in (None, _type_and_value):
        try:
            return sorted(listing, key=by)
        except TypeError:
            continue
    return listing


def _type_and_value(key: Any) -> tuple[str, Any]:
    return f"{type(key).__module__}.{type(key).__qualname__}", key


def _open_registered(value: Any, registration: Registration) -> Node:
    cls = class_of(value)
    if registration.flatten_with_keys is None:
        children, data = taken_apart(value, registration.flatten)
        return Node(cls, data, tuple(children), field_keys(cls))
    pairs, data = taken_apart(value, registration.flatten_with_keys)
    pairs = tuple(pairs)
    if not all(map(_is_pair, pairs)):
        raise errors.FlattenFunctionInvalid(type=cls.__name__, result=short(pairs))
    return Node(cls, data, tuple([child for _, child in pairs]), tuple([key for key, _ in pairs]))


def _is_pair(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 2  # pyright: ignore[reportUnknownArgumentType]


def taken_apart(value: Any, flatten: Callable[[Any], Any]) -> tuple[Iterable[Any], Any]:
    """Children and metadata as a class' flatten function gives them, checked."""
    result = flatten(value)
    if _is_pair(result) and isinstance(result[0], Iterable):
        return result
    raise errors.FlattenFunctionInvalid(type=type(value).__name__, result=short(result))


def build(cls: type[Any], data: Any, children: Any) -> Any:
    """A container from its class, its metadata and its children; dicts in the order of their sorted keys, as in JAX.

    >>> build(dict, ("a", "b"), [1, 2])
    {'a': 1, 'b': 2}
    """
    builder = builders.get(cls)
    if builder is not None:
        return builder(data, children)
    if cls in registrations:
        return registrations[cls].unflatten(data, tuple(children))
    return cls(*children) if is_namedtuple(cls) else cls(children)


builders: dict[type[Any], Callable[[Any, Any], Any]] = {
    type(None): lambda data, children: None,
    tuple: lambda data, children: tuple(children),
    list: lambda data, children: list(children),
    dict: lambda data, children: dict(zip(data, children, strict=True)),
    OrderedDict: lambda data, children: OrderedDict(zip(data, children, strict=True)),
    defaultdict: lambda data, children: defaultdict(data[0], zip(data[1], children, strict=True)),
}


def walk(tree: Any, stop: Callable[[KeyPath, Any], bool], path: KeyPath = ()) -> Iterator[tuple[KeyPath, Any]]:
    """The leaves of a tree with their paths, in order; `stop` says of every node and leaf whether it counts as a leaf.

    >>> list(walk((1, None, {"a": 2}), lambda path, value: False))
    [((SequenceKey(idx=0),), 1), ((SequenceKey(idx=2), DictKey(key='a')), 2)]
    """
    node = None if stop(path, tree) else opened_at(tree, path)
    if node is None:
        yield path, tree
        return
    for key, child in zip(node.keys, node.children, strict=True):
        yield from walk(child, stop, (*path, key))


def opened_at(tree: Any, path: KeyPath) -> Node | None:
    """Like open_node; keys whose comparison fails are shown with the path of their dict."""
    if not isinstance(tree, dict) or type(tree) in registrations:  # pyright: ignore[reportUnknownArgumentType]
        return open_node(tree)
    try:
        return open_node(tree)
    except Exception as reason:
        keys = listed(map(DictKey, tree))  # pyright: ignore[reportUnknownArgumentType]
        raise errors.DictKeysUnordered(path=place(path), keys=keys, reason=reason) from reason


def short(value: Any) -> str:
    """A value for a sentence: its repr, cut in the middle, or its class where repr fails.

    >>> short("p"), len(short("p" * 1000))
    ("'p'", 120)
    """
    try:
        text = " ".join(repr(value).split())
    except Exception:
        text = f"an object of {type(value).__name__}"
    return text if len(text) <= 120 else f"{text[:70]} ... {text[-45:]}"


def stop_at(is_leaf: IsLeaf) -> Callable[[Any], bool]:
    """What optree asks at every node, from a user's is_leaf.

    >>> stop_at(lambda value: value is None)(None)
    True
    """
    if is_leaf is None:
        return deque.__instancecheck__  # a container to optree, a leaf to us
    return lambda value: answer(is_leaf(value)) or isinstance(value, deque)


def answer(result: Any) -> bool:
    """The answer of an is_leaf function as a bool; None counts as no."""
    if result is None or type(result) in (bool, np.bool_):
        return bool(result)
    raise errors.LeafPredicateInvalid(result=short(result))


def name_of(cls: type[Any]) -> str:
    """The name of a class with its article.

    >>> name_of(list), name_of(int)
    ('a list', 'an int')
    """
    return f"{'an' if cls.__name__[:1] in 'aeiouAEIO' else 'a'} {cls.__name__}"


def keys_beside(flatten_with_keys: Any) -> Callable[[Any], tuple[list[Any], Any, KeyPath]]:
    """From a flatten function with keys, one that returns children, metadata and keys."""

    def take_apart(value: Any) -> tuple[list[Any], Any, KeyPath]:
        pairs, data = taken_apart(value, flatten_with_keys)
        pairs = tuple(pairs)
        return [child for _, child in pairs], data, tuple([key for key, _ in pairs])

    return take_apart
