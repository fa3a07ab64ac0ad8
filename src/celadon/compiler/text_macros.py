"""What is printed as several ops, as JAX has it: macro ops as private functions, some complex ops in place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from celadon.compiler.phrases import elementwise
from celadon.compiler.scope import Scope
from celadon.program import Equation, Program, fixed
from celadon.tracing import recorded
from celadon.types import ArrayType, DType, kind
from celadon.vocabulary.arithmetic import add, divide, maximum, minimum, multiply, negate, subtract
from celadon.vocabulary.bits import expand_threefry
from celadon.vocabulary.bitwise import and_, or_
from celadon.vocabulary.comparison import compare, select
from celadon.vocabulary.conversion import complex_, imag, real
from celadon.vocabulary.reduce import highest, lowest
from celadon.vocabulary.shape import broadcast_in_dim, iota
from celadon.vocabulary.transcendental import cosine, exponential_minus_one, sine
from celadon.vocabulary.window import combiner, log_of_sum, reduce, reduce_window

Expansion = Callable[..., Any]
Rule = Callable[[Scope, Equation, list[str]], str | None]
"""Returns the text of an op with one result, after writing what it needs; None if it has bound its results itself."""


def private_program(equation: Equation) -> Program:
    """The program of the private function that an equation of such a macro op calls."""
    return _expanded(equation, [x.type.strong() for x in equation.inputs], PRIVATE[equation.op.name])


def complex_as(expansion: Expansion) -> Rule:
    """A text rule: complex operands as the expansion has it, others as any elementwise op."""
    expanded = in_place(expansion)

    def rule(scope: Scope, equation: Equation, operands: list[str]) -> str | None:
        complex_ = kind(equation.inputs[0].type.dtype) == "c"
        return (expanded if complex_ else elementwise)(scope, equation, operands)

    return rule


def in_place(expansion: Expansion) -> Rule:
    """A text rule: the ops of the expansion."""

    def rule(scope: Scope, equation: Equation, operands: list[str]) -> None:
        elementwise_ = equation.op.kind == "elementwise"
        types = [x.type for x in equation.inputs]
        types = scope.alike(equation.inputs, operands, equation.outputs[0].type) if elementwise_ else types
        program = _expanded(equation, types, expansion)
        scope.names.update(zip(program.inputs, operands, strict=True))
        scope.names.update(zip(equation.outputs, scope.body(program), strict=True))

    return rule


def _expanded(equation: Equation, types: Sequence[ArrayType], expansion: Expansion) -> Program:
    with recorded(equation.op.name, tracing=False) as record:
        return record.program([expansion(*[record.input(t) for t in types], **equation.params)])


def first_by_parts(direction: str) -> Expansion:
    """The larger or smaller of two complex numbers: by real parts, then by imaginary ones."""

    def expansion(x: Any, y: Any) -> Any:
        a, b = real(x), real(y)
        equal, by_real = compare(a, b, direction="EQ"), compare(a, b, direction=direction)
        by_imaginary = compare(imag(x), imag(y), direction=direction)
        return select(select(equal, by_imaginary, by_real), x, y)

    return expansion


def complex_sine(z: Any) -> Any:
    """From the real functions, exact on the imaginary axis."""
    zero, on_axis, sin, cos, sinh, cosh = _circular(z)
    first, second = multiply(sin, cosh), multiply(cos, sinh)
    return select(on_axis, complex_(zero, second), complex_(first, second))


def complex_cosine(z: Any) -> Any:
    """From the real functions, exact on the imaginary axis."""
    zero, on_axis, sin, cos, sinh, cosh = _circular(z)
    first, second = multiply(cos, cosh), multiply(negate(sin), sinh)
    return select(on_axis, complex_(first, zero), complex_(first, second))


def _circular(z: Any) -> tuple[Any, ...]:
    a, b = real(z), imag(z)
    zero, two = fixed(0, a.type.dtype), fixed(2, a.type.dtype)
    on_axis = compare(a, zero, direction="EQ")
    sin, cos, up = sine(a), cosine(a), exponential_minus_one(b)
    down = exponential_minus_one(negate(b))
    sinh, cosh = divide(subtract(up, down), two), divide(add(add(up, down), two), two)
    return zero, on_axis, sin, cos, sinh, cosh


def folded(op: Callable[[Any, Any], Any], start: Callable[[DType], Any]) -> Expansion:
    """A reduction whose body is an expansion of its own."""

    def expansion(x: Any, *, axes: tuple[int, ...]) -> Any:
        dtype = x.type.dtype
        return reduce(x, fixed(start(dtype), dtype), axes=axes, body=combiner(op, dtype))[0]

    return expansion


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
    "threefry2x32": expand_threefry,
}
