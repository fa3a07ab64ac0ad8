"""lax.reduce and lax.reduce_window against real JAX: functions, trees, windows, padding, dilation; pooling."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import celadon
import celadon.numpy as cnp
from celadon import errors, lax
from tests.numpy.oracle import agree, agree_on, sample

X = sample("float32", (2, 7, 9))
COMPUTATIONS = {
    "add": (lambda f: f.add, 0.0),
    "max": (lambda f: f.max, -np.inf),
    "min": (lambda f: f.min, np.inf),
    "mul": (lambda f: f.mul, 1.0),
    "max from 1": (lambda f: f.max, 1.0),
    "of one's own": (lambda f: lambda x, y: x + y + x * y / 8, 0.0),
    "add from an integer": (lambda f: f.add, 0),
}
WINDOWS = [
    ((1, 2, 3), None, "VALID", None, None),
    ((1, 3, 3), (1, 2, 2), "SAME", None, None),
    ((2, 2, 2), (1, 3, 1), "SAME_LOWER", None, (1, 2, 1)),
    ((1, 2, 3), (2, 1, 2), [(0, 0), (3, -1), (-2, 2)], (1, 2, 1), (1, 1, 2)),
    ((1, 8, 1), (1, 1, 1), "VALID", None, None),
]


@pytest.mark.parametrize("window", WINDOWS, ids=range(len(WINDOWS)))
@pytest.mark.parametrize("name", COMPUTATIONS)
def test_windows(name, window) -> None:
    computation, start = COMPUTATIONS[name]

    def reduced(f):
        return lambda x: f.reduce_window(x, start, computation(f), *window)

    agree_on(reduced(jax.lax), reduced(lax), (X,), {}, name)


@pytest.mark.parametrize("name", COMPUTATIONS)
def test_reduce(name) -> None:
    computation, start = COMPUTATIONS[name]

    def reduced(f):
        return lambda x: f.reduce(x, start, computation(f), (1,))

    agree_on(reduced(jax.lax), reduced(lax), (X,), {}, name)


@pytest.mark.parametrize("dtype", ["int32", "uint8", "bool", "bfloat16", "complex64"])
def test_dtypes(dtype) -> None:
    x = sample(dtype, (4, 6))
    logical = dtype == "bool"
    for name in ("bitwise_or", "bitwise_and", "bitwise_xor") if logical else ("add", "max", "min"):
        start = {"bitwise_and": True, "max": -100, "min": 100}.get(name, 0)
        if logical:
            start = bool(start)

        def windows(f, name=name, start=start):
            return lambda x: f.reduce_window(x, np.asarray(start, x.dtype)[()], getattr(f, name), (2, 2), (2, 1), "SAME")

        def whole(f, name=name, start=start):
            return lambda x: f.reduce(x, np.asarray(start, x.dtype)[()], getattr(f, name), (0,))

        agree_on(windows(jax.lax), windows(lax), (x,), {}, f"windows of {name}")
        agree_on(whole(jax.lax), whole(lax), (x,), {}, name)


def test_trees() -> None:
    def combined(x, y):
        return {"a": x["a"] + y["a"], "b": [x["b"][0] * y["b"][0]]}

    def both(f):
        start = {"a": 0.0, "b": [1]}

        def parts(x, y):
            whole = f.reduce({"a": x, "b": [y]}, start, combined, (0, 2))
            windows = f.reduce_window({"a": x, "b": [y]}, start, combined, (1, 2, 2), (1, 2, 3), "SAME")
            return whole["a"], whole["b"][0], windows["a"], windows["b"][0]

        return parts

    agree_on(both(jax.lax), both(lax), (X, sample("int32", X.shape)), {}, "trees")


def test_pooling() -> None:
    """Average and maximum pooling as networks write them."""

    def average(np_, f):
        def pooled(x):
            ones = np_.ones_like(x)
            total, count = (f.reduce_window(v, 0.0, f.add, (1, 3, 3), (1, 2, 2), "SAME") for v in (x, ones))
            return total / count

        return pooled

    agree_on(average(jnp, jax.lax), average(cnp, lax), (X,), {}, "average")

    def largest(f):
        return lambda x: f.reduce_window(x, -np.inf, f.max, (1, 2, 2), (1, 2, 2), "VALID")

    agree_on(largest(jax.lax), largest(lax), (X,), {}, "maximum")


def test_shape_tuple() -> None:
    arguments = ((8, 9), (2, 3), (1, 2), [(0, 0), (1, 1)], (2, 1), (1, 2))
    assert lax.reduce_window_shape_tuple(*arguments) == jax.lax.reduce_window_shape_tuple(*arguments)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda f: f.reduce_window(X, 0.0, f.add, (2,)), errors.OneNumberPerAxis),
        (lambda f: f.reduce_window(X, 0.0, f.add, (1, 2, 0)), errors.WindowNotPositive),
        (lambda f: f.reduce_window(X, 0.0, f.add, (1, 2, 2), (1,)), errors.OneNumberPerAxis),
        (lambda f: f.reduce_window(X, 0.0, f.add, (1, 2, 2), (1, 1, 1), "BAD"), errors.OptionUnknown),
        (lambda f: f.reduce_window(X, np.zeros(2, np.float32), f.mul, (1, 2, 2)), errors.BodyMismatch),
        (lambda f: f.reduce_window(X, 0.0, lambda x, y: x > y, (1, 2, 2)), errors.BodyMismatch),
        (lambda f: f.reduce_window(X, 0.0, lambda x, y: (x, y), (1, 2, 2)), errors.BodyMismatch),
        (lambda f: f.reduce_window((X, X), (0.0,), lambda x, y: x, (1, 2, 2)), errors.InitialTreeDiffers),
        (lambda f: f.reduce_window((), (), lambda x, y: x, (1, 2, 2)), errors.InitialTreeDiffers),
        (lambda f: f.reduce((X, X[0]), (0.0, 0.0), lambda x, y: x, (0,)), errors.BodyMismatch),
        (lambda f: f.reduce(X, 0.0, f.add, (3,)), errors.AxisOutOfRange),
        (lambda f: f.reduce(X, 0.0, f.add, (0, 0)), errors.AxisRepeated),
    ],
)
def test_what_jax_refuses_is_refused(call, error) -> None:
    with pytest.raises((TypeError, ValueError, RuntimeError)):
        call(jax.lax)
    with pytest.raises(error):
        call(lax)


def test_a_function_that_closes_over_an_argument_is_refused() -> None:
    for engine, error in ((jax, NotImplementedError), (celadon, errors.BodyCloses)):
        with pytest.raises(error, match=r"[Rr]educ"):
            engine.jit(lambda x, s, f=engine.lax: f.reduce(x, 0.0, lambda a, b: a + b * s, (0,)))(X, 2.0)
    agree("reduce", X, 0.0, lambda a, b: a + b * np.float32(2), (0,), library="lax")
