"""Loops and branches in machine code against the same loops in Python and NumPy: random bodies, memory in place, one call."""

from __future__ import annotations

import ctypes
import gc
import random
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import celadon
from celadon import compiler, events, lax, numpy as cnp
from celadon.cpu.recipe import Nested, Step
from tests.cpu.programs import cpu

Body = Callable[..., Any]


class PythonLax:
    """The functions of lax that the programs use, as loops of Python over NumPy."""

    @staticmethod
    def scan(f: Body, carry: Any, xs: Any, reverse: bool = False) -> Any:
        count, made = len(xs[0]), []
        for i in reversed(range(count)) if reverse else range(count):
            carry, y = f(carry, tuple(x[i] for x in xs))
            made.append(y)
        made = made[::-1] if reverse else made
        rows = [np.stack(column) if made else None for column in zip(*made, strict=True)]
        return carry, rows

    @staticmethod
    def while_loop(condition: Body, body: Body, carry: Any) -> Any:
        while condition(carry):
            carry = body(carry)
        return carry

    @staticmethod
    def cond(pred: Any, yes: Body, no: Body, *operands: Any) -> Any:
        return (yes if pred else no)(*operands)

    @staticmethod
    def dynamic_slice(x: Any, starts: Any, sizes: Any) -> Any:
        return x[PythonLax.place(x, starts, sizes)]

    @staticmethod
    def dynamic_update_slice(x: Any, update: Any, starts: Any) -> Any:
        found = np.array(x)
        found[PythonLax.place(x, starts, update.shape)] = update
        return found

    @staticmethod
    def place(x: Any, starts: Any, sizes: Any) -> Any:
        moved = [min(max(int(a), 0), n - size) for a, n, size in zip(starts, x.shape, sizes, strict=True)]
        return tuple(slice(a, a + size) for a, size in zip(moved, sizes, strict=True))


class Pool:
    """The matrices, vectors and scalars that a random body may use."""

    def __init__(self, *values: Any):
        self.by_rank: tuple[list[Any], ...] = ([], [], [])
        for x in values:
            self.add(x)

    def add(self, x: Any) -> None:
        self.by_rank[x.ndim].append(x)

    def pick(self, rank: int, where: float) -> Any:
        found = self.by_rank[rank]
        return found[int(where * len(found))]

    def triple(self, places: list[float]) -> list[Any]:
        return [self.pick(rank, where) for rank, where in zip((2, 1, 0), places, strict=True)]


def _matrices(xp: Any, op: Any, m: Any, other: Any, v: Any, at: tuple[Any, Any]) -> list[Any]:
    n = m.shape[0]
    i, j = ((a, np.int32(0)) for a in at)
    return [
        m.T, m * np.float32(0.5) + other, xp.tanh(m @ other), m + v[:, None], xp.concatenate([m[1:], other[:1]]),
        op.dynamic_update_slice(m, v[None, :], i),
        op.dynamic_update_slice(m, op.dynamic_slice(m, i, (1, n)), j),
    ]  # fmt: skip


def _vectors(xp: Any, op: Any, m: Any, v: Any, other: Any, at: tuple[Any, Any]) -> list[Any]:
    n = v.shape[0]
    return [
        m @ v * np.float32(0.3), v[::-1] + other, m.sum(0) * np.float32(0.2), v.reshape(n, 1).T.reshape(n) - other,
        op.dynamic_slice(m, (at[0], np.int32(0)), (1, n))[0], op.dynamic_update_slice(v, other[1:2], (at[0],)),
    ]  # fmt: skip


def random_body(rng: random.Random, depth: int = 0) -> Body:
    """A function (xp, lax, carried triple, row triple, constant triple) -> (carried triple, triple to stack)."""
    count = rng.randrange(1, 7)
    steps = [(rng.randrange(3), rng.randrange(7), rng.random(), rng.random(), rng.randrange(2)) for _ in range(count)]
    inner = random_body(rng, depth + 1) if rng.random() < 0.35 and depth < 2 else None
    form, places = rng.randrange(3), [[rng.random() for _ in range(3)] for _ in range(4)]

    def body(xp: Any, op: Any, carry: Any, rows: Any, consts: Any) -> Any:
        pool = Pool(*carry, *rows, *consts)
        for rank, k, first, second, i in steps:
            m, v, s = pool.triple([first] * 3)
            other_m, other_v, other_s = pool.triple([second] * 3)
            at = np.int32(i), np.int32(1 - i)
            if rank == 2:
                pool.add(_matrices(xp, op, m, other_m, v, at)[k])
            elif rank == 1:
                pool.add(_vectors(xp, op, m, v, other_v, at)[k % 6])
            else:
                pool.add([xp.sin(s) + other_s, v.sum() * np.float32(0.3) + s, s * np.float32(0.5)][k % 3])
        if inner is not None:
            _nested(pool, inner, form, (xp, op), places)
        return pool.triple(places[2]), pool.triple(places[3])

    return body


def _nested(pool: Pool, inner: Body, form: int, language: tuple[Any, Any], places: list[list[float]]) -> None:
    xp, op = language
    carry, consts = pool.triple(places[0]), pool.triple(places[1])
    if form == 0:
        rows = tuple(xp.stack([a, b]) for a, b in zip(carry, consts, strict=True))
        carry, stacked = op.scan(lambda c, x: inner(xp, op, c, list(x), consts), carry, rows)
        pool.add(stacked[1].sum(0) * np.float32(0.1))
    elif form == 1:
        other = [carry[0], carry[1] * np.float32(2), carry[2]]
        carry = op.cond(carry[2] > 0.1, lambda c: inner(xp, op, c, consts, consts)[0], lambda c: other, carry)
    else:
        start = np.int32(0), carry
        one = np.int32(1)
        carry = op.while_loop(lambda t: t[0] < 3, lambda t: (t[0] + one, inner(xp, op, t[1], consts, consts)[0]), start)[1]
    for x in carry:
        pool.add(x)


def random_loop(seed: int) -> tuple[Callable[[Any, Any], Body], list[Any]]:
    """A loop as a function of a language, and its arguments."""
    rng, numbers = random.Random(seed), np.random.default_rng(seed)
    n, length, reverse, form = rng.choice([2, 3, 8, 17]), rng.choice([1, 2, 3, 5]), rng.random() < 0.3, rng.randrange(2)
    body = random_body(rng)

    def triple(*leading: int) -> list[Any]:
        shapes = ((n, n), (n,), ())
        return [np.asarray(numbers.normal(size=(*leading, *shape)) * 0.5, np.float32) for shape in shapes]

    def in_language(xp: Any, op: Any) -> Body:
        def scanned(carry: Any, xs: Any, consts: Any) -> Any:
            return op.scan(lambda c, x: body(xp, op, c, list(x), consts), carry, tuple(xs), reverse=reverse)

        def looped(carry: Any, xs: Any, consts: Any) -> Any:
            one = np.int32(1)
            return op.while_loop(
                lambda t: t[0] < length,
                lambda t: (t[0] + one, body(xp, op, t[1], consts, [t[1][0], *consts[1:]])[0]),
                (np.int32(0), carry),
            )

        return scanned if form else looped

    return in_language, [triple(), triple(length), triple()]


@pytest.mark.parametrize("seed", range(90))
def test_random_loops(seed: int) -> None:
    in_language, arguments = random_loop(seed)
    with np.errstate(all="ignore"):
        wanted = celadon.tree.leaves(in_language(np, PythonLax)(*arguments))
    with events.watching() as seen:
        found = celadon.tree.leaves(celadon.jit(in_language(cnp, lax))(*arguments))
    assert not [event for event in seen if event.kind == "fallback"]
    assert len(found) == len(wanted)
    for x, y in zip(found, wanted, strict=True):
        np.testing.assert_allclose(np.asarray(x), y, rtol=2e-3, atol=2e-3)


def nested_steps(function: Body, *arguments: Any) -> list[Nested]:
    """The loops and branches among the steps of a compiled function, outer ones first."""
    traced = celadon.jit(function).trace(*arguments)
    lowered = compiler.simplify(compiler.lower(traced.needed, cpu.native))
    structure, _ = compiler.lift(lowered)
    found: list[Nested] = []

    def collect(steps: tuple[Step, ...]) -> None:
        for step in steps:
            if isinstance(step, Nested):
                found.append(step)
                for region in step.regions:
                    collect(region.steps)

    collect(cpu.compile(structure).outline.steps)
    return found


def test_what_is_carried_is_written_in_place_where_nothing_reads_it_afterwards() -> None:
    x = cnp.ones((4, 4))
    [loop] = nested_steps(lambda x: lax.fori_loop(0, 3, lambda i, c: c * 2 + 1, x), x)
    assert loop.swapped == ()
    [loop] = nested_steps(lambda x: lax.fori_loop(0, 3, lambda i, c: c.T + 1, x), x)
    assert loop.swapped == (0,)
    [loop] = nested_steps(lambda x: lax.fori_loop(0, 3, lambda i, c: c @ c, x), x)
    assert loop.swapped == (0,)
    turn: Body = lambda c, _: ((c[1] + 1.0, c[0] * 2.0, c[2] * 2.0), None)  # noqa: E731
    [loop] = nested_steps(lambda a, b, x: lax.scan(turn, (a, b, x), None, length=3), 1.0, 2.0, x)
    assert loop.swapped == ()


def test_a_row_is_put_into_what_is_carried_without_a_copy_of_it() -> None:
    """The time of a step does not depend on the array that it changes a row of."""

    def seconds(n: int) -> float:
        x = cnp.zeros(n)
        run = celadon.jit(
            lambda x: lax.fori_loop(0, 2000, lambda i, c: lax.dynamic_update_slice(c, cnp.full(1, 2.0), (i,)), x)
        )
        result = run(x)
        assert float(result[:2000].sum()) == 4000.0 and float(result[2000:].sum()) == 0.0
        return min(_timed(lambda: run(x)) for _ in range(5))

    assert seconds(200_000) < 8 * seconds(2_000) + 1e-3


def _timed(thunk: Callable[[], Any]) -> float:
    start = time.perf_counter()
    thunk()
    return time.perf_counter() - start


def test_ten_thousand_steps_are_one_call_and_no_python() -> None:
    def step(c: Any, x: Any) -> Any:
        counted.append(1)
        return c * 0.5 + x, c

    counted: list[int] = []
    xs = np.linspace(0, 1, 10_000, dtype=np.float32)
    run = celadon.jit(lambda xs: lax.scan(step, 0.0, xs))
    last, ys = run(xs)
    assert len(counted) == 1
    wanted, value = np.empty(10_000, np.float32), np.float32(0)
    for i, x in enumerate(xs):
        wanted[i], value = value, value * np.float32(0.5) + x
    np.testing.assert_array_equal(np.asarray(ys), wanted)
    assert float(last) == float(value)
    for _ in range(20):  # what a call loads when it recurs is loaded
        run(xs)
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(20):
        run(xs)
    assert len(gc.get_objects()) - before < 100


def test_loops_from_many_threads() -> None:
    run = celadon.jit(lambda x, n: lax.fori_loop(0, n, lambda i, c: cnp.sin(c.T) + i, x))
    inputs = [cnp.asarray(np.random.default_rng(k).normal(size=(5, 5)).astype("f")) for k in range(6)]
    wanted = [np.asarray(run(x, k + 50)) for k, x in enumerate(inputs)]
    failures: list[int] = []

    def work(k: int) -> None:
        for _ in range(50):
            if not np.array_equal(np.asarray(run(inputs[k], k + 50)), wanted[k]):
                failures.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "bfloat16", "float16", "float32", "complex64"])
def test_dtypes_that_loops_carry(dtype: str) -> None:
    x = cnp.asarray(np.arange(7) % 2).astype(dtype)
    reverse, (ys,) = lax.scan(lambda c, row: (cnp.roll(c, 1) if dtype == "bool" else c + row, (c,)), x, cnp.stack([x, x, x]))
    value, made = np.asarray(x), []
    for _ in range(3):
        made.append(value)
        value = np.roll(value, 1) if dtype == "bool" else (value + np.asarray(x)).astype(value.dtype)
    assert (np.asarray(reverse) == value).all() and (np.asarray(ys) == np.stack(made)).all()


@pytest.mark.parametrize("length", [0, 1, 2, 5])
def test_lengths_and_views_of_rows(length: int) -> None:
    x = np.arange(6 * 8 * 3, dtype=np.float32).reshape(6, 8, 3)
    seen = x.transpose(1, 2, 0)[:length, ::-1, 1:5]
    run = celadon.jit(lambda x: lax.scan(lambda c, row: (c + row.sum(), row * 2), 0.0, x.transpose(1, 2, 0)[:length, ::-1, 1:5]))
    total, rows = run(x)
    np.testing.assert_allclose(float(total), seen.sum(), rtol=1e-6)
    np.testing.assert_array_equal(np.asarray(rows), seen * 2)


@pytest.mark.parametrize("body", [lambda c: c * 0.5, lambda c: c @ c * 0.3, lambda c: c.T + c])
def test_what_lies_behind_an_array_does_not_slow_a_loop_down(body: Body) -> None:
    """Kernels compute with whole vectors: bytes behind the end that read as subnormal numbers must not stay there."""
    c = cnp.asarray(np.ones((3, 3), np.float32))
    ctypes.memset(c.block.pointer + c.nbytes, 1, 64 - c.nbytes)
    out = celadon.jit(lambda c: lax.scan(lambda c, _: (body(c), None), c, None, length=5)[0])(c)
    assert ctypes.string_at(out.block.pointer + out.nbytes, 64 - out.nbytes) == bytes(64 - out.nbytes)
