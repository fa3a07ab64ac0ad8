"""The native call: the same results as through Python for every kind of call, nothing lost, nothing kept, no crash."""

import collections
import gc
import os
import subprocess
import sys
import threading
from typing import NamedTuple

import jax
import numpy as np
import pytest
from hypothesis import given, settings as examples, strategies as st

import celadon
import celadon.numpy as cnp
from celadon import calling, errors, events, hot, lax, memory, settings
from celadon.array import Array
from celadon.cpu import native_call

CALLS = 20


@pytest.fixture(scope="module", autouse=True)
def at_hand():
    """The machine code is there, so that few calls are enough."""
    f = celadon.jit(lambda x: x)
    for _ in range(3000):
        f(1)
    assert native_call.is_at_hand()


class Pair(NamedTuple):
    left: object
    right: object


def array(*values, dtype=np.float32):
    return cnp.asarray(np.array(values, dtype))


def warm(f, *args, **kwargs):
    """The result of a call that has been made so often that it is native, if it can be."""
    for _ in range(CALLS):
        f(*args, **kwargs)
    return f(*args, **kwargs)


def compared(x):
    """A result as something that == compares to the bit, with types and the order of dicts."""
    if type(x) is Array:
        return x.type, x.host.tobytes()
    if isinstance(x, dict):
        return type(x), [(key, compared(value)) for key, value in x.items()]
    if isinstance(x, list | tuple):
        return type(x), [compared(one) for one in x]
    return x


@pytest.fixture(params=[True, False], ids=["native", "python"])
def native(request):
    """Both ways of a call."""
    hot.native_calls.update(request.param)
    yield request.param
    hot.native_calls.update(True)


X, Y = array(1, 2, 3, 4), array(0.5, -1, 2, 8)
N = array(1, -2, 3, dtype=np.int32)
CASES = {
    "one": (lambda x: x + 1, (X,), {}),
    "two": (lambda x, y: x * y - y, (X, Y), {}),
    "of other dtypes": (lambda x, i, b: (x.sum() * i, b), (X, N, array(True, False, dtype=bool)), {}),
    "half": (lambda x: x * 2, (array(1, 2, dtype=np.float16),), {}),
    "keys": (lambda k: celadon.random.uniform(k, (3,)), (celadon.random.key(3),), {}),
    "keys out": (lambda k: celadon.random.split(k), (celadon.random.key(3),), {}),
    "a float": (lambda x, s: x * s, (X, 2.5), {}),
    "a float alone": (lambda s: cnp.sin(s), (2.5,), {}),
    "an int": (lambda x, s: x * s + s, (X, -7), {}),
    "a bool": (lambda x, s: cnp.where(s, x, -x), (X, True), {}),
    "scalars only": (lambda a, b, c: (a + b, c ^ True), (1, 2.0, False), {}),
    "unused": (lambda x, y, s: x - 1, (X, Y, 3), {}),
    "keywords": (lambda x, y: x - y, (X,), {"y": Y}),
    "keywords in another order": (lambda a, b, c: a - b * c, (), {"c": X, "a": Y, "b": X}),
    "a list": (lambda t: [x + 1 for x in t], ([X, Y, X],), {}),
    "nested": (lambda t, s: {"b": t["a"][0] * s, "a": (t["c"], None, [t["a"][1]])}, ({"c": X, "a": [Y, (X)]}, 2.0), {}),
    "a dict in a keyword": (lambda *, t: t["z"] - t["a"], (), {"t": {"z": X, "a": Y}}),
    "numbers as keys": (lambda t: t[10] - t[-1], ({10: X, -1: Y},), {}),
    "nothing": (lambda t: (t["x"], None), ({"x": X, "n": None, "e": [], "f": {}, "g": ()},), {}),
    "a namedtuple": (lambda p: Pair(p.right, p.left["k"] + 1), (Pair({"k": X}, Y),), {}),
    "other dicts out": (lambda x: collections.OrderedDict(b=x, a=x + 1), (X,), {}),
    "a defaultdict out": (lambda x: collections.defaultdict(list, b=x * 2, a=x), (X,), {}),
    "no result": (lambda x: None, (X,), {}),
    "the argument itself": (lambda x: x, (X,), {}),
    "arguments among results": (lambda x, y: (y, x + 1, y, [x]), (X, Y), {}),
    "one result twice": (lambda x: (z := x * 3, z, z + 1), (X,), {}),
    "captured": (lambda x: x + Y * cnp.arange(4.0), (X,), {}),
    "a captured one out": (lambda x: (Y, x), (X,), {}),
    "empty": (lambda x: x + 1, (cnp.zeros((0, 3)),), {}),
    "many": (lambda *xs: [x * i for i, x in enumerate(xs)], tuple(array(i) for i in range(100)), {}),
    "a loop": (lambda x: lax.fori_loop(0, 5, lambda i, c: c * 1.5 + i, x), (X,), {}),
    "a scan": (lambda x: lax.scan(lambda c, v: (c + v, c * v), 0.0, x), (X,), {}),
    "large": (lambda x: (x + 1, x.sum()), (cnp.ones((300, 300)),), {}),
    "long": (lambda x: x @ x, (cnp.eye(200),), {}),
    "a large arena": (lambda x: cnp.sort(x, 1).sum(), (cnp.ones((513, 513)),), {}),
}


def leaf(x):
    return np.asarray(x) if isinstance(x, Array) and not str(x.dtype).startswith("key") else x


@pytest.mark.parametrize("name", CASES)
def test_results_are_what_python_gives(name):
    function, args, kwargs = CASES[name]
    f = celadon.jit(function)
    expected = compared(f(*args, **kwargs))
    found = warm(f, *args, **kwargs)
    assert f.chain, "the call is not native"
    assert compared(found) == expected
    assert celadon.tree.structure(found) == celadon.tree.structure(function(*args, **kwargs))


@pytest.mark.parametrize("name", ["nested", "a list", "keywords in another order", "scalars only", "arguments among results"])
def test_results_are_jax_s(name, native):
    function, args, kwargs = CASES[name]
    found = warm(celadon.jit(function), *args, **kwargs)
    given = celadon.tree.map(leaf, (args, kwargs))
    expected = jax.jit(function)(*given[0], **given[1])
    assert jax.tree.structure(celadon.tree.map(leaf, found)) == jax.tree.structure(expected)
    for mine, other in zip(celadon.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert (mine.dtype, mine.shape, mine.weak_type) == (other.dtype, other.shape, other.weak_type)
        assert np.array_equal(mine, other)


def test_keywords_are_those_of_the_record(native):
    f = celadon.jit(lambda x, y=1.0, z=0.0: x * y + z)
    warm(f, X, y=2.0)
    assert f(X, y=2.0, z=1.0).tolist() == [3, 5, 7, 9]
    assert f(X, z=1.0).tolist() == [2, 3, 4, 5]
    assert f(X).tolist() == [1, 2, 3, 4]
    warm(f, X, z=1.0, y=3.0)
    assert f(X, y=1.0, z=3.0).tolist() == [4, 5, 6, 7]
    assert f(X, z=3.0).tolist() == [4, 5, 6, 7]


def test_a_record_is_tried_for_every_signature():
    f = celadon.jit(lambda x, n: x * n, static_argnames="n")
    shapes = [array(*range(n)) for n in range(1, 5)]
    for n in range(5):
        for x in shapes:
            warm(f, x, n=n)
    assert len(f.chain) == 20
    for n in range(5):
        for x in shapes:
            assert f(x, n=n).tolist() == [v * n for v in x.tolist()]


@pytest.mark.parametrize("static", [3, "three", True, None, 2.5, 0.0, -0.0, (1, "a"), float, len])
def test_static_values(static, native):
    seen = []

    def function(x, n):
        seen.append(n)
        return (x, repr(n).count("-"))

    f = celadon.jit(function, static_argnums=1)
    assert int(warm(f, X, static)[1]) == repr(static).count("-")
    assert len(seen) == 1
    for other in (4, "four", False, 3.0, 1, -2.5, 0.0, -0.0, (1, "b"), int):
        assert int(f(X, other)[1]) == repr(other).count("-")
    assert len(seen) >= 9
    assert bool(f.chain) == native


def test_static_values_at_negative_positions_and_among_keywords(native):
    f = celadon.jit(lambda *xs: xs[0] * xs[-1], static_argnums=-1)
    assert warm(f, X, 2).tolist() == [2, 4, 6, 8]
    assert f(X, 3).tolist() == [3, 6, 9, 12]
    g = celadon.jit(lambda a, n, b: a * n + b, static_argnames="n")
    assert warm(g, b=X, n=2, a=Y).tolist() == (np.asarray(Y) * 2 + np.asarray(X)).tolist()
    assert g(b=X, n=3, a=Y).tolist() == (np.asarray(Y) * 3 + np.asarray(X)).tolist()
    assert g(Y, 3, X).tolist() == (np.asarray(Y) * 3 + np.asarray(X)).tolist()


def test_other_types_than_recorded_go_their_own_way(native):
    f = celadon.jit(lambda x, s: x + s)
    warm(f, X, 1.5)
    assert f(N, 1.5).dtype == np.float32
    assert f(array(1, 2), 1.5).tolist() == [2.5, 3.5]
    assert f(X, 2).tolist() == [3, 4, 5, 6]
    assert f(X, True).tolist() == [2, 3, 4, 5]
    assert f(X, np.float32(1)).tolist() == [2, 3, 4, 5]
    assert f(np.ones(4, np.float32), 1.5).tolist() == [2.5] * 4
    assert f(X, 1j).dtype == np.complex64
    assert f(1.0, 1.5).weak_type
    assert f(X, 1e300).tolist() == [np.inf] * 4
    assert f(1.0, s=2.0).item() == 3.0
    for wrong in ((X,), (X, 1.0, 2.0), (X, "no"), (X, None)):
        with pytest.raises(TypeError):
            f(*wrong)
    with pytest.raises(TypeError):
        f(X, t=1.0)
    assert f(X, 1.5).tolist() == [2.5, 3.5, 4.5, 5.5]


def test_integers_that_do_not_fit(native):
    f = celadon.jit(lambda i: i + 0)
    warm(f, 7)
    assert f(2**31 - 1).item() == 2**31 - 1
    assert f(-(2**31)).item() == -(2**31)
    for wrong in (2**31, -(2**31) - 1, 2**63, 2**64, -(2**70)):
        with pytest.raises(errors.IntegerTooLarge):
            f(wrong)


def test_other_trees_than_recorded_go_their_own_way(native):
    f = celadon.jit(lambda t: [x * 2 for x in celadon.tree.leaves(t)])
    first = {"b": [X, Y], "a": (X, 1.0)}
    warm(f, first)
    others = [
        {"a": (X, 1.0), "b": [X, Y]}, {"b": [Y, X], "a": (X, 1.0)}, {"b": (X, Y), "a": (X, 1.0)}, {"b": [X], "a": (X, 1.0)},
        {"b": [X, Y, Y], "a": (X, 1.0)},
        {"b": [X, Y], "a": (X, 1.0, X)}, {"b": [X, Y], "a": (X, 1.0), "c": Y},
        {"b": [X, Y], "c": (X, 1.0)}, {"b": [X, None], "a": (X, 1.0)},
        {"b": [X, Y], "a": Pair(X, 1.0)}, collections.OrderedDict(first), [X, Y], X, {}, [{"b": X}], {"b": [], "a": X},
    ]  # fmt: skip
    for other in [*others, *others, first]:
        expected = [compared(x) for x in celadon.jit(lambda t: [x * 2 for x in celadon.tree.leaves(t)])(other)]
        assert [compared(x) for x in f(other)] == expected


LEAVES = st.sampled_from([X, Y, N, 1.5, -2, True, None])
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.sampled_from("pqrst"), inner, max_size=3),
        st.tuples(inner, inner).map(lambda pair: Pair(*pair)),
    ),
    max_leaves=8,
)


@examples(max_examples=60)
@given(st.lists(TREES, min_size=1, max_size=3), TREES)
def test_any_tree(trees, other):
    def function(*trees):
        return celadon.tree.map(lambda x: x * 2, trees), trees[0]

    f = celadon.jit(function)
    expected = compared(f(*trees))
    assert compared(warm(f, *trees)) == expected
    changed = (other, *trees[1:])
    assert compared(f(*changed)) == compared(celadon.jit(lambda *trees: function(*trees))(*changed))
    assert compared(f(*trees)) == expected


def test_inside_a_trace_a_call_is_traced(native):
    f = celadon.jit(lambda x: x * x)
    warm(f, X)
    assert celadon.grad(lambda x: f(x).sum())(X).tolist() == [2, 4, 6, 8]
    assert celadon.vmap(f)(X).tolist() == [1, 4, 9, 16]
    assert str(celadon.make_jaxpr(f)(X)).count("call") == 1
    assert str(celadon.make_jaxpr(lambda x: f(X) + x)(Y)).count("call") == 1
    assert celadon.jit(lambda x: f(x) + f(X))(Y).tolist() == (np.asarray(Y) ** 2 + np.asarray(X) ** 2).tolist()
    assert f(X).tolist() == [1, 4, 9, 16]


def test_settings_are_seen_by_the_next_call(native):
    called = []
    f = celadon.jit(lambda x: (called.append(0), x / x)[1])
    warm(f, X)
    zero = array(0, 1, 2, 3)
    assert np.isnan(warm(f, zero)[0])
    with celadon.debug_nans(True), pytest.raises(errors.InvalidValue):
        f(zero)
    with celadon.debug_nans(True):
        assert warm(f, X).tolist() == [1] * 4
    before = len(called)
    with celadon.disable_jit():
        f(X), f(X)
    assert len(called) == before + 2
    g = celadon.jit(lambda s: s + 1)
    assert warm(g, 1).dtype == np.int32
    with celadon.enable_x64(True):
        assert warm(g, 1).dtype == np.int64
        assert g(2**40).item() == 2**40 + 1
    assert g(1).dtype == np.int32
    try:
        celadon.config.update("jax_enable_x64", True)
        assert g(1).dtype == np.int64
    finally:
        celadon.config.update("jax_enable_x64", False)
    assert g(1).dtype == np.int32


def test_a_setting_of_one_thread_is_not_one_of_another():
    f = celadon.jit(lambda s: s + 1)
    warm(f, 1)
    found = []
    ready, over = threading.Event(), threading.Event()

    def other():
        with celadon.enable_x64(True):
            found.append(warm(f, 1).dtype)
            ready.set()
            over.wait(10)
            found.append(f(1).dtype)

    thread = threading.Thread(target=other)
    thread.start()
    ready.wait(10)
    assert f(1).dtype == np.int32
    over.set()
    thread.join()
    assert found == [np.int64, np.int64]
    assert f(1).dtype == np.int32


def test_native_calls_can_be_switched_off():
    f = celadon.jit(lambda x: x + 1)
    by_python = hot._methods and next(iter(hot._methods.values()))[0]
    warm(f, X)
    assert type(celadon.jit).__name__ == "function" and type(f).__call__ is not by_python
    calls = []

    def run(arrays):
        calls.append(0)
        return bound(arrays)

    [entry] = f.entries.values()
    bound, entry.bound = entry.bound, run
    f(X)
    assert not calls
    with hot.native_calls(False):
        f(X)
    assert len(calls) == 1
    hot.native_calls.update(False)
    try:
        f(X)
        assert len(calls) == 2
    finally:
        hot.native_calls.update(True)
    f(X)
    assert len(calls) == 2


def test_the_environment_switches_native_calls_off():
    code = (
        "import celadon\nf = celadon.jit(lambda x: x + 1)\nfor _ in range(5000):\n    f(1.0)\n"
        "print(len(f.chain), type(celadon.calling.Jit.__call__).__name__, f(1.0).item())"
    )
    for value, expected in (("off", "0 function 2.0\n"), ("on", "1 method_descriptor 2.0\n")):
        environment = {**os.environ, "CELADON_NATIVE_CALL": value}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        assert done.stdout == expected


def test_what_only_python_can_do_stays_there():
    seen = []
    callback = celadon.jit(lambda x: (celadon.debug.callback(seen.append, x.sum()), x)[1])
    donating = celadon.jit(lambda x: x + 1, donate_argnums=0)
    for _ in range(CALLS):
        callback(X)
        donating(array(1, 2))
    assert len(seen) == CALLS
    assert not callback.chain and not donating.chain
    given = array(1, 2)
    donating(given)
    assert given.is_deleted()


def test_a_deleted_array_is_noticed(native):
    f = celadon.jit(lambda x, y: x + 1)
    x = array(1, 2)
    warm(f, x, x)
    x.delete()
    with pytest.raises(errors.ArrayDeleted):
        f(x, X)
    g = celadon.jit(lambda y: y + x)
    with pytest.raises(errors.ArrayDeleted):
        g(X[:2])


def test_methods_and_wrappers(native):
    class Model:
        def __init__(self, scale):
            self.scale = scale

        @celadon.jit
        def doubled(x):
            """Twice."""
            return x * 2

        def __call__(self, x):
            return self.__class__.doubled(x) * self.scale

    assert warm(Model(3.0), X).tolist() == [6, 12, 18, 24]
    assert warm(Model.doubled.__call__, X).tolist() == [2, 4, 6, 8]
    assert Model.doubled.__doc__ == "Twice."
    import inspect

    assert str(inspect.signature(Model.doubled)) == "(x)"
    assert inspect.signature(type(Model.doubled).__call__) is not None


def references(f, *args):
    """How often what a call touches is referred to."""
    leaves = [x for x in celadon.tree.leaves(args) if isinstance(x, Array)]
    objects = [*leaves, *(x.block for x in leaves), *(x.type for x in leaves), *f.chain, *f.chain[0][1].kept]
    return [sys.getrefcount(x) for x in objects if x is not None and not isinstance(x, int)]


@pytest.mark.parametrize("name", CASES)
def test_no_reference_is_kept_or_lost(name):
    function, args, kwargs = CASES[name]
    f = celadon.jit(function)
    warm(f, *args, **kwargs)
    gc.collect()
    before = references(f, *args, *kwargs.values())
    calls = 20 if "large" in name or name == "long" else 200
    for _ in range(calls):
        f(*args, **kwargs)
    gc.collect()
    after = references(f, *args, *kwargs.values())
    assert all(abs(a - b) < calls / 2 for a, b in zip(after, before, strict=True))  # others may come and go, types above all


def test_results_live_as_long_as_they_are_held_and_their_memory_comes_back():
    f = celadon.jit(lambda x: {"a": x + 1, "b": [x * 2]})
    warm(f, X)
    gc.collect()
    memory.trim()  # full shelves would not take back what is let go
    kept = [f(array(i, i, i, i)) for i in range(200)]
    assert all(one["a"].tolist() == [i + 1] * 4 and one["b"][0].tolist() == [2 * i] * 4 for i, one in enumerate(kept))
    pointers = {x.block.pointer for one in kept for x in celadon.tree.leaves(one)}
    assert len(pointers) == 400
    del kept
    again = [f(X) for _ in range(100)]
    assert {x.block.pointer for one in again for x in celadon.tree.leaves(one)} <= pointers


def test_a_view_of_a_result_holds_its_memory():
    f = celadon.jit(lambda x: x + 1)
    warm(f, X)
    views = [np.asarray(f(array(i, i))) for i in range(100)]
    for _ in range(100):
        f(array(-1, -1))
    assert [view.tolist() for view in views] == [[i + 1, i + 1] for i in range(100)]


def test_results_are_seen_by_the_collector_and_by_live_arrays():
    f = celadon.jit(lambda x: x + 1)
    warm(f, X)
    y = f(X)
    assert any(one is y for one in celadon.live_arrays())
    assert gc.is_tracked(y)
    import weakref

    died = []
    weakref.finalize(y, died.append, 0)
    del y
    assert died == [0]


class Careless:
    """Ends in a collection, and then takes the arguments of the call away."""

    def __init__(self, *lists):
        self.lists, self.cycle = lists, self

    def __del__(self):
        for one in self.lists:
            one.clear()


def test_a_collection_within_a_call_may_do_anything():
    f = celadon.jit(lambda t: [x + 1 for x in t])
    expected = [[float(i + 1)] for i in range(300)]
    warm(f, [array(i) for i in range(300)])
    before = gc.get_threshold()
    try:
        for threshold in range(1, 60):
            arguments = [array(i) for i in range(300)]
            Careless(arguments)
            gc.set_threshold(threshold)
            found = f(arguments)
            gc.set_threshold(*before)
            assert [x.tolist() for x in found] == expected
    finally:
        gc.set_threshold(*before)


def test_a_call_within_a_collection_within_a_call():
    f = celadon.jit(lambda t: [x + 1 for x in t])
    warm(f, [array(i) for i in range(300)])
    found = []

    class Calling:
        def __init__(self):
            self.cycle = self

        def __del__(self):
            found.append([x.item() for x in f([array(i + 1000) for i in range(300)])])

    before = gc.get_threshold()
    try:
        for threshold in (1, 7, 50, 90):
            arguments = [array(i) for i in range(300)]
            Calling()
            gc.set_threshold(threshold)
            result = f(arguments)
            gc.set_threshold(*before)
            assert [x.item() for x in result] == [i + 1 for i in range(300)]
    finally:
        gc.set_threshold(*before)
    gc.collect()
    assert found == [[i + 1001 for i in range(300)]] * 4


def test_without_memory_the_error_is_raised_and_nothing_is_lost(monkeypatch, native):
    f = celadon.jit(lambda x: [x + i for i in range(5)])
    x = cnp.ones((123, 7))
    warm(f, x)
    before = sys.getrefcount(x.block)
    held = [f(x) for _ in range(50)]

    def none(capacity):
        raise MemoryError

    monkeypatch.setattr(memory, "_raw", none)
    with pytest.raises(errors.OutOfMemory):
        held += [f(x) for _ in range(2000)]
    monkeypatch.undo()
    gc.collect()  # the exception and its frames
    after = sys.getrefcount(x.block)
    assert after == before
    del held
    assert [y.host[0, 0] for y in f(x)] == [1, 2, 3, 4, 5]


def test_an_exception_in_the_making_of_a_result_is_raised():
    refuse = []
    made = collections.namedtuple("made", "value other")

    class Strict(made):
        def __new__(cls, value, other):
            if refuse:
                raise ValueError("refused")
            return super().__new__(cls, value, other)

    f = celadon.jit(lambda x: [x, Strict(x + 1, {"k": x * 2}), x])
    assert type(warm(f, X)[1]) is Strict
    before = sys.getrefcount(X.block)
    refuse.append(0)
    for _ in range(50):
        with pytest.raises(ValueError, match="refused"):
            f(X)
    after = sys.getrefcount(X.block)
    assert after == before
    refuse.clear()
    assert f(X)[1].value.tolist() == [2, 3, 4, 5]


def test_many_threads_at_once():
    f = celadon.jit(lambda t, s: {"a": t[0] * s, "b": [t[1]["k"] + s, t[0]]})
    small = [array(*range(8)), {"k": array(*range(8))}]
    large = [cnp.ones((200, 200)), {"k": cnp.ones((200, 200))}]
    for t in (small, large):
        warm(f, t, 1.0)
    assert len(f.chain) == 2
    wrong = []

    def work(number):
        for i in range(300):
            s = float(number * 1000 + i)
            t = large if i % 50 == number else small
            found = f(t, s)
            if not (np.asarray(found["a"]) == np.asarray(t[0]) * np.float32(s)).all():
                wrong.append(("a", number, i))
            if not (np.asarray(found["b"][0]) == np.asarray(t[1]["k"]) + np.float32(s)).all():
                wrong.append(("b", number, i))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert wrong == []


def test_long_programs_let_other_threads_run():
    f = celadon.jit(lambda x: lax.fori_loop(0, 3000, lambda i, c: cnp.tanh(c @ c), x))
    x = cnp.eye(64)
    warm(f, x)
    assert f.chain
    seen = []
    over = threading.Event()

    def count():
        while not over.is_set():
            seen.append(0)
            over.wait(0.0005)

    thread = threading.Thread(target=count)
    thread.start()
    before = len(seen)
    f(x)
    during = len(seen) - before
    over.set()
    thread.join()
    assert during > 2


INTERRUPTED = """
import signal, sys
import celadon, numpy as np, celadon.numpy as cnp
from celadon import hot

f = celadon.jit(lambda x: [x + 1, x * 2])
x = cnp.asarray(np.ones(4, np.float32))
for _ in range(50):
    f(x)
assert f.chain
sent = 0

def handler(number, frame):
    global sent
    sent += 1
    raise KeyboardInterrupt

signal.signal(signal.SIGALRM, handler)
caught = 0
while caught < 150:
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0005 + 0.00001 * (caught % 37), 0.05)
        while True:
            f(x)
    except KeyboardInterrupt:
        caught += 1
signal.setitimer(signal.ITIMER_REAL, 0)
print(sent - caught)
"""


def test_no_interrupt_is_lost_in_a_hot_loop():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=True, timeout=120)
    assert "ignored" not in done.stderr
    assert int(done.stdout) == 0


def test_an_interrupt_while_a_shelf_is_audited_comes_a_moment_later(monkeypatch):
    warm(celadon.jit(lambda x: x), X)

    def interrupted():
        raise KeyboardInterrupt

    block = memory.allocate(1 << 20)
    before = memory._limit
    monkeypatch.setattr(memory, "_audit", interrupted)
    monkeypatch.setattr(memory, "_limit", block.owner.capacity)
    monkeypatch.setattr(memory, "_returned", before)
    with pytest.raises(KeyboardInterrupt):
        del block
        for _ in range(1000):  # a moment
            pass


FORKED = """
import os, threading, time
import celadon, numpy as np, celadon.numpy as cnp

f = celadon.jit(lambda t: {"a": t["b"] + 1})
x = cnp.asarray(np.ones(4, np.float32))
for _ in range(50):
    f({"b": x})
stop = threading.Event()
def busy():
    while not stop.is_set():
        f({"b": x})
threads = [threading.Thread(target=busy) for _ in range(2)]
[t.start() for t in threads]
for _ in range(20):
    child = os.fork()
    if not child:
        ok = all(f({"b": x})["a"].tolist() == [2.0] * 4 for _ in range(100))
        os._exit(0 if ok else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
stop.set()
[t.join() for t in threads]

class Late:
    def __del__(self):
        f({"b": x})

late = Late()
late.cycle = late
background = threading.Thread(target=lambda: [f({"b": x}) for _ in iter(int, 1)], daemon=True)
background.start()
print("done")
"""


def test_forks_and_the_end_of_the_interpreter():
    done = subprocess.run([sys.executable, "-X", "faulthandler", "-c", FORKED], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


def test_an_interpreter_of_another_make_gets_the_calls_of_python(monkeypatch):
    monkeypatch.setattr(native_call, "_memory", lambda x, words: [0] * words)
    with events.watching() as seen:
        assert native_call._method.__wrapped__(calling.Jit, lambda self: None) is None
    assert [event.kind for event in seen] == ["native_call"]


def test_records_are_of_this_process():
    import copy
    import pickle

    f = celadon.jit(lambda x: x + 1)
    warm(f, X)
    assert copy.deepcopy(f.chain)[0][1] is f.chain[0][1]
    with pytest.raises(TypeError):
        pickle.dumps(f.chain)
    f.clear_cache()
    assert f.chain == ()
    assert f(X).tolist() == [2, 3, 4, 5]


def test_old_records_make_room(monkeypatch):
    monkeypatch.setattr(hot, "_RECORDS_AT_MOST", 4)
    f = celadon.jit(lambda x, n: x * n, static_argnums=1)
    for n in range(8):
        warm(f, X, n)
    assert len(f.chain) == 4
    assert [f(X, n).tolist()[0] for n in range(8)] == list(range(8))


def test_too_many_leaves_for_the_stack_go_through_python():
    f = celadon.jit(lambda t: t[0] + t[8999])
    t = {i: array(i) for i in range(9000)}
    assert warm(f, t).tolist() == [8999]
    assert not f.chain


def test_keys_of_settings_are_one_object():
    before = settings.key()
    with celadon.enable_x64(True):
        inside = settings.key()
        assert inside is not before
    with celadon.enable_x64(True):
        assert settings.key() is inside
    assert settings.key() is before
