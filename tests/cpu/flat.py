"""An elementwise op as machine code over flat arrays: the smallest kernel around one row, for tests."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from celadon.cpu import elements, elementwise, ir, link, llvm
from celadon.cpu.elements import Element
from celadon.cpu.ir import Function, Value
from celadon.cpu.kinds import FULL, Target, lanes_for
from celadon.cpu.loops import Loop
from celadon.types import from_short

Array = np.ndarray[Any, Any]
Rule = Callable[..., Element]
PADDED = 8


class Flat:
    """A rule compiled as a loop over arrays of the given dtypes (short names); call it with as many arrays."""

    def __init__(self, rule: Rule, dtypes: Sequence[str], out: str, target: Target = FULL, lanes: int = 0):
        self.dtypes, self.out = tuple(dtypes), out
        self.function = self._kernel(rule, target, lanes or lanes_for([*dtypes, out]))
        self.library = link.load(llvm.compile_text(ir.module([self.function])), ["flat"])
        signature = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
        self.code = signature(self.library.symbols["flat"])

    def _kernel(self, rule: Rule, target: Target, lanes: int) -> Function:
        f = Function("flat", [("ptr", 1), ("i64", 1), ("i64", 1)], external=True, target=target)
        table, low, high = f.parameters
        pointers = [f.load(f.gep(table, i, "i64"), "ptr") for i in range(len(self.dtypes) + 1)]

        def at(pointer: Value, index: Value, dtype: str) -> Value:
            return f.gep(pointer, index * elements.itemsize(dtype), "i8")

        with Loop(f, low, high, lanes) as loop:
            reads = zip(pointers, self.dtypes, strict=False)
            operands = [elements.load(f, at(p, loop.index, dtype), dtype, lanes) for p, dtype in reads]
            elements.store(f, rule(*operands), at(pointers[-1], loop.index, self.out), self.out)
        f.returns()
        return f

    def __call__(self, *arrays: Array) -> Array:
        size = arrays[0].size
        padded = -(-size // PADDED) * PADDED
        inputs = [
            np.resize(np.ascontiguousarray(x, from_short[d]), padded) for x, d in zip(arrays, self.dtypes, strict=True)
        ]
        result = np.zeros(padded, from_short[self.out])
        addresses = [x.ctypes.data for x in (*inputs, result)]
        self.code((ctypes.c_void_p * len(addresses))(*addresses), 0, padded)
        return result[:size]


def op(name: str, dtypes: Sequence[str], out: str, params: Mapping[str, Any] | None = None, **options: Any) -> Flat:
    """The row of an op."""

    def rule(*operands: Element) -> Element:
        return elementwise.emit(name, operands, dtypes, out, params or {})

    return Flat(rule, dtypes, out, **options)
