"""The only file that knows llvmlite: LLVM IR text comes in, verified object code goes out, to link and store."""

from __future__ import annotations

import functools
import importlib.util
import itertools
import os
import platform
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from hashlib import sha256
from typing import Any

from celadon import errors
from celadon.cpu.kinds import Target
from celadon.locks import process_lock

_CPU_FACTS = ("vendor_id", "cpu family", "model", "model name", "flags", "CPU implementer", "CPU part", "Features")

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
    return _emitted(text, "emit_object")


def assembly(text: str) -> str:
    """The assembly of the same object code.

    Args:
        text: a module of LLVM IR, without a target triple.

    Raises:
        CodeGenerationFailed: if LLVM can't parse the text or it does not verify.

    >>> "k:" in assembly("define void @k() {\\n ret void\\n}")
    True
    """
    return _emitted(text, "emit_assembly")


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
    """What object code depends on besides its text: the processor, its features, LLVM's version. Does not load LLVM.

    >>> host() == host()
    True
    """
    facts = [sys.platform, platform.machine(), _version(), _cpu_facts() or _llvm_cpu()]
    return sha256("\n".join(facts).encode()).hexdigest()


def _emitted(text: str, form: str) -> Any:
    """Code in the form that a method of the target machine emits."""
    with _lock:
        binding, machine = _loaded()
        try:
            with closing(binding.create_context()) as context, closing(binding.parse_assembly(text, context=context)) as module:
                module.triple = machine.triple
                module.data_layout = str(machine.target_data)
                module.verify()
                return _without_reduction(binding, lambda: getattr(machine, form)(module))
        except RuntimeError as error:
            raise errors.CodeGenerationFailed(reason=str(error).strip()) from None


def _without_reduction(binding: Any, emit: Callable[[], Any]) -> Any:
    """Loop strength reduction takes a third of the time and gains nothing; the option holds for the whole process."""
    binding.set_option("celadon", "-disable-lsr=true")
    try:
        return emit()
    finally:
        binding.set_option("celadon", "-disable-lsr=false")


@functools.cache
def _loaded() -> tuple[Any, Any]:
    import llvmlite.binding as binding  # pyright: ignore[reportMissingTypeStubs]

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    machine = binding.Target.from_default_triple().create_target_machine(
        cpu=binding.get_host_cpu_name(),
        features=binding.get_host_cpu_features().flatten(),
        opt=1,
        reloc="pic",
        codemodel="small",
        jit=True,
    )
    return binding, machine


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
