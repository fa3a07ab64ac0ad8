"""Samplers of distributions with parameters, which broadcast to the shape of the samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from celadon import errors, vocabulary as ops
from celadon.numpy import creation, powers, universal
from celadon.numpy.dtypes import requested
from celadon.numpy.promotion import accept, broadcasted, common_shape, converted, inexact, operand, shape_from
from celadon.program import fixed
from celadon.random.blocks import Words, subkeys
from celadon.random.continuous import in_shape, lengths, row_of_exponential, shaped_normal
from celadon.random.intervals import between, float_dtype, sample_shape, signs
from celadon.random.keys import as_program, single
from celadon.types import ArrayType, DType, Shape, result_type

Body = Callable[..., Any]
_waiting = in_shape(row_of_exponential)


def sampler(name: str, body: Body) -> Callable[..., Any]:
    """The sampler of a body(words, *parameters, shape, dtype); parameters come in the dtype, scalars or of the shape."""

    def prepared(key: Words, *parameters: Any, shape: Shape, dtype: DType) -> Any:
        return body(key, *[_fit(x, shape, dtype) for x in parameters], shape=shape, dtype=dtype)

    return as_program(name, prepared)


def _fit(x: Any, shape: Shape, dtype: DType) -> Any:
    x = converted(x, dtype)
    return broadcasted(x, shape) if x.type.shape else x


def sampled(
    function: str, draw: Callable[..., Any], key: Any, parameters: tuple[Any, ...], options: tuple[Any, Any]
) -> Any:
    """What a sampler of floats draws, its arguments checked; options: shape and dtype as they were given."""
    found, wanted = single(function, key), float_dtype(function, options[1])
    extents = sample_shape(function, options[0], *parameters)
    for x in parameters:
        _hold(function, wanted, operand(x, function).type)
    return draw(found, *parameters, shape=extents, dtype=wanted)


def _hold(function: str, dtype: DType, given: ArrayType) -> None:
    if result_type([given, ArrayType((), dtype)])[0] != dtype:
        raise errors.DTypeNotAccepted(function=function, dtype=given.dtype, accepted=f"what {dtype} can hold")


def unit(key: Words, shape: Shape, dtype: DType) -> Any:
    """Floats from 0 up to 1 in a shape."""
    return between(key, fixed(0, dtype), fixed(1, dtype), shape=shape, dtype=dtype)


def pareto(key: Any, b: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """Samples of the Pareto distribution with shape parameter b.

    Args: shape: of the result, by default that of b; dtype: a float one, by default float32 (float64 if x64 is on).
    Raises KeyInvalid, KeyNotSingle, DTypeNotAccepted, SampleShapeTooSmall.

    >>> bool((pareto(np.uint32([0, 42]), 2.0, (9,)) >= 1).all())
    True
    """
    return sampled("random.pareto", _pareto, key, (b,), (shape, dtype))


def _pareto_body(key: Words, b: Any, *, shape: Shape, dtype: DType) -> Any:
    return ops.exponential(ops.divide(_waiting(key, shape=shape, dtype=dtype), b))


_pareto = sampler("_pareto", _pareto_body)


def rayleigh(key: Any, scale: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """Samples of the Rayleigh distribution with the given scale.

    Args: shape: of the result, by default that of scale; dtype: a float one, by default float32 (float64 if x64 is on).
    Raises KeyInvalid, KeyNotSingle, DTypeNotAccepted, SampleShapeTooSmall.

    >>> bool((rayleigh(np.uint32([0, 42]), 2.0, (9,)) >= 0).all())
    True
    """
    return sampled("random.rayleigh", _rayleigh, key, (scale,), (shape, dtype))


def _rayleigh_body(key: Words, scale: Any, *, shape: Shape, dtype: DType) -> Any:
    drawn = ops.log(unit(key, shape, dtype))
    return ops.multiply(scale, ops.sqrt(ops.multiply(drawn, fixed(-2, dtype))))


_rayleigh = sampler("_rayleigh", _rayleigh_body)


def wald(key: Any, mean: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """Samples of the Wald (inverse normal) distribution with the given mean and scale 1.

    Args: shape: of the result, by default that of mean; dtype: a float one, by default float32 (float64 if x64 is on).
    Raises KeyInvalid, KeyNotSingle, DTypeNotAccepted, SampleShapeTooSmall.
    Source: Michael, Schucany, Haas: Generating random variates using transformations with multiple roots (1976).

    >>> bool((wald(np.uint32([0, 42]), 2.0, (9,)) > 0).all())
    True
    """
    return sampled("random.wald", _wald, key, (mean,), (shape, dtype))


def _wald_body(key: Words, mean: Any, *, shape: Shape, dtype: DType) -> Any:
    first, second = subkeys(key, 2)
    normal, even = shaped_normal(first, shape=shape, dtype=dtype), unit(second, shape, dtype)
    two = fixed(2, dtype)
    y, square = ops.integer_pow(normal, y=2), ops.integer_pow(mean, y=2)
    inner = ops.add(
        ops.multiply(ops.multiply(fixed(4, dtype), mean), y), ops.multiply(square, ops.integer_pow(y, y=2))
    )
    outer = ops.multiply(ops.divide(mean, two), ops.sqrt(inner))
    x = ops.subtract(ops.add(mean, ops.divide(ops.multiply(square, y), two)), outer)
    low = ops.compare(even, ops.divide(mean, ops.add(mean, x)), direction="LE")
    return ops.select(low, x, ops.divide(square, x))


_wald = sampler("_wald", _wald_body)


def lognormal(
    key: Any, sigma: Any = 1.0, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Samples of exp(sigma x) for normal x.

    Args: shape: of the result, by default that of sigma; dtype: a float or complex one, by default float32 (float64 if x64
    is on). Raises KeyInvalid, KeyNotSingle, DTypeNotAccepted, SampleShapeTooSmall.

    >>> bool((lognormal(np.uint32([0, 42]), shape=(9,)) > 0).all())
    True
    """
    return sampled("random.lognormal", _lognormal, key, (sigma,), (shape, dtype))


def _lognormal_body(key: Words, sigma: Any, *, shape: Shape, dtype: DType) -> Any:
    return ops.exponential(ops.multiply(shaped_normal(key, shape=shape, dtype=dtype), sigma))


_lognormal = sampler("_lognormal", _lognormal_body)


def triangular(
    key: Any, left: Any, mode: Any, right: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Samples of the triangular distribution from left to right with its peak at mode.

    Args: shape: of the result, by default that of the parameters together; dtype: a float one, by default float32 (float64
    if x64 is on). Raises KeyInvalid, KeyNotSingle, DTypeNotAccepted, SampleShapeTooSmall.

    >>> bool((abs(triangular(np.uint32([0, 42]), -1, 0, 1, (9,))) < 1).all())
    True
    """
    return sampled("random.triangular", _triangular, key, (left, mode, right), (shape, dtype))


def _triangular_body(key: Words, left: Any, mode: Any, right: Any, *, shape: Shape, dtype: DType) -> Any:
    width, rise, fall = ops.subtract(right, left), ops.subtract(mode, left), ops.subtract(right, mode)
    drawn = unit(key, shape, dtype)
    rest = ops.subtract(fixed(1, dtype), drawn)
    lower = ops.add(left, ops.sqrt(ops.multiply(ops.multiply(drawn, width), rise)))
    upper = ops.subtract(right, ops.sqrt(ops.multiply(ops.multiply(rest, width), fall)))
    return ops.select(ops.compare(drawn, ops.divide(rise, width), direction="LT"), lower, upper)


_triangular = sampler("_triangular", _triangular_body)


def geometric(key: Any, p: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """How many trials it takes until the first success, each succeeding with probability p.

    Args: shape: of the result, by default that of p; dtype: an integer one, by default int32 (int64 if x64 is on).
    Raises KeyInvalid, KeyNotSingle, DTypeNotAccepted, SampleShapeTooSmall.

    >>> bool((geometric(np.uint32([0, 42]), 0.5, (9,)) >= 1).all())
    True
    """
    found, wanted = single("random.geometric", key), requested(dtype, np.int64)
    accept("random.geometric", wanted, "iu")
    [chance] = inexact("random.geometric", p)
    extents = sample_shape("random.geometric", shape, p)
    return creation.astype(_geometric(found, chance, shape=extents, dtype=chance.type.dtype), wanted)


def _geometric_body(key: Words, p: Any, *, shape: Shape, dtype: DType) -> Any:
    drawn, one = unit(key, shape, dtype), fixed(1, dtype)
    positive = ops.select(ops.compare(drawn, fixed(0, dtype), direction="EQ"), one, drawn)
    trials = ops.divide(ops.log(positive), ops.log_plus_one(ops.negate(p)))
    return ops.add(ops.floor(trials), one)


_geometric = sampler("_geometric", _geometric_body)


def weibull_min(key: Any, scale: Any, concentration: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Samples of the Weibull distribution of minima.

    Args: scale, concentration: parameters that broadcast with the shape; shape: of the uniform numbers drawn; dtype: theirs,
    by default float32 (float64 if x64 is on). Raises KeyInvalid, KeyNotSingle, DTypeNotAccepted.

    >>> bool((weibull_min(np.uint32([0, 42]), 1.0, 2.0, (9,)) >= 0).all())
    True
    """
    found, wanted = single("random.weibull_min", key), float_dtype("random.weibull_min", dtype)
    return _weibull_min(found, scale, concentration, shape=shape_from(shape), dtype=wanted)


def _weibull_body(key: Words, scale: Any, concentration: Any, *, shape: Shape, dtype: DType) -> Any:
    waited = ops.negate(ops.log_plus_one(ops.negate(unit(key, shape, dtype))))
    return universal.multiply(powers.power(waited, 1.0 / concentration), scale)


_weibull_min = as_program("_weibull_min", _weibull_body)


def double_sided_maxwell(key: Any, loc: Any, scale: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Samples of the Maxwell distribution with random signs, times scale, plus loc.

    Args: shape: leading axes of the result, before those of loc and scale together (if it is empty: the latter twice);
    dtype: a float one, by default float32 (float64 if x64 is on). Raises KeyInvalid, KeyNotSingle, DTypeNotAccepted.

    >>> double_sided_maxwell(np.uint32([0, 42]), 0.0, 1.0, (9,)).shape
    (9,)
    """
    function = "random.double_sided_maxwell"
    found, wanted = single(function, key), float_dtype(function, dtype)
    own = common_shape(function, *[operand(x, function).type.shape for x in (loc, scale)])
    extents = (shape_from(shape) or own) + own
    return _double_sided_maxwell(found, loc, scale, shape=extents, dtype=wanted)


def _double_sided_body(key: Words, loc: Any, scale: Any, *, shape: Shape, dtype: DType) -> Any:
    first, second = subkeys(key, 2)
    sized = ops.multiply(signs(second, shape=shape, dtype=dtype), lengths(first, shape=shape, dtype=dtype))
    return universal.add(universal.multiply(sized, scale), loc)


_double_sided_maxwell = as_program("_double_sided_maxwell", _double_sided_body)
