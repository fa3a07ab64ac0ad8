"""The ops that are calls of LAPACK, and exchanges of rows, by name; how they are done is loaded with the first of them."""

from __future__ import annotations

from typing import Any

from celadon.cpu import fuse, plan
from celadon.facade import Lazy

_calls: Any = Lazy("celadon.cpu.library_calls")
NATIVE = ("laswp", "lu_pivots_to_permutation", "ormqr")
"""Macro ops that run as they are."""
_ROUTINES = (
    "potrf", "getrf", "geqrf", "geqp3", "orgqr", "ormqr", "syevd", "gesdd", "geev", "gees", "gehrd", "sytrd", "gtsv",
    "triangular_solve",
)  # fmt: skip


def _routine(fusion: fuse.Fusion, index: int) -> None:
    _calls.routine(fusion, index)


def _laswp(fusion: fuse.Fusion, index: int) -> None:
    _calls.laswp(fusion, index)


def _permutation(fusion: fuse.Fusion, index: int) -> None:
    _calls.permutation(fusion, index)


fuse.rules.update(dict.fromkeys(_ROUTINES, _routine), laswp=_laswp, lu_pivots_to_permutation=_permutation)
plan.rules.update(
    routine=lambda planner, launch: _calls.plan_routine(planner, launch),
    exchange=lambda planner, launch: _calls.plan_exchange(planner, launch),
)
