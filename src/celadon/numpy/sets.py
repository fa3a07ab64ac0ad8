"""Sets of elements: unique ones, unions, intersections and differences, of concrete arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from celadon.array import as_array
from celadon.numpy.ordering import zero_like
from celadon.numpy.positions import concrete
from celadon.numpy.promotion import array, same


class UniqueAll(NamedTuple):
    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class UniqueCounts(NamedTuple):
    values: Any
    counts: Any


class UniqueInverse(NamedTuple):
    values: Any
    inverse_indices: Any


def unique(
    ar: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False, axis: int | None = None,
    *, equal_nan: bool = True, size: int | None = None, fill_value: Any = None, sorted: bool = True,
) -> Any:  # fmt: skip
    """The different elements of a concrete array, in order; with return_... also where, which and how many they are.

    Args: axis: compare the parts along an axis instead; size, fill_value: cut or fill up the result to a size.
    Raises ResultSizeTraced for a traced array: how many elements differ decides the shape.

    >>> unique(np.array([3, 1, 3]))
    Array([1, 3], dtype=int32)
    """
    host = concrete(array(ar, "unique"), "unique")
    found = np.unique(
        host, return_index=True, return_inverse=True, return_counts=True, axis=axis, equal_nan=equal_nan
    )  # fmt: skip
    parts = [_sized(p, size, fill, axis or 0) for p, fill in zip(found, _fills(found, fill_value, size), strict=True)]
    parts[2] = as_array(np.asarray(found[2]))
    wanted = [True, return_index, return_inverse, return_counts]
    results = tuple(p for p, w in zip(parts, wanted, strict=True) if w)
    return results[0] if len(results) == 1 else results


def _fills(found: Any, fill_value: Any, size: int | None) -> tuple[Any, ...]:
    values = found[0]
    first = fill_value if fill_value is not None else (values.min() if values.size else 0)
    return first, found[1][0] if found[1].size else 0, 0, 0


def _sized(x: Any, size: int | None, fill: Any, axis: int) -> Any:
    if size is None:
        return as_array(x)
    axis = axis if x.ndim > 1 else 0
    x = np.take(x, range(min(size, x.shape[axis])), axis)
    width = [(0, size - x.shape[axis] if i == axis else 0) for i in range(x.ndim)]
    return as_array(np.pad(x, width, constant_values=np.asarray(fill).astype(x.dtype)))


def unique_values(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> Any:
    """The different elements of a concrete array, in order.

    >>> unique_values(np.array([3, 1, 3]))
    Array([1, 3], dtype=int32)
    """
    return unique(x, equal_nan=False, size=size, fill_value=fill_value)


def unique_counts(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> UniqueCounts:
    """The different elements and how often each occurs.

    >>> unique_counts(np.array([3, 1, 3])).counts
    Array([1, 2], dtype=int32)
    """
    return UniqueCounts(*unique(x, return_counts=True, equal_nan=False, size=size, fill_value=fill_value))


def unique_inverse(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> UniqueInverse:
    """The different elements and, for each element, which of them it is.

    >>> unique_inverse(np.array([3, 1, 3])).inverse_indices
    Array([1, 0, 1], dtype=int32)
    """
    return UniqueInverse(*unique(x, return_inverse=True, equal_nan=False, size=size, fill_value=fill_value))


def unique_all(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> UniqueAll:
    """The different elements, where each occurs first, which of them each element is, and how often each occurs.

    >>> unique_all(np.array([3, 1, 3])).indices
    Array([1, 0], dtype=int32)
    """
    return UniqueAll(*unique(x, True, True, True, equal_nan=False, size=size, fill_value=fill_value))


def _set(name: str, ar1: Any, ar2: Any, **options: Any) -> Any:
    x, y = array(ar1), array(ar2)
    dtype = same("set", zero_like(x), zero_like(y))[0].type.dtype
    hosts = [np.asarray(concrete(one, name)).astype(dtype) for one in (x, y)]
    return as_array(getattr(np, name)(*hosts, **options))


def union1d(ar1: Any, ar2: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """The different elements of two concrete arrays, in order.

    >>> union1d(np.array([1, 2]), np.array([2, 3]))
    Array([1, 2, 3], dtype=int32)
    """
    return unique(_set("union1d", ar1, ar2), size=size, fill_value=fill_value)


def intersect1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False, *, size: int | None = None,
    fill_value: Any = None,
) -> Any:  # fmt: skip
    """The elements that two concrete arrays share, in order; with return_indices also where they stand in both.

    >>> intersect1d(np.array([1, 2]), np.array([2, 3]))
    Array([2], dtype=int32)
    """
    if not return_indices:
        found = _set("intersect1d", ar1, ar2, assume_unique=assume_unique)
        return found if size is None else unique(found, size=size, fill_value=fill_value)
    hosts = [np.asarray(concrete(array(x), "intersect1d")) for x in (ar1, ar2)]
    found = np.intersect1d(hosts[0], hosts[1], assume_unique, return_indices=True)
    return tuple(as_array(x) for x in found)


def setdiff1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, *, size: int | None = None, fill_value: Any = None
) -> Any:
    """The elements of the first concrete array that are not in the second, in order.

    >>> setdiff1d(np.array([1, 2]), np.array([2, 3]))
    Array([1], dtype=int32)
    """
    found = _set("setdiff1d", ar1, ar2, assume_unique=assume_unique)
    return found if size is None else unique(found, size=size, fill_value=fill_value)


def setxor1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, *, size: int | None = None, fill_value: Any = None
) -> Any:
    """The elements that are in one of two concrete arrays and not in the other, in order.

    >>> setxor1d(np.array([1, 2]), np.array([2, 3]))
    Array([1, 3], dtype=int32)
    """
    found = _set("setxor1d", ar1, ar2, assume_unique=assume_unique)
    return found if size is None else unique(found, size=size, fill_value=fill_value)
