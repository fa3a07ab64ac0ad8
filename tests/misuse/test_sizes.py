"""Documented misuses in which values decide a shape: masks, searches, slices; and values that leave their trace."""

from __future__ import annotations

from typing import Any

import numpy as np

from celadon import errors
from tests.misuse.misuses import Misuse, Table, check

CONCRETE = "docs/errors: ConcretizationTypeError"
MASK = "docs/errors: NonConcreteBooleanIndexError"
THINKING = "docs/thinking_in_jax"
GOTCHAS = "docs/Common_Gotchas_in_JAX"
LEAK = "docs/errors: UnexpectedTracerError"

table = Table()


@table.documented(CONCRETE, errors.ResultSizeTraced, "nonzero", "bool[4]", "argument x")
def where_of_a_mask(jax: Any) -> None:
    @jax.jit
    def func(x):
        return jax.numpy.where(x < 0)  # here

    func(jax.numpy.arange(4))


@table.documented(CONCRETE, errors.ResultSizeTraced, "nonzero", "bool[4]", "argument x")
def where_and_then_an_index(jax: Any) -> None:
    @jax.jit
    def func(x):
        indices = jax.numpy.where(x > 1)  # here
        return x[indices].sum()

    func(jax.numpy.arange(4))


@table.documented(CONCRETE, errors.ResultSizeTraced, "unique", "i32[4]", "argument x")
def a_result_of_unique(jax):
    @jax.jit
    def func(x):
        return jax.numpy.unique(x)  # here

    func(jax.numpy.arange(4))


@table.documented(CONCRETE, errors.ResultSizeTraced, "union1d", "i32[4]", "argument x")
def a_result_of_union1d(jax):
    @jax.jit
    def func(x):
        return jax.numpy.union1d(x, x)  # here

    func(jax.numpy.arange(4))


@table.documented(CONCRETE, errors.ResultSizeTraced, "setdiff1d", "i32[4]", "argument x")
def a_result_of_setdiff1d(jax):
    @jax.jit
    def func(x):
        return jax.numpy.setdiff1d(x, x)  # here

    func(jax.numpy.arange(4))


@table.documented(CONCRETE, errors.ResultSizeTraced, "intersect1d", "i32[4]", "argument x")
def a_result_of_intersect1d(jax):
    @jax.jit
    def func(x):
        return jax.numpy.intersect1d(x, x)  # here

    func(jax.numpy.arange(4))


@table.documented(CONCRETE, errors.ResultSizeTraced, "repeat", "i32[]", "argument n")
def repeat_a_traced_number_of_times(jax: Any) -> None:
    jax.jit(lambda x, n: jax.numpy.repeat(x, n))(jax.numpy.ones(3), 2)  # here


@table.documented(CONCRETE, errors.ResultSizeTraced, "bincount", "i32[3]", "argument x")
def bincount_without_length(jax: Any) -> None:
    jax.jit(lambda x: jax.numpy.bincount(x))(jax.numpy.arange(3))  # here


@table.documented(MASK, errors.NonConcreteBooleanIndexError, "bool[10]", "(10,)", "positive_values", "argument x")
def a_mask_as_an_index(jax: Any) -> None:
    @jax.jit
    def positive_values(x):
        return x[x > 0]  # here

    positive_values(jax.numpy.arange(-5, 5))


@table.documented(MASK, errors.NonConcreteBooleanIndexError, "bool[4]", "argument x")
def an_update_by_a_mask(jax: Any) -> None:
    @jax.jit
    def manual_clip(x):
        return x.at[x < 0].set(jax.numpy.arange(2))  # here

    manual_clip(jax.numpy.arange(-2, 2))


@table.documented(THINKING, errors.NonConcreteBooleanIndexError, "bool[10]", "get_negatives", "argument x")
def a_mask_under_jit(jax: Any) -> None:
    def get_negatives(x):
        return x[x < 0]  # here

    jax.jit(get_negatives)(jax.random.normal(jax.random.key(0), (10,)))


@table.documented(GOTCHAS, errors.NonConcreteBooleanIndexError, "bool[2]", "nansum", "argument x")
def a_sum_of_what_is_no_nan(jax: Any) -> None:
    def nansum(x):
        mask = ~jax.numpy.isnan(x)
        x_without_nans = x[mask]  # here
        return x_without_nans.sum()

    jax.jit(nansum)(jax.numpy.array([1, jax.numpy.nan]))


@table.documented(GOTCHAS, errors.NonConcreteBooleanIndexError, "bool[3]", "mapped argument x")
def a_mask_under_vmap(jax: Any) -> None:
    jax.vmap(lambda x: x[~jax.numpy.isnan(x)].sum())(jax.numpy.ones((2, 3)))  # here


@table.documented(GOTCHAS, errors.SliceTraced, "(3,)", "i32[]", "argument n")
def a_slice_to_a_traced_bound(jax: Any) -> None:
    jax.jit(lambda x, n: x[:n])(jax.numpy.arange(3), 2)  # here


@table.documented(GOTCHAS, errors.SliceTraced, "i32[]", "argument i")
def a_slice_to_the_index_of_a_loop(jax: Any) -> None:
    x = jax.numpy.arange(3.0)
    jax.lax.fori_loop(0, 3, lambda i, c: c + x[:i].sum(), 0.0)  # here


@table.documented(GOTCHAS, errors.TracerIntegerConversionError, "i32[]", "argument n")
def a_dynamic_slice_of_a_traced_size(jax: Any) -> None:
    jax.jit(lambda x, n: jax.lax.dynamic_slice(x, (0,), (n,)))(jax.numpy.arange(3), 2)  # here


@table.documented(LEAK, errors.UnexpectedTracerError, "i32[]", "side_effecting", "made at")
def a_value_in_a_list(jax: Any) -> None:
    outs = []

    @jax.jit
    def side_effecting(x):
        y = x + 1
        outs.append(y)

    side_effecting(1)
    outs[0] + 1  # here


@table.documented(LEAK, errors.TracerLeaked, "i32[]", "side_effecting", "a list")
def a_value_in_a_list_that_is_checked(jax: Any) -> None:
    outs = []

    @jax.jit
    def side_effecting(x):
        y = x + 1
        outs.append(y)

    with jax.checking_leaks():
        side_effecting(1)  # here


@table.documented(GOTCHAS, errors.UnexpectedTracerError, "f32[]", "impure_saves_global")
def a_value_in_a_global(jax: Any) -> None:
    saved = {}

    def impure_saves_global(x):
        saved["g"] = x
        return x

    jax.jit(impure_saves_global)(4.0)
    jax.numpy.sin(saved["g"])  # here


@table.documented(GOTCHAS, errors.UnexpectedTracerError, "f32[]", "impure_saves_global")
def a_saved_value_as_an_argument(jax: Any) -> None:
    saved = {}

    def impure_saves_global(x):
        saved["g"] = x
        return x

    jax.jit(impure_saves_global)(4.0)
    jax.jit(lambda x: x)(saved["g"])  # here


@table.documented(LEAK, errors.UnexpectedTracerError, "f32[]", "step")
def a_value_in_an_attribute(jax: Any) -> None:
    class Model:
        state = 0.0

    m = Model()

    @jax.jit
    def step(x):
        m.state = m.state + x  # here
        return m.state

    step(1.0)
    step(jax.numpy.ones(3))


@table.documented(LEAK, errors.UnexpectedTracerError, "f32[]")
def a_value_saved_by_a_scan(jax: Any) -> None:
    saved = []
    jax.lax.scan(lambda c, x: (saved.append(c), (c + x, x))[1], 0.0, jax.numpy.ones(3))
    saved[0] * 2  # here


@table.documented(LEAK, errors.UnexpectedTracerError, "f32[]", "made while <lambda> ran")
def a_value_saved_under_vmap(jax: Any) -> None:
    saved = []
    jax.vmap(lambda x: (saved.append(x * 2), x)[1])(jax.numpy.ones(3))
    saved[0] * 2  # here


@table.documented(LEAK, errors.UnexpectedTracerError, "f32[]", "made while <lambda> ran")
def a_value_saved_under_grad(jax: Any) -> None:
    saved = []
    jax.grad(lambda x: (saved.append(x * 2), x)[1])(1.0)
    jax.numpy.sin(saved[0])  # here


@table.documented(LEAK, errors.TracerArrayConversionError, "f32[]", "argument x")
def a_saved_value_for_numpy(jax: Any) -> None:
    saved = []
    jax.jit(lambda x: (saved.append(x * 2), x)[1])(1.0)
    np.asarray(saved[0])  # here


@table.documented(LEAK, errors.ConcretizationTypeError, "f32[]", "argument x")
def a_saved_value_as_a_float(jax: Any) -> None:
    saved = []
    jax.jit(lambda x: (saved.append(x * 2), x)[1])(1.0)
    float(saved[0])  # here


@table.documented(LEAK, errors.TracerBoolConversionError, "f32[]", "argument x")
def a_saved_value_as_a_condition(jax: Any) -> None:
    saved = []
    jax.jit(lambda x: (saved.append(x * 2), x)[1])(1.0)
    bool(saved[0])  # here


@table.each
def test_it_is_refused_with_a_reason(misuse: Misuse) -> None:
    check(misuse)
