"""The modified Bessel functions i0e and i1e in float64, by Chebyshev expansions of our own, for special.py.

The coefficients are interpolations at 60 digits, made with mpmath.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from celadon.types import DType, float32
from celadon.vocabulary.arithmetic import abs_, add, divide, maximum, minimum, multiply, subtract
from celadon.vocabulary.comparison import compare, select
from celadon.vocabulary.conversion import convert
from celadon.vocabulary.kinds import HALF, like
from celadon.vocabulary.transcendental import sqrt

Array = Any
Coefficients = tuple[float, ...]

# i0e(x) by x/4 - 1, for x <= 8; i0e(x) sqrt(x) by 16/x - 1, for x >= 8
_I0_NEAR: Coefficients = (
    0.33839763720473803, -0.3046826723431984, 0.17162090152220877, -0.09490109704804764, 0.04930528423967071,
    -0.02373741480589947, 0.010546460394594998, -0.004324309995050576, 0.0016394756169413357, -0.0005763755745385824,
    0.00018850288509584165, -5.754195010082104e-05, 1.6448448070728896e-05, -4.4167383584587505e-06,
    1.1173875391201037e-06, -2.670793853940612e-07, 6.046995022541919e-08, -1.300025009986248e-08,
    2.6598237246823866e-09, -5.189795601635263e-10, 9.675809035373237e-11, -1.726826291441556e-11,
    2.95505266312964e-12, -4.856446783111929e-13, 7.676185498604936e-14, -1.1685332877993451e-14,
    1.715391285555133e-15, -2.431279846547955e-16, 3.3307945188222384e-17,
)  # fmt: skip
_I0_FAR: Coefficients = (
    0.4022452055070544, 0.0033691164782556943, 6.889758346916825e-05, 2.8913705208347567e-06, 2.0489185894690638e-07,
    2.266668990498178e-08, 3.3962320257083865e-09, 4.94060238822497e-10, 1.1889147107846439e-11,
    -3.1499165279632416e-11, -1.3215811840447713e-11, -1.7941785315068062e-12, 7.180124451383666e-13,
    3.8527783827421426e-13, 1.54008621752141e-14, -4.150569347287222e-14, -9.554846698828307e-15,
    3.8116806693526224e-15, 1.7725601330565263e-15, -3.425485619677219e-16, -2.8276239805165836e-16,
    3.461222867697461e-17,
)  # fmt: skip

# i1e(x) / x by x/4 - 1, for x <= 8; i1e(x) sqrt(x) by 16/x - 1, for x >= 8
_I1_NEAR: Coefficients = (
    0.12629359322181682, -0.17641651835783406, 0.1026436586898471, -0.05294598120809499, 0.024726449030626516,
    -0.010564084894626197, 0.004156422944312888, -0.0015135724506312532, 0.0005122859561685758,
    -0.00016176081582589674, 4.781565107550054e-05, -1.3273163656039436e-05, 3.4702513081376785e-06,
    -8.568720264695455e-07, 2.0032947535521353e-07, -4.445059128796328e-08, 9.381537386495773e-09,
    -1.8872497517228294e-09, 3.625590281552117e-10, -6.663489723502027e-11, 1.1736186298890901e-11,
    -1.9839743977649436e-12, 3.223793365945575e-13, -5.042185504727912e-14, 7.600684294735408e-15,
    -1.1055969477353862e-15, 1.5536319577362005e-16, -2.111421214358166e-17,
)  # fmt: skip
_I1_FAR: Coefficients = (
    0.38928811750914005, -0.009761097491361469, -0.00011058893876262371, -3.882564808877691e-06,
    -2.512236237870209e-07, -2.6314688468895196e-08, -3.835380385964237e-09, -5.589743462196584e-10,
    -1.8974958123505413e-11, 3.2526035830154884e-11, 1.4125807436613782e-11, 2.0356285441470896e-12,
    -7.198551776245908e-13, -4.0835511110921974e-13, -2.1015418427726643e-14, 4.272440016711951e-14,
    1.0420276984128802e-14, -3.8144030724370075e-15, -1.8803547755107825e-15, 3.3082023109209285e-16,
    2.96262899764595e-16, -3.209525921993424e-17, -4.6503053684893586e-17,
)  # fmt: skip


def _chebyshev(x: Array, coefficients: Coefficients) -> Array:
    return np.polynomial.chebyshev.chebval(x, np.array(coefficients))


def _far(size: Array, coefficients: Coefficients) -> Array:
    large = np.maximum(size, 8)
    return _chebyshev(16 / large - 1, coefficients) / np.sqrt(large)


def bessel_i0e(x: Array) -> Array:
    """exp(-|x|) times the modified Bessel function of the first kind of order 0."""
    size = np.abs(x)
    return np.where(size <= 8, _chebyshev(np.minimum(size, 8) / 4 - 1, _I0_NEAR), _far(size, _I0_FAR))


def bessel_i1e(x: Array) -> Array:
    """exp(-|x|) times the modified Bessel function of the first kind of order 1."""
    size = np.abs(x)
    near = x * _chebyshev(np.minimum(size, 8) / 4 - 1, _I1_NEAR)
    return np.where(size <= 8, near, np.copysign(_far(size, _I1_FAR), x))


def expand_i0e(x: Any) -> Any:
    """i0e in terms of other ops; 16-bit floats by way of float32."""
    if x.type.dtype in HALF:
        return convert(expand_i0e(convert(x, new_dtype=float32)), new_dtype=x.type.dtype)
    size, eight = abs_(x), like(8, x)
    near = _sum(subtract(divide(minimum(size, eight), like(4, x)), like(1, x)), _I0_NEAR)
    large = maximum(size, eight)
    far = divide(_sum(subtract(divide(like(16, x), large), like(1, x)), _I0_FAR), sqrt(large))
    return select(compare(size, eight, direction="LE"), near, far)


def _sum(x: Any, coefficients: Coefficients) -> Any:
    """A Chebyshev series by Clenshaw's recurrence, without the terms that a dtype doesn't see."""
    first, *rest = coefficients[: _seen(coefficients, x.type.dtype)]
    twice = multiply(like(2, x), x)
    later, last = like(0, x), like(rest.pop(), x)
    for c in reversed(rest):
        later, last = last, add(subtract(multiply(twice, last), later), like(c, x))
    return add(subtract(multiply(x, last), later), like(first, x))


def _seen(coefficients: Coefficients, dtype: DType) -> int:
    smallest = float(np.finfo(dtype).eps) / 8
    return max(i for i, c in enumerate(coefficients) if abs(c) > smallest) + 1
