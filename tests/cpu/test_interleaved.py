"""Stacks of a scan that lie row beside row in one block: which ones, where, and that values are JAX's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import celadon
from celadon import compiler, lax, numpy as cnp
from celadon.cpu import nests
from celadon.cpu.plan import Outline, Place, Planner
from tests.cpu.programs import cpu
from tests.transforms.sides import agree

SHAPES = ((), (3,), (1,), (2, 3), (0,), (5,), (17,))


def carried() -> list[Any]:
    return [np.linspace(0.1, 0.9, int(np.prod(shape)), dtype=np.float32).reshape(shape) for shape in SHAPES]


def looped(m: Any, length: int, reverse: bool = False) -> Callable[[Any, Any], Any]:
    """A scan whose gradient saves floats, booleans and integers of several shapes."""
    n = m.numpy

    def step(state: Any, x: Any) -> Any:
        turned = [n.where(s > 0.5, n.sin(s) * x, s * s) for s in state]
        picked = [s[n.argmax(s)] if s.size and s.ndim == 1 else s.sum() for s in turned]
        return turned, sum(picked)

    def run(state: Any, xs: Any) -> Any:
        last, ys = m.lax.scan(step, state, xs[:length], reverse=reverse)
        return sum(s.sum() for s in last) + (ys**2).sum()

    return run


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("length", [0, 1, 6])
def test_gradients_of_a_scan_that_carries_many_arrays(length: int, reverse: bool) -> None:
    xs = np.linspace(0.5, 1.5, 6, dtype=np.float32)
    agree(lambda m, n: m.jit(m.grad(looped(m, length, reverse), argnums=(0, 1)))(carried(), xs))


def test_gradients_of_a_scan_within_loops_and_branches() -> None:
    xs = np.linspace(0.5, 1.5, 4, dtype=np.float32)

    def within(m: Any) -> Callable[[Any], Any]:
        inner = looped(m, 3)

        def step(total: Any, state: Any) -> Any:
            found = m.lax.cond(total > 1, inner, lambda state, xs: xs.sum() * state[1].sum(), state, xs * total)
            return m.numpy.tanh(total + found), m.numpy.cos(found)

        def run(state: Any) -> Any:
            rows = [m.numpy.stack([s, s * 0.5]) for s in state]
            last, ys = m.lax.scan(step, m.numpy.float32(0.7), rows)
            return last + ys.sum()

        return run

    agree(lambda m, n: m.jit(m.grad(within(m)))(carried()))
    agree(lambda m, n: m.jit(m.vmap(m.grad(looped(m, 4)), in_axes=(0, None)))([n.stack([c, c + 1]) for c in carried()], xs))


def test_second_derivatives_read_the_rows_of_three_scans() -> None:
    xs = np.linspace(0.5, 1.5, 4, dtype=np.float32)

    def twice(m: Any) -> Callable[..., Any]:
        first = m.grad(lambda a, b: looped(m, 4)([a, b], xs) ** 2, argnums=(0, 1))
        return m.grad(lambda a, b: sum((g**2).sum() for g in first(a, b)), argnums=(0, 1))

    agree(lambda m, n: m.jit(twice(m))(*carried()[:2]), rtol=2e-4)


def outline(function: Callable[..., Any], *arguments: Any) -> tuple[Outline, Any]:
    """The outline of a function on the CPU, and its program."""
    traced = celadon.jit(function).trace(*arguments)
    structure, _ = compiler.lift(compiler.simplify(compiler.lower(traced.needed, cpu.native)))
    return cpu.compile(structure).outline, structure.program


def doubled(state: Any, xs: Any) -> Any:
    """Two scans, of which the second reads the stacks of the first."""

    def backwards(total: Any, rows: Any) -> Any:
        return total + sum(row.sum() for row in rows[0]), None

    _, stacks = lax.scan(lambda c, x: ([cnp.sin(s) * x for s in c],) * 2, state, xs)
    return stacks, lambda rows: lax.scan(backwards, 0.0, (rows, xs), reverse=True)[0]


STATE, XS = [np.ones(n, np.float32) for n in (3, 1, 5)], np.ones(4, np.float32)


def back_and_forth(state: Any, xs: Any) -> Any:
    stacks, back = doubled(state, xs)
    return back(stacks)


def places(state: Any) -> dict[int, Place]:
    """Where the stacks are, by the extent of their rows."""
    found, program = outline(back_and_forth, state, XS)
    planner = Planner(found, nests.prepared(program))
    for step in found.steps:
        planner.take(step)
    [stacks] = set(found.stacks.values())
    return {planner.shapes[n][1]: planner.place(n) for n in stacks}


def test_rows_that_only_scans_read_follow_one_another() -> None:
    found = places(STATE)
    assert {place.strides for place in found.values()} == {(36, 4)}
    first = min(place.offset for place in found.values())
    assert sorted((place.offset - first, extent) for extent, place in found.items()) == [(0, 3), (12, 1), (16, 5)]
    np.testing.assert_allclose(celadon.jit(back_and_forth)(STATE, XS), back_and_forth(STATE, XS), rtol=1e-6)


def test_long_rows_stay_where_lines_of_the_cache_begin() -> None:
    state = [np.full(n, 0.5, np.float32) for n in (700, 3, 900, 5)]
    found = places(state)
    assert {extent: place.strides[0] for extent, place in found.items()} == {700: 2800, 900: 3600, 3: 32, 5: 32}
    assert found[700].offset % 64 == found[900].offset % 64 == 0
    assert float(celadon.jit(back_and_forth)(state, XS[:1])) == pytest.approx(1608 * np.sin(0.5), rel=1e-5)


@pytest.mark.parametrize("use", [
    lambda stacks, back: (back(stacks), stacks),
    lambda stacks, back: (back(stacks), [s.sum() for s in stacks]),
    lambda stacks, back: back([s[::-1] for s in stacks]),
    lambda stacks, back: back([cnp.sin(s) for s in stacks]),
    lambda stacks, back: [back(stacks), lax.fori_loop(0, 3, lambda i, c: c * sum(s[i, 0] for s in stacks), 1.0)],
])  # fmt: skip
def test_stacks_that_something_else_reads_are_arrays_of_their_own(use: Callable[..., Any]) -> None:
    found, _ = outline(lambda state, xs: use(*doubled(state, xs)), STATE, XS)
    assert found.stacks == {}


def test_stacks_of_different_readers_or_dtypes_are_in_different_blocks() -> None:
    def run(state: Any, xs: Any) -> Any:
        _, (a, b, c) = lax.scan(lambda s, x: (s, (s, [cnp.sin(one) for one in s], [one > x for one in s])), state, xs)
        first, _ = lax.scan(lambda t, rows: (t + sum(r.sum() for r in rows), None), 0.0, a)
        return lax.scan(lambda t, rows: (t + sum(r.sum() for r in (*rows[0], *rows[1])), None), first, (b, c))[0]

    found, _ = outline(run, STATE, XS)
    groups = set(found.stacks.values())
    assert sorted((len(group), found.dtypes[group[0]]) for group in groups) == [(3, "bool"), (3, "f32"), (3, "f32")]
    np.testing.assert_allclose(celadon.jit(run)(STATE, XS), 4 * (9 + 9 * np.sin(np.float32(1))), rtol=1e-6)
