"""Elementwise ops: operands of one shape, or scalars among them; the result has that shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from celadon import errors
from celadon.op import Op, unite_all
from celadon.types import ArrayType


def shaped(name: str, types: tuple[ArrayType, ...]) -> tuple[int, ...]:
    """The common shape of operands that have one shape or none (StableHLO's constraint C1 of elementwise ops)."""
    shapes = {t.shape for t in types if t.shape}
    if len(shapes) > 1:
        raise errors.ShapesDiffer(op=name, shapes=", ".join(map(str, (t.shape for t in types))))
    return shapes.pop() if shapes else ()


def elementwise(name: str, numpy: Callable[..., Any], text: str | None = None, exact: bool = False) -> Op:
    """An op whose result has the dtype of its operands."""

    def result_type(*types: ArrayType, **params: Any) -> ArrayType:
        return ArrayType(shaped(name, types), types[0].dtype, all(t.weak_type for t in types))

    return Op(
        name, result_type, numpy, text=text or f"stablehlo.{name}", unite=unite_all, exact=exact, kind="elementwise"
    )


add = elementwise("add", np.add, exact=True)
multiply = elementwise("multiply", np.multiply, exact=True)
sine = elementwise("sine", np.sin)


def _convert_type(x: ArrayType, *, new_dtype: np.dtype[Any], weak_type: bool = False) -> ArrayType:
    return ArrayType(x.shape, new_dtype, weak_type)


def _convert(x: Any, *, new_dtype: np.dtype[Any], weak_type: bool = False) -> Any:
    return x.astype(new_dtype)


convert = Op(
    "convert", _convert_type, _convert, text="stablehlo.convert", unite=unite_all, exact=True, kind="elementwise"
)
