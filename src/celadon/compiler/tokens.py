"""A module whose ordered effects stand in sequence in; out, the same with tokens handed from one to the next, for its text."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from celadon.compiler.constants import TOKEN
from celadon.compiler.text_loops import loop_of
from celadon.program import Equation, Module, Operand, Program, Var, bodies, remembered

Kinds = tuple[str, ...]


class Threaded(NamedTuple):
    """A module, and the number of tokens among its first inputs and results."""

    module: Module
    tokens: int


def kinds_of(program: Program) -> Kinds:
    """The kinds of ordered effects in a program, in the order of their tokens.

    >>> kinds_of(Program((), (), ()))
    ()
    """
    return remembered(program, "ordered", lambda: tuple(sorted({kind for e in program.equations for kind in _kinds(e)})))


def _kinds(equation: Equation) -> Kinds:
    if equation.op.kind == "callback":
        return (equation.op.name,) if equation.params.get("ordered") else ()
    return tuple(sorted({kind for body in bodies(equation.params) for kind in kinds_of(body)}))


def threaded(module: Module) -> Threaded:
    """The module with a token of each kind of effects as first inputs and results."""
    kinds = kinds_of(module.program)
    count = len(kinds)
    if not count:
        return Threaded(module, 0)
    aliases = {i + count: j + count for i, j in module.aliases.items()}
    return Threaded(module._replace(program=_with_tokens(module.program, kinds), aliases=aliases), count)


def _with_tokens(program: Program, kinds: Kinds) -> Program:
    """The program that takes a token of each kind, and returns one."""
    return remembered(program, ("tokens", kinds), lambda: _made(program, kinds))


def _made(program: Program, kinds: Kinds) -> Program:
    first = [Var(TOKEN) for _ in kinds]
    current: dict[str, Operand] = dict(zip(kinds, first, strict=True))
    equations = [_equation(equation, current) for equation in program.equations]
    outputs = [*(current[kind] for kind in kinds), *program.outputs]
    return Program([*first, *program.inputs], equations, outputs, program.captures, program.name)


def _equation(equation: Equation, current: dict[str, Operand]) -> Equation:
    own = _kinds(equation)
    if not own:
        return equation
    given, made = [current[kind] for kind in own], [Var(TOKEN) for _ in own]
    current.update(zip(own, made, strict=True))
    inputs = [*given, *equation.inputs]
    if equation.op.name == "cond":
        inputs = [equation.inputs[0], *given, *equation.inputs[1:]]
    return replace(equation, inputs=inputs, outputs=[*made, *equation.outputs], params=_params(equation, own))


def _params(equation: Equation, kinds: Kinds) -> dict[str, Any]:
    name, params = equation.op.name, equation.params
    if name == "call":
        return {"program": _with_tokens(params["program"], kinds)}
    if name == "cond":
        return {"branches": tuple([_with_tokens(branch, kinds) for branch in params["branches"]])}
    if name == "scan":
        return {"loop": _with_tokens(loop_of(equation), kinds)}
    if name == "while_loop":
        both = {one: _with_tokens(params[one], kinds) for one in ("condition", "body")}
        return params | both | {"tokens": len(kinds)}
    return params


__all__ = ["Threaded", "kinds_of", "threaded"]
