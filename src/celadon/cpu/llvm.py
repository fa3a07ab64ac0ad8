"""The only file that knows llvmlite: LLVM IR text comes in, verified object code goes out, to link and store."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import itertools
import os
import platform
import sys
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager
from hashlib import sha256
from typing import Any

from celadon import errors
from celadon.background import begin
from celadon.cpu.kinds import Target
from celadon.locks import process_lock

_CPU_FACTS = ("vendor_id", "cpu family", "model", "model name", "flags", "CPU implementer", "CPU part", "Features")
_ASSEMBLY, _OBJECT = 0, 1
_OPTIONS = (  # name, while we compile, usual
    ("-disable-lsr", "true", "false"),
    ("-fast-isel", "true", "false"),
    ("-disable-cgp", "true", "false"),
    ("-enable-misched", "false", "true"),
    ("-disable-machine-cse", "true", "false"),
    ("-disable-machine-sink", "true", "false"),
)

_lock = process_lock()
_library_numbers = itertools.count()


def compile_text(text: str) -> bytes:
    """Object code for this processor.

    Args:
        text: a module of LLVM IR, without a target triple.

    Raises:
        CodeGenerationFailed: if LLVM can't parse the text or it does not verify.

    >>> compile_text("define void @k() {\\n ret void\\n}")[:4] != b""
    True
    """
    return compile_texts([text])[0]


def compile_texts(texts: Sequence[str], level: int = 1) -> list[bytes]:
    """Object code of several modules, each on a thread of its own; `compile_text` says what goes in and what it raises.

    level: LLVM's for code generation; 0 takes a third less time for slower code.

    >>> len(compile_texts(["define void @a() {\\n ret void\\n}", "define void @b() {\\n ret void\\n}"]))
    2
    """
    return _compiled(texts, _OBJECT, level)


def assembly(text: str) -> str:
    """The assembly of the object code that `compile_text` makes, which says what goes in and what it raises.

    >>> "k:" in assembly("define void @k() {\\n ret void\\n}")
    True
    """
    return _compiled([text], _ASSEMBLY, 1)[0].decode()


def link(code: bytes, names: Sequence[str]) -> tuple[object, dict[str, int]]:
    """LLVM's own linker: what keeps the code mapped, and the addresses of `names`.

    Raises:
        MachineCodeRejected: if the code is no object of this platform or lacks a name.
    """
    with _lock:
        builder = _loaded()[0].JITLibraryBuilder().add_object_img(code)
        for name in names:
            builder.export_symbol(name)
        try:
            tracker = builder.link(_linker(), f"celadon{next(_library_numbers)}")
        except RuntimeError as error:
            raise errors.MachineCodeRejected(reason=str(error).strip()) from None
        return tracker, {name: tracker[name] for name in names}


@functools.cache
def target() -> Target:
    """What this processor can do that decides how IR is written; loads LLVM.

    >>> target() == target()
    True
    """
    with _lock:
        binding, _ = _loaded()
        return Target.of(binding.get_default_triple(), binding.get_host_cpu_features().flatten())


@functools.cache
def host() -> str:
    """What object code depends on besides its text: the processor, its features, LLVM's version and options. Does not load LLVM.

    >>> host() == host()
    True
    """
    facts = [sys.platform, platform.machine(), _version(), _cpu_facts() or _llvm_cpu(), str(_OPTIONS)]
    return sha256("\n".join(facts).encode()).hexdigest()


def _compiled(texts: Sequence[str], form: int, level: int) -> list[bytes]:
    with _lock, _fewer_passes():
        found: list[bytes | RuntimeError] = [b""] * len(texts)
        others = [begin(_compile, found, (k, level), text, form) for k, text in enumerate(texts) if k]
        try:
            _compile(found, (0, level), texts[0], form)
        finally:
            for wait in others:
                wait()
    for outcome in found:
        if isinstance(outcome, RuntimeError):
            raise errors.CodeGenerationFailed(reason=str(outcome).strip()) from None
    return [outcome for outcome in found if isinstance(outcome, bytes)]


@contextmanager
def _fewer_passes() -> Generator[None]:
    """Leave out the passes that take half of the time and gain nothing on code written as ours is; options of LLVM hold for
    the whole process, so they are put back."""
    binding, _ = _loaded()
    for name, ours, _ in _OPTIONS:
        binding.set_option("celadon", f"{name}={ours}")
    try:
        yield
    finally:
        for name, _, usual in _OPTIONS:
            binding.set_option("celadon", f"{name}={usual}")


def _compile(found: list[bytes | RuntimeError], place: tuple[int, int], text: str, form: int) -> None:
    """Put the code of a text, or why there is none, in its place, which comes with the level of code generation."""
    binding, _ = _loaded()
    try:
        with closing(binding.create_context()) as context, closing(_parsed(binding, context, text)) as module:
            found[place[0]] = _emitted(binding, _machine(*place), module, form)
    except RuntimeError as error:
        found[place[0]] = error


def _parsed(binding: Any, context: Any, text: str) -> Any:
    """The module of a text, in a context that no other thread uses."""
    with binding.ffi.OutputString() as words:
        module = binding.ModuleRef(_unlocked("LLVMPY_ParseAssembly")(context, text.encode(), words), context)
        if words:
            module.close()
            raise RuntimeError(str(words))
    return module


def _emitted(binding: Any, machine: Any, module: Any, form: int) -> bytes:
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    with binding.ffi.OutputString() as words:
        if _unlocked("LLVMPY_VerifyModule")(module, words):
            raise RuntimeError(str(words))
    with binding.ffi.OutputString() as words:
        buffer = _unlocked("LLVMPY_TargetMachineEmitToMemory")(machine, module, form, words)
        if not buffer:
            raise RuntimeError(str(words))
    library = binding.ffi.lib
    try:
        return ctypes.string_at(library.LLVMPY_GetBufferStart(buffer), library.LLVMPY_GetBufferSize(buffer))
    finally:
        library.LLVMPY_DisposeMemoryBuffer(buffer)


def _unlocked(name: str) -> Any:
    """A function of llvmlite's library without the lock that llvmlite holds around each call: what works on a context of its
    own needs none, and two threads may then compile at once."""
    function = getattr(_loaded()[0].ffi.lib, name)
    return getattr(function, "_cfn", function)


@functools.cache
def _loaded() -> tuple[Any, Any]:
    import llvmlite.binding as binding  # pyright: ignore[reportMissingTypeStubs]

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding, binding.Target.from_default_triple()


@functools.cache
def _machine(k: int, level: int) -> Any:
    """The k-th thread's own target machine for a level of code generation."""
    binding, native = _loaded()
    return native.create_target_machine(
        cpu=binding.get_host_cpu_name(),
        features=binding.get_host_cpu_features().flatten(),
        opt=level,
        reloc="pic",
        codemodel="small",
        jit=True,
    )


@functools.cache
def _linker() -> Any:
    return _loaded()[0].create_lljit_compiler(suppress_errors=True)


def _version() -> str:
    """llvmlite's version file without importing llvmlite, which takes longer than a warm start."""
    spec = importlib.util.find_spec("llvmlite")
    origin = spec.origin if spec is not None else None
    try:
        with open(os.path.join(os.path.dirname(origin or ""), "_version.py")) as file:
            return file.read()
    except OSError:
        return str(_loaded()[0].llvm_version_info)


def _cpu_facts() -> str:
    """The first processor's lines of /proc/cpuinfo that say what it can do; empty where there is no such file."""
    try:
        with open("/proc/cpuinfo") as lines:
            first = list(itertools.takewhile(str.strip, lines))
    except OSError:
        return ""
    return "".join(line for line in first if line.partition(":")[0].strip() in _CPU_FACTS)


def _llvm_cpu() -> str:
    with _lock:
        binding, _ = _loaded()
        return binding.get_host_cpu_name() + binding.get_host_cpu_features().flatten()
