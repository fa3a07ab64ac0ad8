"""The dtype of typed random keys, 64 bits that only functions of random read; and the settings of random."""

from __future__ import annotations

from typing import Any

import numpy as np

from celadon.settings import Setting

DType = np.dtype[Any]

GENERATOR = "threefry2x32"
default_prng_impl = Setting("jax_default_prng_impl", GENERATOR, keyed=True)
legacy_prng_key = Setting("jax_legacy_prng_key", "allow")
threefry_partitionable = Setting("jax_threefry_partitionable", True, keyed=True)
fine_gumbel = Setting("jax_high_dynamic_range_gumbel", False, keyed=True)

KEY: DType = np.dtype([("fry", "<u4", (2,))])
"""A key as arrays hold it: the two words of a Threefry key, one element."""

BITS: DType = np.dtype(np.uint64)
"""What programs hold in its place once they are lowered: the same memory."""


class extended:
    """The kind of dtypes that are no numbers, for `issubdtype`."""


class prng_key(extended):
    """The kind of the dtypes of random keys, for `issubdtype`."""


class KeyDType:
    """The dtype of a key array as its `dtype` shows it; NumPy takes it where it takes a dtype.

    >>> KeyDType(), KeyDType().name, KeyDType().itemsize
    (key<fry>, 'key<fry>', 8)
    >>> np.dtype(KeyDType()) == KEY
    True
    """

    __slots__ = ()
    dtype = KEY
    type = prng_key
    name = "key<fry>"
    itemsize = KEY.itemsize
    kind = KEY.kind

    def __repr__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KeyDType) or (isinstance(other, np.dtype) and other == KEY)

    def __hash__(self) -> int:
        return hash(KEY)

    def __reduce__(self) -> str:
        return "key_dtype"


key_dtype = KeyDType()


def is_key(dtype: Any) -> bool:
    """Whether a dtype is that of keys.

    >>> is_key(key_dtype), is_key(np.dtype("uint32"))
    (True, False)
    """
    return dtype.kind == "V" and np.dtype(dtype) == KEY


def shown(dtype: DType) -> Any:
    """A dtype as arrays show it to users."""
    return key_dtype if is_key(dtype) else dtype
