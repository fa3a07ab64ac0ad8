"""The structure of a tree goes in; its nodes come out, written, listed by path, checked and filled, for treedefs."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from dataclasses import fields, is_dataclass
from typing import Any

from celadon import errors
from celadon.tree_nodes import LEAF, Leaf, Node, build, field_keys, is_namedtuple, registrations, short
from celadon.tree_paths import KeyPath


def outline(spec: Any) -> Node | Leaf:
    """The treedef of an optree structure as nodes, without optree.

    Args:
        spec: optree's structure.

    Returns:
        The root node, whose children are nodes and LEAF; LEAF itself for a single leaf.
    """
    if not spec.namespace:  # no registered class, so the keys follow from the containers themselves
        return spec.walk([LEAF] * spec.num_leaves, _plain)
    if spec.type is None:
        return LEAF
    data = spec.one_level().walk(range(spec.num_children), _second)
    children = tuple([outline(child) for child in spec.children()])
    return Node(spec.type, _metadata(spec.type, data), children, _named(spec))


def _plain(cls: type[Any], metadata: Any, children: tuple[Any, ...]) -> Node:
    return Node(cls, _metadata(cls, metadata), children)


def _second(cls: type[Any], metadata: Any, children: tuple[Any, ...]) -> Any:
    return metadata


def _metadata(cls: type[Any], metadata: Any) -> Any:
    if cls in (dict, OrderedDict):
        return tuple(metadata)
    if cls is defaultdict:
        return metadata[0], tuple(metadata[1])
    return metadata if cls in registrations else None


def _named(spec: Any) -> KeyPath | None:
    if spec.type not in registrations:
        return None
    entries = spec.entries()
    return field_keys(spec.type) if entries == list(range(len(entries))) else tuple(entries)


def assemble(node: Node | Leaf, tree: Any) -> Any:
    """A tree with the structure of a node from nested iterables.

    >>> assemble(Node(tuple, None, (LEAF,)), [1])
    (1,)
    """
    if isinstance(node, Leaf):
        return tree
    children = [assemble(child, part) for child, part in zip(node.children, tree or (), strict=True)]
    return build(node.type, node.data, children)


def paths(node: Node | Leaf) -> list[KeyPath]:
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


def count(node: Node | Leaf) -> int:
    """The number of leaves of a treedef."""
    return 1 if isinstance(node, Leaf) else sum(map(count, node.children))


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
    return _is_hashable(data) or _is_yes_or_no(data == data)


def _is_hashable(data: Any) -> bool:
    try:
        hash(data)
    except Exception:
        return False
    return True


def _is_yes_or_no(answer: Any) -> bool:
    return isinstance(answer, bool) or getattr(answer, "size", None) == 1


def text(node: Node | Leaf) -> str:
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
