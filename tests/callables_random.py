"""How to call the functions of celadon.random, nn, nn.initializers and scipy.special: forms on a Kit, see callables.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from celadon import random

Form = Callable[[Any, Any], Any]
Forms = dict[str, Form | list[Form]]

_shaped: list[Form] = [lambda f, k: f(k.key, k.shape), lambda f, k: f(k.key, k.shape, "bfloat16"), lambda f, k: f(k.key)]


def _with(count: int, low: float = 0.25) -> list[Form]:
    """A distribution with parameters: numbers, and an array with numbers."""
    return [
        lambda f, k: f(k.key, *_rising(k, low, count), k.shape),
        lambda f, k: f(k.key, abs(k.v) + low, *_rising(k, low + 9, count)[1:], k.shape),
    ]


def _rising(k: Any, low: float, count: int) -> list[float]:
    return [low + abs(k.t) * (i + 1) for i in range(count)]


def _typed(k: Any) -> Any:
    return random.wrap_key_data(k.key)


RANDOM: Forms = {
    "PRNGKey": lambda f, k: f(k.whole),
    "key": lambda f, k: random.key_data(f(k.whole)),
    "clone": lambda f, k: random.key_data(f(_typed(k))),
    "wrap_key_data": lambda f, k: random.key_data(f(k.key)),
    "key_data": [lambda f, k: f(_typed(k)), lambda f, k: f(k.key)],
    "split": [lambda f, k: f(k.key), lambda f, k: f(k.key, k.n), lambda f, k: random.key_data(f(_typed(k), k.shape))],
    "fold_in": [lambda f, k: f(k.key, k.whole), lambda f, k: random.key_data(f(_typed(k), k.start))],
    "bits": [lambda f, k: f(k.key, k.shape), lambda f, k: f(_typed(k), k.shape, "uint8"), lambda f, k: f(k.key)],
    "uniform": [*_shaped, lambda f, k: f(k.key, k.shape, minval=k.s, maxval=9.0), lambda f, k: f(k.key, k.shape, None, -k.v, 9)],
    "normal": [*_shaped, lambda f, k: f(_typed(k), (k.n, k.p), "complex64")],
    "truncated_normal": [
        lambda f, k: f(k.key, k.s - 5, k.t, k.shape), lambda f, k: f(k.key, -abs(k.v), abs(k.v2) + 1, k.shape)
    ],
    "randint": [
        lambda f, k: f(k.key, k.shape, k.whole, 99), lambda f, k: f(k.key, k.shape, k.iv, k.iv + k.whole, "int8"),
        lambda f, k: f(_typed(k), (), 0, k.whole),
    ],
    "bernoulli": [
        lambda f, k: f(k.key, abs(k.t) / 9, k.shape), lambda f, k: f(k.key, abs(k.v) / 9), lambda f, k: f(k.key, k.t, mode="high")
    ],
    "rademacher": lambda f, k: f(k.key, k.shape),
    **dict.fromkeys(("cauchy", "exponential", "laplace", "logistic", "maxwell"), _shaped),
    "gumbel": [*_shaped, *[lambda f, k, mode=mode: f(k.key, k.shape, mode=mode) for mode in ("high", "highest")]],
    **{name: _with(1) for name in ("pareto", "rayleigh", "wald", "lognormal")},
    "triangular": _with(3)[0],
    **{name: _with(1) for name in ("gamma", "loggamma", "chisquare", "t")},
    **{name: _with(2) for name in ("beta", "f")},
    "dirichlet": lambda f, k: f(k.key, abs(k.v) + 0.1, (k.m,)),
    "generalized_normal": lambda f, k: f(k.key, abs(k.t), k.shape),
    "ball": lambda f, k: f(k.key, k.n, abs(k.t) + 1, (k.m,)),
    "poisson": [lambda f, k: f(k.key, abs(k.t) * 9, k.shape), lambda f, k: f(k.key, abs(k.v) * 9)],
    "binomial": [lambda f, k: f(k.key, k.whole, abs(k.t) / 9, k.shape), lambda f, k: f(k.key, k.iv * 9, abs(k.v) / 9)],
    "multivariate_normal": [
        lambda f, k: f(k.key, k.v, k.square @ k.square.T, (k.m,)), lambda f, k: f(k.key, k.v, k.square @ k.square.T, method="svd")
    ],
    "orthogonal": [lambda f, k: f(k.key, k.n), lambda f, k: f(k.key, k.n, (k.m,), m=2)],
    "multinomial": lambda f, k: f(k.key, k.whole, abs(k.v) + 0.1),
    "geometric": [lambda f, k: f(k.key, abs(k.t) / 9, k.shape), lambda f, k: f(k.key, abs(k.v) / 9 + 0.1)],
    "weibull_min": [lambda f, k: f(k.key, abs(k.s), abs(k.t), k.shape), lambda f, k: f(k.key, k.v, abs(k.v2) + 1, k.shape)],
    "double_sided_maxwell": [lambda f, k: f(k.key, k.s, k.t, k.shape), lambda f, k: f(k.key, k.v, k.t)],
    "permutation": [
        lambda f, k: f(k.key, k.n), lambda f, k: f(k.key, k.x), lambda f, k: f(_typed(k), k.v),
        lambda f, k: f(k.key, k.x, 1, independent=True),
    ],
    "choice": [
        lambda f, k: f(k.key, k.n, (k.m,)), lambda f, k: f(k.key, k.x, (2, 2), axis=1),
        lambda f, k: f(k.key, k.x, (3,), replace=False), lambda f, k: f(k.key, k.n, (k.m,), p=abs(k.v)),
        lambda f, k: f(k.key, k.v, (3,), False, abs(k.v) + 1),
    ],
    "categorical": [
        lambda f, k: f(k.key, k.x), lambda f, k: f(k.key, k.x, 0, shape=(k.p, k.n)),
        lambda f, k: f(k.key, k.x, shape=(3, k.m), replace=False),
    ],
}  # fmt: skip

NN: Forms = {
    "elu": [lambda f, k: f(k.x), lambda f, k: f(k.x, k.s), lambda f, k: f(k.v, alpha=k.scalar)],
    "celu": [lambda f, k: f(k.x), lambda f, k: f(k.x, k.t)],
    "leaky_relu": [lambda f, k: f(k.x), lambda f, k: f(k.x, k.t)],
    "squareplus": [lambda f, k: f(k.x), lambda f, k: f(k.x, k.t)],
    "gelu": [lambda f, k: f(k.x), lambda f, k: f(k.x, approximate=False)],
    "glu": lambda f, k: f(k.x.repeat(2, axis=1)),
    "logmeanexp": [lambda f, k: f(k.x), lambda f, k: f(k.x, 0, keepdims=True), lambda f, k: f(k.x, 1, where=k.b)],
    "logsumexp": [
        lambda f, k: f(k.x), lambda f, k: f(k.x, 0, k.y, return_sign=True), lambda f, k: f(k.x, (0, 1), where=k.b, keepdims=True)
    ],
    "softmax": [lambda f, k: f(k.x), lambda f, k: f(k.cube, (0, 2)), lambda f, k: f(k.x, 0, where=k.b)],
    "log_softmax": [lambda f, k: f(k.x), lambda f, k: f(k.cube, (0, 2)), lambda f, k: f(k.x, 0, where=k.b)],
    "standardize": [
        lambda f, k: f(k.x), lambda f, k: f(k.x, epsilon=k.t, algorithm="stable"), lambda f, k: f(k.x, 0, k.s, k.t, where=k.b)
    ],
    "one_hot": [lambda f, k: f(k.i, k.n), lambda f, k: f(k.u, 1000, dtype="int32", axis=0)],
    "dot_product_attention": [
        lambda f, k: f(k.heads, k.fewer, k.fewer, scale=k.s),
        lambda f, k: f(k.heads, k.heads, k.heads, is_causal=True, return_residual=True),
        lambda f, k: f(k.heads, k.heads, k.heads, local_window_size=(k.whole, k.other)),
    ],
    "log1mexp": lambda f, k: f(abs(k.x)),
}  # fmt: skip

_scaled: Form = lambda f, k: f()(k.key, (k.n, k.p))  # noqa: E731

INITIALIZERS: Forms = {
    "zeros": lambda f, k: f(k.key, k.shape),
    "ones": lambda f, k: f(k.key, k.shape),
    "constant": lambda f, k: f(k.s)(k.key, k.shape),
    "uniform": lambda f, k: f(k.s)(k.key, k.shape),
    "normal": lambda f, k: f(k.s)(k.key, k.shape),
    "truncated_normal": lambda f, k: f(k.s, lower=k.t - 5)(k.key, k.shape),
    "variance_scaling": [
        lambda f, k: f(abs(k.s), "fan_avg", "normal")(k.key, k.shape),
        lambda f, k: f(abs(k.s), "fan_in", "truncated_normal", (0, 1), 2)(k.key, (k.m, k.n, k.p)),
        lambda f, k: f(abs(k.s), "fan_geo_avg", "uniform")(k.key, k.shape, "complex64"),
    ],
    "orthogonal": lambda f, k: f(k.s)(k.key, (k.m, k.n, 3)),
    "delta_orthogonal": lambda f, k: f(k.s)(k.key, (k.p, 2, k.n)),
    **{f"{name}_{kind}": _scaled for name in ("glorot", "he", "kaiming", "lecun", "xavier") for kind in ("normal", "uniform")},
}

SPECIAL: Forms = {
    **{name: lambda f, k: f(abs(k.x), abs(k.y)) for name in ("boxcox", "boxcox1p", "kl_div", "rel_entr", "xlog1py", "xlogy")},
    "comb": [lambda f, k: f(abs(k.x) + 9, abs(k.y)), lambda f, k: f(abs(k.x) + 9, k.whole, repetition=True)],
    "polygamma": [lambda f, k: f(k.i, abs(k.x) + 1), lambda f, k: f(k.whole, abs(k.v) + 1)],
    "zeta": lambda f, k: f(abs(k.x) + 2, abs(k.y) + 1),
    "multigammaln": lambda f, k: f(abs(k.x) + 9, k.whole),
    "log_ndtr": [lambda f, k: f(k.x), lambda f, k: f(k.x, 5)],
    "factorial": lambda f, k: f(abs(k.x)),
    **{name: NN[name] for name in ("logsumexp", "softmax", "log_softmax")},
}


def arrays_of(sizes: Any) -> dict[str, np.ndarray[Any, Any]]:
    """What a Kit has for these: a key as two words, and arrays of an attention (batch, length, heads, size)."""
    normal = np.random.default_rng([sizes.m, sizes.n]).normal(size=(2, sizes.m, 4, sizes.p)).astype(np.float32)
    return {"key": np.array([7, 42], "uint32"), "heads": normal, "fewer": normal[:, :, :2].copy()}
