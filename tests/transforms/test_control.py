"""Loops and branches under JAX's names: values, dtypes and weakness as JAX has them, forms of calls, errors, traces."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import celadon
from celadon import compiler, errors, events, lax, numpy as cnp

Case = Callable[[Any, Any], Any]  # of lax and numpy, ours or JAX's
X, M = np.linspace(-1, 1, 3, dtype=np.float32), np.arange(12, dtype=np.float32).reshape(4, 3) / 10


class State(NamedTuple):
    count: Any
    value: Any


CASES: dict[str, Case] = {
    "cond": lambda lax, np_: lax.cond(True, lambda x: x + 1, lambda x: x - 1, 2.0),
    "cond of a number": lambda lax, np_: [lax.cond(p, lambda: 1, lambda: 2) for p in (0, 3, 0.0, -0.5, np.int8(4))],
    "cond with operand=": lambda lax, np_: lax.cond(False, lambda x: x["a"], lambda x: -x["a"], operand={"a": X}),
    "cond of five": lambda lax, np_: [lax.cond(p, 3.0, lambda x: x + 1, 4.0, lambda x: x * 10) for p in (True, False)],
    "cond of trees": lambda lax, np_: lax.cond(True, lambda s: State(s[0], (s[1],)), lambda s: State(s[1], (s[0],)), (1, 2)),
    "cond weak": lambda lax, np_: [
        lax.cond(True, lambda: 1.0, lambda: np_.float32(2)), lax.cond(True, lambda: np_.float32(2), lambda: 1.0)
    ],
    "cond without operands": lambda lax, np_: lax.cond(np_.sum(X) > 0, lambda: X, lambda: X * 2),
    "switch": lambda lax, np_: [lax.switch(i, [lambda x: x, lambda x: x * 10, lambda x: -x], 2) for i in (-5, 0, 1, 2, 9)],
    "switch of one": lambda lax, np_: lax.switch(7, [lambda x: x * 3], np_.float32(2)),
    "switch of uint8": lambda lax, np_: lax.switch(np_.uint8(1), [lambda: 0, lambda: 1]),
    "while": lambda lax, np_: lax.while_loop(lambda v: v < 100, lambda v: v * 2, 3),
    "while of a tree": lambda lax, np_: lax.while_loop(
        lambda s: s.count < 3, lambda s: State(s.count + 1, {"x": s.value["x"] * 2.0}), State(0, {"x": X})
    ),
    "while that never runs": lambda lax, np_: lax.while_loop(lambda v: v[0] > 5, lambda v: (v[0], v[1] + 1), (1, 2.0)),
    "while weak to strong": lambda lax, np_: lax.while_loop(lambda v: v < 3, lambda v: v + np_.float32(1), 0.0),
    "while weak to narrow": lambda lax, np_: lax.while_loop(
        lambda v: v[0] < 3, lambda v: (v[0] + 1, v[1] * np_.float16(2)), (0, 1.0)
    ),
    "fori": lambda lax, np_: lax.fori_loop(0, 4, lambda i, v: v + i, 0),
    "fori of typed bounds": lambda lax, np_: lax.fori_loop(np_.int8(1), np_.int8(4), lambda i, v: v * i, np_.int8(1)),
    "fori weak and typed": lambda lax, np_: lax.fori_loop(0, np_.int32(3), lambda i, v: v + i, 0),
    "fori backwards": lambda lax, np_: lax.fori_loop(5, 3, lambda i, v: v + 1, 0),
    "fori unrolled": lambda lax, np_: lax.fori_loop(0, 5, lambda i, v: v * 2 + i, 1.0, unroll=2),
    "scan": lambda lax, np_: lax.scan(lambda c, x: (c + x, c), 0.0, X),
    "scan reversed": lambda lax, np_: lax.scan(lambda c, x: (c + x, c * x), 0.0, X, reverse=True),
    "scan of trees": lambda lax, np_: lax.scan(
        lambda c, x: ({"s": c["s"] + x["m"].sum(), "n": c["n"] + 1}, (x["m"] * 2, [c["n"]])), {"s": 0.0, "n": 0}, {"m": M}
    ),
    "scan of nothing": lambda lax, np_: lax.scan(lambda c, _: (c * 2, c), 1, None, length=5),
    "scan without results": lambda lax, np_: lax.scan(lambda c, x: (c + x, None), 0, np.int32([1, 2])),
    "scan without carry": lambda lax, np_: lax.scan(lambda c, x: (c, x * 2), None, X),
    "scan that changes nothing": lambda lax, np_: lax.scan(lambda c, x: (c, x), (1.0, X), M),
    "scan of length 0": lambda lax, np_: lax.scan(lambda c, x: (c + x, c * np_.ones(2)), 0.0, np.zeros(0, np.float32)),
    "scan to a fixpoint": lambda lax, np_: lax.scan(
        lambda c, x: ([c[1] * 2, c[2] + 1, c[2] + x], None), [np_.float16(0), np_.float16(0), 0.0], np.ones(3, np.float16)
    ),
    "scan unrolled": lambda lax, np_: [
        lax.scan(lambda c, x: (c * 2 + x, c), 1.0, M[:, 0], reverse=reverse, unroll=unroll)
        for reverse in (False, True) for unroll in (0, 1, 2, 3, 4, 7, True, False)
    ],
    "scan that permutes": lambda lax, np_: lax.scan(lambda c, x: ((c[1], c[2], c[0] + x), c[0]), (1.0, 2.0, 3.0), X),
    "scan in a scan": lambda lax, np_: lax.scan(lambda c, row: lax.scan(lambda d, x: (d + x, d), c, row), 0.0, M),
    "cond in a scan": lambda lax, np_: lax.scan(lambda c, x: (lax.cond(x > 0, lambda: c + 1, lambda: c * x), c), 1.0, X),
    "while in a cond": lambda lax, np_: lax.cond(
        True, lambda x: lax.while_loop(lambda v: v.sum() < 9, lambda v: v + 1, x), lambda x: x, X
    ),
    "captured arrays": lambda lax, np_: lax.scan(lambda c, x: (c @ M.T[:3, :3] + x, c), np_.zeros(3), M),
    "map": lambda lax, np_: lax.map(lambda x: x * x, X),
    "map of trees": lambda lax, np_: lax.map(lambda d: (d["x"].sum(), d["n"]), {"x": M, "n": np.int32([1, 2, 3, 4])}),
    "map of nothing": lambda lax, np_: lax.map(lambda x: x * x, np.zeros(0, np.float32)),
    "map in batches": lambda lax, np_: [lax.map(lambda x: x.sum() * x, M, batch_size=n) for n in (0, 1, 3, 4, 9)],
    "associative_scan": lambda lax, np_: [lax.associative_scan(np_.add, np_.arange(n)) for n in (1, 2, 3, 7, 8)],
    "associative_scan of a tree": lambda lax, np_: lax.associative_scan(
        lambda a, b: {"p": a["p"] * b["p"], "s": a["s"] * b["p"] + b["s"]}, {"p": M, "s": M + 1}, reverse=True, axis=1
    ),
    "associative_scan of booleans": lambda lax, np_: lax.associative_scan(np_.logical_and, np.array([True, True, False])),
}  # fmt: skip


def compared(ours: Any, theirs: Any) -> None:
    theirs = jax.tree.map(jnp.asarray, theirs)  # what a loop does not change comes back from JAX as it was given
    assert jax.tree.structure(theirs) == jax.tree.structure(celadon.tree.map(np.asarray, ours))
    for x, y in zip(celadon.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        assert (x.shape, x.dtype, x.weak_type) == (y.shape, y.dtype, y.weak_type)
        np.testing.assert_allclose(np.asarray(x, np.float64), np.asarray(y, np.float64), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_as_jax(name: str) -> None:
    case = CASES[name]
    theirs = case(jax.lax, jnp)
    compared(case(lax, cnp), theirs)
    compared(celadon.jit(lambda: case(lax, cnp))(), jax.jit(lambda: case(jax.lax, jnp))())


LIKE_PYTHON = sorted(set(CASES) - {
    "scan of length 0", "map of nothing", "scan to a fixpoint", "while weak to strong", "while weak to narrow", "cond weak",
})  # fmt: skip


@pytest.mark.parametrize("name", LIKE_PYTHON)
def test_without_jit_they_are_python(name: str) -> None:
    with celadon.disable_jit():
        found = celadon.tree.leaves(CASES[name](lax, cnp))
    for x, y in zip(found, jax.tree.leaves(CASES[name](jax.lax, jnp)), strict=True):
        np.testing.assert_allclose(np.asarray(x, np.float64), np.asarray(y, np.float64), rtol=1e-5, atol=1e-6)


def test_without_jit_bodies_see_numbers() -> None:
    seen: list[int] = []

    def body(c: Any, x: Any) -> Any:
        seen.append(int(x))
        return (c + x if x > 1 else c), c

    with celadon.disable_jit():
        assert int(lax.scan(body, 0, np.int32([1, 2, 3]))[0]) == 5
        assert int(lax.while_loop(lambda c: bool(c < 5), lambda c: c + 1, 0)) == 5
        assert lax.cond(True, lambda: "text", lambda: 1 / 0) == "text"
    assert seen == [1, 2, 3]


def test_weak_values_settle_however_many_passes_it_takes() -> None:
    """JAX takes one pass and then complains."""

    def step(c: Any, x: Any) -> Any:
        return [c[1] * 2, c[2] + 1, c[2] + x], None

    carry, _ = lax.scan(step, [0.0, 0.0, 0.0], cnp.ones(3, "float16"))
    assert [(str(x.dtype), float(x)) for x in carry] == [("float16", 4.0), ("float16", 3.0), ("float16", 3.0)]
    carry = lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[2] * 2, c[2] + cnp.float16(1)), (0, 0.0, 0.0))
    assert [str(x.dtype) for x in carry] == ["int32", "float16", "float16"]


# Errors


def caught(error: type[errors.CeladonError], thunk: Callable[[], Any]) -> str:
    with pytest.raises(error) as found:
        thunk()
    return str(found.value)


def test_a_carried_value_that_changes_is_named_by_its_path() -> None:
    def step(state: Any, x: Any) -> Any:
        return {"a": (state["a"][0], state["a"][1].astype("float32")), "b": state["b"]}, None

    start = {"a": (1.0, np.int32(2)), "b": cnp.ones((2, 2))}
    message = caught(errors.CarryTypeChanges, lambda: lax.scan(step, start, None, length=3))
    assert "state['a'][1]" in message and "i32[]" in message and "f32[]" in message and "step" in message
    message = caught(
        errors.CarryTypeChanges, lambda: lax.while_loop(lambda v: v[0] < 3, lambda v: (v[0] + 1, v[1][:1]), (0, cnp.ones(3)))
    )
    assert "v[1]" in message and "f32[3]" in message and "f32[1]" in message
    assert "f32[3]" in caught(errors.CarryTypeChanges, lambda: lax.fori_loop(0, 3, lambda i, v: cnp.ones(3), 0.0))


def test_a_carried_tree_that_changes_is_told_where() -> None:
    message = caught(errors.CarryTreeChanges, lambda: lax.scan(lambda c, x: ({"a": (1, 2)}, None), {"a": [1, 2]}, None, length=1))
    assert "['a']" in message and "list" in message and "tuple" in message
    assert "c[1]" in caught(errors.CarryTreeChanges, lambda: lax.while_loop(lambda c: True, lambda c: (c[0], None), (1, 2)))


def test_branches_that_differ_are_told_where() -> None:
    message = caught(
        errors.BranchTypesDiffer, lambda: lax.cond(True, lambda: {"x": cnp.ones(2)}, lambda: {"x": cnp.ones(2, "int32")})
    )
    assert "true_fun" in message and "false_fun" in message and "['x']" in message and "f32[2]" in message and "i32[2]" in message
    message = caught(errors.BranchTreesDiffer, lambda: lax.switch(0, [lambda: (1, 2), lambda: (1, 2), lambda: (1, (2,))]))
    assert "branches[2]" in message and "[1]" in message


def test_lengths_that_differ_are_named_by_path() -> None:
    xs = {"a": cnp.ones(3), "b": [cnp.ones((4, 2))]}
    message = caught(errors.ScanLengthsDiffer, lambda: lax.scan(lambda c, x: (c, x), 0, xs))
    assert "xs['a']" in message and "xs['b'][0]" in message and "3" in message and "4" in message
    message = caught(errors.ScanLengthsDiffer, lambda: lax.scan(lambda c, x: (c, x), 0, cnp.ones(3), length=5))
    assert "length" in message and "5" in message
    assert "xs['b']" in caught(errors.ScanNoAxis, lambda: lax.scan(lambda c, x: (c, x), 0, {"a": cnp.ones(2), "b": 1.0}))


@pytest.mark.parametrize(
    ("error", "thunk"),
    [
        (errors.PredicateNotScalar, lambda: lax.cond(None, lambda: 1, lambda: 2)),
        (errors.PredicateNotScalar, lambda: lax.cond("yes", lambda: 1, lambda: 2)),
        (errors.PredicateNotScalar, lambda: lax.cond([True], lambda: 1, lambda: 2)),
        (errors.PredicateNotScalar, lambda: lax.cond(1j, lambda: 1, lambda: 2)),
        (errors.PredicateNotScalar, lambda: lax.switch(1.5, [lambda: 1, lambda: 2])),
        (errors.PredicateNotScalar, lambda: lax.switch(np.int32([1]), [lambda: 1, lambda: 2])),
        (errors.ConditionNotBoolean, lambda: lax.while_loop(lambda c: (c < 1, c), lambda c: c, 0)),
        (errors.ConditionNotBoolean, lambda: lax.while_loop(lambda c: c < np.ones(2), lambda c: c, 0.0)),
        (errors.BodyNotCallable, lambda: lax.scan(1, 0, np.ones(2))),
        (errors.BodyNotCallable, lambda: lax.switch(0, [lambda: 1, 2])),
        (errors.ScanResultNotPair, lambda: lax.scan(lambda c, x: (c, x, x), 0, np.ones(2))),
        (errors.LoopBoundsDiffer, lambda: lax.fori_loop(np.ones(2), np.ones(2), lambda i, v: v, 0)),
        (errors.ResultNotArray, lambda: lax.cond(True, lambda: "a", lambda: "b")),
    ],
)
def test_what_can_not_be(error: type[errors.CeladonError], thunk: Callable[[], Any]) -> None:
    caught(error, thunk)


def test_a_traced_length_is_an_error_that_concretization_errors_catch() -> None:
    run = celadon.jit(lambda n: lax.scan(lambda c, _: (c, None), 0, None, length=n)[0])
    with pytest.raises(celadon.errors.ConcretizationTypeError, match="length"):
        run(3)


def test_a_condition_on_a_carried_value_names_it() -> None:
    def step(total: Any, x: Any) -> Any:
        return (total + x if x["rows"] > 0 else total), None

    with pytest.raises(errors.TracerBoolConversionError, match=r"x\['rows'\]"):
        lax.scan(step, 0.0, {"rows": cnp.ones(3)})


# Traces and compiles


def count(thunk: Callable[[], Any]) -> int:
    with events.watching() as seen:
        thunk()
    return sum(event.kind == "compile" for event in seen)


def test_a_function_is_traced_once_for_its_types() -> None:
    traces: list[Any] = []

    def step(c: Any, x: Any) -> Any:
        traces.append(x.dtype)
        return c + x, c

    for k in range(5):
        lax.scan(step, cnp.float32(k), cnp.ones(4 + k))
    assert len(traces) == 1
    lax.scan(step, cnp.int32(1), cnp.ones(4, "int32"))
    assert len(traces) == 2
    first = lax.fori_loop(0, 3, lambda i, v: v + i, 0)
    assert int(first) == 3


def test_traces_die_with_their_functions() -> None:
    def made() -> Any:
        held = cnp.ones(3)

        def step(c: Any, x: Any) -> Any:
            return c + held, None

        lax.scan(step, cnp.zeros(3), cnp.ones(2))
        return weakref.ref(step)

    reference = made()
    gc.collect()
    assert reference() is None


def test_what_a_closure_holds_is_seen_anew() -> None:
    results = []
    for value in (1.0, 2.0):
        results.append(float(lax.fori_loop(0, 3, lambda i, c, value=value: c + value, 0.0)))
    assert results == [3.0, 6.0]


@pytest.mark.parametrize(
    "run",
    [
        lambda n: lax.fori_loop(0, n, lambda i, c: cnp.sin(c) * 1.5 + i, 1.0),
        lambda n: lax.scan(lambda c, x: (c * n + x, c - n), 0.0, cnp.ones(4)),
        lambda n: lax.scan(lambda c, x: (c * 2 + x, c), cnp.zeros(n), cnp.ones((n + 1, n))),
        lambda n: lax.cond(n % 2 == 0, lambda x: x * n, lambda x: x + n, 2.0),
        lambda n: lax.switch(n % 3, [lambda x: x * n, lambda x: x + n, lambda x: x], 2.0),
        lambda n: lax.while_loop(lambda c: c < n, lambda c: c + n, 0),
        lambda n: lax.scan(lambda c, x: (c * np.full(5, n, "f") + x, c), cnp.zeros(5), cnp.ones((4, 5))),
        lambda n: lax.map(lambda x: lax.fori_loop(0, n, lambda i, c: c * 1.5 + n, x), cnp.ones(n)),
    ],
)
def test_numbers_in_bodies_and_lengths_cost_no_compile(run: Callable[[int], Any]) -> None:
    run(2)
    assert count(lambda: [run(n) for n in range(3, 43)]) == 0


def test_a_static_trip_count_costs_a_trace_and_no_compile() -> None:
    run = celadon.jit(lambda x, n: lax.fori_loop(0, n, lambda i, c: c * 2.0 + i, x), static_argnums=1)
    run(1.0, 2)
    assert count(lambda: [run(1.0, n) for n in range(3, 23)]) == 0


def test_structures_have_one_digest_in_every_process() -> None:
    def digest() -> str:
        program = celadon.jit(lambda x: lax.scan(lambda c, y: (lax.cond(y > 0, lambda: c, lambda: c * 2.0), c), 0.0, x)).trace(X)
        return compiler.lift(compiler.simplify(compiler.lower(program.program)))[0].digest

    assert digest() == digest()
    assert "Program" not in repr(compiler.lift(compiler.simplify(compiler.lower(
        celadon.jit(lambda x: lax.fori_loop(0, 3, lambda i, c: c * 2.0, x)).trace(X).program, frozenset({"scan"})
    )))[0].key)  # fmt: skip


def simplified(function: Callable[..., Any], *arguments: Any) -> Any:
    traced = celadon.jit(function).trace(*arguments)
    return compiler.simplify(compiler.lower(traced.needed, frozenset({"scan"})))


def ops_of(program: Any) -> list[str]:
    return [equation.op.name for equation in program.equations]


def test_what_no_step_changes_is_computed_ahead_of_the_loop() -> None:
    def f(w: Any, xs: Any) -> Any:
        return lax.scan(lambda c, x: ((cnp.exp(w) @ c + cnp.sin(w.T).sum(0)) * x, None), cnp.ones(3), xs)[0]

    program = simplified(f, cnp.ones((3, 3)), cnp.ones(5))
    [loop] = [equation for equation in program.equations if equation.op.name == "scan"]
    assert {"exponential", "sine", "reduce_sum"} <= set(ops_of(program))
    assert sorted(ops_of(loop.params["body"])) == ["add", "dot_general", "multiply"]
    w, xs = M[:3], X
    theirs = jax.lax.scan(lambda c, x: ((jnp.exp(w) @ c + jnp.sin(w.T).sum(0)) * x, None), jnp.ones(3), xs)[0]
    np.testing.assert_allclose(np.asarray(celadon.jit(f)(w, xs)), np.asarray(theirs), rtol=1e-5)


def test_out_of_nested_loops_and_of_conditions_too_but_nothing_that_grows() -> None:
    def f(w: Any, v: Any) -> Any:
        def outer(c: Any) -> Any:
            return lax.fori_loop(0, 3, lambda i, d: d + cnp.sin(w) + cnp.exp(cnp.broadcast_to(v[0], (8,))), c)

        return lax.while_loop(lambda c: c.sum() < cnp.exp(w).sum(), outer, w)

    program = simplified(f, cnp.ones(8), cnp.ones(2))
    [loop] = [equation for equation in program.equations if equation.op.name == "while_loop"]
    assert "sine" in ops_of(program) and "exponential" in ops_of(program)
    assert ops_of(loop.params["condition"]) == ["reduce_sum", "compare"]
    [inner] = [equation for equation in loop.params["body"].equations if equation.op.name == "scan"]
    assert "sine" not in ops_of(inner.params["body"]) and "broadcast_in_dim" in ops_of(inner.params["body"])
