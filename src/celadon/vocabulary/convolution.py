"""Convolution: products of a kernel with the windows of an array, summed over input features and places of the kernel."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from celadon import errors
from celadon.op import Axis, Op
from celadon.program import Equation
from celadon.types import ArrayType, DType, Shape
from celadon.vocabulary.contract import accumulator, rounded
from celadon.vocabulary.conversion import convert, converted
from celadon.vocabulary.index import zeros_like
from celadon.vocabulary.kinds import checked_axes, same_dtype
from celadon.vocabulary.shape import in_front, reshape, reverse, transpose
from celadon.vocabulary.window import Padding, padded, windows

Array = Any
Axes = tuple[int, ...]
Specs = tuple[Axes, Axes, Axes]  # axes of lhs (batch, feature, *spatial), rhs (out, in, *spatial), result (as lhs)


class Extents(NamedTuple):
    """The extents of a convolution's operands: batch, features in and out, spatial ones of the array and the kernel."""

    batch: int
    features_in: int
    features_out: int
    array: Shape
    kernel: Shape


def extents_of(lhs: Shape, rhs: Shape, specs: Specs) -> Extents:
    """Sorted by the dimension numbers."""
    batch, features_in, *array = (lhs[i] for i in specs[0])
    features_out, _, *kernel = (rhs[i] for i in specs[1])
    return Extents(batch, features_in, features_out, tuple(array), tuple(kernel))


def outputs(extents: Extents, params: dict[str, Any]) -> Shape:
    """The spatial extents of the result: C25."""
    dilations = zip(params["lhs_dilation"], params["rhs_dilation"], strict=True)
    return tuple(map(windows, extents.array, extents.kernel, params["window_strides"], dilations, params["padding"]))


def _type(
    lhs: ArrayType,
    rhs: ArrayType,
    *,
    window_strides: Axes,
    padding: Padding,
    lhs_dilation: Axes,
    rhs_dilation: Axes,
    dimension_numbers: Specs,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: Any = None,
    preferred_element_type: DType | None = None,
) -> ArrayType:
    """C1 to C27."""
    dtype = same_dtype("convolution", lhs, rhs)
    _check(lhs.ndim == rhs.ndim >= 2, f"{lhs} and {rhs} must have equally many axes, at least two")
    for spec in dimension_numbers:
        checked_axes("convolution", spec, lhs.ndim)
        _check(len(spec) == lhs.ndim, f"{spec} must name each of {lhs.ndim} axes")
    found = extents_of(lhs.shape, rhs.shape, dimension_numbers)
    steps = {"window_strides": window_strides, "lhs_dilation": lhs_dilation, "rhs_dilation": rhs_dilation}
    for name, values in {**steps, "padding": padding}.items():
        _check(len(values) == lhs.ndim - 2, f"{name} must have one entry for each of {lhs.ndim - 2} spatial axes")
    for name, values in steps.items():
        if min(values, default=1) < 1:
            raise errors.WindowNotPositive(param=name, values=values)
    _check_groups(found, rhs.shape[dimension_numbers[1][1]], feature_group_count, batch_group_count)
    for n, d, (low, high) in zip(found.array, lhs_dilation, padding, strict=True):
        _check(max((n - 1) * d + 1, 0) + low + high >= 0, f"padding {padding} cuts off more than there is")
    shape = [0] * lhs.ndim
    spatial = outputs(found, {**steps, "padding": padding})
    for axis, n in zip(dimension_numbers[2], (found.batch // batch_group_count, found.features_out, *spatial), strict=True):
        shape[axis] = n
    weak = lhs.weak_type and rhs.weak_type and preferred_element_type is None
    return ArrayType(tuple(shape), preferred_element_type or dtype, weak)


def _check_groups(found: Extents, features_in: int, feature_groups: int, batch_groups: int) -> None:
    """C10, C11, C14 to C16, C21 to C23."""
    _check(min(feature_groups, batch_groups) >= 1, "groups are counted from 1")
    _check(1 in (feature_groups, batch_groups), "there can't be groups of features and of batches at once")
    _check(found.batch % batch_groups == 0, f"{batch_groups} batch groups don't divide a batch of {found.batch}")
    fits = found.features_in == features_in * feature_groups
    _check(fits, f"{found.features_in} features in {feature_groups} groups don't fit a kernel for {features_in}")
    groups = max(feature_groups, batch_groups)
    _check(found.features_out % groups == 0, f"{groups} groups don't divide {found.features_out} output features")


def _check(holds: bool, rule: str) -> None:
    if not holds:
        raise errors.ConvolutionMismatch(rule=rule)


def _convolution(
    lhs: Array, rhs: Array, *, dimension_numbers: Specs, feature_group_count: int = 1, batch_group_count: int = 1,
    precision: Any = None, preferred_element_type: DType | None = None, **params: Any,
) -> Array:  # fmt: skip
    result_dtype = preferred_element_type or lhs.dtype
    dtype = accumulator(lhs.dtype, result_dtype)
    x = np.transpose(converted(lhs, new_dtype=dtype), dimension_numbers[0])
    kernel = np.transpose(converted(rhs, new_dtype=dtype), dimension_numbers[1])
    spatial = outputs(extents_of(lhs.shape, rhs.shape, dimension_numbers), params)
    groups, batch = max(feature_group_count, batch_group_count), x.shape[0] // batch_group_count
    columns = _grouped(_columns(x, kernel.shape[2:], spatial, params), feature_group_count, batch_group_count)
    kernel = kernel.reshape(groups, kernel.shape[0] // groups, columns.shape[2])
    product = np.matmul(columns, np.swapaxes(kernel, 1, 2))
    found = product.reshape(groups, batch, *spatial, kernel.shape[1])
    found = np.moveaxis(found, (0, -1), (1, 2)).reshape(batch, groups * kernel.shape[1], *spatial)
    return rounded(np.transpose(found, np.argsort(dimension_numbers[2])), result_dtype)


def _columns(x: Array, kernel: Shape, spatial: Shape, params: dict[str, Any]) -> Array:
    """The windows of x, as axes batch, features, outputs, places of the kernel."""
    zero = x.dtype.type(0)
    full = padded(x, zero, (1, 1, *params["lhs_dilation"]), ((0, 0), (0, 0), *params["padding"]))
    strides = full.strides[2:]
    steps = [a * b for a, b in zip(strides, params["window_strides"], strict=True)]
    inner = [a * b for a, b in zip(strides, params["rhs_dilation"], strict=True)]
    if not (math.prod(spatial) and math.prod(kernel) and x.size):
        return np.zeros(x.shape[:2] + spatial + kernel, x.dtype)
    return np.lib.stride_tricks.as_strided(
        full, x.shape[:2] + spatial + kernel, (*full.strides[:2], *steps, *inner), writeable=False
    )


def _grouped(columns: Array, feature_groups: int, batch_groups: int) -> Array:
    """One matrix a group: a row for each output of each batch, a column for each feature and place of the kernel."""
    batch, features, *rest = columns.shape
    rank = len(rest) // 2
    parts = columns.reshape(batch_groups, batch // batch_groups, feature_groups, features // feature_groups, *rest)
    order = (0, 2, 1, *range(4, 4 + rank), 3, *range(4 + rank, 4 + 2 * rank))
    rows = batch // batch_groups * math.prod(rest[:rank])
    width = features // feature_groups * math.prod(rest[rank:])
    return np.transpose(parts, order).reshape(batch_groups * feature_groups, rows, width)


def _unite(equation: Equation) -> Iterable[tuple[Axis, Axis]]:
    """Batches, input features and output features with each other, where there is one group of them."""
    lhs, rhs, out = equation.params["dimension_numbers"]
    pairs: list[tuple[Axis, Axis]] = [((1, rhs[0]), (2, out[1]))]
    if equation.params.get("batch_group_count", 1) == 1:
        pairs.append(((0, lhs[0]), (2, out[0])))
    if equation.params.get("feature_group_count", 1) == 1:
        pairs.append(((0, lhs[1]), (1, rhs[1])))
    return pairs


def _split(x: Any, axis: int, *extents: int) -> Any:
    """An axis parted into several."""
    shape = x.type.shape
    return reshape(x, shape=(*shape[:axis], *extents, *shape[axis + 1 :]))


def _joined(x: Any, axis: int, count: int) -> Any:
    """Some axes side by side as one."""
    shape = x.type.shape
    return reshape(x, shape=(*shape[:axis], math.prod(shape[axis : axis + count]), *shape[axis + count :]))


def _regrouped(x: Any, source: int, target: int, groups: int) -> Any:
    """The groups that one axis counts first are counted first by another one."""
    if groups == 1:
        return x
    parts = _split(x, source, groups, x.type.shape[source] // groups)
    order = [i for i in range(parts.type.ndim) if i != source]
    order.insert(target, source)
    return _joined(transpose(parts, permutation=tuple(order)), target, 2)


def _exchanged(spec: Axes) -> Axes:
    return (spec[1], spec[0], *spec[2:])


def _reaches(extents: Sequence[int], dilation: Sequence[int]) -> list[int]:
    return [(n - 1) * d + 1 if n else 0 for n, d in zip(extents, dilation, strict=True)]


def _back_to_lhs(ct: Any, lhs: Any, rhs: Any, *, dimension_numbers: Specs, precision: Any = None, **params: Any) -> Any:
    """The cotangent spread out by the strides, convolved with the kernel turned round."""
    left, right, out = dimension_numbers
    features, batches = params.get("feature_group_count", 1), params.get("batch_group_count", 1)
    found, spatial = extents_of(lhs.type.shape, rhs.type.shape, dimension_numbers), [ct.type.shape[i] for i in out[2:]]
    if not ct.type.size or not rhs.type.size:
        return zeros_like(lhs)
    kernel = _regrouped(reverse(rhs, dimensions=right[2:]), right[0], right[1], max(features, batches))
    inside, reach = _reaches(found.array, params["lhs_dilation"]), _reaches(found.kernel, params["rhs_dilation"])
    spread = _reaches(spatial, params["window_strides"])
    low = [r - 1 - before for r, (before, _) in zip(reach, params["padding"], strict=True)]
    high = [n + r - 1 - s - a for n, r, s, a in zip(inside, reach, spread, low, strict=True)]
    back = _convolved(ct, kernel, lhs, window_strides=params["lhs_dilation"], lhs_dilation=params["window_strides"],
                      rhs_dilation=params["rhs_dilation"], padding=tuple(zip(low, high, strict=True)), precision=precision,
                      dimension_numbers=(out, _exchanged(right), left),
                      feature_group_count=max(features, batches))  # fmt: skip
    return _regrouped(back, left[1], left[0], batches)


def _back_to_rhs(ct: Any, lhs: Any, rhs: Any, *, dimension_numbers: Specs, precision: Any = None, **params: Any) -> Any:
    """The array convolved with the cotangent, batches and features exchanged."""
    left, right, out = dimension_numbers
    features, batches = params.get("feature_group_count", 1), params.get("batch_group_count", 1)
    found, spatial = extents_of(lhs.type.shape, rhs.type.shape, dimension_numbers), [ct.type.shape[i] for i in out[2:]]
    if not ct.type.size or not lhs.type.size:
        return zeros_like(rhs)
    inside, reach = _reaches(found.array, params["lhs_dilation"]), _reaches(found.kernel, params["rhs_dilation"])
    spread = _reaches(spatial, params["window_strides"])
    low = [before for before, _ in params["padding"]]
    high = [r + s - 1 - n - a for n, r, s, a in zip(inside, reach, spread, low, strict=True)]
    return _convolved(lhs, ct, rhs, window_strides=params["rhs_dilation"], lhs_dilation=params["lhs_dilation"],
                      rhs_dilation=params["window_strides"], padding=tuple(zip(low, high, strict=True)), precision=precision,
                      dimension_numbers=(_exchanged(left), _exchanged(out), _exchanged(right)),
                      feature_group_count=batches, batch_group_count=features)  # fmt: skip


def _convolved(x: Any, y: Any, like: Any, *, precision: Any, **params: Any) -> Any:
    """In the wider of two dtypes, converted to a third one's."""
    dtype = max(x.type.dtype, y.type.dtype, key=lambda one: one.itemsize)
    x, y = (v if v.type.dtype == dtype else convert(v, new_dtype=dtype) for v in (x, y))
    pair = (precision[1], precision[0]) if isinstance(precision, tuple) else precision
    found = convolution(x, y, **params, precision=pair, preferred_element_type=None)
    return found if dtype == like.type.dtype else convert(found, new_dtype=like.type.dtype)


def _folded(x: Any, own: int, axis: int, groups: int) -> Any:
    """A batch axis put into one axis of the members, behind the groups that it counts first."""
    whole = _split(in_front(x, own, 0), axis + 1, groups, (x.type.shape[axis + (own <= axis)]) // groups)
    order = list(range(1, whole.type.ndim))
    order.insert(axis + 1, 0)
    return _joined(transpose(whole, permutation=tuple(order)), axis, 3)


def _unfolded(x: Any, axis: int, size: int, groups: int) -> Any:
    """The inverse: the batch axis comes in front."""
    parts = _split(x, axis, groups, size, x.type.shape[axis] // (groups * size))
    order = (axis + 1, *(i for i in range(parts.type.ndim) if i != axis + 1))
    return _joined(transpose(parts, permutation=order), axis + 1, 2)


def _batch(batch: Any, axes: Sequence[Any], values: Sequence[Any], *, dimension_numbers: Specs, **params: Any) -> Any:
    """A batch axis of the array is part of its batch, one of the kernel of its output features, one of both of the groups."""
    (lhs, rhs), (own, other), size = values, axes, batch.size
    left, right, out = dimension_numbers
    features, batches = params.get("feature_group_count", 1), params.get("batch_group_count", 1)
    if other is None:
        found = convolution(_folded(lhs, own, left[0], batches), rhs, dimension_numbers=dimension_numbers, **params)
        return _unfolded(found, out[0], size, 1), 0
    if own is None:
        kernel = _folded(rhs, other, right[0], max(features, batches))
        found = convolution(lhs, kernel, dimension_numbers=dimension_numbers, **params)
        return _unfolded(found, out[1], size, max(features, batches)), 0
    counted, axis = ("batch_group_count", left[0]) if batches > 1 else ("feature_group_count", left[1])
    params[counted] = size * max(features, batches)
    found = convolution(
        _folded(lhs, own, axis, 1), _folded(rhs, other, right[0], 1), dimension_numbers=dimension_numbers, **params
    )
    return _unfolded(found, out[1], size, 1), 0


convolution = Op(
    "convolution", _type, _convolution, unite=_unite, numbers=("padding", "feature_group_count", "batch_group_count"),
    exact="biu", kind="contract", tangent=("multilinear",), transpose=(_back_to_lhs, _back_to_rhs), batch=_batch,
)  # fmt: skip
