"""The fork-join team: its LLVM IR goes out to the driver's runtime, whose state is set up here with who may work."""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys
from string import Template

_WORDS = {
    "ticket": 0,
    "generation": 4,
    "done": 64,
    "function": 128,
    "table": 136,
    "extent": 144,
    "unit": 152,
    "span": 160,
    "sleepers": 192,
    "busy": 256,
    "threads": 320,
    "started": 328,
    "numbers": 336,
    "spins": 344,
    "syscall": 352,
    "pthread_create": 360,
    "pthread_sigmask": 368,
    "blocked": 384,
}
_STATE_BYTES = 512
_CHANGED_BYTES = 320
_SPINS = 4000
_FAULTS = (4, 5, 6, 7, 8, 11)

_wanted: int | None = None
_state: int | None = None


def set_threads(count: int | None) -> None:
    """How many threads a program may use, the caller's among them; None for one a processor. Results do not change.

    >>> set_threads(None)
    """
    global _wanted
    _wanted = None if count is None else max(count, 1)
    if _state is not None:
        _word("threads").value = threads()


def threads() -> int:
    """How many threads a program may use, the caller's among them.

    >>> threads() >= 1
    True
    """
    if not has_team():
        return 1
    return min(_wanted or len(os.sched_getaffinity(0)), 256)


def has_team() -> bool:
    """Whether this platform has the waits that the team is built on; elsewhere programs run on the caller's thread."""
    return sys.platform == "linux" and platform.machine() == "x86_64" and struct.calcsize("P") == 8


def text() -> str:
    """LLVM IR that defines `@parfor(function, table, extent, unit)`, and `@team`, its state, where there is a team."""
    return _STRIDE + (Template(_TEAM).substitute(_places()) if has_team() else _SERIAL)


def attach(address: int) -> None:
    """Fill the state at `address`, the runtime's `@team`; threads start at the first parallel step."""
    global _state
    _state = address
    libc = ctypes.CDLL(None)
    for name in ("syscall", "pthread_create", "pthread_sigmask"):
        _word(name).value = ctypes.cast(getattr(libc, name), ctypes.c_void_p).value or 0
    _word("spins").value = _SPINS
    _word("blocked").value = ~sum(1 << number - 1 for number in _FAULTS)
    _word("threads").value = threads()


def _word(name: str) -> ctypes.c_int64:
    assert _state is not None
    return ctypes.c_int64.from_address(_state + _WORDS[name])


def _places() -> dict[str, str]:
    return {name: f"getelementptr (i8, ptr @team, i64 {offset})" for name, offset in _WORDS.items()} | {
        "bytes": str(_STATE_BYTES)
    }


def _start_afresh() -> None:
    """A forked child has the state, but not the threads."""
    if _state is not None:
        ctypes.memset(_state, 0, _CHANGED_BYTES)
        _word("started").value = _word("numbers").value = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_afresh)

# Runs [%lo, %hi) in pieces of %unit: however many threads there are, a kernel sees the same borders.
_STRIDE = """
define internal void @stride(ptr %f, ptr %t, i64 %lo, i64 %hi, i64 %unit) #0 {
entry:
  br label %loop
loop:
  %i = phi i64 [%lo, %entry], [%next, %loop]
  %next = add i64 %i, %unit
  %inside = icmp ult i64 %next, %hi
  %end = select i1 %inside, i64 %next, i64 %hi
  call void %f(ptr %t, i64 %i, i64 %end)
  br i1 %inside, label %loop, label %done
done:
  ret void
}
"""

_SERIAL = """
define internal void @parfor(ptr %f, ptr %t, i64 %n, i64 %unit) #0 {
  call void @stride(ptr %f, ptr %t, i64 0, i64 %n, i64 %unit)
  ret void
}
"""

# ticket: generation (32 bits), claims (16), next claim (16) in one word, so that a late worker can't take a claim of
# one round for one of the next. The leader drains too, then waits for `done`: no round needs a worker to be awake.
# Workers are born with signals blocked, so that Python's threads get them.
_TEAM = """
@team = dso_local global [$bytes x i8] zeroinitializer, align 64
declare void @llvm.x86.sse2.pause()

define internal void @drain() #0 {
entry:
  br label %look
look:
  %ticket = load atomic i64, ptr $ticket acquire, align 8
  %f = load atomic i64, ptr $function monotonic, align 8
  %t = load atomic i64, ptr $table monotonic, align 8
  %n = load atomic i64, ptr $extent monotonic, align 8
  %unit = load atomic i64, ptr $unit monotonic, align 8
  %span = load atomic i64, ptr $span monotonic, align 8
  %shifted = lshr i64 %ticket, 16
  %claims = and i64 %shifted, 65535
  %i = and i64 %ticket, 65535
  %more = icmp ult i64 %i, %claims
  br i1 %more, label %claim, label %out
claim:
  %taken = add i64 %ticket, 1
  %swap = cmpxchg ptr $ticket, i64 %ticket, i64 %taken acq_rel monotonic
  %mine = extractvalue {i64, i1} %swap, 1
  br i1 %mine, label %work, label %look
work:
  %fp = inttoptr i64 %f to ptr
  %tp = inttoptr i64 %t to ptr
  %lo = mul i64 %i, %span
  %far = add i64 %lo, %span
  %inside = icmp ult i64 %far, %n
  %hi = select i1 %inside, i64 %far, i64 %n
  call void @stride(ptr %fp, ptr %tp, i64 %lo, i64 %hi, i64 %unit)
  %done = atomicrmw add ptr $done, i64 1 acq_rel
  br label %look
out:
  ret void
}

define internal ptr @worker(ptr %unused) #0 {
entry:
  %before = atomicrmw add ptr $numbers, i64 1 monotonic
  %number = add i64 %before, 1
  %sys = load ptr, ptr $syscall
  %spins = load i64, ptr $spins
  br label %outer
outer:
  %seen = phi i32 [0, %entry], [%g, %check], [%g, %work]
  br label %spin
spin:
  %k = phi i64 [0, %outer], [%k1, %again], [0, %sleep]
  %g = load atomic i32, ptr $generation acquire, align 4
  %new = icmp ne i32 %g, %seen
  br i1 %new, label %check, label %again
again:
  call void @llvm.x86.sse2.pause()
  %k1 = add i64 %k, 1
  %tired = icmp ugt i64 %k1, %spins
  br i1 %tired, label %sleep, label %spin
sleep:
  %s0 = atomicrmw add ptr $sleepers, i32 1 seq_cst
  %waited = call i64 (i64, ...) %sys(i64 202, ptr $generation, i64 128, i32 %seen, ptr null, ptr null, i64 0)
  %s1 = atomicrmw sub ptr $sleepers, i32 1 seq_cst
  br label %spin
check:
  %limit = load atomic i64, ptr $threads monotonic, align 8
  %allowed = icmp ult i64 %number, %limit
  br i1 %allowed, label %work, label %outer
work:
  call void @drain()
  br label %outer
}

define internal void @recruit(i64 %wanted) #0 {
entry:
  %have = load i64, ptr $started
  %create = load ptr, ptr $pthread_create
  %mask = load ptr, ptr $pthread_sigmask
  %id = alloca i64
  %before = alloca [128 x i8]
  %masked = call i32 %mask(i32 0, ptr $blocked, ptr %before)
  br label %loop
loop:
  %i = phi i64 [%have, %entry], [%i1, %ok]
  %enough = icmp uge i64 %i, %wanted
  br i1 %enough, label %out, label %start
start:
  %failed = call i32 %create(ptr %id, ptr null, ptr @worker, ptr null)
  %z = icmp eq i32 %failed, 0
  br i1 %z, label %ok, label %give_up
ok:
  %i1 = add i64 %i, 1
  store i64 %i1, ptr $started
  br label %loop
give_up:
  %left = add i64 %i, 1
  store atomic i64 %left, ptr $threads monotonic, align 8
  br label %out
out:
  %restored = call i32 %mask(i32 2, ptr %before, ptr null)
  ret void
}

define internal void @publish(ptr %f, ptr %t, i64 %n, i64 %unit, i64 %span, i64 %claims) #0 {
  %fi = ptrtoint ptr %f to i64
  store atomic i64 %fi, ptr $function monotonic, align 8
  %ti = ptrtoint ptr %t to i64
  store atomic i64 %ti, ptr $table monotonic, align 8
  store atomic i64 %n, ptr $extent monotonic, align 8
  store atomic i64 %unit, ptr $unit monotonic, align 8
  store atomic i64 %span, ptr $span monotonic, align 8
  store atomic i64 0, ptr $done monotonic, align 8
  %old = load atomic i64, ptr $ticket monotonic, align 8
  %g0 = lshr i64 %old, 32
  %g1 = add i64 %g0, 1
  %high = shl i64 %g1, 32
  %middle = shl i64 %claims, 16
  %ticket = or i64 %high, %middle
  store atomic i64 %ticket, ptr $ticket seq_cst, align 8
  ret void
}

define internal void @wake() #0 {
  %sleepers = load atomic i32, ptr $sleepers seq_cst, align 4
  %any = icmp ne i32 %sleepers, 0
  br i1 %any, label %call, label %out
call:
  %sys = load ptr, ptr $syscall
  %woken = call i64 (i64, ...) %sys(i64 202, ptr $generation, i64 129, i32 2147483647, ptr null, ptr null, i64 0)
  br label %out
out:
  ret void
}

define internal void @wait(i64 %claims) #0 {
entry:
  br label %look
look:
  %k = phi i64 [0, %entry], [%k1, %pause], [0, %yield]
  %done = load atomic i64, ptr $done acquire, align 8
  %all = icmp eq i64 %done, %claims
  br i1 %all, label %out, label %pause
pause:
  call void @llvm.x86.sse2.pause()
  %k1 = add i64 %k, 1
  %long = icmp ugt i64 %k1, 1000
  br i1 %long, label %yield, label %look
yield:
  %sys = load ptr, ptr $syscall
  %yielded = call i64 (i64, ...) %sys(i64 24)
  br label %look
out:
  ret void
}

define internal void @lead(ptr %f, ptr %t, i64 %n, i64 %unit, i64 %threads) #0 {
  %started = load i64, ptr $started
  %wanted = sub i64 %threads, 1
  %short = icmp ult i64 %started, %wanted
  br i1 %short, label %hire, label %go
hire:
  call void @recruit(i64 %wanted)
  br label %go
go:
  %n1 = sub i64 %n, 1
  %last = udiv i64 %n1, %unit
  %most = udiv i64 %last, 65535
  %batch = add i64 %most, 1
  %span = mul i64 %batch, %unit
  %last_claim = udiv i64 %n1, %span
  %claims = add i64 %last_claim, 1
  call void @publish(ptr %f, ptr %t, i64 %n, i64 %unit, i64 %span, i64 %claims)
  call void @wake()
  call void @drain()
  call void @wait(i64 %claims)
  ret void
}

define internal void @parfor(ptr %f, ptr %t, i64 %n, i64 %unit) #0 {
entry:
  %threads = load atomic i64, ptr $threads monotonic, align 8
  %alone = icmp ult i64 %threads, 2
  br i1 %alone, label %serial, label %try
try:
  %swap = cmpxchg ptr $busy, i32 0, i32 1 acquire monotonic
  %free = extractvalue {i32, i1} %swap, 1
  br i1 %free, label %parallel, label %serial
parallel:
  call void @lead(ptr %f, ptr %t, i64 %n, i64 %unit, i64 %threads)
  store atomic i32 0, ptr $busy release, align 4
  ret void
serial:
  call void @stride(ptr %f, ptr %t, i64 0, i64 %n, i64 %unit)
  ret void
}
"""
