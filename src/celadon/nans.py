"""What jax_debug_nans and jax_debug_infs ask for: results are looked at, and NaN or infinity among them is an error."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from celadon import errors, tracing
from celadon.settings import Setting
from celadon.types import is_inexact

debug_nans = Setting("jax_debug_nans", False, keyed=True)
debug_infs = Setting("jax_debug_infs", False, keyed=True)


def watching() -> bool:
    """Whether results are looked at in this thread.

    >>> watching()
    False
    """
    return debug_nans.value or debug_infs.value


def found_in(arrays: Iterable[Any]) -> str:
    """What the settings forbid and an array holds: "NaN", "infinity", or nothing."""
    hosts = [x.host for x in arrays if is_inexact(x.type.dtype)]
    if debug_nans.value and any(np.isnan(x).any() for x in hosts):
        return "NaN"
    return "infinity" if debug_infs.value and any(np.isinf(x).any() for x in hosts) else ""


def require_none(op: str, arrays: Iterable[Any]) -> None:
    """Raise `InvalidValue` if results of an op hold what the settings forbid."""
    found = found_in(arrays)
    if found:
        raise errors.InvalidValue(what=found, op=f"the op {op}", place=place())


def place() -> str:
    """The user's line that is at work."""
    source = tracing.state.source
    return errors.describe(*source) if source else errors.user_line()
