"""Twenty lines from end to end, in two seconds: the first thing to run after a change."""

import numpy as np

import celadon
import celadon.numpy as cnp

X = np.arange(12, dtype=np.float32).reshape(3, 4)


def check(function, expected, *args, **options):
    """A function gives the same as NumPy, eager and jitted."""
    for each in (function, celadon.jit(function, **options)):
        np.testing.assert_allclose(np.asarray(each(*args)), expected, rtol=2e-6, atol=1e-6)


def test_tiny():
    check(lambda x, s: x * s + 1.0, X * 2 + 1, X, 2.0)
    check(lambda x, s: x * s + 1.0, X * 3 + 1, X, 3.0, static_argnums=1)
    check(lambda x: -abs(x - 5) // 2, -abs(X - 5) // 2, X)
    check(lambda x: cnp.exp(cnp.sin(x)), np.exp(np.sin(X)), X)
    check(lambda x: cnp.where(x > 4, x, 0.0), np.where(X > 4, X, 0), X)
    check(lambda x: x.sum(axis=0), X.sum(0), X)
    check(lambda x: x.mean(), X.mean(), X)
    check(lambda x: cnp.max(x, axis=1, keepdims=True), X.max(1, keepdims=True), X)
    check(lambda x: cnp.argmax(x, axis=1), X.argmax(1), X)
    check(lambda x: cnp.cumsum(x, axis=1), X.cumsum(1), X)
    check(lambda x: x @ x.T, X @ X.T, X)
    check(lambda x: cnp.einsum("ij,kj->ik", x, x), X @ X.T, X)
    check(lambda x: x.reshape(2, 6).T, X.reshape(2, 6).T, X)
    check(lambda x: cnp.concatenate([x, x], axis=1), np.concatenate([X, X], 1), X)
    check(lambda x: x[1:, ::2], X[1:, ::2], X)
    check(lambda x: x[-1], X[-1], X)
    check(lambda n: cnp.arange(n), np.arange(5), 5, static_argnums=0)
    check(lambda tree: tree["a"] + tree["b"][0], X + 1, {"a": X, "b": [1.0]})
    check(lambda x: cnp.linspace(0.0, 1.0, 4) + x, np.linspace(0, 1, 4) + X, X)
    check(lambda x: (x > 3).astype(cnp.int32).sum(), (X > 3).sum(), X)
