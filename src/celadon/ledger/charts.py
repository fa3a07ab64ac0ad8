"""A first call by stages and a steady call by steps come in; tables with bars go out, through rendering."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from celadon.ledger.figures import Rows, duration, number, percent, size
from celadon.ledger.first_call import FirstCall
from celadon.ledger.machine import Rates
from celadon.ledger.steady_call import SteadyCall, StepCost

_WIDTH = 10  # of a whole bar
_SHOWN = 0.01  # of a call: what takes less is told of in one line
_OPS = 32  # letters

_HEAD = ["step", "kernel", "ops", "line", "time", "of the call", "runs", "on", "bytes", "GB/s", "GFLOP/s", "bound by"]


@dataclass(frozen=True, slots=True)
class Profile:
    """Where the time of a function's calls goes."""

    function: str
    first: FirstCall
    steady: SteadyCall


def bar(share: float) -> str:
    """A share of 1 as a bar.

    >>> bar(0.3), bar(0.001), bar(0.0)
    ('###', '|', '')
    """
    return "#" * round(share * _WIDTH) or ("|" if share > 0 else "")


def first_rows(first: FirstCall) -> Rows:
    """The stages of a first call, in order.

    >>> from celadon.ledger.first_call import Part
    >>> first_rows(FirstCall(0.004, (Part("trace", 0.003), Part("first run", 0.001))))[1:]
    [['trace', '3.00 ms', ' 75 % ########'], ['first run', '1.00 ms', ' 25 % ##']]
    """
    shares = [(part, part.seconds / first.seconds) for part in first.parts]
    return [["", "time", "of the call"], *([part.name, duration(part.seconds), _drawn(share)] for part, share in shares)]


def steady_rows(steady: SteadyCall) -> Rows:
    """The steps of a steady call that take a hundredth of it, in order, those of loops below the loop; then what is no step."""
    rows = [_HEAD, *(_step(step) for step in steady.steps if step.share >= _SHOWN)]
    share = steady.rest / steady.steady.median
    if share >= _SHOWN:
        rows.append(["", "Python", "the call itself", "", duration(steady.rest), _drawn(share), *[""] * 6])
    return rows


def _step(step: StepCost) -> list[str]:
    kernel = f"{step.kernel} {step.what}" if step.kernel >= 0 else step.what
    moved = step.read + step.written
    speed, rate = number(moved / step.seconds / 1e9), number(step.flops / step.seconds / 1e9)
    return [
        "  " * step.depth + step.path, kernel, _ops(step), _line(step.sources), duration(step.seconds), _drawn(step.share),
        f"{step.runs:,}", str(step.threads), size(moved), f"{speed}, {percent(step.bandwidth)} of {step.level}",
        f"{rate}, {percent(step.rate)}", step.bound,
    ]  # fmt: skip


def _drawn(share: float) -> str:
    return f"{percent(share):>5} {bar(share)}"


def _ops(step: StepCost) -> str:
    words = step.calls or " ".join(step.ops)
    words = f"{words}, {step.note}" if step.note == "copies" and words else words or step.note
    return words if len(words) <= _OPS else words[: _OPS - 3] + "..."


def _line(sources: Sequence[str]) -> str:
    """The first of the user's lines, without its folder.

    >>> _line(["/a/b.py:3 (f)", "/a/b.py:4 (f)"]), _line([])
    ('b.py:3 +1', '')
    """
    if not sources:
        return ""
    more = f" +{len(sources) - 1}" if len(sources) > 1 else ""
    return re.sub(r" \(.*\)$", "", sources[0]).replace("\\", "/").rpartition("/")[2] + more


def facts(steady: SteadyCall) -> list[str]:
    """What the table leaves out, and what it measures by."""
    small = [step for step in steady.steps if step.share < _SHOWN]
    own = sum(step.seconds for step in small if not step.depth)
    found = [f"{len(small)} steps below 1 % of the call; those in no loop take {duration(own)}"] if small else []
    return [*found, *(_rates(one) for one in steady.machine)]


def _rates(one: Rates) -> str:
    threads = f"{one.threads} thread{'s' if one.threads > 1 else ''}"
    rate = f"{number(one.bytes_a_second / 1e9)} GB/s in {one.level}, {number(one.flops_a_second / 1e9)} GFLOP/s of {one.dtype}"
    return f"this machine on {threads}: {rate}"
