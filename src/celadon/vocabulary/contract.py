"""Contractions: dot_general, a batched matrix product over any axes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from celadon import errors
from celadon.op import Axis, Op
from celadon.program import Equation
from celadon.types import ArrayType, DType, kind
from celadon.vocabulary.conversion import convert, converted
from celadon.vocabulary.kinds import HALF, checked_axes, kept, same_dtype
from celadon.vocabulary.precision import narrowed, wide
from celadon.vocabulary.shape import beside, transpose

Array = Any
Axes = tuple[int, ...]
DimensionNumbers = tuple[tuple[Axes, Axes], tuple[Axes, Axes]]


def free_axes(ndim: int, contract: Axes, batch: Axes) -> Axes:
    """The axes of an operand that are neither contracted nor batched."""
    return tuple([i for i in range(ndim) if i not in contract and i not in batch])


@kept
def _type(
    x: ArrayType,
    y: ArrayType,
    *,
    dimension_numbers: DimensionNumbers,
    precision: Any = None,
    preferred_element_type: DType | None = None,
) -> ArrayType:
    """C1 to C13."""
    contract, batch = dimension_numbers
    dtype = same_dtype("dot_general", x, y)
    checked_axes("dot_general", batch[0] + contract[0], x.ndim)
    checked_axes("dot_general", batch[1] + contract[1], y.ndim)
    if [x.shape[i] for i in batch[0] + contract[0]] != [y.shape[i] for i in batch[1] + contract[1]]:
        raise errors.ContractionMismatch(
            left=x.shape,
            right=y.shape,
            contract=f"{contract[0]} with {contract[1]}",
            batch=f"{batch[0]} with {batch[1]}",
        )
    shape = [x.shape[i] for i in batch[0] + free_axes(x.ndim, contract[0], batch[0])]
    shape += [y.shape[i] for i in free_axes(y.ndim, contract[1], batch[1])]
    if preferred_element_type is None:
        return ArrayType(tuple(shape), dtype, x.weak_type and y.weak_type)
    return ArrayType(tuple(shape), preferred_element_type)


def _dot_general(
    x: Array,
    y: Array,
    *,
    dimension_numbers: DimensionNumbers,
    precision: Any = None,
    preferred_element_type: DType | None = None,
) -> Array:
    contract, batch = dimension_numbers
    result_dtype = preferred_element_type or x.dtype
    dtype = accumulator(x.dtype, result_dtype)
    free = free_axes(x.ndim, contract[0], batch[0]), free_axes(y.ndim, contract[1], batch[1])
    left = _matrices(converted(x, new_dtype=dtype), batch[0], free[0], contract[0])
    right = _matrices(converted(y, new_dtype=dtype), batch[1], contract[1], free[1])
    shape = [x.shape[i] for i in batch[0] + free[0]] + [y.shape[i] for i in free[1]]
    return rounded(np.matmul(left, right).reshape(shape), result_dtype)


def accumulator(dtype: DType, result: DType) -> DType:
    """Integers and booleans in the wider of the two, 16-bit floats in float32, other inexact ones in double."""
    if kind(dtype) in "biu" and kind(result) in "biu":
        return max(dtype, result, key=lambda one: one.itemsize) if kind(dtype) != "b" else result
    if dtype in HALF and (result in HALF or result == np.float32):
        return np.dtype(np.float32)
    return wide(np.result_type(wide(dtype), wide(result)))


def rounded(x: Array, dtype: DType) -> Array:
    """What was accumulated, in the result's dtype."""
    return narrowed(x, dtype) if kind(dtype) in "fc" else converted(x, new_dtype=dtype)


def _matrices(x: Array, batch: Axes, rows: Axes, columns: Axes) -> Array:
    shape = [math.prod(x.shape[i] for i in axes) for axes in (batch, rows, columns)]
    return np.transpose(x, batch + rows + columns).reshape(shape)


def _unite(equation: Equation) -> Iterable[tuple[Axis, Axis]]:
    """Contracted axes with each other, batched ones with each other and the result's, free ones with the result's."""
    contract, batch = equation.params["dimension_numbers"]
    pairs = [((0, i), (1, j)) for i, j in zip(batch[0] + contract[0], batch[1] + contract[1], strict=True)]
    left = batch[0] + free_axes(equation.inputs[0].type.ndim, contract[0], batch[0])
    right = free_axes(equation.inputs[1].type.ndim, contract[1], batch[1])
    pairs += [((0, i), (2, k)) for k, i in enumerate(left)]
    return pairs + [((1, j), (2, k)) for k, j in enumerate(right, len(left))]


def _left_back(
    ct: Any, x: Any, y: Any, *, dimension_numbers: DimensionNumbers, precision: Any = None, preferred_element_type: Any = None
) -> Any:
    """ct contracted with y over y's free axes, its axes put where x has them."""
    contract, batch = dimension_numbers
    free_x = free_axes(x.type.ndim, contract[0], batch[0])
    free_y = free_axes(y.type.ndim, contract[1], batch[1])
    size = len(batch[0])
    numbers = (
        (tuple(range(size + len(free_x), ct.type.ndim)), free_y),
        (tuple(range(size)), batch[1]),
    )
    found = dot_general(
        _as(ct, y), y, dimension_numbers=numbers, precision=precision, preferred_element_type=x.type.dtype
    )  # fmt: skip
    rest = tuple([contract[0][contract[1].index(j)] for j in sorted(contract[1])])
    return _ordered(found, batch[0] + free_x + rest)


def _as(ct: Any, x: Any) -> Any:
    return ct if ct.type.dtype == x.type.dtype else convert(ct, new_dtype=x.type.dtype)


def _right_back(ct: Any, x: Any, y: Any, *, dimension_numbers: DimensionNumbers, **rest: Any) -> Any:
    """The same, the operands exchanged."""
    (left, right), (batch_left, batch_right) = dimension_numbers
    size = len(batch_left)
    count_x = x.type.ndim - len(left) - size
    order = (*range(size), *range(size + count_x, ct.type.ndim), *range(size, size + count_x))
    exchanged = transpose(ct, permutation=order) if order != tuple(range(ct.type.ndim)) else ct
    return _left_back(exchanged, y, x, dimension_numbers=((right, left), (batch_right, batch_left)), **rest)


def _ordered(x: Any, places: Axes) -> Any:
    """An array whose axis k belongs at places[k]."""
    order = tuple([places.index(i) for i in range(len(places))])
    return x if order == tuple(range(len(order))) else transpose(x, permutation=order)


def _batch(batch: Any, axes: Sequence[Any], values: Sequence[Any], *, dimension_numbers: DimensionNumbers, **rest: Any) -> Any:
    """A batch axis of both operands is batched; of one, it is one more free axis."""
    (x, y), (i, j) = values, axes
    contract, own = dimension_numbers
    numbers = tuple(
        tuple(beside(group, k) if k is not None else group for group, k in zip(pair, axes, strict=True))
        for pair in (contract, own)
    )
    if i is not None and j is not None:
        whole = (numbers[0], ((i, *numbers[1][0]), (j, *numbers[1][1])))
        return dot_general(x, y, dimension_numbers=whole, **rest), 0
    found = dot_general(x, y, dimension_numbers=numbers, **rest)
    side, axis = (0, i) if i is not None else (1, j)
    free = free_axes((x, y)[side].type.ndim, numbers[0][side], numbers[1][side])
    before = len(own[0]) + (side and len(free_axes(x.type.ndim, numbers[0][0], numbers[1][0])))
    return found, before + free.index(axis)


dot_general = Op(
    "dot_general", _type, _dot_general, unite=_unite, exact="biu", kind="contract",
    tangent=("multilinear",), transpose=(_left_back, _right_back), batch=_batch,
)  # fmt: skip
