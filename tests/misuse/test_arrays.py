"""Documented misuses of arrays, of the options of jit, of donated buffers and of compiled programs."""

from __future__ import annotations

from typing import Any

import numpy as np

from celadon import errors
from tests.misuse.misuses import Misuse, Table, check

GOTCHAS = "docs/Common_Gotchas_in_JAX"
THINKING = "docs/thinking_in_jax"
DTYPES = "docs/default_dtypes"
CONCEPTS = "docs/key-concepts"
RANKS = "docs/rank_promotion_warning"
PROMOTION = "docs/type_promotion"
JIT = "docs/jit-compilation"
DONATION = "docs/buffer_donation"
AOT = "docs/aot"

table = Table()


@table.documented(GOTCHAS, errors.ArrayImmutable, "f32[3,3]")
def an_assignment_to_elements(jax: Any) -> None:
    jax_array = jax.numpy.zeros((3, 3), dtype=jax.numpy.float32)
    jax_array[1, :] = 1.0  # here


@table.documented(GOTCHAS, errors.ArrayImmutable, "f32[3]")
def an_assignment_under_jit(jax: Any) -> None:
    def f(params):
        params["w"][0] = 1.0  # here
        return params

    jax.jit(f)({"w": jax.numpy.zeros(3)})


@table.documented(GOTCHAS, errors.ArrayImmutable, "i32[3]")
def an_addition_to_an_element(jax: Any) -> None:
    x = jax.numpy.arange(3)
    x[0] += 1  # here


@table.documented(THINKING, errors.ArrayImmutable, "i32[10]")
def an_assignment_to_one_element(jax: Any) -> None:
    x = jax.numpy.arange(10)
    x[0] = 10  # here


@table.documented(GOTCHAS, errors.SequenceNotArray, "sum", "a list")
def a_sum_of_a_list(jax: Any) -> None:
    jax.numpy.sum([1, 2, 3])  # here


@table.documented(GOTCHAS, errors.SequenceNotArray, "dot", "a list")
def a_list_as_the_second_operand(jax: Any) -> None:
    jax.numpy.dot(jax.numpy.arange(3), [1, 2, 3])  # here


@table.documented(GOTCHAS, errors.SequenceNotArray, "a list")
def a_list_beside_an_operator(jax: Any) -> None:
    jax.numpy.arange(3) * [1, 2, 3]  # here


@table.documented(GOTCHAS, errors.IndexNotSupported, "[0, 1]", "list")
def a_list_as_an_index(jax: Any) -> None:
    jax.numpy.arange(3)[[0, 1]]  # here


@table.documented(GOTCHAS, errors.ArgumentNotArray, "argument arr of func11", "range_iterator")
def an_iterator_under_make_jaxpr(jax: Any) -> None:
    def func11(arr, extra):
        ones = jax.numpy.ones(arr.shape)
        return jax.lax.scan(lambda c, a: (c, c), 0.0, (arr, ones))

    jax.make_jaxpr(func11)(iter(range(16)), 5.0)  # here


@table.documented(GOTCHAS, errors.ArgumentNotArray, "argument xs of scan", "range_iterator")
def an_iterator_for_scan(jax: Any) -> None:
    jax.lax.scan(lambda c, a: (c, c), 0.0, iter(range(16)))  # here


@table.documented(GOTCHAS, errors.ArgumentNotArray, "argument operands[0] of cond", "range_iterator")
def an_iterator_for_cond(jax: Any) -> None:
    jax.lax.cond(True, lambda x: next(x) + 1, lambda x: next(x) - 1, iter(range(10)))  # here


@table.documented(GOTCHAS, errors.ArgumentNotArray, "argument self of calc", "CustomClass")
def a_method_whose_self_is_traced(jax: Any) -> None:
    class CustomClass:
        def __init__(self, x, mul):
            self.x, self.mul = x, mul

        @jax.jit
        def calc(self, y):
            return self.x * y if self.mul else y

    CustomClass(2, True).calc(3)  # here


@table.documented(DTYPES, errors.WideDTypeWarning, "float64", "float32")
def a_wide_dtype_by_name(jax: Any) -> None:
    jax.numpy.arange(5, dtype="float64")  # here


@table.documented(DTYPES, errors.WideDTypeWarning, "int64", "int32")
def a_wide_integer_dtype(jax: Any) -> None:
    jax.numpy.zeros(5, dtype=np.int64)  # here


@table.documented(GOTCHAS, errors.WideDTypeWarning, "float64", "float32")
def a_wide_sample(jax: Any) -> None:
    jax.random.uniform(jax.random.key(0), (10,), dtype=jax.numpy.float64)  # here


@table.documented(GOTCHAS, errors.WideDTypeWarning, "float64", "float32")
def a_conversion_to_a_wide_dtype(jax: Any) -> None:
    jax.numpy.ones(3).astype("float64")  # here


@table.documented(CONCEPTS, errors.OperandDTypesDiffer, "add", "i32[]", "f32[]")
def a_function_of_lax_and_two_dtypes(jax: Any) -> None:
    jax.lax.add(1, 1.0)  # here


@table.documented(CONCEPTS, errors.ShapesDiffer, "add", "(3,)", "(4,)")
def shapes_that_do_not_fit(jax: Any) -> None:
    jax.jit(lambda p: p["a"] + p["b"])({"a": jax.numpy.ones(3), "b": jax.numpy.ones(4)})  # here


@table.documented(RANKS, errors.RankPromotionError, "add", "f32[3,3]", "f32[3]")
def two_ranks_that_are_refused(jax: Any) -> None:
    with jax.numpy_rank_promotion("raise"):
        jax.numpy.ones((3, 3)) + jax.numpy.ones(3)  # here


@table.documented(RANKS, errors.RankPromotionWarning, "add", "f32[3,5]", "f32[5]")
def two_ranks_with_a_warning(jax: Any) -> None:
    with jax.numpy_rank_promotion("warn"):
        jax.numpy.ones((3, 5)) + jax.numpy.ones(5)  # here


@table.documented(PROMOTION, errors.TypePromotionError, "add", "f32[]", "i32[]")
def two_dtypes_under_strict_promotion(jax: Any) -> None:
    with jax.numpy_dtype_promotion("strict"):
        jax.numpy.float32(1) + jax.numpy.int32(2)  # here


@table.documented(PROMOTION, errors.TypePromotionError, "multiply", "f32[]", "i32[]")
def two_dtypes_under_strict_promotion_under_jit(jax: Any) -> None:
    with jax.numpy_dtype_promotion("strict"):
        jax.jit(lambda p: p["a"] * p["b"])({"a": np.float32(1), "b": np.int32(2)})  # here


@table.documented(JIT, errors.StaticArgumentUnhashable, "'axes' of <lambda>", "list")
def a_list_as_a_static_argument(jax: Any) -> None:
    f = jax.jit(lambda x, axes: x.sum(axes), static_argnames="axes")
    f(jax.numpy.ones((2, 2)), axes=[0, 1])  # here


@table.documented(JIT, errors.StaticArgumentUnhashable, "'n' of <lambda>", "Array")
def an_array_as_a_static_argument(jax: Any) -> None:
    f = jax.jit(lambda x, n: x * n, static_argnums=1)
    f(jax.numpy.ones(2), jax.numpy.ones(2))  # here


@table.documented(JIT, errors.StaticArgumentUnhashable, "'n' of <lambda>", "ndarray")
def a_numpy_array_as_a_static_argument(jax: Any) -> None:
    f = jax.jit(lambda x, n: x * n, static_argnums=1)
    f(jax.numpy.ones(2), np.ones(2))  # here


@table.documented(JIT, errors.ArgumentNotArray, "argument mode['mode'] of <lambda>", "str")
def a_string_in_an_argument(jax: Any) -> None:
    jax.jit(lambda x, mode: x)(1.0, {"mode": "train"})  # here


@table.documented(JIT, errors.ArgumentNotArray, "argument act of <lambda>", "ufunc")
def a_function_as_an_argument(jax: Any) -> None:
    jax.jit(lambda x, act: act(x))(1.0, np.tanh)  # here


@table.documented(JIT, errors.ResultNotArray, "<lambda>", "str", "result['name']")
def a_string_in_a_result(jax: Any) -> None:
    jax.jit(lambda x: {"loss": x, "name": "a"})(1.0)  # here


@table.documented(JIT, errors.ArgnumsOutOfRange, "static_argnums", "index 1")
def static_argnums_out_of_range(jax: Any) -> None:
    jax.jit(lambda x: x, static_argnums=1)  # here


@table.documented(JIT, errors.ArgnamesUnknown, "'n'", "x")
def static_argnames_unknown(jax: Any) -> None:
    jax.jit(lambda x: x, static_argnames="n")  # here


@table.documented(JIT, errors.NotCallable, "jit was given", "Array")
def jit_of_a_result(jax: Any) -> None:
    jax.jit(jax.numpy.ones(3))  # here


@table.documented(DONATION, errors.ArrayDeleted, "f32[3]", "donated to <lambda> as its argument")
def a_donated_buffer_that_is_used(jax: Any) -> None:
    f = jax.jit(lambda x: x + 1, donate_argnums=0)
    x = jax.numpy.ones(3)
    f(x)
    x + 1  # here


@table.documented(DONATION, errors.ArrayDeleted, "f32[3]", "donated to <lambda> as its argument")
def a_donated_buffer_that_is_printed(jax: Any) -> None:
    f = jax.jit(lambda x, y: x + y, donate_argnums=(1,))
    x, y = jax.numpy.ones(3), jax.numpy.ones(3)
    f(x, y)
    print(y)  # here


@table.documented(DONATION, errors.ArrayDeleted, "f32[3]", "donated to <lambda> as its argument")
def a_donated_buffer_for_numpy(jax: Any) -> None:
    f = jax.jit(lambda x, y: x + y, donate_argnums=(1,))
    x, y = jax.numpy.ones(3), jax.numpy.ones(3)
    f(x, y)
    np.asarray(y)  # here


@table.documented(DONATION, errors.DonationUnusableWarning, "x of type f32[2,3]")
def a_donated_buffer_of_no_use(jax: Any) -> None:
    f = jax.jit(lambda x: x[:1] + 1, donate_argnums=0)
    f(jax.numpy.ones((2, 3)))  # here


@table.documented(DONATION, errors.StaticAndDonated, "x")
def an_argument_static_and_donated(jax: Any) -> None:
    jax.jit(lambda x: x, static_argnums=0, donate_argnums=0)  # here


@table.documented(AOT, errors.CompiledSignatureMismatch, "x is f32[3], compiled for i32[]")
def another_shape_for_a_compiled_program(jax: Any) -> None:
    c = jax.jit(lambda x, y: 2 * x + y).lower(3, 4).compile()
    c(jax.numpy.ones(3), 4)  # here


@table.documented(AOT, errors.CompiledSignatureMismatch, "x is f32[], compiled for i32[]")
def another_dtype_for_a_compiled_program(jax: Any) -> None:
    c = jax.jit(lambda x, y: 2 * x + y).lower(3, 4).compile()
    c(1.0, 4)  # here


@table.documented(AOT, errors.CompiledSignatureMismatch, "p['b'] is f32[2], compiled for f32[]")
def another_leaf_for_a_compiled_program(jax: Any) -> None:
    c = jax.jit(lambda p: p["a"] + p["b"]).lower({"a": 1.0, "b": 2.0}).compile()
    c({"a": 1.0, "b": np.ones(2, np.float32)})  # here


@table.documented(AOT, errors.CompiledSignatureMismatch, "tree of arguments")
def another_tree_for_a_compiled_program(jax: Any) -> None:
    c = jax.jit(lambda p: p["a"] + p["b"]).lower({"a": 1.0, "b": 2.0}).compile()
    c({"a": 1.0})  # here


@table.documented(AOT, errors.CompiledSignatureMismatch, "static")
def a_static_argument_for_a_compiled_program(jax: Any) -> None:
    lowered = jax.jit(lambda x, y: 2 * x + y, static_argnums=0).lower(7, 8)
    lowered.compile()(7, 8)  # here


@table.documented(AOT, errors.CompiledTransformed, "f32[]", "as x")
def vmap_of_a_compiled_program(jax: Any) -> None:
    c = jax.jit(lambda x: 2 * x).lower(np.float32(1)).compile()
    jax.vmap(c)(jax.numpy.ones(3))  # here


@table.documented(AOT, errors.CompiledTransformed, "f32[]", "as x")
def grad_of_a_compiled_program(jax: Any) -> None:
    c = jax.jit(lambda x: 2 * x).lower(np.float32(1)).compile()
    jax.grad(c)(jax.numpy.float32(1))  # here


@table.documented(AOT, errors.CompiledTransformed, "f32[]", "as x")
def jit_of_a_compiled_program(jax: Any) -> None:
    c = jax.jit(lambda x: 2 * x).lower(np.float32(1)).compile()
    jax.jit(c)(jax.numpy.float32(1))  # here


@table.each
def test_it_is_refused_with_a_reason(misuse: Misuse) -> None:
    check(misuse)
