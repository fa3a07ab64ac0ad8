"""Elementwise special functions of CHLO: the error, gamma, zeta and Bessel functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from celadon.op import Op
from celadon.vocabulary import error_function, gamma_function
from celadon.vocabulary.kinds import FLOAT, elementwise
from celadon.vocabulary.precision import in_double


def _special(name: str, numpy: Callable[..., Any], operands: int = 1) -> Op:
    return elementwise(name, in_double(numpy), FLOAT, operands, text=f"chlo.{name}")


erf = _special("erf", error_function.erf)
erfc = _special("erfc", error_function.erfc)
erf_inv = _special("erf_inv", error_function.erf_inv)
bessel_i1e = _special("bessel_i1e", error_function.bessel_i1e)
lgamma = _special("lgamma", gamma_function.lgamma)
digamma = _special("digamma", gamma_function.digamma)
polygamma = _special("polygamma", gamma_function.polygamma, 2)
zeta = _special("zeta", gamma_function.zeta, 2)
