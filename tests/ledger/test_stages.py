"""Where time goes: parts add up to calls, what bounds a step follows from what was measured, and the machine is measured once."""

import dataclasses
import os
import time

import numpy as np
import pytest

import celadon
import celadon.numpy as cnp
from celadon import cache, errors, lax
from celadon.cpu import store
from celadon.events import Event
from celadon.ledger import charts, machine
from celadon.ledger.first_call import STAGES, first_call, parts
from celadon.ledger.measure import Plan
from celadon.ledger.pricing import Job
from celadon.ledger.sides import Celadon
from celadon.ledger.steady_call import steady_call

PLAN = Plan(calls=7, passes=1)
X = np.random.default_rng(0).normal(size=(64, 64)).astype(np.float32)


def job(function, statics=None, **traced):
    return Job(Celadon(function), traced, statics or {})


def scanned(x):
    return lax.scan(lambda c, row: (cnp.tanh(c + row) @ x, c.sum()), x[0], x)


def test_a_first_call_is_the_sum_of_its_parts():
    found = first_call(job(lambda x, s: cnp.tanh(x) * s, {"s": [2.0, 3.0]}, x=X), PLAN)
    assert sum(part.seconds for part in found.parts) == pytest.approx(found.seconds, rel=1e-6)
    names = [part.name for part in found.parts]
    assert names == [name for name in ("call", *STAGES, "first run") if name in names]
    assert {"trace", "simplify", "lift", "fuse", "emit", "LLVM", "link", "plan", "bind", "first run"} <= set(names)
    spent = {part.name: part.seconds for part in found.parts}
    assert spent["LLVM"] > spent["lift"]


def test_a_cold_start_ends_when_all_is_written(monkeypatch):
    plain = store._save_all
    monkeypatch.setattr(store, "_save_all", lambda entries: (time.sleep(0.2), plain(entries)))
    with Celadon(abs).cold():
        folder = store.folder()
        celadon.jit(lambda x: cnp.tanh(x) * 2.0)(X)
    store.settle()
    assert not os.path.exists(folder)


def test_what_runs_inside_a_trace_is_the_traces():
    seen = [
        Event("stage", 1.5, 0.1, {"stage": "fuse"}), Event("bind", 1.7, 0.1), Event("trace", 2.0, 1.0),
        Event("stage", 3.0, 0.5, {"stage": "fuse"}), Event("bind", 4.0, 0.1), Event("stage", 5.0, 0.5, {"stage": "fuse"}),
    ]  # fmt: skip
    found = {part.name: part.seconds for part in parts(seen, 0.5, 6.0)}
    assert found == {"call": 2.0, "trace": 1.0, "fuse": 0.5, "first run": 2.0}


def test_steps_of_a_steady_call():
    found = steady_call(job(scanned, x=X), PLAN)
    top = [step for step in found.steps if not step.depth]
    assert found.rest == pytest.approx(found.steady.median - sum(step.seconds for step in top))
    (loop,) = [step for step in top if step.bound == "steps"]
    inner = [step for step in found.steps if step.depth == 1]
    assert {step.runs for step in inner} == {64} and loop.runs == 1
    assert loop.flops == sum(step.flops for step in inner) > 64 * 2 * 64 * 64
    assert sum(step.seconds for step in inner) <= 1.1 * loop.seconds
    assert all("test_stages.py" in line for step in found.steps for line in step.sources)
    assert all(step.share == pytest.approx(step.seconds / found.steady.median) for step in found.steps)
    assert {rate.level for rate in found.machine} <= {"L2", "L3", "memory"}


def test_a_python_function_is_bound_by_python():
    found = steady_call(job(lambda x: celadon.pure_callback(lambda a: np.asarray(a), x, x) + 1.0, x=X), PLAN)
    (call,) = [step for step in found.steps if step.kernel < 0]
    assert call.bound == "Python" and call.what == "python" and call.calls == "<lambda>"


def test_a_large_product_is_bound_by_arithmetic_and_a_copy_by_memory():
    product = np.ones((500, 500), np.float32)
    found = max(steady_call(job(lambda x: x @ x, x=product), PLAN).steps, key=lambda step: step.seconds)
    assert found.calls == "cblas_sgemm" and found.rate > 3 * found.bandwidth
    large = np.ones((4000, 2000), np.float32)
    found = max(steady_call(job(lambda x: x + 1.0, x=large), PLAN).steps, key=lambda step: step.seconds)
    assert found.bandwidth > 3 * found.rate and found.read == 32_000_004 and found.written == 32_000_000


def test_typed_keys_trees_and_unused_arguments():
    def drawn(key, tree, unused):
        return celadon.random.normal(key, (100,)) + tree["a"]

    found = steady_call(job(drawn, key=celadon.random.key(0), tree={"a": np.ones(100, np.float32)}, unused=X), PLAN)
    assert found.steps and found.steady.calls == 7


def test_only_the_cpu_executor_has_steps():
    with cache.executor_name("reference"), pytest.raises(errors.StageAbsent):
        steady_call(job(lambda x: x + 1.0, x=X), PLAN)


def test_what_the_function_raises_is_the_targets():
    def fails(x):
        raise ValueError("no")

    for measured in (first_call, steady_call):
        with pytest.raises(errors.TargetFailed, match="no"):
            measured(job(fails, x=X), PLAN)


def test_the_machine():
    sizes = machine.caches()
    assert 0 < sizes["L1"] < sizes["L2"] < sizes["L3"]
    assert machine.level_of(sizes["L2"]) == "L2" and machine.level_of(sizes["L2"] + 1) == "L3"
    assert machine.level_of(sizes["L2"] + 1, 2) == "L2" and machine.level_of(sizes["L3"] + 1, 2) == "memory"
    assert 1e8 < machine.bandwidth("L2", 1) < 1e13 and 1e8 < machine.peak(1, False) < 1e13
    assert 1e8 < machine.peak(1, True) < 1e13
    assert machine.rates("L2", 1, False) == machine.Rates("L2", 1, "f32", machine.bandwidth("L2", 1), machine.peak(1, False))


def test_tables_show_what_takes_long_and_tell_of_the_rest():
    found = steady_call(job(scanned, x=X), PLAN)
    step = found.steps[0]
    steps = tuple(dataclasses.replace(step, path=str(k), share=share, depth=0) for k, share in enumerate((0.9, 0.005, 0.005)))
    shown = dataclasses.replace(found, steps=steps, rest=0.1 * found.steady.median)
    rows = charts.steady_rows(shown)
    assert [row[0] for row in rows] == ["step", "0", ""] and "90 % #########" in rows[1][5] and "10 % #" in rows[2][5]
    assert charts.facts(shown)[0].startswith("2 steps below 1 %") and len({len(row) for row in rows}) == 1


def test_row_kernels_are_counted_pass_by_pass():
    found = steady_call(job(lambda x: celadon.nn.softmax(x, axis=-1), x=X), PLAN)
    [step] = found.steps
    assert step.flops > 64 * 64 * 10  # an exponential alone takes more
