"""checkpoint: the same numbers, less memory; statics, policies, barriers, what is saved."""

import functools

import jax
import numpy as np
import pytest

import celadon
import celadon.numpy as cnp
from celadon import errors
from celadon.ad_checkpoint import checkpoint_name, print_saved_residuals
from tests.transforms.sides import compare

X = np.arange(1, 4, dtype=np.float32)
POLICIES = celadon.checkpoint_policies


def f(x):
    return cnp.sin(cnp.sin(x) * x).sum()


def of_jax(x):
    return jax.numpy.sin(jax.numpy.sin(x) * x).sum()


FORMS = {
    "plain": celadon.checkpoint(f),
    "everything": celadon.checkpoint(f, policy=POLICIES.everything_saveable),
    "of_jit": celadon.checkpoint(celadon.jit(f)),
    "in_jit": celadon.jit(celadon.checkpoint(f)),
    "nested": celadon.checkpoint(celadon.checkpoint(f)),
    "shared": celadon.checkpoint(f, prevent_cse=False),
    "tree": celadon.checkpoint(f, prevent_cse=(True,)),
    "decorator": celadon.remat(policy=POLICIES.dots_saveable)(f),
}


@pytest.mark.parametrize("h", FORMS.values(), ids=FORMS)
def test_values_and_derivatives_stay(h):
    compare(h(X), of_jax(X))
    compare(celadon.grad(h)(X), jax.grad(of_jax)(X))
    compare(celadon.jit(celadon.grad(h))(X), jax.grad(of_jax)(X))
    compare(celadon.grad(lambda x: celadon.grad(h)(x).sum())(X), jax.grad(lambda x: jax.grad(of_jax)(x).sum())(X), 1e-4)
    compare(celadon.jvp(h, (X,), (X,)), jax.jvp(of_jax, (X,), (X,)))
    compare(celadon.vmap(celadon.grad(h))(X), jax.vmap(jax.grad(of_jax))(X))
    compare(celadon.hessian(h)(X), jax.hessian(of_jax)(X), 1e-4, 1e-5)


def text(h):
    return celadon.jit(celadon.value_and_grad(h)).lower(1.0).as_text()


def test_barriers():
    assert text(celadon.checkpoint(f)).count("optimization_barrier") == 1
    assert text(celadon.checkpoint(f, prevent_cse=False)).count("optimization_barrier") == 0


def named(x):
    return cnp.sin(checkpoint_name(cnp.sin(x), "a") * 2)


@pytest.mark.parametrize(("policy", "sines"), [
    (POLICIES.save_only_these_names("a"), 2), (POLICIES.save_only_these_names("z"), 3), (POLICIES.nothing_saveable, 3),
    (POLICIES.everything_saveable, 2), (POLICIES.save_any_names_but_these("a"), 3),
    (POLICIES.save_anything_except_these_names("a"), 2),
    (POLICIES.save_from_both_policies(POLICIES.dots_saveable, POLICIES.save_only_these_names("a")), 2),
    (POLICIES.save_and_offload_only_these_names(names_which_can_be_saved=[], names_which_can_be_offloaded=["a"],
                                                offload_src="device", offload_dst="pinned_host"), 2),
])  # fmt: skip
def test_policies_decide_what_is_computed_again(policy, sines):
    assert text(celadon.checkpoint(named, policy=policy)).count("stablehlo.sine") == sines


def test_what_is_saved_is_printed(capsys):
    print_saved_residuals(f, X)
    plain = capsys.readouterr().out
    print_saved_residuals(celadon.checkpoint(f), X)
    assert capsys.readouterr().out == "f32[3] from the argument x\n"
    assert "result of cosine at" in plain and len(plain.splitlines()) > 2
    print_saved_residuals(lambda x: celadon.checkpoint(f)(checkpoint_name(x * 2, "doubled")), X)
    assert "named 'doubled' at" in capsys.readouterr().out


def choose(x, hot=False):
    return cnp.sin(x) if hot else cnp.cos(x)


@pytest.mark.parametrize("options", [
    dict(static_argnums=1), dict(static_argnums=(1,)), dict(static_argnums=[1]), dict(static_argnums=-1),
    dict(static_argnums=np.int64(1)), dict(static_argnames="hot"), dict(static_argnames=("hot",)),
])  # fmt: skip
def test_statics_as_for_jit(options):
    h = celadon.checkpoint(choose, **options)
    for call, expected in ((h(1.0, True), np.sin(1.0)), (h(1.0, hot=True), np.sin(1.0)), (h(1.0), np.cos(1.0))):
        np.testing.assert_allclose(float(call), expected, rtol=1e-6)
    np.testing.assert_allclose(float(celadon.grad(h)(1.0, True)), np.cos(1.0), rtol=1e-6)


class Model:
    scale = 3.0

    @functools.partial(celadon.checkpoint, static_argnums=(0, 2))
    def apply(self, x, n):
        return x * self.scale * n


def test_methods_mutated_and_traced_statics():
    model = Model()
    assert float(celadon.grad(lambda x: model.apply(x, 2))(1.0)) == 6.0
    model.scale = 5.0
    assert float(model.apply(1.0, 1)) == 5.0
    h = lambda x, y: celadon.checkpoint(lambda a, b: a * b, static_argnums=1)(x, y)  # noqa: E731
    assert float(celadon.jit(h)(2.0, 3.0)) == 6.0 and float(celadon.grad(h, argnums=1)(2.0, 3.0)) == 2.0


@pytest.mark.parametrize(("use", "error", "words"), [
    (lambda: celadon.checkpoint(choose, static_argnums=5), errors.ArgnumsOutOfRange, "5"),
    (lambda: celadon.checkpoint(choose, static_argnames="cold"), errors.ArgnamesUnknown, "cold"),
    (lambda: celadon.checkpoint(choose, static_argnums="a"), errors.ArgnumsNotIntegers, "'a'"),
    (lambda: celadon.checkpoint(choose, static_argnums=1)(1.0, []), errors.StaticArgumentUnhashable, "hot"),
    (lambda: celadon.checkpoint(choose)(1.0, True), errors.TracerBoolConversionError, "hot"),
    (lambda: celadon.checkpoint(choose)("one"), errors.ArgumentNotArray, "x"),
    (lambda: celadon.checkpoint(f)(np.ma.masked_array([1.0])), errors.MaskedArrayInput, "masked"),
    (lambda: celadon.checkpoint(choose, prevent_cse=(True, True), static_argnums=1), errors.PreventCseWithStatics, "choose"),
])  # fmt: skip
def test_misuse_is_named(use, error, words):
    with pytest.raises(error, match=words):
        use()


def test_one_trace_for_calls_of_one_type():
    calls = []

    def counted(x, hot=False):
        calls.append(1)
        return choose(x, hot)

    h = celadon.checkpoint(counted, static_argnums=-1)
    for x in (1.0, 2.0, 3.0):
        h(x)
    assert len(calls) == 1


def test_memory_falls():
    """Of a chain of 64 layers: without checkpoint a value each is kept, with it one for each of 8 segments and 8 inside."""

    def segment(x, w):
        for _ in range(8):
            x = cnp.tanh(x @ w)
        return x

    def peak(segment):
        def loss(x, w):
            for _ in range(8):
                x = segment(x, w)
            return (x * x).sum()

        made = celadon.jit(celadon.grad(loss, argnums=1)).lower(np.ones((256, 128), "f4"), np.eye(128, dtype="f4")).compile()
        return made.memory_analysis().temp_size_in_bytes

    layer = 256 * 128 * 4
    plain, again = peak(segment), peak(celadon.checkpoint(segment))
    assert 64 * layer <= plain < 72 * layer and again < 45 * layer
