"""Special functions under SciPy's names (jax.scipy.special), but for those that need iterations."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from celadon import errors, vocabulary as ops
from celadon.nn.normalization import log_softmax, softmax
from celadon.numpy import comparison, creation, elementwise, reductions, selection, shapes
from celadon.numpy.promotion import accept, array, fixed_like, inexact, operand
from celadon.numpy.transcendentals import exp, expm1, log, log1p
from celadon.program import fixed, literal
from celadon.scipy.summation import logsumexp
from celadon.transforms.custom_tangents import custom_jvp
from celadon.types import DType

__all__ = [
    "boxcox", "boxcox1p", "comb", "digamma", "entr", "erf", "erfc", "erfinv", "expit", "factorial", "gamma", "gammaln",
    "gammasgn", "i0", "i0e", "i1", "i1e", "kl_div", "log_ndtr", "log_softmax", "logit", "logsumexp", "multigammaln", "ndtr",
    "polygamma", "rel_entr", "softmax", "xlog1py", "xlogy", "zeta",
]  # fmt: skip


def _one(name: str, x: Any) -> Any:
    return array(inexact(f"scipy.special.{name}", x)[0])


def _two(name: str, x: Any, y: Any) -> list[Any]:
    return [array(found) for found in inexact(f"scipy.special.{name}", x, y)]


def gammaln(x: Any) -> Any:
    """The logarithm of the absolute value of the gamma function.

    >>> round(float(gammaln(5.0)), 5)
    3.17805
    """
    return ops.lgamma(_one("gammaln", x))


def gammasgn(x: Any) -> Any:
    """The sign of the gamma function; NaN at its poles.

    >>> gammasgn(np.array([-0.5, 2.0], "float32"))
    Array([-1.,  1.], dtype=float32)
    """
    x = _one("gammasgn", x)
    accept("scipy.special.gammasgn", x.type.dtype, "f")
    floor, negative = ops.floor(x), x < 0
    odd = comparison.not_equal(floor % 2, 0)
    pole = (negative & comparison.equal(x, floor)) | comparison.isnan(x)
    minus = (negative & odd) | (comparison.equal(x, 0) & comparison.signbit(x))
    nan, less, more = (fixed(value, x.type.dtype) for value in (np.nan, -1, 1))
    return selection.select([pole, minus], [nan, less], more)


def gamma(x: Any) -> Any:
    """The gamma function of real numbers.

    >>> round(float(gamma(5.0)), 3)
    24.0
    """
    x = _one("gamma", x)
    return gammasgn(x) * ops.exponential(ops.lgamma(x))


def factorial(n: Any, exact: bool = False) -> Any:
    """n!, as a float; 0 for negative n. Raises OptionUnknown for exact=True.

    >>> round(float(factorial(5)), 3)
    120.0
    """
    if exact:
        raise errors.OptionUnknown(function="scipy.special.factorial", argument="exact", value=exact, allowed="False")
    n = _one("factorial", n)
    return selection.where(n < 0, 0, exp(gammaln(n + 1)))


def comb(N: Any, k: Any, *, repetition: bool = False) -> Any:
    """How many choices of k of N things there are, as a float; repetition: each may be chosen again.

    >>> round(float(comb(5, 2)), 4)
    10.0
    """
    n, k = _two("comb", N, k)
    if repetition:
        return selection.where((k == 0) & (n >= 0), 1.0, comb(n + k - 1, k))
    sensible = (k <= n) & (n >= 0) & (k >= 0)
    n, k = selection.where(sensible, n, 0.0), selection.where(sensible, k, 0.0)
    found = exp(gammaln(n + 1) - gammaln(k + 1) - gammaln(n + 1 - k))
    return selection.where(sensible, found, 0.0)


def digamma(x: Any) -> Any:
    """The derivative of gammaln.

    >>> round(float(digamma(1.0)), 5)
    -0.57722
    """
    return ops.digamma(_one("digamma", x))


def polygamma(n: Any, x: Any) -> Any:
    """The n-th derivative of digamma, n an integer.

    Raises DTypeNotAccepted.

    >>> round(float(polygamma(1, 1.0)), 5)
    1.64493
    """
    accept("scipy.special.polygamma", operand(n).type.dtype, "iu")
    return ops.polygamma(*_two("polygamma", n, x))


def zeta(x: Any, q: Any) -> Any:
    """The Hurwitz zeta function, the sum of (q + k)^-x over k from 0 on.

    >>> round(float(zeta(2.0, 1.0)), 5)
    1.64493
    """
    return ops.zeta(*_two("zeta", x, q))


def erf(x: Any) -> Any:
    """The error function.

    >>> round(float(erf(1.0)), 5)
    0.8427
    """
    return ops.erf(_one("erf", x))


def erfc(x: Any) -> Any:
    """1 - erf(x), with full precision for large x.

    >>> round(float(erfc(1.0)), 5)
    0.1573
    """
    return ops.erfc(_one("erfc", x))


def erfinv(x: Any) -> Any:
    """The inverse of erf.

    >>> erfinv(0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return ops.erf_inv(_one("erfinv", x))


def expit(x: Any) -> Any:
    """1 / (1 + exp(-x)).

    >>> expit(0.0)
    Array(0.5, dtype=float32, weak_type=True)
    """
    return ops.logistic(_one("expit", x))


@custom_jvp
def logit(x: Any) -> Any:
    """log(x / (1 - x)).

    >>> logit(0.5)
    Array(0., dtype=float32, weak_type=True)
    """
    x = _one("logit", x)
    return ops.log(ops.divide(x, ops.subtract(fixed_like(1, x), x)))


logit.defjvps(lambda t, out, x: t / (x * (1 - x)))


@custom_jvp
def xlogy(x: Any, y: Any) -> Any:
    """x log(y), and 0 for x = 0 unless y is NaN.

    >>> xlogy(0.0, 0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    x, y = _two("xlogy", x, y)
    return _unless_zero(x, y, log(y))


@custom_jvp
def xlog1py(x: Any, y: Any) -> Any:
    """x log(1 + y), and 0 for x = 0 unless y is NaN.

    >>> xlog1py(0.0, -1.0)
    Array(0., dtype=float32, weak_type=True)
    """
    x, y = _two("xlog1py", x, y)
    return _unless_zero(x, y, log1p(y))


def _unless_zero(x: Any, y: Any, logarithm: Any) -> Any:
    counts = comparison.not_equal(x, 0) | comparison.isnan(y)
    return selection.where(counts, elementwise.multiply(x, logarithm), fixed_like(0, x))


xlogy.defjvps(lambda t, out, x, y: t * log(y), lambda t, out, x, y: t * x / y)
xlog1py.defjvps(lambda t, out, x, y: t * log1p(y), lambda t, out, x, y: t * x / (1 + y))


@custom_jvp
def _xlogx(x: Any) -> Any:
    return xlogy(x, x)


_xlogx.defjvps(lambda t, out, x: t * (log(x) + 1))


def entr(x: Any) -> Any:
    """-x log(x), and -inf for negative x.

    >>> entr(np.array([0.0, 1.0], "float32"))
    Array([-0., -0.], dtype=float32)
    """
    x = _one("entr", x)
    accept("scipy.special.entr", x.type.dtype, "f")
    return selection.where(x < 0, -np.inf, -_xlogx(x))


def rel_entr(p: Any, q: Any) -> Any:
    """p log(p / q), 0 for p = 0 and q not negative, else inf.

    >>> rel_entr(0.0, 1.0)
    Array(0., dtype=float32, weak_type=True)
    """
    p, q = _two("rel_entr", p, q)
    accept("scipy.special.rel_entr", p.type.dtype, "f")
    both, none = (p > 0) & (q > 0), comparison.equal(p, 0) & (q >= 0)
    safe_p, safe_q = selection.where(both, p, 1), selection.where(both, q, 1)
    found = _xlogx(safe_p) - xlogy(safe_p, safe_q)
    return selection.where(both, found, selection.where(none, fixed_like(0, p), np.inf))


def kl_div(p: Any, q: Any) -> Any:
    """rel_entr(p, q) - p + q.

    >>> kl_div(1.0, 1.0)
    Array(0., dtype=float32, weak_type=True)
    """
    p, q = _two("kl_div", p, q)
    accept("scipy.special.kl_div", p.type.dtype, "f")
    return rel_entr(p, q) - p + q


def boxcox(x: Any, lmbda: Any) -> Any:
    """(x^lmbda - 1) / lmbda, and log(x) for lmbda = 0.

    >>> boxcox(3.0, 1.0)
    Array(2., dtype=float32, weak_type=True)
    """
    x, power = _two("boxcox", x, lmbda)
    return _boxcox(log(x), power)


def boxcox1p(x: Any, lmbda: Any) -> Any:
    """boxcox(1 + x, lmbda), precise for small x.

    >>> boxcox1p(2.0, 1.0)
    Array(2., dtype=float32, weak_type=True)
    """
    x, power = _two("boxcox1p", x, lmbda)
    return _boxcox(log1p(x), power)


def _boxcox(logarithm: Any, power: Any) -> Any:
    none = comparison.equal(power, 0)
    safe = selection.where(none, 1, power)
    return selection.where(none, logarithm, expm1(safe * logarithm) / safe)


def multigammaln(a: Any, d: int) -> Any:
    """The logarithm of the gamma function of d dimensions.

    >>> float(multigammaln(5.0, 1)) == float(gammaln(5.0))
    True
    """
    a = _one("multigammaln", a)
    dtype = a.type.dtype
    constant = literal(0.25 * d * (d - 1) * math.log(math.pi), dtype)
    halves = ops.divide(ops.iota(shape=(d,), dtype=dtype, dimension=0), fixed(2, dtype))
    halves = shapes.expand_dims(halves, tuple(range(a.type.ndim)))
    return reductions.sum(gammaln(shapes.expand_dims(a, -1) - halves), axis=-1) + constant


def ndtr(x: Any) -> Any:
    """The probability that a normal number is below x.

    Args: x: float32 or float64. Raises DTypeNotAccepted.

    >>> ndtr(0.0)
    Array(0.5, dtype=float32)
    """
    x = creation.asarray(x)
    _accept_whole("ndtr", x.type.dtype)
    return _ndtr(x)


def _accept_whole(name: str, dtype: DType) -> None:
    if dtype.kind != "f" or dtype.itemsize < 4:
        raise errors.DTypeNotAccepted(function=f"scipy.special.{name}", dtype=dtype, accepted="float32 and float64")


def _ndtr(x: Any) -> Any:
    half = fixed(0.5 * math.sqrt(2), x.type.dtype)
    scaled = x * half
    size = elementwise.abs(scaled)
    tail = selection.where(scaled > 0, 2 - ops.erfc(size), ops.erfc(size))
    return 0.5 * selection.where(size < half, 1 + ops.erf(scaled), tail)


@functools.partial(custom_jvp, nondiff_argnums=(1,))
def _log_ndtr(x: Any, series_order: int) -> Any:
    dtype = x.type.dtype
    low, high = (fixed(n, dtype) for n in ((-20, 8) if dtype == np.float64 else (-10, 5)))
    above = ops.compare(x, high, direction="GT")
    whole = _ndtr(selection.where(above, -x, ops.maximum(x, low)))
    lower = _log_tail(ops.minimum(x, low), series_order)
    middle = selection.where(ops.compare(x, low, direction="GT"), log(whole), lower)
    return selection.where(above, -whole, middle)


@_log_ndtr.defjvp
def _log_ndtr_rule(series_order: int, primals: Any, tangents: Any) -> Any:
    [x], [t] = primals, tangents
    found = _log_ndtr(x, series_order)
    density = -0.5 * elementwise.square(x) - fixed_like(0.5 * math.log(2 * math.pi), x)
    return found, t * exp(density - found)


def log_ndtr(x: Any, series_order: int = 3) -> Any:
    """log(ndtr(x)); far below 0 by an asymptotic series of so many terms.

    Args: x: float32 or float64; series_order: from 0 to 30. Raises DTypeNotAccepted, OptionUnknown.

    >>> log_ndtr(np.float32(-20.0))
    Array(-203.91716, dtype=float32)
    """
    if not 0 <= series_order <= 30:
        raise errors.OptionUnknown(
            function="scipy.special.log_ndtr", argument="series_order", value=series_order, allowed="0 to 30"
        )
    x = creation.asarray(x)
    _accept_whole("log_ndtr", x.type.dtype)
    return _log_ndtr(x, series_order)


def _log_tail(x: Any, order: int) -> Any:
    """The logarithm of the asymptotic series of ndtr, for x far below 0."""
    square = elementwise.square(x)
    series: Any = 1.0
    term: Any = 1.0
    for n in range(1, order + 1):
        term = -term * (2 * n - 1) / square
        series = series + term
    return -0.5 * square - log(-x) - fixed_like(0.5 * math.log(2 * math.pi), x) + log(series)


def i0e(x: Any) -> Any:
    """exp(-|x|) i0(x).

    >>> round(float(i0e(0.0)), 5)
    1.0
    """
    return ops.bessel_i0e(_one("i0e", x))


def i0(x: Any) -> Any:
    """The modified Bessel function of the first kind of order 0.

    >>> round(float(i0(0.0)), 5)
    1.0
    """
    x = _one("i0", x)
    return ops.multiply(ops.exponential(ops.abs_(x)), ops.bessel_i0e(x))


def i1e(x: Any) -> Any:
    """exp(-|x|) i1(x).

    >>> i1e(0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return ops.bessel_i1e(_one("i1e", x))


def i1(x: Any) -> Any:
    """The modified Bessel function of the first kind of order 1.

    >>> i1(0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    x = _one("i1", x)
    return ops.multiply(ops.exponential(ops.abs_(x)), ops.bessel_i1e(x))
