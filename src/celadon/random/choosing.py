"""Choices: permutations, elements of an array, categories by their logits; and the Gumbel samples that decide these."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from celadon import errors, vocabulary as ops
from celadon.keys import fine_gumbel
from celadon.numpy import creation, cumulative, joining, ordering, ranges, reductions, shapes, taking, transcendentals, universal
from celadon.numpy.promotion import accept, array, axis_of, inexact, operand, shape_from
from celadon.program import fixed
from celadon.random.blocks import Words, row_of_bits, subkeys
from celadon.random.continuous import floats, row_above_zero
from celadon.random.intervals import randint, row_between, shaped_bits, uniform
from celadon.random.keys import as_program, single
from celadon.types import DType, Shape, finfo
from celadon.vocabulary.bits import PAIR, WORD


def permutation(
    key: Any, x: Any, axis: int = 0, independent: bool = False, *, out_sharding: Any = None
) -> Any:
    """The parts of an array along an axis in random order; of an integer, the numbers below it.

    Args: x: an array or an integer; independent: every line along the axis gets an order of its own.
    Raises KeyInvalid, KeyNotSingle, AxisNotInArray, DTypeNotAccepted.

    >>> sorted(permutation(np.uint32([0, 42]), 4).tolist())
    [0, 1, 2, 3]
    """
    found, given = single("random.permutation", key), operand(x, "random.permutation")
    along = axis_of(axis, given.type.ndim or 1)
    if not given.type.ndim:
        accept("random.permutation", given.type.dtype, "iu")
        return _shuffle(found, ranges.arange(x), axis=along)
    if independent or given.type.ndim == 1:
        return _shuffle(found, given, axis=along)
    order = _shuffle(found, ranges.arange(given.type.shape[along]), axis=0)
    return taking.take(given, order, along, unique_indices=True)


def _shuffled(key: Words, x: Any, *, axis: int) -> Any:
    """Sorted by random words, as often as makes equal words of two elements in all rounds unlikely."""
    size = x.type.size
    for _ in range(math.ceil(3 * math.log(max(1, size)) / math.log(np.iinfo(WORD).max))):
        key, own = subkeys(key, 2)
        random = shaped_bits(own, shape=x.type.shape, dtype=WORD)
        x = ops.sort(random, x, dimension=axis, is_stable=True, num_keys=1)[1]
    return x


_shuffle = as_program("_shuffle", _shuffled)


def choice(
    key: Any, a: Any, shape: Any = (), replace: bool = True, p: Any = None, axis: int = 0, mode: str | None = None
) -> Any:
    """Random elements of an array along an axis; of an integer, numbers below it.

    Args: a: an array or an integer; shape: of the choices, which stands in the result in the axis' place; replace: whether
    an element may be chosen again; p: the probability of each element, by default the same for all; mode: of gumbel, with
    which elements are chosen by p without replacement.
    Raises KeyInvalid, KeyNotSingle, TooFewToChoose, ProbabilitiesMismatch, AxisNotInArray.

    >>> choice(np.uint32([0, 42]), np.array([1.5, 2.5]), (3,)).shape
    (3,)
    """
    found, given, wanted = single("random.choice", key), operand(a, "random.choice"), shape_from(shape)
    along = axis_of(axis, given.type.ndim) if given.type.ndim else 0
    count = given.type.shape[along] if given.type.ndim else int(a)
    draws = math.prod(wanted)
    if draws == 0:
        return creation.zeros(wanted, given.type.dtype)
    if count <= 0 or (not replace and draws > count):
        raise errors.TooFewToChoose(
            function="random.choice", wanted=draws, count=count, how="" if replace else " without replacement"
        )
    if p is None and not replace:
        mixed = permutation(found, a if given.type.ndim else count, along)
        chosen = joining.part(mixed, along, 0, draws)
    else:
        indices = _indices(found, count, p, (wanted, replace, mode))
        chosen = taking.take(given, indices, along) if given.type.ndim else indices
    before, after = given.type.shape[:along], given.type.shape[along + 1 :]
    return shapes.reshape(chosen, (*before, *wanted, *after))


def _indices(key: Any, count: int, p: Any, options: tuple[Shape, bool, str | None]) -> Any:
    """Which elements are chosen, with equal probabilities if p is None."""
    shape, replace, mode = options
    if p is None:
        return randint(key, shape, 0, count)
    [chances] = inexact("random.choice", p)
    if chances.type.shape != (count,):
        raise errors.ProbabilitiesMismatch(function="random.choice", count=count, shape=chances.type.shape)
    if not replace:
        scores = universal.add(gumbel(key, (count,), chances.type.dtype, mode=mode), transcendentals.log(chances))
        return creation.astype(_largest(scores, math.prod(shape)), int)
    sums = cumulative.cumsum(chances)
    drawn = universal.subtract(1, uniform(key, shape, sums.type.dtype))
    last = joining.part(sums, 0, count - 1, count)
    return creation.astype(ordering.searchsorted(sums, universal.multiply(shapes.reshape(last, ()), drawn)), int)


def _largest(x: Any, count: int) -> Any:
    """The places of the largest elements along the last axis, from the largest down."""
    order = ordering.argsort(x, -1, descending=True, dtype=np.int32)
    return joining.part(order, x.type.ndim - 1, 0, count)


def gumbel(key: Any, shape: Any = (), dtype: Any = None, mode: str | None = None, *, out_sharding: Any = None) -> Any:
    """Samples of the standard Gumbel distribution.

    Args: shape: of the result; dtype: a float one, by default float32 (float64 if x64 is on); mode: "low" (the default),
    "high" or "highest" for finer tails. Raises KeyInvalid, KeyNotSingle, DTypeNotAccepted, OptionUnknown.

    >>> gumbel(np.uint32([0, 42]), (2,)).shape
    (2,)
    """
    mode = ("high" if fine_gumbel.value else "low") if mode is None else mode
    if mode not in _GUMBELS:
        allowed = ", ".join(map(repr, _GUMBELS))
        raise errors.OptionUnknown(function="random.gumbel", argument="mode", value=mode, allowed=allowed)
    return floats("random.gumbel", _GUMBELS[mode], key, shape, dtype)


def _low(key: Words, *, shape: Shape, dtype: DType) -> Any:
    return shapes.reshape(_of_unit(row_above_zero(key, math.prod(shape), dtype)), shape)


def _of_unit(x: Any) -> Any:
    return ops.negate(ops.log(ops.negate(ops.log(x))))


def _of_rest(x: Any) -> Any:
    """The same of 1 - x."""
    return ops.negate(ops.log(ops.negate(ops.log_plus_one(ops.negate(x)))))


def _halves(row: Any) -> tuple[Any, Any]:
    n = row.type.shape[0] // 2
    return joining.part(row, 0, 0, n), joining.part(row, 0, n, 2 * n)


def _high(key: Words, *, shape: Shape, dtype: DType) -> Any:
    """Small floats get more bits from a second one."""
    info, size = finfo(dtype), math.prod(shape)
    coarse, fine = _halves(row_between(key, 2 * size, dtype, fixed(0, dtype), fixed(1, dtype)))
    small = ops.add(ops.add(coarse, ops.multiply(fixed(2.0**-info.nmant, dtype), fine)), fixed(info.tiny, dtype))
    x = ops.select(ops.compare(coarse, fixed(0.5, dtype), direction="GE"), coarse, small)
    return shapes.reshape(_of_rest(x), shape)


def _highest(key: Words, *, shape: Shape, dtype: DType) -> Any:
    """Of 64 random bits, read as a number x below 1/2, or as 1 - x."""
    if dtype != np.float32:
        return _high(key, shape=shape, dtype=dtype)
    upper, lower = (ops.convert(x, new_dtype=PAIR) for x in _halves(row_of_bits(key, 2 * math.prod(shape), WORD)))
    drawn = ops.or_(ops.shift_left(upper, fixed(32, PAIR)), lower)
    small = ops.compare(drawn, fixed(1 << 63, PAIR), direction="LT")
    x = _fraction(ops.select(small, drawn, ops.negate(drawn)))
    return shapes.reshape(ops.select(small, _of_rest(x), _of_unit(x)), shape)


def _fraction(bits: Any) -> Any:
    """The float of 64 bits after the binary point, cut off; half of the smallest number for none."""
    zeros = ops.count_leading_zeros(bits)
    mantissa = ops.shift_right_logical(ops.shift_left(bits, zeros), fixed(40, PAIR))
    exponent = ops.subtract(fixed(126, PAIR), zeros)
    whole = ops.or_(ops.shift_left(exponent, fixed(23, PAIR)), ops.and_(mantissa, fixed((1 << 23) - 1, PAIR)))
    return ops.bitcast_convert(ops.convert(whole, new_dtype=WORD), new_dtype=np.dtype(np.float32))


_GUMBELS: dict[str, Callable[..., Any]] = {
    mode: as_program("_gumbel", body) for mode, body in (("low", _low), ("high", _high), ("highest", _highest))
}


def categorical(
    key: Any, logits: Any, axis: int = -1, shape: Any = None, replace: bool = True, mode: str | None = None, *,
    out_sharding: Any = None,
) -> Any:  # fmt: skip
    """The numbers of categories, chosen with probabilities proportional to exp(logits).

    Args: logits: floats, one for each category along the axis; shape: of the result, by default that of the logits without
    the axis, with which it must end; replace: if False, no category comes twice along the shape's further axes; mode: see
    gumbel. Raises KeyInvalid, KeyNotSingle, SampleShapeTooSmall, TooFewToChoose.

    >>> categorical(np.uint32([0, 42]), np.array([0.0, 1.0, 2.0], "float32"), shape=(5,)).shape
    (5,)
    """
    found, given = single("random.categorical", key), array(logits, "random.categorical")
    along = axis_of(axis, given.type.ndim)
    batch = given.type.shape[:along] + given.type.shape[along + 1 :]
    wanted = batch if shape is None else shape_from(shape)
    if wanted[len(wanted) - len(batch) :] != batch:
        raise errors.SampleShapeTooSmall(function="random.categorical", shape=wanted, given=batch)
    lead = wanted[: len(wanted) - len(batch)]
    if not replace:
        return _categories(found, given, along, (lead, batch), mode)
    extents = (*lead, *given.type.shape)
    scores = universal.add(gumbel(found, extents, given.type.dtype, mode=mode), given)
    return reductions.argmax(scores, axis=len(lead) + along)


def _categories(key: Any, logits: Any, axis: int, parts: tuple[Shape, Shape], mode: str | None) -> Any:
    (lead, batch), count = parts, logits.type.shape[axis]
    draws = math.prod(lead)
    if draws > count:
        raise errors.TooFewToChoose(
            function="random.categorical", wanted=draws, count=count, how=" without replacement"
        )
    scores = universal.add(logits, gumbel(key, logits.type.shape, logits.type.dtype, mode=mode))
    chosen = _largest(shapes.moveaxis(scores, axis, -1), draws)
    return shapes.reshape(shapes.moveaxis(chosen, -1, 0), lead + batch)
