"""stop_gradient: the identity, as a constant in the eyes of every derivative."""

from __future__ import annotations

from typing import Any

from celadon.op import Op, unite_all
from celadon.types import ArrayType


def _type(x: ArrayType) -> ArrayType:
    return x


def _itself(x: Any) -> Any:
    return x


def _passed(ct: Any, x: Any) -> Any:
    """A linear function that is transposed as it is, without a derivative, has the identity here."""
    return ct


stop_gradient = Op(
    "stop_gradient", _type, _itself, tangent=(None,), transpose=(_passed,), expand=_itself, unite=unite_all, exact=True,
    kind="elementwise",
)  # fmt: skip

__all__ = ["stop_gradient"]
