"""Padding: an array with more elements before and after along each axis, made in one of several ways."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from celadon import errors, vocabulary as ops
from celadon.numpy.joining import part
from celadon.numpy.promotion import array, converted, operand
from celadon.numpy.ranges import linspace
from celadon.types import is_inexact
from celadon.vocabulary.call import named

Widths = tuple[tuple[int, int], ...]


def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    """An array with elements added before and after along each axis.

    Args: pad_width: a number, a pair (before, after), or a pair for each axis; mode: "constant" (constant_values=0), "edge",
    "reflect" or "symmetric" (reflect_type="even" or "odd"), "wrap", "empty", "linear_ramp" (end_values=0), "maximum",
    "minimum", "mean" or "median" (stat_length=None), or a function of (vector, widths, axis, options).

    >>> pad(np.array([1, 2]), (1, 2))
    Array([0, 1, 2, 0, 0], dtype=int32)
    """
    x = _given(array)
    widths = _widths(pad_width, x.type.ndim)
    if callable(mode):
        raise errors.OptionUnknown(function="pad", argument="mode", value=mode, allowed=", ".join(_MODES))
    if mode not in _MODES:
        raise errors.OptionUnknown(function="pad", argument="mode", value=mode, allowed=", ".join(_MODES))
    unknown = set(kwargs) - set(_OPTIONS.get(mode, ()))
    if unknown:
        raise errors.OptionUnknown(
            function="pad", argument="option", value=sorted(unknown)[0], allowed=", ".join(_OPTIONS.get(mode, ())) or "none"
        )
    return _MODES[mode](x, widths, **kwargs)


def _given(x: Any) -> Any:
    return array(x, "pad")


def _pairs(value: Any, ndim: int) -> list[Any]:
    """A value for each side of each axis, out of one, one pair, or a pair for each axis."""
    if isinstance(value, dict):
        found: list[Any] = [(0, 0)] * ndim
        for axis, pair in value.items():
            found[axis] = pair if isinstance(pair, tuple | list) else (pair, pair)
        return found
    if not isinstance(value, tuple | list):
        value = np.asarray(value).tolist() if isinstance(value, np.ndarray) else value
    if not isinstance(value, tuple | list):
        return [(value, value)] * ndim
    rows = [tuple(v) if isinstance(v, tuple | list) else v for v in value]
    if not any(isinstance(row, tuple) for row in rows):
        pair = (rows[0], rows[-1])
        return [pair] * ndim if len(rows) <= 2 else [(row, row) for row in rows]
    full = [(row[0], row[-1]) if isinstance(row, tuple) else (row, row) for row in rows]
    return full * ndim if len(full) == 1 else full


def _widths(pad_width: Any, ndim: int) -> Widths:
    pairs = _pairs(pad_width, ndim)
    if len(pairs) != ndim or any(int(n) < 0 for pair in pairs for n in pair):
        raise errors.DimensionsUnfit(
            function="pad", argument="pad_width", value=pad_width, shape=("?",) * ndim,
            reason="a pair of numbers of at least 0 is needed for each axis",
        )  # fmt: skip
    return tuple((int(before), int(after)) for before, after in pairs)


def _constant(x: Any, widths: Widths, constant_values: Any = 0) -> Any:
    values = _pairs(constant_values, x.type.ndim)
    flat = [v for pair in values for v in pair]
    if all(v is flat[0] for v in flat):
        return _pad_constant(x, operand(flat[0] if flat else 0), widths=widths)
    for axis, (low, high) in enumerate(values):
        for side, value in ((0, low), (1, high)):
            x = _pad_side(x, converted(operand(value), x.type.dtype), axis, side, widths[axis][side])
    return x


@named("_pad")
def _pad_constant(x: Any, value: Any, *, widths: Widths) -> Any:
    low, high = tuple(a for a, _ in widths), tuple(b for _, b in widths)
    return ops.pad(x, converted(value, x.type.dtype, x.type.weak_type), low=low, high=high, interior=(0,) * len(low))


def _pad_side(x: Any, value: Any, axis: int, side: int, width: int) -> Any:
    ends = [[0] * x.type.ndim, [0] * x.type.ndim]
    ends[side][axis] = width
    return ops.pad(x, value, low=tuple(ends[0]), high=tuple(ends[1]), interior=(0,) * x.type.ndim)


def _empty(x: Any, widths: Widths) -> Any:
    return _constant(x, widths)


Ends = Callable[[Any, int, int, int], tuple[Any, Any]]


def _along_axes(x: Any, widths: Widths, ends: Ends) -> Any:
    """Axis by axis, what comes before and after is computed and joined."""
    for axis, (before, after) in enumerate(widths):
        if before or after:
            low, high = ends(x, axis, before, after)
            parts = [p for p, n in ((low, before), (x, 1), (high, after)) if n]
            x = ops.concatenate(*parts, dimension=axis) if len(parts) > 1 else x
    return x


def _repeated(edge: Any, axis: int, count: int) -> Any:
    shape = tuple(count if i == axis else n for i, n in enumerate(edge.type.shape))
    return ops.broadcast_in_dim(edge, shape=shape, broadcast_dimensions=tuple(range(len(shape))))


def _edge(x: Any, widths: Widths) -> Any:
    def ends(x: Any, axis: int, before: int, after: int) -> tuple[Any, Any]:
        extent = _not_empty(x, axis)
        first, last = part(x, axis, 0, 1), part(x, axis, extent - 1, extent)
        return _repeated(first, axis, before), _repeated(last, axis, after)

    return _along_axes(x, widths, ends)


def _not_empty(x: Any, axis: int) -> int:
    if not x.type.shape[axis]:
        raise errors.DimensionsUnfit(
            function="pad", argument="mode", value="of an empty axis", shape=x.type.shape, reason="there is no edge to copy"
        )
    return x.type.shape[axis]


def _wrap(x: Any, widths: Widths) -> Any:
    def ends(x: Any, axis: int, before: int, after: int) -> tuple[Any, Any]:
        extent = _not_empty(x, axis)
        whole = [x] * (-(-max(before, after) // extent))
        many = ops.concatenate(*whole, dimension=axis) if len(whole) > 1 else x
        total = many.type.shape[axis]
        return part(many, axis, total - before, total), part(many, axis, 0, after)

    return _along_axes(x, widths, ends)


def _mirrored(offset: int) -> Any:
    def pad(x: Any, widths: Widths, reflect_type: str = "even") -> Any:
        if reflect_type not in ("even", "odd"):
            raise errors.OptionUnknown(
                function="pad", argument="reflect_type", value=reflect_type, allowed="'even' or 'odd'"
            )
        for axis, (before, after) in enumerate(widths):
            for side, width in ((0, before), (1, after)):
                x = _mirror_side(x, axis, side, width, (offset, reflect_type == "odd"))
        return x

    return pad


def _mirror_side(x: Any, axis: int, side: int, width: int, how: tuple[int, bool]) -> Any:
    """Reflect as much as there is at a time, until the width is reached."""
    offset, odd = how
    _not_empty(x, axis)
    while width > 0:
        extent = x.type.shape[axis]
        if extent == 1 and offset:
            edge = _repeated(x, axis, width)
            return ops.concatenate(*((edge, x) if side == 0 else (x, edge)), dimension=axis)
        count = min(extent - offset, width)
        start = offset if side == 0 else extent - offset - count
        mirrored = ops.reverse(part(x, axis, start, start + count), dimensions=(axis,))
        if odd:
            edge = part(x, axis, 0, 1) if side == 0 else part(x, axis, extent - 1, extent)
            mirrored = 2 * edge - mirrored
        x = ops.concatenate(*((mirrored, x) if side == 0 else (x, mirrored)), dimension=axis)
        width -= count
    return x


def _linear_ramp(x: Any, widths: Widths, end_values: Any = 0) -> Any:
    values = _pairs(end_values, x.type.ndim)

    def ends(x: Any, axis: int, before: int, after: int) -> tuple[Any, Any]:
        low, high = values[axis]
        extent = _not_empty(x, axis)
        first, last = part(x, axis, 0, 1), part(x, axis, extent - 1, extent)
        return _ramp(low, first, axis, before), ops.reverse(_ramp(high, last, axis, after), dimensions=(axis,))

    return _along_axes(x, widths, ends)


def _ramp(end: Any, edge: Any, axis: int, count: int) -> Any:
    shape = tuple(n for i, n in enumerate(edge.type.shape) if i != axis)
    return linspace(end, ops.reshape(edge, shape=shape), count, endpoint=False, dtype=edge.type.dtype, axis=axis)


def _statistic(name: str) -> Any:
    def pad(x: Any, widths: Widths, stat_length: Any = None) -> Any:
        lengths = _pairs(stat_length, x.type.ndim) if stat_length is not None else [(None, None)] * x.type.ndim

        def ends(x: Any, axis: int, before: int, after: int) -> tuple[Any, Any]:
            extent = _not_empty(x, axis)
            low, high = (extent if n is None else min(int(n), extent) for n in lengths[axis])
            first, last = part(x, axis, 0, low), part(x, axis, extent - high, extent)
            return tuple(
                _repeated(_reduced(name, one, axis), axis, n) for one, n in ((first, before), (last, after))
            )  # pyright: ignore[reportReturnType]

        return _along_axes(x, widths, ends)

    return pad


def _reduced(name: str, x: Any, axis: int) -> Any:
    found = getattr(x, name)(axis=axis, keepdims=True)
    return found if is_inexact(x.type.dtype) or name in ("max", "min") else converted(found.round(), x.type.dtype)


_MODES: dict[str, Any] = {
    "constant": _constant, "edge": _edge, "reflect": _mirrored(1), "symmetric": _mirrored(0), "wrap": _wrap,
    "empty": _empty, "linear_ramp": _linear_ramp, "maximum": _statistic("max"), "minimum": _statistic("min"),
    "mean": _statistic("mean"),
}  # fmt: skip
_OPTIONS: dict[str, tuple[str, ...]] = {
    "constant": ("constant_values",), "reflect": ("reflect_type",), "symmetric": ("reflect_type",),
    "linear_ramp": ("end_values",), "maximum": ("stat_length",), "minimum": ("stat_length",), "mean": ("stat_length",),
}  # fmt: skip
