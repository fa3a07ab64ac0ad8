"""Sets of elements: unique ones, unions, intersections and differences; of traced arrays where a size is given."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import numpy as np

from celadon import errors
from celadon.array import as_array
from celadon.numpy.joining import concatenate
from celadon.numpy.ordering import isin, zero_like
from celadon.numpy.positions import concrete
from celadon.numpy.promotion import array, axis_of, converted, same
from celadon.numpy.shapes import ravel, reshape
from celadon.numpy.sized_sets import elements_of_size, intersection_of_size, members_of_size, unique_of_size


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
    """The different elements of an array, in order; with return_... also where, which and how many they are.

    Args: axis: compare the parts along an axis instead; size: the number of results, needed while tracing; fill_value: what
    stands after the last one, by default the first.
    Raises ResultSizeTraced for a traced array without size: how many elements differ decides the shape.

    >>> unique(np.array([3, 1, 3]))
    Array([1, 3], dtype=int32)
    """
    x = array(ar, "unique")
    if size is None:
        made = np.unique(
            concrete(x, "unique"), return_index=True, return_inverse=True, return_counts=True, axis=axis, equal_nan=equal_nan
        )  # fmt: skip
        parts = [as_array(np.asarray(part)) for part in made]
    else:
        parts = _parts_of_size(x, axis, equal_nan, operator.index(size), fill_value)
    wanted = [True, return_index, return_inverse, return_counts]
    results = tuple(p for p, w in zip(parts, wanted, strict=True) if w)
    return results[0] if len(results) == 1 else results


def _parts_of_size(x: Any, axis: int | None, equal_nan: bool, size: int, fill: Any) -> list[Any]:
    whole = ravel(x) if axis is None else x
    i = 0 if axis is None else axis_of(axis, x.type.ndim)
    if not whole.type.shape[i] and size and fill is None:
        raise errors.DimensionsUnfit(
            function="unique", argument="ar", value="an empty array", shape=x.type.shape, reason="nothing can fill it"
        )  # fmt: skip
    found = unique_of_size(whole, i, equal_nan, size, fill)
    inverse = found.inverse if axis is not None else reshape(found.inverse, x.type.shape)
    return [found.values, found.indices, inverse, found.counts]


def unique_values(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> Any:
    """The different elements of an array, in order.

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


def _vectors(function: str, ar1: Any, ar2: Any) -> list[Any]:
    """Both arrays as vectors of one dtype."""
    given = [ravel(array(x, function)) for x in (ar1, ar2)]
    dtype = same(function, *[zero_like(x) for x in given])[0].type.dtype
    return [converted(x, dtype) for x in given]


def _hosts(function: str, x: Any, y: Any) -> tuple[Any, Any]:
    return np.asarray(concrete(x, function)), np.asarray(concrete(y, function))


def union1d(ar1: Any, ar2: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """The different elements of two arrays, in order; size and fill_value as for unique.

    >>> union1d(np.array([1, 2]), np.array([2, 3]))
    Array([1, 2, 3], dtype=int32)
    """
    x, y = _vectors("union1d", ar1, ar2)
    if size is None:
        return as_array(np.union1d(*_hosts("union1d", x, y)))
    return unique(concatenate([x, y]), size=size, fill_value=fill_value)


def intersect1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False, *, size: int | None = None,
    fill_value: Any = None,
) -> Any:  # fmt: skip
    """The elements that two arrays share, in order; with return_indices also where they stand first in both.

    Args: size, fill_value: as for unique; indices after the last one are the lengths of the arrays.

    >>> intersect1d(np.array([1, 2]), np.array([2, 3]))
    Array([2], dtype=int32)
    """
    x, y = _vectors("intersect1d", ar1, ar2)
    if size is not None:
        found = intersection_of_size(x, y, operator.index(size), fill_value)
    else:
        hosts = _hosts("intersect1d", x, y)
        made = np.intersect1d(hosts[0], hosts[1], assume_unique, return_indices=True)
        found = tuple(as_array(part) for part in made)
    return found if return_indices else found[0]


def setdiff1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, *, size: int | None = None, fill_value: Any = None
) -> Any:
    """The elements of the first array that are not in the second, in order.

    Args: assume_unique: the elements keep the order they have; size: as for unique; fill_value: 0 by default.

    >>> setdiff1d(np.array([1, 2]), np.array([2, 3]))
    Array([1], dtype=int32)
    """
    x, y = _vectors("setdiff1d", ar1, ar2)
    if size is None:
        hosts = _hosts("setdiff1d", x, y)
        return as_array(np.setdiff1d(hosts[0], hosts[1], assume_unique))
    fill, kept = 0 if fill_value is None else fill_value, isin(x, y, invert=True)
    if assume_unique:
        return elements_of_size(x, kept, operator.index(size), fill)
    return members_of_size(x, kept, operator.index(size), fill).values


def setxor1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, *, size: int | None = None, fill_value: Any = None
) -> Any:
    """The elements that are in one of two arrays and not in the other, in order; size and fill_value as for unique.

    >>> setxor1d(np.array([1, 2]), np.array([2, 3]))
    Array([1, 3], dtype=int32)
    """
    x, y = _vectors("setxor1d", ar1, ar2)
    if size is None:
        hosts = _hosts("setxor1d", x, y)
        return as_array(np.setxor1d(hosts[0], hosts[1], assume_unique))
    kept = concatenate([isin(x, y, invert=True), isin(y, x, invert=True)])
    return members_of_size(concatenate([x, y]), kept, operator.index(size), fill_value).values
