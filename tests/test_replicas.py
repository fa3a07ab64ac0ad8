"""pmap on one device, against real JAX."""

import jax
import numpy as np
import pytest

import celadon
from celadon import errors
from tests.transforms.sides import agree

X = np.arange(3, dtype=np.float32)[None]

CASES = {
    "plain": lambda m, n: m.pmap(lambda x: x * 2)(X),
    "shared": lambda m, n: m.pmap(lambda x, y: x * y, in_axes=(0, None))(X, 2.0),
    "tree": lambda m, n: m.pmap(lambda a: {"s": a["x"] + a["y"]}, in_axes=({"x": 0, "y": None},))({"x": X, "y": 1.0}),
    "last axis": lambda m, n: m.pmap(lambda x: x * 2, in_axes=-1)(X.T),
    "joined behind": lambda m, n: m.pmap(lambda x: x, out_axes=1)(X),
    "not joined": lambda m, n: m.pmap(lambda x: (x, x.sum(), 2.0), out_axes=(None, 0, None))(X),
    "keyword": lambda m, n: m.pmap(lambda x, y: x + y)(X, y=n.ones(1)),
    "static": lambda m, n: m.pmap(lambda x, k, y: x[k] * y, static_broadcasted_argnums=1)(X, 2, X),
    "static among axes": lambda m, n: m.pmap(
        lambda k, x, y: x * k + y, in_axes=(None, 1, 0), static_broadcasted_argnums=(0,)
    )(3, X.T, X),
    "sum": lambda m, n: m.pmap(lambda x: m.lax.psum(x, "i"), axis_name="i")(X),
    "index": lambda m, n: m.pmap(lambda x: x + m.lax.axis_index("i"), "i")(X),
    "mean of gradients": lambda m, n: m.pmap(lambda w, x: m.lax.pmean(m.grad(lambda w: (w * x).sum())(w), "b"), "b")(X, X + 1),
    "under grad": lambda m, n: m.grad(lambda x: m.pmap(lambda x: x * x)(x).sum())(X),
    "under jit": lambda m, n: m.jit(m.pmap(lambda x: x * x))(X),
    "under vmap": lambda m, n: m.vmap(m.pmap(lambda x: x * 2))(X[None]),
    "in a loop": lambda m, n: m.lax.fori_loop(0, 3, lambda i, x: x + m.pmap(n.sin)(x), X),
    "of the devices": lambda m, n: m.pmap(lambda x: x * 2, devices=m.devices(), backend="cpu", axis_size=1)(X),
    "donated": lambda m, n: m.pmap(lambda x: x * 2, donate_argnums=0)(n.ones((1, 2))),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_it_runs_the_one_part(case):
    agree(case)


REFUSED = {
    "two parts": (lambda m, n: m.pmap(lambda x: x * 2)(n.ones((2, 3))), errors.DevicesTooFew),
    "parts that differ": (lambda m, n: m.pmap(lambda x, y: x * y)(X, n.ones((2, 3))), errors.BatchSizesDiffer),
    "another size": (lambda m, n: m.pmap(lambda x: x * 2, axis_size=2)(X), errors.BatchSizesDiffer),
    "no axis": (lambda m, n: m.pmap(lambda x: x * 2)(2.0), errors.BatchAxisOutOfRange),
    "nothing cut": (lambda m, n: m.pmap(lambda x: x * 2, in_axes=None)(2.0), errors.BatchSpecInvalid),
    "no devices": (lambda m, n: m.pmap(lambda x: x * 2, devices=[])(X), errors.OptionUnknown),
    "no function": (lambda m, n: m.pmap(3), errors.NotCallable),
    "unhashable": (lambda m, n: m.pmap(lambda x, k: x, static_broadcasted_argnums=1)(X, [1]), errors.StaticArgumentUnhashable),
}


@pytest.mark.parametrize(("use", "error"), REFUSED.values(), ids=REFUSED)
def test_what_jax_refuses_is_named(use, error):
    with pytest.raises((TypeError, ValueError)) as theirs:
        use(jax, jax.numpy)
    with pytest.raises(error) as ours:
        use(celadon, celadon.numpy)
    assert isinstance(ours.value, type(theirs.value))
