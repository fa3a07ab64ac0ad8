"""pure_callback, io_callback, debug.callback and debug.print: Python functions in, ops that call them out."""

from __future__ import annotations

import logging
import string
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from celadon import errors, tree
from celadon.keys import is_key
from celadon.transforms.bodies import require_callable
from celadon.transforms.values import as_value
from celadon.tree_paths import keystr
from celadon.types import ArrayType, canonical
from celadon.vocabulary import callback as ops
from celadon.vocabulary.callback import Host, declared

Function = Callable[..., Any]
VMAP_METHODS = ("sequential", "sequential_unrolled", "expand_dims", "broadcast_all", "legacy_vectorized")
logger = logging.getLogger("celadon.debug")


def pure_callback(
    callback: Function, result_shape_dtypes: Any, *args: Any, sharding: Any = None, vmap_method: str | None = None,
    **kwargs: Any,
) -> Any:  # fmt: skip
    """The results of a Python function without effects, called while the program runs.

    It may be called more often than asked for, or not at all if nothing needs its results. An exception that it raises
    reaches the caller of the program.

    Args:
        callback: takes args and kwargs, with Arrays for their leaves; returns a tree of arrays.
        result_shape_dtypes: a tree of arrays or ShapeDtypeStructs: the types of the results.
        sharding: is accepted, and has no meaning on one device.
        vmap_method: how it takes a batch under vmap. "sequential" and "sequential_unrolled": one member after the other;
            "expand_dims": all at once, arguments that members share with a leading axis of 1; "broadcast_all": these
            repeated; "legacy_vectorized": these as they are. None: vmap raises.

    Raises:
        VmapMethodUnknown, CallbackResultUndeclared, CallbackResultWide, CallbackResultMismatch, ArgumentNotArray,
        BodyNotCallable.

    >>> pure_callback(lambda x: np.sqrt(x), np.float32([0, 0]), np.float32([4, 9]))
    Array([2., 3.], dtype=float32)
    """
    require_callable("pure_callback", callback=callback)
    if vmap_method not in (None, *VMAP_METHODS):
        raise errors.VmapMethodUnknown(given=repr(vmap_method), known=", ".join([*map(repr, VMAP_METHODS), "None"]))
    types, form = _declared("pure_callback", result_shape_dtypes)
    host, values = _host("pure_callback", (callback, args, kwargs), types)
    return form.unflatten(ops.pure_callback(*values, **declared(host), method=vmap_method))


def io_callback(
    callback: Function, result_shape_dtypes: Any, *args: Any, sharding: Any = None, ordered: bool = False, **kwargs: Any
) -> Any:
    """The results of a Python function with effects, called once each time the program comes to it.

    Args:
        callback: takes args and kwargs, with Arrays for their leaves; returns a tree of arrays.
        result_shape_dtypes: a tree of arrays or ShapeDtypeStructs: the types of the results; None for no result.
        sharding: is accepted, and has no meaning on one device.
        ordered: the call has its place among other ordered ones. Calls happen in the order of the program in any case;
            an ordered one can't be batched.

    Raises:
        CallbackResultUndeclared, CallbackResultWide, CallbackResultMismatch, ArgumentNotArray, BodyNotCallable.

    >>> seen = []
    >>> io_callback(lambda x: seen.append(float(x)), None, 2.0)
    >>> seen
    [2.0]
    """
    require_callable("io_callback", callback=callback)
    types, form = _declared("io_callback", result_shape_dtypes)
    host, values = _host("io_callback", (callback, args, kwargs), types)
    return form.unflatten(ops.io_callback(*values, **declared(host), ordered=bool(ordered)))


def debug_callback(
    callback: Function | None = None, *args: Any, ordered: bool = False, partitioned: bool = False, **kwargs: Any
) -> Any:
    """Call a Python function for what it does, with values of the program, while it runs.

    Args:
        callback: takes args and kwargs: Arrays for leaves that are arrays, all other leaves as they are; what it returns
            is dropped. Without it, a function is returned that takes callback, args and kwargs.
        ordered: the call has its place among other ordered ones.
        partitioned: is accepted, and has no meaning on one device.

    Raises:
        CallbackMissing, BodyNotCallable.

    >>> debug_callback(lambda x, unit: print(float(x), unit), 2.0, "m")
    2.0 m
    """
    if callback is None:
        _alone("debug.callback", args, kwargs)
        return lambda callback, *args, **kwargs: _observe((callback, args, kwargs), bool(ordered))
    return _observe((callback, args, kwargs), bool(ordered))


def debug_print(
    fmt: str | None = None, *args: Any, ordered: bool = False, partitioned: bool = False, skip_format_check: bool = False,
    **kwargs: Any,
) -> Any:  # fmt: skip
    """Print values of the program while it runs.

    Args:
        fmt: a text with places for args and kwargs, as for str.format. Without it, a function is returned that takes fmt,
            args and kwargs.
        ordered: the call has its place among other ordered ones.
        partitioned: is accepted, and has no meaning on one device.
        skip_format_check: arguments without a place are allowed; if there are no places, they follow the text.

    Raises:
        PrintArgumentUnused, PrintArgumentAbsent, CallbackMissing.

    >>> debug_print("{} and {y:.2f}", np.int32([1, 2]), y=0.5)
    [1 2] and 0.50
    """
    options = (bool(ordered), skip_format_check, _write)
    if fmt is None:
        _alone("debug.print", args, kwargs)
        return lambda fmt, *args, **kwargs: _print(fmt, args, kwargs, options)
    return _print(fmt, args, kwargs, options)


def debug_log(
    fmt: str | None = None, *args: Any, ordered: bool = False, partitioned: bool = False, skip_format_check: bool = False,
    **kwargs: Any,
) -> Any:  # fmt: skip
    """As debug.print, but into the log `celadon.debug` of Python's logging, at level INFO."""
    options = (bool(ordered), skip_format_check, logger.info)
    if fmt is None:
        _alone("debug.log", args, kwargs)
        return lambda fmt, *args, **kwargs: _print(fmt, args, kwargs, options)
    return _print(fmt, args, kwargs, options)


def effects_barrier() -> None:
    """Wait until all effects of programs that were called have happened: they have, when a call returns.

    >>> effects_barrier()
    """


# What the calls are made of


def _declared(word: str, results: Any) -> tuple[tuple[ArrayType, ...], Any]:
    leaves, form = tree.flatten(results)
    for x in leaves:
        if not hasattr(x, "shape") or not hasattr(x, "dtype") or is_key(x.dtype):
            raise errors.CallbackResultUndeclared(word=word, found=f"{x!r} of type {type(x).__name__}")
        if canonical(x.dtype) != x.dtype:
            raise errors.CallbackResultWide(word=word, dtype=x.dtype)
    return tuple([ArrayType(tuple(x.shape), np.dtype(x.dtype)) for x in leaves]), form


def _host(word: str, call: tuple[Function, Any, Any], results: tuple[ArrayType, ...]) -> tuple[Host, list[Any]]:
    """What the op calls, and its operands; only debug.callback takes leaves that are no arrays."""
    callback, args, kwargs = call
    given, form = tree.flatten((args, kwargs))
    values: list[Any] = []
    static: dict[int, Any] = {}
    for i, x in enumerate(given):
        try:
            values.append(as_value(x))
        except (errors.NotAnArray, errors.DTypeNotSupported):
            if word != "debug.callback":
                path = keystr(tree.flatten_with_path((args, kwargs))[0][i][0][1:])
                raise errors.ArgumentNotArray(argument=f"args{path}", function=word, type=type(x).__name__) from None
            static[i] = x
    keys = frozenset([i for i, x in enumerate(values) if is_key(x.type.dtype)])
    return Host(callback, form, static, keys, results, word, errors.user_line()), values


def _observe(call: tuple[Function, Any, Any], ordered: bool) -> None:
    require_callable("debug.callback", callback=call[0])
    host, values = _host("debug.callback", call, ())
    ops.debug_callback(*values, **declared(host), ordered=ordered)


def _alone(word: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    if args or kwargs:
        given = ", ".join([*map(repr, args), *(f"{name}={x!r}" for name, x in kwargs.items())])
        raise errors.CallbackMissing(word=word, given=given)


Options = tuple[bool, bool, Callable[[str], Any]]


def _print(fmt: str, args: tuple[Any, ...], kwargs: dict[str, Any], options: Options) -> None:
    ordered, unchecked, write = options
    if not unchecked:
        _check(fmt, args, kwargs)
    has_places = any(field is not None for _, field, _, _ in string.Formatter().parse(fmt))
    printing = np.get_printoptions()

    def text(*args: Any, **kwargs: Any) -> None:
        with np.printoptions(**printing):
            follow = () if has_places or not unchecked else args
            write(" ".join([fmt.format(*args, **kwargs), *map(str, follow)]))

    text.__name__ = "print"
    _observe((text, args, kwargs), ordered)


def _write(text: str) -> None:
    sys.stdout.write(text + "\n")


class _Places(string.Formatter):
    """Finds which arguments a text has places for."""

    def __init__(self) -> None:
        self.used: set[int | str] = set()

    def format_field(self, value: Any, format_spec: str) -> str:
        return ""

    def check_unused_args(self, used_args: Any, args: Any, kwargs: Any) -> None:
        self.used = used_args


def _check(fmt: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    places = _Places()
    try:
        places.vformat(fmt, args, kwargs)
    except (IndexError, KeyError) as error:
        raise errors.PrintArgumentAbsent(text=fmt, missing=_missing(error)) from None
    unused = [f"{i} ({x!r})" for i, x in enumerate(args) if i not in places.used]
    unused += [name for name in kwargs if name not in places.used]
    if unused:
        raise errors.PrintArgumentUnused(text=fmt, unused=", ".join(unused))


def _missing(error: Exception) -> str:
    return repr(error.args[0]) if isinstance(error, KeyError) else "more positional arguments"


__all__ = ["debug_callback", "debug_log", "debug_print", "effects_barrier", "io_callback", "pure_callback"]
