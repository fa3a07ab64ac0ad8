"""Samplers of floats without parameters: normal ones, and what transforms uniform ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from celadon import vocabulary as ops
from celadon.numpy import selection, shapes
from celadon.numpy.dtypes import requested
from celadon.numpy.promotion import accept, converted, shape_from
from celadon.program import fixed
from celadon.random.blocks import Words, subkeys
from celadon.random.intervals import between, float_dtype, row_between, sample_shape
from celadon.random.keys import as_program, single
from celadon.types import DType, Shape, finfo, kind
from celadon.vocabulary.kinds import real_dtype

Row = Callable[[Words, int | None, DType], Any]  # a vector of samples of a key


def in_shape(row: Row) -> Callable[..., Any]:
    """Samples in a shape, by a function that draws a vector of them."""

    def body(key: Words, *, shape: Shape, dtype: DType) -> Any:
        return shapes.reshape(row(key, math.prod(shape), dtype), shape)

    return body


def floats(function: str, sampler: Callable[..., Any], key: Any, shape: Any, dtype: Any) -> Any:
    """What a sampler of floats draws, its arguments checked."""
    found, wanted = single(function, key), float_dtype(function, dtype)
    return sampler(found, shape=shape_from(shape), dtype=wanted)


def normal(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """Samples of the standard normal distribution.

    Args: shape: of the result; dtype: a float or complex one (of which the parts have variance 1/2), by default float32
    (float64 if x64 is on). Raises KeyInvalid, KeyNotSingle, DTypeNotAccepted.

    >>> normal(np.uint32([0, 42]), (2, 3)).shape
    (2, 3)
    """
    found, wanted = single("random.normal", key), requested(dtype, np.float64)
    accept("random.normal", wanted, "fc")
    sampler = _complex_normal if kind(wanted) == "c" else _normal
    return sampler(found, shape=shape_from(shape), dtype=wanted)


def row_of_normal(key: Words, size: int | None, dtype: DType) -> Any:
    """A vector of normal samples: the inverse of the error function, on floats between -1 and 1."""
    low = np.nextafter(np.array(-1, dtype), np.array(0, dtype), dtype=dtype)
    drawn = row_between(key, size, dtype, fixed(low, dtype), fixed(1, dtype))
    return ops.multiply(fixed(np.sqrt(2), dtype), ops.erf_inv(drawn))


def _row_of_complex(key: Words, size: int | None, dtype: DType) -> Any:
    parts = [row_of_normal(k, size, real_dtype(dtype)) for k in subkeys(key, 2)]
    return ops.divide(ops.complex_(*parts), fixed(np.sqrt(2), dtype))


shaped_normal = in_shape(row_of_normal)
_normal, _complex_normal = as_program("_normal", shaped_normal), as_program("_normal", in_shape(_row_of_complex))


def truncated_normal(
    key: Any, lower: Any, upper: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Samples of the standard normal distribution between two bounds.

    Args: lower, upper: the bounds; shape: of the result, by default that of the bounds; dtype: a float one, by default
    float32 (float64 if x64 is on). Raises KeyInvalid, KeyNotSingle, DTypeNotAccepted, SampleShapeTooSmall.

    >>> bool((abs(truncated_normal(np.uint32([0, 42]), -1, 1, (9,))) <= 1).all())
    True
    """
    found, wanted = single("random.truncated_normal", key), float_dtype("random.truncated_normal", dtype)
    extents = sample_shape("random.truncated_normal", shape, lower, upper)
    return _truncated_normal(found, lower, upper, shape=extents, dtype=wanted)


def _truncated(key: Words, lower: Any, upper: Any, *, shape: Shape, dtype: DType) -> Any:
    root, infinity = fixed(np.sqrt(2), dtype), fixed(np.inf, dtype)
    lower, upper = converted(lower, dtype), converted(upper, dtype)
    low, high = (ops.erf(ops.divide(bound, root)) for bound in (lower, upper))
    found = ops.multiply(root, ops.erf_inv(between(key, low, high, shape=shape, dtype=dtype)))
    lower, upper = (ops.stop_gradient(bound) for bound in (lower, upper))
    return selection.clip(found, ops.next_after(lower, infinity), ops.next_after(upper, ops.negate(infinity)))


_truncated_normal = as_program("_truncated_normal", _truncated)


def exponential(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """Samples of the exponential distribution of rate 1.

    Args: shape: of the result; dtype: a float one, by default float32 (float64 if x64 is on).
    Raises KeyInvalid, KeyNotSingle, DTypeNotAccepted.

    >>> bool((exponential(np.uint32([0, 42]), (9,)) >= 0).all())
    True
    """
    return floats("random.exponential", _exponential, key, shape, dtype)


def row_of_exponential(key: Words, size: int | None, dtype: DType) -> Any:
    """A vector of exponential samples."""
    drawn = row_between(key, size, dtype, fixed(0, dtype), fixed(1, dtype))
    return ops.negate(ops.log_plus_one(ops.negate(drawn)))


_exponential = as_program("_exponential", in_shape(row_of_exponential))


def cauchy(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """Samples of the standard Cauchy distribution.

    Args: shape: of the result; dtype: a float one, by default float32 (float64 if x64 is on).
    Raises KeyInvalid, KeyNotSingle, DTypeNotAccepted.

    >>> cauchy(np.uint32([0, 42]), (2,)).shape
    (2,)
    """
    return floats("random.cauchy", _cauchy, key, shape, dtype)


def _row_of_cauchy(key: Words, size: int | None, dtype: DType) -> Any:
    drawn = row_between(key, size, dtype, fixed(finfo(dtype).eps, dtype), fixed(1, dtype))
    return ops.tan(ops.multiply(fixed(np.pi, dtype), ops.subtract(drawn, fixed(0.5, dtype))))


_cauchy = as_program("_cauchy", in_shape(_row_of_cauchy))


def laplace(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """Samples of the standard Laplace distribution.

    Args: shape: of the result; dtype: a float one, by default float32 (float64 if x64 is on).
    Raises KeyInvalid, KeyNotSingle, DTypeNotAccepted.

    >>> laplace(np.uint32([0, 42]), (2,)).shape
    (2,)
    """
    return floats("random.laplace", _laplace, key, shape, dtype)


def _row_of_laplace(key: Words, size: int | None, dtype: DType) -> Any:
    low = -1.0 + float(finfo(dtype).epsneg)
    drawn = row_between(key, size, dtype, fixed(low, dtype), fixed(1, dtype))
    return ops.multiply(ops.sign(drawn), ops.log_plus_one(ops.negate(ops.abs_(drawn))))


_laplace = as_program("_laplace", in_shape(_row_of_laplace))


def logistic(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """Samples of the standard logistic distribution.

    Args: shape: of the result; dtype: a float one, by default float32 (float64 if x64 is on).
    Raises KeyInvalid, KeyNotSingle, DTypeNotAccepted.

    >>> logistic(np.uint32([0, 42]), (2,)).shape
    (2,)
    """
    return floats("random.logistic", _logistic, key, shape, dtype)


def _row_of_logistic(key: Words, size: int | None, dtype: DType) -> Any:
    drawn = row_above_zero(key, size, dtype)
    return ops.subtract(ops.log(drawn), ops.log_plus_one(ops.negate(drawn)))


def row_above_zero(key: Words, size: int | None, dtype: DType) -> Any:
    """A vector of floats spread evenly between 0 and 1, neither included."""
    return row_between(key, size, dtype, fixed(finfo(dtype).tiny, dtype), fixed(1, dtype))


_logistic = as_program("_logistic", in_shape(_row_of_logistic))


def maxwell(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """Samples of the Maxwell distribution: lengths of vectors of three normal numbers.

    Args: shape: of the result; dtype: a float one, by default float32 (float64 if x64 is on).
    Raises KeyInvalid, KeyNotSingle, DTypeNotAccepted.

    >>> bool((maxwell(np.uint32([0, 42]), (9,)) > 0).all())
    True
    """
    return floats("random.maxwell", _maxwell, key, shape, dtype)


def lengths(key: Words, *, shape: Shape, dtype: DType) -> Any:
    """Maxwell samples in a shape, of the words of a key."""
    found = shaped_normal(key, shape=(*shape, 3), dtype=dtype)
    return ops.sqrt(ops.reduce_sum(ops.multiply(found, found), axes=(len(shape),)))


_maxwell = as_program("_maxwell", lengths)
