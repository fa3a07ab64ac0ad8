"""Recipes of kernels that are no loop nest over a body in, LLVM IR out: which emitter writes which kind of them."""

from __future__ import annotations

from celadon.cpu import (
    emit_contract,
    emit_convolution,
    emit_fourier,
    emit_library,
    emit_moves,
    emit_rounds,
    emit_scatter,
    emit_sort,
    emit_vectors,
    emit_windows,
)
from celadon.cpu.ir import Function
from celadon.cpu.loops import kernel_function
from celadon.cpu.recipe import Moved

_kinds = emit_moves.KINDS | emit_contract.KINDS | emit_library.KINDS | emit_scatter.KINDS | emit_convolution.KINDS
_kinds |= emit_windows.KINDS | emit_vectors.KINDS | emit_fourier.KINDS
_kinds |= {"sort": emit_sort.Sort, "rounds": emit_rounds.Rounds}


def emit(kernel: Moved, name: str) -> Function:
    """The kernel's function, by the name under which the driver finds it."""
    f = kernel_function(name)
    _kinds[kernel.kind](f, kernel)
    f.returns()
    return f
