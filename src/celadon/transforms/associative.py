"""associative_scan: an associative function of two halves in, all its partial results in a logarithmic number of calls out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from celadon import errors, tree
from celadon.program import fixed
from celadon.transforms.bodies import Names, require_callable, value
from celadon.tree_partings import describe
from celadon.types import bool_
from celadon.vocabulary.arithmetic import add
from celadon.vocabulary.bitwise import or_
from celadon.vocabulary.shape import concatenate, pad, reverse as reversed_, slice_

Values = list[Any]


def associative_scan(fn: Callable[..., Any], elems: Any, reverse: bool = False, axis: int = 0) -> Any:
    """All partial results of an associative function along an axis: e0, fn(e0, e1), fn(fn(e0, e1), e2) ...

    Args:
        fn: a function of two pytrees like elems, each of any extent along the axis, that combines them element by element.
        elems: a pytree of arrays of one extent along the axis. How often fn is applied depends on that extent: about
            twice its logarithm to base 2.
        reverse: begin from the last element.
        axis: the axis, counted from the end if negative.

    Raises:
        BodyNotCallable, ScanLengthsDiffer, ScanNoAxis, CarryTreeChanges.

    >>> associative_scan(lambda a, b: a + b, np.int32([1, 2, 3, 4]))
    Array([ 1,  3,  6, 10], dtype=int32)
    """
    require_callable("lax.associative_scan", fn=fn)
    given, form = tree.flatten(elems)
    values = [value(x) for x in given]
    names = tuple(Names((form, "elems")))
    along = _checked_axis(values, names, axis)

    def combine(a: Values, b: Values) -> Values:
        found, made = tree.flatten(fn(form.unflatten(a), form.unflatten(b)))
        if len(found) != len(a):
            raise errors.CarryTreeChanges(
                loop="associative_scan", function=getattr(fn, "__name__", "fn"), path="elems",
                here=describe(form.root), there=describe(made.root),
            )
        return [value(x) for x in found]

    if reverse:
        values = [reversed_(x, dimensions=(along,)) for x in values]
    values = _partial(combine, values, along)
    if reverse:
        values = [reversed_(x, dimensions=(along,)) for x in values]
    return form.unflatten(values)


def _checked_axis(values: Values, names: tuple[str, ...], axis: int) -> int:
    if not values:
        raise errors.ScanNoAxis(name="associative_scan", reason="elems has no arrays")
    for x, name in zip(values, names, strict=True):
        if not -x.type.ndim <= axis < x.type.ndim:
            raise errors.ScanNoAxis(name="associative_scan", reason=f"{name} of type {x.type} has no axis {axis}")
    along = axis % values[0].type.ndim
    size = values[0].type.shape[along]
    for x, name in zip(values, names, strict=True):
        if x.type.shape[along] != size:
            raise errors.ScanLengthsDiffer(
                name="associative_scan", one=names[0], size=size, other=name, length=x.type.shape[along]
            )
    return along


def _partial(combine: Callable[[Values, Values], Values], xs: Values, axis: int) -> Values:
    """Pairs of neighbours are combined and scanned, which gives every second result; the others are one step further."""
    size = xs[0].type.shape[axis]
    if size < 2:
        return xs
    pairs = combine([_part(x, axis, 0, size - 1, 2) for x in xs], [_part(x, axis, 1, size, 2) for x in xs])
    odd = _partial(combine, pairs, axis)
    count = size // 2
    before = odd if size % 2 else [_part(x, axis, 0, count - 1) for x in odd]
    even = combine(before, [_part(x, axis, 2, size, 2) for x in xs])
    even = [concatenate(_part(x, axis, 0, 1), y, dimension=axis) for x, y in zip(xs, even, strict=True)]
    return [_interleaved(a, b, axis) for a, b in zip(even, odd, strict=True)]


def _part(x: Any, axis: int, start: int, stop: int, step: int = 1) -> Any:
    shape = x.type.shape
    starts = tuple([start if i == axis else 0 for i in range(len(shape))])
    stops = tuple([stop if i == axis else n for i, n in enumerate(shape)])
    steps = tuple([step if i == axis else 1 for i in range(len(shape))])
    return slice_(x, start_indices=starts, limit_indices=stops, strides=steps)


def _interleaved(a: Any, b: Any, axis: int) -> Any:
    """a0, b0, a1, b1 ...; a may be longer by one."""
    same = a.type.shape[axis] == b.type.shape[axis]
    join = or_ if a.type.dtype == bool_ else add
    return join(_spaced(a, axis, 0, int(same)), _spaced(b, axis, 1, int(not same)))


def _spaced(x: Any, axis: int, low: int, high: int) -> Any:
    there = [int(i == axis) for i in range(x.type.ndim)]
    lows, highs = tuple([low * i for i in there]), tuple([high * i for i in there])
    return pad(x, fixed(0, x.type.dtype), low=lows, high=highs, interior=tuple(there))
