"""Floats come in, whole numbers and remainders go out, all exact; the other math and elementwise.py use it."""

from __future__ import annotations

from celadon.cpu.ir import Value
from celadon.cpu.kinds import MANTISSA
from celadon.cpu.outline import outlined


def floor(x: Value) -> Value:
    """The greatest whole number not above x; -0.0, infinities and NaN stay."""
    if x.function.target.rounding:
        return x.function.intrinsic("floor", x)
    near = round_nearest_even(x)
    return (near > x).select(near - 1.0, near).copysign(x)


def ceil(x: Value) -> Value:
    if x.function.target.rounding:
        return x.function.intrinsic("ceil", x)
    near = round_nearest_even(x)
    return (near < x).select(near + 1.0, near).copysign(x)


def truncate(x: Value) -> Value:
    """Towards zero."""
    if x.function.target.rounding:
        return x.function.intrinsic("trunc", x)
    return floor(x.abs()).copysign(x)


def round_nearest_even(x: Value) -> Value:
    if x.function.target.rounding:
        return x.function.intrinsic("roundeven", x)
    whole = float(1 << MANTISSA[x.kind])
    size = x.abs()
    return (size < whole).select(((size + whole) - whole).copysign(x), x)


def round_nearest_afz(x: Value) -> Value:
    """To the nearest whole number, halves away from zero."""
    whole = truncate(x)
    away = x.function.like(x, 1.0).copysign(x)
    return ((x - whole).abs() >= 0.5).select(whole + away, whole)


@outlined
def remainder(x: Value, y: Value) -> Value:
    """C's fmod, exact: x minus the multiple of y that leaves the sign of x and less than |y|."""
    size, divisor = x.abs(), y.abs()
    quotient = size / divisor
    whole = float(1 << MANTISSA[x.kind])
    usual = _last_step(size, divisor)
    huge = (quotient >= whole) & (size < float("inf")) & (divisor > 0.0)
    rest = x.function.rarely(huge, usual, lambda: _remainder_huge(size, divisor))
    rest = (divisor > size).select(size, rest)
    invalid = x.function.compare("ueq", divisor, 0.0) | x.function.compare("ueq", size, float("inf"))
    return invalid.select(float("nan"), rest.copysign(x))


def _last_step(size: Value, divisor: Value) -> Value:
    """The remainder where the quotient is below 2^mantissa: its rounding errs by at most one."""
    rest = (-truncate(size / divisor)).fma(divisor, size)
    return (rest < 0.0).select(rest + divisor, rest)


@outlined
def _remainder_huge(size: Value, divisor: Value) -> Value:
    """Subtracts multiples of the divisor, each exact and some 2^mantissa times smaller, until one step is left."""
    f = size.function
    whole = float(1 << MANTISSA[size.kind])
    start, loop, done = f.block, f.fresh("loop"), f.fresh("done")
    f.jump(loop)
    f.label(loop)
    rest = f.phi(size.kind, size.lanes, [(size, start), ("%next", loop)])
    far = (rest / divisor >= whole) & (rest < float("inf")) & (divisor > 0.0)
    less = far.select(_subtracted(rest, divisor), rest)
    f.named("%next", less)
    f.branch(f.any(far), loop, done)
    f.label(done)
    return _last_step(less, divisor)


def _subtracted(rest: Value, divisor: Value) -> Value:
    """The rest less its quotient, cut to one float, times the divisor (scaled if the quotient overflows)."""
    step = 2.0**96 if rest.kind == "f32" else 2.0**900
    for _ in range(2):
        divisor = (rest / divisor).equals(float("inf")).select(divisor * step, divisor)
    quotient = rest / divisor
    below = (quotient.bits() - 1).floats()
    less = (-quotient).fma(divisor, rest)
    return (less < 0.0).select((-below).fma(divisor, rest), less)
