"""Samples that need a factorisation: normal vectors with a covariance, and orthogonal matrices."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from celadon import errors
from celadon.numpy import elementwise, shapes, subscripts, taking
from celadon.numpy.dtypes import requested
from celadon.numpy.linalg import decompositions
from celadon.numpy.promotion import accept, array, common_shape, converted, least_dtype, shape_from
from celadon.random.continuous import normal
from celadon.random.keys import single
from celadon.types import Shape, result_type

_METHODS = ("cholesky", "eigh", "svd")


def multivariate_normal(
    key: Any, mean: Any, cov: Any, shape: Any = None, dtype: Any = None, method: str = "cholesky", *, out_sharding: Any = None
) -> Any:
    """Normal vectors with the given means and covariances.

    Args: mean: (..., n); cov: (..., n, n); shape: of the result without its last axis, to which the leading axes of mean and
    cov broadcast, by default these; dtype: of the normal numbers drawn, by default that of mean and cov; method: "cholesky"
    (the quickest), "eigh" or "svd" (also for singular covariances).
    Raises KeyInvalid, KeyNotSingle, DTypeNotAccepted, OptionUnknown, MatricesUnfit, SampleShapeTooSmall.

    >>> multivariate_normal(np.uint32([0, 42]), np.zeros(2, "float32"), np.eye(2, dtype="float32"), (5,)).shape
    (5, 2)
    """
    function = "random.multivariate_normal"
    found = single(function, key)
    if method not in _METHODS:
        allowed = ", ".join(map(repr, _METHODS))
        raise errors.OptionUnknown(function=function, argument="method", value=method, allowed=allowed)
    mean, cov = array(mean, function), array(cov, function)
    common = least_dtype(result_type([mean.type, cov.type])[0], "inexact")
    wanted = common if dtype is None else requested(dtype)
    accept(function, wanted, "f")
    mean, cov = converted(mean, common), converted(cov, common)
    extents = _extents(function, mean, cov, shape)
    drawn = normal(found, extents + mean.type.shape[-1:], wanted)
    return mean + subscripts.einsum("...ij,...j->...i", _factor(cov, method), drawn)


def _extents(function: str, mean: Any, cov: Any, shape: Any) -> Shape:
    """The leading axes of the samples."""
    lead, square = mean.type.shape[:-1], cov.type.shape[:-2]
    if not mean.type.ndim or cov.type.shape[-2:] != mean.type.shape[-1:] * 2:
        raise errors.ShapesDiffer(op=function, shapes=f"{mean.type.shape} and {cov.type.shape}")
    own = common_shape(function, lead, square)
    wanted = own if shape is None else shape_from(shape)
    if common_shape(function, wanted, own) != wanted:
        raise errors.SampleShapeTooSmall(function=function, shape=wanted, given=f"{lead}, {square}")
    return wanted


def _factor(cov: Any, method: str) -> Any:
    """A matrix whose product with its transpose is the covariance."""
    if method == "cholesky":
        return decompositions.cholesky(cov)
    if method == "eigh":
        values, vectors = decompositions.eigh(cov)
    else:
        vectors, values, _ = decompositions.svd(cov)
    return vectors * shapes.expand_dims(elementwise.sqrt(values), -2)


def orthogonal(
    key: Any, n: int, shape: Any = (), dtype: Any = None, m: int | None = None, *, out_sharding: Any = None
) -> Any:
    """Matrices with orthogonal rows and columns, spread evenly over all such (unitary ones for a complex dtype).

    Args: n, m: rows and columns, by default as many; shape: of the result, before its last two axes; dtype: a float or complex
    one, by default float32 (float64 if x64 is on). Raises KeyInvalid, KeyNotSingle, DTypeNotAccepted.
    Source: Mezzadri: How to generate random matrices from the classical compact groups (2007).

    >>> q = orthogonal(np.uint32([0, 42]), 3)
    >>> bool((abs(q @ q.T - np.eye(3)) < 1e-5).all())
    True
    """
    rows, columns = operator.index(n), operator.index(n if m is None else m)
    found, wanted = single("random.orthogonal", key), requested(dtype, np.float64)
    accept("random.orthogonal", wanted, "fc")
    drawn = normal(found, (*shape_from(shape), max(rows, columns), min(rows, columns)), wanted)
    q, r = decompositions.qr(drawn)
    signed = q * shapes.expand_dims(elementwise.sign(taking.diagonal(r, 0, -2, -1)), -2)
    return shapes.matrix_transpose(signed) if rows < columns else signed
