"""top_k: the largest elements along the last axis, in the total order of their bits, and where they stand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from celadon import errors
from celadon.op import Axis, Op
from celadon.program import Equation
from celadon.types import ArrayType, DType, int32, kind
from celadon.vocabulary.bitwise import xor
from celadon.vocabulary.comparison import compare, select
from celadon.vocabulary.conversion import bitcast_convert
from celadon.vocabulary.index import along, sort
from celadon.vocabulary.kinds import REAL, like, require
from celadon.vocabulary.shape import in_front, iota, reverse, slice_

Array = Any


def _top_k_type(x: ArrayType, *, k: int) -> list[ArrayType]:
    """k elements of an axis that has as many."""
    require("top_k", x, REAL)
    if not x.ndim or not 0 <= k <= x.shape[-1]:
        raise errors.SliceTooLarge(op="top_k", shape=x.shape, sizes=(k,))
    return [x.with_shape((*x.shape[:-1], k)), ArrayType((*x.shape[:-1], k), int32)]


def _top_k(x: Array, *, k: int) -> list[Array]:
    """From the largest down, equal ones in their order; a NaN is above or below all numbers, as its sign says."""
    order = np.argsort(np.flip(_ranks(x), -1), axis=-1, kind="stable")
    places = x.shape[-1] - 1 - np.flip(order, -1)[..., :k]
    return [np.take_along_axis(x, places, -1), places.astype(np.int32)]


def _ranks(x: Array) -> Array:
    if kind(x.dtype) != "f":
        return x
    bits = x.view(_bits_of(x.dtype))
    return np.where(bits < 0, bits ^ np.iinfo(bits.dtype).max, bits)


def _bits_of(dtype: DType) -> DType:
    return np.dtype(f"int{8 * dtype.itemsize}")


def _top_k_by_sort(x: Any, *, k: int) -> list[Any]:
    shape, last = x.type.shape, x.type.ndim - 1
    columns = [_ranked(x), x, iota(shape=shape, dtype=int32, dimension=last)]
    backwards = [reverse(each, dimensions=(last,)) for each in columns]
    _, *ordered = sort(*backwards, dimension=last, num_keys=1)
    starts = (0,) * last + (shape[last] - k,)
    parts = [slice_(y, start_indices=starts, limit_indices=shape, strides=(1,) * len(shape)) for y in ordered]
    return [reverse(each, dimensions=(last,)) for each in parts]


def _ranked(x: Any) -> Any:
    if kind(x.type.dtype) != "f":
        return x
    bits = bitcast_convert(x, new_dtype=_bits_of(x.type.dtype))
    flipped = xor(bits, like(np.iinfo(bits.type.dtype).max, bits))
    return select(compare(bits, like(0, bits), direction="LT"), flipped, bits)


def _unite_top_k(equation: Equation) -> Iterable[tuple[Axis, Axis]]:
    last = equation.inputs[0].type.ndim - 1
    return [*[((0, i), (k, i)) for k in (1, 2) for i in range(last)], ((1, last), (2, last))]


def _top_k_tangent(primals: Sequence[Any], tangents: Sequence[Any], *, k: int) -> Any:
    """Tangents are taken from where the elements stood."""
    found, places = top_k(*primals, k=k)
    return [found, places], [along(tangents[0], places, places.type.ndim - 1), None]


def _top_k_batch(batch: Any, axes: Sequence[Any], values: Sequence[Any], *, k: int) -> Any:
    return top_k(in_front(values[0], axes[0], batch.size), k=k), [0, 0]


top_k = Op(
    "top_k", _top_k_type, _top_k, tangent=_top_k_tangent, batch=_top_k_batch, expand=_top_k_by_sort, unite=_unite_top_k,
    numbers=("k",), exact=True, multiple=True, kind="sort",
)  # fmt: skip
