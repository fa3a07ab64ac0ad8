"""Charts of what was measured, as SVG for the docs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

_SHOWN = ("first call", "new shape", "new static value", "steady")
_COLOURS = ("#2a9d8f", "#e9c46a", "#e76f51", "#264653")
_LEFT, _WIDTH, _ROW, _BAR, _TOP = 260, 560, 58, 11, 46


def draw(results: Mapping[str, Mapping[str, Sequence[float]]], path: str) -> None:
    """Bars of JAX / Celadon on a logarithmic axis, a group a program."""
    decades = 3.5
    place = lambda ratio: _LEFT + _WIDTH * (math.log10(min(max(ratio, 0.3), 1000.0)) + 0.5) / decades  # noqa: E731
    parts = [_text(_LEFT + 140 * k, 14, what, _COLOURS[k], "start") for k, what in enumerate(_SHOWN)]
    for tick in (0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500):
        x = place(tick)
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP - 8}" y2="{_TOP + _ROW * len(results)}" stroke="#ddd"/>')
        parts.append(_text(x, _TOP - 12, f"{tick:g}x", "#666", "middle"))
    for row, (name, found) in enumerate(results.items()):
        top = _TOP + row * _ROW
        parts.append(_text(_LEFT - 8, top + _ROW / 2, name, "#888", "end"))
        for k, what in enumerate(_SHOWN):
            if what in found:
                ratio = found[what][1] / found[what][0]
                parts.append(_bar(place(1.0), place(ratio), top + 4 + k * (_BAR + 1), _COLOURS[k], f"{what}: {ratio:.2f}x"))
    height = _TOP + _ROW * len(results) + 10
    body = "\n".join(parts)
    Path(path).write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_LEFT + _WIDTH + 20}" height="{height}" '
        f'font-family="sans-serif" font-size="12">\n{body}\n</svg>\n'
    )


def _text(x: float, y: float, words: str, colour: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}">{escape(words)}</text>'


def _bar(start: float, end: float, y: float, colour: str, title: str) -> str:
    x, width = min(start, end), max(abs(end - start), 1.0)
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{_BAR}"'
    return f'<rect {place} fill="{colour}"><title>{escape(title)}</title></rect>'


_SIDE, _ROOM, _AT = 420, 60, 200  # of the square in a chart of lines: its side, the room at its left, that at its right


def lines(found: Mapping[str, Mapping[int, float]], path: str, axes: tuple[str, str]) -> None:
    """A line for each name through its points (x -> y), on logarithmic axes with these names."""
    points = [point for one in found.values() for point in one.items()]
    (left, right), (low, high) = (_decades([point[k] for point in points]) for k in (0, 1))
    across = lambda x: _ROOM + _SIDE * (math.log10(x) - left) / (right - left)  # noqa: E731
    up = lambda y: 20 + _SIDE * (high - math.log10(y)) / (high - low)  # noqa: E731
    bottom, end = 20 + _SIDE, _ROOM + _SIDE
    parts: list[str] = []
    for k in range(left, right + 1):
        x = across(10.0**k)
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="20" y2="{bottom}" stroke="#ddd"/>')
        parts.append(_text(x, bottom + 16, f"{10**k:,}" if k >= 0 else f"{10.0**k:g}", "#666", "middle"))
    for k in range(low, high + 1):
        y = up(10.0**k)
        parts.append(f'<line x1="{_ROOM}" x2="{end}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(_text(_ROOM - 6, y + 4, f"{10.0**k:g}", "#666", "end"))
    for (name, one), colour in zip(found.items(), _COLOURS, strict=False):
        places = [(across(x), up(y)) for x, y in sorted(one.items())]
        joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{joined}" fill="none" stroke="{colour}" stroke-width="2"/>')
        if places:
            parts.append(_text(places[-1][0] + 6, places[-1][1] + 4, name, colour, "start"))
    parts += [_text(_ROOM + _SIDE / 2, bottom + 34, axes[0], "#666", "middle"), _text(6, 12, axes[1], "#666", "start")]
    body = "\n".join(parts)
    Path(path).write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{end + _AT}" height="{bottom + 44}" '
        f'font-family="sans-serif" font-size="12">\n{body}\n</svg>\n'
    )


def _decades(values: Sequence[float]) -> tuple[int, int]:
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)
