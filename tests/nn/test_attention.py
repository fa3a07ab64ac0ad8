"""dot_product_attention against JAX's: masks, biases, lengths, windows, shared heads, halves."""

from __future__ import annotations

from typing import Any

import jax
import ml_dtypes
import numpy as np
import pytest

import celadon
from celadon import errors, nn

RANDOM = np.random.default_rng(0)


def normal(*shape: int) -> Any:
    return RANDOM.normal(size=shape).astype(np.float32)


Q, K, V = normal(2, 5, 4, 8), normal(2, 7, 4, 8), normal(2, 7, 4, 8)
HALVES = [x.astype(ml_dtypes.bfloat16) for x in (Q, K, V)]
SOME = RANDOM.random((2, 4, 5, 7)) > 0.3
LENGTHS: dict[str, Any] = {"query_seq_lengths": np.int32([3, 5]), "key_value_seq_lengths": np.int32([7, 2])}
CASES: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "plain": ((Q, K, V), {}),
    "without batch": ((Q[0], K[0], V[0]), {}),
    "residual": ((Q, K, V), {"return_residual": True}),
    "residual without batch": ((Q[0], K[0], V[0]), {"return_residual": True, "is_causal": True}),
    "causal": ((Q, K, V), {"is_causal": True}),
    "scale": ((Q, K, V), {"scale": 0.3, "implementation": "xla"}),
    "shared heads": ((Q, K[:, :, :2], V[:, :, :2]), {"return_residual": True}),
    "one head for all": ((Q, K[:, :, :1], V[:, :, :1], normal(2, 4, 5, 7), SOME), {"is_causal": True}),
    "bias": ((Q, K, V, normal(2, 4, 5, 7)), {}),
    "one bias": ((Q, K, V, normal(1, 1, 5, 7)), {}),
    "mask": ((Q, K, V, None, SOME), {}),
    "one mask": ((Q, K, V, None, SOME[:1, :1]), {}),
    "lengths": ((Q, K, V), LENGTHS),
    "lengths of keys": ((Q, K, V), {"key_value_seq_lengths": np.int32([7, 2]), "is_causal": True}),
    "window": ((Q, K, V), {"local_window_size": 1}),
    "one-sided window": ((Q, K, V), {"local_window_size": (2, 0)}),
    "halves": (tuple(HALVES), {"is_causal": True, "return_residual": True}),
}


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    """All cases in one program of JAX's."""
    return jax.jit(lambda: {name: jax.nn.dot_product_attention(*a, **k) for name, (a, k) in CASES.items()})()


@pytest.mark.parametrize("name", CASES)
def test_it_is_that_of_jax(name: str, expected: dict[str, Any]) -> None:
    args, kwargs = CASES[name]
    tolerance = 2e-2 if name == "halves" else 2e-6
    for run in (nn.dot_product_attention, celadon.jit(lambda *args: nn.dot_product_attention(*args, **kwargs))):
        found = run(*args, **(kwargs if run is nn.dot_product_attention else {}))
        for one, other in zip(celadon.tree.leaves(found), jax.tree.leaves(expected[name]), strict=True):
            assert (one.dtype, one.shape) == (other.dtype, other.shape)
            one, other = np.asarray(one).astype(float), np.asarray(other).astype(float)
            np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


def test_its_derivative() -> None:
    def loss(module: Any, q: Any, k: Any, v: Any) -> Any:
        return (module.dot_product_attention(q, k, v, is_causal=True) ** 2).sum()

    found = celadon.grad(lambda *xs: loss(nn, *xs), (0, 1, 2))(Q, K, V)
    expected = jax.jit(jax.grad(lambda *xs: loss(jax.nn, *xs), (0, 1, 2)))(Q, K, V)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-4, atol=1e-5)


WRONG: tuple[tuple[tuple[Any, ...], dict[str, Any]], ...] = (
    ((Q, K, V[:, :5]), {}),
    ((Q[..., :4], K, V), {}),
    ((Q[:1], K, V), {}),
    ((Q[:, :, :3], K[:, :, :2], V[:, :, :2]), {}),
    ((Q, K, V.astype(np.float16)), {}),
    ((Q, K, V, None, SOME.astype(np.float32)), {}),
    ((Q, K, V), {"query_seq_lengths": np.int32([3])}),
    ((Q, K, V), {"key_value_seq_lengths": np.float32([3, 1])}),
)


@pytest.mark.parametrize(("args", "kwargs"), WRONG)
def test_what_does_not_fit_is_refused(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        jax.nn.dot_product_attention(*args, **kwargs)
    with pytest.raises(errors.AttentionMismatch):
        nn.dot_product_attention(*args, **kwargs)


def test_an_implementation_that_is_not_there() -> None:
    with pytest.raises(errors.OptionUnknown):
        nn.dot_product_attention(Q, K, V, implementation="cudnn")
