"""Macro ops that are printed as calls of private functions, and what is in these: in terms of ops, as JAX has it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from celadon.program import Equation, Program, fixed
from celadon.tracing import recorded
from celadon.types import ArrayType, DType
from celadon.vocabulary.arithmetic import add, maximum, minimum, multiply
from celadon.vocabulary.bitwise import and_, or_
from celadon.vocabulary.comparison import compare, select
from celadon.vocabulary.reduce import highest, lowest
from celadon.vocabulary.shape import broadcast_in_dim, iota
from celadon.vocabulary.window import combiner, log_of_sum, reduce, reduce_window

Expansion = Callable[..., Any]


def private_program(equation: Equation) -> Program:
    """The program of the private function that an equation of such a macro op calls."""
    with recorded(equation.op.name, tracing=False) as record:
        inputs = [record.input(x.type.strong()) for x in equation.inputs]
        return record.program([PRIVATE[equation.op.name](*inputs, **equation.params)])


def _extremum(direction: str, start: Callable[[DType], Any]) -> Expansion:
    def expansion(x: Any, *, axes: tuple[int, ...], index_dtype: DType) -> Any:
        indices = iota(shape=x.type.shape, dtype=index_dtype, dimension=axes[0])
        starts = fixed(start(x.type.dtype), x.type.dtype), fixed(0, index_dtype)
        return reduce(x, indices, *starts, axes=axes, body=_first(direction, x.type.dtype, index_dtype))[1]

    return expansion


@cache
def _first(direction: str, dtype: DType, index_dtype: DType) -> Program:
    """Of two values with their indices: NaN wins, then the extreme one, then the smaller index."""
    with recorded("body", tracing=False) as record:
        x, i, y, j = (record.input(ArrayType((), t)) for t in (dtype, index_dtype) * 2)
        wins = or_(compare(x, y, direction=direction), compare(x, x, direction="NE"))
        ties = and_(compare(x, y, direction="EQ"), compare(i, j, direction="LT"))
        earlier = or_(wins, ties)
        return record.program([select(wins, x, y), select(earlier, i, j)])


def _cumulative(op: Callable[[Any, Any], Any], start: Callable[[DType], Any], broadcast: bool) -> Expansion:
    """A window as long as the axis, padded so that it ends (reversed: begins) at each element."""

    def expansion(x: Any, *, axis: int, reverse: bool = False) -> Any:
        ones = (1,) * x.type.ndim
        length, dtype = x.type.shape[axis], x.type.dtype
        reach = (0, max(length - 1, 0)) if reverse else (max(length - 1, 0), 0)
        first: Any = fixed(start(dtype), dtype)
        if broadcast:
            first = broadcast_in_dim(first, shape=(), broadcast_dimensions=())
        return reduce_window(
            x,
            first,
            body=combiner(op, dtype),
            window_dimensions=tuple([max(length, 1) if i == axis else 1 for i in range(len(ones))]),
            window_strides=ones,
            base_dilations=ones,
            window_dilations=ones,
            padding=tuple([reach if i == axis else (0, 0) for i in range(len(ones))]),
        )[0]

    return expansion


def _zero(dtype: DType) -> Any:
    return 0


def _one(dtype: DType) -> Any:
    return 1


PRIVATE: dict[str, Expansion] = {
    "argmax": _extremum("GT", lowest),
    "argmin": _extremum("LT", highest),
    "cumsum": _cumulative(add, _zero, True),
    "cumprod": _cumulative(multiply, _one, False),
    "cummax": _cumulative(maximum, lowest, True),
    "cummin": _cumulative(minimum, highest, True),
    "cumlogsumexp": _cumulative(log_of_sum, lowest, False),
}
