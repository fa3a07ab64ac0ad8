"""threefry2x32: the cipher that random bits come from, a macro op on unsigned integers of 32 bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from celadon.op import Op, unite_all
from celadon.program import fixed
from celadon.types import ArrayType, DType, DTypes
from celadon.vocabulary.arithmetic import add
from celadon.vocabulary.bitwise import or_, shift_left, shift_right_logical, xor
from celadon.vocabulary.conversion import convert
from celadon.vocabulary.kinds import common_shape, require

Array = Any
WORD: DType = np.dtype(np.uint32)
_WORDS = DTypes([WORD])
PAIR: DType = np.dtype(np.uint64)
PARITY = 0x1BD11BDA
ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))


def encrypted(words: tuple[Any, ...], plus: Callable[..., Any], mixed: Callable[..., Any], turned: Callable[..., Any]) -> Any:
    """Two words of text encrypted with two words of key, in 20 rounds; `turned` rotates a word to the left.

    Source: Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3 (2011), Threefry-2x32-20.
    """
    first, second, x, y = words
    keys = (first, second, mixed(mixed(first, second), PARITY))
    x, y = plus(x, first), plus(y, second)
    for group in range(5):
        for amount in ROTATIONS[group % 2]:
            x = plus(x, y)
            y = mixed(x, turned(y, amount))
        x = plus(x, keys[(group + 1) % 3])
        y = plus(plus(y, keys[(group + 2) % 3]), group + 1)
    return x, y


def _type(*words: ArrayType, folded: bool) -> ArrayType:
    for word in words:
        require("threefry2x32", word, _WORDS)
    return ArrayType(common_shape("threefry2x32", *words), WORD if folded else PAIR)


def _rotated(x: Array, amount: int) -> Array:
    return x << np.uint32(amount) | x >> np.uint32(32 - amount)


def _numpy(*words: Array, folded: bool) -> Array:
    x, y = encrypted(words, lambda a, b: a + np.asarray(b, WORD), lambda a, b: a ^ np.asarray(b, WORD), _rotated)
    return x ^ y if folded else y.astype(PAIR) << np.uint64(32) | x.astype(PAIR)


def _with(op: Op) -> Callable[[Any, Any], Any]:
    """The op, with a Python integer as its second operand standing for itself."""
    return lambda x, y: op(x, fixed(y, WORD) if isinstance(y, int) else y)


def _rotate(x: Any, amount: int) -> Any:
    return or_(shift_left(x, fixed(amount, WORD)), shift_right_logical(x, fixed(32 - amount, WORD)))


def expand_threefry(*words: Any, folded: bool) -> Any:
    x, y = encrypted(words, _with(add), _with(xor), _rotate)
    if folded:
        return xor(x, y)
    upper = shift_left(convert(y, new_dtype=PAIR), fixed(32, PAIR))
    return or_(upper, convert(x, new_dtype=PAIR))


threefry2x32 = Op(
    "threefry2x32", _type, _numpy, expand=expand_threefry, unite=unite_all, exact=True, kind="elementwise"
)
"""Two words of key and two of text; the result is the two words encrypted, in 64 bits of which the lower are the first
word, or if `folded` their exclusive or."""

__all__ = ["PAIR", "WORD", "encrypted", "expand_threefry", "threefry2x32"]
