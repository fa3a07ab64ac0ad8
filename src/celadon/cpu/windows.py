"""The rules of fuse for reduce and reduce_window with any body, and for select_and_scatter."""

from __future__ import annotations

from celadon.cpu.fuse import Fusion, rules
from celadon.cpu.layout import Layout
from celadon.cpu.recipe import Moved
from celadon.cpu.scalar_bodies import scalar_body
from celadon.program import Equation
from celadon.types import short_name

Flags = tuple[bool, ...]


def _shape(fusion: Fusion, equation: Equation, around: list[int], beside: list[int]) -> tuple[Flags, Flags, str, bool, bool]:
    """Which axes have gaps between the array's elements and between a window's; how far windows side by side are apart in
    each array: no, one or some elements; whether their own elements are side by side, too; whether there may be several."""
    params, rank = equation.params, equation.inputs[0].type.ndim
    if equation.op.name == "reduce":
        kept = rank > 0 and rank - 1 not in params["axes"]
        spread = apart = (False,) * max(rank, 1)
        several = kept
    else:
        names = ("base_dilations", "window_dilations")
        spread, apart = (tuple(n != 1 for n in params.get(name, (1,) * rank)) or (False,) for name in names)
        kept, several = params["window_strides"][-1:] == (1,), rank > 0
    near = "".join(_access(fusion.layouts[number], kept) for number in around)
    ends = "".join(_access(fusion.layouts[number], True) for number in beside)
    return spread, apart, near, set(ends) == {"1"}, several and fusion.types[beside[0]].shape[-1] != 1


def _access(layout: Layout, steps_by_one: bool) -> str:
    """A letter as in a Leaf's access, for the last axis."""
    axis = layout[-1] if layout else None
    return "0" if axis is None else "1" if axis.unit and steps_by_one else "s"


def _reduced(fusion: Fusion, index: int) -> None:
    equation = fusion.program.equations[index]
    count = len(equation.outputs)
    numbers = [fusion.number(x) for x in equation.inputs]
    results = [fusion.define(out) for out in equation.outputs]
    body = scalar_body(equation.params["body"])
    assert body is not None
    dtypes = tuple(short_name(x.type.dtype) for x in equation.outputs)
    facts = (*_shape(fusion, equation, numbers[:count], results), body)
    fusion.launch(
        Moved("windows", dtypes * 2, facts), rule="windows", like=numbers[0], loops=(), reads=tuple(numbers),
        writes=tuple(results), equation=index,
    )  # fmt: skip


def _selected(fusion: Fusion, index: int) -> None:
    equation = fusion.program.equations[index]
    x, source, start = (fusion.number(x) for x in equation.inputs)
    target = fusion.define(equation.outputs[0])
    fusion.fill(start, target)
    select, scatter = (scalar_body(equation.params[name]) for name in ("select", "scatter"))
    dtypes = (short_name(equation.outputs[0].type.dtype),) * 3
    facts = (*_shape(fusion, equation, [x, target], [source]), select, scatter)
    fusion.launch(
        Moved("selected", dtypes, facts), rule="windows", like=x, loops=(), reads=(x, source), writes=(target,), equation=index
    )


rules.update(reduce=_reduced, reduce_window=_reduced, select_and_scatter=_selected)
