"""Dtypes and kinds of dtypes under JAX's names (jax.dtypes)."""

from __future__ import annotations

from typing import Any

from celadon.keys import extended, prng_key
from celadon.numpy.dtypes import bfloat16, dtype_of, finfo, iinfo, issubdtype, promote_types, result_type
from celadon.types import DType, canonical, float0

__all__ = [
    "bfloat16", "canonicalize_dtype", "extended", "finfo", "float0", "iinfo", "issubdtype", "prng_key", "promote_types",
    "result_type",
]  # fmt: skip


def canonicalize_dtype(dtype: Any) -> DType:
    """The dtype that arrays of a requested dtype get: 64-bit ones are 32-bit unless x64 is on.

    >>> canonicalize_dtype("float64")
    dtype('float32')
    """
    return canonical(dtype_of(dtype))
