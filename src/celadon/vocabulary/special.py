"""Elementwise special functions of CHLO: the error, gamma, zeta and Bessel functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from celadon import errors
from celadon.op import Op, unite_all
from celadon.vocabulary import bessel, error_function, gamma_function
from celadon.vocabulary.arithmetic import add, divide, multiply, negate, sign, square, subtract
from celadon.vocabulary.comparison import compare, select
from celadon.vocabulary.kinds import FLOAT, elementwise, like, one_type, strong
from celadon.vocabulary.precision import in_double
from celadon.vocabulary.transcendental import exponential


def _special(name: str, numpy: Callable[..., Any], operands: int = 1, **rules: Any) -> Op:
    return elementwise(name, in_double(numpy), FLOAT, operands, text=f"chlo.{name}", **rules)


def _bell(x: Any) -> Any:
    """exp(-x²) 2/sqrt(pi), the slope of erf."""
    return multiply(strong(2 / math.sqrt(math.pi), x), exponential(negate(square(x))))


def _erf_inv_tangent(t: Any, out: Any, x: Any) -> Any:
    return multiply(t, multiply(strong(math.sqrt(math.pi) / 2, x), exponential(square(out))))


def _next_polygamma(t: Any, out: Any, m: Any, x: Any) -> Any:
    return multiply(t, polygamma(add(m, like(1, m)), x))


def _zeta_tangent(t: Any, out: Any, x: Any, q: Any) -> Any:
    return negate(multiply(t, multiply(x, zeta(add(x, like(1, x)), q))))


def _no_order(name: str) -> Callable[..., Any]:
    def rule(t: Any, out: Any, *operands: Any) -> Any:
        raise errors.NotDifferentiable(op=f"{name} by its order")

    return rule


def _i0e_tangent(t: Any, out: Any, x: Any) -> Any:
    return multiply(t, subtract(bessel_i1e(x), multiply(sign(x), out)))


def _i1e_tangent(t: Any, out: Any, x: Any) -> Any:
    """i0e(x) - (sign(x) + 1/x) i1e(x), which is 1/2 at zero."""
    none = compare(x, like(0, x), direction="EQ")
    ratio = select(none, like(0.5, x), divide(out, select(none, like(1, x), x)))
    return multiply(t, subtract(subtract(bessel_i0e(x), ratio), multiply(sign(x), out)))


erf = _special("erf", error_function.erf, tangent=(lambda t, out, x: multiply(t, _bell(x)),))
erfc = _special("erfc", error_function.erfc, tangent=(lambda t, out, x: negate(multiply(t, _bell(x))),))
erf_inv = _special("erf_inv", error_function.erf_inv, tangent=(_erf_inv_tangent,))
bessel_i0e = Op(
    "bessel_i0e", one_type("bessel_i0e", FLOAT), in_double(bessel.bessel_i0e), expand=bessel.expand_i0e, unite=unite_all,
    kind="elementwise", tangent=(_i0e_tangent,),
)
bessel_i1e = _special("bessel_i1e", bessel.bessel_i1e, tangent=(_i1e_tangent,))
lgamma = _special("lgamma", gamma_function.lgamma, tangent=(lambda t, out, x: multiply(t, digamma(x)),))
digamma = _special("digamma", gamma_function.digamma, tangent=(lambda t, out, x: multiply(t, polygamma(strong(1, x), x)),))
polygamma = _special("polygamma", gamma_function.polygamma, 2, tangent=(_no_order("polygamma"), _next_polygamma))
zeta = _special("zeta", gamma_function.zeta, 2, tangent=(_no_order("zeta"), _zeta_tangent))
