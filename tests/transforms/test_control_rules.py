"""Derivatives and batches of loops and branches, nested in each other, against real JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import celadon
from celadon import errors, lax, numpy as cnp

V = np.linspace(-1, 1, 3).astype("f")
M = np.arange(12).reshape(4, 3).astype("f") / 10
W = (np.arange(9).reshape(3, 3) / 9).astype("f")
Case = Callable[[Any, Any], tuple[Any, ...]]  # of a package and its numpy: a function and its arguments


def two_sided(J: Any) -> Any:
    return lambda x: J.lax.cond(x > 0, lambda y: J.numpy.sin(y), lambda y: y * y, x)


def recurrent(J: Any) -> Any:
    np_ = J.numpy

    def loss(w: Any, a: Any) -> Any:
        c, ys = J.lax.scan(lambda c, y: (np_.tanh(w @ c) + y, c * 2), np_.zeros(3), a)
        return (c * c).sum() + np_.sin(ys).sum()

    return loss


def powers(J: Any) -> Any:
    return lambda x: J.lax.while_loop(lambda c: c[0] < 5, lambda c: (c[0] + 1, J.numpy.sin(c[1]) * x), (0, x))[1]


def until(J: Any) -> Any:
    return lambda x, n: J.lax.while_loop(lambda c: c < n, lambda c: c * 2 + x, x)


def counted(J: Any) -> Any:
    return lambda x: J.lax.fori_loop(0, 4, lambda i, c: J.numpy.sin(c) * x + i, x)


def chosen(J: Any) -> Any:
    np_ = J.numpy
    return lambda i, x: J.lax.switch(i, [lambda y: y.sum(), lambda y: np_.exp(y).sum(), lambda y: (y * y).sum()], x)


def nested(J: Any) -> Any:
    def loss(w: Any, a: Any) -> Any:
        def row(c: Any, x: Any) -> Any:
            return J.lax.scan(lambda d, e: (d * w.sum() + e, d), c, x)

        return J.lax.scan(row, 0.0, a)[1].sum()

    return loss


def branch_in_scan(J: Any) -> Any:
    def loss(x: Any) -> Any:
        def step(c: Any, _: Any) -> Any:
            return J.lax.cond(True, lambda v: (v[0] * x, True), lambda v: (v[0], False), c), None

        return J.lax.scan(step, (1.0, True), None, length=4)[0][0]

    return loss


def integers_carried(J: Any) -> Any:
    return lambda x: J.lax.scan(lambda ix, t: (ix, ix[1] + t), (0, x), J.numpy.arange(10))[1].sum()


def safe(J: Any) -> Any:
    return lambda x: J.lax.cond(x < 1e-3, lambda: 1e-3, lambda: J.numpy.sqrt(x))


def several_constants(J: Any) -> Any:
    """Residuals of all sorts: constants, what constants give, rows, carried values, results."""
    np_ = J.numpy

    def loss(a: Any, b: Any, xs: Any) -> Any:
        def step(c: Any, x: Any) -> Any:
            held = np_.exp(a * b)
            y = np_.tanh(c * held) * x
            return y + np_.sin(a), (y * b, c)

        c, (ys, cs) = J.lax.scan(step, a, xs)
        return (c * ys.sum(0) * cs.sum(0)).sum()

    return loss


CASES: dict[str, Case] = {
    "grad cond": lambda J, np_: (J.grad(two_sided(J)), 1.5),
    "grad cond, other branch": lambda J, np_: (J.grad(two_sided(J)), -0.5),
    "grad grad cond": lambda J, np_: (J.grad(J.grad(two_sided(J))), 1.5),
    "vmap cond": lambda J, np_: (J.vmap(two_sided(J)), V),
    "vmap grad cond": lambda J, np_: (J.vmap(J.grad(two_sided(J))), V),
    "grad vmap cond": lambda J, np_: (J.grad(lambda v: J.vmap(two_sided(J))(v).sum()), V),
    "jit grad cond": lambda J, np_: (J.jit(J.grad(two_sided(J))), 1.5),
    "grad switch": lambda J, np_: (J.grad(chosen(J), argnums=1), 1, V),
    "vmap switch": lambda J, np_: (J.vmap(chosen(J), in_axes=(0, None)), np.int32([0, 1, 2]), V),
    "vmap grad switch": lambda J, np_: (J.vmap(J.grad(chosen(J), argnums=1)), np.int32([0, 1, 2]), M[:3]),
    "vmap cond of shared operands": lambda J, np_: (
        J.vmap(lambda p, x: J.lax.cond(p, lambda x: x * 2.0, lambda x: np_.sin(x), x).sum(), in_axes=(0, None)),
        np.array([True, False]), V,
    ),
    "vmap cond of captured values": lambda J, np_: (
        J.vmap(lambda x: J.lax.cond(x.sum() > 0, lambda: x, lambda: x * 2)), M - 0.5
    ),
    "grad of an infinite slope not taken": lambda J, np_: (J.grad(lambda x: J.vmap(safe(J))(x).sum()), np.zeros(3, "f")),
    "grad scan": lambda J, np_: (J.grad(recurrent(J), argnums=(0, 1)), W, M),
    "jit grad scan": lambda J, np_: (J.jit(J.grad(recurrent(J), argnums=(0, 1))), W, M),
    "jvp scan": lambda J, np_: (lambda w, a: J.jvp(recurrent(J), (w, a), (w, a)), W, M),
    "hessian scan": lambda J, np_: (J.hessian(lambda v: recurrent(J)(W, M * v)), V),
    "vjp of grad scan": lambda J, np_: (lambda w: J.vjp(lambda w: J.grad(recurrent(J))(w, M), w)[1](w), W),
    "vmap scan of rows": lambda J, np_: (J.vmap(recurrent(J), in_axes=(None, 0)), W, np.stack([M, M * 2])),
    "vmap scan of constants": lambda J, np_: (J.vmap(recurrent(J), in_axes=(0, None)), np.stack([W, W * 2]), M),
    "vmap scan, axis 1": lambda J, np_: (J.vmap(recurrent(J), in_axes=(None, 1)), W, np.stack([M, M * 2], 1)),
    "vmap grad scan": lambda J, np_: (J.vmap(J.grad(recurrent(J)), in_axes=(0, None)), np.stack([W, W * 2]), M),
    "grad vmap scan": lambda J, np_: (
        J.grad(lambda w: J.vmap(recurrent(J), in_axes=(0, None))(w, M).sum()), np.stack([W, W * 2])
    ),
    "grad scan of all sorts": lambda J, np_: (J.grad(several_constants(J), argnums=(0, 1, 2)), V, V + 2, M),
    "hessian scan of all sorts": lambda J, np_: (J.hessian(several_constants(J), argnums=(0, 1)), V, V + 2, M),
    "linearize scan of all sorts": lambda J, np_: (
        lambda a, b, xs: J.linearize(several_constants(J), a, b, xs)[1](b, a, xs), V, V + 2, M
    ),
    "grad scan reversed": lambda J, np_: (
        J.grad(lambda x: J.lax.scan(lambda c, y: (c * y, c), x, np_.arange(1.0, 5.0), reverse=True)[1].sum()), 2.0
    ),
    "grad nested scans": lambda J, np_: (J.grad(nested(J), argnums=(0, 1)), V, M),
    "vmap grad nested scans": lambda J, np_: (J.vmap(J.grad(nested(J)), in_axes=(None, 0)), V, np.stack([M, M * 2])),
    "grad cond in scan": lambda J, np_: (J.grad(branch_in_scan(J)), 3.0),
    "grad with an integer carried": lambda J, np_: (J.grad(integers_carried(J)), 1.0),
    "grad scan that swaps": lambda J, np_: (
        J.grad(lambda x: J.lax.fori_loop(0, 3, lambda i, c: (c[1], c[0] * 2 + x), (x, x * 3))[0]), 2.0
    ),
    "grad scan with a constant carry": lambda J, np_: (
        J.grad(lambda x: J.lax.scan(lambda c, y: (c, y * x), 1.0, np_.arange(3.0))[1].sum()), 2.0
    ),
    "grad of an empty scan": lambda J, np_: (J.grad(lambda a: J.lax.scan(lambda c, x: (c * x, None), a, np_.zeros(0))[0]), 3.0),
    "jacrev scan": lambda J, np_: (J.jacrev(lambda a: J.lax.scan(lambda c, y: (c * y, c + y), 1.0, a)[1]), V),
    "grad fori": lambda J, np_: (J.grad(counted(J)), 0.3),
    "grad grad fori": lambda J, np_: (J.grad(J.grad(counted(J))), 0.3),
    "grad fori, bounds differentiated": lambda J, np_: (
        J.grad(lambda x: J.lax.fori_loop(x, x + 2.0, lambda i, c: c * c, x)), 1.5
    ),
    "vmap fori of counts": lambda J, np_: (J.vmap(lambda n: J.lax.fori_loop(0, n, lambda i, c: c + i, 0)), np.int32([0, 3, 5])),
    "jvp while": lambda J, np_: (lambda x: J.jvp(powers(J), (x,), (1.0,)), 0.5),
    "linearize while": lambda J, np_: (lambda x: J.linearize(powers(J), x)[1](2.0), 0.5),
    "jacfwd vmap while": lambda J, np_: (J.jacfwd(lambda v: J.vmap(powers(J))(v)), V),
    "vmap jvp while": lambda J, np_: (J.vmap(lambda x: J.jvp(powers(J), (x,), (1.0,))), V),
    "vmap while, members end apart": lambda J, np_: (J.vmap(until(J)), np.float32([1, 2, 3]), np.float32([5, 50, 2])),
    "vmap while, conditions apart": lambda J, np_: (J.vmap(until(J), in_axes=(None, 0)), 1.0, np.float32([5, 50, 2])),
    "vmap vmap while": lambda J, np_: (
        J.vmap(J.vmap(until(J)), in_axes=(0, None)), np.float32([[1, 2], [3, 4]]), np.float32([5, 50])
    ),
    "jvp vmap while": lambda J, np_: (
        lambda a, b: J.jvp(lambda a: J.vmap(until(J))(a, b), (a,), (a,)), np.float32([1, 2, 3]), np.float32([5, 50, 2])
    ),
    "grad of what a while does not reach": lambda J, np_: (
        J.grad(lambda x: x * J.lax.while_loop(lambda c: c < 9.0, lambda c: c * 2.0, 1.5)), 2.0
    ),
    "grad map": lambda J, np_: (J.grad(lambda a: J.lax.map(lambda y: np_.sin(y) * y.sum(), a).sum()), M),
    "grad map in batches": lambda J, np_: (J.grad(lambda a: J.lax.map(lambda y: np_.sin(y).sum(), a, batch_size=3).sum()), M),
    "vmap map": lambda J, np_: (J.vmap(lambda a: J.lax.map(lambda y: y * 2, a)), M),
    "grad associative_scan": lambda J, np_: (J.grad(lambda a: J.lax.associative_scan(np_.multiply, a).sum()), V + 2),
    "transpose of a scan": lambda J, np_: (
        lambda a: J.linear_transpose(lambda a: J.lax.scan(lambda c, y: (c + y, c * 2), 0.0, a)[1], a)(a), V
    ),
    "transpose of a loop with a counter": lambda J, np_: (
        lambda a: J.linear_transpose(lambda a: J.lax.fori_loop(0, 3, lambda i, c: c * i + a, a), a)(a), V
    ),
}  # fmt: skip


CONCRETE = {"grad fori, bounds differentiated"}


@pytest.mark.parametrize("name", CASES)
def test_as_jax(name: str) -> None:
    ours, *arguments = CASES[name](celadon, cnp)
    theirs, *same = CASES[name](jax, jnp)
    theirs = theirs if name in CONCRETE else jax.jit(theirs)  # one compile
    wanted = [np.asarray(x) for x in jax.tree.leaves(theirs(*same))]
    found = [np.asarray(x) for x in celadon.tree.leaves(ours(*arguments))]
    assert [(x.shape, x.dtype) for x in found] == [(x.shape, x.dtype) for x in wanted]
    for x, y in zip(found, wanted, strict=True):
        np.testing.assert_allclose(x, y, rtol=2e-4, atol=1e-5)


def test_a_batched_branch_of_linear_parts_is_transposed() -> None:
    """JAX refuses."""

    def linear(p: Any, x: Any) -> Any:
        return celadon.linearize(lambda y: lax.cond(p, lambda: y, lambda: 2 * y), 1.0)[1](x)

    def f(y: Any) -> Any:
        return celadon.vmap(linear)(cnp.array([False]), y[None])[0]

    assert float(celadon.linear_transpose(f, 1.0)(cnp.array(1.0))[0]) == 2.0


@pytest.mark.parametrize("jitted", [False, True])
def test_a_loop_of_unknown_length_is_refused_backwards(jitted: bool) -> None:
    def loss(x: Any, n: Any) -> Any:
        return lax.fori_loop(0, n, lambda i, c: c * x, x)

    gradient = celadon.grad(loss)
    with pytest.raises(errors.WhileBackwards):
        if jitted:
            celadon.jit(gradient)(2.0, 3)
        else:
            celadon.vmap(gradient, in_axes=(0, 0))(cnp.ones(2), cnp.array([1, 2]))
    assert float(gradient(2.0, 3)) == 32.0


def scans(program: Any) -> list[Any]:
    """The scans of a program, and in the programs that it holds."""
    found = []
    for equation in program.equations:
        found += [equation] if equation.op.name == "scan" else []
        for value in equation.params.values():
            found += scans(value) if hasattr(value, "equations") else []
    return found


def test_what_no_step_changes_is_not_stacked() -> None:
    """The derivative of the loop needs exp(w), a matrix; it is the same at all 50 steps."""

    def loss(w: Any, xs: Any) -> Any:
        return lax.scan(lambda c, x: (cnp.exp(w) @ c * x, None), cnp.ones(8), xs)[0].sum()

    w, xs = cnp.ones((8, 8)), cnp.ones(50)
    program = celadon.jit(celadon.grad(loss)).trace(w, xs).program
    shapes = [var.type.shape for equation in scans(program) for var in equation.outputs]
    assert shapes and (50, 8, 8) not in shapes
    found, wanted = celadon.grad(loss)(w * 0.1, xs), jax.grad(_their_loss)(np.full((8, 8), 0.1, "f"), np.ones(50, "f"))
    np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=1e-4)


def _their_loss(w: Any, xs: Any) -> Any:
    return jax.lax.scan(lambda c, x: (jnp.exp(w) @ c * x, None), jnp.ones(8), xs)[0].sum()


def test_residuals_that_are_rows_or_results_are_not_stacked_again() -> None:
    def loss(xs: Any) -> Any:
        last, ys = lax.scan(lambda c, x: (c * x, cnp.exp(c)), 1.0, xs)
        return last + ys.sum()

    program = celadon.jit(celadon.grad(loss)).trace(cnp.ones(30)).program
    forward = scans(program)[0]
    stacked = [var for var in forward.outputs if var.type.shape == (30,)]
    assert len(stacked) == 2  # exp(c), which its derivative needs too, and c; the rows themselves are at hand
    assert len(forward.outputs) == 3


def many_leaves(J: Any) -> Any:
    def step(c: Any, _: Any) -> Any:
        return [J.numpy.sin(a) * 0.9 + b * 0.1 for a, b in zip(c, [*c[1:], c[0]], strict=True)], None

    return lambda v: sum(J.lax.scan(step, v, None, length=20)[0])


def test_derivatives_of_a_loop_with_many_leaves() -> None:
    v = [np.float32(i * 0.1) for i in range(12)]
    for x, y in zip(celadon.jit(celadon.grad(many_leaves(celadon)))(v), jax.grad(many_leaves(jax))(v), strict=True):
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=1e-4)
