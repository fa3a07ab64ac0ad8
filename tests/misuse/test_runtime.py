"""Documented misuses that show while a program runs: NaNs, checks, prints, callbacks; and of random keys."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

from celadon import errors
from tests.misuse.misuses import Misuse, Table, check

FLAGS = "docs/debugging/flags"
PRINTS = "docs/debugging/print_breakpoint"
CHECKIFY = "docs/debugging/checkify_guide"
CALLBACKS = "docs/external-callbacks"
RANDOM = "docs/random-numbers"

table = Table()


@table.documented(FLAGS, errors.InvalidValue, "NaN", "divide")
def a_nan(jax: Any) -> None:
    with jax.debug_nans(True):
        jax.numpy.divide(0.0, 0.0)  # here


@table.documented(FLAGS, errors.InvalidValue, "NaN", "divide")
def a_nan_in_a_gradient(jax: Any) -> None:
    with jax.debug_nans(True):
        jax.grad(lambda x: jax.numpy.where(x > 0, jax.numpy.sqrt(x) / x, 0.0))(0.0)  # here


@table.documented(FLAGS, errors.InvalidValue, "NaN", "divide")
def a_nan_under_jit(jax: Any) -> None:
    def f(x: Any, y: Any) -> Any:
        return x / y  # here

    with jax.debug_nans(True):
        jax.jit(f)(jax.numpy.zeros(()), jax.numpy.zeros(()))


@table.documented(FLAGS, errors.InvalidValue, "infinity", "divide")
def an_infinity_under_jit(jax: Any) -> None:
    def f(x: Any) -> Any:
        return 1 / x  # here

    with jax.debug_infs(True):
        jax.jit(f)(jax.numpy.zeros(()))


@table.documented(PRINTS, errors.PrintArgumentAbsent, "{} {}")
def a_print_with_too_few_arguments(jax: Any) -> None:
    jax.debug.print("{} {}", 1.0)  # here


@table.documented(PRINTS, errors.PrintArgumentUnused, "y")
def a_print_with_an_argument_too_many(jax: Any) -> None:
    jax.debug.print("{}", 1.0, y=2)  # here


@table.documented(PRINTS, errors.PrintArgumentAbsent, "'y'")
def a_print_that_names_no_argument(jax: Any) -> None:
    jax.debug.print("{y}", x=2)  # here


@table.documented(CHECKIFY, errors.CheckNotFunctionalized, "(f)")
def a_check_under_jit(jax: Any) -> None:
    checkify = importlib.import_module(jax.__name__ + ".experimental.checkify")

    def f(x):
        checkify.check(x > 0, "must be positive")  # here
        return x

    jax.jit(f)(1.0)


@table.documented(CHECKIFY, errors.CheckFailed, "index needs to be non-negative, got -2")
def a_check_that_fails(jax: Any) -> None:
    checkify = importlib.import_module(jax.__name__ + ".experimental.checkify")

    def f(x, i):
        checkify.check(i >= 0, "index needs to be non-negative, got {i}", i=i)  # here
        return x[i]

    err, _ = jax.jit(checkify.checkify(f))(jax.numpy.ones(5), -2)
    err.throw()


@table.documented(CHECKIFY, errors.CheckFailed, "index 100", "axis 0", "size 5", "(5,)")
def a_checked_index_out_of_range(jax: Any) -> None:
    checkify = importlib.import_module(jax.__name__ + ".experimental.checkify")

    def f(x, i):
        return jax.numpy.sin(x[i])  # here

    err, _ = jax.jit(checkify.checkify(f, errors=checkify.index_checks))(jax.numpy.ones(5), 100)
    err.throw()


@table.documented(CHECKIFY, errors.CheckFailed, "NaN", "sine")
def a_checked_nan(jax: Any) -> None:
    checkify = importlib.import_module(jax.__name__ + ".experimental.checkify")

    def f(x):
        return jax.numpy.sin(x)  # here

    err, _ = jax.jit(checkify.checkify(f, errors=checkify.float_checks))(jax.numpy.inf)
    err.throw()


@table.documented(CHECKIFY, errors.CheckFailed, "division by zero")
def a_checked_division_by_zero(jax: Any) -> None:
    checkify = importlib.import_module(jax.__name__ + ".experimental.checkify")

    def f(x):
        return x / 0  # here

    err, _ = jax.jit(checkify.checkify(f, errors=checkify.float_checks))(1.0)
    err.throw()


@table.documented(CHECKIFY, errors.CheckFailed, "index needs to be non-negative!")
def a_check_that_fails_for_one_member(jax: Any) -> None:
    checkify = importlib.import_module(jax.__name__ + ".experimental.checkify")

    def f(x, i):
        checkify.check(i >= 0, "index needs to be non-negative!")  # here
        return x[i]

    err, _ = jax.vmap(checkify.checkify(f), in_axes=(None, 0))(jax.numpy.ones(5), jax.numpy.array([-1, 1, 3]))
    err.throw()


@table.documented(CALLBACKS, errors.CallbackNotDifferentiable, "pure_callback", "sin")
def grad_of_a_callback(jax: Any) -> None:
    jax.grad(lambda x: jax.pure_callback(np.sin, x, x))(1.0)  # here


@table.documented(CALLBACKS, errors.CallbackNotDifferentiable, "io_callback", "sin")
def grad_of_io_callback(jax: Any) -> None:
    io = importlib.import_module(jax.__name__ + ".experimental").io_callback
    jax.grad(lambda x: io(np.sin, x, x))(1.0)  # here


@table.documented(CALLBACKS, errors.OrderedCallbackBatched, "io_callback", "sin", "ordered=True")
def vmap_of_an_ordered_callback(jax: Any) -> None:
    io = importlib.import_module(jax.__name__ + ".experimental").io_callback
    jax.vmap(jax.jit(lambda x: io(np.sin, x, x, ordered=True)))(jax.numpy.ones(3))  # here


@table.documented(CALLBACKS, errors.CallbackNotBatchable, "pure_callback", "sin", "vmap_method")
def vmap_of_a_callback_without_a_method(jax: Any) -> None:
    jax.vmap(lambda x: jax.pure_callback(np.sin, x, x))(jax.numpy.ones(3))  # here


@table.documented(RANDOM, errors.NoImplicitPromotion, "key<fry>")
def arithmetic_on_a_key(jax: Any) -> None:
    jax.random.key(0) + 1  # here


@table.documented(RANDOM, errors.KeysNotReadable, "key<fry>[]")
def a_key_for_numpy(jax: Any) -> None:
    np.asarray(jax.random.key(0))  # here


@table.documented(RANDOM, errors.KeyInvalid, "random.normal", "None")
def no_key(jax: Any) -> None:
    jax.random.normal(None)  # here


@table.documented(RANDOM, errors.KeyInvalid, "random.normal", "0")
def a_seed_as_a_key(jax: Any) -> None:
    jax.random.normal(0, (3,))  # here


@table.documented(RANDOM, errors.KeyInvalid, "random.normal", "(3,)")
def a_shape_as_a_key(jax: Any) -> None:
    jax.random.normal((3,))  # here


@table.documented(RANDOM, errors.KeyNotSingle, "random.normal", "(2,)")
def several_keys(jax: Any) -> None:
    jax.random.normal(jax.random.split(jax.random.key(0)), (3,))  # here


@table.documented(RANDOM, errors.SeedInvalid, "random.key", "1.5")
def a_seed_that_is_a_float(jax: Any) -> None:
    jax.random.key(1.5)  # here


@table.documented(RANDOM, errors.SeedInvalid, "random.key", "i32[3]")
def a_seed_of_several_elements(jax: Any) -> None:
    jax.random.key(jax.numpy.arange(3))  # here


@table.documented(RANDOM, errors.DTypeNotAccepted, "random.normal", "int32")
def a_normal_sample_of_integers(jax: Any) -> None:
    jax.random.normal(jax.random.key(0), (3,), dtype="int32")  # here


@table.documented(RANDOM, errors.ShapeInvalid, "(3.0,)")
def a_shape_of_floats(jax: Any) -> None:
    jax.random.normal(jax.random.key(0), (3.0,))  # here


@table.documented(RANDOM, errors.TooFewToChoose, "random.choice", "4", "3")
def a_choice_of_more_than_there_are(jax: Any) -> None:
    jax.random.choice(jax.random.key(0), 3, (4,), replace=False)  # here


@table.each
def test_it_is_refused_with_a_reason(misuse: Misuse) -> None:
    check(misuse)


@pytest.mark.parametrize("name", ["jax", "celadon"])
def test_an_except_for_what_fails_at_run_time_catches_it(name: str) -> None:
    package = importlib.import_module(name)
    x = package.numpy.ones(3)
    caught = importlib.import_module(f"{name}.errors").JaxRuntimeError
    with pytest.raises(caught):
        package.jit(lambda x, y: x + y, donate_argnums=0)(x, x)
    with pytest.raises(caught):
        package.numpy.zeros((2**20, 2**20, 2**10))
    with pytest.raises(caught):
        package.pure_callback(lambda: np.zeros(3, np.float32), package.ShapeDtypeStruct((2,), np.float32)).block_until_ready()
