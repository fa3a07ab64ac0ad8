"""Functions of ops made into programs, run on the CPU executor and compared with the reference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from celadon.array import from_host
from celadon.compiler import EVERYTHING, Numbers, Structure, lift, lower, simplify
from celadon.cpu.executor import CPU, Executable
from celadon.op import registry
from celadon.program import Program, literal
from celadon.reference import evaluate
from celadon.tracing import recorded
from celadon.types import ArrayType, float32, kind

cpu = CPU()
op = registry
_LAST_PLACES = {"float16": 2.0**-9, "bfloat16": 2.0**-6, "float32": 2.0**-20, "complex64": 2.0**-19}


def traced(function: Callable[..., Any], *types: ArrayType) -> Program:
    with recorded("tested") as record:
        found = function(*[record.input(t) for t in types])
        return record.program(found if isinstance(found, list | tuple) else [found])


def lifted(
    function: Callable[..., Any], types: Sequence[ArrayType], what: frozenset[str] = EVERYTHING
) -> tuple[Structure, Numbers]:
    return lift(simplify(lower(traced(function, *types), cpu.native)), what)


def types_of(*arrays: Any) -> list[ArrayType]:
    return [ArrayType(x.shape, x.dtype) for x in arrays]


def on_cpu(
    function: Callable[..., Any], *arrays: Any, what: frozenset[str] = EVERYTHING, executable: Executable | None = None
) -> list[Any]:
    structure, numbers = lifted(function, types_of(*arrays), what)
    found = executable or cpu.compile(structure)
    return [x.host for x in found.bind(structure, numbers)([from_host(np.asarray(x)) for x in arrays])]


def on_reference(function: Callable[..., Any], *arrays: Any) -> list[Any]:
    return [np.asarray(x) for x in evaluate(traced(function, *types_of(*arrays)), arrays)]


def agrees(function: Callable[..., Any], *arrays: Any) -> None:
    """The CPU's results are the reference's, to a few units in the last place where they are inexact."""
    with np.errstate(all="ignore"):
        for found, wanted in zip(on_cpu(function, *arrays), on_reference(function, *arrays), strict=True):
            assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
            assert near(found, wanted), (found, wanted)


def near(found: Any, wanted: Any) -> bool:
    if kind(wanted.dtype) not in "fc":
        return bool(np.array_equal(found, wanted))
    wide = np.complex128 if wanted.dtype.kind == "c" else np.float64
    step = _LAST_PLACES.get(wanted.dtype.name, 2.0**-46)
    finite = np.abs(wanted[np.isfinite(wanted)].astype(wide))
    scale = step * max(float(finite.max(initial=0)), 1e-3)
    return bool(np.allclose(found.astype(wide), wanted.astype(wide), rtol=8 * step, atol=scale, equal_nan=True))


def floats(*shape: int, seed: int = 0) -> Any:
    return np.asarray(np.random.default_rng([seed, *shape]).standard_normal(shape), np.float32)


def number(value: float) -> Any:
    return literal(value, float32)
