"""Lowered program in; an estimate of its floating-point operations and bytes out, from the types alone."""

from __future__ import annotations

from math import log2, prod

from celadon.program import Equation, Program
from celadon.types import is_inexact

_MOVES = frozenset(
    {"reshape", "transpose", "broadcast_in_dim", "slice", "pad", "concatenate", "reverse", "iota", "gather"}
    | {"dynamic_slice", "dynamic_update_slice", "convert", "select", "bitcast_convert"}
)


def estimate(program: Program) -> dict[str, float]:
    """`flops` and `bytes accessed` of one run.

    >>> estimate(Program((), (), ()))
    {'flops': 0.0, 'bytes accessed': 0.0}
    """
    flops = bytes_accessed = 0.0
    for equation in program.equations:
        inner = equation.params.get("program")
        if inner is not None:
            found = estimate(inner)
            flops, bytes_accessed = flops + found["flops"], bytes_accessed + found["bytes accessed"]
            continue
        flops += flops_of(equation)
        bytes_accessed += sum(x.type.nbytes for x in (*equation.inputs, *equation.outputs))
    return {"flops": flops, "bytes accessed": bytes_accessed}


def flops_of(equation: Equation) -> float:
    """Floating-point operations of one equation, bodies of loops apart."""
    name, out = equation.op.name, equation.outputs[0].type
    if name == "dot_general":
        lhs = equation.inputs[0].type
        contracted = equation.params["dimension_numbers"][0][0]
        return 2.0 * out.size * prod(lhs.shape[i] for i in contracted)
    if name == "convolution":
        rhs, (_, right, _) = equation.inputs[1].type, equation.params["dimension_numbers"]
        return 2.0 * out.size * prod(n for i, n in enumerate(rhs.shape) if i != right[0])
    if name == "reduce_window":
        return float(out.size * max(prod(equation.params["window_dimensions"]) - 1, 0) * len(equation.outputs))
    if name == "fft":
        lengths = equation.params["fft_length"]
        return 5.0 * out.size * sum(map(log2, lengths))
    if name == "scatter":
        return float(equation.inputs[2].type.size)
    if name in _MOVES or not is_inexact(equation.inputs[0].type.dtype if equation.inputs else out.dtype):
        return 0.0
    return float(max(x.type.size for x in (*equation.inputs, *equation.outputs)))
