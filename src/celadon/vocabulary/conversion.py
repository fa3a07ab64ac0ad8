"""Elementwise ops between dtypes: convert, bitcast_convert, complex and its parts, reduce_precision, is_finite."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from celadon import errors
from celadon.keys import KEY, is_key
from celadon.op import Axis, Op, unite_all
from celadon.program import Equation
from celadon.types import ArrayType, DType, DTypes, kind
from celadon.vocabulary.arithmetic import joined, negate
from celadon.vocabulary.kinds import (
    COMPLEX,
    FLOAT,
    INEXACT,
    INTEGER,
    boolean_type,
    common_type,
    kept,
    like,
    one_type,
    real_dtype,
    require,
)  # fmt: skip
from celadon.vocabulary.precision import by_kind
from celadon.vocabulary.shape import in_front

Array = Any
_WITH_BITS = INTEGER | INEXACT | DTypes([KEY])
_PARTS = DTypes(("f4", "f8"))


@kept
def _convert_type(x: ArrayType, *, new_dtype: DType, weak_type: bool = False) -> ArrayType:
    """Anything to anything, but for keys."""
    if is_key(x.dtype) != is_key(new_dtype):
        raise errors.KeysNotReadable(type=x if is_key(x.dtype) else x.with_dtype(new_dtype))
    return ArrayType(x.shape, new_dtype, weak_type)


def converted(x: Array, *, new_dtype: DType, weak_type: bool = False) -> Array:
    """Cast: complex to real drops the imaginary part, float to integer saturates with NaN to 0, to bool is `!= 0`."""
    source, target = kind(x.dtype), kind(new_dtype)
    if source == "c" and target != "c":
        x, source = x.real, "f"
    if target == "b":
        return x != 0
    if source == "f" and target in "iu":
        return _saturated(x, new_dtype)
    return x.astype(new_dtype)


def _saturated(x: Array, dtype: DType) -> Array:
    x = np.asarray(x, np.promote_types(np.float32, x.dtype) if x.dtype.kind == "f" else np.float32)
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    whole = np.trunc(x)
    inside = (whole >= float(low)) & (whole < float(high) + 1)
    exact = np.where(inside, whole, x.dtype.type(0)).astype(dtype)
    outside = np.where(np.isnan(x), dtype.type(0), np.where(x < 0, dtype.type(low), dtype.type(high)))
    return np.where(inside, exact, outside)


def _bitcast_type(x: ArrayType, *, new_dtype: DType) -> ArrayType:
    """C1: of another width, the last axis appears or disappears. Keys are 64 bits."""
    require("bitcast_convert", x, _WITH_BITS)
    old, new = x.dtype.itemsize, new_dtype.itemsize
    if (x.dtype in COMPLEX) != (new_dtype in COMPLEX) or new_dtype.kind == "b":
        raise errors.BitcastNotPossible(type=x, dtype=new_dtype)
    if old == new:
        return ArrayType(x.shape, new_dtype)
    if old > new:
        return ArrayType((*x.shape, old // new), new_dtype)
    if not x.shape or x.shape[-1] * old != new:
        raise errors.BitcastNotPossible(type=x, dtype=new_dtype)
    return ArrayType(x.shape[:-1], new_dtype)


def _bitcast(x: Array, *, new_dtype: DType) -> Array:
    old, new = x.dtype.itemsize, new_dtype.itemsize
    x = np.array(x, order="C")
    if old > new:
        return x[..., None].view(new_dtype)
    return x.view(new_dtype) if old == new else x.view(new_dtype)[..., 0]


def _unite_leading(equation: Equation) -> Iterable[tuple[Axis, Axis]]:
    """The axes that operand and result both have."""
    rank = min(equation.inputs[0].type.ndim, equation.outputs[0].type.ndim)
    return [((0, i), (1, i)) for i in range(rank)]


def _bitcast_batch(batch: Any, axes: Any, values: Any, *, new_dtype: DType) -> Any:
    """The batch axis is in front: a width that changes does so at the last axis."""
    return bitcast_convert(in_front(values[0], axes[0], batch.size), new_dtype=new_dtype), 0


def _complex_type(re: ArrayType, im: ArrayType) -> ArrayType:
    """C1 to C3."""
    require("complex", re, _PARTS)
    full = re if re is im else common_type("complex", re, im)
    return ArrayType(full.shape, np.dtype(f"c{2 * re.dtype.itemsize}"), full.weak_type)


def _part_type(name: str) -> Any:
    def result_type(x: ArrayType) -> ArrayType:
        require(name, x, INEXACT)
        return ArrayType(x.shape, real_dtype(x.dtype), x.weak_type)

    return result_type


def _precision_type(x: ArrayType, *, exponent_bits: int, mantissa_bits: int) -> ArrayType:
    """C1 to C3."""
    require("reduce_precision", x, FLOAT)
    if exponent_bits < 1 or mantissa_bits < 0:
        raise errors.NoSuchPrecision(exponent_bits=exponent_bits, mantissa_bits=mantissa_bits)
    return x


def reduced_precision(x: Array, *, exponent_bits: int, mantissa_bits: int) -> Array:
    """The mantissa rounded to even, then too large exponents to infinity and too small ones to zero, by sign."""
    size = x.dtype.itemsize * 8
    own_mantissa = {"float16": 10, "bfloat16": 7, "float32": 23, "float64": 52}[x.dtype.name]
    own_exponent = size - 1 - own_mantissa
    bits = np.asarray(x).view(f"u{size // 8}")
    number = bits.dtype.type
    sign = bits & number(1 << (size - 1))
    rounded = bits
    if mantissa_bits < own_mantissa:
        drop = own_mantissa - mantissa_bits
        tie = (bits >> number(drop)) & number(1)
        rounded = (bits + (number((1 << (drop - 1)) - 1) + tie)) & ~number((1 << drop) - 1)
    if exponent_bits < own_exponent:
        rounded = _bounded(rounded, sign, own_mantissa, own_exponent, exponent_bits)
    result: Array = rounded.view(x.dtype)
    return np.where(np.isnan(x), np.asarray(x), result)


def _bounded(rounded: Array, sign: Array, own_mantissa: int, own_exponent: int, exponent_bits: int) -> Array:
    number = rounded.dtype.type
    mask = number(((1 << own_exponent) - 1) << own_mantissa)
    bias, reach = (1 << (own_exponent - 1)) - 1, (1 << (exponent_bits - 1)) - 1
    exponent = (rounded & mask) >> number(own_mantissa)
    rounded = np.where(exponent > number(bias + reach), np.bitwise_or(sign, mask), rounded)
    return np.where(exponent <= number(bias - reach), sign, rounded)


def _conj_expand(x: Array) -> Array:
    return complex_(real(x), negate(imag(x)))


def _convert_tangent(t: Any, out: Any, x: Any, *, new_dtype: DType, weak_type: bool = False) -> Any:
    return convert(t, new_dtype=new_dtype, weak_type=weak_type) if kind(new_dtype) in "fc" else None


def _convert_back(ct: Any, x: Any, *, new_dtype: DType, weak_type: bool = False) -> Any:
    return convert(ct, new_dtype=x.type.dtype, weak_type=x.type.weak_type)


convert = Op(
    "convert", _convert_type, converted, text="stablehlo.convert", unite=unite_all, exact=True, kind="elementwise",
    tangent=(_convert_tangent,), transpose=(_convert_back,),
)
bitcast_convert = Op(
    "bitcast_convert", _bitcast_type, _bitcast, text="stablehlo.bitcast_convert", unite=_unite_leading, exact=True,
    kind="bitcast",
    tangent=(lambda t, out, x, *, new_dtype: t if new_dtype == x.type.dtype else None,), batch=_bitcast_batch,
)  # fmt: skip
complex_ = Op(
    "complex", _complex_type, joined, text="stablehlo.complex", unite=unite_all, exact=True, kind="elementwise",
    tangent=("linear",), transpose=(lambda ct, re, im: real(ct), lambda ct, re, im: negate(imag(ct))),
)
real = Op(
    "real", _part_type("real"), np.real, text="stablehlo.real", unite=unite_all, exact=True, kind="elementwise",
    tangent=("linear",), transpose=(lambda ct, x: complex_(ct, like(0, ct)) if kind(x.type.dtype) == "c" else ct,),
)  # fmt: skip
imag = Op(
    "imag", _part_type("imag"), by_kind(f=np.zeros_like, c=np.imag), text="stablehlo.imag", unite=unite_all, exact=True,
    kind="elementwise",
    tangent=("linear",),
    transpose=(lambda ct, x: complex_(like(0, ct), negate(ct)) if kind(x.type.dtype) == "c" else None,),
)  # fmt: skip
conj = Op(
    "conj",
    one_type("conj", COMPLEX),
    np.conjugate,
    expand=_conj_expand,
    unite=unite_all,
    exact=True,
    kind="elementwise",
    tangent=("linear",),
    transpose=(lambda ct, x: conj(ct),),
)
reduce_precision = Op(
    "reduce_precision", _precision_type, reduced_precision, text="stablehlo.reduce_precision", unite=unite_all,
    exact=True, kind="elementwise",
    tangent=("linear",), transpose=(lambda ct, x, **bits: reduce_precision(ct, **bits),),
)  # fmt: skip
is_finite = Op(
    "is_finite", boolean_type("is_finite", FLOAT), np.isfinite, text="stablehlo.is_finite", unite=unite_all,
    exact=True, kind="elementwise",
    tangent=(None,),
)  # fmt: skip
