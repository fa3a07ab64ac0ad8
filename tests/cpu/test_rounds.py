"""Loops that only compute scalars are one kernel with the loop inside: the same bits as the body run round by round."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import celadon
from celadon import lax, numpy as cnp
from celadon.cache import lifting
from celadon.cpu.recipe import Launch, Moved, Nested, Step
from tests.cpu.programs import cpu


def steps_of(function: Any, *arguments: Any) -> tuple[tuple[Step, ...], list[str]]:
    """The steps of a compiled function, and what sorts of kernels it has."""
    traced = celadon.jit(function).trace(*arguments)
    lowered = celadon.compiler.simplify(celadon.compiler.lower(traced.needed, cpu.native))
    schedule = cpu.compile(celadon.compiler.lift(lowered)[0]).outline.schedule
    return schedule.steps, [kernel.kind for kernel in schedule.kernels if isinstance(kernel, Moved)]


def in_python(body: Any, carry: Any, rows: Any, reverse: bool = False) -> tuple[Any, list[Any]]:
    """The scan as calls of the jitted body."""
    step, made = celadon.jit(body), []
    count = len(rows[0])
    for i in reversed(range(count)) if reverse else range(count):
        carry, y = step(carry, tuple([x[i] for x in rows]))
        made.append([np.asarray(v) for v in y])
    return carry, [np.stack(column) for column in zip(*(made[::-1] if reverse else made), strict=True)]


def same(found: Any, wanted: Any) -> None:
    for x, y in zip(celadon.tree.leaves(found), celadon.tree.leaves(wanted), strict=True):
        assert np.asarray(x).dtype == np.asarray(y).dtype
        assert np.asarray(x).tobytes() == np.asarray(y).tobytes()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "complex64", "int32", "uint8"])
@pytest.mark.parametrize("reverse", [False, True])
def test_scans_of_scalars_have_the_bits_of_their_rounds(dtype: str, reverse: bool) -> None:
    rng = np.random.default_rng(3)
    xs = cnp.asarray(rng.normal(size=9) * 3 + 4).astype(dtype)
    ys = cnp.asarray(rng.integers(-3, 9, 9), cnp.int32)
    factor = cnp.asarray(1.7).astype(dtype)

    def body(carry: Any, row: Any) -> Any:
        a, flag, k = carry
        x, y = row
        x = a * factor + cnp.where(flag, x, x * x)
        return ((x * factor / 3).astype(dtype), y > k, k + y // 2), (x, ~flag)

    start = xs[0], cnp.asarray(True), cnp.asarray(1, cnp.int32)
    run = celadon.jit(lambda s, *rows: lax.scan(body, s, rows, reverse=reverse))
    same(run(start, xs, ys), in_python(body, start, (xs, ys), reverse))
    _, kinds = steps_of(run, start, xs, ys)
    assert kinds == ["rounds"]


def test_transcendental_functions_in_a_round_are_those_outside() -> None:
    def body(c: Any, row: Any) -> Any:
        c = cnp.sin(c) + cnp.exp(-c * c) * row[0] + cnp.tanh(c) ** 3 + cnp.log1p(cnp.abs(c))
        c = c + c**1.5 / (1 + cnp.arctan2(c, row[0]))
        return c, (c,)

    xs = cnp.linspace(0, 1, 200)
    same(celadon.jit(lambda c, x: lax.scan(body, c, (x,)))(0.3, xs), in_python(body, cnp.float32(0.3), (xs,)))


@pytest.mark.parametrize("n", [0, 1, 7, 100])
def test_while_loops_of_scalars(n: int) -> None:
    """The greatest common divisor, a counter with a limit from outside; no round at all where the condition does not hold."""

    def divisor(a: Any, b: Any, limit: Any) -> Any:
        return lax.while_loop(lambda s: (s[1] != 0) & (s[2] < limit), lambda s: (s[1], s[0] % s[1], s[2] + 1), (a, b, 0))

    a, b, rounds = 1071, 462, 0
    while b and rounds < n:
        a, b, rounds = b, a % b, rounds + 1
    assert tuple(map(int, celadon.jit(divisor)(1071, 462, n))) == (a, b, rounds)
    assert steps_of(divisor, 1071, 462, n)[1] == ["rounds"]


@pytest.mark.parametrize("length", [0, 1, 5])
def test_lengths_are_numbers_and_arrays_may_be_views(length: int) -> None:
    x = np.arange(40, dtype=np.float32).reshape(8, 5)
    found, rows = celadon.jit(lambda x: lax.scan(lambda c, r: (c + r, c * r), 1.0, x[1 : 1 + length, ::-1][:, 2]))(x)
    total, wanted = np.float32(1), []
    for r in x[1 : 1 + length, ::-1][:, 2]:
        wanted.append(total * r)
        total += r
    assert float(found) == total and np.asarray(rows).tolist() == wanted


def test_a_loop_of_scalars_in_another_loop_is_one_step_of_it() -> None:
    def newton(x: Any) -> Any:
        return lax.fori_loop(0, 6, lambda i, y: 0.5 * (y + x / y), x)

    def outer(x: Any) -> Any:
        return lax.scan(lambda c, row: ((c[0] + newton(row.sum()), c[1] * 0.5 + row), newton(c[0])), (1.0, x[0]), x)

    x = np.abs(np.random.default_rng(0).normal(size=(4, 3))).astype(np.float32) + 1
    steps, kinds = steps_of(outer, x)
    [scan] = [step for step in steps if isinstance(step, Nested)]
    launched = [step for step in scan.regions[0].steps if isinstance(step, Launch) and step.rule == "rounds"]
    assert kinds == ["rounds"] and len(launched) == 2
    (total, row), roots = celadon.jit(outer)(x)
    carry, wanted, made = np.float32(1), x[0], []
    for r in x:
        made.append(np.sqrt(carry))
        carry, wanted = carry + np.sqrt(r.sum()), wanted * 0.5 + r
    np.testing.assert_allclose([float(total), *np.asarray(roots), *np.asarray(row)], [carry, *made, *wanted], rtol=1e-5)


def test_a_long_loop_body_stays_a_list_of_steps() -> None:
    def body(c: Any, _: Any) -> Any:
        for k in range(200):
            c = c * 0.5 + float(k)
        return c, None

    steps, kinds = steps_of(lambda x: lax.scan(body, x, None, length=2)[0], 1.0)
    assert kinds == [] and any(isinstance(step, Nested) for step in steps)


def test_lifting_changes_no_bits() -> None:
    def run(x: Any) -> Any:
        return lax.while_loop(lambda s: s[0] < 100, lambda s: (s[0] + 1, cnp.sin(s[1]) * 1.25), (0, x))[1]

    wanted = celadon.jit(run)(0.5)
    with lifting(False):
        same(celadon.jit(lambda x: run(x))(0.5), wanted)
    same(run(cnp.float32(0.5)), wanted)
