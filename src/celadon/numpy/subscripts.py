"""Einstein summation: opt_einsum finds the order of the contractions, dot_general, transpose and sums do them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple, cast

import numpy as np

from celadon import errors, vocabulary as ops
from celadon.numpy.contractions import contracted
from celadon.numpy.dtypes import requested
from celadon.numpy.promotion import array, converted, no_out
from celadon.numpy.reductions import sum as sum_of
from celadon.numpy.shapes import squeezed
from celadon.program import fixed
from celadon.types import bool_, result_type


class Step(NamedTuple):
    """One contraction: which operands are taken, their letters, and those of the result."""

    operands: tuple[int, ...]
    inputs: tuple[str, ...]
    output: str


def einsum(
    subscripts: Any, /, *operands: Any, out: None = None, optimize: Any = "auto", precision: Any = None,
    preferred_element_type: Any = None, out_sharding: Any = None,
) -> Any:  # fmt: skip
    """The sum of products of arrays that letters describe, one letter an axis: "ij,jk->ik" is the matrix product.

    Args: subscripts: letters of each operand, a comma between them, and -> the letters of the result (in alphabetic order,
    those that occur once, if it is left out); "..." stands for axes that broadcast; optimize: how the order of several
    products is found, see einsum_path. Raises SubscriptsInvalid.

    >>> einsum("ij,j->i", np.array([[1, 2], [3, 4]]), np.array([1, 1]))
    Array([3, 7], dtype=int32)
    """
    no_out("einsum", out)
    text, given = _parsed(subscripts, operands)
    values = [array(x, "einsum") for x in given]
    shapes = tuple(x.type.shape for x in values)
    steps = _steps(text, shapes, _hashable(optimize))
    if preferred_element_type is None and len(values) > 1:
        dtype, weak = result_type([x.type for x in values])
        values = [converted(x, dtype, weak) for x in values]
    for step in steps:
        taken = [values.pop(i) for i in step.operands]
        values.append(_contract(taken, step, (precision, preferred_element_type)))
    wanted = values[0].type.dtype if preferred_element_type is None else requested(preferred_element_type)
    return converted(values[0], wanted, values[0].type.weak_type and preferred_element_type is None)


def _hashable(optimize: Any) -> Any:
    return tuple(map(tuple, optimize)) if isinstance(optimize, list) else optimize


def _parsed(subscripts: Any, operands: tuple[Any, ...]) -> tuple[str, list[Any]]:
    """The text form of subscripts: operands may also alternate with lists of numbers."""
    if isinstance(subscripts, str):
        return subscripts.replace(" ", ""), list(operands)
    alternating = [subscripts, *operands]
    arrays, letters = alternating[0:-1:2], alternating[1::2]
    text = ",".join(_letters(part) for part in letters)
    if len(alternating) % 2:
        text += "->" + _letters(alternating[-1])
    return text, arrays


def _letters(part: Any) -> str:
    return "".join("..." if i is Ellipsis else chr(ord("a") + i) if i < 26 else chr(ord("A") + i - 26) for i in part)


@lru_cache(1024)
def _steps(text: str, shapes: tuple[Any, ...], optimize: Any) -> tuple[Step, ...]:
    plain = _plain(text, shapes) if optimize in (True, False, "auto", "optimal", "greedy") else None
    if plain is not None:
        return (plain,)
    import opt_einsum

    options = "optimal" if optimize is True else _path_option(optimize)
    try:
        _, found = cast(Any, opt_einsum.contract_path)(
            text, *shapes, shapes=True, einsum_call=True, use_blas=True, optimize=options
        )  # fmt: skip
    except (ValueError, TypeError, KeyError, IndexError) as error:
        raise errors.SubscriptsInvalid(subscripts=text, shapes=shapes, reason=str(error)) from None
    return tuple(_step(contraction) for contraction in found)


def _plain(text: str, shapes: tuple[Any, ...]) -> Step | None:
    """The one step of one or two operands whose letters are all written out: there is no order to be found."""
    inputs, arrow, output = text.partition("->")
    names = inputs.split(",")
    if not arrow or len(names) != len(shapes) or len(names) > 2 or not (inputs.replace(",", "") + output).isalpha():
        return None
    extents: dict[str, int] = {}
    for letters, shape in zip(names, shapes, strict=True):
        if len(letters) != len(shape) or any(extents.setdefault(x, n) != n for x, n in zip(letters, shape, strict=True)):
            return None
    if len(set(output)) < len(output) or not set(output) <= set(extents):
        return None
    return Step(tuple(reversed(range(len(names)))), tuple(reversed(names)), output)


def _path_option(optimize: Any) -> Any:
    return [tuple(p) for p in optimize if not isinstance(p, str)] if isinstance(optimize, tuple) else optimize


def _step(contraction: Any) -> Step:
    inputs, output = contraction[2].split("->")
    return Step(tuple(contraction[0]), tuple(inputs.split(",")), output)


def _contract(taken: list[Any], step: Step, options: tuple[Any, Any]) -> Any:
    if len(taken) == 1:
        x, names = _diagonals(taken[0], step.inputs[0])
        x, names = _summed(x, names, step.output)
        return _ordered(x, names, step.output)
    if len(taken) > 2:
        raise errors.SubscriptsInvalid(
            subscripts=",".join(step.inputs), shapes=[x.type.shape for x in taken], reason="contract pairs of operands"
        )
    pairs = [_diagonals(x, names) for x, names in zip(taken, step.inputs, strict=True)]
    pairs = _without_ones(pairs)
    left, right = (_summed(x, names, step.output + pairs[1 - i][1]) for i, (x, names) in enumerate(pairs))
    return _product(left, right, step.output, options)


def _diagonals(x: Any, names: str) -> tuple[Any, str]:
    """A letter that occurs twice stands for the diagonal: all else is masked and summed away."""
    for name in dict.fromkeys(names):
        while names.count(name) > 1:
            i, j = names.index(name), names.rindex(name)
            if x.type.shape[i] != x.type.shape[j]:
                raise errors.SubscriptsInvalid(subscripts=names, shapes=[x.type.shape], reason=f"{name} has two extents")
            x = sum_of(ops.select(_equal_places(x, i, j), *_and_zeros(x)), j, x.type.dtype)
            names = names[:j] + names[j + 1 :]
    return x, names


def _equal_places(x: Any, i: int, j: int) -> Any:
    index = np.dtype(np.uint32)
    rows, columns = (ops.iota(shape=x.type.shape, dtype=index, dimension=axis) for axis in (i, j))
    return ops.compare(rows, columns, direction="EQ")


def _and_zeros(x: Any) -> tuple[Any, Any]:
    return x, ops.broadcast_in_dim(fixed(0, x.type.dtype), shape=x.type.shape, broadcast_dimensions=())


def _summed(x: Any, names: str, kept: str) -> tuple[Any, str]:
    """Letters that nothing else needs are summed over."""
    gone = tuple(i for i, name in enumerate(names) if name not in kept)
    if gone:
        x = ops.reduce_or(x, axes=gone) if x.type.dtype == bool_ else ops.reduce_sum(x, axes=gone)
    return x, "".join(name for name in names if name in kept)


def _without_ones(pairs: list[tuple[Any, str]]) -> list[tuple[Any, str]]:
    """An extent of 1 that meets a larger one broadcasts: its axis is dropped."""
    extents = [dict(zip(names, x.type.shape, strict=True)) for x, names in pairs]
    found: list[tuple[Any, str]] = []
    for k, (x, names) in enumerate(pairs):
        other = extents[1 - k]
        gone = [i for i, n in enumerate(names) if extents[k][n] == 1 and other.get(n, 1) != 1]
        found.append((squeezed(x, gone), "".join(n for i, n in enumerate(names) if i not in gone)))
    return found


def _product(left: tuple[Any, str], right: tuple[Any, str], output: str, options: tuple[Any, Any]) -> Any:
    (x, xs), (y, ys) = left, right
    batch = [n for n in xs if n in ys and n in output]
    contract = [n for n in xs if n in ys and n not in output]
    only_x, only_y = ("".join(n for n in names if n not in other) for names, other in ((xs, ys), (ys, xs)))
    first = "".join(batch)
    if first + only_y + only_x == output:
        x, xs, y, ys, only_x, only_y = y, ys, x, xs, only_y, only_x
    dimensions = (
        (tuple(xs.index(n) for n in contract), tuple(ys.index(n) for n in contract)),
        (tuple(xs.index(n) for n in batch), tuple(ys.index(n) for n in batch)),
    )
    return _ordered(contracted("einsum", x, y, dimensions, options), first + only_x + only_y, output)


def _ordered(x: Any, names: str, output: str) -> Any:
    return x if names == output else ops.transpose(x, permutation=tuple(names.index(n) for n in output))


def einsum_path(subscripts: Any, /, *operands: Any, optimize: Any = "auto") -> tuple[list[tuple[int, ...]], Any]:
    """The order in which einsum would contract its operands, and a table of what each step costs.

    >>> einsum_path("ij,jk->ik", np.ones((2, 3)), np.ones((3, 4)))[0]
    [(0, 1)]
    """
    import opt_einsum

    text, given = _parsed(subscripts, operands)
    shapes = [array(x, "einsum_path").type.shape for x in given]
    return cast(Any, opt_einsum.contract_path)(text, *shapes, shapes=True, optimize=optimize)
