"""Results compared bit for bit: their trees, types and bytes, every NaN counting as the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from celadon import tree
from celadon.types import kind


def bits(results: Any) -> tuple[object, ...]:
    """Everything about a tree of arrays that must be equal for its arrays to be equal in bits."""
    leaves, structure = tree.flatten(results)
    return (structure, *(_bits(leaf) for leaf in leaves))


def _bits(x: Any) -> tuple[object, ...]:
    host = np.array(x)
    parts = np.stack([host.real, host.imag]) if kind(host.dtype) == "c" else host
    return str(host.dtype), host.shape, getattr(x, "weak_type", None), _bytes(parts)


def _bytes(host: np.ndarray[Any, Any]) -> bytes:
    if kind(host.dtype) == "f":
        host = np.where(np.isnan(host), np.array(np.nan, host.dtype), host)
    return host.tobytes()
