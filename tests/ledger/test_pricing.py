"""Prices are measurements: each kind of argument gets its verdict from what happened, never from its name."""

import dataclasses
from pathlib import Path

import pytest

from celadon import errors
from celadon.events import Event
from celadon.ledger import against, specs, targets
from celadon.ledger.lowering import text
from celadon.ledger.measure import Interval, Plan
from celadon.ledger.pricing import FirstCall, Job, Way, _break_even as break_even, price
from celadon.ledger.sides import Celadon, Stages, stages
from celadon.ledger.verdicts import Evidence, verdict

EXAMPLES = Path(__file__).parent.parent.parent / "examples" / "scale.py"
PLAN = Plan(calls=5)


def job(name, args, statics, side=Celadon):
    loaded = targets.load(f"{EXAMPLES}:{name}", side.name)
    traced = [specs.argument(text) for text in args]
    return Job(side(loaded.function), *specs.merged(traced, [specs.static(text, loaded.module) for text in statics]))


def priced(name, args, statics):
    return price(job(name, args, statics), plan=PLAN).statics[0]


def test_a_number_is_better_traced():
    found = priced("scale_add", ["x=f32[64,64]"], ["s=2.0,3.0,4.0"])
    assert (found.traced.entries, found.static.entries) == (1, 3)
    assert found.static.executables == 1
    assert [call.stages.compile for call in found.static.first[1:]] == [0.0, 0.0]
    assert all(call.stages.trace > 0 for call in found.static.first)
    assert [call.stages.trace for call in found.traced.first[1:]] == [0.0, 0.0]
    assert found.verdict.kind == "trace it" or found.break_even is not None
    different = [row for row in found.programs if row.differs]
    assert any("%arg1 : tensor<f32>" in (row.traced or "") for row in different)
    assert any("constant dense<2.0" in (row.static or "") for row in different)
    assert [row for row in found.programs if not row.differs and "stablehlo.multiply" in (row.traced or "")]


@pytest.mark.parametrize("name", ["tiled", "filled"])
def test_what_the_shape_depends_on_stays_static_and_the_line_is_shown(name):
    static = {"tiled": "repeats=2,3", "filled": "size=4,7"}[name]
    found = priced(name, ["x=f32[8]"], [static])
    assert found.verdict.kind == "keep it static" and "shape" in found.verdict.reason
    assert found.traced is None and found.same is None and found.static.entries == 2
    assert f"({name})" in found.verdict.line
    assert found.verdict.code in EXAMPLES.read_text() and found.verdict.code.startswith("return")


def test_a_string_stays_static():
    found = priced("activated", ["x=f32[8]"], ["mode=tanh,relu"])
    assert found.verdict.kind == "keep it static" and "str" in found.verdict.reason
    assert found.static.executables == 2


def test_equal_looking_objects_need_a_key():
    found = priced("configured", ["x=f32[8]"], ["config=Config(2.0),Config(2.0),Config(2.0)"])
    assert found.verdict.kind == "key it by value" and found.static.entries == 3
    keyed = priced("configured", ["x=f32[8]"], ["config=KeyedConfig(2.0),KeyedConfig(2.0),KeyedConfig(2.0)"])
    assert keyed.static.entries == 1 and keyed.verdict.kind == "close over it"


def test_one_value_needs_no_argument():
    assert priced("normalised", ["x=f32[8]"], ["epsilon=1e-6"]).verdict.kind == "close over it"


def test_every_static_argument_is_priced():
    def f(x, a, b):
        return x * a + b

    found = price(Job(Celadon(f), {"x": 1.0}, {"a": [1.0, 2.0], "b": [3, 4]}), plan=PLAN)
    assert [static.argument for static in found.statics] == ["a", "b"]
    assert [static.static.entries for static in found.statics] == [2, 2]


def test_progress_adds_up():
    shares = []
    price(job("scale_add", ["x=f32[8]"], ["s=2.0"]), plan=PLAN, advance=shares.append)
    assert sum(shares) == pytest.approx(1.0)


def test_against_jax_in_the_same_run():
    args = ("scale_add", ["x=f32[64,64]"], ["s=2.0,3.0,4.0"])
    found = price(job(*args), job(*args, against.library("jax")), plan=PLAN).statics[0].against
    assert (found.traced.entries, found.static.entries, found.static.executables) == (1, 3, 3)
    assert all(call.stages.compile > 0 for call in found.static.first)
    assert found.ratios["static executables"] == 3.0
    assert found.ratios["static new value"] > 1.0
    assert {"traced steady call", "static steady call", "static new value: compile"} - found.ratios.keys() <= {
        "static new value: compile"
    }


def test_a_function_that_raises_is_a_clear_error():
    def f(x, n):
        raise ValueError("never")

    with pytest.raises(errors.TargetFailed, match=r"f raised ValueError: never at .*test_pricing.py"):
        price(Job(Celadon(f), {"x": 1.0}, {"n": [1]}), plan=PLAN)
    with pytest.raises(errors.TargetFailed, match="ValueError: never"):
        text(Job(Celadon(f), {"x": 1.0}, {"n": [1]}))
    def leaves(x, n):
        raise SystemExit(3)

    with pytest.raises(errors.TargetFailed, match=r"leaves raised SystemExit: 3 at .*test_pricing.py"):
        price(Job(Celadon(leaves), {"x": 1.0}, {"n": [1]}), plan=PLAN)
    with pytest.raises(errors.TargetFailed, match=r"which is no array or scalar\n"):
        price(Job(Celadon(lambda x, n: "text"), {"x": 1.0}, {"n": [1]}), plan=PLAN)


def test_stages_of_nested_traces_count_once():
    seen = [Event("trace", 1.0, 0.1, {}), Event("compile", 1.2, 0.1, {}), Event("trace", 2.0, 1.5, {}),
            Event("bind", 2.5, 0.25, {}), Event("compile", 3.0, 0.5, {})]  # fmt: skip
    assert stages(seen, 2.5) == Stages(trace=1.5, lower=0.25, compile=0.5, run=0.25)


def test_break_even_is_where_both_ways_have_cost_the_same():
    def way(steady, first):
        calls = (FirstCall("1", first, Stages(0, 0, 0, first)),)
        return Way(Interval(steady, steady * 0.99, steady * 1.01, 9), calls, 1, 1, first / steady)

    traced, static = way(2.0, 5.0), way(1.0, 11.0)
    n = break_even(traced, static)
    assert 11.0 + (n - 1) * 1.0 == pytest.approx(n * 2.0)
    assert [break_even(static, traced), break_even(static, static), break_even(None, static)] == [None] * 3


EVIDENCE = Evidence("n", 3, [], None, 1, 0.1, 0.0, 0.0, None)


@pytest.mark.parametrize(("changes", "kind"), [
    ({}, "trace it"), ({"break_even": 3.0, "gain": 0.1, "share": 0.5}, "keep it static"),
    ({"break_even": 3.0, "gain": 0.1, "share": 0.05}, "trace it"),
    ({"break_even": 900.0, "gain": 0.1, "share": 0.5}, "trace it"), ({"values": 1}, "close over it"),
    ({"identical": ["Config"]}, "key it by value"),
    ({"refused": ValueError("x")}, "keep it static"),
])  # fmt: skip
def test_verdicts(changes, kind):
    assert verdict(dataclasses.replace(EVIDENCE, **changes)).kind == kind


def test_without_static_arguments_steps_are_counted():
    found = price(Job(Celadon(lambda x: x * 2.0), {"x": 1.0}, {}), plan=PLAN)
    [steps] = found.steps
    assert (found.statics, steps.library, steps.traces, steps.compiles) == ((), "celadon", 1, 1)
    assert steps.first.total > steps.steady.median > 0
