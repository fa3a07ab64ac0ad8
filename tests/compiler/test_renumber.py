"""Programs that differ in numbers only: the later ones take the earlier one's structure, with their own numbers."""

import gc
import weakref

import numpy as np
import pytest

import celadon
import celadon.numpy as cnp
from celadon import cache, compiler, errors, events
from celadon.program import Literal, Program

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def program(function, *values):
    return celadon.jit(function).trace(*values).needed


def key(function, *values):
    found = compiler.skeleton(program(function, *values))
    assert found is not None
    return found.key


@pytest.fixture
def lowered(monkeypatch):
    """The programs that were lowered."""
    seen = []
    lower = compiler.lower
    monkeypatch.setattr(compiler, "lower", lambda program, *rest: seen.append(program) or lower(program, *rest))
    celadon.clear_caches()
    return seen


def test_a_new_static_value_is_not_lowered_again(lowered):
    function = celadon.jit(lambda x, s: cnp.where(x > s, x * s, x + 2 * s) + s, static_argnums=1)
    for s in (2.0, 3.0, 0.5, 1.0, 0.0):
        np.testing.assert_array_equal(function(X, s), np.where(s < X, X * s, X + 2 * s) + np.float32(s))
    assert [one.name for one in lowered].count("<lambda>") == 1


def test_what_differs_in_more_is_lowered(lowered):
    for function in (lambda x: x * 2.0, lambda x: x + 2.0, lambda x: 2.0 * x, lambda x: x * 2.0 * 2.0, lambda x: x.T * 2.0):
        celadon.jit(function)(X)
    celadon.jit(lambda x: x * 3.0)(X[:1])
    celadon.jit(lambda x: x * 3.0)(X.astype("int32"))
    assert len(lowered) == 7


def test_captured_arrays_are_numbers_too(lowered):
    arrays = [cnp.asarray(X + i) for i in range(3)]
    for a, b in ((arrays[0], arrays[1]), (arrays[2], arrays[0]), (arrays[1], arrays[2])):
        np.testing.assert_array_equal(celadon.jit(lambda x, a=a, b=b: x * a - b)(X), X * np.asarray(a) - np.asarray(b))
    assert len(lowered) == 1
    [a, *_] = arrays
    np.testing.assert_array_equal(celadon.jit(lambda x: x * a - a)(X), X * np.asarray(a) - np.asarray(a))
    assert len(lowered) == 2


def test_one_number_used_twice_is_not_two_numbers():
    shared = key(lambda x: (lambda s: x * s + s)(cnp.float32(2)), X)
    assert shared != key(lambda x: x * cnp.float32(2) + cnp.float32(2), X)


def test_fixed_numbers_are_part_of_the_key():
    one, other = (compiler.skeleton(Program((), (), [Literal(np.float32(v), X_TYPE, True)])) for v in (1, 2))
    assert one.key != other.key


X_TYPE = celadon.make_jaxpr(lambda x: x)(np.float32(1)).inputs[0].type


def test_private_functions_keep_their_numbers(lowered):
    inner = celadon.jit(lambda x, y: x * 2.5 + y)
    function = celadon.jit(lambda x, s: inner(inner(x, s), 7.0) * s, static_argnums=1)
    for s in (2.0, 3.0):
        np.testing.assert_array_equal(function(X, s), ((X * 2.5 + s) * 2.5 + 7) * s)
    assert len(lowered) == 1
    other = celadon.jit(lambda x, y: x * 1.5 + y)
    function = celadon.jit(lambda x, s: other(other(x, s), 7.0) * s, static_argnums=1)
    np.testing.assert_array_equal(function(X, 2.0), ((X * 1.5 + 2) * 1.5 + 7) * 2)
    assert len(lowered) == 2


def test_private_functions_are_not_kept_alive():
    inner = celadon.jit(lambda x: x * 2.0)
    celadon.jit(lambda x, inner=inner: inner(x))(X)
    dead = weakref.ref(inner)
    del inner
    gc.collect()
    assert dead() is None


def test_loops_are_lowered_each_time():
    assert compiler.skeleton(program(lambda x: celadon.lax.fori_loop(0, 3, lambda i, x: x * 2, x), X)) is None


def test_typed_keys_are_no_numbers():
    key = celadon.random.key(3)
    assert compiler.skeleton(program(lambda: celadon.random.uniform(key))) is None


def test_settings_and_lifting_are_heeded(lowered):
    function = celadon.jit(lambda x, s: x * s, static_argnums=1)
    function(X, 2.0)
    with cache.lifting(False):
        function(X, 3.0)
        function(X, 4.0)
    assert len(lowered) == 3
    with compiler.enable_checks(True):
        function(X, 5.0)
    assert len(lowered) == 4


def test_what_lacks_a_kernel_says_so_each_time(monkeypatch, lowered):
    monkeypatch.setattr(cache.executor("cpu"), "lacks", lambda program: ["sine"], raising=False)
    function = celadon.jit(lambda x, s: cnp.sin(x) * s, static_argnums=1)
    for s in (2.0, 3.0):
        with pytest.raises(errors.KernelMissing, match="sine"):
            function(X, s)


def test_what_ran_on_another_executor_says_so_each_time(monkeypatch, lowered):
    monkeypatch.setattr(cache.executor("cpu"), "lacks", lambda program: ["sine"], raising=False)
    monkeypatch.setattr(cache.executor("cpu"), "reserve", "reference", raising=False)
    function = celadon.jit(lambda x, s: cnp.sin(x) * s, static_argnums=1)
    with events.watching() as seen:
        function(X, 2.0)
        function(X, 3.0)
    assert [event.facts["ops"] for event in seen if event.kind == "fallback"] == [["sine"]] * 2


def test_arrays_and_machine_code_are_not_kept():
    celadon.clear_caches()
    array = cnp.asarray(X)
    dead = weakref.ref(array)
    function = celadon.jit(lambda x, array=array: x * array)
    function(X)
    assert cache.recurring.known
    del function, array
    gc.collect()
    assert dead() is None


def test_the_oldest_are_forgotten():
    few = cache.Recurring(limit=2)
    for n in range(1, 5):
        one = program(lambda x: x * 2.0, np.ones((n, n), np.float32))
        few.put(compiler.skeleton(one), cache.resolved(one)[0])
    assert len(few.known) == 2
