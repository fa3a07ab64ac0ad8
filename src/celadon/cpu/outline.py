"""The body of a math function comes in, a call of its single out-of-line copy goes out; the math modules use it."""

from __future__ import annotations

from collections.abc import Callable

from celadon.cpu.ir import Function, Value
from celadon.cpu.kinds import Target, mangled

Body = Callable[..., Value]
_Types = tuple[tuple[str, int], ...]


class Outlined:
    """A math function: called with Values it emits a call; `inline` emits its body in place.

    The body is emitted once a process for each operand types and target; functions of one name have one text. A wide
    one is written for float64, and float32 goes through it.
    """

    __slots__ = ("_made", "inline", "name", "wide")

    def __init__(self, name: str, inline: Body, wide: bool = False):
        self.name, self.inline, self.wide = name, inline, wide
        self._made: dict[tuple[Target, _Types], Function] = {}

    def __call__(self, *operands: Value) -> Value:
        types = tuple((v.kind, v.lanes) for v in operands)
        caller = operands[0].function
        made = self._made.get((caller.target, types))
        if made is None:
            made = self._made[caller.target, types] = self._make(types, caller.target)
        return caller.call(made, *operands)

    def _make(self, types: _Types, target: Target) -> Function:
        kind, lanes = types[0]
        draft = Function(f"{self.name}.{mangled(kind, lanes)}", types, None, target=target)
        narrow = self.wide and kind == "f32"
        value = self.inline(*(p.convert("fpext", "f64") if narrow else p for p in draft.parameters))
        value = value.convert("fptrunc", kind) if narrow else value
        draft.returns(value)
        draft.result = (value.kind, value.lanes)
        return draft


def outlined(body: Body) -> Outlined:
    """A decorator: the function becomes an out-of-line one of its own name."""
    return Outlined(body.__name__, body)


def outlined_wide(body: Body) -> Outlined:
    """The same for a body that is written for float64 only."""
    return Outlined(body.__name__, body, True)
