"""Object code comes in, a Library with the addresses of its functions goes out; plans put these into step lists."""

from __future__ import annotations

import ctypes
import functools
import mmap
import platform
import struct
import sys
import weakref
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from celadon import errors
from celadon.cpu import llvm

_HEADER = struct.Struct("<4s5B7xHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QQq")
_RELOCATABLE, _X86_64 = 1, 62
_SYMTAB, _RELA, _NOBITS = 2, 4, 8
_WRITE, _ALLOC = 1, 2
_READ_EXECUTE = 5
_THROUGH_SLOT = (9, 41, 42)
_FIELDS: dict[int, tuple[struct.Struct, bool]] = {
    1: (struct.Struct("<Q"), False),
    24: (struct.Struct("<q"), True),
    **{kind: (struct.Struct("<i"), True) for kind in (2, 4, *_THROUGH_SLOT)},
}
_IMAGE_AT_MOST = 1 << 30

_pinned: list[object] = []


class Library:
    """Machine code in memory: `symbols` maps the names asked for to addresses, valid while the library lives."""

    __slots__ = ("__weakref__", "_keeper", "symbols")

    def __init__(self, symbols: dict[str, int], keeper: object):
        self.symbols = symbols
        self._keeper = keeper

    def pin(self) -> Library:
        """Keep the code mapped until the process ends, because threads run in it."""
        if isinstance(self._keeper, _Mapping):
            self._keeper.unmap.detach()
        _pinned.append(self)
        return self


def load(code: bytes, names: Sequence[str]) -> Library:
    """Map object code and find the addresses of `names`; the code may refer to nothing outside itself.

    Args:
        code: an object as `llvm.compile_text` makes it.
        names: global symbols that it defines.

    Raises:
        MachineCodeRejected: if the object is damaged, of another platform, incomplete or lacks a name.

    >>> code = llvm.compile_text("define void @k() {\\n ret void\\n}")
    >>> load(code, ("k",)).symbols["k"] > 0
    True
    """
    if not _maps_elf():
        keeper, symbols = llvm.link(code, names)
        return Library(symbols, keeper)
    try:
        return _load_elf(code, names)
    except (struct.error, LookupError, ValueError, OverflowError) as error:
        raise errors.MachineCodeRejected(reason=f"a damaged object ({error})") from None


@functools.cache
def _maps_elf() -> bool:
    elf = sys.platform.startswith(("linux", "freebsd", "openbsd", "netbsd"))
    return elf and platform.machine() in ("x86_64", "amd64") and struct.calcsize("P") == 8


class _Section(NamedTuple):
    kind: int
    flags: int
    offset: int
    size: int
    link: int
    info: int
    align: int


class _Symbol(NamedTuple):
    name: str
    is_global: bool
    section: int
    value: int


class _Object(NamedTuple):
    """A parsed object: its bytes, sections and symbols."""

    code: bytes
    sections: tuple[_Section, ...]
    symbols: tuple[_Symbol, ...]


class _Layout(NamedTuple):
    """Where sections go: what is executed or read, the address slots, and on pages of its own what is written."""

    places: dict[int, int]
    slots: int
    writable: int
    size: int


class _Mapping:
    """Pages of the process, given back when this dies; not at exit, when other threads may still run in them."""

    __slots__ = ("__weakref__", "address", "size", "unmap")

    def __init__(self, size: int):
        libc = _libc()
        self.size = size
        rights, kind = mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANON
        self.address: int = libc.mmap(None, size, rights, kind, -1, 0)
        if self.address == ctypes.c_void_p(-1).value:
            raise errors.OutOfMemory(bytes=size)
        self.unmap = weakref.finalize(self, libc.munmap, self.address, size)
        self.unmap.atexit = False

    def make_executable(self, size: int) -> None:
        if _libc().mprotect(self.address, size, _READ_EXECUTE):
            raise errors.MachineCodeRejected(reason=f"the system refused executable memory ({ctypes.get_errno()})")


@functools.cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    address, size, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    libc.mmap.restype = address
    libc.mmap.argtypes = (address, size, number, number, number, ctypes.c_int64)
    libc.mprotect.argtypes = (address, size, number)
    libc.munmap.argtypes = (address, size)
    return libc


def _load_elf(code: bytes, names: Sequence[str]) -> Library:
    parsed = _parse(code)
    layout = _lay_out(parsed)
    mapping = _Mapping(layout.size)
    image = _image(parsed, layout, mapping.address)
    ctypes.memmove(mapping.address, bytes(image), len(image))
    mapping.make_executable(layout.writable)
    found = _addresses(parsed, layout, mapping.address)
    missing = [name for name in names if name not in found]
    if missing:
        raise errors.MachineCodeRejected(reason=f"it does not define {', '.join(missing)}")
    return Library({name: found[name] for name in names}, mapping)


def _parse(code: bytes) -> _Object:
    magic, bits, order, _, _, _, kind, machine, *rest = _HEADER.unpack_from(code)
    if (magic, bits, order, kind, machine) != (b"\x7fELF", 2, 1, _RELOCATABLE, _X86_64):
        raise errors.MachineCodeRejected(reason="not an object of this platform")
    start, stride, count = rest[3], rest[8], rest[9]
    if stride != _SECTION.size:
        raise errors.MachineCodeRejected(reason="sections of an unknown size")
    sections = tuple(_section(code, start + stride * i) for i in range(count))
    return _Object(code, sections, tuple(_symbols(code, sections)))


def _section(code: bytes, offset: int) -> _Section:
    _, kind, flags, _, start, size, link, info, align, _ = _SECTION.unpack_from(code, offset)
    section = _Section(kind, flags, start, size, link, info, max(align, 1))
    if kind not in (0, _NOBITS) and start + size > len(code):
        raise errors.MachineCodeRejected(reason="a section beyond the end of the object")
    if flags & _ALLOC and (section.align & (section.align - 1) or section.align > mmap.PAGESIZE):
        raise errors.MachineCodeRejected(reason="a section with an impossible alignment")
    return section


def _symbols(code: bytes, sections: tuple[_Section, ...]) -> Iterator[_Symbol]:
    table = next((section for section in sections if section.kind == _SYMTAB), None)
    if table is None:
        raise errors.MachineCodeRejected(reason="no symbols")
    strings = sections[table.link]
    text = code[strings.offset : strings.offset + strings.size]
    for name, info, _, section, value, _ in _SYMBOL.iter_unpack(code[table.offset : table.offset + table.size]):
        word = text[name : text.index(b"\0", name)].decode("ascii", "replace")
        yield _Symbol(word, info >> 4 != 0, section, value)


def _lay_out(parsed: _Object) -> _Layout:
    kept = {i: section for i, section in enumerate(parsed.sections) if section.flags & _ALLOC and section.size}
    places: dict[int, int] = {}
    fixed = {i: section for i, section in kept.items() if not section.flags & _WRITE}
    slots = _aligned(_place(fixed, places, 0), 8)
    writable = _aligned(slots + 8 * len(parsed.symbols), mmap.PAGESIZE)
    written = {i: section for i, section in kept.items() if section.flags & _WRITE}
    size = _aligned(_place(written, places, writable), mmap.PAGESIZE)
    return _Layout(places, slots, writable, size)


def _place(sections: dict[int, _Section], places: dict[int, int], offset: int) -> int:
    for i, section in sections.items():
        places[i] = _aligned(offset, section.align)
        offset = places[i] + section.size
    if offset > _IMAGE_AT_MOST:
        raise errors.MachineCodeRejected(reason="an object too large to map")
    return offset


def _aligned(offset: int, align: int) -> int:
    return (offset + align - 1) // align * align


def _image(parsed: _Object, layout: _Layout, base: int) -> bytearray:
    image = bytearray(layout.size)
    for i, place in layout.places.items():
        section = parsed.sections[i]
        if section.kind != _NOBITS:
            image[place : place + section.size] = parsed.code[section.offset : section.offset + section.size]
    for table in parsed.sections:
        if table.kind == _RELA and table.info in layout.places:
            _relocate(parsed, layout, base, table, image)
    return image


def _relocate(parsed: _Object, layout: _Layout, base: int, table: _Section, image: bytearray) -> None:
    start, size = layout.places[table.info], parsed.sections[table.info].size
    entry: tuple[int, int, int]
    for entry in _RELOCATION.iter_unpack(parsed.code[table.offset : table.offset + table.size]):
        offset, info, addend = entry
        kind, index = info & 0xFFFFFFFF, info >> 32
        if kind not in _FIELDS:
            raise errors.MachineCodeRejected(reason=f"an unknown relocation ({kind})")
        field, relative = _FIELDS[kind]
        if offset + field.size > size:
            raise errors.MachineCodeRejected(reason="a relocation outside its section")
        target = _target(layout, parsed.symbols[index])
        if kind in _THROUGH_SLOT:
            slot = layout.slots + 8 * index
            struct.pack_into("<Q", image, slot, base + target)
            target = slot
        origin = -(start + offset) if relative else base
        field.pack_into(image, start + offset, origin + target + addend)


def _target(layout: _Layout, symbol: _Symbol) -> int:
    if symbol.section not in layout.places:
        raise errors.MachineCodeRejected(reason=f"it refers to {symbol.name or 'a place'} outside itself")
    return layout.places[symbol.section] + symbol.value


def _addresses(parsed: _Object, layout: _Layout, base: int) -> dict[str, int]:
    return {
        symbol.name: base + _target(layout, symbol)
        for symbol in parsed.symbols
        if symbol.is_global and symbol.section in layout.places and symbol.value < parsed.sections[symbol.section].size
    }
