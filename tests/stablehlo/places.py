"""Rules of ops that read and write at computed places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from celadon.op import registry as op
from celadon.program import fixed
from celadon.types import int32
from tests.stablehlo.elements import Unreadable
from tests.stablehlo.reader import Site, integers, rule, scalar, type_of


@rule("stablehlo.dynamic_slice")
def dynamic_slice(site: Site, x: Any, *starts: Any) -> Any:
    return op["dynamic_slice"](x, *starts, slice_sizes=site.ints("slice_sizes"))


@rule("stablehlo.dynamic_update_slice")
def dynamic_update_slice(site: Site, x: Any, update: Any, *starts: Any) -> Any:
    return op["dynamic_update_slice"](x, update, *starts)


@rule("stablehlo.gather")
def gather(site: Site, x: Any, indices: Any) -> Any:
    return _gathered(site, x, indices, site.ints("slice_sizes"))


@rule("stablehlo.dynamic_gather")
def dynamic_gather(site: Site, x: Any, indices: Any, sizes: Any) -> Any:
    return _gathered(site, x, indices, integers(sizes))


@rule("stablehlo.torch_index_select")
def torch_index_select(site: Site, x: Any, indices: Any) -> Any:
    """Elements of one axis by their numbers; `batch_dims` leading axes are walked together."""
    axis, batch = site.number("dim"), site.number("batch_dims")
    shape, places = type_of(x).shape, type_of(indices)
    whole = tuple(i for i in range(len(shape)) if i != axis and i >= batch)
    before, inner = sum(i < axis for i in whole), places.ndim - batch
    offsets = (*range(batch, batch + before), *range(batch + before + inner, batch + len(whole) + inner))
    vectors = op["reshape"](indices, shape=(*places.shape, 1))
    return op["gather"](
        x, vectors, offset_dims=offsets, collapsed_slice_dims=(axis,), start_index_map=(axis,),
        operand_batching_dims=tuple(range(batch)), start_indices_batching_dims=tuple(range(batch)),
        slice_sizes=tuple(n if i in whole else 1 for i, n in enumerate(shape)),
    )  # fmt: skip


def _gathered(site: Site, x: Any, indices: Any, sizes: tuple[int, ...]) -> Any:
    dims = _numbers(site, "dimension_numbers", "GatherDimensionNumbers")
    vectors, batching = _vectors_last(indices, dims.index_vector_dim, dims.start_indices_batching_dims)
    return op["gather"](
        x, vectors, offset_dims=tuple(dims.offset_dims), collapsed_slice_dims=tuple(dims.collapsed_slice_dims),
        start_index_map=tuple(dims.start_index_map), operand_batching_dims=tuple(dims.operand_batching_dims),
        start_indices_batching_dims=batching, slice_sizes=sizes,
    )  # fmt: skip


def _numbers(site: Site, name: str, kind: str) -> Any:
    from jaxlib.mlir.dialects import stablehlo

    return getattr(stablehlo, kind)(site.attribute(name))


def _vectors_last(indices: Any, axis: int, batching: Sequence[int]) -> tuple[Any, tuple[int, ...]]:
    """The index vectors along the last axis, and the batching axes as they are counted then."""
    type = type_of(indices)
    if axis == type.ndim:
        return op["reshape"](indices, shape=(*type.shape, 1)), tuple(batching)
    order = (*(i for i in range(type.ndim) if i != axis), axis)
    moved = indices if axis == type.ndim - 1 else op["transpose"](indices, permutation=order)
    return moved, tuple(i - (i > axis) for i in batching)


@rule("stablehlo.scatter")
def scatter(site: Site, *operands: Any) -> Any:
    count = len(operands) // 2
    if count != 1:
        return scatter_together(site, operands[:count], operands[count], operands[count + 1 :])
    x, indices, updates = operands
    dims, vectors = _scatter_numbers(site, indices)
    unique = bool(site.number("unique_indices", False))
    return op["scatter"](x, vectors, updates, body=site.body([scalar(x)] * 2), unique_indices=unique, **dims)[0]


def _scatter_numbers(site: Site, indices: Any) -> tuple[dict[str, Any], Any]:
    dims = _numbers(site, "scatter_dimension_numbers", "ScatterDimensionNumbers")
    vectors, batching = _vectors_last(indices, dims.index_vector_dim, dims.scatter_indices_batching_dims)
    return {
        "update_window_dims": tuple(dims.update_window_dims), "inserted_window_dims": tuple(dims.inserted_window_dims),
        "scatter_dims_to_operand_dims": tuple(dims.scattered_dims_to_operand_dims),
        "operand_batching_dims": tuple(dims.input_batching_dims), "scatter_indices_batching_dims": batching,
    }, vectors  # fmt: skip


def scatter_together(site: Site, xs: Sequence[Any], indices: Any, updates: Sequence[Any]) -> Any:
    """Several arrays at the same places: a loop over single updates, each combined with what stands at its place.

    The place of an element is found by scattering to an array of element numbers, which is how the op drops windows.
    """
    from celadon import lax
    from celadon.vocabulary.index import gather as gathered

    dims, vectors = _scatter_numbers(site, indices)
    if dims["operand_batching_dims"]:
        raise Unreadable("a scatter of several arrays with batching dimensions")
    shape, size = type_of(xs[0]).shape, type_of(updates[0]).size
    numbers = op["reshape"](op["iota"](shape=(type_of(xs[0]).size,), dtype=int32, dimension=0), shape=shape)
    sizes = _window(shape, type_of(updates[0]).shape, dims)
    places = gathered(
        numbers, vectors, offset_dims=dims["update_window_dims"], collapsed_slice_dims=dims["inserted_window_dims"],
        start_index_map=dims["scatter_dims_to_operand_dims"], slice_sizes=sizes, mode="fill", fill_value=-1,
    )  # fmt: skip
    flat = [op["reshape"](v, shape=(type_of(v).size,)) for v in (*xs, places, *updates)]
    *whole, places = flat[: len(xs) + 1]
    region, new = site.region(), flat[len(xs) + 1 :]

    def step(i: Any, held: Any) -> Any:
        place = lax.dynamic_index_in_dim(places, i, keepdims=False)
        here = [lax.dynamic_index_in_dim(v, place, keepdims=False) for v in held]
        made = region(*here, *(lax.dynamic_index_in_dim(v, i, keepdims=False) for v in new))
        inside = op["compare"](place, fixed(0, int32), direction="GE")
        kept = [op["select"](inside, a, b) for a, b in zip(made, here, strict=True)]
        return tuple(lax.dynamic_update_index_in_dim(v, a, place, 0) for v, a in zip(held, kept, strict=True))

    found = lax.fori_loop(0, size, step, tuple(whole))
    return [op["reshape"](v, shape=shape) for v in found]


def _window(shape: tuple[int, ...], updates: tuple[int, ...], dims: dict[str, Any]) -> tuple[int, ...]:
    rest = iter(dims["update_window_dims"])
    return tuple(1 if i in dims["inserted_window_dims"] else updates[next(rest)] for i in range(len(shape)))


@rule("stablehlo.sort")
def sort(site: Site, *xs: Any) -> Any:
    from tests.stablehlo.ordering import ordered

    found = ordered(site, xs)
    return found[0] if len(xs) == 1 else found


@rule("chlo.top_k")
def top_k(site: Site, x: Any) -> Any:
    return op["top_k"](x, k=site.number("k"))
