"""jax.lax's reductions, cumulative functions and contractions, under JAX's names."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from celadon import errors, vocabulary as ops
from celadon.lax.elementwise import described
from celadon.numpy.contractions import precision_pair
from celadon.numpy.dtypes import dtype_of, requested
from celadon.numpy.promotion import accept, array, axes_of, axis_of, converted, operand
from celadon.types import DType, result_type

Function = Callable[..., Any]
PrecisionLike = Any
DotDimensionNumbers = tuple[tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]]


class Precision(enum.Enum):
    """How exactly a contraction of floats is computed; all of them are full precision here."""

    DEFAULT = 0
    HIGH = 1
    HIGHEST = 2

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    def __str__(self) -> str:
        return self.name


def _reduction(name: str, op: Function, doc: str, example: str) -> Function:
    def function(operand: Any, axes: Sequence[int]) -> Any:
        x = array(operand)
        if name in ("reduce_sum", "reduce_prod"):
            accept(f"lax.{name}", x.type.dtype, "iufc")
        return op(x, axes=axes_of(tuple(axes), x.type.ndim))

    if name == "reduce_sum":

        def with_sharding(operand: Any, axes: Sequence[int], *, out_sharding: Any = None) -> Any:
            return function(operand, axes)

        return described(with_sharding, name, doc, example, __name__)
    return described(function, name, doc, example, __name__)


_three = "np.int32([1, 2, 3])"
reduce_sum = _reduction("reduce_sum", ops.reduce_sum, "The sum over axes.",
                         f"reduce_sum({_three}, (0,)) == Array(6, dtype=int32)")  # fmt: skip
reduce_prod = _reduction("reduce_prod", ops.reduce_prod, "The product over axes.",
                         f"reduce_prod({_three}, (0,)) == Array(6, dtype=int32)")  # fmt: skip
reduce_max = _reduction("reduce_max", ops.reduce_max, "The largest element over axes.",
                        f"reduce_max({_three}, (0,)) == Array(3, dtype=int32)")  # fmt: skip
reduce_min = _reduction("reduce_min", ops.reduce_min, "The smallest element over axes.",
                        f"reduce_min({_three}, (0,)) == Array(1, dtype=int32)")  # fmt: skip
reduce_and = _reduction("reduce_and", ops.reduce_and, "The bits set in all elements over axes.",
                        f"reduce_and({_three}, (0,)) == Array(0, dtype=int32)")  # fmt: skip
reduce_or = _reduction("reduce_or", ops.reduce_or, "The bits set in any element over axes.",
                       f"reduce_or({_three}, (0,)) == Array(3, dtype=int32)")  # fmt: skip
reduce_xor = _reduction("reduce_xor", ops.reduce_xor, "The bits set in an odd number of elements over axes.",
                        f"reduce_xor({_three}, (0,)) == Array(0, dtype=int32)")  # fmt: skip


def argmax(operand: Any, axis: int, index_dtype: Any) -> Any:
    """The index of the first largest element along an axis.

    >>> argmax(np.int32([1, 3, 2]), 0, "int32")
    Array(1, dtype=int32)
    """
    return _place(ops.argmax, operand, axis, index_dtype)


def argmin(operand: Any, axis: int, index_dtype: Any) -> Any:
    """The index of the first smallest element along an axis.

    >>> argmin(np.int32([1, 3, 2]), 0, "int32")
    Array(0, dtype=int32)
    """
    return _place(ops.argmin, operand, axis, index_dtype)


def _place(op: Function, operand: Any, axis: int, index_dtype: Any) -> Any:
    x = array(operand)
    return op(x, axes=(axis_of(axis, x.type.ndim),), index_dtype=requested(index_dtype))


def _cumulative(name: str, op: Function, doc: str, example: str) -> Function:
    def function(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
        x = array(operand)
        return op(x, axis=axis_of(axis, x.type.ndim), reverse=reverse)

    return described(function, name, doc, example, __name__)


cumsum = _cumulative("cumsum", ops.cumsum, "The sums of ever more elements along an axis, from the end if reverse.",
                     f"cumsum({_three}) == Array([1, 3, 6], dtype=int32)")  # fmt: skip
cumprod = _cumulative("cumprod", ops.cumprod, "The products of ever more elements along an axis.",
                      f"cumprod({_three}) == Array([1, 2, 6], dtype=int32)")  # fmt: skip
cummax = _cumulative("cummax", ops.cummax, "The largest of ever more elements along an axis.",
                     f"cummax({_three}) == Array([1, 2, 3], dtype=int32)")  # fmt: skip
cummin = _cumulative("cummin", ops.cummin, "The smallest of ever more elements along an axis.",
                     f"cummin({_three}) == Array([1, 1, 1], dtype=int32)")  # fmt: skip
cumlogsumexp = _cumulative("cumlogsumexp", ops.cumlogsumexp, "log(sum(exp(x))) of ever more elements along an axis.",
                           "cumlogsumexp(np.zeros(1, 'float32')) == Array([0.], dtype=float32)")  # fmt: skip


def dot_general(
    lhs: Any, rhs: Any, dimension_numbers: DotDimensionNumbers, precision: PrecisionLike = None,
    preferred_element_type: Any = None, *, out_sharding: Any = None,
) -> Any:  # fmt: skip
    """The sum of products over axes of both arrays, for each place of their batch axes.

    Args: dimension_numbers: ((lhs contracted, rhs contracted), (lhs batch, rhs batch)); preferred_element_type: of the
    result, whose axes are the batch axes, then the others of lhs, then those of rhs.

    >>> dot_general(np.int32([1, 2]), np.int32([3, 4]), (((0,), (0,)), ((), ())))
    Array(11, dtype=int32)
    """
    x, y = array(lhs), array(rhs)
    dtype, _ = result_type([x.type, y.type])
    ((a, b), (c, d)) = dimension_numbers
    numbers = (axes_of(tuple(a), x.type.ndim), axes_of(tuple(b), y.type.ndim))
    batch = (axes_of(tuple(c), x.type.ndim), axes_of(tuple(d), y.type.ndim))
    wanted: DType | None = None if preferred_element_type is None else requested(preferred_element_type)
    return ops.dot_general(
        converted(x, dtype, x.type.weak_type), converted(y, dtype, y.type.weak_type), dimension_numbers=(numbers, batch),
        precision=precision_pair(precision), preferred_element_type=wanted,
    )  # fmt: skip


def dot(
    lhs: Any, rhs: Any, *, dimension_numbers: DotDimensionNumbers | None = None, precision: PrecisionLike = None,
    preferred_element_type: Any = None, out_sharding: Any = None,
) -> Any:  # fmt: skip
    """The product of two vectors or matrices; with dimension_numbers, dot_general.

    >>> dot(np.int32([1, 2]), np.int32([3, 4]))
    Array(11, dtype=int32)
    """
    x, y = array(lhs), array(rhs)
    if dimension_numbers is None:
        if x.type.ndim not in (1, 2) or y.type.ndim not in (1, 2):
            raise errors.ShapesDiffer(op="lax.dot", shapes=f"{x.type.shape} and {y.type.shape}")
        dimension_numbers = (((x.type.ndim - 1,), (0,)), ((), ()))
    return dot_general(x, y, dimension_numbers, precision, preferred_element_type)


def batch_matmul(lhs: Any, rhs: Any, precision: PrecisionLike = None) -> Any:
    """The matrix products of two arrays of matrices, whose leading axes agree.

    >>> batch_matmul(np.ones((2, 1, 3), "int32"), np.ones((2, 3, 1), "int32")).shape
    (2, 1, 1)
    """
    x, y = array(lhs), array(rhs)
    if x.type.ndim != y.type.ndim or x.type.ndim < 2:
        raise errors.ShapesDiffer(op="lax.batch_matmul", shapes=f"{x.type.shape} and {y.type.shape}")
    batch = tuple(range(x.type.ndim - 2))
    return dot_general(x, y, (((x.type.ndim - 1,), (x.type.ndim - 2,)), (batch, batch)), precision)


def dtype(x: Any) -> DType:
    """The dtype that x has, or names.

    >>> dtype(np.int32(1))
    dtype('int32')
    """
    return dtype_of(operand(x)) if not isinstance(x, type | str | np.dtype) else dtype_of(x)
