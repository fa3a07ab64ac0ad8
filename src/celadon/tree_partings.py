"""Two trees go in; the first place where they part comes out, as data or as an error that shows both sides."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, NoReturn

from celadon import errors
from celadon.tree_nodes import LEAF, Leaf, Node, is_dict, is_namedtuple, name_of, registrations, short
from celadon.tree_outlines import paths
from celadon.tree_paths import KeyPath, listed, place

Look = Callable[[Any], Node | None]


class Parting(NamedTuple):
    """Where two trees part: the path, what differs, what stands in the first tree (here) and in the second (there).

    `kind` is "type" (two classes, or a leaf against a container), "length" (of a list or tuple), "keys" (of a dict),
    "children" (of a registered class) or "metadata"; `cls` is the class of the first tree's node, None for a leaf;
    `missing` and `extra` are the keys that only the first and only the second tree has there.
    """

    path: KeyPath
    kind: Literal["type", "length", "keys", "children", "metadata"]
    here: str
    there: str
    cls: type[Any] | None = None
    missing: KeyPath = ()
    extra: KeyPath = ()


def as_node(value: Any) -> Node | None:
    """Looks at a part of a treedef: the node itself, None for a leaf."""
    return value if isinstance(value, Node) else None


def fit(node: Node | Leaf, value: Any, look: Look, pieces: list[Any]) -> Parting | None:
    """Lays a treedef over another tree; `pieces` receives what stands at each of its leaves.

    `look` opens the other tree: `open_node` for values, `as_node` for treedefs.
    """
    if isinstance(node, Leaf):
        pieces.append(value)
        return None
    other = look(value)
    parting = compare(node, other, value)
    if parting is not None or other is None:
        return parting
    for i, (child, part) in enumerate(zip(node.children, arranged(node, other), strict=True)):
        parting = fit(child, part, look, pieces)
        if parting is not None:
            return parting._replace(path=(node.keys[i], *parting.path))
    return None


def laid_over(node: Node | Leaf, value: Any, look: Look, reference: str, tree: str) -> list[Any]:
    """What stands at the treedef's leaves in the other tree; where it does not follow, the error names both."""
    pieces: list[Any] = []
    parting = fit(node, value, look, pieces)
    if parting is not None:
        explain(parting, reference, tree)
    return pieces


def difference(here: Node | Leaf, there: Node | Leaf) -> Parting | None:
    """The first place where two treedefs differ, None where they are equal."""
    pieces: list[Any] = []
    later = fit(here, there, as_node, pieces)
    for i, piece in enumerate(pieces):
        if not isinstance(piece, Leaf):
            return Parting(paths(here)[i], "type", "a leaf", describe(piece))
    return later


def compare(node: Node, other: Node | None, value: Any) -> Parting | None:
    """The parting at one node itself, its children aside; its path is the empty one."""
    if other is None:
        return Parting((), "type", describe(node), describe_leaf(value), node.type)
    kind = _kind(node, other)
    if kind == "metadata":
        return Parting((), kind, short(node.data), short(other.data), node.type)
    if kind in ("keys", "children"):
        missing, extra = _only_in(node.keys, other.keys), _only_in(other.keys, node.keys)
        return Parting((), kind, describe(node), describe(other), node.type, missing, extra)
    return kind and Parting((), kind, describe(node), describe(other), node.type)


def _only_in(keys: KeyPath, others: KeyPath) -> KeyPath:
    return tuple(key for key in keys if key not in others)


def _kind(node: Node, other: Node) -> Literal["type", "length", "keys", "children", "metadata"] | None:
    if node.type is not other.type:
        return "type"
    if node.type not in registrations and is_dict(node.type):
        return _kind_of_dicts(node, other)
    if len(node.children) != len(other.children):
        return "children" if node.type in registrations else "length"
    return None if same_data(node.type, node.data, other.data) else "metadata"


def _kind_of_dicts(node: Node, other: Node) -> Literal["keys", "metadata"] | None:
    if node.type is defaultdict:
        same = set(node.data[1]) == set(other.data[1])
        return ("metadata" if node.data[0] != other.data[0] else None) if same else "keys"
    if node.data == other.data:
        return None
    return "keys" if node.type is OrderedDict or set(node.data) != set(other.data) else None


def same_data(cls: type[Any], here: Any, there: Any) -> bool:
    """Whether the metadata of two nodes of a class are equal; an array, which can't say so, is an error."""
    try:
        return here is there or bool(here == there)
    except Exception as reason:
        raise errors.MetadataAmbiguous(type=cls.__name__, metadata=short(here), reason=reason) from reason


def arranged(node: Node, other: Node) -> tuple[Any, ...]:
    """The children of `other` in the order of the node's keys."""
    if node.type in registrations or not is_dict(node.type) or node.data == other.data:
        return other.children
    found = dict(zip(other.keys, other.children, strict=True))
    return tuple(found[key] for key in node.keys)


def describe(node: Node | Leaf) -> str:
    """What stands somewhere, for a sentence.

    >>> describe(LEAF), describe(Node(list, None, ()))
    ('a leaf', 'a list of 0')
    """
    if isinstance(node, Leaf):
        return "a leaf"
    if node.type is type(None):
        return "None"
    if node.type in registrations:
        return _describe_registered(node)
    if is_dict(node.type):
        keys = f"the keys {listed(node.keys)}" if node.keys else "no keys"
        return f"{name_of(node.type)} with {keys}"
    if is_namedtuple(node.type):
        return f"the namedtuple {node.type.__name__}({', '.join(key.name for key in node.keys)})"
    return f"{name_of(node.type)} of {len(node.children)}"


def _describe_registered(node: Node) -> str:
    children = f"the children {listed(node.keys)}" if node.keys else "no children"
    return f"{name_of(node.type)} with {children} and the metadata {short(node.data)}"


def describe_leaf(value: Any) -> str:
    """A leaf for a sentence: of a tree with its value, of a treedef without."""
    return "a leaf" if value is LEAF else f"the leaf {short(value)}"


def explain(parting: Parting, reference: str, tree: str) -> NoReturn:
    """Raises the error for a parting of `tree` (at fault) from `reference` (whose structure counts)."""
    facts: dict[str, object] = {"reference": reference, "tree": tree, "path": place(parting.path)}
    facts |= {"here": parting.here, "there": parting.there, "type": getattr(parting.cls, "__name__", "leaf")}
    facts["difference"] = _key_difference(parting)
    if parting.kind == "length":
        raise errors.TreeLengthsDiffer(**facts)
    if parting.kind == "keys":
        raise errors.TreeKeysDiffer(**facts)
    if parting.kind == "metadata":
        raise errors.TreeMetadataDiffers(**facts)
    if parting.kind == "children":
        raise errors.ValueErrorInChildren(**facts)
    raise errors.TreeTypesDiffer(**facts)


def _key_difference(parting: Parting) -> str:
    if not parting.missing and not parting.extra:
        return "has them in another order"
    lacks = f"lacks {listed(parting.missing)}" if parting.missing else ""
    adds = f"adds {listed(parting.extra)}" if parting.extra else ""
    return " and ".join(filter(None, (lacks, adds)))
