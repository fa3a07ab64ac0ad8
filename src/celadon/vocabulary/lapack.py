"""LAPACK's routines as ops, named as LAPACK names them: what factorizations expand to and an executor calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from celadon.op import Op
from celadon.vocabulary.stacks import Form, Rule, stacked

Array = Any
Arrays = Sequence[Array]


def _potrf(x: Array) -> Arrays:
    """x = l lᴴ; the upper triangle of x is not read, that of the result means nothing."""
    try:
        return np.linalg.cholesky(np.tril(x) + np.conj(np.tril(x, -1).T)), 0
    except np.linalg.LinAlgError:
        return x, 1


def _getrf(x: Array) -> Arrays:
    """Rows exchanged by pivots (counted from 1) are l u; l without its ones below u."""
    x, singular = np.array(x), 0
    pivots = np.zeros(min(x.shape), np.int32)
    for i in range(len(pivots)):
        best = i + int(np.argmax(np.abs(x[i:, i].real) + np.abs(x[i:, i].imag)))
        pivots[i] = best + 1
        x[[i, best]] = x[[best, i]]
        if x[i, i] == 0:
            singular = singular or i + 1
            continue
        x[i + 1 :, i] /= x[i, i]
        x[i + 1 :, i + 1 :] -= np.outer(x[i + 1 :, i], x[i, i + 1 :])
    return x, pivots, singular


def reflector(x: Array) -> tuple[Array, Array, Array]:
    """(v, tau, beta) with v[0] = 1 such that (1 - tau v vᴴ)ᴴ x is beta in the first place and 0 below; beta is real."""
    size, first = np.linalg.norm(x[1:]), x[0]
    v = np.array(x)
    v[0] = 1
    if size == 0 and first.imag == 0:
        return v, x.dtype.type(0), first
    beta = -np.copysign(np.hypot(abs(first), size), first.real)
    v[1:] /= first - beta
    return v, (beta - first) / beta, beta


def _geqrf(x: Array) -> Arrays:
    """r in the upper triangle, the reflectors whose product is q below it."""
    x, taus = np.array(x), np.zeros(min(x.shape), x.dtype)
    for i in range(len(taus)):
        v, taus[i], beta = reflector(x[i:, i])
        x[i:, i + 1 :] -= np.conj(taus[i]) * np.outer(v, np.conj(v) @ x[i:, i + 1 :])
        x[i:, i] = v
        x[i, i] = beta
    return x, taus


def _geqp3(x: Array, free: Array) -> Arrays:
    """As geqrf, each step on the column with the largest rest; columns are numbered from 1. All columns are free."""
    x, taus, order = np.array(x), np.zeros(min(x.shape), x.dtype), np.arange(1, x.shape[1] + 1)
    for i in range(len(taus)):
        best = i + int(np.argmax(np.linalg.norm(x[i:, i:], axis=0)))
        x[:, [i, best]] = x[:, [best, i]]
        order[[i, best]] = order[[best, i]]
        v, taus[i], beta = reflector(x[i:, i])
        x[i:, i + 1 :] -= np.conj(taus[i]) * np.outer(v, np.conj(v) @ x[i:, i + 1 :])
        x[i:, i] = v
        x[i, i] = beta
    return x, order, taus


def reflected(x: Array, reflectors: Array, taus: Array, reverse: bool) -> Array:
    """The reflectors applied to x from the left, the last one first if `reverse`."""
    x = np.array(x)
    for i in reversed(range(len(taus))) if reverse else range(len(taus)):
        v = np.array(reflectors[i:, i])
        v[0] = 1
        x[i:] -= taus[i] * np.outer(v, np.conj(v) @ x[i:])
    return x


def _orgqr(x: Array, taus: Array) -> Arrays:
    """The first columns of the product of the reflectors below the diagonal of x."""
    return [reflected(np.eye(*x.shape, dtype=x.dtype), x, taus, reverse=True)]


def _syevd(x: Array, *, lower: bool, vectors: bool = True) -> Arrays:
    """Eigenvectors in columns and eigenvalues in ascending order; only one triangle is read."""
    try:
        values, found = np.linalg.eigh(x, "L" if lower else "U")
        return found, values, 0
    except np.linalg.LinAlgError:
        return x, np.zeros(len(x)), 1


def _gesdd(x: Array, *, full_matrices: bool, compute_uv: bool) -> Arrays:
    """Singular values in descending order, left vectors in columns, right ones (conjugated) in rows."""
    try:
        u, s, v = np.linalg.svd(x, full_matrices)
        return [s, u, v, 0] if compute_uv else [s, 0]
    except np.linalg.LinAlgError:
        k, (m, n) = min(x.shape), x.shape
        zeros = [np.zeros(k), np.zeros((m, m if full_matrices else k)), np.zeros((n if full_matrices else k, n))]
        return [*zeros, 1] if compute_uv else [zeros[0], 1]


def _geev(x: Array, *, packed: bool, left: bool, right: bool) -> Arrays:
    """Eigenvalues, left and right eigenvectors of length 1 whose largest element is real.

    Packed, for a real matrix: the parts of values apart, those of a pair of conjugate vectors in two columns.
    """
    wanted = [side for side, asked in enumerate((left, right)) if asked]
    try:
        values, columns = np.linalg.eig(x)  # of a real matrix: conjugate pairs side by side
        rows = _normal(np.linalg.inv(columns).conj().T) if left and len(x) else columns
    except np.linalg.LinAlgError:
        return [*([np.zeros(len(x))] * (2 if packed else 1)), *(x for _ in wanted), 1]
    vectors = [(rows, columns)[side] for side in wanted]
    if not packed:
        return [values, *vectors, 0]
    return [np.real(values), np.imag(values), *(_packed(values, v) for v in vectors), 0]


def _normal(vectors: Array) -> Array:
    vectors = vectors / np.linalg.norm(vectors, axis=0)
    largest = np.take_along_axis(vectors, np.argmax(np.abs(vectors), axis=0)[None], 0)
    return vectors * np.conj(largest) / np.abs(largest)


def _packed(values: Array, vectors: Array) -> Array:
    after = np.concatenate([[False], np.imag(values)[:-1] > 0])
    before = np.concatenate([vectors[:, :1], vectors[:, :-1]], axis=1)
    return np.where(after, np.imag(before), np.real(vectors))


def _gees(x: Array, *, vectors: bool = True) -> Arrays:
    """x = q t qᴴ, t triangular but for blocks of two rows with a pair of conjugate eigenvalues, where x is real."""
    n, t, q, done = len(x), np.array(x), np.eye(len(x), dtype=x.dtype), 0
    try:
        while done < n:
            basis, size = _invariant(t[done:, done:])
            t[done:] = np.conj(basis.T) @ t[done:]
            t[:, done:] = t[:, done:] @ basis
            q[:, done:] = q[:, done:] @ basis
            t[done + size :, done : done + size] = 0
            done += size
    except np.linalg.LinAlgError:
        return [x, x, 1] if vectors else [x, 1]
    return [t, q, 0] if vectors else [t, 0]


def _invariant(x: Array) -> tuple[Array, int]:
    """A unitary basis whose first vectors span an invariant subspace, and their count: 2 for conjugate eigenvalues."""
    value = np.linalg.eigvals(x)[0]
    if x.dtype.kind == "c" or value.imag == 0:
        value = value.real if x.dtype.kind != "c" else value
        null = np.linalg.svd(x - value * np.eye(len(x)))[2][-1:]
        return np.linalg.qr(np.conj(null.T), "complete")[0], 1
    null = np.linalg.svd(x @ x - 2 * value.real * x + abs(value) ** 2 * np.eye(len(x)))[2][-2:]
    basis = np.linalg.qr(null.T, "complete")[0]
    (a, b), (c, d) = (basis.T @ x @ basis)[:2, :2]
    angle = (np.arctan2(b + c, a - d) - np.pi / 2) / 2
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    basis[:, :2] = basis[:, :2] @ turn  # both elements on the diagonal become equal
    return basis, 2


def _gehrd(x: Array) -> Arrays:
    """Zeros below the first subdiagonal, by reflectors that stand there."""
    x, taus = np.array(x), np.zeros(max(len(x) - 1, 0), x.dtype)
    for i in range(len(taus)):
        v, tau, beta = reflector(x[i + 1 :, i])
        x[i + 1 :, i + 1 :] -= np.conj(tau) * np.outer(v, np.conj(v) @ x[i + 1 :, i + 1 :])
        x[:, i + 1 :] -= tau * np.outer(x[:, i + 1 :] @ v, np.conj(v))
        x[i + 1 :, i] = v
        x[i + 1, i], taus[i] = beta, tau
    return x, taus, 0


def _sytrd(x: Array, *, lower: bool) -> Arrays:
    """A Hermitian matrix to a real tridiagonal one: its diagonal and the one beside it; reflectors as of gehrd."""
    if not lower:
        return [np.flip(one) if np.ndim(one) else one for one in _sytrd(np.flip(x), lower=True)]
    full = np.tril(x) + np.conj(np.tril(x, -1).T)
    found, taus, _ = _gehrd(full)
    found = np.tril(found) + np.triu(x, 1)
    return [found, np.real(np.diag(found)), np.real(np.diag(found, -1)), taus, 0]


def _gtsv(below: Array, diagonal: Array, above: Array, b: Array) -> Arrays:
    """Solves a tridiagonal system; the first element below and the last above the diagonal are not read."""
    full = np.diag(diagonal) + np.diag(below[1:], -1) + np.diag(above[:-1], 1)
    try:
        return [np.linalg.solve(full, b), 0]
    except np.linalg.LinAlgError:
        return [b, 1]


def _gesdd_form(*, full_matrices: bool, compute_uv: bool) -> str:
    vectors = ("mm,nn," if full_matrices else "mk,kn,") if compute_uv else ""
    return f"mn->r:k,{vectors}i:"


def _geev_form(*, packed: bool, left: bool, right: bool) -> str:
    return f"nn->{'n,n' if packed else 'n'},{'nn,' * (left + right)}i:"


def _gees_form(*, vectors: bool = True) -> str:
    return "nn->nn,nn,i:" if vectors else "nn->nn,i:"


def _lapack(name: str, form: Form, numpy: Rule, **rules: Any) -> Op:
    return stacked(name, form, numpy, kind="lapack", **rules)


potrf = _lapack("potrf", "nn->nn,i:", _potrf)
getrf = _lapack("getrf", "mn->mn,i:k,i:", _getrf)
geqrf = _lapack("geqrf", "mn->mn,k", _geqrf)
geqp3 = _lapack("geqp3", "mn,n->mn,i:n,k", _geqp3)
orgqr = _lapack("orgqr", "mn,j->mn", _orgqr)
syevd = _lapack("syevd", "nn->nn,r:n,i:", _syevd)
gesdd = _lapack("gesdd", _gesdd_form, _gesdd)
geev = _lapack("geev", _geev_form, _geev)
gees = _lapack("gees", _gees_form, _gees)
gehrd = _lapack("gehrd", "nn->nn,l,i:", _gehrd)
sytrd = _lapack("sytrd", "nn->nn,r:n,r:l,l,i:", _sytrd)
gtsv = _lapack("gtsv", "n,n,n,nb->nb,i:", _gtsv)
