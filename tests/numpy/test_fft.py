"""Fourier transforms against NumPy inside and outside jit, in batches, and backwards by the dot-product test."""

import numpy as np
import pytest

import celadon
import celadon.numpy as cnp

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(3, 8))
Z = X + 1j * RANDOM.normal(size=(3, 8))
CASES = [
    ("fft", Z, {}), ("ifft", Z, {"axis": 0}), ("rfft", X, {}), ("irfft", Z, {"n": 10}), ("fft2", Z, {}), ("rfftn", X, {}),
    ("irfftn", Z, {}), ("ifftn", Z, {}), ("hfft", Z, {}), ("ihfft", X, {}), ("fftshift", X, {}), ("rfft", X, {"norm": "ortho"}),
]  # fmt: skip
EACH = pytest.mark.parametrize(("name", "x", "options"), CASES, ids=[f"{name}{k}" for k, (name, _, _) in enumerate(CASES)])


@EACH
def test_values(name, x, options):
    function, expected = getattr(cnp.fft, name), getattr(np.fft, name)(x, **options)
    with celadon.enable_x64(True):
        np.testing.assert_allclose(np.asarray(function(x, **options)), expected, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(np.asarray(celadon.jit(lambda x: function(x, **options))(x)), expected, rtol=1e-10, atol=1e-12)
        found = celadon.vmap(lambda x: function(x, **options))(np.stack([x, 2 * x]))
        np.testing.assert_allclose(np.asarray(found), np.stack([expected, 2 * expected]), rtol=1e-10, atol=1e-12)


@EACH
def test_backwards(name, x, options):
    """The pullback is the transpose: <ct, f(t)> is <f'(ct), t>."""
    with celadon.enable_x64(True):
        out, pullback = celadon.vjp(lambda x: getattr(cnp.fft, name)(x, **options), x)
        ct = RANDOM.normal(size=out.shape).astype(out.dtype)
        [back] = pullback(ct)
        forward = np.sum(ct * np.asarray(out)).real
    np.testing.assert_allclose(np.sum(np.asarray(back) * x).real, forward, rtol=1e-9)


def test_frequencies():
    np.testing.assert_allclose(np.asarray(cnp.fft.fftfreq(8, 0.5)), np.fft.fftfreq(8, 0.5))
    np.testing.assert_allclose(np.asarray(cnp.fft.rfftfreq(7)), np.fft.rfftfreq(7), rtol=1e-6)
