"""Errors of compiling, memory, executors and the disk cache (codes 5xx)."""

from __future__ import annotations

from celadon.errors.catalogue import CeladonError, JaxRuntimeError


class OutOfMemory(CeladonError, JaxRuntimeError, MemoryError):
    code = "CEL501"
    title = "Memory is exhausted"
    message = "could not allocate {bytes:,} bytes"
    cause = "The machine has no room for a buffer that the program needs."
    cure = "Make the arrays smaller, process them in pieces, or free arrays that are no longer needed."
    when = "When an array is made, or a program needs a result or an intermediate, larger than the memory that is left."
    trigger = "cnp.zeros((1 << 20, 1 << 20, 1 << 10))"
    cured = "cnp.zeros((1 << 10,))"


class CodeGenerationFailed(CeladonError, RuntimeError):
    code = "CEL510"
    title = "LLVM refused a program's code"
    message = "LLVM refused the code that was generated for a program: {reason}"
    cause = (
        "The generated code is not valid for this processor or this version of LLVM: a defect of Celadon's "
        "compiler."
    )
    cure = "Report it with the program; until then run the program on another executor."
    when = "When a program is compiled to machine code for the first time."
    trigger = "from celadon.cpu import llvm; llvm.compile_text('no code')"
    cured = "from celadon.cpu import llvm; llvm.compile_text('define void @k() {\\n ret void\\n}')"
    related = ("CEL511",)


class MachineCodeRejected(CeladonError, RuntimeError):
    code = "CEL511"
    title = "Machine code can't be loaded"
    message = "could not load machine code: {reason}"
    cause = "The object code is damaged or of another kind, or the system forbids executable memory."
    cure = "Clear the cache folder, and let the process map executable memory; if it persists, report it."
    when = "When compiled code is put into memory, before its first call."
    trigger = "from celadon.cpu import link; link.load(b'no object code', ('k',))"
    cured = (
        "from celadon.cpu import link, llvm; "
        "link.load(llvm.compile_text('define void @k() {\\n ret void\\n}'), ('k',))"
    )
    related = ("CEL510",)


class NumericLibraryMissing(CeladonError, ImportError):
    code = "CEL512"
    title = "A numeric library is missing"
    message = "{library} has no entry {entry!r}: {reason}"
    cause = "The package with the library is not installed whole, or is of a version without this entry."
    cure = "Install it again: pip install --force-reinstall scipy-openblas32."
    when = "When a program first needs a matrix product or a decomposition."
    trigger = "from celadon.cpu import blas; blas.address('no_such_entry')"
    cured = "from celadon.cpu import blas; blas.address('cblas_sgemm')"


class ExecutorUnknown(CeladonError, ValueError):
    code = "CEL502"
    title = "The executor is unknown"
    message = "there is no executor called '{name}'; there are: {known}"
    cause = "The environment variable CELADON_EXECUTOR or the setting celadon_executor has a wrong value."
    cure = "Use one of the names listed."
    when = "When the executor is chosen by a misspelt name."
    trigger = "from celadon import cache\nwith cache.executor_name('gpu'):\n    celadon.jit(lambda x: x + 1)(1.0)"
    cured = "from celadon import cache\nwith cache.executor_name('reference'):\n    celadon.jit(lambda x: x + 1)(1.0)"


class KernelMissing(CeladonError, NotImplementedError):
    code = "CEL508"
    title = "An executor has no kernel for an op"
    message = "the executor {executor} has no kernel for {ops}, which {name} uses"
    cause = "The op comes from outside, and its definition says what it means in NumPy only. Celadon's own ops all have kernels."
    cure = "Give the op an `expand` in terms of other ops, or run the program on the executor 'reference'."
    when = "When a program with such an op is compiled."
    trigger = (
        "from celadon.op import Op, registry\nfrom celadon.vocabulary import multiply\n"
        "registry.pop('cubed', None)\n"
        "cubed = Op('cubed', lambda x: x, lambda x: x**3)\n"
        "celadon.jit(cubed)(cnp.ones(2))"
    )
    cured = (
        "from celadon.op import Op, registry\nfrom celadon.vocabulary import multiply\n"
        "registry.pop('cubed', None)\n"
        "cubed = Op('cubed', lambda x: x, lambda x: x**3, expand=lambda x: multiply(multiply(x, x), x))\n"
        "celadon.jit(cubed)(cnp.ones(2))"
    )
    related = ("CEL502",)


class DialectUnknown(CeladonError, ValueError):
    code = "CEL503"
    title = "The text dialect is unknown"
    message = "programs are not printed in the dialect '{dialect}'"
    cause = "as_text prints StableHLO; other dialects belong to other compilers."
    cure = "Leave the dialect out, or pass 'stablehlo'."
    when = "When Lowered.as_text is asked for another dialect."
    trigger = "celadon.jit(lambda x: x + 1).lower(1.0).as_text('hlo')"
    cured = "celadon.jit(lambda x: x + 1).lower(1.0).as_text('stablehlo')"


class StageUnknown(CeladonError, ValueError):
    code = "CEL506"
    title = "The compiler has no such stage"
    message = "the compiler has no stage '{stage}' to print; it has: {known}"
    cause = "The name of the stage is misspelt."
    cure = "Use one of the names listed."
    when = "When Compiled.as_text or `celadon lower --stage` is asked for another stage."
    trigger = "celadon.jit(lambda x: x + 1).lower(1.0).compile().as_text('ir')"
    cured = "celadon.jit(lambda x: x + 1).lower(1.0).compile().as_text('llvm')"
    related = ("CEL503", "CEL507")


class StageAbsent(CeladonError, ValueError):
    code = "CEL507"
    title = "The program has no kernels to look at"
    message = "{program} has no stage '{stage}' on the {executor} executor: {reason}"
    cause = "Only the CPU executor makes kernels, and only of programs for all of whose ops it has one."
    cure = "Choose the CPU executor, or leave out the ops that it lacks."
    when = "When kernels, LLVM IR or assembly are asked for of a program that runs on the reference executor or on XLA."
    trigger = (
        "from celadon import cache\nwith cache.executor_name('reference'):\n"
        "    celadon.jit(lambda x: x + 1).lower(1.0).compile().as_text('kernels')"
    )
    cured = (
        "from celadon import cache\nwith cache.executor_name('cpu'):\n"
        "    celadon.jit(lambda x: x + 1).lower(1.0).compile().as_text('kernels')"
    )
    related = ("CEL506",)


class SettingUnknown(CeladonError, AttributeError):
    code = "CEL504"
    title = "The setting is unknown"
    message = "there is no setting called '{name}'; there are: {known}"
    cause = "The name is misspelt, or it is a setting of JAX that has no meaning here."
    cure = "Use one of the names listed."
    when = "When config.update is called with a name that is no setting."
    trigger = "celadon.config.update('jax_enable_x46', True)"
    cured = "celadon.config.update('jax_enable_x64', False)"


class JaxMissing(CeladonError, ImportError):
    code = "CEL540"
    title = "JAX is not installed"
    message = "{module} is needed here and can't be imported: {reason}"
    cause = "XLA and the real MLIR parser come with JAX, which Celadon only uses as an optional extra."
    cure = "Install it: pip install 'celadon[xla]'; or use another executor."
    when = "When the XLA executor or the MLIR parser is first used without JAX 0.10.2."
    trigger = "from celadon import xla; xla.require('jax.no_such_part')"
    cured = "from celadon import xla; xla.require('jax.export')"


class TextRejected(CeladonError, ValueError):
    code = "CEL541"
    title = "The MLIR parser refuses a text"
    message = "the MLIR parser refuses this text as StableHLO: {reason}"
    cause = "The text is not StableHLO, or its types don't fit its ops."
    cure = "Correct the line that the parser names; if Celadon printed the text, report it with the program."
    when = "When a text is read, or handed to XLA."
    trigger = "from celadon import xla; xla.parse('module { no text }')"
    cured = "from celadon import xla; xla.parse(celadon.jit(lambda x: x + 1).lower(1.0).as_text())"


class DeviceUnknown(CeladonError, ValueError):
    code = "CEL542"
    title = "XLA has no such device"
    message = "there is no device {device}; XLA sees {count}, numbered from 0"
    cause = "The number is too large, or JAX was started for another platform."
    cure = "Use a smaller number, or choose the platform before the first use with JAX_PLATFORMS."
    when = "When the XLA executor is made for a device by number."
    trigger = "from celadon import xla; xla.XLA(device=4096).shardings()"
    cured = "from celadon import xla; xla.XLA(device=0).shardings()"
    related = ("CEL540",)


class ProgramInvalid(CeladonError, ValueError):
    code = "CEL543"
    title = "A program does not hold together"
    message = "the program {name}, after {stage}, is invalid: {reason}"
    cause = "A stage of the compiler, or an op from outside with a wrong type rule, made a program that contradicts itself."
    cure = "Correct the type rule of the op from outside; if there is none, report the program."
    when = "When jax_enable_checks is on and a program is compiled."
    trigger = (
        "from celadon.compiler import check\nfrom celadon.program import Program, Var\nfrom celadon.types import ArrayType\n"
        "check(Program((), (), (Var(ArrayType((), np.dtype('float32'))),)), 'trace')"
    )
    cured = "from celadon.compiler import check\nfrom celadon.program import Program\ncheck(Program((), (), ()), 'trace')"


class DevicesTooFew(CeladonError, ValueError):
    code = "CEL505"
    title = "pmap is given more parts than there are devices"
    message = "pmap: {function} is given {count} parts, and there is one device"
    cause = "Each part of the arguments runs on a device of its own, and all programs run on the one CPU."
    cure = "Use vmap, which runs any number of parts on one device; collectives work there too."
    when = "When a function made by pmap is called with arguments whose mapped axis is longer than 1."
    trigger = "celadon.pmap(lambda x: x * 2)(cnp.ones((2, 3)))"
    cured = "celadon.vmap(lambda x: x * 2)(cnp.ones((2, 3)))"
    related = ("CEL708",)


class CompilerOptionInvalid(CeladonError, JaxRuntimeError):
    code = "CEL530"
    title = "A compiler option is unknown or has a wrong value"
    message = "{function} can't be compiled with the option {option}: {reason}"
    cause = "The options of a compile are XLA's by name; the one that counts here is xla_backend_optimization_level, a number."
    cure = "Give xla_backend_optimization_level a number, 0 to compile in less time, and leave other options out."
    when = "When jit or Lowered.compile is given a compiler option that nobody knows, or a level that is no number."
    trigger = "celadon.jit(lambda x: x + 1).lower(1.0).compile(compiler_options={'fast': True})"
    cured = "celadon.jit(lambda x: x + 1).lower(1.0).compile(compiler_options={'xla_backend_optimization_level': 0})"
    related = ("CEL531",)


class CompilerOptionIgnoredWarning(CeladonError, UserWarning):
    code = "CEL531"
    title = "A compiler option of XLA's means nothing here"
    message = "the option {option}, with which {function} is compiled, is XLA's and has no effect"
    cause = "Programs are compiled by Celadon's own compiler, which does not have the passes that XLA's options steer."
    cure = "Leave the option out, or run the program on the executor 'xla'."
    when = "When jit or Lowered.compile is given an option of XLA's other than xla_backend_optimization_level."
    trigger = "celadon.jit(lambda x: x + 1).lower(1.0).compile(compiler_options={'xla_cpu_enable_fast_math': False})"
    cured = "celadon.jit(lambda x: x + 1).lower(1.0).compile(compiler_options={})"
    related = ("CEL530",)
