"""The rule of plan for loops of scalars: rounds, places of what stays and is carried, and how arrays go from round to round."""

from __future__ import annotations

from celadon.cpu.plan import Planner, rules
from celadon.cpu.recipe import Launch, Moved
from celadon.cpu.tables import STEP

_NODE = 1.0  # nanoseconds: each waits for the one before it
_TRIPS = 100.0  # of a loop that counts as it runs
_LONG = 1e6  # nanoseconds: a loop of unknown length lets other threads run


def _rounds(planner: Planner, launch: Launch) -> None:
    kernel = planner.outline.schedule.kernels[launch.kernel]
    assert isinstance(kernel, Moved)
    still, carries, _, *bodies = kernel.facts
    params = planner.equations[launch.equation].params
    counted = len(bodies) == 1
    length, reverse = (params["length"], params["reverse"]) if counted else (0, False)
    at, words = planner.here, [length] if counted else []
    scalars = still + carries

    def add(number: int, walks: bool) -> None:
        cell, offset = planner.operand(number, (), "", at)
        stride = planner.place(number).strides[0] if walks else 0
        first = (length - 1) * stride if reverse else 0
        words.extend([cell, offset + first, *([-stride if reverse else stride] if walks else [])])

    for k, number in enumerate(launch.reads):
        add(number, k >= scalars)
    for k, number in enumerate(launch.writes):
        add(number, k >= carries)
    rounds = length if counted else _TRIPS
    nanoseconds = rounds * _NODE * sum(len(body.nodes) for body in bodies) + (0 if counted else _LONG)
    planner.step(launch.kernel, words, 1, 1, nanoseconds + STEP)


rules["rounds"] = _rounds
