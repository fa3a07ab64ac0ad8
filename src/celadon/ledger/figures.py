"""Seconds, shares and counts come in, short words for people go out: charts and rendering make tables of them."""

from __future__ import annotations

Rows = list[list[str]]

_UNITS = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6))


def duration(seconds: float) -> str:
    """Seconds for people, with three digits.

    >>> duration(0.00533), duration(2.5e-06), duration(1.5)
    ('5.33 ms', '2.50 us', '1.50 s')
    """
    unit, size = next((pair for pair in _UNITS if seconds >= pair[1]), _UNITS[-1])
    value = seconds / size
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f} {unit}"


def number(value: float) -> str:
    """A ratio or a count for people.

    >>> number(0.123), number(26.12), number(1234.5)
    ('0.12', '26.1', '1,234')
    """
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def size(nbytes: int) -> str:
    """Bytes for people.

    >>> size(512), size(241_664), size(8_000_008)
    ('512 B', '242 kB', '8.00 MB')
    """
    for unit, least in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if nbytes >= least:
            return f"{number(nbytes / least)} {unit}"
    return f"{nbytes} B"


def percent(share: float) -> str:
    """A share of 1 for people.

    >>> percent(0.253), percent(1.5)
    ('25 %', '150 %')
    """
    return f"{100 * share:.0f} %"
