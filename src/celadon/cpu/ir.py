"""Typed values and operations come in, LLVM IR text goes out: kernels and math are written with it, llvm.py is next."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from celadon.cpu.kinds import FULL, Target, bits_of, literal, mangled, spelled

INLINED_AT_MOST = (
    4  # calls of one straight function inside one other: beyond, code generation takes longer than it saves
)

_FLOATS = {16: "f16", 32: "f32", 64: "f64"}


class Value:
    """An SSA value or constant of one function: its text, element kind and lanes; operators emit into that function."""

    __slots__ = ("function", "kind", "lanes", "text")

    def __init__(self, text: str, kind: str, lanes: int, function: Function):
        self.text, self.kind, self.lanes, self.function = text, kind, lanes, function

    @property
    def type(self) -> str:
        return spelled(self.kind, self.lanes)

    @property
    def typed(self) -> str:
        return f"{self.type} {self.text}"

    @property
    def is_float(self) -> bool:
        return self.kind[0] == "f"

    def _binary(self, opcode: str, other: Operand) -> Value:
        return self.function.binary(opcode, self, other)

    def _swapped(self, opcode: str, other: float) -> Value:
        return self.function.binary(opcode, self.function.constant(self.kind, other, self.lanes), self)

    def __add__(self, other: Operand) -> Value:
        return self._binary("fadd" if self.is_float else "add", other)

    def __sub__(self, other: Operand) -> Value:
        return self._binary("fsub" if self.is_float else "sub", other)

    def __mul__(self, other: Operand) -> Value:
        return self._binary("fmul" if self.is_float else "mul", other)

    def __truediv__(self, other: Operand) -> Value:
        return self._binary("fdiv", other)

    def __radd__(self, other: float) -> Value:
        return self + other

    def __rsub__(self, other: float) -> Value:
        return self._swapped("fsub" if self.is_float else "sub", other)

    def __rmul__(self, other: float) -> Value:
        return self * other

    def __rtruediv__(self, other: float) -> Value:
        return self._swapped("fdiv", other)

    def __and__(self, other: Operand) -> Value:
        return self._binary("and", other)

    def __or__(self, other: Operand) -> Value:
        return self._binary("or", other)

    def __xor__(self, other: Operand) -> Value:
        return self._binary("xor", other)

    def __lshift__(self, other: Operand) -> Value:
        return self._binary("shl", other)

    def __rshift__(self, other: Operand) -> Value:
        """Logical, as bits: the sign does not follow."""
        return self._binary("lshr", other)

    def __neg__(self) -> Value:
        return self.function.op(f"fneg {self.typed}", self.kind, self.lanes) if self.is_float else 0 - self

    def __invert__(self) -> Value:
        return self ^ -1

    def __lt__(self, other: Operand) -> Value:
        return self.compare("olt" if self.is_float else "slt", other)

    def __le__(self, other: Operand) -> Value:
        return self.compare("ole" if self.is_float else "sle", other)

    def __gt__(self, other: Operand) -> Value:
        return self.compare("ogt" if self.is_float else "sgt", other)

    def __ge__(self, other: Operand) -> Value:
        return self.compare("oge" if self.is_float else "sge", other)

    def equals(self, other: Operand) -> Value:
        return self.compare("oeq" if self.is_float else "eq", other)

    def differs(self, other: Operand) -> Value:
        return self.compare("une" if self.is_float else "ne", other)

    def is_nan(self) -> Value:
        return self.compare("uno", self)

    def compare(self, predicate: str, other: Operand) -> Value:
        """An i1 by an fcmp or icmp predicate."""
        return self.function.compare(predicate, self, other)

    def select(self, yes: Operand, no: Operand) -> Value:
        """Lane by lane, `yes` where this mask holds, else `no`; one of the two is a Value."""
        return self.function.select(self, yes, no)

    def fma(self, factor: Operand, addend: Operand) -> Value:
        """self * factor + addend, rounded once."""
        return self.function.fma(self, factor, addend)

    def polynomial(self, coefficients: Sequence[float]) -> Value:
        """The polynomial in this value, coefficients from the constant upwards, by Horner's rule."""
        result: Value | float = coefficients[-1]
        for c in reversed(coefficients[:-1]):
            result = self.fma(result, c)
        return self.function.like(self, result)

    def abs(self) -> Value:
        return self.function.intrinsic("fabs", self)

    def sqrt(self) -> Value:
        return self.function.intrinsic("sqrt", self)

    def copysign(self, sign: Value) -> Value:
        """By bits: LLVM may leave its own copysign to a library where it meets a float16."""
        top = bits_of(self.kind) - 1
        return (self.bits() & (1 << top) - 1 | sign.bits() & -(1 << top)).floats()

    def bits(self) -> Value:
        """The same bits as an integer."""
        return self.convert("bitcast", f"i{bits_of(self.kind)}")

    def floats(self) -> Value:
        """The same bits as a float."""
        return self.convert("bitcast", _FLOATS[bits_of(self.kind)])

    def convert(self, opcode: str, kind: str) -> Value:
        """This value through a cast instruction (zext, fpext, bitcast ...), lane by lane."""
        return self if kind == self.kind else self.function.cast(opcode, self, kind)


Operand = Value | float | int


class Function:
    """One LLVM function under construction: lines of SSA text; equal text in one block is emitted once.

    name: its symbol; parameters: (kind, lanes) of each; result: (kind, lanes), or None for void.
    external: a kernel that the linker must find; else a fast-calling function of its module.

    >>> f = Function("twice", [("f32", 8)], ("f32", 8))
    >>> f.returns(f.parameters[0] + f.parameters[0])
    >>> print(f.text())
    define internal fastcc <8 x float> @twice(<8 x float> %p0) #0 {
    entry:
      %v1 = fadd <8 x float> %p0, %p0
      ret <8 x float> %v1
    }
    """

    def __init__(
        self,
        name: str,
        parameters: Sequence[tuple[str, int]] = (),
        result: tuple[str, int] | None = None,
        external: bool = False,
        target: Target = FULL,
    ):
        self.name, self.result, self.external, self.target = name, result, external, target
        self.parameters = [Value(f"%p{i}", kind, lanes, self) for i, (kind, lanes) in enumerate(parameters)]
        self.lines: list[str] = ["entry:"]
        self.block = "entry"
        self.declarations: set[str] = set()
        self.calls: dict[str, list[_Call]] = {}
        self.tables: dict[str, str] = {}
        self._memo: dict[str, Value] = {}
        self._count = 0

    # --- text

    def raw(self, line: str) -> None:
        """A line without a result: a store, a branch."""
        self.lines.append("  " + line)

    def new(self, text: str, kind: str, lanes: int = 1) -> Value:
        """The value of an instruction that must not be shared: a load, a phi, a call with effects."""
        self._count += 1
        value = Value(f"%v{self._count}", kind, lanes, self)
        self.lines.append(f"  {value.text} = {text}")
        return value

    def op(self, text: str, kind: str, lanes: int = 1) -> Value:
        """The value of a pure instruction; the same text in the same block gives the same value."""
        found = self._memo.get(text)
        if found is None:
            found = self._memo[text] = self.new(text, kind, lanes)
        return found

    def text(self) -> str:
        """The whole definition."""
        kind, lanes = self.result or ("void", 1)
        lines = list(self.lines)
        for call in (c for calls in self.calls.values() if _inlined(calls) for c in calls):
            lines[call.line] = call.body()
        linkage = "" if self.external else "internal fastcc "
        parameters = ", ".join(p.typed for p in self.parameters)
        head = f"define {linkage}{spelled(kind, lanes)} @{self.name}({parameters}) #0 {{"
        return "\n".join([head, *lines, "}"])

    def callees(self) -> list[Function]:
        """The functions that its text calls, and does not hold in place."""
        return [calls[0].callee for calls in self.calls.values() if not _inlined(calls)]

    def straight(self) -> bool:
        """One block without calls or tables that ends in a computed value: it may be emitted in place."""
        last = self.lines[-1].rpartition(" ")[2]
        return self.lines[0] == "entry:" == self.block + ":" and not self.calls and not self.tables and last[:2] == "%v"

    # --- constants

    def constant(self, kind: str, number: Any, lanes: int = 1) -> Value:
        one = literal(kind, number)
        text = one if lanes == 1 else f"splat ({spelled(kind)} {one})"
        return Value(text, kind, lanes, self)

    def like(self, value: Value, operand: Operand) -> Value:
        """The operand as a Value; a number becomes a constant of `value`'s type."""
        return operand if isinstance(operand, Value) else self.constant(value.kind, operand, value.lanes)

    def lane_numbers(self, kind: str, lanes: int) -> Value:
        """0, 1, 2 ... one a lane."""
        if lanes == 1:
            return self.constant(kind, 0)
        return Value("<" + ", ".join(f"{kind} {i}" for i in range(lanes)) + ">", kind, lanes, self)

    # --- arithmetic

    def binary(self, opcode: str, x: Value, y: Operand) -> Value:
        return self.op(f"{opcode} {x.typed}, {self.like(x, y).text}", x.kind, x.lanes)

    def compare(self, predicate: str, x: Value, y: Operand) -> Value:
        opcode = "fcmp" if x.is_float else "icmp"
        return self.op(f"{opcode} {predicate} {x.typed}, {self.like(x, y).text}", "i1", x.lanes)

    def select(self, condition: Value, yes: Operand, no: Operand) -> Value:
        model = yes if isinstance(yes, Value) else no
        assert isinstance(model, Value)
        yes, no = self.like(model, yes), self.like(model, no)
        return self.op(f"select {condition.typed}, {yes.typed}, {no.typed}", model.kind, model.lanes)

    def cast(self, opcode: str, x: Value, kind: str) -> Value:
        return self.op(f"{opcode} {x.typed} to {spelled(kind, x.lanes)}", kind, x.lanes)

    def intrinsic(self, name: str, *operands: Value, flags: Iterable[str] = ()) -> Value:
        """An intrinsic overloaded on its first operand's type, which its result shares; flags are extra i1 literals."""
        x = operands[0]
        symbol = f"llvm.{name}.{mangled(x.kind, x.lanes)}"
        types = ", ".join([v.type for v in operands] + ["i1" for _ in flags])
        self.declarations.add(f"declare {x.type} @{symbol}({types})")
        given = ", ".join([v.typed for v in operands] + [f"i1 {f}" for f in flags])
        return self.op(f"call {x.type} @{symbol}({given})", x.kind, x.lanes)

    def fma(self, x: Value, y: Operand, z: Operand) -> Value:
        y, z = self.like(x, y), self.like(x, z)
        return self.intrinsic("fma", x, y, z) if self.target.fma else _without_fma(x, y, z)

    def any(self, mask: Value) -> Value:
        """A scalar i1: does the mask hold in any lane?"""
        if mask.lanes == 1:
            return mask
        symbol = f"llvm.vector.reduce.or.{mangled('i1', mask.lanes)}"
        self.declarations.add(f"declare i1 @{symbol}({mask.type})")
        return self.op(f"call i1 @{symbol}({mask.typed})", "i1")

    # --- vectors

    def splat(self, x: Value, lanes: int) -> Value:
        """A scalar in every lane."""
        if lanes == 1:
            return x
        vector = spelled(x.kind, lanes)
        first = self.op(f"insertelement {vector} poison, {x.typed}, i64 0", x.kind, lanes)
        text = f"shufflevector {first.typed}, {vector} poison, <{lanes} x i32> zeroinitializer"
        return self.op(text, x.kind, lanes)

    def extract(self, x: Value, lane: int) -> Value:
        return x if x.lanes == 1 else self.op(f"extractelement {x.typed}, i64 {lane}", x.kind)

    def insert(self, x: Value, element: Value, lane: int) -> Value:
        if x.lanes == 1:
            return element
        return self.op(f"insertelement {x.typed}, {element.typed}, i64 {lane}", x.kind, x.lanes)

    def shuffle(self, x: Value, y: Value, lanes: Sequence[int]) -> Value:
        """Lanes picked from x, then y, by number."""
        mask = ", ".join(f"i32 {i}" for i in lanes)
        text = f"shufflevector {x.typed}, {y.typed}, <{len(lanes)} x i32> <{mask}>"
        return self.op(text, x.kind, len(lanes))

    # --- memory

    def gep(self, pointer: Value, index: Value | int, kind: str) -> Value:
        """The address of element `index` (i64) of an array of `kind`."""
        at = index.text if isinstance(index, Value) else str(index)
        return self.op(f"getelementptr {spelled(kind)}, ptr {pointer.text}, i64 {at}", "ptr")

    def load(self, pointer: Value, kind: str, lanes: int = 1, align: int = 0) -> Value:
        """`lanes` elements at an address that is aligned to an element, or to `align` bytes."""
        align = align or max(bits_of(kind) // 8, 1)
        return self.new(f"load {spelled(kind, lanes)}, ptr {pointer.text}, align {align}", kind, lanes)

    def store(self, value: Value, pointer: Value, align: int = 0) -> None:
        align = align or max(bits_of(value.kind) // 8, 1)
        self.raw(f"store {value.typed}, ptr {pointer.text}, align {align}")

    def masked_load(self, pointer: Value, mask: Value, kind: str) -> Value:
        """Elements where the mask holds, zero elsewhere; other memory is not touched."""
        vector, symbol = spelled(kind, mask.lanes), f"llvm.masked.load.{mangled(kind, mask.lanes)}.p0"
        self.declarations.add(f"declare {vector} @{symbol}(ptr, {mask.type}, {vector})")
        given = f"ptr align {bits_of(kind) // 8} {pointer.text}, {mask.typed}, {vector} zeroinitializer"
        return self.new(f"call {vector} @{symbol}({given})", kind, mask.lanes)

    def masked_store(self, value: Value, pointer: Value, mask: Value) -> None:
        symbol = f"llvm.masked.store.{mangled(value.kind, value.lanes)}.p0"
        self.declarations.add(f"declare void @{symbol}({value.type}, ptr, {mask.type})")
        place = f"ptr align {bits_of(value.kind) // 8} {pointer.text}"
        self.raw(f"call void @{symbol}({value.typed}, {place}, {mask.typed})")

    def table(self, kind: str, numbers: Sequence[Any]) -> Value:
        """The address of a constant array of the module; equal arrays of one function are one."""
        elements = ", ".join(f"{spelled(kind)} {literal(kind, n)}" for n in numbers)
        body = f"[{len(numbers)} x {spelled(kind)}] [{elements}]"
        symbol = self.tables.setdefault(body, f"@{self.name}.table{len(self.tables)}")
        return Value(symbol, "ptr", 1, self)

    # --- control flow

    def fresh(self, word: str) -> str:
        """A label no other block of this function has."""
        self._count += 1
        return f"{word}{self._count}"

    def label(self, name: str) -> None:
        """Begin a block."""
        self.lines.append(f"{name}:")
        self.block, self._memo = name, {}

    def jump(self, label: str) -> None:
        self.raw(f"br label %{label}")

    def branch(self, condition: Value, yes: str, no: str) -> None:
        self.raw(f"br i1 {condition.text}, label %{yes}, label %{no}")

    def phi(self, kind: str, lanes: int, arms: Iterable[tuple[Value | str, str]]) -> Value:
        """A value by the block control came from; a text may name a value that is defined further down."""
        given = ", ".join(f"[ {v.text if isinstance(v, Value) else v}, %{block} ]" for v, block in arms)
        return self.new(f"phi {spelled(kind, lanes)} {given}", kind, lanes)

    def named(self, name: str, value: Value) -> None:
        """Give a value a name that an earlier phi mentioned: an empty shift or sum carries it."""
        opcode = "fadd" if value.is_float else "or"
        zero = self.constant(value.kind, -0.0 if value.is_float else 0, value.lanes)
        self.lines.append(f"  {name} = {opcode} {value.typed}, {zero.text}")

    def rarely(self, mask: Value, usual: Value, slow: Callable[[], Value]) -> Value:
        """`usual`, or if the mask holds in any lane, what `slow` computes for all lanes, branched around otherwise."""
        start, rare, done = self.block, self.fresh("rare"), self.fresh("done")
        self.branch(self.any(mask), rare, done)
        self.label(rare)
        value, end = slow(), self.block
        self.jump(done)
        self.label(done)
        return self.phi(usual.kind, usual.lanes, [(usual, start), (value, end)])

    def call(self, callee: Function, *operands: Value) -> Value:
        """The result of a pure fast-calling function, which is put in its place or becomes part of the module."""
        assert callee.result is not None
        given = ", ".join(v.typed for v in operands)
        text = f"call fastcc {spelled(*callee.result)} @{callee.name}({given})"
        found = self._memo.get(text)
        if found is None:
            found = self.op(text, *callee.result)
            call = _Call(callee, len(self.lines) - 1, found, operands)
            self.calls.setdefault(callee.name, []).append(call)
            self.declarations |= callee.declarations if callee.straight() else set()
        return found

    def returns(self, value: Value | None = None) -> None:
        self.raw("ret void" if value is None else f"ret {value.typed}")


class _Call(NamedTuple):
    callee: Function
    line: int
    result: Value
    operands: tuple[Value, ...]

    def body(self) -> str:
        """The callee's lines with its parameters and names replaced."""
        last = self.callee.lines[-1].rpartition(" ")[2]

        def renamed(match: re.Match[str]) -> str:
            if match[1] == "p":
                return self.operands[int(match[2])].text
            return self.result.text if match[0] == last else f"{self.result.text}.{match[2]}"

        return re.sub(r"%(p|v)(\d+)\b", renamed, "\n".join(self.callee.lines[1:-1]))


def _inlined(calls: list[_Call]) -> bool:
    return len(calls) <= INLINED_AT_MOST and calls[0].callee.straight()


def _without_fma(x: Value, y: Value, z: Value) -> Value:
    """A fused multiply-add where the machine has none: in float64, or with exact products and sums of float64."""
    if x.kind == "f32":
        wide = [v.convert("fpext", "f64") for v in (x, y, z)]
        return (wide[0] * wide[1] + wide[2]).convert("fptrunc", "f32")
    (xh, xl), (yh, yl) = _halves(x), _halves(y)
    product = x * y
    error = xl * yl - (((product - xh * yh) - xl * yh) - xh * yl)
    total = product + z
    back = total - product
    rest = (product - (total - back)) + (z - back)
    tail = rest + error
    return tail.is_nan().select(total, total + tail)


def _halves(x: Value) -> tuple[Value, Value]:
    scaled = x * 134217729.0
    high = scaled - (scaled - x)
    return high, x - high


def module(functions: Iterable[Function]) -> str:
    """One module's text: the functions, all that they call, their tables and declarations, each once."""
    found: dict[str, Function] = {}
    pending = list(functions)
    while pending:
        f = pending.pop()
        if f.name not in found:
            found[f.name] = f
            pending.extend(f.callees())
    ordered = sorted(found.values(), key=lambda f: f.name)
    tables = [f"{symbol} = internal constant {body}" for f in ordered for body, symbol in f.tables.items()]
    declarations = sorted(set[str]().union(*(f.declarations for f in ordered)))
    return "\n".join([*declarations, *tables, *(f.text() for f in ordered), "attributes #0 = { nounwind }", ""])
