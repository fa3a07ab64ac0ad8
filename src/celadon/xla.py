"""Lowered programs in, XLA's results out, through text and JAX's public interface (the extra `celadon[xla]`)."""

from __future__ import annotations

import dataclasses
import importlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from celadon import errors
from celadon.array import Array
from celadon.compiler import Numbers, Structure
from celadon.compiler.stablehlo import MACROS, print_module, without_text
from celadon.program import Equation, Module, Program, bodies
from celadon.types import ArrayType, kind

Run = Callable[[Sequence[Any]], list[Any]]
Compiled = tuple[Run, int]  # and its size in bytes

_KEPT = 256  # compiled texts


@cache
def require(module: str = "jax") -> Any:
    """Import a part of JAX, or of another optional package.

    Raises `JaxMissing` if it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as missing:
        raise errors.JaxMissing(module=module, reason=missing) from None


def parse(text: str) -> str:
    """Read a StableHLO text with the real MLIR parser and verifier; returns the text as MLIR prints it.

    Raises `TextRejected` with the parser's words, or `JaxMissing`.

    >>> print(parse("module { func.func @main() { func.return } }"))
    module {
      func.func @main() {
        return
      }
    }
    <BLANKLINE>
    """
    ir = require("jax.extend.mlir.ir")
    with _context():
        try:
            return str(ir.Module.parse(text))
        except (ir.MLIRError, ValueError) as refused:
            raise errors.TextRejected(reason=refused) from None


@cache
def _context() -> Any:
    """MLIR's context as JAX makes it, in which all dialects of its texts are known."""
    dialect, jax = require("jax.extend.mlir.dialects.stablehlo"), require("jax")
    context = jax.jit(lambda: None).lower().compiler_ir().context
    dialect.register_dialect(context)
    return context


def compile_program(program: Program, xla: XLA | None = None) -> Run:
    """Compile a lowered program with XLA.

    Args:
        program: a lowered program; arrays that it captures are handed over at each call, not printed.
        xla: the executor, which says where it runs.

    Returns:
        A callable of a sequence of arrays, one for each input, that returns NumPy arrays.

    Raises:
        `TextRejected`, `JaxMissing`, `DeviceUnknown`.

    >>> from celadon.program import Var
    >>> x = Var(ArrayType((2,), np.dtype("float32")))
    >>> compile_program(Program([x], [], [x]))([np.ones(2, "float32")])
    [array([1., 1.], dtype=float32)]
    """
    captured = [array for _, array in program.captures]
    inputs = [*program.inputs, *(var for var, _ in program.captures)]
    closed = dataclasses.replace(program, inputs=inputs, captures=())
    own = len(program.inputs)
    run, _ = (xla or XLA()).compiled(closed, own)
    return lambda arrays: [np.asarray(x) for x in run([*arrays, *captured])]


@dataclass(frozen=True, eq=False)
class XLA:
    """The executor that has XLA compile and run a program, on one device or several.

    Args:
        device: the number of the device to run on; by default JAX's own choice.
        in_shardings: how the inputs of a program are spread over devices: a `jax.sharding.Sharding` (or None: as XLA
            likes) for all, or a tuple of them. Captured arrays and lifted numbers are not spread.
        out_shardings: the same for results.
    """

    device: int | None = None
    in_shardings: Any = None
    out_shardings: Any = None
    texts: OrderedDict[object, tuple[Any, int]] = field(
        default_factory=OrderedDict[object, tuple[Any, int]], repr=False
    )

    name = "xla"
    takes = frozenset({"scalars", "arrays"})
    native = MACROS
    reserve = "reference"

    def adapted(self, program: Program) -> Program:
        """The program as it is."""
        return program

    def lacks(self, program: Program) -> list[str]:
        """The ops without a text, those on which XLA fails, and calls of Python functions, which a text can't name."""
        return without_text(program) + _callbacks(program) + ["bitcast_convert"] * any(map(_is_complex_resize, program.equations))

    def compile(self, structure: Structure) -> Executable:
        """Print and compile a structure."""
        own = len(structure.program.inputs) - structure.arrays - structure.scalars
        run, nbytes = self.compiled(structure.program, own)
        return Executable(run, nbytes)

    def compiled(self, program: Program, own: int) -> Compiled:
        """A program's callable and its size in bytes; `own` says how many inputs are not captured or lifted ones.

        One compile for each text.
        """
        text = print_module(Module(program), full=True)
        found = self.texts.get((text, own))
        if found is None:
            inputs, outputs = ([x.type for x in xs] for xs in (program.inputs, program.outputs))
            found = self.texts[text, own] = self._compiled(text, inputs, outputs, own)
            if len(self.texts) > _KEPT:
                self.texts.popitem(last=False)
        return found

    def _compiled(self, text: str, inputs: Sequence[ArrayType], outputs: Sequence[ArrayType], own: int) -> Compiled:
        jax = require("jax")
        if "@lapack_" in text:
            _load_lapack()
        into, out = self.shardings(own, len(inputs))
        with jax.enable_x64(True):
            shell = _shell(text, inputs, outputs)
            structs = [jax.ShapeDtypeStruct(t.shape, t.dtype) for t in inputs]
            made = jax.jit(shell.call, in_shardings=into, out_shardings=out).lower(*structs).compile()
        return lambda arrays: list(_call(made, arrays)), len(text) + _code_size(made)

    def shardings(self, own: int = 0, count: int = 0) -> tuple[Any, Any]:
        """Where `count` inputs, the first `own` of them a program's own, and the results are put."""
        jax = require("jax")
        if self.device is not None:
            devices = jax.devices()
            if not 0 <= self.device < len(devices):
                raise errors.DeviceUnknown(device=self.device, count=len(devices))
            single = jax.sharding.SingleDeviceSharding(devices[self.device])
            return single, single
        if self.in_shardings is None:
            return None, self.out_shardings
        given: Any = self.in_shardings
        each: tuple[Any, ...] = given if isinstance(given, tuple) else (given,) * own
        return (*each, *(None,) * (count - own)), self.out_shardings


@cache
def _load_lapack() -> None:
    """Have JAX hand XLA the routines of LAPACK, which it does when it meets the first factorization."""
    jax = require("jax")
    jax.jit(jax.numpy.linalg.cholesky).lower(jax.ShapeDtypeStruct((1, 1), "float32"))


def _callbacks(program: Program) -> list[str]:
    """The ops that call Python functions, in bodies too."""
    names = {equation.op.name for equation in program.equations if equation.op.kind == "callback"}
    inner = (body for equation in program.equations for body in bodies(equation.params))
    return sorted(names.union(*map(_callbacks, inner)))


def _is_complex_resize(equation: Equation) -> bool:
    """A bitcast of complex numbers to wider or narrower ones, on which XLA ends the process."""
    if equation.op.name != "bitcast_convert":
        return False
    before, after = equation.inputs[0].type.dtype, equation.outputs[0].type.dtype
    return kind(before) == "c" and before != after


def _shell(text: str, inputs: Sequence[ArrayType], outputs: Sequence[ArrayType]) -> Any:
    """An exported JAX function of these types that holds the text as its body."""
    jax, export, mlir = require("jax"), require("jax.export"), require("jax.extend.mlir")
    version = require("jax.extend.mlir.dialects.stablehlo").get_current_version()
    try:
        body = mlir.serialize_portable_artifact(text, version)
    except (RuntimeError, ValueError) as refused:
        raise errors.TextRejected(reason=refused) from None

    def blank(*arrays: Any) -> tuple[Any, ...]:
        return tuple(jax.numpy.zeros(t.shape, t.dtype) for t in outputs)

    shell = export.export(jax.jit(blank, keep_unused=True))(*[jax.ShapeDtypeStruct(t.shape, t.dtype) for t in inputs])
    return dataclasses.replace(shell, mlir_module_serialized=body)


def _call(made: Any, arrays: Sequence[Any]) -> Sequence[Any]:
    with require("jax").enable_x64(True):
        return made(*[np.asarray(x) for x in arrays])


def _code_size(made: Any) -> int:
    analysis = made.memory_analysis()
    return int(getattr(analysis, "generated_code_size_in_bytes", 0) or 0)


class Executable:
    """A structure that XLA has compiled."""

    kernels = compiled = 1

    def __init__(self, run: Run, nbytes: int):
        self.run, self.nbytes = run, nbytes

    def bind(self, structure: Structure, numbers: Numbers) -> Run:
        """A callable of the program's own arrays; captured arrays and scalars are handed over with them."""
        program = structure.program
        scalars = zip(numbers.scalars, program.inputs[len(program.inputs) - structure.scalars :], strict=True)
        held = [*numbers.arrays, *(np.asarray(x, var.type.dtype) for x, var in scalars)]
        types = [x.type for x in program.outputs]
        return lambda arrays: [_array(t, x) for t, x in zip(types, self.run([*arrays, *held]), strict=True)]


def _array(type: ArrayType, x: Any) -> Array:
    return Array(type, host=np.asarray(x))
