"""one_hot: class numbers as vectors with a single 1."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from celadon import errors, vocabulary as ops
from celadon.numpy import creation, shapes
from celadon.numpy.dtypes import requested
from celadon.numpy.promotion import array, axis_of, broadcasted
from celadon.types import DType
from celadon.vocabulary.call import named


def one_hot(x: Any, num_classes: int, *, dtype: Any = None, axis: Any = -1) -> Any:
    """For each number a vector that is 1 in its place and 0 elsewhere; a number out of range gives zeros.

    Args: x: integers; num_classes: the length of the vectors; dtype: of the result, by default float32 (float64 if x64 is
    on); axis: where the vectors stand in the result. Raises OptionUnknown, AxisNotInArray.

    >>> one_hot(np.array([0, 2]), 3)
    Array([[1., 0., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    if isinstance(axis, str):
        raise errors.OptionUnknown(function="nn.one_hot", argument="axis", value=axis, allowed="an integer")
    found = creation.asarray(x)
    along = axis_of(axis, found.type.ndim + 1)
    return _one_hot(found, classes=operator.index(num_classes), dtype=requested(dtype, np.float64), axis=along)


@named("_one_hot", whole=True)
def _one_hot(x: Any, *, classes: int, dtype: DType, axis: int) -> Any:
    x = array(x)
    extents = list(x.type.shape)
    spread = shapes.expanded(x, (axis,))
    line = tuple(classes if i == axis else 1 for i in range(len(extents) + 1))
    numbers = ops.iota(shape=line, dtype=x.type.dtype, dimension=axis)
    shape = (*extents[:axis], classes, *extents[axis:])
    found = ops.compare(broadcasted(spread, shape), broadcasted(numbers, shape), direction="EQ")
    return creation.astype(found, dtype)
