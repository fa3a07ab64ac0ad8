"""Samples against JAX's: in bits where the arithmetic is exact, else to the last places; without compiles for seeds, shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import ml_dtypes
import numpy as np
import pytest
import scipy.special

import celadon
import celadon.numpy as cnp
from celadon import cache, errors, events, random
from celadon.types import kind
from tests.bits import bits

SHAPES = ((), (1,), (7,), (3, 5), (2, 0), (2, 3, 4))
FLOATS = ("float32", "bfloat16", "float16")
QUICKLY = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
LAST_PLACE = {"float32": 2.0**-23, "bfloat16": 2.0**-7, "float16": 2.0**-10, "float64": 2.0**-52, "complex64": 2.0**-23,
              "complex128": 2.0**-52}  # fmt: skip


class Case:
    """One call of a function of random, by name; units: how far ours may be from JAX's, see `assert_near`."""

    def __init__(self, name: str, *args: Any, units: float = 0, **kwargs: Any):
        self.name, self.args, self.kwargs, self.units = name, args, kwargs, units

    def __call__(self, module: Any, key: Any) -> Any:
        return getattr(module, self.name)(key, *self.args, **self.kwargs)

    def __str__(self) -> str:
        return f"{self.name}{self.args} {self.kwargs}"


def compare(*cases: Case, seeds: tuple[int, ...] = (3,)) -> None:
    """All cases in one program of JAX's, each as a call of ours: equal dtypes, weakness and shapes, and equal numbers."""
    lowered = jax.jit(lambda key: [case(jax.random, key) for case in cases]).lower(jax.random.key(0))
    theirs = lowered.compile(compiler_options=QUICKLY)
    for seed in seeds:
        for case, expected in zip(cases, theirs(jax.random.key(seed)), strict=True):
            found = case(random, random.key(seed))
            kinds = [(x.dtype, x.shape, x.weak_type) for x in (found, expected)]
            assert kinds[0] == kinds[1], str(case)
            if case.units:
                assert_near(np.asarray(found), np.asarray(expected), case)
            else:
                np.testing.assert_array_equal(np.asarray(found), np.asarray(expected), str(case))


def assert_near(found: Any, expected: Any, case: Case) -> None:
    """Within so many units in the last place of the largest absolute value among 1 and the sample."""
    wide = np.complex128 if kind(found.dtype) == "c" else np.float64
    size = np.maximum(np.abs(expected.astype(wide)), 1)
    apart = np.abs(found.astype(wide) - expected.astype(wide)) / size / LAST_PLACE[str(found.dtype)]
    assert apart.max(initial=0) <= case.units, f"{case}: {apart.max()}"


def test_bits() -> None:
    cases = [Case("bits", shape, dtype) for shape in SHAPES for dtype in ("uint8", "uint16", "uint32")]
    compare(Case("bits"), *cases, seeds=(0, 1, 2**31, -7))


def test_bits_of_raw_keys_are_the_same() -> None:
    theirs = np.asarray(jax.random.bits(jax.random.PRNGKey(5), (4,)))
    for key in (random.PRNGKey(5), np.array([0, 5], "uint32")):
        np.testing.assert_array_equal(np.asarray(random.bits(key, (4,))), theirs)


def test_uniform() -> None:
    exact = [Case("uniform", shape, dtype) for shape in SHAPES for dtype in FLOATS]
    exact += [Case("uniform", (5, 3), dtype, -1, 1) for dtype in FLOATS]
    rounded = [Case("uniform", (3, 4), dtype, 0.3, maxval=2.7, units=1) for dtype in FLOATS]
    bounds = np.float32([0, 1, 2]), np.float32([[1], [4], [8], [16]])
    rounded += [Case("uniform", (4, 3), minval=bounds[0], maxval=bounds[1], units=1)]
    compare(*exact, *rounded, Case("uniform", (3,), minval=np.int32([0, 1, 2]), maxval=4, units=1), seeds=(0, 9))


def test_wide_dtypes() -> None:
    with jax.enable_x64(True), celadon.enable_x64(True):
        compare(
            *[Case("bits", shape) for shape in SHAPES], Case("bits", (3,), "uint32"), Case("uniform"), Case("uniform", (3, 5)),
            Case("uniform", (3,), "float32"), Case("randint", (9,), -(2**62), 2**63 - 1), Case("permutation", 10),
            Case("rademacher", (5,)), Case("choice", 5, (3,)), Case("normal", (3, 5), units=32),
            Case("normal", (20,), "complex128", units=32), Case("bernoulli", 0.3, (9,)),
        )  # fmt: skip


def test_a_wide_dtype_without_x64_is_narrowed_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="float64"):
        assert random.normal(random.key(0), dtype="float64").dtype == np.float32


def test_normal() -> None:
    """JAX's erf_inv errs by up to 64 units in the tails of float32; ours is held to the exact inverse below."""
    cases = [Case("normal", shape, units=64) for shape in SHAPES]
    cases += [Case("normal", (100,), dtype, units=1) for dtype in ("bfloat16", "float16")]
    compare(*cases, Case("normal", (300,), "complex64", units=64))


def test_normal_is_within_three_units_of_the_exact_inverse() -> None:
    low = np.nextafter(np.float32(-1), np.float32(0))
    drawn = np.asarray(jax.random.uniform(jax.random.key(11), (200_000,), minval=low, maxval=1.0)).astype(np.float64)
    exact = np.sqrt(2) * scipy.special.erfinv(drawn)
    found = np.asarray(random.normal(random.key(11), (200_000,))).astype(np.float64)
    apart = np.abs(found - exact) / np.spacing(np.abs(exact).astype(np.float32)).astype(np.float64)
    assert apart.max() <= 3  # the inverse within 2, the product with the square root of 2 rounds once more


def test_randint() -> None:
    cases = [Case("randint", (9,), 0.5, 7.9), Case("randint", (), 0, 2), Case("randint", (50,), -(2**31), 2**31 - 1)]
    cases += [Case("randint", (50,), np.uint32(0), np.uint32(2**32 - 1), "int32")]
    for dtype in ("int8", "uint8", "int16", "uint16", "int32", "uint32"):
        ends = np.array([np.iinfo(dtype).min, np.iinfo(dtype).max], dtype)
        bounds = np.array([(0, 10), (3, 4), (5, 5), (7, 2), (-1000, 1000), (0, 2**31 - 1)], "int32").T
        cases += [Case("randint", (20, 6), *bounds, dtype), Case("randint", (20,), *ends, dtype)]
        cases += [Case("randint", (2, 3), np.arange(3), np.array([[5], [9]]), dtype)]
    compare(*cases)


def test_bernoulli_and_signs() -> None:
    compare(
        Case("bernoulli"), Case("bernoulli", 0.3, (100,)), Case("bernoulli", np.float32([0.1, 0.9]), (50, 2)),
        Case("bernoulli", ml_dtypes.bfloat16(0.3), (50,)), Case("bernoulli", 0.01, (1000,), mode="high"),
        *[Case("rademacher", (50,), dtype) for dtype in (None, "int8", "uint8", "float32", bool)],
    )  # fmt: skip


CONTINUOUS = {"exponential": 8, "laplace": 8, "logistic": 8, "gumbel": 8, "cauchy": 8, "maxwell": 64}


def test_continuous() -> None:
    cases = [Case(name, (400,), units=units) for name, units in CONTINUOUS.items()]
    cases += [Case(name, (50,), "bfloat16", units=4) for name in CONTINUOUS]
    cases += [Case("maxwell", (2, 3), units=64), Case("gumbel", (50,), "float16", units=4)]
    cases += [Case("gumbel", (300,), mode=mode, units=8) for mode in ("high", "highest")]
    compare(*cases, Case("gumbel", (50,), "bfloat16", mode="highest", units=4))


def test_shapes_are_reshaped_vectors() -> None:
    """As JAX's are (test_bits, test_uniform); what a sampler does to them is elementwise."""
    key = random.key(5)
    for name in CONTINUOUS.keys() - {"maxwell"}:
        row = getattr(random, name)(key, (24,))
        assert bits(getattr(random, name)(key, (2, 3, 4))) == bits(row.reshape(2, 3, 4))


def test_truncated_normal() -> None:
    compare(
        Case("truncated_normal", -1, 2.0, (300,), units=64), Case("truncated_normal", np.float32([-1, 0]), 2, units=8),
        Case("truncated_normal", -2, 2, (30,), "bfloat16", units=2),
    )  # fmt: skip
    found = np.asarray(random.truncated_normal(random.key(0), 0.5, 0.6, (1000,)))
    assert ((found > 0.5) & (found < 0.6)).all()


PARAMETRIC: tuple[tuple[str, tuple[float, ...]], ...] = (
    ("pareto", (2.0,)), ("rayleigh", (2.0,)), ("wald", (2.0,)), ("lognormal", (0.5,)), ("triangular", (0.0, 1.0, 3.0)),
    ("weibull_min", (1.5, 2.0)), ("double_sided_maxwell", (1.0, 2.0)),
)  # fmt: skip


def test_parametric() -> None:
    cases = [Case(name, *parameters, (100,), units=96) for name, parameters in PARAMETRIC]
    cases += [Case(name, *[np.float32([x, x + 1]) for x in parameters], units=96) for name, parameters in PARAMETRIC]
    compare(
        *cases, Case("lognormal", units=64), Case("geometric", 0.3, (100,)), Case("geometric", np.float32([0.2, 0.5]), (9, 2)),
        Case("geometric", 0.3, (10,), "uint8"),
    )  # fmt: skip


def test_gammas() -> None:
    compare(
        Case("gamma", np.float32([0.1, 0.5, 1, 3, 100]), units=32), Case("loggamma", np.float32([0.001, 0.5, 3]), units=32),
        Case("gamma", 2, (3, 2), "bfloat16", units=2), Case("beta", np.float32([1, 2]), 0.5, units=32),
        Case("dirichlet", np.float32([[1, 2, 0.5], [3, 3, 3]]), units=32), Case("chisquare", 3.0, (9,), units=32),
        Case("f", 3.0, 4.0, (9,), units=32), Case("t", 3.0, (9,), units=32), Case("ball", 3, 2, (5,), units=32),
        Case("generalized_normal", 3.0, (9,), units=32),
    )  # fmt: skip


def test_counts() -> None:
    rates = np.float32([0, 0.5, 5, 9.9, 12, 100, np.nan, 1e4])
    trials = np.float32([100, 1000, 5, -1, np.inf, np.nan, 7, 30])
    chances = np.float32([0.3, 0.7, 0.5, 0.5, 0.5, 0.5, -1, 0.9])
    rows = np.float32([[0.2, 0.3, 0.5], [0, 1, 0]])
    compare(
        Case("poisson", rates), Case("poisson", rates, (3, 8), "uint8"), Case("poisson", 7.0),
        Case("binomial", trials, chances), Case("binomial", 10, 0.3, (30,)), Case("multinomial", np.float32([20, 300]), rows),
        Case("multinomial", 20, rows[0], shape=(4, 3), dtype="int32"),
    )  # fmt: skip


def test_matrices() -> None:
    """Correlated and orthogonal ones; what a factorisation makes of rounding errors is of the order of the matrix."""
    root = np.random.default_rng(0).normal(size=(2, 3, 3)).astype(np.float32)
    cov, mean = root @ root.transpose(0, 2, 1), np.float32([[1, 2, 3], [-1, 0, 1]])
    compare(
        Case("multivariate_normal", mean, cov, units=256), Case("multivariate_normal", mean[0], cov[0], (5,), units=256),
        Case("multivariate_normal", np.arange(3), cov, (4, 2), method="eigh", units=1024),
        Case("multivariate_normal", mean, cov[0], method="svd", units=1024), Case("orthogonal", 4, units=64),
        Case("orthogonal", 3, (2,), m=5, units=64), Case("orthogonal", 3, dtype="complex64", units=64),
    )  # fmt: skip


def test_samples_by_rejection_refuse_derivatives() -> None:
    for draw in (random.gamma, random.loggamma):
        with pytest.raises(errors.SampleNotDifferentiable):
            celadon.grad(lambda a, draw=draw: draw(random.key(0), a))(1.5)


MATRIX = np.arange(12).reshape(4, 3)


def test_permutation() -> None:
    cases = [Case("permutation", x) for x in (0, 1, 10, 3000, np.int32(5), np.float32([3, 1, 2]), MATRIX, MATRIX > 4)]
    cases += [Case("permutation", MATRIX, axis) for axis in (1, -1)]
    compare(*cases, *[Case("permutation", MATRIX, axis, independent=True) for axis in (0, 1)])


def test_permutation_of_keys() -> None:
    """JAX 0.10.2 makes a program that its own verifier refuses."""
    keys = random.split(random.key(1), 5)
    mixed, order = random.permutation(random.key(0), keys), jax.random.permutation(jax.random.key(0), 5)
    np.testing.assert_array_equal(np.asarray(random.key_data(mixed)), np.asarray(random.key_data(keys))[np.asarray(order)])


def test_choice() -> None:
    chances = np.float32([0.1, 0.2, 0.3, 0.2, 0.2])
    cases: list[Case] = []
    for a in (5, np.arange(5) * 2, np.arange(10, dtype="float32").reshape(5, 2)):
        cases += [Case("choice", a), Case("choice", a, (2, 3)), Case("choice", a, (4,), replace=False)]
        cases += [Case("choice", a, (0, 2)), Case("choice", a, (20,), p=chances)]
        cases += [Case("choice", a, (4,), replace=False, p=chances, mode="high")]
    cases += [Case("choice", MATRIX, (2,), axis=1), Case("choice", MATRIX, (2,), False, axis=1)]
    compare(*cases, Case("choice", MATRIX, (2,), axis=1, p=np.float32([0.5, 0.25, 0.25])))


def test_categorical() -> None:
    logits = np.random.default_rng(0).normal(size=(4, 5)).astype(np.float32)
    cases = [Case("categorical", logits, axis) for axis in (-1, 0, 1)]
    compare(
        *cases, Case("categorical", logits[0]), Case("categorical", logits, shape=(7, 4)),
        Case("categorical", logits, 0, shape=(7, 5)), Case("categorical", logits, shape=(3, 4), replace=False),
        Case("categorical", logits, 0, shape=(2, 5), replace=False), Case("categorical", logits, mode="high"),
    )  # fmt: skip


WRONG: tuple[Callable[[Any], Any], ...] = (
    lambda r: r.uniform(r.key(0), (2,), "int32"),
    lambda r: r.normal(r.key(0), (2,), "int32"),
    lambda r: r.randint(r.key(0), (2,), 0, 3, "float32"),
    lambda r: r.bits(r.key(0), (2,), "int32"),
    lambda r: r.bernoulli(r.key(0), 1),
    lambda r: r.bernoulli(r.key(0), np.ones(3, "float32"), (2,)),
    lambda r: r.bernoulli(r.key(0), 0.5, mode="middle"),
    lambda r: r.gumbel(r.key(0), mode="lowest"),
    lambda r: r.choice(r.key(0), 3, (4,), replace=False),
    lambda r: r.choice(r.key(0), 0, (4,)),
    lambda r: r.choice(r.key(0), 3, p=np.ones(2, "float32")),
    lambda r: r.permutation(r.key(0), 0.5),
    lambda r: r.permutation(r.key(0), MATRIX, 2),
    lambda r: r.categorical(r.key(0), np.ones((2, 3), "float32"), shape=(5,)),
    lambda r: r.categorical(r.key(0), np.ones(3, "float32"), shape=(5,), replace=False),
    lambda r: r.pareto(r.key(0), np.complex64(1)),
    lambda r: r.truncated_normal(r.key(0), np.zeros(3, "float32"), 1, (2,)),
    lambda r: r.geometric(r.key(0), 0.5, (2,), "float32"),
)


@pytest.mark.parametrize("wrong", WRONG)
def test_what_jax_refuses_is_refused(wrong: Callable[[Any], Any]) -> None:
    with pytest.raises((TypeError, ValueError)):
        wrong(jax.random)
    with pytest.raises(errors.CeladonError) as caught:
        wrong(random)
    assert isinstance(caught.value, TypeError | ValueError)


def test_new_seeds_and_shapes_compile_nothing() -> None:
    def draw(key: Any, rows: int, columns: int) -> Any:
        return random.normal(key, (rows, columns)), random.permutation(key, rows), random.split(key, columns)

    jitted = celadon.jit(draw, static_argnums=(1, 2))
    jitted(random.key(0), 5, 6)
    random.uniform(random.key(0), (5, 6))
    with events.watching() as seen:
        for seed, rows, columns in ((1, 5, 6), (2, 7, 9), (3, 20, 4)):
            jitted(random.key(seed), rows, columns)
            random.uniform(random.key(seed), (rows, columns))
        celadon.jit(lambda: random.normal(random.key(4), (3, 3)))()
        with events.watching() as again:
            celadon.jit(lambda: random.normal(random.key(77), (8, 3)))()
    assert not [event for event in again if event.kind == "compile"]
    assert len([event for event in seen if event.kind == "compile"]) == 1  # of the first function without arguments


def test_samples_of_keys_side_by_side() -> None:
    keys = random.split(random.key(0), 3)
    for draw in (
        lambda k: random.normal(k, (4,)), random.uniform, lambda k: random.randint(k, (2,), 0, 9), random.split,
        lambda k: random.permutation(k, 5), lambda k: random.fold_in(k, 3), lambda k: random.bits(k, (2, 2), "uint8"),
    ):  # fmt: skip
        found = celadon.vmap(draw)(keys)
        one_by_one = cnp.stack([draw(key) for key in keys])
        if found.dtype == keys.dtype:
            found, one_by_one = random.key_data(found), random.key_data(one_by_one)
        assert bits(found) == bits(one_by_one)


def test_a_loop_that_splits_its_key() -> None:
    def step(key: Any, _: Any) -> Any:
        key, own = random.split(key)
        return key, random.normal(own)

    def theirs(key: Any, _: Any) -> Any:
        key, own = jax.random.split(key)
        return key, jax.random.normal(own)

    last, drawn = celadon.lax.scan(step, random.key(0), None, length=5)
    expected_last, expected = jax.lax.scan(theirs, jax.random.key(0), None, length=5)
    np.testing.assert_array_equal(np.asarray(random.key_data(last)), np.asarray(jax.random.key_data(expected_last)))
    np.testing.assert_allclose(np.asarray(drawn), np.asarray(expected), rtol=1e-5)
    _, over_keys = celadon.lax.scan(lambda c, key: (c, random.uniform(key)), 0, random.split(random.key(0), 4))
    one_by_one = [float(jax.random.uniform(key)) for key in jax.random.split(jax.random.key(0), 4)]
    np.testing.assert_array_equal(np.asarray(over_keys), np.float32(one_by_one))


def test_derivatives_pass_by_the_key() -> None:
    def loss(scale: Any, key: Any) -> Any:
        return (scale * random.normal(key, (5,))).sum() + random.uniform(key, (3,), minval=scale, maxval=4.0).sum()

    def theirs(scale: Any, key: Any) -> Any:
        return (scale * jax.random.normal(key, (5,))).sum() + jax.random.uniform(key, (3,), minval=scale, maxval=4.0).sum()

    found, expected = celadon.grad(loss)(2.0, random.key(0)), jax.grad(theirs)(2.0, jax.random.key(0))
    np.testing.assert_allclose(float(found), float(expected), rtol=1e-5)


def test_more_than_four_billion_numbers_are_counted_in_two_words() -> None:
    size = 2**32 + 3
    assert celadon.eval_shape(lambda k: random.bits(k, (size,)), random.key(0)).shape == (size,)

    def counted(start: Any) -> Any:
        numbers = cnp.arange(3, dtype="uint64") + start
        return celadon.lax.shift_right_logical(numbers, cnp.uint64(32)).astype("uint32"), numbers.astype("uint32")

    with celadon.enable_x64(True):
        upper, lower = counted(cnp.uint64(2**32 - 1))
    assert upper.tolist() == [0, 1, 1] and lower.tolist() == [2**32 - 1, 0, 1]
    with cache.lifting(False):
        assert random.bits(random.key(0), (2, 2)).shape == (2, 2)


def test_the_former_way_of_counting() -> None:
    """What JAX drew before 0.5, and draws still with jax_threefry_partitionable off."""
    cases = [Case("bits", shape, dtype) for shape in SHAPES for dtype in ("uint8", "uint16", "uint32")]
    with jax.threefry_partitionable(False), celadon.threefry_partitionable(False):
        for num in (1, 5, (2, 3)):
            ours, theirs = random.split(random.key(3), num), jax.random.split(jax.random.key(3), num)
            np.testing.assert_array_equal(np.asarray(random.key_data(ours)), np.asarray(jax.random.key_data(theirs)))
        compare(
            *cases, Case("randint", (5,), 0, 99), Case("uniform", (3, 5)), Case("uniform", (7,), "bfloat16"),
            Case("permutation", 20),
        )  # fmt: skip
        with jax.enable_x64(True), celadon.enable_x64(True):
            compare(Case("bits", (3, 5)), Case("bits"))
