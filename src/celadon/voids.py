"""Arrays of float0, which hold nothing, go in as leaves of a tree; they come out as parts of its structure, and back.

The tangents of integers are such arrays. A program has no values for them: what a function takes and returns of them stands
in the trees around its program, whose unflatten makes them anew.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from celadon import tree
from celadon.tree import PyTreeDef
from celadon.types import float0


class Void:
    """An array of float0 as a container without children; its shape is metadata."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape


tree.register(Void, lambda void: ((), void.shape), lambda shape, _: array(shape))


def array(shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """The array of a shape that holds nothing.

    >>> array((2, 3)).nbytes
    0
    """
    return np.zeros(shape, float0)


def is_void(x: Any) -> bool:
    """Whether a leaf is an array of float0.

    >>> is_void(array((2,))), is_void(np.zeros(2))
    (True, False)
    """
    return isinstance(x, np.ndarray) and x.dtype == float0  # pyright: ignore[reportUnknownMemberType]


def hidden(value: Any) -> Any:
    """A tree whose arrays of float0 are no leaves; unflatten brings them back.

    >>> leaves, form = tree.flatten(hidden([1, array((2,))]))
    >>> leaves, form.unflatten(leaves)[1].shape
    ([1], (2,))
    """
    if not any(map(is_void, tree.leaves(value))):
        return value
    return tree.map(lambda x: Void(x.shape) if is_void(x) else x, value)


def shown(form: PyTreeDef) -> tuple[PyTreeDef, list[bool]]:
    """A structure in which arrays of float0 are leaves again, and for each of its leaves whether it was one before.

    >>> shown(tree.structure(hidden([1, array((2,))])))
    (PyTreeDef([*, *]), [True, False])
    """
    leaves, whole = tree.flatten(form.unflatten(range(form.num_leaves)))
    return whole, [not is_void(x) for x in leaves]


def stacked(value: Any, count: int) -> Any:
    """A tree whose arrays of float0 have a further axis in front, which is `count` long.

    >>> stacked([1, array((2,))], 5)[1].shape
    (5, 2)
    """
    if not any(map(is_void, tree.leaves(value))):
        return value
    return tree.map(lambda x: array((count, *x.shape)) if is_void(x) else x, value)
