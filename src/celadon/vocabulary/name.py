"""name: the identity, which gives a value the name by which checkpoint policies choose what to save."""

from __future__ import annotations

from typing import Any

from celadon.op import Op, unite_all
from celadon.types import ArrayType


def _type(x: ArrayType, *, name: str) -> ArrayType:
    return x


def _itself(x: Any, *, name: str) -> Any:
    return x


name = Op(
    "name", _type, _itself, tangent=("linear",), transpose=(lambda ct, x, *, name: ct,),
    batch=lambda batch, axes, values, **params: (name(values[0], **params), axes[0]), expand=_itself, unite=unite_all, exact=True,
    kind="name",
)  # fmt: skip
