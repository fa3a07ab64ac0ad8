"""Programs that nobody here wrote, where a folder of them is named, and what the runner makes of those that go wrong."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.stablehlo import outcomes, run
from tests.stablehlo.outcomes import AGREED, CRASHED, FAILED, PASSED, UNREADABLE, outcome
from tests.stablehlo.sources import Case, cases, files
from tests.stablehlo.statements import program

FOLDER = os.environ.get("CELADON_STABLEHLO_DATA", "")
OFF = {"cosh_float32_20_20_chlo", "sinh_float32_20_20_chlo"}  # what they expect is up to 7 units off; Celadon is within 1
GIVEN = pytest.mark.skipif(not FOLDER, reason="CELADON_STABLEHLO_DATA names no folder of StableHLO programs")


def _sample() -> list[Case]:
    """The first program of each family that is meant to be run."""
    found: dict[str, Case] = {}
    for path in files(Path(FOLDER)) if FOLDER else []:
        if "RUN-DISABLED" not in path.read_text() and path.parent.name not in ("dynamic", "quantized") and path.stem not in OFF:
            for case in cases(path)[:1]:
                found.setdefault(case.family, case)
    return list(found.values())


@GIVEN
@pytest.mark.parametrize("case", _sample(), ids=lambda case: case.name)
def test_a_program_of_each_family(case: Case) -> None:
    found = outcome(case)
    assert found.word == PASSED, found.reason


def test_a_wrong_claim_fails() -> None:
    x = np.array([1.0, 2.0])
    found = outcome(Case("wrong", program("stablehlo.negate", [x], [x])))
    assert found.word == FAILED and "2 of 2 differ" in found.reason


@pytest.mark.parametrize(("word", "off", "passes"), [("close", 2e-16, True), ("close", 1e-12, False), ("almost_eq", 9e-4, True),
                                                     ("almost_eq", 2e-3, False), ("eq", 2e-16, False)])  # fmt: skip
def test_how_near_results_must_be(word: str, off: float, passes: bool) -> None:
    x = np.array([0.75, np.nan, np.inf])
    found = outcome(Case("near", program("stablehlo.negate", [-x], [x + off], word=f"expect_{word}")))
    assert (found.word == PASSED) is passes


@pytest.mark.parametrize(("text", "reason"), [
    ('%0 = "stablehlo.no_such_op"() : () -> tensor<2xi32>', "parser"),
    ("%0 = stablehlo.constant dense<1> : tensor<2xi4>\n%1 = stablehlo.popcnt %0 : tensor<2xi4>", "popcnt on dtype i4"),
    ("%0 = stablehlo.constant dense<1.0> : tensor<f8E5M2>\n%1 = stablehlo.add %0, %0 : tensor<f8E5M2>", "add on dtype f8E5M2"),
    ("%0 = stablehlo.custom_call @other() : () -> tensor<2xi32>", "custom_call @other"),
    ("%0 = stablehlo.constant dense<1> : tensor<2xi32>", "no check in it"),
])  # fmt: skip
def test_what_can_not_be_read_says_why(text: str, reason: str) -> None:
    found = outcome(Case("unreadable", f"func.func @main() {{\n{text}\nreturn\n}}"))
    assert found.word == UNREADABLE and reason in found.reason


def test_a_program_of_arguments_is_run_with_drawn_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    text = """func.func @main(%n: tensor<i64>, %x: tensor<?x3xf32>, %y: tensor<5x3xf32>) -> tensor<?x3xf32> {
      %a = stablehlo.reshape %n : (tensor<i64>) -> tensor<1xi64>
      %b = stablehlo.constant dense<3> : tensor<1xi64>
      %s = stablehlo.concatenate %a, %b, dim = 0 : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
      %d = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [0, 1] : (tensor<?x3xf32>, tensor<2xi64>) -> tensor<?x3xf32>
      %z = stablehlo.add %d, %y : (tensor<?x3xf32>, tensor<5x3xf32>) -> tensor<?x3xf32>
      return %z : tensor<?x3xf32>
    }"""
    assert outcome(Case("dynamic", text)).word == AGREED
    monkeypatch.setattr(outcomes, "evaluate", lambda program, arrays: [np.zeros((5, 3), np.float32)])
    assert outcome(Case("dynamic", text)).word == FAILED


def test_xla_decides_the_same_claims() -> None:
    x = np.array([1.0, 2.0], np.float32)
    right, wrong = (program("stablehlo.negate", [x], [y]) for y in (-x, x))
    assert [outcome(Case("one", text), "xla").word for text in (right, wrong)] == [PASSED, FAILED]


def test_a_file_of_several_programs(tmp_path: Path) -> None:
    one = program("stablehlo.negate", [np.float32(1)], [np.float32(-1)])
    (tmp_path / "negate.mlir").write_text(f"{one}\n// -----\n{one.replace('negate', 'abs')}")
    found = list(run.findings(files(tmp_path), "cpu"))
    assert [(each["name"], each["family"], each["word"]) for each in found] == [
        ("negate/0", "negate", PASSED), ("negate/1", "negate", FAILED)
    ]  # fmt: skip
    assert run.table(found).row_count == 2


def test_the_run_goes_on_after_a_process_that_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = {name: {"name": name, "family": "f", "word": PASSED, "reason": ""} for name in "ac"}
    a, b, c = ({"start": name, "family": "f"} for name in "abc")
    left = [[a, lines["a"], b], [c, lines["c"]]]
    asked: list[set[str]] = []

    def process(paths: Any, executor: str, known: set[str]) -> Iterator[Any]:
        asked.append(set(known))
        yield from left.pop(0)

    monkeypatch.setattr(run, "_process", process)
    words = [(each["name"], each["word"]) for each in run.findings([Path("a.mlir")], "cpu")]
    assert words == [("a", PASSED), ("b", CRASHED), ("c", PASSED)]
    assert asked == [set(), {"a", "b"}]
