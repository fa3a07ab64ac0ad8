"""Stacks of a scan that lie row beside row in one block: which ones, where, and that values are JAX's."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import celadon
from celadon import compiler, lax, numpy as cnp
from celadon.cpu import nests
from celadon.cpu.plan import Outline, Planner
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


def test_rows_that_only_scans_read_follow_one_another() -> None:
    def run(state: Any, xs: Any) -> Any:
        stacks, back = doubled(state, xs)
        return back(stacks)

    found, program = outline(run, STATE, XS)
    [stacks] = set(found.stacks.values())
    planner = Planner(found, nests.prepared(program))
    for step in found.steps:
        planner.take(step)
    places = [planner.place(n) for n in stacks]
    assert {place.strides[0] for place in places} == {36}
    rows = [int(np.prod(planner.shapes[n][1:])) * 4 for n in stacks]
    assert sorted(rows) == [4, 12, 20]
    assert all(b.offset - a.offset == row for (a, b), row in zip(pairwise(places), rows, strict=False))
    np.testing.assert_allclose(celadon.jit(run)(STATE, XS), run(STATE, XS), rtol=1e-6)


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
