"""A schedule's steps in; out, which stacks of a scan lie row beside row in one block, because nothing but scans reads them.

The residuals of a gradient are such stacks. A step of the scan that makes them then writes one piece of memory after the
other, and a step of the scan that goes back reads them so, which processors foresee; of a hundred arrays they do not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from celadon.cpu.recipe import Alias, Free, Nested, Step


def interleaved(steps: Sequence[Step], dtypes: Sequence[str], apart: Collection[int]) -> tuple[tuple[int, ...], ...]:
    """Groups of stacks of one scan and dtype that the same scans read row by row, and that nothing else knows.

    Args:
        steps: of a schedule, with those of its loops and branches.
        dtypes: of every variable.
        apart: variables that are never in a group.
    """
    uses = _Uses(apart)
    uses.walk(steps)
    groups: dict[tuple[int, str, frozenset[int]], list[int]] = {}
    for number, scan in uses.made.items():
        if number not in uses.otherwise and number in uses.readers:
            groups.setdefault((scan, dtypes[number], frozenset(uses.readers[number])), []).append(number)
    return tuple([tuple(group) for group in groups.values() if len(group) > 1])


class _Uses:
    """By variable: the scan that stacks it, the scans that read its rows; and those that something else uses."""

    def __init__(self, apart: Collection[int]):
        self.made: dict[int, int] = {}
        self.readers: dict[int, set[int]] = {}
        self.otherwise = set(apart)
        self.loops = 0

    def walk(self, steps: Iterable[Step]) -> None:
        for step in steps:
            if isinstance(step, Nested):
                self._nested(step)
            elif isinstance(step, Alias):
                self.otherwise |= {step.operand, step.result}
            elif not isinstance(step, Free):
                self.otherwise.update(step.reads, step.writes)

    def _nested(self, step: Nested) -> None:
        self.loops += 1
        if step.rule == "scan":
            self.otherwise.update(step.writes[: step.carries])
            self.made.update(dict.fromkeys(step.writes[step.carries :], self.loops))
            for number in step.reads:
                self.readers.setdefault(number, set()).add(self.loops)
        else:
            self.otherwise.update(step.reads, step.writes)
        for region in step.regions:
            self.otherwise.update(region.inputs, region.outputs)
            self.walk(region.steps)
