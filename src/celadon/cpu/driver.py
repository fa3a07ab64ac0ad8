"""The fixed native runtime: address and length of a plan's step list come in, the steps are run; calling comes next.

A step is four 64-bit words {function, table, extent, unit}: function(table, lo, hi) is called once over [0, extent), or
in pieces of `unit` handed to the team where 0 < unit < extent. Loops and branches are steps too, whose functions are
`repeat`, `while_loop` and `branch` and whose tables name other step lists.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256

from celadon import errors
from celadon.cpu import link, llvm, store, threads
from celadon.locks import process_lock

_FUNCTIONS = ("run", "copy", "repeat", "while_loop", "branch")

_lock = process_lock()
_runtime: Runtime | None = None


@dataclass(frozen=True, slots=True)
class Runtime:
    """Entry points of the native runtime.

    `release(steps, count)` and `hold(steps, count)` run a step list; the first lets other Python threads run meanwhile,
    the second costs less and is for work of a few microseconds. The others are addresses of functions for steps:

    - `copy`: table {destination, source}, copies the bytes [lo, hi);
    - `repeat`: table {steps, count, trips, counter}, where counter is the address of an i64 that holds the trip;
    - `while_loop`: table {test steps, count, flag, body steps, count}, where flag is the address of the test's bool;
    - `branch`: table {index, branches, steps, count, steps, count, ...}, where index is the address of an i32; out of
      range it takes the last branch.
    """

    release: Callable[[int, int], None]
    hold: Callable[[int, int], None]
    copy: int
    repeat: int
    while_loop: int
    branch: int


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
    symbols = _library(threads.text() + _DRIVER, names).pin().symbols
    if threads.has_team():
        threads.attach(symbols["team"])
    arguments = (None, ctypes.c_void_p, ctypes.c_int64)
    return Runtime(
        ctypes.CFUNCTYPE(*arguments)(symbols["run"]),
        ctypes.PYFUNCTYPE(*arguments)(symbols["run"]),
        *(symbols[name] for name in _FUNCTIONS[1:]),
    )


def _library(text: str, names: tuple[str, ...]) -> link.Library:
    key = "runtime " + sha256(text.encode()).hexdigest()
    code = store.load(key)
    if code is not None:
        try:
            return link.load(code, names)
        except errors.MachineCodeRejected as error:
            store.reject(key, str(error.facts["reason"]))
    code = llvm.compile_text(text)
    store.save(key, code)
    return link.load(code, names)


_DRIVER = """
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

define void @repeat(ptr %t, i64 %lo, i64 %hi) {
entry:
  %steps = load ptr, ptr %t
  %s1 = getelementptr i64, ptr %t, i64 1
  %count = load i64, ptr %s1
  %s2 = getelementptr i64, ptr %t, i64 2
  %trips = load i64, ptr %s2
  %s3 = getelementptr i64, ptr %t, i64 3
  %counter = load ptr, ptr %s3
  br label %test
test:
  %i = phi i64 [0, %entry], [%i1, %body]
  %more = icmp slt i64 %i, %trips
  br i1 %more, label %body, label %out
body:
  store i64 %i, ptr %counter
  call void @run(ptr %steps, i64 %count)
  %i1 = add i64 %i, 1
  br label %test
out:
  ret void
}

define void @while_loop(ptr %t, i64 %lo, i64 %hi) {
entry:
  %test_steps = load ptr, ptr %t
  %s1 = getelementptr i64, ptr %t, i64 1
  %test_count = load i64, ptr %s1
  %s2 = getelementptr i64, ptr %t, i64 2
  %flag = load ptr, ptr %s2
  %s3 = getelementptr i64, ptr %t, i64 3
  %steps = load ptr, ptr %s3
  %s4 = getelementptr i64, ptr %t, i64 4
  %count = load i64, ptr %s4
  br label %test
test:
  call void @run(ptr %test_steps, i64 %test_count)
  %on = load i8, ptr %flag
  %more = icmp ne i8 %on, 0
  br i1 %more, label %body, label %out
body:
  call void @run(ptr %steps, i64 %count)
  br label %test
out:
  ret void
}

define void @branch(ptr %t, i64 %lo, i64 %hi) {
  %where = load ptr, ptr %t
  %index = load i32, ptr %where
  %i = zext i32 %index to i64
  %s1 = getelementptr i64, ptr %t, i64 1
  %branches = load i64, ptr %s1
  %last = sub i64 %branches, 1
  %inside = icmp ult i64 %i, %branches
  %taken = select i1 %inside, i64 %i, i64 %last
  %s2 = getelementptr i64, ptr %t, i64 2
  %pair = getelementptr [2 x i64], ptr %s2, i64 %taken
  %steps = load ptr, ptr %pair
  %p1 = getelementptr i64, ptr %pair, i64 1
  %count = load i64, ptr %p1
  call void @run(ptr %steps, i64 %count)
  ret void
}
"""
