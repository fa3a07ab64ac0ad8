"""Factors of matrices under SciPy's names and arguments; what only saves memory or checks there is ignored."""

from __future__ import annotations

from typing import Any

from celadon import errors, vocabulary as ops
from celadon.lax import linalg
from celadon.numpy.creation import zeros
from celadon.numpy.library import library
from celadon.numpy.linalg.decompositions import matrix
from celadon.numpy.promotion import array, broadcasted, common_shape, converted, fixed_like
from celadon.numpy.shapes import expanded, reshape
from celadon.program import fixed
from celadon.types import canonical, int32, result_type
from celadon.vocabulary import lapack, matrices, orthogonal
from celadon.vocabulary.kinds import real_dtype
from celadon.vocabulary.stacks import complex_dtype


def together(function: str, a: Any, b: Any) -> tuple[Any, Any]:
    """Both arrays in their common inexact dtype."""
    x, y = array(a, function), array(b, function)
    dtype, weak = result_type([x.type, y.type])
    dtype = canonical("float64") if dtype.kind in "biu" else dtype
    return converted(x, dtype, weak), converted(y, dtype, weak)


def stacked(function: str, x: Any, y: Any) -> tuple[Any, Any]:
    """Both stacks of matrices with the leading axes of both."""
    stack = common_shape(function, x.type.shape[:-2], y.type.shape[:-2])
    return broadcasted(x, (*stack, *x.type.shape[-2:])), broadcasted(y, (*stack, *y.type.shape[-2:]))


def cholesky(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The factor u of positive definite matrices with a = uᴴ u, or l with a = l lᴴ; NaN where a matrix is not.

    Args: lower: which factor, and which triangle of a is read.

    >>> cholesky(np.array([[4.0, 2.0], [2.0, 5.0]]))
    Array([[2., 1.],
           [0., 2.]], dtype=float32)
    """
    return _cholesky(a, lower=lower)


@library("lower", name="_cholesky")
def _cholesky(a: Any, lower: bool) -> Any:
    x = matrix("cholesky", a)
    found = linalg.cholesky(x if lower else matrices.adjoint(x), symmetrize_input=False)
    return found if lower else matrices.adjoint(found)


def cho_factor(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Any, bool]:
    """The factor that cholesky gives, and `lower`, for cho_solve.

    >>> cho_factor(np.array([[4.0]]))
    (Array([[2.]], dtype=float32), False)
    """
    return cholesky(a, lower), lower


def svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, overwrite_a: bool = False, check_finite: bool = True,
    lapack_driver: str = "gesdd",
) -> Any:  # fmt: skip
    """Left singular vectors in columns, singular values in descending order, right vectors in rows.

    >>> svd(np.array([[0.0, 3.0], [4.0, 0.0]]), compute_uv=False)
    Array([4., 3.], dtype=float32)
    """
    return _svd(a, full_matrices=full_matrices, compute_uv=compute_uv)


@library("full_matrices", "compute_uv", name="_svd")
def _svd(a: Any, full_matrices: bool, compute_uv: bool) -> Any:
    return linalg.svd(matrix("svd", a), full_matrices=full_matrices, compute_uv=compute_uv)


def eigh(
    a: Any, b: None = None, lower: bool = True, eigvals_only: bool = False, overwrite_a: bool = False,
    overwrite_b: bool = False, turbo: bool = True, eigvals: None = None, type: int = 1, check_finite: bool = True,
) -> Any:  # fmt: skip
    """Eigenvalues in ascending order, and eigenvectors in columns, of Hermitian matrices.

    Args: lower: which triangle is read after a was made Hermitian; b, eigvals, type: only None, None and 1.

    >>> eigh(np.array([[2.0, 0.0], [0.0, 1.0]]), eigvals_only=True)
    Array([1., 2.], dtype=float32)
    """
    for name, value, allowed in (("b", b, None), ("eigvals", eigvals, None), ("type", type, 1)):
        if value is not None and value != allowed:
            raise errors.FactorizationOptionMissing(function="eigh", argument=name, value=value, allowed=allowed)
    return _eigh(a, lower=lower, eigvals_only=eigvals_only)


@library("lower", "eigvals_only", name="_eigh")
def _eigh(a: Any, lower: bool, eigvals_only: bool) -> Any:
    vectors, values = linalg.eigh(matrix("eigh", a), lower=lower)
    return values if eigvals_only else (values, vectors)


def eigh_tridiagonal(
    d: Any, e: Any, *, eigvals_only: bool = False, select: str = "a", select_range: tuple[int, int] | None = None,
    tol: float | None = None, key: Any = None,
) -> Any:  # fmt: skip
    """Eigenvalues, and eigenvectors in columns, of a real or Hermitian tridiagonal matrix.

    Args:
        d: its diagonal. e: the one above it. select: "a" for all, or "i" for those from and to the numbers of select_range.
        tol, key: of the methods that other devices need; all results are as exact as the dtype.

    >>> eigh_tridiagonal(np.array([1.0, 3.0], "float32"), np.array([0.0], "float32"), eigvals_only=True)
    Array([1., 3.], dtype=float32)
    """
    if select not in ("a", "i") or (select == "i") != (select_range is not None):
        raise errors.OptionUnknown(
            function="eigh_tridiagonal", argument="select", value=select, allowed="'a', or 'i' with a select_range"
        )
    diagonal, beside = array(d, "eigh_tridiagonal"), array(e, "eigh_tridiagonal")
    if diagonal.type.dtype != beside.type.dtype:
        raise errors.OperandDTypesDiffer(op="eigh_tridiagonal", types=f"{diagonal.type} and {beside.type}")
    values, vectors = _eigh_tridiagonal(diagonal, beside)
    if select_range is not None:
        first, last = select_range
        values, vectors = values[first : last + 1], vectors[:, first : last + 1]
    return values if eigvals_only else (values, vectors)


@library(name="eigh_tridiagonal")
def _eigh_tridiagonal(d: Any, e: Any) -> Any:
    above = ops.pad(e, fixed_like(0, e), low=(1,), high=(0,), interior=(0,))
    full = matrices.with_diagonal(d)
    columns = matrices.spread(above, full.type.shape, (1,))
    beside = ops.select(matrices.compared(full.type, "EQ", 1), columns, fixed_like(0, full))
    vectors, values = linalg.eigh(ops.add(ops.add(full, beside), matrices.adjoint(beside)))
    return values, vectors


def schur(a: Any, output: str = "real") -> tuple[Any, Any]:
    """t and z with a = z t zᴴ; t is upper triangular, but for blocks of two rows where a real matrix has complex eigenvalues.

    Args: output: "real", or "complex" for a triangular t in any case.

    >>> schur(np.array([[2.0, 1.0], [0.0, 3.0]]))[0]
    Array([[2., 1.],
           [0., 3.]], dtype=float32)
    """
    if output not in ("real", "complex"):
        raise errors.OptionUnknown(function="schur", argument="output", value=output, allowed="'real' or 'complex'")
    return _schur(a, output=output)


@library("output", name="_schur")
def _schur(a: Any, output: str) -> Any:
    x = matrix("schur", a)
    if output == "complex":
        x = converted(x, complex_dtype(x.type.dtype))
    return tuple(linalg.schur(x))


def rsf2csf(T: Any, Z: Any, check_finite: bool = True) -> tuple[Any, Any]:
    """A real Schur form made complex: t triangular and z unitary with the same product z t zᴴ.

    >>> rsf2csf(np.array([[2.0]]), np.array([[1.0]]))[0]
    Array([[2.+0.j]], dtype=complex64)
    """
    t, z = together("rsf2csf", T, Z)
    shape = t.type.shape
    if len(shape) < 2 or shape[-2:] != z.type.shape[-2:] or shape[-1] != shape[-2]:
        raise errors.MatricesUnfit(op="rsf2csf", shapes=f"{t.type}, {z.type}", form="(..., n, n), (..., n, n)")
    return _rsf2csf(t, z)


@library(name="rsf2csf")
def _rsf2csf(T: Any, Z: Any) -> Any:
    t, z = stacked("rsf2csf", *(converted(x, complex_dtype(x.type.dtype)) for x in (T, Z)))
    found, turned = linalg.schur(t)
    return found, matrices.product(z, turned)


def hessenberg(a: Any, *, calc_q: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """h with zeros below its first subdiagonal, and if asked for q, such that a = q h qᴴ.

    >>> hessenberg(np.array([[1.0, 2.0], [3.0, 4.0]]))
    Array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    return _hessenberg(a, calc_q=calc_q)


@library("calc_q", name="hessenberg")
def _hessenberg(a: Any, calc_q: bool) -> Any:
    x = matrix("hessenberg", a)
    n, rank = x.type.shape[-1], x.type.ndim
    if not n:
        return (zeros(x.type.shape, x.type.dtype),) * 2 if calc_q else zeros(x.type.shape, x.type.dtype)
    found, taus = linalg.hessenberg(x)
    h = ops.select(matrices.compared(x.type, "LE", -1), found, fixed_like(0, found))
    if not calc_q:
        return h
    inner = lapack.orgqr(matrices.part(found, (1, n), (0, n - 1)), taus)
    edge, none = (*(0 for _ in range(rank - 2)), 1, 1), (0,) * rank
    padded = ops.pad(inner, fixed_like(0, inner), low=edge, high=none, interior=none)
    first = matrices.on_diagonal(padded, fixed_like(1, padded), padded)
    top = ops.compare(matrices.places(x.type, -2), fixed(0, int32), direction="EQ")
    return h, ops.select(top, first, padded)


def lu_factor(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Any, Any]:
    """l without its ones below u in one matrix, and the pivots: row i was exchanged with row pivots[i].

    >>> lu_factor(np.array([[1.0, 2.0], [2.0, 2.0]]))[1]
    Array([1, 1], dtype=int32)
    """
    return _lu_factor(a)


@library(name="lu_factor")
def _lu_factor(a: Any) -> Any:
    return tuple(linalg.lu(matrix("lu_factor", a))[:2])


def lu(a: Any, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Any, ...]:
    """p, l and u with a = p l u, or the product of the first two and u.

    >>> lu(np.array([[1.0, 2.0], [2.0, 2.0]]))[2]
    Array([[2., 2.],
           [0., 1.]], dtype=float32)
    """
    return _lu(a, permute_l=permute_l)


@library("permute_l", name="_lu")
def _lu(a: Any, permute_l: bool) -> Any:
    x = matrix("lu", a)
    factors, _, order = linalg.lu(x)
    m, n = x.type.shape[-2:]
    k = min(m, n)
    below = matrices.unit_lower(matrices.part(factors, m, k))
    above = matrices.part(matrices.upper(factors), k, n)
    full = x.type.with_shape((*x.type.shape[:-2], m, m))
    rows = matrices.spread(order, full.shape, (*range(x.type.ndim - 2), x.type.ndim - 1))
    moved = ops.compare(rows, matrices.places(full, -2), direction="EQ")
    exchange = ops.convert(moved, new_dtype=real_dtype(x.type.dtype))
    if not permute_l:
        return exchange, below, above
    return matrices.product(matrices.cast(exchange, x.type.dtype), below), above


def qr(
    a: Any, overwrite_a: bool = False, lwork: Any = None, mode: str = "full", pivoting: bool = False, check_finite: bool = True
) -> tuple[Any, ...]:
    """q and r with a = q r; with pivoting, a[:, p] = q r and p too.

    Args: mode: "full" (q is square), "economic", or "r" for r alone.

    >>> qr(np.array([[3.0], [4.0]]), mode="economic")[1]
    Array([[-5.]], dtype=float32)
    """
    if mode not in ("full", "economic", "r"):
        raise errors.OptionUnknown(function="qr", argument="mode", value=mode, allowed="'full', 'economic' or 'r'")
    return tuple(_qr(a, mode=mode, pivoting=pivoting)) if mode != "r" or pivoting else (_qr(a, mode=mode, pivoting=False),)


@library("mode", "pivoting", name="_qr")
def _qr(a: Any, mode: str, pivoting: bool) -> Any:
    found = linalg.qr(matrix("qr", a), pivoting=pivoting, full_matrices=mode != "economic")
    if mode != "r":
        return found
    return found[1:] if pivoting else found[1]


def qr_multiply(
    a: Any, c: Any, mode: str = "right", pivoting: bool = False, conjugate: bool = False, overwrite_a: bool = False,
    overwrite_c: bool = False,
) -> tuple[Any, ...]:  # fmt: skip
    """c q, or q c if mode is "left", for the q of a = q r that is not formed; and r, and with pivoting p.

    Args: c: matrices, or a vector; conjugate: use the conjugate of q.

    >>> qr_multiply(np.eye(2, dtype="float32"), np.ones(2, "float32"))[1]
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    if mode not in ("left", "right"):
        raise errors.OptionUnknown(function="qr_multiply", argument="mode", value=mode, allowed="'left' or 'right'")
    x, y = together("qr_multiply", a, c)
    vector = y.type.ndim == 1
    y = expanded(y, (1 if mode == "left" else 0,)) if vector else y
    size = min(x.type.shape[-2:]) if mode == "left" else x.type.shape[-2]
    if y.type.shape[-2 if mode == "left" else -1] != size:
        raise errors.MatricesUnfit(
            op="qr_multiply", shapes=f"{x.type}, {y.type}", form="(..., m, n), (..., k, j) for k of min(m, n) or (..., j, m)"
        )
    found, *rest = _multiplied(*stacked("qr_multiply", x, y), mode=mode, pivoting=pivoting, conjugate=conjugate)
    return (reshape(found, (-1,)) if vector else found, *rest)


@library("mode", "pivoting", "conjugate", name="qr_multiply")
def _multiplied(x: Any, y: Any, mode: str, pivoting: bool, conjugate: bool) -> Any:
    m, n = x.type.shape[-2:]
    k = min(m, n)
    order: list[Any] = []
    if pivoting:
        free = matrices.spread(fixed(0, int32), (*x.type.shape[:-2], n), ())
        found, counted, taus = lapack.geqp3(x, free)
        order = [ops.add(counted, fixed(-1, int32))]
    else:
        found, taus = lapack.geqrf(x)
    y = matrices.resized(y, m, y.type.shape[-1]) if mode == "left" else y
    y = matrices.conjugated(y) if conjugate else y
    product = orthogonal.ormqr(found, taus, y, left=mode == "left", transpose=False)
    product = matrices.conjugated(product) if conjugate else product
    product = product if mode == "left" else matrices.part(product, product.type.shape[-2], k)
    return (product, matrices.upper(matrices.part(found, k, n)), *order)


def polar(
    a: Any, side: str = "right", *, method: str = "qdwh", eps: float | None = None, max_iterations: int | None = None
) -> tuple[Any, Any]:
    """u with orthonormal columns (or rows) and p positive semidefinite such that a = u p, or p u if side is "left".

    Args: method: "qdwh" or "svd"; both are done by the singular values; eps, max_iterations: of an iteration, ignored.

    >>> polar(np.array([[-2.0]]))
    (Array([[-1.]], dtype=float32), Array([[2.]], dtype=float32))
    """
    for name, value, allowed in (("side", side, ("left", "right")), ("method", method, ("qdwh", "svd"))):
        if value not in allowed:
            raise errors.OptionUnknown(function="polar", argument=name, value=value, allowed=" or ".join(allowed))
    return _polar(a, side=side)


@library("side", name="polar")
def _polar(a: Any, side: str) -> Any:
    u, s, vh = linalg.svd(matrix("polar", a), full_matrices=False)
    if side == "right":
        return matrices.product(u, vh), matrices.product(matrices.columns_scaled(matrices.adjoint(vh), s), vh)
    return matrices.product(u, vh), matrices.product(matrices.columns_scaled(u, s), matrices.adjoint(u))
