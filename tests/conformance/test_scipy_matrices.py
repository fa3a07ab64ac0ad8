"""scipy.linalg against real JAX and SciPy."""

import jax
import jax.numpy as jnp
import jax.scipy.linalg as theirs
import numpy as np
import pytest
import scipy.linalg

import celadon
import celadon.numpy as cnp
import celadon.scipy.linalg as ours
from celadon import errors
from tests.conformance.linear import adjoint, agree, close, dominant, hermitian, matrix, near, positive

WIDE = {"float32": "float64", "complex64": "complex128"}
INEXACT = pytest.mark.parametrize("dtype", ["float32", "complex64"])


def both(name):
    return getattr(theirs, name), getattr(ours, name)


@INEXACT
def test_factors_and_solutions_by_them(dtype):
    p, x, b = positive(dtype, 4, 4), dominant(dtype, 4, 4), matrix(dtype, 4, 3)
    for lower in (True, False):
        agree(*both("cholesky"), p, lower)
        agree(*both("cho_factor"), p, lower)
        agree(*both("eigh"), p, None, lower, True)
        agree(*both("cho_solve"), (np.asarray(theirs.cholesky(p, lower)), lower), b)
        agree(*both("solve"), p, b, lower, assume_a="pos")
    for one in (x, matrix(dtype, 5, 3), matrix(dtype, 3, 5)):
        agree(*both("lu"), one)
        agree(*both("lu"), one, True)
    agree(*both("lu_factor"), x)
    agree(*both("svd"), x, compute_uv=False)
    factors = tuple(map(np.asarray, theirs.lu_factor(x)))
    for trans in (0, 1, 2):
        agree(*both("lu_solve"), factors, b, trans)
        agree(*both("solve_triangular"), x, b, trans, trans == 1)
    agree(*both("lu_solve"), factors, b[:, 0])
    agree(*both("solve_triangular"), x, b[:, 0], "T", unit_diagonal=True)
    agree(*both("det"), x)
    agree(*both("inv"), x)
    agree(*both("solve"), x, b)


def test_integers_become_floats():
    p, b = positive("int32", 4, 4), matrix("int32", 4, 3)
    agree(*both("cholesky"), p)
    agree(*both("lu"), p)
    agree(*both("qr"), p)
    agree(*both("expm"), b[:3])
    agree(*both("solve_triangular"), p, b)


def test_stacks():
    p, x, b = positive("complex64", 2, 4, 4), dominant("complex64", 2, 4, 4), matrix("complex64", 4, 3)
    factors = tuple(map(np.asarray, theirs.lu_factor(x)))
    agree(*both("lu_factor"), x)
    agree(*both("lu_solve"), factors, b)
    agree(*both("cho_solve"), (np.asarray(theirs.cholesky(p)), False), b)
    agree(*both("solve_triangular"), x, b, 2)
    agree(*both("solve_triangular"), x[0], matrix("complex64", 3, 4, 2))
    close(np.asarray(ours.expm(x / 4)), scipy.linalg.expm(x / 4))


@pytest.mark.parametrize(("dtype", "shape"), [("float32", (2, 3, 5)), ("complex64", (5, 3))])
def test_qr(shape, dtype):
    x, k = matrix(dtype, *shape), min(shape[-2:])
    for pivoting in (False, True):
        for mode in ("full", "economic", "r"):
            agree(*both("qr"), x, mode=mode, pivoting=pivoting)
        for mode, c in (("left", matrix(dtype, k, 2)), ("right", matrix(dtype, 2, shape[-2]))):
            agree(*both("qr_multiply"), x, c, mode, pivoting, pivoting)
    agree(*both("qr"), x, mode="odd")
    agree(*both("qr_multiply"), x[0] if len(shape) == 3 else x, matrix(dtype, shape[-2]))


@INEXACT
def test_schur_forms_and_reductions(dtype):
    x = matrix(dtype, 2, 5, 5)
    for output in ("real", "complex"):
        t, z = map(np.asarray, ours.schur(x, output))
        assert t.dtype == (np.complex64 if output == "complex" else dtype)
        close(z @ t @ adjoint(z), x.astype(t.dtype))
    t, z = map(np.asarray, ours.rsf2csf(*ours.schur(x)))
    assert (np.tril(t, -1) == 0).all()
    close(z @ t @ adjoint(z), x.astype(np.complex64))
    agree(*both("hessenberg"), x)
    agree(*both("hessenberg"), x, calc_q=True)
    with pytest.raises(errors.MatricesUnfit):
        ours.rsf2csf(x[0], x[0, :2])


@INEXACT
def test_polar(dtype):
    for shape, side in (((4, 4), "right"), ((5, 3), "right"), ((3, 5), "left")):
        agree(*both("polar"), matrix(dtype, *shape), side)
    agree(*both("polar"), matrix(dtype, 5, 3), "left", method="svd")


@INEXACT
def test_exponentials(dtype):
    for scale in (0.001, 1.0, 30.0):
        x = matrix(dtype, 4, 4) * np.asarray(scale, dtype)
        close(np.asarray(ours.expm(x)), scipy.linalg.expm(x.astype(WIDE[dtype])).astype(dtype), 10)
    close(np.asarray(ours.expm(np.triu(x) / 30, upper_triangular=True)), scipy.linalg.expm(np.triu(x) / 30))
    assert np.isnan(np.asarray(ours.expm(x, max_squarings=1))).all()
    agree(*both("expm_frechet"), x / 30, matrix(dtype, 4, 4, seed=1))


def test_exponentials_in_double():
    with celadon.enable_x64(True):
        for scale in (0.01, 1.0, 100.0):
            x = matrix("float64", 5, 5) * scale
            close(np.asarray(ours.expm(x)), scipy.linalg.expm(x))


def test_derivatives_of_the_exponential():
    x, t = matrix("float32", 3, 3), matrix("float32", 3, 3, seed=1)
    near(celadon.vjp(ours.expm, x)[1](t), jax.vjp(theirs.expm, x)[1](t))
    second = celadon.jvp(celadon.grad(lambda x: cnp.sum(ours.expm(x) ** 2)), (x,), (t,))[1]
    expected = jax.jvp(jax.grad(lambda x: jnp.sum(theirs.expm(x) ** 2)), (x,), (t,))[1]
    close(np.asarray(second), np.asarray(expected), 10)


def test_square_roots_and_functions():
    for x in (matrix("float32", 5, 5), positive("complex64", 4, 4)):
        root = np.asarray(ours.sqrtm(x))
        close(root @ root, x.astype(np.complex64), 10)
        close(np.asarray(ours.funm(x, cnp.sin)), scipy.linalg.funm(x, np.sin).astype(np.complex64), 10)
        found, error = ours.funm(x, cnp.cos, disp=False)
        close(np.asarray(found), scipy.linalg.funm(x, np.cos).astype(np.complex64), 10)
        assert 0 < float(error) < 1


@pytest.mark.parametrize("method", ["schur", "eigen"])
def test_sylvester_equations(method):
    for dtype in ("float32", "complex64"):
        a, b, c = dominant(dtype, 2, 4, 4), matrix(dtype, 3, 3), matrix(dtype, 4, 3)
        x = np.asarray(ours.solve_sylvester(a, b, c, method=method))
        assert x.dtype == dtype
        close(a @ x + x @ b, np.broadcast_to(c, x.shape), 10)
    nothing = np.asarray(ours.solve_sylvester(np.eye(2), -np.eye(2), np.ones((2, 2)), method=method))
    assert np.isnan(nothing).all()


def test_tridiagonal_eigenvalues():
    d, e = matrix("float32", 5), matrix("float32", 4)
    agree(*both("eigh_tridiagonal"), d, e, eigvals_only=True)
    agree(*both("eigh_tridiagonal"), d, e, eigvals_only=True, select="i", select_range=(1, 3))
    w, v = map(np.asarray, ours.eigh_tridiagonal(d.astype(np.complex64), matrix("complex64", 4)))
    above = np.diag(matrix("complex64", 4), 1)
    full = (np.diag(d) + above + adjoint(above)).astype(np.complex64)
    close(full @ v, v * w)


@pytest.mark.parametrize("dtype", ["complex64", "int32"])
def test_matrices_of_vectors(dtype):
    v, w = matrix(dtype, 4), matrix(dtype, 3, seed=1)
    for name, given in (
        ("toeplitz", (v,)), ("toeplitz", (v, w)), ("toeplitz", (matrix(dtype, 2, 3), w)), ("hankel", (v,)),
        ("hankel", (v, w)), ("circulant", (matrix(dtype, 2, 3),)), ("leslie", (v, w)), ("leslie", (v, v)),
        ("companion", (matrix(dtype, 2, 4) + np.asarray(9, dtype),)), ("companion", (v[:1],)), ("fiedler", (v,)),
        ("block_diag", (matrix(dtype, 2, 3), w, matrix("float32", 1, 1))), ("block_diag", ()),
    ):  # fmt: skip
        agree(*both(name), *given)
    for count in (1, 2, 3, 6):
        agree(*both("fiedler_companion"), matrix(dtype, count) + np.asarray(9, dtype))
    for mode in ("full", "valid", "same", "odd"):
        for n in (2, 6):
            agree(*both("convolution_matrix"), v, n, mode)


def test_matrices_of_numbers():
    for n in (1, 2, 8):
        agree(*both("hilbert"), n)
        agree(*both("hadamard"), n)
        for full in (False, True):
            agree(*both("helmert"), n, full)
        for scale in (None, "sqrtn", "n"):
            agree(*both("dft"), n, scale)
        np.testing.assert_array_equal(np.asarray(ours.invhilbert(n)), scipy.linalg.invhilbert(n).astype(np.float32))
        for kind in ("symmetric", "lower", "upper"):
            np.testing.assert_array_equal(np.asarray(ours.pascal(n, kind)), scipy.linalg.pascal(n, kind))
            np.testing.assert_array_equal(np.asarray(ours.invpascal(n, kind)), scipy.linalg.invpascal(n, kind))


def test_derivatives_and_batches_of_positive_systems():
    a, b = positive("float32", 4, 4), matrix("float32", 4, 2)

    def own(a, b):
        return cnp.sum(ours.solve(a, b, assume_a="pos") ** 2)

    def other(a, b):
        return jnp.sum(theirs.solve(a, b, assume_a="pos") ** 2)

    near(celadon.grad(own, (0, 1))(a, b), jax.grad(other, (0, 1))(a, b))
    s, t = hermitian("float32", 4, 4, seed=1), matrix("float32", 4, 2, seed=1)
    second = celadon.jvp(celadon.grad(own), (a, b), (s, t))[1]
    close(np.asarray(second), np.asarray(jax.jvp(jax.grad(other), (a, b), (s, t))[1]), 10)
    sides = np.stack([b, 2 * b])
    found = celadon.vmap(ours.lu_solve, in_axes=(None, 0))(ours.lu_factor(a), sides)
    close(np.asarray(found), np.linalg.solve(a, sides))
    factor = celadon.vmap(ours.cholesky)(np.stack([a, 2 * a]))
    close(np.asarray(factor[1]), scipy.linalg.cholesky(2 * a))
