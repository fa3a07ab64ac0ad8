"""A lowered program in, the ops and dtypes that no kernel does out: what decides whether the CPU runs it."""

from __future__ import annotations

from celadon.cpu import elementwise, fuse, nests
from celadon.cpu.group import kind_of
from celadon.program import Equation, Program
from celadon.types import is_supported, short_name


def lacking(program: Program) -> list[str]:
    """Names of ops without a kernel, with a dtype where it matters."""
    found = {word for equation in nests.equations(program) if (word := _lack(equation))}
    return sorted(found)


def _lack(equation: Equation) -> str:
    name = equation.op.name
    dtypes = [x.type.dtype for x in (*equation.inputs, *equation.outputs)]
    unknown = [str(dtype) for dtype in dtypes if not is_supported(dtype)]
    if unknown:
        return f"{name}:{unknown[0]}"
    kind = kind_of(equation)
    if kind == "other":
        return "" if name in fuse.rules else name
    first = short_name(dtypes[0])
    if kind == "map" and not elementwise.has(
        name, [short_name(dtype) for dtype in dtypes[:-1]], short_name(dtypes[-1])
    ):
        return f"{name}:{first}"
    return ""
