"""Element kinds and the machine come in, LLVM's spelling of types and constants goes out; ir.py writes text with it."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

from celadon.types import from_short

VECTOR_BYTES = 32  # 8 lanes of float32, 4 of float64: one AVX2 register

MANTISSA = {"f16": 10, "f32": 23, "f64": 52}
BIAS = {"f16": 15, "f32": 127, "f64": 1023}
NARROW = ("bf16", "f16")

_LLVM = {"f16": "half", "f32": "float", "f64": "double", "ptr": "ptr", "void": "void"}
_BITS = {"f16": 16, "f32": 32, "f64": 64, "ptr": 64}


class Target(NamedTuple):
    """What the machine can do that changes the text: without the first three, exact replacements are emitted; `wide` says
    that registers hold 64 bytes, which products of matrices make use of."""

    fma: bool = True
    half: bool = True
    rounding: bool = True
    wide: bool = False

    @classmethod
    def of(cls, triple: str, features: str) -> Target:
        """The target of an LLVM triple and feature string.

        >>> Target.of("x86_64-unknown-linux-gnu", "+avx2,+fma,+sse4.1,-f16c")
        Target(fma=True, half=False, rounding=True, wide=False)
        """
        if not triple.startswith(("x86_64", "i686")):
            return cls()
        have = set(features.split(","))
        wide = {"+avx512f", "+avx512bw", "+avx512dq", "+avx512vl"} <= have
        return cls("+fma" in have, "+f16c" in have, "+sse4.1" in have, wide)


FULL = Target()


def itemsize(dtype: str) -> int:
    """Bytes of an element in memory.

    >>> itemsize("bf16"), itemsize("c64")
    (2, 8)
    """
    return from_short[dtype].itemsize


def letter(dtype: str) -> str:
    """The kind of a dtype: b i u f or c.

    >>> letter("bool"), letter("bf16"), letter("u8")
    ('b', 'f', 'u')
    """
    return "b" if dtype == "bool" else "f" if dtype == "bf16" else dtype[0]


def lanes_of(itemsize: int) -> int:
    """How many lanes a vector has whose widest element takes `itemsize` bytes.

    >>> lanes_of(4), lanes_of(8)
    (8, 4)
    """
    return VECTOR_BYTES // max(itemsize, 4)


def lanes_for(dtypes: Sequence[str]) -> int:
    """Lanes of a loop over these dtypes.

    >>> lanes_for(["f32", "bf16"]), lanes_for(["f32", "c64"])
    (8, 4)
    """
    return lanes_of(max(itemsize(dtype) for dtype in dtypes))


def bits_of(kind: str) -> int:
    """The width of an element kind in bits.

    >>> bits_of("i8"), bits_of("f64")
    (8, 64)
    """
    return _BITS[kind] if kind in _BITS else int(kind[1:])


def spelled(kind: str, lanes: int = 1) -> str:
    """LLVM's name of a type.

    >>> spelled("f32", 8)
    '<8 x float>'
    """
    name = _LLVM.get(kind, kind)
    return name if lanes == 1 else f"<{lanes} x {name}>"


def mangled(kind: str, lanes: int) -> str:
    """The suffix of an intrinsic for a type.

    >>> mangled("f32", 8)
    'v8f32'
    """
    return kind if lanes == 1 else f"v{lanes}{kind}"


def literal(kind: str, number: Any) -> str:
    """A number as LLVM writes it for one element.

    >>> literal("f32", 0.5), literal("i8", 255)
    ('0x3FE0000000000000', '-1')
    """
    if kind == "f32":
        number = struct.unpack("<f", struct.pack("<f", number))[0]
    if kind in ("f32", "f64"):
        return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"
    if kind == "i1":
        return "true" if number else "false"
    half = 1 << (bits_of(kind) - 1)
    return str((int(number) + half) % (2 * half) - half)
