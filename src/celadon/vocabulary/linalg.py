"""Systems of linear equations: cholesky, triangular_solve, lu, solve, and the determinants that lu gives.

Derivatives: M. B. Giles, "An extended collection of matrix derivative results for forward and reverse mode algorithmic
differentiation", Oxford 2008; of cholesky: I. Murray, "Differentiation of the Cholesky decomposition", arXiv:1602.07527.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from celadon.program import fixed
from celadon.types import int32
from celadon.vocabulary.arithmetic import abs_, add, divide, multiply, negate, sign, subtract
from celadon.vocabulary.bitwise import and_, or_
from celadon.vocabulary.comparison import compare, select
from celadon.vocabulary.conversion import complex_, imag, real
from celadon.vocabulary.kinds import like
from celadon.vocabulary.lapack import getrf, potrf
from celadon.vocabulary.matrices import (
    adjoint,
    compared,
    conjugated,
    diagonal,
    lower,
    on_diagonal,
    part,
    product,
    resized,
    spread,
    trace,
    transposed,
    unit_lower,
    upper,
    where_converged,
    with_diagonal,
)  # fmt: skip
from celadon.vocabulary.pivots import laswp, lu_pivots_to_permutation
from celadon.vocabulary.reduce import argmin, reduce_prod, reduce_sum, reduce_xor
from celadon.vocabulary.shape import iota, pad, reshape, transpose
from celadon.vocabulary.stacks import in_stacks, stacked
from celadon.vocabulary.transcendental import log

Array = Any
Values = Sequence[Any]


# --- cholesky


def _cholesky(x: Array) -> Sequence[Array]:
    try:
        return [np.linalg.cholesky(np.tril(x) + np.conj(np.tril(x, -1).T))]
    except np.linalg.LinAlgError:
        return [np.tril(np.full_like(x, complex(np.nan, np.nan) if x.dtype.kind == "c" else np.nan))]


def _cholesky_expand(x: Any) -> Any:
    factor, info = potrf(x)
    return lower(where_converged(info, factor))


def _cholesky_tangent(t: Any, out: Any, x: Any) -> Any:
    """l Φ(l⁻¹ x' l⁻ᴴ), where Φ keeps the lower triangle and half the diagonal (Murray, eq. 8)."""
    inside = _left(out, _right(out, t, lower=True, transpose_a="ADJOINT"), lower=True)
    half = on_diagonal(inside, divide(inside, like(2, inside)), lower(inside))
    return product(out, half)


cholesky = stacked(
    "cholesky", "nn->nn", _cholesky, expand=_cholesky_expand, kind="factorization", tangent=(_cholesky_tangent,)
)


# --- triangular_solve

_BACK = {"NO_TRANSPOSE": "TRANSPOSE", "TRANSPOSE": "NO_TRANSPOSE"}


def _triangular_form(*, left_side: bool, **rest: Any) -> str:
    return "mm,mn->mn" if left_side else "nn,mn->mn"


def _triangular_solve(
    a: Array, b: Array, *, left_side: bool, lower: bool, transpose_a: str, unit_diagonal: bool
) -> Sequence[Array]:
    """By substitution, row after row; the other triangle is not read."""
    if transpose_a != "NO_TRANSPOSE":
        a, lower = (np.conj(a.T) if transpose_a == "ADJOINT" else a.T), not lower
    if not left_side:  # x a = b is aᵀ xᵀ = bᵀ
        a, lower = a.T, not lower
    x = np.array(b if left_side else b.T)
    for i in range(len(x)) if lower else reversed(range(len(x))):
        known = slice(0, i) if lower else slice(i + 1, None)
        x[i] -= a[i, known] @ x[known]
        x[i] = x[i] if unit_diagonal else x[i] / a[i, i]
    return [x if left_side else x.T]


def _left(a: Any, b: Any, *, lower: bool, transpose_a: str = "NO_TRANSPOSE", unit_diagonal: bool = False) -> Any:
    return triangular_solve(a, b, left_side=True, lower=lower, transpose_a=transpose_a, unit_diagonal=unit_diagonal)


def _right(a: Any, b: Any, *, lower: bool, transpose_a: str = "NO_TRANSPOSE", unit_diagonal: bool = False) -> Any:
    return triangular_solve(a, b, left_side=False, lower=lower, transpose_a=transpose_a, unit_diagonal=unit_diagonal)


def _operated(a: Any, transpose_a: str) -> Any:
    return {"NO_TRANSPOSE": lambda x: x, "TRANSPOSE": transposed, "ADJOINT": adjoint}[transpose_a](a)


def _matrix_tangent(t: Any, out: Any, a: Any, b: Any, **params: Any) -> Any:
    """-a⁻¹ a' x, or -x a' a⁻¹, with a' in the triangle that is read."""
    triangle = (lower if params["lower"] else upper)(t, strict=params["unit_diagonal"])
    change = negate(_operated(triangle, params["transpose_a"]))
    moved = product(change, out) if params["left_side"] else product(out, change)
    return triangular_solve(a, moved, **params)


def _right_side_back(ct: Any, a: Any, b: Any, *, transpose_a: str, **rest: Any) -> Any:
    """The same system with the matrix transposed."""
    if transpose_a == "ADJOINT":
        return triangular_solve(conjugated(a), ct, transpose_a="NO_TRANSPOSE", **rest)
    return triangular_solve(a, ct, transpose_a=_BACK[transpose_a], **rest)


def _triangular_batch(batch: Any, axes: Sequence[Any], values: Values, *, left_side: bool, **rest: Any) -> Any:
    """A batch of right sides of one matrix is more columns (or rows); else it is an axis of the stacks."""
    (a, b), (i, j) = values, axes
    if i is not None or a.type.ndim != 2:
        return in_stacks("triangular_solve")(batch, axes, values, left_side=left_side, **rest)
    order = [axis for axis in range(3) if axis != j]
    order.insert(1 if left_side else 0, j)
    moved = transpose(b, permutation=tuple(order))
    n, m, k = moved.type.shape
    wide = reshape(moved, shape=(n, m * k) if left_side else (n * m, k))
    found = triangular_solve(a, wide, left_side=left_side, **rest)
    return reshape(found, shape=(n, m, k)), 1 if left_side else 0


triangular_solve = stacked(
    "triangular_solve", _triangular_form, _triangular_solve, multiple=False, kind="factorization",
    tangent=(_matrix_tangent, "linear"), transpose=(None, _right_side_back), batch=_triangular_batch,
)  # fmt: skip


# --- lu


def _lu_expand(x: Any) -> Values:
    factors, pivots, _ = getrf(x)
    pivots = subtract(pivots, fixed(1, int32))
    return [factors, pivots, lu_pivots_to_permutation(pivots, permutation_size=x.type.shape[-2])]


def _ones_beyond(x: Any, k: int) -> Any:
    """Square matrices with ones added to the diagonal from place k on."""
    rank, n = x.type.ndim - 1, x.type.shape[-1]
    zeros = spread(like(0, x), (*x.type.shape[:-2], k), ())
    none = (0,) * rank
    found = pad(zeros, like(1, x), low=none, high=(*none[:-1], n - k), interior=none)
    return add(x, with_diagonal(found))


def _lu_tangent(primals: Values, tangents: Values) -> tuple[Values, Values]:
    """With w = l⁻¹ p x' u⁻¹: l times its strict lower triangle plus its upper one times u.

    Where there are more rows than columns, or fewer, l and u are filled up with ones on the diagonal.
    """
    [x], [t] = primals, tangents
    factors, pivots, permutation = lu(x)
    m, n = x.type.shape[-2:]
    k = min(m, n)
    left = unit_lower(resized(part(factors, m, k), m, m))
    right = _ones_beyond(upper(resized(part(factors, k, n), n, n)), k)
    w = _left(left, laswp(t, one_based(pivots)), lower=True, unit_diagonal=True)
    w = _right(right, w, lower=False)
    moved = add(product(left, lower(w, strict=True)), product(upper(w), right))
    return [factors, pivots, permutation], [moved, None, None]


def one_based(pivots: Any) -> Any:
    """Pivots as LAPACK counts them."""
    return add(pivots, fixed(1, int32))


lu = stacked("lu", "mn->mn,i:k,i:m", expand=_lu_expand, kind="factorization", tangent=_lu_tangent)


# --- solve


def _solve_expand(a: Any, b: Any, *, transpose_a: str = "NO_TRANSPOSE", triangle: str = "") -> Any:
    """One factorization serves all systems with a matrix, also those with its transpose: equal equations are shared."""
    if triangle:
        factor = cholesky(a if triangle == "L" else adjoint(a))
        factor = conjugated(factor) if transpose_a == "TRANSPOSE" else factor
        return _left(factor, _left(factor, b, lower=True), lower=True, transpose_a="ADJOINT")
    factors, pivots, _ = lu(a)
    return lu_solved(factors, one_based(pivots), b, transpose_a)


def lu_solved(factors: Any, pivots: Any, b: Any, transpose_a: str = "NO_TRANSPOSE") -> Any:
    """Solutions of systems whose matrices are given by their factors and pivots (counted from 1)."""
    if transpose_a == "NO_TRANSPOSE":
        halfway = _left(factors, laswp(b, pivots), lower=True, unit_diagonal=True)
        return _left(factors, halfway, lower=False)
    halfway = _left(factors, b, lower=False, transpose_a=transpose_a)
    found = _left(factors, halfway, lower=True, transpose_a=transpose_a, unit_diagonal=True)
    return laswp(found, pivots, reverse=True)


def _solve_tangent(t: Any, out: Any, a: Any, b: Any, *, transpose_a: str = "NO_TRANSPOSE", triangle: str = "") -> Any:
    moved = negate(product(_operated(t, transpose_a), out))
    return solve(a, moved, transpose_a=transpose_a, triangle=triangle)


def _solve_back(ct: Any, a: Any, b: Any, *, transpose_a: str = "NO_TRANSPOSE", triangle: str = "") -> Any:
    return solve(a, ct, transpose_a=_BACK[transpose_a], triangle=triangle)


# triangle: "L" or "U", which one is read of a positive definite matrix; "" for any matrix
solve = stacked(
    "solve", "nn,nm->nm", expand=_solve_expand, kind="factorization",
    tangent=(_solve_tangent, "linear"), transpose=(None, _solve_back),
)  # fmt: skip


# --- determinants


def _parity(pivots: Any, like_x: Any) -> Any:
    """1 where the exchanges are even in number, else -1."""
    own = compare(pivots, iota(shape=pivots.type.shape, dtype=int32, dimension=pivots.type.ndim - 1), direction="NE")
    odd = reduce_xor(own, axes=(pivots.type.ndim - 1,))
    return select(odd, like(-1, like_x), like(1, like_x))


def _slogdet_expand(a: Any) -> Values:
    """The sign of the product of u's diagonal, and the sum of the logarithms of its sizes."""
    factors, pivots, _ = lu(a)
    values = diagonal(factors)
    last = values.type.ndim - 1
    signs = multiply(reduce_prod(sign(values), axes=(last,)), _parity(pivots, values))
    return [signs, reduce_sum(log(abs_(values)), axes=(last,))]


def _slogdet_tangent(primals: Values, tangents: Values) -> tuple[Values, Values]:
    """The trace of a⁻¹ a'; its imaginary part turns the sign."""
    [a], [t] = primals, tangents
    signs, size = slogdet(a)
    change = trace(solve(a, t))
    if a.type.dtype.kind != "c":
        return [signs, size], [None, change]
    turn = complex_(like(0, imag(change)), imag(change))
    return [signs, size], [multiply(signs, turn), real(change)]


slogdet = stacked("slogdet", "nn->,r:", expand=_slogdet_expand, kind="factorization", tangent=_slogdet_tangent)


def _det_expand(a: Any) -> Any:
    factors, pivots, _ = lu(a)
    values = diagonal(factors)
    return multiply(reduce_prod(values, axes=(values.type.ndim - 1,)), _parity(pivots, values))


def _det_tangent(t: Any, out: Any, a: Any) -> Any:
    """The trace of the adjugate times a', which is finite, and right, for singular matrices too.

    With p a = l u and y = l⁻¹ p a': let u[k, k] be the smallest element of u's diagonal, d the product of the others, and v
    the matrix u with 1 there (and in place of other zeros, which make d and the adjugate 0). If q = v⁻¹ y, then v z is
    det y, but in row k det y + (d - det) q, where z is the adjugate of u times y.
    """
    factors, pivots, _ = lu(a)
    values, shape = diagonal(factors), a.type.shape
    last, stack = values.type.ndim - 1, tuple(range(values.type.ndim - 1))
    least = argmin(abs_(values), axes=(last,), index_dtype=int32)
    numbers = iota(shape=values.type.shape, dtype=int32, dimension=last)
    chosen = compare(numbers, spread(least, values.type.shape, stack), direction="EQ")
    others = multiply(reduce_prod(select(chosen, like(1, values), values), axes=(last,)), _parity(pivots, values))
    row = spread(chosen, shape, (*stack, last))
    filled = and_(compared(a.type, "EQ"), or_(row, compare(factors, like(0, factors), direction="EQ")))
    v = select(filled, like(1, factors), factors)
    y = _left(factors, laswp(t, one_based(pivots)), lower=True, unit_diagonal=True)
    more = multiply(spread(subtract(others, out), shape, stack), _left(v, y, lower=False))
    right = add(multiply(y, spread(out, shape, stack)), select(row, more, like(0, more)))
    return trace(_left(v, right, lower=False))


det = stacked("det", "nn->", expand=_det_expand, kind="factorization", tangent=(_det_tangent,))
