"""grad, vjp, jvp, linearize, linear_transpose and the Jacobians against real JAX, plain, under jit, of jit, twice."""

import jax
import numpy as np
import pytest

import celadon
import celadon.numpy as cnp
from celadon import errors
from tests.transforms.sides import agree

X = np.random.default_rng(0).random((3, 4)).astype(np.float32)
FUNCTIONS = {
    "sine": lambda n, x: n.sin(x).sum(),
    "square": lambda n, x: (x * x * 3.0).mean(),
    "product": lambda n, x: n.exp(x).prod(),
    "largest": lambda n, x: n.max(x * 2),
    "matmul": lambda n, x: (x @ x.T).sum(),
    "concatenate": lambda n, x: n.tanh(n.concatenate([x, x * 2], 0)).sum(),
    "where": lambda n, x: n.where(x > 0.5, x, x**3).sum(),
    "root": lambda n, x: n.sqrt((x * x).sum()),
    "variance": lambda n, x: n.var(x),
    "einsum": lambda n, x: n.einsum("ij,kj->ik", x, x).sum(),
    "slices": lambda n, x: (x[1:] * x[:-1]).sum(),
    "pad": lambda n, x: n.pad(x, 1).sum() * x[0, 0],
    "cumulative": lambda n, x: n.log1p(x).reshape(-1).cumsum().sum(),
    "cumprod": lambda n, x: n.cumprod(x, axis=1).sum(),
    "cummax": lambda n, x: n.maximum(x[:, :1], x).sum(),
    "angle": lambda n, x: n.arctan2(x, x + 1).sum(),
    "power": lambda n, x: (x**2.5).sum(),
    "logaddexp": lambda n, x: n.logaddexp(x, x * 2).sum(),
    "median": lambda n, x: n.sort(x, axis=0)[1].sum(),
    "take": lambda n, x: x[np.array([0, 0, 1])].sum(),
    "scalar": lambda n, x: (x.sum() * 2.0 + 1.0) * x.mean(),
    "transpose": lambda n, x: (x.T.reshape(2, 6) * n.arange(6.0)).sum(),
}
EACH = pytest.mark.parametrize("f", FUNCTIONS.values(), ids=FUNCTIONS)


@EACH
def test_gradients(f):
    agree(lambda m, n: m.grad(lambda x: f(n, x))(X))
    agree(lambda m, n: m.jit(m.grad(lambda x: f(n, x)))(X))
    agree(lambda m, n: m.grad(m.jit(lambda x: f(n, x)))(X))


@EACH
def test_second_derivatives(f):
    agree(lambda m, n: m.grad(lambda x: m.grad(lambda x: f(n, x))(x).sum())(X), 1e-4, 1e-5)
    agree(lambda m, n: m.grad(m.jit(lambda x: m.grad(m.jit(lambda x: f(n, x)))(x).sum()))(X), 1e-4, 1e-5)
    agree(lambda m, n: m.jvp(m.grad(lambda x: f(n, x)), (X,), (X,)), 1e-4, 1e-5)


@EACH
def test_forward_mode_and_linearize(f):
    agree(lambda m, n: m.jvp(lambda x: f(n, x), (X,), (X * 2,)))
    agree(lambda m, n: m.linearize(lambda x: f(n, x), X)[1](X))
    agree(lambda m, n: m.vjp(lambda x: f(n, x), X)[1](n.float32(1.0)))


@EACH
def test_batches_of_gradients(f):
    batch = np.stack([X, X + 0.5, X * 2])
    agree(lambda m, n: m.vmap(lambda x: f(n, x))(batch), 1e-4, 1e-5)
    agree(lambda m, n: m.vmap(lambda x: f(n, x), in_axes=2)(np.moveaxis(batch, 0, 2)), 1e-4, 1e-5)
    agree(lambda m, n: m.vmap(m.grad(lambda x: f(n, x)))(batch), 1e-4, 1e-5)
    agree(lambda m, n: m.grad(lambda x: m.vmap(lambda x: f(n, x))(x).sum())(batch), 1e-4, 1e-5)
    agree(lambda m, n: m.jit(m.vmap(m.jit(m.grad(lambda x: f(n, x)))))(batch), 1e-4, 1e-5)


PARAMETERS = {"x": np.arange(3.0, dtype=np.float32), "y": np.float32(2.0)}
Z = np.arange(1.0, 4.0, dtype=np.float32)


def _trees(n):
    return lambda d, z: {"a": n.sin(d["x"]) * z, "b": (d["x"].sum() * d["y"], z**2)}


@pytest.mark.parametrize("argnums", [0, 1, (0, 1), -1])
@pytest.mark.parametrize("name", ["jacfwd", "jacrev"])
def test_jacobians_of_trees(name, argnums):
    agree(lambda m, n: getattr(m, name)(_trees(n), argnums)(PARAMETERS, Z))


def test_hessian_alone_under_jit_and_in_batches():
    agree(lambda m, n: m.hessian(lambda x: (n.sin(x) * x**2).sum())(Z))
    agree(lambda m, n: m.jit(m.hessian(lambda x: (n.sin(x) * x**2).sum()))(Z))
    agree(lambda m, n: m.vmap(m.hessian(lambda x: (x**3).sum()))(X))


def test_auxiliary_results_and_several_arguments():
    agree(lambda m, n: m.value_and_grad(lambda x, y: ((x * y).sum(), {"x": x}), argnums=(0, 1), has_aux=True)(Z, Z))
    agree(lambda m, n: m.grad(lambda x, *, s: (x * s).sum())(Z, s=2.0))
    agree(lambda m, n: m.jacfwd(lambda x: (x * 2, x), has_aux=True)(Z))
    value, pullback, aux = celadon.vjp(lambda x: (x * 2, "kept"), Z, has_aux=True)
    assert value.tolist() == [2.0, 4.0, 6.0] and aux == "kept" and pullback(value)[0].tolist() == [4.0, 8.0, 12.0]


def test_complex_functions():
    z = np.complex64(1 + 2j)
    agree(lambda m, n: m.grad(lambda z: z * z * n.exp(z), holomorphic=True)(z))
    parts = (lambda n, z: n.real(z * z), lambda n, z: n.imag(z) * n.real(z))
    for f in (*parts, lambda n, z: n.abs(z) ** 2, lambda n, z: n.angle(z)):
        agree(lambda m, n, f=f: m.grad(lambda z: f(n, z))(z))


def test_integers_have_float0_tangents():
    found = celadon.grad(lambda d: d["a"] * d["n"], allow_int=True)({"a": 1.0, "n": 2})
    assert float(found["a"]) == 2.0 and found["n"].dtype == celadon.dtypes.float0
    agree(lambda m, n: m.vjp(lambda i, x: x * i, 3, 2.0)[1](n.float32(1.0))[1])


def test_python_may_branch_on_values_outside_jit():
    f = celadon.grad(lambda x: x * x if x > 0 else -x)
    assert float(f(3.0)) == 6.0 and float(f(-3.0)) == -1.0
    assert float(celadon.grad(lambda x: x * int(x))(3.5)) == 3.0


def test_pullbacks_are_pytrees():
    _, pullback = celadon.vjp(lambda x: cnp.sin(x), Z)
    moved = celadon.jit(lambda pullback, ct: pullback(ct))(pullback, Z)
    np.testing.assert_allclose(np.asarray(moved[0]), np.cos(Z) * Z, rtol=1e-6)


def test_linear_transpose():
    agree(lambda m, n: m.linear_transpose(lambda x, y: n.dot(x, n.ones((3, 2))) + y, Z, Z[:2])(Z[:2]))
    with pytest.raises(errors.NotTransposable):
        celadon.linear_transpose(lambda x: x * x, Z)(Z)
    with pytest.raises(errors.NotTransposable):
        celadon.linear_transpose(cnp.sin, Z)(Z)


@pytest.mark.parametrize(("use", "error", "words"), [
    (lambda: celadon.grad(lambda x: x * 2)(Z), errors.GradOfNonScalar, "f32"),
    (lambda: celadon.grad(lambda x: (x, x))(1.0), errors.GradOfNonScalar, "a tuple of 2"),
    (lambda: celadon.grad(lambda x: x)(1), errors.GradOfInteger, "int32"),
    (lambda: celadon.grad(lambda x, y: x)(1.0, 2.0, ), None, ""),
    (lambda: celadon.grad(lambda x: x, argnums=1)(1.0), errors.ArgnumsInvalid, "1"),
    (lambda: celadon.grad(lambda x: x, argnums=(0, 0))(1.0), errors.ArgnumsInvalid, "twice|0, 0"),
    (lambda: celadon.grad(lambda x: x, argnums="x")(1.0), errors.ArgnumsInvalid, "'x'"),
    (lambda: celadon.grad(lambda x: x)("one"), errors.ArgumentNotArray, "str"),
    (lambda: celadon.jvp(lambda x: x, (Z,), (Z[:2],)), errors.TangentMismatch, "f32"),
    (lambda: celadon.jvp(lambda x: x, Z, Z), errors.TangentMismatch, "tuple"),
    (lambda: celadon.vjp(lambda x: x, Z)[1](Z[:2]), errors.TangentMismatch, "cotangent"),
    (lambda: celadon.grad(lambda x: x, has_aux=True)(1.0), errors.AuxiliaryMissing, "aux"),
    (lambda: celadon.grad(3), errors.NotCallable, "int"),
])  # fmt: skip
def test_misuse_is_named(use, error, words):
    if error is None:
        use()
        return
    with pytest.raises(error, match=words):
        use()


def test_values_that_left_their_derivative_are_named():
    kept = []
    celadon.grad(lambda x: (kept.append(x), x * x)[1])(1.0)
    with pytest.raises(errors.UnexpectedTracerError):
        kept[0] + 1


@pytest.mark.parametrize("given", [0, 3.5, True, np.int32(3), np.zeros((), jax.dtypes.float0)], ids=repr)
def test_the_cotangent_of_an_integer_may_have_any_dtype(given):
    agree(lambda m, n: m.vjp(lambda x: (x * 2, n.int32(3)), Z)[1]((Z, given)))
    agree(lambda m, n: m.jit(lambda ct: m.vjp(lambda x: (x * 2, 3), Z)[1]((Z, ct)))(np.int32(1)))


@pytest.mark.parametrize("use", [
    lambda m: m.vjp(lambda x: x, Z)[1](Z[:2]),
    lambda m: m.vjp(lambda x: x, Z)[1](Z > 0),
    lambda m: m.vjp(lambda x: x, Z)[1]((Z,)),
    lambda m: m.vjp(lambda x: (x, x), Z)[1]((Z, None)),
    lambda m: m.vjp(lambda x: x, Z)[1]("text"),
    lambda m: m.vjp(lambda x: (x, 3), Z)[1]((Z, Z)),
    lambda m: m.jvp(lambda x: x, (Z,), (Z[:2],)),
    lambda m: m.jvp(lambda x: x, (Z,), (Z > 0,)),
    lambda m: m.jvp(lambda x: x, (Z,), (Z, Z)),
    lambda m: m.jvp(lambda x: x, (Z,), (None,)),
    lambda m: m.jvp(lambda x, i: x * i, (Z, 3), (Z, 3)),
    lambda m: m.linearize(lambda x: x * 2, Z)[1](Z[:2]),
    lambda m: m.linearize(lambda x: x * 2, Z)[1](Z, Z),
    lambda m: m.linearize(lambda x, i: x * i, Z, 3)[1](Z, 3),
    lambda m: m.linear_transpose(lambda x: x * 2, Z)(Z[:2]),
])  # fmt: skip
def test_what_does_not_fit_is_caught_as_in_jax(use):
    with pytest.raises((TypeError, ValueError)) as theirs:
        use(jax)
    with pytest.raises(errors.TangentMismatch) as ours:
        use(celadon)
    assert isinstance(ours.value, TypeError if isinstance(theirs.value, TypeError) else ValueError)
