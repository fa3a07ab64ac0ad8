"""A matrix times a vector where lines lie in memory: sums of many lines at a time, each with the bits that it has alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import celadon
from celadon import lax, numpy as cnp
from celadon.cpu.emit_vectors import folded
from celadon.cpu.ir import Function
from celadon.cpu.recipe import Moved
from tests.cpu.programs import cpu

SHAPES = [(1, 7), (3, 5), (8, 8), (9, 33), (64, 64), (500, 20), (7, 4097), (17, 9001), (2, 1), (0, 3), (3, 0)]


def kinds(function: Any, *arguments: Any) -> list[str]:
    traced = celadon.jit(function).trace(*arguments)
    lowered = celadon.compiler.simplify(celadon.compiler.lower(traced.needed, cpu.native))
    schedule = cpu.compile(celadon.compiler.lift(lowered)[0]).outline.schedule
    return [kernel.kind for kernel in schedule.kernels if isinstance(kernel, Moved)]


def operands(lines: int, length: int, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(lines, length)).astype(np.float32), rng.normal(size=length).astype(np.float32)


@pytest.mark.parametrize("shape", SHAPES)
def test_products_from_both_sides(shape: tuple[int, int]) -> None:
    matrix, vector = operands(*shape)
    wanted = matrix.astype(np.float64) @ vector
    bound = np.abs(matrix.astype(np.float64)) @ np.abs(vector) * 2e-6 + 1e-30
    for function in (lambda a, v: a @ v, lambda a, v: v @ a.T, lambda a, v: cnp.einsum("ij,j->i", a, v)):
        found = np.asarray(celadon.jit(function)(matrix, vector))
        assert (np.abs(found - wanted) <= bound).all()
    if min(shape) > 1:
        assert kinds(lambda a, v: a @ v, matrix, vector) == kinds(lambda a, v: v @ a.T, matrix, vector) == ["lines"]


def test_a_line_has_the_bits_that_it_has_alone() -> None:
    """Wherever it stands, however its matrix lies, whatever is beside it or behind its end."""
    matrix, vector = operands(37, 45)
    product = celadon.jit(lambda a, v: a @ v)
    found = np.asarray(product(matrix, vector))
    assert np.asarray(product(matrix[::-1].copy(), vector)).tobytes() == found[::-1].tobytes()
    for k in (0, 5, 35):
        assert np.asarray(product(matrix[k : k + 2], vector))[0].tobytes() == found[k].tobytes()
    wide = np.full((37, 60), np.nan, np.float32)
    wide[:, 3:48] = matrix
    longer = np.concatenate([vector, np.full(9, np.inf, np.float32)])
    parts = celadon.jit(lambda a, v: a[:, 3:48] @ v[:45])
    assert np.asarray(parts(wide, longer)).tobytes() == found.tobytes()
    assert np.asarray(cnp.asarray(matrix) @ cnp.asarray(vector)).tobytes() == found.tobytes()


def test_threads_take_lines_and_change_no_bits() -> None:
    matrix, vector = operands(1500, 900)
    together = np.asarray(celadon.jit(lambda a, v: a @ v)(matrix, vector))
    pieces = [np.asarray(celadon.jit(lambda a, v: a @ v)(matrix[k : k + 100], vector)) for k in range(0, 1500, 100)]
    assert np.concatenate(pieces).tobytes() == together.tobytes()


def test_in_a_scan_and_in_a_batch() -> None:
    matrix, vector = operands(12, 12)
    xs = operands(6, 12, 1)[0]

    def run(a: Any, h: Any, xs: Any) -> Any:
        return lax.scan(lambda h, x: (cnp.tanh(a @ h + x), h.sum()), h, xs)[0]

    wanted = vector
    for x in xs:
        wanted = np.tanh(matrix @ wanted + x)
    np.testing.assert_allclose(celadon.jit(run)(matrix, vector, xs), wanted, rtol=1e-4, atol=1e-5)
    batched = celadon.jit(celadon.vmap(lambda a, v: a @ v))(matrix.reshape(3, 4, 12), xs[:3])
    np.testing.assert_allclose(batched, np.einsum("bij,bj->bi", matrix.reshape(3, 4, 12), xs[:3]), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("kind", "lanes"), [("f32", 8), ("f64", 4), ("f32", 4)])
def test_folded_sums_come_in_the_order_of_the_vectors(kind: str, lanes: int) -> None:
    """The shuffles followed with names for lanes: lane k of the result is all lanes of vector k, halves added first."""
    f = Function("folding", [(kind, lanes)] * lanes, (kind, lanes))
    f.returns(folded(f, f.parameters))
    values: dict[str, list[Any]] = {p.text: [f"{k}.{i}" for i in range(lanes)] for k, p in enumerate(f.parameters)}
    for line in f.lines[1:-1]:
        name, _, text = line.strip().partition(" = ")
        if text.startswith("shufflevector"):
            first, second, mask = text.split(", ", 2)
            both = values[first.split()[-1]] + values[second.split()[-1]]
            values[name] = [both[int(word.split()[1])] for word in mask.split("<")[-1].rstrip(">").split(", ")]
        else:
            first, second = text.split(">")[1].split(", ")
            values[name] = list(zip(values[first.strip()], values[second.strip()], strict=True))

    def pairwise(names: list[Any]) -> Any:
        while len(names) > 1:
            half = len(names) // 2
            names = list(zip(names[:half], names[half:], strict=True))
        return names[0]

    assert values[f.lines[-1].split()[-1]] == [pairwise([f"{k}.{i}" for i in range(lanes)]) for k in range(lanes)]


@pytest.mark.parametrize("shape", [(5, 7), (97, 16), (40, 300), (33, 4097), (17, 9001), (513, 9), (1030, 500), (2, 1), (3, 0)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_columns_are_summed_as_lines_are(shape: tuple[int, int], dtype: str) -> None:
    """Parts of a column, and what is left over of them; pieces of columns, and lanes beyond the last one."""
    with celadon.enable_x64(dtype == "float64"):
        matrix, vector = (x.astype(dtype) for x in operands(*shape))
        lines = np.asarray(celadon.jit(lambda a, v: a @ v)(matrix, vector))
        turned = np.ascontiguousarray(matrix.T)
        columns = celadon.jit(lambda a, v: a.T @ v)
        assert np.asarray(columns(turned, vector)).tobytes() == lines.tobytes()
        if min(shape) > 1:
            assert kinds(lambda a, v: a.T @ v, turned, vector) == ["columns"]
            assert kinds(lambda a, v: v @ a, turned, vector) == ["columns"]
        assert np.asarray(celadon.jit(lambda a, v: v @ a)(turned, vector)).tobytes() == lines.tobytes()
        parts = celadon.jit(lambda a, v: a[:, 1:].T @ v)
        wide = np.concatenate([np.full((shape[1], 1), np.nan, dtype), turned], axis=1)
        assert np.asarray(parts(wide, vector)).tobytes() == lines.tobytes()
