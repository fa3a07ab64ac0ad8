"""Samples of ops on matrices and of transforms by frequency, each with what it is in real JAX where that has one.

Factors are determined up to signs and phases only: what is compared of them are products that are not.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax as jax_lax
from jax.lax import linalg

from celadon import numpy as cnp
from celadon.op import Op
from celadon.types import DType, float32, int32
from tests.vocabulary.samples import DOUBLE, Maker, Sample, values

COMPLEX: DType = np.dtype(np.complex64)
INEXACT: tuple[DType, ...] = (float32, COMPLEX, *DOUBLE)
Function = Callable[..., Any]
Around = Callable[[Any, Op | None], Function]  # of a package and the op: ours, or None for JAX's


def unknown(*operands: Any, **params: Any) -> Any:
    """JAX has no such function, or none that a program can call."""
    raise NotImplementedError


def _matrices(*shapes: tuple[int, ...], theirs: Function = unknown, reals_only: bool = False, **params: Any) -> Maker:
    def make(op: Op) -> Iterator[Sample]:
        for dtype in INEXACT if not reals_only else (float32, DOUBLE[0]):
            yield Sample(op, tuple(values(dtype, shape, k) for k, shape in enumerate(shapes)), params, theirs)

    return make


def _each(*makers: Maker) -> Maker:
    def make(op: Op) -> Iterator[Sample]:
        for one in makers:
            yield from one(op)

    return make


def _of(around: Around, *shapes: tuple[int, ...]) -> Maker:
    """A function around the op, and the same around JAX's."""

    def make(op: Op) -> Iterator[Sample]:
        for dtype in INEXACT:
            arrays = tuple(values(dtype, shape, k) for k, shape in enumerate(shapes))
            yield Sample(op, arrays, {"around": around}, around(jnp, None), around(cnp, op))

    return make


def _hermitian(package: Any, x: Any) -> Any:
    return (x + package.conj(package.swapaxes(x, -1, -2))) / 2


def _cholesky(package: Any, op: Op | None) -> Function:
    factor = op or (lambda x: linalg.cholesky(x, symmetrize_input=False))
    return lambda x: factor(_hermitian(package, x) + 20 * package.eye(3, dtype=x.dtype))


def _eigh(package: Any, op: Op | None) -> Function:
    def function(x: Any) -> list[Any]:
        whole = _hermitian(package, x)
        if op is not None:
            v, w = op(whole, lower=True)
        else:
            v, w = linalg.eigh(whole, symmetrize_input=False, sort_eigenvalues=False)
        return [w, v[..., :1] @ package.conj(package.swapaxes(v[..., :1], -1, -2))]

    return function


def _svd(full: bool) -> Around:
    def around(package: Any, op: Op | None) -> Function:
        def function(x: Any) -> list[Any]:
            if op is not None:
                s, u, vh = op(x, full_matrices=full, compute_uv=True)
            else:
                u, s, vh = linalg.svd(x, full_matrices=full)
            return [s, u[..., :, :1] @ vh[..., :1, :]]

        return function

    return around


def _singular_values(package: Any, op: Op | None) -> Function:
    if op is None:
        return lambda x: linalg.svd(x, compute_uv=False)
    return lambda x: op(x, full_matrices=False, compute_uv=False)[0]


def _eig(package: Any, op: Op | None) -> Function:
    """Sums of powers of eigenvalues: their order may be another one."""

    def function(x: Any) -> list[Any]:
        if op is not None:
            [w] = op(x, left=False, right=False, derivatives=True)
        else:
            options = {"compute_left_eigenvectors": False, "compute_right_eigenvectors": False}
            [w] = linalg.eig(x, **options, enable_eigvec_derivs=True)
        return [package.sum(w * w, axis=-1), package.sum(w * w * w, axis=-1)]

    return function


def _qr(full: bool, pivoting: bool = False) -> Around:
    def around(package: Any, op: Op | None) -> Function:
        if op is not None:
            return lambda x: op(x, full_matrices=full, pivoting=pivoting)
        return lambda x: linalg.qr(x, full_matrices=full, pivoting=pivoting)

    return around


def _triangular(a: Any, b: Any, *, left_side: bool, lower: bool, transpose_a: str, unit_diagonal: bool) -> Any:
    turned = transpose_a == "TRANSPOSE"
    return linalg.triangular_solve(a, b, left_side=left_side, lower=lower, unit_diagonal=unit_diagonal, transpose_a=turned)


def _triangular_solve(op: Op) -> Iterator[Sample]:
    for dtype in INEXACT:
        a = values(dtype, (3, 3)) + 5 * np.eye(3, dtype=dtype)
        for left, word in ((True, "NO_TRANSPOSE"), (False, "TRANSPOSE")):
            params = {"left_side": left, "lower": left, "transpose_a": word, "unit_diagonal": False}
            yield Sample(op, (a, values(dtype, (3, 2) if left else (2, 3), 1)), params, _triangular)


def _pivoted(op: Op) -> Iterator[Sample]:
    for dtype in INEXACT:
        for reverse in (False, True):
            yield Sample(op, (values(dtype, (3, 2)), np.array([2, 3, 3], int32)), {"reverse": reverse}, unknown)


def _permutation(op: Op) -> Iterator[Sample]:
    pivots = np.array([[1, 2, 2], [0, 1, 2]], int32)
    known = lambda x, permutation_size: linalg.lu_pivots_to_permutation(x, permutation_size)  # noqa: E731
    yield Sample(op, (pivots,), {"permutation_size": 4}, known)


def _geqp3(op: Op) -> Iterator[Sample]:
    for dtype in INEXACT:
        yield Sample(op, (values(dtype, (4, 3)), np.zeros(3, int32)), {}, unknown)


def _tridiagonal_system(theirs: Function) -> Maker:
    def make(op: Op) -> Iterator[Sample]:
        for dtype in INEXACT:
            below, above, b = values(dtype, (4,)), values(dtype, (4,), 1), values(dtype, (4, 2), 2)
            yield Sample(op, (below, values(dtype, (4,), 3) + dtype.type(20), above, b), {}, theirs)

    return make


def _fft(op: Op) -> Iterator[Sample]:
    for kind, length in itertools.product(("FFT", "IFFT", "RFFT", "IRFFT"), ((4,), (3, 5))):
        last = length[-1] // 2 + 1 if kind == "IRFFT" else length[-1]
        params = {"fft_type": kind, "fft_length": length, "dims": len(length)}
        for dtype in (float32, DOUBLE[0]) if kind == "RFFT" else (COMPLEX, DOUBLE[1]):
            yield Sample(op, (values(dtype, (2, *length[:-1], last)),), params, _transformed)


def _transformed(x: Any, *, fft_type: str, fft_length: Any, dims: int) -> Any:
    return jax_lax.fft(x, fft_type, fft_length)


MAKERS: dict[str, Maker] = {
    "potrf": _matrices((3, 3)), "getrf": _matrices((3, 4)), "geqrf": _matrices((4, 3)), "geqp3": _geqp3,
    "orgqr": _matrices((4, 3), (3,)), "syevd": _matrices((3, 3), lower=True),
    "gesdd": _matrices((3, 4), full_matrices=False, compute_uv=False),
    "geev": _each(
        _matrices((3, 3), reals_only=True, packed=True, left=False, right=False),
        _matrices((3, 3), packed=False, left=False, right=False),
    ),
    "gees": _matrices((3, 3), vectors=False), "gehrd": _matrices((3, 3)), "sytrd": _matrices((3, 3), lower=True),
    "gtsv": _tridiagonal_system(unknown), "ormqr": _matrices((4, 3), (3,), (4, 2), left=True, transpose=False),
    "laswp": _pivoted, "lu_pivots_to_permutation": _permutation,
    "cholesky": _of(_cholesky, (2, 3, 3)),
    "triangular_solve": _triangular_solve,
    "lu": _each(*(_matrices(shape, theirs=linalg.lu) for shape in ((3, 3), (2, 4), (4, 2), (2, 3, 3)))),
    "solve": _matrices((3, 3), (3, 2), theirs=jnp.linalg.solve),
    "slogdet": _matrices((3, 3), theirs=lambda x: list(jnp.linalg.slogdet(x))),
    "det": _matrices((3, 3), theirs=jnp.linalg.det),
    "qr": _each(_of(_qr(False), (4, 3)), _of(_qr(True), (4, 3)), _of(_qr(False), (2, 3)), _of(_qr(False, True), (3, 3))),
    "hessenberg": _matrices((3, 3), theirs=linalg.hessenberg),
    "tridiagonal": _matrices((3, 3), theirs=lambda x, lower: linalg.tridiagonal(x, lower=lower), lower=True),
    "tridiagonal_solve": _tridiagonal_system(linalg.tridiagonal_solve),
    "eigh": _of(_eigh, (2, 3, 3)),
    "svd": _each(_of(_svd(False), (4, 3)), _of(_svd(False), (2, 3)), _of(_svd(True), (3, 3)), _of(_singular_values, (3, 2))),
    "eig": _of(_eig, (3, 3)),
    "schur": _matrices((3, 3), theirs=lambda x, vectors: linalg.schur(x, compute_schur_vectors=vectors), vectors=False),
    "fft": _fft,
}  # fmt: skip
