"""One row for each elementwise op: elements and dtypes come in, the IR of the result goes out, rounded to its dtype."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from celadon.cpu.kinds import NARROW, letter
from celadon.facade import Lazy

Rule = Callable[..., Any]
ALL = "biufc"


class _Rules:
    """Stands for a module of rules, which is loaded when one of them emits: most programs need few."""

    def __init__(self, name: str):
        self._module = Lazy(f"celadon.cpu.{name}")

    def __getattr__(self, name: str) -> Rule:
        return lambda *operands: getattr(self._module, name)(*operands)


if TYPE_CHECKING:
    from celadon.cpu import (
        complex_functions as cf,
        complex_rules as cr,
        conversion_rules,
        elements,
        float_rules,
        integer_rules,
        math_exponent as exponents,
        math_exponential as exponentials,
        math_hyperbolic as hyperbolic,
        math_power as powers,
        math_rounding as rounding,
        math_special as special,
        math_trigonometric as trigonometric,
        math_zeta as zetas,
        narrow,
        threefry,
    )
    from celadon.cpu.complex_rules import Pair
    from celadon.cpu.elements import Element
    from celadon.cpu.ir import Value
else:
    cf, cr = _Rules("complex_functions"), _Rules("complex_rules")
    conversion_rules, float_rules, integer_rules = map(_Rules, ("conversion_rules", "float_rules", "integer_rules"))
    exponentials, hyperbolic, powers = map(_Rules, ("math_exponential", "math_hyperbolic", "math_power"))
    rounding, special, trigonometric = map(_Rules, ("math_rounding", "math_special", "math_trigonometric"))
    zetas, threefry, elements, narrow = map(_Rules, ("math_zeta", "threefry", "elements", "narrow"))
    exponents = _Rules("math_exponent")


class Row(NamedTuple):
    """How one op is emitted, by the kind of dtype (b i u f c) of its operand number `by`.

    rules: a function of the operands' Values for each kind. on_grid: 16-bit floats need no rounding after it.
    informed: the rules take the operands' dtype, the result's dtype and the op's parameters too.
    """

    rules: Mapping[str, Rule]
    by: int = 0
    on_grid: bool = False
    informed: bool = False


def has(op: str, dtypes: Sequence[str], out: str) -> bool:
    """Whether there is a row for an op on operands of these dtypes (short names), with a result of dtype `out`.

    >>> has("sine", ["f32"], "f32"), has("sine", ["i32"], "i32")
    (True, False)
    """
    row = rows.get(op)
    return row is not None and letter(dtypes[min(row.by, len(dtypes) - 1)]) in row.rules


def emit(op: str, operands: Sequence[Element], dtypes: Sequence[str], out: str, params: Mapping[str, Any]) -> Element:
    """The result of an elementwise op.

    Args:
        op: StableHLO's or CHLO's name.
        operands: registers of the operands, all of one function and with equal lanes; whole_power's last may be a scalar.
        dtypes: the short names of their dtypes; out: that of the result.
        params: the op's parameters.
    """
    row = rows[op]
    dtype = dtypes[row.by]
    rule = row.rules[letter(dtype)]
    result = rule(*operands, dtype, out, params) if row.informed else rule(*operands)
    return narrow.rounded(result, out) if out in NARROW and not row.on_grid else result


def looks_ahead(op: str, dtype: str) -> bool:
    """Whether an op does less where its last operand is one scalar for all lanes.

    >>> looks_ahead("power", "f32"), looks_ahead("add", "f32")
    (True, False)
    """
    return (op, letter(dtype)) in _AHEAD


def ahead(op: str, dtype: str, last: Element, lanes: int) -> Any:
    """What `emit_with` takes for that scalar; made ahead of the loops, where the scalar is."""
    return _AHEAD[op, letter(dtype)][0](last, lanes)


def emit_with(op: str, x: Element, known: Any, dtype: str) -> Element:
    """The result of an op on operands of a dtype, of which the last was handed to `ahead`, with the bits of `emit`."""
    return _AHEAD[op, letter(dtype)][1](x, known, dtype)


def multiply_add(x: Element, y: Element, z: Element, dtype: str) -> Element:
    """x * y + z of one dtype; of floats in one instruction, which rounds once."""
    if dtype in ("f32", "f64"):
        return cast("Value", x).fma(cast("Value", y), cast("Value", z))
    product = emit("multiply", [x, y], [dtype] * 2, dtype, {})
    return emit("add", [z, product], [dtype] * 2, dtype, {})


def _row(on_grid: bool = False, **rules: Rule) -> Row:
    return Row({one: rule for letters, rule in rules.items() for one in letters}, on_grid=on_grid)


def _in_double(rule: Callable[..., Any]) -> Rule:
    """A complex rule with its parts in float64, whatever they come in."""

    def emitted(*operands: Pair) -> Any:
        kind = operands[0][0].kind
        result = rule(*(tuple(part.convert("fpext", "f64") for part in x) for x in operands))
        if isinstance(result, tuple):
            return tuple(part.convert("fptrunc", kind) for part in cast("Pair", result))
        return result.convert("fptrunc", kind)

    return emitted


def _analytic(real: Rule, complex_: Rule | None = None) -> Row:
    return _row(f=real, c=_in_double(complex_)) if complex_ else _row(f=real)


def _absolute(x: Value) -> Value:
    return x.abs()


def _add(x: Value, y: Value) -> Value:
    return x + y


def _subtract(x: Value, y: Value) -> Value:
    return x - y


def _multiply(x: Value, y: Value) -> Value:
    return x * y


def _square(x: Value) -> Value:
    return x * x


def _divide(x: Value, y: Value) -> Value:
    return x / y


def _and(x: Value, y: Value) -> Value:
    return x & y


def _or(x: Value, y: Value) -> Value:
    return x | y


def _xor(x: Value, y: Value) -> Value:
    return x ^ y


def _negate(x: Value) -> Value:
    return -x


def _not(x: Value) -> Value:
    return ~x


def _same(x: Element) -> Element:
    return x


def _clamp(kind: str) -> Rule:
    """Not below the first operand, then not above the last."""

    def emitted(low: Value, x: Value, high: Value) -> Element:
        return rows["minimum"].rules[kind](rows["maximum"].rules[kind](low, x), high)

    return emitted


def _select(mask: Value, yes: Element, no: Element) -> Element:
    return elements.select(mask, yes, no)


def _compare(x: Element, y: Element, dtype: str, out: str, params: Mapping[str, Any]) -> Value:
    return conversion_rules.compare(x, y, dtype, params["direction"], bool(params.get("total_order", False)))


def _convert(x: Element, dtype: str, out: str, params: Mapping[str, Any]) -> Element:
    return conversion_rules.convert(x, dtype, out)


def _bitcast_convert(x: Element, dtype: str, out: str, params: Mapping[str, Any]) -> Element:
    return conversion_rules.bitcast_convert(x, dtype, out)


def _reduce_precision(x: Value, dtype: str, out: str, params: Mapping[str, Any]) -> Value:
    return float_rules.reduce_precision(x, dtype, params["exponent_bits"], params["mantissa_bits"])


def _next_after(x: Value, y: Value, dtype: str, out: str, params: Mapping[str, Any]) -> Value:
    return float_rules.next_after(x, y, dtype)


def _whole_power(x: Element, n: Value, dtype: str, out: str, params: Mapping[str, Any]) -> Element:
    return exponents.whole_power(x, n, dtype)


def _power_by(x: Value, known: Any, dtype: str) -> Value:
    result = exponents.power_by(x, known)
    return narrow.rounded(result, dtype) if dtype in NARROW else result


def _zero_like(x: Value) -> Value:
    return x.function.like(x, 0.0)


def _informed(kinds: str, rule: Rule) -> Row:
    return Row(dict.fromkeys(kinds, rule), on_grid=True, informed=True)


rows: dict[str, Row] = {
    "abs": _row(True, i=integer_rules.absolute, u=_same, f=_absolute, c=_in_double(cr.magnitude)),
    "acos": _analytic(trigonometric.acos, cf.acos),
    "acosh": _analytic(hyperbolic.acosh, cf.acosh),
    "add": _row(b=_or, iuf=_add, c=cr.add),
    "and": _row(biu=_and),
    "asin": _analytic(trigonometric.asin, cf.asin),
    "asinh": _analytic(hyperbolic.asinh, cf.asinh),
    "atan": _analytic(trigonometric.atan, cf.atan),
    "atan2": _analytic(trigonometric.atan2, cf.atan2),
    "atanh": _analytic(hyperbolic.atanh, cf.atanh),
    "bessel_i1e": _analytic(special.bessel_i1e),
    "bitcast_convert": _informed("iufc", _bitcast_convert),
    "cbrt": _analytic(powers.cube_root),
    "ceil": _row(True, f=rounding.ceil),
    "clamp": Row({kind: _clamp(kind) for kind in "biuf"}, by=1, on_grid=True),
    "compare": _informed(ALL, _compare),
    "complex": _row(f=lambda re, im: (re, im)),
    "conj": _row(c=cr.conj),
    "convert": _informed(ALL, _convert),
    "cosh": _analytic(hyperbolic.cosh, cf.cosh),
    "cosine": _analytic(trigonometric.cosine, cf.cosine),
    "count_leading_zeros": _row(iu=integer_rules.count_leading_zeros),
    "digamma": _analytic(special.digamma),
    "divide": _row(i=integer_rules.divide, u=integer_rules.divide_unsigned, f=_divide, c=_in_double(cr.divide)),
    "erf": _analytic(special.erf),
    "erf_inv": _analytic(special.erf_inv),
    "erfc": _analytic(special.erfc),
    "exponential": _analytic(exponentials.exponential, cr.exponential),
    "exponential_minus_one": _analytic(exponentials.exponential_minus_one, cr.exponential_minus_one),
    "floor": _row(True, f=rounding.floor),
    "imag": _row(True, f=_zero_like, c=lambda x: x[1]),
    "is_finite": _row(True, f=float_rules.is_finite),
    "lgamma": _analytic(special.lgamma),
    "log": _analytic(exponentials.log, cr.log),
    "log_plus_one": _analytic(exponentials.log_plus_one, cr.log_plus_one),
    "logistic": _analytic(exponentials.logistic, cf.logistic),
    "maximum": _row(
        True, b=_or, i=integer_rules.maximum, u=integer_rules.maximum_unsigned, f=float_rules.maximum, c=cr.maximum
    ),
    "minimum": _row(
        True, b=_and, i=integer_rules.minimum, u=integer_rules.minimum_unsigned, f=float_rules.minimum, c=cr.minimum
    ),
    "multiply": _row(b=_and, iuf=_multiply, c=cr.multiply),
    "negate": _row(True, iuf=_negate, c=cr.negate),
    "next_after": _informed("f", _next_after),
    "not": _row(biu=_not),
    "or": _row(biu=_or),
    "polygamma": _analytic(zetas.polygamma),
    "popcnt": _row(iu=integer_rules.count_ones),
    "power": _row(i=integer_rules.power, u=integer_rules.power_unsigned, f=powers.power, c=_in_double(cr.power)),
    "real": _row(True, f=_same, c=lambda x: x[0]),
    "reduce_precision": _informed("f", _reduce_precision),
    "remainder": _row(i=integer_rules.remainder, u=integer_rules.remainder_unsigned, f=rounding.remainder),
    "round_nearest_afz": _row(f=rounding.round_nearest_afz),
    "round_nearest_even": _row(f=rounding.round_nearest_even),
    "rsqrt": _analytic(powers.reciprocal_square_root, cr.reciprocal_square_root),
    "select": Row(dict.fromkeys(ALL, _select), by=1, on_grid=True),
    "shift_left": _row(iu=integer_rules.shift_left),
    "shift_right_arithmetic": _row(iu=integer_rules.shift_right_arithmetic),
    "shift_right_logical": _row(iu=integer_rules.shift_right_logical),
    "sign": _row(True, i=integer_rules.sign, u=integer_rules.sign_unsigned, f=float_rules.sign, c=_in_double(cr.sign)),
    "sine": _analytic(trigonometric.sine, cf.sine),
    "sinh": _analytic(hyperbolic.sinh, cf.sinh),
    "sqrt": _analytic(powers.square_root, cr.square_root),
    "square": _row(iuf=_square, c=cr.square),
    "subtract": _row(iuf=_subtract, c=cr.subtract),
    "tan": _analytic(trigonometric.tan, cf.tan),
    "tanh": _analytic(hyperbolic.tanh, cf.tanh),
    "threefry2x32": _informed("u", threefry.threefry2x32),
    "whole_power": _informed("iuf", _whole_power),
    "xor": _row(biu=_xor),
    "zeta": _analytic(zetas.zeta),
}

_WHOLE: tuple[Rule, Rule] = (lambda n, lanes: n, lambda x, n, dtype: exponents.whole_power(x, n, dtype))
_DIVISIONS: dict[tuple[str, str], tuple[Rule, Rule]] = {
    ("divide", "i"): (integer_rules.divisor, integer_rules.divide_by),
    ("divide", "u"): (integer_rules.divisor_unsigned, integer_rules.divide_by),
    ("remainder", "i"): (integer_rules.divisor, integer_rules.remainder_by),
    ("remainder", "u"): (integer_rules.divisor_unsigned, integer_rules.remainder_by),
}
_AHEAD: dict[tuple[str, str], tuple[Rule, Rule]] = {("whole_power", kind): _WHOLE for kind in "iuf"} | {
    ("power", "f"): (lambda y, lanes: exponents.chosen(y, lanes), _power_by),
} | _DIVISIONS
