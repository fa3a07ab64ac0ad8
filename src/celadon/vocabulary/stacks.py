"""Ops on stacks of matrices: a form like "mn->mk,kn" comes in; type, unite and batch rules and the walk over a stack go out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from celadon import errors
from celadon.op import Axis, Op, registry
from celadon.program import Equation
from celadon.types import ArrayType, DType, DTypes, Shape, int32
from celadon.vocabulary.kinds import INTEGER, kept, real_dtype, require, same_dtype
from celadon.vocabulary.shape import in_front

Array = Any
Rule = Callable[..., Any]
Form = str | Rule  # or a function of the parameters, where it depends on them
LAPACK = DTypes(("f4", "f8", "c8", "c16"))
_forms: dict[str, Form] = {}


class Word(NamedTuple):
    """An operand or result of a form: a letter for each of its last axes, and for its dtype."""

    axes: str
    dtype: str = "x"


@lru_cache(256)
def parted(form: str) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
    """The words of operands and results of a form.

    >>> parted("mn->mn,i:k")
    ((Word(axes='mn', dtype='x'),), (Word(axes='mn', dtype='x'), Word(axes='k', dtype='i')))
    """
    before, after = ([_word(word) for word in side.split(",")] for side in form.split("->"))
    return tuple(before), tuple(after)


def _word(text: str) -> Word:
    dtype, found, axes = text.partition(":")
    return Word(axes, dtype) if found else Word(text)


def stacked(
    name: str, form: Form, numpy: Rule | None = None, accepted: DTypes = LAPACK, **rules: Any
) -> Op:
    """An op on stacks of matrices, whose leading axes are those of the stack.

    Args:
        form: equal letters are equal extents; of those that no operand has, k is the smaller of m and n, and l is n - 1.
            Ahead of a result, i: says that it is int32, r: real, c: complex; else it has the operands' dtype.
        numpy: the meaning for one matrix of the stack, in double precision, returning a list of arrays.
        accepted: the dtypes of operands that are not integers.
    """
    several = rules.pop("multiple", not isinstance(form, str) or "," in form.partition("->")[2])

    @kept
    def result_type(*types: ArrayType, **params: Any) -> Any:
        found = typed(name, formed(form, params), types, accepted)
        return found if several else found[0]

    def walked(*arrays: Array, **params: Any) -> Any:
        made = result_type(*[ArrayType(x.shape, x.dtype) for x in arrays], **params)
        words, _ = parted(formed(form, params))
        found = _walk(numpy, arrays, params, made if several else [made], len(words[0].axes))
        return found if several else found[0]

    def unite(equation: Equation) -> Iterable[tuple[Axis, Axis]]:
        return united(equation, formed(form, equation.params))

    _forms[name] = form
    rules.setdefault("batch", in_stacks(name))
    return Op(name, result_type, walked if numpy else None, unite=unite, multiple=several, **rules)


def ranks(equation: Equation) -> list[int]:
    """How many axes of each operand, then of each result, belong to one matrix of the stack.

    The equation's op is one that `stacked` has made.
    """
    before, after = parted(formed(_forms[equation.op.name], equation.params))
    return [len(word.axes) for word in before + after]


def formed(form: Form, params: dict[str, Any]) -> str:
    return form if isinstance(form, str) else form(**params)


def typed(name: str, form: str, types: Sequence[ArrayType], accepted: DTypes = LAPACK) -> list[ArrayType]:
    """The types of the results of an op by its form."""
    words, results = parted(form)
    inexact = [t for t in types if t.dtype not in INTEGER] or [ArrayType((), types[0].dtype)]
    require(name, inexact[0], accepted)
    dtype, weak = same_dtype(name, *inexact), all(t.weak_type for t in inexact)
    leading, extents = _bound(name, words, types)
    dtypes = {"x": dtype, "r": real_dtype(dtype), "c": complex_dtype(dtype), "i": int32}
    return [
        ArrayType((*leading, *(extents[letter] for letter in word.axes)), dtypes[word.dtype], weak and word.dtype != "i")
        for word in results
    ]


def _bound(name: str, words: Sequence[Word], types: Sequence[ArrayType]) -> tuple[Shape, dict[str, int]]:
    """The leading extents that the operands share, and what the letters stand for."""
    extents: dict[str, int] = {}
    leading = types[0].shape[: max(types[0].ndim - len(words[0].axes), 0)]
    for word, type in zip(words, types, strict=True):
        own = type.shape[len(leading) :]
        fits = type.shape[: len(leading)] == leading and len(own) == len(word.axes)
        if not fits or any(extents.setdefault(letter, n) != n for letter, n in zip(word.axes, own, strict=True)):
            form = ", ".join(f"({', '.join(['...', *w.axes])})" for w in words)
            raise errors.MatricesUnfit(op=name, shapes=", ".join(str(t.shape) for t in types), form=form)
    if "n" in extents:
        extents.setdefault("k", min(extents.get("m", 0), extents["n"]))
        extents.setdefault("l", max(extents["n"] - 1, 0))
    return leading, extents


def complex_dtype(dtype: DType) -> DType:
    """The dtype of complex numbers whose parts have a dtype, at least single precision; that of complex ones is itself.

    >>> complex_dtype(np.dtype("float32"))
    dtype('complex64')
    """
    return dtype if dtype.kind == "c" else np.dtype(f"c{max(2 * dtype.itemsize, 8)}")


def united(equation: Equation, form: str) -> list[tuple[Axis, Axis]]:
    """Axes with one letter are one, and so are the stack's in their order."""
    before, after = parted(form)
    first: dict[object, Axis] = {}
    pairs: list[tuple[Axis, Axis]] = []
    for place, (x, word) in enumerate(zip([*equation.inputs, *equation.outputs], before + after, strict=True)):
        start = x.type.ndim - len(word.axes)
        for i in range(x.type.ndim):
            met = first.setdefault(word.axes[i - start] if i >= start else i, (place, i))
            pairs += [(met, (place, i))] if met != (place, i) else []
    return pairs


def _walk(
    rule: Rule | None, arrays: Sequence[Array], params: dict[str, Any], types: Sequence[ArrayType], rank: int
) -> list[Array]:
    assert rule is not None
    found = [np.empty(t.shape, t.dtype) for t in types]
    doubled = [x if x.dtype in INTEGER else x.astype(np.result_type(x.dtype, np.float64)) for x in arrays]
    for place in np.ndindex(arrays[0].shape[: arrays[0].ndim - rank]):
        for whole, one in zip(found, rule(*[x[place] for x in doubled], **params), strict=True):
            whole[place] = one
    return found


def in_stacks(name: str) -> Rule:
    """The batch rule: a batch is one more axis of the stack."""

    def batch(batch: Any, axes: Sequence[Any], values: Sequence[Any], /, **params: Any) -> Any:
        found = registry[name](*[in_front(x, i, batch.size) for x, i in zip(values, axes, strict=True)], **params)
        return (found, [0] * len(found)) if registry[name].multiple else (found, 0)

    return batch
