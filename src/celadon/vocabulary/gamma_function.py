"""lgamma, digamma, polygamma and the Hurwitz zeta function in float64: series of our own; special.py has the ops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Array = Any
Coefficients = tuple[float, ...]

_EULER = 0.5772156649015329
_HALF_LOG_2_PI = 0.9189385332046728

# zeta(k) - 1 for k = 2, 3, ...
_ZETA: Coefficients = (
    0.6449340668482264, 0.2020569031595943, 0.08232323371113819, 0.03692775514336993, 0.01734306198444914,
    0.008349277381922827, 0.00407735619794434, 0.0020083928260822143, 0.0009945751278180853,
    0.0004941886041194645, 0.0002460865533080483, 0.00012271334757848915, 6.124813505870483e-05,
    3.058823630702049e-05, 1.528225940865187e-05, 7.637197637899763e-06, 3.81729326499984e-06,
    1.908212716553939e-06, 9.539620338727962e-07, 4.769329867878064e-07, 2.38450502727733e-07,
    1.1921992596531106e-07, 5.960818905125948e-08, 2.980350351465228e-08, 1.4901554828365043e-08,
    7.45071178983543e-09, 3.725334024788457e-09, 1.862659723513049e-09, 9.313274324196682e-10,
    4.656629065033784e-10, 2.3283118336765053e-10, 1.164155017270052e-10, 5.820772087902701e-11,
    2.9103850444971e-11,
)  # fmt: skip
# B(2k) / (2k (2k - 1)), B(2k) / 2k and B(2k) / (2k)! for k = 1, 2, ...
_STIRLING: Coefficients = (
    0.08333333333333333, -0.002777777777777778, 0.0007936507936507937, -0.0005952380952380953,
    0.0008417508417508417, -0.0019175269175269176, 0.00641025641025641, -0.029550653594771242,
    0.17964437236883057,
)  # fmt: skip
_DIGAMMA: Coefficients = (
    0.08333333333333333, -0.008333333333333333, 0.003968253968253968, -0.004166666666666667,
    0.007575757575757576, -0.021092796092796094, 0.08333333333333333, -0.4432598039215686, 3.0539543302701198,
)  # fmt: skip
_EULER_MACLAURIN: Coefficients = (
    0.08333333333333333, -0.001388888888888889, 3.306878306878307e-05, -8.267195767195768e-07,
    2.08767569878681e-08, -5.284190138687493e-10, 1.3382536530684679e-11, -3.3896802963225827e-13,
    8.586062056277845e-15, -2.174868698558062e-16, 5.5090028283602295e-18, -1.3954464685812522e-19,
)  # fmt: skip


def _horner(x: Array, coefficients: Coefficients) -> Array:
    result = np.zeros_like(x)
    for one in reversed(coefficients):
        result = result * x + one
    return result


_LGAMMA_SERIES = tuple((-1) ** k * z / k for k, z in enumerate(_ZETA, 2))
_DIGAMMA_SERIES = tuple((-1) ** k * z for k, z in enumerate(_ZETA, 2))


def lgamma(x: Array) -> Array:
    """log |gamma(x)|: Taylor's series around 2, Stirling's for large x, reflection for negative x."""
    above = np.where(x < 0.5, 1 - x, x)
    reflected = np.log(np.pi / np.abs(_sine_of_pi(x))) - _lgamma_above(above)
    small = np.where((x > 0) & (x < 0.5), _around_two(np.where(x < 0.5, x, 0)) - _log_factor(x), reflected)
    found = np.where(x < 0.5, small, _lgamma_above(above))
    pole = (x <= 0) & (x == np.floor(x))
    return np.where(pole | np.isinf(x), np.inf, found)


def _log_factor(x: Array) -> Array:
    """log(x (1 + x)) for small positive x: two steps of the recurrence."""
    return np.log(np.where(x > 0, x, 1)) + np.log1p(np.where(x > 0, x, 0))


def _around_two(w: Array) -> Array:
    """lgamma(2 + w) for -1 <= w <= 1; best for |w| <= 1/2."""
    return w * (1 - _EULER) + w * w * _horner(w, _LGAMMA_SERIES)


def _lgamma_above(x: Array) -> Array:
    """lgamma of x >= 1/2: steps down to [1.5, 2.5] from below 12, Stirling's series above."""
    rest, product = np.where(x < 12, x, 2.0), np.ones_like(x)
    for _ in range(10):
        high = rest > 2.5
        rest = np.where(high, rest - 1, rest)
        product = np.where(high, product * rest, product)
    low = rest < 1.5
    near = np.where(low, _around_two(rest - 1) - np.log(rest), np.log(product) + _around_two(rest - 2))
    large = np.maximum(x, 12)
    inverse = 1 / large
    far = (large - 0.5) * np.log(large) - large + _HALF_LOG_2_PI + inverse * _horner(inverse * inverse, _STIRLING)
    return np.where(x < 12, near, far)


def _sine_of_pi(x: Array) -> Array:
    return np.sin(np.pi * (x - np.round(x)))


def digamma(x: Array) -> Array:
    """The derivative of lgamma; not a number at 0, -1, -2, ..."""
    above = np.where(x <= 0, 1 - x, x)
    found = _digamma_above(above) - np.where(x <= 0, np.pi / np.tan(np.pi * (x - np.round(x))), 0)
    pole = (x <= 0) & (x == np.floor(x))
    return np.where(pole, np.nan, found)


def _digamma_above(x: Array) -> Array:
    """digamma of positive x: Taylor's series around 2, the asymptotic series above 10, recurrence below it."""
    w = np.clip(x - 2, -0.6, 0.6)
    near = (1 - _EULER) + w * _horner(w, _DIGAMMA_SERIES)
    large, steps = x, np.zeros_like(x)
    for _ in range(10):
        low = large < 10
        steps = np.where(low, steps + 1 / large, steps)
        large = np.where(low, large + 1, large)
    inverse = 1 / large
    square = inverse * inverse
    far = np.log(large) - 0.5 * inverse - square * _horner(square, _DIGAMMA) - steps
    return np.where(np.abs(x - 2) < 0.6, near, far)


def zeta(x: Array, q: Array) -> Array:
    """The sum of (q + k)**-x over k = 0, 1, ..., by Euler and Maclaurin's formula.

    It is infinite for x = 1, and for even x at q = 0, -1, ...; not a number at these q for odd x, for other x < 1, and
    for negative q unless x is an integer.
    """
    x, q = np.broadcast_arrays(x, q)
    lowest = np.min(q, initial=0, where=np.isfinite(q))
    terms = 12 + int(min(-lowest, 1000))
    found = np.zeros_like(x)
    for k in range(terms):
        found = found + np.power(q + k, -x)
    found = found + _zeta_rest(x, q + terms)
    found = np.where((x < 1) | ((q <= 0) & (x != np.floor(x))), np.nan, found)
    pole = (q <= 0) & (q == np.floor(q))
    found = np.where(pole, np.where(x % 2 == 0, np.inf, np.nan), found)
    return np.where(x == 1, np.inf, found)


def _zeta_rest(x: Array, a: Array) -> Array:
    power = np.power(a, -x)
    rest = power * a / (x - 1) + power / 2
    factor = x * power / a
    for k, coefficient in enumerate(_EULER_MACLAURIN):
        rest = rest + coefficient * factor
        factor = factor * (x + 2 * k + 1) * (x + 2 * k + 2) / (a * a)
    return np.where(power == 0, 0, rest)


_FACTORIALS = np.array([float(math.factorial(n)) for n in range(171)] + [math.inf])


def polygamma(n: Array, x: Array) -> Array:
    """The derivative of order n of digamma; not a number unless n is 0, 1, 2, ..."""
    order = np.where((n >= 0) & (n == np.floor(n)), n, 0)
    factorial = _FACTORIALS[np.minimum(order, 171).astype(np.int64)]
    sign = np.where(order % 2 == 0, -1.0, 1.0)
    found = np.where(order == 0, digamma(x), sign * factorial * zeta(order + 1, x))
    return np.where(order == n, found, np.nan)
