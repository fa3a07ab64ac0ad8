"""The algebra of matrices in stacks, of which expansions and derivative rules are made."""

from __future__ import annotations

from typing import Any

import numpy as np

from celadon.program import fixed
from celadon.types import ArrayType, DType, int32
from celadon.vocabulary.arithmetic import add, multiply
from celadon.vocabulary.comparison import compare, select
from celadon.vocabulary.contract import dot_general
from celadon.vocabulary.conversion import conj, convert, imag, real
from celadon.vocabulary.index import gather
from celadon.vocabulary.kinds import like
from celadon.vocabulary.reduce import reduce_sum
from celadon.vocabulary.shape import broadcast_in_dim, iota, pad, reshape, slice_, transpose

Value = Any
_EXACT = ("HIGHEST", "HIGHEST")


def product(x: Value, y: Value) -> Value:
    """The matrix products of two stacks, in the dtype's full precision."""
    last = x.type.ndim - 1
    stack = tuple(range(last - 1))
    numbers = (((last,), (last - 1,)), (stack, stack))
    return dot_general(x, y, dimension_numbers=numbers, precision=_EXACT)


def transposed(x: Value) -> Value:
    last = x.type.ndim - 1
    return transpose(x, permutation=(*range(last - 1), last, last - 1))


def conjugated(x: Value) -> Value:
    return conj(x) if x.type.dtype.kind == "c" else x


def adjoint(x: Value) -> Value:
    """The conjugate transposes."""
    return conjugated(transposed(x))


def real_part(x: Value) -> Value:
    return real(x) if x.type.dtype.kind == "c" else x


def imaginary_part(x: Value) -> Value:
    return imag(x)


def cast(x: Value, dtype: DType) -> Value:
    return x if x.type.dtype == dtype else convert(x, new_dtype=dtype)


def spread(x: Value, shape: tuple[int, ...], axes: tuple[int, ...]) -> Value:
    """A value repeated in a shape, its own axes standing at `axes`."""
    return broadcast_in_dim(x, shape=shape, broadcast_dimensions=axes)


def columns_scaled(x: Value, v: Value) -> Value:
    """Each column of the matrices times its number in v."""
    rank = x.type.ndim
    return multiply(x, spread(cast(v, x.type.dtype), x.type.shape, (*range(rank - 2), rank - 1)))


def rows_scaled(x: Value, v: Value) -> Value:
    """Each row of the matrices times its number in v."""
    return multiply(x, spread(cast(v, x.type.dtype), x.type.shape, tuple(range(x.type.ndim - 1))))


def differences(v: Value) -> tuple[Value, Value]:
    """Numbers of each pair in v: v[j] and v[i] as matrices [i, j]."""
    n, rank = v.type.shape[-1], v.type.ndim
    shape = (*v.type.shape, n)
    return spread(v, shape, (*range(rank - 1), rank)), spread(v, shape, tuple(range(rank)))


def places(type: ArrayType, axis: int) -> Value:
    """The row (axis -2) or column (axis -1) numbers of all elements of matrices."""
    return iota(shape=type.shape, dtype=int32, dimension=type.ndim + axis)


def compared(type: ArrayType, direction: str, offset: int = 0) -> Value:
    """Which elements of matrices have row numbers that, with an offset, compare so with their column numbers."""
    rows = places(type, -2)
    rows = add(rows, fixed(offset, int32)) if offset else rows
    return compare(rows, places(type, -1), direction=direction)


def lower(x: Value, strict: bool = False) -> Value:
    """The lower triangles, zeros elsewhere."""
    return select(compared(x.type, "GT" if strict else "GE"), x, like(0, x))


def upper(x: Value, strict: bool = False) -> Value:
    """The upper triangles, zeros elsewhere."""
    return select(compared(x.type, "LT" if strict else "LE"), x, like(0, x))


def on_diagonal(x: Value, inside: Value, outside: Value) -> Value:
    """Matrices of a type with the one value on the diagonal and the other elsewhere."""
    return select(compared(x.type, "EQ"), inside, outside)


def unit_lower(x: Value) -> Value:
    """The strict lower triangles with ones on the diagonal."""
    return on_diagonal(x, like(1, x), lower(x, strict=True))


def identity(type: ArrayType) -> Value:
    """Matrices of a type with ones on the diagonal."""
    ones, zeros = (spread(fixed(value, type.dtype), type.shape, ()) for value in (1, 0))
    return select(compared(type, "EQ"), ones, zeros)


def diagonal(x: Value) -> Value:
    """The diagonals of square matrices."""
    return reduce_sum(on_diagonal(x, x, like(0, x)), axes=(x.type.ndim - 2,))


def with_diagonal(v: Value) -> Value:
    """Matrices with these diagonals, zeros elsewhere."""
    _, rows = differences(v)
    return on_diagonal(rows, rows, like(0, rows))


def trace(x: Value) -> Value:
    """The sums of the diagonals."""
    rank = x.type.ndim
    return reduce_sum(on_diagonal(x, x, like(0, x)), axes=(rank - 2, rank - 1))


def part(x: Value, rows: int | tuple[int, int], columns: int | tuple[int, int]) -> Value:
    """The block of rows and columns from and to a number, or below one."""
    stack = x.type.shape[:-2]
    (a, b), (c, d) = ((0, n) if isinstance(n, int) else n for n in (rows, columns))
    starts, limits = (*(0 for _ in stack), a, c), (*stack, b, d)
    return slice_(x, start_indices=starts, limit_indices=limits, strides=(1,) * x.type.ndim)


def resized(x: Value, rows: int, columns: int) -> Value:
    """Matrices cut off, or filled up with zeros, to a number of rows and columns."""
    rank = x.type.ndim
    m, n = x.type.shape[-2:]
    none = (0,) * rank
    return pad(x, like(0, x), low=none, high=(*none[:-2], rows - m, columns - n), interior=none)


def column(v: Value) -> Value:
    """Vectors as matrices of one column."""
    return reshape(v, shape=(*v.type.shape, 1))


def rows_taken(x: Value, order: Value) -> Value:
    """The rows of the matrices in another order, which has one number for each row of the result."""
    shape, rank = x.type.shape, x.type.ndim
    stack = tuple(range(rank - 2))
    return gather(
        x, column(order), offset_dims=(rank - 1,), collapsed_slice_dims=(rank - 2,), start_index_map=(rank - 2,),
        operand_batching_dims=stack, start_indices_batching_dims=stack,
        slice_sizes=(*(1 for _ in stack), 1, shape[-1]), mode="clip",
    )  # fmt: skip


def where_converged(info: Value, x: Value) -> Value:
    """NaN instead of the matrices (or vectors) for which LAPACK reports a failure."""
    good = compare(info, like(0, info), direction="EQ")
    mask = spread(good, x.type.shape, tuple(range(info.type.ndim)))
    return select(mask, x, nan(x.type.dtype))


def nan(dtype: DType) -> Value:
    """NaN, in both parts of a complex number."""
    return fixed(complex(np.nan, np.nan) if dtype.kind == "c" else np.nan, dtype)


__all__ = [
    "adjoint", "cast", "column", "columns_scaled", "compared", "conjugated", "diagonal", "differences", "identity",
    "imaginary_part", "lower", "nan", "on_diagonal", "part", "places", "product", "real_part", "resized",
    "rows_scaled", "rows_taken", "spread", "trace", "transposed", "unit_lower", "upper", "where_converged", "with_diagonal",
]  # fmt: skip
