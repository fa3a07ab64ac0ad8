"""Documented misuses of cond, switch, scan, while_loop and fori_loop."""

from __future__ import annotations

from typing import Any

import numpy as np

from celadon import errors
from tests.misuse.misuses import Misuse, Table, check

LAX = "docs/control-flow and docstrings of jax.lax"
CONTROL = "docs/control-flow"

table = Table()


@table.documented(LAX, errors.BranchTypesDiffer, "true_fun returns f32[2] at ['y']", "i32[2]")
def branches_of_two_dtypes(jax: Any) -> None:
    x = jax.numpy.ones(2)
    jax.lax.cond(True, lambda x: {"y": x + 1}, lambda x: {"y": x.astype("int32")}, x)  # here


@table.documented(LAX, errors.BranchTypesDiffer, "f32[2]", "f32[1]")
def branches_of_two_shapes(jax: Any) -> None:
    jax.lax.cond(True, lambda x: x + 1, lambda x: x[:1], jax.numpy.ones(2))  # here


@table.documented(LAX, errors.BranchTreesDiffer, "a tuple of 2", "a list of 2")
def branches_of_two_trees(jax: Any) -> None:
    jax.lax.cond(True, lambda x: (x, x), lambda x: [x, x], jax.numpy.ones(2))  # here


@table.documented(LAX, errors.PredicateNotScalar, "bool[3]")
def a_predicate_of_several_elements(jax: Any) -> None:
    jax.lax.cond(jax.numpy.ones(3) > 0, lambda x: x, lambda x: x, 1.0)  # here


@table.documented(LAX, errors.PredicateNotScalar, "a str")
def a_predicate_that_is_a_string(jax: Any) -> None:
    jax.lax.cond("yes", lambda x: x, lambda x: x, 1.0)  # here


@table.documented(LAX, errors.BodyNotCallable, "true_fun", "float")
def branches_that_are_values(jax: Any) -> None:
    jax.lax.cond(True, 1.0, 2.0)  # here


@table.documented(LAX, errors.NoBranches, "switch")
def no_branches(jax: Any) -> None:
    jax.lax.switch(0, [], 1.0)  # here


@table.documented(LAX, errors.PredicateNotScalar, "switch", "f32[]")
def a_float_as_an_index(jax: Any) -> None:
    jax.lax.switch(1.0, [lambda x: x, lambda x: -x], 1.0)  # here


@table.documented(LAX, errors.CarryTypeChanges, "scan", "c['s']", "i32[]", "f32[]")
def a_carry_of_another_dtype(jax: Any) -> None:
    init = {"s": jax.numpy.int32(0)}
    jax.lax.scan(lambda c, x: ({"s": c["s"] + x}, x), init, jax.numpy.ones(3))  # here


@table.documented(LAX, errors.CarryTypeChanges, "scan", "value c ", "f32[2]")
def a_carry_of_another_shape(jax: Any) -> None:
    jax.lax.scan(lambda c, x: (jax.numpy.stack([c, x]), x), 0.0, jax.numpy.ones(3))  # here


@table.documented(LAX, errors.CarryTreeChanges, "scan", "value c,", "a tuple of 2")
def a_carry_of_another_tree(jax: Any) -> None:
    jax.lax.scan(lambda c, x: ((c, c), x), 0.0, jax.numpy.ones(3))  # here


@table.documented(LAX, errors.ScanResultNotPair, "returns f32[]")
def a_body_that_returns_no_pair(jax: Any) -> None:
    jax.lax.scan(lambda c, x: c + x, 0.0, jax.numpy.ones(3))  # here


@table.documented(LAX, errors.ScanLengthsDiffer, "xs['a']", "3", "xs['b']", "4")
def rows_of_two_lengths(jax: Any) -> None:
    jax.lax.scan(lambda c, x: (c, x), 0.0, {"a": jax.numpy.ones(3), "b": jax.numpy.ones(4)})  # here


@table.documented(LAX, errors.ScanLengthsDiffer, "length", "4", "xs has 3")
def another_length_than_the_rows(jax: Any) -> None:
    jax.lax.scan(lambda c, x: (c, x), 0.0, jax.numpy.ones(3), length=4)  # here


@table.documented(LAX, errors.ScanNoAxis, "xs['a']", "f32[]")
def rows_of_a_scalar(jax: Any) -> None:
    jax.lax.scan(lambda c, x: (c, x), 0.0, {"a": 1.0})  # here


@table.documented(LAX, errors.ScanNoAxis, "length")
def no_rows_and_no_length(jax: Any) -> None:
    jax.lax.scan(lambda c, x: (c, x), 0.0, None)  # here


@table.documented(LAX, errors.ScanLengthTraced, "length", "i32[]")
def a_length_that_is_traced(jax: Any) -> None:
    jax.jit(lambda n: jax.lax.scan(lambda c, x: (c, x), 0.0, None, length=n))(3)  # here


@table.documented(LAX, errors.CarryTypeChanges, "while_loop", "s['i']", "i32[]", "f32[]")
def a_loop_whose_carry_changes_dtype(jax: Any) -> None:
    jax.lax.while_loop(lambda s: s["i"] < 3, lambda s: {"i": s["i"] + 0.5}, {"i": np.int32(0)})  # here


@table.documented(LAX, errors.ConditionNotBoolean, "i32[]")
def a_condition_that_is_a_number(jax: Any) -> None:
    jax.lax.while_loop(lambda s: s, lambda s: s - 1, 3)  # here


@table.documented(LAX, errors.ConditionNotBoolean, "bool[2]")
def a_condition_of_several_elements(jax: Any) -> None:
    jax.lax.while_loop(lambda s: s < 3, lambda s: s + 1, jax.numpy.ones(2))  # here


@table.documented(CONTROL, errors.WhileBackwards, "while_loop")
def grad_of_while_loop(jax: Any) -> None:
    jax.grad(lambda x: jax.lax.while_loop(lambda s: s < 10, lambda s: s * 2, x))(1.0)  # here


@table.documented(CONTROL, errors.WhileBackwards, "fori_loop")
def grad_of_fori_loop_with_traced_bounds(jax: Any) -> None:
    jax.grad(jax.jit(lambda x, n: jax.lax.fori_loop(0, n, lambda i, s: s * 2, x)))(1.0, 3)  # here


@table.documented(LAX, errors.LoopBoundsDiffer, "fori_loop", "i32[]", "f32[]")
def bounds_of_two_dtypes(jax: Any) -> None:
    jax.lax.fori_loop(0, 3.0, lambda i, s: s, 0.0)  # here


@table.documented(LAX, errors.LoopBoundsDiffer, "fori_loop", "i32[3]")
def a_bound_of_several_elements(jax: Any) -> None:
    jax.lax.fori_loop(0, jax.numpy.arange(3), lambda i, s: s, 0.0)  # here


@table.documented(LAX, errors.CarryTreeChanges, "fori_loop", "value s,", "a tuple of 2")
def a_fori_loop_whose_carry_changes_tree(jax: Any) -> None:
    jax.lax.fori_loop(0, 3, lambda i, s: (s, s), 0.0)  # here


@table.documented(LAX, errors.CarryTreeChanges, "fori_loop", "value s,", "None")
def a_fori_loop_that_returns_nothing(jax: Any) -> None:
    jax.lax.fori_loop(0, 3, lambda i, s: None, 0.0)  # here


@table.each
def test_it_is_refused_with_a_reason(misuse: Misuse) -> None:
    check(misuse)
