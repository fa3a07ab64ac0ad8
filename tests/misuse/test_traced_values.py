"""Documented misuses of traced values: asked for a number, an index or an array."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
import scipy.special

from celadon import errors
from tests.misuse.misuses import Misuse, Table, check

CONCRETE = "docs/errors: ConcretizationTypeError"
CONTROL = "docs/control-flow"
TRACING = "docs/tracing"
ARRAY = "docs/errors: TracerArrayConversionError"
INTEGER = "docs/errors: TracerIntegerConversionError"

table = Table()


@table.documented(CONCRETE, errors.TracerIntegerConversionError, "i32[]", "func", "argument axis")
def an_axis_that_is_traced(jax: Any) -> None:
    @jax.jit
    def func(x, axis):
        return x.min(axis)  # here

    func(jax.numpy.arange(4), 0)


@table.documented(CONCRETE, errors.TracerIntegerConversionError, "i32[]", "argument axis")
def an_axis_of_a_function_that_is_traced(jax: Any) -> None:
    @jax.jit
    def func(x, axis):
        return jax.numpy.sum(x, axis=axis)  # here

    func(jax.numpy.arange(4), 0)


@table.documented(CONCRETE, errors.ConcretizationTypeError, "a concrete float", "f32[]", "argument x['w']")
def a_function_of_math(jax: Any) -> None:
    @jax.jit
    def func(x):
        return math.sin(x["w"])  # here

    func({"w": 1.0})


@table.documented(CONCRETE, errors.ConcretizationTypeError, "a concrete int", "f32[]", "argument x['w'][0]")
def int_of_a_leaf(jax: Any) -> None:
    @jax.jit
    def func(x):
        return int(x["w"][0])  # here

    func({"w": [1.5]})


@table.documented(CONCRETE, errors.ConcretizationTypeError, "a concrete complex", "argument x")
def complex_of_an_argument(jax: Any) -> None:
    jax.jit(lambda x: complex(x))(1.0)  # here


@table.documented(CONCRETE, errors.ConcretizationTypeError, "f32[]", "argument x")
def item_of_a_sum(jax: Any) -> None:
    jax.jit(lambda x: x.sum().item())(jax.numpy.ones(3))  # here


@table.documented(CONCRETE, errors.ConcretizationTypeError, "f32[3]", "argument x")
def tolist_of_an_argument(jax: Any) -> None:
    jax.jit(lambda x: x.tolist())(jax.numpy.ones(3))  # here


@table.documented(CONCRETE, errors.ConcretizationTypeError, "i32[]", "argument n")
def arange_of_an_argument(jax: Any) -> None:
    jax.jit(lambda n: jax.numpy.arange(n))(3)  # here


@table.documented(CONCRETE, errors.TracerIntegerConversionError, "i32[]", "argument n")
def linspace_with_a_traced_count(jax: Any) -> None:
    jax.jit(lambda n: jax.numpy.linspace(0, 1, n))(3)  # here


@table.documented(CONCRETE, errors.TracerBoolConversionError, "argument k")
def top_k_with_a_traced_count(jax: Any) -> None:
    jax.jit(lambda x, k: jax.lax.top_k(x, k))(jax.numpy.arange(3), 2)  # here


@table.documented(CONCRETE, errors.TracerIntegerConversionError, "argument n")
def one_hot_with_a_traced_count(jax: Any) -> None:
    jax.jit(lambda x, n: jax.nn.one_hot(x, n))(jax.numpy.arange(3), 2)  # here


@table.documented(CONCRETE, errors.TracerIntegerConversionError, "i32[]", "argument axis")
def split_along_a_traced_axis(jax: Any) -> None:
    @jax.jit
    def func(x, axis):
        return jax.numpy.split(x, 2, axis)  # here

    func(np.arange(4), 0)


@table.documented(CONTROL, errors.TracerIntegerConversionError, "i32[]", "argument n")
def a_shape_that_is_traced(jax: Any) -> None:
    jax.jit(lambda n: jax.numpy.ones((n,)))(3)  # here


@table.documented(TRACING, errors.TracerIntegerConversionError, "i32[]", "argument n")
def reshape_to_a_traced_size(jax: Any) -> None:
    jax.jit(lambda x, n: x.reshape(n, 2))(jax.numpy.ones(4), 2)  # here


@table.documented(TRACING, errors.TracerIntegerConversionError, "does not depend on any argument", "numpy (np.)")
def reshape_to_a_product_by_jax_numpy(jax: Any) -> None:
    @jax.jit
    def f(x):
        return x.reshape(jax.numpy.array(x.shape).prod())  # here

    f(jax.numpy.ones((2, 3)))


@table.documented(CONTROL, errors.TracerIntegerConversionError, "argument n")
def broadcast_to_a_traced_size(jax: Any) -> None:
    jax.jit(lambda x, n: jax.numpy.broadcast_to(x, (n, 4)))(jax.numpy.ones(4), 2)  # here


@table.documented(CONTROL, errors.ConcretizationTypeError, "argument n")
def tile_a_traced_number_of_times(jax: Any) -> None:
    jax.jit(lambda x, n: jax.numpy.tile(x, n))(jax.numpy.ones(4), 2)  # here


@table.documented(CONTROL, errors.TracerIntegerConversionError, "argument n")
def eye_of_a_traced_size(jax: Any) -> None:
    jax.jit(lambda n: jax.numpy.eye(n))(3)  # here


@table.documented(CONTROL, errors.TracerIntegerConversionError, "argument n")
def a_sample_of_a_traced_shape(jax: Any) -> None:
    jax.jit(lambda k, n: jax.random.normal(k, (n,)))(jax.random.key(0), 2)  # here


@table.documented(CONTROL, errors.TracerIntegerConversionError, "argument n")
def a_traced_number_of_keys(jax: Any) -> None:
    jax.jit(lambda k, n: jax.random.split(k, n))(jax.random.key(0), 2)  # here


@table.documented(ARRAY, errors.TracerArrayConversionError, "i32[4]", "func", "argument x")
def numpy_of_an_argument(jax: Any) -> None:
    @jax.jit
    def func(x):
        return np.sin(x)  # here

    func(np.arange(4))


@table.documented(ARRAY, errors.TracerArrayConversionError, "i32[]", "argument i")
def an_index_of_a_numpy_array(jax: Any) -> None:
    x = np.arange(10)

    @jax.jit
    def func(i):
        return x[i]  # here

    func(np.int32(0))


@table.documented(ARRAY, errors.TracerArrayConversionError, "argument p['w'][1]")
def asarray_of_a_leaf(jax: Any) -> None:
    jax.jit(lambda p: np.asarray(p["w"][1]))({"w": (1.0, 2.0)})  # here


@table.documented(ARRAY, errors.TracerArrayConversionError, "f32[]", "differentiated argument x")
def numpy_under_grad(jax: Any) -> None:
    jax.grad(lambda x: np.sin(x))(1.0)  # here


@table.documented(ARRAY, errors.TracerArrayConversionError, "f32[]", "argument x")
def scipy_of_an_argument(jax: Any) -> None:
    jax.jit(lambda x: scipy.special.gamma(x))(1.0)  # here


@table.documented(ARRAY, errors.TracerArrayConversionError, "f32[]", "argument x")
def numpy_in_a_scan(jax: Any) -> None:
    jax.lax.scan(lambda c, x: (c, np.exp(x)), 0.0, jax.numpy.ones(3))  # here


@table.documented(INTEGER, errors.TracerIntegerConversionError, "i32[]", "argument axis")
def an_axis_of_numpy_that_is_traced(jax: Any) -> None:
    @jax.jit
    def func(x, axis):
        return np.split(x, 2, axis)  # here

    func(np.arange(4), 0)


@table.documented(INTEGER, errors.TracerIntegerConversionError, "i32[]", "argument i")
def an_index_of_a_list(jax: Any) -> None:
    L = [1, 2, 3]

    @jax.jit
    def func(i):
        return L[i]  # here

    func(0)


@table.documented(CONTROL, errors.TracerIntegerConversionError, "i32[]", "argument n")
def a_range_of_an_argument(jax: Any) -> None:
    @jax.jit
    def f(x, n):
        y = 0.0
        for i in range(n):  # here
            y = y + x[i]
        return y

    f(jax.numpy.array([2.0, 3.0, 4.0]), 2)


@table.documented(INTEGER, errors.TracerIntegerConversionError, "argument i")
def an_index_of_a_list_in_fori_loop(jax: Any) -> None:
    layers = [1.0, 2.0]
    jax.lax.fori_loop(0, 2, lambda i, c: c * layers[i], 1.0)  # here


@table.documented(INTEGER, errors.TracerIntegerConversionError, "mapped argument i")
def an_index_of_a_list_under_vmap(jax: Any) -> None:
    layers = [1.0, 2.0]
    jax.vmap(lambda i: layers[i])(jax.numpy.arange(2))  # here


@table.documented(INTEGER, errors.TracerIntegerConversionError, "argument i")
def an_index_by_operator(jax: Any) -> None:
    jax.jit(lambda i: operator.index(i))(2)  # here


@table.each
def test_it_is_refused_with_a_reason(misuse: Misuse) -> None:
    check(misuse)
