"""The inputs of the goldens: a jitted function of Celadon or JAX and its arguments for each .mlir file here."""

from __future__ import annotations

from typing import Any

import numpy as np

ONES = np.ones(4, np.float32)
LARGE = np.arange(1_000_000, dtype=np.float32)
SPLAT = np.full(1_000_000, 3, np.float32)


def scale(x: Any, s: Any) -> Any:
    return x * s


def step(params: Any, x: Any) -> Any:
    residual = x @ params["w"] - 1.0
    return {"loss": (residual**2).mean(), "aux": (residual, [residual > 0])}


def programs(engine: Any) -> dict[str, tuple[Any, tuple[Any, ...]]]:
    """The programs by name; `engine` is the package celadon or jax."""
    jit, numpy = engine.jit, engine.numpy

    @jit
    def twice(x: Any) -> Any:
        return numpy.sin(x) * 2

    def nested(x: Any) -> Any:
        return numpy.where(x > 0, twice(twice(x)), 0.0), numpy.where(x > 1, x, 0.0), twice(x[0])

    def ordered(x: Any) -> Any:
        return numpy.sort(x, axis=0) + numpy.cumsum(x, axis=1), numpy.argmax(x), numpy.max(x, axis=1)

    def not_finite(x: Any) -> Any:
        return x * numpy.nan + numpy.inf

    return {
        "scale_traced": (jit(scale), (ONES, 2.0)),
        "scale_static": (jit(scale, static_argnums=1), (ONES, 2.0)),
        "donated": (jit(scale, donate_argnums=0), (ONES, 2.0)),
        "tree": (jit(step), ({"w": np.ones((3, 2), np.float32)}, np.ones((5, 3), np.float32))),
        "nested": (jit(nested), (ONES,)),
        "ordered": (jit(ordered), (np.ones((3, 4), np.float32),)),
        "not_finite": (jit(not_finite), (np.ones(2, np.float32),)),
        "large_capture": (jit(lambda v: LARGE + v), (1.0,)),
        "splat_capture": (jit(lambda v: SPLAT + v), (1.0,)),
    }
