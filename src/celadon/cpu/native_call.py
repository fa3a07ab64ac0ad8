"""The machine code of `Jit.__call__` and of Block's finalizer: loaded, told where things are in CPython, and put in place.

What it takes for granted about CPython's objects is looked at first; where anything is otherwise, Python does the calls.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from celadon import errors, events, memory, settings, tracing
from celadon.array import Array
from celadon.cpu import driver, native_source as source, store
from celadon.cpu.bound import Frame
from celadon.facade import Lazy
from celadon.locks import process_lock
from celadon.types import ArrayType, float32

if TYPE_CHECKING:
    from celadon.cpu import words
else:
    words = Lazy("celadon.cpu.words")  # most processes find the code on disk

_FASTCALL_WITH_KEYWORDS, _WITHOUT_ARGUMENTS = 0x82, 0x04
_ALLOC_SLOT = 47  # Py_tp_alloc
_NOBODY = -1
_CALL_HELP = b"__call__($self, /, *args, **kwargs)\n--\n\nCall the function as machine code."

_lock = process_lock()


class _UnknownLayout(Exception):
    """Objects of this interpreter are not laid out as native calls need it."""


class _MethodDefinition(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p))


def method(owner: type[Any], by_python: Callable[..., Any]) -> Any:
    """The native `__call__` of a class with a slot named `chain`, or None where this interpreter does not allow for it.

    Args:
        owner: the class; `chain` holds a tuple of records.
        by_python: the method that does the calls that fit no record.
    """
    with _lock:
        return _method(owner, by_python)


@functools.cache
def _method(owner: type[Any], by_python: Callable[..., Any]) -> Any:
    try:
        outside, symbols = _outside(owner, by_python), _symbols()
    except (_UnknownLayout, AttributeError, errors.CodeGenerationFailed, errors.MachineCodeRejected) as reason:
        events.record("native_call", reason=str(reason))
        return None
    table = (ctypes.c_int64 * len(source.OUTSIDE)).from_address(symbols["outside"])
    table[:] = [outside[name] for name in source.OUTSIDE]
    memory.Block.__del__ = _described(memory.Block, symbols["recycle"], b"__del__", _WITHOUT_ARGUMENTS)
    return _described(owner, symbols["call"], b"__call__", _FASTCALL_WITH_KEYWORDS, _CALL_HELP)


def is_at_hand() -> bool:
    """Whether the machine code need not be made first.

    >>> is_at_hand() in (True, False)
    True
    """
    return bool(_method.cache_info().currsize) or store.has(_key())


def _key() -> str:
    return f"native call {sha256(source.SOURCE.encode()).hexdigest()}"


def _symbols() -> dict[str, int]:
    def text() -> str:
        return words.translated(source.SOURCE, source.OUTSIDE, source.CONSTANTS, source.RETURNS)

    return driver.library(_key(), text, source.SYMBOLS).pin().symbols


def _outside(owner: type[Any], by_python: Callable[..., Any]) -> dict[str, int]:
    if sys.implementation.name != "cpython" or sys.byteorder != "little" or sys.maxsize < 1 << 62:
        raise _UnknownLayout("another kind of machine or interpreter")
    return {
        **{name: _address(getattr(ctypes.pythonapi, name)) for name in source.FUNCTIONS},
        **{name: _immortal(x) for name, x in _objects(by_python).items()},
        **_containers(),
        **_slots(owner),
        "array_new": _allocator(Array), "block_new": _allocator(memory.Block), "run": _address(driver.runtime().hold),
        "small_bytes": memory.SMALL_BYTES, "thread": _NOBODY, "tracing_dict": 0, "settings_dict": 0,
    }  # fmt: skip


def _objects(by_python: Callable[..., Any]) -> dict[str, Any]:
    interned = {
        "word_dict": "__dict__", "word_interpreter": "interpreter", "word_overrides": "overrides", "word_key": "key",
        "word_native_call": "celadon_native_call",
    }  # fmt: skip
    return {
        "array": Array, "block": memory.Block, "region": memory.Region, "float": float, "int": int, "bool": bool,
        "list": list, "dict": dict, "str": str, "none": None, "true": True, "false": False, "by_python": by_python,
        "find": memory.find, "keep_large": memory.keep_large, "interrupt": KeyboardInterrupt,
        "tracing_state": tracing.state, "settings_state": settings.thread, "settings_everywhere": settings.everywhere,
        **{name: sys.intern(word) for name, word in interned.items()},
    }  # fmt: skip


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def _immortal(x: Any) -> int:
    """The address of an object that lives from now on as long as the process, whose code knows it."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(x))
    return id(x)


def _allocator(kind: type[Any]) -> int:
    slot_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_int)(("PyType_GetSlot", ctypes.pythonapi))
    return slot_of(kind, _ALLOC_SLOT)


def _memory(x: object, words: int) -> list[int]:
    return list((ctypes.c_int64 * words).from_address(id(x)))


def _containers() -> dict[str, int]:
    """How far the items of containers are from their start; the type and the size must be the words 1 and 2."""
    first, second = object(), object()
    pair, items, text = (first, second), [first, second], bytes(range(64))
    for x, size in ((pair, 2), (items, 2), (text, 64)):
        if _memory(x, 3)[1:] != [id(type(x)), size]:
            raise _UnknownLayout(f"the head of a {type(x).__name__}")
    tuple_items, bytes_items = tuple.__basicsize__, bytes.__basicsize__ - 1
    if _memory(pair, tuple_items // 8 + 2)[-2:] != [id(first), id(second)]:
        raise _UnknownLayout("tuple")
    if ctypes.string_at(id(text) + bytes_items, 64) != text:
        raise _UnknownLayout("bytes")
    at = (ctypes.c_int64 * 2).from_address(_memory(items, 4)[3])
    if list(at) != [id(first), id(second)]:
        raise _UnknownLayout("list")
    return {"tuple_items": tuple_items, "list_items": 24, "bytes_items": bytes_items}


def _slots(owner: type[Any]) -> dict[str, int]:
    block = memory.allocate(0)
    x = Array(ArrayType((), float32), memory.allocate(4))
    frame, jitted = object.__new__(Frame), object.__new__(owner)
    wanted = {
        "chain": (jitted, "chain"), "type": (x, "type"), "owned": (x, "_block"), "host": (x, "_host"),
        "owner": (block, "owner"), "pointer": (block, "pointer"), "size": (block, "size"), "window": (block, "_window"),
        "frame_block": (frame, "block"), "frame_arena": (frame, "arena"),
    }  # fmt: skip
    return {name: _slot(*pair) for name, pair in wanted.items()}


def _slot(x: Any, name: str) -> int:
    """How far a slot is from the start of an object; it is found by what is put into it."""
    before, mark = getattr(x, name, None), object()
    setattr(x, name, mark)
    try:
        return 8 * _memory(x, type(x).__basicsize__ // 8).index(id(mark))
    except ValueError:
        raise _UnknownLayout(f"the slot {name} of {type(x).__name__}") from None
    finally:
        setattr(x, name, before)


def _described(owner: type[Any], address: int, name: bytes, flags: int, help: bytes | None = None) -> Any:
    definition = _MethodDefinition(name, address, flags, help)
    _immortal(definition)
    prototype = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.c_void_p)
    return prototype(("PyDescr_NewMethod", ctypes.pythonapi))(owner, ctypes.addressof(definition))
