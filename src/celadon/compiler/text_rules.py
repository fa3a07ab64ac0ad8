"""How ops that don't print like elementwise ones print: a rule gets the scope, the equation, its operands' names."""

from __future__ import annotations

from itertools import starmap
from typing import Any

import numpy as np

from celadon.compiler import text_lapack
from celadon.compiler.constants import integers, signature, type_text, types_text
from celadon.compiler.phrases import (
    TRUTH,
    comparison,
    filled,
    function_type,
    identity,
    long_array,
    plain,
    real_part,
    selection,
    spread,
)
from celadon.compiler.scope import Scope
from celadon.compiler.text_callbacks import callback
from celadon.compiler.text_loops import case, scan, while_loop
from celadon.compiler.text_macros import (
    Rule,
    complex_as,
    complex_cosine,
    complex_sine,
    first_by_parts,
    folded,
    in_place,
)
from celadon.compiler.text_regions import reduce, reduce_window, scatter, select_and_scatter, sort
from celadon.program import Equation
from celadon.types import ArrayType, bool_, kind
from celadon.vocabulary.arithmetic import maximum, minimum
from celadon.vocabulary.index import default_fill
from celadon.vocabulary.reduce import highest, lowest

# Elementwise ops with a form of their own


def _compare(scope: Scope, equation: Equation, operands: list[str]) -> str:
    types = scope.alike(equation.inputs, operands, equation.outputs[0].type)
    x, y = operands
    total: bool = equation.params.get("total_order", False) and kind(types[0].dtype) == "f"
    return comparison(equation.params["direction"], x, y, types[0], total)


def _select(scope: Scope, equation: Equation, operands: list[str]) -> str:
    out = equation.outputs[0].type
    branches = operands[1:]
    scope.alike(equation.inputs[1:], branches, out)
    predicate = equation.inputs[0].type
    return f"stablehlo.select {', '.join([operands[0], *branches])} : {type_text(predicate)}, {type_text(out)}"


def _complex(scope: Scope, equation: Equation, operands: list[str]) -> str:
    out = equation.outputs[0].type
    scope.alike(equation.inputs, operands, out)
    return f"stablehlo.complex {', '.join(operands)} : {type_text(out)}"


def _convert(scope: Scope, equation: Equation, operands: list[str]) -> str:
    (name,), type, out = operands, equation.inputs[0].type, equation.outputs[0].type
    if kind(type.dtype) == "c" and kind(out.dtype) != "c":
        type, name = real_part(scope, name, type)
    if kind(out.dtype) == "b" and kind(type.dtype) != "b":
        zero = scope.broadcast(scope.constant(0, type), ArrayType((), type.dtype), type)
        name = scope.value(comparison("NE", name, zero, type))
        type = out
    same = type.dtype == out.dtype
    return f"stablehlo.convert {name} : {type_text(out) if same else signature([type], [out])}"


def _square(scope: Scope, equation: Equation, operands: list[str]) -> str:
    (x,), type = operands, equation.outputs[0].type
    if kind(type.dtype) in "iu":
        return f"stablehlo.multiply {x}, {x} : {type_text(type)}"
    return f"chlo.square {x} : {type_text(type)} -> {type_text(type)}"


def _reduce_precision(scope: Scope, equation: Equation, operands: list[str]) -> str:
    params = equation.params
    form = f"e{params['exponent_bits']}m{params['mantissa_bits']}"
    return f"stablehlo.reduce_precision {operands[0]}, format = {form} : {type_text(equation.outputs[0].type)}"


# Shapes


def _arranged(op: str, *params: tuple[str, str]) -> Rule:
    """Operands, then parameters as lists of integers, then the function's type."""

    def rule(scope: Scope, equation: Equation, operands: list[str]) -> str:
        shown = "".join(f", {label} = {integers(equation.params[name])}" for label, name in params)
        return f"stablehlo.{op} {', '.join(operands)}{shown} : {function_type(equation)}"

    return rule


def _reverse(scope: Scope, equation: Equation, operands: list[str]) -> str:
    dims = integers(equation.params["dimensions"])
    return f"stablehlo.reverse {operands[0]}, dims = {dims} : {type_text(equation.outputs[0].type)}"


def _concatenate(scope: Scope, equation: Equation, operands: list[str]) -> str:
    dim = equation.params["dimension"]
    return f"stablehlo.concatenate {', '.join(operands)}, dim = {dim} : {function_type(equation)}"


def _iota(scope: Scope, equation: Equation, operands: list[str]) -> str:
    return f"stablehlo.iota dim = {equation.params['dimension']} : {type_text(equation.outputs[0].type)}"


def _slice(scope: Scope, equation: Equation, operands: list[str]) -> str:
    params = equation.params
    starts, limits = params["start_indices"], params["limit_indices"]
    strides = params.get("strides") or (1,) * len(starts)
    ranges = ", ".join(starmap(_range, zip(starts, limits, strides, strict=True)))
    return f"stablehlo.slice {operands[0]} [{ranges}] : {function_type(equation)}"


def _range(start: int, limit: int, stride: int) -> str:
    return f"{start}:{limit}" if stride == 1 else f"{start}:{limit}:{stride}"


# Reductions


def _reduction(op: str) -> Rule:
    def rule(scope: Scope, equation: Equation, operands: list[str]) -> str | None:
        type, out = equation.inputs[0].type, equation.outputs[0].type
        element = ArrayType((), type.dtype)
        start = scope.constant(identity(op, type.dtype), element)
        dims = integers(equation.params["axes"])
        head = f"stablehlo.reduce({operands[0]} init: {start}) applies stablehlo.{op} across dimensions = {dims}"
        return f"{head} : {signature([type, element], [out])}"

    return rule


def _extremum(op: str, of_complex: Rule) -> Rule:
    of_real = _reduction(op)

    def rule(scope: Scope, equation: Equation, operands: list[str]) -> str | None:
        chosen = of_complex if kind(equation.inputs[0].type.dtype) == "c" else of_real
        return chosen(scope, equation, operands)

    return rule


# Contractions


def _dot_general(scope: Scope, equation: Equation, operands: list[str]) -> str:
    (left, right), (left_batch, right_batch) = equation.params["dimension_numbers"]
    batching = f"batching_dims = {integers(left_batch)} x {integers(right_batch)}, " if left_batch else ""
    dims = f"{batching}contracting_dims = {integers(left)} x {integers(right)}"
    precision = ", ".join(_precisions(equation.params.get("precision")))
    types = function_type(equation)
    return f"stablehlo.dot_general {', '.join(operands)}, {dims}, precision = [{precision}] : {types}"


def _precisions(given: Any) -> tuple[str, str]:
    if isinstance(given, tuple):
        return _precisions(given[0])[0], _precisions(given[1])[0]
    word = str(getattr(given, "name", given or "default")).upper()
    found = {"FASTEST": "DEFAULT", "FLOAT32": "HIGHEST", "TENSORFLOAT32": "HIGH", "BFLOAT16": "DEFAULT"}.get(word, word)
    return found, found


def _convolution(scope: Scope, equation: Equation, operands: list[str]) -> str:
    params = equation.params
    layouts = [_layout(spec, ends) for spec, ends in zip(params["dimension_numbers"], ("bf", "oi", "bf"), strict=True)]
    shown = {
        "stride": params["window_strides"],
        "pad": [list(pair) for pair in params["padding"]],
        "lhs_dilate": params["lhs_dilation"],
        "rhs_dilate": params["rhs_dilation"],
    }
    window = ", ".join(f"{name} = {list(values)}" for name, values in shown.items())
    reverse = f"reverse = [{', '.join('false' for _ in params['window_strides'])}]"
    counts = ", ".join(f"{name} = {params.get(name, 1)} : i64" for name in ("batch_group_count", "feature_group_count"))
    precision = ", ".join(f"#stablehlo<precision {word}>" for word in _precisions(params.get("precision")))
    return (
        f"stablehlo.convolution({', '.join(operands)}) dim_numbers = {layouts[0]}x{layouts[1]}->{layouts[2]}, "
        f"window = {{{window}, {reverse}}} {{{counts}, precision_config = [{precision}]}} : {function_type(equation)}"
    )


def _layout(spec: tuple[int, ...], ends: str) -> str:
    """The axes by their letters and the numbers of the spatial ones."""
    names = dict(zip(spec, [*ends, *range(len(spec) - 2)], strict=True))
    return f"[{', '.join(str(names[axis]) for axis in range(len(spec)))}]"


def _fft(scope: Scope, equation: Equation, operands: list[str]) -> str:
    kind_, length = equation.params["fft_type"], integers(equation.params["fft_length"])
    return f"stablehlo.fft {operands[0]}, type = {kind_}, length = {length} : {function_type(equation)}"


# Indexing


def _dynamic_slice(scope: Scope, equation: Equation, operands: list[str]) -> str:
    sizes = integers(equation.params["slice_sizes"])
    return f"stablehlo.dynamic_slice {', '.join(operands)}, sizes = {sizes} : {function_type(equation)}"


def _gather(scope: Scope, equation: Equation, operands: list[str]) -> str:
    if equation.params.get("mode") != "fill":
        return _plain_gather(equation, operands)
    valid = _in_bounds(scope, equation, operands[1])
    out = equation.outputs[0].type
    gathered = scope.value(_plain_gather(equation, operands))
    mask = ArrayType(equation.inputs[1].type.shape[:-1], bool_)
    dims = [i for i in range(out.ndim) if i not in equation.params["offset_dims"]]
    valid = spread(scope, valid, mask, ArrayType(out.shape, bool_), dims)
    return selection(valid, gathered, filled(scope, _fill_value(equation), out), out)


def _fill_value(equation: Equation) -> Any:
    value = equation.params.get("fill_value")
    return default_fill(equation.outputs[0].type.dtype) if value is None else value


def _in_bounds(scope: Scope, equation: Equation, indices: str) -> str:
    """Which index vectors lie within the operand."""
    x, type = equation.inputs[0].type, equation.inputs[1].type
    params = equation.params
    bounds = np.array([x.shape[d] - params["slice_sizes"][d] for d in params["start_index_map"]], type.dtype)
    last = scope.captured(bounds)
    above = scope.value(comparison("GE", indices, filled(scope, 0, type), type))
    ones = ArrayType((1,) * (type.ndim - 1) + bounds.shape, type.dtype)
    row = ArrayType(bounds.shape, type.dtype)
    last = spread(scope, last, row, ones, [type.ndim - 1])
    last = spread(scope, last, ones, type, range(type.ndim))
    truths = ArrayType(type.shape, bool_)
    both = plain(scope, "and", truths, above, scope.value(comparison("LE", indices, last, type)))
    start = scope.constant(True, TRUTH)
    types = signature([truths, TRUTH], [ArrayType(type.shape[:-1], bool_)])
    axis = type.ndim - 1
    return scope.value(
        f"stablehlo.reduce({both} init: {start}) applies stablehlo.and across dimensions = [{axis}] : {types}"
    )


_GATHER_DIMS = (
    "offset_dims",
    "collapsed_slice_dims",
    "operand_batching_dims",
    "start_indices_batching_dims",
    "start_index_map",
)


def _plain_gather(equation: Equation, operands: list[str]) -> str:
    params = equation.params
    shown = [f"{name} = {integers(params[name])}" for name in _GATHER_DIMS if params.get(name)]
    vector = equation.inputs[1].type.ndim - 1
    shown += [f"index_vector_dim = {vector}"] if vector else []
    fields = (
        f"dimension_numbers = #stablehlo.gather<{', '.join(shown)}>, indices_are_sorted = "
        f"{'true' if params.get('indices_are_sorted') else 'false'}, slice_sizes = {long_array(params['slice_sizes'])}"
    )
    return f'"stablehlo.gather"({", ".join(operands)}) <{{{fields}}}> : {function_type(equation)}'


def _barrier(scope: Scope, equation: Equation, operands: list[str]) -> None:
    types = ", ".join(type_text(x.type) for x in equation.inputs)
    scope.bind(equation.outputs, f"stablehlo.optimization_barrier {', '.join(operands)} : {types}")


def _top_k(scope: Scope, equation: Equation, operands: list[str]) -> None:
    names = [scope.named("values"), scope.named("indices")]
    scope.names.update(zip(equation.outputs, names, strict=True))
    [x], results = equation.inputs, types_text([out.type for out in equation.outputs])
    scope.lines.append(
        f"{scope.pad}{', '.join(names)} = chlo.top_k({operands[0]}, k = {equation.params['k']}) : "
        f"{type_text(x.type)} -> ({results})"
    )


RULES: dict[str, Rule] = text_lapack.RULES | {
    "pure_callback": callback,
    "io_callback": callback,
    "debug_callback": callback,
    "cond": case,
    "while_loop": while_loop,
    "scan": scan,
    "compare": _compare,
    "select": _select,
    "complex": _complex,
    "convert": _convert,
    "maximum": complex_as(first_by_parts("GT")),
    "minimum": complex_as(first_by_parts("LT")),
    "sine": complex_as(complex_sine),
    "cosine": complex_as(complex_cosine),
    "square": _square,
    "reduce_precision": _reduce_precision,
    "bitcast_convert": _arranged("bitcast_convert"),
    "broadcast_in_dim": _arranged("broadcast_in_dim", ("dims", "broadcast_dimensions")),
    "reshape": _arranged("reshape"),
    "transpose": _arranged("transpose", ("dims", "permutation")),
    "reverse": _reverse,
    "concatenate": _concatenate,
    "pad": _arranged("pad", ("low", "low"), ("high", "high"), ("interior", "interior")),
    "slice": _slice,
    "iota": _iota,
    "reduce_sum": _reduction("add"),
    "reduce_prod": _reduction("multiply"),
    "reduce_max": _extremum("maximum", in_place(folded(maximum, lowest))),
    "reduce_min": _extremum("minimum", in_place(folded(minimum, highest))),
    "reduce_and": _reduction("and"),
    "reduce_or": _reduction("or"),
    "reduce_xor": _reduction("xor"),
    "dot_general": _dot_general,
    "fft": _fft,
    "optimization_barrier": _barrier,
    "convolution": _convolution,
    "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _arranged("dynamic_update_slice"),
    "gather": _gather,
    "scatter": scatter,
    "select_and_scatter": select_and_scatter,
    "sort": sort,
    "top_k": _top_k,
    "reduce": reduce,
    "reduce_window": reduce_window,
}
