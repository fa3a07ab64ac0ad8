"""The fixed native runtime: address and length of a plan's step list come in, the steps are run; calling comes next.

A step is four 64-bit words {function, table, extent, unit}: function(table, lo, hi) is called once over [0, extent), or
in pieces of `unit` handed to the team where 0 < unit < extent. Loops and branches are steps too, whose functions are
`repeat`, `while_loop` and `branch` and whose tables name other step lists. Tables say how far from themselves step lists
and cells are, in bytes; a cell is a word that holds an address.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from hashlib import sha256
from typing import NamedTuple

from celadon import errors
from celadon.cpu import link, llvm, store, threads
from celadon.locks import process_lock

_FUNCTIONS = (
    "run", "copy", "repeat", "while_loop", "branch", "begin", "advance", "exchange", "settle", "repeat_unless", "halt",
    "clear",
)  # fmt: skip

_lock = process_lock()
_runtime: Runtime | None = None


class Runtime(NamedTuple):
    """Entry points of the native runtime.

    `release(steps, count)` and `hold(steps, count)` run a step list; the first lets other Python threads run meanwhile,
    the second costs less and is for work of a few microseconds. The others are addresses of functions for steps:

    - `copy`: table {destination, source}, copies the bytes [lo, hi);
    - `repeat`: table {steps, count, trips};
    - `while_loop`: table {test steps, count, cell, offset, steps, count}; the cell's address and the offset give where the
      test leaves its bool;
    - `branch`: table {cell, offset, branches, steps, count, steps, count, ...}, where the i32 at cell and offset is the
      index; out of range it takes the last branch;
    - `begin`: table {count, cell, other cell, offset, ...}, sets cells to the addresses of others, and an offset;
    - `advance`: table {count, cell, stride, ...}, moves the addresses in cells by strides;
    - `exchange`: table {count, cell, cell, ...}, swaps the addresses in two cells;
    - `settle`: table {cell, offset, other cell, bytes}, copies what is at the other cell's address unless it is there;
    - `repeat_unless`: table {steps, count, trips, word}, as `repeat`, but ends when the word is not 0;
    - `halt`: table {word, cell, offset}, makes the bool at cell and offset false if the word is not 0;
    - `clear`: table {count, cell, offset, kept, ...}, makes 0 of the 64 bytes at cell and offset but the first `kept`.
    """

    release: Callable[[int, int], None]
    hold: Callable[[int, int], None]
    copy: int
    repeat: int
    while_loop: int
    branch: int
    begin: int
    advance: int
    exchange: int
    settle: int
    repeat_unless: int
    halt: int
    clear: int


def runtime() -> Runtime:
    """The runtime of this process, compiled or loaded from disk at the first call.

    >>> runtime() is runtime()
    True
    """
    global _runtime
    if _runtime is not None:
        return _runtime
    with _lock:
        if _runtime is None:
            _runtime = _start()
        return _runtime


def _start() -> Runtime:
    names = (*_FUNCTIONS, "team") if threads.has_team() else _FUNCTIONS
    text = threads.text() + _DRIVER
    symbols = library(f"runtime {sha256(text.encode()).hexdigest()}", lambda: text, names).pin().symbols
    if threads.has_team():
        threads.attach(symbols["team"])
    arguments = (None, ctypes.c_void_p, ctypes.c_int64)
    return Runtime(
        ctypes.CFUNCTYPE(*arguments)(symbols["run"]),
        ctypes.PYFUNCTYPE(*arguments)(symbols["run"]),
        *(symbols[name] for name in _FUNCTIONS[1:]),
    )


def library(key: str, text: Callable[[], str], names: tuple[str, ...]) -> link.Library:
    """Machine code that every process has: from disk under a key, or made of the LLVM IR that `text` gives.

    Args:
        key: the same for the same text.
        names: of the symbols wanted.
    """
    code = store.load(key)
    if code is not None:
        try:
            return link.load(code, names)
        except errors.MachineCodeRejected as error:
            store.reject(key, str(error.facts["reason"]))
    code = llvm.compile_text(text())
    store.save(key, code)
    return link.load(code, names)


# What runs once a trip or a piece is emitted without optimization, in half the time; only what runs once a step is not.
ATTRIBUTES = """
attributes #0 = { noinline optnone }
"""
_RUN = """
define void @run(ptr %steps, i64 %count) {
entry:
  %none = icmp eq i64 %count, 0
  br i1 %none, label %out, label %step
step:
  %i = phi i64 [0, %entry], [%i1, %next]
  %s0 = getelementptr [4 x i64], ptr %steps, i64 %i
  %s1 = getelementptr i64, ptr %s0, i64 1
  %s2 = getelementptr i64, ptr %s0, i64 2
  %s3 = getelementptr i64, ptr %s0, i64 3
  %f = load ptr, ptr %s0
  %t = load ptr, ptr %s1
  %n = load i64, ptr %s2
  %unit = load i64, ptr %s3
  %small = icmp uge i64 %unit, %n
  %whole = icmp eq i64 %unit, 0
  %once = or i1 %small, %whole
  br i1 %once, label %direct, label %split
direct:
  call void %f(ptr %t, i64 0, i64 %n)
  br label %next
split:
  call void @parfor(ptr %f, ptr %t, i64 %n, i64 %unit)
  br label %next
next:
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %count
  br i1 %more, label %step, label %out
out:
  ret void
}
"""
STEPS = """
define void @copy(ptr %t, i64 %lo, i64 %hi) {
entry:
  %to = load ptr, ptr %t
  %s1 = getelementptr i64, ptr %t, i64 1
  %from = load ptr, ptr %s1
  br label %block
block:
  %i = phi i64 [%lo, %entry], [%i1, %wide]
  %i1 = add i64 %i, 64
  %fits = icmp ule i64 %i1, %hi
  br i1 %fits, label %wide, label %rest
wide:
  %wf = getelementptr i8, ptr %from, i64 %i
  %wt = getelementptr i8, ptr %to, i64 %i
  %w = load <64 x i8>, ptr %wf, align 1
  store <64 x i8> %w, ptr %wt, align 1
  br label %block
rest:
  %j = phi i64 [%i, %block], [%j1, %byte]
  %left = icmp ult i64 %j, %hi
  br i1 %left, label %byte, label %out
byte:
  %bf = getelementptr i8, ptr %from, i64 %j
  %bt = getelementptr i8, ptr %to, i64 %j
  %b = load i8, ptr %bf
  store i8 %b, ptr %bt
  %j1 = add i64 %j, 1
  br label %rest
out:
  ret void
}

define void @repeat(ptr %t, i64 %lo, i64 %hi) #0 {
entry:
  %far = load i64, ptr %t
  %steps = getelementptr i8, ptr %t, i64 %far
  %s1 = getelementptr i64, ptr %t, i64 1
  %count = load i64, ptr %s1
  %s2 = getelementptr i64, ptr %t, i64 2
  %trips = load i64, ptr %s2
  br label %test
test:
  %i = phi i64 [0, %entry], [%i1, %body]
  %more = icmp slt i64 %i, %trips
  br i1 %more, label %body, label %out
body:
  call void @run(ptr %steps, i64 %count)
  %i1 = add i64 %i, 1
  br label %test
out:
  ret void
}

define void @repeat_unless(ptr %t, i64 %lo, i64 %hi) #0 {
entry:
  %far = load i64, ptr %t
  %steps = getelementptr i8, ptr %t, i64 %far
  %s1 = getelementptr i64, ptr %t, i64 1
  %count = load i64, ptr %s1
  %s2 = getelementptr i64, ptr %t, i64 2
  %trips = load i64, ptr %s2
  %s3 = getelementptr i64, ptr %t, i64 3
  %word_far = load i64, ptr %s3
  %word = getelementptr i8, ptr %t, i64 %word_far
  br label %test
test:
  %i = phi i64 [0, %entry], [%i1, %body]
  %stop = load i64, ptr %word
  %on = icmp eq i64 %stop, 0
  %left = icmp slt i64 %i, %trips
  %more = and i1 %on, %left
  br i1 %more, label %body, label %out
body:
  call void @run(ptr %steps, i64 %count)
  %i1 = add i64 %i, 1
  br label %test
out:
  ret void
}

define void @halt(ptr %t, i64 %lo, i64 %hi) #0 {
  %word_far = load i64, ptr %t
  %word = getelementptr i8, ptr %t, i64 %word_far
  %stop = load i64, ptr %word
  %on = icmp eq i64 %stop, 0
  br i1 %on, label %out, label %clear
clear:
  %s1 = getelementptr i64, ptr %t, i64 1
  %far = load i64, ptr %s1
  %cell = getelementptr i8, ptr %t, i64 %far
  %start = load ptr, ptr %cell
  %s2 = getelementptr i64, ptr %t, i64 2
  %offset = load i64, ptr %s2
  %flag = getelementptr i8, ptr %start, i64 %offset
  store i8 0, ptr %flag
  br label %out
out:
  ret void
}

define void @while_loop(ptr %t, i64 %lo, i64 %hi) #0 {
entry:
  %test_far = load i64, ptr %t
  %test_steps = getelementptr i8, ptr %t, i64 %test_far
  %s1 = getelementptr i64, ptr %t, i64 1
  %test_count = load i64, ptr %s1
  %s2 = getelementptr i64, ptr %t, i64 2
  %s3 = getelementptr i64, ptr %t, i64 3
  %s4 = getelementptr i64, ptr %t, i64 4
  %far = load i64, ptr %s4
  %steps = getelementptr i8, ptr %t, i64 %far
  %s5 = getelementptr i64, ptr %t, i64 5
  %count = load i64, ptr %s5
  %flag_far = load i64, ptr %s2
  %flag_cell = getelementptr i8, ptr %t, i64 %flag_far
  %flag_offset = load i64, ptr %s3
  br label %test
test:
  call void @run(ptr %test_steps, i64 %test_count)
  %flag_start = load ptr, ptr %flag_cell
  %flag = getelementptr i8, ptr %flag_start, i64 %flag_offset
  %on = load i8, ptr %flag
  %more = icmp ne i8 %on, 0
  br i1 %more, label %body, label %out
body:
  call void @run(ptr %steps, i64 %count)
  br label %test
out:
  ret void
}

define void @branch(ptr %t, i64 %lo, i64 %hi) #0 {
  %cell_far = load i64, ptr %t
  %cell = getelementptr i8, ptr %t, i64 %cell_far
  %start = load ptr, ptr %cell
  %s1 = getelementptr i64, ptr %t, i64 1
  %offset = load i64, ptr %s1
  %where = getelementptr i8, ptr %start, i64 %offset
  %index = load i32, ptr %where
  %i = zext i32 %index to i64
  %s2 = getelementptr i64, ptr %t, i64 2
  %branches = load i64, ptr %s2
  %last = sub i64 %branches, 1
  %inside = icmp ult i64 %i, %branches
  %taken = select i1 %inside, i64 %i, i64 %last
  %s3 = getelementptr i64, ptr %t, i64 3
  %pair = getelementptr [2 x i64], ptr %s3, i64 %taken
  %far = load i64, ptr %pair
  %steps = getelementptr i8, ptr %t, i64 %far
  %p1 = getelementptr i64, ptr %pair, i64 1
  %count = load i64, ptr %p1
  call void @run(ptr %steps, i64 %count)
  ret void
}

define void @begin(ptr %t, i64 %lo, i64 %hi) #0 {
entry:
  %count = load i64, ptr %t
  br label %one
one:
  %i = phi i64 [0, %entry], [%i1, %one]
  %at = mul i64 %i, 3
  %a = add i64 %at, 1
  %b = add i64 %at, 2
  %c = add i64 %at, 3
  %pa = getelementptr i64, ptr %t, i64 %a
  %pb = getelementptr i64, ptr %t, i64 %b
  %pc = getelementptr i64, ptr %t, i64 %c
  %far = load i64, ptr %pa
  %other_far = load i64, ptr %pb
  %offset = load i64, ptr %pc
  %cell = getelementptr i8, ptr %t, i64 %far
  %other = getelementptr i8, ptr %t, i64 %other_far
  %start = load ptr, ptr %other
  %address = getelementptr i8, ptr %start, i64 %offset
  store ptr %address, ptr %cell
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %count
  br i1 %more, label %one, label %out
out:
  ret void
}

define void @advance(ptr %t, i64 %lo, i64 %hi) #0 {
entry:
  %count = load i64, ptr %t
  br label %one
one:
  %i = phi i64 [0, %entry], [%i1, %one]
  %at = mul i64 %i, 2
  %a = add i64 %at, 1
  %b = add i64 %at, 2
  %pa = getelementptr i64, ptr %t, i64 %a
  %pb = getelementptr i64, ptr %t, i64 %b
  %far = load i64, ptr %pa
  %stride = load i64, ptr %pb
  %cell = getelementptr i8, ptr %t, i64 %far
  %old = load ptr, ptr %cell
  %new = getelementptr i8, ptr %old, i64 %stride
  store ptr %new, ptr %cell
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %count
  br i1 %more, label %one, label %out
out:
  ret void
}

define void @exchange(ptr %t, i64 %lo, i64 %hi) #0 {
entry:
  %count = load i64, ptr %t
  br label %one
one:
  %i = phi i64 [0, %entry], [%i1, %one]
  %at = mul i64 %i, 2
  %a = add i64 %at, 1
  %b = add i64 %at, 2
  %pa = getelementptr i64, ptr %t, i64 %a
  %pb = getelementptr i64, ptr %t, i64 %b
  %far = load i64, ptr %pa
  %other_far = load i64, ptr %pb
  %cell = getelementptr i8, ptr %t, i64 %far
  %other = getelementptr i8, ptr %t, i64 %other_far
  %x = load ptr, ptr %cell
  %y = load ptr, ptr %other
  store ptr %y, ptr %cell
  store ptr %x, ptr %other
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %count
  br i1 %more, label %one, label %out
out:
  ret void
}

define void @settle(ptr %t, i64 %lo, i64 %hi) #0 {
  %pair = alloca [2 x ptr]
  %far = load i64, ptr %t
  %cell = getelementptr i8, ptr %t, i64 %far
  %start = load ptr, ptr %cell
  %s1 = getelementptr i64, ptr %t, i64 1
  %offset = load i64, ptr %s1
  %to = getelementptr i8, ptr %start, i64 %offset
  %s2 = getelementptr i64, ptr %t, i64 2
  %other_far = load i64, ptr %s2
  %other = getelementptr i8, ptr %t, i64 %other_far
  %from = load ptr, ptr %other
  %s3 = getelementptr i64, ptr %t, i64 3
  %bytes = load i64, ptr %s3
  %there = icmp eq ptr %to, %from
  br i1 %there, label %out, label %move
move:
  store ptr %to, ptr %pair
  %second = getelementptr ptr, ptr %pair, i64 1
  store ptr %from, ptr %second
  call void @copy(ptr %pair, i64 0, i64 %bytes)
  br label %out
out:
  ret void
}

define void @clear(ptr %t, i64 %lo, i64 %hi) #0 {
entry:
  %count = load i64, ptr %t
  br label %one
one:
  %i = phi i64 [0, %entry], [%i1, %one]
  %at = mul i64 %i, 3
  %a = add i64 %at, 1
  %b = add i64 %at, 2
  %c = add i64 %at, 3
  %pa = getelementptr i64, ptr %t, i64 %a
  %pb = getelementptr i64, ptr %t, i64 %b
  %pc = getelementptr i64, ptr %t, i64 %c
  %far = load i64, ptr %pa
  %offset = load i64, ptr %pb
  %kept = load i64, ptr %pc
  %cell = getelementptr i8, ptr %t, i64 %far
  %start = load ptr, ptr %cell
  %block = getelementptr i8, ptr %start, i64 %offset
  %old = load <64 x i8>, ptr %block, align 1
  %short = trunc i64 %kept to i8
  %first = insertelement <64 x i8> poison, i8 %short, i64 0
  %all = shufflevector <64 x i8> %first, <64 x i8> poison, <64 x i32> zeroinitializer
  %keep = icmp ult <64 x i8> <NUMBERS>, %all
  %new = select <64 x i1> %keep, <64 x i8> %old, <64 x i8> zeroinitializer
  store <64 x i8> %new, ptr %block, align 1
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %count
  br i1 %more, label %one, label %out
out:
  ret void
}
""".replace("NUMBERS", ", ".join(f"i8 {i}" for i in range(64)))
_DRIVER = ATTRIBUTES + _RUN + STEPS
