"""Functions never promote ranks by themselves: they work where jax_numpy_rank_promotion is "raise", with JAX's results."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import celadon
import celadon.numpy as cnp
from celadon import errors
from tests.transforms.sides import agree

A = np.random.default_rng(0).random((3, 4)).astype(np.float32)
V = A[0]
I = np.array([0, 2], np.int32)  # noqa: E741
Q = np.random.default_rng(1).random((2, 4, 2, 8)).astype(np.float32)
LENGTHS = np.array([2, 3], np.int32)

CASES = {
    "vander": lambda m, n: n.vander(V),
    "isin": lambda m, n: n.isin(A, V),
    "bincount": lambda m, n: n.bincount(I),
    "bincount of weights": lambda m, n: n.bincount(I, weights=V[:2]),
    "multigammaln": lambda m, n: m.scipy.special.multigammaln(A + 3, 2),
    "average": lambda m, n: n.average(A, axis=1, weights=V),
    "quantile": lambda m, n: n.quantile(A, np.array([0.1, 0.5], "f"), axis=1),
    "searchsorted": lambda m, n: n.searchsorted(np.sort(V), A),
    "linspace": lambda m, n: n.linspace(V, V + 1, 5, axis=-1),
    "kron": lambda m, n: n.kron(A, A[:2, :2]),
    "variance": lambda m, n: n.var(A, axis=1),
    "logsumexp": lambda m, n: m.scipy.special.logsumexp(A, axis=1, b=A),
    "one_hot": lambda m, n: m.nn.one_hot(I, 4),
    "attention": lambda m, n: m.nn.dot_product_attention(Q, Q, Q, is_causal=True),
    "attention of lengths and a window": lambda m, n: m.nn.dot_product_attention(
        Q, Q, Q, query_seq_lengths=LENGTHS, key_value_seq_lengths=LENGTHS[::-1], local_window_size=(1, 1)
    ),
    "attention of all masks": lambda m, n: m.nn.dot_product_attention(
        Q, Q, Q, mask=np.tril(np.ones((1, 1, 4, 4), bool)), is_causal=True, key_value_seq_lengths=LENGTHS
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_no_rank_is_promoted(case):
    with celadon.numpy_rank_promotion("raise"), jax.numpy_rank_promotion("raise"):
        agree(case)


def test_choose_takes_what_is_there():
    choices = [np.arange(3) * k for k in (1, 10, 100)]
    for mode in ("raise", "clip", "wrap"):
        agree(lambda m, n, mode=mode: n.choose(np.array([2, 0, 1]), choices, mode=mode))
    for places in ([0, 3, 1], [-1, 0, 0]):
        with pytest.raises(ValueError):
            jnp.choose(np.array(places), choices)
        with pytest.raises(errors.PlaceOutOfRange, match=str(places[0] if places[0] < 0 else 3)):
            cnp.choose(np.array(places), choices)
    with pytest.raises(errors.ConcretizationTypeError):
        celadon.jit(lambda i: cnp.choose(i, choices))(np.array([0, 1, 2]))
