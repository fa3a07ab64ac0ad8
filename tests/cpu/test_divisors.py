"""Integers divided by one number: its reciprocal is taken once a call, and the quotients are exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import celadon
import celadon.lax

DTYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32")


def _numbers(dtype: str, count: int) -> Any:
    """The ends of a dtype, small numbers, and some from all over it."""
    info = np.iinfo(dtype)
    ends = [info.min, info.min + 1, info.max, info.max - 1, info.max // 2, info.max // 3]
    small = [n for n in range(-8, 100) if n >= info.min]
    found = np.random.default_rng(0).integers(info.min, info.max, count, dtype=dtype, endpoint=True)
    return np.unique(np.concatenate([found, np.array(ends + small, dtype)]))


def _around_multiples(x: Any, y: Any) -> Any:
    """Multiples of y near x, and their neighbours: where a quotient that is a little off is wrong."""
    multiples = x // y * y if y else x
    return np.concatenate([x, multiples - 1, multiples, multiples + 1])


@pytest.mark.parametrize("dtype", DTYPES)
@np.errstate(all="ignore")
def test_quotients_by_one_number_are_exact(dtype: str) -> None:
    divided = celadon.jit(lambda x, y: (celadon.lax.div(x, y), celadon.lax.rem(x, y)))
    for y in _numbers(dtype, 40):
        x = _around_multiples(_numbers(dtype, 500), y)
        quotient, rest = divided(x, y)
        wide, by = x.astype(np.int64), np.int64(y)
        if by == 0:
            wanted, left = np.full_like(x, -1 if dtype[0] == "i" else np.iinfo(dtype).max), x
        else:
            whole = np.sign(wide) * np.sign(by) * (np.abs(wide) // np.abs(by))
            wanted, left = whole.astype(dtype), (wide - whole * by).astype(dtype)
        np.testing.assert_array_equal(np.asarray(quotient), wanted, err_msg=f"by {y}")
        np.testing.assert_array_equal(np.asarray(rest), left, err_msg=f"by {y}")
