"""Zeros that custom rules may be handed as such (symbolic_zeros): of a type, without elements."""

from __future__ import annotations

from typing import Any, NamedTuple

from celadon import tree
from celadon.transforms.values import as_value, zero_tangent
from celadon.types import ArrayType, DType, Shape


class SymbolicZero:
    """A tangent or cotangent that is known to be zero.

    >>> import numpy as np
    >>> SymbolicZero(ArrayType((2,), np.dtype("float32"))).shape
    (2,)
    """

    def __init__(self, type: ArrayType):
        self.type = type

    @property
    def shape(self) -> Shape:
        return self.type.shape

    @property
    def dtype(self) -> DType:
        return self.type.dtype

    @property
    def ndim(self) -> int:
        return self.type.ndim

    def __repr__(self) -> str:
        return f"SymbolicZero({self.type})"


class CustomVJPPrimal(NamedTuple):
    """A primal value, and whether it is differentiated, as the forward rule of custom_vjp gets it with symbolic_zeros."""

    value: Any
    perturbed: bool


def tangent_value(t: Any, type: ArrayType, symbolic: bool) -> Any:
    """A tangent as a rule gets it."""
    if t is not None:
        return as_value(t)
    return SymbolicZero(type) if symbolic else zero_tangent(type)


def zero_from_primal(x: Any) -> SymbolicZero:
    """The zero that belongs to a value."""
    return SymbolicZero(x.type)


def custom_vjp_primal_tree_values(tree_of: Any) -> Any:
    """The values of a tree of CustomVJPPrimal.

    >>> custom_vjp_primal_tree_values((CustomVJPPrimal(1.0, True), CustomVJPPrimal(2, False)))
    (1.0, 2)
    """
    return tree.map(lambda x: x.value, tree_of, is_leaf=lambda x: isinstance(x, CustomVJPPrimal))
