"""A module whose main function takes arguments in, and claims nothing; a program of it for arguments that are drawn out."""

from __future__ import annotations

from typing import Any

import numpy as np

from celadon import errors
from celadon.program import Program
from celadon.types import DType, kind
from tests.stablehlo.elements import Unreadable, dtype_of, shape_of
from tests.stablehlo.reader import read_with

_SIZES = (4, 3, 2, 5, 8, 6, 16)


def program_of(module: Any, main: Any) -> Program:
    """The program for arguments of some extent wherever one is open; the first extent with which all shapes fit is taken.

    Raises `Unreadable` if none fits.
    """
    refused: Exception | None = None
    for size in _SIZES:
        try:
            arguments = enumerate(main.regions[0].blocks[0].arguments)
            return read_with(module, [_argument(each.type, size, not i) for i, each in arguments])
        except (errors.CeladonError, ValueError) as unfit:
            refused = unfit
    raise Unreadable(f"no extents fit: {str(refused).splitlines()[0]}") from refused


def _argument(type: Any, size: int, first: bool) -> Any:
    """Moderate numbers; an integer that stands alone is an extent if it has 64 bits or is the first argument."""
    dtype, shape = dtype_of(type), tuple(size if n < 0 else n for n in shape_of(type))
    if not shape and kind(dtype) == "i" and (first or dtype.itemsize == 8):
        return np.array(size, dtype)
    return _values(dtype, shape)


def _values(dtype: DType, shape: tuple[int, ...]) -> Any:
    random = np.random.default_rng(len(shape))
    letter = kind(dtype)
    if letter in "biu":
        return np.asarray(random.integers(0, 2 if letter == "b" else 3, shape)).astype(dtype)
    return np.asarray(random.random(shape) + 0.1).astype(dtype)


__all__ = ["program_of"]
