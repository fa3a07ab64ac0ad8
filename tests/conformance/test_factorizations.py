"""lax.linalg against real JAX, its NumPy rules against LAPACK on the CPU, and its texts, which XLA runs."""

import functools

import jax
import jax.lax.linalg as theirs
import jax.numpy as jnp
import numpy as np
import pytest

import celadon
import celadon.lax.linalg as ours
import celadon.numpy as cnp
from celadon import errors, events, xla
from celadon.vocabulary import lapack
from tests.conformance.linear import adjoint, agree, close, dominant, hermitian, matrix, near, positive

INEXACT = pytest.mark.parametrize("dtype", ["float32", "complex64"])


def both(name):
    return getattr(theirs, name), getattr(ours, name)


@INEXACT
def test_factors(dtype):
    x, oblong = matrix(dtype, 2, 4, 4), matrix(dtype, 5, 3)
    agree(*both("cholesky"), positive(dtype, 2, 4, 4))
    agree(*both("cholesky"), x, symmetrize_input=False)
    for one in (x, oblong, oblong.T, oblong[:0]):
        agree(*both("lu"), one)
        agree(*both("qr"), one)
        agree(*both("svd"), one, compute_uv=False)
    for one in (x, oblong, oblong.T):
        agree(*both("qr"), one, pivoting=True, full_matrices=False)
    # of no rows JAX's pivots are no permutation
    np.testing.assert_array_equal(ours.qr(oblong[:0], pivoting=True, full_matrices=False)[2], [0, 1, 2])
    agree(*both("hessenberg"), x)
    for lower in (True, False):
        agree(*both("tridiagonal"), hermitian(dtype, 2, 4, 4), lower=lower)


@INEXACT
def test_eigenvalues_and_schur_forms(dtype):
    x, h = matrix(dtype, 2, 5, 5), hermitian(dtype, 2, 5, 5)
    for options in ({}, {"lower": False, "symmetrize_input": False}, {"subset_by_index": (0, 5)}):
        v, w = ours.eigh(h, **options)
        close(np.asarray(w), np.linalg.eigvalsh(h))
        close(h @ np.asarray(v), np.asarray(v) * np.asarray(w)[..., None, :])
    w, left, right = map(np.asarray, ours.eig(x))
    near(ours.eig(x, compute_right_eigenvectors=False)[0], theirs.eig(jnp.asarray(x))[0])
    close(x @ right, right * w[..., None, :])
    close(adjoint(left) @ x, w[..., :, None] * adjoint(left))
    t, q = map(np.asarray, ours.schur(x))
    close(q @ t @ adjoint(q), x)
    assert (np.tril(t, -2) == 0).all() and (dtype == "float32" or (np.tril(t, -1) == 0).all())
    [alone] = ours.schur(x, compute_schur_vectors=False)
    close(np.asarray(alone), t)


@INEXACT
def test_triangular_systems(dtype):
    a = dominant(dtype, 2, 4, 4)
    for left_side in (True, False):
        for transpose_a, conjugate_a in ((False, False), (True, False), (True, True), (False, True)):
            lower = transpose_a ^ conjugate_a
            options = {"left_side": left_side, "lower": lower, "transpose_a": transpose_a, "conjugate_a": conjugate_a}
            b = matrix(dtype, 2, *((4, 3) if left_side else (3, 4)))
            agree(*both("triangular_solve"), a, b, unit_diagonal=not lower, **options)
    agree(*both("triangular_solve"), a, matrix(dtype, 2, 4))
    agree(*both("triangular_solve"), a, matrix(dtype, 2, 3), left_side=True)
    below, diagonal, above = matrix(dtype, 2, 4), matrix(dtype, 2, 4, seed=1) + 3, matrix(dtype, 2, 4, seed=2)
    agree(*both("tridiagonal_solve"), below, diagonal.astype(dtype), above, matrix(dtype, 2, 4, 3))


@INEXACT
def test_reflectors(dtype):
    x = matrix(dtype, 2, 5, 3)
    found, taus = map(np.asarray, lapack.geqrf(cnp.asarray(x)))
    agree(*both("householder_product"), found, taus)
    agree(*both("householder_product"), np.swapaxes(found, 1, 2), taus)
    for left in (True, False):
        for transpose in (True, False):
            c = matrix(dtype, 2, *((5, 4) if left else (4, 5)))
            agree(*both("ormqr"), found, taus, c, left=left, transpose=transpose)


def test_updates_and_permutations():
    r = np.triu(positive("float32", 4, 4))
    agree(*both("cholesky_update"), r, matrix("float32", 4))
    agree(*both("cholesky_update"), r, matrix("float32", 3))
    a, c = matrix("float32", 3, 2), hermitian("float32", 3, 3)
    agree(*both("symmetric_product"), a, c, alpha=2.0, beta=0.5)
    agree(*both("symmetric_product"), a, c, symmetrize_output=True)
    for pivots, size in ((np.array([2, 1, 2], np.int32), 3), (np.array([[2, 1], [0, 4]], np.int32), 5)):
        agree(*both("lu_pivots_to_permutation"), pivots, size)


def test_options_of_other_devices_are_refused():
    x = np.eye(3, dtype=np.float32)
    for name, options in (
        ("eigh", {"subset_by_index": (0, 1)}), ("svd", {"subset_by_index": (0, 1)}), ("schur", {"sort_eig_vals": True}),
        ("eigh", {"implementation": ours.EighImplementation.QDWH}), ("svd", {"algorithm": ours.SvdAlgorithm.POLAR}),
    ):  # fmt: skip
        with pytest.raises(errors.FactorizationOptionMissing):
            getattr(ours, name)(x, **options)


# --- derivatives that numpy.linalg does not have


@pytest.mark.parametrize(("dtype", "shape"), [("float32", (4, 4)), ("complex64", (5, 3)), ("float32", (3, 5))])
def test_derivatives_of_lu_and_pivoted_qr(shape, dtype):
    x, t = matrix(dtype, *shape), matrix(dtype, *shape, seed=1)
    _, moved = celadon.jvp(lambda x: ours.lu(x)[0], (x,), (t,))
    close(np.asarray(moved), np.asarray(jax.jvp(lambda x: theirs.lu(x)[0], (x,), (t,))[1]), 10)
    options = {"pivoting": True, "full_matrices": False}
    found = celadon.jvp(lambda x: ours.qr(x, **options)[:2], (x,), (t,))[1]
    expected = jax.jvp(lambda x: theirs.qr(x, **options)[:2], (x,), (t,))[1]
    for one, other in zip(found, expected, strict=True):
        close(np.asarray(one), np.asarray(other), 10)


def test_derivatives_of_pivoted_qr_in_stacks():
    """JAX's derivative takes the columns of the wrong axis there; each matrix alone is the oracle."""
    x, t = matrix("float32", 3, 4, 4), matrix("float32", 3, 4, 4, seed=1)

    def factors(x):
        return ours.qr(x, pivoting=True)[:2]

    whole = celadon.jvp(factors, (x,), (t,))[1]
    for i in range(3):
        alone = celadon.jvp(factors, (x[i],), (t[i],))[1]
        for one, other in zip(whole, alone, strict=True):
            close(np.asarray(one)[i], np.asarray(other))


@INEXACT
def test_derivatives_of_triangular_and_tridiagonal_systems(dtype):
    a, b = dominant(dtype, 4, 4), matrix(dtype, 4, 3)
    s, t = matrix(dtype, 4, 4, seed=1), matrix(dtype, 4, 3, seed=1)
    for options in ({"lower": True}, {"transpose_a": True, "conjugate_a": True}, {"unit_diagonal": True}):
        function, other = (functools.partial(f.triangular_solve, left_side=True, **options) for f in (ours, theirs))
        near(celadon.jvp(function, (a, b), (s, t)), jax.jvp(other, (a, b), (s, t)))
        near(celadon.vjp(function, a, b)[1](b), jax.vjp(other, a, b)[1](b))
    rows = [matrix(dtype, 4, seed=i) + np.asarray(3 * (i == 1), dtype) for i in range(3)]
    moved = [matrix(dtype, 4, seed=i) for i in (3, 4, 5)]
    given = (*rows, b), (*moved, t)
    near(celadon.jvp(ours.tridiagonal_solve, *given), jax.jvp(theirs.tridiagonal_solve, *given))
    near(celadon.vjp(ours.tridiagonal_solve, *given[0])[1](t), jax.vjp(theirs.tridiagonal_solve, *given[0])[1](t))


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_derivatives_of_eigenvectors_keep_their_norm_and_phase(dtype):
    with celadon.enable_x64(True):
        x, t = matrix(dtype, 4, 4), matrix(dtype, 4, 4, seed=1)

        def vectors(x):
            return ours.eig(x, enable_eigvec_derivs=True)

        _, moved = celadon.jvp(vectors, (x,), (t,))
        after, before = (vectors(x + sign * 1e-6 * t) for sign in (1, -1))
        for one, other, change in zip(after, before, moved, strict=True):
            np.testing.assert_allclose(np.asarray(change), (np.asarray(one) - np.asarray(other)) / 2e-6, atol=1e-5)


# --- every executor


def square(x):
    t, q = ours.schur(x)
    h = (x + cnp.conj(x.mT)) / 2
    return [
        ours.cholesky(x @ cnp.conj(x.mT) + cnp.eye(4)), *ours.lu(x), *ours.qr(x), *ours.qr(x, pivoting=True),
        ours.eigh(x)[1], cnp.abs(ours.eig(x)[2]), q @ t @ cnp.conj(q.mT), *ours.hessenberg(x), *ours.tridiagonal(h),
        *ours.tridiagonal(h, lower=False), cnp.linalg.solve(x, x[..., :2]), ours.svd(x, compute_uv=False),
    ]  # fmt: skip


def oblong(x):
    u, s, vh = ours.svd(x, full_matrices=False)
    found = [*ours.lu(x), *ours.qr(x, full_matrices=False), (u * s[..., None, :].astype(u.dtype)) @ vh]
    if x.shape[-2] < x.shape[-1]:
        return found
    reflected = ours.ormqr(*lapack.geqrf(x), cnp.swapaxes(x, -1, -2), left=False)
    solved = ours.triangular_solve(x[..., :3, :3] + 3 * cnp.eye(3), x[..., :3], left_side=False)
    return [*found, reflected, solved, cnp.linalg.lstsq(x[0], x[0])[0]]


@pytest.mark.parametrize("executor", ["reference", "xla"])
@INEXACT
@pytest.mark.parametrize(("function", "shape"), [(square, (2, 4, 4)), (oblong, (2, 5, 3)), (oblong, (2, 3, 5))])
def test_executors_agree(function, shape, dtype, executor):
    """LAPACK called by machine code, the NumPy rules, and XLA on the text."""
    x = dominant(dtype, *shape) if shape[1] == shape[2] else matrix(dtype, *shape)
    with events.watching() as seen:
        expected = celadon.jit(lambda x: function(x))(x)
        try:
            celadon.config.update("celadon_executor", executor)
            found = celadon.jit(lambda x: function(x))(x)
        finally:
            celadon.config.update("celadon_executor", "cpu")
    assert not [event for event in seen if event.kind == "fallback"]
    for one, other in zip(found, expected, strict=True):
        close(np.asarray(one), np.asarray(other), 10)


def test_the_text_of_factorizations_is_what_the_parser_reads():
    text = celadon.jit(square).lower(np.ones((2, 4, 4), np.float32)).as_text()
    parsed = xla.parse(text)
    routines = ("getrf", "geqrf", "geqp3", "orgqr", "syevd", "geev", "gees", "gehrd", "sytrd", "gesdd")
    for name in ("stablehlo.cholesky", "stablehlo.triangular_solve", *(f"@lapack_s{name}_ffi" for name in routines)):
        assert name in parsed


def test_a_batch_is_handed_out_in_pieces_with_room_of_their_own():
    """Enough matrices for several threads."""
    x = positive("float32", 200, 24, 24)
    w, v = map(np.asarray, cnp.linalg.eigh(x))
    close(x @ v, v * w[..., None, :])
    close(np.asarray(cnp.linalg.inv(x)), np.linalg.inv(x), 10)


def test_factorizations_run_inside_loops():
    def step(x, _):
        return cnp.linalg.solve(x + cnp.eye(3), x), cnp.linalg.det(x)

    x = positive("float32", 3, 3) / 10
    found, values = celadon.jit(lambda x: celadon.lax.scan(step, x, None, length=3))(x)
    expected, kept = x, []
    for _ in range(3):
        kept.append(np.linalg.det(expected))
        expected = np.linalg.solve(expected + np.eye(3, dtype=np.float32), expected)
    close(np.asarray(found), expected)
    close(np.asarray(values), np.array(kept, np.float32))
