"""vmap: a function of one member in, a function of a whole batch out, on pytrees."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from celadon import errors, leaks, tracing, tree, voids
from celadon.signature import Parameters, parameters_of
from celadon.tracing import interpreting
from celadon.transforms import rules  # noqa: F401  # pyright: ignore[reportUnusedImport]  (of ops that hold programs)
from celadon.transforms.batching import Batch, at
from celadon.transforms.gradients import name_of
from celadon.transforms.values import as_value
from celadon.tree_paths import keystr
from celadon.vocabulary.collective import inside_axis

Function = Callable[..., Any]


def vmap(
    fun: Function, in_axes: Any = 0, out_axes: Any = 0, axis_name: Any = None, axis_size: int | None = None,
    spmd_axis_name: Any = None, sum_match: bool = False,
) -> Function:  # fmt: skip
    """A function that runs fun for every member of a batch at once.

    Args:
        in_axes: where the batch stands in each positional argument: an integer, None (all members share it), or a tree
            that begins like the tuple of arguments. Keyword arguments have it in front.
        out_axes: where it is to stand in the results, likewise; None for a result that all members share.
        axis_name: binds a name for collectives such as lax.psum inside fun.
        axis_size: the size of the batch, if no argument is mapped.

    Raises:
        BatchSizesDiffer, BatchAxisOutOfRange, BatchSpecInvalid.

    >>> import celadon.numpy as cnp
    >>> vmap(lambda x, y: x * y, in_axes=(0, None))(cnp.arange(3), 2)
    Array([0, 2, 4], dtype=int32)
    """
    if not callable(fun):
        raise errors.NotCallable(transform="vmap", type=type(fun).__name__)
    if isinstance(in_axes, list):
        in_axes = tuple(in_axes)
    _check_entries("in_axes", in_axes)
    _check_entries("out_axes", out_axes)

    @functools.wraps(fun, updated=())
    def mapped(*args: Any, **kwargs: Any) -> Any:
        call = _Call(fun, args, kwargs)
        axes = call.axes(in_axes)
        size = call.size(axes, axis_size)
        return leaks.watched(lambda: _mapped(call, axes, out_axes, (size, axis_name)))

    return mapped


def _is_entry(x: Any) -> bool:
    return x is None or (isinstance(x, int) and not isinstance(x, bool)) or hasattr(x, "__index__")


def _check_entries(option: str, axes: Any) -> None:
    if not _is_entry(axes) and option == "in_axes" and not isinstance(axes, tuple):
        reason = "it must be an integer, None, or a tuple with an entry for each positional argument"
        raise errors.BatchSpecInvalid(option=option, value=repr(axes), reason=reason)
    for entry in tree.leaves(axes):
        if not _is_entry(entry):
            reason = f"{entry!r} is neither an integer nor None"
            raise errors.BatchSpecInvalid(option=option, value=repr(axes), reason=reason)


class _Call:
    """The arguments of a mapped call, flat, and the names by which messages call them."""

    def __init__(self, fun: Function, args: tuple[Any, ...], kwargs: dict[str, Any]):
        self.fun, self.args, self.kwargs = fun, args, kwargs
        self.leaves, self.form = tree.flatten((args, kwargs))
        self.count = len(tree.leaves(args))
        self.name = name_of(fun)

    @functools.cached_property
    def parameters(self) -> Parameters:
        return parameters_of(self.fun)

    def label(self, index: int) -> str:
        """An argument of the function with the path of a leaf in it."""
        side, key, *rest = tree.paths(self.form)[index]
        name = self.parameters.name_of(key.idx) if side.idx == 0 else repr(key.key)
        return f"{name}{keystr(tuple(rest))}"

    def axes(self, in_axes: Any) -> list[int | None]:
        """The mapped axis of each leaf, counted from the front."""
        return [None if a is None else self._axis(i, a) for i, a in enumerate(self._given(in_axes))]

    def _given(self, in_axes: Any) -> list[Any]:
        keyword = [0] * (len(self.leaves) - self.count)
        if isinstance(in_axes, tuple) and len(in_axes) != len(self.args):
            extra = f", and {len(self.kwargs)} by keyword ({', '.join(self.kwargs)}), which are mapped by axis 0"
            reason = f"it has {len(in_axes)} entries for {len(self.args)} positional arguments{extra if self.kwargs else ''}"
            raise errors.BatchSpecInvalid(option="in_axes", value=repr(in_axes), reason=reason)
        try:
            return tree.spread(in_axes, tree.structure(self.args), _is_none, "in_axes", "the arguments") + keyword
        except (errors.TreeTypesDiffer, errors.TreeLengthsDiffer, errors.TreeKeysDiffer, errors.TreeMetadataDiffers):
            for i, (axes, x) in enumerate(zip(in_axes, self.args, strict=True)):  # again, for a message that names the argument
                tree.spread(axes, tree.structure(x), _is_none, f"in_axes[{i}]", f"argument {self.parameters.name_of(i)}")
            raise

    def _axis(self, index: int, axis: Any) -> int:
        x = self.leaves[index] = _value(self.leaves[index], lambda: self.label(index), self.name)
        ndim = len(x.shape)
        if not -ndim <= axis < ndim:
            raise errors.BatchAxisOutOfRange(option="in_axes", axis=axis, argument=f"argument {self.label(index)}", ndim=ndim)
        return axis % ndim

    def size(self, axes: Sequence[int | None], given: int | None) -> int:
        sizes = [(x.shape[i], k) for k, (x, i) in enumerate(zip(self.leaves, axes, strict=True)) if i is not None]
        found = {n for n, _ in sizes} | ({given} if given is not None else set())
        if len(found) == 1:
            return found.pop()
        if not found:
            reason = "no argument is mapped, and axis_size is not given" if self.leaves else "there are no arrays to map"
            raise errors.BatchSpecInvalid(option="in_axes", value="None everywhere", reason=reason)
        raise errors.BatchSizesDiffer(function=self.name, sizes=self._differing(sizes, axes, given))

    def _differing(self, sizes: list[tuple[int, int]], axes: Sequence[int | None], given: int | None) -> str:
        """The rarest sizes first named with their arguments, the commonest last."""
        groups: dict[int, list[str]] = {}
        for n, k in sizes:
            groups.setdefault(n, []).append(f"axis {axes[k]} of argument {self.label(k)} of type {self.leaves[k].type}")
        ordered = sorted(groups.items(), key=lambda group: -len(group[1]))
        parts = [] if given is None else [f"axis_size is {given}"]
        parts += [f"size {n}: {', '.join(labels[:3])}{' and more' if len(labels) > 3 else ''}" for n, labels in ordered]
        return "; ".join(parts)


def _is_none(x: Any) -> bool:
    return x is None


def _value(x: Any, label: Callable[[], str], function: str) -> Any:
    try:
        return x if voids.is_void(x) else as_value(x)
    except errors.NotAnArray:
        raise errors.MappedNotArray(argument=label(), function=function, type=type(x).__name__) from None


def _result(x: Any, path: Callable[[], str], function: str) -> Any:
    try:
        return as_value(x)
    except errors.NotAnArray:
        raise errors.ResultNotArray(function=function, path=path(), type=type(x).__name__) from None


def _mapped(call: _Call, axes: Sequence[int | None], out_axes: Any, named: tuple[int, Any]) -> Any:
    size, axis_name = named
    batch = Batch(tracing.active(), size, axis_name)
    batch.name, batch.label = call.name, call.label
    inputs = [_member(batch, x, axis, 1 << i) for i, (x, axis) in enumerate(zip(call.leaves, axes, strict=True))]
    args, kwargs = call.form.unflatten(inputs)
    with interpreting(batch), inside_axis(axis_name, size):
        result = call.fun(*args, **kwargs)
    batch.open = False
    found, out_tree = tree.flatten(result)
    wanted = tree.spread(out_axes, out_tree, _is_none, "out_axes", "the results")
    results = [x if voids.is_void(x) else _result(x, lambda k=k: _path(out_tree, k), call.name) for k, x in enumerate(found)]
    pairs = zip([batch.parts(x) for x in results], wanted, strict=True)
    return out_tree.unflatten(
        [_placed((x, i), w, (size, out_axes), lambda k=k: _path(out_tree, k)) for k, ((x, i), w) in enumerate(pairs)]
    )


def _member(batch: Batch, x: Any, axis: int | None, source: int) -> Any:
    if axis is None or not voids.is_void(x):
        return batch.joined(x, axis, source)
    return voids.array((*x.shape[:axis], *x.shape[axis + 1 :]))


def _path(form: tree.PyTreeDef, index: int) -> str:
    return keystr(tree.paths(form)[index])


def _placed(part: tuple[Any, int | None], wanted: int | None, batch: tuple[int, Any], path: Callable[[], str]) -> Any:
    (x, axis), (size, out_axes) = part, batch
    if wanted is None and axis is not None:
        reason = f"None is for results that all members share, and result{path()} differs between them"
        raise errors.BatchSpecInvalid(option="out_axes", value=repr(out_axes), reason=reason)
    ndim = len(x.shape) + (axis is None)
    if wanted is not None and not -ndim <= wanted < ndim:
        raise errors.BatchAxisOutOfRange(option="out_axes", axis=wanted, argument=f"result{path()}", ndim=ndim)
    if voids.is_void(x):
        place = None if wanted is None else wanted % ndim
        return x if place is None else voids.array((*x.shape[:place], size, *x.shape[place:]))
    return at(x, axis, wanted, size)


__all__ = ["vmap"]
