"""jax.lax.fft: Fourier transforms over the last axes."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

from celadon import errors, vocabulary as ops
from celadon.numpy.library import library
from celadon.numpy.promotion import array
from celadon.types import canonical, kind
from celadon.vocabulary import fft as transforms
from celadon.vocabulary.stacks import complex_dtype


class FftType(enum.IntEnum):
    """Which transform: of complex numbers forwards or back, from real numbers, or to real numbers."""

    FFT = 0
    IFFT = 1
    RFFT = 2
    IRFFT = 3


def fft(x: Any, fft_type: FftType | str, fft_lengths: Sequence[int]) -> Any:
    """The Fourier transform over the last axes of an array.

    Args:
        x: floats for RFFT, else complex numbers; numbers of other dtypes are converted.
        fft_type: an FftType or its name.
        fft_lengths: the extents of the transformed axes, of the result for IRFFT; one to three, or none: x is returned.

    Raises:
        OptionUnknown, DTypeNotAccepted, FourierUnfit.

    >>> fft(np.array([1, 0, 0, 0], "complex64"), "FFT", (4,))
    Array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j], dtype=complex64)
    """
    return _fft(x, kind_name=_named(fft_type), lengths=tuple(fft_lengths))


def _named(fft_type: Any) -> str:
    name = fft_type.name if isinstance(fft_type, FftType) else str(fft_type)
    if name.upper() not in transforms.TYPES or name not in (name.upper(), name.lower()):
        raise errors.OptionUnknown(
            function="lax.fft", argument="fft_type", value=fft_type, allowed=" ".join(transforms.TYPES)
        )
    return name.upper()


@library("kind_name", "lengths", name="fft")
def _fft(x: Any, kind_name: str, lengths: tuple[int, ...]) -> Any:
    return transformed(array(x, "fft"), kind_name, lengths)


def transformed(x: Any, fft_type: str, lengths: tuple[int, ...]) -> Any:
    """The transform of an array in the dtype that it asks for."""
    dtype = x.type.dtype
    if fft_type == "RFFT" and kind(dtype) == "c":
        raise errors.DTypeNotAccepted(function="a transform from real numbers", dtype=dtype, accepted="floats")
    wanted = canonical("float64") if kind(dtype) in "biu" else dtype
    wanted = wanted if fft_type == "RFFT" else complex_dtype(wanted)
    x = x if dtype == wanted else ops.convert(x, new_dtype=wanted)
    if not lengths:
        return x
    if len(lengths) > x.type.ndim:
        raise errors.FourierUnfit(function="fft", reason=f"lengths {lengths} need as many axes", shape=x.type.shape)
    return transforms.fft(x, fft_type=fft_type, fft_length=lengths, dims=len(lengths))


__all__ = ["FftType", "fft", "transformed"]
