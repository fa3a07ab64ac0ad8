"""Factorizations in text: StableHLO's own ops where it has them, else calls of LAPACK as XLA's CPU knows them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from celadon.compiler.constants import signature, type_text
from celadon.compiler.phrases import function_type
from celadon.compiler.scope import Scope
from celadon.compiler.text_macros import Rule
from celadon.program import Equation
from celadon.tracing import recorded
from celadon.types import ArrayType, int32, short_name
from celadon.vocabulary.conversion import complex_
from celadon.vocabulary.matrices import lower, where_converged
from celadon.vocabulary.stacks import complex_dtype, ranks

Config = dict[str, str]
_PREFIXES = {"f32": "s", "f64": "d", "c64": "c", "c128": "z"}
KEPT = ("cholesky", "eig")
"""Macro ops that have a text of their own."""


def _character(letter: str) -> str:
    return f"{ord(letter)} : ui8"


def _triangle(is_lower: bool) -> Config:
    return {"uplo": _character("L" if is_lower else "U")}


def _layout(type: ArrayType, rank: int) -> str:
    """Matrices column by column, all else row by row."""
    n = type.ndim
    order = [n - 2, n - 1, *reversed(range(n - 2))] if rank == 2 else [*reversed(range(n))]
    shown = f"[{', '.join(map(str, order))}]" if n > 1 else "".join(map(str, order))
    return f"dense<{shown}> : tensor<{n}xindex>"


def _alias(result: int, operand: int, single: bool) -> str:
    place = "" if single else str(result)
    inside = f"output_tuple_indices = [{place}], operand_index = {operand}, operand_tuple_indices = []"
    return f"#stablehlo.output_operand_alias<{inside}>"


class _Call:
    """A call of a LAPACK routine: the equation's operands and results, and results that only the call has."""

    def __init__(self, equation: Equation, routine: tuple[str, str], config: Config, inplace: Sequence[tuple[int, int]]):
        self.equation, self.config, self.inplace = equation, config, inplace
        first = equation.inputs[0].type
        name = routine[1] if first.dtype.kind == "c" else routine[0]
        self.target = f"lapack_{_PREFIXES[short_name(first.dtype)]}{name}_ffi"
        self.given, self.made = [x.type for x in equation.inputs], [x.type for x in equation.outputs]
        self.stack = first.shape[: first.ndim - ranks(equation)[0]]

    def hidden(self, place: int, *types: ArrayType) -> None:
        """Results that the equation lacks, ahead of result `place`."""
        self.made[place:place] = types

    def write(self, scope: Scope, operands: Sequence[str]) -> list[str]:
        """Write the call; the names of all its results are returned."""
        single = len(self.made) == 1
        config = ", ".join(f"{name} = {value}" for name, value in sorted(self.config.items()))
        layouts = [
            ", ".join(_layout(t, t.ndim - len(self.stack)) for t in types) for types in (self.given, self.made)
        ]
        aliases = ", ".join(_alias(result, operand, single) for result, operand in self.inplace)
        fields = [
            'backend_config = ""', f"mhlo.backend_config = {{{config}}}", f"operand_layouts = [{layouts[0]}]",
            *([f"output_operand_aliases = [{aliases}]"] if aliases else []), f"result_layouts = [{layouts[1]}]",
        ]  # fmt: skip
        types = signature(self.given, self.made)
        number = scope.number()
        head = number if single else f"{number}:{len(self.made)}"
        call = f"stablehlo.custom_call @{self.target}({', '.join(operands)}) {{{', '.join(fields)}}} : {types}"
        scope.lines.append(f"{scope.pad}{head} = {call}")
        return [number] if single else [f"{number}#{k}" for k in range(len(self.made))]


def _routine(
    real: str,
    other: str = "",
    config: Callable[[Equation], Config] | None = None,
    inplace: Sequence[tuple[int, int]] = ((0, 0),),
) -> Rule:
    """A routine by its name for real matrices, and for complex ones if that is another."""

    def rule(scope: Scope, equation: Equation, operands: list[str]) -> None:
        call = _Call(equation, (real, other or real), config(equation) if config else {}, inplace)
        scope.names.update(zip(equation.outputs, call.write(scope, operands), strict=True))

    return rule


def _gesdd(scope: Scope, equation: Equation, operands: list[str]) -> None:
    """The call gives back the matrix too, and room for vectors even if none are asked for."""
    params, x = equation.params, equation.inputs[0].type
    vectors = params["compute_uv"]
    mode = ("A" if params["full_matrices"] else "S") if vectors else "N"
    call = _Call(equation, ("gesdd", "gesdd"), {"mode": _character(mode)}, [(0, 0)])
    if not vectors:
        call.hidden(1, *(x.with_shape((*call.stack, n, n)) for n in x.shape[-2:]))
    call.hidden(0, x)
    names = call.write(scope, operands)
    kept = names[1:] if vectors else [names[1], names[4]]
    scope.names.update(zip(equation.outputs, kept, strict=True))


def _gees(scope: Scope, equation: Equation, operands: list[str]) -> None:
    """The call gives the eigenvalues too, and how many were sorted."""
    vectors, x = equation.params["vectors"], equation.inputs[0].type
    config = {"mode": _character("V" if vectors else "N"), "sort": _character("N")}
    call = _Call(equation, ("gees", "gees"), config, [(0, 0)])
    values = [x.with_shape(x.shape[:-1])] * (1 if x.dtype.kind == "c" else 2)
    call.hidden(1, *([] if vectors else [x]))
    call.hidden(2, *values, ArrayType(call.stack, int32))
    names = call.write(scope, operands)
    kept = [names[0], *names[1 : 1 + vectors], names[-1]]
    scope.names.update(zip(equation.outputs, kept, strict=True))


def _gtsv(scope: Scope, equation: Equation, operands: list[str]) -> None:
    call = _Call(equation, ("gtsv", "gtsv"), {}, [(k, k) for k in range(4)])
    call.hidden(0, *call.given[:3])
    names = call.write(scope, operands)
    scope.names.update(zip(equation.outputs, names[3:], strict=True))


# --- ops that have texts of their own


def _finished(scope: Scope, equation: Equation, names: Sequence[str], types: Sequence[ArrayType], function: Any) -> None:
    """The equation's results, computed from named values."""
    with recorded(equation.op.name, tracing=False) as record:
        program = record.program(function(*[record.input(t) for t in types]))
    scope.names.update(zip(program.inputs, names, strict=True))
    scope.names.update(zip(equation.outputs, scope.body(program), strict=True))


def _cholesky(scope: Scope, equation: Equation, operands: list[str]) -> None:
    x = equation.inputs[0].type
    name = scope.value(f"stablehlo.cholesky {operands[0]}, lower = true : {type_text(x)}")
    _finished(scope, equation, [name], [x], lambda found: [lower(found)])


def _triangular_solve(scope: Scope, equation: Equation, operands: list[str]) -> str:
    params = equation.params
    flags = {name: str(params[name]).lower() for name in ("left_side", "lower", "unit_diagonal")}
    flags["transpose_a"] = f"#stablehlo<transpose {params['transpose_a']}>"
    fields = ", ".join(f"{name} = {value}" for name, value in sorted(flags.items()))
    return f'"stablehlo.triangular_solve"({", ".join(operands)}) <{{{fields}}}> : {function_type(equation)}'


def _eig(scope: Scope, equation: Equation, operands: list[str]) -> None:
    """The call gives vectors of both sides, asked for or not, and the parts of a real matrix' eigenvalues."""
    x, sides = equation.inputs[0].type, (equation.params["left"], equation.params["right"])
    left, right = (_character("V" if asked else "N") for asked in sides)
    config = {"compute_left": left, "compute_right": right}
    call = _Call(equation, ("geev", "geev"), config, [])
    parts = [x.with_shape(x.shape[:-1])] * (1 if x.dtype.kind == "c" else 2)
    vectors = [ArrayType(x.shape, complex_dtype(x.dtype))] * 2
    call.made = [*parts, *vectors, ArrayType(call.stack, int32)]
    names = call.write(scope, operands)
    count = len(parts)

    def finished(*values: Any) -> list[Any]:
        found = [complex_(*values[:count]) if count == 2 else values[0]]
        found += [v for v, asked in zip(values[count:-1], sides, strict=True) if asked]
        return [where_converged(values[-1], one) for one in found]

    _finished(scope, equation, names, call.made, finished)


RULES: dict[str, Rule] = {
    "cholesky": _cholesky,
    "triangular_solve": _triangular_solve,
    "eig": _eig,
    "potrf": _routine("potrf", config=lambda equation: _triangle(True)),
    "getrf": _routine("getrf"),
    "geqrf": _routine("geqrf"),
    "geqp3": _routine("geqp3", inplace=((0, 0), (1, 1))),
    "orgqr": _routine("orgqr", "ungqr"),
    "syevd": _routine(
        "syevd", "heevd", lambda equation: {"mode": _character("V"), **_triangle(equation.params["lower"])}
    ),
    "gesdd": _gesdd,
    "gees": _gees,
    "gehrd": _routine(
        "gehrd", config=lambda equation: {"low": "1 : i32", "high": f"{equation.inputs[0].type.shape[-1]} : i32"}
    ),
    "sytrd": _routine("sytrd", "hetrd", lambda equation: _triangle(equation.params["lower"])),
    "gtsv": _gtsv,
}
