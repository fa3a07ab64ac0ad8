"""What turns numbers along axes into shares or standard scores: softmax and its kin, standardize; under JAX's names."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from celadon import errors, vocabulary as ops
from celadon.numpy import elementwise, reductions, selection, transcendentals
from celadon.numpy.library import library
from celadon.numpy.promotion import array, axes_of, operand
from celadon.scipy.summation import logsumexp
from celadon.transforms.custom_tangents import custom_jvp

__all__ = ["log_softmax", "logmeanexp", "logsumexp", "softmax", "standardize"]


def softmax(x: Any, axis: Any = -1, where: Any = None) -> Any:
    """exp(x) over its sum along axes.

    Args: where: which elements count; the others give 0.

    >>> softmax(np.array([0.0, 0.0], "float32"))
    Array([0.5, 0.5], dtype=float32)
    """
    return _softmax(operand(x, "nn.softmax"), axis, where)


@functools.partial(custom_jvp, nondiff_argnums=(1,))
def _softmax(x: Any, axis: Any, where: Any) -> Any:
    largest = reductions.max(x, axis, where=where, initial=-np.inf, keepdims=True)
    safe = x if where is None else selection.where(where, x, -np.inf)
    powers = transcendentals.exp(safe - largest)
    found = powers / reductions.sum(powers, axis, where=where, keepdims=True)
    return found if where is None else selection.where(where, found, 0)


@_softmax.defjvp
def _softmax_rule(axis: Any, primals: Any, tangents: Any) -> Any:
    (x, where), t = primals, tangents[0]
    found = _softmax(x, axis, where)
    mean = reductions.sum(found * t, axis, where=where, keepdims=True)
    return found, found * (t - mean)


@library("axis")
def log_softmax(x: Any, axis: Any = -1, where: Any = None) -> Any:
    """The logarithm of softmax.

    Args: where: which elements count; the others give -inf.

    >>> log_softmax(np.array([0.0, 0.0], "float32"))
    Array([-0.6931472, -0.6931472], dtype=float32)
    """
    x = array(x, "nn.log_softmax")
    largest = reductions.max(x, axis, where=where, initial=-np.inf, keepdims=True)
    safe = x if where is None else selection.where(where, x, -np.inf)
    shifted = safe - ops.stop_gradient(largest)
    total = reductions.sum(transcendentals.exp(shifted), axis, where=where, keepdims=True)
    found = shifted - transcendentals.log(total)
    return found if where is None else selection.where(where, found, -np.inf)


@library("axis", "keepdims")
def logmeanexp(x: Any, axis: Any = None, where: Any = None, keepdims: bool = False) -> Any:
    """log(mean(exp(x))) over all axes, or the named ones.

    Args: where: which elements count.

    >>> logmeanexp(np.array([1000.0, 1000.0], "float32"))
    Array(1000., dtype=float32)
    """
    x = array(x, "nn.logmeanexp")
    total = logsumexp(x, axis=axis, where=where, keepdims=keepdims)
    axes = axes_of(axis, x.type.ndim)
    count = reductions.counted(x, axes, where, total.type.dtype, keepdims)
    return total - transcendentals.log(count)


@library("axis", "algorithm")
def standardize(
    x: Any, axis: Any = -1, mean: Any = None, variance: Any = None, epsilon: Any = 1e-5, where: Any = None, *,
    algorithm: str = "fast",
) -> Any:  # fmt: skip
    """(x - mean) / sqrt(variance + epsilon), by default the mean and variance along axes.

    Args: where: which elements count; algorithm: of the variance, "fast" by the mean of squares, "stable" by the mean square
    of differences. Raises OptionUnknown.

    >>> standardize(np.array([1.0, 3.0], "float32"), epsilon=0.0)
    Array([-1.,  1.], dtype=float32)
    """
    x = operand(x, "nn.standardize")
    if mean is None:
        mean = reductions.mean(x, axis, keepdims=True, where=where)
    if variance is None:
        variance = _variance(x, axis, mean, where, algorithm)
    return elementwise.subtract(x, mean) * ops.rsqrt(array(variance + epsilon))


def _variance(x: Any, axis: Any, mean: Any, where: Any, algorithm: str) -> Any:
    if algorithm == "stable":
        return reductions.mean(elementwise.square(elementwise.subtract(x, mean)), axis, keepdims=True, where=where)
    if algorithm != "fast":
        raise errors.OptionUnknown(
            function="nn.standardize", argument="algorithm", value=algorithm, allowed="'fast' or 'stable'"
        )
    squares = reductions.mean(elementwise.square(x), axis, keepdims=True, where=where)
    return selection.clip(squares - elementwise.square(mean), 0)
