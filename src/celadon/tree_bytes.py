"""The nodes of a structure go in; bytes come out, and back: the protocol buffer messages in which JAX stores structures.

A structure is its nodes (field 1), children before their parent, and the keys of its dicts (field 2), each once. A node is
the number of its children (field 1), its kind (field 2), and for a dict a message (field 3) with the places of its keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from celadon import errors
from celadon.tree_nodes import Leaf, Node, build

_LEAF = 1
_KINDS: dict[type[Any], int] = {list: 2, type(None): 3, tuple: 4, dict: 5}
_CLASSES = {kind: cls for cls, kind in _KINDS.items()}
_Fields = dict[int, list[Any]]


def written(root: Node | Leaf) -> bytes:
    """The bytes of a structure of tuples, lists, None and dicts with strings for keys.

    Raises: StructureNotWritable, for other containers and other keys.

    >>> written(Node(tuple, None, (Leaf(), Leaf()))).hex()
    '0a0210010a0210010a0408021004'
    """
    places: dict[str, int] = {}
    nodes = b"".join([_message(1, node) for node in _nodes(root, places)])
    return nodes + b"".join([_message(2, key.encode()) for key in places])


def _nodes(node: Node | Leaf, places: dict[str, int]) -> Iterator[bytes]:
    if isinstance(node, Leaf):
        yield _number(2, _LEAF)
        return
    for child in node.children:
        yield from _nodes(child, places)
    if node.type not in _KINDS:
        raise errors.StructureNotWritable(what=f"a node of the class {node.type.__name__}")
    keys = b"".join([_varint(_place(key, places)) for key in node.data or ()])
    yield _number(1, len(node.children)) + _number(2, _KINDS[node.type]) + (_message(3, _message(1, keys)) if keys else b"")


def _place(key: Any, places: dict[str, int]) -> int:
    if not isinstance(key, str):
        raise errors.StructureNotWritable(what=f"the key {key!r} of a dict")
    return places.setdefault(key, len(places))


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value) if value else b""


def _message(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    low = bytes([value & 127 | (128 if value > 127 else 0)])
    return low + _varint(value >> 7) if value > 127 else low


def read(data: bytes) -> Any:
    """A tree of the structure that bytes hold, with 0 at its leaves.

    Raises: StructureUnreadable, if they are no structure.

    >>> read(bytes.fromhex("0a0210010a0210010a0408021004"))
    (0, 0)
    """
    try:
        fields = _fields(data)
        keys = [key.decode() for key in fields.get(2, [])]
        trees: list[Any] = []
        for node in fields.get(1, []):
            _add(trees, _fields(node), keys)
        (tree,) = trees
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise errors.StructureUnreadable(size=len(data), reason=repr(error)) from error
    return tree


def _add(trees: list[Any], fields: _Fields, keys: list[str]) -> None:
    """Puts a node together from the last trees, which become its children."""
    count, kind = fields.get(1, [0])[-1], fields[2][-1]
    if count > len(trees):
        raise ValueError(f"a node has {count} children, of which {len(trees)} are there")
    first = len(trees) - count
    if kind == _LEAF:
        trees.append(0)
        return
    places = [place for message in fields.get(3, []) for part in _fields(message).get(1, []) for place in _varints(part)]
    trees[first:] = [build(_CLASSES[kind], [keys[place] for place in places], trees[first:])]


def _fields(data: bytes) -> _Fields:
    """The values of a message by the numbers of their fields: integers, and bytes."""
    found: _Fields = {}
    at = 0
    while at < len(data):
        tag, at = _next(data, at)
        value, at = _next(data, at)
        if tag & 7 == 2:
            if at + value > len(data):
                raise ValueError(f"{at + value - len(data)} bytes are missing")
            value, at = data[at : at + value], at + value
        elif tag & 7:
            raise ValueError(f"a field of the wire type {tag & 7}")
        found.setdefault(tag >> 3, []).append(value)
    return found


def _varints(data: bytes) -> Iterator[int]:
    at = 0
    while at < len(data):
        value, at = _next(data, at)
        yield value


def _next(data: bytes, at: int) -> tuple[Any, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return value, at
