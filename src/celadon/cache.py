"""The look-up by structure: a Structure compiled before, by anyone in this process, is reused; one compile per key."""

from __future__ import annotations

import importlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol
from weakref import WeakValueDictionary, ref

from celadon import compiler, errors, events, garbage, nans, origins, settings
from celadon.compiler import Numbers, Structure
from celadon.keys import BITS, is_key
from celadon.program import Program
from celadon.settings import Setting
from celadon.types import ArrayType

executor_name = Setting("celadon_executor", "cpu", keyed=True)
lifting = Setting("celadon_lifting", True, keyed=True)


class Executable(Protocol):
    nbytes: int
    kernels: int
    compiled: int

    def bind(self, structure: Structure, numbers: Numbers) -> Any: ...


class Executor(Protocol):
    """What runs programs. `native`: macro ops that it wants to be kept; `reserve`: the executor that takes its place where it
    lacks an op, if there is one.
    """

    name: str
    takes: frozenset[str]
    native: frozenset[str]
    reserve: str | None

    def adapted(self, program: Program) -> Program: ...
    def lacks(self, program: Program) -> list[str]: ...
    def compile(self, structure: Structure) -> Executable: ...


_PLACES = {
    "cpu": ("celadon.cpu.executor", "CPU"),
    "reference": ("celadon.reference", "Reference"),
    "xla": ("celadon.xla", "XLA"),
}
_executors: dict[str, Executor] = {}


def executor(name: str | None = None) -> Executor:
    """The executor of a name ("cpu", "reference", "xla"), or the one that the settings choose; loaded at first use."""
    name = str(name or executor_name.value)
    found = _executors.get(name)
    if found is None:
        if name not in _PLACES:
            raise errors.ExecutorUnknown(name=name, known=", ".join(_PLACES))
        module, kind = _PLACES[name]
        found = _executors[name] = getattr(importlib.import_module(module), kind)()
    return found


class Store:
    """Executables by executor and structure: weakly, and the latest used strongly up to a number of bytes."""

    def __init__(self, limit: int = 256 << 20):
        self.limit, self.nbytes = limit, 0
        self.weak: WeakValueDictionary[object, Any] = WeakValueDictionary()
        self.recent: OrderedDict[object, Executable] = OrderedDict()
        self.lock = threading.Lock()
        self.locks: dict[object, threading.Lock] = {}

    def get(self, executor: Executor, structure: Structure) -> tuple[Executable, float | None]:
        """The executable of a structure and the seconds of making it, None if it was there; concurrent callers wait
        for one compile."""
        key = _key(executor, structure)
        found = self.weak.get(key)
        if found is not None:
            self._touch(key, found)
            return found, None
        with self.lock:
            own = self.locks.setdefault(key, threading.Lock())
        with own:
            found = self.weak.get(key)
            if found is not None:
                return found, None
            try:
                return self._make(executor, structure, key)
            finally:
                self.locks.pop(key, None)

    def has(self, executor: Executor, structure: Structure) -> bool:
        return _key(executor, structure) in self.weak

    def _make(self, executor: Executor, structure: Structure, key: object) -> tuple[Executable, float]:
        start = time.perf_counter()
        made = executor.compile(structure)
        seconds = time.perf_counter() - start
        events.record(
            "compile", seconds, name=structure.program.name, executor=executor.name, digest=structure.digest[:16],
            equations=len(structure.program.equations), kernels=made.kernels, compiled=made.compiled,
        )  # fmt: skip
        self.weak[key] = made
        self._touch(key, made)
        return made, seconds

    def _touch(self, key: object, executable: Executable) -> None:
        if not executable.nbytes:  # it costs nothing to make again, and may hold what others wait to be rid of
            return
        with self.lock:
            if key not in self.recent:
                self.recent[key] = executable
                self.nbytes += executable.nbytes
            self.recent.move_to_end(key)
            while self.nbytes > self.limit and len(self.recent) > 1:
                self.nbytes -= self.recent.popitem(last=False)[1].nbytes

    def clear(self) -> None:
        with self.lock:
            self.recent.clear()
            self.weak.clear()
            self.nbytes = 0


def _key(executor: Executor, structure: Structure) -> object:
    return executor.name, structure.key, compiler.level()


Resolved = tuple[Executable, Structure, Numbers]


class Recurring:
    """What programs were resolved to, by their skeletons: one that differs from an earlier one in its numbers only need not
    be lowered. The latest are kept, as long as anything keeps their executables."""

    def __init__(self, limit: int = 4096):
        self.limit = limit
        self.known: OrderedDict[object, tuple[compiler.Places, ref[Executable]]] = OrderedDict()

    def get(self, skeleton: compiler.Skeleton) -> Resolved | None:
        try:
            known = self.known.get((skeleton.key, settings.key()))
        except TypeError:  # a parameter without a hash
            return None
        found = known[1]() if known is not None else None
        if known is None or found is None:
            return None
        return found, known[0].structure, compiler.renumbered(known[0], skeleton)

    def put(self, skeleton: compiler.Skeleton, resolved: Resolved) -> None:
        executable, structure, numbers = resolved
        places = compiler.places(skeleton, structure, numbers)
        if places is None:
            return
        try:
            self.known[skeleton.key, settings.key()] = places, ref(executable)
        except TypeError:  # as above
            return
        if len(self.known) > self.limit:
            self.known.popitem(last=False)

    def clear(self) -> None:
        self.known.clear()


store = Store()
recurring = Recurring()


def clear() -> None:
    """Forget every executable, and what executors keep of their own."""
    store.clear()
    recurring.clear()
    _executors.clear()


Bound = Callable[[Sequence[Any]], list[Any]]


class Binding(NamedTuple):
    """A program bound to machine code: a callable of its arrays, the executable, and the seconds of each stage.

    `compile_seconds` is None when no cache lacked the structure.
    """

    bound: Bound
    executable: Executable
    lower_seconds: float
    compile_seconds: float | None


def typed(bound: Bound, program: Program, structure: Structure) -> Bound:
    """The same, its results typed as the traced program types them: a convert that only ends weakness was dropped."""
    types = [x.type for x in program.outputs]
    bound = _on_bits(bound, program)
    if all(a is b.type for a, b in zip(types, structure.program.outputs, strict=True)):
        return bound
    around = _saying_as_much(bound, lambda arrays: [x.typed(t) for x, t in zip(bound(arrays), types, strict=True)])
    if around.parts is not None:
        around.parts = around.parts._replace(types=tuple(types))
    return around


def _saying_as_much(bound: Any, around: Any) -> Any:
    """A callable around another, which knows the other's temporary bytes, and its parts."""
    around.temporary_bytes = getattr(bound, "temporary_bytes", 0)
    around.parts = getattr(bound, "parts", None)
    return around


def _on_bits(bound: Bound, program: Program) -> Bound:
    """The same, given typed keys where the lowered program takes their bits."""
    keys = {i: ArrayType(var.type.shape, BITS) for i, var in enumerate(program.inputs) if is_key(var.type.dtype)}
    if not keys:
        return bound
    return _saying_as_much(bound, lambda arrays: bound([x.typed(keys[i]) if i in keys else x for i, x in enumerate(arrays)]))


def simplified(program: Program, chosen: Executor) -> Program:
    """A traced program as it is handed to an executor: lowered, with the macro ops that it has kernels for, and simplified."""
    with events.Stage("lower"):
        lowered = compiler.lower(program, chosen.native)
    if not compiler.enable_checks.value:
        with events.Stage("simplify"):
            return chosen.adapted(compiler.simplify(lowered))
    compiler.check(program, "trace")
    plain = compiler.check(compiler.simplify(compiler.check(lowered, "lower")), "simplify")
    return compiler.check(chosen.adapted(plain), "adapt")


def lifted(lowered: Program, chosen: Executor) -> tuple[Structure, Numbers]:
    """A simplified program without the numbers that an executor takes at run time, and these; all stay with
    `celadon_lifting` off."""
    with events.Stage("lift"):
        return compiler.lift(lowered, chosen.takes if lifting.value else compiler.NOTHING)


def bind(program: Program) -> Binding:
    """Lower, simplify and lift a program, compile its structure unless it is known, and plan it for its numbers.

    One that differs from an earlier one in numbers only takes that one's structure.

    Raises `KernelMissing` for an op from outside for which the executor has no kernel; one with a reserve leaves the program
    to that, and the event log says so.
    """
    start = time.perf_counter()
    skeleton = compiler.skeleton(program) if lifting.value and not compiler.enable_checks.value else None
    known = recurring.get(skeleton) if skeleton is not None else None
    seconds = None
    with garbage.put_off:
        if known is None:
            known, seconds = resolved(program, skeleton)
        found, structure, numbers = known
        bound = typed(found.bind(structure, numbers), program, structure)
    bound = origins.watched(bound, program) if nans.watching() else bound
    return Binding(bound, found, time.perf_counter() - start - (seconds or 0.0), seconds)


class Staged(NamedTuple):
    """A program on its way to an executor: simplified, and taken apart. lacking: ops for which the chosen executor has no
    kernel, so that its reserve has the program."""

    executor: Executor
    program: Program
    structure: Structure
    numbers: Numbers
    lacking: list[str]


def staged(program: Program) -> Staged:
    """Lower, simplify and lift a traced program for the executor that the settings choose, or for its reserve.

    Raises `KernelMissing` if it has none.
    """
    chosen = executor()
    lowered = simplified(program, chosen)
    structure, numbers = lifted(lowered, chosen)
    lacking = [] if store.has(chosen, structure) else chosen.lacks(lowered)
    if not lacking:
        return Staged(chosen, lowered, structure, numbers, lacking)
    if chosen.reserve is None:
        raise errors.KernelMissing(executor=chosen.name, ops=", ".join(lacking), name=program.name)
    events.record("fallback", name=program.name, executor=chosen.name, ops=lacking)
    reserve = executor(chosen.reserve)
    lowered = simplified(program, reserve)
    return Staged(reserve, lowered, *lifted(lowered, reserve), lacking)


def resolved(program: Program, skeleton: compiler.Skeleton | None = None) -> tuple[Resolved, float | None]:
    """The executable of a program, its structure and numbers, and the seconds of making it, None if it was there."""
    chosen, _, structure, numbers, lacking = staged(program)
    found, seconds = store.get(chosen, structure)
    resolved = found, structure, numbers
    if skeleton is not None and not lacking:
        recurring.put(skeleton, resolved)
    return resolved, seconds
