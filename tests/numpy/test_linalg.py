"""Matrices: factors and solutions against NumPy and SciPy, inside and outside jit, in batches; slopes by finite differences."""

import numpy as np
import pytest
import scipy.linalg

import celadon
import celadon.numpy as cnp

RANDOM = np.random.default_rng(0)
A = RANDOM.normal(size=(4, 4)) + 4 * np.eye(4)
S = A @ A.T
B = RANDOM.normal(size=(4, 2))
FUNCTIONS = {
    "cholesky": (lambda x: cnp.linalg.cholesky(x), np.linalg.cholesky, S),
    "solve": (lambda x: cnp.linalg.solve(x, B), lambda x: np.linalg.solve(x, B), A),
    "inv": (lambda x: cnp.linalg.inv(x), np.linalg.inv, A),
    "det": (lambda x: cnp.linalg.det(x), np.linalg.det, A),
    "slogdet": (lambda x: cnp.linalg.slogdet(x)[1], lambda x: np.linalg.slogdet(x)[1], A),
    "qr": (lambda x: abs(cnp.linalg.qr(x)[1]), lambda x: abs(np.linalg.qr(x)[1]), A),
    "eigh": (lambda x: cnp.linalg.eigh(x)[0], lambda x: np.linalg.eigh(x)[0], S),
    "svd": (lambda x: cnp.linalg.svd(x)[1], lambda x: np.linalg.svd(x)[1], A),
    "pinv": (lambda x: cnp.linalg.pinv(x), np.linalg.pinv, A),
    "norm": (lambda x: cnp.linalg.norm(x), np.linalg.norm, A),
}
EACH = pytest.mark.parametrize(("ours", "theirs", "x"), FUNCTIONS.values(), ids=FUNCTIONS)


@EACH
def test_values_inside_and_outside_jit_and_in_batches(ours, theirs, x):
    with celadon.enable_x64(True):
        np.testing.assert_allclose(np.asarray(ours(cnp.asarray(x))), theirs(x), rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(np.asarray(celadon.jit(ours)(x)), theirs(x), rtol=1e-10, atol=1e-12)
        both = np.stack([x, 2 * x])
        np.testing.assert_allclose(np.asarray(celadon.vmap(ours)(both)), [theirs(x), theirs(2 * x)], rtol=1e-9, atol=1e-11)


@EACH
def test_slopes(ours, theirs, x):
    along = RANDOM.normal(size=x.shape)
    along = along + along.T
    with celadon.enable_x64(True):
        weights = RANDOM.normal(size=np.shape(theirs(x)))
        slope = celadon.jit(celadon.grad(lambda x: (ours(x) * weights).sum()))(x)
        _, forward = celadon.jvp(ours, (cnp.asarray(x),), (cnp.asarray(along),))
    near = (theirs(x + 1e-6 * along) - theirs(x - 1e-6 * along)) / 2e-6
    np.testing.assert_allclose(np.asarray(forward), near, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(float((np.asarray(slope) * along).sum()), float((near * weights).sum()), rtol=1e-5)


def test_factors_multiply_to_the_matrix():
    with celadon.enable_x64(True):
        q, r = cnp.linalg.qr(A)
        values, vectors = cnp.linalg.eigh(S)
        u, s, v = cnp.linalg.svd(A)
        np.testing.assert_allclose(np.asarray(q @ r), A, rtol=1e-10)
        np.testing.assert_allclose(np.asarray((vectors * values) @ vectors.T), S, rtol=1e-10)
        np.testing.assert_allclose(np.asarray((u * s) @ v), A, rtol=1e-10)
        triangle = np.tril(A)
        found = celadon.lax.linalg.triangular_solve(triangle, B, left_side=True, lower=True)
        np.testing.assert_allclose(np.asarray(found), scipy.linalg.solve_triangular(triangle, B, lower=True), rtol=1e-10)


def test_an_indefinite_matrix_has_no_root():
    assert np.isnan(np.asarray(cnp.linalg.cholesky(-np.eye(3, dtype=np.float32)))).any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_eigenvalues_of_what_is_not_finite_are_nan_and_others_stay(dtype, bad):
    """LAPACK itself would read outside its memory."""
    x = np.stack([S, S, S]).astype(dtype)
    x[1, 2, 1] = bad
    with celadon.enable_x64(True):
        for f in (cnp.linalg.eig, celadon.jit(cnp.linalg.eig)):
            values, vectors = (np.asarray(part) for part in f(x))
            assert np.isnan(values[1]).all() and np.isnan(vectors[1]).all()
            for k in (0, 2):
                np.testing.assert_allclose(np.sort(values[k].real), np.linalg.eigvalsh(S), rtol=1e-4)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_the_schur_form_of_what_is_not_finite_is_nan_at_once(dtype):
    x = np.stack([S, S]).astype(dtype)
    x[1, 2, 1] = np.nan
    with celadon.enable_x64(True):
        t = np.asarray(celadon.jit(lambda x: celadon.lax.linalg.schur(x)[0])(x))
    assert np.isnan(t[1]).all()
    np.testing.assert_allclose(np.sort(np.diag(t[0]).real), np.linalg.eigvalsh(S))
