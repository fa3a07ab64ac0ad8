"""Elementwise ops on bits: logic, shifts (by any amount, the width and more included) and counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from celadon.vocabulary.kinds import BITS, INTEGER, elementwise

Array = Any


def _bits(x: Array) -> int:
    return x.dtype.itemsize * 8


def _unsigned(x: Array) -> Array:
    return np.asarray(x).view(f"u{x.dtype.itemsize}")


def _amount(x: Array, amount: Array) -> tuple[Array, Array]:
    """The amount, made safe, and where it is less than the width; a negative one counts as large."""
    amount = _unsigned(amount)
    inside = amount < _bits(x)
    return np.where(inside, amount, amount.dtype.type(0)), inside


def _left(x: Array, amount: Array) -> Array:
    safe, inside = _amount(x, amount)
    return np.where(inside, np.left_shift(_unsigned(x), safe), safe.dtype.type(0)).view(x.dtype)


def _right(x: Array, amount: Array) -> Array:
    safe, inside = _amount(x, amount)
    return np.where(inside, np.right_shift(_unsigned(x), safe), safe.dtype.type(0)).view(x.dtype)


def _right_by_sign(x: Array, amount: Array) -> Array:
    safe, inside = _amount(x, amount)
    signed = f"i{x.dtype.itemsize}"
    amount = np.where(inside, safe, safe.dtype.type(_bits(x) - 1)).view(signed)
    return np.right_shift(np.asarray(x).view(signed), amount).view(x.dtype)


def _ones(x: Array) -> Array:
    return np.bitwise_count(_unsigned(x)).astype(x.dtype)


def _leading_zeros(x: Array) -> Array:
    rest, zeros = _unsigned(x), _bits(x)
    for step in (32, 16, 8, 4, 2, 1):
        if step < _bits(x):
            upper = rest >> rest.dtype.type(step)
            zeros, rest = np.where(upper != 0, zeros - step, zeros), np.where(upper != 0, upper, rest)
    return (zeros - (rest != 0)).astype(x.dtype)


and_ = elementwise("and", np.bitwise_and, BITS, 2, exact=True)
or_ = elementwise("or", np.bitwise_or, BITS, 2, exact=True)
xor = elementwise("xor", np.bitwise_xor, BITS, 2, exact=True)
not_ = elementwise("not", np.invert, BITS, exact=True)
shift_left = elementwise("shift_left", _left, INTEGER, 2, exact=True)
shift_right_logical = elementwise("shift_right_logical", _right, INTEGER, 2, exact=True)
shift_right_arithmetic = elementwise("shift_right_arithmetic", _right_by_sign, INTEGER, 2, exact=True)
popcnt = elementwise("popcnt", _ones, INTEGER, exact=True)
count_leading_zeros = elementwise("count_leading_zeros", _leading_zeros, INTEGER, exact=True)
