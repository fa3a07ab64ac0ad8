"""dot_product_attention: queries meet keys, and the shares that a softmax gives weigh the values."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from celadon import errors
from celadon.nn.normalization import logsumexp, softmax
from celadon.numpy import creation, dtypes, ranges, selection, shapes, subscripts, universal
from celadon.types import DType, Shape, bool_, finfo, float32, int32


class Masking(NamedTuple):
    """Which pairs of a query and a key don't meet, besides those that a mask names."""

    is_causal: bool
    query_lengths: Any
    key_lengths: Any
    window: tuple[int, int] | None


def dot_product_attention(
    query: Any, key: Any, value: Any, bias: Any = None, mask: Any = None, *, scale: float | None = None,
    is_causal: bool = False, query_seq_lengths: Any = None, key_value_seq_lengths: Any = None,
    local_window_size: int | tuple[int, int] | None = None, implementation: str | None = None,
    return_residual: bool = False,
) -> Any:  # fmt: skip
    """For each query the mean of the values, weighted by the softmax of its scaled products with the keys.

    Args:
        query: (batch, queries, heads, size), or without batch.
        key, value: (batch, keys, heads, size); heads may be a divisor of the queries' heads, which then share them.
        bias, mask: (batch, heads, queries, keys), or extents of 1: what is added to the products, and which pairs count.
        scale: of the products, by default 1 / sqrt(size).
        is_causal: a query meets no later key.
        query_seq_lengths, key_value_seq_lengths: int32 of shape (batch,): how many queries and keys count.
        local_window_size: how many keys before and after its own place a query meets.
        implementation: None or "xla".
        return_residual: also return the logsumexp of the products, (batch, queries, heads).

    Returns:
        An array of query's shape, or a pair.

    Raises:
        AttentionMismatch, OptionUnknown.

    >>> x = np.ones((1, 2, 1, 4), "float32")
    >>> dot_product_attention(x, x, x).shape
    (1, 2, 1, 4)
    """
    if implementation not in (None, "xla"):
        raise errors.OptionUnknown(
            function="nn.dot_product_attention", argument="implementation", value=implementation, allowed="None or 'xla'"
        )
    shape = creation.asarray(query).shape
    arrays = [None if x is None else _with_batch(x) for x in (query, key, value, bias, mask)]
    lengths = [None if x is None else creation.asarray(x) for x in (query_seq_lengths, key_value_seq_lengths)]
    _check(arrays, lengths)
    size = local_window_size
    window = (size, size) if isinstance(size, int) else size
    scale = 1.0 / math.sqrt(shape[-1]) if scale is None else scale
    encoded, residual = _attended(arrays, scale, Masking(is_causal, lengths[0], lengths[1], window))
    found = shapes.reshape(encoded, shape)
    return (found, shapes.reshape(residual(), shape[:-1])) if return_residual else found


def _with_batch(x: Any) -> Any:
    found = creation.asarray(x)
    return shapes.expand_dims(found, tuple(range(4 - found.ndim))) if found.ndim < 4 else found


def _check(arrays: list[Any], lengths: list[Any]) -> None:
    query, key, value, bias, mask = arrays
    _demand("key", key, (-1,) * 4)
    batch, length, heads, size = key.shape
    _demand("value", value, (batch, length, heads, size), key.dtype)
    _demand("query", query, (batch, -1, -1, size), key.dtype)
    _demand("mask", mask, (-1,) * 4, bool_)
    _demand("bias", bias, (-1,) * 4)
    _demand("query_seq_lengths", lengths[0], (batch,), int32)
    _demand("key_value_seq_lengths", lengths[1], (batch,), int32)
    if query.shape[2] % heads:
        wanted = f"its heads must be a multiple of the keys' {heads}"
        raise errors.AttentionMismatch(argument="query", given=query.type, wanted=wanted)


def _demand(argument: str, x: Any, shape: Shape, dtype: DType | None = None) -> None:
    if x is None:
        return
    fits = x.ndim == len(shape) and all(n in (-1, given) for n, given in zip(shape, x.shape, strict=False))
    if not fits or (dtype is not None and x.dtype != dtype):
        words = ", ".join("any" if n == -1 else str(n) for n in shape)
        wanted = f"the extents must be ({words})" + (f" and the dtype {dtype}" if dtype is not None else "")
        raise errors.AttentionMismatch(argument=argument, given=x.type, wanted=wanted)


def _attended(arrays: list[Any], scale: Any, masking: Masking) -> tuple[Any, Any]:
    """The weighted values, and a function that computes the residual; axes: batch, heads of keys, their queries' heads."""
    query, key, value, bias, mask = arrays
    batch, queries, heads, size = query.shape
    groups = (key.shape[2], heads // key.shape[2])
    grouped = shapes.reshape(query, (batch, queries, *groups, size))
    wide = dtypes.promote_types(query.dtype, np.float32)
    products = subscripts.einsum("btkgh,bskh->bkgts", grouped, key, preferred_element_type=wide)
    products = products * creation.array(scale, wide)
    if bias is not None:
        products = creation.astype(products + _by_group(bias, groups), wide)
    masks = _masks(masking, (queries, key.shape[1])) + ([] if mask is None else [_by_group(mask, groups)])
    masked = creation.astype(_masked(products, masks), float32)
    shares = creation.astype(softmax(masked, axis=-1), key.dtype)
    encoded = subscripts.einsum("bkgts,bskh->btkgh", shares, value)
    if masking.query_lengths is not None:
        counted = _below(queries, masking.query_lengths)
        encoded = encoded * creation.astype(shapes.expand_dims(counted, (2, 3, 4)), encoded.dtype)

    def residual() -> Any:
        return shapes.moveaxis(creation.astype(logsumexp(masked, axis=-1), key.dtype), 3, 1)

    return encoded, residual


def _by_group(x: Any, groups: tuple[int, int]) -> Any:
    """The axis of heads in two; one of extent 1 broadcasts."""
    batch, heads, queries, keys = x.shape
    return shapes.reshape(x, (batch, *((1, 1) if heads == 1 else groups), queries, keys))


def _masked(products: Any, masks: list[Any]) -> Any:
    if not masks:
        return products
    together = masks[0]
    for mask in masks[1:]:
        together = universal.logical_and(together, mask)
    dtype = products.dtype
    least = -0.7 * min(float(finfo(dtype).max), float(finfo(float32).max))
    return selection.where(together, products, creation.array(least, dtype))


def _masks(masking: Masking, extents: tuple[int, int]) -> list[Any]:
    """True where a query and a key meet, over (batch, heads of keys, their queries' heads, queries, keys)."""
    queries, keys = extents
    found: list[Any] = []
    if masking.is_causal or masking.window is not None:
        row = shapes.expand_dims(ranges.arange(queries), (0, 1, 2, 4))
        column = shapes.expand_dims(ranges.arange(keys), (0, 1, 2, 3))
        found += [column <= row] if masking.is_causal else []
        if masking.window is not None:
            before, after = masking.window
            found.append(universal.logical_and(row <= column + before, row >= column - after))
    if masking.query_lengths is not None:
        found.append(shapes.expand_dims(_below(queries, masking.query_lengths), (1, 2, 4)))
    if masking.key_lengths is not None:
        found.append(shapes.expand_dims(_below(keys, masking.key_lengths), (1, 2, 3)))
    return found


def _below(count: int, lengths: Any) -> Any:
    """For each batch, which of the places are below its length."""
    return ranges.arange(count)[None, :] < lengths[:, None]
