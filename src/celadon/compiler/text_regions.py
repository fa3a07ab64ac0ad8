"""How ops with regions print: sort, and the macro ops that are private functions around a reduction or a window."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from celadon.compiler.constants import integers, signature, type_text, types_text
from celadon.compiler.phrases import TRUTH, comparison, function_type, identity, long_array, plain, real_part, selection
from celadon.compiler.scope import Lines, Scope
from celadon.program import Equation
from celadon.types import ArrayType, kind

PrivateRule = Callable[[Scope, Equation, list[str]], list[str]]
"""Writes the body of a private function and names its results."""


def _extremum(direction: str, op: str) -> PrivateRule:
    """argmax and argmin: the pair of value and index is reduced; NaN wins, then the smaller index."""

    def rule(scope: Scope, equation: Equation, operands: list[str]) -> list[str]:
        x, out = equation.inputs[0].type, equation.outputs[0].type
        (axis,) = equation.params["axes"]
        indices = ArrayType(x.shape, out.dtype)
        count = scope.value(f"stablehlo.iota dim = {axis} : {type_text(indices)}")
        value, index = ArrayType((), x.dtype), ArrayType((), out.dtype)
        starts = scope.constant(identity(op, x.dtype), value), scope.constant(0, index)
        pairs = f"({operands[0]} init: {starts[0]}), ({count} init: {starts[1]})"
        types = signature([x, indices, value, index], [ArrayType(out.shape, x.dtype), out])
        name = scope.number()
        head = f"{scope.pad}{name}:2 = stablehlo.reduce{pairs} across dimensions = [{axis}] : {types}"
        scope.later(lambda: [head, *_extremum_body(scope.region(), direction, value, index)])
        return [f"{name}#1"]

    return rule


def _extremum_body(scope: Scope, direction: str, value: ArrayType, index: ArrayType) -> Lines:
    x, i, y, j = (scope.argument() for _ in range(4))
    v, k = type_text(value), type_text(index)
    wins = scope.value(comparison(direction, x, y, value))
    nan = scope.value(comparison("NE", x, x, value))
    first = plain(scope, "or", TRUTH, wins, nan)
    ties = scope.value(comparison("EQ", x, y, value))
    earlier = scope.value(comparison("LT", i, j, index))
    keeps = plain(scope, "or", TRUTH, first, plain(scope, "and", TRUTH, ties, earlier))
    results = [scope.value(selection(first, x, y, value)), scope.value(selection(keeps, i, j, index))]
    outer = scope.pad[2:]
    head = f"{outer} reducer({x}: {v}, {y}: {v}) ({i}: {k}, {j}: {k})  {{"
    return [head, *scope.finished(), _returned(scope, results, [value, index]), f"{outer}}}"]


def _returned(scope: Scope, names: Sequence[str], types: Sequence[ArrayType]) -> str:
    return f"{scope.pad}stablehlo.return {', '.join(names)} : {types_text(types)}"


def _block(scope: Scope, arguments: Sequence[str], types: Sequence[ArrayType]) -> str:
    shown = ", ".join(f"{name}: {type_text(type)}" for name, type in zip(arguments, types, strict=True))
    return f"{scope.pad[2:]}^bb0({shown}):"


def _cumulative(op: str, broadcast: bool) -> PrivateRule:
    """A cumulative op: a window as long as the axis, padded so that it ends (reversed: begins) at each element."""

    def rule(scope: Scope, equation: Equation, operands: list[str]) -> list[str]:
        x = equation.inputs[0].type
        element = ArrayType((), x.dtype)
        start = scope.constant(identity("maximum" if op == "logaddexp" else op, x.dtype), element)
        if broadcast:
            start = scope.broadcast(start, element, element)
        name = scope.number()
        head = f'{scope.pad}{name} = "stablehlo.reduce_window"({operands[0]}, {start}) <{{{_window(equation)}}}> ({{'
        types = signature([x, element], [x])
        scope.later(lambda: [head, *_combined(scope.region(), op, element), f"{scope.pad}}}) : {types}"])
        return [name]

    return rule


def _window(equation: Equation) -> str:
    rank, axis = equation.inputs[0].type.ndim, int(equation.params["axis"])
    length = equation.inputs[0].type.shape[axis]
    ones = ["1"] * rank
    window = [str(length) if i == axis else "1" for i in range(rank)]
    low, high = (0, length - 1) if equation.params.get("reverse") else (length - 1, 0)
    pads = ", ".join(integers((low, high) if i == axis else (0, 0)) for i in range(rank))
    padding = f"dense<[{pads}]>"
    if rank == 1 and low == high:
        padding = f"dense<{low}>"
    fields = {
        "base_dilations": long_array(ones),
        "padding": f"{padding} : tensor<{rank}x2xi64>",
        "window_dilations": long_array(ones),
        "window_dimensions": long_array(window),
        "window_strides": long_array(ones),
    }
    return ", ".join(f"{key} = {value}" for key, value in fields.items())


def _combined(scope: Scope, op: str, element: ArrayType) -> Lines:
    x, y = scope.argument(), scope.argument()
    head = _block(scope, (x, y), (element, element))
    result = _log_of_sum(scope, x, y, element) if op == "logaddexp" else plain(scope, op, element, x, y)
    return [head, *scope.finished(), _returned(scope, [result], [element])]


def _log_of_sum(scope: Scope, x: str, y: str, type: ArrayType) -> str:
    larger = plain(scope, "maximum", type, x, y)
    delta = plain(scope, "subtract", type, x, y)
    nan = scope.value(comparison("NE", delta, delta, type))
    total = plain(scope, "add", type, x, y)
    power = plain(scope, "exponential", type, plain(scope, "negate", type, plain(scope, "abs", type, delta)))
    sum = plain(scope, "add", type, larger, plain(scope, "log_plus_one", type, power))
    return scope.value(selection(nan, total, sum, type))


def sort(scope: Scope, equation: Equation, operands: list[str]) -> None:
    params = equation.params
    stable = "true" if params.get("is_stable", True) else "false"
    bound = scope.bind(equation.outputs)
    fields = f"dimension = {params['dimension']} : i64, is_stable = {stable}"
    head = f'{scope.pad}{bound}"stablehlo.sort"({", ".join(operands)}) <{{{fields}}}> ({{'
    elements = [ArrayType((), x.type.dtype) for x in equation.inputs]
    tail = f"{scope.pad}}}) : {function_type(equation)}"
    keys = params.get("num_keys", 1)
    scope.later(lambda: [head, *_comparator(scope.region(), elements, keys), tail])


def _comparator(scope: Scope, elements: Sequence[ArrayType], keys: int) -> Lines:
    """Less-than over the keys, the first deciding; all NaN are equal and last, zeros are equal."""
    arguments = [scope.argument() for _ in range(2 * len(elements))]
    head = _block(scope, arguments, [t for t in elements for _ in range(2)])
    pairs: list[tuple[str, str, ArrayType]] = []
    for i in range(keys):
        pairs += _sort_keys(scope, arguments[2 * i], arguments[2 * i + 1], elements[i])
    less = ""
    for x, y, type in reversed(pairs):
        total = kind(type.dtype) == "f"
        smaller = scope.value(comparison("LT", x, y, type, total))
        if less:
            equal = scope.value(comparison("EQ", x, y, type, total))
            smaller = plain(scope, "or", TRUTH, smaller, plain(scope, "and", TRUTH, equal, less))
        less = smaller
    return [head, *scope.finished(), _returned(scope, [less], [TRUTH])]


def _sort_keys(scope: Scope, x: str, y: str, type: ArrayType) -> list[tuple[str, str, ArrayType]]:
    if kind(type.dtype) == "f":
        return [(_canonical(scope, x, type), _canonical(scope, y, type), type)]
    if kind(type.dtype) != "c":
        return [(x, y, type)]
    sides: list[list[str]] = []
    half = type
    for name in (x, y):
        side: list[str] = []
        for part in ("real", "imag"):
            half, value = real_part(scope, name, type, part)
            side.append(_canonical(scope, value, half))
        sides.append(side)
    return [(sides[0][0], sides[1][0], half), (sides[0][1], sides[1][1], half)]


def _canonical(scope: Scope, x: str, type: ArrayType) -> str:
    """One zero and one NaN, so that a total order is the order of numbers."""
    zero = scope.value(comparison("EQ", x, scope.constant(0, type), type))
    result = scope.value(selection(zero, scope.constant(0, type), x, type))
    nan = scope.value(comparison("NE", x, x, type))
    return scope.value(selection(nan, scope.constant(np.nan, type), result, type))


PRIVATE: dict[str, PrivateRule] = {
    "argmax": _extremum("GT", "maximum"),
    "argmin": _extremum("LT", "minimum"),
    "cumsum": _cumulative("add", True),
    "cumprod": _cumulative("multiply", False),
    "cummax": _cumulative("maximum", True),
    "cummin": _cumulative("minimum", True),
    "cumlogsumexp": _cumulative("logaddexp", False),
}
"""Macro ops that are printed as a call of a private function."""
