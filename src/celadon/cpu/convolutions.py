"""The rule of fuse for convolution: weights are put in one order, the kernel lays out parts of the array by itself."""

from __future__ import annotations

from celadon.cpu.contract import accumulator
from celadon.cpu.fuse import Fusion, rules
from celadon.cpu.recipe import Moved, Node
from celadon.types import ArrayType, short_name


def _convolution(fusion: Fusion, index: int) -> None:
    equation = fusion.program.equations[index]
    params, (lhs, rhs), out = equation.params, equation.inputs, equation.outputs[0]
    left, right, places = params["dimension_numbers"]
    total, source, result = accumulator(lhs.type.dtype, out.type.dtype), fusion.number(lhs), fusion.define(out)
    last = fusion.layouts[result][places[1]]
    turned = last is not None and last.unit
    order = (*right[2:], right[1], right[0]) if turned else right
    weights = _weights(fusion, fusion.number(rhs), order, total)
    inner, outer = (dims[1] if turned else (dims[2:] or dims[:1])[-1] for dims in (left, places))
    unit, target = fusion.layouts[source][inner], fusion.layouts[result][outer]
    step, spread = (params[name][-1:] or (1,) for name in ("window_strides", "lhs_dilation"))
    facts = (max(len(left) - 2, 1), step == spread == (1,), spread != (1,))
    facts += (unit is not None and unit.unit, target is not None and target.unit)
    kind = "convolution_by_features" if turned else "convolution"
    kernel = Moved(kind, (short_name(lhs.type.dtype), total, short_name(out.type.dtype)), facts)
    fusion.launch(kernel, rule="convolution", like=result, loops=(), reads=(source, weights), writes=(result,), equation=index)


def _weights(fusion: Fusion, number: int, order: tuple[int, ...], dtype: str) -> int:
    """The weights with their axes in an order, in memory of their own, in the dtype of sums."""
    type = fusion.types[number]
    ordered = ArrayType(tuple(type.shape[i] for i in order), type.dtype)
    view = fusion.arranged(number, order, ordered, tuple((number, i) for i in order))
    if short_name(type.dtype) == dtype:
        return fusion.dense(view)
    cast = Node("convert", dtype, (0,), (("new_dtype", dtype),))
    return fusion.kept(fusion.drawn([view], [cast]), view)


rules["convolution"] = _convolution
