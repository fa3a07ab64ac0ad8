"""jax.lax's collectives: reductions and exchanges over the named axis of a vmap around, under JAX's names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from celadon import errors, tree
from celadon.numpy.promotion import array, axis_of, operand
from celadon.program import literal
from celadon.types import canonical, kind
from celadon.vocabulary import collective
from celadon.vocabulary.arithmetic import divide
from celadon.vocabulary.conversion import convert
from celadon.vocabulary.shape import reshape

Names = tuple[Any, ...]


def _names(axis_name: Any) -> Names:
    """The names, innermost batch first or not, all bound."""
    found = tuple(axis_name) if isinstance(axis_name, tuple | list) else (axis_name,)
    for name in found:
        collective.size_of(name)
    return found


def axis_size(axis_name: Any) -> int:
    """The size of a named axis, or the product of several: a Python integer.

    >>> import celadon
    >>> celadon.vmap(lambda x: x * axis_size("i"), axis_name="i")(np.ones(3, "float32"))
    Array([3., 3., 3.], dtype=float32)
    """
    total = 1
    for name in _names(axis_name):
        total *= collective.size_of(name)
    return total


def _no_groups(function: str, groups: Any) -> None:
    if groups is not None:
        raise errors.OptionUnknown(function=f"lax.{function}", argument="axis_index_groups", value=groups, allowed="None")


def _value(x: Any) -> Any:
    found = operand(x, "lax")
    if kind(found.type.dtype) != "b":
        return found
    return convert(found, new_dtype=canonical("int64"))


def psum(x: Any, axis_name: Any, *, axis_index_groups: Sequence[Sequence[int]] | None = None) -> Any:
    """The sum over all members of a batch; of a Python number, the number times the size of the axis.

    Args:
        x: a pytree of arrays; axis_name: the name that vmap bound, or a tuple of names.

    >>> import celadon
    >>> celadon.vmap(lambda x: psum(x, "i"), axis_name="i")(np.float32([1, 2]))
    Array([3., 3.], dtype=float32)
    """
    _no_groups("psum", axis_index_groups)
    names = _names(axis_name)

    def one(leaf: Any) -> Any:
        if type(leaf) in (int, float, complex):
            return leaf * axis_size(names)
        return collective.psum(_value(leaf), axes=names)

    return tree.map(one, x)


def pmean(x: Any, axis_name: Any, *, axis_index_groups: Sequence[Sequence[int]] | None = None) -> Any:
    """The mean over all members of a batch.

    >>> import celadon
    >>> celadon.vmap(lambda x: pmean(x, "i"), axis_name="i")(np.float32([1, 2]))
    Array([1.5, 1.5], dtype=float32)
    """
    size = axis_size(axis_name)
    total = psum(x, axis_name, axis_index_groups=axis_index_groups)
    return tree.map(lambda leaf: _mean(leaf, size), total)


def _mean(total: Any, size: int) -> Any:
    if isinstance(total, int | float | complex):
        return total / size
    if kind(total.type.dtype) not in "fc":
        total = convert(total, new_dtype=canonical("float64"))
    return divide(total, literal(size, total.type.dtype, total.type.weak_type))


def _reduced(op: Callable[..., Any], name: str) -> Callable[..., Any]:
    def function(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
        _no_groups(name, axis_index_groups)
        names = _names(axis_name)
        return tree.map(lambda leaf: op(operand(leaf, "lax"), axes=names), x)

    function.__name__ = function.__qualname__ = name
    return function


pmax = _reduced(collective.pmax, "pmax")
pmax.__doc__ = "The largest value over all members of a batch, of each element."
pmin = _reduced(collective.pmin, "pmin")
pmin.__doc__ = "The smallest value over all members of a batch, of each element."


def axis_index(axis_name: Any) -> Any:
    """The place of a member in a named batch, counted row by row over several names.

    >>> import celadon
    >>> celadon.vmap(lambda x: axis_index("i"), axis_name="i")(np.ones(3))
    Array([0, 1, 2], dtype=int32)
    """
    found: Any = None
    for name in _names(axis_name):
        index = collective.axis_index(axes=(name,))
        found = index if found is None else found * collective.size_of(name) + index
    return found


def _single(function: str, axis_name: Any) -> Any:
    names = _names(axis_name)
    if len(names) != 1:
        raise errors.OptionUnknown(function=f"lax.{function}", argument="axis_name", value=axis_name, allowed="one name")
    return names[0]


def all_gather(
    x: Any, axis_name: Any, *, axis_index_groups: Any = None, axis: int = 0, tiled: bool = False, to: Any = None
) -> Any:
    """The values of all members, stacked along a new axis, or joined along an old one if tiled.

    >>> import celadon
    >>> celadon.vmap(lambda x: all_gather(x, "i"), axis_name="i")(np.float32([1, 2]))
    Array([[1., 2.],
           [1., 2.]], dtype=float32)
    """
    _no_groups("all_gather", axis_index_groups)
    name = _single("all_gather", axis_name)
    return tree.map(lambda leaf: _gathered(array(leaf), name, axis, tiled), x)


def _gathered(x: Any, name: Any, axis: int, tiled: bool) -> Any:
    place = axis_of(axis, x.type.ndim + (not tiled))
    found = collective.all_gather(x, axes=(name,), size=collective.size_of(name), axis=place)
    if not tiled:
        return found
    shape = found.type.shape
    return reshape(found, shape=(*shape[:place], shape[place] * shape[place + 1], *shape[place + 2 :]))


def psum_scatter(
    x: Any, axis_name: Any, *, scatter_dimension: int = 0, axis_index_groups: Any = None, tiled: bool = False
) -> Any:
    """The sum over all members, of which each member gets its part along an axis."""
    _no_groups("psum_scatter", axis_index_groups)
    name = _single("psum_scatter", axis_name)
    return tree.map(lambda leaf: _part(array(leaf), name, scatter_dimension, tiled), x)


def _part(x: Any, name: Any, axis: int, tiled: bool) -> Any:
    size, place, shape = collective.size_of(name), axis_of(axis, x.type.ndim), x.type.shape
    if tiled:
        x = reshape(x, shape=(*shape[:place], size, shape[place] // size, *shape[place + 1 :]))
    return collective.psum_scatter(x, axes=(name,), size=size, axis=place)


def ppermute(x: Any, axis_name: Any, perm: Sequence[tuple[int, int]]) -> Any:
    """Send each member's value to another, by pairs (source, target); who receives nothing gets zeros.

    The pairs are numbers, not structure: under jit, others of the same size compile nothing new.

    Raises:
        MembersNotPaired: if a member is the source of two pairs, or the target of two, or is not there.

    >>> import celadon
    >>> celadon.vmap(lambda x: ppermute(x, "i", [(0, 1)]), axis_name="i")(np.float32([1, 2]))
    Array([0., 1.], dtype=float32)
    """
    name = _single("ppermute", axis_name)
    pairs = tuple([(int(source), int(target)) for source, target in perm])
    _check_pairs(pairs, collective.size_of(name))
    return tree.map(lambda leaf: collective.ppermute(array(leaf), axes=(name,), perm=pairs), x)


def _check_pairs(pairs: Sequence[tuple[int, int]], size: int) -> None:
    for members in zip(*pairs, strict=True):
        if len(set(members)) < len(members) or not all(0 <= k < size for k in members):
            raise errors.MembersNotPaired(pairs=list(pairs), size=size)


def pshuffle(x: Any, axis_name: Any, perm: Sequence[int]) -> Any:
    """The values in another order: member k gets that of member perm[k]."""
    return ppermute(x, axis_name, [(source, target) for target, source in enumerate(perm)])


def all_to_all(
    x: Any, axis_name: Any, split_axis: int, concat_axis: int, *, axis_index_groups: Any = None, tiled: bool = False
) -> Any:
    """Exchange the batch with an axis: each member is cut along split_axis, and what it receives is put at concat_axis.

    >>> import celadon
    >>> celadon.vmap(lambda x: all_to_all(x, "i", 0, 0), axis_name="i")(np.float32([[1, 2], [3, 4]]))
    Array([[1., 3.],
           [2., 4.]], dtype=float32)
    """
    _no_groups("all_to_all", axis_index_groups)
    name = _single("all_to_all", axis_name)
    return tree.map(lambda leaf: _exchanged(array(leaf), name, (split_axis, concat_axis), tiled), x)


def _exchanged(x: Any, name: Any, axes: tuple[int, int], tiled: bool) -> Any:
    size, shape = collective.size_of(name), x.type.shape
    split, concat = (axis_of(axis, x.type.ndim) for axis in axes)
    if not tiled:
        return collective.all_to_all(x, axes=(name,), size=size, split=split, concat=concat)
    cut = reshape(x, shape=(*shape[:split], size, shape[split] // size, *shape[split + 1 :]))
    found = collective.all_to_all(cut, axes=(name,), size=size, split=split, concat=concat)
    own = found.type.shape
    return reshape(found, shape=(*own[:concat], own[concat] * own[concat + 1], *own[concat + 2 :]))


def pswapaxes(x: Any, axis_name: Any, axis: int, *, axis_index_groups: Any = None) -> Any:
    """Exchange the batch with an axis of the same size."""
    return all_to_all(x, axis_name, axis, axis, axis_index_groups=axis_index_groups)
