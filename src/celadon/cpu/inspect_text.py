"""The view of a schedule in; out, its text: kernels with their bodies, then steps, those of loops below the loop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from celadon.cpu.inspect_views import KernelView, ListView, ScheduleView, StepView, ValueView


def text(view: ScheduleView) -> str:
    """The text of a schedule.

    >>> print(text(ScheduleView("f", (), (), 0, 64, (8,), 2)))
    f: no kernel, no step; arena 0 bytes, tables 64 bytes, results 8 bytes; at most 2 threads
    """
    return "\n".join(_lines(view))


def _lines(view: ScheduleView) -> Iterator[str]:
    counts = f"{_count(len(view.kernels), 'kernel')}, {_count(_steps(view.steps), 'step')}"
    results = f"results {', '.join([f'{n:,}' for n in view.result_bytes]) or 0} bytes"
    room = f"arena {view.arena_bytes:,} bytes, tables {view.table_bytes:,} bytes, {results}"
    yield f"{view.name}: {counts}; {room}; at most {_count(view.threads, 'thread')}"
    for kernel in view.kernels:
        yield ""
        yield from _kernel(kernel)
    for step in view.steps:
        yield ""
        yield from _step(step, "")


def _steps(steps: Sequence[StepView]) -> int:
    return len(steps) + sum(_steps(inner.steps) for step in steps for inner in step.lists)


def _count(n: int, word: str) -> str:
    return f"{n or 'no'} {word}{'s' if n > 1 else ''}"


def _kernel(kernel: KernelView) -> Iterator[str]:
    dtypes = f" {' '.join(kernel.dtypes)}" if kernel.dtypes else ""
    about = f", {kernel.about}" if kernel.about else ""
    yield f"kernel {kernel.number}: {kernel.kind}{dtypes}{about}; {kernel.symbol}, {kernel.nbytes:,} bytes"
    for line in kernel.body:
        yield f"    {line}"


def _step(step: StepView, indent: str) -> Iterator[str]:
    yield f"{indent}step {step.path}: {', '.join(_facts(step))}"
    for title, values in (("reads", step.reads), ("writes", step.writes)):
        for k, value in enumerate(values):
            yield f"{indent}    {title if not k else '':6} {_value(value)}"
    for k, source in enumerate(step.sources):
        yield f"{indent}    {'from' if not k else '':6} {source}"
    for inner in step.lists:
        yield f"{indent}    {_list(inner)}"
        for one in inner.steps:
            yield from _step(one, f"{indent}      ")


def _facts(step: StepView) -> Iterator[str]:
    ops = f" ({' '.join(step.ops)})" if step.ops else ""
    yield (f"kernel {step.kernel} {step.what}" if step.kernel >= 0 else step.what) + ops
    if step.note:
        yield step.note
    if step.calls:
        yield f"calls {step.calls}"
    if step.pieces > 1:
        yield f"{step.pieces} pieces of {step.unit:,} of {step.extent:,}"
    elif step.kernel >= 0:
        yield f"0 to {step.extent:,} on one thread"


def _list(inner: ListView) -> str:
    times = f", {inner.trips:,} times" if inner.trips >= 0 else ""
    return f"{inner.name}{times}:{'' if inner.steps else ' nothing'}"


def _value(value: ValueView) -> str:
    parts = [f"{value.buffer} + {value.offset:,}" if value.offset else value.buffer]
    parts += [] if value.in_order else [f"strides {' '.join(map(str, value.strides))}"]
    parts += [value.walk] if "[]" not in value.type and value.walk else []
    parts += [value.shares] if value.shares else []
    return f"{value.name}: {value.type} at {', '.join(parts)}"
