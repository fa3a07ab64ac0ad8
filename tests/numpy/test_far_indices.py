"""Concrete places outside of an axis: where NumPy raises, JAX reads the nearest and writes nowhere."""

import jax.numpy as jnp
import numpy as np
import pytest

import celadon
import celadon.numpy as cnp

READS = {
    "one axis": lambda np_, i: np_.arange(10.0)[i],
    "second axis": lambda np_, i: np_.arange(20.0).reshape(2, 10)[:, i],
    "beside an array": lambda np_, i: np_.arange(20.0).reshape(2, 10)[np_.array([0, 1]), i],
    "get": lambda np_, i: np_.arange(10.0).at[i].get(),
    "get as it is": lambda np_, i: np_.arange(10.0).at[i].get(wrap_negative_indices=False, mode="clip"),
    "set": lambda np_, i: np_.arange(10.0).at[i].set(99),
    "add": lambda np_, i: np_.arange(20.0).reshape(2, 10).at[1, i].add(99),
}


@pytest.mark.parametrize("name", READS)
def test_far_places_mean_what_they_mean_in_jax(name: str) -> None:
    for i in (-5, -9, -10, -11, -15, -20, -21, 10, 12, 2**31 - 1, -(2**31)):
        expected = np.asarray(READS[name](jnp, i))
        np.testing.assert_array_equal(np.asarray(READS[name](cnp, i)), expected)
        np.testing.assert_array_equal(np.asarray(celadon.jit(lambda i=i: READS[name](cnp, i))()), expected)
