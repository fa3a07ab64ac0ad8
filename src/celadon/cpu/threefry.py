"""Words of key and text come in, the text encrypted by Threefry goes out, lane by lane; a row of the elementwise table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celadon.cpu.ir import Operand, Value
from celadon.cpu.outline import outlined
from celadon.vocabulary.bits import encrypted


def threefry2x32(*operands: Any) -> Value:
    """The row's rule: four words, their dtype, the result's dtype and the op's parameters."""
    *words, _dtype, _out, params = operands
    return _rule(params)(*words)


def _rule(params: Mapping[str, Any]) -> Any:
    return threefry_folded if params["folded"] else threefry_pair


def _plus(x: Value, y: Operand) -> Value:
    return x + y


def _mixed(x: Value, y: Operand) -> Value:
    return x ^ y


def _turned(x: Value, amount: int) -> Value:
    return x << amount | x >> (32 - amount)


@outlined
def threefry_folded(*words: Value) -> Value:
    """The exclusive or of both words."""
    x, y = encrypted(words, _plus, _mixed, _turned)
    return x ^ y


@outlined
def threefry_pair(*words: Value) -> Value:
    """Both words in one of 64 bits, the first below."""
    x, y = encrypted(words, _plus, _mixed, _turned)
    return y.convert("zext", "i64") << 32 | x.convert("zext", "i64")
