"""Random arrays for the fuzzer, each known by its seed: ordinary numbers, edges of the dtype, subnormals, any bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from celadon.types import DType, from_short, kind, short_name
from tests.vocabulary.samples import edges

Array = np.ndarray[Any, Any]
STYLES = ("ordinary", "ordinary", "small", "edges", "subnormal", "bits", "huge", "equal")
STORAGE = ("rows", "rows", "rows", "columns", "backwards", "gaps", "unaligned", "read-only")


def array(seed: int, short: str, shape: tuple[int, ...], style: str = "ordinary", stored: str = "rows") -> Array:
    """The array of a seed.

    Args:
        seed: any integer from 0.
        short: the dtype's short name, f32.
        shape: extents.
        style: which values; one of STYLES, or "unit" for numbers from a half to two.
        stored: how the elements lie in memory; one of STORAGE.
    """
    random = np.random.default_rng([seed, *shape])
    return _stored(_values(random, from_short[short], shape, style), stored)


def _values(random: np.random.Generator, dtype: DType, shape: tuple[int, ...], style: str) -> Array:
    if kind(dtype) == "c":
        part = np.dtype(f"f{dtype.itemsize // 2}")
        found = np.empty(shape, dtype)
        found.real, found.imag = (_values(random, part, shape, style) for _ in range(2))
        return found
    if kind(dtype) == "b":
        return random.random(shape) < 0.5
    return _integers(random, dtype, shape, style) if kind(dtype) in "iu" else _floats(random, dtype, shape, style)


def _integers(random: np.random.Generator, dtype: DType, shape: tuple[int, ...], style: str) -> Array:
    if style in ("edges", "subnormal"):
        return random.choice(edges(dtype), shape)
    if style in ("bits", "huge"):
        return _bits(random, dtype, shape)
    low, high = (0 if kind(dtype) == "u" else -20, 21) if style != "equal" else (0, 3)
    return random.integers(low, high, shape).astype(dtype)


def _floats(random: np.random.Generator, dtype: DType, shape: tuple[int, ...], style: str) -> Array:
    with np.errstate(all="ignore"):
        match style:
            case "edges":
                return random.choice(edges(dtype), shape)
            case "subnormal":
                tiny = np.array([0, 1, 2, 3, 1 << 5], f"u{dtype.itemsize}").view(dtype)
                return random.choice(np.concatenate([edges(dtype), tiny, -tiny]), shape)
            case "bits":
                return _bits(random, dtype, shape)
            case "huge":
                return np.ldexp(random.normal(0, 1, shape), _largest(dtype) - 2).astype(dtype)
            case "equal":
                return random.integers(-1, 2, shape).astype(dtype)
            case "unit":
                return random.uniform(0.5, 2, shape).astype(dtype)
            case "small":
                return (random.integers(-8, 9, shape) / 4).astype(dtype)
            case _:
                return random.normal(0, 3, shape).astype(dtype)


def _largest(dtype: DType) -> int:
    """The exponent of the largest number."""
    return {"f16": 16, "bf16": 128, "f32": 128, "f64": 1024}[short_name(dtype)]


def _bits(random: np.random.Generator, dtype: DType, shape: tuple[int, ...]) -> Array:
    count = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    return random.integers(0, 256, count, np.uint8).view(dtype).reshape(shape)


def _stored(x: Array, how: str) -> Array:
    """The same elements, lying otherwise in memory."""
    match how:
        case "columns":
            return np.array(x, order="F")
        case "backwards":
            return np.array(np.flip(x), order="C")[(slice(None, None, -1),) * x.ndim]
        case "gaps":
            wide = np.zeros(tuple(2 * n for n in x.shape), x.dtype)
            wide[(slice(None, None, 2),) * x.ndim] = x
            return wide[(slice(None, None, 2),) * x.ndim]
        case "unaligned":
            room = np.zeros(x.nbytes + 1, np.uint8)
            moved = np.ndarray(x.shape, x.dtype, room, 1)
            moved[...] = x
            return moved
        case "read-only":
            x = np.array(x)
            x.flags.writeable = False
            return x
        case _:
            return np.asarray(x)
