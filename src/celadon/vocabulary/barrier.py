"""optimization_barrier: the identity on several values that no stage looks through, so nothing is shared across it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from celadon.op import Axis, Op
from celadon.program import Equation
from celadon.types import ArrayType


def _type(*types: ArrayType) -> list[ArrayType]:
    return list(types)


def _numpy(*arrays: Any) -> list[Any]:
    return list(arrays)



def _tangent(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Tangents pass a barrier of their own."""
    moving = [t for t in tangents if t is not None]
    found = iter(optimization_barrier(*moving))
    return optimization_barrier(*primals), [None if t is None else next(found) for t in tangents]


def _transpose(cts: Sequence[Any], operands: Sequence[Any]) -> list[Any]:
    given = [ct for ct in cts if ct is not None]
    found = iter(optimization_barrier(*given))
    return [None if ct is None else next(found) for ct in cts]


def _batch(batch: Any, axes: Sequence[Any], values: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    return optimization_barrier(*values), list(axes)


def _unite(equation: Equation) -> list[tuple[Axis, Axis]]:
    count = len(equation.inputs)
    return [((k, i), (count + k, i)) for k, x in enumerate(equation.inputs) for i in range(x.type.ndim)]


optimization_barrier = Op(
    "optimization_barrier", _type, _numpy, tangent=_tangent, transpose=_transpose, batch=_batch, unite=_unite, multiple=True,
    exact=True, kind="barrier",
)  # fmt: skip
