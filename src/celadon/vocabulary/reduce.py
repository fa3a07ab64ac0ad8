"""Reductions over axes, and the macro ops argmax and argmin that are made of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from celadon import errors
from celadon.op import Axis, Op, registry
from celadon.program import Equation, fixed
from celadon.types import ArrayType, DType, DTypes, Shape, kind
from celadon.vocabulary.arithmetic import divide, greater, multiply, smaller
from celadon.vocabulary.bitwise import or_
from celadon.vocabulary.comparison import compare, select
from celadon.vocabulary.kinds import ANY, BITS, BOOL, HALF, INTEGER, ORDERED, checked_axes, kept, like, require
from celadon.vocabulary.precision import narrowed, wide
from celadon.vocabulary.shape import beside, broadcast_in_dim, iota, reshape, transpose

Array = Any
Axes = tuple[int, ...]


def kept_axes(ndim: int, axes: Iterable[int]) -> Axes:
    """The axes that a reduction leaves."""
    return tuple([i for i in range(ndim) if i not in axes])


def reduced_shape(shape: Shape, axes: Iterable[int]) -> Shape:
    """C7 of reduce."""
    return tuple([n for i, n in enumerate(shape) if i not in axes])


def unite_kept(equation: Equation) -> Iterable[tuple[Axis, Axis]]:
    """The axes that are not reduced keep their extents."""
    kept = kept_axes(equation.inputs[0].type.ndim, equation.params["axes"])
    return [((0, i), (1, j)) for j, i in enumerate(kept)]


def _reduction(name: str, numpy: Callable[..., Any], body: str, accepted: DTypes, **rules: Any) -> Op:
    @kept
    def result_type(x: ArrayType, *, axes: Axes) -> ArrayType:
        """C4, C5 and C7 of reduce."""
        require(name, x, accepted)
        checked_axes(name, axes, x.ndim)
        return x.with_shape(reduced_shape(x.shape, axes))

    return Op(
        name, result_type, numpy, text=f"stablehlo.{body}", unite=unite_kept, kind="reduce",
        batch=lambda batch, axes, values, /, **params: _reduce_batch(registry[name], axes, values, **params), **rules,
    )  # fmt: skip


def _reduce_batch(op: Op, own: Sequence[Any], values: Sequence[Any], /, **params: Any) -> Any:
    [i], reduced = own, params.pop("axes")
    places = beside(reduced, i)
    return op(values[0], axes=places, **params), i - sum(j < i for j in places)


def _folded(function: np.ufunc) -> Callable[..., Any]:
    """A sum or product: integers wrap, 16-bit floats accumulate in float32, others in double."""

    def rule(x: Array, *, axes: Axes) -> Array:
        dtype = x.dtype
        if kind(dtype) in "biu":
            return function.reduce(x, axes, dtype=dtype)
        return narrowed(function.reduce(np.asarray(x, _accumulator(dtype)), axes), dtype)

    return rule


def _accumulator(dtype: DType) -> DType:
    return np.dtype(np.float32) if dtype in HALF else wide(dtype)


def lowest(dtype: DType) -> Any:
    """What a maximum starts from: -inf, the smallest integer, or False."""
    return _limit(dtype, -1)


def highest(dtype: DType) -> Any:
    """What a minimum starts from: inf, the largest integer, or True."""
    return _limit(dtype, 1)


def _limit(dtype: DType, side: int) -> Any:
    letter = kind(dtype)
    if letter == "b":
        return np.bool_(side > 0)
    if letter in "iu":
        return dtype.type(np.iinfo(dtype).max if side > 0 else np.iinfo(dtype).min)
    return dtype.type(side * np.inf)


def _extreme(pair: Callable[..., Any], start: Callable[[DType], Any]) -> Callable[..., Any]:
    """A maximum or minimum, by halves."""

    def rule(x: Array, *, axes: Axes) -> Array:
        x = np.moveaxis(x, axes, range(len(axes)))
        x = x.reshape(-1 if x.size else int(np.prod(x.shape[: len(axes)])), *x.shape[len(axes) :])
        if not len(x):
            return np.full(x.shape[1:], start(x.dtype), x.dtype)
        while len(x) > 1:
            half = len(x) // 2
            folded = pair(x[:half], x[half : 2 * half])
            x = np.concatenate([folded, x[2 * half :]])
        return x[0]

    return rule


def _bits(function: np.ufunc) -> Callable[..., Any]:
    def rule(x: Array, *, axes: Axes) -> Array:
        return function.reduce(x, axes, dtype=x.dtype)

    return rule


def _spread(x: Any, like_x: Any, axes: Axes) -> Any:
    """A reduced value repeated over the axes that it lacks."""
    shape = like_x.type.shape
    return broadcast_in_dim(x, shape=shape, broadcast_dimensions=kept_axes(len(shape), axes))


def _extreme_tangent(t: Any, out: Any, x: Any, *, axes: Axes) -> Any:
    """The mean over the elements that equal the extreme one."""
    equal = compare(x, _spread(out, x, axes), direction="EQ")
    mask = select(equal, like(1, t), like(0, t))
    return divide(reduce_sum(multiply(t, mask), axes=axes), reduce_sum(mask, axes=axes))


def _prod_tangent(t: Any, out: Any, x: Any, *, axes: Axes) -> Any:
    """Each tangent times the product of all other elements, which is never found by a division."""
    kept = kept_axes(x.type.ndim, axes)
    shape = tuple([x.type.shape[i] for i in kept])
    whole = (*shape, math.prod(x.type.shape[i] for i in axes))
    flat = [reshape(transpose(y, permutation=kept + axes), shape=whole) for y in (t, x)]
    others = multiply(_product_before(flat[1], False), _product_before(flat[1], True))
    return reduce_sum(multiply(flat[0], others), axes=(len(shape),))


def _product_before(x: Any, reverse: bool) -> Any:
    """The product of the elements before each one along the last axis, or after it."""
    *rest, n = x.type.shape
    zeros, last = (0,) * len(rest), len(rest)
    low, high = ((*zeros, -1), (*zeros, 1)) if reverse else ((*zeros, 1), (*zeros, -1))
    if n == 0:
        return x
    moved = registry["pad"](x, like(1, x), low=low, high=high, interior=(0,) * (last + 1))
    return registry["cumprod"](moved, axis=last, reverse=reverse)


reduce_sum = _reduction(
    "reduce_sum", _folded(np.add), "add", ANY, exact="biu",
    tangent=("linear",), transpose=(lambda ct, x, *, axes: _spread(ct, x, axes),),
)  # fmt: skip
reduce_prod = _reduction("reduce_prod", _folded(np.multiply), "multiply", ANY, exact="biu", tangent=(_prod_tangent,))
reduce_max = _reduction("reduce_max", _extreme(greater, lowest), "maximum", ANY, exact="biuf", tangent=(_extreme_tangent,))
reduce_min = _reduction("reduce_min", _extreme(smaller, highest), "minimum", ANY, exact="biuf", tangent=(_extreme_tangent,))
reduce_and = _reduction("reduce_and", _bits(np.bitwise_and), "and", BITS, exact=True)
reduce_or = _reduction("reduce_or", _bits(np.bitwise_or), "or", BITS, exact=True)
reduce_xor = _reduction("reduce_xor", _bits(np.bitwise_xor), "xor", BITS, exact=True)


def _arg_type(name: str) -> Callable[..., ArrayType]:
    def result_type(x: ArrayType, *, axes: Axes, index_dtype: DType) -> ArrayType:
        require(name, x, ORDERED | BOOL)
        checked_axes(name, axes, x.ndim)
        require(name, ArrayType((), index_dtype), INTEGER)
        if len(axes) != 1:
            raise errors.OneAxisOnly(op=name, axes=axes)
        if x.shape[axes[0]] == 0:
            raise errors.EmptyAxis(op=name, shape=x.shape, axis=axes[0])
        return ArrayType(reduced_shape(x.shape, axes), index_dtype)

    return result_type


def _arg(function: Callable[..., Any]) -> Callable[..., Any]:
    """The first NaN, or else the first extreme element."""

    def rule(x: Array, *, axes: Axes, index_dtype: DType) -> Array:
        x = x.astype(np.float32) if x.dtype in HALF else x
        found = np.asarray(function(x, axes[0]))
        if x.shape[axes[0]] - 1 > highest(index_dtype):
            return _least_wrapped(x, found, axes[0], index_dtype)
        return found.astype(index_dtype)

    return rule


def _least_wrapped(x: Array, place: Array, axis: int, index_dtype: DType) -> Array:
    """As of the expansion, where indices are too many for their dtype: the least of those that are found, as it wraps."""
    best = np.take_along_axis(x, np.expand_dims(place, axis), axis)
    index = np.arange(x.shape[axis]).astype(index_dtype).reshape([-1 if i == axis else 1 for i in range(x.ndim)])
    return np.where((x == best) | (x != x), index, highest(index_dtype)).min(axis)


def _arg_expand(extreme: Op) -> Callable[..., Any]:
    """The least index among the elements that equal the extreme one, or are NaN."""

    def expand(x: Any, *, axes: Axes, index_dtype: DType) -> Any:
        shape = x.type.shape
        best = broadcast_in_dim(extreme(x, axes=axes), shape=shape, broadcast_dimensions=kept_axes(x.type.ndim, axes))
        found = compare(x, best, direction="EQ")
        if kind(x.type.dtype) == "f":
            found = or_(found, compare(x, x, direction="NE"))
        index = iota(shape=shape, dtype=index_dtype, dimension=axes[0])
        return reduce_min(select(found, index, fixed(highest(index_dtype), index_dtype)), axes=axes)

    return expand


argmax = Op(
    "argmax", _arg_type("argmax"), _arg(np.argmax), expand=_arg_expand(reduce_max), unite=unite_kept, exact=True,
    kind="reduce",
    tangent=(None,),
    batch=lambda batch, axes, values, /, **params: _reduce_batch(argmax, axes, values, **params),
)  # fmt: skip
argmin = Op(
    "argmin", _arg_type("argmin"), _arg(np.argmin), expand=_arg_expand(reduce_min), unite=unite_kept, exact=True,
    kind="reduce",
    tangent=(None,),
    batch=lambda batch, axes, values, /, **params: _reduce_batch(argmin, axes, values, **params),
)  # fmt: skip
