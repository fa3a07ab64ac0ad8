"""logsumexp: the logarithm of a sum of exponentials, safe from overflow."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from celadon import vocabulary as ops
from celadon.numpy import comparison, creation, elementwise, reductions, selection, shapes
from celadon.numpy.promotion import array, axes_of, fixed_like, inexact
from celadon.transforms.custom_tangents import custom_jvp
from celadon.types import kind
from celadon.vocabulary.kinds import like


def logsumexp(
    a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False, where: Any = None
) -> Any:
    """log(sum(b exp(a))) over all axes, or the named ones.

    Args: a: floats or complex numbers; b: factors, by default 1; return_sign: return (log of the sum's absolute value, its
    sign); where: which elements count. A negative sum gives NaN unless return_sign.

    >>> logsumexp(np.array([1000.0, 0.0], "float32"))
    Array(1000., dtype=float32)
    """
    if where is not None:
        a = selection.where(where, a, 0)
    x, *factors = inexact("logsumexp", a) if b is None else inexact("logsumexp", a, b)
    if factors:
        x = selection.where(comparison.not_equal(factors[0], 0), x, -np.inf)
    x = array(x)
    largest = _largest(x, axis, where, keepdims)
    spread = largest if keepdims else shapes.expanded(largest, axes_of(axis, x.type.ndim))
    terms = ops.exponential(elementwise.subtract(x, creation.astype(spread, x.type.dtype)))
    if factors:
        terms = elementwise.multiply(terms, factors[0])
    total = reductions.sum(terms, axis=axis, keepdims=keepdims, where=where)
    return _logarithm(total, largest, bool(factors), return_sign)


def _largest(x: Any, axis: Any, where: Any, keepdims: bool) -> Any:
    """The largest real part, or 0 where that is infinite."""
    parts = elementwise.real(x)
    found = reductions.max(parts, axis=axis, keepdims=keepdims, where=where, initial=-np.inf)
    return ops.stop_gradient(ops.select(ops.is_finite(found), found, fixed_like(0, found)))


@functools.cache
def _log() -> Any:
    """log of a sum of exponentials; where all of them are 0, as in a row that is masked, it does not depend on any."""
    found = custom_jvp(lambda x: ops.log(x))
    found.defjvps(lambda t, out, x: ops.divide(t, ops.select(ops.compare(x, like(0, x), direction="EQ"), like(1, x), x)))
    return found


def _logarithm(total: Any, largest: Any, weighted: bool, return_sign: bool) -> Any:
    is_real, sign = kind(total.type.dtype) != "c", ops.sign(total)
    size = ops.abs_(total) if return_sign or is_real else total
    found = elementwise.add(ops.log(size) if weighted else _log()(size), creation.astype(largest, size.type.dtype))
    if return_sign:
        return found, sign
    if weighted and is_real:
        return selection.where(comparison.less(sign, 0), np.array(np.nan, found.type.dtype), found)
    return found
