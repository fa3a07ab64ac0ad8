"""Products and parts of matrices under the names of the array API: the last axes are the matrices'."""

from __future__ import annotations

from typing import Any

from celadon import errors
from celadon.numpy import contractions, shapes, taking
from celadon.numpy.elementwise import multiply
from celadon.numpy.promotion import array
from celadon.numpy.shapes import expanded


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """The vector products of vectors of three elements along an axis.

    >>> cross(np.array([1, 0, 0]), np.array([0, 1, 0]))
    Array([0, 0, 1], dtype=int32)
    """
    x, y = array(x1, "cross"), array(x2, "cross")
    if x.type.shape[axis] != 3 or y.type.shape[axis] != 3:
        raise errors.DimensionsUnfit(
            function="linalg.cross", argument="x1 and x2", value="arrays", shape=x.type.shape,
            reason="vectors have 3 elements",
        )  # fmt: skip
    return contractions.cross(x, y, axis=axis)


def outer(x1: Any, x2: Any, /) -> Any:
    """The products of each element of one vector with each of another.

    >>> outer(np.array([1, 2]), np.array([3, 4]))
    Array([[3, 4],
           [6, 8]], dtype=int32)
    """
    x, y = array(x1, "outer"), array(x2, "outer")
    if x.type.ndim != 1 or y.type.ndim != 1:
        raise errors.DimensionsUnfit(
            function="linalg.outer", argument="x1 and x2", value="arrays", shape=x.type.shape, reason="vectors are needed"
        )
    return multiply(expanded(x, (1,)), expanded(y, (0,)))


def matrix_transpose(x: Any, /) -> Any:
    """Matrices with rows and columns exchanged.

    >>> matrix_transpose(np.array([[1, 2]]))
    Array([[1],
           [2]], dtype=int32)
    """
    return shapes.matrix_transpose(x)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1, precision: Any = None, preferred_element_type: Any = None) -> Any:
    """The scalar products of vectors along an axis, the first ones conjugated.

    >>> vecdot(np.array([1, 2]), np.array([3, 4]))
    Array(11, dtype=int32)
    """
    return contractions.vecdot(x1, x2, axis=axis, precision=precision, preferred_element_type=preferred_element_type)


def matmul(x1: Any, x2: Any, /, *, precision: Any = None, preferred_element_type: Any = None) -> Any:
    """Matrix products.

    >>> matmul(np.array([[1, 2]]), np.array([[3], [4]]))
    Array([[11]], dtype=int32)
    """
    return contractions.matmul(x1, x2, precision=precision, preferred_element_type=preferred_element_type)


def tensordot(
    x1: Any, x2: Any, /, *, axes: Any = 2, precision: Any = None, preferred_element_type: Any = None, out_sharding: Any = None
) -> Any:
    """The sum of products over axes of both.

    >>> tensordot(np.array([[1, 2]]), np.array([[3, 4]]))
    Array(11, dtype=int32)
    """
    return contractions.tensordot(
        x1, x2, axes, precision=precision, preferred_element_type=preferred_element_type, out_sharding=out_sharding
    )


def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """A diagonal of matrices.

    >>> diagonal(np.array([[1, 2], [3, 4]]))
    Array([1, 4], dtype=int32)
    """
    return taking.diagonal(x, offset, -2, -1)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """The sum of a diagonal of matrices.

    >>> trace(np.array([[1, 2], [3, 4]]))
    Array(5, dtype=int32)
    """
    return contractions.trace(x, offset, -2, -1, dtype)
