"""Derivatives and batches of reading and writing by index, and of windows and convolutions, against real JAX."""

from __future__ import annotations

from typing import Any

import jax
import jax.ops
import numpy as np
import pytest

import celadon
import celadon.lax
import celadon.numpy
import celadon.ops
from celadon import errors
from tests.numpy.oracle import sample

ARGUMENTS: dict[str, Any] = {
    "x": sample("float32", (4, 5)), "v": sample("float32", (5,), seed=1), "y": sample("float32", (3, 5), seed=2),
    "z": sample("complex64", (4, 5)), "i": np.array([2, 0, 2], np.int32), "o": np.array([1, -1, 9], np.int32),
    "a": sample("float32", (2, 4, 6, 5)), "f": sample("float32", (4, 4, 3, 2), seed=1), "g": sample("float32", (4, 2, 2), seed=1),
    "c": sample("float32", (3, 4, 5)), "k": np.int32(1), "far": np.int32(4), "m": np.array([[0], [3], [1], [2]], np.int32),
}  # fmt: skip
D = "lax.ScatterDimensionNumbers((1,), (0,), (0,))"

FUNCTIONS = (
    "x: x[1]",
    "x: x[::-2, 1:3]",
    "x, k: x[k]",
    "x, k: x[k, 1:3]",
    "x, far: lax.dynamic_slice(x, (far, far), (2, 3))",
    "x, y, far: lax.dynamic_update_slice(x, y[:2], (far, far - 4))",
    "x, i: x[i]",
    "x, o: x[o]",
    "x, i: x[i, 1]",
    "x, i: x[:, i] * 2",
    "x, i, o: x[i, o]",
    "z, i: z[i]",
    "x, o: x.at[o].get(mode='fill', fill_value=7.0)",
    "x, o: jnp.take(x, o, axis=1)",
    "x, m: jnp.take_along_axis(x, m, 1)",
    "x: x.at[1].set(2.0)",
    "x, v: x.at[1].set(v)",
    "x, v: x.at[:, 1:3].add(v[0])",
    "x, y: x.at[1:].multiply(y)",
    "x, v: x.at[1].min(v)",
    "x, y, i: x.at[i].set(y)",
    "x, y, o: x.at[o].set(y)",
    "x, y, i: x.at[i].add(y)",
    "x, y, o: x.at[o].subtract(y, mode='clip')",
    "x, y, i: x.at[i].max(y)",
    "x, y, o: x.at[o].min(y)",
    "x, i: x.at[i].max(0.5)",
    "x, y, i: x.at[i[:2]].multiply(y[:2], unique_indices=True)",
    "x, y, i: x.at[i[:2]].divide(y[:2] + 9, unique_indices=True)",
    "x, i: x.at[i].multiply(2.0)",
    "z, i: z.at[i].add(2j)",
    "x, v, k: x.at[k].set(v)",
    "x, i, o: x.at[i, o].add(1.5)",
    "y, i: ops.segment_sum(y, i, 3)",
    "y, i: ops.segment_max(y, i, 4)",
    f"x, y, i: lax.scatter_add(x, i[:, None], y, {D})",
    "x, m: lax.scatter_add(x, m, x[:, 0], lax.ScatterDimensionNumbers((), (1,), (1,), (0,), (0,)))",
    "a, f: lax.conv(a, f, (1, 2), 'SAME')",
    "a, f: lax.conv_general_dilated(a, f, (3, 1), [(1, 2), (-1, 0)], (2, 3), (2, 1))",
    "a, f: lax.conv_general_dilated(a.transpose(0, 2, 3, 1), f.transpose(2, 3, 1, 0), (2, 1), 'VALID',"
    " dimension_numbers=('NHWC', 'HWIO', 'NWHC'))",
    "a, g: lax.conv_general_dilated(a[:, :, 0], g, (2,), 'SAME', feature_group_count=2)",
    "a, f: lax.conv_general_dilated(a[:, :, 0], f[:, :, 0], (1,), [(2, 1)], batch_group_count=2)",
    "x: lax.reduce_window(x, 0.0, lax.add, (2, 3), (1, 2), 'SAME')",
    "x: lax.reduce_window(x, 0.0, lax.add, (2, 3), (1, 2), [(1, 0), (-1, 2)], (2, 1), (1, 2))",
    "x: lax.reduce_window(x, -np.inf, lax.max, (2, 2), (1, 2), 'SAME')",
    "x: lax.reduce_window(x, np.inf, lax.min, (2, 2), (2, 1), [(1, 0), (0, 1)], (2, 1))",
    "x: lax.reduce(x, 0.0, lax.max, (0,))",
    "c: lax.reduce(c, 1.0, lambda a, b: a * b, (0, 2))",
    "c: lax.reduce(c, 0.0, lambda a, b: a + b + a * b / 4, (1,))",
)
ONLY_OURS = (
    "x: lax.reduce_window(x, -np.inf, lax.max, (2, 2), (1, 1), 'SAME', None, (2, 1))",
    "x: lax.reduce_window(x, 1.0, lax.mul, (2, 2), (1, 2), 'SAME')",
    "x: lax.reduce_window(x, 0.0, lambda a, b: a + b + a * b / 4, (2, 2), (1, 1), 'VALID', (2, 1), (1, 2))",
)


def function(engine: Any, source: str) -> Any:
    made = eval(f"lambda {source}", {"jnp": engine.numpy, "lax": engine.lax, "ops": engine.ops, "np": np})
    return lambda *args: made(*map(engine.numpy.asarray, args))


def named(source: str) -> list[str]:
    return [name.strip() for name in source.split(":")[0].split(",")]


def floats(names: list[str]) -> tuple[int, ...]:
    return tuple(i for i, name in enumerate(names) if ARGUMENTS[name].dtype.kind in "fc")


def close(found: Any, expected: Any) -> None:
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), 1e-5, 1e-5)


@pytest.mark.parametrize("source", FUNCTIONS)
def test_gradients(source: str) -> None:
    arguments = [ARGUMENTS[name] for name in named(source)]
    by, found = floats(named(source)), []
    for engine in (jax, celadon):
        f = function(engine, source)

        def weighed(*args, f=f, e=engine):
            out = f(*args)
            weights = e.numpy.cos(e.numpy.arange(out.size, dtype=np.float32)).reshape(out.shape)
            return e.numpy.real(out * weights * (1 + 2j if out.dtype.kind == "c" else 1)).sum()

        found.append(engine.jit(engine.grad(weighed, by))(*arguments))
        if engine is celadon:
            found.append(engine.grad(weighed, by)(*arguments))
    close(found[1], found[0])
    close(found[2], found[0])


@pytest.mark.parametrize("source", FUNCTIONS)
def test_tangents(source: str) -> None:
    arguments, by = [ARGUMENTS[name] for name in named(source)], floats(named(source))
    for moving in {by, by[:1], by[1:]} - {()}:
        found = []
        for engine in (jax, celadon):
            f = function(engine, source)

            def part(*floats, f=f, moving=moving):
                whole = list(arguments)
                for i, value in zip(moving, floats, strict=True):
                    whole[i] = value
                return f(*whole)

            primals = [arguments[i] for i in moving]
            moved = [np.cos(x).astype(x.dtype) for x in primals]
            run = jax.jit if engine is jax else lambda f: f
            found.append(run(lambda p, t, e=engine, part=part: e.jvp(part, p, t))(primals, moved))
        close(found[1], found[0])


@pytest.mark.parametrize("source", FUNCTIONS)
def test_batches(source: str) -> None:
    """Each argument alone, all together, and the last axis of the first."""
    arguments = [ARGUMENTS[name] for name in named(source)]
    count = len(arguments)
    for chosen in {tuple(range(count)), *((i,) for i in range(count))}:
        stacked = [np.stack([x, np.flip(x), x]) if i in chosen and x.ndim else x for i, x in enumerate(arguments)]
        stacked = [np.array([0, 3, 1], x.dtype) if i in chosen and not x.ndim else x for i, x in enumerate(stacked)]
        axes = [0 if i in chosen else None for i in range(count)]
        if 0 in chosen:
            stacked[0], axes[0] = np.moveaxis(stacked[0], 0, -1), -1
        expected = jax.jit(jax.vmap(function(jax, source), axes))(*stacked)
        close([celadon.vmap(function(celadon, source), axes)(*stacked)], [expected])


@pytest.mark.parametrize("source", ONLY_OURS)
def test_windows_of_any_function_have_gradients(source: str) -> None:
    """JAX has tangents alone: the gradient is theirs along each axis."""
    x = ARGUMENTS["x"]
    basis = np.eye(x.size, dtype=np.float32).reshape(-1, *x.shape)
    expected = jax.jit(lambda x: jax.vmap(lambda t: jax.jvp(lambda x: function(jax, source)(x).sum(), (x,), (t,))[1])(basis))(x)
    found = celadon.grad(lambda x: function(celadon, source)(x).sum())(x)
    np.testing.assert_allclose(found.ravel(), expected, 1e-5, 1e-5)
    close(celadon.jvp(function(celadon, source), (x,), (x,)), jax.jvp(function(jax, source), (x,), (x,)))
    close([celadon.vmap(function(celadon, source))(x[None])], [jax.vmap(function(jax, source))(x[None])])


def test_second_derivatives_of_pooling() -> None:
    x = ARGUMENTS["x"]

    def pooled(e):
        return lambda x: (e.lax.reduce_window(x, -np.inf, e.lax.max, (2, 2), (1, 1), "SAME") ** 3).sum()

    found, expected = (e.jvp(e.grad(pooled(e)), (x,), (x,))[1] for e in (celadon, jax))
    close([found], [expected])


def test_a_product_of_updates_that_may_meet_has_no_derivative_by_them() -> None:
    x, y, i = (ARGUMENTS[name] for name in "xyi")
    for engine, error in ((jax, NotImplementedError), (celadon, errors.NotDifferentiable)):
        with pytest.raises(error):
            engine.grad(lambda y, i, e=engine: e.numpy.asarray(x).at[i].multiply(y).sum())(y, i)
