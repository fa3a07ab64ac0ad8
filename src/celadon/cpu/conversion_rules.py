"""Elements of one dtype come in, those of another go out: casts that saturate, bits taken as they are, comparisons."""

from __future__ import annotations

from celadon.cpu.elements import Element, from_memory, register_kind, to_memory
from celadon.cpu.ir import Value
from celadon.cpu.kinds import NARROW, bits_of, letter, mangled, spelled
from celadon.cpu.narrow import narrowed, rounded

_PREDICATES = {
    "f": {"EQ": "oeq", "NE": "une", "LT": "olt", "LE": "ole", "GT": "ogt", "GE": "oge"},
    "i": {"EQ": "eq", "NE": "ne", "LT": "slt", "LE": "sle", "GT": "sgt", "GE": "sge"},
    "u": {"EQ": "eq", "NE": "ne", "LT": "ult", "LE": "ule", "GT": "ugt", "GE": "uge"},
}


def convert(x: Element, source: str, target: str) -> Element:
    """To bool is `!= 0`, complex to real drops the imaginary part, float to integer saturates with NaN to 0."""
    if source == target:
        return x
    if isinstance(x, tuple):
        return _convert_complex(x, source, target)
    if letter(target) == "c":
        part = _part(target)
        return _convert_real(x, source, part), x.function.constant(part, 0.0, x.lanes)
    return _convert_real(x, source, target)


def _part(dtype: str) -> str:
    """The dtype of a complex dtype's parts."""
    return {"c64": "f32", "c128": "f64"}[dtype]


def _convert_complex(x: tuple[Value, Value], source: str, target: str) -> Element:
    part = _part(source)
    if letter(target) == "c":
        return _convert_real(x[0], part, _part(target)), _convert_real(x[1], part, _part(target))
    return _convert_real(x[0], part, target)


def _convert_real(x: Value, source: str, target: str) -> Value:
    if letter(target) == "b":
        return x.differs(0) if source != "bool" else x
    if letter(target) == "f":
        return _to_float(x, source, target)
    if letter(source) == "f":
        return _saturated(x, target)
    wider = bits_of(register_kind(target)) > bits_of(x.kind)
    extend = "sext" if letter(source) == "i" else "zext"
    return x.convert(extend if wider else "trunc", register_kind(target))


def _to_float(x: Value, source: str, target: str) -> Value:
    if letter(source) == "f":
        return _between_floats(x, source, target)
    opcode = "sitofp" if letter(source) == "i" else "uitofp"
    value = x.convert(opcode, register_kind(target))
    return rounded(value, target) if target in NARROW and bits_of(x.kind) > 1 else value


def _between_floats(x: Value, source: str, target: str) -> Value:
    """float64 to float16 rounds once; to bfloat16 it goes through float32, as NumPy and XLA do."""
    if target == "f64":
        return x.convert("fpext", "f64")
    if x.kind == "f64":
        x = narrowed(x) if target == "f16" else x.convert("fptrunc", "f32")
    return rounded(x, target) if target in NARROW else x


def _saturated(x: Value, target: str) -> Value:
    f, kind = x.function, register_kind(target)
    opcode = "fptosi" if letter(target) == "i" else "fptoui"
    result = spelled(kind, x.lanes)
    symbol = f"llvm.{opcode}.sat.{mangled(kind, x.lanes)}.{mangled(x.kind, x.lanes)}"
    f.declarations.add(f"declare {result} @{symbol}({x.type})")
    return f.op(f"call {result} @{symbol}({x.typed})", kind, x.lanes)


def bitcast_convert(x: Element, source: str, target: str) -> Element:
    """The same bits, taken as another dtype of the same width."""
    if isinstance(x, tuple) or source == target:
        return x
    bits = to_memory(x, source)
    kind = "i" + str(bits_of(bits.kind))
    bits = bits.convert("bitcast", kind)
    return from_memory(bits.floats() if target in ("f32", "f64") else bits, target)


def compare(x: Element, y: Element, dtype: str, direction: str, total_order: bool) -> Value:
    if isinstance(x, tuple) and isinstance(y, tuple):
        equal = x[0].equals(y[0]) & x[1].equals(y[1])
        return equal if direction == "EQ" else ~equal
    assert isinstance(x, Value) and isinstance(y, Value)
    if total_order:
        return ordinal(x).compare(_PREDICATES["i"][direction], ordinal(y))
    kind = "u" if letter(dtype) == "b" else letter(dtype)
    return x.compare(_PREDICATES[kind][direction], y)


def ordinal(x: Value) -> Value:
    """The integer that counts floats from -NaN up to NaN, -0.0 below 0.0."""
    bits = x.bits()
    return (bits < 0).select(bits ^ ((1 << bits_of(x.kind) - 1) - 1), bits)
