"""Collectives over named axes of batches: they stay ops until the batch of that name meets them."""

from __future__ import annotations

import functools
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from celadon import errors
from celadon.op import Op
from celadon.program import literal
from celadon.settings import Setting
from celadon.types import ArrayType, int32
from celadon.vocabulary.arithmetic import divide, multiply
from celadon.vocabulary.comparison import compare, select
from celadon.vocabulary.index import gather
from celadon.vocabulary.kinds import like
from celadon.vocabulary.reduce import reduce_max, reduce_min, reduce_sum
from celadon.vocabulary.shape import broadcast_in_dim, iota, transpose

Names = tuple[Any, ...]

axes_in_scope = Setting("celadon_named_axes", (), keyed=True)


@contextmanager
def inside_axis(name: Any, size: int) -> Generator[None]:
    """Bind a name to a batch in the block; None binds nothing."""
    if name is None:
        yield
        return
    with axes_in_scope(((name, size), *axes_in_scope.value)):
        yield


def size_of(name: Any) -> int:
    """The size of a named axis. Raises AxisNameUnbound."""
    for known, size in axes_in_scope.value:
        if known == name:
            return size
    bound = ", ".join(repr(known) for known, _ in axes_in_scope.value) or "none"
    raise errors.AxisNameUnbound(name=repr(name), bound=bound)


def _same(x: ArrayType, *, axes: Names) -> ArrayType:
    return x


def _remaining(op: Op, x: Any, axes: Names, name: Any) -> Any:
    rest = tuple([a for a in axes if a != name])
    return op(x, axes=rest) if rest else x


def _over(name: str, reduced: Any) -> Any:
    """The batch rule of a reduction: over this batch's axis if it is named, elementwise along it if not."""

    def rule(batch: Any, own: Sequence[Any], values: Sequence[Any], /, **params: Any) -> Any:
        op, names = _registry[name], params["axes"]
        if batch.axis_name not in names:
            return op(values[0], axes=names), own[0]
        return _remaining(op, reduced(batch, values[0], own[0]), names, batch.axis_name), None

    return rule


def _summed(batch: Any, x: Any, axis: int | None) -> Any:
    return multiply(x, literal(batch.size, x.type.dtype, x.type.weak_type)) if axis is None else reduce_sum(x, axes=(axis,))


def _extreme(op: Op) -> Any:
    return lambda batch, x, axis: x if axis is None else op(x, axes=(axis,))


def _extreme_tangent(t: Any, out: Any, x: Any, *, axes: Names) -> Any:
    """The mean over the members that have the extreme value."""
    share = select(compare(x, out, direction="EQ"), like(1, x), like(0, x))
    return divide(psum(multiply(t, share), axes=axes), psum(share, axes=axes))


psum = Op(
    "psum", _same, tangent=("linear",), transpose=(lambda ct, x, *, axes: psum(ct, axes=axes),),
    batch=_over("psum", _summed), kind="collective",
)  # fmt: skip
pmax = Op("pmax", _same, tangent=(_extreme_tangent,), batch=_over("pmax", _extreme(reduce_max)), kind="collective")
pmin = Op("pmin", _same, tangent=(_extreme_tangent,), batch=_over("pmin", _extreme(reduce_min)), kind="collective")
_registry = {"psum": psum, "pmax": pmax, "pmin": pmin}


def _index_type(*, axes: Names) -> ArrayType:
    return ArrayType((), int32)


def _index_batch(batch: Any, axes_of: Sequence[Any], values: Sequence[Any], *, axes: Names) -> Any:
    return iota(shape=(batch.size,), dtype=int32, dimension=0), 0


axis_index = Op("axis_index", _index_type, batch=_index_batch, kind="collective")


def _gather_type(x: ArrayType, *, axes: Names, size: int, axis: int) -> ArrayType:
    return x.with_shape((*x.shape[:axis], size, *x.shape[axis:]))


def _gather_batch(batch: Any, axes_of: Sequence[Any], values: Sequence[Any], *, axes: Names, size: int, axis: int) -> Any:
    [x], [i] = values, axes_of
    if batch.axis_name not in axes:
        place = axis + (i <= axis)
        return all_gather(x, axes=axes, size=size, axis=place), i + (place <= i)
    if i is None:
        kept = tuple(k + (k >= axis) for k in range(x.type.ndim))
        return broadcast_in_dim(x, shape=(*x.type.shape[:axis], size, *x.type.shape[axis:]), broadcast_dimensions=kept), None
    return _moved(x, i, axis), None


def _moved(x: Any, source: int, target: int) -> Any:
    order = [k for k in range(x.type.ndim) if k != source]
    order.insert(target, source)
    return x if source == target else transpose(x, permutation=tuple(order))


def _scatter_sum(ct: Any, x: Any, *, axes: Names, size: int, axis: int) -> Any:
    return psum_scatter(ct, axes=axes, size=size, axis=axis)


all_gather = Op(
    "all_gather", _gather_type, tangent=("linear",), transpose=(_scatter_sum,), batch=_gather_batch, numbers=("size",),
    kind="collective",
)  # fmt: skip


def _scatter_type(x: ArrayType, *, axes: Names, size: int, axis: int) -> ArrayType:
    return x.with_shape((*x.shape[:axis], *x.shape[axis + 1 :]))


def _scatter_batch(batch: Any, axes_of: Sequence[Any], values: Sequence[Any], *, axes: Names, size: int, axis: int) -> Any:
    [x], [i] = values, axes_of
    if batch.axis_name not in axes:
        place = axis + (i <= axis)
        return psum_scatter(x, axes=axes, size=size, axis=place), i - (place < i)
    if i is None:
        return multiply(x, literal(batch.size, x.type.dtype, x.type.weak_type)), axis
    return reduce_sum(x, axes=(i,)), axis + (i <= axis) - (i <= axis)


psum_scatter = Op(
    "psum_scatter", _scatter_type, tangent=("linear",),
    transpose=(lambda ct, x, **params: all_gather(ct, **params),), batch=_scatter_batch, numbers=("size",), kind="collective",
)  # fmt: skip


def _permute_type(x: ArrayType, *, axes: Names, perm: tuple[tuple[int, int], ...]) -> ArrayType:
    return x


def _permute_batch(batch: Any, axes_of: Sequence[Any], values: Sequence[Any], *, axes: Names, perm: Any) -> Any:
    """Members that receive nothing get zeros."""
    [x], [i] = values, axes_of
    if batch.axis_name not in axes:
        return ppermute(x, axes=axes, perm=perm), i
    if i is None:
        x, i = broadcast_in_dim(
            x, shape=(batch.size, *x.type.shape), broadcast_dimensions=tuple(range(1, x.type.ndim + 1))
        ), 0  # fmt: skip
    others = tuple([k for k in range(x.type.ndim) if k != i])
    sizes = tuple([min(n, 1) if k == i else n for k, n in enumerate(x.type.shape)])
    return gather(
        x, _sources(perm, batch.size), offset_dims=others, collapsed_slice_dims=(i,), start_index_map=(i,), slice_sizes=sizes,
        mode="fill", fill_value=0,
    ), i  # fmt: skip


@functools.lru_cache(512)
def _sources(perm: tuple[tuple[int, int], ...], size: int) -> np.ndarray[Any, Any]:
    """For each member from which one it receives, as index vectors; -1, which is outside, if from none. One array for
    equal arguments, so that a program captures it once."""
    table = np.full((size, 1), -1, int32)
    for source, target in perm:
        table[target] = source
    table.flags.writeable = False
    return table


def _permute_back(ct: Any, x: Any, *, axes: Names, perm: Any) -> Any:
    return ppermute(ct, axes=axes, perm=tuple((target, source) for source, target in perm))


ppermute = Op(
    "ppermute", _permute_type, tangent=("linear",), transpose=(_permute_back,), batch=_permute_batch, kind="collective"
)


def _exchange_type(x: ArrayType, *, axes: Names, size: int, split: int, concat: int) -> ArrayType:
    rest = [n for k, n in enumerate(x.shape) if k != split]
    rest.insert(concat, size)
    return x.with_shape(tuple(rest))


def _exchange_batch(batch: Any, axes_of: Sequence[Any], values: Sequence[Any], **params: Any) -> Any:
    """The split axis becomes the batch, and the batch the new axis."""
    [x], [i] = values, axes_of
    axes, split, concat = params["axes"], params["split"], params["concat"]
    if batch.axis_name not in axes:
        place = split + (i <= split)
        rest = i - (place < i)
        target = concat + (rest <= concat)
        return all_to_all(x, axes=axes, size=params["size"], split=place, concat=target), rest + (target <= rest)
    if i is None:
        x, i = broadcast_in_dim(
            x, shape=(batch.size, *x.type.shape), broadcast_dimensions=tuple(range(1, x.type.ndim + 1))
        ), 0  # fmt: skip
    place = split + (i <= split)
    front = _moved(_moved(x, place, 0), i + (place > i), 1) if place != i else x
    return _moved(front, 1, concat + 1), 0


all_to_all = Op(
    "all_to_all", _exchange_type, tangent=("linear",),
    transpose=(lambda ct, x, *, axes, size, split, concat: all_to_all(ct, axes=axes, size=size, split=concat, concat=split),),
    batch=_exchange_batch, numbers=("size",), kind="collective",
)  # fmt: skip

__all__ = ["all_gather", "all_to_all", "axes_in_scope", "axis_index", "inside_axis", "pmax", "pmin", "ppermute", "psum",
           "psum_scatter", "size_of"]  # fmt: skip
