"""NumPy arrays in, the text of a small program that computes with them and checks itself out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from celadon.types import is_bfloat16
from tests.stablehlo.outcomes import PASSED, Outcome, outcome
from tests.stablehlo.sources import Case

Array = np.ndarray[Any, Any]
_NAMES = {"b": "i1", "complex64": "complex<f32>", "complex128": "complex<f64>"}


def tensor(x: Any) -> str:
    """The type of an array.

    >>> tensor(np.ones((2, 3), "uint8"))
    'tensor<2x3xui8>'
    """
    x = np.asarray(x)
    kind = x.dtype.kind
    sized = {"i": "i", "u": "ui", "f": "f"}.get(kind, "") + str(8 * x.dtype.itemsize)
    name = "bf16" if is_bfloat16(x.dtype) else _NAMES.get(kind) or _NAMES.get(x.dtype.name) or sized
    return f"tensor<{''.join(f'{n}x' for n in x.shape)}{name}>"


def dense(x: Any) -> str:
    """An array as a constant, by its bits.

    >>> dense(np.ones(1, "int16"))
    'dense<"0x0100"> : tensor<1xi16>'
    """
    x = np.asarray(x)
    if x.dtype.kind == "b" or not x.size:
        return f"dense<{str(x.tolist()).lower() if x.size else ''}> : {tensor(x)}"
    return f'dense<"0x{np.ascontiguousarray(x).tobytes().hex().upper()}"> : {tensor(x)}'


def program(op: str, operands: Sequence[Any], expected: Sequence[Any], inside: str = "", word: str = "expect_close") -> str:
    """The text of a program of one op.

    Args:
        op: its name with the dialect.
        operands: arrays, or names of what `inside` brings.
        expected: arrays that the results must agree with.
        inside: what stands behind the operands: attributes in braces, and regions in parentheses ahead of them.
        word: how they must agree; results that are exact must be equal anyway.
    """
    lines = [f"  %x{i} = stablehlo.constant {dense(x)}" for i, x in enumerate(operands)]
    names = ", ".join(f"%x{i}" for i in range(len(operands)))
    types = ", ".join(map(tensor, operands))
    results = f"%r:{len(expected)} = " if expected else ""
    made = ", ".join(map(tensor, expected))
    lines.append(f'  {results}"{op}"({names}) {inside} : ({types}) -> ({made})')
    for i, x in enumerate(expected):
        check = word if np.asarray(x).dtype.kind not in "biu" else "expect_eq"
        lines += [f"  %e{i} = stablehlo.constant {dense(x)}"]
        lines += [f"  stablehlo.custom_call @check.{check}(%r#{i}, %e{i}) : ({tensor(x)}, {tensor(x)}) -> ()"]
    return "\n".join(["func.func @main() {", *lines, "  return", "}"])


def holds(text: str) -> Outcome:
    """Run a program, which must pass."""
    found = outcome(Case("program", text))
    assert found.word == PASSED, f"{found}\n{text}"
    return found


def region(types: Sequence[str], lines: str, returned: str, result: Sequence[str] = ()) -> str:
    """A region of arguments %a, %b ... with some lines, in generic form.

    >>> region(["tensor<i32>"], "", "%a")
    '{^bb0(%a: tensor<i32>): \\n"stablehlo.return"(%a) : (tensor<i32>) -> ()}'
    """
    arguments = ", ".join(f"%{chr(97 + i)}: {type}" for i, type in enumerate(types))
    made = ", ".join(result or types[:1])
    head = f"^bb0({arguments}): " if types else ""
    return f'{{{head}{lines}\n"stablehlo.return"({returned}) : ({made}) -> ()}}'


__all__ = ["dense", "holds", "program", "region", "tensor"]
