"""Operators and methods of arrays and traced values; importing this module installs them."""

from __future__ import annotations

import functools
import importlib
import operator
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from celadon import errors, tracing, vocabulary as ops
from celadon.array import Array, from_host
from celadon.facade import Lazy
from celadon.numpy.dtypes import requested, strong
from celadon.program import Literal
from celadon.tracing import Value
from celadon.types import kind

if TYPE_CHECKING:
    from celadon.numpy import comparison, creation, indexing, ordering, reductions, rounding, selection, shapes, taking
else:  # most programs use few families of methods
    comparison, creation = Lazy("celadon.numpy.comparison"), Lazy("celadon.numpy.creation")
    indexing, ordering = Lazy("celadon.numpy.indexing"), Lazy("celadon.numpy.ordering")
    reductions, rounding = Lazy("celadon.numpy.reductions"), Lazy("celadon.numpy.rounding")
    selection, shapes, taking = (Lazy(f"celadon.numpy.{name}") for name in ("selection", "shapes", "taking"))

Binary = Callable[[Any, Any], Any]


class _AtFirstUse:
    """A method that is found when it is first asked for, and from then on stands in its own place."""

    def __init__(self, name: str, find: Callable[[], Any]):
        self.name, self.find = name, find

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        found = self.find()
        setattr(Value, self.name, found)
        return found.__get__(instance, owner)


def _function(place: str) -> Any:
    module, _, name = place.partition(".")
    return getattr(importlib.import_module(f"celadon.numpy.{module}"), name)


def _property(place: str) -> property:
    return property(_function(place))


_TAKEN = (Value, Literal, bool, int, float, complex, np.ndarray, np.generic)


def _takes(other: Any) -> bool:
    """Whether an operator of ours is for the other operand; else Python asks the other one."""
    return isinstance(other, _TAKEN) or hasattr(other, "__jax_array__")


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


_BINARY = {
    "add": "elementwise.add", "sub": "elementwise.subtract", "mul": "elementwise.multiply",
    "truediv": "elementwise.divide", "floordiv": "division.floor_divide", "mod": "division.remainder",
    "divmod": "division.divmod", "pow": "powers.power", "matmul": "contractions.matmul",
    "and": "comparison.bitwise_and", "or": "comparison.bitwise_or", "xor": "comparison.bitwise_xor",
    "lshift": "comparison.left_shift", "rshift": "comparison.right_shift",
}  # fmt: skip
_COMPARISONS = {
    "eq": "comparison.equal", "ne": "comparison.not_equal", "lt": "comparison.less", "le": "comparison.less_equal",
    "gt": "comparison.greater", "ge": "comparison.greater_equal",
}  # fmt: skip


def _operators() -> dict[str, Any]:
    places = {(name, 0): place for name, place in (_BINARY | _COMPARISONS).items()}
    places |= {(f"r{name}", 1): place for name, place in _BINARY.items()}
    found: dict[str, Any] = {}
    for (name, side), place in places.items():
        found[f"__{name}__"] = _AtFirstUse(f"__{name}__", functools.partial(_operator_of, place, side))
    return found


def _operator_of(place: str, side: int) -> Any:
    return _operator(_function(place))[side]


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


def _compress(self: Any, condition: Any, axis: int | None = None, **options: Any) -> Any:
    return taking.compress(condition, self, axis, **options)


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


_OWN: dict[str, Any] = {
    "__setitem__": _setitem, "__iter__": _iter, "__contains__": _contains, "__round__": _round,
    "__array_namespace__": _array_namespace, "argsort": _argsort, "astype": _astype, "clip": _clip, "compress": _compress,
    "copy": _copy, "flat": property(_iter), "flatten": _flatten, "reshape": _reshape, "take": _take, "to_device": _identity,
    "transpose": _transpose, "view": _view,
}  # fmt: skip
_FUNCTIONS = {
    "__abs__": "elementwise.abs", "__neg__": "elementwise.negative", "__pos__": "elementwise.positive",
    "__invert__": "comparison.bitwise_not", "__getitem__": "indexing.getitem",
    "all": "reductions.all", "any": "reductions.any", "argmax": "reductions.argmax", "argmin": "reductions.argmin",
    "argpartition": "ordering.argpartition", "choose": "selection.choose", "conj": "elementwise.conj",
    "conjugate": "elementwise.conjugate", "cumprod": "cumulative.cumprod", "cumsum": "cumulative.cumsum",
    "diagonal": "taking.diagonal", "dot": "contractions.dot", "max": "reductions.max", "mean": "reductions.mean",
    "min": "reductions.min", "nonzero": "positions.nonzero", "prod": "reductions.prod", "ptp": "reductions.ptp",
    "ravel": "shapes.ravel", "repeat": "joining.repeat", "round": "rounding.round", "searchsorted": "ordering.searchsorted",
    "sort": "ordering.sort", "squeeze": "shapes.squeeze", "std": "statistics.std", "sum": "reductions.sum",
    "swapaxes": "shapes.swapaxes", "trace": "contractions.trace", "var": "statistics.var",
}  # fmt: skip
_PROPERTIES = {
    "T": "shapes.transpose", "at": "updates.at", "imag": "elementwise.imag", "mT": "shapes.matrix_transpose",
    "real": "elementwise.real",
}  # fmt: skip


def install() -> None:
    """Give arrays and traced values their operators and methods."""
    functions = {name: _AtFirstUse(name, functools.partial(_function, place)) for name, place in _FUNCTIONS.items()}
    properties = {name: _AtFirstUse(name, functools.partial(_property, place)) for name, place in _PROPERTIES.items()}
    tracing.install({**_operators(), **_OWN, **functions, **properties})


install()
