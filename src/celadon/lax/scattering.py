"""jax.lax's functions that combine updates with the elements at computed places of an array, under JAX's names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from celadon import vocabulary as ops
from celadon.lax.indexing import GatherScatterMode
from celadon.numpy.promotion import accept, array, shape_from
from celadon.numpy.updates import applied, body_of

Function = Callable[..., Any]


class ScatterDimensionNumbers(NamedTuple):
    """Which axes scatter reads and writes, as StableHLO names them."""

    update_window_dims: tuple[int, ...]
    inserted_window_dims: tuple[int, ...]
    scatter_dims_to_operand_dims: tuple[int, ...]
    operand_batching_dims: tuple[int, ...] = ()
    scatter_indices_batching_dims: tuple[int, ...] = ()

    @property
    def plain(self) -> dict[str, tuple[int, ...]]:
        """The same as parameters of the op."""
        return {name: tuple(int(i) for i in dims) for name, dims in self._asdict().items()}


def _mode(mode: Any) -> str:
    return "clip" if GatherScatterMode.from_any(mode) is GatherScatterMode.CLIP else "drop"


def _combining(name: str, combination: str, doc: str, shown: str) -> Function:
    kinds = "iufc" if combination in ("add", "subtract", "multiply") else "biufc"

    def function(
        operand: Any, scatter_indices: Any, updates: Any, dimension_numbers: ScatterDimensionNumbers, *,
        indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None,
    ) -> Any:  # fmt: skip
        x = array(operand)
        accept(f"lax.{name}", x.type.dtype, kinds)
        return ops.scatter(
            x, array(scatter_indices), array(updates), body=body_of(combination, x.type.dtype), **dimension_numbers.plain,
            mode=_mode(mode), indices_are_sorted=indices_are_sorted, unique_indices=unique_indices,
        )[0]  # fmt: skip

    function.__name__ = function.__qualname__ = name
    function.__module__ = __name__
    function.__doc__ = f"{doc}\n{_ARGUMENTS.format(name=name, shown=shown)}"
    return function


_ARGUMENTS = """
    Args: operand: the array; scatter_indices: integers, whose last axis holds index vectors; updates: a window for each of
    them; dimension_numbers: which axes are meant, see ScatterDimensionNumbers; mode: what becomes of a window that is not
    wholly inside: "drop" (the default) or "clip" (moved inside). Updates of one element are done in order.
    Raises ScatterMismatch.

    >>> numbers = ScatterDimensionNumbers((), (0,), (0,))
    >>> {name}(np.int32([5, 6, 7]), np.int32([[2], [0], [9]]), np.int32([2, 3, 4]), numbers)
    Array([{shown}], dtype=int32)
    """

scatter = _combining("scatter", "set", "An array with updates put at computed places.", "3, 6, 2")
scatter_add = _combining("scatter_add", "add", "An array with updates added at computed places.", "8, 6, 9")
scatter_sub = _combining("scatter_sub", "subtract", "An array with updates subtracted at computed places.", "2, 6, 5")
scatter_mul = _combining("scatter_mul", "multiply", "An array multiplied by updates at computed places.", "15,  6, 14")
scatter_min = _combining("scatter_min", "min", "An array with the smaller ones of updates at computed places.", "3, 6, 2")
scatter_max = _combining("scatter_max", "max", "An array with the larger ones of updates at computed places.", "5, 6, 7")


def scatter_apply(
    operand: Any, scatter_indices: Any, func: Callable[[Any], Any], dimension_numbers: ScatterDimensionNumbers, *,
    update_shape: Any = (), indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None,
) -> Any:  # fmt: skip
    """An array with a function applied to the elements at computed places, as often as each is named.

    Args: func: of one scalar, which it may not close over traced values with; update_shape: of what would be the updates;
    the others as for scatter. Raises BodyMismatch, BodyCloses.

    >>> numbers = ScatterDimensionNumbers((), (0,), (0,))
    >>> scatter_apply(np.int32([5, 6, 7]), np.int32([[2], [0], [0]]), lambda x: x * 2, numbers, update_shape=(3,))
    Array([20,  6, 14], dtype=int32)
    """
    x = array(operand)
    return ops.scatter_apply(
        x, array(scatter_indices), update_shape=shape_from(update_shape), body=applied(func, x.type), mode=_mode(mode),
        **dimension_numbers.plain, indices_are_sorted=indices_are_sorted, unique_indices=unique_indices,
    )[0]  # fmt: skip
