"""Operators and methods of arrays and traced values; importing this module installs them."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from celadon import errors, tracing, vocabulary as ops
from celadon.array import Array, from_host
from celadon.numpy import (
    comparison,
    contractions,
    creation,
    cumulative,
    division,
    elementwise,
    indexing,
    joining,
    ordering,
    positions,
    powers,
    reductions,
    rounding,
    selection,
    shapes,
    statistics,
    taking,
    updates,
)
from celadon.numpy.dtypes import requested, strong
from celadon.program import Literal
from celadon.tracing import Value
from celadon.types import kind

Binary = Callable[[Any, Any], Any]


def _takes(other: Any) -> bool:
    """Whether an operator of ours is for the other operand; else Python asks the other one."""
    if isinstance(other, Value | Literal | bool | int | float | complex | np.ndarray | np.generic):
        return True
    return hasattr(other, "__jax_array__")


def _operator(function: Binary) -> tuple[Any, Any]:
    """The operator and its reflection."""

    def forward(self: Any, other: Any) -> Any:
        if not _takes(other):
            return _refused(other)
        return function(self, other)

    def reflected(self: Any, other: Any) -> Any:
        if not _takes(other):
            return _refused(other)
        return function(other, self)

    return forward, reflected


def _refused(other: Any) -> Any:
    if isinstance(other, list | tuple):
        raise errors.SequenceNotArray(function="an operator", type=type(other).__name__)
    return NotImplemented


_BINARY: dict[str, Binary] = {
    "add": elementwise.add, "sub": elementwise.subtract, "mul": elementwise.multiply, "truediv": elementwise.divide,
    "floordiv": division.floor_divide, "mod": division.remainder, "divmod": division.divmod, "pow": powers.power,
    "matmul": contractions.matmul, "and": comparison.bitwise_and, "or": comparison.bitwise_or, "xor": comparison.bitwise_xor,
    "lshift": comparison.left_shift, "rshift": comparison.right_shift,
}  # fmt: skip
_COMPARISONS: dict[str, Binary] = {
    "eq": comparison.equal, "ne": comparison.not_equal, "lt": comparison.less, "le": comparison.less_equal,
    "gt": comparison.greater, "ge": comparison.greater_equal,
}  # fmt: skip


def _operators() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, function in _BINARY.items():
        found[f"__{name}__"], found[f"__r{name}__"] = _operator(function)
    for name, function in _COMPARISONS.items():
        found[f"__{name}__"] = _operator(function)[0]
    return found


def _astype(self: Any, dtype: Any, copy: bool = False, device: Any = None) -> Any:
    return creation.astype(self, dtype)


def _reshape(self: Any, *args: Any, order: str = "C", out_sharding: Any = None) -> Any:
    shape = args[0] if len(args) == 1 and isinstance(args[0], tuple | list | np.ndarray) else args
    return shapes.reshape(self, shape, order)


def _transpose(self: Any, *args: Any) -> Any:
    axes = args[0] if len(args) == 1 and (args[0] is None or isinstance(args[0], tuple | list)) else args or None
    return shapes.transpose(self, axes)


def _flatten(self: Any, order: str = "C", *, out_sharding: Any = None) -> Any:
    return shapes.ravel(self, order)


def _clip(self: Any, min: Any = None, max: Any = None) -> Any:
    return selection.clip(self, min, max)


def _take(
    self: Any, indices: Any, axis: int | None = None, out: None = None, mode: str | None = None,
    unique_indices: bool = False, indices_are_sorted: bool = False, fill_value: Any = None,
) -> Any:  # fmt: skip
    return taking.take(self, indices, axis, out, mode, unique_indices, indices_are_sorted, fill_value)


def _view(self: Any, dtype: Any = None, type: None = None) -> Any:
    """The same bits, read as another dtype; the last axis grows or shrinks with its size."""
    wanted = requested(dtype, np.float64)
    given, size = self.type.dtype, wanted.itemsize
    if kind(given) == "b" or kind(wanted) == "b":
        return ops.bitcast_convert(strong(self, np.dtype(np.uint8)), new_dtype=np.dtype(np.uint8)).astype(wanted)
    if given.itemsize == size:
        return ops.bitcast_convert(self, new_dtype=wanted)
    if not self.type.shape or self.type.shape[-1] * given.itemsize % size:
        raise errors.DimensionsUnfit(
            function="view", argument="dtype", value=wanted, shape=self.type.shape, reason="its size does not fit the last axis"
        )
    if given.itemsize < size:
        count = size // given.itemsize
        parts = shapes.reshape(self, (*self.type.shape[:-1], -1, count))
        return ops.bitcast_convert(parts, new_dtype=wanted)
    found = ops.bitcast_convert(self, new_dtype=wanted)
    return shapes.reshape(found, (*self.type.shape[:-1], -1))


def _copy(self: Any) -> Any:
    return from_host(np.array(self.host), self.type.weak_type) if type(self) is Array else self


def _setitem(self: Any, key: Any, value: Any) -> None:
    raise errors.ArrayImmutable(type=self.type)


def _contains(self: Any, item: Any) -> bool:
    return bool(reductions.any(comparison.equal(self, item)))


def _iter(self: Any) -> Any:
    if not self.type.shape:
        raise errors.LengthOfScalar(type=self.type)
    return indexing.iterate(self)


def _round(self: Any, ndigits: int | None = None) -> Any:
    return rounding.round(self, 0 if ndigits is None else operator.index(ndigits))


def _argsort(
    self: Any, axis: int | None = -1, *, kind: None = None, order: None = None, stable: bool = True,
    descending: bool = False,
) -> Any:  # fmt: skip
    return ordering.argsort(self, axis, kind=kind, order=order, stable=stable, descending=descending)


def _array_namespace(self: Any, /, *, api_version: str | None = None) -> Any:
    return sys.modules["celadon.numpy"]


def _identity(self: Any, *args: Any) -> Any:
    return self


_METHODS: dict[str, Any] = {
    "__abs__": elementwise.abs, "__neg__": elementwise.negative, "__pos__": elementwise.positive,
    "__invert__": comparison.bitwise_not, "__getitem__": indexing.getitem, "__setitem__": _setitem, "__iter__": _iter,
    "__contains__": _contains, "__round__": _round, "__array_namespace__": _array_namespace,
    "at": property(updates.at),
    "all": reductions.all, "any": reductions.any, "argmax": reductions.argmax, "argmin": reductions.argmin,
    "argpartition": ordering.argpartition, "argsort": _argsort, "astype": _astype, "choose": selection.choose,
    "clip": _clip, "compress": lambda self, condition, axis=None, **options: taking.compress(condition, self, axis, **options),
    "conj": elementwise.conj, "conjugate": elementwise.conjugate, "copy": _copy, "cumprod": cumulative.cumprod,
    "cumsum": cumulative.cumsum, "diagonal": taking.diagonal, "dot": contractions.dot, "flatten": _flatten,
    "max": reductions.max, "mean": reductions.mean, "min": reductions.min, "nonzero": positions.nonzero,
    "prod": reductions.prod, "ptp": reductions.ptp, "ravel": shapes.ravel, "repeat": joining.repeat, "reshape": _reshape,
    "round": rounding.round, "searchsorted": ordering.searchsorted, "sort": ordering.sort, "squeeze": shapes.squeeze,
    "std": statistics.std, "sum": reductions.sum, "swapaxes": shapes.swapaxes, "take": _take, "trace": contractions.trace,
    "transpose": _transpose, "var": statistics.var, "view": _view,
    "T": property(shapes.transpose), "mT": property(shapes.matrix_transpose), "real": property(elementwise.real),
    "imag": property(elementwise.imag), "flat": property(_iter), "to_device": _identity,
}  # fmt: skip


def install() -> None:
    """Give arrays and traced values their operators and methods."""
    tracing.install({**_operators(), **_METHODS})


install()
