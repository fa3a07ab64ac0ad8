"""Calls that recur come in; the ones that machine code can do alone become records, which the native call tries first."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from celadon import settings
from celadon.facade import Lazy
from celadon.locks import process_lock
from celadon.settings import Setting
from celadon.stages import Entry

if TYPE_CHECKING:
    from celadon.cpu import native_call, records
else:
    native_call, records = Lazy("celadon.cpu.native_call"), Lazy("celadon.cpu.records")

Run = Callable[[tuple[Any, ...]], Any]
_AFTER = 8  # calls; fewer would not win back what a record costs
_WORTH_MAKING = 2000  # arguments handed over in calls; before that, only machine code that is on disk already is used
_RECORDS_AT_MOST = 64

_methods: dict[type[Any], tuple[Callable[..., Any], Any]] = {}  # what calls objects of a class: in Python, and natively
_lock = process_lock()


def _switched(on: Any) -> None:
    for owner, (by_python, native) in _methods.items():
        owner.__call__ = native if on else by_python


native_calls = Setting("celadon_native_call", True, changed=_switched)
"""Whether calls that recur are done by machine code; the results are the same, in more time, without it."""


def is_due(calls: int) -> bool:
    """Whether a call, the so-and-so-many-th of an entry in Python, is worth a record; each failure doubles the wait.

    >>> [n for n in range(40) if is_due(n)]
    [8, 16, 32]
    """
    return calls >= _AFTER and calls & (calls - 1) == 0


def counted(run: Run, due: Callable[[tuple[Any, ...], int], None]) -> Run:
    """A function of a call's values that does what `run` does, and has `due` look at the values when there is time for it."""
    calls = 0

    def warming(values: tuple[Any, ...]) -> Any:
        nonlocal calls
        calls += 1
        if is_due(calls):
            due(values, calls)
        return run(values)

    return warming


class Shape(NamedTuple):
    """How a jitted function is called: the entry that runs it, the keywords in the call's order, and which of the values,
    those by keyword counted on, are static."""

    entry: Entry
    names: tuple[str, ...]
    static: frozenset[int]


def record(jitted: Any, shape: Shape, values: tuple[Any, ...], calls: int) -> bool:
    """Have a jitted function do a call natively from now on, if it is one that can be and is worth it.

    Args:
        jitted: its `chain` holds the records.
        shape: how it was called.
        values: with which values.
        calls: how often so far.

    Returns:
        Whether that is settled, and not to be asked again.
    """
    entry = shape.entry
    parts = getattr(entry.bound, "parts", None)
    if parts is None:
        return True
    if not native_calls.value or (calls * (1 + len(entry.signature.types)) < _WORTH_MAKING and not native_call.is_at_hand()):
        return False
    if _is_installed(jitted) and not (entry.donated or entry.watched):  # those, too, gain from the finalizer of blocks
        call = records.Call(values, shape.names, shape.static, entry.signature.types, settings.key())
        found = records.record(call, parts, entry.traced.kept, entry.traced.out_tree.root)
        if found is not None:
            jitted.chain = (found, *jitted.chain)[:_RECORDS_AT_MOST]
    return True


def _is_installed(jitted: Any) -> bool:
    """Whether the class that defines `chain` has its native `__call__`, which is put there when it is first wanted."""
    owner = next(cls for cls in type(jitted).__mro__ if "chain" in vars(cls))
    with _lock:
        if owner not in _methods:
            by_python = owner.__call__
            _methods[owner] = by_python, native_call.method(owner, by_python) or by_python
            _switched(native_calls.everywhere)
        by_python, native = _methods[owner]
        return native is not by_python
