"""jit: its arguments, its keys, its stages, its warnings."""

import collections
import copy
import dataclasses
import functools
import gc
import logging
import pickle
import traceback
import types
import warnings
import weakref

import numpy as np
import pytest

import celadon
import celadon.numpy as cnp
from celadon import compiler, errors, events
from celadon.errors import catalogue


def scale(x, s):
    return x * s


class Plain:
    def __init__(self, n):
        self.n = n


@dataclasses.dataclass(frozen=True)
class Keyed:
    n: int


def compiles(seen):
    return sum(event.kind == "compile" for event in seen)


def test_traced_scalar_has_one_entry_and_static_scalar_one_per_value():
    traced, static = celadon.jit(scale), celadon.jit(scale, static_argnums=1)
    x = cnp.ones(4)
    for s in (2.0, 3.0):
        np.testing.assert_array_equal(traced(x, s), np.full(4, s, np.float32))
        np.testing.assert_array_equal(static(x, s), np.full(4, s, np.float32))
    assert traced._cache_size() == 1
    assert static._cache_size() == 2


def test_plain_configs_are_three_entries_and_one_warning():
    f = celadon.jit(lambda x, c: x * c.n, static_argnums=1)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for _ in range(3):
            f(1.0, Plain(2))
    assert f._cache_size() == 3
    (warning,) = seen
    assert issubclass(warning.category, errors.StaticByIdentityWarning)
    assert "'c'" in str(warning.message)
    assert "Plain" in str(warning.message)
    assert warning.filename == __file__


def test_keyed_configs_are_one_entry():
    f = celadon.jit(lambda x, c: x * c.n, static_argnums=1)
    for _ in range(3):
        f(1.0, Keyed(2))
    assert f._cache_size() == 1


def test_compile_log_counts_distinct_values(caplog):
    f = celadon.jit(scale, static_argnums=1)
    with celadon.log_compiles(True), caplog.at_level(logging.WARNING, "celadon"):
        f(1.0, 2.0)
        f(1.0, 3.0)
    assert "s: 2 values" in caplog.messages[-1]


def test_two_hundred_values_and_shapes_are_one_compile():
    def scale_add(x, s):
        return x * s + 1.0

    celadon.clear_caches()
    f = celadon.jit(scale_add, static_argnums=1)
    rng = np.random.default_rng(0)
    values = rng.uniform(-5, 5, 200).astype(np.float32)
    shapes = {(int(a), int(b)) for a, b in rng.integers(2, 60, (400, 2))}
    shapes = sorted(shapes)[:200]
    assert len(shapes) == 200
    x = rng.standard_normal((7, 9)).astype(np.float32)
    with events.watching() as seen, warnings.catch_warnings():
        warnings.simplefilter("ignore", errors.ChurnWarning)
        for s in values:
            assert np.asarray(f(x, float(s))).tobytes() == (x * s + np.float32(1)).tobytes()
        for shape in shapes:
            y = rng.standard_normal(shape).astype(np.float32)
            assert np.asarray(f(y, 2.0)).tobytes() == (y * np.float32(2) + np.float32(1)).tobytes()
    assert compiles(seen) == 1
    assert f._cache_size() == 400


def test_lifting_switched_off_gives_the_same_bits():
    from celadon.cache import lifting

    def f(x, s):
        return cnp.sin(x) * s + x / 3.0

    x = np.random.default_rng(1).standard_normal((5, 11)).astype(np.float32)
    lifted = celadon.jit(f, static_argnums=1)(x, 1.7)
    with lifting(False):
        baked = celadon.jit(f, static_argnums=1)(x, 1.7)
    assert np.asarray(lifted).tobytes() == np.asarray(baked).tobytes()


@pytest.mark.parametrize("options", [
    dict(static_argnums=1), dict(static_argnums=(1,)), dict(static_argnums=[1]), dict(static_argnums=-1),
    dict(static_argnums=np.int64(1)), dict(static_argnames="n"), dict(static_argnames=("n",)), dict(static_argnames=["n"]),
])  # fmt: skip
def test_each_form_of_static_selection(options):
    f = celadon.jit(lambda x, n: x * len("a" * n), **options)
    assert float(f(2.0, 3)) == 6.0
    assert float(f(2.0, n=3)) == 6.0


def test_static_by_negative_index_counts_on_the_signature():
    f = celadon.jit(lambda x, n=3, m=2: x * (n if isinstance(n, int) else 0) * m, static_argnums=-2)
    assert float(f(1.0)) == 6.0
    assert float(f(1.0, 4)) == 8.0


def test_decorator_factory_and_plain_decorator():
    @celadon.jit(static_argnames="n")
    def f(x, n):
        return x * n

    @celadon.jit
    def g(x):
        """Doubles."""
        return x * 2

    assert float(f(2.0, n=3)) == 6.0
    assert float(g(2.0)) == 4.0
    assert g.__name__ == "g"
    assert g.__doc__ == "Doubles."
    assert g.__wrapped__(2) == 4


def test_methods_partials_callables():
    class Model:
        def __init__(self, k):
            self.k = k

        @functools.partial(celadon.jit, static_argnums=0)
        def call(self, x):
            return x * self.k

        def __call__(self, x):
            return x + self.k

    model = Model(3.0)
    assert float(model.call(2.0)) == 6.0
    assert isinstance(model.call, types.MethodType)
    assert float(celadon.jit(model)(2.0)) == 5.0
    assert float(celadon.jit(functools.partial(scale, s=4.0))(2.0)) == 8.0


def test_bound_method_is_traced_once():
    class Model:
        traces = 0

        def f(self, x):
            Model.traces += 1
            return x * 2

    model = Model()
    for _ in range(3):
        celadon.jit(model.f)(1.0)
    assert Model.traces == 1
    celadon.jit(Model().f)(1.0)
    assert Model.traces == 2


def test_statics_and_entries_die_with_the_function():
    class Holder:
        pass

    f = celadon.jit(lambda h, x: x * 2, static_argnums=0)
    holder = Holder()
    f(holder, 1.0)
    dead = weakref.ref(holder)
    del holder, f
    gc.collect()
    assert dead() is None


def test_typed_keys_descend():
    f = celadon.jit(lambda c: cnp.asarray(c[0]), static_argnums=0)
    assert [str(f((v,)).dtype) for v in (1, True, 1.0)] == ["int32", "bool", "float32"]
    g = celadon.jit(lambda x, s: x * s, static_argnums=1)
    for s in (0.0, -0.0, float("nan"), float("nan")):
        g(1.0, s)
    assert g._cache_size() == 3
    assert np.signbit(g(1.0, -0.0)) and not np.signbit(g(1.0, 0.0))


def test_mutated_static_warns():
    f = celadon.jit(lambda m, x: x * m.n, static_argnums=0)
    model = Plain(2.0)
    f(model, 1.0)
    model.n = 5.0
    with pytest.warns(errors.StaticMutatedWarning, match="'m'"):
        assert float(f(model, 1.0)) == 2.0


def test_churn_warns_once_with_the_axis():
    f = celadon.jit(lambda x, n: x * n, static_argnums=1)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for i in range(60):
            f(1.0, i)
    (warning,) = seen
    assert issubclass(warning.category, errors.ChurnWarning)
    assert "static argument n took 51 values" in str(warning.message)


def test_explained_misses():
    f = celadon.jit(lambda x, y: x)
    with events.watching() as seen:
        f(cnp.ones(3), 1.0)
        f(cnp.ones(4), 1.0)
        f(cnp.ones(4), 1)
        f(cnp.ones(4), cnp.float32(1))
        f((cnp.ones(4),), 1.0)
        with celadon.enable_x64(True):
            f(cnp.ones(4, "float32"), cnp.asarray(1.0, "float32"))
    reasons = [event.facts["reason"] for event in seen if event.kind == "miss"]
    found = [(r.kind, r.argument, r.before, r.after) if r else None for r in reasons]
    assert found[0] is None
    assert found[1] == ("shape", "x", "f32[3]", "f32[4]")
    assert found[2] == ("dtype", "y", "f32[] weak_type=True", "i32[] weak_type=True")
    assert found[3][:2] == ("weak_type", "y") or found[3][:2] == ("dtype", "y")
    assert found[4][0] == "tree structure"
    assert found[5][:2] == ("setting", "enable_x64")


def test_every_kind_of_call_takes_the_fast_path_from_its_second_time_on(monkeypatch):
    f = celadon.jit(lambda x, s, n=1: x * s + n, static_argnames="n")
    x, host = cnp.ones(4), np.ones(4, np.float32)
    calls = [lambda: f(x, 2.0), lambda: f(host, 2.0), lambda: f(x, s=2.0), lambda: f(s=2.0, x=host), lambda: f(x, 2.0, 3),
             lambda: f(x, 2.0, n=3), lambda: f(n=2, s=host, x=x)]  # fmt: skip
    first = [np.asarray(call()) for call in calls]
    monkeypatch.setattr(type(f), "_general", lambda *_: pytest.fail("the general path"))
    for call, before in zip(calls, first, strict=True):
        np.testing.assert_array_equal(call(), before)
    np.testing.assert_array_equal(f(x, 5.0, 3), np.full(4, 8.0, np.float32))


def test_a_static_nan_does_not_fill_the_fast_path():
    f = celadon.jit(lambda x, s: x * s, static_argnums=1)
    for _ in range(5):
        f(1.0, float("nan"))
    assert f._cache_size() == 1 and len(f.fast) <= 1


@pytest.mark.parametrize("x64", [False, True])
@pytest.mark.parametrize("value", [0.1, 1e300, -0.0, float("nan"), float("-inf"), 1e-46, 7, -(2**31), True, False, 1 + 2j])
def test_a_python_scalar_comes_in_with_numpys_bits(value, x64):
    with celadon.enable_x64(x64), np.errstate(over="ignore"):
        found = celadon.jit(lambda s: s)(value)
        assert np.asarray(found).tobytes() == np.asarray(value).astype(found.dtype).tobytes()
        assert found.dtype.itemsize == {float: (4, 8), int: (4, 8), bool: (1, 1), complex: (8, 16)}[type(value)][x64]


def test_donation_deletes_the_argument():
    f = celadon.jit(lambda n, x: x * n, static_argnums=0, donate_argnums=1)
    x = cnp.ones(4)
    np.testing.assert_array_equal(f(3, x), np.full(4, 3, np.float32))
    assert x.is_deleted()
    with pytest.raises(errors.ArrayDeleted):
        x + 1
    with pytest.raises(errors.ArrayDeleted):
        f(3, x)


def test_donating_a_numpy_array_leaves_it_alone():
    y = np.ones(3, np.float32)
    np.testing.assert_array_equal(celadon.jit(lambda a: a + 1, donate_argnums=0)(y), [2, 2, 2])
    np.testing.assert_array_equal(y, [1, 1, 1])


def test_donating_an_array_that_numpy_views_does_not_change_the_view():
    x = cnp.asarray(np.arange(4, dtype=np.float32)) + 0
    view = np.asarray(x)
    celadon.jit(lambda a: a + 1, donate_argnums=0)(x)
    cnp.zeros(4) + 7
    np.testing.assert_array_equal(view, [0, 1, 2, 3])


def test_unused_arguments_are_left_out_of_the_program():
    f = celadon.jit(lambda x, y: x + 1)
    assert "%arg1" not in f.lower(1.0, 2.0).as_text()
    assert float(f(1.0, 2.0)) == 2.0
    assert "%arg1" in celadon.jit(lambda x, y: x + 1, keep_unused=True).lower(1.0, 2.0).as_text()


def test_stages():
    f = celadon.jit(lambda x, n: (x * n, {"sum": x.sum()}), static_argnames="n")
    traced = f.trace(cnp.ones((2, 3)), n=2)
    assert [str(t) for t in traced.out_avals] == ["f32[2,3]", "f32[]"]
    lowered = traced.lower()
    assert 'jax.result_info = "[1][\'sum\']"' in lowered.as_text()
    assert lowered.args_info[0][0].shape == (2, 3)
    assert lowered.cost_analysis()["flops"] == 12.0
    compiled = lowered.compile()
    product, sums = compiled(cnp.ones((2, 3)))
    assert float(sums["sum"]) == 6.0
    assert product.shape == (2, 3)
    assert compiled.memory_analysis().argument_size_in_bytes == 24
    with pytest.raises(errors.CompiledSignatureMismatch, match="static"):
        compiled(cnp.ones((2, 3)), n=2)
    with pytest.raises(errors.CompiledSignatureMismatch, match=r"x is f32\[2\]"):
        compiled(cnp.ones(2))


def test_eval_shape_keeps_weakness():
    assert celadon.eval_shape(cnp.array, 1).weak_type
    assert not celadon.eval_shape(lambda: cnp.zeros(())).weak_type


def test_no_tracing():
    f = celadon.jit(lambda x: x + 1)
    f(1.0)
    with celadon.no_tracing(True):
        f(2.0)
        with pytest.raises(RuntimeError, match="re-tracing"):
            f(cnp.ones(3))
    assert f._cache_size() == 1


def test_clear_cache():
    traces = []
    f = celadon.jit(lambda x: (traces.append(1), x)[1])
    f(1.0)
    f.clear_cache()
    assert f._cache_size() == 0
    f(1.0)
    celadon.clear_caches()
    f(1.0)
    assert len(traces) == 3


def test_nested_jit_is_one_private_function():
    inner = celadon.jit(lambda x: cnp.sin(x) * 2)
    text = celadon.jit(lambda x: inner(inner(x))).lower(cnp.ones(3)).as_text()
    assert text.count("stablehlo.sine") == 1
    assert text.count("call @") == 2


def test_closure_over_an_outer_tracer():
    def outer(x, y):
        return celadon.jit(lambda z: z + x)(y) * 2

    assert float(celadon.jit(outer)(1.0, 2.0)) == 6.0
    assert float(celadon.jit(outer)(cnp.float32(5.0), 2.0)) == 14.0


def test_captured_array_is_shared_and_a_numpy_one_copied():
    kept = np.ones(3, np.float32)
    f = celadon.jit(lambda x: x + kept)
    f(1.0)
    kept[:] = 5
    np.testing.assert_array_equal(f(1.0), [2, 2, 2])


@pytest.mark.parametrize(("ask", "error"), [
    (lambda x: 1 if x > 0 else 2, errors.TracerBoolConversionError),
    (float, errors.ConcretizationTypeError),
    (int, errors.ConcretizationTypeError),
    (lambda x: [1, 2][x.astype(int)], errors.TracerIntegerConversionError),
    (lambda x: np.sin(x), errors.TracerArrayConversionError),
    (lambda x: cnp.zeros(x.astype(int)), TypeError),
])  # fmt: skip
def test_a_concrete_value_asked_of_a_tracer_names_argument_and_line(ask, error):
    with pytest.raises(error, match=r"traced argument x") as caught:
        celadon.jit(lambda x: ask(x))(1.0)
    assert "test_jit.py" in str(caught.value)


def test_leaked_tracer_names_function_and_line():
    kept = []

    def leaky(x):
        kept.append(x + 1)
        return x

    celadon.jit(leaky)(1.0)
    for use in (lambda: kept[0] + 1, lambda: celadon.jit(lambda y: y + kept[0])(1.0), lambda: celadon.jit(scale)(kept[0], 1.0)):
        with pytest.raises(errors.UnexpectedTracerError, match=r"leaky.*test_jit.py"):
            use()


def test_a_traceback_shows_the_users_lines_and_one_of_ours():
    def inner(x):
        return x if x > 0 else -x

    def names(error):
        frames = traceback.extract_tb(error.__traceback__)
        return [frame.name for frame in frames if frame.filename.startswith((catalogue.PACKAGE, __file__))]

    outer = celadon.jit(lambda x: celadon.jit(inner)(x))
    with pytest.raises(errors.TracerBoolConversionError) as caught:
        outer(1.0)
    own = "test_a_traceback_shows_the_users_lines_and_one_of_ours"
    assert names(caught.value) == [own, "__call__", "<lambda>", "inner"]
    celadon.config.update("jax_traceback_filtering", "off")
    try:
        with pytest.raises(errors.TracerBoolConversionError) as caught:
            outer(1.0)
    finally:
        celadon.config.update("jax_traceback_filtering", "auto")
    assert len(names(caught.value)) > 8 and names(caught.value)[-1] != "inner"


def test_a_tracer_is_copied_as_itself_and_not_pickled_or_formatted():
    def copies(x):
        assert copy.copy(x) is x and copy.deepcopy([x])[0] is x and f"{x}" == str(x)
        return x

    celadon.jit(copies)(1.0)
    for use in (pickle.dumps, lambda x: f"{x:.2f}"):
        with pytest.raises(errors.ConcretizationTypeError, match="argument x"):
            celadon.jit(lambda x, use=use: use(x))(1.0)


def test_what_optree_alone_takes_apart_is_no_argument():
    with pytest.raises(errors.ArgumentNotArray, match=r"x\['a'\].*deque"):
        celadon.jit(lambda x: x)({"a": collections.deque([1.0]), "b": 1.0})


def test_objects_that_are_no_arrays_are_named_by_path():
    f = celadon.jit(lambda x, d: x)
    with pytest.raises(errors.ArgumentNotArray, match=r"d\['a'\]\[1\].*type str"):
        f(1.0, {"a": [1.0, "no"]})
    with pytest.raises(errors.ResultNotArray, match=r"\[1\]"):
        celadon.jit(lambda x: (x, "no"))(1.0)
    with pytest.raises(errors.MaskedArrayInput):
        f(np.ma.masked_array([1.0], [True]), {})
    with pytest.raises(errors.IntegerTooLarge, match=str(1 << 40)):
        f(1 << 40, {})
    with celadon.enable_x64(True), pytest.raises(errors.IntegerTooLarge):
        f(1 << 70, {})


def test_the_second_call_drops_static_values_too():
    f = celadon.jit(lambda x, mode: x + 1.0 if mode == "up" else x - 1.0, static_argnames="mode")
    assert [float(f(1.0, "up")) for _ in range(3)] == [2.0] * 3
    assert [float(f(1.0, mode="up")) for _ in range(3)] == [2.0] * 3
    assert [float(f(x=1.0, mode="down")) for _ in range(3)] == [0.0] * 3
    g = celadon.jit(lambda n, x: x * n, static_argnums=0)
    assert [float(g(3, 2.0)) for _ in range(3)] == [6.0] * 3


def test_a_compile_at_level_0_has_code_of_its_own_and_the_same_bits():
    x = cnp.asarray(np.random.default_rng(3).standard_normal((64, 64), np.float32))

    def function(x):
        return cnp.tanh(x @ x) * 0.37 + cnp.sort(x, axis=1) / x.sum(axis=0)

    level = {"xla_backend_optimization_level": 0}
    usual = celadon.jit(function)(x)
    with events.watching() as seen:
        quick = celadon.jit(function, compiler_options=level)
        found = quick(x)
    assert [e.facts["kernels"] > 0 for e in seen if e.kind == "compile"] == [True]
    assert np.asarray(found).tobytes() == np.asarray(usual).tobytes()
    assert celadon.jit(function).lower(x).compile(compiler_options=level)(x).tolist() == usual.tolist()
    with compiler.optimization_level(0):
        assert celadon.jit(function)(x).tolist() == usual.tolist()


@pytest.mark.parametrize("options", [{"fast": True}, {"xla_backend_optimization_level": "quick"}, [1]], ids=repr)
def test_a_wrong_compiler_option_is_an_error_of_run_time_as_in_jax(options):
    with pytest.raises(errors.CompilerOptionInvalid) as caught:
        celadon.jit(lambda x: x + 1).lower(1.0).compile(compiler_options=options)
    assert isinstance(caught.value, RuntimeError)


def test_an_option_of_xla_alone_is_warned_of():
    with pytest.warns(errors.CompilerOptionIgnoredWarning, match="xla_cpu_enable_fast_math"):
        assert float(celadon.jit(lambda x: x + 1, compiler_options={"xla_cpu_enable_fast_math": True})(1.0)) == 2.0
