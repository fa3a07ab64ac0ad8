"""Systems of linear equations: solve, inverses, pseudo-inverses, least squares."""

from __future__ import annotations

import functools
import math
import operator
from typing import Any

import numpy as np

from celadon import errors, vocabulary as ops
from celadon.numpy import comparison, reductions
from celadon.numpy.contractions import matmul
from celadon.numpy.creation import zeros
from celadon.numpy.elementwise import divide, multiply, subtract
from celadon.numpy.library import library
from celadon.numpy.linalg.decompositions import matrix, svd
from celadon.numpy.linalg.norms import norm
from celadon.numpy.promotion import array, broadcasted, common_shape, constant, converted, fixed_like
from celadon.numpy.selection import where
from celadon.numpy.shapes import expanded, moveaxis, ravel, reshape
from celadon.transforms.custom_tangents import custom_jvp
from celadon.types import canonical, result_type
from celadon.vocabulary import linalg, matrices

_EXACT = "highest"


def _common(function: str, a: Any, b: Any) -> tuple[Any, Any]:
    """Both arrays in their common inexact dtype."""
    x, y = array(a, function), array(b, function)
    dtype, weak = result_type([x.type, y.type])
    dtype = canonical("float64") if dtype.kind in "biu" else dtype
    return converted(x, dtype, weak), converted(y, dtype, weak)


def solve(a: Any, b: Any) -> Any:
    """x with a x = b.

    Args:
        a: square matrices, [..., n, n].
        b: a vector [n], or matrices [..., n, k]; leading axes of both broadcast.

    Returns:
        An array of the shape of b, with leading axes of both; inf and NaN where a matrix is singular.

    >>> solve(np.array([[2.0, 0.0], [0.0, 4.0]]), np.array([2.0, 2.0]))
    Array([1. , 0.5], dtype=float32)
    """
    return _solve(a, b)


@library(name="solve")
def _solve(a: Any, b: Any) -> Any:
    x, y = _common("solve", a, b)
    shape, rhs = x.type.shape, y.type.shape
    n = shape[-1] if shape else 0
    wanted = rhs[-2:-1] if len(rhs) > 1 else rhs
    if len(shape) < 2 or shape[-2] != n or wanted != (n,):
        raise errors.MatricesUnfit(op="solve", shapes=f"{x.type}, {y.type}", form="(..., n, n), (..., n, k) or (n)")
    if len(rhs) == 1:
        return reshape(_stacks_solved(x, expanded(y, (1,))), (*shape[:-2], n))
    return _stacks_solved(x, y)


def _stacks_solved(x: Any, y: Any) -> Any:
    """A stack of right sides of one matrix is one matrix of more columns."""
    stack = common_shape("solve", x.type.shape[:-2], y.type.shape[:-2])
    n, k = y.type.shape[-2:]
    if x.type.ndim == 2 and stack:
        wide = reshape(moveaxis(y, -2, 0), (n, math.prod(stack) * k))
        return moveaxis(reshape(linalg.solve(x, wide), (n, *stack, k)), 0, -2)
    return linalg.solve(broadcasted(x, (*stack, n, n)), broadcasted(y, (*stack, n, k)))


def inv(a: Any) -> Any:
    """The inverses of square matrices; inf and NaN where one is singular.

    >>> inv(np.array([[2.0, 0.0], [0.0, 4.0]]))
    Array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float32)
    """
    return _inv(a)


@library(name="inv")
def _inv(a: Any) -> Any:
    x = matrix("inv", a)
    if x.type.shape[-1] != x.type.shape[-2]:
        raise errors.MatricesUnfit(op="inv", shapes=x.type, form="(..., n, n)")
    return linalg.solve(x, matrices.identity(x.type))


def pinv(a: Any, rtol: Any = None, hermitian: bool = False, *, rcond: Any = None) -> Any:
    """The Moore-Penrose inverses of matrices.

    Args:
        a: [..., m, n]. rtol: singular values up to this share of the largest one count for 0, by default 10 max(m, n) eps;
        rcond: another name for it. hermitian: a is Hermitian.

    >>> pinv(np.array([[2.0, 0.0], [0.0, 0.0]]))
    Array([[0.5, 0. ],
           [0. , 0. ]], dtype=float32)
    """
    if rcond is not None and rtol is not None:
        raise errors.OptionUnknown(function="pinv", argument="rcond", value=rcond, allowed="rtol or rcond, not both")
    return _pinv(matrix("pinv", a), rcond if rtol is None else rtol, hermitian)


@functools.partial(custom_jvp, nondiff_argnums=(1, 2))
def _pinv(a: Any, rtol: Any, hermitian: bool) -> Any:
    return _inverted(a, hermitian=hermitian) if rtol is None else _inverted(a, rtol, hermitian=hermitian)


@library("hermitian", name="_pinv")
def _inverted(a: Any, rtol: Any = None, hermitian: bool = False) -> Any:
    x = array(a)
    m, n = x.type.shape[-2:]
    if not m or not n:
        return zeros((*x.type.shape[:-2], n, m), x.type.dtype)
    u, s, vh = svd(x, False, True, hermitian)
    share: Any = constant(10 * max(m, n) * float(np.finfo(s.type.dtype).eps), s) if rtol is None else array(rtol)
    if share.type.ndim:
        share = expanded(share, (share.type.ndim,))
    kept = comparison.greater(s, multiply(s[..., :1], share))
    inverse = where(kept, divide(fixed_like(1, s), where(kept, s, fixed_like(1, s))), fixed_like(0, s))
    scaled = matrices.columns_scaled(matrices.adjoint(vh), inverse)
    return matmul(scaled, matrices.adjoint(u), precision=_EXACT)


@_pinv.defjvp
def _pinv_moved(rtol: Any, hermitian: bool, primals: Any, tangents: Any) -> tuple[Any, Any]:
    """-p a' p + (p pᴴ) a'ᴴ (1 - a p) + (1 - p a) a'ᴴ (pᴴ p).

    G. H. Golub and V. Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems whose variables
    separate", SIAM Journal on Numerical Analysis 10, 1973.
    """
    [a], [t] = primals, tangents
    p = _pinv(a, rtol, hermitian)
    if hermitian:
        a, t = (divide(ops.add(x, matrices.adjoint(x)), 2) for x in (a, t))
    product, turned = matrices.product, matrices.adjoint(t)
    right = product(product(p, matrices.adjoint(p)), turned)
    left = product(turned, product(matrices.adjoint(p), p))
    moved = subtract(right, product(product(right, a), p))
    moved = ops.add(moved, subtract(left, product(p, product(a, left))))
    return p, subtract(moved, product(product(p, t), p))


def lstsq(a: Any, b: Any, rcond: Any = None, *, numpy_resid: bool = False) -> tuple[Any, Any, Any, Any]:
    """x that makes the norm of b - a x least, and among those has the least norm itself.

    Args:
        a: [m, n]. b: [m] or [m, k]. rcond: singular values below this share of the largest one count for 0, by default
        max(m, n) eps. numpy_resid: return no residuals where NumPy does so, which needs concrete arrays.

    Returns:
        x, the squared norms of what is left of each column, the rank of a, its singular values.

    >>> lstsq(np.array([[2.0]]), np.array([4.0]))[0]
    Array([2.], dtype=float32)
    """
    x, residuals, rank, values = _lstsq(a, b) if rcond is None else _lstsq(a, b, rcond)
    if numpy_resid:
        m, n = array(a).type.shape
        residuals = residuals[:0] if m <= n or int(rank) < n else residuals
    return x, residuals, rank, values


@library(name="lstsq")
def _lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    x, y = _common("lstsq", a, b)
    if x.type.ndim != 2 or y.type.ndim not in (1, 2) or x.type.shape[0] != y.type.shape[0]:
        raise errors.MatricesUnfit(op="lstsq", shapes=f"{x.type}, {y.type}", form="(m, n), (m, k) or (m)")
    sides = y if y.type.ndim == 2 else expanded(y, (1,))
    found, rank, values = _least(x, sides, rcond)
    rest = norm(subtract(sides, matmul(x, found, precision=_EXACT)), axis=0)
    return found if y.type.ndim == 2 else ravel(found), multiply(rest, rest), rank, values


def _least(x: Any, y: Any, rcond: Any) -> tuple[Any, Any, Any]:
    m, n = x.type.shape
    dtype = x.type.dtype
    if not x.type.size:
        rank = converted(array(np.int32(0)), canonical("int64"))
        return zeros((n, y.type.shape[1]), dtype), rank, zeros(0, dtype)
    u, s, vh = svd(x, False)
    eps = float(np.finfo(s.type.dtype).eps)
    limit: Any = constant(eps * max(m, n), s)
    if rcond is not None:
        limit = converted(array(where(comparison.less(rcond, 0), eps, rcond)), s.type.dtype)
    kept = ops.and_(comparison.greater(s, 0), comparison.greater_equal(s, multiply(s[0], limit)))
    inverse = where(kept, divide(fixed_like(1, s), where(kept, s, fixed_like(1, s))), fixed_like(0, s))
    projected = matmul(matrices.adjoint(u), y, precision=_EXACT)
    found = matmul(matrices.adjoint(vh), matrices.rows_scaled(projected, inverse), precision=_EXACT)
    return found, reductions.sum(kept), s


def tensorinv(a: Any, ind: int = 2) -> Any:
    """The inverse of an array as a map of its last axes to its first `ind` ones, as an array.

    >>> tensorinv(np.array([[[2.0], [0.0]], [[0.0], [4.0]]]).reshape(2, 1, 2)).shape
    (2, 2, 1)
    """
    x, count = array(a, "tensorinv"), operator.index(ind)
    shape = x.type.shape
    size = math.prod(shape[:count])
    if count <= 0 or size != math.prod(shape[count:]):
        raise errors.DimensionsUnfit(
            function="tensorinv", argument="ind", value=ind, shape=shape,
            reason="the first axes must have as many elements as the others",
        )  # fmt: skip
    return reshape(inv(reshape(x, (size, size))), (*shape[count:], *shape[:count]))


def tensorsolve(a: Any, b: Any, axes: tuple[int, ...] | None = None) -> Any:
    """x with tensordot(a, x, x.ndim) equal to b.

    Args: axes: axes of a that are moved to the end first.

    >>> tensorsolve(np.array([[2.0, 0.0], [0.0, 4.0]]), np.array([2.0, 2.0]))
    Array([1. , 0.5], dtype=float32)
    """
    x, y = array(a, "tensorsolve"), array(b, "tensorsolve")
    if axes is not None:
        x = moveaxis(x, axes, tuple(range(x.type.ndim - len(axes), x.type.ndim)))
    rest = x.type.shape[y.type.ndim :]
    if x.type.shape[: y.type.ndim] != y.type.shape or y.type.size != math.prod(rest):
        raise errors.MatricesUnfit(op="tensorsolve", shapes=f"{x.type}, {y.type}", form="(*b.shape, *x.shape), b.shape")
    size = y.type.size
    return reshape(solve(reshape(x, (size, size)), ravel(y)), rest)


