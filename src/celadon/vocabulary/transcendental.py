"""Elementwise functions of analysis: exponentials, logarithms, roots, trigonometric and hyperbolic ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from celadon.op import Op, unite_all
from celadon.program import fixed
from celadon.vocabulary.arithmetic import add, divide, joined, multiply, negate
from celadon.vocabulary.kinds import FLOAT, INEXACT, elementwise, one_type
from celadon.vocabulary.precision import by_kind, in_double, in_single

Array = Any


def _chlo(name: str, numpy: Any) -> Op:
    return elementwise(name, in_double(numpy), INEXACT, text=f"chlo.{name}")


def _reciprocal_root(x: Array) -> Array:
    return 1 / np.sqrt(x)


def _logistic(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def _logistic_expand(x: Array) -> Array:
    one = fixed(1, x.type.dtype)
    return divide(one, add(one, exponential(negate(x))))


def _exp2_expand(x: Array) -> Array:
    return exponential(multiply(fixed(np.log(2.0), x.type.dtype), x))


def _log_near_one(x: Array) -> Array:
    """log(1 + x) of complex numbers; |1 + x|² - 1 is x.real (2 + x.real) + x.imag², exact near zero."""
    if x.dtype.kind != "c":
        return np.log1p(x)
    near = 0.5 * np.log1p(x.real * (2 + x.real) + x.imag * x.imag)
    size = np.where(np.abs(x) < 0.5, near, np.log(np.abs(1 + x)))
    return joined(size, np.arctan2(x.imag, 1 + x.real))


def _angle(y: Array, x: Array) -> Array:
    """atan2 of complex numbers is -i log((x + iy) / sqrt(x² + y²))."""
    return -1j * np.log((x + 1j * y) / np.sqrt(x * x + y * y))


sqrt = elementwise("sqrt", by_kind(f=in_single(np.sqrt), c=in_double(np.sqrt)), INEXACT, exact="f")
rsqrt = elementwise("rsqrt", in_double(_reciprocal_root), INEXACT)
cbrt = elementwise("cbrt", in_double(np.cbrt), FLOAT)
exponential = elementwise("exponential", in_double(np.exp), INEXACT)
exponential_minus_one = elementwise("exponential_minus_one", in_double(np.expm1), INEXACT)
exp2 = Op(
    "exp2", one_type("exp2", INEXACT), in_double(np.exp2), expand=_exp2_expand, unite=unite_all, kind="elementwise"
)
log = elementwise("log", in_double(np.log), INEXACT)
log_plus_one = elementwise("log_plus_one", in_double(_log_near_one), INEXACT)
logistic = Op(
    "logistic", one_type("logistic", INEXACT), in_double(_logistic), expand=_logistic_expand, unite=unite_all,
    kind="elementwise",
)  # fmt: skip

sine = elementwise("sine", in_double(np.sin), INEXACT)
cosine = elementwise("cosine", in_double(np.cos), INEXACT)
tan = elementwise("tan", in_double(np.tan), INEXACT)
tanh = elementwise("tanh", in_double(np.tanh), INEXACT)
atan2 = elementwise("atan2", by_kind(f=in_double(np.arctan2), c=in_double(_angle)), INEXACT, 2)

asin = _chlo("asin", np.arcsin)
acos = _chlo("acos", np.arccos)
atan = _chlo("atan", np.arctan)
sinh = _chlo("sinh", np.sinh)
cosh = _chlo("cosh", np.cosh)
asinh = _chlo("asinh", np.arcsinh)
acosh = _chlo("acosh", np.arccosh)
atanh = _chlo("atanh", np.arctanh)
