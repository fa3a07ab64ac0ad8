"""How calls of Python functions print: as the custom calls by which XLA makes them on a CPU."""

from __future__ import annotations

from collections.abc import Iterable

from celadon.compiler.constants import TOKEN
from celadon.compiler.phrases import function_type
from celadon.compiler.scope import Scope
from celadon.program import Equation
from celadon.types import ArrayType

MESH = "  sdy.mesh @maximal_mesh_0 = <[], device_ids=[0]> {stablehlo.mesh = {axes = [], device_ids = dense<0> : tensor<1xi64>}}"


def callback(scope: Scope, equation: Equation, operands: list[str]) -> None:
    """A call; its index counts the calls of the module."""
    fields = ['backend_config = ""']
    fields += ["has_side_effect = true"] if equation.op.effects else []
    fields.append(f"mhlo.backend_config = {{index = {scope.symbols.callback(equation)} : ui64}}")
    fields.append(f"operand_layouts = [{_layouts(x.type for x in equation.inputs)}]")
    fields.append(f"result_layouts = [{_layouts(var.type for var in equation.outputs)}]")
    if is_placed(equation):
        places = ", ".join(["<@maximal_mesh_0, []>"] * max(1, len(equation.outputs)))
        fields.append(f"sdy.sharding = #sdy.sharding_per_value<[{places}]>")
    call = f"stablehlo.custom_call @xla_ffi_python_cpu_callback({', '.join(operands)})"
    scope.bind(equation.outputs, f"{call} {{{', '.join(fields)}}} : {function_type(equation)}")


def is_placed(equation: Equation) -> bool:
    """Whether the call says on which device it is made."""
    return not (equation.op.name == "debug_callback" and equation.params["ordered"])


def _layouts(types: Iterable[ArrayType]) -> str:
    return ", ".join(map(_layout, types))


def _layout(type: ArrayType) -> str:
    ndim = 0 if type is TOKEN else type.ndim
    order = ", ".join(map(str, reversed(range(ndim))))
    return f"dense<{f'[{order}]' if ndim > 1 else order}> : tensor<{ndim}xindex>"
