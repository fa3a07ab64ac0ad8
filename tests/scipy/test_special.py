"""Special functions against JAX's and SciPy's values, and their derivatives against JAX's."""

from __future__ import annotations

import warnings
from typing import Any

import jax
import jax.scipy.special as theirs
import numpy as np
import pytest
import scipy.special as exact

import celadon
import celadon.scipy.special as ours
from celadon import errors

LINE = np.linspace(-6, 6, 49, dtype=np.float32)
UNIT = np.linspace(0, 1, 33, dtype=np.float32)
OTHER = np.random.default_rng(0).random(33).astype(np.float32)
NONE = np.zeros(33, np.float32)
CASES: list[tuple[str, tuple[Any, ...]]] = [
    *[(name, (LINE,)) for name in ("digamma", "erf", "erfc", "expit", "factorial", "gamma", "gammaln", "gammasgn", "i1", "i1e",
                                   "log_ndtr", "ndtr", "entr")],
    *[(name, (UNIT,)) for name in ("entr", "erfinv", "logit")],
    *[(name, pair) for name in ("boxcox", "boxcox1p", "kl_div", "rel_entr", "xlog1py", "xlogy")
      for pair in ((UNIT, OTHER), (OTHER, UNIT), (UNIT, NONE), (NONE, NONE), (-UNIT, OTHER))],
    ("comb", (np.float32([5, 10, 3, -1, 4]), np.float32([2, 3, 5, 1, -1]))),
    ("polygamma", (np.int32([1, 2, 3]), np.float32([1, 2, 3.5]))),
    ("zeta", (np.float32([2, 3, 1.5]), np.float32([1, 2.5, 4]))),
    ("multigammaln", (OTHER + 5, 3)),
    ("log_ndtr", (np.float32([-30, -11, -10, 4.9, 5, 7]), 5)),
    ("xlogy", (2, 3)), ("gamma", (2.5,)), ("entr", (0.5,)), ("ndtr", (0.5,)), ("logit", (0.25,)), ("gammasgn", (-0.5,)),
    ("softmax", (LINE,)), ("log_softmax", (LINE,)), ("logsumexp", (LINE,)),
]  # fmt: skip


def test_values_are_those_of_jax() -> None:
    expected = jax.jit(lambda: [getattr(theirs, name)(*args) for name, args in CASES])()
    for (name, args), wanted in zip(CASES, expected, strict=True):
        found = getattr(ours, name)(*args)
        kinds = [(x.dtype, x.shape, x.weak_type) for x in (found, wanted)]
        assert kinds[0] == kinds[1], name
        np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=6e-6, atol=6e-6, err_msg=name)


def test_repeated_choices() -> None:
    n, k = np.float32([5, 10, 3, 0]), np.float32([2, 3, 5, 0])
    found = np.asarray(ours.comb(n, k, repetition=True))
    np.testing.assert_allclose(found, [exact.comb(a, b, repetition=True) for a, b in zip(n, k, strict=True)], rtol=1e-5)


@pytest.mark.parametrize("name", ["ndtr", "log_ndtr", "entr", "gamma", "xlogy", "rel_entr", "boxcox"])
def test_values_in_double_are_those_of_scipy(name: str) -> None:
    operands = [np.linspace(0.05, 7, 40), np.linspace(3, 0.1, 40)]
    operands = operands if name in ("xlogy", "rel_entr", "boxcox") else [np.linspace(-7, 7, 41)]
    with celadon.enable_x64(True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = np.asarray(getattr(ours, name)(*operands))
        np.testing.assert_allclose(found, getattr(exact, name)(*operands), rtol=2e-13, atol=1e-14)


def test_derivatives_are_those_of_jax() -> None:
    points = np.float32([0.0, 0.2, 0.7, 1.0])
    functions = (
        lambda m, x: m.xlogy(x, 2.0), lambda m, x: m.xlogy(2.0, x + 0.1), lambda m, x: m.xlog1py(x, 3.0),
        lambda m, x: m.xlog1py(2.0, x), lambda m, x: m.entr(x + 0.1), lambda m, x: m.rel_entr(x + 0.1, 0.5),
        lambda m, x: m.kl_div(0.5, x + 0.1), lambda m, x: m.logit(x * 0.9 + 0.05), lambda m, x: m.log_ndtr(x - 12),
        lambda m, x: m.log_ndtr(x), lambda m, x: m.gamma(x + 0.5), lambda m, x: m.ndtr(x), lambda m, x: m.erfinv(x * 0.9),
        lambda m, x: m.digamma(x + 0.5), lambda m, x: m.expit(x), lambda m, x: m.boxcox(x + 0.1, 0.3),
    )  # fmt: skip
    expected = jax.jit(lambda: [jax.grad(lambda x, f=f: f(theirs, x).sum())(points) for f in functions])()
    for i, (f, wanted) in enumerate(zip(functions, expected, strict=True)):
        found = celadon.grad(lambda x, f=f: f(ours, x).sum())(points)
        np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=2e-5, atol=1e-6, err_msg=str(i))


def test_what_is_refused() -> None:
    for refused in (
        lambda: ours.polygamma(1.0, 2.0), lambda: ours.entr(1j), lambda: ours.gammasgn(1j), lambda: ours.ndtr(np.int32(1)),
        lambda: ours.log_ndtr(np.float16(1)),
    ):  # fmt: skip
        with pytest.raises(errors.DTypeNotAccepted):
            refused()
    for refused in (lambda: ours.log_ndtr(1.0, 31), lambda: ours.factorial(3, exact=True)):
        with pytest.raises(errors.OptionUnknown):
            refused()
