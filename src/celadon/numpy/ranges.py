"""Evenly spaced numbers and grids of them: arange, linspace and its kin, meshgrid, indices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from celadon import errors, vocabulary as ops
from celadon.array import as_array
from celadon.numpy.creation import filled, stacked
from celadon.numpy.dtypes import requested
from celadon.numpy.elementwise import sign
from celadon.numpy.powers import power
from celadon.numpy.promotion import (
    accept,
    array,
    axis_of,
    broadcasted,
    common_shape,
    converted,
    operand,
    same,
    shape_from,
)
from celadon.numpy.transcendentals import log10
from celadon.program import Literal, fixed, literal
from celadon.types import DType, Shape, bool_, canonical, is_inexact, result_type
from celadon.vocabulary.call import named


def arange(
    start: Any, stop: Any = None, step: Any = None, dtype: Any = None, *, device: Any = None, out_sharding: Any = None
) -> Any:
    """The numbers start, start + step, ... below stop; of one argument, 0, 1, ... below it.

    Args: concrete numbers; dtype: by default the common dtype of the arguments.
    Raises ConcretizationTypeError for traced arguments, whose values would decide the shape.

    >>> arange(2, 8, 2)
    Array([2, 4, 6], dtype=int32)
    """
    given = [_concrete(x) for x in (start, stop, step) if x is not None]
    wanted = requested(dtype) if dtype is not None else result_type([operand(x).type for x in given])[0]
    low, high = (0, given[0]) if stop is None else (given[0], given[1])
    by = 1 if step is None else given[-1]
    if by == 0:
        raise errors.OptionUnknown(function="arange", argument="step", value=0, allowed="any number but 0")
    count = max(math.ceil((high - low) / by), 0)
    accept("arange", wanted, "iufc")
    counted = ops.iota(shape=(count,), dtype=wanted, dimension=0)
    if step is not None:
        counted = ops.multiply(literal(by, wanted), counted)
    return counted if stop is None else ops.add(literal(low, wanted), counted)


def _concrete(x: Any) -> Any:
    found = operand(x, "arange")
    if isinstance(x, bool | int | float | complex):
        return x
    return found.value.item() if isinstance(found, Literal) else found.item()


def linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None, axis: int = 0,
    *, device: Any = None,
) -> Any:  # fmt: skip
    """num evenly spaced numbers from start to stop, which is the last one unless endpoint is False.

    Args: start, stop: arrays that broadcast; axis: of the result, along which the numbers run.
    Returns the numbers, and with retstep also the step between them.

    >>> linspace(0, 1, 3)
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    first, last = operand(start, "linspace"), operand(stop, "linspace")
    wanted = requested(dtype) if dtype is not None else _float_of([first, last])
    (num,) = shape_from(num)
    return _linspace(first, last, num=num, endpoint=endpoint, dtype=wanted, axis=axis, retstep=retstep)


def _float_of(xs: list[Any]) -> DType:
    dtype = result_type([x.type for x in xs])[0]
    return dtype if is_inexact(dtype) else canonical(np.float64)


@named("_linspace")
def _linspace(start: Any, stop: Any, *, num: int, endpoint: bool, dtype: DType, axis: int, retstep: bool) -> Any:
    compute = dtype if is_inexact(dtype) else canonical(np.float64)
    start, stop = converted(start, compute), converted(stop, compute)
    shape = common_shape("linspace", start.type.shape, stop.type.shape)
    start, stop = broadcasted(start, shape), broadcasted(stop, shape)
    divisor = num - 1 if endpoint else num
    step = ops.divide(ops.subtract(stop, start), literal(divisor, compute)) if divisor > 0 else _no_step(shape, compute)
    result = _between(start, stop, num, endpoint, axis_of(axis, len(shape) + 1))
    if not is_inexact(dtype):
        result = converted(result if dtype == bool_ else ops.floor(result), dtype)
    return (result, step) if retstep else result


def _no_step(shape: Shape, dtype: DType) -> Any:
    return filled(shape, fixed(np.nan, dtype))


def _between(start: Any, stop: Any, num: int, endpoint: bool, axis: int) -> Any:
    shape, dtype = start.type.shape, start.type.dtype
    beside = (*shape[:axis], 1, *shape[axis:])
    if num <= 1:
        whole = (*shape[:axis], num, *shape[axis:])
        return ops.reshape(start, shape=beside) if num else filled(whole, fixed(0, dtype))
    count = num - 1 if endpoint else num
    counted = ops.iota(shape=(count,), dtype=dtype, dimension=0)
    along = tuple(count if i == axis else 1 for i in range(len(beside)))
    if along != (count,):
        counted = ops.reshape(counted, shape=along)
    part = ops.divide(counted, literal(num - 1 if endpoint else num, dtype))
    low = ops.reshape(start, shape=beside)
    from_low = ops.multiply(*same("linspace", low, ops.subtract(fixed(1, dtype), part)))
    result = ops.add(from_low, ops.multiply(*same("linspace", ops.reshape(stop, shape=beside), part)))
    if not endpoint:
        return result
    kept = tuple(i for i in range(len(beside)) if i != axis)
    end = ops.broadcast_in_dim(stop, shape=beside, broadcast_dimensions=kept)
    return ops.concatenate(result, end, dimension=axis)


def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0
) -> Any:
    """base to the power of evenly spaced numbers.

    >>> logspace(0, 0, 2)
    Array([1., 1.], dtype=float32)
    """
    first, last = operand(start, "logspace"), operand(stop, "logspace")
    wanted = requested(dtype) if dtype is not None else _float_of([first, last])
    return _logspace(first, last, operand(base), num=num, endpoint=endpoint, dtype=wanted, axis=axis)


@named("_logspace")
def _logspace(start: Any, stop: Any, base: Any, *, num: int, endpoint: bool, dtype: DType, axis: int) -> Any:
    compute = dtype if is_inexact(dtype) else canonical(np.float64)
    start, stop = converted(start, compute), converted(stop, compute)
    exponents = _linspace(start, stop, num=num, endpoint=endpoint, dtype=compute, axis=axis, retstep=False)
    return converted(power(converted(base, compute), exponents), dtype)


def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Any:
    """num numbers from start to stop, each the same multiple of the one before.

    >>> geomspace(1, 1, 2)
    Array([1., 1.], dtype=float32)
    """
    first, last = operand(start, "geomspace"), operand(stop, "geomspace")
    wanted = requested(dtype) if dtype is not None else _float_of([first, last])
    return _geomspace(first, last, num=num, endpoint=endpoint, dtype=wanted, axis=axis)


@named("_geomspace")
def _geomspace(start: Any, stop: Any, *, num: int, endpoint: bool, dtype: DType, axis: int) -> Any:
    compute = dtype if is_inexact(dtype) else canonical(np.float64)
    start, stop = same("geomspace", converted(start, compute), converted(stop, compute))
    side = sign(start)
    low, high = log10(ops.divide(start, side)), log10(ops.divide(stop, side))
    base = literal(10, compute)
    spread = _logspace(low, high, base, num=num, endpoint=endpoint, dtype=compute, axis=axis)
    if side.type.shape:
        side = ops.reshape(side, shape=(*side.type.shape[:axis], 1, *side.type.shape[axis:]))
    return converted(ops.multiply(*same("geomspace", side, spread)), dtype)


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> list[Any]:
    """Grids of coordinates: the k-th result repeats the k-th vector along all other axes.

    Args: vectors; indexing: "xy" (the first two axes swapped) or "ij"; sparse: extents of 1 instead of repeating.

    >>> meshgrid(np.array([1, 2]), np.array([3]))
    [Array([[1, 2]], dtype=int32), Array([[3, 3]], dtype=int32)]
    """
    if indexing not in ("xy", "ij"):
        raise errors.OptionUnknown(function="meshgrid", argument="indexing", value=indexing, allowed="'xy' or 'ij'")
    vectors = [array(x, "meshgrid") for x in xi]
    order = [1, 0, *range(2, len(vectors))] if indexing == "xy" and len(vectors) > 1 else list(range(len(vectors)))
    shape = tuple(vectors[k].type.size for k in order)
    grids = [_grid(_vector(vectors[k]), shape, axis, sparse) for axis, k in enumerate(order)]
    return [grids[order.index(k)] for k in range(len(vectors))]


def _vector(x: Any) -> Any:
    if x.type.ndim > 1:
        raise errors.DimensionsUnfit(
            function="meshgrid", argument="xi", value="an array", shape=x.type.shape, reason="only vectors make a grid"
        )
    return x if x.type.ndim else ops.reshape(x, shape=(1,))


def _grid(x: Any, shape: Shape, axis: int, sparse: bool) -> Any:
    if sparse:
        shape = tuple(n if i == axis else 1 for i, n in enumerate(shape))
    return ops.broadcast_in_dim(x, shape=shape, broadcast_dimensions=(axis,))


def indices(dimensions: Any, dtype: Any = None, sparse: bool = False) -> Any:
    """The indices of an array of a shape: for each axis, an array of the places along it.

    >>> indices((1, 2))
    Array([[[0, 0]],
    <BLANKLINE>
           [[0, 1]]], dtype=int32)
    """
    shape = shape_from(dimensions)
    wanted = requested(dtype, np.int64)
    counted = [ops.iota(shape=(n,), dtype=wanted, dimension=0) for n in shape]
    grids = [_grid(x, shape, axis, sparse) for axis, x in enumerate(counted)]
    if sparse:
        return tuple(grids)
    return stacked(grids) if grids else filled((0,), fixed(0, wanted))


class _MeshGrid:
    """np.mgrid and np.ogrid: indexed with slices, whose steps may be complex numbers that count points."""

    def __init__(self, sparse: bool):
        self._sparse = sparse

    def __getitem__(self, key: Any) -> Any:
        slices = key if isinstance(key, tuple) else (key,)
        vectors = [_points(s) for s in slices]
        dtype = result_type([v.type for v in vectors])[0]
        grids = meshgrid(*[converted(v, dtype) for v in vectors], indexing="ij", sparse=self._sparse)
        if not isinstance(key, tuple):
            return grids[0]
        return grids if self._sparse else stacked(grids)


def _points(s: Any) -> Any:
    start, step = s.start or 0, 1 if s.step is None else s.step
    if isinstance(step, complex):
        return linspace(start, s.stop, int(abs(step)))
    return arange(start, s.stop, step)


mgrid, ogrid = _MeshGrid(sparse=False), _MeshGrid(sparse=True)


def tri_indices(mask: np.ndarray[Any, Any]) -> tuple[Any, ...]:
    """The places at which a concrete mask holds."""
    return tuple(as_array(found) for found in np.nonzero(mask))


def tril_indices(n: Any, k: int = 0, m: Any = None) -> tuple[Any, Any]:
    """The indices of the elements on and below the k-th diagonal of an n by m matrix.

    >>> tril_indices(2)
    (Array([0, 1, 1], dtype=int32), Array([0, 0, 1], dtype=int32))
    """
    rows, columns = tri_indices(np.tri(n, n if m is None else m, k, bool))
    return rows, columns


def triu_indices(n: Any, k: int = 0, m: Any = None) -> tuple[Any, Any]:
    """The indices of the elements on and above the k-th diagonal of an n by m matrix.

    >>> triu_indices(2)
    (Array([0, 0, 1], dtype=int32), Array([0, 1, 1], dtype=int32))
    """
    rows, columns = tri_indices(~np.tri(n, n if m is None else m, k - 1, bool))
    return rows, columns


def tril_indices_from(arr: Any, k: int = 0) -> tuple[Any, Any]:
    """tril_indices of a matrix' shape.

    >>> tril_indices_from(np.ones((1, 2)), 1)
    (Array([0, 0], dtype=int32), Array([0, 1], dtype=int32))
    """
    return tril_indices(arr.shape[-2], k, arr.shape[-1])


def triu_indices_from(arr: Any, k: int = 0) -> tuple[Any, Any]:
    """triu_indices of a matrix' shape.

    >>> triu_indices_from(np.ones((1, 2)))
    (Array([0, 0], dtype=int32), Array([0, 1], dtype=int32))
    """
    return triu_indices(arr.shape[-2], k, arr.shape[-1])


def diag_indices(n: int, ndim: int = 2) -> tuple[Any, ...]:
    """The indices of the main diagonal of an array of ndim axes of extent n.

    >>> diag_indices(2)
    (Array([0, 1], dtype=int32), Array([0, 1], dtype=int32))
    """
    return (ops.iota(shape=(n,), dtype=canonical(np.int64), dimension=0),) * ndim


def diag_indices_from(arr: Any) -> tuple[Any, ...]:
    """diag_indices of an array whose extents are equal.

    >>> diag_indices_from(np.ones((1, 1)))
    (Array([0], dtype=int32), Array([0], dtype=int32))
    """
    shape = tuple(arr.shape)
    if len(shape) < 2 or len(set(shape)) != 1:
        raise errors.DimensionsUnfit(
            function="diag_indices_from", argument="arr", value="an array", shape=shape, reason="extents must be equal"
        )
    return diag_indices(shape[0], len(shape))
