"""ravel_pytree: a tree of arrays as one vector, and the way back."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

from celadon import errors, tree
from celadon.numpy.promotion import converted
from celadon.tracing import type_of
from celadon.transforms.values import as_value
from celadon.types import ArrayType, result_type
from celadon.vocabulary.shape import concatenate, reshape, slice_


def ravel_pytree(pytree: Any) -> tuple[Any, Callable[[Any], Any]]:
    """A tree of arrays as one vector, and the function that makes such a tree of such a vector.

    Args: pytree: arrays and numbers; the vector has their common dtype.

    Returns: (vector, unravel); functions for equal structures and types are equal, so that one of them may be a
        static argument. unravel raises UnravelMismatch for a vector of another length, and UnravelDtypeDiffers for one
        of another dtype where the tree has several.

    >>> vector, unravel = ravel_pytree({"a": 1.0, "b": np.float32([2, 3])})
    >>> vector.tolist(), unravel(vector)["b"].tolist()
    ([1.0, 2.0, 3.0], [2.0, 3.0])
    """
    leaves, form = tree.flatten(pytree)
    values = [as_value(x) for x in leaves]
    if not values:
        from_nothing = as_value(0.0)
        empty = slice_(reshape(from_nothing, shape=(1,)), start_indices=(0,), limit_indices=(0,), strides=(1,))
        return empty, lambda vector: form.unflatten([])
    types = [x.type for x in values]
    dtype, weak = result_type(types)
    weak = weak and len({t.dtype for t in types}) == 1
    flat = [reshape(converted(x, dtype, weak), shape=(x.type.size,)) for x in values]
    vector = concatenate(*flat, dimension=0)
    return vector, _Unravel(form, tuple(types), vector.type)


class _Unravel:
    """The way back from a vector."""

    def __init__(self, form: tree.PyTreeDef, types: tuple[ArrayType, ...], vector: ArrayType):
        self.form, self.types, self.vector = form, types, vector
        self.starts = [0, *itertools.accumulate(math.prod(t.shape) for t in types)]

    def __call__(self, vector: Any) -> Any:
        found = type_of(vector)
        mixed = len({t.dtype for t in self.types}) > 1
        if found.shape != self.vector.shape:
            raise errors.UnravelMismatch(found=found, wanted=self.vector)
        if mixed and found.dtype != self.vector.dtype:
            raise errors.UnravelDtypeDiffers(found=found, wanted=self.vector)
        value = as_value(vector)
        parts = [self._part(value, k) for k in range(len(self.types))]
        if mixed:
            parts = [converted(x, t.dtype) for x, t in zip(parts, self.types, strict=True)]
        return self.form.unflatten(parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Unravel) and (self.form, self.types) == (other.form, other.types)

    def __hash__(self) -> int:
        return hash((self.form, self.types))

    def _part(self, vector: Any, k: int) -> Any:
        piece = slice_(vector, start_indices=(self.starts[k],), limit_indices=(self.starts[k + 1],), strides=(1,))
        return reshape(piece, shape=self.types[k].shape)
