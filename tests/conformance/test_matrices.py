"""numpy.linalg against real JAX: values, dtypes, errors, derivatives of first and second order, batches, compiles."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import celadon
import celadon.numpy as cnp
from celadon import cache, compiler, errors, events
from tests.bits import bits
from tests.conformance.linear import adjoint, agree, close, dominant, hermitian, matrix, near, positive

CASES = (("float32", (2, 4, 4)), ("complex64", (4, 4)), ("int32", (4, 4)), ("float32", (0, 0)))
CASE = pytest.mark.parametrize(("dtype", "shape"), CASES)
INEXACT = pytest.mark.parametrize("dtype", ["float32", "complex64"])


def both(name):
    return getattr(jnp.linalg, name), getattr(cnp.linalg, name)


SQUARE = {
    "cholesky": (positive, [{}, {"upper": True, "symmetrize_input": False}]),
    "eigvalsh": (hermitian, [{}, {"UPLO": "U", "symmetrize_input": False}]),
    "det": (matrix, [{}]),
    "slogdet": (matrix, [{}]),
    "inv": (dominant, [{}]),
    "matrix_power": (dominant, [{"n": 0}, {"n": 6}, {"n": -3}]),
    "trace": (matrix, [{"offset": 1}]),
    "diagonal": (matrix, [{"offset": -1}]),
    "matrix_transpose": (matrix, [{}]),
    "cond": (dominant, [{}, {"p": 1}, {"p": -2}]),
    "pinv": (matrix, [{}]),
    "matrix_rank": (matrix, [{}]),
}


@CASE
@pytest.mark.parametrize("name", SQUARE)
def test_functions_of_square_matrices(name, dtype, shape):
    make, options = SQUARE[name]
    for option in options:
        agree(*both(name), make(dtype, *shape), **option)


OBLONG = {
    "qr": [{"mode": mode} for mode in ("reduced", "complete", "r", "raw", "wrong")],
    "svdvals": [{}],
    "pinv": [{"rtol": 0.3}],
    "matrix_rank": [{"rtol": 0.5}],
}


@pytest.mark.parametrize(("dtype", "shape"), [("float32", (2, 3, 5)), ("complex64", (5, 3)), ("float32", (3, 0))])
@pytest.mark.parametrize("name", OBLONG)
def test_functions_of_any_matrices(name, dtype, shape):
    for option in OBLONG[name]:
        agree(*both(name), matrix(dtype, *shape), **option)


@INEXACT
def test_hermitian_matrices_have_singular_values_by_eigenvalues(dtype):
    x = hermitian(dtype, 2, 4, 4)
    agree(*both("pinv"), x, hermitian=True)
    u, s, vh = cnp.linalg.svd(x, hermitian=True)
    close(np.asarray(s), np.linalg.svd(x, compute_uv=False))
    close(np.asarray(cnp.linalg.svd(x, compute_uv=False, hermitian=True)), np.asarray(s))
    close(np.asarray(u @ (s[..., None] * vh)), x)


@INEXACT
@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("shape", [(5, 3), (2, 3, 5), (0, 3)])
def test_svd_gives_the_matrix_back(shape, full, dtype):
    x = matrix(dtype, *shape)
    u, s, vh = map(np.asarray, cnp.linalg.svd(x, full_matrices=full))
    k = s.shape[-1]
    close(u[..., :k] * s[..., None, :] @ vh[..., :k, :], x)
    for v in (u, adjoint(vh)):
        close(adjoint(v) @ v, np.broadcast_to(np.eye(v.shape[-1]), (*v.shape[:-2], *v.shape[-1:] * 2)).astype(dtype))


def test_svd_of_nothing_has_the_shapes_of_jax():
    for shape, full in (((0, 3), True), ((3, 0), True), ((3, 0), False)):
        expected = jnp.linalg.svd(np.zeros(shape, np.float32), full)
        near(cnp.linalg.svd(np.zeros(shape, np.float32), full), expected)


@pytest.mark.parametrize("dtype", ["float32", "complex64", "int32"])
def test_eigenvectors_belong_to_their_values(dtype):
    x = hermitian(dtype, 2, 4, 4)
    w, v = map(np.asarray, cnp.linalg.eigh(x))
    close(np.matmul(x, v), v * w[..., None, :])
    x = matrix(dtype, 2, 4, 4)
    w, v = map(np.asarray, cnp.linalg.eig(x))
    assert w.dtype == v.dtype == np.complex64
    close(np.matmul(x, v), v * w[..., None, :])
    agree(*both("eig"), np.diag([1, 2]).astype(dtype))
    agree(*both("eigvals"), x)


@INEXACT
def test_norms(dtype):
    x = matrix(dtype, 2, 3, 4)
    for order in (None, "nuc", 1, -2, np.inf, 3):
        agree(*both("norm"), x, order, (-2, -1), True)
    for order in ("fro", -1, 2, -np.inf):
        agree(*both("matrix_norm"), x, ord=order)
    for order in (1, np.inf, 2.5, 0, "fro"):
        agree(*both("vector_norm"), x, ord=order, axis=(0, 2), keepdims=True)
    for order in (None, -np.inf, 3):
        agree(*both("norm"), x, order, 1)
    agree(*both("norm"), x)
    agree(*both("norm"), x, 2, (0, 1, 2))


def test_norms_of_integers_are_no_integers():
    """JAX cuts off the root of a sum of integer powers, and has none of negative ones."""
    assert float(cnp.linalg.vector_norm(np.array([3, 4, 5]), ord=3)) == pytest.approx(6.0)
    assert float(cnp.linalg.vector_norm(np.array([2, 2]), ord=-1)) == pytest.approx(1.0)
    assert cnp.linalg.vector_norm(np.array([3, 4]), ord=0).dtype == np.float32
    agree(*both("norm"), np.array([[3, 4]]))


def test_solve():
    for a, b in (((4, 4), (4,)), ((4, 4), (5, 1, 4, 2)), ((2, 4, 4), (4,)), ((2, 4, 4), (4, 3)), ((4, 4), (3,)), ((3, 4), (3,))):
        agree(*both("solve"), dominant("float32", *a) if a[-1] == a[-2] else matrix("float32", *a), matrix("float32", *b))
    agree(*both("solve"), dominant("complex64", 2, 4, 4), matrix("float32", 2, 4, 3))
    agree(*both("solve"), dominant("int32", 3, 3), matrix("int32", 3))


@INEXACT
def test_least_squares_and_tensors(dtype):
    for shape in ((5, 3), (3, 5), (0, 3)):
        agree(*both("lstsq"), matrix(dtype, *shape), matrix(dtype, shape[0], 2), 0.4)
    agree(*both("lstsq"), matrix(dtype, 5, 3), matrix(dtype, 5))
    for shape in ((5, 3), (3, 5)):
        x, b = matrix(dtype, *shape), matrix(dtype, shape[0], 2)
        close(np.asarray(cnp.linalg.lstsq(x, b, numpy_resid=True)[1]), np.linalg.lstsq(x, b)[1])
    agree(*both("tensorinv"), matrix(dtype, 2, 3, 6))
    agree(*both("tensorsolve"), matrix(dtype, 6, 2, 3), matrix(dtype, 2, 3), (0,))
    agree(*both("multi_dot"), [matrix(dtype, 3), matrix(dtype, 3, 4), matrix(dtype, 4, 2)])
    agree(*both("multi_dot"), [matrix(dtype, 3, 3), matrix(dtype, 4, 4)])


def test_products():
    x, y = matrix("complex64", 2, 3), matrix("complex64", 2, 3, seed=1)
    for name in ("cross", "vecdot", "tensordot"):
        agree(*both(name), x, y)
    agree(*both("matmul"), x, y.T)
    agree(*both("outer"), x[0], y[1])
    agree(*both("outer"), x, y)
    agree(*both("cross"), x[:, :2], y[:, :2])


def test_indefinite_and_singular_matrices_give_nan_and_infinity():
    x = np.array([[[1.0, 2.0], [2.0, 1.0]], [[2.0, 0.0], [0.0, 2.0]]], np.float32)
    found = np.asarray(cnp.linalg.cholesky(x))
    np.testing.assert_array_equal(found, np.asarray(jnp.linalg.cholesky(x)))
    assert np.isnan(found[0, 1]).all() and np.isfinite(found[1]).all()
    assert not np.isfinite(np.asarray(cnp.linalg.inv(np.ones((3, 3), np.float32)))).all()
    near(cnp.linalg.slogdet(np.zeros((3, 3), np.float32)), jnp.linalg.slogdet(np.zeros((3, 3), np.float32)))


@pytest.mark.parametrize("name", ["cholesky", "det", "inv", "eigh", "eig", "svd", "qr", "slogdet", "pinv", "cond"])
def test_what_is_no_matrix_is_refused(name):
    function = getattr(cnp.linalg, name)
    with pytest.raises(errors.MatricesUnfit):
        function(np.ones(3))
    if name not in ("svd", "qr", "pinv", "cond"):
        with pytest.raises(errors.MatricesUnfit):
            function(np.ones((2, 3)))
    with pytest.raises(errors.OperandDTypeNotAccepted):
        function(cnp.ones((4, 4), "bfloat16"))


# --- derivatives

SMOOTH = {
    "cholesky": positive, "inv": dominant, "det": matrix, "slogdet": matrix, "eigh": hermitian, "eigvals": matrix,
    "pinv": matrix, "norm": matrix,
}  # fmt: skip


def _leaves_near(found, expected, factor=10):
    for one, other in zip(celadon.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        close(np.asarray(one), np.asarray(other), factor)


def _transposes(function, primals, tangents):
    """Reverse mode is the transpose of forward mode."""
    moved = celadon.tree.leaves(celadon.jvp(function, primals, tangents)[1])
    found, pull = celadon.vjp(function, *primals)
    given = [matrix(str(x.dtype), *x.shape, seed=2) for x in celadon.tree.leaves(found)]
    cotangents = pull(celadon.tree.structure(found).unflatten([cnp.asarray(x) for x in given]))
    one = sum(np.sum(np.asarray(x) * y).real for x, y in zip(moved, given, strict=True))
    other = sum(np.sum(np.asarray(x) * y).real for x, y in zip(cotangents, tangents, strict=True))
    assert one == pytest.approx(other, rel=1e-2, abs=1e-2)


@INEXACT
@pytest.mark.parametrize("name", SMOOTH)
def test_derivatives(name, dtype):
    make = SMOOTH[name]
    x, t = make(dtype, 2, 4, 4), make(dtype, 2, 4, 4, seed=1)
    theirs, ours = both(name)
    _leaves_near(celadon.jvp(ours, (x,), (t,))[1], jax.jvp(theirs, (x,), (t,))[1])
    _transposes(ours, (x,), (t,))


OBLONG_SMOOTH = {
    "qr": [{"mode": "reduced"}, {"mode": "complete"}],
    "svd": [{"full_matrices": False}],
    "svdvals": [{}],
}


@pytest.mark.parametrize(("dtype", "shape"), [("float32", (5, 3)), ("complex64", (5, 3)), ("complex64", (3, 5))])
@pytest.mark.parametrize("name", OBLONG_SMOOTH)
def test_derivatives_of_oblong_matrices(name, shape, dtype):
    x, t = matrix(dtype, *shape), matrix(dtype, *shape, seed=1)
    for option in OBLONG_SMOOTH[name]:
        theirs, ours = ((lambda x, f=f, option=option: f(x, **option)) for f in both(name))
        _leaves_near(celadon.jvp(ours, (x,), (t,))[1], jax.jvp(theirs, (x,), (t,))[1])
        _transposes(ours, (x,), (t,))


@INEXACT
def test_derivatives_of_solve(dtype):
    a, b = dominant(dtype, 4, 4), matrix(dtype, 4, 2)
    s, t = matrix(dtype, 4, 4, seed=1), matrix(dtype, 4, 2, seed=2)
    near(celadon.jvp(cnp.linalg.solve, (a, b), (s, t)), jax.jvp(jnp.linalg.solve, (a, b), (s, t)))
    _transposes(cnp.linalg.solve, (a, b), (s, t))
    [linear] = celadon.linear_transpose(lambda y: cnp.linalg.solve(a, y), b)(b)
    close(np.asarray(linear), np.linalg.solve(a.T, b))


SECOND = {
    "cholesky": (positive, lambda m, f: lambda x: m.sum(f(x) ** 2 * m.arange(4.0))),
    "inv": (dominant, lambda m, f: lambda x: m.sum(m.sin(f(x)))),
    "det": (matrix, lambda m, f: f),
    "slogdet": (positive, lambda m, f: lambda x: f(x)[1]),
    "eigh": (hermitian, lambda m, f: lambda x: m.sum(f(x)[1] ** 4) + m.sum(f(x)[0] ** 3)),
    "svd": (dominant, lambda m, f: lambda x: m.sum(f(x)[1] ** 3) + m.sum(f(x)[0] ** 4)),
    "qr": (dominant, lambda m, f: lambda x: m.sum(f(x)[1] ** 2 * m.arange(4.0))),
}


@pytest.mark.parametrize("name", SECOND)
def test_second_derivatives(name):
    make, wrapped = SECOND[name]
    x, t = make("float32", 4, 4), make("float32", 4, 4, seed=1)
    theirs, ours = both(name)
    expected = jax.jit(lambda x, t: jax.jvp(jax.grad(wrapped(jnp, theirs)), (x,), (t,))[1])(x, t)
    found = celadon.jvp(celadon.grad(wrapped(cnp, ours)), (x,), (t,))[1]
    close(np.asarray(found), np.asarray(expected), 30)


def test_the_derivative_of_a_singular_determinant_is_its_adjugate():
    x = np.array([[1, 2, 3, 4], [5, 6, 7, 8], [2, 1, 0, 3], [6, 8, 10, 12]], np.float32)  # the last row: the sum of two
    exact = x.astype(float)
    assert abs(np.linalg.det(exact)) < 1e-9
    minors = [[np.linalg.det(np.delete(np.delete(exact, i, 0), j, 1)) for j in range(4)] for i in range(4)]
    cofactors = np.array(minors) * (-1.0) ** np.add.outer(range(4), range(4))
    assert np.abs(cofactors).max() > 1
    close(np.asarray(celadon.grad(cnp.linalg.det)(x)), cofactors.astype(np.float32), 10)


def test_factors_that_are_not_determined_have_no_derivative():
    x = matrix("float32", 5, 3)
    with pytest.raises(errors.FactorsNotDifferentiable):
        celadon.jvp(cnp.linalg.svd, (x,), (x,))
    with pytest.raises(errors.FactorsNotDifferentiable):
        celadon.jvp(cnp.linalg.eig, (x[:3],), (x[:3],))


# --- batches and compiles


@pytest.mark.parametrize("name", ["cholesky", "inv", "det", "slogdet", "eigh", "svd", "qr", "pinv", "eigvals"])
def test_a_mapped_function_is_that_of_the_stack(name):
    x = positive("float32", 3, 4, 4)
    function = getattr(cnp.linalg, name)

    def total(y):
        return sum(cnp.sum(cnp.real(v)) for v in celadon.tree.leaves(function(y)))

    _leaves_near(celadon.vmap(function)(x), [np.asarray(y) for y in celadon.tree.leaves(function(x))], 1)
    alone = np.stack([np.asarray(celadon.grad(total)(one)) for one in x])
    close(np.asarray(celadon.vmap(celadon.grad(total))(x)), alone, 10)


def test_one_matrix_meets_a_batch_of_right_sides():
    a, b = dominant("float32", 4, 4), matrix("float32", 3, 4, 2)
    found = celadon.vmap(cnp.linalg.solve, in_axes=(None, 0))(a, b)
    close(np.asarray(found), np.linalg.solve(a, b))
    found = celadon.vmap(cnp.linalg.solve, in_axes=(0, None))(np.stack([a, 2 * a]), b[0])
    close(np.asarray(found), np.linalg.solve(np.stack([a, 2 * a]), b[0]))


@pytest.mark.parametrize("name", ["cholesky", "inv", "det", "eigh", "svd", "qr", "pinv", "eig", "slogdet", "cond"])
def test_jitted_results_have_the_bits_of_eager_ones(name):
    function, x = getattr(cnp.linalg, name), positive("float32", 2, 5, 5)
    assert bits(celadon.jit(function)(x)) == bits(function(x))


def test_other_extents_compile_nothing():
    """A program of factorizations and its derivative, on other shapes and batches."""

    def loss(a, b):
        factor = cnp.linalg.cholesky(a @ a.mT + cnp.eye(a.shape[-1]))
        q, r = cnp.linalg.qr(a)
        u, s, vh = cnp.linalg.svd(a)
        x = cnp.linalg.solve(factor + a, b)
        return cnp.sum(x) + cnp.linalg.slogdet(a)[1].sum() + cnp.sum(q * r) + cnp.sum(s * u[..., 0]) + cnp.linalg.norm(vh)

    step = celadon.jit(celadon.value_and_grad(loss))
    step(dominant("float32", 2, 4, 4), matrix("float32", 2, 4, 3))
    with events.watching() as seen:
        step(dominant("float32", 3, 7, 7), matrix("float32", 3, 7, 5))
    assert [event.kind for event in seen if event.kind in ("compile", "fallback")] == []


def test_solving_again_factorizes_once():
    """The solution, its derivative and that of the transposed system come from one factorization."""
    a, b = dominant("float32", 5, 5), matrix("float32", 5, 2)
    traced = celadon.jit(celadon.grad(lambda a, b: cnp.sum(cnp.linalg.solve(a, b) ** 2))).trace(a, b)
    program = compiler.simplify(compiler.lower(traced.needed, cache.executor("cpu").native))
    names = [equation.op.name for equation in program.equations]
    assert names.count("getrf") == 1
    assert names.count("triangular_solve") == 4
