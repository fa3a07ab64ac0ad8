"""Sets of a given size against real JAX, under jit and in batches; what has no size says so."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import celadon
import celadon.numpy as cnp
from celadon import errors
from tests.numpy.oracle import agree_on

VECTORS = {
    "integers": np.array([3, 1, 1, 2], np.int32),
    "floats": np.array([0.0, np.nan, -1.0, np.nan, -0.0], np.float32),
    "booleans": np.array([True, False, True]),
    "complex": np.array([1j, 2, 1j], np.complex64),
    "one": np.array([5], np.uint8),
    "scalar": np.float32(3),
    "table": np.array([[1, 2], [1, 2], [0, 5]], np.float32),
}
PAIRS = {
    "some": (np.array([3, 1, 1, 2], np.int32), np.array([1, 7, 3, 7], np.int32)),
    "mixed": (np.array([3, 1, 9], np.float32), np.array([[1, 2], [3, 3]], np.int32)),
    "nothing": (np.array([3, 1], np.int32), np.array([5], np.int32)),
    "empty": (np.zeros(0, np.float32), np.array([1.0], np.float32)),
}
SIZES = [(2, None), (6, -1)]
ALL = dict(return_index=True, return_inverse=True, return_counts=True)
PAIRED = ("union1d", "intersect1d", "setdiff1d", "setxor1d")


def agree_jitted(name: str, args: Any, **kwargs: Any) -> None:
    theirs, ours = (partial(getattr(module, name), **kwargs) for module in (jnp, cnp))
    agree_on(jax.jit(theirs), celadon.jit(ours), args, {}, name)


@pytest.mark.parametrize(("size", "fill"), SIZES)
@pytest.mark.parametrize("x", VECTORS.values(), ids=VECTORS)
def test_unique(x: Any, size: int, fill: Any) -> None:
    fill = None if fill is None else 1
    agree_jitted("unique", (x,), size=size, fill_value=fill, **ALL)


def test_a_nan_is_no_other_nan_where_that_is_asked_for() -> None:
    agree_jitted("unique_all", (VECTORS["floats"],), size=5)


@pytest.mark.parametrize("axis", [0, -1])
def test_unique_along_an_axis(axis: int) -> None:
    agree_jitted("unique", (VECTORS["table"],), axis=axis, size=4, fill_value=7, **ALL)


@pytest.mark.parametrize("fill", [None, 5])
def test_unique_of_nothing(fill: Any) -> None:
    for shape in ((0,), (0, 3)):
        agree_jitted("unique", (np.zeros(shape, np.float32),), size=2, fill_value=fill)


@pytest.mark.parametrize(("size", "fill"), SIZES)
@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
@pytest.mark.parametrize("name", PAIRED)
def test_two_sets(name: str, pair: Any, size: int, fill: Any) -> None:
    if pair is PAIRS["empty"] and fill is None:
        fill = 0  # JAX fills up with an element that is not shared
    agree_jitted(name, pair, size=size, fill_value=fill)


@pytest.mark.parametrize(("size", "fill"), SIZES)
def test_places_of_what_is_shared_and_what_is_known_to_be_unique(size: int, fill: Any) -> None:
    agree_jitted("intersect1d", PAIRS["some"], size=size, fill_value=fill, return_indices=True)
    agree_jitted("setdiff1d", PAIRS["mixed"], size=size, fill_value=fill, assume_unique=True)


def test_batches_of_sets() -> None:
    x = np.array([[3, 1, 1], [2, 2, 2]], np.int32)
    theirs, ours = (lambda a, m=m: m.unique(a, size=3, fill_value=-1, return_counts=True) for m in (jnp, cnp))
    agree_on(jax.vmap(theirs), celadon.vmap(ours), (x,), {}, "vmap of unique")


@pytest.mark.parametrize("name", ["nonzero", "argwhere", "flatnonzero", "where", "unique", "bincount", *PAIRED, "repeat"])
def test_without_a_size_the_error_is_about_concrete_values(name: str) -> None:
    args = [np.array([1, 2, 2], np.int32)] * (2 if name in PAIRED or name == "repeat" else 1)
    with pytest.raises(jax.errors.ConcretizationTypeError):
        jax.jit(getattr(jnp, name))(*args)
    with pytest.raises(errors.ConcretizationTypeError, match="traced i32") as caught:
        celadon.jit(getattr(cnp, name))(*args)
    assert isinstance(caught.value, errors.ResultSizeTraced)


def test_masks_as_indices_keep_their_own_error() -> None:
    with pytest.raises(errors.NonConcreteBooleanIndexError):
        celadon.jit(lambda x: x[x > 1])(np.arange(3))


def test_positions_in_a_value_that_is_differentiated_outside_of_jit() -> None:
    theirs, ours = (lambda x, m=m: (x[m.nonzero(x)] ** 2).sum() for m in (jnp, cnp))
    agree_on(jax.grad(theirs), celadon.grad(ours), (np.array([0, 2, 3], np.float32),), {}, "grad through nonzero")
