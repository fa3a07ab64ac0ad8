"""The two sides of every comparison, Celadon and JAX: the same functions on each, timed alternately in one process or in
alternating fresh processes; other benchmarks import this."""

from __future__ import annotations

import compileall
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

ENVIRONMENT = {"XLA_FLAGS": "--xla_cpu_experimental_ynn_fusion_type=", "JAX_PLATFORMS": "cpu"}


def load(name: str) -> tuple[Any, Any]:
    """(package, its numpy) of "celadon" or "jax"."""
    os.environ.update(ENVIRONMENT)
    if name == "jax":
        import jax
        import jax.numpy

        return jax, jax.numpy
    import celadon
    import celadon.numpy

    return celadon, celadon.numpy


def alternate(*calls: Callable[[], float], rounds: int = 15, at_once: int = 1) -> list[float]:
    """Medians of measurements (each returns seconds) made in turn, `at_once` of one side before the other's next."""
    seconds: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds):
        for k, call in enumerate(calls):
            seconds[k] += [call() for _ in range(at_once)]
    return [statistics.median(s) for s in seconds]


def timed(run: Callable[[], Any], repeat: int = 1) -> float:
    """Seconds of one run, averaged over `repeat`."""
    start = time.perf_counter()
    for _ in range(repeat):
        run()
    return (time.perf_counter() - start) / repeat


def in_fresh_process(code: str, **environment: str) -> dict[str, float]:
    """Run a script that prints one JSON object, with an empty disk cache unless one is given; adds "process" seconds."""
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, **ENVIRONMENT, "CELADON_CACHE_DIR": folder, **environment}
        start = time.perf_counter()
        done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
        seconds = time.perf_counter() - start
    return {**json.loads(done.stdout or "{}"), "process": seconds}


def alternate_processes(codes: dict[str, str], rounds: int = 7) -> dict[str, dict[str, float]]:
    """Medians of every figure of each script, run in fresh processes in turn."""
    compiled_to_bytecode()
    seen: dict[str, list[dict[str, float]]] = {name: [] for name in codes}
    for _ in range(rounds):
        for name, code in codes.items():
            seen[name].append(in_fresh_process(code))
    return {name: {key: statistics.median(r[key] for r in runs) for key in runs[0]} for name, runs in seen.items()}


def compiled_to_bytecode() -> None:
    """Compile Celadon's modules to bytecode, as an installation does it, and as JAX's are."""
    compileall.compile_dir(os.path.dirname(load("celadon")[0].__file__), quiet=1)
