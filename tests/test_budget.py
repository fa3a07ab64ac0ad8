"""The budget of the stages: trace, lower, simplify, lift and bind together take 0.2 ms and 50 microseconds an equation."""

import gc
import time

import numpy as np
import pytest

import celadon
import celadon.numpy as cnp
from celadon import cache, compiler, events, lax
from celadon.cpu.fuse import fuse
from celadon.cpu.plan import outlined

SLACK = 3.0  # other processes and slower machines; the shape of the curve is checked without it
COUNTS = (10, 100, 1000)


def chain(x, s, count):
    """`count` equations with literals, of several kinds of op."""
    for i in range(count // 5):
        x = cnp.sin(x * s) + float(i)
        x = cnp.maximum(x, 0.5) - x
    return x


def seconds(function, x, s, count):
    """The stages of one new static value, machine code being there: the shortest of several."""
    found = []
    for i in range(7):
        gc.collect()
        start = time.process_time()
        traced = function.trace(x, s + i, count)
        cache.bind(traced.needed)
        found.append(time.process_time() - start)
        assert len(traced.program.equations) == count
    return min(found)


@pytest.fixture(scope="module")
def costs():
    function = celadon.jit(chain, static_argnums=(1, 2))
    x = np.ones((4, 4), np.float32)
    for count in COUNTS:
        function(x, 0.25, count)
    with events.watching() as seen:
        costs = {count: seconds(function, x, 1.5, count) for count in COUNTS}
    assert not [event for event in seen if event.kind == "compile"], "a new static value compiled"
    return costs


@pytest.mark.parametrize("count", COUNTS)
def test_all_stages_keep_the_budget(costs, count):
    budget = 0.2e-3 + 50e-6 * count
    assert costs[count] < SLACK * budget, f"{costs[count] * 1e3:.2f} ms of {budget * 1e3:.2f} ms"


def test_cost_grows_no_faster_than_the_program(costs):
    assert costs[1000] < 15 * costs[100], {count: f"{1e3 * t:.2f} ms" for count, t in costs.items()}


def test_a_program_without_equations_costs_its_call_alone():
    function = celadon.jit(lambda x, s: x, static_argnums=1)
    x = cnp.ones(4)
    function(x, 0.0)
    found = []
    for i in range(1, 20):
        start = time.process_time()
        function(x, float(i))
        found.append(time.process_time() - start)
    assert min(found) < SLACK * 0.2e-3 + 0.1e-3


def scanned(state, xs):
    """A scan that carries many scalars or small arrays, and writes a row for each."""
    turned, ys = lax.scan(lambda c, x: ([cnp.sin(one) * x + one for one in c], [cnp.cos(one) for one in c]), state, xs)
    return turned, lax.scan(lambda c, rows: ([a * b for a, b in zip(c, rows, strict=True)], None), turned, ys)[0]


def outline_seconds(shape, leaves):
    state = [np.ones(shape, np.float32)] * leaves
    traced = celadon.jit(scanned).trace(state, np.ones(3, np.float32))
    lowered = compiler.simplify(compiler.lower(traced.needed, cache.executor("cpu").native))
    program = compiler.lift(lowered)[0].program
    found = []
    for _ in range(5):
        gc.collect()
        start = time.process_time()
        schedule = fuse(program)
        outlined(schedule, program, 0, 0, [0] * len(schedule.kernels))
        found.append(time.process_time() - start)
    return min(found)


@pytest.mark.parametrize("shape", [(), (3,)])
def test_steps_of_a_loop_cost_no_more_each_where_it_carries_more(shape):
    few, many = outline_seconds(shape, 50), outline_seconds(shape, 400)
    assert many < 15 * few, f"{few * 1e3:.1f} ms, {many * 1e3:.1f} ms"
