"""Numbers that say what matrices are like: determinants, ranks, conditions; and products of many matrices."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from celadon import errors, vocabulary as ops
from celadon.numpy import comparison, contractions, reductions
from celadon.numpy.elementwise import divide, multiply, subtract
from celadon.numpy.library import library
from celadon.numpy.linalg.decompositions import matrix, svd, svdvals
from celadon.numpy.linalg.norms import norm
from celadon.numpy.linalg.systems import inv
from celadon.numpy.promotion import array, constant, inexact
from celadon.numpy.selection import where
from celadon.numpy.shapes import expand_dims
from celadon.numpy.subscripts import einsum
from celadon.program import literal
from celadon.types import int32
from celadon.vocabulary import linalg, matrices


class SlogdetResult(NamedTuple):
    sign: Any
    logabsdet: Any


def square(function: str, a: Any) -> Any:
    """An array of square matrices of floats or complex numbers."""
    x = matrix(function, a)
    if x.type.shape[-1] != x.type.shape[-2]:
        raise errors.MatricesUnfit(op=function, shapes=x.type, form="(..., n, n)")
    return x


def det(a: Any) -> Any:
    """The determinants of square matrices.

    >>> det(np.array([[1.0, 2.0], [3.0, 4.0]]))
    Array(-2., dtype=float32)
    """
    return _det(a)


@library(name="det")
def _det(a: Any) -> Any:
    x = square("det", a)
    n = x.type.shape[-1]
    return linalg.det(x) if n not in (2, 3) else _by_elements(x, n)


def _by_elements(x: Any, n: int) -> Any:
    """The sum over permutations, where these are few."""
    a = [[x[..., i, j] for j in range(n)] for i in range(n)]
    if n == 2:
        return subtract(multiply(a[0][0], a[1][1]), multiply(a[0][1], a[1][0]))
    minors = [
        subtract(multiply(a[1][j], a[2][k]), multiply(a[1][k], a[2][j])) for j, k in ((1, 2), (2, 0), (0, 1))
    ]
    first, second, third = (multiply(a[0][j], minor) for j, minor in enumerate(minors))
    return ops.add(ops.add(first, second), third)


def slogdet(a: Any, *, method: str | None = None) -> SlogdetResult:
    """The signs of the determinants of square matrices, and the logarithms of their absolute values.

    Args: method: "lu" (the default), or for real matrices "qr"; both give the same.

    >>> slogdet(np.array([[1.0, 0.0], [0.0, -2.0]])).sign
    Array(-1., dtype=float32)
    """
    if method not in (None, "lu", "qr"):
        raise errors.OptionUnknown(function="slogdet", argument="method", value=method, allowed="None, 'lu' or 'qr'")
    return SlogdetResult(*_slogdet(a, method=method))


@library("method", name="slogdet")
def _slogdet(a: Any, method: str | None) -> Any:
    x = square("slogdet", a)
    if method == "qr" and x.type.dtype.kind == "c":
        raise errors.FactorizationOptionMissing(
            function="slogdet of complex matrices", argument="method", value=method, allowed="'lu'"
        )
    return linalg.slogdet(x)


def matrix_rank(M: Any, rtol: Any = None, *, hermitian: bool = False, tol: Any = None) -> Any:
    """How many singular values of matrices are larger than rtol.

    Args: rtol: by default max(m, n) eps times the largest one; tol: another name for it; hermitian: M is Hermitian.

    >>> matrix_rank(np.array([[1.0, 2.0], [2.0, 4.0]]))
    Array(1, dtype=int32)
    """
    if tol is not None and rtol is not None:
        raise errors.OptionUnknown(function="matrix_rank", argument="tol", value=tol, allowed="rtol or tol, not both")
    given = tol if rtol is None else rtol
    return _matrix_rank(M, hermitian=hermitian) if given is None else _matrix_rank(M, given, hermitian=hermitian)


@library("hermitian", name="matrix_rank")
def _matrix_rank(M: Any, rtol: Any = None, hermitian: bool = False) -> Any:
    x = array(inexact("matrix_rank", array(M, "matrix_rank"))[0])
    if x.type.ndim < 2:
        return reductions.any(comparison.not_equal(x, 0)).astype(int32)
    values = svd(x, False, False, hermitian)
    if rtol is None:
        share = max(x.type.shape[-2:]) * np.finfo(values.type.dtype).eps
        rtol = multiply(reductions.max(values, -1), constant(share, values))
    limit = expand_dims(rtol, np.ndim(rtol) if not hasattr(rtol, "ndim") else rtol.ndim)
    return reductions.sum(comparison.greater(values, limit), axis=-1)


def cond(x: Any, p: Any = None) -> Any:
    """The condition numbers of matrices: the norm times that of the inverse.

    Args: p: the order of the norm, by default 2, which needs no inverse and no square matrix.

    >>> cond(np.array([[2.0, 0.0], [0.0, 4.0]]))
    Array(2., dtype=float32)
    """
    return _cond(x, p=p)


@library("p", name="cond")
def _cond(x: Any, p: Any) -> Any:
    a = matrix("cond", x)
    if 0 in a.type.shape[-2:]:
        raise errors.MatricesUnfit(op="cond", shapes=a.type, form="(..., m, n), not empty")
    if p in (None, 2, -2):
        values = svdvals(a)
        first, last = values[..., 0], values[..., -1]
        if p != -2:
            return divide(first, last)
        found = divide(last, first)
    else:
        a = square("cond", a)
        found = multiply(norm(a, ord=p, axis=(-2, -1)), norm(inv(a), ord=p, axis=(-2, -1)))
    proper = ops.not_(reductions.any(comparison.isnan(a), axis=(-2, -1)))
    return where(ops.and_(comparison.isnan(found), proper), literal(np.inf, found.type.dtype), found)


def matrix_power(a: Any, n: int) -> Any:
    """Square matrices to an integer power; a negative one takes the inverse.

    >>> matrix_power(np.array([[1, 1], [0, 1]]), 3)
    Array([[1, 3],
           [0, 1]], dtype=int32)
    """
    return _matrix_power(a, n=operator.index(n))


@library("n", name="matrix_power")
def _matrix_power(a: Any, n: int) -> Any:
    """By squaring."""
    x = array(a, "matrix_power")
    if x.type.ndim < 2 or x.type.shape[-1] != x.type.shape[-2]:
        raise errors.MatricesUnfit(op="matrix_power", shapes=x.type, form="(..., n, n)")
    if n == 0:
        return matrices.identity(x.type)
    x, n = (inv(x), -n) if n < 0 else (x, n)
    if n == 3:
        return contractions.matmul(contractions.matmul(x, x), x)
    result = None
    while True:
        if n & 1:
            result = x if result is None else contractions.matmul(result, x)
        n >>= 1
        if not n:
            return result
        x = contractions.matmul(x, x)


def multi_dot(arrays: Sequence[Any], *, precision: Any = None) -> Any:
    """The product of several matrices in the order that costs least; the first and the last may be vectors.

    >>> multi_dot([np.array([1, 2]), np.array([[1, 0], [0, 1]]), np.array([3, 4])])
    Array(11, dtype=int32)
    """
    given = [array(x, "multi_dot") for x in arrays]
    shapes = [x.type.shape for x in given]
    ends = len(given) > 1 and all(len(shape) in (1, 2) for shape in (shapes[0], shapes[-1]))
    fits = ends and all(len(shape) == 2 for shape in shapes[1:-1])
    if not fits or any(a[-1] != b[0] for a, b in itertools.pairwise(shapes)):
        raise errors.MatricesUnfit(op="multi_dot", shapes=", ".join(map(str, shapes)), form="(n, m), (m, k), ...")
    axes: list[tuple[int, ...]] = [(i, i + 1) for i in range(len(given))]
    axes[0] = axes[0][2 - len(shapes[0]) :]
    axes[-1] = axes[-1][: len(shapes[-1])]
    return einsum(*[part for pair in zip(given, axes, strict=True) for part in pair], optimize="auto", precision=precision)
