"""Object code to addresses: relocations, page rights, lifetime, and objects that are damaged."""

import ctypes
import gc
import random
import sys

import numpy as np
import pytest

from celadon import errors, memory
from celadon.cpu import link, llvm

own_loader = pytest.mark.skipif(not link._maps_elf(), reason="LLVM links on this platform")

TEXT = """
@functions = internal constant [2 x ptr] [ptr @k, ptr @store]
@amounts = internal constant <8 x float> <float 1.0, float 2.0, float 3.0, float 4.0,
                                          float 5.0, float 6.0, float 7.0, float 8.0>
@calls = global i64 5
@scratch = global [1000 x i64] zeroinitializer, align 64
define void @k(ptr %t, i64 %lo, i64 %hi) {
  %v = load <8 x float>, ptr %t
  %a = load <8 x float>, ptr @amounts
  %s = fadd <8 x float> %v, %a
  store <8 x float> %s, ptr %t
  call void @store(ptr %t, i64 %lo, i64 %hi)
  ret void
}
define void @store(ptr %t, i64 %lo, i64 %hi) noinline {
  %old = load i64, ptr @calls
  store i64 %hi, ptr @calls
  %e = getelementptr ptr, ptr @functions, i64 %lo
  %f = load ptr, ptr %e
  %s = getelementptr i64, ptr @scratch, i64 999
  %z = load i64, ptr %s
  %t4 = getelementptr i64, ptr %t, i64 4
  store ptr %f, ptr %t4
  %t5 = getelementptr i64, ptr %t, i64 5
  store i64 %old, ptr %t5
  %t6 = getelementptr i64, ptr %t, i64 6
  store ptr @calls, ptr %t6
  %t7 = getelementptr i64, ptr %t, i64 7
  store i64 %z, ptr %t7
  ret void
}
"""
NAMES = ("k", "store", "calls")


@pytest.fixture(scope="module")
def code():
    return llvm.compile_text(TEXT)


def call(library, lo, hi):
    block = memory.allocate(64)
    words = block.view(np.int64, (8,))
    words[:] = 0
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(library.symbols["k"])(block.pointer, lo, hi)
    return words


def check(library):
    words = call(library, 1, 7)
    assert words[:4].view(np.float32).tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert words[4:].tolist() == [library.symbols["store"], 5, library.symbols["calls"], 0]
    assert call(library, 0, 9)[4:6].tolist() == [library.symbols["k"], 7]


def test_code_constants_and_data(code):
    check(link.load(code, NAMES))


def test_two_libraries_of_one_object_are_apart(code):
    check(link.load(code, NAMES))
    check(link.load(code, NAMES))


def test_platforms_without_own_loader_use_llvm(code, monkeypatch):
    monkeypatch.setattr(link, "_maps_elf", lambda: False)
    check(link.load(code, NAMES))


def test_only_the_names_asked_for(code):
    assert list(link.load(code, ("store",)).symbols) == ["store"]


def rights(address):
    with open("/proc/self/maps") as lines:
        for line in lines:
            span, mode = line.split()[:2]
            start, end = (int(part, 16) for part in span.split("-"))
            if start <= address < end:
                return mode[:3]
    return ""


@own_loader
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_nothing_is_both_written_and_executed(code):
    library = link.load(code, NAMES)
    assert rights(library.symbols["k"]) == "r-x"
    assert rights(library.symbols["calls"]) == "rw-"


def mapped(library):
    ours = library._keeper
    return ours.address, ours.unmap


@own_loader
def test_memory_is_given_back(code):
    library = link.load(code, NAMES)
    _, unmap = mapped(library)
    assert unmap.alive
    del library
    gc.collect()
    assert not unmap.alive


@own_loader
def test_a_pinned_library_stays(code):
    library = link.load(code, NAMES).pin()
    address = library.symbols["k"]
    del library
    gc.collect()
    assert rights(address) == "r-x"


@pytest.mark.parametrize(
    "bad", [b"", b"\x7fELF", b"no object code", b"\0" * 4096], ids=["empty", "magic", "words", "nul"]
)
def test_what_is_no_object_is_refused(bad):
    with pytest.raises(errors.MachineCodeRejected):
        link.load(bad, ("k",))


def test_a_missing_name_is_refused(code):
    with pytest.raises(errors.MachineCodeRejected, match="absent"):
        link.load(code, ("k", "absent"))


@own_loader
def test_outside_symbols_are_refused():
    text = "declare void @outside()\ndefine void @k() {\n call void @outside()\n ret void\n}"
    with pytest.raises(errors.MachineCodeRejected, match="outside"):
        link.load(llvm.compile_text(text), ("k",))


@own_loader
def test_damaged_objects_never_crash(code):
    chance = random.Random(0)
    refused = 0
    for _ in range(4000):
        damaged = bytearray(code)
        for _ in range(chance.randint(1, 4)):
            where = chance.randrange(len(code)) if chance.random() < 0.5 else chance.randrange(-900, 0)
            damaged[where] = chance.randrange(256)
        if chance.random() < 0.2:
            del damaged[chance.randrange(len(code)) :]
        try:
            link.load(bytes(damaged), NAMES)
        except (errors.MachineCodeRejected, errors.OutOfMemory):
            refused += 1
    assert 1000 < refused < 4000


@own_loader
def test_a_refused_object_leaves_no_mapping(code):
    def count():
        with open("/proc/self/maps") as lines:
            return sum(1 for _ in lines)

    before = count()
    for _ in range(50):
        with pytest.raises(errors.MachineCodeRejected):
            link.load(code, ("absent",))
    gc.collect()
    assert count() <= before + 5
