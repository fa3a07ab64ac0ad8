"""Eigenvalues and singular values: eigh, svd, eig, schur.

Derivatives: M. B. Giles, "An extended collection of matrix derivative results for forward and reverse mode algorithmic
differentiation", Oxford 2008, section 3; of complex singular vectors: Z.-Q. Wan and S.-X. Zhang, arXiv:1909.02659.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from celadon import errors
from celadon.types import int32
from celadon.vocabulary.arithmetic import abs_, add, divide, multiply, negate, subtract
from celadon.vocabulary.bitwise import not_, or_
from celadon.vocabulary.comparison import compare, select
from celadon.vocabulary.conversion import complex_, convert, imag, real
from celadon.vocabulary.kinds import like
from celadon.vocabulary.lapack import gees, geev, gesdd, syevd
from celadon.vocabulary.linalg import solve
from celadon.vocabulary.matrices import (
    adjoint,
    cast,
    columns_scaled,
    conjugated,
    diagonal,
    differences,
    identity,
    on_diagonal,
    places,
    product,
    real_part,
    rows_scaled,
    spread,
    where_converged,
)  # fmt: skip
from celadon.vocabulary.reduce import argmax, reduce_and, reduce_sum
from celadon.vocabulary.shape import pad
from celadon.vocabulary.stacks import complex_dtype, stacked

Values = Sequence[Any]


def _inverse_off_diagonal(x: Any) -> Any:
    """1/x off the diagonal, 0 on it."""
    return on_diagonal(x, like(0, x), divide(like(1, x), on_diagonal(x, like(1, x), x)))


# --- eigh


def _eigh_expand(x: Any, *, lower: bool) -> Values:
    vectors, values, info = syevd(x, lower=lower)
    return [where_converged(info, vectors), where_converged(info, values)]


def _eigh_tangent(primals: Values, tangents: Values, *, lower: bool) -> tuple[Values, Values]:
    """v (f * c) and the diagonal of c = vᴴ x' v, where f[i, j] = 1 / (w[j] - w[i]); eigenvalues must be distinct."""
    [x], [t] = primals, tangents
    x = divide(add(x, adjoint(x)), like(2, x))
    v, w = eigh(x, lower=lower)
    inside = product(product(adjoint(v), t), v)
    columns, rows = differences(w)
    factor = cast(_inverse_off_diagonal(subtract(columns, rows)), x.type.dtype)
    return [v, w], [product(v, multiply(factor, inside)), diagonal(real_part(inside))]


eigh = stacked("eigh", "nn->nn,r:n", expand=_eigh_expand, kind="factorization", tangent=_eigh_tangent)


# --- svd


def _svd_form(*, full_matrices: bool, compute_uv: bool) -> str:
    return "mn->r:k" + ((",mm,nn" if full_matrices else ",mk,kn") if compute_uv else "")


def _svd_expand(x: Any, *, full_matrices: bool, compute_uv: bool) -> Values:
    """Where there is nothing to factorize, u and v are parts of the identity."""
    if 0 in x.type.shape[-2:]:
        made: Any = svd.result_type(x.type, full_matrices=full_matrices, compute_uv=compute_uv)
        return [spread(like(0, real_part(x)), made[0].shape, ()), *(identity(t) for t in made[1:])]
    *found, info = gesdd(x, full_matrices=full_matrices, compute_uv=compute_uv)
    return [where_converged(info, one) for one in found]


def _svd_tangent(primals: Values, tangents: Values, *, full_matrices: bool, compute_uv: bool) -> tuple[Values, Values]:
    [x], [t] = primals, tangents
    m, n = x.type.shape[-2:]
    if compute_uv and full_matrices and m != n:
        raise errors.FactorsNotDifferentiable(
            op="svd", reason="the vectors that complete u or v are not determined by the matrix"
        )
    s, u, vh = svd(x, full_matrices=False, compute_uv=True)
    inside = product(product(adjoint(u), t), adjoint(vh))
    change = diagonal(real_part(inside))
    if not compute_uv:
        return [s], [change]
    return [s, u, vh], [change, *_vectors_moved(t, s, u, vh, inside)]


def _vectors_moved(t: Any, s: Any, u: Any, vh: Any, inside: Any) -> tuple[Any, Any]:
    """u (f * (c s + s cᴴ)) and v (f * (s c + cᴴ s)), where f[i, j] = 1 / (s[j]² - s[i]²) and c = uᴴ x' v.

    The diagonal's imaginary part turns u alone; what lies outside the spaces of u and v is divided by s.
    """
    columns, rows = differences(s)
    factor = _inverse_off_diagonal(multiply(add(columns, rows), subtract(columns, rows)))
    factor = cast(factor, inside.type.dtype)
    right, left = columns_scaled(inside, s), rows_scaled(inside, s)
    turn = multiply(factor, add(right, adjoint(right)))
    if inside.type.dtype.kind == "c":
        turn = add(turn, _phases(inside, s))
    moved_u = product(u, turn)
    v = adjoint(vh)
    moved_v = product(v, multiply(factor, add(left, adjoint(left))))
    m, n = t.type.shape[-2:]
    if m > n:
        moved_u = add(moved_u, _outside(product(t, v), u, s))
    if n > m:
        moved_v = add(moved_v, _outside(product(adjoint(t), u), v, s))
    return moved_u, adjoint(moved_v)


def _phases(inside: Any, s: Any) -> Any:
    """The skew part of the diagonal over s, 0 where s is 0."""
    _, rows = differences(s)
    zero = compare(rows, like(0, rows), direction="EQ")
    share = divide(imag(inside), select(zero, like(1, rows), rows))
    share = on_diagonal(share, select(zero, like(0, rows), share), like(0, share))
    return complex_(like(0, share), share)


def _outside(x: Any, basis: Any, s: Any) -> Any:
    """The part of the columns of x that is orthogonal to a basis, over s."""
    rest = subtract(x, product(basis, product(adjoint(basis), x)))
    return columns_scaled(rest, divide(like(1, s), s))


svd = stacked("svd", _svd_form, expand=_svd_expand, kind="factorization", tangent=_svd_tangent)


# --- eig


def _eig_form(*, left: bool, right: bool, derivatives: bool) -> str:
    return f"nn->c:n{',c:nn' * (left + right)}"


def _eig_expand(x: Any, *, left: bool, right: bool, derivatives: bool) -> Values:
    """Matrices with elements that are not finite are kept from LAPACK, which would read outside its memory."""
    x, lost = _finite(x)
    if x.type.dtype.kind == "c":
        *found, info = geev(x, packed=False, left=left, right=right)
    else:
        first, second, *vectors, info = geev(x, packed=True, left=left, right=right)
        found = [complex_(first, second), *(_unpacked(second, v) for v in vectors)]
    return [where_converged(or_(info, lost), one) for one in found]


def _finite(x: Any) -> tuple[Any, Any]:
    """The matrices of a stack, zeros instead of those that are not finite; and for each 1 if it is not, else 0."""
    rest = subtract(x, x)  # 0 of what is finite, NaN of what is not
    stack = tuple(range(x.type.ndim - 2))
    whole = reduce_and(compare(rest, like(0, rest), direction="EQ"), axes=(len(stack), len(stack) + 1))
    return select(spread(whole, x.type.shape, stack), x, like(0, x)), convert(not_(whole), new_dtype=int32)


def _unpacked(imaginary: Any, x: Any) -> Any:
    """Complex vectors of columns where those of a pair are the parts of the first, the second being its conjugate."""
    sides, _ = differences(imaginary)
    first, second = (compare(sides, like(0, sides), direction=direction) for direction in ("GT", "LT"))
    zeros = (0,) * (x.type.ndim - 1)
    before, after = (
        pad(x, like(0, x), low=(*zeros, step), high=(*zeros, -step), interior=(*zeros, 0)) for step in (1, -1)
    )
    return complex_(select(second, before, x), select(first, after, select(second, negate(x), like(0, x))))


def _eig_tangent(
    primals: Values, tangents: Values, *, left: bool, right: bool, derivatives: bool
) -> tuple[Values, Values]:
    """The diagonal of v⁻¹ x' v; vectors only on request, as they have a derivative for distinct eigenvalues only."""
    [x], [t] = primals, tangents
    if (left or right) and not derivatives:
        raise errors.FactorsNotDifferentiable(
            op="eig", reason="eigenvectors of a matrix that is not symmetric need enable_eigvec_derivs=True of lax.linalg.eig"
        )
    found = eig(x, left=left, right=True, derivatives=derivatives)
    values, vectors = found[0], found[-1]
    t = cast(t, complex_dtype(t.type.dtype))
    change, moved = _eigenvectors_moved(t, values, vectors)
    outs, changes = [values], [change]
    if left:
        outs.append(found[1])
        changes.append(_eigenvectors_moved(adjoint(t), conjugated(values), found[1])[1])
    return ([*outs, vectors], [*changes, moved]) if right else (outs, changes)


def _eigenvectors_moved(t: Any, w: Any, v: Any) -> tuple[Any, Any]:
    """With c = v⁻¹ x' v: its diagonal; and v (f * c), made to keep length 1 and the largest elements real."""
    inside = product(solve(v, t), v)
    columns, rows = differences(w)
    moved = product(v, multiply(_inverse_off_diagonal(subtract(columns, rows)), inside))
    axis = v.type.ndim - 2
    largest = argmax(abs_(v), axes=(axis,), index_dtype=int32)
    mask = compare(places(v.type, -2), by_column(largest, v), direction="EQ")
    picked, kept = (reduce_sum(select(mask, x, like(0, x)), axes=(axis,)) for x in (moved, v))
    along = real(reduce_sum(multiply(conjugated(v), moved), axes=(axis,)))
    share = complex_(negate(along), negate(divide(imag(picked), real(kept))))
    return diagonal(inside), add(moved, columns_scaled(v, share))


def by_column(v: Any, like_x: Any) -> Any:
    """A number for each column, as matrices."""
    rank = like_x.type.ndim
    return spread(v, like_x.type.shape, (*range(rank - 2), rank - 1))


eig = stacked("eig", _eig_form, expand=_eig_expand, kind="factorization", tangent=_eig_tangent)


# --- schur


def _schur_form(*, vectors: bool) -> str:
    return "nn->nn,nn" if vectors else "nn->nn"


def _schur_expand(x: Any, *, vectors: bool) -> Values:
    """Matrices that are not finite are kept from LAPACK, which would go on for seconds."""
    x, lost = _finite(x)
    *found, info = gees(x, vectors=vectors)
    return [where_converged(or_(info, lost), one) for one in found]


schur = stacked("schur", _schur_form, expand=_schur_expand, kind="factorization")

__all__ = ["eig", "eigh", "schur", "svd"]
