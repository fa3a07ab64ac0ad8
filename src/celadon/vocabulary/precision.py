"""The precision in which the NumPy rules compute: 16-bit floats in float32, functions that aren't exact in float64."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from celadon.types import DType, kind
from celadon.vocabulary.kinds import HALF

Function = Callable[..., Any]
_float32 = np.dtype(np.float32)


def wide(dtype: DType) -> DType:
    """float64 for real dtypes, complex128 for complex ones."""
    return np.dtype(np.complex128) if dtype.kind == "c" else np.dtype(np.float64)


def narrowed(x: Any, dtype: DType) -> Any:
    """Rounded to a dtype; to a 16-bit one through float32, as an executor does."""
    if dtype in HALF:
        x = np.asarray(x, _float32)
    return np.asarray(x).astype(dtype, copy=False)


def in_double(function: Function) -> Function:
    """The function computed in float64 or complex128, its result rounded to the dtype of its operand."""

    @functools.wraps(function)
    def rule(*xs: Any) -> Any:
        dtype = xs[0].dtype
        return narrowed(function(*[np.asarray(x, wide(dtype)) for x in xs]), dtype)

    return rule


def in_single(function: Function) -> Function:
    """The function as it is, but 16-bit floats are computed in float32 and rounded."""

    @functools.wraps(function)
    def rule(*xs: Any) -> Any:
        dtype = xs[0].dtype
        if dtype not in HALF:
            return function(*xs)
        return narrowed(function(*[np.asarray(x, _float32) for x in xs]), dtype)

    return rule


def by_kind(**rules: Function) -> Function:
    """One function out of several, by the kind of its first operand's dtype: b i u f c, one or more letters a name.

    >>> by_kind(iu=lambda x: x + 1, f=lambda x: -x)(np.int32(1))
    np.int32(2)
    """
    table = {letter: rule for letters, rule in rules.items() for letter in letters}

    def rule(*xs: Any) -> Any:
        return table[kind(xs[0].dtype)](*xs)

    return rule
