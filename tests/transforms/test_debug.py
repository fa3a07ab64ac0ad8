"""What looks into programs: debug_nans and debug_infs, leaks, names, evaluation within a trace; barriers and stops."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import celadon
import celadon.numpy as cnp
from celadon import cache, errors, lax, xla
from tests.transforms.engines import JAX, OURS, Engine, numbers

ROW = np.float32([1, 2, 3])
Program = Callable[[Engine], Any]

# NaN and infinity


def _where(e: Engine) -> Any:
    return lambda x: e.np.where(x > 0, e.np.log(x), 0.0)


NANS: dict[str, Program] = {
    "jitted": lambda e: e.jit(lambda x: e.np.log(x) * 2)(-1.0),
    "eager": lambda e: e.np.log(e.np.float32(-1)),
    "eager division": lambda e: e.np.float32(0) / 0,
    "comes in": lambda e: e.jit(lambda x: x + 1)(e.np.float32(np.nan)),
    "passes through": lambda e: e.jit(lambda x: x)(e.np.float32(np.nan)),
    "chosen away": lambda e: e.jit(_where(e))(-1.0),
    "chosen away eagerly": lambda e: _where(e)(e.np.float32(-1)),
    "gradient": lambda e: e.jit(e.top.grad(lambda x: e.np.where(x > 0, e.np.sqrt(x), 0.0)))(0.0),
    "scan": lambda e: e.lax.scan(lambda c, _: (e.np.log(c), c), e.np.float32(2), None, length=4),
    "infinity": lambda e: e.jit(lambda x: 1 / x)(e.np.float32(0)),
    "batch": lambda e: e.top.vmap(e.jit(lambda x: e.np.log(x)))(e.np.float32([1, -1])),
    "nested": lambda e: e.jit(lambda x: e.jit(lambda y: e.np.log(y))(x) + 1)(-1.0),
    "branch": lambda e: e.jit(lambda x: e.lax.cond(x < 0, lambda x: e.np.log(x), lambda x: x, x))(-1.0),
    "integers": lambda e: e.jit(lambda x: x + 1)(3),
    "none": lambda e: e.jit(lambda x: e.np.log(x))(1.0),
}


def _outcome(program: Program, e: Engine) -> Any:
    try:
        return numbers(program(e))
    except FloatingPointError as error:
        return type(error).__mro__[-4:]


@pytest.mark.parametrize("setting", ["debug_nans", "debug_infs"])
@pytest.mark.parametrize("name", NANS)
def test_nan_and_infinity_are_errors_where_they_are_in_jax(name: str, setting: str) -> None:
    found = []
    for e in (OURS, JAX):
        with getattr(e.top, setting)(True):
            try:
                found.append(numbers(NANS[name](e)))
            except FloatingPointError:
                found.append("raised")
    np.testing.assert_equal(found[0], found[1])


def _scan(x):
    return lax.scan(lambda c, _: (cnp.log(c), c), x, None, length=4)[0]


INNER = {
    "jitted": lambda x: cnp.log(x) * 2 + 1,
    "nested": lambda x: celadon.jit(lambda y: y + cnp.log(y))(x) + 1,
    "scan": lambda x: _scan(x + 3),
    "branch": lambda x: lax.cond(x < 0, lambda x: cnp.log(x), lambda x: x, x) + 1,
    "loop": lambda x: lax.while_loop(lambda x: x < 5, lambda x: cnp.log(x) + 2, x),
    "checkpoint": lambda x: celadon.checkpoint(lambda x: cnp.log(x) + 1)(x),
    "batch": lambda x: celadon.vmap(lambda x: cnp.log(x) + 1)(cnp.stack([x, x])),
}


@pytest.mark.parametrize("name", INNER)
def test_the_op_that_made_it_is_named_with_its_line(name: str) -> None:
    f = celadon.jit(INNER[name])
    f(-1.0)  # known to the cache without the setting
    with celadon.debug_nans(True), pytest.raises(errors.InvalidValue, match="NaN came out of the op log") as caught:
        f(-1.0)
    place = re.search(rf"{re.escape(__file__)}:(\d+)", str(caught.value))
    assert place is not None
    with open(__file__) as source:
        assert "cnp.log" in source.readlines()[int(place.group(1)) - 1]
    assert np.isnan(np.asarray(f(-1.0))).all()


def test_the_setting_may_be_global() -> None:
    f = celadon.jit(lambda x: cnp.log(x))
    celadon.config.update("jax_debug_nans", True)
    try:
        with pytest.raises(FloatingPointError, match="op log"):
            f(-1.0)
    finally:
        celadon.config.update("jax_debug_nans", False)
    assert np.isnan(f(-1.0))


def test_infinity_is_named() -> None:
    with celadon.debug_infs(True), pytest.raises(errors.InvalidValue, match="infinity came out of the op divide"):
        celadon.jit(lambda x: 1 / x + 1)(0.0)


# Leaks


def test_a_tracer_that_stays_is_named() -> None:
    kept: list[Any] = []

    def f(x):
        kept.append(x * 2)
        return x

    def runs() -> list[Callable[[], Any]]:
        return [
            lambda: celadon.jit(f)(1.0),
            lambda: celadon.vmap(f)(ROW),
            lambda: lax.scan(lambda c, x: (f(c), x), 1.0, ROW),
            lambda: lax.cond(True, f, lambda x: x, 1.0),
        ]

    for run in runs():
        with celadon.checking_leaks(), pytest.raises(errors.TracerLeaked, match="is still held by a list"):
            run()
        kept.clear()
    for run in runs():
        run()  # nothing is said without the setting
    kept.clear()


def test_ordinary_programs_leak_nothing() -> None:
    @celadon.custom_jvp
    def ruled(x):
        return x * 2

    ruled.defjvp(lambda primals, tangents: (ruled(primals[0]), tangents[0] * 2))

    @celadon.custom_vjp
    def back(x):
        return x * 3

    back.defvjp(lambda x: (back(x), x), lambda x, ct: (ct * 3,))

    def f(x):
        x = lax.scan(lambda c, x: (c + ruled(x), c), x[0], x)[0]
        y = lax.cond(x > 0, lambda x: back(x), lambda x: x, x)
        celadon.debug.callback(lambda x: None, y)
        z = lax.while_loop(lambda y: y < 9, lambda y: y * 2, lax.stop_gradient(y))
        return celadon.checkpoint(lambda y: cnp.sin(y))(z) * y

    with celadon.checking_leaks():
        celadon.jit(f)(ROW)
        celadon.jit(celadon.grad(f))(ROW)
        celadon.jit(celadon.vmap(celadon.grad(f)))(np.stack([ROW, ROW]))
        celadon.jvp(celadon.jit(lambda x: ruled(x) * x), (ROW,), (ROW,))
        celadon.jit(celadon.experimental.checkify.checkify(f))(ROW)


# Names


def _scoped(x):
    with celadon.named_scope("outer"), celadon.named_scope("inner"):
        y = cnp.sin(x)
    return y + 1


def test_scopes_stand_in_the_text_that_says_where_ops_come_from() -> None:
    text = celadon.jit(_scoped).lower(ROW).as_text(debug_info=True)
    line = _scoped.__code__.co_firstlineno + 2
    assert f'stablehlo.sine %arg0 : tensor<3xf32> loc("jit(_scoped)/outer/inner/sine"("{__file__}":{line}:0))' in text
    assert f'loc("jit(_scoped)/add"("{__file__}":{line + 1}:0))' in text
    plain = celadon.jit(_scoped).lower(ROW).as_text()
    assert "loc(" not in plain and xla.parse(text) == xla.parse(plain)


def test_locations_of_every_kind_of_line_parse() -> None:
    def f(x):
        x = lax.scan(lambda c, x: (c + x, x), x[0], x)[0]
        x = lax.cond(x > 0, lambda x: x, lambda x: x * 2, x)
        return celadon.named_call(lambda x: cnp.sort(cnp.stack([x, x])), name='the "end"')(x)

    lowered = celadon.jit(f).lower(ROW)
    assert xla.parse(lowered.as_text(debug_info=True)) == xla.parse(lowered.as_text())
    assert r"the \22end\22/sort" in lowered.as_text(debug_info=True)


def test_names_are_where_jax_has_them() -> None:
    def names(e: Engine) -> set[str]:
        @e.top.named_scope("decorated")
        def inner(x):
            return x + 1

        def f(x):
            with e.top.named_scope("a"), e.top.named_scope("b"):
                x = e.lax.sub(x, x)
            return inner(e.top.named_call(lambda x: x - 2.0, name="called")(x))

        return set(re.findall(r'"jit\(f\)/((?:\w+/)+)\w+"', e.jit(f).lower(1.0).as_text(debug_info=True)))

    assert names(OURS) == names(JAX) == {"a/b/", "decorated/", "called/"}


def test_an_error_names_the_scope() -> None:
    def f(x):
        with celadon.named_scope("layer"):
            y = x * 2
        kept.append(y)
        return y

    kept: list[Any] = []
    celadon.jit(f)(1.0)
    with pytest.raises(errors.UnexpectedTracerError, match=r"\(f in layer\)"):
        kept[0] + 1


# Evaluation within a trace


def test_concrete_values_are_computed_at_once() -> None:
    def program(e: Engine) -> Any:
        def f(x):
            with e.top.ensure_compile_time_eval():
                y = e.np.arange(3).sum()
                z = e.np.sin(e.np.float32(1)) if y > 2 else None
                ones = e.np.ones(int(y))
                assert int(e.jit(lambda k: k + 1)(y)) == 4
                assert int(e.lax.fori_loop(0, 3, lambda i, c: c + 1, 0)) == 3
                assert e.top.vmap(lambda v: v * 2)(e.np.arange(3)).tolist() == [0, 2, 4]
                assert float(e.top.grad(lambda v: v**2)(3.0)) == 6
                traced = x * 2
            return traced + ones.sum() + z

        return np.asarray(e.jit(f)(1.0)).tolist()

    np.testing.assert_allclose(program(OURS), program(JAX), rtol=1e-6)


# Barriers and stops


def test_stop_gradient_is_constant_to_every_derivative() -> None:
    def program(e: Engine) -> Any:
        stop, grad, vmap = e.lax.stop_gradient, e.top.grad, e.top.vmap
        return [
            grad(lambda x: x * stop(x))(3.0),
            grad(lambda x: vmap(lambda y: y * stop(y))(x).sum())(ROW),
            vmap(grad(lambda x: x * vmap(stop)(x[None])[0]))(ROW),
            e.top.jvp(lambda x: stop({"a": x, "b": x * x}), (2.0,), (1.0,)),
            grad(grad(lambda x: stop(x) * x**3))(2.0),
            grad(lambda x: e.lax.scan(lambda c, v: (c * stop(v) + v, None), x[0], x)[0])(ROW),
            e.jit(lambda x: stop((x, 1, None, True)))(3),
        ]

    assert numbers(program(OURS)) == numbers(program(JAX))
    assert lax.stop_gradient(7) == 7 and type(lax.stop_gradient(7)) is int
    text = celadon.jit(lambda x: lax.stop_gradient(x) * x).lower(ROW).as_text()
    assert text.count("stablehlo.") == 1


def test_a_barrier_is_an_identity_that_stays() -> None:
    def program(e: Engine) -> Any:
        f = lambda x: e.lax.optimization_barrier((x, x * 2))[1] * 3  # noqa: E731
        return [
            e.jit(f)(2.0), e.top.grad(f)(2.0), e.top.vmap(f)(ROW), e.top.jvp(f, (2.0,), (1.0,)),
            e.lax.optimization_barrier({"a": e.np.arange(3), "b": 2.0}),
        ]  # fmt: skip

    assert numbers(program(OURS)) == numbers(program(JAX))
    once = lambda x: cnp.exp(x)  # noqa: E731
    lowered = celadon.jit(lambda x: once(x) + once(lax.optimization_barrier(x))).lower(ROW)
    theirs = JAX.jit(lambda x: JAX.np.exp(x) + JAX.np.exp(JAX.lax.optimization_barrier(x))).lower(ROW).as_text()
    assert lowered.as_text() == theirs.replace('"result"', '""')
    assert lowered.compile().as_text().count("exponential") == 2
    shared = celadon.jit(lambda x: once(x) + once(x)).lower(ROW)
    assert shared.compile().as_text().count("exponential") == 1


@pytest.mark.parametrize("executor", ["cpu", "reference"])
def test_barriers_pass_every_kind_of_value(executor: str) -> None:
    def f(x):
        values = lax.optimization_barrier((x, x.T, x * 2, 3.0, cnp.arange(4), x[0], cnp.zeros(3), x))
        row = lax.scan(lambda c, v: (lax.optimization_barrier(c * v) + 1, lax.optimization_barrier(2.0)), x[0], x)
        return values, row

    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    with cache.executor_name(executor):
        (values, (carry, rows)) = celadon.jit(f)(x)
    expected = [x, x.T, x * 2, 3.0, np.arange(4), x[0], np.zeros(3), x]
    for found, wanted in zip(values, expected, strict=True):
        np.testing.assert_array_equal(np.asarray(found), wanted)
    np.testing.assert_array_equal(np.asarray(carry), (x[0] * x[0] + 1) * x[1] + 1)
    assert rows.tolist() == [2, 2]
