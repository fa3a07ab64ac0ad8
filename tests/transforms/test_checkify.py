"""checkify beside JAX's: what fails, where, with which values, and that results are the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import celadon
import celadon.numpy as cnp
from celadon import cache, errors, lax
from celadon.experimental import checkify
from tests.transforms.engines import JAX, OURS, Engine, numbers

ROW = np.float32([1, 2, 3])
Program = Callable[[Engine, Any], Any]


def essence(message: str | None) -> list[str]:
    """What a message says, in the words of neither: a line each."""
    return [_line(line) for line in message.split("\n")] if message else []


def _line(line: str) -> str:
    line = re.sub(r" \(at .*\)$| \(`check` failed\)$", "", line)
    if "nan" in line.lower():
        return "nan"
    index = re.search(r"index (-?\d+) is out of bounds for axis (\d+) with size (\d+)", line)
    return f"index {index.groups()}" if index else line


def outcome(engine: Engine, program: Program, eager: bool) -> Any:
    error, result = program(engine, (lambda f: f) if eager else engine.jit)
    return essence(error.get()), np.testing.assert_array_equal, numbers(result)


def same(x: Any, y: Any) -> bool:
    """Whether numbers agree, NaN with NaN."""
    return np.array_equal(np.asarray(x, float), np.asarray(y, float), equal_nan=True)


def one(f: Callable[[Engine], Any], *args: Any, errors: str = "all_checks") -> Program:
    """A checked function of arguments."""
    return lambda e, j: e.checkify.checkify(j(f(e)), errors=getattr(e.checkify, errors))(*[own(e, x) for x in args])


def own(e: Engine, x: Any) -> Any:
    """An array of the engine's."""
    return x if isinstance(x, bool) else e.np.asarray(x)


def positive(e: Engine) -> Any:
    def f(x):
        e.checkify.check(x > 0, "must be positive, not {x}", x=x)
        return x + 1

    return f


def _three(e: Engine) -> Any:
    def f(x):
        e.checkify.check(x > 0, "first {}", x)
        e.checkify.check(x > 1, "second {}", x)
        e.checkify.check(x > 5, "third")
        return x

    return f


def _scan(e: Engine) -> Any:
    def body(c, v):
        e.checkify.check(v < 2.5, "v is {v} c is {c}", v=v, c=c)
        return c / (v - 5), c

    return lambda x: e.lax.scan(body, own(e, np.float32(1)), x)[0]


def _branch(e: Engine) -> Any:
    def yes(x):
        e.checkify.check(x > 0, "yes {}", x)
        return x

    def no(x):
        e.checkify.check(x < 0, "no {} {}", x, x)
        return x * 2

    return lambda p, x: e.lax.cond(p, yes, no, x)


def _loop(e: Engine) -> Any:
    def test(x):
        e.checkify.check(x < 10, "test {}", x)
        return x < 20

    def body(x):
        e.checkify.check(x < 15, "body {}", x)
        return x * 2

    return lambda x: e.lax.while_loop(test, body, x)


def _loop_body(e: Engine) -> Any:
    return lambda x: e.lax.while_loop(
        lambda x: x < 20, lambda x: (e.checkify.check(x < 15, "body {}", x), x * 2)[1], x
    )  # fmt: skip


def _counted(e: Engine) -> Any:
    return lambda x: e.lax.fori_loop(0, 5, lambda i, c: (e.checkify.check(i < 3, "i {}", i), c + 1)[1], x)


def _tangent_rule(e: Engine) -> Any:
    f = e.top.custom_jvp(positive(e))
    f.defjvp(lambda primals, tangents: (primals[0] + 1, tangents[0] * 5))
    return f


def _cotangent_rule(e: Engine) -> Any:
    f = e.top.custom_vjp(positive(e))
    f.defvjp(lambda x: (x, x), lambda x, ct: (ct * 7,))
    return f


def _differentiated_outside(make: Callable[[Engine], Any]) -> Program:
    def program(e: Engine, j: Any) -> Any:
        f = e.checkify.checkify(j(make(e)))
        return f(own(e, LOW))[0], e.top.grad(lambda x: f(x)[1])(own(e, LOW))

    return program


def _tree(e: Engine) -> Any:
    return lambda x: (e.checkify.check(x > 0, "{d[0]} {}", {"a": x}, d=[x, x]), {"k": x})[1]


def _again(e: Engine) -> Any:
    def f(x):
        error, out = e.jit(e.checkify.checkify(positive(e)))(x)
        e.checkify.check_error(error)
        return out

    return f


LOW, HIGH = np.float32(-2), np.float32(2)
BOTH = np.float32([1, -1, -2, 3])
PROGRAMS: dict[str, Program] = {
    "nothing": one(lambda e: lambda x: e.np.sin(x) / x, ROW),
    "nan": one(lambda e: lambda x: e.np.sin(x) + 1, np.float32(np.inf)),
    "nan of a logarithm": one(lambda e: lambda x: e.np.log(x), -ROW),
    "nan comes in": one(lambda e: lambda x: x * 2, np.float32(np.nan)),
    "nan only moves": one(lambda e: lambda x: e.np.where(x > 0, x, -x), np.float32(np.nan)),
    "nan not asked for": one(lambda e: lambda x: e.np.log(x), -ROW, errors="div_checks"),
    "nan of a sum": one(lambda e: lambda x: x.sum(), np.float32([np.inf, -np.inf])),
    "zero divisor": one(lambda e: lambda x, y: x / y, ROW, np.float32([1, 0, 2])),
    "zero divisor of an integer": one(lambda e: lambda x, y: e.lax.div(x, y), np.int32(3), np.int32(0)),
    "zero divisor and nan": one(lambda e: lambda x: x / x, np.float32(0)),
    "nan before zero divisor": one(lambda e: lambda x: x / x, np.float32(0), errors="nan_checks"),
    "index": one(lambda e: lambda x, i: x[i], ROW, np.int32(5)),
    "index from the end": one(lambda e: lambda x, i: x[i], ROW, np.int32(-3)),
    "index before the start": one(lambda e: lambda x, i: x[i], ROW, np.int32(-5)),
    "indices": one(lambda e: lambda x, i: x[i], ROW, np.int32([0, 1, 7, 9])),
    "second index": one(lambda e: lambda x, i, k: x[i, k], np.ones((3, 4), np.float32), np.int32(1), np.int32(4)),
    "index not asked for": one(lambda e: lambda x, i: x[i], ROW, np.int32(5), errors="float_checks"),
    "take": one(lambda e: lambda x, i: e.np.take(x, i), ROW, np.int32(5)),
    "set": one(lambda e: lambda x, i: x.at[i].set(0), ROW, np.int32(5)),
    "add": one(lambda e: lambda x, i: x.at[i].add(1), ROW, np.int32([0, -9])),
    "slice": one(lambda e: lambda x, i: e.lax.dynamic_slice(x, (i,), (2,)), ROW, np.int32(2)),
    "update": one(lambda e: lambda x, i: e.lax.dynamic_update_slice(x, x[:2], (i,)), ROW, np.int32(2)),
    "slice inside": one(lambda e: lambda x, i: e.lax.dynamic_slice(x, (i,), (2,)), ROW, np.int32(1)),
    "check": one(positive, LOW, errors="user_checks"),
    "check holds": one(positive, HIGH),
    "check not asked for": one(positive, LOW, errors="nan_checks"),
    "check within nothing else": lambda e, j: e.checkify.checkify(j(positive(e)))(own(e, LOW)),
    "jit outside": lambda e, j: e.jit(e.checkify.checkify(j(positive(e))))(own(e, LOW)),
    "first of three": one(_three, np.float32(-1)),
    "second of three": one(_three, np.float32(0.5)),
    "third of three": one(_three, np.float32(1.5)),
    "none of three": one(_three, np.float32(9)),
    "batch": lambda e, j: e.checkify.checkify(j(e.top.vmap(positive(e))))(own(e, BOTH)),
    "batch outside": lambda e, j: e.top.vmap(e.checkify.checkify(j(positive(e))))(own(e, BOTH)),
    "batch outside holds": lambda e, j: e.top.vmap(e.checkify.checkify(j(positive(e))))(own(e, ROW)),
    "batch of batches": lambda e, j: e.top.vmap(e.top.vmap(e.checkify.checkify(j(positive(e)))))(own(e, BOTH.reshape(2, 2))),
    "scan": one(_scan, ROW, errors="user_checks"),
    "scan of a batch": lambda e, j: e.top.vmap(e.checkify.checkify(j(_scan(e))))(own(e, np.stack([ROW, ROW - 1]))),
    "yes": one(_branch, True, LOW),
    "no": one(_branch, False, HIGH),
    "no holds": one(_branch, False, LOW),
    "loop": one(_loop, np.float32(1)),
    "loop at once": one(_loop, np.float32(30)),
    "loop body": one(_loop_body, np.float32(1)),
    "counted": one(_counted, np.float32(1)),
    "gradient": one(lambda e: e.top.grad(lambda x: (e.checkify.check(x < 0, "x {}", x), x * x)[1]), HIGH),
    "gradient of a root": one(lambda e: e.top.grad(lambda x: e.np.sqrt(x)), np.float32(0)),
    "tangent": lambda e, j: e.top.jvp(lambda x: e.checkify.checkify(j(positive(e)))(x), (own(e, LOW),), (own(e, HIGH),))[0],
    "checkpoint": one(lambda e: e.top.checkpoint(positive(e)), LOW),
    "checkpoint gradient": one(lambda e: e.top.grad(e.top.checkpoint(positive(e))), LOW),
    "tangent rule": one(_tangent_rule, LOW),
    "tangent rule gradient": one(lambda e: e.top.grad(_tangent_rule(e)), LOW),
    "cotangent rule": one(_cotangent_rule, LOW),
    "cotangent rule gradient": one(lambda e: e.top.grad(_cotangent_rule(e)), LOW),
    "debug": one(lambda e: lambda x: (e.checkify.debug_check(x > 0, "x {}", x), x)[1], LOW),
    "tree": one(_tree, LOW),
    "thrown again": one(_again, LOW),
    "inside another": one(lambda e: lambda x: e.checkify.checkify(positive(e))(x)[1], LOW),
}


@pytest.mark.parametrize("eager", [True, False])
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_fails_is_what_fails_in_jax(name: str, eager: bool) -> None:
    message, _, result = outcome(OURS, PROGRAMS[name], eager)
    expected, _, theirs = outcome(JAX, PROGRAMS[name], eager)
    assert message == expected
    ours, theirs = celadon.tree.leaves(result), celadon.tree.leaves(theirs)
    assert same(ours, theirs)


@pytest.mark.parametrize("make", [_tangent_rule, _cotangent_rule])
def test_a_checked_function_keeps_its_rule(make: Any) -> None:
    """JAX fails inside of itself here once the function is jitted."""
    for eager in (True, False):
        message, _, result = outcome(OURS, _differentiated_outside(make), eager)
        assert message == ["must be positive, not -2.0"]
        assert result == (5.0 if make is _tangent_rule else 7.0)


def test_the_first_failure_in_time_is_reported() -> None:
    """JAX reports the check that stands first in the program, which failed a step later."""

    def body(c, v):
        checkify.check(v < 2.5, "v is {}", v)
        return c / (v - 2), c

    for wrap in (lambda f: f, celadon.jit):
        error, _ = checkify.checkify(wrap(lambda x: lax.scan(body, np.float32(1), x)[0]), errors=checkify.all_checks)(ROW)
        assert error.get().startswith("division by zero (at ") and __file__ in error.get()


def test_a_message_names_the_line() -> None:
    error, _ = checkify.checkify(celadon.jit(lambda x: cnp.log(x)), errors=checkify.nan_checks)(-1.0)
    line = test_a_message_names_the_line.__code__.co_firstlineno + 1
    assert f"{__file__}:{line} " in error.get() and "log" in error.get()


def test_python_may_branch_on_what_is_concrete() -> None:
    def f(x):
        checkify.check(x > 0, "no")
        return 1 if x > 5 else 2

    assert checkify.checkify(f)(cnp.float32(9))[1] == 1


def test_an_error_is_a_tree_that_travels() -> None:
    checked = celadon.jit(checkify.checkify(lambda x: (checkify.check(x > 0, "x {}", x), x)[1]))
    error, _ = checked(-1.0)
    same_error = celadon.jit(lambda error: error)(error)
    assert same_error.get() == error.get() and celadon.tree.structure(error) == celadon.tree.structure(same_error)
    rows = celadon.vmap(checked)(BOTH)[0]
    assert celadon.tree.map(lambda x: x[1], rows).get().startswith("x -1.0")
    with pytest.raises(errors.CheckFailed, match=r"x -2\.0"):
        checkify.check_error(rows)
    checkify.check_error(celadon.tree.map(lambda x: x[:1], rows))
    checkify.check_error(checkify.init_error)


def test_a_checked_function_is_traced_and_compiled_once() -> None:
    count: list[int] = []

    def f(x):
        count.append(1)
        checkify.check(x > 0, "no")
        return x

    checked = celadon.jit(checkify.checkify(f))
    assert [checked(x)[0].get() is None for x in (1.0, -1.0, 2.0)] == [True, False, True]
    assert len(count) == 1


def test_exceptions_have_the_class_of_their_checks() -> None:
    found = {}
    for f, arg in ((lambda x: cnp.log(x), -1.0), (lambda x: 1 / x, 0.0), (lambda x: cnp.arange(3.0)[cnp.int32(x)], 7.0)):
        error, _ = checkify.checkify(f, errors=checkify.automatic_checks)(cnp.float32(arg))
        found[type(error.get_exception())] = error
    assert list(found) == [checkify.NaNError, checkify.DivisionByZeroError, checkify.OOBError]
    error, _ = checkify.checkify(lambda: checkify.check(False, "no"))()
    assert type(error.get_exception()) is checkify.FailedCheckError
    with pytest.raises(checkify.JaxRuntimeError) as caught:
        error.throw()
    assert type(caught.value.__cause__) is checkify.FailedCheckError and isinstance(caught.value, ValueError)
    assert str(error).startswith("Error(no (at ")


@pytest.mark.parametrize("wrap", [celadon.vmap, celadon.grad, lambda f: f])
def test_outside_of_checkify_a_check_raises(wrap: Any) -> None:
    f = wrap(lambda x: (checkify.check(x > 0, "x is {}", x), x)[1])
    good, bad = (cnp.ones(2), -cnp.ones(2)) if wrap is celadon.vmap else (cnp.float32(1), cnp.float32(-1))
    f(good)
    with pytest.raises(checkify.JaxRuntimeError, match=r"x is -1\.0"):
        f(bad)


@pytest.mark.parametrize("executor", ["cpu", "reference"])
def test_a_program_refuses_checks_but_not_debug_checks(executor: str) -> None:
    with cache.executor_name(executor):
        assert float(celadon.jit(lambda x: (checkify.debug_check(x > 0, "no"), x)[1])(-1.0)) == -1
        for f in (
            celadon.jit(lambda x: (checkify.check(x > 0, "no"), x)[1]),
            lambda x: lax.fori_loop(0, 2, lambda i, c: (checkify.check(c > 0, "no"), c)[1], x),
        ):
            with pytest.raises(errors.CheckNotFunctionalized, match=re.escape(__file__)):
                f(1.0)
