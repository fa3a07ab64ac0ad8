"""All elementwise ops under one roof: operands of one shape, or scalars among them; the result has that shape."""

from celadon.vocabulary.arithmetic import (
    abs_,
    add,
    ceil,
    divide,
    floor,
    integer_pow,
    maximum,
    minimum,
    multiply,
    negate,
    next_after,
    power,
    remainder,
    round_nearest_afz,
    round_nearest_even,
    sign,
    square,
    subtract,
    whole_power,
)  # fmt: skip
from celadon.vocabulary.bits import threefry2x32
from celadon.vocabulary.bitwise import (
    and_,
    count_leading_zeros,
    not_,
    or_,
    popcnt,
    shift_left,
    shift_right_arithmetic,
    shift_right_logical,
    xor,
)  # fmt: skip
from celadon.vocabulary.comparison import clamp, compare, select
from celadon.vocabulary.conversion import (
    bitcast_convert,
    complex_,
    conj,
    convert,
    imag,
    is_finite,
    real,
    reduce_precision,
)  # fmt: skip
from celadon.vocabulary.special import bessel_i0e, bessel_i1e, digamma, erf, erf_inv, erfc, lgamma, polygamma, zeta
from celadon.vocabulary.transcendental import (
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    cbrt,
    cosh,
    cosine,
    exp2,
    exponential,
    exponential_minus_one,
    log,
    log_plus_one,
    logistic,
    rsqrt,
    sine,
    sinh,
    sqrt,
    tan,
    tanh,
)  # fmt: skip

__all__ = [
    "abs_", "acos", "acosh", "add", "and_", "asin", "asinh", "atan", "atan2", "atanh", "bessel_i0e", "bessel_i1e",
    "bitcast_convert", "cbrt", "ceil", "clamp", "compare", "complex_", "conj", "convert", "cosh", "cosine",
    "count_leading_zeros", "digamma", "divide", "erf", "erf_inv", "erfc", "exp2", "exponential",
    "exponential_minus_one", "floor", "imag", "integer_pow", "is_finite", "lgamma", "log", "log_plus_one",
    "logistic", "maximum", "minimum", "multiply", "negate", "next_after", "not_", "or_", "polygamma", "popcnt",
    "power", "real", "reduce_precision", "remainder", "round_nearest_afz", "round_nearest_even", "rsqrt",
    "select", "shift_left", "shift_right_arithmetic", "shift_right_logical", "sign", "sine", "sinh", "sqrt",
    "square", "subtract", "tan", "tanh", "threefry2x32", "whole_power", "xor", "zeta",
]  # fmt: skip
