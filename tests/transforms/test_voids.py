"""Arrays of float0, the tangents of integers, through everything that takes and returns arrays, against real JAX."""

import jax
import numpy as np
import pytest

import celadon
from tests.transforms.sides import agree

X, I = np.ones(3, np.float32), np.arange(3, dtype=np.int32)  # noqa: E741
VOID = np.zeros((3,), jax.dtypes.float0)


def pulled(m, x, i):
    return m.vjp(lambda x, i: x * i, x, i)[1](x)


CASES = {
    "vjp": lambda m, n: pulled(m, X, I),
    "vjp under jit": lambda m, n: m.jit(lambda x, i: pulled(m, x, i))(X, I),
    "vjp under jit under jit": lambda m, n: m.jit(lambda x: m.jit(lambda x, i: pulled(m, x, i))(x, I))(X),
    "grad": lambda m, n: m.jit(m.grad(lambda p: (p["x"] * p["i"]).sum(), allow_int=True))({"x": X, "i": I}),
    "jvp": lambda m, n: m.jit(lambda x: m.jvp(lambda x: (x, I), (x,), (x,)))(X),
    "jvp of an argument": lambda m, n: m.jit(lambda z: m.jvp(lambda x, i: x * i, (X, I), (X, z)))(VOID),
    "linearize": lambda m, n: m.jit(lambda x: m.linearize(lambda x: (x, I), x)[1](x))(X),
    "an argument returned": lambda m, n: m.jit(lambda x, z: (x + 1, z))(X, VOID),
    "an argument by keyword": lambda m, n: m.jit(lambda x, z: (x + 1, z))(X, z=VOID),
    "donated beside it": lambda m, n: m.jit(lambda z, x: (x + 1, z), donate_argnums=1)(VOID, n.ones(3)),
    "static beside it": lambda m, n: m.jit(lambda k, z, x: (x + k, z), static_argnums=0)(2, VOID, X),
    "a pullback as argument": lambda m, n: m.jit(lambda p, ct: p(ct))(m.vjp(lambda x, i: x * i, X, I)[1], X),
    "a cotangent as argument": lambda m, n: m.jit(lambda p, ct: p(ct))(m.vjp(lambda x: (x, I), X)[1], (X, VOID)),
    "vmap": lambda m, n: m.vmap(lambda x, i: pulled(m, x, i))(X, I),
    "vmap of one side": lambda m, n: m.vmap(lambda x, i: pulled(m, x, i), in_axes=(0, None))(X, 2),
    "vmap along another axis": lambda m, n: m.vmap(lambda x: pulled(m, x, I)[1], out_axes=1)(np.ones((2, 3), "f")),
    "vmap of an argument": lambda m, n: m.vmap(lambda z, x: m.jvp(lambda x, i: x * i, (x, 1), (x, z))[1])(VOID, X),
    "vmap of jit of vmap": lambda m, n: m.vmap(m.jit(m.vmap(lambda x, i: pulled(m, x, i))))(
        np.ones((2, 3), "f"), np.ones((2, 3), "i")
    ),
    "cond": lambda m, n: m.lax.cond(True, lambda x: pulled(m, x, I), lambda x: pulled(m, x * 2, I), X),
    "cond of an argument": lambda m, n: m.lax.cond(True, lambda x, z: (x, z), lambda x, z: (x * 2, z), X, VOID),
    "fori_loop": lambda m, n: m.lax.fori_loop(0, 3, lambda k, c: (c[0] + 1, c[1]), (X, VOID)),
    "while_loop": lambda m, n: m.lax.while_loop(lambda c: c[0].sum() < 9, lambda c: (c[0] + 1, c[1]), (X, VOID)),
    "scan that carries it": lambda m, n: m.lax.scan(lambda c, x: (c, x), VOID, X),
    "map": lambda m, n: m.lax.map(lambda xi: pulled(m, *xi), (X, I)),
    "checkpoint": lambda m, n: m.checkpoint(lambda x, i: pulled(m, x, i))(X, I),
    "jvp of vjp": lambda m, n: m.jvp(lambda x: pulled(m, x, I), (X,), (X,)),
    "vjp of vjp": lambda m, n: m.vjp(lambda x: pulled(m, x, I), X)[1]((X, VOID)),
    "grad of vjp": lambda m, n: m.grad(lambda x: pulled(m, x, I)[0].sum())(X),
    "device_put": lambda m, n: m.device_put((X, VOID)),
    "compiled": lambda m, n: m.jit(lambda x, i: pulled(m, x, i)).lower(X, I).compile()(X, I),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_they_come_out_as_in_jax(case):
    found, expected = case(celadon, celadon.numpy), case(jax, jax.numpy)
    shapes = [[(x.shape, np.dtype(x.dtype)) for x in m.tree.leaves(given)] for m, given in ((celadon, found), (jax, expected))]
    assert shapes[0] == shapes[1]
    assert str(celadon.tree.structure(found)) == str(jax.tree.structure(expected))
    agree(lambda m, n: [x for x in m.tree.leaves(found if m is celadon else expected) if x.dtype != jax.dtypes.float0])


def test_a_second_call_is_no_second_trace():
    traces = []

    def function(z, x):
        traces.append(1)
        return x + 1, z

    run = celadon.jit(function)
    for count in (3, 3, 3, 2):
        found, void = run(np.zeros((count,), jax.dtypes.float0), X)
        assert found.tolist() == [2.0] * 3
        assert void.shape == (count,)
    assert len(traces) == 2


def test_shapes_are_told():
    found = celadon.eval_shape(lambda x, i: pulled(celadon, x, i), X, I)
    assert [(type(x), x.shape, x.dtype) for x in found] == [
        (celadon.ShapeDtypeStruct, (3,), np.float32), (celadon.ShapeDtypeStruct, (3,), jax.dtypes.float0),
    ]  # fmt: skip
