"""The text of whole programs, as it was looked at once; --update writes it anew."""

from __future__ import annotations

import re
from pathlib import Path

import jax
import pytest

import celadon
import celadon.numpy
from celadon.xla import parse
from tests.text.programs import programs

FOLDER = Path(__file__).parent
OURS = programs(celadon)


@pytest.mark.parametrize("name", OURS)
def test_text(name: str, request: pytest.FixtureRequest) -> None:
    function, arguments = OURS[name]
    text = function.lower(*arguments).as_text()
    golden = FOLDER / f"{name}.mlir"
    if request.config.getoption("--update"):
        golden.write_text(text)
    assert text == golden.read_text()
    assert re.sub(r"__elided___\d+", "__elided__", parse(text)) == text  # MLIR numbers what one context reads twice


@pytest.mark.parametrize("name", sorted(OURS.keys() - {"large_capture"}))
def test_goldens_are_what_jax_prints(name: str) -> None:
    function, arguments = programs(jax)[name]
    text = function.lower(*arguments).as_text().replace('jax.result_info = "result', 'jax.result_info = "')
    assert text == (FOLDER / f"{name}.mlir").read_text()


def test_no_golden_is_left_over() -> None:
    assert {path.stem for path in FOLDER.glob("*.mlir")} == OURS.keys()
