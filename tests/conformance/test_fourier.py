"""numpy.fft and lax.fft against real JAX: values, dtypes, errors, derivatives, compiles."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import celadon
import celadon.lax as clax
import celadon.numpy as cnp
from celadon import errors, events
from tests.bits import bits
from tests.conformance.linear import agree, close, matrix, near


def both(name):
    return getattr(jnp.fft, name), getattr(cnp.fft, name)


ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
REAL = ("rfft", "ihfft", "rfft2", "rfftn")


def sample(name, *shape):
    return matrix("float32" if name in REAL else "complex64", *shape)


@pytest.mark.parametrize("name", ONE)
def test_one_axis(name):
    x = sample(name, 3, 4, 5)
    for options in ({}, {"axis": 1}, {"n": 3}, {"n": 8, "axis": 0}, {"norm": "ortho"}, {"norm": "forward", "n": 6}):
        agree(*both(name), x, **options)
    for dtype in ("float32", "int32"):
        agree(*both(name), matrix(dtype, 5))


@pytest.mark.parametrize("name", ["fft2", "ifft2", "rfft2", "irfft2"])
def test_two_axes(name):
    x = sample(name, 3, 4, 5)
    for options in ({}, {"axes": (0, 1)}, {"s": (3, 6)}, {"norm": "ortho"}, {"axes": (0, 1, 2)}):
        agree(*both(name), x, **options)


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
def test_several_axes(name):
    for shape in ((2, 3, 4), (2, 2, 3, 2, 4)):
        for options in ({}, {"axes": (1, 0)}, {"s": (3, 4)}, {"norm": "forward"}, {"s": (3, 2), "axes": (0, -1)}):
            agree(*both(name), sample(name, *shape), **options)


def test_what_does_not_fit_is_refused():
    x = matrix("float32", 3, 4)
    for options in ({"n": 0}, {"n": -1}, {"axis": 2}, {"norm": "odd"}, {"axis": (0, 1)}):
        agree(*both("fft"), x, **options)
    for options in ({"s": (2, 2, 2)}, {"axes": (0, 0)}, {"s": (2,), "axes": (0, 1)}, {"axes": (5,)}):
        agree(*both("fftn"), x, **options)
    for shape in ((0,), (2, 0)):
        with pytest.raises(errors.FourierUnfit):
            cnp.fft.fft(np.zeros(shape))
    with pytest.raises(errors.DTypeNotAccepted):
        cnp.fft.rfft(x * 1j)
    agree(*both("fft"), matrix("complex64", 0, 4))


def test_frequencies():
    for n in (1, 2, 5, 8):
        for name in ("fftfreq", "rfftfreq"):
            agree(*both(name), n, 0.5)
            agree(*both(name), n, dtype="bfloat16")
        agree(*both("fftfreq"), n, dtype="complex64")
    agree(*both("fftfreq"), [1, 2])
    x = matrix("int32", 4, 5)
    for name in ("fftshift", "ifftshift"):
        for axes in (None, (1,), (0, 1), -1):
            agree(*both(name), x, axes)


def test_lax_fft():
    x = matrix("complex64", 3, 4, 6)
    for kind, lengths in (("FFT", (6,)), ("ifft", (4, 6)), ("IRFFT", (4, 11)), ("FFT", ()), ("FFT", (5,)), ("odd", (6,))):
        agree(jax.lax.fft, clax.fft, x, kind, lengths)
    agree(jax.lax.fft, clax.fft, x.real, "RFFT", (3, 4, 6))
    near(clax.fft(matrix("int32", 6), clax.FftType.RFFT, (6,)), jax.lax.fft(matrix("int32", 6), "RFFT", (6,)))


@pytest.mark.parametrize("name", [*ONE, "rfft2", "irfftn", "ifftn"])
def test_derivatives(name):
    x = sample(name, 3, 4, 5)
    theirs, ours = both(name)
    out, pull = celadon.vjp(ours, x)
    ct = matrix(str(out.dtype), *out.shape, seed=1)
    near(pull(cnp.asarray(ct)), jax.vjp(theirs, x)[1](jnp.asarray(ct)))
    t = sample(name, 3, 4, 5) * 2
    near(celadon.jvp(ours, (x,), (t,))[1], theirs(jnp.asarray(t)))


def test_second_derivatives():
    x, t = matrix("float32", 6), matrix("float32", 6, seed=1)
    expected = jax.jvp(jax.grad(lambda v: jnp.sum(jnp.abs(jnp.fft.rfft(v)) ** 4)), (x,), (t,))[1]
    found = celadon.jvp(celadon.grad(lambda v: cnp.sum(cnp.abs(cnp.fft.rfft(v)) ** 4)), (x,), (t,))[1]
    close(np.asarray(found), np.asarray(expected))


@pytest.mark.parametrize("name", [*ONE, "fft2", "irfftn"])
def test_batches_and_bits(name):
    function, x = getattr(cnp.fft, name), sample(name, 3, 4, 6)
    for axis in (0, 1, 2):
        found = celadon.vmap(function, in_axes=axis)(x)
        alone = np.stack([np.asarray(function(one)) for one in np.moveaxis(x, axis, 0)])
        close(np.asarray(found), alone)
    assert bits(celadon.jit(function)(x)) == bits(function(x))


def test_executors_agree():
    x = matrix("float32", 4, 6)

    def several(x):
        return [cnp.fft.rfft2(x), cnp.fft.irfft(cnp.fft.rfft(x), 7), cnp.fft.fft(x, axis=0), cnp.fft.ifftn(x)]

    expected = celadon.jit(several)(x)
    for executor in ("reference", "xla"):
        try:
            celadon.config.update("celadon_executor", executor)
            found = celadon.jit(lambda x: several(x))(x)
        finally:
            celadon.config.update("celadon_executor", "cpu")
        for one, other in zip(found, expected, strict=True):
            close(np.asarray(one), np.asarray(other))


def test_the_text_is_that_of_jax():
    def function(m):
        return lambda x: m.fft.rfft2(x)

    x = np.ones((4, 6), np.float32)
    expected = jax.jit(function(jnp)).lower(x).as_text()
    found = celadon.jit(function(cnp)).lower(x).as_text()
    assert found == expected.replace('jax.result_info = "result"', 'jax.result_info = ""')


def test_other_extents_compile_nothing():
    def filtered(x, s):
        spectrum = cnp.fft.rfft(x) * s
        return cnp.fft.irfft(spectrum) + cnp.real(cnp.fft.fft2(x)) + cnp.fft.fftshift(x)

    step = celadon.jit(filtered)
    step(matrix("float32", 4, 6), 0.5)
    with events.watching() as seen:
        found = step(matrix("float32", 7, 10), 2.0)
    assert [event.kind for event in seen if event.kind in ("compile", "fallback")] == []
    x = matrix("float32", 7, 10)
    expected = np.fft.irfft(2 * np.fft.rfft(x)) + np.fft.fft2(x).real + np.fft.fftshift(x)
    close(np.asarray(found), expected.astype(np.float32))
