"""Keys of children in a tree go in; the written path of a leaf comes out, for messages and names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

KeyEntry = Any
KeyPath = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class SequenceKey:
    """The place of a child in a list or tuple.

    >>> str(SequenceKey(1))
    '[1]'
    """

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"


@dataclass(frozen=True, slots=True)
class DictKey:
    """The key of a child in a dict.

    >>> str(DictKey("w"))
    "['w']"
    """

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"


@dataclass(frozen=True, slots=True)
class GetAttrKey:
    """The attribute that holds a child: the field of a namedtuple or dataclass.

    >>> str(GetAttrKey("w"))
    '.w'
    """

    name: str

    def __str__(self) -> str:
        return f".{self.name}"


@dataclass(frozen=True, slots=True)
class FlattenedIndexKey:
    """The number of a child in a registered class that doesn't name its children.

    >>> str(FlattenedIndexKey(1))
    '[<flat index 1>]'
    """

    key: int

    def __str__(self) -> str:
        return f"[<flat index {self.key}>]"

    def __hash__(self) -> int:
        return hash((FlattenedIndexKey, self.key))


def keystr(keys: KeyPath, *, simple: bool = False, separator: str = "") -> str:
    """A path as text.

    Args:
        keys: the path: a tuple of keys, as `leaves_with_path` gives it.
        simple: whether to write the bare keys (`w`, `0`) instead of the access (`['w']`, `[0]`).
        separator: what stands between two keys.

    Returns:
        The written path; the empty string for the root.

    >>> keystr((DictKey("w"), SequenceKey(0)))
    "['w'][0]"
    >>> keystr((DictKey("w"), SequenceKey(0)), simple=True, separator="/")
    'w/0'
    """
    return separator.join(str(bare(key) if simple else key) for key in keys)


def bare(key: KeyEntry) -> Any:
    """What a key holds, without how it is accessed.

    >>> bare(SequenceKey(3))
    3
    """
    match key:
        case SequenceKey(held) | DictKey(held) | GetAttrKey(held) | FlattenedIndexKey(held):
            return held
        case _:
            return key


def place(path: KeyPath) -> str:
    """A path for a sentence.

    >>> place((DictKey("w"),)), place(())
    ("['w']", 'the root')
    """
    return keystr(path) or "the root"


def listed(keys: Iterable[KeyEntry], limit: int = 12) -> str:
    """Keys for a sentence, the first ones of many.

    >>> listed([DictKey("b"), DictKey("w")]), listed([GetAttrKey("x")])
    ("'b', 'w'", '.x')
    """
    written = [repr(key.key) if isinstance(key, DictKey) else str(key) for key in keys]
    rest = f" and {len(written) - limit} more" if len(written) > limit else ""
    return ", ".join(written[:limit]) + rest
