"""Programs of ops in NumPy: calls, named functions, and macro ops, which expand to what their NumPy rule means."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import celadon
from celadon import array, cache, errors, vocabulary
from celadon.op import Op, registry
from celadon.program import Equation, Program, Var
from celadon.reference import evaluate
from celadon.tracing import recorded
from celadon.types import ArrayType, float32, int32, kind
from celadon.vocabulary import named
from tests.vocabulary.samples import Sample, samples

MACROS = [name for name, op in registry.items() if op.expand is not None]


@named("twice")
def twice(x: Any, *, times: int = 2) -> Any:
    return vocabulary.multiply(x, np.asarray(times, "float32"))


@named("both")
def both(x: Any, y: Any) -> Any:
    return (vocabulary.add(x, x), x if y is None else y)


def expanded(sample: Sample) -> Program:
    assert sample.op.expand is not None
    with recorded(sample.op.name) as record:
        inputs = [record.input(t) for t in sample.types]
        found = sample.op.expand(*inputs, **sample.params)
        return record.program(found if sample.op.multiple else [found])


@pytest.mark.parametrize("name", MACROS)
def test_expansion_means_the_numpy_rule(name: str) -> None:
    for sample in samples(name):
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted = sample.op.numpy(*sample.arrays, **sample.params)
            results = evaluate(expanded(sample), sample.arrays)
            for found, expected in zip(results, wanted if sample.op.multiple else [wanted], strict=True):
                assert_same(sample, found, np.asarray(expected))


def assert_same(sample: Sample, found: Any, wanted: Any) -> None:
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    if sample.op.exactly(sample.types):
        assert np.array_equal(found, wanted, equal_nan=kind(found.dtype) in "fc"), str(sample)
    else:
        assert_near(sample.op.name, found, wanted)


def assert_near(name: str, found: Any, wanted: Any) -> None:
    """exp2 by exp(x log 2) loses as many units as x is large; sums in the dtype itself lose one unit a term."""
    units = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}[found.real.dtype.name]
    wide = np.complex128 if found.dtype.kind == "c" else np.float64
    finite = np.isfinite(wanted) & np.isfinite(found)
    x, y = found.astype(wide)[finite], wanted.astype(wide)[finite]
    largest = np.abs(y).max(initial=0) if name.startswith("cum") else np.abs(y)
    assert (np.abs(x - y) <= 120 * units * largest + 1e-30).all(), name


@pytest.mark.parametrize("name", MACROS)
def test_expansion_has_the_declared_type(name: str) -> None:
    for sample in samples(name):
        declared = sample.op.result_type(*sample.types, **sample.params)
        assert [x.type for x in expanded(sample).outputs] == (declared if sample.op.multiple else [declared]), str(sample)


def test_named_function_is_a_call_traced_once() -> None:
    with recorded() as record:
        x = record.input(ArrayType((3,), float32))
        y = twice(twice(x), times=2)
        z = twice(y, times=5)
        program = record.program([z])
    assert [equation.op.name for equation in program.equations] == ["call"] * 3
    first, second, third = (equation.params["program"] for equation in program.equations)
    assert first.name == "twice" and second is not third
    assert evaluate(program, [np.ones(3, "float32")])[0].tolist() == [20.0] * 3


def test_named_function_runs_as_it_is_outside_a_trace() -> None:
    assert twice(np.ones(2, "float32"), times=3).tolist() == [3.0, 3.0]


def test_named_function_may_return_several_values_and_take_none() -> None:
    with recorded() as record:
        x = record.input(ArrayType((2,), float32))
        program = record.program([*both(x, None), *both(x, twice(x))])
    found = evaluate(program, [np.ones(2, "float32")])
    assert [one.tolist() for one in found] == [[2.0, 2.0], [1.0, 1.0], [2.0, 2.0], [2.0, 2.0]]


def test_program_with_captured_array() -> None:
    kept = array.as_array(np.arange(3, dtype="float32"))
    with recorded() as record:
        x = record.input(ArrayType((3,), float32))
        program = record.program([vocabulary.add(x, kept)])
    assert evaluate(program, [np.ones(3, "float32")])[0].tolist() == [1.0, 2.0, 3.0]


def test_macro_op_without_numpy_rule_is_expanded() -> None:
    op = Op("double_for_this_test", lambda x: x, expand=lambda x: vocabulary.add(x, x))
    del registry[op.name]
    x, y = Var(ArrayType((2,), int32)), Var(ArrayType((2,), int32))
    program = Program([x], [Equation(op, [x], [y], {})], [y])
    assert evaluate(program, [np.array([1, 2], "int32")])[0].tolist() == [2, 4]


def test_op_without_any_meaning_is_an_error() -> None:
    op = Op("nothing_for_this_test", lambda x: x)
    del registry[op.name]
    x, y = Var(ArrayType((), int32)), Var(ArrayType((), int32))
    with pytest.raises(errors.OpWithoutMeaning, match="nothing_for_this_test"):
        evaluate(Program([x], [Equation(op, [x], [y], {})], [y]), [np.int32(1)])


def test_call_checks_its_operands() -> None:
    with recorded("f") as record:
        program = record.program([record.input(ArrayType((2,), float32))])
    with pytest.raises(errors.CallMismatch, match=r"f32\[2\].*f32\[3\]"):
        vocabulary.call(np.ones(3, "float32"), program=program)


def test_reference_executor_runs_a_jitted_function() -> None:
    kept = np.arange(3, dtype="float32")

    def function(x: Any, s: Any) -> Any:
        return vocabulary.cumsum(vocabulary.multiply(vocabulary.add(x, kept), s), axis=0)

    with cache.executor_name("reference"):
        jitted = celadon.jit(function)
        assert jitted(np.ones(3, "float32"), 2.0).tolist() == [2.0, 6.0, 12.0]
        assert jitted(np.zeros(3, "float32"), 1.0).tolist() == [0.0, 1.0, 3.0]
