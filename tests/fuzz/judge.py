"""Whether results are what they should be: exact ops in bits, others within the bounds that are stated for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from celadon.op import registry
from celadon.types import ArrayType, kind, short_name
from tests.cpu.test_elementwise import EPSILON, SMALLEST, close, equal
from tests.fuzz.trees import Node
from tests.vocabulary.samples import Sample

Array = np.ndarray[Any, Any]
LARGEST = {"f16": 6.5e4, "bf16": 3.3e38, "f32": 3.4e38, "f64": 1.7e308, "c64": 3.4e38, "c128": 1.7e308}
SUMS = frozenset({
    "reduce_sum", "cumsum", "dot_general", "convolution", "reduce_window", "reduce", "scatter", "select_and_scatter", "psum",
    "psum_scatter", "fft", "select_and_gather_add",
})  # fmt: skip
PRODUCTS = frozenset({"reduce_prod", "cumprod", "cumlogsumexp"})
MATRICES = frozenset({"factorization", "lapack"})
MOVED = frozenset({"laswp", "lu_pivots_to_permutation"})
DEFINITE = frozenset({"potrf", "cholesky"})
UNIQUE = frozenset({"potrf", "cholesky", "lu", "getrf", "solve", "det", "triangular_solve", "gtsv", "tridiagonal_solve"})
"""What they give is determined, for matrices well away from singular ones."""
DIGITS_LOST = 2.0**12
EXTREMES = frozenset({"reduce_max", "reduce_min", "cummax", "cummin"})
ROUGH_IN_NUMPY = {"digamma": 100, "lgamma": 200, "polygamma": 100, "zeta": 40}
"""Units by which the NumPy rules may err in double precision: reflections and sums of many terms."""


def wrong(node: Node, operands: Sequence[Array], found: Sequence[Array], wanted: Sequence[Array]) -> str:
    """How the results of one call differ from those of the NumPy rules; "" if they do not."""
    for k, (x, y, type) in enumerate(zip(found, wanted, node.types, strict=True)):
        if (x.shape, x.dtype) != (type.shape, type.dtype):
            return f"result {k} is {x.dtype}{x.shape} and not {type}"
        agree = _agreement(node, operands, x, y)
        if not np.all(agree):
            place = np.unravel_index(np.flatnonzero(~np.broadcast_to(agree, x.shape))[0], x.shape)
            return f"result {k} at {tuple(map(int, place))} is {x[place]!r} and not {y[place]!r}"
    return ""


def _agreement(node: Node, operands: Sequence[Array], x: Array, y: Array) -> Any:
    op = registry.get(node.name)
    types = [ArrayType(one.shape, one.dtype) for one in operands]
    if kind(x.dtype) not in "fc":
        return _discrete(node, x, y)
    if node.name in EXTREMES and x.dtype.kind == "c":  # as in JAX the order decides where neither of two is the larger one
        return (x == y) if all(np.isfinite(one).all() for one in operands) else True
    if (node.text and node.name not in SUMS) or node.name in MOVED or (op is not None and op.exactly(types)):
        return alike(x, y)
    if op is not None and op.kind == "elementwise":
        return _elementwise(node, operands, x, y)
    if node.name in SUMS:
        return _summed(node, operands, x, y)
    if node.name in PRODUCTS:
        return _multiplied(node, operands, x, y)
    if op is not None and op.kind in MATRICES:
        return _solved(node, operands, x, y)
    return alike(x, y)


def _discrete(node: Node, x: Array, y: Array) -> Any:
    """Places and counts that factorizations find depend on roundings."""
    return True if node.name not in MOVED and registry[node.name].kind in MATRICES else x == y


def alike(x: Array, y: Array) -> Array:
    """The same numbers and signs of zero, NaN in the same places; parts of complex numbers each for itself."""
    if x.dtype.kind == "c":
        return equal(x.real, y.real) & equal(x.imag, y.imag)
    return equal(x, y)


def _elementwise(node: Node, operands: Sequence[Array], x: Array, y: Array) -> Any:
    whole = np.broadcast_arrays(*operands) if operands else []
    sample = Sample(registry[node.name], tuple([one.ravel() for one in whole]), node.params)
    wide = np.complex128 if x.dtype.kind == "c" else np.float64
    unit, size = EPSILON[short_name(x.dtype)], _absolute(y)
    if node.name == "exp2":  # exp(x log 2), as in JAX: the rounding of the product counts as often as x is large
        finite = np.isfinite(operands[0]) | (x.dtype.kind != "c")
        return ~finite | _within(x, y, unit * (4 + 2 * _absolute(operands[0])) * size, 0.0)
    if node.name == "atan2" and x.dtype.kind == "c":  # a rounding may cross a cut
        turned = np.abs(x.real.astype(np.float64) - y.real)
        x = np.where(np.abs(turned - 2 * np.pi) < 1e-3, y, x)
    if node.name == "zeta":  # half of the smallest number is an even number to some and not to others
        y = np.where(np.abs(whole[0].astype(np.float64)) < 1e-307, x, y)
    near = close(sample, x.ravel().astype(wide), y.ravel().astype(wide), short_name(x.dtype)).reshape(x.shape)
    if node.name == "power" and x.dtype.kind == "c":  # exp(y log x): likewise
        with np.errstate(all="ignore"):
            turns = np.abs(whole[1] * np.log(whole[0].astype(wide)))
        return near | _within(x, y, unit * (512 + 8 * turns) * size, 0.0)
    return near | _within(x, y, unit * ROUGH_IN_NUMPY.get(node.name, 1) * size, 0.0)


def _absolute(x: Array) -> Array:
    """Magnitudes of what is finite."""
    wide = x.astype(np.complex128 if x.dtype.kind == "c" else np.float64) if kind(x.dtype) in "fc" else x.astype(np.float64)
    with np.errstate(all="ignore"):
        return np.where(np.isfinite(wide), np.abs(wide), 0)


def _all_of(operands: Sequence[Array]) -> tuple[float, int]:
    """The sum of all magnitudes (the product of such sums for products of two arrays), and how many there are at most."""
    with np.errstate(all="ignore"):
        sizes = [_absolute(x).sum() for x in operands if kind(x.dtype) in "fc"]
    return max(sizes, default=0.0), sum(x.size for x in operands)


def _magnitude(node: Node, operands: Sequence[Array]) -> Any:
    """The same sums of magnitudes, in double; None where nothing simple says them."""
    inexact = [_absolute(x) if kind(x.dtype) in "fc" else x for x in operands]
    with np.errstate(all="ignore"):
        if node.name in ("reduce_sum", "cumsum", "dot_general", "convolution"):
            params = {key: value for key, value in node.params.items() if key != "preferred_element_type"}
            return registry[node.name].numpy(*inexact, **params)
        if node.name == "fft":
            return np.sum(inexact[0])
    return None


def _summed(node: Node, operands: Sequence[Array], x: Array, y: Array) -> Any:
    if x.dtype.kind == "c" and not all(np.isfinite(one).all() for one in operands):
        return True  # infinite complex numbers have products by convention only
    magnitude, terms = _magnitude(node, operands), sum(one.size for one in operands) // max(x.size, 1) + 2
    terms = terms + x.shape[node.params["axis"]] if node.name == "cumsum" else terms
    if magnitude is None:
        return _loosely(node, operands, x, y)
    short = short_name(x.dtype)
    half = short in ("f16", "bf16")
    factor = 4 if x.dtype.kind == "c" or node.name == "fft" else 1
    rounding = EPSILON["f32" if half else short] * terms * factor
    return _within(x, y, rounding * magnitude + (2 * EPSILON[short] * _absolute(y) if half else 0), magnitude)


def _within(x: Array, y: Array, bound: Any, magnitude: Any) -> Any:
    """Near, or equal where not finite; or sums so large that their order decides whether they overflow."""
    short = short_name(x.dtype)
    wide = np.complex128 if x.dtype.kind == "c" else np.float64
    x, y = x.astype(wide), y.astype(wide)
    with np.errstate(all="ignore"):
        near = np.abs(x - y) <= bound + 4 * SMALLEST.get(short, 5e-324)
    overflow = ~(np.asarray(magnitude) < LARGEST[short] / 4)
    return near | (x == y) | (np.isnan(x) & np.isnan(y)) | overflow


def _loosely(node: Node, operands: Sequence[Array], x: Array, y: Array) -> Any:
    """Sums and products of windows or at computed places: as large as all that is there may add up to."""
    body = node.params.get("body")
    if body is not None and body.equations and body.equations[0].op.name == "multiply":
        return _multiplied(node, operands, x, y)
    magnitude, terms = _all_of(operands)
    # every term may be rounded to the dtype itself
    return _within(x, y, EPSILON[short_name(x.dtype)] * min(terms, 64) * magnitude, magnitude)


def _multiplied(node: Node, operands: Sequence[Array], x: Array, y: Array) -> Any:
    """To some units, where no order of the factors leaves the range of the dtype."""
    short, terms = short_name(x.dtype), max(one.size for one in operands)
    with np.errstate(all="ignore"):
        logs = np.log2(np.concatenate([_absolute(one).ravel() for one in operands]))
        logs = logs[np.isfinite(logs)]
    if node.name == "cumlogsumexp":
        size = max(float(np.abs(x[np.isfinite(x)]).astype(np.float64).max(initial=0)), 1.0)
        return _within(x, y, EPSILON[short] * (terms + 8) * size, size)
    reach = np.log2(LARGEST[short])
    if max(logs[logs > 0].sum(), -logs[logs < 0].sum()) > reach - 8:
        return True
    if x.dtype.kind == "c" and not all(np.isfinite(one).all() for one in operands):
        return True
    return _within(x, y, EPSILON[short] * (terms + 2) * 4 * _absolute(y), 0.0)


def _solved(node: Node, operands: Sequence[Array], x: Array, y: Array) -> Any:
    """Where the result is determined and nothing is extreme, up to what rounding may do to matrices well away from singular."""
    tame = all(np.isfinite(one).all() and np.abs(one).max(initial=0) < 1e4 for one in operands)
    if node.name not in UNIQUE or not tame or not np.isfinite(y).all() or not _dominant(operands[0], node.name in DEFINITE):
        return True
    if node.name == "potrf":
        x, y = np.tril(x), np.tril(y)  # the other triangle means nothing
    size = max(float(np.abs(y).max(initial=0)), 1e-3)
    return _within(x, y, EPSILON[short_name(x.dtype)] * DIGITS_LOST * size, size)


def _dominant(x: Array, positive: bool) -> bool:
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        return False
    diagonal = np.abs(np.diagonal(x, axis1=-2, axis2=-1).real)
    signs = bool((np.diagonal(x, axis1=-2, axis2=-1).real > 0).all()) or not positive
    return signs and bool((2 * diagonal > np.abs(x).sum(-1)).all())
