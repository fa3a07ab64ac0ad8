"""What a program claims about its results, as StableHLO's own interpreter decides it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.stablehlo.elements import Unreadable, constant_of
from tests.stablehlo.reader import Check, Site

_ULPS, _NEAR, _NEAR_CONST = 3, 1e-3, 1e-4


def noted(site: Site, word: str, operands: Sequence[Any]) -> list[Any]:
    """Keep a check of a program with its operands."""
    is_const = word.endswith("_const")
    word = word.removesuffix("_const")
    if word == "eq":
        word = "expect_almost_eq"
        operands = operands[::-1]  # what is expected comes first
    if word not in ("expect_eq", "expect_close", "expect_almost_eq"):
        raise Unreadable(f"check.{word}")
    if is_const:
        operands = [*operands, site.reader.held(constant_of(site.op, "check.value"))]
    near = _NEAR_CONST if is_const else _NEAR
    limit = {"expect_eq": 0, "expect_close": _ULPS, "expect_almost_eq": near}[word]
    site.reader.checks.append(Check(word, site.number("check.tolerance", limit)))
    site.reader.pairs.append((operands[0], operands[1]))
    return []


def complaint(check: Check, actual: Any, expected: Any) -> str:
    """What is wrong about a result, in words; nothing if the check holds.

    >>> complaint(Check("expect_eq", 0), np.ones(2), np.ones(2))
    ''
    >>> complaint(Check("expect_eq", 0), np.ones(2), np.array([1.0, 2.0]))
    'expect_eq: 1 of 2 differ: 1.0 instead of 2.0'
    """
    actual, expected = np.asarray(actual), np.asarray(expected)
    if (actual.shape, actual.dtype) != (expected.shape, expected.dtype):
        return f"{check.word}: {actual.dtype}{actual.shape} instead of {expected.dtype}{expected.shape}"
    actual, expected = actual.reshape(-1), expected.reshape(-1)
    with np.errstate(all="ignore"):
        wrong = ~_HOLDS[check.word](actual, expected, check.tolerance)
    if not wrong.any():
        return ""
    first = np.flatnonzero(wrong)[0]
    return f"{check.word}: {wrong.sum()} of {wrong.size} differ: {actual[first]} instead of {expected[first]}"


def _equal(x: Any, y: Any, tolerance: float) -> Any:
    return (x == y) | ((x != x) & (y != y))


def _close(x: Any, y: Any, tolerance: float) -> Any:
    """Within units in the last place; NaN is near NaN, and infinity only itself."""
    if x.dtype.kind == "c":
        return _close(x.real, y.real, tolerance) & _close(x.imag, y.imag, tolerance)
    a, b = (_places(v) for v in (x, y))
    finite = np.isfinite(x) & np.isfinite(y)
    distance = np.abs(a - b)
    return _equal(x, y, tolerance) | (finite & (distance <= tolerance))


def _places(x: Any) -> Any:
    """Floats counted from zero, as Python's integers so that no difference overflows."""
    bits = np.ascontiguousarray(x).view(f"i{x.dtype.itemsize}").astype(object)
    return np.where(bits < 0, -(bits + (1 << 8 * x.dtype.itemsize - 1)), bits) if bits.size else bits


def _near(x: Any, y: Any, tolerance: float) -> Any:
    if x.dtype.kind == "c":
        return _near(x.real, y.real, tolerance) & _near(x.imag, y.imag, tolerance)
    if x.dtype.kind in "biu":
        return x == y
    a, b = (np.asarray(v, np.float64) for v in (x, y))
    return _equal(a, b, tolerance) | (np.abs(a - b) <= tolerance)


_HOLDS = {"expect_eq": _equal, "expect_close": _close, "expect_almost_eq": _near}

__all__ = ["complaint", "noted"]
