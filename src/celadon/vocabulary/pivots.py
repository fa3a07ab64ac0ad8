"""Exchanges of rows as LAPACK's pivots say: laswp does them, lu_pivots_to_permutation writes them as one permutation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from celadon.op import Op, registry
from celadon.program import fixed
from celadon.types import ArrayType, DTypes, int32
from celadon.vocabulary.arithmetic import add, subtract
from celadon.vocabulary.bodies import traced
from celadon.vocabulary.comparison import compare, select
from celadon.vocabulary.kinds import kept, like, require
from celadon.vocabulary.matrices import rows_taken, spread
from celadon.vocabulary.reduce import reduce_sum
from celadon.vocabulary.scan import scan
from celadon.vocabulary.shape import iota, transpose
from celadon.vocabulary.stacks import in_stacks, stacked, united

Array = Any
_NUMBERS = DTypes(("i4", "i8"))


def _laswp(x: Array, pivots: Array, *, reverse: bool = False) -> Sequence[Array]:
    """Row i is exchanged with row pivots[i], counted from 1, in turn; from the last one on if `reverse`."""
    x = np.array(x)
    for i in reversed(range(len(pivots))) if reverse else range(len(pivots)):
        other = int(pivots[i]) - 1
        x[[i, other]] = x[[other, i]]
    return [x]


def _laswp_expand(x: Any, pivots: Any, *, reverse: bool = False) -> Any:
    zero_based = subtract(pivots, fixed(1, int32))
    order = lu_pivots_to_permutation(zero_based, permutation_size=x.type.shape[-2])
    if reverse:
        last = order.type.ndim - 1
        numbers = iota(shape=order.type.shape, dtype=int32, dimension=last)
        order = registry["sort"](order, numbers, dimension=last, is_stable=False, num_keys=1)[1]
    return rows_taken(x, order)


def _laswp_back(ct: Any, x: Any, pivots: Any, *, reverse: bool = False) -> Any:
    return laswp(ct, pivots, reverse=not reverse)


@kept
def _permutation_type(pivots: ArrayType, *, permutation_size: int) -> ArrayType:
    require("lu_pivots_to_permutation", pivots, _NUMBERS)
    return ArrayType((*pivots.shape[:-1], permutation_size), pivots.dtype)


def _permutation(pivots: Array, *, permutation_size: int) -> Array:
    found = np.empty((*pivots.shape[:-1], permutation_size), pivots.dtype)
    for place in np.ndindex(pivots.shape[:-1]):
        rows = np.arange(permutation_size, dtype=pivots.dtype)[:, None]
        found[place] = _laswp(rows, pivots[place] + 1)[0][:, 0]
    return found


def _permutation_expand(pivots: Any, *, permutation_size: int) -> Any:
    """A loop over the pivots, each of which exchanges two numbers."""
    dtype, stack, last = pivots.type.dtype, pivots.type.shape[:-1], pivots.type.ndim - 1
    start = iota(shape=(*stack, permutation_size), dtype=dtype, dimension=last)
    rows = transpose(pivots, permutation=(last, *range(last)))
    types = [ArrayType((), dtype), start.type, ArrayType(stack, dtype)]
    body, held = traced("body", _exchanged, types)
    loop = {"length": pivots.type.shape[-1], "reverse": False, "unroll": 1, "consts": len(held), "carry": 2}
    return scan(*held, fixed(0, dtype), start, rows, body=body, **loop)[1]


def _exchanged(i: Any, order: Any, other: Any) -> list[Any]:
    """The next i, and the order with the numbers at places i and `other` exchanged."""
    shape, last = order.type.shape, order.type.ndim - 1
    numbers = iota(shape=shape, dtype=i.type.dtype, dimension=last)
    here = compare(numbers, i, direction="EQ")
    there = compare(numbers, spread(other, shape, tuple(range(last))), direction="EQ")
    moved = [reduce_sum(select(mask, order, like(0, order)), axes=(last,)) for mask in (here, there)]
    first, second = (spread(x, shape, tuple(range(last))) for x in moved)
    return [add(i, fixed(1, i.type.dtype)), select(here, second, select(there, first, order))]


laswp = stacked(
    "laswp", "mn,j->mn", _laswp, expand=_laswp_expand, kind="lapack",
    tangent=("linear", None), transpose=(_laswp_back, None),
)  # fmt: skip
lu_pivots_to_permutation = Op(
    "lu_pivots_to_permutation", _permutation_type, _permutation, expand=_permutation_expand,
    unite=lambda equation: united(equation, "j->m"), numbers=("permutation_size",), kind="lapack",
    tangent=(None,), batch=in_stacks("lu_pivots_to_permutation"),
)  # fmt: skip

__all__ = ["laswp", "lu_pivots_to_permutation"]
