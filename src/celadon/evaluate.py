"""Evaluate: the interpreter outside any trace; exact ops run in NumPy, others as one-op programs on the executor."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from celadon import errors, nans, program, tracing
from celadon.array import Array, concrete
from celadon.memory import ADDRESSABLE, copy_in
from celadon.program import Equation, Literal, Program, Var
from celadon.types import ArrayType

if TYPE_CHECKING:
    from celadon.op import Op
    from celadon.tracing import Interpreter

_KEPT = 4096


class Evaluate:
    """Computes ops at once. One-op programs are kept by op, parameters and types."""

    name, open = "evaluation", True

    def __init__(self) -> None:
        self.outer: Interpreter | None = None
        self.programs: OrderedDict[object, Program] = OrderedDict()

    def apply(self, op: Op, operands: Sequence[Any], params: dict[str, Any]) -> Any:
        values = [concrete(x) for x in operands]
        types = [x.type for x in values]
        if op.kind == "call":
            op.result_type(*types, **params)
            return program.run(params["program"], values)
        if op.numpy is not None and op.exactly(types):
            return self._exact(op, values, op.result_type(*types, **params), params)
        results = program.run(self._one_op(op, tuple(types), params), values)
        return results if op.multiple else results[0]

    def _exact(self, op: Op, values: Sequence[Array], types: Any, params: dict[str, Any]) -> Any:
        assert op.numpy is not None
        nbytes = sum(t.nbytes for t in types) if op.multiple else types.nbytes
        if nbytes >= ADDRESSABLE:  # NumPy refuses these in other words
            raise errors.OutOfMemory(bytes=nbytes)
        try:
            with np.errstate(all="ignore"):
                found = op.numpy(*[x.host for x in values], **params)
        except MemoryError:
            if op.kind == "callback":
                raise
            raise errors.OutOfMemory(bytes=nbytes) from None
        results = [*map(_array, types, found)] if op.multiple else [_array(types, found)]
        if nans.watching():
            nans.require_none(op.name, results)
        return results if op.multiple else results[0]

    def _one_op(self, op: Op, types: tuple[ArrayType, ...], params: dict[str, Any]) -> Program:
        key = (op.name, types, tuple(params.items()))
        found = self.programs.get(key)
        if found is None:
            found = self.programs[key] = _program_of(op, types, params)
            if len(self.programs) > _KEPT:
                self.programs.popitem(last=False)
        return found


def _array(type: ArrayType, found: Any) -> Array:
    host = np.asarray(found)
    if host.dtype != type.dtype or host.shape != type.shape:
        host = np.broadcast_to(host.astype(type.dtype, copy=False), type.shape)
    if 0 in host.strides and host.size > 1:  # repeated by reference: a result has memory of its own
        return Array(type, copy_in(host))
    return Array(type, host=host)


def _program_of(op: Op, types: tuple[ArrayType, ...], params: dict[str, Any]) -> Program:
    inputs = [Var(t) for t in types]
    made = op.result_type(*types, **params)
    outputs = [Var(t) for t in made] if op.multiple else [Var(made)]
    return Program(inputs, [Equation(op, inputs, outputs, params)], outputs, name=op.name)


tracing.outside.interpreter = Evaluate()

__all__ = ["Evaluate", "Literal"]
