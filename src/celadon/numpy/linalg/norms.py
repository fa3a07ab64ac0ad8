"""Norms of vectors and matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from celadon import errors
from celadon.numpy import reductions, shapes
from celadon.numpy.comparison import not_equal
from celadon.numpy.elementwise import abs as abs_of, conj, multiply, real, sqrt
from celadon.numpy.library import library
from celadon.numpy.linalg.decompositions import svdvals
from celadon.numpy.powers import power
from celadon.numpy.promotion import array, axis_of, constant, inexact
from celadon.vocabulary.kinds import real_dtype

Axes = tuple[int, ...]


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """The norm of a vector, or of a matrix.

    Args:
        x: an array. ord: of vectors 2 (the default), any other number, inf or -inf; of matrices "fro" (the default), "nuc",
        1, -1, 2, -2, inf or -inf. axis: that of vectors, or both of matrices; by default all, one or two, or with ord=None
        any number of them. keepdims: keep reduced axes with extent 1.

    >>> norm(np.array([3.0, 4.0]))
    Array(5., dtype=float32)
    """
    return _norm(x, ord=ord, axis=axis if axis is None or isinstance(axis, int) else tuple(axis), keepdims=keepdims)


@library("ord", "axis", "keepdims", name="norm")
def _norm(x: Any, ord: Any, axis: Any, keepdims: bool) -> Any:
    x = array(inexact("norm", array(x, "norm"))[0])
    ndim = x.type.ndim
    if axis is None and ord is None:
        return _euclidean(x, None, keepdims)
    given = range(ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(axis_of(i, ndim) for i in given)
    if len(axes) == 1:
        return vector_norm(x, axis=axes, keepdims=keepdims, ord=2 if ord is None else ord)
    if len(axes) != 2:
        raise errors.DimensionsUnfit(
            function="norm", argument="axis", value=axis, shape=x.type.shape, reason="one axis or two are needed"
        )
    return _of_matrices(x, ord, (axes[0], axes[1]), keepdims)


def _euclidean(x: Any, axes: Any, keepdims: bool) -> Any:
    return sqrt(reductions.sum(real(multiply(x, conj(x))), axis=axes, keepdims=keepdims))


def _of_matrices(x: Any, ord: Any, axes: tuple[int, int], keepdims: bool) -> Any:
    if ord in (None, "f", "fro"):
        return _euclidean(x, axes, keepdims)
    if ord in (1, -1, np.inf, -np.inf):
        summed, chosen = axes if abs(ord) == 1 else axes[::-1]
        return _largest_sum(abs_of(x), summed, chosen, ord > 0, keepdims)
    if ord not in ("nuc", 2, -2):
        raise _no_order("norm of matrices", ord)
    values = svdvals(shapes.moveaxis(x, axes, (-2, -1)))
    found = reductions.sum(values, axis=-1) if ord == "nuc" else _extreme(values, -1, ord == 2, False)
    return shapes.expand_dims(found, axes) if keepdims else found


def _largest_sum(x: Any, summed: int, chosen: int, largest: bool, keepdims: bool) -> Any:
    """The largest, or smallest, of the sums along an axis."""
    found = _extreme(reductions.sum(x, axis=summed, keepdims=True), chosen, largest, True)
    return found if keepdims else shapes.squeeze(found, (summed, chosen))


def _extreme(x: Any, axis: int, largest: bool, keepdims: bool) -> Any:
    """The largest number, 0 if there is none, or the smallest one."""
    if largest:
        return reductions.max(x, axis=axis, keepdims=keepdims, initial=0)
    return reductions.min(x, axis=axis, keepdims=keepdims)


def _no_order(function: str, ord: Any) -> Exception:
    return errors.OptionUnknown(
        function=function, argument="ord", value=ord, allowed="'fro', 'nuc' (of matrices), inf, -inf or a number"
    )


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """The norm of matrices: "fro", "nuc", 1, -1, 2, -2, inf or -inf.

    >>> matrix_norm(np.array([[3.0, 0.0], [0.0, 4.0]]), ord=2)
    Array(4., dtype=float32)
    """
    return norm(x, ord=ord, keepdims=keepdims, axis=(-2, -1))


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """The norm of vectors: the ord-th root of the sum of ord-th powers; inf and -inf: the largest and smallest size; 0:
    how many elements are not 0.

    Args: axis: one or several axes whose elements are a vector; by default all.

    >>> vector_norm(np.array([3.0, -4.0]), ord=1)
    Array(7., dtype=float32)
    """
    if isinstance(ord, str):
        raise _no_order("vector_norm", ord)
    x = array(x, "vector_norm")
    if ord is None or ord == 2:
        return _euclidean(x, axis, keepdims)
    if ord == np.inf:
        return reductions.max(abs_of(x), axis=axis, keepdims=keepdims, initial=0)
    if ord == -np.inf:
        return reductions.min(abs_of(x), axis=axis, keepdims=keepdims)
    if ord == 0:
        dtype = real_dtype(inexact("vector_norm", x)[0].type.dtype)
        return reductions.sum(not_equal(x, 0), axis=axis, keepdims=keepdims, dtype=dtype)
    if ord == 1:
        return reductions.sum(abs_of(x), axis=axis, keepdims=keepdims)
    size = array(inexact("vector_norm", abs_of(x))[0])
    total = reductions.sum(power(size, constant(ord, size)), axis=axis, keepdims=keepdims)
    return power(total, constant(1 / ord, size))
