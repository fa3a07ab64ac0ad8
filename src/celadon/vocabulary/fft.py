"""fft: discrete Fourier transforms over the last axes, of complex numbers, from real ones and to real ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from celadon import errors
from celadon.op import Axis, Op
from celadon.program import Equation, fixed, literal
from celadon.types import ArrayType, Shape, int32
from celadon.vocabulary.arithmetic import add, multiply
from celadon.vocabulary.bitwise import or_
from celadon.vocabulary.comparison import compare, select
from celadon.vocabulary.conversion import complex_, conj
from celadon.vocabulary.kinds import COMPLEX, kept, like, real_dtype, require
from celadon.vocabulary.precision import wide
from celadon.vocabulary.shape import in_front, iota
from celadon.vocabulary.stacks import LAPACK, complex_dtype

Array = Any
TYPES = ("FFT", "IFFT", "RFFT", "IRFFT")
_NUMPY = {"FFT": "fftn", "IFFT": "ifftn", "RFFT": "rfftn", "IRFFT": "irfftn"}


@kept
def _type(x: ArrayType, *, fft_type: str, fft_length: Shape, dims: int) -> ArrayType:
    """C1 to C5: `dims` axes are transformed, the last of which a real transform halves or doubles."""
    require("fft", x, (LAPACK - COMPLEX) if fft_type == "RFFT" else COMPLEX)
    last = fft_length[-1] // 2 + 1 if fft_type == "IRFFT" else fft_length[-1]
    wanted = (*fft_length[:-1], last)
    if len(fft_length) != dims or x.shape[-dims:] != wanted or 0 in fft_length:
        reason = f"{fft_type} with lengths {fft_length} needs last axes of {wanted}, none of them empty"
        raise errors.FourierUnfit(function="fft", reason=reason, shape=x.shape)
    if fft_type in ("FFT", "IFFT"):
        return x
    if fft_type == "RFFT":
        return ArrayType((*x.shape[:-1], fft_length[-1] // 2 + 1), complex_dtype(x.dtype), x.weak_type)
    return ArrayType((*x.shape[:-1], fft_length[-1]), real_dtype(x.dtype), x.weak_type)


def _fft(x: Array, *, fft_type: str, fft_length: Shape, dims: int) -> Array:
    made = _type(ArrayType(x.shape, x.dtype), fft_type=fft_type, fft_length=fft_length, dims=dims)
    axes = tuple(range(x.ndim - dims, x.ndim))
    found = getattr(np.fft, _NUMPY[fft_type])(x.astype(wide(x.dtype)), fft_length, axes)
    return found.astype(made.dtype)


def _unite(equation: Equation) -> Iterable[tuple[Axis, Axis]]:
    """All axes but the one that is halved or doubled."""
    same = equation.params["fft_type"] in ("FFT", "IFFT")
    return [((0, i), (1, i)) for i in range(equation.inputs[0].type.ndim - (not same))]


def _back(ct: Any, x: Any, *, fft_type: str, fft_length: Shape, dims: int) -> Any:
    """A transform of complex numbers is symmetric; see below for the others."""
    if fft_type in ("FFT", "IFFT"):
        return fft(ct, fft_type=fft_type, fft_length=fft_length, dims=dims)
    rule = _from_real_back if fft_type == "RFFT" else _to_real_back
    return rule(ct, fft_length=fft_length, dims=dims)


def _from_real_back(ct: Any, *, fft_length: Shape, dims: int) -> Any:
    """The transform of the conjugate to real numbers, without its division and with each element counted once."""
    once, _ = _shares(ct.type, fft_length)
    weighted = conj(multiply(ct, complex_(once, like(0, once))))
    found = fft(weighted, fft_type="IRFFT", fft_length=fft_length, dims=dims)
    return multiply(found, literal(math.prod(fft_length), found.type.dtype))


def _to_real_back(ct: Any, *, fft_length: Shape, dims: int) -> Any:
    """The transform from real numbers over the number of elements, those that stand for two counted twice."""
    found = fft(ct, fft_type="RFFT", fft_length=fft_length, dims=dims)
    _, twice = _shares(found.type, fft_length)
    weights = multiply(twice, literal(1 / math.prod(fft_length), ct.type.dtype))
    return conj(multiply(found, complex_(weights, like(0, weights))))


def _shares(type: ArrayType, fft_length: Shape) -> tuple[Any, Any]:
    """1/2 and 2 for elements of a half that stand for two of the whole, 1 for the first and the middle one."""
    place = iota(shape=type.shape, dtype=int32, dimension=type.ndim - 1)
    first = compare(place, fixed(0, int32), direction="EQ")
    middle = compare(add(place, place), literal(fft_length[-1], int32), direction="EQ")
    single = or_(first, middle)
    parts = [fixed(n, real_dtype(type.dtype)) for n in (1, 0.5, 2)]
    return select(single, parts[0], parts[1]), select(single, parts[0], parts[2])


def _batch(batch: Any, axes: Sequence[Any], values: Sequence[Any], **params: Any) -> Any:
    return fft(in_front(values[0], axes[0], batch.size), **params), 0


fft = Op(
    "fft", _type, _fft, unite=_unite, numbers=("fft_length",), kind="fft",
    tangent=("linear",), transpose=(_back,), batch=_batch,
)  # fmt: skip
