"""Discrete Fourier transforms over any axes: cut or filled up with zeros, moved to the end, transformed, normalised."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

from celadon import errors, vocabulary as ops
from celadon.lax.fourier import fft as _fft
from celadon.numpy.elementwise import conj, multiply
from celadon.numpy.promotion import array
from celadon.numpy.shapes import moveaxis
from celadon.program import fixed, literal

Axes = Sequence[int] | None
_AT_ONCE = 3  # axes that one transform of StableHLO has


def _transform(name: str, fft_type: str, a: Any, sizes: tuple[Any, Axes], norm: str | None) -> Any:
    """sizes: the lengths and the axes that are transformed, or None for those of the array."""
    x = array(a, name)
    lengths, axes = _lengths(name, x, *sizes)
    ends = tuple(range(x.type.ndim - len(axes), x.type.ndim))
    moved = x if axes == ends else moveaxis(x, axes, ends)
    if lengths is None:
        lengths = moved.type.shape[x.type.ndim - len(axes) :]
        if fft_type == "IRFFT" and lengths:
            lengths = (*lengths[:-1], max(0, 2 * (lengths[-1] - 1)))
    else:
        moved = _sized(moved, lengths, fft_type == "IRFFT")
    if 0 in lengths:
        raise errors.FourierUnfit(function=name, reason=f"a transform of {lengths} samples has no meaning", shape=x.type.shape)
    found = _normalised(_over_last(moved, fft_type, lengths), math.prod(lengths), name, norm)
    return found if axes == ends else moveaxis(found, ends, axes)


def _lengths(name: str, x: Any, s: Any, axes: Axes) -> tuple[tuple[int, ...] | None, tuple[int, ...]]:
    """Lengths (None: as they are) and axes counted from the front."""
    ndim = x.type.ndim
    lengths = None if s is None else tuple(map(operator.index, s))
    if lengths is not None and min(lengths, default=1) <= 0:
        raise errors.FourierUnfit(function=name, reason=f"the lengths {lengths} are not all positive", shape=x.type.shape)
    count = ndim if lengths is None else len(lengths)
    given = tuple(range(ndim - count, ndim)) if axes is None else tuple(axes)
    if lengths is not None and len(lengths) != len(given):
        raise errors.FourierUnfit(
            function=name, reason=f"lengths {lengths} and axes {given} differ in number", shape=x.type.shape
        )
    if any(not -ndim <= axis < ndim for axis in given):
        raise errors.AxisNotInArray(axis=given, ndim=ndim)
    found = tuple(axis % ndim for axis in given)
    if len(set(found)) != len(found):
        raise errors.AxisNamedTwice(axes=given, ndim=ndim)
    return lengths, found


def _sized(x: Any, lengths: tuple[int, ...], halved: bool) -> Any:
    """The last axes cut, or filled up with zeros, to what a transform of these lengths takes."""
    wanted = (*lengths[:-1], lengths[-1] // 2 + 1 if halved else lengths[-1])
    count = x.type.ndim - len(wanted)
    none = (0,) * x.type.ndim
    missing = [n - have for n, have in zip(wanted, x.type.shape[count:], strict=True)]
    return ops.pad(x, fixed(0, x.type.dtype), low=none, high=(*none[:count], *missing), interior=none)


def _over_last(x: Any, fft_type: str, lengths: tuple[int, ...]) -> Any:
    """The transform over the last axes, three at a time; the axis that is halved or doubled is first or last."""
    if len(lengths) <= _AT_ONCE:
        return _fft(x, fft_type, lengths)
    last = lengths[-_AT_ONCE:]
    if fft_type in ("FFT", "RFFT"):
        return _over_others(_fft(x, fft_type, last), "FFT", lengths)
    return _fft(_over_others(x, "IFFT", lengths), fft_type, last)


def _over_others(x: Any, fft_type: str, lengths: tuple[int, ...]) -> Any:
    ndim, count = x.type.ndim, len(lengths)
    front, back = range(ndim - count, ndim - _AT_ONCE), range(ndim - count + _AT_ONCE, ndim)
    found = _over_last(moveaxis(x, tuple(front), tuple(back)), fft_type, lengths[:-_AT_ONCE])
    return moveaxis(found, tuple(back), tuple(front))


def _normalised(x: Any, count: int, name: str, norm: str | None) -> Any:
    """Inverse transforms divide by the number of samples as it is."""
    if norm in (None, "backward"):
        return x
    if norm not in ("ortho", "forward"):
        raise errors.OptionUnknown(
            function=name, argument="norm", value=norm, allowed="'backward', 'ortho' or 'forward'"
        )
    size = math.sqrt(count) if norm == "ortho" else float(count)
    return ops.multiply(x, literal(size if name[0] == "i" else 1 / size, x.type.dtype))


def _one_axis(name: str, fft_type: str, a: Any, n: int | None, axis: Any, norm: str | None) -> Any:
    if isinstance(axis, list | tuple):
        raise errors.DimensionsUnfit(
            function=name, argument="axis", value=axis, shape=(), reason=f"{name} has one axis; {name}n has several"
        )
    return _transform(name, fft_type, a, (None if n is None else (n,), None if axis is None else (axis,)), norm)


def _two_axes(name: str, fft_type: str, a: Any, sizes: tuple[Any, Axes], norm: str | None) -> Any:
    axes = sizes[1]
    if axes is None or len(axes) != 2:
        raise errors.DimensionsUnfit(function=name, argument="axes", value=axes, shape=(), reason="two axes are needed")
    return _transform(name, fft_type, a, sizes, norm)


def fft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """The Fourier transform along an axis.

    Args: n: cut or fill up the axis with zeros to this length; norm: "backward" (as it is), "ortho" or "forward" (divided
    by the length).

    >>> fft(np.array([1.0, 0.0, 0.0, 0.0]))
    Array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j], dtype=complex64)
    """
    return _one_axis("fft", "FFT", a, n, axis, norm)


def ifft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """The inverse of fft: divided by the length, but with norm "ortho" by its root and with "forward" not at all.

    >>> ifft(np.array([4.0, 0.0, 0.0, 0.0]))
    Array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j], dtype=complex64)
    """
    return _one_axis("ifft", "IFFT", a, n, axis, norm)


def rfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """The first half of the Fourier transform of real numbers; the other half is its conjugate.

    >>> rfft(np.array([1.0, 0.0, 0.0, 0.0]))
    Array([1.+0.j, 1.+0.j, 1.+0.j], dtype=complex64)
    """
    return _one_axis("rfft", "RFFT", a, n, axis, norm)


def irfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """The inverse of rfft.

    Args: n: the length of the result, by default 2 (m - 1) for m numbers.

    >>> irfft(np.array([4.0, 0.0, 0.0]))
    Array([1., 1., 1., 1.], dtype=float32)
    """
    return _one_axis("irfft", "IRFFT", a, n, axis, norm)


def hfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """The Fourier transform, which is real, of a signal whose second half is the conjugate of the first.

    >>> hfft(np.array([1.0, 0.0, 0.0]))
    Array([1., 1., 1., 1.], dtype=float32)
    """
    x = conj(array(a, "hfft"))
    found = _one_axis("hfft", "IRFFT", x, n, axis, norm)
    return multiply(found, literal(found.type.shape[axis], found.type.dtype))


def ihfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """The inverse of hfft.

    >>> ihfft(np.array([1.0, 1.0, 1.0, 1.0])).shape
    (3,)
    """
    x = array(a, "ihfft")
    found = _one_axis("ihfft", "RFFT", x, n, axis, norm)
    count = x.type.shape[axis] if n is None else operator.index(n)
    return multiply(conj(found), literal(1 / count, found.type.dtype))


def fft2(a: Any, s: Any = None, axes: Sequence[int] = (-2, -1), norm: str | None = None) -> Any:
    """The Fourier transform over two axes.

    >>> fft2(np.ones((2, 2)))
    Array([[4.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return _two_axes("fft2", "FFT", a, (s, axes), norm)


def ifft2(a: Any, s: Any = None, axes: Sequence[int] = (-2, -1), norm: str | None = None) -> Any:
    """The inverse of fft2.

    >>> ifft2(np.ones((2, 2)))
    Array([[1.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return _two_axes("ifft2", "IFFT", a, (s, axes), norm)


def rfft2(a: Any, s: Any = None, axes: Sequence[int] = (-2, -1), norm: str | None = None) -> Any:
    """rfft along the last axis, fft along the other.

    >>> rfft2(np.ones((2, 2)))
    Array([[4.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return _two_axes("rfft2", "RFFT", a, (s, axes), norm)


def irfft2(a: Any, s: Any = None, axes: Sequence[int] = (-2, -1), norm: str | None = None) -> Any:
    """The inverse of rfft2.

    >>> irfft2(np.ones((2, 2)))
    Array([[1., 0.],
           [0., 0.]], dtype=float32)
    """
    return _two_axes("irfft2", "IRFFT", a, (s, axes), norm)


def fftn(a: Any, s: Any = None, axes: Axes = None, norm: str | None = None) -> Any:
    """The Fourier transform over all axes, or the given ones.

    Args: s: the lengths of the axes; of the last ones if no axes are given.

    >>> fftn(np.ones((2, 2)))
    Array([[4.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return _transform("fftn", "FFT", a, (s, axes), norm)


def ifftn(a: Any, s: Any = None, axes: Axes = None, norm: str | None = None) -> Any:
    """The inverse of fftn.

    >>> ifftn(np.ones((2, 2)))
    Array([[1.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return _transform("ifftn", "IFFT", a, (s, axes), norm)


def rfftn(a: Any, s: Any = None, axes: Axes = None, norm: str | None = None) -> Any:
    """rfft along the last axis, fft along the others.

    >>> rfftn(np.ones((2, 2)))
    Array([[4.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return _transform("rfftn", "RFFT", a, (s, axes), norm)


def irfftn(a: Any, s: Any = None, axes: Axes = None, norm: str | None = None) -> Any:
    """The inverse of rfftn.

    >>> irfftn(np.ones((2, 2)))
    Array([[1., 0.],
           [0., 0.]], dtype=float32)
    """
    return _transform("irfftn", "IRFFT", a, (s, axes), norm)
