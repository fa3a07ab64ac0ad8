"""Which blocks of the cipher give which bits and keys: each element by its own number, or as JAX had it before 0.5."""

from __future__ import annotations

import math
from typing import Any

from celadon import vocabulary as ops
from celadon.keys import threefry_partitionable
from celadon.numpy import joining, shapes
from celadon.program import fixed, literal
from celadon.types import DType
from celadon.vocabulary.bits import PAIR, WORD

Words = tuple[Any, Any]  # of a key, as scalars
_ZERO = fixed(0, WORD)
_HALF = fixed(32, PAIR)


def row_of_bits(key: Words, size: int | None, dtype: DType) -> Any:
    """A vector of bits of an unsigned dtype, a scalar for no size: elementwise work on it is one kernel for all shapes."""
    if not threefry_partitionable.value:
        return _former_bits(key, size, dtype) if size is not None else shapes.reshape(_former_bits(key, 1, dtype), ())
    if dtype.itemsize > 4:
        return _swapped(ops.threefry2x32(*key, *_numbers(size), folded=False))
    found = ops.threefry2x32(*key, *_numbers(size), folded=True)
    return found if dtype == WORD else ops.convert(found, new_dtype=dtype)


def row_of_keys(key: Words, count: int) -> Any:
    """The words of as many new keys, in a last axis of extent 2."""
    if not threefry_partitionable.value:
        return shapes.reshape(_former_words(key, 2 * count), (count, 2))
    return ops.bitcast_convert(ops.threefry2x32(*key, *_numbers(count), folded=False), new_dtype=WORD)


def subkeys(key: Words, count: int) -> list[Words]:
    """The words of the keys that row_of_keys gives, each computed by itself: kernels need no memory for them."""
    former = not threefry_partitionable.value
    texts = [(fixed(i if former else 0, WORD), fixed(count + i if former else i, WORD)) for i in range(count)]
    pairs = [_words(ops.threefry2x32(*key, *text, folded=False)) for text in texts]
    if not former:
        return pairs
    flat = [first for first, _ in pairs] + [second for _, second in pairs]
    return list(zip(flat[::2], flat[1::2], strict=True))


def _words(pair: Any) -> Words:
    upper = ops.shift_right_logical(pair, _HALF)
    return ops.convert(pair, new_dtype=WORD), ops.convert(upper, new_dtype=WORD)


def _swapped(pairs: Any) -> Any:
    return ops.or_(ops.shift_left(pairs, _HALF), ops.shift_right_logical(pairs, _HALF))


def _numbers(size: int | None) -> Words:
    """The numbers from 0 on, upper and lower words."""
    if size is None:
        return _ZERO, _ZERO
    if size < 1 << 32:
        return _ZERO, _counted(size, WORD)
    numbers = _counted(size, PAIR)
    upper = ops.shift_right_logical(numbers, _HALF)
    return ops.convert(upper, new_dtype=WORD), ops.convert(numbers, new_dtype=WORD)


def _counted(size: int, dtype: DType) -> Any:
    return ops.iota(shape=(size,), dtype=dtype, dimension=0)


def _former_words(key: Words, count: int) -> Any:
    """The numbers from 0 on, in two halves of which one encrypts the other; an odd count is filled up with 0."""
    half = -(-count // 2)
    first = _counted(half, WORD)
    second = ops.add(first, literal(half, WORD))
    second = ops.select(ops.compare(second, literal(count, WORD), direction="LT"), second, _ZERO)
    pairs = ops.bitcast_convert(ops.threefry2x32(*key, first, second, folded=False), new_dtype=WORD)
    rows = shapes.reshape(ops.transpose(pairs, permutation=(1, 0)), (2 * half,))
    return joining.part(rows, 0, 0, count)


def _former_bits(key: Words, size: int, dtype: DType) -> Any:
    found = _former_words(key, math.ceil(size * dtype.itemsize / 4))
    if dtype == WORD:
        return found
    if dtype.itemsize > 4:
        upper, lower = (ops.convert(joining.part(found, 0, i * size, i * size + size), new_dtype=dtype) for i in (0, 1))
        return ops.or_(ops.shift_left(upper, _HALF), lower)
    parts = ops.bitcast_convert(found, new_dtype=dtype)
    return joining.part(shapes.reshape(parts, (parts.type.size,)), 0, 0, size)
