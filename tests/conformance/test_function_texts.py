"""jit(f).lower(...).as_text(), character for character what real JAX prints for the same function."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

import celadon
import celadon.lax
import celadon.numpy

ARGUMENTS: dict[str, Any] = {
    "x": np.ones((3, 4), np.float32), "v": np.ones(4, np.float32), "w": np.ones(4, np.float32), "s": 2.5, "k": 3,
    "i": np.arange(3, dtype=np.int32), "u": np.arange(4, dtype=np.uint8), "b": np.array([True, False, True, True]),
    "z": np.ones(3, np.complex64),
}  # fmt: skip

FUNCTIONS = (
    "x, s: x * s",
    "x: x * 2.0 + 1.0",
    "x: 2 * x - 1",
    "x, k: x + k",
    "x: x / 3",
    "x: x ** 2",
    "x: x ** 3",
    "x: x ** 0.5",
    "x: 2.0 ** x",
    "x: -x + abs(x)",
    "x, v: x + v",
    "x, v: x * v - v",
    "i: i + 1",
    "i: i * 2.5",
    "i: i // 2",
    "x: x // 2.0",
    "x: x % 2.0",
    "x: x > 0",
    "x, v: x == v",
    "x: (x > 0) & (x < 1)",
    "b: ~b | b",
    "u: u + 1",
    "u: u >> 1",
    "i: i << 2",
    "z: z * (1 + 2j)",
    "z: abs(z)",
    "z: z.real + z.imag",
    "z: z.conj()",
    "x: jnp.sin(x) * jnp.cos(x)",
    "x: jnp.exp(x)",
    "x: jnp.log(x)",
    "x: jnp.sqrt(x)",
    "x: jnp.tanh(x)",
    "i: jnp.sin(i)",
    "x: jnp.square(x)",
    "x, v: jnp.maximum(x, v)",
    "x: jnp.maximum(x, 0)",
    "x: jnp.minimum(x, 1.5)",
    "x, v: jnp.arctan2(x, v)",
    "x: jnp.sum(x)",
    "x: x.sum(0)",
    "x: x.sum(axis=1, keepdims=True)",
    "x: x.max(1)",
    "x: x.min()",
    "x: x.prod(0)",
    "x: x.mean()",
    "x: x.mean(0)",
    "b: b.any()",
    "b: b.all()",
    "x: x.any(0)",
    "i: i.sum()",
    "u: u.sum()",
    "b: b.sum()",
    "x: jnp.argmax(x, 1)",
    "x: jnp.argmin(x)",
    "x: jnp.cumsum(x, 0)",
    "x: x @ x.T",
    "x, v: x @ v",
    "v, w: v @ w",
    "x: jnp.dot(x, x.T)",
    "v, w: jnp.outer(v, w)",
    "x: jnp.einsum('ij,kj->ik', x, x)",
    "x: jnp.tensordot(x, x, 2)",
    "x: x.T",
    "x: x.reshape(-1)",
    "x: x.reshape(2, 6)",
    "x: x.ravel()",
    "x: jnp.transpose(x)",
    "x: x[0]",
    "x: x[:, 1:3]",
    "x: x[::2]",
    "x: x[-1]",
    "x: x[..., None]",
    "x: x[::-1]",
    "x, i: x[i]",
    "x: x[1, 2]",
    "x: jnp.concatenate([x, x])",
    "x: jnp.stack([x, x])",
    "x: jnp.expand_dims(x, 0)",
    "x: jnp.squeeze(x[None])",
    "x: jnp.broadcast_to(x, (2, 3, 4))",
    "x: jnp.zeros(3) + x[0, 0]",
    ": jnp.ones((2, 3))",
    ": jnp.arange(5)",
    ": jnp.arange(2, 10, 3)",
    ": jnp.full((2,), 7)",
    ": jnp.eye(3)",
    "x: jnp.zeros_like(x)",
    "x: jnp.where(x > 0, x, 0.0)",
    "x: jnp.clip(x, 0, 1)",
    "x: jnp.pad(x, 1)",
    "x: jnp.sort(x)",
    "x: jnp.argsort(x)",
    "x: jnp.flip(x, 0)",
    "x: jnp.roll(x, 1)",
    "x: jnp.tile(x, 2)",
    "x: jnp.repeat(x, 2, axis=0)",
    "x: jnp.swapaxes(x, 0, 1)",
    "x: x.astype(np.int32)",
    "x: x.astype(bool)",
    "i: i.astype(np.float16)",
    "x: jnp.isnan(x)",
    "x: jnp.isfinite(x)",
    "x: jnp.sign(x)",
    "x: jnp.floor(x)",
    "x: jnp.round(x)",
    "x: jnp.log1p(x) + jnp.expm1(x)",
    "x: jnp.power(x, x)",
    "x: x * jnp.nan + jnp.inf",
    "x: {'a': x + 1, 'b': (x, [x * 2])}",
    "x: None",
    "x: (x, x)",
    "x: lax.add(x, x)",
    "x: lax.mul(x, 2.0)",
    "x: lax.exp(x)",
    "x: lax.rsqrt(x)",
    "x: lax.erf(x)",
    "x: lax.logistic(x)",
    "x: lax.clamp(0.0, x, 1.0)",
    "x: lax.select(x > 0, x, -x)",
    "x: lax.dot(x, x.T)",
    "x: lax.dot_general(x, x, (((1,), (1,)), ((), ())))",
    "x: lax.broadcast(x, (2,))",
    "x: lax.broadcast_in_dim(x, (2, 3, 4), (1, 2))",
    "x: lax.reshape(x, (12,))",
    "x: lax.transpose(x, (1, 0))",
    "x: lax.slice(x, (0, 1), (2, 3))",
    "x: lax.slice_in_dim(x, 0, 2)",
    "x: lax.concatenate([x, x], 0)",
    "x: lax.pad(x, 0.0, ((1, 1, 0), (0, 0, 1)))",
    "x: lax.rev(x, (0,))",
    ": lax.iota(np.int32, 5)",
    "x: lax.convert_element_type(x, np.int32)",
    "x: lax.integer_pow(x, 3)",
    "x: lax.max(x, 0.0)",
    "x: lax.sort(x)",
    "x: lax.cumsum(x)",
    "x: lax.argmax(x, 1, np.int32)",
    "x: lax.reduce_sum(x, (0,))",
    "x: lax.reduce_max(x, (0, 1))",
    "i: i % 2",
    "u: u % 2",
    "i: 7 % i",
    "i: jnp.divmod(i, 3)",
    "x: jnp.logaddexp(x, x)",
    "x: jnp.logaddexp2(x, x)",
    "x: x.var()",
    "x: jnp.var(x, axis=1)",
    "x: jnp.std(x, 0, keepdims=True)",
    "x: jnp.var(x, ddof=1)",
    "i: jnp.var(i)",
    "s: jnp.linspace(s, s, 5)",
    ": jnp.linspace(0, 1, 5)",
    "s: jnp.linspace(s, 1.0, 5, endpoint=False)",
    "v, w: jnp.linspace(v, w, 5, axis=1)",
    "b, x, v: jnp.where(b, x, v)",
    "b, v, x: jnp.where(b[:1], v, x)",
    "b, x: jnp.where(b, 2.0, x)",
    "b, u, v: jnp.where(b, u, v)",
    "x, v: jnp.where(x > 0, v, 0)",
    "x, s: jnp.where(x > 0, 1.0, s)",
    "v, w: jnp.isclose(v, w)",
    "v, w: jnp.isclose(v, w, equal_nan=True)",
    "v, w: jnp.isclose(v, w, 1e-3)",
    "v, w: jnp.allclose(v, w, 1e-2)",
    "v, w: jnp.hypot(v, w)",
    "v: jnp.sinc(v)",
    "v: v[1::2]",
    "v: v[3:1]",
    "v: v[10:]",
    "v: v[::-2]",
    "v: v[2:2:-1]",
    "v: v[0:3:-1]",
    "x: x[1:, ::2]",
    "x, k: x[k]",
    "x, k: x[k, 1:3]",
    "x: lax.dynamic_slice(x, (1, 2), (2, 2))",
    "x: lax.dynamic_slice(x, (-1, 0), (2, 2))",
    "x, k: lax.dynamic_slice(x, (k, 0), (2, 2))",
    "x, i: lax.dynamic_slice(x, i[:2], (2, 2))",
    "x: lax.dynamic_slice(x, np.array([1, 2]), (2, 2))",
    "x, k: lax.dynamic_slice_in_dim(x, k, 2)",
    "x: lax.dynamic_slice_in_dim(x, -1, 1)",
    "x, k: lax.dynamic_index_in_dim(x, k)",
    "x: lax.dynamic_index_in_dim(x, -1, keepdims=False)",
    "x, i: lax.dynamic_index_in_dim(x, i[0], 1, False)",
    "x: lax.dynamic_update_slice(x, x[:1, :2], (1, 2))",
    "x, k: lax.dynamic_update_slice(x, x[:1, :2], (k, 2))",
    "x, k: lax.dynamic_update_index_in_dim(x, x[0], k, 0)",
    "v: lax.top_k(v, 2)",
    "i: lax.top_k(i, 2)",
    "x: lax.top_k(x, 2, axis=0)",
    "x, v: [lax.top_k(x, 2), lax.top_k(v, 1)]",
)


def text(engine: Any, source: str) -> str:
    names = [name.strip() for name in source.split(":")[0].split(",") if name.strip()]
    function = eval(f"lambda {source}", {"jnp": engine.numpy, "lax": engine.lax, "np": np})
    return engine.jit(function).lower(*[ARGUMENTS[name] for name in names]).as_text()


def odd(x: Any) -> Any:
    return {"it's \"": x, "a\\": x, "é": x}


odd.__name__ = "odd-1.é_"


def test_names_are_quoted_and_escaped_as_in_jax() -> None:
    texts = [
        engine.jit(lambda x, e=engine: e.jit(odd)(x)).lower(np.ones(3, np.float32)).as_text()
        + engine.jit(odd).lower(1.0).as_text()
        for engine in (jax, celadon)
    ]
    assert "\\C3\\A9" in texts[1]
    assert texts[1] == texts[0].replace('jax.result_info = "result', 'jax.result_info = "')


def test_a_donation_that_fits_no_result_is_not_shown() -> None:
    texts: list[str] = []
    for engine in (jax, celadon):
        with pytest.warns(UserWarning, match="onat"):
            summed = engine.jit(lambda x, y: x.sum() + y, donate_argnums=0).lower(np.ones(4, np.float32), np.float32(1))
        texts.append(summed.as_text().replace('jax.result_info = "result', 'jax.result_info = "'))
    assert texts[0] == texts[1]


@pytest.mark.parametrize("source", FUNCTIONS)
def test_text_is_what_jax_prints(source: str) -> None:
    theirs = text(jax, source).replace('jax.result_info = "result', 'jax.result_info = "')
    assert text(celadon, source) == theirs
