"""Elements of every dtype between memory and registers: kernels move them, elementwise rows compute with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from celadon.cpu.ir import Function, Value
from celadon.cpu.kinds import NARROW, itemsize
from celadon.cpu.narrow import packed, unpacked
from celadon.types import from_short

Element = Value | tuple[Value, Value]  # a complex number is its real and imaginary parts

_MEMORY = {
    "bool": "i8", "i8": "i8", "u8": "i8", "i16": "i16", "u16": "i16", "i32": "i32", "u32": "i32", "i64": "i64",
    "u64": "i64", "bf16": "i16", "f16": "i16", "f32": "f32", "f64": "f64", "c64": "f32", "c128": "f64",
}  # fmt: skip


def memory_kind(dtype: str) -> str:
    return _MEMORY[dtype]


def word_kind(dtype: str) -> tuple[str, int]:
    """A kind of LLVM's that holds a whole element, for moving it, and its alignment."""
    if is_complex(dtype):
        return f"i{8 * itemsize(dtype)}", itemsize(dtype) // 2
    return _MEMORY[dtype], itemsize(dtype)


def is_complex(dtype: str) -> bool:
    return dtype in ("c64", "c128")


def load(f: Function, pointer: Value, dtype: str, lanes: int = 1) -> Element:
    """`lanes` neighbouring elements at an address."""
    kind = _MEMORY[dtype]
    if is_complex(dtype):
        both = f.load(pointer, kind, 2 * lanes)
        return _every_other(f, both, lanes, 0), _every_other(f, both, lanes, 1)
    return from_memory(f.load(pointer, kind, lanes), dtype)


def _every_other(f: Function, both: Value, lanes: int, first: int) -> Value:
    if lanes == 1:
        return f.extract(both, first)
    return f.shuffle(both, both, range(first, 2 * lanes, 2))


def store(f: Function, element: Element, pointer: Value, dtype: str) -> None:
    if isinstance(element, tuple):
        f.store(_interleaved(f, *element), pointer, align=itemsize(dtype) // 2)
    else:
        f.store(to_memory(element, dtype), pointer)


def _interleaved(f: Function, re: Value, im: Value) -> Value:
    lanes = re.lanes
    if lanes > 1:
        return f.shuffle(re, im, [k for i in range(lanes) for k in (i, lanes + i)])
    pair = f.op(f"insertelement <2 x {re.type}> poison, {re.typed}, i64 0", re.kind, 2)
    return f.insert(pair, im, 1)


def from_memory(x: Value, dtype: str) -> Value:
    if dtype == "bool":
        return x.compare("ne", 0)
    return unpacked(x, dtype) if dtype in NARROW else x


def to_memory(x: Value, dtype: str) -> Value:
    if dtype == "bool":
        return x.convert("zext", "i8")
    return packed(x, dtype) if dtype in NARROW else x


def constant(f: Function, dtype: str, bits: bytes, lanes: int = 1) -> Element:
    value = np.frombuffer(bits, from_short[dtype])[0]
    if is_complex(dtype):
        kind = _MEMORY[dtype]
        return f.constant(kind, value.real, lanes), f.constant(kind, value.imag, lanes)
    return f.constant(register_kind(dtype), value, lanes)


def register_kind(dtype: str) -> str:
    return "i1" if dtype == "bool" else "f32" if dtype in ("bf16", "f16") else _MEMORY[dtype]


def splat(f: Function, element: Element, lanes: int) -> Element:
    return each(lambda x: x if x.lanes == lanes else f.splat(x, lanes), element)


def extract(f: Function, element: Element, lane: int) -> Element:
    return each(lambda x: f.extract(x, lane), element)


def each(rule: Callable[[Value], Value], element: Element) -> Element:
    """The rule applied to an element's parts."""
    return (rule(element[0]), rule(element[1])) if isinstance(element, tuple) else rule(element)


def parts(elements: Sequence[Element]) -> list[Value]:
    """The values of several elements in a row, for a loop to carry."""
    return [x for e in elements for x in (e if isinstance(e, tuple) else (e,))]


def rejoined(values: Sequence[Value], like: Sequence[Element]) -> list[Element]:
    """The inverse of parts."""
    rest = iter(values)
    return [(next(rest), next(rest)) if isinstance(e, tuple) else next(rest) for e in like]


def select(mask: Value, yes: Element, no: Element) -> Element:
    if isinstance(yes, tuple) and isinstance(no, tuple):
        return mask.select(yes[0], no[0]), mask.select(yes[1], no[1])
    assert isinstance(yes, Value) and isinstance(no, Value)
    return mask.select(yes, no)


def strided(f: Function, pointer: Value, stride: Value, indices: Sequence[Value], dtype: str) -> Element:
    """Elements at `pointer + index * stride` bytes, one a lane."""
    found = [load(f, f.gep(pointer, index * stride, "i8"), dtype) for index in indices]
    return gathered(f, found)


def gathered(f: Function, lanes: Sequence[Element]) -> Element:
    """One element of single ones."""
    if len(lanes) == 1:
        return lanes[0]
    columns = [parts([e]) for e in lanes]
    vectors = [_vector(f, [column[k] for column in columns]) for k in range(len(columns[0]))]
    return (vectors[0], vectors[1]) if len(vectors) == 2 else vectors[0]


def _vector(f: Function, values: Sequence[Value]) -> Value:
    count, kind = len(values), values[0].kind
    vector = f.op(f"insertelement <{count} x {values[0].type}> poison, {values[0].typed}, i64 0", kind, count)
    for lane, value in enumerate(values[1:], 1):
        vector = f.insert(vector, value, lane)
    return vector
