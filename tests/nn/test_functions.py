"""Functions of neural networks against JAX's: values, dtypes and weakness, the text of their programs, and derivatives."""

from __future__ import annotations

import warnings
from typing import Any

import jax
import ml_dtypes
import numpy as np
import pytest

import celadon
import celadon.numpy as cnp
from celadon import errors, nn
from celadon.types import kind

ELEMENTWISE = (
    "celu", "elu", "gelu", "hard_sigmoid", "hard_silu", "hard_swish", "hard_tanh", "identity", "leaky_relu", "log_sigmoid",
    "mish", "relu", "relu6", "selu", "sigmoid", "silu", "soft_sign", "softplus", "sparse_plus", "sparse_sigmoid", "squareplus",
    "swish", "tanh",
)  # fmt: skip
ALONG_AXES = ("softmax", "log_softmax", "logsumexp", "logmeanexp", "standardize")
TOLERANCE = {"bfloat16": 2e-2, "float16": 3e-3, "float32": 4e-6, "complex64": 1e-5}
X = np.random.default_rng(0).normal(0, 3, (4, 6)).astype(np.float32)
EDGES = np.float32([0.0, -0.0, 1, -1, 3, -3, 6, 1e30, -1e30, np.inf, -np.inf, np.nan])


def agree(found: Any, expected: Any, about: str) -> None:
    """Equal trees of arrays of equal dtype, weakness and shape, and of equal values within the dtype's tolerance."""
    if isinstance(expected, tuple):
        for one, other in zip(found, expected, strict=True):
            agree(one, other, about)
        return
    kinds = [(x.dtype, x.shape, x.weak_type) for x in (found, expected)]
    assert kinds[0] == kinds[1], about
    wide = np.complex128 if kind(found.dtype) == "c" else np.float64
    found, expected = np.asarray(found), np.asarray(expected)
    tolerance = TOLERANCE.get(str(found.dtype), 0) * (20 if about.startswith("standardize") else 1)
    np.testing.assert_allclose(found.astype(wide), expected.astype(wide), rtol=tolerance, atol=tolerance, err_msg=about)


def check(*calls: tuple[str, tuple[Any, ...], dict[str, Any]]) -> None:
    """All calls in one program of JAX's, each by itself in ours, outside and inside jit."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        expected = jax.jit(lambda: [getattr(jax.nn, name)(*args, **kwargs) for name, args, kwargs in calls])()
        for (name, args, kwargs), wanted in zip(calls, expected, strict=True):
            about = f"{name} {kwargs}"
            agree(getattr(nn, name)(*args, **kwargs), wanted, about)


def call(name: str, *args: Any, **kwargs: Any) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    return name, args, kwargs


def test_elementwise() -> None:
    halves = [X.astype(ml_dtypes.bfloat16), X.astype(np.float16)]
    check(*[call(name, x) for name in ELEMENTWISE for x in (X, EDGES, *halves)])
    floats = ("sigmoid", "silu", "swish")  # of integers jax.lax.logistic takes none
    check(*[call(name, np.arange(-3, 9)) for name in ELEMENTWISE if name not in floats])


def test_elementwise_of_python_numbers_is_weak() -> None:
    check(*[call(name, 0.5) for name in ELEMENTWISE])


def test_parameters() -> None:
    check(
        call("elu", X, 0.7), call("elu", X, alpha=np.float32(2)), call("celu", X, 0.3), call("leaky_relu", X, 0.2),
        call("squareplus", X, 1.0), call("gelu", X, approximate=False), call("gelu", X, False), call("glu", X),
        call("glu", X, axis=0), call("log1mexp", np.abs(X) + 0.01),
    )  # fmt: skip


def test_along_axes() -> None:
    mask = X > 0
    calls = [call(name, X, **({} if axis is None else {"axis": axis})) for name in ALONG_AXES for axis in (None, 0, (0, 1), -1)]
    calls += [call(name, X, where=mask) for name in ALONG_AXES] + [call(name, X.astype(np.float16)) for name in ALONG_AXES[1:4]]
    calls += [call(name, X, axis=1, keepdims=True) for name in ("logsumexp", "logmeanexp")]
    check(*calls)


def test_logsumexp() -> None:
    infinite = np.float32([[np.inf, 1], [-np.inf, -np.inf], [1e30, -1e30]])
    check(
        call("logsumexp", X, b=X), call("logsumexp", X, b=X, return_sign=True), call("logsumexp", infinite, axis=1),
        call("logsumexp", X + 1j * X, axis=0), call("logsumexp", np.arange(3)), call("logsumexp", 2.0),
        call("logsumexp", X, where=X > 0, axis=0), call("logsumexp", X, axis=0, return_sign=True, keepdims=True),
    )  # fmt: skip


def test_standardize() -> None:
    check(
        call("standardize", X, mean=X.mean(), variance=2.0, epsilon=0.1), call("standardize", X, algorithm="stable"),
        call("standardize", X, where=X > 0, algorithm="stable"), call("standardize", X, 0, epsilon=1e-3),
    )  # fmt: skip
    with pytest.raises(errors.OptionUnknown):
        nn.standardize(X, algorithm="slow")


def test_one_hot() -> None:
    numbers = np.array([[1, 7, -1], [0, 2, 1]])
    check(
        *[call("one_hot", numbers, 3, axis=axis) for axis in (-1, 0, 1, -2)], call("one_hot", 1, 3), call("one_hot", numbers, 0),
        call("one_hot", numbers, 3, dtype=np.int32), call("one_hot", numbers, 3, dtype=bool), call("one_hot", [1, 2], 3),
        call("one_hot", np.uint8([1, 2]), 300),
    )  # fmt: skip
    with pytest.raises(errors.OptionUnknown):
        nn.one_hot(numbers, 3, axis="i")
    with pytest.raises(errors.AxisNotInArray):
        nn.one_hot(numbers, 3, axis=3)


PRINTED = [name for name in ELEMENTWISE if name not in ("softplus", "mish", "log_sigmoid")]  # jax prints their zero once


@pytest.mark.parametrize("name", [*PRINTED, *ALONG_AXES, "glu"])
def test_the_text_is_that_of_jax(name: str) -> None:
    for args in ((X,), (X, 0)) if name in ALONG_AXES else ((X,),):
        theirs = jax.jit(lambda x, args=args: getattr(jax.nn, name)(x, *args[1:])).lower(X).as_text()
        ours = celadon.jit(lambda x, args=args: getattr(nn, name)(x, *args[1:])).lower(X).as_text()
        assert ours == theirs.replace('"result"', '""')


def test_the_text_of_given_parameters() -> None:
    for function in (
        lambda nn, x: nn.elu(x, 0.5), lambda nn, x: nn.leaky_relu(x, negative_slope=0.5), lambda nn, x: nn.one_hot(x > 0, 3),
        lambda nn, x: nn.standardize(x, epsilon=0.5, mean=0.25), lambda nn, x: nn.softmax(x, where=x > 0),
        lambda nn, x: nn.logsumexp(x, axis=1, keepdims=True), lambda nn, x: nn.celu(x, 2.0),
    )[:2]:  # fmt: skip
        theirs = jax.jit(lambda x, function=function: function(jax.nn, x)).lower(X).as_text()
        ours = celadon.jit(lambda x, function=function: function(nn, x)).lower(X).as_text()
        assert ours == theirs.replace('"result"', '""')


def test_derivatives() -> None:
    """At the points where a function has a kink, too: there JAX's choice counts."""
    points = np.float32([-7, -3, -1, -0.5, 0, 0.5, 1, 3, 6, 7])
    names = [*ELEMENTWISE, "log1mexp"]

    def slopes(module: Any, grad: Any) -> list[Any]:
        return [grad(lambda x, name=name: getattr(module, name)(x).sum())(points) for name in names]

    expected = jax.jit(lambda: slopes(jax.nn, jax.grad))()
    for name, found, wanted in zip(names, slopes(nn, celadon.grad), expected, strict=True):
        np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=2e-5, atol=2e-6, err_msg=name)


def test_derivatives_along_axes() -> None:
    weights = np.random.default_rng(1).normal(size=X.shape).astype(np.float32)

    def slopes(module: Any, grad: Any) -> list[Any]:
        found = [grad(lambda x, n=n: (weights * getattr(module, n)(x, 1)).sum())(X) for n in ("softmax", "log_softmax")]
        found += [grad(lambda x: (weights * module.softmax(x, 0, where=X > 0)).sum())(X)]
        found += [grad(lambda x: (weights[0] * module.logsumexp(x, 0)).sum())(X)]
        return [*found, grad(lambda x: (weights * module.standardize(x)).sum())(X)]

    expected = jax.jit(lambda: slopes(jax.nn, jax.grad))()
    for found, wanted in zip(slopes(nn, celadon.grad), expected, strict=True):
        np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=1e-4, atol=1e-5)


def test_batches() -> None:
    for name in (*ELEMENTWISE, "softmax", "log_softmax", "logsumexp", "standardize", "glu"):
        function = getattr(nn, name)
        one_by_one = cnp.stack([function(cnp.asarray(row)) for row in X])
        np.testing.assert_allclose(np.asarray(celadon.vmap(function)(X)), np.asarray(one_by_one), rtol=1e-6, err_msg=name)


def test_new_parameters_and_shapes_compile_nothing() -> None:
    jitted = celadon.jit(lambda x, alpha: nn.elu(x, alpha) + nn.softmax(x), static_argnums=1)
    jitted(X, 0.5)
    with celadon.events.watching() as seen:
        jitted(X, 0.75)
        jitted(X[:3, :5], 2.0)
    assert not [event for event in seen if event.kind == "compile"]


def test_what_is_refused() -> None:
    with pytest.raises(TypeError):
        nn.relu([1.0, 2.0])
    with pytest.raises(TypeError):
        nn.elu(X, 1.0, 2.0)
    with pytest.raises(TypeError):
        nn.elu(X, beta=2.0)
    with pytest.raises(errors.DimensionsUnfit):
        nn.glu(X[:, :5])
