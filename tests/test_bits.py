"""Bits are equal on any number of threads, with lifting on and off, from a cold and a warm cache, outside and inside of jit,
at the first and at later calls: of every op, and of every program of the benchmarks.

Where both sides are machine code of ours every byte counts, those of NaN too; outside of jit exact ops are NumPy's, which makes
other NaN.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from celadon import cache, enable_x64
from celadon.cpu import threads
from tests.bits import bits
from tests.everything import Whole, benchmarks, digest, ops, raw

ROOT = Path(__file__).parent.parent


def _wide() -> ExitStack:
    """64-bit dtypes, and no words about what overflows."""
    found = ExitStack()
    found.enter_context(enable_x64(True))
    found.enter_context(np.errstate(all="ignore"))
    found.enter_context(warnings.catch_warnings())
    warnings.simplefilter("ignore")
    return found


with _wide():
    OPS = list(ops())
BENCHMARKS = list(benchmarks())


def _assert_equal_bits(one: Whole) -> None:
    call = one.jitted()
    first = call()
    wanted = raw(first)
    assert bits(one.eager()) == bits(first), "outside of jit"
    for turn in ("second", "third"):
        assert raw(call()) == wanted, f"the {turn} call"
    with cache.lifting(False):
        assert raw(call()) == wanted, "lifting off"
    for count in (1, 2, 3):
        threads.set_threads(count)
        try:
            assert raw(call()) == wanted, f"on {count} threads"
        finally:
            threads.set_threads(None)


@pytest.mark.parametrize("one", OPS, ids=[one.name for one in OPS])
def test_an_op_has_the_same_bits_however_it_runs(one: Whole) -> None:
    with _wide():
        _assert_equal_bits(one)


@pytest.mark.parametrize("one", BENCHMARKS, ids=[one.name for one in BENCHMARKS])
def test_a_program_has_the_same_bits_however_it_runs(one: Whole) -> None:
    _assert_equal_bits(one)


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """What two new processes say, one after the other, with one cache folder."""
    environment = {**os.environ, "CELADON_CACHE_DIR": str(tmp_path_factory.mktemp("cold"))}
    command = [sys.executable, "-m", "tests.everything"]
    said = [subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True) for _ in range(2)]
    assert [one.returncode for one in said] == [0, 0], said[0].stderr + said[1].stderr
    yield json.loads(said[0].stdout), json.loads(said[1].stdout)


def test_the_second_process_compiles_nothing(processes: tuple[dict[str, Any], dict[str, Any]]) -> None:
    cold, warm = processes
    assert cold["compiled"] > 200
    assert warm["compiled"] == 0


def test_bits_are_equal_from_a_cold_and_a_warm_cache(processes: tuple[dict[str, Any], dict[str, Any]]) -> None:
    cold, warm = (one["digests"] for one in processes)
    assert cold.keys() == warm.keys() == {one.name for one in (*OPS, *BENCHMARKS)}
    assert [name for name in cold if cold[name] != warm[name]] == []


def test_bits_are_equal_in_this_process_and_another(processes: tuple[dict[str, Any], dict[str, Any]]) -> None:
    with _wide():
        here = {one.name: digest(one.jitted()()) for one in OPS}
    here |= {one.name: digest(one.jitted()()) for one in BENCHMARKS}
    there = processes[0]["digests"]
    assert [name for name in here if here[name] != there[name]] == []
