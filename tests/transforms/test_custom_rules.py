"""custom_jvp, custom_vjp, custom_vmap, closure_convert, custom_gradient and the solvers against real JAX."""

import jax
import numpy as np
import pytest

import celadon
import celadon.numpy as cnp
from celadon import errors
from tests.transforms.sides import agree, compare

X = np.arange(1, 4, dtype=np.float32)
Y = np.arange(2, 5, dtype=np.float32)
B = np.arange(12, dtype=np.float32).reshape(4, 3) / 10


def _with_jvp(m, n):
    f = m.custom_jvp(lambda x, y: n.sin(x) * y)

    @f.defjvp
    def _(primals, tangents):
        (x, y), (a, b) = primals, tangents
        return f(x, y), 2 * n.cos(x) * a * y + 3 * n.sin(x) * b

    return lambda x, y: f(x, y).sum()


def _with_vjp(m, n):
    g = m.custom_vjp(lambda x, y: {"o": n.sin(x) * y, "k": x})
    g.defvjp(lambda x, y: (g(x, y), (x, y)), lambda r, ct: (ct["o"] * 5 * n.cos(r[0]) * r[1] + ct["k"], None))
    return lambda x, y: g(x, y)["o"].sum() + g(x, y)["k"].sum()


USES = {
    "value": lambda m, n, h: h(X, Y),
    "grad": lambda m, n, h: m.grad(h, argnums=(0, 1))(X, Y),
    "jit_of_grad": lambda m, n, h: m.jit(m.grad(h, argnums=(0, 1)))(X, Y),
    "grad_of_jit": lambda m, n, h: m.grad(m.jit(h), argnums=1)(X, Y),
    "batch_of_grad": lambda m, n, h: m.vmap(m.grad(h, argnums=(0, 1)), in_axes=(0, None))(B, Y),
    "jit_of_batch": lambda m, n, h: m.jit(m.vmap(m.jit(m.grad(h, argnums=(0, 1))), in_axes=(0, None)))(B, Y),
    "grad_of_batch": lambda m, n, h: m.grad(lambda x, y: m.vmap(h, (0, None))(x, y).sum(), argnums=(0, 1))(B, Y),
    "grad_of_batches": lambda m, n, h: m.grad(lambda y: m.vmap(m.vmap(h, (None, 0)), (0, None))(B, y).sum())(B),
    "twice": lambda m, n, h: m.grad(lambda x: m.grad(h)(x, Y).sum())(X),
    "twice_jit": lambda m, n, h: m.grad(m.jit(lambda x: m.grad(m.jit(h))(x, Y).sum()))(X),
    "batch_of_jit": lambda m, n, h: m.vmap(m.jit(h), in_axes=(0, None))(B, Y),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
@pytest.mark.parametrize("make", [_with_jvp, _with_vjp])
def test_rules_take_the_place_of_derivatives(make, use):
    agree(lambda m, n: use(m, n, make(m, n)))


def test_forward_mode_of_custom_jvp():
    agree(lambda m, n: m.jvp(_with_jvp(m, n), (X, Y), (X, X)))
    agree(lambda m, n: m.vmap(lambda x: m.jvp(_with_jvp(m, n), (x, Y), (x, Y)))(B))


def test_nondifferentiable_arguments():
    def suite(m, n):
        f = m.custom_jvp(lambda f, x: f(x), nondiff_argnums=(0,))
        f.defjvp(lambda f, primals, tangents: (f(primals[0]), tangents[0] * 7))
        g = m.custom_vjp(lambda x, n: x * n, nondiff_argnums=(1,))
        g.defvjp(lambda x, n: (x * n, x), lambda n, x, ct: (ct * n * 100,))
        return m.grad(lambda x: f(n.sin, x))(2.0), m.grad(lambda x: g(x, 3))(2.0), m.grad(lambda x: g(x, n=3))(2.0)

    agree(suite)


def test_symbolic_zeros():
    seen = []
    f = celadon.custom_jvp(lambda x, y: x * y)

    @f.defjvp
    def _(primals, tangents):
        seen.append([type(t).__name__ for t in tangents])
        return primals[0] * primals[1], tangents[0] * primals[1]

    f.defjvp(f.jvp, symbolic_zeros=True)
    celadon.grad(f)(2.0, 3.0)
    assert seen == [["Recorded", "SymbolicZero"]]
    g = celadon.custom_vjp(lambda x, y: (x, y))
    g.defvjp(
        lambda x, y: ((x.value, y.value), [x.perturbed, y.perturbed]),
        lambda res, cts: (cts[0], None if "Zero" in type(cts[1]).__name__ else cts[1]),
        symbolic_zeros=True,
    )
    assert float(celadon.grad(lambda x: g(x, 1.0)[0])(2.0)) == 1.0


@pytest.mark.parametrize(("make", "error"), [
    (lambda: celadon.custom_jvp(lambda x: x)(1.0), errors.CustomRuleMissing),
    (lambda: celadon.custom_vjp(lambda x: x)(1.0), errors.CustomRuleMissing),
    (lambda: celadon.jvp(_rule(lambda r, ct: (ct,)), (1.0,), (1.0,)), errors.ForwardModeOfCustomVjp),
    (lambda: celadon.grad(_rule(lambda r, ct: ct))(1.0), errors.CustomRuleResult),
    (lambda: celadon.grad(_rule(lambda r, ct: (ct, ct)))(1.0), errors.CustomRuleResult),
    (lambda: celadon.grad(_rule(lambda r, ct: (cnp.ones(3),)))(1.0), errors.CustomRuleResult),
])  # fmt: skip
def test_misuse_is_named(make, error):
    with pytest.raises(error, match="lambda"):
        make()


def _rule(bwd):
    f = celadon.custom_vjp(lambda x: x * 2)
    f.defvjp(lambda x: (x * 2, x), bwd)
    return f


def test_custom_vmap():
    def suite(m, n):
        f = m.custom_batching.custom_vmap(lambda x, y: n.sin(x) * y)
        f.def_vmap(lambda size, marks, x, y: (n.sin(x) * y * 10, True))
        g = m.custom_batching.sequential_vmap(lambda x, y: x * y)
        return [
            m.vmap(f, in_axes=(0, None))(X, 2.0), m.jit(m.vmap(m.jit(f), in_axes=(0, None)))(X, 2.0),
            m.vmap(g, in_axes=(0, None))(X, 2.0), f(X, 1.0),
        ]  # fmt: skip

    import celadon.custom_batching

    compare(suite(celadon, cnp), suite(jax, jax.numpy))


def test_closures_and_gradients_from_inside():
    def suite(m, n):
        def closing(a):
            converted, values = m.closure_convert(lambda x: x * a, 1.0)
            return converted(3.0, *values)

        @m.custom_gradient
        def clipped(x):
            return x * x, lambda ct: (n.clip(ct * x, -1, 1),)

        return m.grad(closing)(2.0), m.grad(clipped)(5.0), m.vmap(m.grad(clipped))(X)

    agree(suite)


def test_linear_solvers_and_roots():
    matrix = np.random.default_rng(0).random((3, 3)).astype(np.float32) + 3 * np.eye(3, dtype=np.float32)

    def richardson(matvec, b):
        x = b * 0
        for _ in range(60):
            x = x + 0.2 * (b - matvec(x))
        return x

    def suite(m, n):
        def f(a, b):
            return m.lax.custom_linear_solve(lambda x: a @ x, b, richardson, richardson)

        def newton(f, x):
            for _ in range(12):
                x = x - f(x) / m.grad(lambda y: f(y))(x)
            return x

        def root(a):
            return m.lax.custom_root(lambda x: x**3 - a, 1.3, newton, lambda g, y: y / g(1.0))

        def from_itself(a):  # the guess has a tangent too, which counts for nothing
            return m.lax.custom_root(lambda x: x**3 - a, a, newton, lambda g, y: y / g(1.0))

        a, b = n.asarray(matrix), n.asarray(X)
        loss = lambda a, b: (f(a, b) ** 2).sum()  # noqa: E731
        return [
            f(a, b), m.grad(loss, argnums=(0, 1))(a, b), m.jit(m.grad(loss, argnums=(0, 1)))(a, b),
            m.vmap(f, in_axes=(None, 0))(a, n.stack([b, b + 1])),
            m.vmap(m.grad(loss), in_axes=(0, None))(n.stack([a, a + 1]), b),
            m.jacfwd(f, argnums=1)(a, b), m.hessian(lambda b: loss(a, b))(b),
            root(2.0), m.grad(root)(2.0), m.grad(m.grad(root))(2.0), m.vmap(m.grad(root))(b),
            m.grad(from_itself)(2.0), m.jit(m.grad(from_itself))(2.0),
        ]  # fmt: skip

    agree(suite, 2e-4, 1e-5)
