"""A Schedule in; out, which variables share a buffer, and the steps with the ends of lives between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from celadon.cpu.interleaved import interleaved
from celadon.cpu.recipe import Alias, Free, Hosted, Launch, Map, Nested, Region, Schedule, Step

_ALWAYS = 1 << 60


class Lifetimes(NamedTuple):
    """sources: for each variable, the one whose buffer it is in; steps: the schedule's, with Free between them;
    read, made: variables that any kernel reads, and those that any step makes; stacks: those that share a block."""

    sources: tuple[int, ...]
    steps: tuple[Step, ...]
    read: frozenset[int]
    made: frozenset[int]
    stacks: tuple[tuple[int, ...], ...]


def lifetimes(schedule: Schedule, dtypes: Sequence[str], given: int) -> Lifetimes:
    """Who shares memory: views, copies of what is not needed afterwards, values that a loop carries.

    Args:
        schedule: kernels, steps and outputs.
        dtypes: of every variable.
        given: how many variables, the first ones, are inputs.
    """
    sharing = _Sharing(schedule, dtypes)
    steps = sharing.region(schedule.steps, frozenset(), frozenset(schedule.outputs), False)
    sources = tuple(map(sharing.find, range(len(dtypes))))
    kept = {sources[n] for n in schedule.outputs} | set(range(given))
    freed = sharing.freed(steps, kept)
    read = frozenset(sources[n] for step in steps for n in reads(step))
    made = frozenset(n for step in steps for n in writes(step))
    apart = kept | {n for n, source in enumerate(sources) if n != source}
    return Lifetimes(sources, freed, read, made, interleaved(steps, dtypes, apart))


def reads(step: Step) -> Iterable[int]:
    """The variables that a step reads, inside of it too."""
    if isinstance(step, Launch | Hosted):
        return step.reads
    if isinstance(step, Nested):
        inside = (reads(inner) for region in step.regions for inner in region.steps)
        flags = [region.outputs for region in step.regions[:1] if step.rule == "while"]
        return [*step.reads, *(n for group in (*inside, *flags) for n in group)]
    return ()


def calls_host(steps: Iterable[Step]) -> bool:
    """Whether a Python function is called among the steps, or inside of them."""
    return any(
        isinstance(step, Hosted)
        or (isinstance(step, Launch) and step.rule == "fourier")  # plan leaves some lengths to NumPy
        or (isinstance(step, Nested) and any(calls_host(one.steps) for one in step.regions))
        for step in steps
    )


def writes(step: Step) -> Iterable[int]:
    """The variables that a step makes, inside of it too."""
    if isinstance(step, Launch | Hosted):
        return step.writes
    if isinstance(step, Nested):
        return [*step.writes, *(n for region in step.regions for inner in region.steps for n in writes(inner))]
    return ()


class _Sharing:
    """Variables in sets that share a buffer; `plain` ones see all of it, in order."""

    def __init__(self, schedule: Schedule, dtypes: Sequence[str]):
        self.schedule, self.dtypes = schedule, dtypes
        self.parents = list(range(len(dtypes)))
        self.plain = [True] * len(dtypes)
        self._alias(schedule.steps)

    def _alias(self, steps: Iterable[Step]) -> None:
        for step in steps:
            if isinstance(step, Alias):
                self.parents[step.result] = self.find(step.operand)
                self.plain[step.result] = step.rule == "dense" and self.plain[step.operand]
            elif isinstance(step, Nested):
                for region in step.regions:
                    self._alias(region.steps)

    def find(self, number: int) -> int:
        parents = self.parents
        while parents[number] != number:
            parents[number] = parents[parents[number]]
            number = parents[number]
        return number

    def region(
        self, steps: Sequence[Step], inputs: frozenset[int], outputs: frozenset[int], inside: bool
    ) -> tuple[Step, ...]:
        """The steps, with loops and branches settled; copies of what nothing reads afterwards become the same buffer."""
        found = [self._nested(step) if isinstance(step, Nested) else step for step in steps]
        last: dict[int, int] = {self.find(n): _ALWAYS for n in outputs}
        for k, step in enumerate(found):
            for n in reads(step):
                root = self.find(n)
                last[root] = max(last.get(root, -1), k)
        own = set(inputs)
        for k, step in enumerate(found):
            if isinstance(step, Launch) and self._is_copy(step) and not (inside and step.writes[0] in outputs):
                self._join(step, own, last, k)
            own.update(map(self.find, writes(step)))
        return tuple(found)

    def _join(self, step: Launch, own: set[int], last: dict[int, int], k: int) -> None:
        source, target = self.find(step.reads[0]), step.writes[0]
        if source in own and last.get(source, -1) <= k and self.find(target) == target:
            self.parents[target] = source
            last[source] = max(k, last.get(target, -1))

    def _is_copy(self, step: Launch) -> bool:
        """Whether a kernel only copies a whole buffer, in order."""
        kernel = self.schedule.kernels[step.kernel]
        if not isinstance(kernel, Map) or step.rule != "map" or kernel.body.nodes or len(step.reads) != 1:
            return False
        flat = kernel.loops <= 1 and len(step.writes) == 1 and kernel.body.results == (0,)
        return flat and kernel.writes[0] == kernel.body.leaves[0].access and self.plain[step.reads[0]]

    # --- loops and branches

    def _nested(self, step: Nested) -> Nested:
        regions = tuple([self._inside(region, step.carries) for region in step.regions])
        step = step._replace(regions=regions)
        if step.rule == "branch":
            for region in regions:
                for made, result in zip(region.outputs, step.writes, strict=True):
                    self.parents[made] = self.find(result)
            return step
        body = regions[-1]
        touching = self._touching(body.steps) if step.carries else {}
        swapped = tuple([k for k in range(step.carries) if self._is_overwritten(body, k, touching)])
        for k in set(range(step.carries)) - set(swapped):
            self.parents[body.inputs[k]] = self.parents[body.outputs[k]] = self.find(step.writes[k])
        return step._replace(swapped=swapped)

    def _inside(self, region: Region, carries: int) -> Region:
        inputs, outputs = frozenset(region.inputs[:carries]), frozenset(region.outputs)
        return region._replace(steps=self.region(region.steps, inputs, outputs, True))

    def _touching(self, steps: Sequence[Step]) -> dict[int, list[int]]:
        """For each buffer the places of the steps that read or write it."""
        found: dict[int, list[int]] = {}
        for k, step in enumerate(steps):
            for n in {self.find(n) for group in (reads(step), writes(step)) for n in group}:
                found.setdefault(n, []).append(k)
        return found

    def _is_overwritten(self, body: Region, k: int, touching: dict[int, list[int]]) -> bool:
        """Whether a carried value would be read after its next one was written to the same place."""
        old, new = self.find(body.inputs[k]), body.outputs[k]
        places = {*touching.get(old, ()), *touching.get(self.find(new), ())}
        return self._clobbers([body.steps[i] for i in sorted(places)], old, new, [False])

    def _clobbers(self, steps: Sequence[Step], old: int, new: int, written: list[bool]) -> bool:
        return any(self._step_clobbers(step, old, new, written) for step in steps)

    def _step_clobbers(self, step: Step, old: int, new: int, written: list[bool]) -> bool:
        """`written` says whether the new value was, and is set."""
        meant = any(self.find(n) == old for n in reads(step))
        if meant and written[0]:
            return True
        if self.find(new) not in map(self.find, writes(step)):
            return False
        written[0] = True
        if not meant:
            return False
        if isinstance(step, Nested) and step.rule == "branch" and self.find(step.reads[0]) != old:
            pairs = [(region, region.outputs[step.writes.index(new)]) for region in step.regions if new in step.writes]
            return not pairs or any(self._clobbers(region.steps, old, made, [False]) for region, made in pairs)
        return not (isinstance(step, Launch) and self._is_in_step(step, old, new))

    def _is_in_step(self, step: Launch, old: int, new: int) -> bool:
        """Whether a kernel reads each element of the old value just before it writes the new one there."""
        kernel = self.schedule.kernels[step.kernel]
        if not isinstance(kernel, Map) or step.rule != "map" or new not in step.writes:
            return False
        access = kernel.writes[step.writes.index(new)]
        operands = zip((leaf for leaf in kernel.body.leaves if leaf.source != "iota"), step.reads, strict=True)
        return all(
            self.plain[n] and leaf.access == access and leaf.dtype == self.dtypes[new]
            for leaf, n in operands
            if self.find(n) == old
        )

    # --- ends

    def freed(self, steps: Sequence[Step], kept: set[int]) -> tuple[Step, ...]:
        """The steps with the ends of the buffers that begin among them; `kept` ones stay."""
        last: dict[int, int] = {}
        begun: set[int] = set()
        for k, step in enumerate(steps):
            made = step.writes if isinstance(step, Launch | Nested | Hosted) else ()
            begun.update(n for n in made if self.find(n) == n)
            last.update({self.find(n): k for n in (*reads(step), *writes(step))})
        ends: dict[int, list[int]] = {}
        for n in sorted(begun - kept):
            ends.setdefault(last[n], []).append(n)
        found: list[Step] = []
        for k, step in enumerate(steps):
            found.append(self._freed_inside(step) if isinstance(step, Nested) else step)
            if k in ends:
                found.append(Free(tuple(ends[k])))
        return tuple(found)

    def _freed_inside(self, step: Nested) -> Nested:
        regions = tuple([
            region._replace(steps=self.freed(region.steps, {*region.inputs, *region.outputs})) for region in step.regions
        ])  # fmt: skip
        return step._replace(regions=regions)
