"""The text of updates by index, scatters and windows, character for character what real JAX prints."""

from __future__ import annotations

from typing import Any

import jax
import jax.ops
import numpy as np
import pytest

import celadon
import celadon.ops

D = "lax.ScatterDimensionNumbers((1,), (0,), (0,))"
ARGUMENTS: dict[str, Any] = {
    "x": np.ones((3, 4), np.float32), "v": np.ones(4, np.float32), "s": np.float32(2.5), "k": np.int32(3),
    "i": np.array([0, 2], np.int32), "j": np.array([[0], [1]], np.int32), "u": np.array([[0], [1]], np.uint8),
    "z": np.ones((3, 4), np.complex64), "b": np.ones((3, 4), bool), "y": np.ones((2, 4), np.float32),
    "q": np.array([[0], [1], [3]], np.int32),
    "a": np.ones((2, 3, 8, 9), np.float32), "f": np.ones((4, 3, 3, 2), np.float32), "g": np.ones((4, 18, 6, 8), np.float32),
    "cube": np.ones((3, 4, 5), np.float32), "n": np.ones((3, 4), np.int32),
}  # fmt: skip

FUNCTIONS = (
    "x: x.at[1].set(2.0)",
    "x: x.at[-1].add(2)",
    "x: x.at[1, 2].set(2.0)",
    "x, v: x.at[1].set(v)",
    "x, s: x.at[:, 1].set(s)",
    "x: x.at[1:3].multiply(2.0)",
    "x: x.at[:2, 1:3].min(2.0)",
    "x: x.at[::2].max(2.0)",
    "x: x.at[::-1, 1].set(2.0)",
    "x: x.at[2:0:-1, ::3].set(2.0)",
    "x: x.at[:].set(2.0)",
    "x: x.at[...].add(x)",
    "x, v: x.at[None, 1].set(v[None])",
    "x: x.at[7].set(2.0)",
    "x, i: x.at[i].set(2.0)",
    "x, i, y: x.at[i].add(y)",
    "x, i: x.at[i].subtract(1.0)",
    "x, i: x.at[i].divide(2.0)",
    "x, i: x.at[i].power(2.0)",
    "x, i: x.at[:, i].multiply(2.0)",
    "x, i: x.at[i, i].add(1.0)",
    "x, i: x.at[i, 1].add(1.0)",
    "x, i, j: x.at[j, i].add(1.0)",
    "x, i: x.at[i, 1:3].set(1.0)",
    "cube, i: cube.at[i, :, i].add(1.0)",
    "cube, i: cube.at[:, i, i].add(1.0)",
    "cube, k: cube.at[:, k, 1:3].set(1.0)",
    "x, k: x.at[k].set(1.0)",
    "x, k: x.at[k, k].add(1.0)",
    "x, i: x.at[i].set(1.0, mode='clip')",
    "x, i: x.at[i, 1:3].add(1.0, mode='clip')",
    "x, i: x.at[i].set(1.0, mode='drop', unique_indices=True, indices_are_sorted=True)",
    "x, i: x.at[i].set(1.0, wrap_negative_indices=False)",
    "x, i: x.at[i].apply(jnp.sin)",
    "x, i: x.at[i].apply(lambda e: e * 2 + 1)",
    "x, i: x.at[i].get(mode='fill')",
    "x, i: x.at[i].get(mode='fill', fill_value=7)",
    "x, i: x.at[i].get(mode='clip')",
    "n, i: n.at[i].add(1)",
    "n, i: n.at[i].max(n[1])",
    "z, i: z.at[i].max(z[1])",
    "z, i: z.at[i].multiply(2.0)",
    "b, i: b.at[i].set(False)",
    "x, i, y: segment_sum(y, i, 3)",
    "x, i, y: segment_max(y, i, 3)",
    "n, i: segment_min(n[:2], i, 3)",
    f"x, j, y: lax.scatter(x, j, y, {D})",
    f"x, j, y: lax.scatter_add(x, j, y, {D}, mode='clip')",
    f"x, u, y: lax.scatter_sub(x, u, y, {D}, mode='clip')",
    f"x, u, y: lax.scatter_mul(x, u, y, {D}, mode='promise_in_bounds')",
    f"x, j, y: lax.scatter_min(x, j, y, {D}, unique_indices=True)",
    f"x, j, y: lax.scatter_max(x, j, y, {D}, indices_are_sorted=True)",
    f"x, j: lax.scatter_apply(x, j, lambda e: -e, {D}, update_shape=(2, 4))",
    "x, q: lax.scatter_add(x, q, x[:, 0], lax.ScatterDimensionNumbers((), (1,), (1,), (0,), (0,)))",
    "a, f: lax.conv(a, f, (1, 2), 'SAME')",
    "a, f: lax.conv_general_dilated(a, f, (2, 1), [(1, 2), (0, -1)], (1, 2), (2, 1), precision='highest')",
    "a, f: lax.conv_general_dilated(a[:, :, 0], f[:, :, 0], (1,), 'VALID', None, None, None, 1, 2)",
    "a, f: lax.conv_general_dilated(a, f[:3, :1], (1, 1), 'VALID', feature_group_count=3)",
    "a, f: lax.conv_general_dilated(a.transpose(0, 2, 3, 1), f.transpose(2, 3, 1, 0), (1, 1), 'SAME',"
    " dimension_numbers=('NHWC', 'HWIO', 'NHWC'))",
    "a, f: lax.conv_general_dilated(a.astype(np.int8), f.astype(np.int8), (1, 1), 'SAME', preferred_element_type=np.int32)",
    "a, f: lax.conv(a.astype(np.complex64), f.astype(np.complex64), (1, 1), 'SAME')",
    "a, f: lax.conv_general_dilated(a[:, :, 0, 0], f[:, :, 0, 0], (), 'VALID')",
    "a, f: lax.conv_transpose(a.transpose(0, 2, 3, 1), f.transpose(2, 3, 0, 1), (2, 1), 'SAME', transpose_kernel=True)",
    "a: lax.conv_general_dilated_patches(a, (3, 3), (1, 1), 'VALID')",
    "a, g: lax.conv_general_dilated_local(a, g, (1, 1), 'VALID', (3, 2))",
    "x: lax.reduce_window(x, 0.0, lax.add, (2, 3), (1, 2), 'SAME')",
    "x: lax.reduce_window(x, -np.inf, lax.max, (2, 2), (1, 2), [(1, 0), (0, 2)], (2, 1), (1, 2))",
    "n: lax.reduce_window(n, np.iinfo(np.int32).max, lax.min, (2, 2))",
    "x: lax.reduce_window(x, 1.0, lax.mul, (2, 2))",
    "x: lax.reduce_window(x, 2.0, lax.add, (2, 2))",
    "x: lax.reduce_window(x, 0.0, lambda a, b: a + b * 2, (2, 2))",
    "x: lax.reduce_window((x, x), (0.0, 1.0), lambda a, b: (a[0] + b[0], a[1] * b[1]), (2, 2))",
    "x: lax.reduce(x, 0.0, lax.add, (1,))",
    "x: lax.reduce(x, 1.0, lax.add, (1,))",
    "x: lax.reduce(x, 1.0, lambda a, b: a + b * 2, (0, 1))",
    "x: lax.reduce((x, x), (0.0, 1.0), lambda a, b: (a[0] + b[0], a[1] * b[1]), (0,))",
    "b: lax.reduce(b, False, lax.bitwise_or, (0,))",
    "x, i: grad(lambda x: x[i].sum())(x)",
    "x: grad(lambda x: x.at[1].set(2.0).sum())(x)",
    "x, i, y: grad(lambda x, y: x.at[i].add(y).sum(), (0, 1))(x, y)",
    "x, i, y: grad(lambda y: segment_sum(y, i, 3).sum())(y)",
    "a, f: grad(lambda a, f: lax.conv(a, f, (1, 2), 'SAME').sum(), (0, 1))(a, f)",
    "a, f: grad(lambda a, f: lax.conv_general_dilated(a, f[:3, :1], (1, 1), 'VALID', feature_group_count=3).sum(), 1)(a, f)",
    "x: grad(lambda x: lax.reduce_window(x, -np.inf, lax.max, (2, 3), (1, 2), 'SAME').sum())(x)",
    "cube, i: vmap(lambda x: x[i])(cube)",
    "cube: vmap(lambda x: lax.reduce_window(x, -np.inf, lax.max, (2, 3), (1, 2), 'SAME'))(cube)",
)


def text(engine: Any, source: str) -> str:
    names = [name.strip() for name in source.split(":")[0].split(",") if name.strip()]
    scope = {"jnp": engine.numpy, "lax": engine.lax, "np": np, "grad": engine.grad, "vmap": engine.vmap}
    scope |= vars(engine.ops)
    return engine.jit(eval(f"lambda {source}", scope)).lower(*[ARGUMENTS[name] for name in names]).as_text()


@pytest.mark.parametrize("source", FUNCTIONS)
def test_text_is_what_jax_prints(source: str) -> None:
    theirs = text(jax, source).replace('jax.result_info = "result', 'jax.result_info = "')
    assert text(celadon, source) == theirs
