"""Exponentials, logarithms and trigonometry, element by element: integers become floats, and one op computes the rest."""

from __future__ import annotations

import math
from typing import Any

from celadon import vocabulary as ops
from celadon.numpy.promotion import constant, inexact, operand
from celadon.numpy.ufuncs import binary, defined_in, unary
from celadon.program import literal
from celadon.types import kind
from celadon.vocabulary.call import named

exp = unary("exp", lambda x: ops.exponential(x), "inexact", """e to the power of each element.

    >>> exp(np.array([0, 0]))
    Array([1., 1.], dtype=float32)
    """)  # fmt: skip

exp2 = unary("exp2", lambda x: ops.exp2(x), "inexact", """2 to the power of each element.

    >>> exp2(np.array([0, 0]))
    Array([1., 1.], dtype=float32)
    """)  # fmt: skip

expm1 = unary("expm1", lambda x: ops.exponential_minus_one(x), "inexact", """exp(x) - 1, exact for small x.

    >>> expm1(np.array([0, 0]))
    Array([0., 0.], dtype=float32)
    """)  # fmt: skip

log = unary("log", lambda x: ops.log(x), "inexact", """The natural logarithm; -inf at 0, NaN for negative floats.

    >>> log(np.array([1, 0]))
    Array([  0., -inf], dtype=float32)
    """)  # fmt: skip

log1p = unary("log1p", lambda x: ops.log_plus_one(x), "inexact", """log(1 + x), exact for small x.

    >>> log1p(np.array([0, -1]))
    Array([  0., -inf], dtype=float32)
    """)  # fmt: skip


def log2(x: Any, /) -> Any:
    """The logarithm to base 2.

    >>> log2(np.array([1, 2]))
    Array([0., 1.], dtype=float32)
    """
    (x,) = inexact("log2", x)
    logarithm = ops.log(x)
    if kind(x.type.dtype) == "c":
        parts = ops.real(logarithm), ops.imag(logarithm)
        base = ops.log(literal(2, parts[0].type.dtype))
        return ops.complex_(*[ops.divide(part, base) for part in parts])
    return ops.divide(logarithm, ops.log(literal(2, x.type.dtype)))


def log10(x: Any, /) -> Any:
    """The logarithm to base 10.

    >>> log10(np.array([1, 1]))
    Array([0., 0.], dtype=float32)
    """
    (x,) = inexact("log10", x)
    logarithm = ops.log(x)
    if kind(x.type.dtype) == "c":
        parts = ops.real(logarithm), ops.imag(logarithm)
        return ops.complex_(*[ops.multiply(part, _per_decade(part)) for part in parts])
    return ops.multiply(logarithm, _per_decade(logarithm))


def _per_decade(x: Any) -> Any:
    return literal(1 / math.log(10), x.type.dtype)


sin = unary("sin", lambda x: ops.sine(x), "inexact", """The sine; x in radians.

    >>> sin(np.array([0, 0]))
    Array([0., 0.], dtype=float32)
    """)  # fmt: skip

cos = unary("cos", lambda x: ops.cosine(x), "inexact", """The cosine; x in radians.

    >>> cos(np.array([0, 0]))
    Array([1., 1.], dtype=float32)
    """)  # fmt: skip

tan = unary("tan", lambda x: ops.tan(x), "inexact", """The tangent; x in radians.

    >>> tan(np.array([0, 0]))
    Array([0., 0.], dtype=float32)
    """)  # fmt: skip

arcsin = unary("arcsin", lambda x: ops.asin(x), "inexact", """The angle from -pi/2 to pi/2 whose sine is x.

    >>> arcsin(np.array([0, 0]))
    Array([0., 0.], dtype=float32)
    """)  # fmt: skip

arccos = unary("arccos", lambda x: ops.acos(x), "inexact", """The angle from 0 to pi whose cosine is x.

    >>> arccos(np.array([1, 1]))
    Array([0., 0.], dtype=float32)
    """)  # fmt: skip

arctan = unary("arctan", lambda x: ops.atan(x), "inexact", """The angle from -pi/2 to pi/2 whose tangent is x.

    >>> arctan(np.array([0, 0]))
    Array([0., 0.], dtype=float32)
    """)  # fmt: skip

arctan2 = binary("arctan2", lambda y, x: ops.atan2(y, x), "inexact", """The angle of the point (x2, x1), from -pi to pi.

    >>> arctan2(np.array([0.0], "float32"), np.array([1.0], "float32"))
    Array([0.], dtype=float32)
    """)  # fmt: skip

sinh = unary("sinh", lambda x: ops.sinh(x), "inexact", """The hyperbolic sine.

    >>> sinh(np.array([0, 0]))
    Array([0., 0.], dtype=float32)
    """)  # fmt: skip

cosh = unary("cosh", lambda x: ops.cosh(x), "inexact", """The hyperbolic cosine.

    >>> cosh(np.array([0, 0]))
    Array([1., 1.], dtype=float32)
    """)  # fmt: skip

tanh = unary("tanh", lambda x: ops.tanh(x), "inexact", """The hyperbolic tangent.

    >>> tanh(np.array([0, 0]))
    Array([0., 0.], dtype=float32)
    """)  # fmt: skip

arcsinh = unary("arcsinh", lambda x: ops.asinh(x), "inexact", """The number whose hyperbolic sine is x.

    >>> arcsinh(np.array([0, 0]))
    Array([0., 0.], dtype=float32)
    """)  # fmt: skip

arctanh = unary("arctanh", lambda x: ops.atanh(x), "inexact", """The number whose hyperbolic tangent is x.

    >>> arctanh(np.array([0, 0]))
    Array([0., 0.], dtype=float32)
    """)  # fmt: skip


def arccosh(x: Any, /) -> Any:
    """The number of at least 0 whose hyperbolic cosine is x.

    >>> arccosh(np.array([1, 1]))
    Array([0., 0.], dtype=float32)
    """
    return _arccosh(operand(x, "arccosh"))


@named("arccosh")
def _arccosh(x: Any) -> Any:
    (x,) = inexact("arccosh", x)
    root = ops.acosh(x)
    if kind(x.type.dtype) != "c":
        return root
    left = ops.compare(ops.real(root), constant(0, ops.real(root)), direction="LT")
    return ops.select(left, ops.negate(root), root)


asin = unary("asin", arcsin, "same", """The same as arcsin.

    >>> asin(np.array([0, 0]))
    Array([0., 0.], dtype=float32)
    """)  # fmt: skip
acos = unary("acos", arccos, "same", """The same as arccos.

    >>> acos(np.array([1, 1]))
    Array([0., 0.], dtype=float32)
    """)  # fmt: skip
atan = unary("atan", arctan, "same", """The same as arctan.

    >>> atan(np.array([0, 0]))
    Array([0., 0.], dtype=float32)
    """)  # fmt: skip
asinh = unary("asinh", arcsinh, "same", """The same as arcsinh.

    >>> asinh(np.array([0, 0]))
    Array([0., 0.], dtype=float32)
    """)  # fmt: skip
acosh = unary("acosh", arccosh, "same", """The same as arccosh.

    >>> acosh(np.array([1, 1]))
    Array([0., 0.], dtype=float32)
    """)  # fmt: skip
atanh = unary("atanh", arctanh, "same", """The same as arctanh.

    >>> atanh(np.array([0, 0]))
    Array([0., 0.], dtype=float32)
    """)  # fmt: skip
atan2 = binary("atan2", arctan2, "same", """The same as arctan2.

    >>> atan2(np.array([0.0], "float32"), np.array([1.0], "float32"))
    Array([0.], dtype=float32)
    """)  # fmt: skip


def _scaled(factor: float) -> Any:
    return lambda x: ops.multiply(x, constant(factor, x))


deg2rad = unary("deg2rad", _scaled(math.pi / 180), "inexact", """Degrees converted to radians.

    >>> deg2rad(np.array([0, 0]))
    Array([0., 0.], dtype=float32)
    """)  # fmt: skip
rad2deg = unary("rad2deg", _scaled(180 / math.pi), "inexact", """Radians converted to degrees.

    >>> rad2deg(np.array([0, 0]))
    Array([0., 0.], dtype=float32)
    """)  # fmt: skip
radians = unary("radians", _scaled(math.pi / 180), "inexact", """Degrees converted to radians.

    >>> radians(np.array([0, 0]))
    Array([0., 0.], dtype=float32)
    """)  # fmt: skip
degrees = unary("degrees", _scaled(180 / math.pi), "inexact", """Radians converted to degrees.

    >>> degrees(np.array([0, 0]))
    Array([0., 0.], dtype=float32)
    """)  # fmt: skip


defined_in(
    __name__, exp, exp2, expm1, log, log1p, sin, cos, tan, arcsin,
    arccos, arctan, arctan2, sinh, cosh, tanh, arcsinh, arctanh, asin, acos, atan, asinh, acosh, atanh, atan2, deg2rad,
    rad2deg, radians, degrees,
)  # fmt: skip
