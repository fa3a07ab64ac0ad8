"""How loops and branches print, as JAX has it: while, case, and a scan as the loop that it stands for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from celadon.compiler.constants import type_text, types_text
from celadon.compiler.scope import Lines, Scope
from celadon.program import Equation, Program, Var, remembered
from celadon.tracing import recorded
from celadon.types import ArrayType
from celadon.vocabulary.control import parts


def while_loop(scope: Scope, equation: Equation, operands: list[str]) -> None:
    """A loop; its constants are carried along unchanged."""
    params, types = equation.params, [x.type for x in equation.inputs]
    consts = len(types) - len(equation.outputs)
    first: int = params.get("tokens", 0)
    results = [*equation.outputs[:first], *(Var(t) for t in types[first : first + consts]), *equation.outputs[first:]]
    head = f"{scope.pad}{scope.bind(results)}stablehlo.while"

    def lines() -> Lines:
        condition, body = scope.region(), scope.region()
        arguments = [(condition.named("iterArg"), body.named("iterArg"))[0] for _ in types]
        tokens = arguments[:first]
        tested, held, carry = parts(arguments[first:], params["condition_consts"], params["body_consts"])
        pairs = ", ".join(f"{name} = {x}" for name, x in zip(arguments, operands, strict=True))
        return [
            f"{head}({pairs}) : {types_text(types)}",
            f"{scope.pad}cond {{",
            *_region(condition, _tested(params["condition"], first), [*tokens, *tested, *carry]),
            f"{scope.pad}}} do {{",
            *_region(body, params["body"], [*tokens, *held, *carry], (first, [*tested, *held]), types[first : first + consts]),
            f"{scope.pad}}}",
        ]

    scope.later(lines)


def _tested(condition: Program, tokens: int) -> Program:
    """A condition without the tokens that it would return."""
    return replace(condition, outputs=condition.outputs[tokens:]) if tokens else condition


def _region(
    scope: Scope, program: Program, arguments: Sequence[str], more: tuple[int, Sequence[str]] = (0, ()),
    types: Sequence[ArrayType] = (),
) -> Lines:  # fmt: skip
    """The lines of a program in its region, which returns some values more, among its own at a place."""
    scope.names.update(zip(program.inputs, arguments, strict=True))
    place, names = more[0], scope.body(program)
    names[place:place] = more[1]
    made = [x.type for x in program.outputs]
    returned = types_text([*made[:place], *types, *made[place:]])
    last = f"stablehlo.return {', '.join(names)} : {returned}" if names else "stablehlo.return"
    return [*scope.finished(), f"{scope.pad}{last}"]


def case(scope: Scope, equation: Equation, operands: list[str]) -> None:
    """A branch; its regions name the operands as the values around them."""
    index, *given = operands
    head = f'{scope.pad}{scope.bind(equation.outputs)}"stablehlo.case"({index}) ({{'
    types = [var.type for var in equation.outputs]
    result = type_text(types[0]) if len(types) == 1 else f"({types_text(types)})"
    tail = f"{scope.pad}}}) : ({type_text(equation.inputs[0].type)}) -> {result}"

    def lines() -> Lines:
        found = [head]
        for k, branch in enumerate(equation.params["branches"]):
            found += [f"{scope.pad}}}, {{"] if k else []
            found += _region(scope.region(), branch, given)
        return [*found, tail]

    scope.later(lines)


def scan(scope: Scope, equation: Equation, operands: list[str]) -> None:
    """The ops of the loop, in place."""
    program = loop_of(equation)
    scope.names.update(zip(program.inputs, operands, strict=True))
    scope.names.update(zip(equation.outputs, scope.body(program), strict=True))


def loop_of(equation: Equation) -> Program:
    """The program of the loop that a scan stands for."""
    params = equation.params
    if "loop" in params:
        return params["loop"]
    types = tuple([x.type for x in equation.inputs])
    rest = tuple([value for name, value in params.items() if name != "body"])
    return remembered(params["body"], ("loop", types, rest), lambda: _expanded(equation))


def _expanded(equation: Equation) -> Program:
    expand = equation.op.expand
    assert expand is not None
    with recorded(equation.op.name, tracing=False) as record:
        return record.program(expand(*[record.input(x.type) for x in equation.inputs], **equation.params))


__all__ = ["case", "loop_of", "scan", "while_loop"]
