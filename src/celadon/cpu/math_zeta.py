"""Floats come in, Hurwitz' zeta function and the derivatives of digamma go out, by Euler and Maclaurin's formula."""

from __future__ import annotations

import math

from celadon.cpu.ir import Value
from celadon.cpu.math_exponential import clamped
from celadon.cpu.math_power import power
from celadon.cpu.math_rounding import floor
from celadon.cpu.math_special import digamma
from celadon.cpu.outline import outlined_wide

STEPS_AT_MOST = 1024
BERNOULLI_OVER_FACTORIAL = (
    1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000, 1 / 74724249600,
    -3617 / 10670622842880000, 43867 / 5109094217170944000,
)  # fmt: skip


@outlined_wide
def zeta(x: Value, q: Value) -> Value:
    """The sum of (q + k)^-x over k = 0, 1, ...; infinite for x = 1 and, if x is even, at q = 0, -1, ..."""
    total, a = _first_terms(x, q)
    value = total + _rest(x, a)
    whole = floor(x).equals(x)
    even = floor(x * 0.5).equals(x * 0.5) & (x.abs() < float("inf"))
    undefined = (x < 1.0) | ((q <= 0.0) & ~whole)
    value = undefined.select(float("nan"), value)
    infinity = x.function.like(x, float("inf"))
    pole = (q <= 0.0) & floor(q).equals(q)
    value = pole.select(even.select(infinity, float("nan")), value)
    value = (x.is_nan() | q.is_nan()).select(x + q, value)
    return x.equals(1.0).select(infinity, value)


def _first_terms(x: Value, q: Value) -> tuple[Value, Value]:
    """The terms up to a q + k from which on the formula is precise, and that q + k."""
    f = x.function
    far = clamped(x, 0.0, 300.0) + 10.0
    start, loop, done = f.block, f.fresh("loop"), f.fresh("done")
    f.jump(loop)
    f.label(loop)
    total = f.phi("f64", x.lanes, [(f.like(x, 0.0), start), ("%total", loop)])
    a = f.phi("f64", x.lanes, [(q, start), ("%a", loop)])
    left = f.phi("i64", 1, [(f.constant("i64", STEPS_AT_MOST), start), ("%left", loop)])
    short = a < far
    total_after = short.select(total + power(a, -x), total)
    a_after = short.select(a + 1.0, a)
    f.named("%total", total_after)
    f.named("%a", a_after)
    f.named("%left", left - 1)
    f.branch(f.any(a_after < far) & (left - 1 > 0), loop, done)
    f.label(done)
    return total_after, a_after


def _rest(x: Value, a: Value) -> Value:
    """The sum from a on: an integral, half a term and corrections with Bernoulli's numbers."""
    term = power(a, -x)
    total = term * a / (x - 1.0) + term * 0.5
    inverse = 1.0 / a
    factor = term * x * inverse
    square = inverse * inverse
    for k, coefficient in enumerate(BERNOULLI_OVER_FACTORIAL):
        total = total + factor * coefficient
        factor = factor * (x + (2 * k + 1.0)) * (x + (2 * k + 2.0)) * square
    return term.equals(0.0).select(0.0, total)


def _factorial(n: Value) -> Value:
    """n!, infinite from 171 on; anything for an n that is no whole number."""
    f = n.function
    table = f.table("f64", [*map(math.factorial, range(171)), float("inf")])
    index = clamped(n, 0.0, 171.0).convert("fptosi", "i64")
    index = n.is_nan().select(0, index)
    result = n
    for lane in range(n.lanes):
        result = f.insert(result, f.load(f.gep(table, f.extract(index, lane), "f64"), "f64"), lane)
    return result


@outlined_wide
def polygamma(n: Value, x: Value) -> Value:
    """The derivative of order n of digamma: (-1)^(n + 1) n! zeta(n + 1, x)."""
    order = n + 1.0
    size = _factorial(n) * zeta(order, x)
    odd = floor(n * 0.5).differs(n * 0.5)
    value = n.equals(0.0).select(digamma(x), odd.select(size, -size))
    undefined = (n < 0.0) | floor(n).differs(n)
    return undefined.select(float("nan"), value)
