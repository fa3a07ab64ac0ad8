"""Programs of scalars, such as a reduction's body, in; out, Bodies as kernels hold them."""

from __future__ import annotations

from typing import Any

import numpy as np

from celadon.cpu import elementwise
from celadon.cpu.recipe import Body, Constant, Leaf, Node, Place
from celadon.program import Literal, Operand, Program
from celadon.types import short_name

_SAME = frozenset(("broadcast_in_dim", "reshape"))  # between scalars they do nothing
_KINDS = frozenset(("elementwise", "move"))


def scalar_body(program: Program) -> Body | None:
    """The body that a lowered program of scalars is, its inputs being the leaves; None if a kernel can't hold it."""
    places: dict[Operand, Place] = {var: k for k, var in enumerate(program.inputs)}
    nodes: list[Node] = []
    for equation in program.equations:
        if len(equation.outputs) != 1 or equation.op.kind not in _KINDS:
            return None
        dtypes = [short_name(x.type.dtype) for x in (*equation.inputs, *equation.outputs)]
        operands = tuple([_place(x, places) for x in equation.inputs])
        name, out = equation.op.name, equation.outputs[0]
        if name in _SAME or (name == "convert" and dtypes[0] == dtypes[-1]):
            places[out] = operands[0]
        elif elementwise.has(name, dtypes[:-1], dtypes[-1]):
            nodes.append(Node(name, dtypes[-1], operands, node_params(equation.params)))
            places[out] = len(program.inputs) + len(nodes) - 1
        else:
            return None
    leaves = tuple([Leaf("value", short_name(var.type.dtype)) for var in program.inputs])
    return Body(leaves, tuple(nodes), tuple([_place(x, places) for x in program.outputs]))


def _place(x: Operand, places: dict[Operand, Place]) -> Place:
    if isinstance(x, Literal):
        return Constant(short_name(x.type.dtype), np.asarray(x.value).astype(x.type.dtype).tobytes())
    return places[x]


def node_params(params: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Parameters of an op as a node holds them."""
    pairs = sorted(params.items())
    return tuple((k, short_name(v) if isinstance(v, np.dtype) else v) for k, v in pairs if k != "weak_type")
