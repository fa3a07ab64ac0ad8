"""Elementwise functions of analysis: exponentials, logarithms, roots, trigonometric and hyperbolic ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from celadon.op import Op, unite_all
from celadon.program import fixed
from celadon.vocabulary.arithmetic import add, divide, integer_pow, joined, multiply, negate, square, subtract
from celadon.vocabulary.kinds import FLOAT, INEXACT, elementwise, like, one_type, strong
from celadon.vocabulary.precision import by_kind, in_double, in_single

Array = Any


def _chlo(name: str, numpy: Any, slope: Callable[[Array], Array]) -> Op:
    tangent = (lambda t, out, x: multiply(t, slope(x)),)
    return elementwise(name, in_double(numpy), INEXACT, text=f"chlo.{name}", tangent=tangent)


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


def _tanh_tangent(t: Any, out: Array, x: Array) -> Array:
    return multiply(t, subtract(like(1, x), square(out)))


def _square_size(x: Array, y: Array) -> Array:
    return add(square(x), square(y))


sqrt = elementwise(
    "sqrt", by_kind(f=in_single(np.sqrt), c=in_double(np.sqrt)), INEXACT, exact="f",
    tangent=(lambda t, out, x: multiply(t, divide(strong(0.5, x), out)),),
)  # fmt: skip
rsqrt = elementwise(
    "rsqrt", in_double(_reciprocal_root), INEXACT,
    tangent=(lambda t, out, x: multiply(t, multiply(strong(-0.5, x), divide(out, x))),),
)  # fmt: skip
cbrt = elementwise(
    "cbrt", in_double(np.cbrt), FLOAT,
    tangent=(lambda t, out, x: multiply(t, multiply(strong(1 / 3, x), integer_pow(out, y=-2))),),
)  # fmt: skip
exponential = elementwise("exponential", in_double(np.exp), INEXACT, tangent=(lambda t, out, x: multiply(t, out),))
exponential_minus_one = elementwise(
    "exponential_minus_one", in_double(np.expm1), INEXACT,
    tangent=(lambda t, out, x: multiply(t, add(out, like(1, x))),),
)  # fmt: skip
exp2 = Op(
    "exp2", one_type("exp2", INEXACT), in_double(np.exp2), expand=_exp2_expand, unite=unite_all, kind="elementwise",
    tangent=(lambda t, out, x: multiply(t, multiply(strong(np.log(2.0), x), out)),),
)
log = elementwise("log", in_double(np.log), INEXACT, tangent=(lambda t, out, x: divide(t, x),))
log_plus_one = elementwise(
    "log_plus_one", in_double(_log_near_one), INEXACT,
    tangent=(lambda t, out, x: divide(t, add(x, like(1, x))),),
)  # fmt: skip
logistic = Op(
    "logistic", one_type("logistic", INEXACT), in_double(_logistic), expand=_logistic_expand, unite=unite_all,
    kind="elementwise",
    tangent=(lambda t, out, x: multiply(t, multiply(out, logistic(negate(x)))),),
)  # fmt: skip

sine = elementwise("sine", in_double(np.sin), INEXACT, tangent=(lambda t, out, x: multiply(t, cosine(x)),))
cosine = elementwise("cosine", in_double(np.cos), INEXACT, tangent=(lambda t, out, x: negate(multiply(t, sine(x))),))
tan = elementwise("tan", in_double(np.tan), INEXACT, tangent=(lambda t, out, x: multiply(t, add(strong(1, x), square(out))),))
tanh = elementwise("tanh", in_double(np.tanh), INEXACT, tangent=(_tanh_tangent,))
atan2 = elementwise(
    "atan2", by_kind(f=in_double(np.arctan2), c=in_double(_angle)), INEXACT, 2,
    tangent=(lambda t, out, y, x: multiply(t, divide(x, _square_size(x, y))),
             lambda t, out, y, x: negate(multiply(t, divide(y, _square_size(x, y))))),
)  # fmt: skip

asin = _chlo("asin", np.arcsin, lambda x: rsqrt(subtract(strong(1, x), square(x))))
acos = _chlo("acos", np.arccos, lambda x: negate(rsqrt(subtract(strong(1, x), square(x)))))
atan = _chlo("atan", np.arctan, lambda x: divide(strong(1, x), add(like(1, x), square(x))))
sinh = _chlo("sinh", np.sinh, lambda x: cosh(x))
cosh = _chlo("cosh", np.cosh, lambda x: sinh(x))
asinh = _chlo("asinh", np.arcsinh, lambda x: rsqrt(add(square(x), like(1, x))))
acosh = _chlo("acosh", np.arccosh, lambda x: multiply(rsqrt(subtract(x, like(1, x))), rsqrt(add(x, like(1, x)))))
atanh = _chlo("atanh", np.arctanh, lambda x: divide(like(1, x), multiply(subtract(like(1, x), x), add(like(1, x), x))))
