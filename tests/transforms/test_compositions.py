"""Random compositions of transforms over random programs, compared with real JAX.

    python -m tests.transforms.test_compositions 0 2000

compares those of these seeds; a few are compared in every run of the tests.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import jax
import numpy as np
import pytest

from celadon import enable_x64
from tests.transforms.programs import CELADON, JAX, Composition, composition

SEEDS = (225, 968, *range(100_000, 100_040))  # the first two are those of which XLA compiles something else
TOLERANCE = 1e-7
QUICK = {"xla_cpu_use_fusion_emitters": False, "xla_backend_optimization_level": 0}  # what XLA may leave undone
Array = np.ndarray[Any, Any]


def compiled(one: Composition) -> Array:
    """JAX's result, by a quick compile."""
    return np.asarray(jax.jit(one.function(JAX), compiler_options=QUICK)(one.point))


def op_by_op(one: Composition) -> Array:
    """JAX's result, each op alone.

    Compiled together, XLA contracts a product and a sum in one kernel and not in another that computes them again, and
    then the derivative of a maximum, which asks which operand is equal to it, finds none.
    """
    with jax.disable_jit():
        return np.asarray(one.function(JAX)(one.point))


def disagreement(one: Composition) -> str:
    """What is wrong, "" if nothing is, or if JAX has no result. Where its compiled one differs, that of its ops decides."""
    with enable_x64(True), jax.enable_x64(True), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        found = np.asarray(one.function(CELADON)(CELADON.np.asarray(one.point)))
        try:
            return difference(found, compiled(one)) and difference(found, op_by_op(one))
        except NotImplementedError:
            return ""


def difference(found: Array, wanted: Array) -> str:
    """How two results differ, "" if they do not."""
    if (found.dtype, found.shape) != (wanted.dtype, wanted.shape):
        return f"{found.dtype}{found.shape} is not {wanted.dtype}{wanted.shape}"
    size = 1 + np.max(np.abs(wanted), initial=0)
    close = np.abs(found - wanted) <= TOLERANCE * size
    agree = close | (np.isnan(found) & np.isnan(wanted)) | (found == wanted)
    return "" if agree.all() else f"{found} is not {wanted}"


@pytest.mark.parametrize("seed", SEEDS)
def test_compositions_of_transforms_are_those_of_jax(seed: int) -> None:
    one = composition(seed)
    wrong = disagreement(one)
    assert not wrong, f"{one}: {wrong}"


def main(first: int, last: int) -> None:
    bad = 0
    for seed in range(first, last):
        one = composition(seed)
        try:
            wrong = disagreement(one)
        except Exception as error:
            wrong = f"{type(error).__name__}: {error}"
        if wrong:
            bad += 1
            print(f"{one}\n    {wrong[:600]}", flush=True)
        if seed % 100 == 99:
            print(f"{seed + 1 - first} programs, {bad} disagree", flush=True)
    print(f"seeds {first} to {last - 1}: {bad} disagree")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
