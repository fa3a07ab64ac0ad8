"""Comparisons, and the ops that choose by one: compare, select, clamp."""

from __future__ import annotations

from typing import Any

import numpy as np

from celadon import errors
from celadon.keys import BITS, is_key
from celadon.op import Op, registry, unite_all
from celadon.types import ArrayType, bool_, kind
from celadon.vocabulary.arithmetic import greater, smaller
from celadon.vocabulary.kinds import BOOL, FLOAT, HALF, ORDERED, common_shape, common_type, like, require, same_dtype

Array = Any
_FUNCTIONS = {
    "EQ": np.equal, "NE": np.not_equal, "GE": np.greater_equal, "GT": np.greater, "LE": np.less_equal, "LT": np.less
}  # fmt: skip


def _compare_type(x: ArrayType, y: ArrayType, *, direction: str, total_order: bool = False) -> ArrayType:
    """C1 and C2; complex numbers are equal or not, but have no order."""
    if x is not y:
        common_type("compare", x, y)
    if direction not in _FUNCTIONS:
        raise errors.NoSuchDirection(direction=direction)
    if direction not in ("EQ", "NE"):
        require(f"compare {direction}", x, ORDERED | BOOL)
    if total_order:
        require("compare in total order", x, FLOAT)
    return ArrayType(x.shape or y.shape, bool_, x.weak_type and y.weak_type)


def _compare(x: Array, y: Array, *, direction: str, total_order: bool = False) -> Array:
    if total_order:
        x, y = _ordinal(x), _ordinal(y)
    elif x.dtype in HALF:
        x, y = x.astype(np.float32), y.astype(np.float32)
    elif is_key(x.dtype):
        x, y = x.view(BITS), y.view(BITS)
    return _FUNCTIONS[direction](x, y)


def _ordinal(x: Array) -> Array:
    """The integer that counts floats from -NaN to NaN."""
    bits = x.view(f"i{x.dtype.itemsize}")
    return np.where(bits < 0, ~(bits & np.iinfo(bits.dtype).max), bits)


def compare_type(x: ArrayType, total_order: bool) -> str:
    """C3: the word in StableHLO text for how elements of this type are compared."""
    letter = kind(x.dtype)
    if letter in "fc":
        return "TOTALORDER" if total_order else "FLOAT"
    return "SIGNED" if letter == "i" else "UNSIGNED"


def _select_type(pred: ArrayType, x: ArrayType, y: ArrayType) -> ArrayType:
    """C1 and C2, but scalars may stand for any shape."""
    require("select", pred, BOOL)
    full = x if x is y else common_type("select", x, y)
    if full.shape == pred.shape or not pred.shape:
        return full
    return full.with_shape(common_shape("select", pred, x, y))


def _select(pred: Array, x: Array, y: Array) -> Array:
    return np.where(pred, x, y)


def _clamp_type(low: ArrayType, x: ArrayType, high: ArrayType) -> ArrayType:
    """C1 to C4: the bounds are scalars or have the operand's shape."""
    require("clamp", x, ORDERED | BOOL)
    same_dtype("clamp", low, x, high)
    if any(bound.shape and bound.shape != x.shape for bound in (low, high)):
        raise errors.ShapesDiffer(op="clamp", shapes=f"{low.shape}, {x.shape} and {high.shape}")
    return x if x.weak_type and low.weak_type and high.weak_type else x.strong()


def _clamp(low: Array, x: Array, high: Array) -> Array:
    return smaller(greater(low, x), high)


def _where(holds: Any, t: Any) -> Any:
    return select(holds, t, like(0, t))


def _both(x: Any, y: Any) -> Any:
    return registry["and"](x, y)


def _is_less(x: Any, y: Any) -> Any:
    return compare(x, y, direction="LT")


compare = Op(
    "compare", _compare_type, _compare, text="stablehlo.compare", unite=unite_all, exact=True, kind="elementwise",
    tangent=(None,),
)
select = Op(
    "select", _select_type, _select, text="stablehlo.select", unite=unite_all, exact=True, kind="elementwise",
    tangent=(None, "linear", "linear"),
    transpose=(None, lambda ct, p, x, y: select(p, ct, like(0, ct)), lambda ct, p, x, y: select(p, like(0, ct), ct)),
)  # fmt: skip
clamp = Op(
    "clamp", _clamp_type, _clamp, text="stablehlo.clamp", unite=unite_all, exact=True, kind="elementwise",
    tangent=(
        lambda t, out, low, x, high: _where(_both(_is_less(x, low), _is_less(low, high)), t),
        lambda t, out, low, x, high: _where(_both(_is_less(low, x), _is_less(x, high)), t),
        lambda t, out, low, x, high: _where(registry["or"](_is_less(high, x), _is_less(high, low)), t),
    ),
)  # fmt: skip
