"""The rule of fuse for scatter: the operand is copied, where it is needed afterwards, and updates are combined with it."""

from __future__ import annotations

from typing import Any

from celadon.cpu.fuse import Fusion, rules
from celadon.cpu.layout import Axis, Layout, access, dense, merged
from celadon.cpu.recipe import Moved
from celadon.cpu.scalar_bodies import scalar_body
from celadon.types import short_name
from celadon.vocabulary.scatter import batch_axes, kept_axes


def _scatter(fusion: Fusion, index: int) -> None:
    equation = fusion.program.equations[index]
    params, (x, indices, updates), out = equation.params, equation.inputs, equation.outputs[0]
    target = fusion.define(out)
    fusion.copy(fusion.number(x), target)
    places, values = fusion.number(indices), fusion.number(updates)
    shape = updates.type.shape
    marks = marks_of(params, len(shape))
    batch = batch_axes(len(shape), params)
    given = fusion.layouts[values] or dense(shape)
    read = _along(fusion.layouts[places], batch, len(shape))
    write = _target_axes(params, fusion.layouts[target], shape)
    loops = merged(shape, [given, read, write], marks)
    loops = tuple(sorted(loops, key=lambda loop: "pbw".index(marks[loop[0]])))
    letters = "".join(marks[loop[0]] for loop in loops)
    body = scalar_body(params["body"])
    assert body is not None
    facts = (letters, access(given, loops), access(read, loops).replace("1", "s"), access(write, loops))
    facts += (params.get("mode", "drop") != "clip", len(params["scatter_dims_to_operand_dims"]), body)
    kernel = Moved("scatter", (short_name(x.type.dtype), short_name(indices.type.dtype)), facts)
    fusion.launch(
        kernel, rule="scatter", like=values, loops=loops, reads=(values, places), writes=(target,), equation=index
    )


def marks_of(params: dict[str, Any], ndim: int) -> list[str]:
    """What each axis of the updates is: a window's ("w"), one that counts index vectors ("b"), or a batched one ("p")."""
    batching = params.get("scatter_indices_batching_dims", ())
    batch = batch_axes(ndim, params)
    return ["w" if i not in batch else "p" if batch.index(i) in batching else "b" for i in range(ndim)]


def _along(layout: Layout, batch: tuple[int, ...], ndim: int) -> Layout:
    """How the axes of the updates walk the index vectors."""
    parts = [replace_whole(axis) for axis in layout[:-1]] if len(layout) > 1 else []
    found: list[Axis | None] = [None] * ndim
    for i, axis in zip(batch, parts, strict=True):
        found[i] = axis
    return tuple(found)


def replace_whole(axis: Axis | None) -> Axis | None:
    """An axis of which a part may be walked."""
    return axis._replace(whole=False) if axis else None


def _target_axes(params: dict[str, Any], layout: Layout, shape: tuple[int, ...]) -> Layout:
    """How the axes of the updates walk the operand: windows along its own axes, batched ones along batched ones."""
    found: list[Axis | None] = [None] * len(shape)
    for axis, i in zip(kept_axes(len(layout), params), params["update_window_dims"], strict=True):
        found[i] = replace_whole(layout[axis])
    batch = batch_axes(len(shape), params)
    pairs = params.get("operand_batching_dims", ()), params.get("scatter_indices_batching_dims", ())
    for axis, i in zip(*pairs, strict=True):
        found[batch[i]] = layout[axis]
    return tuple(found)


rules["scatter"] = _scatter
