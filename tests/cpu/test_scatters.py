"""The scatter kernel against the reference executor, in bits: bodies, dtypes, windows, views, threads, loops."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import celadon
from celadon import events
from celadon.cpu import threads
from celadon.op import registry as op
from celadon.types import every_dtype
from celadon.vocabulary.window import combiner, second
from tests.bits import bits
from tests.cpu.programs import cpu, floats, lifted, on_cpu, on_reference, types_of
from tests.vocabulary.samples import accepts, values

DIMS = ("update_window_dims", "inserted_window_dims", "scatter_dims_to_operand_dims")
WINDOWS = [
    ((3,), (4, 5), (1, 2), ((1,), (0,), (0,)), (3, 5)),
    ((3,), (4, 5), (1, 2), ((0,), (0,), (0,)), (4, 3)),
    ((6,), (4, 5), (2,), ((), (0, 1), (1, 0)), (6,)),
    ((2, 3), (7, 5, 4), (1,), ((0, 2), (1,), (1,)), (6, 2, 4, 3)),
    ((2,), (7, 5, 4), (2,), ((0, 2, 3), (), (2, 0)), (3, 2, 5, 2)),
    ((1,), (300, 9), (1,), ((1, 2), (), (0,)), (1, 120, 9)),
    ((0,), (4, 5), (1,), ((1,), (0,), (0,)), (0, 5)),
    ((3,), (4, 5), (1,), ((1,), (0,), (0,)), (3, 0)),
    ((3,), (0, 5), (1,), ((1,), (0,), (0,)), (3, 5)),
]


def written(body: str, dtype: Any, **params: Any) -> Any:
    made = combiner(second if body == "second" else op[body], np.dtype(dtype))
    return lambda x, i, u: op["scatter"](x, i, u, body=made, **params)


def same(function: Any, *arrays: Any) -> None:
    assert bits(on_cpu(function, *arrays)) == bits(on_reference(function, *arrays))


@pytest.mark.parametrize("mode", ["drop", "clip"])
@pytest.mark.parametrize("case", WINDOWS, ids=str)
def test_windows(case: tuple[Any, ...], mode: str) -> None:
    batch, shape, _, dims, updates = case
    rank = len(dims[2])
    indices = np.random.default_rng(0).integers(-2, 8, (*batch, rank)).astype(np.int32)
    for body in ("second", "add", "maximum"):
        function = written(body, "f4", **dict(zip(DIMS, dims, strict=True)), mode=mode)
        same(function, floats(*shape), indices, floats(*updates))


@pytest.mark.parametrize("dtype", every_dtype(), ids=str)
def test_dtypes(dtype: Any) -> None:
    x, updates, rows = values(dtype, (5, 40)), values(dtype, (4, 40), 1), dict(zip(DIMS, ((1,), (0,), (0,)), strict=True))
    for body in ("second", "add", "subtract", "multiply", "maximum", "minimum"):
        if body == "second" or accepts(op[body], *types_of(x, x)):
            for index in ("i1", "u2", "i4", "u4", "i8"):
                same(written(body, dtype, **rows), x, np.array([[1], [3], [1], [9]], index), updates)


def test_batched_ones_and_views() -> None:
    numbers = {
        "update_window_dims": (2,), "inserted_window_dims": (), "scatter_dims_to_operand_dims": (1,),
        "operand_batching_dims": (0, 2), "scatter_indices_batching_dims": (1, 0),
    }  # fmt: skip
    x, updates = floats(4, 9, 3), floats(3, 4, 2)
    indices = np.random.default_rng(0).integers(-1, 10, (3, 4, 1))
    same(written("add", "f4", **numbers), x, indices.astype(np.int32), updates)
    rows = dict(zip(DIMS, ((1,), (0,), (0,)), strict=True))

    def turned(x: Any, i: Any, u: Any) -> Any:
        x, u = op["transpose"](x, permutation=(1, 0)), op["reverse"](u, dimensions=(0, 1))
        i = op["slice"](i, start_indices=(0, 1), limit_indices=(3, 2), strides=(1, 1))
        return written("add", "f4", **rows)(x, i, op["transpose"](u, permutation=(1, 0)))

    same(turned, floats(5, 7), np.array([[9, 1], [9, 2], [9, 1]], np.int32), floats(5, 3))


def test_bodies_of_ones_own() -> None:
    x, rows = floats(6, 20), np.array([[2], [2], [0]], np.int32)

    def function(x: Any, i: Any) -> Any:
        return celadon.numpy.asarray(x).at[i[:, 0]].apply(lambda e: celadon.numpy.where(e > 0, e * 2, 1 - e))

    with events.watching() as seen:
        found = celadon.jit(function)(x, rows)
    assert not [event for event in seen if event.kind == "fallback"]
    expected = x.copy()
    for i in (2, 2, 0):
        expected[i] = np.where(expected[i] > 0, expected[i] * 2, 1 - expected[i])
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("shapes", [((50, 90000), (7, 90000)), ((200, 3000), (3, 200, 900))], ids=str)
def test_bits_do_not_depend_on_threads(shapes: tuple[Any, Any]) -> None:
    shape, updates = shapes
    dims = ((1,), (0,), (0,)) if len(updates) == 2 else ((1, 2), (), (1,))
    function = written("add", "f4", **dict(zip(DIMS, dims, strict=True)))
    arrays = floats(*shape), np.array([[i % 5] for i in range(updates[0])], np.int32), floats(*updates)
    wanted = on_cpu(function, *arrays)
    threads.set_threads(1)
    try:
        assert bits(on_cpu(function, *arrays)) == bits(wanted)
    finally:
        threads.set_threads(None)
    same(function, *arrays)


def test_one_executable_serves_many_shapes() -> None:
    rows = dict(zip(DIMS, ((1,), (0,), (0,)), strict=True))
    function = written("add", "f4", **rows)

    def arrays(m: int, n: int, k: int) -> tuple[Any, ...]:
        return floats(m, n), np.random.default_rng(m).integers(-1, m + 1, (k, 1)).astype(np.int32), floats(k, n)

    structure, _ = lifted(function, types_of(*arrays(3, 4, 5)))
    executable = cpu.compile(structure)
    for sizes in itertools.product((2, 9), (3, 33, 260), (2, 70)):
        given = arrays(*sizes)
        assert bits(on_cpu(function, *given, executable=executable)) == bits(on_reference(function, *given))


def test_updates_in_a_loop() -> None:
    def filled(x: Any, y: Any) -> Any:
        return celadon.lax.fori_loop(0, 9, lambda k, x: x.at[k % 4].add(y * k).at[2, k].set(-1.0), x)

    x, y = floats(4, 9), floats(9)
    expected = x.copy()
    for k in range(9):
        expected[k % 4] += y * np.float32(k)
        expected[2, k] = -1
    np.testing.assert_allclose(celadon.jit(filled)(x, y), expected, 1e-6)
