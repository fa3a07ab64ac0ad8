"""Orthogonal factorizations: qr and its reflectors; the reductions hessenberg and tridiagonal, and tridiagonal_solve.

Derivatives of qr: S. F. Walter and L. Lehmann, "Algorithmic differentiation of linear algebra functions", Optimization
Methods and Software 27, 2012; of the columns that complete q: arXiv:2409.13374.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from celadon.program import fixed
from celadon.types import int32
from celadon.vocabulary.arithmetic import add, multiply, negate, subtract
from celadon.vocabulary.conversion import complex_, imag
from celadon.vocabulary.kinds import like
from celadon.vocabulary.lapack import gehrd, geqp3, geqrf, gtsv, orgqr, reflected, sytrd
from celadon.vocabulary.linalg import solve, triangular_solve
from celadon.vocabulary.matrices import (
    adjoint,
    identity,
    lower,
    on_diagonal,
    part,
    product,
    resized,
    rows_taken,
    spread,
    transposed,
    upper,
    where_converged,
)  # fmt: skip
from celadon.vocabulary.shape import concatenate, pad, slice_
from celadon.vocabulary.stacks import stacked

Values = Sequence[Any]


# --- qr


def _qr_form(*, pivoting: bool, full_matrices: bool) -> str:
    return ("mn->mm,mn" if full_matrices else "mn->mk,kn") + (",i:n" if pivoting else "")


def _qr_expand(x: Any, *, pivoting: bool, full_matrices: bool) -> Values:
    m, n = x.type.shape[-2:]
    size = m if full_matrices else min(m, n)
    order: list[Any] = []
    if pivoting:
        free = spread(fixed(0, int32), (*x.type.shape[:-2], n), ())
        found, order_from_one, taus = geqp3(x, free)
        order = [subtract(order_from_one, fixed(1, int32))]
    else:
        found, taus = geqrf(x)
    return [orgqr(resized(found, m, size), taus), upper(part(found, size, n)), *order]


def _qr_tangent(primals: Values, tangents: Values, **params: bool) -> tuple[Values, Values]:
    [x], [t] = primals, tangents
    q, r, *order = qr(x, **params)
    for taken in order:
        x, t = columns_taken(x, taken), columns_taken(t, taken)
    m, n = x.type.shape[-2:]
    if m < n:
        moved = _wide(q, r, x, t)
    elif params["full_matrices"] and m > n:
        moved = _completed(q, *_thin(part(q, m, n), part(r, n, n), t))
    else:
        moved = _thin(q, r, t)
    return [q, r, *order], [*moved, *(None for _ in order)]


def columns_taken(x: Any, order: Any) -> Any:
    """The columns of the matrices in another order."""
    return transposed(rows_taken(transposed(x), order))


def _thin(q: Any, r: Any, t: Any) -> tuple[Any, Any]:
    """With c = qᴴ x' r⁻¹ and the skew part d of its lower triangle: q (d - c) + x' r⁻¹ and (c - d) r."""
    flags = {"lower": False, "transpose_a": "NO_TRANSPOSE", "unit_diagonal": False}
    shared = triangular_solve(r, t, left_side=False, **flags)
    inside = product(adjoint(q), shared)
    below = lower(inside, strict=True)
    skew = subtract(below, adjoint(below))
    if q.type.dtype.kind == "c":
        skew = on_diagonal(skew, complex_(like(0, imag(inside)), imag(inside)), skew)
    rest = subtract(inside, skew)
    return subtract(shared, product(q, rest)), product(rest, r)


def _wide(q: Any, r: Any, x: Any, t: Any) -> tuple[Any, Any]:
    """The first columns are a square matrix with the same q; for the others, r = qᴴ x is differentiated."""
    m, n = x.type.shape[-2:]
    moved, first = _thin(q, part(r, m, m), part(t, m, m))
    others = part(x, m, (m, n)), part(t, m, (m, n))
    rest = add(product(adjoint(moved), others[0]), product(adjoint(q), others[1]))
    return moved, concatenate(first, rest, dimension=x.type.ndim - 1)


def _completed(q: Any, thin: Any, moved_r: Any) -> tuple[Any, Any]:
    """The derivative of all columns of q from that of the first n (arXiv:2409.13374, equations 32 and 33)."""
    m, n = thin.type.shape[-2:]
    first, others = part(q, m, n), part(q, m, (n, m))
    top, rest = part(first, n, n), part(first, (n, m), n)
    z = adjoint(solve(adjoint(subtract(top, identity(top.type))), adjoint(rest)))
    change = subtract(part(thin, (n, m), n), product(z, part(thin, n, n)))
    moved = subtract(product(thin, adjoint(z)), product(add(first, product(others, z)), adjoint(change)))
    return concatenate(thin, moved, dimension=q.type.ndim - 1), resized(moved_r, m, n)


qr = stacked("qr", _qr_form, expand=_qr_expand, kind="factorization", tangent=_qr_tangent)


# --- reflectors


def _ormqr_form(*, left: bool, transpose: bool) -> str:
    return "mp,j,mn->mn" if left else "np,j,mn->mn"


def _ormqr(x: Any, taus: Any, c: Any, *, left: bool, transpose: bool) -> Values:
    """q c, qᴴ c, c q or c qᴴ."""
    if left:
        return [reflected(c, x, taus.conj() if transpose else taus, reverse=not transpose)]
    return [reflected(c.conj().T, x, taus if transpose else taus.conj(), reverse=transpose).conj().T]


def _ormqr_expand(x: Any, taus: Any, c: Any, *, left: bool, transpose: bool) -> Any:
    size = x.type.shape[-2]
    q = orgqr(resized(x, size, size), taus)
    q = adjoint(q) if transpose else q
    return product(q, c) if left else product(c, q)


ormqr = stacked("ormqr", _ormqr_form, _ormqr, multiple=False, expand=_ormqr_expand, kind="lapack")


# --- reductions


def _hessenberg_expand(x: Any) -> Values:
    found, taus, info = gehrd(x)
    return [where_converged(info, found), where_converged(info, taus)]


def _tridiagonal_expand(x: Any, *, lower: bool) -> Values:
    *found, info = sytrd(x, lower=lower)
    return [where_converged(info, one) for one in found]


hessenberg = stacked("hessenberg", "nn->nn,l", expand=_hessenberg_expand, kind="factorization")
tridiagonal = stacked("tridiagonal", "nn->nn,r:n,r:l,l", expand=_tridiagonal_expand, kind="factorization")


# --- tridiagonal_solve


def _cut(v: Any, first: int, last: int) -> Any:
    """Vectors without some of their first and last elements."""
    rank, n = v.type.ndim, v.type.shape[-1]
    zeros = (0,) * (rank - 1)
    return slice_(
        v, start_indices=(*zeros, first), limit_indices=(*v.type.shape[:-1], n - last), strides=(1,) * rank
    )  # fmt: skip


def _moved(v: Any, first: int, last: int) -> Any:
    """Vectors with zeros put ahead and behind."""
    zeros = (0,) * (v.type.ndim - 1)
    return pad(v, like(0, v), low=(*zeros, first), high=(*zeros, last), interior=(*zeros, 0))


def _tridiagonal_solve_expand(below: Any, diagonal: Any, above: Any, b: Any) -> Any:
    found, info = gtsv(below, diagonal, above, b)
    return where_converged(info, found)


def _rows(v: Any, x: Any) -> Any:
    return multiply(spread(v, x.type.shape, tuple(range(x.type.ndim - 1))), x)


def _rows_moved(x: Any, first: int, last: int) -> Any:
    return transposed(_moved(transposed(x), first, last))


def _rows_cut(x: Any, first: int, last: int) -> Any:
    return transposed(_cut(transposed(x), first, last))


def _solved(t: Any, below: Any, diagonal: Any, above: Any) -> Any:
    return tridiagonal_solve(below, diagonal, above, negate(t))


def _back(ct: Any, below: Any, diagonal: Any, above: Any, b: Any) -> Any:
    """The same with the matrix transposed: the diagonals beside the main one change places."""
    return tridiagonal_solve(_moved(_cut(above, 0, 1), 1, 0), diagonal, _moved(_cut(below, 1, 0), 0, 1), ct)


tridiagonal_solve = stacked(
    "tridiagonal_solve", "n,n,n,nb->nb", expand=_tridiagonal_solve_expand, kind="factorization",
    tangent=(
        lambda t, x, d, e, f, b: _solved(_rows_moved(_rows(_cut(t, 1, 0), _rows_cut(x, 0, 1)), 1, 0), d, e, f),
        lambda t, x, d, e, f, b: _solved(_rows(t, x), d, e, f),
        lambda t, x, d, e, f, b: _solved(_rows_moved(_rows(_cut(t, 0, 1), _rows_cut(x, 1, 0)), 0, 1), d, e, f),
        "linear",
    ),
    transpose=(None, None, None, _back),
)  # fmt: skip

__all__ = [
    "columns_taken", "hessenberg", "ormqr", "qr", "tridiagonal", "tridiagonal_solve"
]  # fmt: skip
