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
