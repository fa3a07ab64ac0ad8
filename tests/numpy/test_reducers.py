"""Options of reductions against real JAX: dtype=bool, masks, initial values, corrections, weights of several axes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import celadon.numpy as cnp
from celadon import errors
from tests.transforms.sides import agree

X = np.array([0.1, 0.1, 0, -0.5], np.float32)
A = np.arange(24, dtype=np.float32).reshape(3, 4, 2)
W = np.arange(1, 7, dtype=np.float32).reshape(2, 3)
REDUCERS = ("sum", "prod", "max", "min", "nansum", "nanprod", "nanmax", "nanmin")
RUNNING = ("cumsum", "cumprod", "cumulative_sum", "cumulative_prod", "nancumsum", "nancumprod")


@pytest.mark.parametrize("name", [*RUNNING, "sum", "prod"])
def test_sums_of_booleans_count_what_is_not_zero(name):
    agree(lambda m, n: getattr(n, name)(X, dtype=bool))
    agree(lambda m, n: m.jit(lambda x: getattr(n, name)(x, dtype=bool))(X))


def test_booleans_in_equal_steps():
    agree(lambda m, n: n.linspace(0, 1, 3, dtype=bool))


@pytest.mark.parametrize("name", [*REDUCERS, "any", "all", "mean", "var", "std", "nanmean", "nanvar", "nanstd"])
def test_a_mask_is_boolean(name):
    given = {"initial": 0.0} if name.endswith(("max", "min")) else {}
    agree(lambda m, n: getattr(n, name)(X, where=np.array([True, False, True, True]), **given))
    agree(lambda m, n: getattr(n, name)(X, where=True, **given))
    with pytest.raises(ValueError):
        getattr(jnp, name)(X, where=np.ones(4, int), **given)
    with pytest.raises(errors.DTypeNotAccepted, match="where"):
        getattr(cnp, name)(X, where=np.ones(4, int), **given)


@pytest.mark.parametrize("name", REDUCERS)
def test_an_initial_value_is_a_scalar(name):
    agree(lambda m, n: getattr(n, name)(X, initial=np.float32(2)))
    for initial in (np.ones((1, 2), np.float32), np.ones(1, np.float32)):
        with pytest.raises(ValueError):
            getattr(jnp, name)(X, initial=initial)
        with pytest.raises(errors.DimensionsUnfit, match="initial"):
            getattr(cnp, name)(X, initial=initial)


@pytest.mark.parametrize("name", ["var", "std"])
def test_ddof_and_correction_are_one_option(name):
    for options in ({"ddof": 1}, {"correction": 1}, {"ddof": 0, "correction": 2}, {"correction": 0.5}):
        agree(lambda m, n, options=options: getattr(n, name)(X, **options))
    for ddof, correction in ((1, 0), (1, 1)):
        with pytest.raises(ValueError):
            getattr(jnp, name)(X, ddof=ddof, correction=correction)
        with pytest.raises(errors.OptionsExclude, match="correction"):
            getattr(cnp, name)(X, ddof=ddof, correction=correction)


@pytest.mark.parametrize("options", [
    dict(axis=(2, 0), weights=W), dict(axis=(0, 2), weights=W.T), dict(axis=(-1, 0), weights=W, keepdims=True),
    dict(axis=(2, 0), weights=W, returned=True), dict(axis=(1, 2, 0), weights=A.transpose(1, 2, 0)),
    dict(axis=1, weights=W.reshape(-1)[:4]), dict(axis=(1,), weights=W.reshape(-1)[:4]), dict(weights=A + 1),
], ids=str)  # fmt: skip
def test_weights_stand_along_the_axes(options):
    agree(lambda m, n: n.average(A, **options), 1e-5, 1e-5)


@pytest.mark.parametrize("options", [dict(axis=(0, 2), weights=W), dict(weights=W), dict(axis=1, weights=W)], ids=str)
def test_weights_that_do_not_fit_are_refused(options):
    with pytest.raises((TypeError, ValueError)):
        jax.numpy.average(A, **options)
    with pytest.raises(errors.ShapesDiffer, match="average"):
        cnp.average(A, **options)
