"""Keys of children in a tree go in; the written path of a leaf comes out, for messages and names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

KeyEntry = Any
KeyPath = tuple[Any, ...]


class _Key:
    """The place of a child in its container: an immutable value that holds one thing, under the name of its slot."""

    __slots__ = ()
    __match_args__: ClassVar[tuple[str]]

    def _hold(self, held: Any) -> None:
        object.__setattr__(self, self.__match_args__[0], held)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"cannot assign to field {name!r}")

    def __eq__(self, other: object) -> bool:
        return bare(self) == bare(other) if type(self) is type(other) else NotImplemented

    def __hash__(self) -> int:
        return hash((type(self), bare(self)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.__match_args__[0]}={bare(self)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (bare(self),)


class SequenceKey(_Key):
    """The place of a child in a list or tuple.

    >>> str(SequenceKey(1))
    '[1]'
    """

    __slots__ = __match_args__ = ("idx",)
    idx: int

    def __init__(self, idx: int):
        self._hold(idx)

    def __str__(self) -> str:
        return f"[{self.idx!r}]"


class DictKey(_Key):
    """The key of a child in a dict.

    >>> str(DictKey("w"))
    "['w']"
    """

    __slots__ = __match_args__ = ("key",)
    key: Any

    def __init__(self, key: Any):
        self._hold(key)

    def __str__(self) -> str:
        return f"[{self.key!r}]"


class GetAttrKey(_Key):
    """The attribute that holds a child: the field of a namedtuple or dataclass.

    >>> str(GetAttrKey("w"))
    '.w'
    """

    __slots__ = __match_args__ = ("name",)
    name: str

    def __init__(self, name: str):
        self._hold(name)

    def __str__(self) -> str:
        return f".{self.name}"


class FlattenedIndexKey(_Key):
    """The number of a child in a registered class that doesn't name its children.

    >>> str(FlattenedIndexKey(1))
    '[<flat index 1>]'
    """

    __slots__ = __match_args__ = ("key",)
    key: int

    def __init__(self, key: int):
        self._hold(key)

    def __str__(self) -> str:
        return f"[<flat index {self.key}>]"


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
    return getattr(key, key.__match_args__[0]) if isinstance(key, _Key) else key


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
