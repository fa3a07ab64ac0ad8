"""A module of MLIR in, what XLA computes for its checks out: the measure of what can be asked of a program."""

from __future__ import annotations

from typing import Any

import numpy as np

from celadon.xla import require
from tests.stablehlo.checking import noted
from tests.stablehlo.elements import Unreadable
from tests.stablehlo.reader import Check, Site
from tests.stablehlo.sources import context


class _Claims:
    """Stands for a Reader: it collects the checks and the variables that they compare."""

    def __init__(self) -> None:
        self.checks: list[Check] = []
        self.pairs: list[tuple[Any, Any]] = []

    def held(self, x: Any) -> Any:
        """A constant as it is: XLA has all dtypes."""
        return x


def results(module: Any) -> tuple[list[Check], list[Any]]:
    """The checks of a module, and for each what XLA computed and what was expected."""
    with context(), require("jaxlib.mlir.ir").Location.unknown():
        claims = _returned(module)
        made = iter(_run(module))
    return claims.checks, [next(made) if _is_variable(x) else x for pair in claims.pairs for x in pair]


def _is_variable(x: Any) -> bool:
    return not isinstance(x, np.ndarray)


def _returned(module: Any) -> _Claims:
    """Have the main function return what its checks compare, instead of its own results."""
    ir, func = require("jaxlib.mlir.ir"), require("jaxlib.mlir.dialects.func")
    functions = list(module.body.operations)
    names = [each.attributes["sym_name"].value for each in functions]
    if "main" not in names and len(names) > 1:
        raise Unreadable("functions without a main one")
    main = functions[names.index("main") if "main" in names else 0]
    block, claims = main.regions[0].blocks[0], _Claims()
    if len(block.arguments):
        raise Unreadable("a main function with arguments")
    calls = [each for each in block.operations if _called(each).startswith("check.")]
    for each in calls:
        noted(Site(claims, each.operation), _called(each).removeprefix("check."), list(each.operation.operands))
    if not claims.checks:
        raise Unreadable("no check in it")
    values = [x for pair in claims.pairs for x in pair if _is_variable(x)]
    last = list(block.operations)[-1]
    with ir.InsertionPoint(last):
        func.ReturnOp(values)
    last.operation.erase()
    for each in calls:
        if not len(each.operation.results):
            each.operation.erase()
    attributes = main.operation.attributes
    attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([], [x.type for x in values]))
    attributes["sym_name"] = ir.StringAttr.get("main")
    if "res_attrs" in attributes:
        del attributes["res_attrs"]
    if "sym_visibility" in attributes:
        del attributes["sym_visibility"]
    return claims


def _called(each: Any) -> str:
    is_call = each.operation.name == "stablehlo.custom_call"
    return each.operation.attributes["call_target_name"].value if is_call else ""


def _run(module: Any) -> list[Any]:
    jax, client = require("jax"), require("jaxlib.xla_client")
    with jax.enable_x64(True):
        backend = jax.devices()[0].client
        devices = client.DeviceList(tuple(jax.devices()[:1]))
        made = backend.compile_and_load(str(module).encode(), devices, client.CompileOptions())
        return [np.asarray(x[0]) for x in made.execute_sharded([]).disassemble_into_single_device_arrays()]


__all__ = ["results"]
