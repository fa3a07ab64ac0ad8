"""Floats come in, powers and roots go out; a power carries its logarithm in twice the result's precision."""

from __future__ import annotations

from celadon.cpu.ir import Value
from celadon.cpu.math_exponential import clamped, expm1_part, power_of_two, reduced, split, two_powers
from celadon.cpu.math_rounding import truncate
from celadon.cpu.outline import outlined, outlined_wide

INFINITY = float("inf")
LN2_HIGH, LN2_LOW = 0.6931471805598903, 5.497923018708371e-14
LOG_SHORT = (
    0.6666666667590708, 0.3999999560235526, 0.2857211064966421, 0.22176137677803373, 0.19584777764949582,
)  # fmt: skip
EXP_SHORT = (
    0.5000000078606296, 0.16666666817204417, 0.04166626794945975, 0.00833327434463734, 0.0013946212543937265,
    0.00019912970550530642,
)  # fmt: skip
LOG_REST = (
    0.3999999999999998, 0.2857142857144376, 0.2222222221782103, 0.18181818839382344, 0.15384558773162643,
    0.1333625060305438, 0.11676069135527047, 0.11979333766608202,
)  # fmt: skip
CUBE_ROOT = (
    0.5880231952348204, 0.5245758183335079, -0.13360066097700765, 0.02394077348840182, -0.0022794137244500096,
    8.685236983317973e-05,
)  # fmt: skip
TWO_THIRDS = (0.6666666666666666, 3.700743415417188e-17)
PLAIN_EXPONENTS = (1.0, 2.0, 3.0, -1.0, 0.5)


def square_root(x: Value) -> Value:
    return x.sqrt()


def reciprocal_square_root(x: Value) -> Value:
    return 1.0 / x.sqrt()


def plain_product(x: Value, is_one: Value, is_two: Value) -> Value:
    """x, x^2 or else x^3, by multiplying."""
    square = x * x
    return is_one.select(x, is_two.select(square, square * x))


def plain_root(x: Value) -> Value:
    """x^0.5, which is 0 for -0 and infinite for either infinity."""
    return x.equals(-INFINITY).select(INFINITY, x.sqrt() + 0.0)


@outlined
def power(x: Value, y: Value) -> Value:
    """x^y with all special cases of C99; exponents that multiplying, dividing or a root does are done so."""
    one, two, three, inverse, root = (y.equals(exponent) for exponent in PLAIN_EXPONENTS)

    def plain() -> Value:
        found = (one | two | three).select(plain_product(x, one, two), usual)
        return inverse.select(1.0 / x, root.select(plain_root(x), found))

    usual = _power(x, y)
    return x.function.rarely(one | two | three | inverse | root, usual, plain)


def _power(x: Value, y: Value) -> Value:
    size = x.abs()
    result = _power_short(size, y) if x.kind == "f32" else _power_long(size, y)
    whole = truncate(y).equals(y)
    odd = whole & truncate(y * 0.5).differs(y * 0.5)
    negative = x.bits() < 0
    result = (negative & odd).select(-result, result)
    result = (negative & ~whole & (size < INFINITY) & (size > 0.0)).select(float("nan"), result)
    result = (x.is_nan() | y.is_nan()).select(x + y, result)
    one = y.equals(0.0) | x.equals(1.0) | (size.equals(1.0) & y.abs().equals(INFINITY))
    return one.select(1.0, result)


def _power_short(size: Value, y: Value) -> Value:
    """In float64, to float32's precision."""
    size, y = size.convert("fpext", "f64"), y.convert("fpext", "f64")
    k, f = split(size)
    s = f / (f + 2.0)
    z = s * s
    logarithm = k.fma(0.6931471805599453, (s * z).fma(z.polynomial(LOG_SHORT), s + s))
    logarithm = _at_ends(size, logarithm)
    shifted, r = reduced(clamped(y * logarithm, -200.0, 200.0))
    value = (r * r).fma(r.polynomial(EXP_SHORT), r) + 1.0
    return (value * power_of_two(shifted)).convert("fptrunc", "f32")


def _power_long(size: Value, y: Value) -> Value:
    """With the logarithm and its product with y as sums of two float64."""
    high, low = _log_in_two(size)
    high = _at_ends(size, high)
    y = clamped(y, -(2.0**80), 2.0**80)
    product = y * high
    rest = y.fma(high, -product) + y * low
    shifted, r = reduced(clamped(product, -1000.0, 1000.0))
    r = r + (product.abs() < 1000.0).select(rest, 0.0)
    first, second = two_powers(shifted)
    return (expm1_part(r) + 1.0) * first * second


def _at_ends(size: Value, logarithm: Value) -> Value:
    logarithm = size.equals(INFINITY).select(INFINITY, logarithm)
    return size.equals(0.0).select(-INFINITY, logarithm)


def _log_in_two(x: Value) -> tuple[Value, Value]:
    """log(x) as a sum of two float64, right to about 2^-65 of it."""
    k, f = split(x)
    high, low = _log_of_quotient(*_quotient(f))
    whole = k * LN2_HIGH
    total = whole + high
    return total, (whole - total + high) + k.fma(LN2_LOW, low)


def _quotient(f: Value) -> tuple[Value, Value]:
    """f / (2 + f) as a sum of two float64."""
    below = f + 2.0
    below_rest = 2.0 - below + f
    inverse = 1.0 / below
    s = f * inverse
    rest = (-s).fma(below_rest, (-s).fma(below, f)) * inverse
    return s, rest


def _log_of_quotient(s: Value, rest: Value) -> tuple[Value, Value]:
    """2 atanh(s + rest): 2 s + s z (2/3 + z P(z)) with z = s^2, the parts above P as sums of two."""
    z = s * s
    z_rest = s.fma(s, -z) + (s + s) * rest
    p = z.polynomial(LOG_REST)
    term = z * p
    u = term + TWO_THIRDS[0]
    u_rest = TWO_THIRDS[0] - u + term + (z.fma(p, -term) + TWO_THIRDS[1])
    v = z * u
    v_rest = z.fma(u, -v) + z.fma(u_rest, z_rest * u)
    w = s * v
    w_rest = s.fma(v, -w) + s.fma(v_rest, rest * v)
    high = s + s + w
    return high, (s + s - high + w) + (rest + rest + w_rest)


@outlined_wide
def cube_root(x: Value) -> Value:
    size = x.abs()
    tiny = size < 2.0**-1022
    bits = tiny.select(size * 2.0**54, size).bits()
    exponent = bits >> 52
    third = exponent * 21846 >> 16
    position = exponent - third * 3
    v = (bits & ((1 << 52) - 1) | (position + 1023 << 52)).floats()
    t = v.polynomial(CUBE_ROOT)
    cube = t * t * t
    t = t * (cube + v + v) / (cube + cube + v)
    t = (t.bits() & -(1 << 27)).floats()
    r = v / (t * t)
    root = ((r - t) / (t + t + r)).fma(t, t)
    scale = (third - tiny.select(x.function.like(third, 359 - 1023), 341 - 1023) << 52).floats()
    root = (root * scale).copysign(x)
    return (size.equals(0.0) | ~(size < INFINITY)).select(x, root)
