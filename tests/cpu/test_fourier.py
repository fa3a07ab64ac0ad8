"""Fourier transforms of one axis: lengths of our own kernel and others, against NumPy's in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import celadon
import celadon.numpy as cnp
from celadon.cpu import fourier_tables

OWN = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 22, 26, 27, 32, 60, 64, 75, 96, 100, 128, 154, 243, 360, 512, 1001, 3125, 8192)
OTHERS = (17, 38, 97, 131074)
KINDS = ("fft", "ifft", "rfft")


def _signals(kind: str, *shape: int, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape)
    return x if kind == "rfft" else x + 1j * rng.standard_normal(shape)


def test_lengths_are_parted() -> None:
    for n in OWN:
        first, second = fourier_tables.parts(n) or (0, 0)
        assert first * second == n and first <= second
    assert not any(map(fourier_tables.parts, OTHERS))


@pytest.mark.parametrize("kind", KINDS)
def test_lengths(kind: str) -> None:
    with celadon.enable_x64(True):
        for n in (*OWN, *OTHERS):
            transform = celadon.jit(lambda x: getattr(cnp.fft, kind)(x))
            x = _signals(kind, 3, n)
            wanted = getattr(np.fft, kind)(x)
            scale = np.abs(wanted).max()
            for dtype, within in (("float32", 5e-7), ("float64", 2e-15)):
                found = np.asarray(transform(x.astype(dtype if kind == "rfft" else np.result_type(dtype, "complex64"))))
                assert found.dtype.itemsize == 2 * np.dtype(dtype).itemsize
                assert np.abs(found - wanted).max() <= within * scale, (n, dtype)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(8,), (0, 8), (2, 3, 8), (200, 8)], ids=str)
def test_stacks(kind: str, shape: tuple[int, ...]) -> None:
    x = _signals(kind, *shape).astype("float32" if kind == "rfft" else "complex64")
    found = np.asarray(celadon.jit(getattr(cnp.fft, kind))(x))
    np.testing.assert_allclose(found, getattr(np.fft, kind)(x), rtol=1e-5, atol=1e-5)


def test_operands_that_are_views_or_made_on_the_way() -> None:
    x = _signals("fft", 16, 12).astype("complex64")
    found = celadon.jit(lambda x: cnp.fft.fft(x.T * 2.0 + 1.0)[1:] * 3.0)(x)
    np.testing.assert_allclose(np.asarray(found), np.fft.fft(x.T * 2.0 + 1.0)[1:] * 3.0, rtol=1e-4, atol=1e-4)


def test_what_is_not_finite_stays_in_its_own_transform() -> None:
    x = _signals("fft", 3, 64).astype("complex64")
    x[1] = np.nan
    found = np.asarray(celadon.jit(cnp.fft.fft)(x))
    np.testing.assert_array_equal(np.isnan(found).any(axis=1), [False, True, False])


def test_inside_of_loops() -> None:
    """Lengths of our own kernel and of NumPy's."""
    for n in (16, 7):
        x = _signals("fft", n).astype("complex64")
        found = celadon.lax.fori_loop(0, 3, lambda k, x: cnp.fft.ifft(cnp.fft.fft(x) * 0.5), x)
        np.testing.assert_allclose(np.asarray(found), x / 8, rtol=1e-5, atol=1e-6)
