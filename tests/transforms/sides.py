"""The same function on both libraries: what it returns is compared leaf by leaf, real JAX being right."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import celadon
import celadon.numpy as cnp

Suite = Callable[[Any, ModuleType], Any]


def agree(function: Suite, rtol: float = 2e-5, atol: float = 1e-6) -> None:
    """function(library, its numpy) gives the same tree, shapes, dtypes and values on both."""
    compare(function(celadon, cnp), function(jax, jnp), rtol, atol)


def compare(found: Any, expected: Any, rtol: float = 2e-5, atol: float = 1e-6) -> None:
    ours, theirs = celadon.tree.leaves(found), jax.tree.leaves(expected)
    assert len(ours) == len(theirs)
    for x, y in zip(ours, theirs, strict=True):
        x, y = np.asarray(x), np.asarray(y)
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
        np.testing.assert_allclose(x, y, rtol=rtol, atol=atol)
