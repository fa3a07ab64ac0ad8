"""The frequencies of a Fourier transform's results, and their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from celadon import errors, vocabulary as ops
from celadon.numpy.creation import array as _array, astype
from celadon.numpy.dtypes import requested
from celadon.numpy.elementwise import divide, multiply
from celadon.numpy.joining import roll
from celadon.numpy.promotion import array
from celadon.program import literal
from celadon.types import DType, canonical, kind
from celadon.vocabulary.kinds import real_dtype


def fftfreq(n: int, d: Any = 1.0, *, dtype: Any = None, device: Any = None) -> Any:
    """The frequencies of fft's results for n samples d apart, in their order: 0, positive ones, negative ones.

    >>> fftfreq(4, 0.5)
    Array([ 0. ,  0.5, -1. , -0.5], dtype=float32)
    """
    wanted, own = _dtypes(dtype)
    count = _single("fftfreq", n, d)
    half = literal(count // 2, own)
    place = ops.iota(shape=(count,), dtype=own, dimension=0)
    wrapped = ops.compare(ops.add(place, half), literal(count, own), direction="GE")
    signed = ops.select(wrapped, ops.subtract(place, literal(count, own)), place)
    return astype(divide(signed, _array(multiply(d, count), own)), wanted)


def rfftfreq(n: int, d: Any = 1.0, *, dtype: Any = None, device: Any = None) -> Any:
    """The frequencies of rfft's results for n samples d apart.

    >>> rfftfreq(4, 0.5)
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    wanted, _ = _dtypes(dtype)
    count = _single("rfftfreq", n, d)
    place = ops.iota(shape=(count // 2 + 1,), dtype=wanted, dimension=0)
    return divide(place, _array(multiply(d, count), wanted))


def _dtypes(dtype: Any) -> tuple[DType, DType]:
    """The dtype of the result, and the one that frequencies are computed in."""
    wanted = canonical("float64") if dtype is None else requested(dtype)
    letter = kind(wanted)
    own = canonical("float64") if letter in "biu" else real_dtype(wanted)
    return wanted, own


def _single(function: str, n: Any, d: Any) -> int:
    for name, value in (("n", n), ("d", d)):
        if isinstance(value, list | tuple):
            raise errors.DimensionsUnfit(
                function=function, argument=name, value=value, shape=(), reason="a single number is needed"
            )
    return int(n)


def fftshift(x: Any, axes: int | Sequence[int] | None = None) -> Any:
    """The elements moved by half of the extent, so that the frequency 0 stands in the middle.

    >>> fftshift(np.array([0, 1, -2, -1]))
    Array([-2, -1,  0,  1], dtype=int32)
    """
    return _shifted(array(x, "fftshift"), axes, 1)


def ifftshift(x: Any, axes: int | Sequence[int] | None = None) -> Any:
    """The reverse of fftshift.

    >>> ifftshift(np.array([-2, -1, 0, 1]))
    Array([ 0,  1, -2, -1], dtype=int32)
    """
    return _shifted(array(x, "ifftshift"), axes, -1)


def _shifted(x: Any, axes: int | Sequence[int] | None, side: int) -> Any:
    shape = x.type.shape
    chosen = tuple(range(len(shape))) if axes is None else (axes,) if isinstance(axes, int) else tuple(axes)
    return roll(x, tuple(side * (shape[axis] // 2) for axis in chosen), chosen)
