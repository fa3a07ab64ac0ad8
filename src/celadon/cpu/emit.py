"""Kernels in, addresses of their machine code out: from memory, from disk, or compiled now, the missing ones in a module for
each thread."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakValueDictionary

from celadon import ahead, compiler, errors, events
from celadon.cpu import link, llvm, store, threads
from celadon.cpu.recipe import Kernel, Map, Reduce, Rows, digest
from celadon.facade import Lazy

if TYPE_CHECKING:
    from celadon.cpu import emit_map, emit_moved, emit_reduce, emit_rows, ir
    from celadon.cpu.ir import Function
else:  # a kernel that is on disk needs no emitter
    emit_map, emit_moved = Lazy("celadon.cpu.emit_map"), Lazy("celadon.cpu.emit_moved")
    emit_reduce, emit_rows = Lazy("celadon.cpu.emit_reduce"), Lazy("celadon.cpu.emit_rows")
    ir = Lazy("celadon.cpu.ir")


_QUICK = "q"  # marks the code of a kernel that was compiled at level 0
_WORTH_A_THREAD = 4000  # characters of IR: less than a module's own cost


def _emitted(kernel: Kernel, name: str) -> Function:
    if isinstance(kernel, Map):
        return emit_map.emit(kernel, name)
    if isinstance(kernel, Reduce):
        return emit_reduce.emit(kernel, name)
    return emit_rows.emit(kernel, name) if isinstance(kernel, Rows) else emit_moved.emit(kernel, name)


class Code:
    """The machine code of one kernel: its address, its share of the object's bytes, and what keeps it mapped."""

    __slots__ = ("__weakref__", "address", "library", "nbytes")

    def __init__(self, address: int, nbytes: int, library: link.Library):
        self.address, self.nbytes, self.library = address, nbytes, library


class Compiled(NamedTuple):
    """Code for each kernel asked for, and how many of them were compiled now."""

    codes: tuple[Code, ...]
    fresh: int


_known: WeakValueDictionary[str, Code] = WeakValueDictionary()


def compiled(kernels: Sequence[Kernel]) -> Compiled:
    """The code of kernels, in their order."""
    level = compiler.level()
    digests = [digest(kernel) + ("" if level else _QUICK) for kernel in kernels]
    found = {name: code for name in digests if (code := _known.get(name)) is not None}
    missing = {name: kernel for name, kernel in zip(digests, kernels, strict=True) if name not in found}
    if missing:
        with events.Stage("store"):
            stored = _from_disk(sorted(missing))
        events.record("store_hit" if stored else "store_miss", kernels=len(stored))
        found.update(stored)
    fresh = {name: kernel for name, kernel in missing.items() if name not in found}
    if fresh:
        found.update(_built(fresh, level))
    return Compiled(tuple(found[name] for name in digests), len(fresh))


def symbol(name: str) -> str:
    return f"k{name}"


def text(kernels: dict[str, Kernel]) -> str:
    """The module of kernels by digest."""
    return ir.module([_emitted(kernel, symbol(name)) for name, kernel in sorted(kernels.items())])


def _built(kernels: dict[str, Kernel], level: int) -> dict[str, Code]:
    with events.Stage("emit"):
        functions = {name: _emitted(kernel, symbol(name)) for name, kernel in sorted(kernels.items())}
        parts = _parts({name: len(function.text()) for name, function in functions.items()})
        texts = [ir.module([functions[name] for name in names]) for names in parts]
    ahead.load()
    with events.Stage("LLVM"):
        codes = llvm.compile_texts(texts, level)
    with events.Stage("store"):
        store.save_soon(_entries(parts, codes))
    with events.Stage("link"):
        loaded = [_loaded(code, names) for names, code in zip(parts, codes, strict=True)]
    return {name: code for found in loaded for name, code in found.items()}


def _entries(parts: Sequence[Sequence[str]], codes: Sequence[bytes]) -> dict[str, bytes]:
    """What goes to disk: objects, and for each kernel the names of those that are in its object."""
    entries: dict[str, bytes] = {}
    for names, code in zip(parts, codes, strict=True):
        entries[_object_key(names)] = code
        entries.update({f"kernel {name}": "\n".join(names).encode() for name in names})
    return entries


def _parts(sizes: dict[str, int]) -> list[list[str]]:
    """Names parted into modules of about one size, one a thread: the largest first, each to the part that is the smallest."""
    count = min(threads.threads(), len(sizes), 1 + sum(sizes.values()) // _WORTH_A_THREAD)
    parts: list[list[str]] = [[] for _ in range(count)]
    filled = [0] * count
    for name in sorted(sizes, key=lambda name: (-sizes[name], name)):
        k = filled.index(min(filled))
        parts[k].append(name)
        filled[k] += sizes[name]
    return [sorted(names) for names in parts]


def _object_key(names: Sequence[str]) -> str:
    return "object " + sha256("\n".join(names).encode()).hexdigest()


def _loaded(code: bytes, names: Sequence[str]) -> dict[str, Code]:
    library = link.load(code, [symbol(name) for name in names])
    share = len(code) // len(names)
    made = {name: Code(library.symbols[symbol(name)], share, library) for name in names}
    _known.update(made)
    return made


def _from_disk(missing: Sequence[str]) -> dict[str, Code]:
    """What is on disk: most likely all in one object; else each in the object that its own entry names."""
    found: dict[str, Code] = {}
    for name in missing:
        if name not in found:
            entry = store.load(f"kernel {name}")
            if entry is not None:
                found.update(_opened(entry.decode("ascii", "replace").split("\n")))
    return found


def _opened(names: Sequence[str]) -> dict[str, Code]:
    key = _object_key(names)
    code = store.load(key)
    if code is None:
        return {}
    try:
        return _loaded(code, names)
    except errors.MachineCodeRejected as error:
        store.reject(key, str(error.facts["reason"]))
        return {}
