"""Callbacks beside JAX's: what is called, with what, in which order, under every transformation; and exceptions."""

from __future__ import annotations

import gc
import itertools
import random
import threading
import traceback
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import celadon
import celadon.numpy as cnp
from celadon import cache, events, lax, xla
from celadon.experimental import io_callback
from tests.transforms.engines import JAX, OURS, Engine, numbers

EXECUTORS = ["cpu", "reference"]


def printed(engine: Engine, program: Callable[[Engine], Any], capsys: pytest.CaptureFixture[str]) -> tuple[str, Any]:
    capsys.readouterr()
    result = program(engine)
    engine.top.effects_barrier()
    return capsys.readouterr().out, numbers(result)


def show(e: Engine, text: str, *values: Any) -> None:
    e.debug.print(text, *values, ordered=True)


# Programs that print; all numbers in them are exact


def straight(e: Engine, j: Any) -> Any:
    def f(x):
        e.debug.print("first {} and {y}", x, y=x.sum(), ordered=True)
        show(e, "second")
        return x * 2

    return j(f)(np.float32([1, 2]))


def spec(e: Engine, j: Any) -> Any:
    def f(x):
        show(e, "{0:.3f} {0} {1.shape} {2}", x[0], x, "text")
        e.debug.print("{a} {b}", a={"k": x}, b=[x[1], None], ordered=True)

    return j(f)(np.float32([1.5, 2]))


def twice(e: Engine, j: Any) -> Any:
    inner = e.jit(lambda x: (show(e, "inner {}", x), x + 1)[1])
    return j(lambda x: inner(x) + inner(x))(1.0)


def _step(e: Engine) -> Any:
    return lambda c, v: (show(e, "c {} v {}", c, v), (c * v, c))[1]


def _scanned(e: Engine) -> Any:
    return lambda x: e.lax.scan(_step(e), x[0], x)[0]


ROW = np.float32([2, 3, 4])


def scan(e: Engine, j: Any) -> Any:
    return j(_scanned(e))(ROW)


def scan_reversed(e: Engine, j: Any) -> Any:
    return j(lambda x: e.lax.scan(_step(e), x[0], x, reverse=True))(ROW)


def scan_gradient(e: Engine, j: Any) -> Any:
    return e.top.grad(j(_scanned(e)))(ROW)


def scan_tangent(e: Engine, j: Any) -> Any:
    return e.top.jvp(j(_scanned(e)), (ROW,), (ROW,))


def scan_linearized(e: Engine, j: Any) -> Any:
    return e.top.linearize(j(_scanned(e)), ROW)[1](ROW)


def scan_batch(e: Engine, j: Any) -> Any:
    return e.top.vmap(j(_scanned(e)))(np.stack([ROW, ROW * 2]))


def scan_hessian(e: Engine, j: Any) -> Any:
    return e.top.jacfwd(e.top.grad(j(_scanned(e))))(ROW)


def scan_without_results(e: Engine, j: Any) -> Any:
    return j(lambda x: (e.lax.scan(lambda c, v: (show(e, "v {}", v), (c, None))[1], (), x), x.sum())[1])(ROW)


def scan_of_a_constant(e: Engine, j: Any) -> Any:
    def f(k):
        return e.lax.scan(lambda c, _: (show(e, "k {} c {}", k, c), (k * k * c, None))[1], np.float32(1), None, length=2)[0]

    return e.top.grad(j(f))(np.float32(2))


def branch(e: Engine, j: Any) -> Any:
    def f(p, x):
        return e.lax.cond(p, lambda x: (show(e, "yes {}", x), x * 2)[1], lambda x: (show(e, "no {}", x), x)[1], x)

    g = j(f)
    return g(True, 1.0), g(False, 2.0), e.top.grad(g, argnums=1)(True, 3.0), e.top.vmap(g, (None, 0))(False, ROW)


def branch_without_results(e: Engine, j: Any) -> Any:
    f = j(lambda p, x: e.lax.cond(p, lambda x: show(e, "yes {}", x), lambda x: show(e, "no {}", x), x))
    f(True, 1.0)
    e.top.vmap(f, (None, 0))(False, ROW)
    return e.top.grad(lambda x: (f(True, x), x)[1])(1.0)


def loop(e: Engine, j: Any) -> Any:
    def f(x):
        test = lambda x: (show(e, "test {}", x), x < 3)[1]  # noqa: E731
        return e.lax.while_loop(test, lambda x: (show(e, "body {}", x), x + 1)[1], x)

    return j(f)(0.0)


def loop_forward(e: Engine, j: Any) -> Any:
    f = j(lambda x: e.lax.while_loop(lambda x: x < 10, lambda x: (show(e, "body {}", x), x * 2)[1], x))
    return e.top.jvp(f, (1.0,), (1.0,))


def counted(e: Engine, j: Any) -> Any:
    return j(lambda x: e.lax.fori_loop(0, 3, lambda i, c: (show(e, "{} {}", i, c), c + 1)[1], x))(1.0)


def mapped(e: Engine, j: Any) -> Any:
    return j(lambda x: e.lax.map(lambda c: (show(e, "{}", c), c + 1)[1], x))(ROW)


def batch(e: Engine, j: Any) -> Any:
    f = j(lambda x, y: (show(e, "x {} y {}", x, y), show(e, "y {}", y), x)[2])
    return e.top.vmap(f, in_axes=(0, None))(ROW, 5.0)


def batch_of_batches(e: Engine, j: Any) -> Any:
    f = j(lambda x, y: (show(e, "x {} y {}", x, y), x)[1])
    return e.top.vmap(e.top.vmap(f, in_axes=(0, None)))(np.stack([ROW, ROW * 2]), ROW[:2])


def gradient(e: Engine, j: Any) -> Any:
    return e.top.grad(j(lambda x: (show(e, "x {}", x), x * x)[1]))(3.0)


def again(e: Engine, j: Any) -> Any:
    return e.top.grad(j(e.top.checkpoint(lambda x: (e.debug.print("x {}", x), x * x * x)[1])))(2.0)


def tangent_rule(e: Engine, j: Any) -> Any:
    f = e.top.custom_jvp(lambda x: (show(e, "function {}", x), x)[1])
    f.defjvp(lambda primals, tangents: (show(e, "rule {}", primals[0]), (primals[0], tangents[0] * 3))[1])
    return j(f)(1.0), e.top.grad(j(f))(2.0)


def cotangent_rule(e: Engine, j: Any) -> Any:
    f = e.top.custom_vjp(lambda x: (show(e, "function {}", x), x)[1])
    f.defvjp(
        lambda x: (show(e, "forward {}", x), (x, x))[1], lambda x, ct: (show(e, "backward {} {}", x, ct), (ct * 2,))[1]
    )
    return j(f)(1.0), e.top.grad(j(f))(2.0)


PROGRAMS = [
    straight, spec, twice, scan, scan_reversed, scan_gradient, scan_tangent, scan_linearized, scan_batch, scan_hessian,
    scan_without_results, scan_of_a_constant, branch, branch_without_results, loop, loop_forward, counted, mapped, batch,
    batch_of_batches, gradient, again, tangent_rule, cotangent_rule,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.parametrize("eager", [True, False])
def test_what_is_printed_is_what_jax_prints(program: Any, eager: bool, capsys: pytest.CaptureFixture[str]) -> None:
    def run(e: Engine) -> Any:
        return program(e, (lambda f: f) if eager else e.jit)

    theirs = printed(JAX, run, capsys)
    assert printed(OURS, run, capsys) == theirs
    assert theirs[0]


@pytest.mark.parametrize("program", [scan, loop, branch, scan_gradient, scan_batch], ids=lambda program: program.__name__)
def test_the_cpu_calls_from_its_own_loops(program: Any) -> None:
    celadon.clear_caches()
    with events.watching() as seen:
        program(OURS, celadon.jit)
    assert "compile" in {event.kind for event in seen} and "fallback" not in {event.kind for event in seen}


def test_braces_of_a_text_are_braces(capsys: pytest.CaptureFixture[str]) -> None:
    """JAX prints them as they stand unless the first place comes before them."""
    celadon.jit(lambda x: celadon.debug.print("{{}} {}", x))(1.0)
    assert capsys.readouterr().out == "{} 1.0\n"


def test_what_stands_without_a_place_follows_the_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(JAX, lambda e: e.debug.print("x", ROW, 3, skip_format_check=True), capsys) == printed(
        OURS, lambda e: e.debug.print("x", ROW, 3, skip_format_check=True), capsys
    )


def test_options_alone_make_a_printer(capsys: pytest.CaptureFixture[str]) -> None:
    def program(e: Engine) -> Any:
        e.jit(lambda x: e.debug.print(ordered=True)("{ordered} {}", x, ordered=x + 1))(1.0)
        e.jit(lambda x: e.debug.callback(ordered=True)(lambda x, ordered: print(x, ordered), x, ordered=2))(1.0)

    assert printed(OURS, program, capsys) == printed(JAX, program, capsys)


def test_print_options_are_those_of_the_trace(capsys: pytest.CaptureFixture[str]) -> None:
    def program(e: Engine) -> Any:
        with np.printoptions(precision=2):
            f = e.jit(lambda x: show(e, "{}", x))
            f(np.float32([1 / 3]))
        f(np.float32([2 / 3]))

    assert printed(OURS, program, capsys) == printed(JAX, program, capsys)


def test_a_debug_callback_keeps_what_is_no_array() -> None:
    seen: list[Any] = []
    celadon.jit(lambda x: celadon.debug.callback(lambda *a, **k: seen.append((a, k)), x, "name", flag=None, y=[2, x]))(1.0)
    [((x, name), keywords)] = seen
    assert type(x) is type(cnp.ones(1)) and float(x) == 1 and name == "name"
    assert keywords["flag"] is None and [float(y) for y in keywords["y"]] == [2, 1]


def test_the_log_is_one_of_python(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", "celadon.debug"):
        celadon.jit(lambda x: celadon.debug.log("x is {}", x))(2.0)
    assert caplog.messages == ["x is 2.0"]


# Results


METHODS = ["sequential", "sequential_unrolled", "expand_dims", "broadcast_all"]


@pytest.mark.parametrize("method", [*METHODS, "legacy_vectorized"])
def test_vmap_methods_give_a_function_what_jax_gives_it(method: str) -> None:
    def program(e: Engine) -> Any:
        shapes: list[Any] = []

        def add(x, y):
            shapes.append((x.shape, y.shape))
            return np.asarray(x) + np.asarray(y)

        f = e.jit(lambda x, y: e.top.pure_callback(add, e.struct((2,)), x, y, vmap_method=method))
        once = e.top.vmap(f, in_axes=(1, None))(np.arange(6, dtype=np.float32).reshape(2, 3), np.float32([10, 20]))
        if method == "legacy_vectorized":
            return numbers(once), shapes
        again = e.top.vmap(e.top.vmap(f, in_axes=(0, None)))(np.ones((4, 3, 2), np.float32), np.ones((4, 2), np.float32))
        return numbers((once, again)), shapes

    assert program(OURS) == program(JAX)


def test_an_io_callback_is_called_for_each_member() -> None:
    def program(e: Engine) -> Any:
        seen: list[float] = []

        def note(x):
            seen.append(float(x))
            return np.asarray(x) * 2

        f = e.jit(e.top.vmap(lambda x: e.experimental.io_callback(note, e.struct(()), x)))
        result = numbers(f(ROW))
        return result, sorted(seen)

    assert program(OURS) == program(JAX)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_results_have_the_declared_types(executor: str) -> None:
    def program(e: Engine) -> Any:
        def f(x):
            several = e.struct((2, 3)), e.struct((0, 2), "bfloat16"), e.struct((2,), "bool"), e.struct(())
            types = {"a": e.struct((), "int32"), "b": several}
            give = lambda x: {"a": 7, "b": (np.full((2, 3), x), np.zeros((0, 2), e.np.bfloat16), np.array([True, False]), 2.5)}  # noqa: E731
            return e.top.pure_callback(give, types, x), e.top.pure_callback(lambda: np.float32(2), e.struct(()))

        return e.jit(f)(1.5)

    with cache.executor_name(executor):
        found = program(OURS)
    assert numbers(found) == numbers(program(JAX))
    assert [str(x.dtype) for x in celadon.tree.leaves(found)] == ["int32", "float32", "bfloat16", "bool", "float32", "float32"]


@pytest.mark.parametrize("wrong", [lambda x: x[:1], lambda x: np.int32([1, 2]), lambda x: (x, x), lambda x: None])
@pytest.mark.parametrize("executor", EXECUTORS)
def test_other_results_are_an_error(wrong: Any, executor: str) -> None:
    with cache.executor_name(executor):
        f = celadon.jit(lambda x: celadon.pure_callback(wrong, x, x) + 1)
        for _ in range(2):
            with pytest.raises(celadon.errors.CallbackResultMismatch, match=r"declared was f32\[2\]"):
                f(cnp.ones(2))


def test_arguments_are_arrays_that_nobody_writes_to() -> None:
    kept: list[Any] = []

    def f(x):
        y = x * 2
        celadon.debug.callback(kept.append, y)
        return lax.scan(lambda c, _: (c + 1, celadon.debug.callback(kept.append, c)), y, None, length=50)[0]

    celadon.jit(f)(cnp.arange(4.0))
    celadon.jit(lambda x: x * 3 - 7)(cnp.arange(4.0))
    assert [x.tolist() for x in kept] == [[0 + k, 2 + k, 4 + k, 6 + k] for k in (0, *range(50))]


def test_numpy_warns_in_a_callback_as_outside() -> None:
    f = celadon.jit(lambda x: celadon.pure_callback(lambda x: np.float32(1) / np.asarray(x), x, x))
    for executor in EXECUTORS:
        with cache.executor_name(executor), pytest.warns(RuntimeWarning, match="divide by zero"):
            f(0.0)


# Order


def _random_block(choose: random.Random, names: Any, depth: int) -> list[tuple[Any, ...]]:
    """Arithmetic with callbacks at random places, some of whose results are used later, in loops and branches too."""
    kinds = ["add", "half", "sum", "note", "note", "ask"] + ["loop", "branch"] * (depth > 0)
    found: list[tuple[Any, ...]] = []
    for _ in range(5):
        kind = choose.choice(kinds)
        inner = [_random_block(choose, names, depth - 1) for _ in range({"loop": 1, "branch": 2}.get(kind, 0))]
        found.append((kind, choose.random(), choose.random(), f"{kind} {next(names)}", *inner))
    return found


def _run_block(block: list[tuple[Any, ...]], values: list[Any], note: Callable[[str, Any], Any]) -> Any:
    values = list(values)
    for kind, first, second, name, *inner in block:
        a, b = (values[int(place * len(values))] for place in (first, second))
        if kind == "add":
            values.append(a + b)
        elif kind == "half":
            values.append(a * 0.5 - b)
        elif kind == "sum":
            values.append(a + b.sum())
        elif kind == "note":
            note(name, a)
        elif kind == "ask":
            values.append(note(name, b))
        elif kind == "loop":
            values.append(lax.fori_loop(0, 2, lambda i, c, a=a, inner=inner: _run_block(inner[0], [c, a], note), b))
        else:
            yes, no = (lambda a, b, one=one: _run_block(one, [a, b], note) for one in inner)
            values.append(lax.cond(a[0] > 0, yes, no, a, b))
    return values[-1]


@pytest.mark.parametrize("seed", range(25))
def test_effects_keep_the_order_of_the_program(seed: int) -> None:
    block = _random_block(random.Random(seed), itertools.count(), 2)

    def run(eager: bool) -> Any:
        seen: list[Any] = []

        def note(name, x):
            def noted(x):
                seen.append((name, np.asarray(x).tolist()))
                return np.asarray(x) * np.float32(0.5)

            return io_callback(noted, x, x, ordered=True)

        f = lambda x: _run_block(block, [x, x + 1], note)  # noqa: E731
        with celadon.disable_jit(eager):
            result = celadon.jit(f)(np.float32([1, -2]))
        return seen, np.asarray(result).tolist()

    expected = run(True)
    assert run(False) == expected
    with cache.executor_name("reference"):
        assert run(False) == expected


def test_effects_are_neither_shared_nor_dropped() -> None:
    seen: list[float] = []
    note = celadon.jit(lambda x: io_callback(lambda x: seen.append(float(x)), None, x))
    celadon.jit(lambda x: (note(x), note(x), note(x + 0), x)[3])(1.0)
    assert seen == [1, 1, 1]


def test_a_pure_callback_that_nobody_needs_is_not_called() -> None:
    seen: list[float] = []
    celadon.jit(lambda x: (celadon.pure_callback(lambda x: (seen.append(1), x)[1], x, x), x)[1])(1.0)
    assert seen == []


def test_what_acts_on_the_world_is_not_done_again_for_a_checkpoint() -> None:
    seen: list[float] = []

    def f(x):
        y = io_callback(lambda v: (seen.append(float(v)), v)[1], x, lax.stop_gradient(x))
        io_callback(lambda: seen.append(-1.0), None)
        return x * x * y

    for g in (celadon.grad(celadon.checkpoint(f)), celadon.jit(celadon.grad(celadon.checkpoint(f)))):
        seen.clear()
        assert float(g(3.0)) == 18 and seen == [3, -1]


def test_a_loop_that_only_asks_and_acts_runs() -> None:
    seen: list[int] = []

    def f(x):
        ask = lambda _: io_callback(lambda: np.bool_(len(seen) < 3), np.bool_(0), ordered=True)  # noqa: E731
        act = lambda x: (io_callback(lambda: seen.append(1), None, ordered=True), x)[1]  # noqa: E731
        return lax.while_loop(ask, act, x)

    assert float(celadon.jit(f)(2.0)) == 2 and seen == [1, 1, 1]


# Costs


def test_the_second_call_misses_nothing() -> None:
    f = celadon.jit(lambda x: celadon.pure_callback(lambda x: np.cos(x), x, x))
    f(ROW)
    with events.watching() as seen:
        f(ROW)
    assert seen == []


def test_another_function_and_another_shape_compile_nothing() -> None:
    def adding(n: int) -> Any:
        return celadon.jit(lambda x: celadon.pure_callback(lambda x: np.asarray(x) + np.float32(n), x, x * 3))

    first, second = adding(1), adding(2)
    first(cnp.ones(3))
    with events.watching() as seen:
        assert second(cnp.ones(3)).tolist() == [5] * 3 and second(cnp.ones(5)).tolist() == [5] * 5
        assert first(cnp.ones(5)).tolist() == [4] * 5
    assert "compile" not in {event.kind for event in seen}


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_callback_dies_with_its_function(executor: str) -> None:
    class Identity:
        def __call__(self, x: Any) -> Any:
            return x

    def use() -> weakref.ref[Any]:
        callback = Identity()
        f = celadon.jit(lambda x: celadon.pure_callback(callback, x, x) * 2)
        f(cnp.ones(3))
        return weakref.ref(callback)

    with cache.executor_name(executor):
        found = use()
    gc.collect()
    assert found() is None


def test_programs_with_callbacks_run_on_the_reference_if_xla_is_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    with cache.executor_name("xla"), events.watching() as seen:
        f = celadon.jit(lambda x: lax.scan(lambda c, v: (celadon.debug.print("{}", v), (c + v, c))[1], x[0], x)[0])
        assert float(f(ROW)) == 11
    assert capsys.readouterr().out == "2.0\n3.0\n4.0\n"
    assert [event.facts["ops"] for event in seen if event.kind == "fallback"] == [["debug_callback"]]


# Calls from inside


def test_a_callback_may_call_the_program_it_is_called_from() -> None:
    @celadon.jit
    def factorial(n):
        inner = lambda n: n * celadon.pure_callback(lambda m: factorial(m - 1.0), n, n)  # noqa: E731
        return lax.cond(n <= 1, lambda n: n, inner, n)

    assert float(factorial(10.0)) == 3628800


def test_each_call_has_memory_of_its_own() -> None:
    """The outer call's intermediate values outlive the inner call, and calls of other threads."""

    @celadon.jit
    def f(n, a):
        b = a @ a + n
        below = lambda m: f(m - 1.0, cnp.ones((40, 40)))[0] if m > 1 else np.float32(1)  # noqa: E731
        return n * celadon.pure_callback(below, celadon.ShapeDtypeStruct((), "float32"), n), (b * a).sum()

    failures: list[Any] = []

    def work(k: int) -> None:
        for _ in range(20):
            product, total = f(float(k), cnp.full((40, 40), float(k)))
            expected = (40 * k * k + k) * k * 1600
            if float(product) != float(np.prod(np.arange(1.0, k + 1))) or float(total) != expected:
                failures.append((k, product, total))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(2, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


# Exceptions


class Refused(Exception):
    pass


def _refuse_at(count: int, calls: list[int]) -> Callable[[Any], Any]:
    def refuse(x: Any) -> Any:
        calls.append(1)
        if len(calls) == count:
            raise Refused("no")
        return x

    return refuse


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("where", ["call", "scan", "while", "branch", "nested"])
def test_an_exception_reaches_the_caller_with_its_traceback(where: str, executor: str) -> None:
    calls: list[int] = []
    refuse = _refuse_at(1 if where in ("call", "branch") else 3, calls)

    def ask(x):
        return celadon.pure_callback(refuse, x, x)

    def f(x):
        if where == "scan":
            return lax.scan(lambda c, _: (ask(c) + 1, None), x, None, length=500)[0]
        if where == "while":
            return lax.while_loop(lambda v: v >= 0, ask, x)
        if where == "branch":
            return lax.cond(x > 0, ask, lambda x: x, x)
        if where == "nested":
            return lax.fori_loop(0, 9, lambda i, c: lax.scan(lambda c, _: (ask(c), None), c, None, length=9)[0], x)
        return ask(x)

    with cache.executor_name(executor):
        g = celadon.jit(f)
        with pytest.raises(Refused, match="no") as caught:
            g(1.0)
        count = len(calls)
        assert count == (1 if where in ("call", "branch") else 3)  # nothing was called after it
        names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
        assert "refuse" in names
        assert any("refuse" in note and __file__ in note for note in caught.value.__notes__)
        if where != "while":
            assert np.isfinite(float(g(1.0))) and len(calls) > count  # the process, and the program, are healthy


def test_a_loop_behind_an_exception_ends() -> None:
    """What a failed call would have given decides when the loop behind it ends."""
    refuse = _refuse_at(1, [])

    def f(x):
        y = celadon.pure_callback(refuse, x, x)
        z = lax.while_loop(lambda v: v != 0, lambda v: v * 0 + y * 0 + 1, y + 1)
        return lax.scan(lambda c, _: (c + z, None), z, None, length=1_000_000)[0]

    with pytest.raises(Refused):
        celadon.jit(f)(1.0)


def test_interrupts_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(x: Any) -> Any:
        raise KeyboardInterrupt

    f = celadon.jit(lambda x: lax.scan(lambda c, _: (celadon.pure_callback(interrupt, c, c), None), x, None, length=9)[0])
    with pytest.raises(KeyboardInterrupt):
        f(1.0)


# Text


def _cos(x: Any) -> Any:
    return np.cos(x)


def _text_print(e: Engine) -> Any:
    def f(x):
        e.debug.print("x {}", x)
        e.debug.print("y {}", x.sum())
        return x * 2

    return f, (ROW,)


def _text_nested(e: Engine) -> Any:
    def inner(x):
        show(e, "x {}", x)
        return x * 2

    def f(x):
        y = e.jit(inner)(x)
        show(e, "x {}", y)
        return e.top.pure_callback(_cos, y, y)

    return f, (ROW,)


def _text_scan(e: Engine, ordered: bool = True) -> Any:
    def body(c, x):
        e.debug.print("x {}", x, ordered=ordered)
        return c + x, x

    return (lambda x: e.lax.scan(body, 0.0, x)), (ROW,)


def _text_branch(e: Engine) -> Any:
    return (lambda p, x: e.lax.cond(p, lambda x: (show(e, "x {}", x), x)[1], lambda x: x, x)), (True, ROW)


def _text_while(e: Engine) -> Any:
    return (lambda x: e.lax.while_loop(lambda x: x < 10, lambda x: (show(e, "x {}", x), x + 1)[1], x)), (1.0,)


def _ordered_pair(e: Engine) -> Any:
    io = e.experimental.io_callback
    return (lambda x: (io(_cos, x, x, ordered=True), io(_cos, None, x + 1, ordered=True))), (ROW,)


TEXTS: dict[str, Callable[[Engine], Any]] = {
    "pure": lambda e: (lambda x: e.top.pure_callback(_cos, x, x), (ROW,)),
    "several": lambda e: (lambda x, y: e.top.pure_callback(_cos, (x, y), x, y), (ROW, np.ones((2, 3), np.float32))),
    "io": lambda e: (lambda x: e.experimental.io_callback(_cos, x, x), (ROW,)),
    "io without results": lambda e: (lambda x: e.experimental.io_callback(_cos, None, x), (ROW,)),
    "io in order": _ordered_pair,
    "print": _text_print,
    "nested": _text_nested,
    "scan": _text_scan,
    "scan without order": lambda e: _text_scan(e, False),
    "branch": _text_branch,
    "while": _text_while,
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_text_is_what_jax_prints(name: str) -> None:
    texts: list[str] = []
    for engine in (OURS, JAX):
        f, args = TEXTS[name](engine)
        texts.append(engine.jit(f).lower(*args).as_text())
    ours, theirs = texts
    assert ours == theirs.replace('jax.result_info = "result', 'jax.result_info = "')
    assert xla.parse(ours) == ours
