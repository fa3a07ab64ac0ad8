"""The two engines side by side: a program is a function of one of them, so that it runs on JAX and on Celadon."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import jax
import jax.experimental.checkify
import jax.numpy
import numpy as np

import celadon
import celadon.experimental.checkify
import celadon.numpy


class Engine(NamedTuple):
    """What programs of the tests use, under JAX's names."""

    top: ModuleType
    np: ModuleType
    lax: ModuleType
    debug: ModuleType
    experimental: ModuleType
    checkify: ModuleType

    def jit(self, f: Callable[..., Any]) -> Any:
        return self.top.jit(f)

    def struct(self, shape: tuple[int, ...], dtype: str = "float32") -> Any:
        return self.top.ShapeDtypeStruct(shape, dtype)


JAX = Engine(jax, jax.numpy, jax.lax, jax.debug, jax.experimental, jax.experimental.checkify)
OURS = Engine(
    celadon, celadon.numpy, celadon.lax, celadon.debug, celadon.experimental, celadon.experimental.checkify
)  # fmt: skip


def numbers(x: Any) -> Any:
    """A tree of results as lists."""
    return jax.tree.map(lambda leaf: np.asarray(leaf).tolist(), jax.tree.map(np.asarray, _plain(x)))


def _plain(x: Any) -> Any:
    return celadon.tree.map(np.asarray, x)
