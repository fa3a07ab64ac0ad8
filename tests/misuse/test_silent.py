"""What JAX's documentation warns of without an error: the same happens here, or better, as the page of differences tells."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import celadon
from celadon import errors, events, tree

jax = importlib.import_module("jax")

Snippet = Callable[[ModuleType], Any]


def an_index_out_of_range(jax: Any) -> Any:
    x = jax.numpy.arange(10.0)
    far = jax.jit(lambda x, i: x[i])(x, 11)
    return x[11], x[-12], far, x.at[11].get(), x.at[11].get(mode="fill", fill_value=jax.numpy.nan), jax.numpy.take(x, 11)


def an_update_out_of_range(jax: Any) -> Any:
    x = jax.numpy.arange(3)
    return x.at[5].set(7), x.at[-5].add(7), x.at[5].set(7, mode="clip")


def a_derivative_out_of_range(jax: Any) -> Any:
    return jax.grad(lambda x: x[11])(jax.numpy.arange(10.0))


def places_among_nothing_but_nan(jax: Any) -> Any:
    x = jax.numpy.array([jax.numpy.nan])
    return jax.numpy.nanargmin(x), jax.numpy.nanargmax(x)


def a_side_effect_under_jit(jax: Any) -> Any:
    seen: list[str] = []
    f = jax.jit(lambda x: (seen.append("ran"), x)[1])
    return f(4.0), f(5.0), len(seen), f(jax.numpy.array([5.0])), len(seen)


def a_global_under_jit(jax: Any) -> Any:
    scale = [0.0]
    f = jax.jit(lambda x: x + scale[0])
    first = f(4.0)
    scale[0] = 10.0
    return first, f(5.0), f(jax.numpy.array([4.0]))


def a_state_of_its_own(jax: Any) -> Any:
    def f(x: Any) -> Any:
        state = dict(even=0, odd=0)
        for i in range(10):
            state["even" if i % 2 == 0 else "odd"] += x
        return state["even"] + state["odd"]

    return jax.jit(f)(5.0)


def an_iterator_in_a_loop(jax: Any) -> Any:
    iterator = iter(range(10))
    return jax.lax.fori_loop(0, 10, lambda i, x: x + next(iterator), 0)


def an_assignment_with_an_operator(jax: Any) -> Any:
    old = new = jax.numpy.array([10, 20])
    new += 10
    return old, new


def an_unsafe_conversion(jax: Any) -> Any:
    x = jax.numpy.arange(254.0, 258.0).astype("uint8")
    return x, jax.numpy.array([-1.0, 1e10, np.nan]).astype("int32"), jax.numpy.array([-1.0]).astype("uint8")


def a_division_by_zero(jax: Any) -> Any:
    one = jax.numpy.array([1])
    return one // 0, one % 0, one / 0


def a_derivative_through_where(jax: Any) -> Any:
    def careless(x: Any) -> Any:
        return jax.numpy.where(x > 0.0, jax.numpy.log(x), 0.0)

    def careful(x: Any) -> Any:
        return jax.numpy.log(jax.numpy.where(x > 0.0, x, 1.0))

    return careless(0.0), jax.grad(careless)(0.0), careful(0.0), jax.grad(careful)(0.0)


def a_derivative_of_an_order(jax: Any) -> Any:
    return jax.vmap(jax.grad(lambda x: (x > 0).astype(float)))(jax.numpy.array([-1.0, 0.0, 1.0]))


def a_holomorphic_promise_that_is_broken(jax: Any) -> Any:
    return jax.grad(lambda z: jax.numpy.conj(z), holomorphic=True)(1 + 1j)


def a_key_that_is_used_twice(jax: Any) -> Any:
    key = jax.random.key(42)
    return jax.random.bits(key, (3,)), jax.random.bits(key, (3,))


def samples_one_by_one_and_at_once(jax: Any) -> Any:
    key = jax.random.key(42)
    return [jax.random.bits(one) for one in jax.random.split(key, 3)], jax.random.bits(key, (3,))


def shapes_as_trees(jax: Any) -> Any:
    shapes = jax.tree.map(lambda x: x.shape, [jax.numpy.zeros((2, 3)), jax.numpy.zeros((3, 4))])
    return jax.tree.map(jax.numpy.ones, shapes)


def none_as_no_leaf(jax: Any) -> Any:
    return jax.tree.leaves([None, None]), jax.tree.leaves([None, None], is_leaf=lambda x: x is None)


def an_unregistered_class_is_a_leaf(jax: Any) -> Any:
    return len(jax.tree.leaves([object(), object()]))


def a_callback_whose_result_is_dropped(jax: Any) -> Any:
    calls: list[str] = []

    def callback() -> Any:
        calls.append("called")
        return np.int32(0)

    def dropped() -> Any:
        jax.pure_callback(callback, np.int32(0))
        return 1.0

    jax.jit(lambda: jax.pure_callback(callback, np.int32(0)))().block_until_ready()
    once = len(calls)
    return once, jax.jit(dropped)(), len(calls)


def a_zero_that_cond_hides(jax: Any) -> Any:
    return jax.vmap(lambda x: jax.lax.cond(x == 0, lambda x: x, lambda x: 1 / x, x))(jax.numpy.array([0.0, 2.0]))


@pytest.mark.parametrize("snippet", [
    an_index_out_of_range, an_update_out_of_range, a_derivative_out_of_range, places_among_nothing_but_nan,
    a_side_effect_under_jit, a_global_under_jit, a_state_of_its_own, an_iterator_in_a_loop, an_assignment_with_an_operator,
    an_unsafe_conversion, a_division_by_zero, a_derivative_through_where, a_derivative_of_an_order,
    a_holomorphic_promise_that_is_broken, a_key_that_is_used_twice, samples_one_by_one_and_at_once, shapes_as_trees,
    none_as_no_leaf, an_unregistered_class_is_a_leaf, a_callback_whose_result_is_dropped, a_zero_that_cond_hides,
], ids=lambda one: one.__name__)  # fmt: skip
def test_it_is_as_silent_and_has_the_same_result(snippet: Snippet) -> None:
    ours, theirs = snippet(celadon), snippet(jax)
    assert tree.structure(ours) == tree.structure(jax.tree.map(lambda x: x, theirs))
    for a, b in zip(tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        assert np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


# Better on purpose


def test_a_static_object_that_was_changed_is_reported() -> None:
    def run(jax: Any) -> float:
        class Scale:
            def __init__(self, factor: int):
                self.factor = factor

            @functools.partial(jax.jit, static_argnums=0)
            def calc(self, y: Any) -> Any:
                return self.factor * y

        scale = Scale(2)
        scale.calc(3)
        scale.factor = 5
        return float(scale.calc(3))

    assert run(jax) == 6  # silently the old one
    with pytest.raises(errors.StaticMutatedWarning, match=r"'self' of calc.*'factor': 5"):
        run(celadon)


def test_results_under_jit_are_those_outside() -> None:
    def f(jax: Any, x: float) -> Any:
        return jax.numpy.log(jax.numpy.exp(x))

    assert float(jax.jit(lambda x: f(jax, x))(100.0)) == 100.0 != float(f(jax, 100.0))
    assert float(celadon.jit(lambda x: f(celadon, x))(100.0)) == float(f(celadon, 100.0)) == np.inf


def test_a_subnormal_number_is_kept() -> None:
    tiny = np.float32(1e-45)
    assert float(jax.numpy.float32(tiny) + 0) == 0
    assert float(celadon.numpy.float32(tiny) + 0) == tiny


def test_keys_of_two_types_have_an_order() -> None:
    with pytest.raises(ValueError):
        jax.tree.leaves({1: 7, "y": 42})
    one, other = {1: 7, "y": 42}, {"y": 42, 1: 7}
    assert celadon.tree.leaves(one) == celadon.tree.leaves(other) == [7, 42]
    assert celadon.tree.structure(one) == celadon.tree.structure(other)
    assert celadon.tree.map(lambda x: x + 1, one) == {1: 8, "y": 43}


def test_a_new_function_for_each_round_of_a_loop_is_traced_and_not_compiled() -> None:
    def step(x: Any) -> Any:
        return x + 1

    def rounds(wrapped: Callable[[], Any], count: int) -> int:
        i = 0
        while i < count:
            i = int(celadon.jit(wrapped())(i))
        return i

    for wrapped in (lambda: lambda x: step(x), lambda: functools.partial(step)):
        rounds(wrapped, 1)
        with events.watching() as seen:
            assert rounds(wrapped, 5) == 5
        kinds = [event.kind for event in seen]
        assert kinds.count("trace") == 5 and "compile" not in kinds
