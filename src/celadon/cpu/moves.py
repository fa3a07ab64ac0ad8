"""Rules of fuse for ops that move elements: joins, pads, slices at computed places, gathers, running sums."""

from __future__ import annotations

from typing import Any

import numpy as np

from celadon.cpu.fuse import Fusion, rules
from celadon.cpu.layout import Axis, Layout, access, dense, merged
from celadon.cpu.recipe import CUMULATIVE, Moved
from celadon.program import Operand
from celadon.types import DType, short_name
from celadon.vocabulary.index import default_fill


def _reshape(fusion: Fusion, index: int) -> None:
    equation = fusion.program.equations[index]
    out = equation.outputs[0]
    fusion.alias("dense", index, fusion.stored(equation.inputs[0]), fusion.numbers[out], dense(out.type.shape))


def _bitcast(fusion: Fusion, index: int) -> None:
    """Between widths: the same memory with an axis more or less. A number of the call has none of its own to be parted."""
    equation = fusion.program.equations[index]
    out = equation.outputs[0]
    fusion.alias("dense", index, fusion.output(equation.inputs[0]), fusion.numbers[out], dense(out.type.shape))


def _optimization_barrier(fusion: Fusion, index: int) -> None:
    """Nothing moves: each result is its operand, stored."""
    equation = fusion.program.equations[index]
    for x, out in zip(equation.inputs, equation.outputs, strict=True):
        fusion.alias("dense", index, fusion.output(x), fusion.numbers[out], dense(out.type.shape))


def _parted(layout: Layout, axes: set[int]) -> Layout:
    """A layout of which only a part is walked along some axes."""
    return tuple(axis._replace(whole=False) if axis and i in axes else axis for i, axis in enumerate(layout))


def _concatenate(fusion: Fusion, index: int) -> None:
    equation = fusion.program.equations[index]
    out = fusion.define(equation.outputs[0])
    layout = _parted(fusion.layouts[out], {equation.params["dimension"]})
    for k, x in enumerate(equation.inputs):
        fusion.copy_into(fusion.number(x), out, layout, rule="beside", equation=index, part=k)


def _pad(fusion: Fusion, index: int) -> None:
    equation = fusion.program.equations[index]
    x, value = equation.inputs
    out = fusion.define(equation.outputs[0])
    fusion.fill(fusion.number(value), out)
    interior = equation.params["interior"]
    layout = tuple(
        axis._replace(whole=False, unit=axis.unit and not gap, step=not gap) if axis else None
        for axis, gap in zip(fusion.layouts[out], interior, strict=True)
    )
    fusion.copy_into(fusion.number(x), out, layout, rule="padded", equation=index)


def _addressed(fusion: Fusion, index: int, source: int, starts: list[Operand], sizes: int) -> None:
    """A step that finds where a dynamic slice begins; `sizes` is the variable with the slice's extents."""
    dtypes = tuple(short_name(x.type.dtype) for x in starts)
    reads = (source, *(fusion.number(x) for x in starts))
    fusion.launch(
        Moved("address", dtypes), rule="address", like=sizes, loops=(), reads=reads, writes=(), equation=index
    )


def _dynamic_slice(fusion: Fusion, index: int) -> None:
    equation = fusion.program.equations[index]
    x, *starts = equation.inputs
    number, out = fusion.number(x), equation.outputs[0]
    sliced = _parted(fusion.layouts[number], set(range(x.type.ndim)))
    layout = tuple(None if n == 1 else axis for axis, n in zip(sliced, out.type.shape, strict=True))
    result = fusion.numbers[out]
    if not starts:
        fusion.alias("dense", index, fusion.stored(x), result, layout)
        return
    _addressed(fusion, index, number, starts, result)
    fusion.alias("addressed", index, number, result, layout)


def _dynamic_update_slice(fusion: Fusion, index: int) -> None:
    equation = fusion.program.equations[index]
    x, update, *starts = equation.inputs
    out = fusion.define(equation.outputs[0])
    source, change = fusion.number(x), fusion.number(update)
    if not starts:
        fusion.copy(change, out)
        return
    fusion.copy(source, out)
    _addressed(fusion, index, out, starts, change)
    layout = _parted(fusion.layouts[out], set(range(x.type.ndim)))
    fusion.copy_into(change, out, layout, rule="addressed", equation=index)


def _gather(fusion: Fusion, index: int) -> None:
    equation = fusion.program.equations[index]
    params, (x, indices), out = equation.params, equation.inputs, equation.outputs[0]
    source, places = fusion.number(x), fusion.number(indices)
    shape = out.type.shape
    marks = ["o" if i in params["offset_dims"] else "b" for i in range(len(shape))]
    target = dense(shape)
    moved = _operand_axes(params, fusion.layouts[source], marks)
    counted = iter(_parted(fusion.layouts[places], {indices.type.ndim - 1}))
    read = tuple(next(counted) if mark == "b" else None for mark in marks)
    loops = merged(shape, [target, moved, read], marks)
    loops = tuple(sorted(loops, key=lambda loop: marks[loop[0]]))
    letters = "".join(marks[loop[0]] for loop in loops)
    facts = (letters, access(moved, loops), access(read, loops).replace("1", "s"), access(target, loops))
    mode = "fill" if params.get("mode") == "fill" else "clip"
    facts += (mode, len(params["start_index_map"]))
    kernel = Moved("gather", (short_name(x.type.dtype), short_name(indices.type.dtype)), facts)
    reads = (source, places)
    if mode == "fill":
        reads += (fusion.constant(_fill_value(params, x.type.dtype), x.type.dtype),)
    fusion.launch(
        kernel, rule="gather", like=fusion.numbers[out], loops=loops, reads=reads, writes=(fusion.define(out),),
        equation=index,
    )  # fmt: skip


def _operand_axes(params: dict[str, Any], layout: Layout, marks: list[str]) -> Layout:
    """How the result's axes walk the operand: offsets along slices, batch axes along batched ones."""
    batching = params.get("operand_batching_dims", ())
    dropped = (*params["collapsed_slice_dims"], *batching)
    kept = iter([axis for i, axis in enumerate(layout) if i not in dropped])
    pairs = dict(zip(params.get("start_indices_batching_dims", ()), batching, strict=True))
    found: list[Axis | None] = []
    batch = 0
    for mark in marks:
        if mark == "o":
            axis = next(kept)
            found.append(axis._replace(whole=False) if axis else None)
        else:
            found.append(layout[pairs[batch]] if batch in pairs else None)
            batch += 1
    return tuple(found)


def _fill_value(params: dict[str, Any], dtype: DType) -> bytes:
    value = params.get("fill_value")
    return np.asarray(default_fill(dtype) if value is None else value).astype(dtype).tobytes()


def _cumulative(fusion: Fusion, index: int) -> None:
    equation = fusion.program.equations[index]
    x, out = equation.inputs[0], equation.outputs[0]
    source, along = fusion.number(x), equation.params["axis"]
    shape = out.type.shape
    target = dense(shape)
    if shape[along] == 1:
        fusion.copy(source, fusion.define(out))
        return
    marks = ["s" if i == along else "k" for i in range(len(shape))]
    loops = tuple(loop for loop in merged(shape, [fusion.layouts[source], target], marks) if loop != (along,))
    facts = (equation.op.name, access(fusion.layouts[source], loops), access(target, loops))
    fusion.launch(
        Moved("cumulative", (short_name(out.type.dtype),), facts), rule="cumulative", like=fusion.numbers[out],
        loops=loops, reads=(source,), writes=(fusion.define(out),), equation=index,
    )  # fmt: skip


def _sort(fusion: Fusion, index: int) -> None:
    equation = fusion.program.equations[index]
    along, shape = equation.params["dimension"], equation.inputs[0].type.shape
    sources = [fusion.number(x) for x in equation.inputs]
    if shape[along] == 1:
        for source, out in zip(sources, equation.outputs, strict=True):
            fusion.copy(source, fusion.define(out))
        return
    marks = ["s" if i == along else "k" for i in range(len(shape))]
    layouts = [fusion.layouts[source] for source in sources]
    loops = tuple(loop for loop in merged(shape, [*layouts, dense(shape)], marks) if loop != (along,))
    dtypes = tuple(short_name(x.type.dtype) for x in equation.inputs)
    kernel = Moved("sort", dtypes, (len(loops), equation.params.get("num_keys", 1)))
    fusion.launch(
        kernel, rule="sort", like=sources[0], loops=loops, reads=tuple(sources), equation=index,
        writes=tuple(fusion.define(out) for out in equation.outputs),
    )  # fmt: skip


rules.update(
    dict.fromkeys(CUMULATIVE, _cumulative),
    bitcast_convert=_bitcast,
    reshape=_reshape,
    concatenate=_concatenate,
    pad=_pad,
    dynamic_slice=_dynamic_slice,
    dynamic_update_slice=_dynamic_update_slice,
    gather=_gather,
    optimization_barrier=_optimization_barrier,
    sort=_sort,
)
