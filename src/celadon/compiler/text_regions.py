"""How ops with regions print: sort, and reductions and windows with a body of their own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from celadon.compiler.constants import dense, integers, signature, type_text, types_text
from celadon.compiler.phrases import (
    TRUTH,
    comparison,
    filled,
    function_type,
    long_array,
    plain,
    real_part,
    selection,
    spread,
)
from celadon.compiler.scope import Lines, Scope
from celadon.program import Equation, Program
from celadon.types import ArrayType, canonical, kind
from celadon.vocabulary.scatter import windows
from celadon.vocabulary.window import combination

_COMMUTATIVE = frozenset({"add", "multiply", "maximum", "minimum", "and", "or", "xor"})


def _returned(scope: Scope, names: Sequence[str], types: Sequence[ArrayType]) -> str:
    return f"{scope.pad}stablehlo.return {', '.join(names)} : {types_text(types)}"


def _block(scope: Scope, arguments: Sequence[str], types: Sequence[ArrayType]) -> str:
    shown = ", ".join(f"{name}: {type_text(type)}" for name, type in zip(arguments, types, strict=True))
    return f"{scope.pad[2:]}^bb0({shown}):"


def _body(scope: Scope, program: Program, arguments: Sequence[str]) -> Lines:
    """The lines of a program in its region, whose arguments have these names."""
    scope.names.update(zip(program.inputs, arguments, strict=True))
    names = scope.body(program)
    return [*scope.finished(), _returned(scope, names, [x.type for x in program.outputs])]


def reduce(scope: Scope, equation: Equation, operands: list[str]) -> None:
    """A reduction; a body of one commutative op is named in the line itself."""
    count = len(operands) // 2
    body: Program = equation.params["body"]
    pairs = ", ".join(f"({x} init: {start})" for x, start in zip(operands[:count], operands[count:], strict=True))
    applied = _applied(body)
    applies = f" applies stablehlo.{applied}" if applied else ""
    across = f"across dimensions = {integers(equation.params['axes'])} : {function_type(equation)}"
    text = f"stablehlo.reduce{pairs}{applies} {across}"
    if applied:
        scope.bind(equation.outputs, text)
        return
    head = f"{scope.pad}{scope.bind(equation.outputs)}{text}"
    scope.later(lambda: [head, *_reducer(scope.region(), body, count)])


def _applied(body: Program) -> str:
    name = combination(body)
    ordered = name in ("maximum", "minimum") and kind(body.inputs[0].type.dtype) == "c"
    return name if name in _COMMUTATIVE and not ordered else ""


def _reducer(scope: Scope, body: Program, count: int) -> Lines:
    arguments = [scope.argument() for _ in body.inputs]
    typed = [f"{name}: {type_text(var.type)}" for name, var in zip(arguments, body.inputs, strict=True)]
    pairs = " ".join(f"({x}, {y})" for x, y in zip(typed[:count], typed[count:], strict=True))
    outer = scope.pad[2:]
    return [f"{outer} reducer{pairs}  {{", *_body(scope, body, arguments), f"{outer}}}"]


def reduce_window(scope: Scope, equation: Equation, operands: list[str]) -> None:
    """A reduction of windows."""
    params = equation.params
    padding = np.array(params["padding"], np.int64).reshape(-1, 2)
    fields = {
        "base_dilations": long_array(params["base_dilations"]),
        "padding": f"{dense(padding, True)} : tensor<{len(padding)}x2xi64>",
        "window_dilations": long_array(params["window_dilations"]),
        "window_dimensions": long_array(params["window_dimensions"]),
        "window_strides": long_array(params["window_strides"]),
    }
    shown = ", ".join(f"{key} = {value}" for key, value in fields.items())
    head = (
        f'{scope.pad}{scope.bind(equation.outputs)}"stablehlo.reduce_window"({", ".join(operands)}) <{{{shown}}}> ({{'
    )
    tail = f"{scope.pad}}}) : {function_type(equation)}"
    scope.later(lambda: [head, *_combined(scope.region(), params["body"]), tail])


def select_and_scatter(scope: Scope, equation: Equation, operands: list[str]) -> None:
    """A scatter to the places that windows select: two regions."""
    params = equation.params
    padding = np.array(params["padding"], np.int64).reshape(-1, 2)
    fields = {
        "padding": f"{dense(padding, True)} : tensor<{len(padding)}x2xi64>",
        "window_dimensions": long_array(params["window_dimensions"]),
        "window_strides": long_array(params["window_strides"]),
    }
    shown = ", ".join(f"{key} = {value}" for key, value in fields.items())
    bound = scope.bind(equation.outputs)
    head = f'{scope.pad}{bound}"stablehlo.select_and_scatter"({", ".join(operands)}) <{{{shown}}}> ({{'
    between, tail = f"{scope.pad}}}, {{", f"{scope.pad}}}) : {function_type(equation)}"
    scope.later(
        lambda: [
            head,
            *_combined(scope.region(), params["select"]),
            between,
            *_combined(scope.region(), params["scatter"]),
            tail,
        ]
    )


def _combined(scope: Scope, body: Program) -> Lines:
    arguments = [scope.argument() for _ in body.inputs]
    return [_block(scope, arguments, [var.type for var in body.inputs]), *_body(scope, body, arguments)]


_SCATTER_DIMS = (
    ("update_window_dims", "update_window_dims"),
    ("inserted_window_dims", "inserted_window_dims"),
    ("input_batching_dims", "operand_batching_dims"),
    ("scatter_indices_batching_dims", "scatter_indices_batching_dims"),
    ("scatter_dims_to_operand_dims", "scatter_dims_to_operand_dims"),
)


def scatter(scope: Scope, equation: Equation, operands: list[str]) -> None:
    """A scatter; indices that are moved inside are so before it."""
    params = equation.params
    if params.get("mode") == "clip":
        operands = [operands[0], _moved_inside(scope, equation, operands[1]), operands[2]]
    dims = [f"{label} = {integers(params[name])}" for label, name in _SCATTER_DIMS if params.get(name)]
    vector = equation.inputs[1].type.ndim - 1
    dims += [f"index_vector_dim = {vector}"] if vector else []
    in_order, unique = (_truth(params.get(name)) for name in ("indices_are_sorted", "unique_indices"))
    fields = (
        f"indices_are_sorted = {in_order}, scatter_dimension_numbers = #stablehlo.scatter<{', '.join(dims)}>, "
        f"unique_indices = {unique}"
    )
    head = f'{scope.pad}{scope.bind(equation.outputs)}"stablehlo.scatter"({", ".join(operands)}) <{{{fields}}}> ({{'
    tail = f"{scope.pad}}}) : {function_type(equation)}"
    scope.later(lambda: [head, *_combined(scope.region(), params["body"]), tail])


def _truth(holds: object) -> str:
    return "true" if holds else "false"


def _moved_inside(scope: Scope, equation: Equation, indices: str) -> str:
    """Write the nearest starts at which a window is inside."""
    x, type, updates = (operand.type for operand in equation.inputs)
    sizes, axes = windows(x.shape, updates.shape, equation.params), equation.params["scatter_dims_to_operand_dims"]
    limits = np.array([x.shape[i] - sizes[i] for i in axes], canonical(np.int64))
    row = ArrayType(limits.shape, limits.dtype)
    largest = min(np.iinfo(limits.dtype).max, np.iinfo(type.dtype).max)
    last = plain(scope, "minimum", row, scope.captured(limits), filled(scope, largest, row))
    if type.dtype != limits.dtype:
        narrow = ArrayType(row.shape, type.dtype)
        last, row = scope.value(f"stablehlo.convert {last} : {signature([row], [narrow])}"), narrow
    last = spread(scope, last, row, type, [type.ndim - 1])
    zero = filled(scope, 0, type)
    return scope.value(f"stablehlo.clamp {zero}, {indices}, {last} : {type_text(type)}")


def sort(scope: Scope, equation: Equation, operands: list[str]) -> None:
    params = equation.params
    stable = _truth(params.get("is_stable", True))
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
