"""Types and numbers as MLIR writes them; scope.py and text_rules.py put the pieces into lines."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from celadon.types import ArrayType, DType, is_bfloat16, kind, short_name

NDArray = np.ndarray[Any, Any]

_HEX_ABOVE = 100  # elements: MLIR prints larger arrays as their bytes
_ELIDED_ABOVE = 1024  # elements: ours; a captured array is data, no part of a program
_PRECISION = {2: 11, 4: 24, 8: 53}  # bytes of a float -> bits of its significand


TOKEN = ArrayType((), np.dtype([("token", np.void, 0)]))
"""The type of what hands an ordered effect on to the next; only texts have values of it."""


@lru_cache(8192)
def type_text(type: ArrayType) -> str:
    """The type as MLIR writes it, without weakness.

    >>> type_text(ArrayType((4, 2), np.dtype("complex64")))
    'tensor<4x2xcomplex<f32>>'
    """
    if type is TOKEN:
        return "!stablehlo.token"
    return f"tensor<{''.join(f'{n}x' for n in type.shape)}{element_text(type.dtype)}>"


@lru_cache(64)
def element_text(dtype: DType) -> str:
    """The name of an element type.

    >>> element_text(np.dtype(bool)), element_text(np.dtype("uint8"))
    ('i1', 'ui8')
    """
    if kind(dtype) == "b":
        return "i1"
    if kind(dtype) == "c":
        return f"complex<f{dtype.itemsize * 4}>"
    return short_name(dtype).replace("u", "ui")


def types_text(types: Iterable[ArrayType]) -> str:
    """Types with commas between."""
    return ", ".join([type_text(t) for t in types])


def signature(inputs: Iterable[ArrayType], outputs: Sequence[ArrayType]) -> str:
    """A function's type.

    >>> x = ArrayType((), np.dtype("float32"))
    >>> signature([x], [x, x])
    '(tensor<f32>) -> (tensor<f32>, tensor<f32>)'
    """
    return f"({types_text(inputs)}) -> {results_text(outputs)}"


def results_text(outputs: Sequence[ArrayType]) -> str:
    """The types of results: bare if there is one."""
    return type_text(outputs[0]) if len(outputs) == 1 else f"({types_text(outputs)})"


def integers(values: Iterable[int]) -> str:
    """Integers with commas between, in brackets."""
    return f"[{', '.join(map(str, values))}]"


def base_name(dtype: DType) -> str:
    """What MLIR calls a constant: c for integers and booleans, cst for all others."""
    return "c" if kind(dtype) in "biu" else "cst"


@lru_cache(8192)
def scalar_constant(data: bytes, dtype: DType) -> str:
    """The constant op of a scalar that is given by its bytes."""
    return f"stablehlo.constant dense<{element(np.frombuffer(data, dtype)[0], dtype)}> : tensor<{element_text(dtype)}>"


def array_constant(array: NDArray, full: bool) -> str:
    """The constant op of an array; a large one is elided unless `full`, but never one whose elements are all equal."""
    return f"stablehlo.constant {dense(array, full)} : {type_text(ArrayType(array.shape, array.dtype))}"


def dense(array: NDArray, full: bool) -> str:
    """The elements of an array as an attribute.

    >>> dense(np.array([[1, 2], [3, 4]]), True), dense(np.zeros((2, 2), bool), True)
    ('dense<[[1, 2], [3, 4]]>', 'dense<false>')
    """
    if array.size == 0:
        return "dense<>"
    raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8).reshape(array.size, -1)
    if (raw[0] == raw[-1]).all() and (raw == raw[0]).all():
        return f"dense<{element(array.flat[0], array.dtype)}>"
    if array.size > _ELIDED_ABOVE and not full:
        return "dense_resource<__elided__>"
    if array.size > _HEX_ABOVE:
        return f'dense<"0x{raw.tobytes().hex().upper()}">'
    return f"dense<{_nested(array)}>"


def _nested(array: NDArray) -> str:
    if array.ndim == 0:
        return element(array[()], array.dtype)
    return f"[{', '.join(_nested(array[i]) for i in range(len(array)))}]"


def element(value: Any, dtype: DType) -> str:
    """One element.

    >>> element(True, np.dtype(bool)), element(2.0, np.dtype("float32")), element(1j, np.dtype("complex64"))
    ('true', '2.000000e+00', '(0.000000e+00,1.000000e+00)')
    """
    match kind(dtype):
        case "b":
            return "true" if value else "false"
        case "f":
            return float_text(value, dtype)
        case "c":
            part = np.dtype(f"f{dtype.itemsize // 2}")
            return f"({float_text(value.real, part)},{float_text(value.imag, part)})"
        case _:
            return str(int(value))


def float_text(value: Any, dtype: DType) -> str:
    """A float as MLIR prints it: six digits if they suffice, else as many as it takes, else its bits.

    >>> float_text(0.1, np.dtype("float32")), float_text(np.float32(1 / 3), np.dtype("float32"))
    ('1.000000e-01', '0.333333343')
    >>> float_text(float("nan"), np.dtype("float32")), float_text(16777216.0, np.dtype("float32"))
    ('0x7FC00000', '0x4B800000')
    """
    exact = float(value)
    if exact == 0.0:
        return "-0.000000e+00" if math.copysign(1.0, exact) < 0 else "0.000000e+00"
    if math.isfinite(exact):
        short = _six_digits(exact)
        if dtype.type(float(short)) == value:
            return short
        long = _all_digits(exact, 8 if is_bfloat16(dtype) else _PRECISION[dtype.itemsize])
        if "." in long:
            return long
    return _bits(value, dtype)


def _bits(value: Any, dtype: DType) -> str:
    size = dtype.itemsize
    return f"0x{int(np.asarray(value, dtype).view(f'u{size}')):0{2 * size}X}"


def _six_digits(value: float) -> str:
    digits, exponent = _decimal(abs(value), 6)
    power = exponent + len(digits) - 1
    sign = "-" if value < 0 else ""
    return f"{sign}{digits[0]}.{digits[1:]:0<6}e{power:+03d}"


def _all_digits(value: float, bits: int) -> str:
    precision = 2 + bits * 59 // 196
    digits, exponent = _decimal(abs(value), precision)
    return ("-" if value < 0 else "") + _plain_or_scientific(digits, exponent, precision)


def _plain_or_scientific(digits: str, exponent: int, precision: int) -> str:
    count = len(digits)
    top = exponent + count - 1
    if exponent > 3 or (exponent >= 0 and count + exponent > precision) or top < -3:
        return f"{digits[0]}.{digits[1:] or '0'}E{top:+d}"
    if exponent >= 0:
        return digits + "0" * exponent
    if top >= 0:
        return f"{digits[: top + 1]}.{digits[top + 1 :]}"
    return f"0.{'0' * (-top - 1)}{digits}"


def _decimal(value: float, precision: int) -> tuple[str, int]:
    """Digits without trailing zeros, and the power of ten of the last; as LLVM, which cuts before it rounds half up."""
    digits, exponent = _cut(*_exact_decimal(value), precision)
    text = str(digits).rstrip("0")
    exponent += len(str(digits)) - len(text)
    extra = len(text) - precision
    if extra > 0:
        rounded = str(int(text[:precision]) + (text[precision] >= "5"))
        text = rounded.rstrip("0")
        exponent += extra + len(rounded) - len(text)
    return text, exponent


def _exact_decimal(value: float) -> tuple[int, int]:
    numerator, denominator = value.as_integer_ratio()
    power = denominator.bit_length() - 1
    return numerator * 5**power, -power


def _cut(digits: int, exponent: int, precision: int) -> tuple[int, int]:
    surplus = (digits.bit_length() - (precision * 196 + 58) // 59) * 59 // 196
    if surplus <= 0:
        return digits, exponent
    return digits // 10**surplus, exponent + surplus
