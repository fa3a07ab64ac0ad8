"""Systems of equations under SciPy's names: by factors, by triangles, by the inverse; Sylvester's equation."""

from __future__ import annotations

from typing import Any

from celadon import errors, vocabulary as ops
from celadon.lax import linalg as lax_linalg
from celadon.lax.loops import fori_loop
from celadon.numpy import comparison, linalg as numpy_linalg, reductions
from celadon.numpy.elementwise import abs as abs_of
from celadon.numpy.library import library
from celadon.numpy.linalg.systems import solve as solve_any
from celadon.numpy.promotion import array, fixed_like
from celadon.numpy.selection import where
from celadon.numpy.shapes import expanded, squeezed
from celadon.scipy.linalg.factors import stacked, together
from celadon.transforms.mapping import vmap
from celadon.types import int32
from celadon.vocabulary import linalg, matrices
from celadon.vocabulary.stacks import complex_dtype


def det(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The determinants of square matrices.

    >>> det(np.array([[1.0, 2.0], [3.0, 4.0]]))
    Array(-2., dtype=float32)
    """
    return numpy_linalg.det(a)


def inv(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The inverses of square matrices.

    >>> inv(np.array([[4.0]]))
    Array([[0.25]], dtype=float32)
    """
    return numpy_linalg.inv(a)


def _sides(function: str, a: Any, b: Any) -> tuple[Any, Any, bool]:
    """Stacks of square matrices and of right sides, and whether the latter were vectors."""
    x, y = together(function, a, b)
    shape = x.type.shape
    vectors = y.type.ndim == 1 or (y.type.ndim == x.type.ndim - 1 and y.type.shape[-1] == shape[-1])
    y = expanded(y, (y.type.ndim,)) if vectors else y
    if len(shape) < 2 or shape[-1] != shape[-2] or y.type.ndim < 2 or y.type.shape[-2] != shape[-1]:
        raise errors.MatricesUnfit(op=function, shapes=f"{x.type}, {y.type}", form="(..., n, n), (..., n, k) or (n)")
    return *stacked(function, x, y), vectors


def _restored(x: Any, vectors: bool) -> Any:
    return squeezed(x, (x.type.ndim - 1,)) if vectors else x


def cho_solve(c_and_lower: tuple[Any, bool], b: Any, overwrite_b: bool = False, check_finite: bool = True) -> Any:
    """x with a x = b, from the factor of a that cho_factor gives.

    >>> cho_solve((np.array([[2.0]]), False), np.array([8.0]))
    Array([2.], dtype=float32)
    """
    factor, lower = c_and_lower
    return _cho_solve(factor, b, lower=bool(lower))


@library("lower", name="_cho_solve")
def _cho_solve(c: Any, b: Any, lower: bool) -> Any:
    factor, y, vectors = _sides("cho_solve", c, b)
    turns = ("NO_TRANSPOSE", "ADJOINT") if lower else ("ADJOINT", "NO_TRANSPOSE")
    for turn in turns:
        y = linalg.triangular_solve(factor, y, left_side=True, lower=lower, transpose_a=turn, unit_diagonal=False)
    return _restored(y, vectors)


def lu_solve(
    lu_and_piv: tuple[Any, Any], b: Any, trans: int = 0, overwrite_b: bool = False, check_finite: bool = True
) -> Any:
    """x with a x = b, aᵀ x = b (trans=1) or aᴴ x = b (trans=2), from the factors and pivots that lu_factor gives.

    >>> lu_solve((np.array([[2.0]]), np.array([0], "int32")), np.array([8.0]))
    Array([4.], dtype=float32)
    """
    if trans not in (0, 1, 2):
        raise errors.OptionUnknown(function="lu_solve", argument="trans", value=trans, allowed="0, 1 or 2")
    return _lu_solve(*lu_and_piv, b, trans=trans)


@library("trans", name="lu_solve")
def _lu_solve(lu: Any, pivots: Any, b: Any, trans: int) -> Any:
    factors, y, vectors = _sides("lu_solve", lu, b)
    order = array(pivots)
    stack = factors.type.shape[:-2]
    spread = order.type.with_shape((*stack, order.type.shape[-1]))
    own = tuple(range(len(stack) + 1 - order.type.ndim, len(stack) + 1))
    order = linalg.one_based(matrices.cast(matrices.spread(order, spread.shape, own), int32))
    turn = ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")[trans]
    return _restored(linalg.lu_solved(factors, order, y, turn), vectors)


def solve(
    a: Any, b: Any, lower: bool = False, overwrite_a: bool = False, overwrite_b: bool = False, debug: bool = False,
    check_finite: bool = True, assume_a: str = "gen",
) -> Any:  # fmt: skip
    """x with a x = b.

    Args:
        a: square matrices; b: a vector or matrices. assume_a: "pos" for positive definite matrices, of which the triangle
        that `lower` names is read; "gen", "sym" and "her" are treated alike.

    >>> solve(np.array([[2.0, 0.0], [0.0, 4.0]]), np.array([2.0, 2.0]))
    Array([1. , 0.5], dtype=float32)
    """
    if assume_a not in ("gen", "sym", "her", "pos"):
        raise errors.OptionUnknown(
            function="solve", argument="assume_a", value=assume_a, allowed="'gen', 'sym', 'her' or 'pos'"
        )
    return _solve_positive(a, b, lower=lower) if assume_a == "pos" else solve_any(a, b)


@library("lower", name="_solve")
def _solve_positive(a: Any, b: Any, lower: bool) -> Any:
    x, y, vectors = _sides("solve", a, b)
    return _restored(linalg.solve(x, y, triangle="L" if lower else "U"), vectors)


def solve_triangular(
    a: Any, b: Any, trans: int | str = 0, lower: bool = False, unit_diagonal: bool = False, overwrite_b: bool = False,
    debug: Any = None, check_finite: bool = True,
) -> Any:  # fmt: skip
    """x with a x = b for triangular matrices a.

    Args: trans: 0 or "N", 1 or "T" for aᵀ, 2 or "C" for aᴴ; lower: which triangle is read; unit_diagonal: take the
    diagonal for ones.

    >>> solve_triangular(np.array([[2.0, 0.0], [0.0, 4.0]]), np.array([2.0, 2.0]))
    Array([1. , 0.5], dtype=float32)
    """
    turns = {0: "NO_TRANSPOSE", "N": "NO_TRANSPOSE", 1: "TRANSPOSE", "T": "TRANSPOSE", 2: "ADJOINT", "C": "ADJOINT"}
    if trans not in turns:
        raise errors.OptionUnknown(
            function="solve_triangular", argument="trans", value=trans, allowed="0, 1, 2, 'N', 'T' or 'C'"
        )
    return _solve_triangular(a, b, turn=turns[trans], lower=lower, unit_diagonal=unit_diagonal)


@library("turn", "lower", "unit_diagonal", name="_solve_triangular")
def _solve_triangular(a: Any, b: Any, turn: str, lower: bool, unit_diagonal: bool) -> Any:
    x, y, vectors = _sides("solve_triangular", a, b)
    found = linalg.triangular_solve(x, y, left_side=True, lower=lower, transpose_a=turn, unit_diagonal=unit_diagonal)
    return _restored(found, vectors)


def solve_sylvester(A: Any, B: Any, C: Any, *, method: str = "schur", tol: float = 1e-8) -> Any:
    """x with a x + x b = c; NaN where an eigenvalue of a and one of -b differ by less than tol.

    Args: method: "schur", or "eigen" for matrices that have enough eigenvectors.

    >>> solve_sylvester(np.array([[2.0]]), np.array([[1.0]]), np.array([[6.0]]))
    Array([[2.]], dtype=float32)
    """
    if method not in ("schur", "eigen"):
        raise errors.OptionUnknown(
            function="solve_sylvester", argument="method", value=method, allowed="'schur' or 'eigen'"
        )
    a, b = together("solve_sylvester", A, B)
    a, c = together("solve_sylvester", a, C)
    b, c = together("solve_sylvester", b, c)
    m, n = c.type.shape[-2:] if c.type.ndim > 1 else (0, 0)
    if c.type.ndim < 2 or a.type.shape[-2:] != (m, m) or b.type.shape[-2:] != (n, n):
        shapes = f"{a.type}, {b.type}, {c.type}"
        raise errors.MatricesUnfit(op="solve_sylvester", shapes=shapes, form="(..., m, m), (..., n, n), (..., m, n)")
    return _solve_sylvester(a, b, c, tol, method=method)


@library("method", name="solve_sylvester")
def _solve_sylvester(a: Any, b: Any, c: Any, tol: Any, method: str) -> Any:
    a, c = stacked("solve_sylvester", a, c)
    b, c = stacked("solve_sylvester", b, c)
    a, c = stacked("solve_sylvester", a, c)
    function = _by_schur if method == "schur" else _by_vectors
    for _ in c.type.shape[:-2]:
        function = vmap(function, in_axes=(0, 0, 0, None))
    return function(a, b, c, tol)


def _by_schur(a: Any, b: Any, c: Any, tol: Any) -> Any:
    """With a = u r uᴴ and b = v s vᴴ: r y + y s = uᴴ c v, solved for one column of y after the other."""
    dtype = complex_dtype(c.type.dtype)
    (r, u), (s, v) = (lax_linalg.schur(matrices.cast(x, dtype)) for x in (a, b))
    right = matrices.adjoint(u) @ matrices.cast(c, dtype) @ v
    ones = matrices.identity(r.type)

    def column(j: Any, y: Any) -> Any:
        side = right[:, j] - y @ s[:, j]  # columns that are not known yet are 0
        found = lax_linalg.triangular_solve(r + s[j, j] * ones, side, left_side=True)
        return y.at[:, j].set(found)

    y = fori_loop(0, right.type.shape[1], column, right * fixed_like(0, right))
    return _unless_singular(u @ y @ matrices.adjoint(v), c, (matrices.diagonal(r), matrices.diagonal(s)), tol)


def _by_vectors(a: Any, b: Any, c: Any, tol: Any) -> Any:
    """Eigenvectors make both matrices diagonal."""
    (p, u), (q, v) = (numpy_linalg.eig(x) for x in (a, b))
    right = numpy_linalg.solve(u, matrices.cast(c, u.type.dtype) @ v)
    found = u @ (right / (p[:, None] + q[None, :])) @ numpy_linalg.inv(v)
    return _unless_singular(found, c, (p, q), tol)


def _unless_singular(x: Any, c: Any, values: tuple[Any, Any], tol: Any) -> Any:
    """The solution, real where the equation is, or NaN where two eigenvalues cancel."""
    x = x if c.type.dtype.kind == "c" else ops.real(x)
    singular = reductions.any(comparison.less(abs_of(values[0][:, None] + values[1][None, :]), tol))
    return where(singular, matrices.nan(x.type.dtype), x)
