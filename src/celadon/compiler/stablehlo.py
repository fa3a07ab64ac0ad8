"""Lowered module in, StableHLO text out, as JAX prints it; people and the real MLIR parser (xla.py) read it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from celadon.compiler import text_lapack
from celadon.compiler.constants import TOKEN, results_text, type_text, types_text
from celadon.compiler.phrases import elementwise, function_type
from celadon.compiler.scope import Lines, Scope
from celadon.compiler.text_callbacks import MESH, is_placed
from celadon.compiler.text_loops import loop_of
from celadon.compiler.text_macros import PRIVATE, private_program
from celadon.compiler.text_rules import RULES, Rule
from celadon.compiler.tokens import threaded
from celadon.op import Op
from celadon.program import Equation, Module, Program, bodies
from celadon.types import ArrayType

MACROS = frozenset([*PRIVATE, *text_lapack.KEPT, "scan", "top_k"])
"""Macro ops that have a text of their own: `lower` need not expand them."""

_IDENTIFIER = re.compile(r"[A-Za-z_][\w$.]*", re.ASCII)


def print_module(module: Module, full: bool = False, located: bool = False) -> str:
    """The text of a module.

    Args:
        module: a lowered module. Macro ops named in `MACROS` may be left in it.
        full: print the elements of large captured arrays too; otherwise those above 1024 elements are elided.

        located: print where each op comes from.

    Returns:
        The text that JAX prints for the same program.

    >>> from celadon.program import Var
    >>> x = Var(ArrayType((2,), __import__("numpy").dtype("float32")))
    >>> print(print_module(Module(Program([x], [], [x], name="jit_same"), ("",))))
    module @jit_same attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
      func.func public @main(%arg0: tensor<2xf32>) -> (tensor<2xf32> {jax.result_info = ""}) {
        return %arg0 : tensor<2xf32>
      }
    }
    <BLANKLINE>
    """
    writer = _Writer(full, located)
    module, tokens = threaded(module)
    writer.declare(module.program)
    name = _quoted(re.sub(r"[^\w.-]", "_", module.name).rstrip("_"))
    lines = [f"module @{name} attributes {{mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32}} {{"]
    lines += [MESH] if writer.placed else []
    lines += writer.main(module, tokens)
    for symbol, called in writer.functions:
        lines += writer.private(symbol, called)
    return "\n".join([*lines, "}", ""])


def without_text(program: Program) -> list[str]:
    """The names of the ops in a program that have no text."""
    names = {equation.op.name: equation.op for equation in program.equations}
    return sorted(name for name, op in names.items() if not _has_text(op))


def _has_text(op: Op) -> bool:
    return op.text is not None or op.name in RULES or op.name in PRIVATE or op.name == "call"


class _Writer:
    """The symbols of a module, and how its functions and equations are written."""

    def __init__(self, full: bool, located: bool):
        self.full, self.located, self.function = full, located, ""
        self.taken = {"main"}
        self.conflicts = 0
        self.names: dict[object, str] = {}
        self.functions: list[tuple[str, Program]] = []
        self.callbacks: dict[int, int] = {}
        self.placed = False

    def declare(self, program: Program) -> None:
        """Name all private functions, in the order in which they are met first."""
        for equation in program.equations:
            name = equation.op.name
            if name == "call" or name in PRIVATE:
                self._declare(equation)
            elif equation.op.kind == "callback":
                self.callbacks[id(equation)] = len(self.callbacks)
                self.placed = self.placed or is_placed(equation)
            elif name == "scan":
                self.declare(loop_of(equation))
            elif equation.op.multiple:
                for body in bodies(equation.params):
                    self.declare(body)

    def _declare(self, equation: Equation) -> None:
        key = _key(equation)
        if key in self.names:
            return
        called = key if isinstance(key, Program) else private_program(equation)
        self.names[key] = symbol = self._unique(called.name)
        self.functions.append((symbol, called))
        self.declare(called)

    def _unique(self, base: str) -> str:
        name = base
        while name in self.taken:
            name = f"{base}_{self.conflicts}"
            self.conflicts += 1
        self.taken.add(name)
        return _quoted(name)

    def symbol(self, equation: Equation) -> str:
        return f"@{self.names[_key(equation)]}"

    def callback(self, equation: Equation) -> int:
        return self.callbacks[id(equation)]

    def location(self, equation: Equation) -> str:
        """Where an equation comes from: the function being written, named scopes, the op, the user's line."""
        if equation.source is None:
            return ""
        file, line, function = equation.source
        scope: str = getattr(function, "scope", "")
        name = "/".join([f"jit({self.function})", *([scope] if scope else []), equation.op.name])
        return f" loc({_string(name)}({_string(file)}:{line}:0))"

    def main(self, module: Module, tokens: int) -> Lines:
        program, self.function = module.program, module.name.removeprefix("jit_")
        scope = Scope(self)
        arguments = [scope.argument() for _ in program.inputs]
        scope.names.update(zip(program.inputs, arguments, strict=True))
        outputs = scope.body(program)
        types = [x.type for x in program.outputs]
        typed = zip(arguments, program.inputs, strict=True)
        shown = [f"{name}: {type_text(x.type)}{_donation(module, i)}{_mark(x.type)}" for i, (name, x) in enumerate(typed)]
        results = _named_results(module, types, tokens) if module.results else _results(types)
        arrow = f" -> {results}" if types else ""
        return _framed(f"public @main({', '.join(shown)}){arrow}", scope, outputs, types)

    def private(self, symbol: str, program: Program) -> Lines:
        self.function = program.name
        scope = Scope(self)
        arguments = [scope.argument() for _ in program.inputs]
        scope.names.update(zip(program.inputs, arguments, strict=True))
        returned = scope.body(program)
        outputs = [x.type for x in program.outputs]
        typed = zip(arguments, program.inputs, strict=True)
        shown = ", ".join([f"{name}: {type_text(var.type)}{_mark(var.type)}" for name, var in typed])
        arrow = f" -> {_results(outputs)}" if outputs else ""
        return _framed(f"private @{symbol}({shown}){arrow}", scope, returned, outputs)

    def write(self, scope: Scope, equation: Equation, operands: list[str]) -> None:
        text = _rule(equation.op)(scope, equation, operands)
        if text is not None:
            scope.names[equation.outputs[0]] = scope.value(text)


@lru_cache(4096)
def _rule(op: Op) -> Rule:
    if op.name in RULES:
        return RULES[op.name]
    if op.name == "call" or op.name in PRIVATE:
        return _call
    if op.text is None:
        return _custom_call
    return op.text if callable(op.text) else elementwise


def _custom_call(scope: Scope, equation: Equation, operands: list[str]) -> None:
    """What StableHLO has no op for: a call of something outside, by the op's name."""
    effects = " {has_side_effect = true}" if equation.op.effects else ""
    called = f"stablehlo.custom_call @{equation.op.name}({', '.join(operands)}){effects}"
    scope.bind(equation.outputs, f"{called} : {function_type(equation)}")


def _call(scope: Scope, equation: Equation, operands: list[str]) -> None:
    word = "func.call" if scope.nested else "call"
    symbol = scope.symbols.symbol(equation)
    scope.bind(equation.outputs, f"{word} {symbol}({', '.join(operands)}) : {function_type(equation)}")


def _framed(head: str, scope: Scope, outputs: Sequence[str], types: Sequence[ArrayType]) -> Lines:
    returned = f"return {', '.join(outputs)} : {types_text(types)}" if outputs else "return"
    return [f"  func.func {head} {{", *scope.finished(), f"    {returned}", "  }"]


def _donation(module: Module, index: int) -> str:
    if index in module.aliases:
        return f" {{tf.aliasing_output = {module.aliases[index]} : i32}}"
    return ""


def _mark(type: ArrayType) -> str:
    return " {jax.token = true}" if type is TOKEN else ""


def _results(types: Sequence[ArrayType]) -> str:
    if TOKEN not in types:
        return results_text(types)
    return f"({', '.join([type_text(t) + _mark(t) for t in types])})"


def _named_results(module: Module, types: Sequence[ArrayType], tokens: int) -> str:
    named = zip(types[tokens:], module.results, strict=True)
    shown = [f"{type_text(t)} {{jax.result_info = {_string(name)}}}" for t, name in named]
    return f"({', '.join([type_text(TOKEN) + _mark(TOKEN)] * tokens + shown)})"


def _key(equation: Equation) -> object:
    if equation.op.name == "call":
        return equation.params["program"]
    types = tuple(x.type.strong() for x in equation.inputs)
    return equation.op.name, types, tuple(equation.params.items())


def _quoted(symbol: str) -> str:
    return symbol if _IDENTIFIER.fullmatch(symbol) else _string(symbol)


def _string(text: str) -> str:
    return f'"{"".join(map(_escaped, text.encode()))}"'


def _escaped(byte: int) -> str:
    if byte == 0x5C:
        return "\\\\"
    return chr(byte) if 0x20 <= byte < 0x7F and byte != 0x22 else f"\\{byte:02X}"
