"""The rule of plan for scatter: its table, and pieces where windows are large or index vectors apart."""

from __future__ import annotations

from celadon.cpu.plan import WORD, Planner, extents_of, product, rules, unit_of
from celadon.cpu.recipe import Launch, Moved
from celadon.cpu.tables import STEP
from celadon.vocabulary.scatter import batch_axes, kept_axes, windows

_COMBINED = 1.5
_VECTOR = 64


def _scatter(planner: Planner, launch: Launch) -> None:
    kernel = planner.outline.schedule.kernels[launch.kernel]
    params = planner.equations[launch.equation].params
    assert isinstance(kernel, Moved)
    letters, given, read, write, _, length, _ = kernel.facts
    values, places = launch.reads
    shape, updates = planner.shapes[launch.writes[0]], planner.shapes[values]
    sizes = windows(shape, updates, params)
    limits = [shape[i] - sizes[i] for i in params["scatter_dims_to_operand_dims"]]
    extents = extents_of(updates, launch.loops)
    if not product(extents) or min(limits, default=0) < 0:
        return
    at, target, indices = planner.here, planner.place(launch.writes[0]), planner.place(places)
    batch, along = batch_axes(len(updates), params), [0] * len(updates)
    for axis, i in zip(kept_axes(len(shape), params), params["update_window_dims"], strict=True):
        along[i] = target.strides[axis]
    pairs = params.get("operand_batching_dims", ()), params.get("scatter_indices_batching_dims", ())
    for axis, i in zip(*pairs, strict=True):
        along[batch[i]] = target.strides[axis]
    counted = dict(zip(batch, indices.strides, strict=False))
    words = [*extents, *planner.operand(values, launch.loops, given, at)]
    for place, strides, letter in ((indices, counted, read), (target, dict(enumerate(along)), write)):
        words += [place.cell * WORD - at, place.offset]
        words += [strides[loop[-1]] for loop, x in zip(launch.loops, letter, strict=True) if x == "s"]
    words += [indices.strides[-1]] if length else []
    for axis, limit in zip(params["scatter_dims_to_operand_dims"], limits, strict=True):
        words += (limit, target.strides[axis])
    nanoseconds = product(extents) * _COMBINED
    split = letters.index("p") if "p" in letters else letters.index("w") if "w" in letters else -1
    extent = extents[split] if split >= 0 else 1
    multiple = _VECTOR if split == len(letters) - 1 else 1
    unit = unit_of(extent, nanoseconds, multiple) if split >= 0 else 1
    planner.step(launch.kernel, words, extent, unit, nanoseconds + STEP)


rules["scatter"] = _scatter
