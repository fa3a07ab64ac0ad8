"""erf, erfc and erf_inv in float64, by Chebyshev expansions of our own, for special.py.

The coefficients are interpolations at 60 digits, made with mpmath.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any
Coefficients = tuple[float, ...]

# erf(x) / x by 2x² - 1, for |x| <= 1
_NEAR: Coefficients = (
    0.9754769393826541, -0.14226120510371365, 0.010035582187599796, -0.0005768764699767485,
    2.741993125219606e-05, -1.1043175507344507e-06, 3.8488755420345036e-08, -1.1808582533875466e-09,
    3.2334215826050907e-11, -7.991015947004549e-13, 1.7990725113961456e-14, -3.718635487818693e-16,
)  # fmt: skip

# erfc(x) exp(x²) (x + 1) by (x - 7/2) / (x + 5/2), for x >= 1/2
_FAR: Coefficients = (
    0.7226872759469823, -0.1813259965483842, 0.02253944802395424, 0.0013704301082967689, -0.001346107606763729,
    0.00028666268917451674, -1.887220352365311e-05, -4.115612894271668e-06, 8.308960483440545e-07,
    5.3915085463803684e-08, -2.5951905411841662e-08, -9.573770444253089e-10, 8.420030718437121e-10,
    3.750132222832995e-11, -2.9218433749828863e-11, -2.363840089246047e-12, 1.0278076872906964e-12,
    1.5373985055786001e-13, -3.2658385467842956e-14, -9.196727264757166e-15, 6.566084080620835e-16,
    4.871814507569493e-16,
)  # fmt: skip

def _chebyshev(x: Array, coefficients: Coefficients) -> Array:
    return np.polynomial.chebyshev.chebval(x, np.array(coefficients))


def erf(x: Array) -> Array:
    """2/sqrt(pi) times the integral of exp(-t²) from 0 to x."""
    near = np.clip(x, -1, 1)
    return np.where(np.abs(x) < 1, near * _chebyshev(2 * near * near - 1, _NEAR), np.copysign(1 - _far(np.abs(x)), x))


def erfc(x: Array) -> Array:
    """1 - erf(x), with full relative precision for large x."""
    return np.where(x < 0.5, np.where(x < -0.5, 2 - _far(-x), 1 - erf(x)), _far(x))


def _far(x: Array) -> Array:
    """erfc of x >= 1/2; the square is split so that exp sees it exactly."""
    x = np.where(x < 0.5, 0.5, np.minimum(x, 1e3))
    upper = x.astype(np.float32).astype(np.float64)
    decay = np.exp(-upper * upper) * np.exp(-(x - upper) * (x + upper))
    return decay * _chebyshev((x - 3.5) / (x + 2.5), _FAR) / (x + 1)


def erf_inv(x: Array) -> Array:
    """The inverse of erf: Halley's iteration on erf near zero, on erfc near one."""
    size = np.abs(x)
    near = np.minimum(size, 0.5)
    root = near * (np.sqrt(np.pi) / 2) * (1 + np.pi / 12 * near * near)
    rest = np.clip(1 - size, 2.0**-54, 0.5)
    tail = _winitzki(rest)
    for _ in range(4):
        root = _halley(root, erf(root) - near)
        tail = _halley(tail, rest - erfc(tail))
    found = np.where(size <= 0.5, root, tail)
    found = np.where(size < 1, found, np.where(size == 1, np.inf, np.nan))
    return np.copysign(found, x)


def _winitzki(rest: Array) -> Array:
    """A first guess of the inverse of erfc, good to some thousandths."""
    logarithm = np.log(rest * (2 - rest))
    middle = 2 / (np.pi * 0.147) + logarithm / 2
    return np.sqrt(np.sqrt(middle * middle - logarithm / 0.147) - middle)


def _halley(root: Array, excess: Array) -> Array:
    step = excess * (np.sqrt(np.pi) / 2) * np.exp(root * root)
    return root - step / (1 + root * step)
