"""Callbacks: Python functions that a program calls while it runs, for their results or for what they do besides."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from celadon import errors, tree
from celadon.array import Array
from celadon.keys import BITS, KEY
from celadon.op import Op
from celadon.program import Equation, bodies
from celadon.tracing import interpreting
from celadon.types import ArrayType, DType, Shape, canonical
from celadon.vocabulary.shape import broadcast_in_dim, transpose

Arrays = Sequence[Any]
Types = tuple[ArrayType, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Host:
    """A user's function as programs call it: a sequence of arrays in, a list of NumPy arrays out.

    tree: of (args, kwargs); static: the leaves of it that are no arrays, by index; keys: which of the arrays are random
    keys; results: the types that were declared; word: the public function that was called, at `place`.
    """

    function: Callable[..., Any]
    tree: tree.PyTreeDef
    static: dict[int, Any]
    keys: frozenset[int]
    results: Types
    word: str
    place: str

    def __call__(self, arrays: Arrays) -> list[Any]:
        given = iter([_argument(x, i in self.keys) for i, x in enumerate(arrays)])
        static = self.static
        leaves = [static[i] if i in static else next(given) for i in range(self.tree.num_leaves)]
        args, kwargs = self.tree.unflatten(leaves)
        usual = np.errstate(divide="warn", over="warn", under="ignore", invalid="warn")  # NumPy's own defaults
        with interpreting(None), usual:
            try:
                found = self.function(*args, **kwargs)
            except Exception as error:
                error.add_note(f"raised in {self.name}, called by {self.word} at {self.place}")
                raise
        return self._checked(found) if self.word != "debug.callback" else []

    @property
    def name(self) -> str:
        return getattr(self.function, "__name__", None) or type(self.function).__name__

    def _checked(self, found: Any) -> list[Any]:
        results = [np.asarray(x) for x in tree.leaves(found)]
        results = [x.astype(canonical(x.dtype), copy=False) for x in results]
        types = [(x.shape, x.dtype) for x in results]
        if types != [(t.shape, t.dtype) for t in self.results]:
            shown = [ArrayType(*one) if one[1].kind != "O" else f"an object of {one[0]}" for one in types]
            raise errors.CallbackResultMismatch(
                function=self.name, word=self.word, found=_listed(shown), wanted=_listed(self.results), place=self.place
            )
        return results

    def returning(self, results: Types) -> Host:
        """The same function, called for results of other types."""
        return replace(self, results=results)


def _listed(types: Iterable[Any]) -> str:
    return ", ".join(map(str, types)) or "nothing"


def _argument(x: Any, is_key: bool) -> Array:
    kept = x if type(x) is Array else Array(ArrayType(x.shape, x.dtype), host=np.asarray(x))
    return kept.typed(ArrayType(kept.type.shape, KEY)) if is_key and kept.type.dtype == BITS else kept


Level = tuple[tuple[int | None, ...], int]


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """A function for a whole batch, or a batch of batches: called for one member after the other, its results stacked.

    levels: for each batch, the innermost first, where it stands in each argument, and its size. The members of the
    innermost batch are the slowest to change, as when each batch is unrolled by itself.
    """

    function: Host
    levels: tuple[Level, ...]

    def __call__(self, arrays: Arrays) -> list[Any]:
        hosts = [x.host if type(x) is Array else x for x in arrays]
        made = [np.zeros(t.shape, t.dtype) for t in self.results]
        for place in itertools.product(*(range(size) for _, size in self.levels)):
            found = self.function([_member(x, k, place, self.levels) for k, x in enumerate(hosts)])
            for whole, x in zip(made, found, strict=True):
                whole[place[::-1]] = x
        return made

    @property
    def results(self) -> Types:
        sizes = tuple([size for _, size in reversed(self.levels)])
        return tuple([t.with_shape((*sizes, *t.shape)) for t in self.function.results])

    @property
    def name(self) -> str:
        return self.function.name

    @property
    def place(self) -> str:
        return self.function.place

    @property
    def word(self) -> str:
        return self.function.word


def _member(x: Any, argument: int, place: Sequence[int], levels: Sequence[Level]) -> Any:
    for index, (axes, _) in zip(reversed(place), reversed(levels), strict=True):
        axis = axes[argument]
        x = x if axis is None else x[(slice(None),) * axis + (index,)]
    return x


def _types(*types: ArrayType, function: Any, shapes: Sequence[Shape], dtypes: Sequence[DType], **params: Any) -> list[ArrayType]:
    return [ArrayType(shape, dtype) for shape, dtype in zip(shapes, dtypes, strict=True)]


def _called(*arrays: Any, function: Any, **params: Any) -> list[Any]:
    return function(arrays)


def declared(function: Any) -> dict[str, Any]:
    """The parameters of an op that calls a function."""
    shapes, dtypes = tuple([t.shape for t in function.results]), tuple([t.dtype for t in function.results])
    return {"function": function, "shapes": shapes, "dtypes": dtypes}


def acts(equation: Equation) -> bool:
    """Whether an equation acts on the world, itself or in a body, so that it must happen once."""
    return equation.op is io_callback or any(map(acts, (inner for body in bodies(equation.params) for inner in body.equations)))


def _refused(primals: Arrays, tangents: Arrays, *, function: Any, **params: Any) -> Any:
    raise errors.CallbackNotDifferentiable(word=function.word, function=function.name, place=function.place)


def _members(op: Op, batch: Any, axes: Sequence[int | None], values: Arrays, params: dict[str, Any]) -> Any:
    given, level = params["function"], (tuple(axes), batch.size)
    host, inner = (given.function, given.levels) if type(given) is Members else (given, ())
    found = op(*values, **(params | declared(Members(host, (*inner, level)))))
    return found, [0] * len(found)


def _in_front(x: Any, axis: int) -> Any:
    order = (axis, *(i for i in range(x.type.ndim) if i != axis))
    return transpose(x, permutation=order) if axis else x


def _repeated(x: Any, size: int) -> Any:
    shape = x.type.shape
    return broadcast_in_dim(x, shape=(size, *shape), broadcast_dimensions=tuple(range(1, len(shape) + 1)))


def _batch_pure(batch: Any, axes: Sequence[int | None], values: Arrays, /, **params: Any) -> Any:
    function, method = params["function"], params["method"]
    if method is None:
        raise errors.CallbackNotBatchable(function=function.name, place=function.place)
    if method.startswith("sequential"):
        return _members(pure_callback, batch, axes, values, params)
    whole = function.returning(tuple([t.with_shape((batch.size, *t.shape)) for t in function.results]))
    size = batch.size if method == "broadcast_all" else 1
    given = [
        _in_front(x, i) if i is not None else x if method == "legacy_vectorized" else _repeated(x, size)
        for x, i in zip(values, axes, strict=True)
    ]
    found = pure_callback(*given, **(params | declared(whole)))
    return found, [0] * len(found)


def _batch_io(batch: Any, axes: Sequence[int | None], values: Arrays, /, **params: Any) -> Any:
    if params["ordered"]:
        raise errors.OrderedCallbackBatched(function=params["function"].name, place=params["function"].place)
    return _members(io_callback, batch, axes, values, params)


def _batch_debug(batch: Any, axes: Sequence[int | None], values: Arrays, /, **params: Any) -> Any:
    return _members(debug_callback, batch, axes, values, params)


def _observed(primals: Arrays, tangents: Arrays, **params: Any) -> tuple[list[Any], list[Any]]:
    """What looks at values looks at primals."""
    return debug_callback(*primals, **params), []


pure_callback = Op(
    "pure_callback", _types, _called, tangent=_refused, batch=_batch_pure, numbers=("function", "shapes"), multiple=True,
    exact=True, kind="callback",
)  # fmt: skip
io_callback = Op(
    "io_callback", _types, _called, tangent=_refused, batch=_batch_io, numbers=("function", "shapes"), multiple=True,
    exact=True, effects=True, kind="callback",
)  # fmt: skip
debug_callback = Op(
    "debug_callback", _types, _called, tangent=_observed, batch=_batch_debug, numbers=("function", "shapes"),
    multiple=True, exact=True, effects=True, kind="callback",
)  # fmt: skip

__all__ = ["Host", "acts", "debug_callback", "declared", "io_callback", "pure_callback"]
