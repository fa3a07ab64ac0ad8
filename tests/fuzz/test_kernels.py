"""The fuzzer of kernels knows every op, sees what it should see, and finds nothing wrong in a few cases of each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from celadon.op import Op, registry
from tests.fuzz import generators, judge, running, trees
from tests.fuzz.workers import Worker

SEEDS = (1_000_000,)


def test_every_op_has_a_generator() -> None:
    without = {name for name in registry if generators.maker(name) is None}
    assert without == generators.WITHOUT_MEANING


@pytest.mark.parametrize("name", generators.NAMES)
def test_a_few_cases_of_each_op(name: str) -> None:
    for seed in SEEDS:
        with running.quiet():
            root = generators.case(seed, name)
        said = running.trouble(root)
        assert not said, running.report(root, said)


def _node(rule: Any) -> trees.Node:
    """A call of an op whose kernels are those of `negate`, and whose meaning in NumPy is a rule."""
    negate = registry["negate"]
    op = Op("negate_for_this_test", negate.result_type, rule, kind="elementwise", exact=True, expand=negate)
    del registry[op.name]
    return trees.Node(op.name, op, [trees.leaf_of(np.arange(5, dtype=np.float32))], types=[negate.result_type(*trees.leaf_of(
        np.zeros(5, np.float32)).types)])  # fmt: skip


def test_it_sees_results_that_differ_in_jit() -> None:
    """Outside of jit an exact op is its NumPy rule; inside it is what its kernel makes."""
    assert "differs from the bits outside of jit" in running.trouble(_node(lambda x: -x + 1))
    assert running.trouble(_node(lambda x: -x)) == ""


def test_it_sees_one_wrong_element() -> None:
    with running.quiet():
        root = generators.case(3, "tanh")
        operands = [leaf.given for leaf in trees.leaves(root)] if len(trees.nodes(root)) == 1 else None
        root = root if operands else trees.Node("tanh", registry["tanh"], [trees.leaf_of(np.linspace(-3, 3, 50))])
        operands = [leaf.given for leaf in trees.leaves(root)]
        right = root.reference(operands)
        off = [np.array(right[0])]
        off[0].flat[7] *= 1.0001
    assert judge.wrong(root, operands, right, right) == ""
    assert "result 0 at" in judge.wrong(root, operands, off, right)


def test_a_program_that_is_shown_runs_alone(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("add", "gather", "scan", "scatter", "dot_general"):
        with running.quiet():
            root = generators.case(5, name)
        exec(trees.shown(root), {})
        assert capsys.readouterr().out


def test_a_worker_answers_and_says_when_it_ends() -> None:
    worker = Worker()
    try:
        answer = worker.ask({"seed": 1, "op": "add"})
        assert (answer["said"], answer["op"]) == ("", "add")
        assert worker.process is not None
        worker.process.kill()
        worker.process.wait()
        assert worker.ask({"seed": 1, "op": "add"})["said"] == "the process ends with -9"
        assert worker.ask({"seed": 1, "op": "add"})["said"] == ""
    finally:
        worker.close()
