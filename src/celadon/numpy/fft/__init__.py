"""Discrete Fourier transforms under JAX's names (jax.numpy.fft)."""

from celadon.facade import facade

_HOMES = {
    "frequencies": "fftfreq fftshift ifftshift rfftfreq",
    "transforms": "fft fft2 fftn hfft ifft ifft2 ifftn ihfft irfft irfft2 irfftn rfft rfft2 rfftn",
}

__all__, __getattr__, __dir__ = facade(__name__, _HOMES)
