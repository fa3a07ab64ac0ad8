"""jit: a call comes in, is looked up by signature, traced and compiled if it is new, and run; results go out."""

from __future__ import annotations

import functools
import types
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from celadon import cache, errors, explain, hot, leaks, program, settings, tracing, tree
from celadon.array import Array
from celadon.errors.tracebacks import without_own_frames
from celadon.program import Program, remembered
from celadon.request import SCALARS, Request, trace
from celadon.settings import Setting
from celadon.signature import Parameters, Selection, Signature, parameters_of, select
from celadon.stages import Entry, Lowered, Options, Traced
from celadon.tables import Table, every_table, shared_table
from celadon.tracing import Tracer, disable_jit
from celadon.vocabulary.call import call
from celadon.vocabulary.collective import axes_in_scope

no_tracing = Setting("jax_no_tracing", False)

Fast = Callable[[tuple[Any, ...]], Any]
Found = TypeVar("Found")

_FLAT = frozenset((Array, np.ndarray, *SCALARS))
_wrappers: weakref.WeakSet[Jit] = weakref.WeakSet()


def jit(
    fun: Callable[..., Any] | None = None,
    /,
    *,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Iterable[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Iterable[str] | None = None,
    keep_unused: bool = False,
    inline: bool = False,
    compiler_options: Mapping[str, Any] | None = None,
) -> Any:
    """Make a function that is traced once per signature, compiled once per structure, and then runs as machine code.

    Args:
        fun: a function of arrays and pytrees of them; without it, jit returns a decorator.
        static_argnums, static_argnames: arguments that are read while tracing; they must be hashable. Each of the two
            is inferred from the other through the signature. A negative index counts from the end of the signature.
        donate_argnums, donate_argnames: arguments whose memory the call may take over.
        keep_unused: keep arguments that the function does not use as parameters of the program.
        inline: inside another trace, record the function's own ops instead of a call.
        compiler_options: see `Lowered.compile`.

    Returns:
        A callable with `trace`, `lower`, `eval_shape`, `explain`, `clear_cache` and `_cache_size`.

    Raises:
        NotCallable, ArgnumsOutOfRange, ArgnamesUnknown and other errors of the catalogue (codes 1xx).

    >>> import celadon.numpy as cnp
    >>> jit(lambda x, n: x * n, static_argnames="n")(cnp.ones(2), n=3).tolist()
    [3.0, 3.0]
    """
    given = Options(static_argnums, static_argnames, donate_argnums, donate_argnames, keep_unused, inline, compiler_options)
    if fun is None:
        return lambda function: Jit(function, given)
    return Jit(fun, given)


class Jit:
    """A jitted function; see `jit`."""

    __slots__ = ("__dict__", "__weakref__", "chain")
    __wrapped__: Callable[..., Any]
    __name__: str

    def __init__(self, function: Callable[..., Any], options: Options):
        if not callable(function):
            raise errors.NotCallable(transform="jit", type=type(function).__name__)
        functools.update_wrapper(self, function, updated=())
        self.name = _name_of(function)
        self.__name__ = self.name
        self.options = options
        self.parameters = parameters_of(function)
        self.static, self.donated = _selections(self.parameters, options, self.name)
        self.positions = frozenset(self.static.indices)
        self.entries: dict[object, Entry] = {}
        self.fast: dict[object, Fast] = {}
        self.general: dict[int, int] = {}  # how many calls of an entry went the general way
        self.chain: tuple[Any, ...] = ()  # of records: what the native call tries before this class' own
        self.table: Table = shared_table(function, options)
        _wrappers.add(self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if tracing.active() is None:
            run = self._named(args, kwargs) if kwargs else self._remembered(args)
            if run is not None:
                return run((*args, *kwargs.values()) if kwargs else args)
        try:
            return self._general(args, kwargs)
        except Exception as error:
            raise without_own_frames(error)  # noqa: B904 (the same one)

    def _remembered(self, args: tuple[Any, ...]) -> Fast | None:
        """What the fast path knows to run for positional arrays, Python scalars and plain static values."""
        positions = self.positions
        if not positions:
            return self.fast.get((settings.key(), *[x.type if type(x) is Array else _kind(x) for x in args]))
        try:
            return self.fast.get(_fast_key(args, positions))
        except Exception:  # a static value whose hash or == fails; the general path says so
            return None

    def _named(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Fast | None:
        """The same for a call with keywords: their names, in the call's order, are part of its key."""
        try:
            return self.fast.get((tuple(kwargs), *_fast_key((*args, *kwargs.values()), self._static_places(args, kwargs))))
        except Exception:  # as above
            return None

    def _static_places(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> frozenset[int]:
        """Which of a call's values, those by keyword counted on, are static."""
        if not (kwargs and self.static.names):
            return self.positions
        named = [i for i, name in enumerate(kwargs, len(args)) if name in self.static.names]
        return frozenset(i for i in self.positions if i < len(args)).union(named)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<jitted {self.name}>"

    def _general(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if disable_jit.value:
            return self.__wrapped__(*args, **kwargs)
        request = Request(self, args, kwargs)
        if tracing.active() is not None:
            return self._nested(request)
        entry = _looked_up(self.entries, request) or self._entered(request)
        self._remember(request, entry)
        if entry.watched:
            entry.check_mutation(request.static_values)
        return entry.run(request.leaves)

    def _entered(self, request: Request) -> Entry:
        """The entry of a call that this wrapper has not seen: shared with another wrapper of the function, or made."""
        entry = _looked_up(self.table.entries, request)
        if entry is None or entry.bound is None:
            entry = self._made(request)
        self.entries[request.key] = entry
        return entry

    def _remember(self, request: Request, entry: Entry) -> None:
        """Let the fast path know a call of arrays, Python scalars and plain static values, if it is one."""
        args, kwargs = request.args, request.kwargs
        values, places = (*args, *kwargs.values()), self._static_places(args, kwargs)
        order = [*range(len(args)), *(len(args) + list(kwargs).index(name) for name in sorted(kwargs))]
        traced = [i for i in order if i not in places]
        plain = all(_is_plain(x) if i in places else type(x) in _FLAT for i, x in enumerate(values))
        if plain and len(traced) == len(request.leaves):  # there are fewer leaves where an argument is of float0
            key = _fast_key(values, places)
            run = entry.run if traced == list(range(len(values))) else _fast_run(entry, traced)
            self._warm(request, entry, (tuple(kwargs), *key) if kwargs else key, run)
        else:
            calls = self.general[id(entry)] = self.general.get(id(entry), 0) + 1
            if hot.is_due(calls):
                hot.record(self, hot.Shape(entry, tuple(kwargs), request.static_places()), values, calls)

    def _warm(self, request: Request, entry: Entry, key: object, run: Fast) -> None:
        """Let the fast path run an entry, and after some calls the native one."""
        shape = hot.Shape(entry, tuple(request.kwargs), request.static_places())
        own = weakref.ref(self)  # what a function keeps must not keep the function

        def due(values: tuple[Any, ...], calls: int) -> None:
            jitted = own()
            if jitted is not None and hot.record(jitted, shape, values, calls):
                jitted.fast[key] = run

        self.fast[key] = hot.counted(run, due)

    def _made(self, request: Request) -> Entry:
        tree.check_metadata(request.tree)
        signature = request.signature()
        explain.missed(self, signature, self.table)
        traced = self._traced(request, signature)
        if self.donated:
            traced.warn_unusable(traced.needed)
        entry = Entry(self.name, signature, traced, request.donated_leaves())
        entry.compile()
        explain.compiled(self, entry, self.table)
        self.table.entries[request.key] = entry
        return entry

    def _traced(self, request: Request, signature: Signature | None = None) -> Traced:
        found = _looked_up(self.table.traces, request)
        if found is None:
            tree.check_metadata(request.tree)
            if no_tracing.value:
                raise errors.RetracingForbidden(function=self.name, reason="its arguments were not seen before")
            signature = signature or request.signature()
            found = leaks.watched(functools.partial(trace, self, request, signature))
            if not any(isinstance(kept, Tracer) for _, kept in found.program.captures):
                self.table.traces[request.key] = found
        return found

    def _nested(self, request: Request) -> Any:
        if self.options.inline:
            return self.__wrapped__(*request.args, **request.kwargs)
        traced = self._traced(request)
        captured = [kept for _, kept in traced.program.captures]
        results = call(*request.leaves, *captured, program=traced.closed)
        return traced.out_tree.unflatten(results)

    def trace(self, *args: Any, **kwargs: Any) -> Traced:
        """Trace for these arguments (arrays, or anything with shape and dtype) without running."""
        try:
            return self._traced(Request(self, args, kwargs))
        except Exception as error:
            raise without_own_frames(error)  # noqa: B904 (the same one)

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """Trace and lower for these arguments; `.as_text()` of the result is StableHLO."""
        return self.trace(*args, **kwargs).lower()

    def eval_shape(self, *args: Any, **kwargs: Any) -> Any:
        """The shapes and dtypes of the results, without computing them."""
        return self.trace(*args, **kwargs).out_info

    def _cache_size(self) -> int:
        """How many entries this wrapper has: signatures that were traced and compiled."""
        return len(self.entries)

    def clear_cache(self) -> None:
        """Forget every entry of this function."""
        self.entries.clear()
        self.fast.clear()
        self.general.clear()
        self.chain = ()
        self.table.clear()

    def explain(self) -> explain.Explanation:
        """What this function's calls cost and why each miss was one, as data; it prints as a table."""
        return explain.Explanation.of(self.name, self.table)


def _looked_up(known: Mapping[object, Found], request: Request) -> Found | None:
    try:
        return known.get(request.key)
    except Exception:  # metadata of a node class has an ambiguous ==: the tree's own check names it
        tree.check_metadata(request.tree)
        raise


def _fast_key(args: tuple[Any, ...], positions: frozenset[int]) -> tuple[object, ...]:
    parts = [
        (type(x), x) if i in positions else x.type if type(x) is Array else _kind(x) for i, x in enumerate(args)
    ]
    return (settings.key(), *parts)


def _kind(x: Any) -> object:
    """What tells the type of a traced argument that is no Array."""
    return (x.shape, x.dtype) if type(x) is np.ndarray else type(x)


def _fast_run(entry: Entry, traced: Sequence[int]) -> Fast:
    """A call's values in, in the call's order; `traced`: where those stand that the program takes, in its order."""
    return lambda values: entry.run([values[i] for i in traced])


def _is_plain(value: Any) -> bool:
    """Whether `==` within its type tells a static value apart: not so for 0.0, -0.0 and NaN, nor for what is mutable."""
    return type(value) in (int, bool, str) or (type(value) is float and value == value != 0.0)


def _name_of(function: Callable[..., Any]) -> str:
    if isinstance(function, functools.partial):
        return _name_of(function.func)
    return getattr(function, "__name__", None) or type(function).__name__


def _selections(parameters: Parameters, options: Options, name: str) -> tuple[Selection, Selection]:
    static = select(parameters, options.static_argnums, options.static_argnames, "static", name)
    donated = select(parameters, options.donate_argnums, options.donate_argnames, "donate", name)
    both = [*(set(static.indices) & set(donated.indices)), *(set(static.names) & set(donated.names))]
    if both:
        raise errors.StaticAndDonated(function=name, arguments=", ".join(map(str, both)))
    if options.static_argnames is not None and options.static_argnums is None and parameters.more_positional:
        explain.warn(errors.HiddenSignatureWarning(function=name, option="static_argnames", names=str(static.names)))
    return static, donated


def clear_caches() -> None:
    """Forget every trace, entry and executable in this process (what is on disk stays)."""
    for jitted in list(_wrappers):
        jitted.clear_cache()
    for table in every_table():
        table.clear()
    cache.clear()
    program.memory.clear()


def block_until_ready(x: Any) -> Any:
    """Returns `x` when all arrays in the tree are computed; programs have run when they return, so at once.

    >>> block_until_ready((1.0, 2.0))
    (1.0, 2.0)
    """
    for leaf in (x,) if type(x) is Array else tree.leaves(x):
        if hasattr(leaf, "block_until_ready"):
            leaf.block_until_ready()
    return x


def eval_shape(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Shapes and dtypes of fun(*args, **kwargs) without computing it; arguments need only shape and dtype.

    >>> from celadon import ShapeDtypeStruct
    >>> eval_shape(lambda x: x, ShapeDtypeStruct((2,), "float32"))
    ShapeDtypeStruct(shape=(2,), dtype=float32)
    """
    return jit(fun).eval_shape(*args, **kwargs)


def make_jaxpr(
    fun: Callable[..., Any], static_argnums: int | Sequence[int] = (), axis_env: Any = None, return_shape: bool = False
) -> Callable[..., Any]:
    """A function that returns the program of fun for its arguments instead of running it; the program prints itself.

    Args:
        static_argnums: as for jit; axis_env: pairs (name, size) of named axes that fun may use; return_shape: return a pair
            of the program and the tree of the results' shapes and dtypes.

    >>> print(make_jaxpr(lambda x: x + x)(1.0))
    <lambda>(a:f32[]) -> (b)
      b:f32[] = add(a, a)
    """
    jitted = jit(fun, static_argnums=static_argnums or None)

    @functools.wraps(fun, updated=())
    def program_of(*args: Any, **kwargs: Any) -> Any:
        with axes_in_scope((*(axis_env or ()), *axes_in_scope.value)):
            traced = jitted.trace(*args, **kwargs)
        return (traced.program, traced.out_info) if return_shape else traced.program

    return program_of


def run(body: Program, values: Sequence[Any]) -> list[Any]:
    """Execute a program on concrete arrays (what Evaluate and loops outside jit use); compiled once per program."""
    bound = remembered(body, ("bound", settings.key()), lambda: cache.bind(body).bound)
    return bound(values)


program.run = run
