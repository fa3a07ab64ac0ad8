"""Functions over 64-bit words, in Python's syntax, come in; LLVM IR goes out: native_source is written so, driver links it.

A subset that is its own machine model: every value is a word, `p[i]` is the i-th word at address p, `outside.name` is a
word of a table that whoever loads the code fills, and `outside.name(...)` calls the C function at that address.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

_BINARY: dict[type[ast.operator], str] = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.BitAnd: "and"}
_COMPARED: dict[type[ast.cmpop], str] = {
    ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "slt", ast.LtE: "sle", ast.Gt: "sgt", ast.GtE: "sge",
}  # fmt: skip


def translated(source: str, outside: Iterable[str], constants: Mapping[str, int], returns: Mapping[str, str]) -> str:
    """LLVM IR of a module of such functions.

    Args:
        source: definitions of functions; statements are assignments, `while`, `if`, `break`, `return` and calls.
        outside: the names in the table of outside words, in its order; the IR's symbol for the table is `outside`.
        constants: numbers by the names that the source has for them.
        returns: "i32" or "double" for the outside functions that return no word; of a double the bits are taken.

    Besides them there are `room(n)`, n words that live until the function returns, and `single(bits)`, which rounds the
    bits of a float64 to those of a float32.

    >>> "ret i64" in translated("def f(x):\\n    return x[1]", ["none"], {}, {})
    True
    """
    places = {name: i for i, name in enumerate(outside)}
    head = f"@outside = dso_local global [{len(places)} x i64] zeroinitializer, align 64\n"
    functions = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    return head + "".join(_Function(places, constants, returns).written(one) for one in functions)


class _Function:
    """One function as it is written; every variable has a place on the stack, which the code generator is left with."""

    def __init__(self, places: dict[str, int], constants: Mapping[str, int], returns: Mapping[str, str]):
        self.places, self.constants, self.returns = places, constants, returns
        self.lines: list[str] = []
        self.count = 0
        self.ends: list[str] = []  # of the loops around
        self.closed = False  # the block has its last instruction

    def written(self, node: ast.FunctionDef) -> str:
        parameters = [argument.arg for argument in node.args.args]
        stored = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        for name in [*parameters, *sorted(stored - set(parameters))]:
            self.lines.append(f"  %at.{name} = alloca i64")
        for name in parameters:
            self.lines.append(f"  store i64 %{name}, ptr %at.{name}")
        self._suite(node.body)
        if not self.closed:
            self.lines.append("  ret i64 0")
        head = ", ".join(f"i64 %{name}" for name in parameters)
        return "\n".join([f"define i64 @{node.name}({head}) {{", *self.lines, "}", ""])

    def _fresh(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def _value(self, text: str) -> str:
        name = f"%{self._fresh()}"
        self.lines.append(f"  {name} = {text}")
        return name

    def _begin(self, label: str) -> None:
        if not self.closed:
            self.lines.append(f"  br label %{label}")
        self.lines.append(f"{label}:")
        self.closed = False

    def _end(self, instruction: str) -> None:
        self.lines.append(f"  {instruction}")
        self.closed = True

    def _suite(self, body: list[ast.stmt]) -> None:
        for statement in body:
            if self.closed:
                return
            if isinstance(statement, ast.Expr):
                if not isinstance(statement.value, ast.Constant):  # a docstring
                    self._word(statement.value)
            else:
                getattr(self, f"_{type(statement).__name__.lower()}")(statement)

    def _assign(self, node: ast.Assign) -> None:
        [target] = node.targets
        value = self._word(node.value)
        self.lines.append(f"  store i64 {value}, ptr {self._place(target)}")

    def _augassign(self, node: ast.AugAssign) -> None:
        place = self._place(node.target)
        old, more = self._value(f"load i64, ptr {place}"), self._word(node.value)
        self.lines.append(f"  store i64 {self._value(f'{_BINARY[type(node.op)]} i64 {old}, {more}')}, ptr {place}")

    def _return(self, node: ast.Return) -> None:
        assert node.value is not None
        self._end(f"ret i64 {self._word(node.value)}")

    def _break(self, node: ast.Break) -> None:
        self._end(f"br label %{self.ends[-1]}")

    def _if(self, node: ast.If) -> None:
        yes, no, after = self._fresh(), self._fresh(), self._fresh()
        self._jump(node.test, yes, no)
        self._begin(yes)
        self._suite(node.body)
        if not self.closed:
            self._end(f"br label %{after}")
        self._begin(no)
        self._suite(node.orelse)
        self._begin(after)

    def _while(self, node: ast.While) -> None:
        test, body, after = self._fresh(), self._fresh(), self._fresh()
        self._begin(test)
        self._jump(node.test, body, after)
        self.ends.append(after)
        self._begin(body)
        self._suite(node.body)
        if not self.closed:
            self._end(f"br label %{test}")
        self.ends.pop()
        self._begin(after)

    def _jump(self, test: ast.expr, yes: str, no: str) -> None:
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            self._jump(test.operand, no, yes)
        elif isinstance(test, ast.BoolOp):
            self._jump_in_turn(test, yes, no)
        else:
            self._end(f"br i1 {self._truth(test)}, label %{yes}, label %{no}")

    def _jump_in_turn(self, test: ast.BoolOp, yes: str, no: str) -> None:
        for one in test.values[:-1]:
            more = self._fresh()
            self._jump(one, *((more, no) if isinstance(test.op, ast.And) else (yes, more)))
            self._begin(more)
        self._jump(test.values[-1], yes, no)

    def _truth(self, test: ast.expr) -> str:
        if isinstance(test, ast.Compare):
            [operator], [other] = test.ops, test.comparators
            return self._value(f"icmp {_COMPARED[type(operator)]} i64 {self._word(test.left)}, {self._word(other)}")
        return self._value(f"icmp ne i64 {self._word(test)}, 0")

    def _word(self, node: ast.expr) -> str:
        if isinstance(node, ast.Constant):
            return str(node.value)
        if isinstance(node, ast.Name) and node.id in self.constants:
            return str(self.constants[node.id])
        if isinstance(node, ast.UnaryOp):
            return self._value(f"sub i64 0, {self._word(node.operand)}")
        if isinstance(node, ast.BinOp):
            left, right = self._word(node.left), self._word(node.right)
            return self._value(f"{_BINARY[type(node.op)]} i64 {left}, {right}")
        if isinstance(node, ast.Call):
            return self._call(node)
        return self._value(f"load i64, ptr {self._place(node)}")

    def _place(self, node: ast.expr) -> str:
        if isinstance(node, ast.Name):
            return f"%at.{node.id}"
        if isinstance(node, ast.Attribute):
            return f"getelementptr (i8, ptr @outside, i64 {8 * self.places[node.attr]})"
        assert isinstance(node, ast.Subscript), ast.unparse(node)
        start = self._value(f"inttoptr i64 {self._word(node.value)} to ptr")
        return self._value(f"getelementptr i64, ptr {start}, i64 {self._word(node.slice)}")

    def _call(self, node: ast.Call) -> str:
        given = [self._word(one) for one in node.args]
        words = ", ".join(f"i64 {one}" for one in given)
        if isinstance(node.func, ast.Attribute):
            return self._call_outside(node.func.attr, words)
        assert isinstance(node.func, ast.Name)
        rule = _BUILTINS.get(node.func.id)
        if rule is None:
            return self._value(f"call i64 @{node.func.id}({words})")
        for text in rule[:-1]:
            given = [self._value(text.format(*given))]
        return self._value(rule[-1].format(*given))

    def _call_outside(self, name: str, words: str) -> str:
        function = self._value(f"load ptr, ptr getelementptr (i8, ptr @outside, i64 {8 * self.places[name]})")
        kind = self.returns.get(name, "i64")
        found = self._value(f"call {kind} {function}({words})")
        if kind == "i64":
            return found
        return self._value(f"sext i32 {found} to i64" if kind == "i32" else f"bitcast double {found} to i64")


_BUILTINS: dict[str, tuple[str, ...]] = {
    "room": ("alloca i64, i64 {0}, align 64", "ptrtoint ptr {0} to i64"),
    "single": (
        "bitcast i64 {0} to double", "fptrunc double {0} to float", "bitcast float {0} to i32", "zext i32 {0} to i64",
    ),
}  # fmt: skip
