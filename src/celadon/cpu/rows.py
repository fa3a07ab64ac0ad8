"""A Schedule in; out, one where reductions and maps of the same rows are one Rows kernel each, run where the first of them was.

Launches of a group walk the same rows: the kept axes around a row are the same dimensions of the structure, and so are the
axes along it. What a later one reads of an earlier one is either the same element or one number of the row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from celadon.cpu.recipe import Alias, Launch, Nested, Reduce, Schedule, Step
from celadon.cpu.row_members import Known, RowAxes, RowLaunches
from celadon.cpu.row_passes import Member, Operand, passed

_NODES_AT_MOST = 96  # machine code for many values at once takes long to make


def joined(schedule: Schedule, known: Known) -> Schedule:
    """The schedule with row kernels, and without the kernels that nothing runs any more."""
    rows = RowLaunches(schedule, known)
    count = len(rows.kernels)
    steps = _region(rows, schedule.steps)
    return _pruned(schedule._replace(steps=steps, kernels=tuple(rows.kernels))) if len(rows.kernels) > count else schedule


def _region(rows: RowLaunches, steps: Sequence[Step]) -> tuple[Step, ...]:
    """Steps with row kernels in them, and in what is inside of them."""
    found = [_nested(rows, step) if isinstance(step, Nested) else step for step in steps]
    at = 0
    while at < len(found):
        step = found[at]
        axes = rows.axes(step) if isinstance(step, Launch) else None
        group = _Group(rows, found, at, axes) if axes is not None else None
        if group is not None and group.pays():
            found = group.steps()
        at += 1
    return tuple(found)


def _nested(rows: RowLaunches, step: Nested) -> Nested:
    return step._replace(regions=tuple([region._replace(steps=_region(rows, region.steps)) for region in step.regions]))


class _Group:
    """The launches around a reduction that can run as one, in order; where the reduction stands among the steps.

    made: by variable, the member that makes it. late: variables that other steps make after the place of the group.
    """

    def __init__(self, rows: RowLaunches, steps: Sequence[Step], at: int, axes: RowAxes):
        self.rows, self.all, self.at, self.axes = rows, steps, at, axes
        first = rows.member(steps[at], axes)
        self.members: dict[int, Member] = {}
        self.made: dict[int, int] = {}
        self.near: set[int] = set()
        self.late: set[int] = set()
        self.nodes = 0
        if first is not None:
            self._enter(at, first)
            self._before()
            self._after()

    def pays(self) -> bool:
        """Whether there are several walks along a row to be saved."""
        return sum(not member.around for member in self.members.values()) > 1

    def _enter(self, at: int, member: Member) -> None:
        self.members[at] = member
        self.nodes += len(member.kernel.body.nodes)
        self.made.update(dict.fromkeys(member.launch.writes, at))
        self.near |= {self.rows.root(x.number)[0] for x in member.operands if x.source == "array" and x.layout}
        self.near.update(member.launch.writes)

    def _before(self) -> None:
        """Maps ahead of the reduction that make what it reads, if nothing between needs them."""
        read, written = set[int](), set[int]()
        for at in range(self.at - 1, -1, -1):
            step = self.all[at]
            if isinstance(step, Launch) and step.rule == "map" and self._may_wait(step, read, written):
                member = self.rows.member(step, self.axes)
                if member is not None and self._has_room(member) and self._entered(at, member):
                    continue
            if isinstance(step, Alias):
                written |= {step.operand, step.result} if step.rule == "addressed" else set()
                continue
            read |= self.rows.touched(step)[0]
            written |= self.rows.touched(step)[1]
        self.members = dict(sorted(self.members.items()))

    def _may_wait(self, step: Launch, read: set[int], written: set[int]) -> bool:
        """Whether members read what a launch makes, and nothing between is in its way."""
        wanted = {self.rows.root(x.number)[0] for m in self.members.values() for x in m.operands if x.source != "iota"}
        reads, made = self.rows.touched(step)
        return bool(wanted & made) and made.isdisjoint(read | written) and reads.isdisjoint(written)

    def _entered(self, at: int, member: Member) -> bool:
        self._enter(at, member)
        if self._is_sound():
            return True
        self._leave(at)
        return False

    def _leave(self, at: int) -> None:
        member = self.members.pop(at)
        self.nodes -= len(member.kernel.body.nodes)
        for number in member.launch.writes:
            del self.made[number]

    def _after(self) -> None:
        for at in range(self.at + 1, len(self.all)):
            step = self.all[at]
            if isinstance(step, Alias):
                self.late |= {step.result} if step.rule == "addressed" else set()
                continue
            member = self.rows.member(step, self.axes) if self._may_join(step) else None
            if member is None or not self._has_room(member) or not self._entered(at, member):
                self.late |= self.rows.touched(step)[1]

    def _may_join(self, step: Step) -> bool:
        """Whether a step reads what members read or make, and nothing that is made in between."""
        read, made = self.rows.touched(step)
        return not self.near.isdisjoint(read) and self.late.isdisjoint(read | made) and made.isdisjoint(self.made)

    def _has_room(self, member: Member) -> bool:
        return self.nodes + len(member.kernel.body.nodes) <= _NODES_AT_MOST

    def _is_sound(self) -> bool:
        """Whether members see what others make only element by element, or as one number of the row."""
        return all(self._sees(x) for member in self.members.values() for x in member.operands)

    def _sees(self, x: Operand) -> bool:
        root, same = self.rows.root(x.number)
        if x.source == "iota" or root not in self.made:
            return True
        maker = self.members[self.made[root]]
        count = len(self.axes.kept) if maker.around or isinstance(maker.kernel, Reduce) else len(self.axes.kept + self.axes.row)
        walked = x.layout[:count]
        in_order = all(axis is not None and axis.source == k and axis.step and axis.whole for k, axis in enumerate(walked))
        return same and len(walked) == count and in_order and not any(x.layout[count:])

    # --- as a step

    def steps(self) -> list[Step]:
        """All steps, with one in place of the members; views come as soon as what they see is there."""
        members = list(self.members.values())
        mine = {id(member.launch) for member in members}
        stored = frozenset(n for n in self.made if self.rows.users.get(n, set()) - mine)
        roots = {x.number: self.rows.root(x.number)[0] for member in members for x in member.operands}
        made = passed(members, (len(self.axes.kept), len(self.axes.row)), roots, stored)
        launch = made.launch(self.rows.kernel(made.kernel))
        self.rows.use(launch)
        before, after = self.all[: self.at], self.all[self.at :]
        ahead = [step for step in after if isinstance(step, Alias) and self._is_ahead(step)]
        seen = [step for step in before if isinstance(step, Alias) and self.rows.root(step.operand)[0] in self.made]
        moved = mine | set(map(id, (*ahead, *seen)))
        rest = [step for step in before if id(step) not in moved], [step for step in after if id(step) not in moved]
        gone = set(self.made) - stored
        return [*rest[0], *ahead, launch, *(s for s in (*seen, *rest[1]) if not self._sees_one(s, gone))]

    def _is_ahead(self, step: Alias) -> bool:
        root = self.rows.root(step.operand)[0]
        return step.rule != "addressed" and root not in self.late and root not in self.made

    def _sees_one(self, step: Step, gone: set[int]) -> bool:
        return isinstance(step, Alias) and self.rows.root(step.operand)[0] in gone


def _pruned(schedule: Schedule) -> Schedule:
    """The schedule with the kernels that its steps run, numbered anew."""
    used: dict[int, int] = {-1: -1}
    _collect(schedule.steps, used)
    kernels = tuple(schedule.kernels[k] for k in used if k >= 0)
    return schedule._replace(kernels=kernels, steps=_renumbered(schedule.steps, used))


def _collect(steps: Iterable[Step], used: dict[int, int]) -> None:
    for step in steps:
        if isinstance(step, Launch):
            for kernel in (step.kernel, step.then):
                used.setdefault(kernel, len(used) - 1)
        elif isinstance(step, Nested):
            for region in step.regions:
                _collect(region.steps, used)


def _renumbered(steps: Iterable[Step], used: Mapping[int, int]) -> tuple[Step, ...]:
    return tuple([_renamed(step, used) for step in steps])


def _renamed(step: Step, used: Mapping[int, int]) -> Step:
    if isinstance(step, Launch):
        return step._replace(kernel=used[step.kernel], then=used[step.then])
    if isinstance(step, Nested):
        return step._replace(regions=tuple([r._replace(steps=_renumbered(r.steps, used)) for r in step.regions]))
    return step
