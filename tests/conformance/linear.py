"""Matrices and comparisons for the tests of linear algebra: values agree with real JAX up to the errors of a factorization."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from celadon.array import Array
from tests.numpy import oracle

TOLERANCE = {"float32": 3e-4, "complex64": 3e-4, "float64": 1e-9, "complex128": 1e-9}


def matrix(dtype: str, *shape: int, seed: int = 0) -> Any:
    """Random matrices; complex ones in both parts, integer ones small."""
    rng = np.random.default_rng([seed, *shape])
    found = rng.normal(size=shape)
    if dtype.startswith("complex"):
        found = found + 1j * rng.normal(size=shape)
    return (np.round(found * 2) if dtype.startswith("int") else found).astype(dtype)


def adjoint(x: Any) -> Any:
    return np.conj(np.swapaxes(x, -1, -2))


def hermitian(dtype: str, *shape: int, seed: int = 0) -> Any:
    x = matrix(dtype, *shape, seed=seed)
    return x + adjoint(x)


def positive(dtype: str, *shape: int, seed: int = 0) -> Any:
    """Positive definite matrices."""
    x = matrix(dtype, *shape, seed=seed)
    return (x @ adjoint(x) + 2 * np.eye(shape[-1])).astype(x.dtype)


def dominant(dtype: str, *shape: int, seed: int = 0) -> Any:
    """Matrices with a large diagonal, far from singular."""
    return (matrix(dtype, *shape, seed=seed) + 5 * np.eye(shape[-1])).astype(dtype)


def agree(theirs: Any, ours: Any, *args: Any, **kwargs: Any) -> None:
    """Both functions give results of one type that are near each other, or both raise."""
    expected, error = oracle.outcome(oracle.theirs, theirs, args, kwargs)
    found, own_error = oracle.outcome(oracle.ours, ours, args, kwargs)
    if error is not None:
        assert isinstance(own_error, TypeError | ValueError | NotImplementedError), (error, own_error, found)
        return
    if own_error is not None:
        raise own_error
    near(found, expected)


def near(found: Any, expected: Any) -> None:
    """Equal structure, dtypes and shapes; values equal up to a share of the largest one."""
    if isinstance(expected, list | tuple):
        assert len(found) == len(expected)
        assert getattr(found, "_fields", None) == getattr(expected, "_fields", None)
        for one, other in zip(found, expected, strict=True):
            near(one, other)
        return
    if not isinstance(expected, jax.Array):
        assert found == expected
        return
    assert isinstance(found, Array)
    assert (str(found.dtype), found.shape) == (str(expected.dtype), expected.shape)
    close(np.asarray(found), np.asarray(expected))


def close(found: Any, expected: Any, factor: float = 1.0) -> None:
    finite = np.abs(expected[np.isfinite(expected)])
    bound = factor * TOLERANCE.get(str(expected.dtype), 0) * max(float(finite.max(initial=0)), 1.0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=bound)
