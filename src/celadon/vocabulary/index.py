"""Ops that read and write at computed places, none ever outside: dynamic slices, gather; and sort."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from celadon import errors
from celadon.keys import BITS, KEY, is_key
from celadon.op import Axis, Op, registry
from celadon.program import Equation, fixed
from celadon.types import ArrayType, DType, Shape, int32, kind
from celadon.vocabulary.arithmetic import add
from celadon.vocabulary.kinds import ANY, COMPLEX, HALF, INTEGER, checked_axes, like, one_per_axis, require, same_dtype
from celadon.vocabulary.reduce import highest, lowest
from celadon.vocabulary.shape import broadcast_in_dim, concatenate, in_front, inserted, iota, reshape, unite_first
from celadon.vocabulary.window import combiner, second

Array = Any
Axes = tuple[int, ...]


def _checked_starts(name: str, x: ArrayType, starts: tuple[ArrayType, ...]) -> None:
    if len(starts) != x.ndim or any(start.shape for start in starts):
        raise errors.StartsMismatch(op=name, type=x, given=len(starts))
    for start in starts:
        require(name, start, INTEGER)
    if starts:
        same_dtype(name, *starts)


def _dynamic_slice_type(x: ArrayType, *starts: ArrayType, slice_sizes: Shape) -> ArrayType:
    """C2 to C5."""
    _checked_starts("dynamic_slice", x, starts)
    one_per_axis("dynamic_slice", x.ndim, slice_sizes=slice_sizes)
    if any(not 0 <= size <= n for size, n in zip(slice_sizes, x.shape, strict=True)):
        raise errors.SliceTooLarge(op="dynamic_slice", shape=x.shape, sizes=slice_sizes)
    return x.with_shape(slice_sizes)


def _place(shape: Shape, starts: tuple[Array, ...], sizes: Shape) -> tuple[slice, ...]:
    """The slice that is meant: a start that reaches outside is moved in."""
    places: list[slice] = []
    for n, start, size in zip(shape, starts, sizes, strict=True):
        first = min(max(int(start), 0), n - size)
        places.append(slice(first, first + size))
    return tuple(places)


def _dynamic_slice(x: Array, *starts: Array, slice_sizes: Shape) -> Array:
    return x[_place(x.shape, starts, slice_sizes)]


def _update_type(x: ArrayType, update: ArrayType, *starts: ArrayType) -> ArrayType:
    """C1 to C6."""
    same_dtype("dynamic_update_slice", x, update)
    _checked_starts("dynamic_update_slice", x, starts)
    if update.ndim != x.ndim or any(size > n for size, n in zip(update.shape, x.shape, strict=True)):
        raise errors.SliceTooLarge(op="dynamic_update_slice", shape=x.shape, sizes=update.shape)
    return x if update.weak_type else x.strong()


def _dynamic_update_slice(x: Array, update: Array, *starts: Array) -> Array:
    result = np.array(x)
    result[_place(x.shape, starts, update.shape)] = update
    return result


def _gather_type(
    x: ArrayType,
    indices: ArrayType,
    *,
    offset_dims: Axes,
    collapsed_slice_dims: Axes,
    start_index_map: Axes,
    operand_batching_dims: Axes = (),
    start_indices_batching_dims: Axes = (),
    slice_sizes: Shape,
    mode: str = "clip",
    fill_value: Any = None,
) -> ArrayType:
    """C1 to C23, the index vector being the last axis of the indices."""
    require("gather", indices, INTEGER)
    checked_axes("gather", collapsed_slice_dims + operand_batching_dims, x.ndim)
    checked_axes("gather", start_index_map + operand_batching_dims, x.ndim)
    checked_axes("gather", start_indices_batching_dims, indices.ndim - 1)
    one_per_axis("gather", x.ndim, slice_sizes=slice_sizes)
    if any(not 0 <= size <= n for size, n in zip(slice_sizes, x.shape, strict=True)):
        raise errors.SliceTooLarge(op="gather", shape=x.shape, sizes=slice_sizes)
    dropped = collapsed_slice_dims + operand_batching_dims
    offsets = [size for i, size in enumerate(slice_sizes) if i not in dropped]
    batched = [x.shape[i] for i in operand_batching_dims]
    _require_gather(len(offsets) == len(offset_dims), "offset_dims must name one axis for each slice axis that stays")
    _require_gather(len(start_index_map) == indices.shape[-1], "start_index_map must be as long as an index vector")
    _require_gather(all(slice_sizes[i] <= 1 for i in dropped), "collapsed and batched axes have slices of at most 1")
    paired = batched == [indices.shape[i] for i in start_indices_batching_dims]
    _require_gather(paired, "batched axes of operand and indices must have equal extents")
    result_ndim = indices.ndim - 1 + len(offset_dims)
    checked_axes("gather", offset_dims, result_ndim)
    batch, rest = iter(indices.shape[:-1]), iter(offsets)
    shape = [next(rest) if i in offset_dims else next(batch) for i in range(result_ndim)]
    return x.with_shape(tuple(shape))


def _require_gather(holds: bool, rule: str) -> None:
    if not holds:
        raise errors.GatherMismatch(rule=rule)


def _gather(x: Array, indices: Array, *, mode: str = "clip", fill_value: Any = None, **params: Any) -> Array:
    """Starts are moved inside; under "fill", slices that were not inside are the fill value."""
    found = _gathered(x, indices, **params)
    if mode != "fill":
        return found
    inside = np.ones(indices.shape[:-1], bool)
    for k, axis in enumerate(params["start_index_map"]):
        start = indices[..., k]
        inside &= (start >= 0) & (start <= x.shape[axis] - params["slice_sizes"][axis])
    mask = inside.reshape([1 if j in params["offset_dims"] else n for j, n in enumerate(found.shape)])
    value = default_fill(x.dtype) if fill_value is None else fill_value
    return np.where(mask, found, np.asarray(value).astype(x.dtype))


def _gathered(
    x: Array,
    indices: Array,
    *,
    offset_dims: Axes,
    collapsed_slice_dims: Axes,
    start_index_map: Axes,
    operand_batching_dims: Axes = (),
    start_indices_batching_dims: Axes = (),
    slice_sizes: Shape,
) -> Array:
    batch = indices.shape[:-1]
    dropped = collapsed_slice_dims + operand_batching_dims
    kept = [i for i in range(x.ndim) if i not in dropped]
    places: list[Array] = []
    for axis, n in enumerate(x.shape):
        place = np.zeros(batch, np.int64)
        if axis in start_index_map:
            place = inside(indices[..., start_index_map.index(axis)], n - slice_sizes[axis])
        if axis in operand_batching_dims:
            place = _counted(batch, start_indices_batching_dims[operand_batching_dims.index(axis)])
        place = place.reshape(place.shape + (1,) * len(kept))
        if axis in kept:
            place = place + _counted([slice_sizes[i] for i in kept], kept.index(axis))
        places.append(place)
    shape = batch + tuple(slice_sizes[i] for i in kept)
    found = np.broadcast_to(x[tuple(places)], shape)
    return np.moveaxis(found, range(len(batch), len(shape)), offset_dims)


def inside(start: Array, last: int) -> Array:
    """Starts moved inside; unsigned ones beyond int64 are beyond every array."""
    if start.dtype == np.uint64:
        start = np.minimum(start, np.uint64(np.iinfo(np.int64).max))
    return np.clip(start.astype(np.int64), 0, last)


def _counted(shape: Sequence[int], axis: int) -> Array:
    return np.arange(shape[axis]).reshape([-1 if i == axis else 1 for i in range(len(shape))])


def _unite_gather(equation: Equation) -> Iterable[tuple[Axis, Axis]]:
    """The axes of the indices, but for the last, are the result's that are no offsets."""
    offsets = equation.params["offset_dims"]
    batch = [j for j in range(equation.outputs[0].type.ndim) if j not in offsets]
    pairs: list[tuple[Axis, Axis]] = [((1, i), (2, j)) for i, j in enumerate(batch)]
    batching = equation.params.get("operand_batching_dims", ()), equation.params.get("start_indices_batching_dims", ())
    return pairs + [((0, i), (1, j)) for i, j in zip(*batching, strict=True)]


def default_fill(dtype: DType) -> Any:
    """What stands for an element that is not there: NaN, the smallest signed, the largest unsigned integer, or True."""
    letter = kind(dtype)
    if is_key(dtype):
        return np.asarray(highest(BITS)).view(KEY)
    if letter in "fc":
        return dtype.type(np.nan)
    return lowest(dtype) if letter == "i" else highest(dtype)


def _sort_type(*xs: ArrayType, dimension: int, is_stable: bool = True, num_keys: int = 1) -> list[ArrayType]:
    """C1 to C4; the first `num_keys` operands decide the order."""
    if not 1 <= num_keys <= len(xs):
        raise errors.SortKeys(num_keys=num_keys, operands=len(xs))
    for x in xs[:num_keys]:
        require("sort", x, ANY)
    checked_axes("sort", (dimension,), xs[0].ndim)
    if any(x.shape != xs[0].shape for x in xs):
        raise errors.ShapesDiffer(op="sort", shapes=" and ".join(str(x.shape) for x in xs))
    return list(xs)


def _sort(*xs: Array, dimension: int, is_stable: bool = True, num_keys: int = 1) -> list[Array]:
    """NaN last, -0 equal to 0, complex numbers by real, then imaginary part, booleans False first."""
    keys = [key for x in xs[:num_keys] for key in _keys(x)]
    order = np.lexsort(keys[::-1], axis=dimension)
    return [np.take_along_axis(x, order, dimension) for x in xs]


def _keys(x: Array) -> list[Array]:
    if x.dtype in COMPLEX:
        return [x.real, x.imag]
    return [x.astype(np.float32) if x.dtype in HALF else x]


def _unite_sorted(equation: Equation) -> Iterable[tuple[Axis, Axis]]:
    values = [*equation.inputs, *equation.outputs]
    return [((0, i), (k, i)) for k in range(1, len(values)) for i in range(values[0].type.ndim)]


def _sort_tangent(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[list[Any], list[Any]]:
    """Tangents go where their elements go."""
    shape, dimension = primals[0].type.shape, params["dimension"]
    *results, order = sort(*primals, iota(shape=shape, dtype=int32, dimension=dimension), **params)
    return results, [None if t is None else along(t, order, dimension) for t in tangents]


def along(x: Any, places: Any, axis: int) -> Any:
    """The elements of x at places along an axis, one for each element of `places`."""
    shape = places.type.shape
    others = tuple([i for i in range(len(shape)) if i != axis])
    return gather(
        x, reshape(places, shape=(*shape, 1)), offset_dims=(), collapsed_slice_dims=(axis,), start_index_map=(axis,),
        operand_batching_dims=others, start_indices_batching_dims=others, slice_sizes=tuple([min(n, 1) for n in x.type.shape]),
        mode="clip",
    )  # fmt: skip


def _sort_batch(batch: Any, axes: Sequence[Any], values: Sequence[Any], **params: Any) -> Any:
    whole = [in_front(x, i, batch.size) for x, i in zip(values, axes, strict=True)]
    return sort(*whole, **{**params, "dimension": params["dimension"] + 1}), [0] * len(whole)


def zeros_like(x: Any) -> Any:
    """An array of zeros of a value's type."""
    return broadcast_in_dim(like(0, x), shape=x.type.shape, broadcast_dimensions=())


def _slice_back(ct: Any, x: Any, *starts: Any, slice_sizes: Shape) -> Any:
    return dynamic_update_slice(zeros_like(x), ct, *starts)


def _updated_back(ct: Any, x: Any, update: Any, *starts: Any) -> Any:
    return dynamic_update_slice(ct, zeros_like(update), *starts)


def _update_back(ct: Any, x: Any, update: Any, *starts: Any) -> Any:
    return dynamic_slice(ct, *starts, slice_sizes=update.type.shape)


def _vectors(batch: Any, axes: Sequence[Any], starts: Sequence[Any]) -> Any:
    """Starts of dynamic slices as one index vector for each member."""
    size = (batch.size, 1)
    columns = [
        broadcast_in_dim(start, shape=size, broadcast_dimensions=() if axis is None else (0,))
        for start, axis in zip(starts, axes, strict=True)
    ]
    return concatenate(*columns, dimension=1)


def _dynamic_slice_batch(batch: Any, axes: Sequence[Any], values: Sequence[Any], *, slice_sizes: Shape) -> Any:
    """Starts that differ from member to member are what gather takes."""
    (x, *starts), (own, *others) = values, axes
    if all(axis is None for axis in others):
        starts.insert(own, fixed(0, starts[0].type.dtype if starts else int32))
        return dynamic_slice(x, *starts, slice_sizes=inserted(slice_sizes, own, batch.size)), own
    count, vectors = len(starts), _vectors(batch, others, starts)
    walked = tuple(range(1, count + 1))
    if own is None:
        numbers = {"start_index_map": tuple(range(count)), "slice_sizes": slice_sizes}
    else:
        x, numbers = in_front(x, own, batch.size), {"start_index_map": walked, "slice_sizes": (1, *slice_sizes)}
        numbers |= {"operand_batching_dims": (0,), "start_indices_batching_dims": (0,)}
    return gather(x, vectors, offset_dims=walked, collapsed_slice_dims=(), **numbers, mode="clip"), 0


def _dynamic_update_slice_batch(batch: Any, axes: Sequence[Any], values: Sequence[Any]) -> Any:
    """Starts that differ from member to member are what scatter takes."""
    x, update = (in_front(v, i, batch.size) for v, i in zip(values[:2], axes[:2], strict=True))
    starts, walked = values[2:], tuple(range(1, x.type.ndim))
    if all(axis is None for axis in axes[2:]):
        return dynamic_update_slice(x, update, fixed(0, starts[0].type.dtype if starts else int32), *starts), 0
    [found] = registry["scatter"](
        x, _vectors(batch, axes[2:], starts), update, body=combiner(second, x.type.dtype), update_window_dims=walked,
        inserted_window_dims=(), scatter_dims_to_operand_dims=walked, operand_batching_dims=(0,),
        scatter_indices_batching_dims=(0,), mode="clip", indices_are_sorted=True, unique_indices=True,
    )  # fmt: skip
    return found, 0


def _gather_tangent(t: Any, out: Any, x: Any, indices: Any, **params: Any) -> Any:
    fills = params.get("mode") == "fill"
    return gather(t, indices, **{**params, "fill_value": 0} if fills else params)


def _gather_back(ct: Any, x: Any, indices: Any, **params: Any) -> Any:
    """Every part added to where it was read."""
    return registry["scatter"](
        zeros_like(x), indices, ct, body=combiner(add, ct.type.dtype), update_window_dims=params["offset_dims"],
        inserted_window_dims=params["collapsed_slice_dims"], scatter_dims_to_operand_dims=params["start_index_map"],
        operand_batching_dims=params.get("operand_batching_dims", ()),
        scatter_indices_batching_dims=params.get("start_indices_batching_dims", ()),
        mode="clip" if params.get("mode", "clip") == "clip" else "drop",
    )[0]  # fmt: skip


def _after(axes: Axes) -> Axes:
    """Axes behind a batch axis in front."""
    return tuple([i + 1 for i in axes])


def _gather_batch(
    batch: Any, axes: Sequence[Any], values: Sequence[Any], *, offset_dims: Axes, collapsed_slice_dims: Axes,
    start_index_map: Axes, operand_batching_dims: Axes = (), start_indices_batching_dims: Axes = (), slice_sizes: Shape,
    **rest: Any,
) -> Any:  # fmt: skip
    """A batch axis of the operand alone is one more axis of slices, one of the indices alone counts index vectors."""
    (x, indices), (own, other) = values, axes
    numbers = {"offset_dims": _after(offset_dims), "start_indices_batching_dims": start_indices_batching_dims}
    if own is None:
        numbers |= {"collapsed_slice_dims": collapsed_slice_dims, "operand_batching_dims": operand_batching_dims}
        numbers |= {"start_index_map": start_index_map, "slice_sizes": slice_sizes}
    else:
        x = in_front(x, own, batch.size)
        numbers |= {"collapsed_slice_dims": _after(collapsed_slice_dims), "slice_sizes": (batch.size, *slice_sizes)}
        numbers |= {"start_index_map": _after(start_index_map), "operand_batching_dims": _after(operand_batching_dims)}
    if other is None:
        numbers["offset_dims"] = (0, *numbers["offset_dims"])
    else:
        indices = in_front(indices, other, batch.size)
        numbers["start_indices_batching_dims"] = _after(start_indices_batching_dims)
    if own is not None and other is not None:
        numbers["slice_sizes"] = (1, *slice_sizes)
        numbers["operand_batching_dims"] = (0, *numbers["operand_batching_dims"])
        numbers["start_indices_batching_dims"] = (0, *numbers["start_indices_batching_dims"])
    return gather(x, indices, **numbers, **rest), 0


dynamic_slice = Op(
    "dynamic_slice", _dynamic_slice_type, _dynamic_slice, numbers=("slice_sizes",), exact=True, kind="index",
    tangent=("linear", None), transpose=(_slice_back, None), batch=_dynamic_slice_batch,
)  # fmt: skip
dynamic_update_slice = Op(
    "dynamic_update_slice", _update_type, _dynamic_update_slice, unite=unite_first, exact=True, kind="index",
    tangent=("linear", "linear", None), transpose=(_updated_back, _update_back, None), batch=_dynamic_update_slice_batch,
)  # fmt: skip
gather = Op(
    "gather", _gather_type, _gather, unite=_unite_gather, numbers=("slice_sizes",), exact=True, kind="index",
    tangent=(_gather_tangent, None), transpose=(_gather_back, None), batch=_gather_batch,
)  # fmt: skip
sort = Op(
    "sort", _sort_type, _sort, multiple=True, unite=_unite_sorted, exact=True, kind="sort",
    tangent=_sort_tangent, batch=_sort_batch,
)  # fmt: skip
