"""vmap: axes as trees and prefixes, keywords, sizes, names; collectives over named axes; all against real JAX."""

import typing

import numpy as np
import pytest

import celadon
import celadon.numpy as cnp
from celadon import errors
from tests.transforms.sides import agree

X = np.arange(12, dtype=np.float32).reshape(3, 4)
Y = np.arange(27, dtype=np.float32).reshape(3, 3, 3)


class Point(typing.NamedTuple):
    x: object
    y: object


def test_axes_of_arguments_and_results():
    agree(lambda m, n: m.vmap(lambda x, y: x * y, in_axes=(0, None))(X, X[0]))
    agree(lambda m, n: m.vmap(lambda x, y: x @ y, in_axes=(0, 1))(X, X.T))
    agree(lambda m, n: m.vmap(lambda x: (x, x.sum()), out_axes=(1, 0))(X))
    agree(lambda m, n: m.vmap(lambda x: x, in_axes=-1, out_axes=-1)(X))
    agree(lambda m, n: m.vmap(lambda d: d["a"] + d["b"][0], in_axes=({"a": 0, "b": None},))({"a": X, "b": [X[0]]}))
    agree(lambda m, n: m.vmap(lambda p: p.x + p.y, in_axes=(Point(0, None),))(Point(X, X[0])))
    agree(lambda m, n: m.vmap(lambda x, *, k: x + k)(X, k=X))
    agree(lambda m, n: m.vmap(lambda: n.arange(3.0), axis_size=2, out_axes=None)())
    agree(lambda m, n: m.vmap(lambda x: 7, out_axes=0)(X))
    agree(lambda m, n: m.vmap(lambda x: n.zeros(2))(X))


def test_nested_maps_and_batched_scalars():
    agree(lambda m, n: m.vmap(m.vmap(lambda x, y: x * y, in_axes=(0, None)), in_axes=(None, 0))(X[0], X[1]))
    agree(lambda m, n: m.vmap(lambda x, s: x * s + 1.0)(X, X[:, 0]))
    agree(lambda m, n: m.vmap(lambda s: n.where(s > 1, n.arange(4.0), s))(X[:, 1]))
    agree(lambda m, n: m.vmap(lambda s: n.full((2,), s))(X[:, 1]))
    agree(lambda m, n: m.vmap(lambda s, x: n.pad(x, 1, constant_values=s))(X[:, 1], X))


COLLECTIVES = {
    "psum": lambda lax, x: lax.psum(x, "i"),
    "pmean": lambda lax, x: lax.pmean(x, "i"),
    "pmax": lambda lax, x: lax.pmax(x, "i") + x,
    "pmin": lambda lax, x: lax.pmin(x, "i") - x,
    "size": lambda lax, x: x / lax.psum(1, "i"),
    "gather": lambda lax, x: lax.all_gather(x, "i"),
    "gather_last": lambda lax, x: lax.all_gather(x, "i", axis=1),
    "gather_tiled": lambda lax, x: lax.all_gather(x, "i", tiled=True),
    "index": lambda lax, x: lax.axis_index("i") * x,
    "permute": lambda lax, x: lax.ppermute(x, "i", [(0, 1), (1, 2), (2, 0)]),
}


@pytest.mark.parametrize("f", COLLECTIVES.values(), ids=COLLECTIVES)
def test_collectives(f):
    agree(lambda m, n: m.vmap(lambda x: f(m.lax, x), axis_name="i")(X))
    agree(lambda m, n: m.jit(lambda X: m.vmap(m.jit(lambda x: f(m.lax, x)), axis_name="i")(X))(X))
    agree(lambda m, n: m.vmap(lambda x: m.vmap(lambda y: f(m.lax, y), axis_name="j")(x), axis_name="i")(Y))
    if f not in (COLLECTIVES["pmax"], COLLECTIVES["pmin"]):  # JAX has no derivative of these
        agree(lambda m, n: m.grad(lambda X: (m.vmap(lambda x: f(m.lax, x) * 2, axis_name="i")(X) ** 2).sum())(X))


PAIRS = [(0, 2), (3, 1), (2, 3), (1, 0)], [(1, 0), (0, 1), (3, 3), (2, 2)], [(k, k) for k in range(4)]


@pytest.mark.parametrize("pairs", PAIRS, ids=str)
def test_members_are_sent_by_a_permutation_and_their_cotangents_back(pairs):
    x = np.linspace(-1, 1, 12, dtype="float32").reshape(4, 3)
    def mapped(m, axis=0):
        return m.vmap(lambda x: m.lax.ppermute(x, "i", pairs) * x, axis_name="i", in_axes=axis, out_axes=axis)

    agree(lambda m, n: m.tree.leaves(m.vmap(lambda x: m.lax.ppermute({"a": x, "b": x[0] > 0}, "i", pairs), axis_name="i")(x)))
    agree(lambda m, n: mapped(m, 1)(x.T))
    agree(lambda m, n: m.jit(m.grad(lambda x: (mapped(m)(x) ** 2).sum()))(x))
    agree(lambda m, n: m.jvp(mapped(m), (x,), (n.cos(x),))[1])
    agree(lambda m, n: m.jacrev(m.jacfwd(lambda x: mapped(m)(x).sum()))(x))
    agree(lambda m, n: m.vmap(lambda k: m.lax.ppermute(2.5, "i", pairs) * k, axis_name="i")(x))
    agree(lambda m, n: m.random.key_data(mapped_keys(m, pairs)))


def mapped_keys(m, pairs):
    return m.vmap(lambda key: m.lax.ppermute(key, "i", pairs), axis_name="i")(m.random.split(m.random.key(3), 4))


def test_who_receives_nothing_gets_zeros_and_who_sends_nothing_no_cotangent():
    send = celadon.vmap(lambda x: celadon.lax.ppermute(x, "i", [(2, 0), (0, 1)]), axis_name="i")
    assert send(X[:, 0]).tolist() == [X[2, 0], X[0, 0], 0]
    assert celadon.grad(lambda x: (send(x) * np.float32([5, 7, 11])).sum())(X[:, 0]).tolist() == [7, 0, 5]


def test_another_permutation_compiles_nothing():
    def shuffled(x, pairs):
        return celadon.vmap(lambda row: celadon.lax.ppermute(row * 2, "i", pairs), axis_name="i")(x)

    f = celadon.jit(celadon.value_and_grad(lambda x, pairs: shuffled(x, pairs).sum()), static_argnums=1)
    f(X, ((0, 1),))
    with celadon.events.watching() as seen:
        for size in (3, 17):
            f(np.ones((size, 4), "float32"), tuple((k, (k + 1) % size) for k in range(size)))
    assert "compile" not in {event.kind for event in seen}


@pytest.mark.parametrize("axes", [(0, 0), (1, 0), (0, 1)])
@pytest.mark.parametrize("tiled", [False, True])
def test_all_to_all(axes, tiled):
    agree(lambda m, n: m.vmap(lambda x: m.lax.all_to_all(x, "i", *axes, tiled=tiled), axis_name="i")(Y))


def test_psum_scatter_and_several_names():
    agree(lambda m, n: m.vmap(lambda x: m.lax.psum_scatter(x, "i"), axis_name="i")(Y))
    agree(lambda m, n: m.vmap(lambda x: m.lax.psum_scatter(x, "i", tiled=True, scatter_dimension=1), axis_name="i")(Y))
    agree(lambda m, n: m.vmap(lambda x: m.vmap(lambda y: m.lax.psum(y, ("i", "j")), axis_name="j")(x), axis_name="i")(X))
    agree(lambda m, n: m.vmap(m.grad(lambda x: (m.lax.psum(x**2, "i") * x).sum()), axis_name="i")(X))


@pytest.mark.parametrize(("use", "error", "words"), [
    (lambda: celadon.vmap(lambda x, y: x)(X, X[:2]), errors.BatchSizesDiffer, "argument y"),
    (lambda: celadon.vmap(lambda x: x, in_axes=2)(X), errors.BatchAxisOutOfRange, "axis 2"),
    (lambda: celadon.vmap(lambda x: x)(1.0), errors.BatchAxisOutOfRange, "0 dimensions"),
    (lambda: celadon.vmap(lambda x: x, in_axes="0"), errors.BatchSpecInvalid, "in_axes"),
    (lambda: celadon.vmap(lambda x: x, in_axes=None)(X), errors.BatchSpecInvalid, "axis_size"),
    (lambda: celadon.vmap(lambda x, y: x, in_axes=(0, None))(X, y=1.0), errors.BatchSpecInvalid, "keyword"),
    (lambda: celadon.vmap(lambda x: x, out_axes=None)(X), errors.BatchSpecInvalid, "out_axes"),
    (lambda: celadon.vmap(lambda x: x, out_axes=5)(X), errors.BatchAxisOutOfRange, "out_axes"),
    (lambda: celadon.vmap(lambda x: 1.0 if x > 0 else 2.0)(X[0]), errors.TracerBoolConversionError, "mapped argument x"),
    (lambda: celadon.lax.psum(X, "i"), errors.AxisNameUnbound, "'i'"),
    (lambda: celadon.vmap(lambda x: celadon.lax.psum(x, "k"), axis_name="i")(X), errors.AxisNameUnbound, "'i'"),
    (lambda: celadon.vmap("f"), errors.NotCallable, "str"),
])  # fmt: skip
def test_misuse_is_named(use, error, words):
    with pytest.raises(error, match=words):
        use()


def test_a_new_batch_size_compiles_nothing():
    f = celadon.jit(celadon.vmap(lambda x: cnp.tanh(x).sum()))
    f(X)
    with celadon.events.watching() as seen:
        f(Y[0])
    assert "compile" not in {event.kind for event in seen}
