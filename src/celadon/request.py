"""One call, taken apart: a jitted function and arguments come in; leaves, static values, names and the key go out."""

from __future__ import annotations

import functools
import time
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from celadon import array, errors, events, settings, statics, tracing, tree, voids
from celadon.array import Array
from celadon.signature import Signature, leaf_names, resolved_indices
from celadon.stages import Traced, result_names
from celadon.tracing import Recorded, Tracer, Value
from celadon.tree_paths import keystr
from celadon.types import ArrayType, canonical, is_supported, scalar_type

if TYPE_CHECKING:
    from celadon.calling import Jit

SCALARS = frozenset((float, int, bool, complex))


class Request:
    """One call, taken apart: static values, traced leaves, and the key of both."""

    def __init__(self, jitted: Jit, args: tuple[Any, ...], kwargs: dict[str, Any]):
        self.jitted, self.args, self.kwargs = jitted, args, kwargs
        static = jitted.static
        self.positions = self._positions(static.indices)
        self.traced_args = tuple([x for i, x in enumerate(args) if i not in self.positions])
        self.traced_kwargs = {k: v for k, v in kwargs.items() if k not in static.names} if static.names else kwargs
        try:
            self._flatten()
        except errors.DTypeNotSupported:  # of float0, if such arrays stand in the arguments
            self.traced_args, self.traced_kwargs = voids.hidden((self.traced_args, self.traced_kwargs))
            self._flatten()
        self.static_values = self._static_values()
        self.static_keys = tuple([statics.key_of(v, name, jitted.name) for name, v in self.static_values])
        self.key = (self.spec, self.types, self.static_keys, settings.key())

    def _flatten(self) -> None:
        self.leaves, self.spec = tree.flatten_spec((self.traced_args, self.traced_kwargs))
        self.types = tuple([type_of_leaf(x) or self._refuse(i) for i, x in enumerate(self.leaves)])

    def _positions(self, indices: tuple[int, ...]) -> frozenset[int]:
        if not indices:
            return frozenset()
        return resolved_indices(self.jitted.parameters, indices, len(self.args), self.jitted.name)

    @functools.cached_property
    def tree(self) -> Any:
        return tree.PyTreeDef(self.spec)

    def _static_values(self) -> tuple[tuple[str, Any], ...]:
        name_of = self.jitted.parameters.name_of
        chosen = [(name_of(i), self.args[i]) for i in sorted(self.positions) if i < len(self.args)]
        return (*chosen, *((n, self.kwargs[n]) for n in self.jitted.static.names if n in self.kwargs))

    def static_places(self) -> frozenset[int]:
        """Which of the call's values, those by keyword counted on, are static."""
        names = self.jitted.static.names
        named = [i for i, name in enumerate(self.kwargs, len(self.args)) if name in names]
        return frozenset(i for i in self.positions if i < len(self.args)).union(named)

    def _refuse(self, index: int) -> ArrayType:
        leaf = self.leaves[index]
        raise errors.ArgumentNotArray(
            argument=self.names()[index], function=self.jitted.name, type=type(leaf).__name__
        )

    def names(self) -> tuple[str, ...]:
        known = self.jitted.table.names
        key = (self.spec, len(self.args))
        if key not in known:
            known[key] = self._named()
        return known[key]

    def _named(self) -> tuple[str, ...]:
        paths = tree.flatten_with_path((self.traced_args, self.traced_kwargs))[0]
        shift = [i for i in range(len(self.args)) if i not in self.positions]
        pairs = [(_first(path), keystr(path[2:])) for path, _ in paths]
        found = leaf_names(self.jitted.parameters, pairs, shift)
        for name, (_, leaf) in zip(found, paths, strict=True):
            if isinstance(leaf, deque):  # which optree alone takes apart
                raise errors.ArgumentNotArray(argument=name, function=self.jitted.name, type=type(leaf).__name__)
        return found

    def signature(self) -> Signature:
        name_of = self.jitted.parameters.name_of
        positions = tuple([name_of(i) for i in range(len(self.args)) if i not in self.positions])
        names, context = self.names(), settings.key()
        return Signature(self.tree, positions, names, self.types, self.static_values, self.static_keys, context)

    def donated_leaves(self) -> tuple[int, ...]:
        """The indices of leaves that belong to donated arguments."""
        donated = self.jitted.donated
        if not donated:
            return ()
        positions = self._positions(donated.indices)
        places = [i for i in range(len(self.args)) if i not in self.positions]
        marks = [i in positions for i, x in zip(places, self.traced_args, strict=True) for _ in tree.leaves(x)]
        named = [k in donated.names for k in sorted(self.traced_kwargs) for _ in tree.leaves(self.traced_kwargs[k])]
        return tuple(i for i, mark in enumerate(marks + named) if mark)

    def rebuilt(self, leaves: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
        """The call's arguments with other leaves in the traced places."""
        traced_args, traced_kwargs = self.tree.unflatten(leaves)
        rest = iter(traced_args)
        args = [x if i in self.positions else next(rest) for i, x in enumerate(self.args)]
        fixed = {k: v for k, v in self.kwargs.items() if k not in traced_kwargs}
        return args, {**traced_kwargs, **fixed}


def _first(path: Sequence[Any]) -> object:
    side, key = path[0], path[1]
    return key.idx if getattr(side, "idx", None) == 0 else key.key


def type_of_leaf(x: Any) -> ArrayType | None:
    """The type that a leaf is traced with, or None for what is no array."""
    kind = type(x)
    if kind is Array or kind is Recorded:
        return x.type
    if kind in SCALARS:
        return scalar_type(x)
    if isinstance(x, np.ndarray | np.generic):
        return _type_of_numpy(x)
    if isinstance(x, Tracer):
        return x.type
    if isinstance(x, bool | int | float | complex):
        return scalar_type(x)
    return _type_of_other(x)


def _type_of_numpy(x: np.ndarray[Any, Any] | np.generic) -> ArrayType:
    if array.is_masked(x):
        raise errors.MaskedArrayInput(shape=x.shape)
    dtype = canonical(x.dtype)
    if not is_supported(dtype):
        raise errors.DTypeNotSupported(dtype=x.dtype)
    return ArrayType(x.shape, dtype)


def _type_of_other(x: Any) -> ArrayType | None:
    if isinstance(x, type | str | bytes):
        return None
    if hasattr(x, "__jax_array__") or hasattr(x, "__array__"):
        return array.as_array(x).type
    if hasattr(x, "shape") and hasattr(x, "dtype"):
        return ArrayType(tuple(x.shape), canonical(x.dtype), bool(getattr(x, "weak_type", False)))
    return None


def trace(jitted: Jit, request: Request, signature: Signature) -> Traced:
    """Run the function once on tracers."""
    start = time.perf_counter()
    with tracing.in_scope(""), tracing.recorded(jitted.name) as record:
        tracers = [record.input(t, name) for t, name in zip(signature.types, signature.names, strict=True)]
        args, kwargs = request.rebuilt(tracers)
        result = jitted.__wrapped__(*args, **kwargs)
        leaves, out_tree = tree.flatten(result)
        if any(map(voids.is_void, leaves)):
            result = voids.hidden(result)
            leaves, out_tree = tree.flatten(result)
        made = record.program([_output(x, i, result, jitted.name) for i, x in enumerate(leaves)])
    seconds = time.perf_counter() - start
    events.record("trace", seconds, name=jitted.name, equations=len(made.equations))
    donated, names = request.donated_leaves(), result_names(result)
    return Traced(jitted.name, made, signature, request.tree, out_tree, donated, jitted.options, names, seconds)


def _output(x: Any, index: int, result: Any, name: str) -> Any:
    if isinstance(x, Value) or type_of_leaf(x) is not None:
        return x
    path = keystr(tree.flatten_with_path(result)[0][index][0])
    raise errors.ResultNotArray(function=name, path=path, type=type(x).__name__)
