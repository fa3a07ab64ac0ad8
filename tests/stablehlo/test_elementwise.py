"""Each elementwise op of StableHLO and CHLO as a program of text, against NumPy and SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special

from celadon.types import from_short
from tests.stablehlo.elementwise import CHLO, SAME
from tests.stablehlo.statements import dense, holds, program, tensor

X = np.array([0.25, 0.5, 0.75, 0.875], np.float64)
Y = np.array([0.5, 0.125, 0.75, 0.25], np.float64)
Z = np.array([0.5 + 0.25j, -0.25 + 1j, 2 - 0.5j, -1 - 2j])
K = np.array([1, -7, 40, 127], np.int32)
J = np.array([3, 2, -5, 9], np.int32)
S = np.array([0, 1, 5, 31], np.int32)
T, F = np.array([True, False, True]), np.array([True, True, False])


def _by_part(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *xs: np.array([function(*map(int, each)) for each in zip(*xs, strict=True)], xs[0].dtype)


MEANINGS: dict[str, tuple[Callable[..., Any], list[tuple[Any, ...]]]] = {
    "abs": (np.abs, [(K,), (-X,), (Z,)]),
    "add": (np.add, [(K, J), (X, Y), (Z, Z), (T, F)]),
    "and": (np.bitwise_and, [(K, J), (T, F)]),
    "atan2": (np.arctan2, [(X, Y)]),
    "cbrt": (np.cbrt, [(X,)]),
    "ceil": (np.ceil, [(3 * X,)]),
    "clamp": (lambda low, x, high: np.clip(x, low, high), [(J - 9, K, J + 20)]),
    "complex": (lambda re, im: re + 1j * im, [(X, Y)]),
    "cosine": (np.cos, [(X,), (Z,)]),
    "count_leading_zeros": (_by_part(lambda n: 32 - (n & 0xFFFFFFFF).bit_length()), [(K,)]),
    "divide": (lambda x, y: x / y if x.dtype.kind in "fc" else np.trunc(x / y).astype(x.dtype), [(K, J), (X, Y), (Z, Z + 1)]),
    "exponential": (np.exp, [(X,), (Z,)]),
    "exponential_minus_one": (np.expm1, [(X,), (Z,)]),
    "floor": (np.floor, [(3 * X,)]),
    "imag": (np.imag, [(Z,)]),
    "is_finite": (np.isfinite, [(np.array([1, np.inf, np.nan]),)]),
    "log": (np.log, [(X,), (Z,)]),
    "log_plus_one": (np.log1p, [(X,), (Z,)]),
    "logistic": (scipy.special.expit, [(X,)]),
    "maximum": (np.maximum, [(K, J), (X, Y), (T, F)]),
    "minimum": (np.minimum, [(K, J), (X, Y), (T, F)]),
    "multiply": (np.multiply, [(K, J), (X, Y), (Z, Z), (T, F)]),
    "negate": (np.negative, [(K,), (X,), (Z,)]),
    "not": (np.invert, [(K,), (T,)]),
    "or": (np.bitwise_or, [(K, J), (T, F)]),
    "popcnt": (_by_part(lambda n: (n & 0xFFFFFFFF).bit_count()), [(K,)]),
    "power": (np.power, [(X, Y), (K, np.abs(J) % 4)]),
    "real": (np.real, [(Z,)]),
    "remainder": (np.fmod, [(K, J), (3 * X, Y)]),
    "round_nearest_afz": (lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x), [(np.array([0.5, -1.5, 2.5, -0.25]),)]),
    "round_nearest_even": (np.round, [(np.array([0.5, -1.5, 2.5, -0.25]),)]),
    "rsqrt": (lambda x: 1 / np.sqrt(x), [(X,)]),
    "select": (np.where, [(T, X[:3], Y[:3]), (np.array(False), K, J)]),
    "shift_left": (np.left_shift, [(K, S)]),
    "shift_right_arithmetic": (np.right_shift, [(K, S)]),
    "shift_right_logical": (lambda x, n: (x.view("uint32") >> n.view("uint32")).view("int32"), [(K, S)]),
    "sign": (np.sign, [(K,), (X - 0.5,)]),
    "sine": (np.sin, [(X,), (Z,)]),
    "sqrt": (np.sqrt, [(X,), (Z,)]),
    "subtract": (np.subtract, [(K, J), (X, Y), (Z, X + 1j)]),
    "tan": (np.tan, [(X,), (Z,)]),
    "tanh": (np.tanh, [(X,), (Z,)]),
    "xor": (np.bitwise_xor, [(K, J), (T, F)]),
    "acos": (np.arccos, [(X,)]),
    "acosh": (np.arccosh, [(X + 1,)]),
    "asin": (np.arcsin, [(X,)]),
    "asinh": (np.arcsinh, [(X,)]),
    "atan": (np.arctan, [(X,)]),
    "atanh": (np.arctanh, [(X,)]),
    "bessel_i1e": (scipy.special.i1e, [(X,)]),
    "conj": (np.conj, [(Z,)]),
    "cosh": (np.cosh, [(X,)]),
    "digamma": (scipy.special.digamma, [(X,)]),
    "erf": (scipy.special.erf, [(X,)]),
    "erf_inv": (scipy.special.erfinv, [(X,)]),
    "erfc": (scipy.special.erfc, [(X,)]),
    "lgamma": (scipy.special.gammaln, [(X,)]),
    "next_after": (np.nextafter, [(X, Y)]),
    "polygamma": (scipy.special.polygamma, [(np.array([1.0, 2.0, 1.0, 3.0]), X)]),
    "sinh": (np.sinh, [(X,)]),
    "square": (np.square, [(X,)]),
    "zeta": (scipy.special.zeta, [(X + 1.5, Y)]),
}
SPECIAL = ("bessel_i1e", "digamma", "erf_inv", "lgamma", "polygamma", "zeta")  # SciPy's own are a few units off
CASES = [(name, i) for name, (_, samples) in MEANINGS.items() for i in range(len(samples))]


def _dialects(name: str) -> list[str]:
    return [f"{dialect}.{name}" for dialect, names in (("stablehlo", SAME), ("chlo", CHLO)) if name in names]


@pytest.mark.parametrize(("name", "index"), CASES)
def test_an_elementwise_op(name: str, index: int) -> None:
    meaning, samples = MEANINGS[name]
    operands = samples[index]
    with np.errstate(all="ignore"):
        expected = np.asarray(meaning(*operands))
    for op in _dialects(name):
        near = expected.dtype.kind == "c" or name in SPECIAL
        holds(program(op, operands, [expected], word="expect_almost_eq" if near else "expect_close"))


def test_every_elementwise_op_has_a_meaning_here() -> None:
    assert set(SAME) | set(CHLO) == set(MEANINGS)


@pytest.mark.parametrize("dtype", ["bool", "i8", "u64", "bf16", "f16", "f64", "c128"])
def test_convert(dtype: str) -> None:
    x = np.array([0.0, 1.5, -2.0, 100.0], np.float32)
    target = from_short[dtype]
    with np.errstate(all="ignore"):
        expected = np.clip(x, 0, None).astype(target) if dtype[0] == "u" else x.astype(target)
    holds(program("stablehlo.convert", [x], [expected]))


def test_bits_of_another_type() -> None:
    x = np.array([1.5, -2.0], np.float32)
    holds(program("stablehlo.bitcast_convert", [x], [x.view(np.int32)]))
    holds(program("stablehlo.bitcast_convert", [x], [x.view(np.uint8).reshape(2, 4)]))
    holds(program("stablehlo.bitcast_convert", [x.view(np.uint8).reshape(2, 4)], [x]))


@pytest.mark.parametrize(
    ("word", "function"), [("EQ", np.equal), ("NE", np.not_equal), ("LT", np.less), ("GE", np.greater_equal)]
)
def test_compare(word: str, function: Callable[..., Any]) -> None:
    inside = f"{{comparison_direction = #stablehlo<comparison_direction {word}>}}"
    holds(program("stablehlo.compare", [K, J], [function(K, J)], inside))


def test_compare_in_total_order() -> None:
    x, y = np.array([-0.0, np.nan, -np.inf]), np.array([0.0, np.inf, -np.nan])
    inside = "{comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type TOTALORDER>}"
    holds(program("stablehlo.compare", [x, y], [np.array([True, False, False])], inside))


def test_reduce_precision() -> None:
    x = np.array([1.0001, 1e30, -3.14159, 1e-30], np.float32)
    inside = "{exponent_bits = 8 : i32, mantissa_bits = 7 : i32}"
    holds(program("stablehlo.reduce_precision", [x], [x.astype(from_short["bf16"]).astype(np.float32)], inside))


def test_which_are_infinite() -> None:
    x = np.array([np.inf, -np.inf, 1.0, np.nan])
    for name, expected in (("is_inf", np.isinf(x)), ("is_pos_inf", x == np.inf), ("is_neg_inf", x == -np.inf)):
        holds(program(f"chlo.{name}", [x], [expected]))


def test_a_constant_like_an_array() -> None:
    holds(program("chlo.constant_like", [X], [np.full_like(X, 2.5)], "{value = 2.5 : f64}"))


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "uint64"])
def test_the_upper_half_of_a_product(dtype: str) -> None:
    limits = np.iinfo(dtype)
    x = np.array([limits.max, limits.min, 3, limits.max // 3], dtype)
    y = np.array([limits.max, limits.max, 5, limits.min // 5 or 7], dtype)
    expected = np.array([int(a) * int(b) >> limits.bits for a, b in zip(x, y, strict=True)], dtype)
    holds(program("chlo.mulhi", [x, y], [expected]))


def test_constants_as_they_are_written() -> None:
    for written, x in (
        ("[true, false]", np.array([True, False])),
        ("[1.5, 0x7FC0]", np.array([1.5, np.nan]).astype(from_short["bf16"])),
        ("[(1.0, 2.0), (0.5, -1.0)]", np.array([1 + 2j, 0.5 - 1j], np.complex64)),
        ("(1.0, 2.0)", np.array([1 + 2j, 1 + 2j])),
        ("7", np.array([7, 7], np.uint8)),
    ):
        text = program("stablehlo.optimization_barrier", [x], [x])
        assert dense(x) in text
        holds(text.replace(dense(x), f"dense<{written}> : {tensor(x)}", 1))


NARROW = {"i2": (2, -2), "i4": (4, -8), "ui2": (2, 0), "ui4": (4, 0)}


@pytest.mark.parametrize("name", NARROW)
def test_integers_of_few_bits_wrap(name: str) -> None:
    bits, low = NARROW[name]
    x = np.arange(low, low + (1 << bits))
    y = np.roll(x, 1)

    def written(values: Any) -> str:
        wrapped = (np.asarray(values) - low) % (1 << bits) + low
        return f"dense<{wrapped.tolist()}> : tensor<{len(x)}x{name}>"

    for op, expected in (("add", x + y), ("subtract", x - y), ("multiply", x * y), ("maximum", np.maximum(x, y)), ("xor", x ^ y)):
        type = f"tensor<{len(x)}x{name}>"
        holds(f"""func.func @main() {{
          %x = stablehlo.constant {written(x)}
          %y = stablehlo.constant {written(y)}
          %r = stablehlo.{op} %x, %y : {type}
          check.expect_eq_const %r, {written(expected)}
          return
        }}""")


def test_small_floats_are_what_is_written() -> None:
    holds("""func.func @main() {
      %x = stablehlo.constant dense<[1.5, -0.3, 1000.0]> : tensor<3xf8E5M2>
      %r = stablehlo.reverse %x, dims = [0] : tensor<3xf8E5M2>
      %w = stablehlo.constant dense<[1024.0, -0.3125, 1.5]> : tensor<3xf8E5M2>
      check.expect_eq %r, %w : tensor<3xf8E5M2>
      return
    }""")
