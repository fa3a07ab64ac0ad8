"""The ops, family by family; importing this package fills the registry."""

from celadon.vocabulary.contract import dot_general
from celadon.vocabulary.elementwise import *  # noqa: F403
from celadon.vocabulary.reduce import (
    argmax,
    argmin,
    reduce_and,
    reduce_max,
    reduce_min,
    reduce_or,
    reduce_prod,
    reduce_sum,
    reduce_xor,
)  # fmt: skip
from celadon.vocabulary.shape import broadcast_in_dim, concatenate, iota, pad, reshape, reverse, slice_, transpose

__all__ = [
    "argmax", "argmin", "broadcast_in_dim", "concatenate", "dot_general", "iota", "pad", "reduce_and", "reduce_max",
    "reduce_min", "reduce_or", "reduce_prod", "reduce_sum", "reduce_xor", "reshape", "reverse", "slice_", "transpose",
]  # fmt: skip
