"""Interpreters: an op called on values goes to the current one, which computes it or records an equation (Record)."""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from celadon import errors
from celadon.errors.catalogue import asked_by_us, between
from celadon.keys import shown
from celadon.program import Equation, Literal, Operand, Program, Source, Var, literal
from celadon.settings import Setting
from celadon.types import ArrayType, DType, Shape, canonical, scalar_type

if TYPE_CHECKING:
    from celadon.op import Op


disable_jit = Setting("jax_disable_jit", False, keyed=True)


class Value:
    """What ops work on: an Array or a Tracer. numpy/ installs the operators and methods (see `install`)."""

    __slots__ = ("__weakref__",)
    type: ArrayType
    __array_priority__ = 100

    @property
    def shape(self) -> Shape:
        return self.type.shape

    @property
    def dtype(self) -> DType:
        found = self.type.dtype
        return found if found.kind != "V" else shown(found)

    @property
    def ndim(self) -> int:
        return self.type.ndim

    @property
    def size(self) -> int:
        return self.type.size

    @property
    def weak_type(self) -> bool:
        return self.type.weak_type

    @property
    def nbytes(self) -> int:
        return self.type.nbytes

    @property
    def itemsize(self) -> int:
        return self.type.dtype.itemsize

    def __len__(self) -> int:
        if not self.type.shape:
            raise errors.LengthOfScalar(type=self.type)
        return self.type.shape[0]

    def __hash__(self) -> int:
        raise errors.UnhashableArray(type=self.type)

    def __getattr__(self, name: str) -> Any:
        if name in _ABSENT or (name[:2] == "__" and name != "__array_namespace__"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        _fill_table()
        _ABSENT.update([] if hasattr(Value, name) else [name])
        return getattr(self, name)


_ABSENT: set[str] = set()
_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow", "matmul", "and", "or", "xor")
_OPERATORS = (
    *_BINARY, *(f"r{name}" for name in _BINARY), "lshift", "rshift", "rlshift", "rrshift", "eq", "ne", "lt", "le", "gt",
    "ge", "abs", "neg", "pos", "invert", "getitem", "setitem", "iter", "contains", "round",
)  # fmt: skip


def install(methods: dict[str, Any]) -> None:
    """Give Array and Tracer operators and methods; called once, by numpy/."""
    for name, method in methods.items():
        setattr(Value, name, method)


def _fill_table() -> None:
    importlib.import_module("celadon.numpy.methods")


def _first_use(name: str) -> Callable[..., Any]:
    def operator(self: Value, *args: Any) -> Any:
        _fill_table()
        return getattr(Value, name)(self, *args)

    return operator


install({f"__{name}__": _first_use(f"__{name}__") for name in _OPERATORS})


class Interpreter(Protocol):
    """Decides what an op does. `outer` is the one that was current when it was opened; None stands for Evaluate."""

    name: str
    open: bool
    outer: Interpreter | None

    def apply(self, op: Op, operands: Sequence[Any], params: dict[str, Any]) -> Any: ...


class _State(threading.local):
    interpreter: Interpreter | None = None
    source: Source | None = None
    scope: str = ""


class Outside:
    """What stands outside any trace: evaluate.py and array.py, which build on this module, fill it in when needed."""

    interpreter: Interpreter
    as_array: Callable[[Any], Any]

    def __getattr__(self, name: str) -> Any:
        importlib.import_module("celadon.evaluate")
        return object.__getattribute__(self, name)


state = _State()
outside = Outside()


def current() -> Interpreter:
    """The interpreter that ops go to, in this thread."""
    return state.interpreter or outside.interpreter


def active() -> Interpreter | None:
    """The interpreter of this thread that is not Evaluate, or None."""
    return state.interpreter


def recording() -> Record | None:
    """The innermost open trace of this thread, or None outside any."""
    found = state.interpreter
    while found is not None and type(found) is not Record:
        found = found.outer
    return found


@contextmanager
def interpreting(interpreter: Interpreter | None) -> Generator[None]:
    before = state.interpreter
    state.interpreter = interpreter
    try:
        yield
    finally:
        state.interpreter = before


def apply_in(interpreter: Interpreter | None, op: Op, operands: Sequence[Any], params: dict[str, Any]) -> Any:
    """An op applied by another interpreter than the current one."""
    before = state.interpreter
    state.interpreter = interpreter
    try:
        return (interpreter or outside.interpreter).apply(op, operands, params)
    finally:
        state.interpreter = before


@contextmanager
def standing_for(source: Source | None) -> Generator[None]:
    """Equations recorded in the block bear this line of the user's, whoever asks for them."""
    before = state.source
    state.source = source
    try:
        yield
    finally:
        state.source = before


def within(interpreter: Interpreter | None, wanted: Interpreter) -> bool:
    """Whether values of an open interpreter may be used in another one: it is that one or stands outside it."""
    while interpreter is not None and interpreter is not wanted:
        interpreter = interpreter.outer
    return interpreter is wanted and wanted.open


def notes_lines(interpreter: Interpreter | None) -> bool:
    """Whether equations are recorded with the user's lines, in an interpreter or outside it."""
    while interpreter is not None:
        if type(interpreter) is Record and interpreter.tracing:
            return True
        interpreter = interpreter.outer
    return False


class Tracer(Value):
    """A value that an interpreter other than Evaluate works on."""

    __slots__ = ("interpreter", "type")
    interpreter: Interpreter

    def __repr__(self) -> str:
        return f"Tracer<{self.type}>"

    def __bool__(self) -> bool:
        raise self.asked(errors.TracerBoolConversionError)

    def __int__(self) -> int:
        raise self.asked(errors.ConcretizationTypeError, wanted="int")

    def __float__(self) -> float:
        raise self.asked(errors.ConcretizationTypeError, wanted="float")

    def __complex__(self) -> complex:
        raise self.asked(errors.ConcretizationTypeError, wanted="complex")

    def __index__(self) -> int:
        raise self.asked(errors.TracerIntegerConversionError)

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray[Any, Any]:
        if asked_by_us():
            raise self.asked(errors.ConcretizationTypeError, wanted="array")
        raise self.asked(errors.TracerArrayConversionError)

    def item(self, *args: int) -> Any:
        raise self.asked(errors.ConcretizationTypeError, wanted="Python scalar")

    def asked(self, error: Callable[..., errors.CeladonError], **facts: object) -> errors.CeladonError:
        """The error about a concrete value that was asked for."""
        return error(type=self.type, function=self.interpreter.name, origin=self.origin(), **facts)

    def origin(self) -> str:
        """Which arguments the value depends on, in words."""
        return argument_words([])

    def made(self) -> str:
        """Where the value was made, in words."""
        return f"made while {self.interpreter.name} ran"

    def __format__(self, spec: str) -> str:
        return format(float(self), spec) if spec else str(self)  # pyright: ignore[reportArgumentType]

    def __reduce__(self) -> tuple[object, ...]:
        raise self.asked(errors.ConcretizationTypeError, wanted="value to pickle")

    def __copy__(self) -> Tracer:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Tracer:
        return self

    tolist = item
    __hash__ = Value.__hash__


class Recorded(Tracer):
    """A variable of a program that is being recorded, known only by its type.

    Asking for its concrete value raises an error that names the argument it came from.
    """

    __slots__ = ("source", "variable")
    interpreter: Record

    def __init__(self, record: Record, var: Var, source: Source | None = None):
        self.interpreter = record  # pyright: ignore[reportIncompatibleVariableOverride]
        self.variable, self.type, self.source = var, var.type, source

    def origin(self) -> str:
        return self.interpreter.origin(self.variable)

    def made(self) -> str:
        return f"made at {errors.describe(*self.source)}" if self.source else super().made()


class Record:
    """Records a program: every op called while it is current becomes an equation."""

    word = "traced"  # how messages call its arguments

    def __init__(self, name: str = "main", outer: Interpreter | None = None, tracing: bool = True):
        self.name, self.outer, self.open, self.tracing = name, outer, True, tracing
        self.inputs: list[Var] = []
        self.input_names: list[str] = []
        self.late_names: Iterable[str] = ()  # of all inputs, made when asked for
        self.equations: list[Equation] = []
        self.captures: dict[int, tuple[Var, Any, Any]] = {}

    def input(self, type: ArrayType, name: str = "") -> Tracer:
        var = Var(type)
        self.inputs.append(var)
        self.input_names.append(name)
        return Recorded(self, var, user_source() if self.tracing else None)

    def apply(self, op: Op, operands: Sequence[Any], params: dict[str, Any]) -> Any:
        inputs = [x.variable if type(x) is Recorded and x.interpreter is self else self.operand(x) for x in operands]
        types = op.result_type(*[x.type for x in inputs], **params)
        source = state.source or (user_source() if self.tracing else None)
        if not op.multiple:
            var = Var(types)
            self.equations.append(Equation(op, inputs, [var], params, source))
            return Recorded(self, var, source)
        outputs = [Var(t) for t in types]
        self.equations.append(Equation(op, inputs, outputs, params, source))
        return [Recorded(self, var, source) for var in outputs]

    def operand(self, x: Any) -> Operand:
        """What stands for a value in this program: its variable, a literal, or a captured array."""
        kind = type(x)
        if kind is Recorded and x.interpreter is self:
            return x.variable
        if kind is Literal:
            return x
        if isinstance(x, Tracer):
            return self._from_outside(x)
        if isinstance(x, bool | int | float | complex) and not isinstance(x, np.generic):
            found = scalar_type(x)
            return literal(x, found.dtype, found.weak_type)
        return self.capture(x)

    def _from_outside(self, x: Tracer) -> Var:
        if not within(self.outer, x.interpreter):
            raise leaked(x)
        return self._captured(x)

    def capture(self, x: Any) -> Operand:
        if isinstance(x, np.generic) or (isinstance(x, np.ndarray) and x.shape == ()):
            return literal(x, canonical(x.dtype))
        kept = outside.as_array(x)
        if not kept.type.shape and not isinstance(kept, Tracer):
            return Literal(kept.host[()], kept.type)
        return self._captured(x)

    def _captured(self, x: Any) -> Var:
        found = self.captures.get(id(x))
        if found is None:
            kept = outside.as_array(x)
            found = self.captures[id(x)] = (Var(kept.type), kept, x)  # x is kept alive: its id is the key
        return found[0]

    def program(self, outputs: Sequence[Any]) -> Program:
        operands = [self.operand(x) for x in outputs]
        captures = tuple((var, kept) for var, kept, _ in self.captures.values())
        return Program(tuple(self.inputs), self.equations, operands, captures, self.name)

    def origin(self, var: Var) -> str:
        """Which arguments a variable was computed from, in words."""
        sources = {output: equation for equation in self.equations for output in equation.outputs}
        names = dict(zip(self.inputs, self.late_names or self.input_names, strict=True))
        found: dict[str, None] = {}
        pending, seen = [var], set[Var]()
        while pending:
            one = pending.pop()
            if one in seen:
                continue
            seen.add(one)
            if names.get(one):
                found[names[one]] = None
            elif one in sources:
                pending.extend(x for x in sources[one].inputs if isinstance(x, Var))
        return argument_words(list(found), self.word)


def leaked(x: Tracer) -> errors.CeladonError:
    """The error about a traced value met outside its trace."""
    facts = {"type": x.type, "function": x.interpreter.name, "made": x.made(), "open": x.interpreter.open}
    return errors.UnexpectedTracerError(**facts)


def argument_words(names: list[str], word: str = "traced") -> str:
    if not names:
        return "does not depend on any argument; computed with numpy (np.), not celadon.numpy, it would be concrete"
    return f"depends on the {word} argument{'s' if len(names) > 1 else ''} {', '.join(sorted(names))}"


@contextmanager
def recorded(name: str = "main", tracing: bool = True) -> Generator[Record]:
    """Open a trace in this thread; it is closed at the end of the block, and its tracers are then dead."""
    record = Record(name, state.interpreter, tracing)
    with interpreting(record):
        try:
            yield record
        finally:
            record.open = False


class Scoped(str):
    """The name of a function, with the named scopes in which it is at work."""

    __slots__ = ("scope",)

    def __new__(cls, function: str, scope: str) -> Scoped:
        self = str.__new__(cls, f"{function} in {scope}")
        self.scope = scope
        return self


@contextmanager
def in_scope(scope: str) -> Generator[None]:
    """Equations recorded in the block bear these names (joined by slashes), and no others."""
    before = state.scope
    state.scope = scope
    try:
        yield
    finally:
        state.scope = before


def user_source() -> Source | None:
    """File, line and function of the user's innermost frame."""
    frame = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        code = frame.f_code
        if not between[code.co_filename]:
            function = Scoped(code.co_name, state.scope) if state.scope else code.co_name
            return code.co_filename, frame.f_lineno, function
        frame = frame.f_back
    return None


def type_of(x: Any) -> ArrayType:
    """The type of a value, literal, Python or NumPy scalar or array, without converting it."""
    if isinstance(x, Value | Literal):
        return x.type
    if isinstance(x, np.ndarray | np.generic):
        return ArrayType(x.shape, canonical(x.dtype))
    if isinstance(x, bool | int | float | complex):
        return scalar_type(x)
    return outside.as_array(x).type
