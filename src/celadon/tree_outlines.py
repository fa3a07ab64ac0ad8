"""A tree comes in; its leaves and its outline, nodes and LEAF, go out, and back; outlines are what treedefs hold."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from itertools import islice
from typing import Any

import numpy as np

from celadon import errors
from celadon.tree_nodes import (
    LEAF,
    ClassNode,
    Leaf,
    Node,
    build,
    class_of,
    field_keys,
    is_namedtuple,
    is_record,
    open_node,
    open_registered,
    openers,
    registrations,
    short,
)  # fmt: skip
from celadon.tree_paths import KeyPath

Outline = Node | Leaf
_LEAF_TYPES_AT_MOST = 4096
_new = tuple.__new__  # a quarter of the time that a named tuple takes to make
leaf_types: set[type[Any]] = set()
"""Classes seen whose instances are leaves."""


def outline(value: Any, leaves: list[Any]) -> Outline:
    """The outline of a tree: its root node, whose children are nodes and LEAF; LEAF itself for a single leaf.

    Args:
        value: the tree.
        leaves: receives its leaves, from left to right.

    >>> found = []
    >>> outline([1, {"a": 2}], found).children, found
    ((*, Node(type=<class 'dict'>, data=('a',), children=(*,))), [1, 2])
    """
    cls = type(value)
    if cls in leaf_types:
        leaves.append(value)
        return LEAF
    opener = openers.get(cls)
    if opener is None:
        return _outline_of_class(value, leaves)
    data, children = opener(value)
    return _new(Node, (cls, data, _outlines(children, leaves)))


def _outlines(children: Sequence[Any], leaves: list[Any]) -> tuple[Outline, ...]:
    if leaf_types.issuperset(map(type, children)):
        leaves.extend(children)
        return (LEAF,) * len(children)
    return tuple([outline(child, leaves) for child in children])


def _outline_of_class(value: Any, leaves: list[Any]) -> Outline:
    cls = class_of(value)
    if cls in registrations:
        node = open_registered(value)
        return node.over(_outlines(node.children, leaves))
    if is_record(cls):
        return Node(cls, None, _outlines(value, leaves))
    if len(leaf_types) > _LEAF_TYPES_AT_MOST:
        leaf_types.clear()
    leaf_types.add(cls)
    leaves.append(value)
    return LEAF


def outline_until(value: Any, stop: Callable[[Any], bool], leaves: list[Any]) -> Outline:
    """The outline of a tree of which all counts as a leaf at which `stop`, asked everywhere, says so."""
    node = None if stop(value) else open_node(value)
    if node is None:
        leaves.append(value)
        return LEAF
    return node.over(tuple([outline_until(child, stop, leaves) for child in node.children]))


def filled(node: Outline, leaves: Iterator[Any]) -> Any:
    """The tree of an outline with these leaves.

    >>> filled(Node(list, None, (LEAF, LEAF)), iter((1, 2)))
    [1, 2]
    """
    if isinstance(node, Leaf):
        return next(leaves)
    cls, data, children = node
    if children.count(LEAF) == len(children):
        parts = list(islice(leaves, len(children)))
    else:
        parts = [next(leaves) if child is LEAF else filled(child, leaves) for child in children]
    return parts if cls is list else dict(zip(data, parts)) if cls is dict else build(cls, data, parts)  # noqa: B905


def walked(node: Outline, f_node: Callable[..., Any], f_leaf: Callable[[Any], Any] | None, leaves: Iterator[Any]) -> Any:
    """What f_node makes of the root: it is called with the results of a node's children, and its metadata."""
    if isinstance(node, Leaf):
        return next(leaves) if f_leaf is None else f_leaf(next(leaves))
    children = tuple([walked(child, f_node, f_leaf, leaves) for child in node.children])
    return f_node(children, node_data(node))


def node_data(node: Node) -> Any:
    """The metadata of a node as JAX gives them."""
    return list(node.data) if node.type is dict else node.data


def grafted(node: Outline, inner: Outline) -> Outline:
    """An outline with another one at each of its leaves."""
    if isinstance(node, Leaf):
        return inner
    return node.over(tuple([grafted(child, inner) for child in node.children]))


def root_of(cls: type[Any], data: Any, children: tuple[Outline, ...]) -> Node:
    """A node from its class, its metadata as JAX gives them, and the outlines of its children."""
    if cls in registrations:
        node = ClassNode(cls, data, children)
        node.named = field_keys(cls)
        return node
    return Node(cls, tuple(data) if cls in (dict, OrderedDict) else data, children)


def assemble(node: Node | Leaf, tree: Any) -> Any:
    """A tree with the structure of a node from nested iterables.

    >>> assemble(Node(tuple, None, (LEAF,)), [1])
    (1,)
    """
    if isinstance(node, Leaf):
        return tree
    children = [assemble(child, part) for child, part in zip(node.children, tree or (), strict=True)]
    return build(node.type, node.data, children)


def paths(node: Outline) -> list[KeyPath]:
    """The path of each leaf of a treedef.

    >>> paths(Node(list, None, (LEAF, LEAF)))
    [(SequenceKey(idx=0),), (SequenceKey(idx=1),)]
    """
    found: list[KeyPath] = []
    _add_paths(node, (), found)
    return found


def _add_paths(node: Node | Leaf, path: KeyPath, found: list[KeyPath]) -> None:
    if isinstance(node, Leaf):
        found.append(path)
        return
    for key, child in zip(node.keys, node.children, strict=True):
        _add_paths(child, (*path, key), found)


def count(node: Outline) -> int:
    """The number of leaves of a treedef."""
    return 1 if isinstance(node, Leaf) else sum(map(count, node.children))


def count_all(node: Outline) -> int:
    """The number of nodes of a treedef, its leaves among them."""
    return 1 if isinstance(node, Leaf) else 1 + sum(map(count_all, node.children))


def has_classes(node: Outline) -> bool:
    """Whether a registered class is among the nodes."""
    return not isinstance(node, Leaf) and (isinstance(node, ClassNode) or any(map(has_classes, node.children)))


def check_metadata(node: Outline) -> None:
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


def text(node: Outline) -> str:
    """A treedef as it prints, without its frame.

    >>> text(Node(dict, ("a",), (LEAF,)))
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
