"""x.at[key]: an array with some of its elements replaced, or combined with others, by one scatter."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from celadon import errors, vocabulary as ops
from celadon.array import as_array
from celadon.numpy import creation, elementwise, powers, shapes
from celadon.numpy.addresses import Address, address
from celadon.numpy.indexing import getitem
from celadon.numpy.promotion import accept, array, broadcasted, common_shape, converted, operand
from celadon.program import Program, fixed, literal
from celadon.tracing import recorded
from celadon.types import ArrayType, DType, Shape, kind, result_type
from celadon.vocabulary.window import combiner, second

_COMBINED: dict[str, Any] = {
    "set": second, "add": ops.add, "subtract": ops.subtract, "multiply": ops.multiply, "min": ops.minimum, "max": ops.maximum,
}  # fmt: skip
_MODES = {
    "clip": "clip", "fill": "drop", "drop": "drop", "fill_or_drop": "drop", "promise_in_bounds": "drop", "one_hot": "drop",
}  # fmt: skip


def body_of(name: str, dtype: DType) -> Program:
    """The body of a scatter that does "set", "add", "subtract", "multiply", "min" or "max"."""
    return combiner(_COMBINED[name], dtype)


def applied(function: Callable[[Any], Any], type: ArrayType) -> Program:
    """The body of a scatter that applies a function of one scalar, and ignores the update."""
    with recorded("body") as record:
        scalar = type.strong().with_shape(())
        x, _ = record.input(scalar), record.input(scalar)
        found = operand(function(x))
        fits = found.type.weak_type and result_type([found.type, scalar])[0] == scalar.dtype
        body = record.program([converted(found, scalar.dtype) if fits else found])
    if body.captures:
        raise errors.BodyCloses(op="scatter", type=body.captures[0][0].type)
    return body


class At:
    """What x.at is: x.at[key] names elements of x for the methods of Elements."""

    __slots__ = ("array",)

    def __init__(self, array: Any):
        self.array = array

    def __getitem__(self, key: Any) -> Elements:
        return Elements(self.array, key)

    def __repr__(self) -> str:
        return f"{self.array!r}.at"


def _updating(name: str, doc: str, example: str) -> Callable[..., Any]:
    def method(
        self: Elements, values: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None,
        out_sharding: Any = None, wrap_negative_indices: bool = True,
    ) -> Any:  # fmt: skip
        place = address(self.array, self.key, wrap_negative_indices)
        flags = _flags(place, mode, indices_are_sorted, unique_indices)
        return _updated(self.array, place, name, values, flags)

    call, _, shown = example.partition(" == ")
    method.__name__, method.__qualname__, method.__module__ = name, f"Elements.{name}", __name__
    method.__doc__ = f"{doc}\n\n        >>> as_array(np.int32([4, 5, 6])).at[1].{call}\n        {shown}\n        "
    return method


class Elements:
    """Elements of an array that a key names, as x.at[key]; each method returns a new array.

    In all of them: values are broadcast to the shape of x[key] and converted to x's dtype; an element that is named twice is
    updated twice, in order; mode says what becomes of places outside the array ("drop", the default: nothing, also where a
    slice of the update reaches outside; "clip": the nearest inside); wrap_negative_indices: negative places count from the
    back; indices_are_sorted and unique_indices are promises.
    """

    __slots__ = ("array", "key")

    def __init__(self, array: Any, key: Any):
        self.array, self.key = array, key

    def __repr__(self) -> str:
        return f"{self.array!r}.at[{self.key!r}]"

    set = _updating("set", "The elements replaced.", "set(9) == Array([4, 9, 6], dtype=int32)")
    add = _updating("add", "The values added to the elements.", "add(2) == Array([4, 7, 6], dtype=int32)")
    subtract = _updating(
        "subtract", "The values subtracted from the elements.", "subtract(2) == Array([4, 3, 6], dtype=int32)"
    )
    multiply = mul = _updating(
        "multiply", "The elements multiplied by the values.", "multiply(2) == Array([ 4, 10,  6], dtype=int32)"
    )
    min = _updating("min", "The smaller ones of elements and values.", "min(2) == Array([4, 2, 6], dtype=int32)")
    max = _updating("max", "The larger ones of elements and values.", "max(9) == Array([4, 9, 6], dtype=int32)")

    def divide(self, values: Any, **options: Any) -> Any:
        """The elements divided by the values: of integers a float array.

        >>> as_array(np.int32([4, 5, 6])).at[1].divide(2)
        Array([4. , 2.5, 6. ], dtype=float32)
        """
        return elementwise.divide(self.array, self._factors(values, options))

    def power(self, values: Any, **options: Any) -> Any:
        """The elements raised to the power of the values.

        >>> as_array(np.int32([4, 5, 6])).at[1].power(2)
        Array([ 4, 25,  6], dtype=int32)
        """
        return powers.power(self.array, self._factors(values, options))

    def _factors(self, values: Any, options: dict[str, Any]) -> Any:
        return Elements(creation.ones_like(self.array), self.key).multiply(values, **options)

    def apply(
        self, func: Callable[[Any], Any], *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Any:  # fmt: skip
        """A function of one scalar applied to the elements, as often as each is named.

        Raises BodyCloses, BodyMismatch.

        >>> as_array(np.int32([4, 5, 6])).at[np.int32([0, 1, 1])].apply(lambda x: x * 2)
        Array([ 8, 20,  6], dtype=int32)
        """
        x, place = self.array, address(self.array, self.key, wrap_negative_indices)
        if place.is_empty:
            return x
        flags = _flags(place, mode, indices_are_sorted, unique_indices)
        [found] = ops.scatter_apply(
            place.array, place.indices(), update_shape=place.kept, body=applied(func, x.type), **_numbers(place), **flags
        )
        return _shaped(found, x.type)

    def get(
        self, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None, fill_value: Any = None,
        out_sharding: Any = None, wrap_negative_indices: bool = True,
    ) -> Any:  # fmt: skip
        """The elements, as x[key]; mode "fill": what is outside is fill_value (NaN, or a limit of the integers).

        >>> as_array(np.int32([4, 5, 6])).at[7].get(mode="fill", fill_value=-1)
        Array(-1, dtype=int32)
        """
        fills = _mode(mode) in ("fill", "drop", "fill_or_drop")
        if wrap_negative_indices and not fills:
            return getitem(self.array, self.key)
        return _gathered(address(self.array, self.key, wrap_negative_indices), fills, fill_value)


def _mode(mode: Any) -> str:
    found = "promise_in_bounds" if mode is None else str(getattr(mode, "name", mode)).lower()
    if found not in _MODES:
        allowed = "clip, drop, fill or promise_in_bounds"
        raise errors.OptionUnknown(function="x.at[...]", argument="mode", value=mode, allowed=allowed)
    return found


def _flags(place: Address, mode: Any, in_order: bool, unique: bool) -> dict[str, Any]:
    return {
        "mode": _MODES[_mode(mode)],
        "indices_are_sorted": place.distinct or in_order,
        "unique_indices": place.distinct or unique,
    }


def _numbers(place: Address) -> dict[str, tuple[int, ...]]:
    return {
        "update_window_dims": tuple(place.offset_dims),
        "inserted_window_dims": tuple(place.collapsed_slice_dims),
        "scatter_dims_to_operand_dims": tuple(place.start_index_map),
    }


def _updated(x: Any, place: Address, name: str, values: Any, flags: dict[str, Any]) -> Any:
    y = _value(values, x.type)
    dtype, weak = result_type([x.type, y.type])
    if dtype != x.type.dtype and name == "set":
        dtype, weak = x.type.dtype, x.type.weak_type
    _warn_of_loss(y.type, x.type)
    if name in ("add", "subtract", "multiply"):
        accept(f"x.at[...].{name}", dtype, "iufc")
    if place.is_empty:
        return x
    indices = place.indices()
    target, y = converted(place.array, dtype, weak), _fitted(converted(y, dtype, weak), place, name)
    [found] = ops.scatter(target, indices, y, body=body_of(name, dtype), **_numbers(place), **flags)
    return _shaped(converted(found, x.type.dtype, x.type.weak_type), x.type)


def _shaped(found: Any, type: ArrayType) -> Any:
    """Without the axes of extent 1 that masks without axes have added."""
    return found if found.type.shape == type.shape else ops.reshape(found, shape=type.shape)


def _value(values: Any, type: ArrayType) -> Any:
    """The operand of an update; a Python integer that fits an integer array has its dtype."""
    if isinstance(values, int) and kind(type.dtype) in "iu":
        found = literal(values, type.dtype)
        if int(found.value) == values:
            return found
    return operand(creation.asarray(values) if isinstance(values, list | tuple) else values, "x.at[...]")


def _warn_of_loss(y: ArrayType, x: ArrayType) -> None:
    if result_type([y, x.strong()])[0] == x.dtype:
        return
    frame = errors.user_frame()
    where = (frame.f_code.co_filename, frame.f_lineno) if frame is not None else ("celadon", 1)
    warnings.warn_explicit(errors.UpdateConvertedWarning(update=y, array=x), errors.UpdateConvertedWarning, *where)


def _fitted(y: Any, place: Address, name: str) -> Any:
    """The update in the shape of the parts, without new axes, turned as they lie in memory."""
    shape: Shape = tuple(place.parts)
    if y.type.shape != shape and (
        y.type.ndim > len(shape) or common_shape(f"x.at[...].{name}", y.type.shape, shape) != shape
    ):
        raise errors.ShapesDiffer(op=f"x.at[...].{name}", shapes=f"{shape} and {y.type.shape}")
    y = broadcasted(y, shape)
    y = shapes.squeezed(y, place.new)
    return ops.reverse(y, dimensions=tuple(place.turned)) if place.turned else y


def _gathered(place: Address, fills: bool, fill_value: Any) -> Any:
    x = place.array
    if place.is_empty:
        return creation.filled(tuple(place.parts), fixed(0, x.type.dtype))
    found = ops.gather(
        x, place.indices(), offset_dims=tuple(place.offset_dims), collapsed_slice_dims=tuple(place.collapsed_slice_dims),
        start_index_map=tuple(place.start_index_map), slice_sizes=tuple(place.slice_sizes), mode="fill" if fills else "clip",
        fill_value=as_array(fill_value).item() if fills and fill_value is not None else None,
    )  # fmt: skip
    found = ops.reverse(found, dimensions=tuple(place.turned)) if place.turned else found
    return shapes.expanded(found, tuple(place.new))


def at(self: Any) -> At:
    """Names elements to be read or updated: x.at[key].set(y), .add, .multiply, ... return a new array.

    >>> as_array(np.int32([4, 5, 6])).at[1:].add(1)
    Array([4, 6, 7], dtype=int32)
    """
    return At(array(self))
