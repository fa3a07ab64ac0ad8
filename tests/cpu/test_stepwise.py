"""Ops whose body no kernel holds run as loops on the CPU executor, in the order of the reference: same bits; and nothing else
of the vocabulary lacks a kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import celadon
from celadon import cache, compiler, errors, events, lax
from celadon.array import from_host
from celadon.compiler import lower, simplify
from celadon.cpu.stepwise import is_scalar, stepwise
from celadon.op import Op, registry as op
from celadon.program import Program, fixed
from celadon.tracing import recorded
from celadon.types import ArrayType
from tests.bits import bits
from tests.cpu.programs import cpu, floats, on_reference, traced, types_of
from tests.vocabulary.samples import samples

TABLE = np.array([3.0, -1.0, 0.5, 2.0], np.float32)
X = floats(3, 4, 5)


def body_of(function: Callable[..., Any], *types: ArrayType) -> Program:
    with recorded("body") as record:
        found = function(*[record.input(t) for t in types])
        return record.program(found if isinstance(found, list | tuple) else [found])


def scalars(*dtypes: str) -> list[ArrayType]:
    return [ArrayType((), np.dtype(dtype)) for dtype in dtypes]


def looping(x: Any, y: Any) -> Any:
    """Halved until it is small: a loop, and a branch on the order of the two."""
    total = lax.while_loop(lambda v: abs(v) > 2, lambda v: v * 0.5, x + y)
    return lax.cond(x > y, lambda: total - y, lambda: total + 1)


def reading(x: Any, y: Any) -> Any:
    """A table read at a place that is computed."""
    table = op["multiply"](op["iota"](shape=(4,), dtype=np.dtype("f4"), dimension=0), fixed(-0.75, np.dtype("f4")))
    row = op["dynamic_slice"](table, op["convert"](y, new_dtype=np.dtype("i4")), slice_sizes=(1,))
    return op["add"](x, op["reshape"](row, shape=()))


BODIES = {"loop": looping, "table": reading}
PAIR = scalars("f4", "f4")


def on_cpu(function: Callable[..., Any], *arrays: Any) -> list[Any]:
    """Through the way of a call, in which nothing may lack."""
    with events.watching() as seen, compiler.enable_checks(True):
        bound = cache.bind(traced(function, *types_of(*arrays))).bound
        found = [x.host for x in bound([from_host(np.asarray(x)) for x in arrays])]
    assert "fallback" not in {event.kind for event in seen}
    return found


def same(function: Callable[..., Any], *arrays: Any) -> None:
    assert bits(on_cpu(function, *arrays)) == bits(on_reference(function, *arrays))


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("axes", [(), (1,), (2, 0), (0, 1, 2)], ids=str)
def test_reduce(name: str, axes: tuple[int, ...]) -> None:
    body = body_of(BODIES[name], *PAIR)
    same(lambda x, start: op["reduce"](x, start, axes=axes, body=body), X, np.float32(0.5))


def test_reduce_of_pairs_and_of_nothing() -> None:
    def wins(x: Any, i: Any, y: Any, j: Any) -> Any:
        return lax.cond(y > x, lambda: (y, j), lambda: (x, i))

    body = body_of(wins, *scalars("f4", "i4", "f4", "i4"))
    index = np.arange(60, dtype=np.int32).reshape(X.shape)
    same(lambda x, i: op["reduce"](x, i, np.float32(-9), np.int32(-1), axes=(1,), body=body), X, index)
    for shape in ((3, 0), (0, 3)):
        empty = np.zeros(shape, np.float32)
        same(lambda x: op["reduce"](x, np.float32(7), axes=(1,), body=body_of(looping, *PAIR)), empty)


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize(("spread", "apart", "padding"), [
    ((1, 1, 1), (1, 1, 1), ((0, 0),) * 3),
    ((1, 2, 1), (1, 1, 2), ((0, 0), (1, 0), (2, 3))),
    ((2, 1, 3), (1, 2, 1), ((1, 1), (0, 2), (-1, -2))),
], ids=str)  # fmt: skip
def test_reduce_window(name: str, spread: Any, apart: Any, padding: Any) -> None:
    body = body_of(BODIES[name], *PAIR)
    params = {"window_dimensions": (1, 2, 2), "window_strides": (1, 1, 2), "base_dilations": spread, "window_dilations": apart}
    same(lambda x, start: op["reduce_window"](x, start, body=body, padding=padding, **params), X, np.float32(0.5))
    same(lambda x, start: op["reduce_window"](x, start, body=body, padding=padding, **params), X[:0], np.float32(0.5))


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("mode", ["drop", "clip"])
def test_scatter(name: str, mode: str) -> None:
    body = body_of(BODIES[name], *PAIR)
    indices = np.array([[1], [9], [-2], [1], [0]], np.int32)
    rows = {"update_window_dims": (0,), "inserted_window_dims": (0,), "scatter_dims_to_operand_dims": (0,)}
    same(lambda x, i, u: op["scatter"](x, i, u, body=body, mode=mode, **rows), X[0], indices, floats(3, 5, seed=1).copy())
    batched = {
        "update_window_dims": (), "inserted_window_dims": (1,), "scatter_dims_to_operand_dims": (1,),
        "operand_batching_dims": (0,), "scatter_indices_batching_dims": (0,),
    }  # fmt: skip
    places = np.array([[[0], [0], [3]], [[4], [-1], [5]], [[2], [2], [2]], [[1], [0], [1]]], np.int32)
    same(lambda x, i, u: op["scatter"](x, i, u, body=body, mode=mode, **batched), X[0], places, floats(4, 3))


def test_a_function_applied_at_places() -> None:
    def f(x: Any) -> Any:
        return celadon.lax.scatter_apply(
            x, np.array([[1], [1], [3]]), lambda v: lax.cond(v > 0, lambda: v * 2, lambda: v - 1),
            lax.ScatterDimensionNumbers((1,), (0,), (0,)), update_shape=(3, 5),
        )  # fmt: skip

    x = X[0]
    once = np.where(x > 0, x * 2, x - 1)
    twice = np.where(once > 0, once * 2, once - 1)
    assert np.array_equal(celadon.jit(f)(x), np.stack([x[0], twice[1], x[2], once[3]]))


@pytest.mark.parametrize("which", ["select", "scatter"])
def test_select_and_scatter(which: str) -> None:
    def first(x: Any, y: Any) -> Any:
        return lax.cond(x > 0, lambda: x >= y, lambda: x + 1 >= y)

    usual = {"select": body_of(lambda x, y: op["compare"](x, y, direction="GE"), *PAIR), "scatter": body_of(op["add"], *PAIR)}
    odd = {"select": body_of(first, *PAIR), "scatter": body_of(looping, *PAIR)}
    params = {**usual, which: odd[which], "window_dimensions": (2, 3), "window_strides": (1, 1), "padding": ((0, 1), (1, 1))}
    same(lambda x, source, start: op["select_and_scatter"](x, source, start, **params), X[0], floats(4, 5), np.float32(0.25))


def test_loops_inside_loops_and_what_is_seen_of_them() -> None:
    inner = body_of(looping, *PAIR)

    def outer(x: Any, y: Any) -> Any:
        pair = op["concatenate"](*(op["reshape"](v, shape=(1,)) for v in (x, y)), dimension=0)
        return op["reduce"](pair, np.float32(1), axes=(0,), body=inner)

    def step(i: Any, v: Any) -> Any:
        return v + op["reduce"](v, np.float32(0), axes=(1,), body=body_of(outer, *PAIR))[0][:, None]

    def f(x: Any) -> Any:
        return lax.fori_loop(0, 3, step, x)

    same(f, X[0])
    found: list[float] = []

    def told(x: Any, y: Any) -> Any:
        celadon.debug.callback(lambda v: found.append(float(v)), y)
        return x + y

    total = celadon.jit(lambda x: lax.reduce(x, np.float32(0), told, (0,)))(TABLE)
    celadon.effects_barrier()
    assert (float(total), found) == (4.5, TABLE.tolist())


def test_what_a_kernel_holds_is_left_alone() -> None:
    def f(x: Any) -> Any:
        return op["reduce"](x, fixed(0, x.type.dtype), axes=(0,), body=body_of(op["add"], *PAIR))

    program = simplify(lower(traced(f, *types_of(X)), cpu.native))
    assert stepwise(program) is program
    assert is_scalar(body_of(op["add"], *PAIR)) and not is_scalar(body_of(reading, *PAIR))


# --- nothing lacks


@pytest.mark.parametrize("name", sorted(op))
def test_every_op_has_a_kernel_for_every_dtype(name: str) -> None:
    """Of all programs of one op that there are samples of: all dtypes that the type rule takes, and all forms."""
    for sample in samples(name):
        program = traced(lambda *xs, s=sample: (s.mine or s.op)(*xs, **s.params), *sample.types)
        assert cpu.lacks(cpu.adapted(simplify(lower(program, cpu.native)))) == [], sample


def test_an_op_from_outside_without_a_kernel_is_an_error() -> None:
    own = Op("own_for_this_test", lambda x: x, lambda x: x + 1)
    try:
        for _ in range(2):
            with pytest.raises(errors.KernelMissing, match="own_for_this_test"):
                celadon.jit(own)(TABLE)
        with cache.executor_name("reference"):
            assert np.array_equal(celadon.jit(own)(TABLE), TABLE + 1)
    finally:
        del op["own_for_this_test"]
