"""Bits, and what is spread evenly: floats between two bounds, integers, booleans, signs; other samplers build on these."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from celadon import errors, vocabulary as ops
from celadon.numpy import comparison, creation, joining, shapes, universal
from celadon.numpy.dtypes import requested
from celadon.numpy.promotion import accept, broadcasted, common_shape, converted, operand, shape_from
from celadon.program import fixed, literal
from celadon.random.blocks import Words, row_of_bits, subkeys
from celadon.random.keys import as_program, single
from celadon.types import DType, Shape, finfo, kind


def bits(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """Random bits.

    Args: shape: of the result; dtype: an unsigned integer one, by default uint32 (uint64 if x64 is on).
    Raises KeyInvalid, KeyNotSingle, DTypeNotAccepted.

    >>> bits(np.uint32([0, 42]), (2,)).dtype
    dtype('uint32')
    """
    found, wanted = single("random.bits", key), requested(dtype, np.uint64)
    accept("random.bits", wanted, "u")
    return _bits(found, shape=shape_from(shape), dtype=wanted)


def shaped_bits(key: Words, *, shape: Shape, dtype: DType) -> Any:
    """Bits in a shape, of the words of a key."""
    return shapes.reshape(row_of_bits(key, math.prod(shape), dtype), shape)


_bits = as_program("_random_bits", shaped_bits)


def row_between(key: Words, size: int | None, dtype: DType, low: Any, high: Any) -> Any:
    """A vector of floats from low up to, not including, high, which are scalars of the dtype."""
    return _scaled(_unit(key, size, dtype), low, high)


def _unit(key: Words, size: int | None, dtype: DType) -> Any:
    """From 0 up to 1: random bits are the mantissa of numbers from 1 up to 2."""
    info = finfo(dtype)
    unsigned = np.dtype(f"u{dtype.itemsize}")
    drawn = unsigned if info.nmant >= 8 else np.dtype(np.uint8)
    random = converted(row_of_bits(key, size, drawn), unsigned)
    mantissa = ops.shift_right_logical(random, fixed(8 * drawn.itemsize - info.nmant, unsigned))
    one = np.ones((), dtype)
    floats = ops.bitcast_convert(ops.or_(mantissa, fixed(one.view(unsigned), unsigned)), new_dtype=dtype)
    return ops.subtract(floats, fixed(one, dtype))


def _scaled(unit: Any, low: Any, high: Any) -> Any:
    return ops.maximum(low, ops.add(ops.multiply(unit, ops.subtract(high, low)), low))


def uniform(
    key: Any, shape: Any = (), dtype: Any = None, minval: Any = 0.0, maxval: Any = 1.0, *, out_sharding: Any = None
) -> Any:
    """Floats spread evenly from minval up to maxval, which only rounding may give.

    Args: shape: of the result, to which minval and maxval are broadcast; dtype: a float one, by default float32 (float64 if
    x64 is on). Raises KeyInvalid, KeyNotSingle, DTypeNotAccepted, SampleShapeTooSmall.

    >>> bool((uniform(np.uint32([0, 42]), (5,), minval=2, maxval=3) >= 2).all())
    True
    """
    found, wanted = single("random.uniform", key), float_dtype("random.uniform", dtype)
    extents = sample_shape("random.uniform", shape, minval, maxval)
    return _uniform(found, minval, maxval, shape=extents, dtype=wanted)


def float_dtype(function: str, dtype: Any) -> DType:
    """The float dtype that samples get."""
    wanted = requested(dtype, np.float64)
    accept(function, wanted, "f")
    return wanted


def sample_shape(function: str, shape: Any, *parameters: Any) -> Shape:
    """The shape of samples: the one asked for, to which the parameters broadcast, or theirs if shape is None."""
    given = [operand(x, function).type.shape for x in parameters]
    if shape is None:
        return common_shape(function, *given)
    wanted = shape_from(shape)
    try:
        found = common_shape(function, wanted, *given)
    except errors.ShapesDiffer:
        found = None
    if found != wanted:
        raise errors.SampleShapeTooSmall(function=function, shape=wanted, given=", ".join(map(str, given)))
    return wanted


def between(key: Words, low: Any, high: Any, *, shape: Shape, dtype: DType) -> Any:
    """Floats in a shape, of the words of a key; bounds of any dtype that broadcast to the shape."""
    low, high, size = converted(low, dtype), converted(high, dtype), math.prod(shape)
    if not low.type.shape and not high.type.shape:
        return shapes.reshape(row_between(key, size, dtype, low, high), shape)
    unit = shapes.reshape(_unit(key, size, dtype), shape)
    return _scaled(unit, _spread(low, shape), _spread(high, shape))


_uniform = as_program("_uniform", between)


def _spread(x: Any, shape: Shape) -> Any:
    return broadcasted(x, shape) if x.type.shape else x


def randint(key: Any, shape: Any, minval: Any, maxval: Any, dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """Integers spread evenly from minval up to, not including, maxval.

    Args: shape: of the result, to which minval and maxval are broadcast; dtype: an integer one, by default int32 (int64 if
    x64 is on). Bounds that the dtype can't hold are moved into its range; where maxval is not above minval, minval is the
    result. Raises KeyInvalid, KeyNotSingle, DTypeNotAccepted, SampleShapeTooSmall.

    >>> sorted(set(randint(np.uint32([0, 42]), (50,), 0, 3).tolist()))
    [0, 1, 2]
    """
    found, wanted = single("random.randint", key), requested(dtype, np.int64)
    accept("random.randint", wanted, "iu")
    extents = sample_shape("random.randint", shape, minval, maxval)
    low, high = (_integers(bound, wanted) for bound in (minval, maxval))
    if wanted.itemsize < 4:
        info = np.iinfo(wanted)
        low, high = (_clipped(_narrow(x), info.min, info.max + i) for i, x in enumerate((low, high)))
        return creation.astype(_randint(found, low, high, shape=extents, dtype=np.dtype(np.int32)), wanted)
    return _randint(found, low, high, shape=extents, dtype=wanted)


def _integers(bound: Any, dtype: DType) -> Any:
    found = creation.asarray(bound)
    return found if kind(found.type.dtype) in "iu" else creation.astype(found, int)


def _narrow(x: Any) -> Any:
    return creation.astype(x, np.int32)


def _clipped(x: Any, low: int, high: int) -> Any:
    dtype = x.type.dtype
    return ops.clamp(fixed(low, dtype), x, fixed(high, dtype))


def _integers_between(key: Words, low: Any, high: Any, *, shape: Shape, dtype: DType) -> Any:
    """The upper and the lower half of a number of twice the bits, modulo the span."""
    beyond = ops.compare(high, _within(np.iinfo(dtype).max, high.type.dtype), direction="GT")
    low, high = (_spread(_moved(x, dtype), shape) for x in (low, high))
    span = _span(low, high, _spread(beyond, shape), dtype)
    size, unsigned = math.prod(shape), span.type.dtype
    upper, lower = (shapes.reshape(row_of_bits(k, size, unsigned), shape) for k in subkeys(key, 2))
    factor = ops.remainder(fixed(1 << 4 * dtype.itemsize, unsigned), span)
    factor = ops.remainder(ops.multiply(factor, factor), span)
    mixed = ops.add(ops.multiply(ops.remainder(upper, span), factor), ops.remainder(lower, span))
    return ops.add(low, converted(ops.remainder(mixed, span), dtype))


_randint = as_program("_randint", _integers_between)


def _within(value: int, dtype: DType) -> Any:
    return fixed(min(value, np.iinfo(dtype).max), dtype)


def _moved(x: Any, dtype: DType) -> Any:
    """Integers in another dtype, those that it can't hold moved into its range."""
    given, info = x.type.dtype, np.iinfo(dtype)
    low, high = max(info.min, np.iinfo(given).min), min(info.max, np.iinfo(given).max)
    return converted(ops.clamp(fixed(low, given), x, fixed(high, given)), dtype)


def _span(low: Any, high: Any, beyond: Any, dtype: DType) -> Any:
    """How many integers there are, at least 1; all 2**n of them are 0."""
    unsigned = np.dtype(f"u{dtype.itemsize}")
    one = fixed(1, unsigned)
    span = converted(ops.subtract(high, low), unsigned)
    span = ops.select(ops.compare(high, low, direction="LE"), one, span)
    more = ops.and_(beyond, ops.compare(high, low, direction="GT"))
    return ops.select(more, ops.add(span, one), span)


def bernoulli(key: Any, p: Any = 0.5, shape: Any = None, mode: str = "low", *, out_sharding: Any = None) -> Any:
    """Booleans that are True with probability p.

    Args: p: floats; shape: of the result, by default that of p; mode: "low" compares one float to p, "high" two, which
    resolves smaller probabilities. Raises KeyInvalid, KeyNotSingle, DTypeNotAccepted, SampleShapeTooSmall, OptionUnknown.

    >>> bernoulli(np.uint32([0, 42]), 0.5, (3,)).dtype
    dtype('bool')
    """
    if mode not in ("high", "low"):
        raise errors.OptionUnknown(function="random.bernoulli", argument="mode", value=mode, allowed="'high' or 'low'")
    found, given = single("random.bernoulli", key), operand(p, "random.bernoulli")
    accept("random.bernoulli", given.type.dtype, "f")
    return _bernoulli(found, converted(given, given.type.dtype), shape=sample_shape("random.bernoulli", shape, p), mode=mode)


def _successes(key: Words, p: Any, *, shape: Shape, mode: str) -> Any:
    dtype, pairs = p.type.dtype, (2, *shape) if mode == "high" else shape
    drawn = between(key, fixed(0, dtype), fixed(1, dtype), shape=pairs, dtype=dtype)
    if mode == "low":
        return comparison.less(drawn, p)
    coarse, fine = joining.unstack(drawn)
    fine = ops.multiply(fine, fixed(2.0 ** -finfo(dtype).nmant, dtype))
    return comparison.less(fine, universal.subtract(p, coarse))


_bernoulli = as_program("_bernoulli", _successes)


def rademacher(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """1 or -1, each with probability 1/2.

    Args: shape: of the result; dtype: by default int32 (int64 if x64 is on). Raises KeyInvalid, KeyNotSingle.

    >>> sorted(set(rademacher(np.uint32([0, 42]), (20,)).tolist()))
    [-1, 1]
    """
    found, wanted = single("random.rademacher", key), requested(dtype, np.int64)
    return _rademacher(found, shape=shape_from(shape), dtype=wanted)


def signs(key: Words, *, shape: Shape, dtype: DType) -> Any:
    """Signs in a shape, of the words of a key."""
    half = literal(0.5, requested(None, np.float64))
    found = converted(_successes(key, half, shape=shape, mode="low"), dtype)
    return creation.astype(universal.subtract(universal.multiply(2, found), 1), dtype)


_rademacher = as_program("_rademacher", signs)
