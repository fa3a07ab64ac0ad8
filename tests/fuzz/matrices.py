"""Random calls of LAPACK's routines, of factorizations and of Fourier transforms, on stacks of matrices of any shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from celadon.op import registry
from celadon.types import DType, from_short, int32
from celadon.vocabulary.stacks import parted
from tests.fuzz.draw import Draw, Shape
from tests.fuzz.trees import Leaf, Node, Part, leaf_of

DTYPES = tuple(from_short[short] for short in ("f32", "f64", "c64", "c128"))
REALS = tuple(from_short[short] for short in ("f32", "f64"))
SQUARE = ("nn",)
FORMS: dict[str, str] = {
    "potrf": "nn", "getrf": "mn", "geqrf": "mn", "syevd": "nn", "gesdd": "mn", "geev": "nn", "gees": "nn", "gehrd": "nn",
    "sytrd": "nn", "gtsv": "n,n,n,nb", "cholesky": "nn", "lu": "mn", "solve": "nn,nb", "slogdet": "nn", "det": "nn", "qr": "mn",
    "hessenberg": "nn", "tridiagonal": "nn", "tridiagonal_solve": "n,n,n,nb", "eigh": "nn", "svd": "mn", "eig": "nn",
    "schur": "nn",
}  # fmt: skip
DEFINITE = ("potrf", "cholesky")
DOMINANT = (*DEFINITE, "solve", "getrf", "lu", "gtsv", "tridiagonal_solve", "det", "slogdet", "triangular_solve")


def _params(draw: Draw, name: str, dtype: DType) -> dict[str, Any]:
    coin = draw.chance
    match name:
        case "syevd" | "eigh" | "sytrd" | "tridiagonal":
            return {"lower": coin(0.5)}
        case "gesdd" | "svd":
            return {"full_matrices": coin(0.5), "compute_uv": coin(0.7)}
        case "geev":
            return {"packed": dtype.kind == "f", "left": coin(0.5), "right": coin(0.5)}
        case "eig":
            return {"left": coin(0.5), "right": coin(0.5), "derivatives": False}
        case "gees" | "schur":
            return {"vectors": coin(0.5)}
        case "qr":
            return {"full_matrices": coin(0.5), "pivoting": coin(0.3)}
        case _:
            return {}


def stacked(draw: Draw, name: str) -> Node:
    """Ordinary matrices, well away from singular ones where that matters, or any values at all."""
    dtype, stack = draw.pick(DTYPES), _stack(draw)
    params = _params(draw, name, dtype)
    empty = draw.chance(0.1) and name != "gesdd"  # svd gives the vectors of an empty matrix without it
    sizes = {letter: draw.pick((0, 1, 2, 3, 5, 8, 13) if empty else (1, 2, 3, 5, 8, 13)) for letter in "mnb"}
    words, _ = parted(f"{FORMS[name]}->x")
    shapes = [(*stack, *(sizes[letter] for letter in word.axes)) for word in words]
    return draw.node(name, [_filled(draw, name, shape, dtype, k) for k, shape in enumerate(shapes)], **params)


def _stack(draw: Draw) -> Shape:
    return draw.pick(((), (), (1,), (2,), (3,), (0,), (2, 3), (7,)))


def _filled(draw: Draw, name: str, shape: Shape, dtype: DType, k: int) -> Part:
    if name in ("geev", "gees", "gesdd"):  # what they leave of others is not asked for
        return draw.leaf(shape, dtype, draw.pick(("ordinary", "small", "equal", "huge")))
    if draw.style in ("ordinary", "small", "equal") and name in DOMINANT:
        if name in ("gtsv", "tridiagonal_solve"):
            return _shifted(draw, shape, dtype, 10.0 if k == 1 else 0.0)
        return _dominant(draw, shape, dtype) if k == 0 else draw.leaf(shape, dtype, "ordinary")
    return draw.operand(shape, dtype, "" if draw.chance(0.3) else "ordinary")


def _shifted(draw: Draw, shape: Shape, dtype: DType, by: float) -> Leaf:
    return leaf_of((draw.leaf(shape, dtype, "unit").given + np.asarray(by, dtype)).astype(dtype))


def _dominant(draw: Draw, shape: Shape, dtype: DType) -> Leaf:
    x = draw.leaf(shape, dtype, "unit").given
    eye = np.eye(*shape[-2:], dtype=dtype) if len(shape) > 1 else np.asarray(1, dtype)
    return leaf_of(((x + np.conj(np.swapaxes(x, -1, -2)) if shape[-1] == shape[-2] else x) / 4 + 16 * eye).astype(dtype))


def triangular_solve(draw: Draw, name: str) -> Node:
    dtype, stack, left = draw.pick(DTYPES), _stack(draw), draw.chance(0.5)
    n, m = draw.pick((1, 2, 3, 5, 13)), draw.pick((0, 1, 2, 7))
    params = {"left_side": left, "lower": draw.chance(0.5), "unit_diagonal": draw.chance(0.3)}
    params["transpose_a"] = draw.pick(("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"))
    a = _dominant(draw, (*stack, n, n), dtype) if not params["unit_diagonal"] else draw.leaf((*stack, n, n), dtype, "unit")
    return draw.node(name, [a, draw.leaf((*stack, *((n, m) if left else (m, n))), dtype, "unit")], **params)


def geqp3(draw: Draw, name: str) -> Node:
    dtype, stack, m, n = draw.pick(DTYPES), _stack(draw), draw.whole(1, 8), draw.whole(1, 8)
    return draw.node(name, [draw.leaf((*stack, m, n), dtype, "ordinary"), leaf_of(np.zeros((*stack, n), np.int32))])


def reflectors(draw: Draw, name: str) -> Node:
    """What geqrf gives is given to orgqr and ormqr: any others are no reflectors."""
    dtype, stack, n = draw.pick(DTYPES), _stack(draw), draw.whole(1, 6)
    m = n + draw.whole(0, 4)
    with np.errstate(all="ignore"):
        x, taus = registry["geqrf"].numpy(draw.leaf((*stack, m, n), dtype, "ordinary").given)
    inputs: list[Part] = [leaf_of(np.asarray(x, dtype)), leaf_of(np.asarray(taus, dtype))]
    if name == "orgqr":
        return draw.node(name, inputs)
    left = draw.chance(0.5)
    c = draw.leaf((*stack, *((m, 3) if left else (3, m))), dtype, "ordinary")
    return draw.node(name, [*inputs, c], left=left, transpose=draw.chance(0.5))


def laswp(draw: Draw, name: str) -> Node:
    dtype, stack, m, n = draw.pick(DTYPES), _stack(draw), draw.whole(1, 8), draw.whole(0, 8)
    pivots = np.asarray(draw.random.integers(1, m + 1, (*stack, draw.whole(0, m))), int32)
    return draw.node(name, [draw.leaf((*stack, m, n), dtype), leaf_of(pivots)], reverse=draw.chance(0.5))


def permutation(draw: Draw, name: str) -> Node:
    stack, m = _stack(draw), draw.whole(1, 8)
    pivots = np.asarray(draw.random.integers(0, m, (*stack, draw.whole(0, m))), int32)
    return draw.node(name, [leaf_of(pivots)], permutation_size=m)


def fft(draw: Draw, name: str) -> Node:
    word = draw.pick(("FFT", "IFFT", "RFFT", "IRFFT"))
    lengths = tuple([draw.pick((1, 2, 3, 4, 5, 7, 8, 16, 31, 60)) for _ in range(draw.pick((1, 1, 2, 3)))])
    while np.prod(lengths) > 4000:
        lengths = lengths[1:]
    last = lengths[-1] // 2 + 1 if word == "IRFFT" else lengths[-1]
    dtype = draw.pick(REALS if word == "RFFT" else DTYPES[2:])
    shape = (*_stack(draw), *lengths[:-1], last)
    return draw.node(name, [draw.operand(shape, dtype)], fft_type=word, fft_length=lengths, dims=len(lengths))


MAKERS: dict[str, Any] = {
    **dict.fromkeys(FORMS, stacked), "triangular_solve": triangular_solve, "geqp3": geqp3, "orgqr": reflectors,
    "ormqr": reflectors, "laswp": laswp, "lu_pivots_to_permutation": permutation, "fft": fft,
}  # fmt: skip

