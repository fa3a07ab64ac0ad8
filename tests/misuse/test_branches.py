"""Documented misuses of traced values: asked for a truth value by a branch, a loop or an operator of Python."""

from __future__ import annotations

from typing import Any

from celadon import errors
from tests.misuse.misuses import Misuse, Table, check

BOOL = "docs/errors: TracerBoolConversionError"
CONTROL = "docs/control-flow"
JIT = "docs/jit-compilation"
TRACING = "docs/tracing"
CHECKPOINT = "docs/gradient-checkpointing"
CHECKIFY = "docs/debugging/checkify_guide"
PRINTS = "docs/debugging/print_breakpoint"

table = Table()


@table.documented(BOOL, errors.TracerBoolConversionError, "bool[]", "func", "arguments x, y")
def a_choice_by_comparison(jax: Any) -> None:
    @jax.jit
    def func(x, y):
        return x if x.sum() < y.sum() else y  # here

    func(jax.numpy.ones(4), jax.numpy.zeros(4))


@table.documented(BOOL, errors.TracerBoolConversionError, "argument normalize")
def a_flag_that_is_traced(jax: Any) -> None:
    @jax.jit
    def func(x, normalize=True):
        if normalize:  # here
            return x / x.sum()
        return x

    func(jax.numpy.arange(5), True)


@table.documented(BOOL, errors.TracerBoolConversionError, "argument x")
def the_builtin_min(jax: Any) -> None:
    @jax.jit
    def func(x):
        return min(x, 0)  # here

    func(2)


@table.documented(BOOL, errors.TracerBoolConversionError, "arguments x, y")
def the_builtin_max(jax: Any) -> None:
    jax.jit(lambda x, y: max(x, y))(1, 2)  # here


@table.documented(BOOL, errors.TracerBoolConversionError, "argument x['a']")
def bool_of_a_leaf(jax: Any) -> None:
    jax.jit(lambda x: bool(x["a"]))({"a": True})  # here


@table.documented(BOOL, errors.TracerBoolConversionError, "argument x")
def a_negation(jax: Any) -> None:
    jax.jit(lambda x: not x)(True)  # here


@table.documented(BOOL, errors.TracerBoolConversionError, "argument x")
def a_disjunction(jax: Any) -> None:
    jax.jit(lambda x, y: x or y)(True, False)  # here


@table.documented(CONTROL, errors.TracerBoolConversionError, "argument x")
def a_conjunction(jax: Any) -> None:
    @jax.jit
    def g(x):
        return (x > 0) and (x < 3)  # here

    g(2)


@table.documented(CONTROL, errors.TracerBoolConversionError, "argument x")
def a_chain_of_comparisons(jax: Any) -> None:
    jax.jit(lambda x: 0 < x < 3)(2)  # here


@table.documented(CONTROL, errors.TracerBoolConversionError, "bool[]", "in f", "argument x")
def a_branch(jax: Any) -> None:
    @jax.jit
    def f(x):
        if x < 3:  # here
            return 3.0 * x**2
        return -4 * x

    f(2)


@table.documented(JIT, errors.TracerBoolConversionError, "in g", "argument n")
def a_loop(jax: Any) -> None:
    def g(x, n):
        i = 0
        while i < n:  # here
            i += 1
        return x + i

    jax.jit(g)(10, 20)


@table.documented(TRACING, errors.TracerBoolConversionError, "in divide", "argument y")
def a_guarded_division(jax: Any) -> None:
    def divide(x, y):
        return x / y if y >= 1.0 else 0.0  # here

    jax.jit(divide)(3.0, 2.0)


@table.documented(CONTROL, errors.NotOneElement, "bool[3]")
def a_conjunction_of_several_elements(jax: Any) -> None:
    def python_check_positive_even(x):
        is_even = x % 2 == 0
        return is_even and (x > 0)  # here

    python_check_positive_even(jax.numpy.array([-1, 2, 5]))


@table.documented(TRACING, errors.TracerBoolConversionError, "operands[0]")
def a_branch_in_a_branch_of_cond(jax: Any) -> None:
    jax.lax.cond(True, lambda x: 1.0 if x > 0 else 2.0, lambda x: x, 1.0)  # here


@table.documented(TRACING, errors.TracerBoolConversionError, "argument x['t']")
def a_branch_in_a_scan(jax: Any) -> None:
    def body(carry, x):
        if x["t"] > 0:  # here
            carry = carry + 1
        return carry, x

    jax.lax.scan(body, 0.0, {"t": jax.numpy.ones(3)})


@table.documented(TRACING, errors.TracerBoolConversionError, "argument s[0]")
def a_conjunction_in_a_while_loop(jax: Any) -> None:
    jax.lax.while_loop(lambda s: s[0] < 3 and s[1] < 4, lambda s: s, (0, 1))  # here


@table.documented(TRACING, errors.TracerBoolConversionError, "mapped argument p['x']")
def a_branch_under_vmap(jax: Any) -> None:
    jax.vmap(lambda p: 1.0 if p["x"] > 0 else 0.0)({"x": jax.numpy.ones(3)})  # here


@table.documented(TRACING, errors.TracerBoolConversionError, "argument x")
def a_branch_under_grad_under_jit(jax: Any) -> None:
    jax.jit(jax.grad(lambda x: x * x if x > 0 else x))(1.0)  # here


@table.documented(TRACING, errors.TracerBoolConversionError, "argument x")
def a_branch_under_jit_under_grad(jax: Any) -> None:
    jax.grad(jax.jit(lambda x: x * x if x > 0 else x))(1.0)  # here


@table.documented(TRACING, errors.TracerBoolConversionError, "argument x")
def a_branch_under_make_jaxpr(jax: Any) -> None:
    jax.make_jaxpr(lambda x: 1 if x else 2)(True)  # here


@table.documented(CHECKPOINT, errors.TracerBoolConversionError, "argument flag")
def a_flag_under_checkpoint(jax: Any) -> None:
    jax.grad(jax.checkpoint(lambda x, flag: x * 2 if flag else x))(1.0, True)  # here


@table.documented(CHECKIFY, errors.TracerBoolConversionError, "argument x")
def an_assertion(jax: Any) -> None:
    @jax.jit
    def f(x):
        assert x > 0.0, "must be positive"  # here
        return jax.numpy.log(x)

    f(0.0)


@table.documented(PRINTS, errors.ConcretizationTypeError, "argument x")
def a_print_of_a_formatted_number(jax: Any) -> None:
    jax.jit(lambda x: jax.debug.print(f"{float(x)}"))(1.0)  # here


@table.documented(BOOL, errors.TracerBoolConversionError, "argument x")
def a_membership(jax: Any) -> None:
    jax.jit(lambda x: 2 in x)(jax.numpy.arange(3))  # here


@table.each
def test_it_is_refused_with_a_reason(misuse: Misuse) -> None:
    check(misuse)
