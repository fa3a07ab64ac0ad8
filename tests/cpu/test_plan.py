"""Plans and bound calls: memory between steps, results and their aliases, frames, threads, numbers of each program."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import celadon.vocabulary  # noqa: F401
from celadon import errors
from celadon.array import from_host
from celadon.cpu.plan import Arena, planned, unit_of
from tests.cpu.programs import cpu, floats, lifted, number, on_cpu, op, types_of


def bound(function: Any, *arrays: Any) -> Any:
    structure, numbers = lifted(function, types_of(*arrays))
    return cpu.compile(structure).bind(structure, numbers)


def test_the_arena_gives_room_again() -> None:
    arena = Arena()
    first, second = arena.take(1, 100), arena.take(2, 10)
    assert (first, second, arena.size) == (0, 128, 192)
    arena.free(1)
    assert arena.take(3, 128) == 0
    arena.free(2)
    arena.free(3)
    assert arena.take(4, 192) == 0 and arena.size == 192


def test_the_arena_joins_and_grows_what_is_free() -> None:
    arena = Arena()
    for k in range(3):
        arena.take(k, 64)
    arena.free(2)
    assert arena.take(3, 256) == 128 and arena.size == 384
    arena.free(0)
    arena.free(1)
    assert arena.take(4, 128) == 0


def test_lifetimes_that_meet_do_not_share_memory() -> None:
    def chained(x: Any) -> Any:
        kept = x
        for _ in range(12):
            total = op["multiply"](op["reduce_sum"](op["exponential"](kept), axes=(0,)), number(0.1))
            kept = op["multiply"](kept, op["broadcast_in_dim"](total, shape=x.type.shape, broadcast_dimensions=(1,)))
            kept = op["transpose"](op["sine"](op["transpose"](kept, permutation=(1, 0))), permutation=(1, 0))
        return kept

    x = floats(9, 13)
    wanted = x.astype(np.float64)
    for _ in range(12):
        wanted = np.sin(wanted * np.exp(wanted).sum(0) * 0.1)
    np.testing.assert_allclose(on_cpu(chained, x)[0], wanted, rtol=1e-3, atol=1e-3)
    structure, _ = lifted(chained, types_of(x))
    assert planned(cpu.compile(structure).outline, structure.program).arena <= 4 * 512


def test_results_may_be_inputs_and_each_other() -> None:
    x = floats(2, 3)
    given = from_host(x)
    negated = bound(lambda x: [x, op["negate"](x), x, op["reshape"](x, shape=(3, 2)), number(2.0)], x)
    a, b, c, d, e = negated([given])
    assert a.block is given.block and c.block is given.block and d.block is given.block
    assert d.shape == (3, 2) and e.item() == 2.0 and (b.host == -x).all()
    twice = bound(lambda x: [op["negate"](x)] * 2, x)([given])
    assert twice[0].block is twice[1].block


def test_a_program_without_work_makes_no_call() -> None:
    x = from_host(floats(4))
    assert bound(lambda x: [x], x.host)([x])[0].block is x.block


def test_captured_arrays_and_scalars_belong_to_the_program() -> None:
    held = [from_host(floats(3, seed=k)) for k in range(2)]
    x = floats(3, seed=5)
    programs = [lambda x, k=k: op["multiply"](op["add"](x, held[k]), number(k + 2.0)) for k in range(2)]
    pairs = [lifted(program, types_of(x)) for program in programs]
    assert pairs[0][0] == pairs[1][0]
    executable = cpu.compile(pairs[0][0])
    calls = [executable.bind(*pair) for pair in pairs]
    for k, call in enumerate(calls):
        np.testing.assert_array_equal(call([from_host(x)])[0].host, (x + held[k].host) * np.float32(k + 2.0))


def test_a_deleted_array_is_refused_and_the_function_goes_on() -> None:
    call = bound(lambda x: op["negate"](x), floats(4))
    gone = from_host(floats(4))
    gone.delete()
    with pytest.raises(errors.ArrayDeleted):
        call([gone])
    assert (call([from_host(floats(4))])[0].host == -floats(4)).all()


def test_results_are_new_memory_each_call() -> None:
    call, x = bound(lambda x: op["negate"](x), floats(4)), from_host(floats(4))
    first = call([x])[0]
    before = first.host.copy()
    second = call([from_host(floats(4, seed=1))])[0]
    assert first.block is not second.block and (first.host == before).all()


def test_calls_from_many_threads() -> None:
    def function(x: Any) -> Any:
        total = op["reduce_sum"](op["sine"](x), axes=(1,))
        return op["dot_general"](x, total, dimension_numbers=(((0,), (0,)), ((), ())))

    inputs = [from_host(floats(200, 200, seed=k)) for k in range(8)]
    call = bound(function, inputs[0].host)
    wanted = [call([x])[0].host.copy() for x in inputs]
    failures: list[int] = []

    def work(k: int) -> None:
        for _ in range(30):
            if not np.array_equal(call([inputs[k]])[0].host, wanted[k]):
                failures.append(k)

    workers = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not failures


def test_large_arenas_are_taken_from_the_pool_for_each_call() -> None:
    def function(x: Any) -> Any:
        waves = op["sine"](x)
        total = op["reduce_sum"](waves, axes=(0,))
        spread = op["broadcast_in_dim"](total, shape=x.type.shape, broadcast_dimensions=(1,))
        return op["tanh"](op["add"](waves, spread))

    x = floats(600, 600)
    np.testing.assert_allclose(on_cpu(function, x)[0], np.tanh(np.sin(x) + np.sin(x).sum(0)), rtol=1e-3, atol=1e-4)


def test_pieces_depend_on_extents_alone() -> None:
    assert unit_of(1000, 10.0) == 1000
    assert unit_of(1000, 1e9) == 16
    assert unit_of(1000, 1e9, 64) == 64


def test_a_kernel_is_compiled_once_for_all_programs() -> None:
    def flat(x: Any) -> Any:
        return op["subtract"](op["multiply"](x, number(0.125)), op["multiply"](x, x))

    first, _ = lifted(flat, types_of(floats(4)))
    kept = cpu.compile(first)
    second, _ = lifted(flat, types_of(floats(2, 3)))
    assert first != second
    assert cpu.compile(second).compiled == 0
    assert kept.kernels == 1 and kept.nbytes > 0
