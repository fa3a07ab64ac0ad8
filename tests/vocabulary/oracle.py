"""What real JAX computes for each op of the registry: the functions of jax.lax that bear its meaning, on any dtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.extend.random
import numpy as np
from jax import lax

from celadon.op import registry
from celadon.program import Literal, Program
from celadon.types import kind
from celadon.vocabulary.reduce import highest, lowest
from celadon.vocabulary.window import combination

Function = Callable[..., Any]

_SAME_NAME = (
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "bessel_i0e", "bessel_i1e", "cbrt", "ceil", "clamp",
    "complex", "conj", "cosh", "digamma", "erf", "erf_inv", "erfc", "exp2", "floor", "imag", "is_finite",
    "lgamma", "log", "logistic", "polygamma", "real", "rsqrt", "select", "shift_left", "shift_right_arithmetic",
    "shift_right_logical", "sign", "sinh", "sqrt", "square", "tan", "tanh", "zeta",
)  # fmt: skip
_OTHER_NAME = {
    "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "not": "bitwise_not", "sine": "sin",
    "cosine": "cos",
    "count_leading_zeros": "clz", "popcnt": "population_count", "divide": "div", "subtract": "sub",
    "negate": "neg", "remainder": "rem", "power": "pow", "maximum": "max", "minimum": "min", "next_after": "nextafter",
    "exponential": "exp", "exponential_minus_one": "expm1", "log_plus_one": "log1p",
}  # fmt: skip
_COMPARISONS = {"EQ": lax.eq, "NE": lax.ne, "GE": lax.ge, "GT": lax.gt, "LE": lax.le, "LT": lax.lt}


def _compare(x: Any, y: Any, *, direction: str, total_order: bool = False) -> Any:
    if total_order:
        return lax.lt_to_p.bind(x, y)
    return _COMPARISONS[direction](x, y)


def _cumulative(name: str) -> Function:
    return lambda x, *, axis, reverse: getattr(lax, name)(x, axis, reverse)


def body_of(program: Program) -> Function:
    """A body as a function of JAX, op by op."""

    def run(*operands: Any) -> Any:
        values = dict(zip(program.inputs, operands, strict=True))
        for equation in program.equations:
            operands = [x.value if isinstance(x, Literal) else values[x] for x in equation.inputs]
            values[equation.outputs[0]] = FUNCTIONS[equation.op.name](*operands, **equation.params)
        return [x.value if isinstance(x, Literal) else values[x] for x in program.outputs]

    return run


def _reduce(*operands: Any, axes: tuple[int, ...], body: Program) -> Any:
    half = len(operands) // 2
    return lax.reduce(operands[:half], operands[half:], lambda a, b: tuple(body_of(body)(*a, *b)), axes)


def _reduce_window(x: Any, start: Any, *, body: Program, **params: Any) -> Any:
    order = ("window_dimensions", "window_strides", "padding", "base_dilations", "window_dilations")
    return [lax.reduce_window(x, start, lambda a, b: body_of(body)(a, b)[0], *[params[name] for name in order])]


def _gather(x: Any, indices: Any, *, slice_sizes: Any, mode: str, fill_value: Any = None, **params: Any) -> Any:
    numbers = lax.GatherDimensionNumbers(**params)
    return lax.gather(x, indices, numbers, slice_sizes, mode=mode, fill_value=fill_value)


_WINDOW = ("window_dimensions", "window_strides", "padding", "base_dilations", "window_dilations")


def _pooling(direction: str) -> Function:
    computation, start = (lax.max, lowest) if direction == "GE" else (lax.min, highest)

    def extreme(x: Any, **params: Any) -> Any:
        return lax.reduce_window(x, start(x.dtype), computation, *[params[name] for name in _WINDOW])

    return extreme


def _selected(t: Any, x: Any, *, direction: str, **params: Any) -> Any:
    """The tangent of an extreme of windows: integers as floats."""
    pooled = _pooling(direction)
    wide = np.dtype(np.float64) if kind(x.dtype) == "i" else x.dtype
    return jax.jvp(lambda x: pooled(x, **params), (x.astype(wide),), (t.astype(wide),))[1].astype(t.dtype)


def _select_and_scatter(x: Any, source: Any, start: Any, *, select: Any, scatter: Any, **params: Any) -> Any:
    return lax.select_and_scatter_p.bind(
        x, source, start, select_jaxpr=_jaxpr(lax.ge, x.dtype), select_consts=(), scatter_jaxpr=_jaxpr(lax.add, x.dtype),
        scatter_consts=(), **params,
    )  # fmt: skip


def _jaxpr(function: Any, dtype: Any) -> Any:
    return jax.make_jaxpr(function)(np.zeros((), dtype), np.zeros((), dtype)).jaxpr


def _convolution(x: Any, kernel: Any, *, dimension_numbers: Any, **params: Any) -> Any:
    return lax.conv_general_dilated(x, kernel, **params, dimension_numbers=lax.ConvDimensionNumbers(*dimension_numbers))


_SCATTERS = {
    "second": lax.scatter, "add": lax.scatter_add, "subtract": lax.scatter_sub, "multiply": lax.scatter_mul,
    "maximum": lax.scatter_max, "minimum": lax.scatter_min,
}  # fmt: skip


def _scatter(x: Any, indices: Any, updates: Any, *, body: Program, mode: str = "drop", **params: Any) -> Any:
    return _SCATTERS[combination(body)](x, indices, updates, lax.ScatterDimensionNumbers(**params), mode=mode)


def _scatter_apply(x: Any, indices: Any, *, body: Program, update_shape: Any, **params: Any) -> Any:
    numbers = lax.ScatterDimensionNumbers(**params)
    return lax.scatter_apply(x, indices, lambda a: body_of(body)(a, a)[0], numbers, update_shape=update_shape)


def _sort(*xs: Any, dimension: int, is_stable: bool, num_keys: int) -> Any:
    return lax.sort(xs, dimension=dimension, is_stable=is_stable, num_keys=num_keys)


def _pad(x: Any, value: Any, *, low: Any, high: Any, interior: Any) -> Any:
    return lax.pad(x, value, list(zip(low, high, interior, strict=True)))


def _threefry2x32(*words: Any, folded: bool) -> Any:
    x, y = jax.extend.random.threefry2x32_p.bind(*words)
    return x ^ y if folded else y.astype(np.uint64) << 32 | x.astype(np.uint64)


def _whole_power(x: Any, n: Any) -> Any:
    """By squaring, as integer_pow does it for a number that is known."""
    found = jax.numpy.ones_like(x)
    for bit in range(31):
        found, x = jax.numpy.where(n >> bit & 1, found * x, found), x * x
    return found


FUNCTIONS: dict[str, Function] = {
    **{name: getattr(lax, name) for name in _SAME_NAME},
    **{name: getattr(lax, theirs) for name, theirs in _OTHER_NAME.items()},
    **{name: _cumulative(name) for name in ("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp")},
    "add": lambda x, y: x | y if x.dtype == bool else lax.add(x, y),
    "multiply": lambda x, y: x & y if x.dtype == bool else lax.mul(x, y),
    "compare": _compare,
    "select": lax.select,
    "convert": lax.convert_element_type,
    "bitcast_convert": lax.bitcast_convert_type,
    "reduce_precision": lax.reduce_precision,
    "integer_pow": lax.integer_pow,
    "whole_power": _whole_power,
    "round_nearest_afz": lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO),
    "round_nearest_even": lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN),
    "reduce_sum": lambda x, axes: lax.reduce_sum(x, axes) if x.dtype != bool else lax.reduce_or(x, axes),
    "reduce_prod": lambda x, axes: lax.reduce_prod(x, axes) if x.dtype != bool else lax.reduce_and(x, axes),
    "reduce_max": lax.reduce_max,
    "reduce_min": lax.reduce_min,
    "reduce_and": lax.reduce_and,
    "reduce_or": lax.reduce_or,
    "reduce_xor": lax.reduce_xor,
    "argmax": lambda x, axes, index_dtype: lax.argmax(x, axes[0], index_dtype),
    "argmin": lambda x, axes, index_dtype: lax.argmin(x, axes[0], index_dtype),
    "reduce": _reduce,
    "reduce_window": _reduce_window,
    "reduce_window_max": _pooling("GE"),
    "reduce_window_min": _pooling("LE"),
    "select_and_gather_add": _selected,
    "select_and_scatter": _select_and_scatter,
    "broadcast_in_dim": lax.broadcast_in_dim,
    "reshape": lambda x, shape: lax.reshape(x, shape),
    "transpose": lax.transpose,
    "reverse": lax.rev,
    "concatenate": lambda *xs, dimension: lax.concatenate(xs, dimension),
    "pad": _pad,
    "slice": lax.slice,
    "iota": lambda shape, dtype, dimension: lax.broadcasted_iota(dtype, shape, dimension),
    "dynamic_slice": lambda x, *starts, slice_sizes: lax.dynamic_slice(
        x, starts, slice_sizes, allow_negative_indices=False
    ),
    "dynamic_update_slice": lambda x, update, *starts: lax.dynamic_update_slice(
        x, update, starts, allow_negative_indices=False
    ),
    "gather": _gather,
    "scatter": _scatter,
    "scatter_apply": _scatter_apply,
    "sort": _sort,
    "top_k": lambda x, k: lax.top_k(x, k),
    "dot_general": lax.dot_general,
    "convolution": _convolution,
    "call": lambda x, program: body_of(program)(x),
    "threefry2x32": _threefry2x32,
    "optimization_barrier": lambda *xs: lax.optimization_barrier(xs),
    "stop_gradient": lax.stop_gradient,
}


def _broadcast(name: str, arrays: tuple[Any, ...]) -> list[Any]:
    """Scalars among the operands of an elementwise op are broadcast: jax.lax does so for some functions only."""
    if registry[name].kind != "elementwise" or len({x.shape for x in arrays}) == 1:
        return list(arrays)
    return [np.array(x) for x in np.broadcast_arrays(*arrays)]


def expected(name: str, cases: list[tuple[tuple[Any, ...], dict[str, Any]]]) -> list[list[np.ndarray[Any, Any]]]:
    """The results of real JAX for several operands and parameters of an op: one program, with 64-bit dtypes on."""

    def run(operands: list[list[Any]]) -> list[list[Any]]:
        found = [FUNCTIONS[name](*xs, **params) for xs, (_, params) in zip(operands, cases, strict=True)]
        return [list(one) if isinstance(one, tuple | list) else [one] for one in found]

    with jax.enable_x64(True):
        results = jax.jit(run)([_broadcast(name, arrays) for arrays, _ in cases])
        return [[np.asarray(x) for x in one] for one in results]
