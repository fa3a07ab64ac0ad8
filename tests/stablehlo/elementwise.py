"""Rules of ops that work element by element."""

from __future__ import annotations

from typing import Any

from celadon import lax
from celadon.op import registry as op
from celadon.program import fixed
from tests.stablehlo.checking import noted
from tests.stablehlo.elements import Unreadable, constant_of
from tests.stablehlo.reader import Site, rule, rules, type_of

SAME = (
    "abs", "add", "and", "atan2", "cbrt", "ceil", "clamp", "complex", "cosine", "count_leading_zeros", "divide", "exponential",
    "exponential_minus_one", "floor", "imag", "is_finite", "log", "log_plus_one", "logistic", "maximum", "minimum", "multiply",
    "negate", "not", "or", "popcnt", "power", "real", "remainder", "round_nearest_afz", "round_nearest_even", "rsqrt", "select",
    "shift_left", "shift_right_arithmetic", "shift_right_logical", "sign", "sine", "sqrt", "subtract", "tan", "tanh", "xor",
)  # fmt: skip
CHLO = (
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "bessel_i1e", "conj", "cosh", "digamma", "erf", "erf_inv", "erfc",
    "lgamma", "next_after", "polygamma", "sinh", "square", "tan", "zeta",
)  # fmt: skip


def _same(site: Site, *operands: Any) -> Any:
    return op[site.name](*operands)


rules.update({f"stablehlo.{name}": _same for name in SAME} | {f"chlo.{name}": _same for name in CHLO})


@rule("stablehlo.constant", "chlo.constant")
def constant(site: Site) -> Any:
    return site.reader.held(constant_of(site.op, "value"))


@rule("stablehlo.convert")
def convert(site: Site, x: Any) -> Any:
    return op["convert"](x, new_dtype=site.dtype())


@rule("stablehlo.bitcast_convert")
def bitcast_convert(site: Site, x: Any) -> Any:
    if type_of(x).dtype == site.dtype():
        return x
    return op["bitcast_convert"](x, new_dtype=site.dtype())


@rule("stablehlo.compare")
def compare(site: Site, x: Any, y: Any) -> Any:
    total = site.word("compare_type") == "TOTALORDER"
    return op["compare"](x, y, direction=site.word("comparison_direction"), **({"total_order": True} if total else {}))


@rule("stablehlo.reduce_precision")
def reduce_precision(site: Site, x: Any) -> Any:
    return op["reduce_precision"](x, exponent_bits=site.number("exponent_bits"), mantissa_bits=site.number("mantissa_bits"))


@rule("stablehlo.map")
def map_(site: Site, *operands: Any) -> Any:
    """The region holds elementwise ops only, which take whole arrays as well."""
    return site.region()(*operands)[0]


@rule("stablehlo.optimization_barrier")
def optimization_barrier(site: Site, *operands: Any) -> Any:
    found = op["optimization_barrier"](*operands)
    return found[0] if len(operands) == 1 else found


@rule("chlo.constant_like")
def constant_like(site: Site, x: Any) -> Any:
    return lax.full_like(x, site.number("value"))


@rule("chlo.is_inf", "chlo.is_pos_inf", "chlo.is_neg_inf")
def is_inf(site: Site, x: Any) -> Any:
    sign = {"is_inf": None, "is_pos_inf": 1, "is_neg_inf": -1}[site.name]
    size, limit = (op["abs"](x), 1) if sign is None else (x, sign)
    return op["compare"](size, fixed(limit * float("inf"), type_of(x).dtype), direction="EQ")


@rule("chlo.mulhi")
def mulhi(site: Site, x: Any, y: Any) -> Any:
    """The upper half of the product: of halves of the operands, so that nothing is lost."""
    dtype = type_of(x).dtype
    half = 4 * dtype.itemsize

    def parts(v: Any) -> tuple[Any, Any]:
        shift = "shift_right_arithmetic" if dtype.kind == "i" else "shift_right_logical"
        return op[shift](v, fixed(half, dtype)), op["and"](v, fixed((1 << half) - 1, dtype))

    def upper(v: Any) -> Any:
        return op["shift_right_arithmetic" if dtype.kind == "i" else "shift_right_logical"](v, fixed(half, dtype))

    (a, b), (c, d) = parts(x), parts(y)
    low = op["shift_right_logical"](op["multiply"](b, d), fixed(half, dtype))
    first = op["add"](op["multiply"](a, d), low)
    second = op["add"](op["multiply"](b, c), op["and"](first, fixed((1 << half) - 1, dtype)))
    return op["add"](op["add"](op["multiply"](a, c), upper(first)), upper(second))


@rule("stablehlo.custom_call")
def custom_call(site: Site, *operands: Any) -> Any:
    """The checks of a program; other calls are of what is not in it."""
    name = site.number("call_target_name")
    if not name.startswith("check."):
        raise Unreadable(f"custom_call @{name}")
    return noted(site, name.removeprefix("check."), operands)
