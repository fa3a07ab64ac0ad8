"""The structure of a tree goes in; its nodes come out, written, listed by path, checked and filled, for treedefs."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from celadon import errors
from celadon.tree_nodes import LEAF, Leaf, Node, child_keys, is_namedtuple, rebuild, registrations, short
from celadon.tree_paths import DictKey, KeyPath


def outline(spec: Any) -> Node | Leaf:
    """The treedef of an optree structure as nodes, without optree.

    Args:
        spec: optree's structure.

    Returns:
        The root node, whose children are nodes and LEAF; LEAF itself for a single leaf.
    """
    if spec.type is None:
        return LEAF
    data = spec.one_level().walk(range(spec.num_children), lambda cls, data, children: data)
    children = tuple([outline(child) for child in spec.children()])
    return Node(spec.type, _metadata(spec.type, data), _keys(spec), children)


def _metadata(cls: type[Any], metadata: Any) -> Any:
    if cls in (dict, OrderedDict):
        return tuple(metadata)
    if cls is defaultdict:
        return metadata[0], tuple(metadata[1])
    return None if is_namedtuple(cls) and cls not in registrations else metadata


def _keys(spec: Any) -> KeyPath:
    cls, entries = spec.type, spec.entries()
    if cls in (dict, OrderedDict, defaultdict):
        return tuple([DictKey(entry) for entry in entries])
    if cls not in registrations or entries == list(range(len(entries))):
        return child_keys(cls, len(entries))
    return tuple(entries)


def assemble(node: Node | Leaf, tree: Any) -> Any:
    """A tree with the structure of a node from nested iterables.

    >>> assemble(Node(tuple, None, (0,), (LEAF,)), [1])
    (1,)
    """
    if isinstance(node, Leaf):
        return tree
    children = [assemble(child, part) for child, part in zip(node.children, tree or (), strict=True)]
    return rebuild(node.type, node.data, children)


def paths(node: Node | Leaf, path: KeyPath = ()) -> Iterator[KeyPath]:
    """The path of each leaf of a treedef.

    >>> list(paths(Node(list, None, (DictKey(0),), (LEAF,))))
    [(DictKey(key=0),)]
    """
    if isinstance(node, Leaf):
        yield path
        return
    for key, child in zip(node.keys, node.children, strict=True):
        yield from paths(child, (*path, key))


def check_metadata(node: Node | Leaf) -> None:
    """Raises MetadataAmbiguous where a registered class has metadata that can't be compared."""
    if isinstance(node, Leaf):
        return
    if node.type in registrations and not comparable(node.data):
        reason = "it holds an array, whose comparison is an array again"
        raise errors.MetadataAmbiguous(type=node.type.__name__, metadata=short(node.data), reason=reason)
    for child in node.children:
        check_metadata(child)


def comparable(data: Any) -> bool:
    """Whether `==` of metadata answers yes or no.

    >>> comparable(("relu", 2)), comparable([1, 2])
    (True, True)
    """
    if isinstance(data, (tuple, list, set, frozenset)):
        return all(map(comparable, data))  # pyright: ignore[reportUnknownArgumentType]
    if isinstance(data, dict):
        return all(map(comparable, data.values()))  # pyright: ignore[reportUnknownArgumentType]
    if is_dataclass(data) and not isinstance(data, type):
        return all(comparable(getattr(data, field.name)) for field in fields(data) if field.compare)
    return type(data).__hash__ is not None or isinstance(data == data, (bool, np.bool_))


def text(node: Node | Leaf) -> str:
    """A treedef as it prints, without its frame.

    >>> text(Node(dict, ("a",), (DictKey("a"),), (LEAF,)))
    "{'a': *}"
    """
    if isinstance(node, Leaf):
        return "*"
    inner = [text(child) for child in node.children]
    if node.type is type(None):
        return "None"
    if node.type is dict:
        return "{" + ", ".join(f"{key!r}: {child}" for key, child in zip(node.data, inner, strict=True)) + "}"
    if node.type is list:
        return f"[{', '.join(inner)}]"
    if node.type is tuple:
        return f"({', '.join(inner)}{',' if len(inner) == 1 else ''})"
    return f"CustomNode({_label(node)}, [{', '.join(inner)}])"


def _label(node: Node) -> str:
    if node.type not in registrations and is_namedtuple(node.type):
        return f"namedtuple[{node.type.__name__}]"
    return f"{node.type.__name__}[{node.data}]"
