"""Factors of matrices: cholesky, qr, svd and eigenvalues; integers become floats, results have names."""

from __future__ import annotations

from typing import Any, NamedTuple

from celadon import errors, vocabulary as ops
from celadon.lax import linalg
from celadon.numpy.library import library
from celadon.numpy.promotion import array, inexact
from celadon.numpy.taking import take_along_axis
from celadon.types import int32
from celadon.vocabulary import lapack, matrices


class EighResult(NamedTuple):
    eigenvalues: Any
    eigenvectors: Any


class EigResult(NamedTuple):
    eigenvalues: Any
    eigenvectors: Any


class QRResult(NamedTuple):
    Q: Any
    R: Any


class SVDResult(NamedTuple):
    U: Any
    S: Any
    Vh: Any


def matrix(function: str, a: Any) -> Any:
    """An array of floats or complex numbers with at least two axes."""
    x = array(inexact(function, array(a, function))[0])
    if x.type.ndim < 2:
        raise errors.MatricesUnfit(op=function, shapes=x.type, form="(..., m, n)")
    return x


def cholesky(a: Any, *, upper: bool = False, symmetrize_input: bool = True) -> Any:
    """The lower triangular factors l with a = l lᴴ of positive definite matrices; NaN where a matrix is not.

    Args:
        a: [..., n, n]; upper: return lᴴ; symmetrize_input: take the mean of a and its conjugate transpose.

    >>> cholesky(np.array([[4.0, 2.0], [2.0, 5.0]]))
    Array([[2., 0.],
           [1., 2.]], dtype=float32)
    """
    return _cholesky(a, upper=upper, symmetrize_input=symmetrize_input)


@library("upper", "symmetrize_input", name="cholesky")
def _cholesky(a: Any, upper: bool, symmetrize_input: bool) -> Any:
    found = linalg.cholesky(matrix("cholesky", a), symmetrize_input=symmetrize_input)
    return matrices.adjoint(found) if upper else found


def qr(a: Any, mode: str = "reduced") -> Any:
    """q with orthonormal columns and r upper triangular such that a = q r.

    Args:
        a: [..., m, n]; mode: "reduced" or "full": q has min(m, n) columns; "complete": m; "r": r alone; "raw": the reflectors
        as LAPACK keeps them, transposed, and their factors.

    >>> qr(np.array([[3.0], [4.0]])).R
    Array([[-5.]], dtype=float32)
    """
    if mode not in ("reduced", "full", "complete", "r", "raw"):
        raise errors.OptionUnknown(
            function="qr", argument="mode", value=mode, allowed="'reduced', 'complete', 'r', 'raw' or 'full'"
        )
    found = _qr(a, mode=mode)
    return found if mode == "r" else QRResult(*found)


@library("mode", name="qr")
def _qr(a: Any, mode: str) -> Any:
    x = matrix("qr", a)
    if mode == "raw":
        found, taus = lapack.geqrf(x)
        return matrices.transposed(found), taus
    q, r = linalg.qr(x, full_matrices=mode == "complete")
    return r if mode == "r" else (q, r)


def svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False,
    subset_by_index: tuple[int, int] | None = None,
) -> Any:  # fmt: skip
    """Left singular vectors in columns, singular values in descending order, right vectors in rows: a = U S Vh.

    Args:
        a: [..., m, n]; full_matrices: U and Vh are square; compute_uv: else the values are returned alone; hermitian: a is
        Hermitian, and is treated by eigh.

    >>> svd(np.array([[0.0, 3.0], [4.0, 0.0]])).S
    Array([4., 3.], dtype=float32)
    """
    options = {"full_matrices": full_matrices, "compute_uv": compute_uv, "hermitian": hermitian}
    found = _svd(a, subset_by_index=subset_by_index, **options)
    return SVDResult(*found) if compute_uv else found


@library("full_matrices", "compute_uv", "hermitian", "subset_by_index", name="svd")
def _svd(a: Any, full_matrices: bool, compute_uv: bool, hermitian: bool, subset_by_index: Any) -> Any:
    x = matrix("svd", a)
    if not hermitian:
        return linalg.svd(x, full_matrices=full_matrices, compute_uv=compute_uv, subset_by_index=subset_by_index)
    vectors, values = linalg.eigh(x, subset_by_index=subset_by_index)
    size, last = ops.abs_(values), values.type.ndim - 1
    if not compute_uv:
        return _descending(ops.sort(size, dimension=last, is_stable=True, num_keys=1)[0])
    place = ops.iota(shape=size.type.shape, dtype=int32, dimension=last)
    found = ops.sort(size, place, ops.sign(values), dimension=last, is_stable=True, num_keys=1)
    s, order, signs = map(_descending, found)
    u = take_along_axis(vectors, ops.reshape(order, shape=(*order.type.shape[:-1], 1, order.type.shape[-1])), -1)
    return u, s, matrices.adjoint(matrices.columns_scaled(u, signs))


def _descending(x: Any) -> Any:
    return ops.reverse(x, dimensions=(x.type.ndim - 1,))


def svdvals(x: Any, /) -> Any:
    """The singular values of matrices in descending order.

    >>> svdvals(np.array([[0.0, 3.0], [4.0, 0.0]]))
    Array([4., 3.], dtype=float32)
    """
    return svd(x, compute_uv=False)


def eigh(a: Any, UPLO: str | None = None, symmetrize_input: bool = True) -> EighResult:
    """Eigenvalues in ascending order, and eigenvectors in columns, of Hermitian matrices.

    Args: UPLO: "L" or "U", the triangle that is read if symmetrize_input is false.

    >>> eigh(np.array([[2.0, 0.0], [0.0, 1.0]])).eigenvalues
    Array([1., 2.], dtype=float32)
    """
    if UPLO not in (None, "L", "U"):
        raise errors.OptionUnknown(function="eigh", argument="UPLO", value=UPLO, allowed="None, 'L' or 'U'")
    return EighResult(*_eigh(a, lower=UPLO != "U", symmetrize_input=symmetrize_input))


@library("lower", "symmetrize_input", name="eigh")
def _eigh(a: Any, lower: bool, symmetrize_input: bool) -> Any:
    vectors, values = linalg.eigh(matrix("eigh", a), lower=lower, symmetrize_input=symmetrize_input)
    return values, vectors


def eigvalsh(a: Any, UPLO: str | None = "L", *, symmetrize_input: bool = True) -> Any:
    """The eigenvalues of Hermitian matrices in ascending order.

    >>> eigvalsh(np.array([[2.0, 0.0], [0.0, 1.0]]))
    Array([1., 2.], dtype=float32)
    """
    return eigh(a, UPLO, symmetrize_input).eigenvalues


def eig(a: Any) -> EigResult:
    """Eigenvalues, and eigenvectors in columns, of square matrices; all complex.

    >>> eig(np.array([[2.0, 0.0], [0.0, 3.0]])).eigenvalues
    Array([2.+0.j, 3.+0.j], dtype=complex64)
    """
    return EigResult(*linalg.eig(matrix("eig", a), compute_left_eigenvectors=False))


def eigvals(a: Any) -> Any:
    """The eigenvalues of square matrices, which are complex.

    >>> eigvals(np.array([[2.0, 0.0], [0.0, 3.0]]))
    Array([2.+0.j, 3.+0.j], dtype=complex64)
    """
    return _eigvals(a)


@library(name="eigvals")
def _eigvals(a: Any) -> Any:
    return linalg.eig(matrix("eigvals", a), compute_left_eigenvectors=False, compute_right_eigenvectors=False)[0]
