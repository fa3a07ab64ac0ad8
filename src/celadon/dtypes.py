"""Dtypes and kinds of dtypes under JAX's names (jax.dtypes)."""

from __future__ import annotations

from typing import Any

from celadon.keys import extended, prng_key
from celadon.numpy.dtypes import bfloat16, dtype_of, finfo, iinfo, issubdtype, promote_types, result_type
from celadon.types import DType, canonical, float0, kind

__all__ = [
    "bfloat16", "canonicalize_dtype", "extended", "finfo", "float0", "iinfo", "issubdtype", "itemsize_bits", "prng_key",
    "promote_types", "result_type", "scalar_type_of",
]  # fmt: skip
_PYTHON = {"b": bool, "i": int, "u": int, "f": float, "c": complex}


def canonicalize_dtype(dtype: Any) -> DType:
    """The dtype that arrays of a requested dtype get: 64-bit ones are 32-bit unless x64 is on.

    >>> canonicalize_dtype("float64")
    dtype('float32')
    """
    return canonical(dtype_of(dtype))


def itemsize_bits(dtype: Any) -> int:
    """How many bits an element of a dtype has.

    >>> itemsize_bits("bfloat16")
    16
    """
    return 8 * dtype_of(dtype).itemsize


def scalar_type_of(x: Any) -> type:
    """The type of Python's that is of the kind of an array or dtype.

    >>> scalar_type_of("bfloat16")
    <class 'float'>
    """
    return _PYTHON[kind(dtype_of(x))]
