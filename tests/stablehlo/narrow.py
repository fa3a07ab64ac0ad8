"""Dtypes of fewer than eight bits, or of floats that arrays don't have, in; out, wider ones that hold them, and what keeps values
within the narrow ones: as XLA does it on a processor without them."""

from __future__ import annotations

from typing import Any

import numpy as np

from celadon.op import registry as op
from celadon.program import fixed
from celadon.types import is_supported
from tests.stablehlo.elements import NARROW, Unreadable, element_name

BITS = {"i2": 2, "i4": 4, "ui2": 2, "ui4": 4}
_MOVES = (
    "constant", "broadcast_in_dim", "reshape", "transpose", "reverse", "concatenate", "slice", "select", "custom_call",
    "optimization_barrier",
)  # fmt: skip
_EXACT = ("add", "and", "compare", "convert", "iota", "maximum", "minimum", "multiply", "negate", "not", "or", "subtract", "xor")


def allowed(name: str, types: list[Any]) -> None:
    """Raise `Unreadable` for an op whose meaning depends on the width of a narrow operand or result."""
    narrow = [element_name(type) for type in types if is_narrow(type)]
    for found in narrow:
        if name not in _MOVES and not (found in BITS and name in _EXACT):
            raise Unreadable(f"{name} on dtype {found}")


def is_narrow(type: Any) -> bool:
    return element_name(type) in NARROW


def within(x: Any, type: Any) -> Any:
    """A value cut to the bits of its type, the sign repeated above them."""
    name = element_name(type)
    if name not in BITS:
        return x
    if name.startswith("u"):
        return op["and"](x, fixed((1 << BITS[name]) - 1, np.dtype(np.uint8)))
    above = fixed(8 - BITS[name], np.dtype(np.int8))
    return op["shift_right_arithmetic"](op["shift_left"](x, above), above)


def widened(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """An array of a narrow dtype as one that arrays can have.

    >>> import ml_dtypes
    >>> widened(np.array([-3], ml_dtypes.int4)).dtype
    dtype('int8')
    """
    if is_supported(x.dtype):
        return x
    name = x.dtype.name
    return x.astype(np.uint8 if name.startswith("uint") else np.int8 if name.startswith("int") else np.float32)


__all__ = ["BITS", "allowed", "is_narrow", "widened", "within"]
