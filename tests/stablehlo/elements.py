"""Types and constants of MLIR in, dtypes, shapes and NumPy arrays out."""

from __future__ import annotations

import importlib
import re
from typing import Any

import numpy as np

from celadon.types import from_short

Array = np.ndarray[Any, Any]
_DTYPES = {
    "i1": "bool", "complex<f32>": "c64", "complex<f64>": "c128", "bf16": "bf16", "f16": "f16", "f32": "f32", "f64": "f64",
} | {
    f"{sign}i{bits}": f"{'u' if sign else 'i'}{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}  # fmt: skip
NARROW = {name: name.removeprefix("s").replace("i", "int") for name in ("i2", "i4", "ui2", "ui4")} | {
    f"f{name}": f"float{name[0]}_{name[1:].lower()}"
    for name in ("8E3M4", "8E4M3", "8E4M3B11FNUZ", "8E4M3FN", "8E4M3FNUZ", "8E5M2", "8E5M2FNUZ", "8E8M0FNU", "4E2M1FN", "6E2M3FN",
                 "6E3M2FN")
}  # fmt: skip
_DENSE = re.compile(r"dense<([^<>]*)> : (tensor<(?:[^<>]|<[^<>]*>)*>)")
_NUMBER = re.compile(r"0x[0-9A-Fa-f]+|true|false|-?(?:\d[\d.]*(?:[eE][+-]?\d+)?|inf|nan)")


class Unreadable(Exception):
    """What a program holds that this reader has no meaning for, in words."""


def shape_of(type: Any) -> tuple[int, ...]:
    """The extents of a ranked type; -1 where they are not known."""
    return tuple(-1 if type.is_dynamic_dim(i) else type.get_dim_size(i) for i in range(type.rank))


def element_name(type: Any) -> str:
    """The name of a type's elements."""
    return str(type) if str(type).startswith("complex") else str(getattr(type, "element_type", type))


def dtype_of(type: Any, narrow: bool = False) -> np.dtype[Any]:
    """The dtype of a tensor type, or of an element type: that of arrays which hold it, or if `narrow` its own.

    Raises `Unreadable` for one that arrays can't have.
    """
    name = element_name(type)
    if name in _DTYPES:
        return from_short[_DTYPES[name]]
    if name not in NARROW:
        raise Unreadable(f"dtype {name.partition('<')[0]}")
    if narrow:
        return np.dtype(getattr(importlib.import_module("ml_dtypes"), NARROW[name]))
    return np.dtype(np.float32 if name.startswith("f") else np.int8 if name.startswith("i") else np.uint8)


def constant_of(op: Any, name: str) -> Array:
    """The elements of a constant among an op's attributes, in a dtype of their own."""
    try:
        attribute = op.attributes[name]
    except TypeError:  # complex numbers, for which the bindings have no class
        return _written(str(op), name)
    try:
        dtype = dtype_of(attribute.type, True)
        return np.array(attribute, dtype=dtype, copy=True).reshape(shape_of(attribute.type))
    except TypeError:  # elements for which they have no buffer
        return _written(str(attribute), "")


def _written(text: str, name: str) -> Array:
    """The elements of an attribute in a text: numbers, or the bits of all in hexadecimal digits."""
    found = _DENSE.search(text, max(text.find(f"{name} = dense<"), 0))
    assert found is not None, text
    type = importlib.import_module("jaxlib.mlir.ir").Type.parse(found[2])
    dtype, shape, body = dtype_of(type, True), shape_of(type), found[1]
    if body.startswith('"0x'):
        elements = np.frombuffer(bytes.fromhex(body.strip('"')[2:]), dtype)
    else:
        elements = _numbers(_NUMBER.findall(body), dtype)
    return np.array(np.broadcast_to(elements.reshape(()), shape) if elements.size == 1 else elements.reshape(shape))


def _numbers(words: list[str], dtype: np.dtype[Any]) -> Array:
    """
    >>> _numbers(["1.0", "0x7FC0"], from_short["bf16"]).astype("float32")
    array([ 1., nan], dtype=float32)
    """
    if dtype.kind == "c":
        parts = _numbers(words, np.dtype(f"f{dtype.itemsize // 2}"))
        return parts.view(dtype)
    return np.array([_number(word, dtype) for word in words], dtype)


def _number(word: str, dtype: np.dtype[Any]) -> Any:
    if word in ("true", "false"):
        return word == "true"
    if dtype.kind in "iu" or "int" in dtype.name:
        return int(word, 0)
    if word.startswith("0x"):
        return np.frombuffer(int(word, 16).to_bytes(dtype.itemsize, "little"), dtype)[0]
    return float(word)


__all__ = ["NARROW", "Unreadable", "constant_of", "dtype_of", "element_name", "shape_of"]
