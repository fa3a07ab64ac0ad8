"""Sorting by any comparator: a usual one is Celadon's own sort, any other decides each pair of elements of a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from celadon.op import registry as op
from celadon.program import Program, fixed, show
from celadon.types import ArrayType, int32, kind
from celadon.vocabulary.bodies import traced
from tests.stablehlo.reader import Site, scalar, type_of


def ordered(site: Site, xs: Sequence[Any]) -> list[Any]:
    """The operands in the order of the region, along the op's dimension; equal elements stay in their order."""
    dimension = site.number("dimension", type_of(xs[0]).ndim - 1) % type_of(xs[0]).ndim
    types = [scalar(x) for x in xs]
    region = site.body([t for t in types for _ in range(2)])
    text = show(region)
    for num_keys in range(1, len(xs) + 1):
        if text == show(_less(types[:num_keys], types)):
            return op["sort"](*xs, dimension=dimension, num_keys=num_keys)
    return _by_pairs(site, xs, dimension)


def _less(keys: Sequence[ArrayType], types: Sequence[ArrayType]) -> Program:
    """The comparator that Celadon's sort stands for, as a program."""

    def comparator(*values: Any) -> list[Any]:
        pairs = [pair for i in range(len(keys)) for pair in _compared(values[2 * i], values[2 * i + 1])]
        less = None
        for x, y in reversed(pairs):
            total = {"total_order": True} if kind(x.type.dtype) == "f" else {}
            smaller = op["compare"](x, y, direction="LT", **total)
            if less is not None:
                smaller = op["or"](smaller, op["and"](op["compare"](x, y, direction="EQ", **total), less))
            less = smaller
        return [less]

    return traced("body", comparator, [t for t in types for _ in range(2)])[0]


def _compared(x: Any, y: Any) -> list[tuple[Any, Any]]:
    """What decides about two elements: themselves, or their real and then their imaginary parts."""
    letter = kind(x.type.dtype)
    if letter == "c":
        sides = [[_one_zero(op[part](v)) for part in ("real", "imag")] for v in (x, y)]
        return list(zip(*sides, strict=True))
    return [(_one_zero(x), _one_zero(y))] if letter == "f" else [(x, y)]


def _one_zero(x: Any) -> Any:
    """One zero and one NaN, so that a total order is the order of numbers."""
    dtype = x.type.dtype
    zero = op["select"](op["compare"](x, fixed(0, dtype), direction="EQ"), fixed(0, dtype), x)
    return op["select"](op["compare"](x, x, direction="NE"), fixed(float("nan"), dtype), zero)


def _by_pairs(site: Site, xs: Sequence[Any], dimension: int) -> list[Any]:
    """Each element's place is the number of those that come before it, of equal ones those that stand before it."""
    shape = type_of(xs[0]).shape
    n, rank = shape[dimension], len(shape)
    moved = [op["transpose"](x, permutation=_last(rank, dimension)) for x in xs]
    lines = type_of(moved[0]).shape
    whole, axes = (*lines, n), tuple(range(rank - 1))
    here = [op["broadcast_in_dim"](x, shape=whole, broadcast_dimensions=(*axes, rank - 1)) for x in moved]
    there = [op["broadcast_in_dim"](x, shape=whole, broadcast_dimensions=(*axes, rank)) for x in moved]
    region = site.region()
    ahead = region(*[v for pair in zip(there, here, strict=True) for v in pair])[0]
    behind = region(*[v for pair in zip(here, there, strict=True) for v in pair])[0]
    first, second = (op["iota"](shape=whole, dtype=int32, dimension=i) for i in (rank - 1, rank))
    earlier = op["and"](op["compare"](second, first, direction="LT"), op["not"](op["or"](ahead, behind)))
    counted = op["convert"](op["or"](ahead, earlier), new_dtype=int32)
    places = op["reduce_sum"](counted, axes=(rank,))
    hits = op["compare"](op["broadcast_in_dim"](places, shape=whole, broadcast_dimensions=(*axes, rank)), first, direction="EQ")
    source = op["reduce_sum"](op["select"](hits, second, fixed(0, int32)), axes=(rank,))
    found = [op["gather"](x, op["reshape"](source, shape=(*lines, 1)), **_along(rank)) for x in moved]
    return [op["transpose"](x, permutation=_back(rank, dimension)) for x in found]


def _last(rank: int, axis: int) -> tuple[int, ...]:
    return (*(i for i in range(rank) if i != axis), axis)


def _back(rank: int, axis: int) -> tuple[int, ...]:
    order = _last(rank, axis)
    return tuple(order.index(i) for i in range(rank))


def _along(rank: int) -> dict[str, Any]:
    others = tuple(range(rank - 1))
    return {
        "offset_dims": (), "collapsed_slice_dims": (rank - 1,), "start_index_map": (rank - 1,), "slice_sizes": (1,) * rank,
        "operand_batching_dims": others, "start_indices_batching_dims": others,
    }  # fmt: skip


__all__ = ["ordered"]
