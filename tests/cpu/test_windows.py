"""The kernels of windows against the reference executor, in bits: bodies, dtypes, padding, gaps, views, threads."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import celadon
from celadon import events, lax
from celadon.cpu import threads
from celadon.op import registry as op
from celadon.program import Program
from celadon.tracing import recorded
from celadon.types import ArrayType, every_dtype
from celadon.vocabulary.window import combiner, second
from tests.bits import bits
from tests.cpu.programs import cpu, floats, lifted, on_cpu, on_reference, types_of
from tests.vocabulary.samples import accepts, values

NAMES = ("window_dimensions", "window_strides", "base_dilations", "window_dilations", "padding")
ONES = (1, 1, 1)
NONE = ((0, 0),) * 3
WINDOWS = [
    ((1, 2, 1), ONES, ONES, ONES, NONE),
    ((1, 3, 3), (1, 2, 1), ONES, ONES, ((0, 0), (1, 2), (1, 1))),
    ((2, 1, 2), (1, 1, 2), ONES, ONES, NONE),
    ((2, 3, 3), (1, 1, 3), (1, 3, 1), ONES, ((1, 0), (-2, 4), (2, 3))),
    ((2, 3, 3), (2, 1, 1), (2, 1, 3), ONES, ((-1, 2), (3, -1), (2, 3))),
    ((3, 2, 3), (1, 2, 1), (1, 2, 2), (2, 3, 1), ((3, 3), (1, 4), (0, 2))),
    ((2, 2, 4), ONES, ONES, (1, 2, 3), ((0, 5), (-1, -1), (0, 0))),
    ((2, 2, 3), ONES, (2, 2, 2), (1, 3, 2), ((0, 0), (0, 0), (4, 9))),
    ((4, 7, 21), ONES, ONES, ONES, NONE),
    ((1, 1, 21), ONES, ONES, ONES, ((0, 0), (0, 0), (20, 0))),
    ((1, 9, 1), ONES, ONES, ONES, NONE),
    ((1, 2, 1), ONES, ONES, ONES, ((0, 0), (0, 0), (-9, 12))),
]


def windowed(body: str, dtype: Any, window: tuple[Any, ...]) -> Any:
    made = combiner(second if body == "second" else op[body], np.dtype(dtype))
    return lambda x, start: op["reduce_window"](x, start, body=made, **dict(zip(NAMES, window, strict=True)))[0]


def same(function: Any, *arrays: Any) -> None:
    assert bits(on_cpu(function, *arrays)) == bits(on_reference(function, *arrays))


@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_windows(window: tuple[Any, ...]) -> None:
    for body in ("add", "maximum", "second"):
        same(windowed(body, "f4", window), floats(4, 7, 21), np.float32(-0.5))
    turned = windowed("add", "f4", window)
    same(lambda x, start: turned(op["transpose"](x, permutation=(2, 0, 1)), start), floats(7, 21, 4), np.float32(0))


@pytest.mark.parametrize("dtype", every_dtype(), ids=str)
def test_dtypes(dtype: Any) -> None:
    x, start = values(dtype, (3, 5, 20)), values(dtype, (1,), 1)[0]
    for body in ("second", "add", "multiply", "maximum"):
        if body == "second" or accepts(op[body], *types_of(x, x)):
            for window in WINDOWS[1:3]:
                same(windowed(body, dtype, window), x, start)


def pairs(index: Any) -> Program:
    """The larger of two, with what belongs to it."""
    with recorded("body") as record:
        x, i, y, j = (record.input(ArrayType((), np.dtype(dtype))) for dtype in ("f4", index) * 2)
        first = op["compare"](x, y, direction="GE")
        return record.program([op["select"](first, x, y), op["select"](first, i, j)])


@pytest.mark.parametrize("axes", [(), (0,), (1,), (2,), (0, 2), (1, 2), (0, 1, 2)], ids=str)
def test_reductions(axes: tuple[int, ...]) -> None:
    x, start = floats(4, 7, 21), np.float32(-np.inf)
    for index in ("i4", "u1", "f8"):
        body, places = pairs(index), values(np.dtype(index), (4, 7, 21))
        same(lambda *xs, body=body: op["reduce"](*xs, axes=axes, body=body), x, places, start, np.zeros((), index))
    body = combiner(op["add"], np.dtype("f4"))
    same(lambda x, y: op["reduce"](op["reverse"](x, dimensions=(0, 2)), y, axes=axes, body=body), x, start)


def test_empty_ones() -> None:
    body = combiner(op["add"], np.dtype("f4"))
    for shape, axes in itertools.product(((0, 3), (3, 0), (0, 0)), ((0,), (1,), (0, 1))):
        same(lambda x, y, axes=axes: op["reduce"](x, y, axes=axes, body=body), floats(*shape), np.float32(2))
    same(lambda x, y: op["reduce"](x, y, axes=(), body=body), np.float32(3), np.float32(2))
    same(lambda x, y: op["reduce_window"](x, y, body=body, **dict.fromkeys(NAMES, ())), np.float32(3), np.float32(2))
    same(windowed("add", "f4", WINDOWS[3]), floats(4, 0, 21), np.float32(1))
    same(windowed("add", "f4", WINDOWS[0]), floats(4, 1, 21), np.float32(1))


def comparing(direction: str, dtype: Any) -> Program:
    with recorded("body") as record:
        x, y = (record.input(ArrayType((), np.dtype(dtype))) for _ in range(2))
        return record.program([op["compare"](x, y, direction=direction)])


def scattered(direction: str, body: str, dtype: Any, window: tuple[Any, ...]) -> Any:
    params = {name: value for name, value in zip(NAMES, window, strict=True) if "dilations" not in name}
    select, scatter = comparing(direction, dtype), combiner(op[body], np.dtype(dtype))
    return lambda x, y, z: op["select_and_scatter"](x, y, z, select=select, scatter=scatter, **params)[0]


@pytest.mark.parametrize("window", [w for w in WINDOWS if w[2] == w[3] == ONES], ids=str)
def test_selections(window: tuple[Any, ...]) -> None:
    x = np.round(floats(4, 7, 21) * 2)
    [result] = on_reference(windowed("add", "f4", window), x, np.float32(0))
    for direction, body in (("GE", "add"), ("LT", "multiply")):
        same(scattered(direction, body, "f4", window), x, floats(*result.shape), np.float32(0.25))


@pytest.mark.parametrize("dtype", every_dtype(), ids=str)
def test_dtypes_of_selections(dtype: Any) -> None:
    x, source, start = values(dtype, (3, 6, 20)), values(dtype, (3, 5, 20), 1), values(dtype, (1,), 2)[0]
    if accepts(op["add"], *types_of(x, x)) and np.dtype(dtype).kind != "c":
        same(scattered("GE", "add", dtype, WINDOWS[0]), x, source, start)


@pytest.mark.parametrize("shape", [(50, 40, 60), (3, 400, 60), (2, 3, 30000)], ids=str)
def test_bits_do_not_depend_on_threads(shape: tuple[int, ...]) -> None:
    window = ((1, 3, 3), (1, 3, 2), ONES, ONES, ((0, 0), (1, 1), (1, 1)))
    x, reduced = floats(*shape), windowed("add", "f4", window)
    [source] = on_cpu(reduced, x, np.float32(0))
    selected = scattered("GE", "add", "f4", window)
    wanted = on_cpu(selected, x, source, np.float32(0))
    threads.set_threads(1)
    try:
        assert bits(on_cpu(reduced, x, np.float32(0))) == bits([source])
        assert bits(on_cpu(selected, x, source, np.float32(0))) == bits(wanted)
    finally:
        threads.set_threads(None)
    same(reduced, x, np.float32(0))
    same(selected, x, source, np.float32(0))


def test_one_executable_serves_many_windows() -> None:
    def function(*sizes: int) -> Any:
        window = ((1, *sizes), (1, 2, 1), ONES, ONES, ((0, 0), (sizes[0] - 1, 3), (0, sizes[1])))
        return windowed("add", "f4", window)

    arrays = floats(3, 9, 21), np.float32(0)
    structure, _ = lifted(function(2, 3), types_of(*arrays))
    executable = cpu.compile(structure)
    for sizes in ((2, 3), (1, 5), (4, 1), (9, 40)):
        found = on_cpu(function(*sizes), *arrays, executable=executable)
        assert bits(found) == bits(on_reference(function(*sizes), *arrays))


def test_pooling_runs_on_the_kernels() -> None:
    x = floats(2, 9, 9, 3)
    windows = {"window_dimensions": (1, 3, 3, 1), "window_strides": (1, 2, 2, 1), "padding": "SAME"}

    def pooled(x: Any) -> Any:
        most = lax.reduce_window(x, np.float32(-np.inf), lax.max, **windows)
        return celadon.numpy.sum(most * lax.reduce_window(x, np.float32(0), lax.add, **windows))

    with events.watching() as seen:
        for function in (pooled, celadon.grad(pooled), celadon.grad(lambda x: celadon.jvp(pooled, (x,), (x,))[1])):
            celadon.jit(function)(x)
    assert not [event for event in seen if event.kind == "fallback"]
