"""What was found about a static argument comes in; advice goes out: trace, keep static, close over, key by value."""

from __future__ import annotations

import linecache
import re
from collections.abc import Sequence
from dataclasses import dataclass

from celadon import errors, signature
from celadon.ledger import targets

PAYS_SOON = 10  # calls
WORTH = 0.1  # of a steady call


@dataclass(frozen=True, slots=True)
class Evidence:
    """What decides: entries by value, classes of equal-looking keys, why it can't be traced, and what static buys.

    `spent` (all first calls) and `gain` (a steady call) are seconds, `share` is the gain in steady calls; `break_even`
    is calls.
    """

    argument: str
    values: int
    identical: Sequence[str]
    refused: BaseException | None
    shapes: int
    spent: float
    gain: float
    share: float
    break_even: float | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The advice, the reason, and the user's line that needed the concrete value, with its text."""

    kind: str
    reason: str
    line: str = ""
    code: str = ""


def verdict(found: Evidence) -> Verdict:
    """Decide.

    >>> verdict(Evidence("n", 1, [], None, 1, 0.1, 0.0, 0.0, None)).kind
    'close over it'
    """
    if found.identical:
        return _by_value(found)
    if found.refused is not None:
        return _untraceable(found, found.refused)
    if found.values == 1:
        return Verdict("close over it", "it has one value: a value fixed for life needs to be no argument")
    return _worth(found)


def _by_value(found: Evidence) -> Verdict:
    return Verdict(
        "key it by value",
        f"{found.identical[0]} objects with equal fields are different keys: {found.values} entries, and each object "
        "made anew adds one; make the class a frozen dataclass, or give it __eq__ and __hash__ over its fields",
    )


def _untraceable(found: Evidence, error: BaseException) -> Verdict:
    line = getattr(error, "line", "") or targets.raised_at(error)
    if isinstance(error, errors.ArgumentNotArray):
        if found.values == 1:
            return Verdict("close over it", f"it has one value, and a {error.facts['type']} can't be traced")
        return Verdict("keep it static", f"a {error.facts['type']} is no array, so it can't be traced")
    return Verdict("keep it static", _need(found, error), line, code_at(line))


def _need(found: Evidence, error: BaseException) -> str:
    if found.shapes > 1:
        return "the output's shape depends on it"
    if isinstance(error, errors.TracerIntegerConversionError):
        return "a shape, a size or an index depends on it"
    if isinstance(error, errors.TracerBoolConversionError):
        return "a branch in Python depends on it (celadon.numpy.where would let it be traced)"
    if isinstance(error, errors.ConcretizationTypeError | errors.TracerArrayConversionError):
        return "its concrete value is needed while tracing"
    return f"tracing it raises {targets.summary(error)}"


def _worth(found: Evidence) -> Verdict:
    spent = f"{found.values} values cost {1e3 * found.spent:.2f} ms of first calls"
    if found.break_even is None:
        return Verdict("trace it", f"{spent}, and a steady call is not faster for it: static buys nothing")
    faster = f"a steady call is {1e6 * found.gain:.1f} us faster for it"
    if found.break_even <= PAYS_SOON and found.share >= WORTH:
        return Verdict("keep it static", f"{faster}, which pays for a new value after {found.break_even:.0f} calls")
    return Verdict("trace it", f"{spent}; {faster}, which pays only for a value kept for {found.break_even:.0f} calls")


def told(value: object) -> str:
    """A static value in a table: its repr, cut; an object that is its identity is told by its class and fields.

    >>> told(2.0), told(type("Config", (), {})())
    ('2.0', 'Config()')
    """
    text = repr(value)
    if signature.by_identity(value) and type(value).__repr__ is object.__repr__:
        fields = ", ".join(f"{name}={field!r}" for name, field in signature.fields_of(value).items())
        text = f"{type(value).__name__}({fields})"
    return text if len(text) <= 40 else text[:37] + "..."


def code_at(place: str) -> str:
    """The text of a line that is described as `file:line (function)`.

    >>> code_at("no such place")
    ''
    """
    match = re.match(r"(.*):(\d+)( \(.*\))?$", place)
    return linecache.getline(match[1], int(match[2])).strip() if match else ""
