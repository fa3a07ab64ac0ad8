"""What a compared program is: how its function is built for a library, and its arguments for sizes and a seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Sizes = dict[str, int]
Arguments = Callable[..., tuple[Any, ...]]  # (rng, **sizes) -> arrays, or trees of them


@dataclass(frozen=True)
class Program:
    """One program.

    Attributes:
        name: what the tables call it.
        build: (package, its numpy) -> the function to be jitted.
        arguments: (rng, **sizes) -> NumPy arguments of the traced parameters.
        sizes: the measured sizes by name.
        small: sizes at which tests run it.
        varies: the size that a new shape changes.
        static: the last argument, given by keyword and static, if the program has one: its name.
        value: k -> the k-th value of the static argument.
        numpy: whether the function runs with NumPy itself.
        streams: bytes that must be read and written at `sizes`, for programs that memory bounds; 0 for others.
        flops: floating-point operations of programs that are one large matrix product; 0 for others.
    """

    name: str
    build: Callable[[Any, Any], Callable[..., Any]]
    arguments: Arguments
    sizes: Mapping[str, int]
    small: Mapping[str, int]
    varies: str
    static: str | None = None
    value: Callable[[int], Any] = field(default=lambda k: 1.5 + k / 1024)
    numpy: bool = False
    streams: int = 0
    flops: int = 0

    def given(self, seed: int, more: int = 0, sizes: Mapping[str, int] | None = None) -> tuple[Any, ...]:
        """Arguments from a seed, the varied size `more` larger."""
        wanted = dict(self.sizes if sizes is None else sizes)
        wanted[self.varies] += more
        return self.arguments(np.random.default_rng(seed), **wanted)

    def options(self, k: int = 0) -> dict[str, Any]:
        """The static argument at its k-th value, as keywords."""
        return {} if self.static is None else {self.static: self.value(k)}


def normal(rng: np.random.Generator, *shape: int) -> Any:
    """Standard normal float32 numbers of a shape."""
    return rng.standard_normal(shape, np.float32)
