"""What a transform's caller gives and gets: leaves become values of the current interpreter, and zeros become arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from celadon import tracing, voids
from celadon.program import Literal
from celadon.tracing import Value, outside
from celadon.tree import PyTreeDef
from celadon.tree_partings import describe
from celadon.types import ArrayType, float0, kind
from celadon.vocabulary.conversion import convert
from celadon.vocabulary.shape import broadcast_in_dim


def as_value(x: Any) -> Any:
    """An Array or traced value of a leaf: of an array, a number, or a scalar of a program."""
    if isinstance(x, Value):
        return x
    if type(x) is not Literal or tracing.recording() is None:
        return outside.as_array(x)
    return convert(x, new_dtype=x.type.dtype, weak_type=x.type.weak_type)


def is_inexact(type: ArrayType) -> bool:
    """Whether values of a type have tangents."""
    return kind(type.dtype) in "fc"


def zero_tangent(type: ArrayType) -> Any:
    """The tangent that is zero: an array of zeros, or float0 where the type has no tangents."""
    if not is_inexact(type):
        return voids.array(type.shape)
    zero = Literal(type.dtype.type(0), type.with_shape(()), True)
    return broadcast_in_dim(zero, shape=type.shape, broadcast_dimensions=())


def tangent_type(type: ArrayType) -> ArrayType:
    """The type of a value's tangent: its own, or float0."""
    return type if is_inexact(type) else ArrayType(type.shape, float0)


def form_words(treedef: PyTreeDef, types: Sequence[ArrayType | str]) -> str:
    """A result in words: the type of an array, or which container it is.

    >>> from celadon import tree
    >>> form_words(tree.structure((0, 0)), ())
    'a tuple of 2'
    """
    return str(types[0]) if treedef.num_leaves == 1 and treedef.num_nodes == 1 else describe(treedef.root)
