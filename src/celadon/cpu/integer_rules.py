"""Integer elements come in, sums, quotients, shifts and counts go out as XLA means them: wrapping, never trapping."""

from __future__ import annotations

from celadon.cpu.ir import Value
from celadon.cpu.kinds import bits_of
from celadon.cpu.outline import outlined


def maximum(x: Value, y: Value) -> Value:
    return x.function.intrinsic("smax", x, y)


def minimum(x: Value, y: Value) -> Value:
    return x.function.intrinsic("smin", x, y)


def maximum_unsigned(x: Value, y: Value) -> Value:
    return x.function.intrinsic("umax", x, y)


def minimum_unsigned(x: Value, y: Value) -> Value:
    return x.function.intrinsic("umin", x, y)


def absolute(x: Value) -> Value:
    return x.function.intrinsic("abs", x, flags=["false"])


def sign(x: Value) -> Value:
    return (x > 0).convert("zext", x.kind) - (x < 0).convert("zext", x.kind)


def sign_unsigned(x: Value) -> Value:
    return x.differs(0).convert("zext", x.kind)


def divide(x: Value, y: Value) -> Value:
    """Rounded to zero; x / 0 has all bits set, the smallest integer / -1 is itself."""
    minus = y.equals(-1)
    result = minus.select(-x, _quotient(x, _safe(y, minus | y.equals(0)), signed=True))
    return y.equals(0).select(-1, result)


def divide_unsigned(x: Value, y: Value) -> Value:
    zero = y.equals(0)
    return zero.select(-1, _quotient(x, _safe(y, zero), signed=False))


def remainder(x: Value, y: Value) -> Value:
    """With the sign of x; x rest 0 is x."""
    divisor = _safe(y, y.equals(-1) | y.equals(0))
    rest = x - _quotient(x, divisor, signed=True) * divisor
    return y.equals(0).select(x, rest)


def remainder_unsigned(x: Value, y: Value) -> Value:
    divisor = _safe(y, y.equals(0))
    rest = x - _quotient(x, divisor, signed=False) * divisor
    return y.equals(0).select(x, rest)


def _safe(y: Value, special: Value) -> Value:
    return special.select(1, y)


def _quotient(x: Value, y: Value, signed: bool) -> Value:
    """Narrow integers through floats wide enough to round right; 64 bits by the divider, lane by lane."""
    width = bits_of(x.kind)
    if width == 64:
        return (_quotient_signed if signed else _quotient_unsigned)(x, y)
    wide = "f32" if width < 32 else "f64"
    to_float, to_integer = ("sitofp", "fptosi") if signed else ("uitofp", "fptoui")
    return (x.convert(to_float, wide) / y.convert(to_float, wide)).convert(to_integer, x.kind)


class Divisor:
    """A number of at most 32 bits that many elements are divided by, lanes wide: by a multiplication each.

    The factor is 1 / y, and so little more that a product never falls short of a whole quotient, nor reaches the next one:
    elements of n bits differ by 2**-n of themselves at least, which is far more than the factor is off.
    """

    def __init__(self, y: Value, lanes: int, signed: bool):
        f, width = y.function, bits_of(y.kind)
        self.float, bump = ("f32", 2.0**-21) if width < 32 else ("f64", 2.0**-50)
        self.to_float, self.to_integer = ("sitofp", "fptosi") if signed else ("uitofp", "fptoui")
        zero = y.equals(0)
        minus = y.equals(-1) if signed else f.constant("i1", False)
        factor = 1.0 / _safe(y, zero | minus).convert(self.to_float, self.float) * (1.0 + bump)
        self.y, self.factor = f.splat(y, lanes), f.splat(zero.select(0.0, factor), lanes)
        self.negated = f.splat(minus.convert("sext", y.kind), lanes) if signed else None
        self.all = f.splat(zero.convert("sext", y.kind), lanes)

    def quotient(self, x: Value) -> Value:
        found = (x.convert(self.to_float, self.float) * self.factor).convert(self.to_integer, x.kind)
        signed = found if self.negated is None else (found ^ self.negated) - self.negated
        return signed | self.all


def divisor(y: Value, lanes: int) -> Divisor | Value:
    """What `divide_by` and `remainder_by` take for a scalar: of 64 bits the scalar itself, as no floats are wide enough."""
    return y.function.splat(y, lanes) if bits_of(y.kind) == 64 else Divisor(y, lanes, signed=True)


def divisor_unsigned(y: Value, lanes: int) -> Divisor | Value:
    return y.function.splat(y, lanes) if bits_of(y.kind) == 64 else Divisor(y, lanes, signed=False)


def divide_by(x: Value, y: Divisor | Value, dtype: str) -> Value:
    """What `divide` gives, or `divide_unsigned`."""
    if isinstance(y, Divisor):
        return y.quotient(x)
    return divide(x, y) if dtype[0] == "i" else divide_unsigned(x, y)


def remainder_by(x: Value, y: Divisor | Value, dtype: str) -> Value:
    """What `remainder` gives, or `remainder_unsigned`."""
    if isinstance(y, Divisor):
        return x - y.quotient(x) * y.y
    return remainder(x, y) if dtype[0] == "i" else remainder_unsigned(x, y)


@outlined
def _quotient_signed(x: Value, y: Value) -> Value:
    return x.function.binary("sdiv", x, y)


@outlined
def _quotient_unsigned(x: Value, y: Value) -> Value:
    return x.function.binary("udiv", x, y)


def power(x: Value, y: Value) -> Value:
    """By squaring, wrapping; a negative exponent is 1 / x^-y rounded to zero."""
    whole = _power_by_squaring(x, y)
    odd = (y & 1).differs(0)
    inverse = (x.equals(1) | x.equals(-1)).select(odd.select(x, 1), 0)
    return (y < 0).select(inverse, whole)


def power_unsigned(x: Value, y: Value) -> Value:
    return _power_by_squaring(x, y)


@outlined
def _power_by_squaring(x: Value, y: Value) -> Value:
    f = x.function
    one = f.like(x, 1)
    start, loop, done = f.block, f.fresh("loop"), f.fresh("done")
    f.jump(loop)
    f.label(loop)
    result = f.phi(x.kind, x.lanes, [(one, start), ("%result", loop)])
    factor = f.phi(x.kind, x.lanes, [(x, start), ("%factor", loop)])
    rest = f.phi(x.kind, x.lanes, [(y, start), ("%rest", loop)])
    product = (rest & 1).differs(0).select(result * factor, result)
    f.named("%result", product)
    f.named("%factor", factor * factor)
    f.named("%rest", rest >> 1)
    f.branch(f.any((rest >> 1).differs(0)), loop, done)
    f.label(done)
    return product


def shift_left(x: Value, amount: Value) -> Value:
    return _shifted("shl", x, amount)


def shift_right_logical(x: Value, amount: Value) -> Value:
    return _shifted("lshr", x, amount)


def shift_right_arithmetic(x: Value, amount: Value) -> Value:
    last = bits_of(x.kind) - 1
    within = amount.compare("ule", last).select(amount, last)
    return x.function.binary("ashr", x, within)


def _shifted(opcode: str, x: Value, amount: Value) -> Value:
    """An amount of the width or more, or below zero, leaves nothing."""
    inside = amount.compare("ult", bits_of(x.kind))
    return inside.select(x.function.binary(opcode, x, inside.select(amount, 0)), 0)


def count_ones(x: Value) -> Value:
    return x.function.intrinsic("ctpop", x)


def count_leading_zeros(x: Value) -> Value:
    return x.function.intrinsic("ctlz", x, flags=["false"])
