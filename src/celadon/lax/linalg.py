"""jax.lax.linalg: factorizations of matrices in stacks, and systems of equations that their factors solve."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

from celadon import errors, vocabulary as ops
from celadon.numpy.promotion import array, operand
from celadon.program import Literal, literal
from celadon.vocabulary import lapack, linalg, matrices, orthogonal, pivots as rows, spectral
from celadon.vocabulary.kinds import like

Pair = tuple[Any, Any]


class EigImplementation(enum.Enum):
    """Which library computes eig."""

    CUSOLVER = "cusolver"
    MAGMA = "magma"
    LAPACK = "lapack"


class EighImplementation(enum.Enum):
    """Which algorithm computes eigh."""

    QR = "qr"
    JACOBI = "jacobi"
    QDWH = "qdwh"


class SvdAlgorithm(enum.Enum):
    """Which algorithm computes svd."""

    DEFAULT = "default"
    QR = "QR"
    JACOBI = "Jacobi"
    POLAR = "polar"
    DIVIDE_AND_CONQUER = "divide_and_conquer"


def symmetrized(x: Any) -> Any:
    """The mean of matrices and their conjugate transposes."""
    if x.type.ndim < 2 or x.type.shape[-1] != x.type.shape[-2]:
        raise errors.MatricesUnfit(op="the mean with the transpose", shapes=x.type, form="(..., n, n)")
    return ops.divide(ops.add(x, matrices.adjoint(x)), like(2, x))


def _offered(function: str, argument: str, value: Any, allowed: tuple[Any, ...]) -> None:
    if value is not None and value not in allowed:
        raise errors.FactorizationOptionMissing(
            function=function, argument=argument, value=value, allowed=", ".join(map(str, (*allowed, None)))
        )


def cholesky(x: Any, *, symmetrize_input: bool = True) -> Any:
    """The lower triangular factors l with x = l lᴴ of positive definite matrices; NaN where a matrix is not.

    Args:
        x: f[..., n, n]; symmetrize_input: take the mean of x and its conjugate transpose, else read the lower triangle alone.

    >>> cholesky(np.array([[4.0, 2.0], [2.0, 5.0]], "float32"))
    Array([[2., 0.],
           [1., 2.]], dtype=float32)
    """
    found = array(x, "cholesky")
    return linalg.cholesky(symmetrized(found) if symmetrize_input else found)


def cholesky_update(r_matrix: Any, w_vector: Any) -> Any:
    """The upper factor of rᵀ r + w wᵀ, from the upper factor r of a positive definite real matrix.

    >>> cholesky_update(np.array([[3.0]], "float32"), np.array([4.0], "float32"))
    Array([[5.]], dtype=float32)
    """
    r, w = array(r_matrix, "cholesky_update"), array(w_vector, "cholesky_update")
    if r.type.ndim != 2 or r.type.shape[0] != r.type.shape[1] or w.type.shape != r.type.shape[:1]:
        raise errors.MatricesUnfit(op="cholesky_update", shapes=f"{r.type} and {w.type}", form="(n, n), (n)")
    under = ops.reshape(w, shape=(1, *w.type.shape))
    n = w.type.shape[0]
    found, _ = lapack.geqrf(ops.concatenate(r, under, dimension=0))
    factor = matrices.upper(matrices.part(found, n, n))
    signs = ops.sign(matrices.diagonal(factor))
    zero = ops.compare(signs, like(0, signs), direction="EQ")
    return matrices.rows_scaled(factor, ops.select(zero, like(1, signs), signs))


def eig(
    x: Any, *, compute_left_eigenvectors: bool = True, compute_right_eigenvectors: bool = True,
    enable_eigvec_derivs: bool = False, implementation: EigImplementation | None = None, use_magma: bool | None = None,
) -> list[Any]:  # fmt: skip
    """Eigenvalues, and as asked for left and right eigenvectors in columns, of square matrices; all complex.

    Args: enable_eigvec_derivs: let eigenvectors be differentiated, which has a meaning for distinct eigenvalues only.

    >>> eig(np.array([[2.0, 0.0], [0.0, 3.0]], "float32"), compute_left_eigenvectors=False)[0]
    Array([2.+0.j, 3.+0.j], dtype=complex64)
    """
    _offered("eig", "implementation", implementation, (EigImplementation.LAPACK,))
    _offered("eig", "use_magma", use_magma, (False,))
    return spectral.eig(
        array(x, "eig"), left=compute_left_eigenvectors, right=compute_right_eigenvectors, derivatives=enable_eigvec_derivs
    )


def eigh(
    x: Any, *, lower: bool = True, symmetrize_input: bool = True, sort_eigenvalues: bool = True,
    subset_by_index: tuple[int, int] | None = None, implementation: EighImplementation | None = None,
) -> Pair:  # fmt: skip
    """Eigenvectors in columns, and eigenvalues in ascending order, of Hermitian matrices.

    Args: lower: which triangle is read if symmetrize_input is false; sort_eigenvalues: they are sorted in any case.

    >>> eigh(np.array([[2.0, 0.0], [0.0, 1.0]], "float32"))[1]
    Array([1., 2.], dtype=float32)
    """
    found = array(x, "eigh")
    _offered("eigh", "subset_by_index", subset_by_index, ((0, found.type.shape[-1] if found.type.ndim else 0),))
    _offered("eigh", "implementation", implementation, (EighImplementation.QR,))
    vectors, values = spectral.eigh(symmetrized(found) if symmetrize_input else found, lower=lower)
    return vectors, values


def hessenberg(a: Any) -> list[Any]:
    """Square matrices reduced to Hessenberg form by reflectors, which stand below the subdiagonal, and their factors.

    >>> hessenberg(np.ones((3, 3), "float32"))[1].shape
    (2,)
    """
    return orthogonal.hessenberg(array(a, "hessenberg"))


def householder_product(a: Any, taus: Any) -> Any:
    """The first columns of the product of reflectors, whose vectors stand below the diagonal of a: f[..., m, n], m >= n.

    >>> householder_product(np.zeros((2, 1), "float32"), np.zeros(1, "float32")).shape
    (2, 1)
    """
    x, factors = array(a, "householder_product"), array(taus, "householder_product")
    m, n = x.type.shape[-2:] if x.type.ndim > 1 else (0, 1)
    if m < n or factors.type.ndim + 1 != x.type.ndim or factors.type.shape[-1] > n:
        raise errors.MatricesUnfit(
            op="householder_product", shapes=f"{x.type}, {factors.type}", form="(..., m, n), (..., k) with k <= n <= m"
        )
    return lapack.orgqr(x, factors)


def lu(x: Any) -> list[Any]:
    """Triangular factors in one matrix, pivots, and the permutation of rows that they make.

    Args:
        x: f[..., m, n].

    Returns:
        l without its ones below u, f[..., m, n]; row i was exchanged with row pivots[i], int32[..., min(m, n)];
        x[permutation] = l u, int32[..., m].

    >>> lu(np.array([[1.0, 2.0], [2.0, 2.0]], "float32"))[2]
    Array([1, 0], dtype=int32)
    """
    return linalg.lu(array(x, "lu"))


def lu_pivots_to_permutation(pivots: Any, permutation_size: int) -> Any:
    """The permutation of rows that exchanges by pivots make.

    >>> lu_pivots_to_permutation(np.array([2, 1], "int32"), 3)
    Array([2, 1, 0], dtype=int32)
    """
    return rows.lu_pivots_to_permutation(array(pivots), permutation_size=permutation_size)


def ormqr(a: Any, taus: Any, c: Any, *, left: bool = True, transpose: bool = False) -> Any:
    """q c, or c q, or with the conjugate transpose of q: the product of reflectors, which is not formed.

    >>> ormqr(np.zeros((2, 1), "float32"), np.zeros(1, "float32"), np.ones((2, 1), "float32"))
    Array([[1.],
           [1.]], dtype=float32)
    """
    given = array(a, "ormqr"), array(taus, "ormqr"), array(c, "ormqr")
    return orthogonal.ormqr(*given, left=left, transpose=transpose)


def qr(x: Any, *, pivoting: bool = False, full_matrices: bool = True, use_magma: bool | None = None) -> tuple[Any, ...]:
    """q with orthonormal columns and r upper triangular such that x = q r; with pivoting, x[:, p] = q r and p.

    Args:
        x: f[..., m, n]; full_matrices: q is square, else it has min(m, n) columns.

    >>> qr(np.ones((3, 2), "float32"), full_matrices=False)[0].shape
    (3, 2)
    """
    _offered("qr", "use_magma", use_magma, (False,))
    return tuple(orthogonal.qr(array(x, "qr"), pivoting=pivoting, full_matrices=full_matrices))


def schur(
    x: Any, *, compute_schur_vectors: bool = True, sort_eig_vals: bool = False,
    select_callable: Callable[..., Any] | None = None,
) -> list[Any]:  # fmt: skip
    """t and q with x = q t qᴴ: t is triangular, but for blocks of two rows where a real matrix has complex eigenvalues.

    >>> schur(np.array([[2.0, 1.0], [0.0, 3.0]], "float32"))[0]
    Array([[2., 1.],
           [0., 3.]], dtype=float32)
    """
    _offered("schur", "sort_eig_vals", sort_eig_vals, (False,))
    return spectral.schur(array(x, "schur"), vectors=compute_schur_vectors)


def svd(
    x: Any, *, full_matrices: bool = True, compute_uv: bool = True, subset_by_index: tuple[int, int] | None = None,
    algorithm: SvdAlgorithm | None = None,
) -> Any:  # fmt: skip
    """u, s, vh with x = u s vh: left vectors in columns, singular values in descending order, right vectors in rows.

    Args:
        x: f[..., m, n]; full_matrices: u and vh are square; compute_uv: else s is returned alone.

    >>> svd(np.array([[3.0, 0.0], [0.0, 4.0]], "float32"), compute_uv=False)
    Array([4., 3.], dtype=float32)
    """
    found = array(x, "svd")
    _offered("svd", "subset_by_index", subset_by_index, ((0, min(found.type.shape[-2:], default=0)),))
    own = (SvdAlgorithm.DEFAULT, SvdAlgorithm.QR, SvdAlgorithm.DIVIDE_AND_CONQUER)
    _offered("svd", "algorithm", algorithm, own)
    s, *vectors = spectral.svd(found, full_matrices=full_matrices, compute_uv=compute_uv)
    return (vectors[0], s, vectors[1]) if compute_uv else s


def symmetric_product(
    a_matrix: Any, c_matrix: Any, *, alpha: float = 1.0, beta: float = 0.0, symmetrize_output: bool = False
) -> Any:
    """alpha a aᵀ + beta c; all of it is right, whether or not symmetrize_output is set.

    >>> symmetric_product(np.array([[1.0], [2.0]], "float32"), np.zeros((2, 2), "float32"))
    Array([[1., 2.],
           [2., 4.]], dtype=float32)
    """
    a, c = array(a_matrix, "symmetric_product"), array(c_matrix, "symmetric_product")
    found = matrices.product(a, matrices.transposed(a))
    scaled = ops.multiply(found, _number(alpha, found))
    return ops.add(scaled, ops.multiply(c, _number(beta, found)))


def _number(value: Any, x: Any) -> Any:
    found = operand(value)
    return literal(found.value, x.type.dtype) if type(found) is Literal else found


def triangular_solve(
    a: Any, b: Any, *, left_side: bool = False, lower: bool = False, transpose_a: bool = False, conjugate_a: bool = False,
    unit_diagonal: bool = False,
) -> Any:  # fmt: skip
    """x with x a = b, or a x = b if left_side, for triangular matrices a, of which one triangle is read.

    Args: b: a stack of matrices, or of vectors with an axis less than a; unit_diagonal: take the diagonal for ones.

    >>> triangular_solve(np.array([[2.0]], "float32"), np.array([[4.0]], "float32"))
    Array([[2.]], dtype=float32)
    """
    x, y = array(a, "triangular_solve"), array(b, "triangular_solve")
    turned = "NO_TRANSPOSE"
    if x.type.dtype.kind == "c" and conjugate_a and not transpose_a:
        x = ops.conj(x)
    elif transpose_a:
        turned = "ADJOINT" if conjugate_a else "TRANSPOSE"
    shape, vectors = y.type.shape, y.type.ndim == x.type.ndim - 1
    if vectors:
        y = ops.reshape(y, shape=(*shape, 1) if left_side else (*shape[:-1], 1, shape[-1]))
    found = linalg.triangular_solve(
        x, y, left_side=left_side, lower=lower, transpose_a=turned, unit_diagonal=unit_diagonal
    )  # fmt: skip
    return ops.reshape(found, shape=shape) if vectors else found


def tridiagonal(a: Any, *, lower: bool = True) -> list[Any]:
    """Hermitian matrices reduced to real tridiagonal ones by reflectors.

    Returns:
        The matrices with the reflectors beside the diagonals, the diagonals, those beside them, and the reflectors' factors.

    >>> tridiagonal(np.eye(3, dtype="float32"))[1]
    Array([1., 1., 1.], dtype=float32)
    """
    return orthogonal.tridiagonal(array(a, "tridiagonal"), lower=lower)


def tridiagonal_solve(dl: Any, d: Any, du: Any, b: Any, *, perturb_singular: bool = False) -> Any:
    """x with a x = b for tridiagonal matrices a.

    Args: dl: the diagonal below, f[..., n], its first element is not read; d: the main one; du: the one above, its last
    element is not read; b: f[..., n, k].

    >>> one = np.ones(2, "float32")
    >>> tridiagonal_solve(one, 2 * one, one, 3 * np.ones((2, 1), "float32"))
    Array([[1.],
           [1.]], dtype=float32)
    """
    _offered("tridiagonal_solve", "perturb_singular", perturb_singular, (False,))
    return orthogonal.tridiagonal_solve(*[array(x, "tridiagonal_solve") for x in (dl, d, du, b)])


__all__ = [
    "EigImplementation", "EighImplementation", "SvdAlgorithm", "cholesky", "cholesky_update", "eig", "eigh", "hessenberg",
    "householder_product", "lu", "lu_pivots_to_permutation", "ormqr", "qr", "schur", "svd", "symmetric_product",
    "triangular_solve", "tridiagonal", "tridiagonal_solve",
]  # fmt: skip
