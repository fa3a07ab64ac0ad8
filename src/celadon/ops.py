"""Reductions over segments of an array, under the names of jax.ops: what has the same number is combined."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from celadon import errors
from celadon.numpy import creation, reductions
from celadon.numpy.positions import concrete
from celadon.numpy.promotion import array
from celadon.numpy.ranges import arange
from celadon.numpy.updates import Elements
from celadon.types import DType
from celadon.vocabulary.reduce import highest, lowest

Function = Callable[..., Any]
_START: dict[str, Callable[[DType], Any]] = {
    "add": lambda dtype: dtype.type(0), "multiply": lambda dtype: dtype.type(1), "min": highest, "max": lowest,
}  # fmt: skip
_TOGETHER: dict[str, Function] = {
    "add": reductions.sum, "multiply": reductions.prod, "min": reductions.min, "max": reductions.max,
}  # fmt: skip


def _segment(name: str, combination: str, doc: str, shown: str) -> Function:
    def function(
        data: Any, segment_ids: Any, num_segments: int | None = None, indices_are_sorted: bool = False,
        unique_indices: bool = False, bucket_size: int | None = None, mode: Any = None, out_sharding: Any = None,
    ) -> Any:  # fmt: skip
        x, ids = array(data, name), array(segment_ids, name)
        count = _segments(name, ids, num_segments)
        flags = {"indices_are_sorted": indices_are_sorted, "unique_indices": unique_indices}
        flags |= {"mode": "drop" if mode is None else mode, "wrap_negative_indices": False}
        if bucket_size is None:
            return _combined(x, ids, (count,), combination, flags)
        buckets = -(-ids.type.size // bucket_size)
        places = (arange(ids.type.shape[0]) // bucket_size, ids[None, :])
        parts = _combined(x, places, (buckets, count), combination, flags)
        return _TOGETHER[combination](parts, axis=0).astype(x.type.dtype)

    function.__name__ = function.__qualname__ = name
    function.__module__ = __name__
    function.__doc__ = f"{doc}\n{_ARGUMENTS.format(name=name, shown=shown)}"
    return function


def _segments(name: str, ids: Any, num_segments: Any) -> int:
    count = int(np.max(concrete(ids, name))) + 1 if num_segments is None else operator.index(num_segments)
    if count < 0:
        raise errors.ShapeInvalid(shape=(count,))
    return count


def _combined(x: Any, ids: Any, counts: tuple[int, ...], combination: str, flags: dict[str, Any]) -> Any:
    start = _START[combination](x.type.dtype)
    into = creation.full(counts + x.type.shape[1:], start, x.type.dtype)
    return getattr(Elements(into, ids), combination)(x, **flags)


_ARGUMENTS = """
    Args: data: an array; segment_ids: the segment that each part along data's first axis belongs to (negative ones and
    those beyond the last are left out); num_segments: how many there are, needed while tracing (by default as many as the
    largest number asks for); bucket_size: parts are combined in buckets of so many first; mode: as for x.at[...].

    >>> {name}(np.int32([2, 3, 4]), np.int32([0, 0, 1]), 2)
    Array([{shown}], dtype=int32)
    """

segment_sum = _segment("segment_sum", "add", "The sum of each segment.", "5, 4")
segment_prod = _segment("segment_prod", "multiply", "The product of each segment.", "6, 4")
segment_min = _segment("segment_min", "min", "The smallest part of each segment.", "2, 4")
segment_max = _segment("segment_max", "max", "The largest part of each segment.", "3, 4")

__all__ = ["segment_max", "segment_min", "segment_prod", "segment_sum"]
