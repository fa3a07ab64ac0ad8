"""What inspect_kernels and inspect_steps make: plain data about kernels and steps, for text, JSON and measurement."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KernelView:
    """One kernel.

    kind: map, reduce, or what else is done (matmul, sort, gather ...). about: the loops, or what its code depends on. body: what
    is computed for one element, a line each. nbytes: its share of the machine code.
    """

    number: int
    symbol: str
    kind: str
    dtypes: tuple[str, ...]
    about: str
    body: tuple[str, ...]
    nbytes: int


@dataclass(frozen=True, slots=True)
class ValueView:
    """A variable where a step finds it.

    strides: the bytes from neighbour to neighbour along each axis; in_order: whether they are those of an array in C order.
    buffer, offset: where it is; "moving" buffers are those whose address a loop changes. walk: how the step's loops go over it,
    "" where it is no matter of loops. shares: of what it is a view, or in whose buffer it is.
    """

    name: str
    type: str
    strides: tuple[int, ...]
    in_order: bool
    buffer: str
    offset: int
    walk: str
    shares: str


@dataclass(frozen=True, slots=True)
class StepView:
    """One step.

    what: the kernel's kind, the runtime's function (repeat, branch ...) or "python"; note: in words, what that alone does not
    say. kernel: its number, or -1. calls: the routine of a library, or the Python function. ops: the program's ops that it
    computes; sources: the user's lines that asked for them. extent, unit, pieces: its range, handed to threads in pieces of
    `unit`. seconds: as the plan estimates. lists: step lists that it runs.
    """

    path: str
    what: str
    note: str
    kernel: int
    calls: str
    ops: tuple[str, ...]
    sources: tuple[str, ...]
    reads: tuple[ValueView, ...]
    writes: tuple[ValueView, ...]
    extent: int
    unit: int
    pieces: int
    seconds: float
    lists: tuple[ListView, ...]


@dataclass(frozen=True, slots=True)
class ListView:
    """Steps that a loop or branch runs: "body", "condition", "branch 0"; trips is how often, -1 if that shows as it runs."""

    name: str
    trips: int
    steps: tuple[StepView, ...]


@dataclass(frozen=True, slots=True)
class ScheduleView:
    """All of a call: kernels, steps, bytes of the arena (what lives between steps), and how many threads may share a step."""

    name: str
    kernels: tuple[KernelView, ...]
    steps: tuple[StepView, ...]
    arena_bytes: int
    table_bytes: int
    result_bytes: tuple[int, ...]
    threads: int
