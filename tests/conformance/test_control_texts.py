"""The text of loops and branches, character for character as real JAX prints it, and what the real MLIR parser makes of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import celadon
import celadon.numpy as cnp
from celadon.xla import parse

Case = Callable[[Any, Any], tuple[Any, ...]]  # of lax and numpy: a function and its arguments
V, M, FIVE = np.ones(3, "f"), np.ones((4, 3), "f"), np.ones((5, 3), "f")

CASES: dict[str, Case] = {
    "cond": lambda L, np_: (lambda x: L.cond(x > 0, lambda y: np_.sin(y), lambda y: y * 2, x), np.float32(1)),
    "cond of captured values": lambda L, np_: (lambda p, a: L.cond(p, lambda: a, lambda: a + 1), True, V),
    "cond that passes operands on": lambda L, np_: (lambda p, a: L.cond(p, lambda x: (x, x + 1), lambda x: (x, x), a), True, V),
    "cond of numbers": lambda L, np_: (lambda p, a: L.cond(p, lambda x: (x, 1.0), lambda x: (x * 2, 2.0), a), True, V),
    "switch": lambda L, np_: (
        lambda i, x: L.switch(i, [lambda y: (y, y * 2), lambda y: (y * 3, y), lambda y: (y, y)], x), 1, V
    ),
    "while": lambda L, np_: (lambda x: L.while_loop(lambda c: c[0] < 10, lambda c: (c[0] + 1, c[1] * x), (0, x)), np.float32(1)),
    "while in a while": lambda L, np_: (
        lambda a: L.while_loop(lambda c: c < 3, lambda c: L.while_loop(lambda d: d < 5, lambda d: d + c, c), a), 1
    ),
    "fori": lambda L, np_: (lambda x: L.fori_loop(0, 10, lambda i, c: np_.sin(c) * x, x), np.float32(1)),
    "fori that reads its index": lambda L, np_: (lambda a: L.fori_loop(0, 3, lambda i, c: c + i, a), V),
    "fori of traced bounds": lambda L, np_: (lambda a, n: L.fori_loop(0, n, lambda i, c: c + a, 0.0), 1.0, 3),
    "fori of a tree": lambda L, np_: (lambda a: L.fori_loop(0, 3, lambda i, c: (c[1], c[0], c[2] + 1), (a, a, 1)), V),
    "scan": lambda L, np_: (lambda a: L.scan(lambda c, y: (c + y, c), 0.0, a), np.ones(4, "f")),
    "scan reversed": lambda L, np_: (lambda a: L.scan(lambda c, y: (c + y, c), 0.0, a, reverse=True), np.ones(4, "f")),
    "scan of constants and rows": lambda L, np_: (lambda w, a: L.scan(lambda c, y: (c * w + y, c * 2), np_.zeros(3), a), V, M),
    "scan unrolled": lambda L, np_: (lambda w, a: L.scan(lambda c, y: (c, y + 1), w, a, unroll=2), V, FIVE),
    "scan unrolled and reversed": lambda L, np_: (
        lambda w, a: L.scan(lambda c, y: (c + y, (y + 1, c)), w, a, unroll=2, reverse=True), V, FIVE
    ),
    "scan unrolled with a rest of one": lambda L, np_: (
        lambda w, a: L.scan(lambda c, y: (c + y, (y + 1, c)), w, a, unroll=3), V, M
    ),
    "scan unrolled whole": lambda L, np_: (lambda w, a: L.scan(lambda c, y: (c + y, (y + 1, c)), w, a, unroll=True), V, M[:3]),
    "scan of which a part is wanted": lambda L, np_: (
        lambda a: L.scan(lambda c, y: ((c[0] + 1, c[1] * 2), None), (0, 1.0), None, length=3)[0][1], V
    ),
    "scan of length 0": lambda L, np_: (lambda a: L.scan(lambda c, y: (c + 1, None), 0.0, None, length=0), V),
    "cond in a scan": lambda L, np_: (
        lambda a: L.scan(lambda c, y: (L.cond(y > 0, lambda: c + 1, lambda: c * y), c), 0.0, a)[0], np.ones(4, "f")
    ),
    "scan in a scan": lambda L, np_: (lambda a: L.scan(lambda c, y: L.scan(lambda d, z: (d + z, d * z), c, y), 0.0, a), M),
    "fori in a cond": lambda L, np_: (
        lambda a: L.cond(a.sum() > 0, lambda: L.fori_loop(0, 3, lambda i, c: c * 2, a), lambda: a), V
    ),
    "map": lambda L, np_: (lambda a: L.map(lambda y: y + 1, a), M),
    "associative_scan": lambda L, np_: (lambda a: L.associative_scan(np_.add, a), np.ones(7, "f")),
    "associative_scan reversed": lambda L, np_: (lambda a: L.associative_scan(np_.add, a, reverse=True, axis=1), M),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_text_is_jax_s(name: str) -> None:
    function, *arguments = CASES[name](celadon.lax, cnp)
    theirs, *same = CASES[name](jax.lax, jnp)
    ours = celadon.jit(function).lower(*arguments).as_text()
    assert ours == jax.jit(theirs).lower(*same).as_text().replace('result_info = "result', 'result_info = "')
    parse(ours)


def calls(J: Any, np_: Any) -> list[tuple[Callable[..., Any], Any]]:
    f = J.jit(lambda x, y: (np_.sin(x), np_.cos(y)))
    g = J.jit(lambda x: (x + 1, x * 2))
    return [
        (lambda x: f(x, x)[0], 1.0),
        (lambda x: (f(x, x)[0], f(x, x)), 1.0),
        (lambda x: g(f(x, x)[1])[0], 1.0),
        (lambda x: J.lax.fori_loop(0, 3, lambda i, c: f(c, x)[0], x), 1.0),
    ]


@pytest.mark.parametrize("k", range(4))
def test_calls_lose_results_that_nobody_wants(k: int) -> None:
    (function, x), (theirs, y) = calls(celadon, cnp)[k], calls(jax, jnp)[k]
    ours = celadon.jit(function).lower(x).as_text()
    assert ours == jax.jit(theirs).lower(y).as_text().replace('result_info = "result', 'result_info = "')


@pytest.mark.parametrize("name", ["switch", "while", "fori of traced bounds", "scan unrolled and reversed", "cond in a scan"])
def test_xla_runs_the_text(name: str) -> None:
    function, *arguments = CASES[name](celadon.lax, cnp)
    wanted = celadon.tree.leaves(celadon.jit(function)(*arguments))
    with celadon.cache.executor_name("xla"):
        found = celadon.tree.leaves(celadon.jit(function)(*arguments))
    for x, y in zip(found, wanted, strict=True):
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=1e-5)


def _of_matrices(J: Any, np_: Any) -> Any:
    return J.grad(lambda a: J.lax.scan(lambda x, i: (a @ x, None), np_.zeros(3), np_.arange(10))[0].sum())


def _of_branches(count: int) -> Callable[[Any, Any], Any]:
    def made(J: Any, np_: Any) -> Any:
        branches = [np_.sin, np_.cos, np_.sinh, lambda x: np_.sin(x) + np_.cos(x)][:count]
        return lambda x: J.grad(lambda x, i: J.lax.switch(i + 1, branches, x))(x, 0)

    return made


WORK: dict[str, tuple[Callable[[Any, Any], Any], Any, str]] = {
    "a batched loop has one counter": (
        lambda J, np_: J.vmap(lambda x: J.lax.while_loop(lambda c: c[0] < 4, lambda c: (c[0] + 1, c[1] + 1), (0, x))),
        np.arange(3), r"(?<=: )tensor.*(?=\n *cond)",
    ),
    "a matrix that all steps share is not stacked": (_of_matrices, np.zeros((3, 3), "f"), "dynamic_update_slice"),
    "rows that pass through are not stacked": (
        lambda J, np_: lambda x: J.lax.scan(lambda c, x: (c + 1, x), 0, x), V, "dynamic_update_slice",
    ),
    "two branches save in one place": (_of_branches(2), np.float32(0), r"(?<=}\) : ).*"),
    "three branches save in one place": (_of_branches(3), np.float32(0), r"(?<=}\) : ).*"),
    "the fourth branch needs another": (_of_branches(4), np.float32(0), r"(?<=}\) : ).*"),
}  # fmt: skip


@pytest.mark.parametrize("name", WORK)
def test_no_more_work_than_in_jax(name: str) -> None:
    """What JAX's own tests read off its internals is read off both texts."""
    make, x, sign = WORK[name]
    ours, theirs = (J.jit(make(J, np_)).lower(x).as_text() for J, np_ in ((celadon, cnp), (jax, jnp)))
    assert re.findall(sign, ours) == re.findall(sign, theirs)
    assert "stacked" in name or re.search(sign, ours)


def test_a_power_of_an_integer_is_gone_from_the_linear_part() -> None:
    _, along = celadon.linearize(lambda x: 2 * x**0 + 3 * x**1 + 4 * x**2, np.float32(3))
    text = str(celadon.make_jaxpr(along)(np.float32(1)))
    assert "multiply" in text
    assert "pow" not in text
