"""Samples that count: Poisson, binomial and multinomial ones, by loops over whole arrays that end when all are settled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from celadon.numpy import comparison, creation, cumulative, indexing, reductions, rounding, selection, shapes
from celadon.numpy.dtypes import requested, result_type
from celadon.numpy.elementwise import abs, sqrt
from celadon.numpy.promotion import accept, array, inexact, least_dtype
from celadon.numpy.transcendentals import log, log1p
from celadon.program import fixed, literal
from celadon.random.blocks import Words, subkeys
from celadon.random.intervals import between, float_dtype, sample_shape
from celadon.random.keys import as_program, single, split
from celadon.transforms.loops import scan, while_loop
from celadon.types import DType, Shape, float32
from celadon.vocabulary.special import lgamma

State = tuple[Any, ...]
_FEW = 10  # below, events are counted one by one


def poisson(key: Any, lam: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """How many events happen where lam are expected.

    Args: shape: of the result, by default that of lam; dtype: an integer one, by default int32 (int64 if x64 is on).
    Raises KeyInvalid, KeyNotSingle, DTypeNotAccepted, SampleShapeTooSmall.
    Source: Knuth's product of uniform numbers for lam < 10; else Hörmann: The transformed rejection method for generating
    Poisson random variables (1993).

    >>> bool((poisson(np.uint32([0, 42]), 3.0, (9,)) >= 0).all())
    True
    """
    found, wanted = single("random.poisson", key), requested(dtype, np.int64)
    accept("random.poisson", wanted, "iu")
    return _poisson(found, lam, shape=sample_shape("random.poisson", shape, lam), dtype=wanted)


def _poisson_body(key: Words, lam: Any, *, shape: Shape, dtype: DType) -> Any:
    lam = shapes.broadcast_to(creation.astype(lam, float32), shape)
    few = comparison.isnan(lam) | (lam < _FEW)
    one_by_one = _product_of_uniforms(key, selection.where(few, lam, 0.0), shape, dtype)
    rejected = _transformed(key, selection.where(few, 1e5, lam), shape, dtype)
    found = selection.where(few, one_by_one, rejected)
    return selection.where(comparison.equal(lam, 0), fixed(0, dtype), found)


_poisson = as_program("_poisson", _poisson_body)


def _unit(key: Words, shape: Shape, dtype: DType) -> Any:
    return between(key, fixed(0, dtype), fixed(1, dtype), shape=shape, dtype=dtype)


def _until(settled: Callable[[State], Any], step: Callable[[State], State], key: Words, state: State, limit: int) -> State:
    """The state after steps (each gets a key in front) until all elements are settled, or a number of steps is reached."""

    def goes_on(carried: State) -> Any:
        return reductions.any(~settled(carried[3:])) & (carried[0] < literal(limit, carried[0].type.dtype))

    def body(carried: State) -> State:
        return carried[0] + 1, *step(carried[1:])

    return while_loop(goes_on, body, (creation.asarray(0, np.int32), *key, *state))[3:]


def _steps(dtype: DType) -> int:
    """As many as the dtype can count; the loop's own counter has 32 bits."""
    return min(np.iinfo(dtype).max, np.iinfo(np.int32).max)


def _product_of_uniforms(key: Words, lam: Any, shape: Shape, dtype: DType) -> Any:
    """How many uniform numbers it takes until their product falls below exp(-lam), but for the last."""

    def step(state: State) -> State:
        following, own = subkeys(state[:2], 2)
        count, logarithm = state[2:]
        count = selection.where(logarithm > -lam, count + 1, count)
        return *following, count, logarithm + log(_unit(own, shape, float32))

    start = (shapes.broadcast_to(creation.zeros((), dtype), shape), creation.zeros_like(lam))
    count, _ = _until(lambda state: ~(state[1] > -lam), step, key, start, _steps(dtype))
    return creation.astype(count - 1, dtype)


def _transformed(key: Words, lam: Any, shape: Shape, dtype: DType) -> Any:
    """Proposals from a quotient of uniform numbers, accepted at once in a middle region, else by the density."""
    logarithm, b = log(lam), 0.931 + 2.53 * sqrt(lam)
    a = -0.059 + 0.02483 * b
    inverse, limit = 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2)

    def step(state: State) -> State:
        following, first, second = subkeys(state[:2], 3)
        u, v = _unit(first, shape, float32) - 0.5, _unit(second, shape, float32)
        rest = 0.5 - abs(u)
        count = rounding.floor((2 * a / rest + b) * u + lam + 0.43)
        s = log(v * inverse / (a / (rest * rest) + b))
        density = -lam + count * logarithm - lgamma(count + 1)
        refused = (count < 0) | ((rest < 0.013) & (v > rest))
        accepted = ((rest >= 0.07) & (v <= limit)) | (~refused & (s <= density))
        return *following, selection.where(accepted, count, state[2]), state[3] | accepted

    start = (creation.full_like(lam, -1), creation.zeros_like(lam, bool))
    count, _ = _until(lambda state: state[1], step, key, start, _steps(dtype))
    return creation.astype(count, dtype)


def binomial(key: Any, n: Any, p: Any, shape: Any = None, dtype: Any = None) -> Any:
    """How many of n trials succeed, each with probability p; as floats, NaN for parameters without meaning.

    Args: shape: of the result, by default that of n and p together; dtype: a float one, by default float32 (float64 if x64 is
    on). Raises KeyInvalid, KeyNotSingle, DTypeNotAccepted, SampleShapeTooSmall.
    Source: for few expected successes sums of geometric numbers, else Hörmann: The generation of binomial random variates
    (1993), algorithm BTRS.

    >>> bool((binomial(np.uint32([0, 42]), 10, 0.5, (9,)) <= 10).all())
    True
    """
    found, wanted = single("random.binomial", key), float_dtype("random.binomial", dtype)
    [chance] = inexact("random.binomial", p)
    return _binomial(found, n, chance, shape=sample_shape("random.binomial", shape, n, p), dtype=wanted)


def _binomial_body(key: Words, n: Any, p: Any, *, shape: Shape, dtype: DType) -> Any:
    """Of the rarer outcome, and then of the other one where that was meant."""
    p = shapes.broadcast_to(p, shape)
    n = shapes.broadcast_to(creation.astype(n, p.type.dtype), shape)
    rare = p < 0.5
    q = selection.where(rare, p, 1 - p)
    without, unknown, below = comparison.isnan(n) | (n < 0), comparison.isnan(q), q < 0
    q = selection.where(unknown | below, 0.01, q)
    few, whole = without | (n * q <= _FEW), rounding.floor(n)
    counted = _geometric_sums(key, selection.where(few, whole, 0.0), q, shape, dtype)
    proposed = _btrs(key, selection.where(few, 1e4, whole), selection.where(few, 0.5, q), shape, dtype)
    found, invalid, endless = selection.where(few, counted, proposed), below | unknown | without, comparison.isinf(whole)
    found = selection.where(invalid, np.nan, found)
    found = selection.where(endless & ~invalid, np.inf, found)
    return selection.where(rare | without | unknown | endless, found, creation.astype(whole, dtype) - found)


_binomial = as_program("_binomial", _binomial_body)
_MANY = np.iinfo(np.int32).max


def _geometric_sums(key: Words, count: Any, q: Any, shape: Shape, dtype: DType) -> Any:
    """How many geometric numbers fit into the count."""
    rate = log1p(-q)

    def step(state: State) -> State:
        own, following = subkeys(state[:2], 2)
        found, total = state[2:]
        found = selection.where(total <= count, found + 1, found)
        return *following, found, total + rounding.ceil(log(_unit(own, shape, q.type.dtype)) / rate)

    start = (creation.zeros_like(q), creation.zeros_like(q))
    found, _ = _until(lambda state: ~(state[1] <= count), step, key, start, _MANY)
    return creation.astype(found - 1, dtype)


def _btrs(key: Words, count: Any, q: Any, shape: Shape, dtype: DType) -> Any:
    spread = sqrt(count * q * (1 - q))
    b = 1.15 + 2.53 * spread
    a, centre, limit = -0.0873 + 0.0248 * b + 0.01 * q, count * q + 0.5, 0.92 - 4.2 / b
    odds, alpha, mode = q / (1 - q), (2.83 + 5.1 / b) * spread, rounding.floor((count + 1) * q)

    def step(state: State) -> State:
        following, first, second = subkeys(state[:2], 3)
        u, v = _unit(first, shape, q.type.dtype) - 0.5, _unit(second, shape, q.type.dtype)
        rest = 0.5 - abs(u)
        k = rounding.floor((2 * a / rest + b) * u + centre)
        refused = (k < 0) | (k > count)
        bound = _log_density(k, mode, count, odds)
        accepted = ((rest >= 0.07) & (v <= limit)) | (~refused & (log(v * alpha / (a / (rest * rest) + b)) <= bound))
        return *following, selection.where(accepted, k, state[2]), state[3] | accepted

    start = (creation.full_like(q, -1), creation.zeros_like(q, bool))
    found, _ = _until(lambda state: state[1], step, key, start, _MANY)
    return creation.astype(found, dtype)


def _log_density(k: Any, mode: Any, count: Any, odds: Any) -> Any:
    """Of k successes, relative to that of the most likely number."""
    first = (mode + 0.5) * log((mode + 1) / (odds * (count - mode + 1)))
    second = (count + 1) * log((count - mode + 1) / (count - k + 1))
    third = (k + 0.5) * log(odds * (count - k + 1) / (k + 1))
    return first + second + third + _tail(mode) + _tail(count - mode) - _tail(k) - _tail(count - k)


_TAILS = (
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
    0.0138761288230707, 0.0118967099458917, 0.010411265261972, 0.00925546218271273, 0.00833056343336287,
)  # fmt: skip


def _tail(k: Any) -> Any:
    """What Stirling's formula of log(k!) leaves out, above 9 as at 9, which JAX takes."""
    near = selection.clip(k, 0.0, 9.0)
    square = (near + 1) * (near + 1)
    series = (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (near + 1)
    table = creation.asarray(np.array(_TAILS), k.type.dtype)
    return selection.where(k <= 9, indexing.getitem(table, creation.astype(rounding.floor(near), np.int32)), series)


def multinomial(
    key: Any, n: Any, p: Any, *, shape: Any = None, dtype: Any = None, unroll: int | bool = 1
) -> Any:
    """How many of n trials have each of several outcomes, of which the last axis of p has the probabilities.

    Args: shape: of the result, by default that of p; dtype: of the result, by default that of n and p together; unroll: see
    lax.scan. Raises KeyInvalid, KeyNotSingle, ShapesDiffer.

    >>> multinomial(np.uint32([0, 42]), 10, np.array([0.5, 0.5], "float32")).sum().tolist()
    10.0
    """
    found = single("random.multinomial", key)
    common = least_dtype(result_type(n, p), "inexact")
    count, chances = (creation.astype(array(x, "random.multinomial"), common) for x in (n, p))
    extents = chances.type.shape if shape is None else tuple(shape)
    count, chances = shapes.broadcast_to(count, extents[:-1]), shapes.broadcast_to(chances, extents)
    chances = shapes.moveaxis(chances, -1, 0)
    left = cumulative.cumsum(chances[::-1], 0)[::-1]
    ratios = chances / selection.where(comparison.equal(left, 0), 1, left)

    def step(rest: Any, drawn: Any) -> Any:
        ratio, own = drawn
        successes = binomial(own, rest, selection.clip(ratio, 0, 1), dtype=rest.dtype)
        return rest - successes, successes

    _, counts = scan(step, count, (ratios, split(found, chances.type.shape[0])), unroll=unroll)
    return creation.astype(shapes.moveaxis(counts, 0, -1), requested(dtype, np.float64))
