"""Segment reductions against real JAX."""

from __future__ import annotations

import jax.ops
import numpy as np
import pytest

import celadon
from celadon import errors
from tests.numpy.oracle import FEW, agree_on, sample

IDS = np.array([0, 2, 2, 0, -1, 9], np.int32)
NAMES = ("segment_sum", "segment_prod", "segment_min", "segment_max")


def agree(name, *args, **kwargs):
    agree_on(getattr(jax.ops, name), getattr(celadon.ops, name), args, kwargs, name)


@pytest.mark.parametrize("dtype", FEW)
@pytest.mark.parametrize("name", NAMES)
def test_dtypes(name, dtype) -> None:
    agree(name, sample(dtype, (6, 2)), IDS, 4)


@pytest.mark.parametrize("name", NAMES)
def test_options(name) -> None:
    x = sample("float32", (6,))
    agree(name, x, np.abs(IDS))
    agree(name, x, IDS, 0)
    agree(name, x, IDS, 4, mode="clip")
    agree(name, x, IDS, 4, bucket_size=2)
    agree(name, x, np.array([0, 0, 1, 2, 2, 3], np.int32), 4, indices_are_sorted=True)
    agree(name, sample("float32", (3, 2)), np.array([[0, 1, 1]], np.int32), 3)


def test_under_jit() -> None:
    x = sample("float32", (6,))
    traced = celadon.jit(celadon.ops.segment_sum, static_argnums=2)
    np.testing.assert_allclose(traced(x, IDS, 3), jax.ops.segment_sum(x, IDS, 3))
    with pytest.raises(errors.ResultSizeTraced, match=r"segment_sum.*argument segment_ids"):
        celadon.jit(celadon.ops.segment_sum)(x, IDS)
    with pytest.raises(errors.ShapeInvalid):
        celadon.ops.segment_sum(x, IDS, -1)
