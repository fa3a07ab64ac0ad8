"""Files of StableHLO text in, programs as the MLIR parser reads them out, one for each part of a file."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any, NamedTuple

from celadon.xla import require

_CONST = re.compile(r"(%[\w#]+),\s+(.*?)\s+:\s+(tensor<[^{}]*>)(?:\s*\{tolerance = ([\d.e+-]+).*\})?$", re.DOTALL)
_PAIR = re.compile(r"(%[\w#]+),\s+(%[\w#]+)(.*?)\s+:\s+(tensor<.*>)$", re.DOTALL)
_FAMILY = re.compile(r"(.+?)(?:_(?:shape|lhs|dtype|name|qi8|u?int\d|b?float\d|complex\d|bool).*|_?)$")
_LINES = re.compile(r"check\.expect_\w+ (?:[^\n]|\n(?!\s*(?:check\.|func\.|return|%|\}|//)))*")


class Case(NamedTuple):
    """One program of a file: its name (file, and the number of the part if there are several) and its text."""

    name: str
    text: str

    @property
    def family(self) -> str:
        """The op that it is about.

        >>> Case("scatter_min_int32_1_2_3_int32_1", "").family, Case("cosine/3", "").family
        ('scatter_min', 'cosine')
        """
        found = _FAMILY.match(self.name.partition("/")[0])
        return found[1] if found else self.name


def files(folder: Path, pattern: str = "") -> list[Path]:
    """The files under a folder whose names hold a pattern.

    >>> files(Path("no such folder"))
    []
    """
    return sorted(path for path in folder.rglob("*.mlir") if pattern in path.stem)


def cases(path: Path) -> list[Case]:
    """The programs of a file, which `// -----` separates; parts without a function are left out."""
    parts = [part for part in re.split(r"^// -----.*$", path.read_text(), flags=re.MULTILINE) if "func.func" in part]
    stem = path.stem.removesuffix(".large")
    names = [stem] if len(parts) == 1 else [f"{stem}/{i}" for i in range(len(parts))]
    return [Case(name, part) for name, part in zip(names, parts, strict=True)]


def parsed(text: str) -> Any:
    """The module of a text, whose ops of the dialect `check` are written as custom calls first.

    Raises `jaxlib.mlir.ir.MLIRError` if the parser refuses it.
    """
    ir = require("jaxlib.mlir.ir")
    with context(), ir.Location.unknown():
        return ir.Module.parse(_LINES.sub(_called, text))


@functools.cache
def context() -> Any:
    """MLIR's context, in which the dialects of StableHLO and CHLO are known."""
    found = require("jax").jit(lambda: None).lower().compiler_ir().context
    for dialect in ("stablehlo", "chlo"):
        require(f"jaxlib.mlir.dialects.{dialect}").register_dialect(found)
    return found


def _called(found: re.Match[str]) -> str:
    """A check as a custom call.

    >>> _called(_LINES.search("check.expect_eq_const %x, dense<1> : tensor<i32>"))
    'stablehlo.custom_call @check.expect_eq_const(%x) {check.value = dense<1> : tensor<i32>} : (tensor<i32>) -> ()'
    """
    word, _, rest = found[0].strip().partition(" ")
    pair = _PAIR.match(rest)
    if pair is not None:
        actual, expected, extra, types = pair.groups()
        first, _, second = types.partition(">, tensor<")
        both = (f"{first}>", f"tensor<{second}") if second else (types, types)
        tolerance = re.search(r"tolerance = ([\d.e+-]+)", extra)
        given = f" {{check.tolerance = {tolerance[1]} : f64}}" if tolerance else ""
        return f"stablehlo.custom_call @{word}({actual}, {expected}){given} : ({', '.join(both)}) -> ()"
    const = _CONST.match(rest)
    if const is None:
        return found[0]
    actual, value, type, tolerance = const.groups()
    given = f", check.tolerance = {tolerance} : f64" if tolerance else ""
    return f"stablehlo.custom_call @{word}({actual}) {{check.value = {value} : {type}{given}}} : ({type}) -> ()"


__all__ = ["Case", "cases", "context", "files", "parsed"]
