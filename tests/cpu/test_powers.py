"""Exponents are numbers: another one is no other code, and one that needs less work has the same bits wherever it stands."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

import celadon
from celadon import events, numpy as cnp
from celadon.cache import lifting
from tests.cpu.programs import on_cpu, on_reference, op

EDGES = [0.0, -0.0, 1.0, -1.0, 2.0, -2.5, np.inf, -np.inf, np.nan, 1e-40, 3e38, -7.25]
INTEGER = (-11, -3, -2, -1, 0, 1, 2, 3, 4, 5, 7, 10, 31)


def elements(dtype: str) -> Any:
    """Special values and random ones."""
    drawn = np.random.default_rng(0).normal(size=60) * 2
    return cnp.asarray(np.array([*EDGES, *drawn]) if dtype[0] in "bf" else drawn.astype(np.int8)).astype(dtype)


def compiles(function: Any, *arguments: Any) -> int:
    with events.watching() as seen:
        function(*arguments)
    return [event.kind for event in seen].count("compile")


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "int32", "int8", "complex64"])
def test_integer_powers_have_one_set_of_bits(dtype: str) -> None:
    x = elements(dtype)
    for n in INTEGER if dtype[0] != "i" else INTEGER[4:]:
        power = celadon.jit(lambda x, n=n: x**n)
        wanted = np.asarray(x**n)
        assert np.asarray(power(x)).tobytes() == wanted.tobytes(), n
        with lifting(False):
            assert np.asarray(power(x)).tobytes() == wanted.tobytes(), n
        if dtype in ("float32", "int32", "int8") and n >= 0:
            theirs = np.asarray(jax.lax.integer_pow(np.asarray(x), n))
            seen = np.ones(x.shape, bool) if dtype != "float32" else ~(np.abs(wanted) < 2.0**-126)  # XLA flushes some
            np.testing.assert_array_equal(wanted[seen], theirs[seen])


@pytest.mark.parametrize("shape", [(), (5,), (33, 7)])
def test_another_integer_exponent_costs_a_trace(shape: tuple[int, ...]) -> None:
    x = cnp.full(shape, 1.25)
    power = celadon.jit(lambda x, n: x**n * 2.0, static_argnums=1)
    slope = celadon.jit(lambda x, n: celadon.grad(lambda x: (x**n).sum())(x), static_argnums=1)
    power(x, 3), slope(x, 4)
    for n in (5, 6, 17, 64):
        assert compiles(power, x, n) == compiles(slope, x, n) == 0
        np.testing.assert_allclose(np.asarray(power(x, n)), 2 * 1.25**n, rtol=1e-5)
        np.testing.assert_allclose(np.asarray(slope(x, n)), n * 1.25 ** (n - 1), rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("exponent", [1.0, 2.0, 3.0, -1.0, 0.5, 0.0, 2.5, -0.5, float("nan"), float("inf")])
def test_a_float_exponent_has_the_same_bits_as_a_number_and_as_an_array(dtype: str, exponent: float) -> None:
    x = elements(dtype)
    with np.errstate(all="ignore"):
        wanted = np.power(np.asarray(x).astype(np.float64), np.full(x.shape, exponent))
    power = celadon.jit(cnp.power)
    as_number = np.asarray(power(x, cnp.asarray(exponent).astype(dtype)))
    as_array = np.asarray(power(x, cnp.full(x.shape, exponent).astype(dtype)))
    assert as_number.tobytes() == as_array.tobytes() == np.asarray(x ** cnp.asarray(exponent).astype(dtype)).tobytes()
    assert as_number[3].tobytes() == np.asarray(power(x[3], cnp.asarray(exponent).astype(dtype))).tobytes()
    digits = {"float32": 1e-6, "bfloat16": 2.0**-7, "float16": 2.0**-10}[dtype]
    small = float(cnp.finfo(dtype).tiny) * 1.01
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(as_number.astype(np.float64), wanted.astype(as_number.dtype).astype(np.float64), digits, small)
    if exponent == 0.5:
        assert not np.signbit(as_number.astype(np.float32)[1]) and as_number.astype(np.float32)[7] == np.inf


def test_another_float_exponent_costs_a_trace() -> None:
    x = cnp.linspace(0.5, 2, 50)
    power = celadon.jit(lambda x, y: x**y, static_argnums=1)
    power(x, 2.0)
    for y in (0.5, 3.0, 1.0, -1.0, 2.5):
        assert compiles(power, x, y) == 0
        np.testing.assert_allclose(np.asarray(power(x, y)), np.asarray(x) ** y, rtol=1e-6)


def test_powers_in_other_kernels() -> None:
    """In a reduction, in a loop of scalars, along rows with strides, with an exponent from a loop."""
    x = np.random.default_rng(1).uniform(0.5, 1.5, (6, 9)).astype(np.float32)

    def run(x: Any, n: int) -> Any:
        total = (x.T**n).sum(0)
        rounds = celadon.lax.fori_loop(0, 3, lambda i, c: (c**n + 1.0) / 3.0, x[0, 0])
        return total, rounds, celadon.lax.scan(lambda c, y: (c + x[0] ** y, None), x[1], cnp.asarray([2.0, 0.5, 1.7]))[0]

    total, rounds, stepped = celadon.jit(run, static_argnums=1)(x, 5)
    np.testing.assert_allclose(total, (x.T**5).sum(0), rtol=1e-5)
    value = float(x[0, 0])
    for _ in range(3):
        value = (value**5 + 1) / 3
    np.testing.assert_allclose(rounds, value, rtol=1e-5)
    np.testing.assert_allclose(stepped, x[1] + x[0] ** 2.0 + x[0] ** 0.5 + x[0] ** np.float32(1.7), rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "int32", "int16"])
def test_exponents_that_differ_by_element_or_are_below_0(dtype: str) -> None:
    """Such an op comes from a batch alone; what is below 0 counts as 0, everywhere."""
    x = np.array([3, -2, 5, 7, 1, -1, 2, 9, 4, 6, 2], dtype)
    n = np.array([0, 3, -4, 1, -(2**31), 30, 9, 2, 5, 4, 10], np.int32)
    wanted = np.array([int(a) ** max(int(b), 0) for a, b in zip(x, n, strict=True)]).astype(dtype)
    for found in (on_cpu(op["whole_power"], x, n), on_reference(op["whole_power"], x, n)):
        np.testing.assert_array_equal(found[0], wanted)
    for k in (0, 2, 4, 6):
        [alone] = on_cpu(op["whole_power"], x, n[k])
        np.testing.assert_array_equal(alone, on_reference(op["whole_power"], x, n[k])[0])
        assert alone[k] == wanted[k]
    expanded = celadon.jit(lambda x, n: op["whole_power"].expand(x, n))
    np.testing.assert_array_equal(expanded(x, n), wanted)
