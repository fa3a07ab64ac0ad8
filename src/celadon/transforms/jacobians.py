"""jacfwd, jacrev and hessian: all derivatives of all results by all arguments, by vmap of one jvp or pullback."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from celadon import errors, tree
from celadon.transforms.gradients import (
    Form,
    check_input,
    chosen,
    differentiated,
    flat_function,
    instantiated,
    jvp,
    name_of,
    pulled,
    value_leaves,
)
from celadon.transforms.mapping import vmap
from celadon.transforms.values import as_value, is_inexact
from celadon.types import ArrayType, kind
from celadon.vocabulary.shape import reshape, slice_

Function = Callable[..., Any]


def jacfwd(fun: Function, argnums: int | Sequence[int] = 0, has_aux: bool = False, holomorphic: bool = False) -> Function:
    """A function that returns the Jacobian, computed column by column in forward mode (good for few inputs).

    Args: as for `grad`, but fun may return any tree of arrays.

    Returns:
        A function of fun's arguments: a tree like fun's result whose leaves are trees like the argument, of arrays with the
        result's dimensions, then the argument's.

    >>> import celadon.numpy as cnp
    >>> jacfwd(lambda x: cnp.stack([x[0] * x[1], x[0]]))(cnp.array([2.0, 3.0])).tolist()
    [[3.0, 2.0], [1.0, 0.0]]
    """
    return _jacobian(fun, argnums, has_aux, (holomorphic, False, "jacfwd"), _forward)


def jacrev(
    fun: Function, argnums: int | Sequence[int] = 0, has_aux: bool = False, holomorphic: bool = False, allow_int: bool = False
) -> Function:
    """A function that returns the Jacobian, computed row by row in reverse mode (good for few results); see `jacfwd`.

    >>> import celadon.numpy as cnp
    >>> jacrev(lambda x: x * x)(cnp.array([2.0, 3.0])).tolist()
    [[4.0, 0.0], [0.0, 6.0]]
    """
    return _jacobian(fun, argnums, has_aux, (holomorphic, allow_int, "jacrev"), _reverse)


jacobian = jacrev


def hessian(fun: Function, argnums: int | Sequence[int] = 0, has_aux: bool = False, holomorphic: bool = False) -> Function:
    """A function that returns all second derivatives: jacfwd of jacrev.

    >>> import celadon.numpy as cnp
    >>> hessian(lambda x: (x ** 3).sum())(cnp.array([1.0, 2.0])).tolist()
    [[6.0, 0.0], [0.0, 12.0]]
    """
    return jacfwd(jacrev(fun, argnums, has_aux, holomorphic), argnums, has_aux, holomorphic)


def _jacobian(fun: Function, argnums: Any, has_aux: bool, kind_of: tuple[bool, bool, str], mode: Function) -> Function:
    if not callable(fun):
        raise errors.NotCallable(transform=kind_of[2], type=type(fun).__name__)

    @functools.wraps(fun, updated=())
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        places = chosen(argnums, len(args), kind_of[2], name_of(fun))
        leaves, labels = value_leaves([args[i] for i in places], fun, places)
        form = labels.form
        for i, x in enumerate(leaves):
            check_input(x.type, lambda i=i: labels[i], kind_of, name_of(fun))
        flat = flat_function(fun, form, places, args, kwargs)
        rows, out, auxiliary = mode(flat, leaves, has_aux, kind_of)
        nested = [form.unflatten(row) for row in rows]
        found = out.unflatten([tuple(x) if isinstance(argnums, Iterable) else x[0] for x in nested])
        return (found, auxiliary) if has_aux else found

    return jacobian


def _forward(flat: Function, leaves: list[Any], has_aux: bool, kind_of: tuple[bool, bool, str]) -> Any:
    """Blocks [result][argument], by tangents that are one at one element."""
    made: list[Any] = []

    def along(*tangents: Any) -> tuple[Any, Any]:
        def positional(*xs: Any) -> Any:
            return flat(xs)

        found = jvp(positional, tuple(leaves), tangents, has_aux)
        out_leaves, out_tree = tree.flatten(found[0])
        made[:] = [out_tree, found[2] if has_aux else None, out_leaves]
        return found[0], tree.leaves(found[1])

    types = [x.type for x in leaves]
    value, columns = vmap(along, out_axes=(None, -1))(*_basis(types))
    out_tree, _, _ = made
    _check_results(tree.leaves(value), kind_of, flat)
    auxiliary = _auxiliary(flat, leaves) if has_aux else None
    rows = [_split(x, types, x.type.ndim - 1) for x in columns]
    return rows, out_tree, auxiliary


def _auxiliary(flat: Function, leaves: list[Any]) -> Any:
    return flat(leaves)[1]


def _reverse(flat: Function, leaves: list[Any], has_aux: bool, kind_of: tuple[bool, bool, str]) -> Any:
    """Blocks [result][argument], by cotangents that are one at one element."""
    made = differentiated(flat, leaves, has_aux, kind_of[2])
    _check_results(made.leaves, kind_of, flat)
    inputs = Form(tree.structure(list(leaves)), tuple([x.type for x in leaves]))

    def back(*cts: Any) -> list[Any]:
        found = pulled(made, [ct if is_inexact(ct.type) else None for ct in cts])
        return [instantiated(ct, t) for ct, t in zip(found, inputs.types, strict=True)]

    types = [x.type for x in made.leaves]
    columns = vmap(back)(*_basis(types))
    blocks = [_split(x, types, 0) for x in columns]
    return [list(row) for row in zip(*blocks, strict=True)], made.tree, made.auxiliary


def _check_results(outs: Sequence[Any], kind_of: tuple[bool, bool, str], flat: Function) -> None:
    holomorphic, _, transform = kind_of
    for x in outs:
        letter = kind(x.type.dtype)
        if holomorphic and letter != "c":
            wanted = "a complex result, because holomorphic=True"
        elif not holomorphic and letter != "f" and transform == "jacrev":
            wanted = "a real float result"
        else:
            continue
        raise errors.GradOfInteger(
            transform=transform, wanted=wanted, what="the result", function=name_of(flat), found=x.type
        )


def _basis(types: Sequence[ArrayType]) -> list[Any]:
    """For each type, an array with the batch in front: members are one at one element of one of them."""
    sizes = [t.size for t in types]
    total, start = sum(sizes), 0
    found: list[Any] = []
    for t, size in zip(types, sizes, strict=True):
        whole = np.zeros((total, size), t.dtype if is_inexact(t) else np.float32)
        whole[start : start + size] = np.eye(size)
        found.append(as_value(whole.reshape(total, *t.shape)))
        start += size
    return found


def _split(x: Any, types: Sequence[ArrayType], axis: int) -> list[Any]:
    """One axis of an array cut into parts, each with the dimensions of a type."""
    parts: list[Any] = []
    start, ndim = 0, x.type.ndim
    for t in types:
        starts = tuple(start if i == axis else 0 for i in range(ndim))
        limits = tuple(start + t.size if i == axis else n for i, n in enumerate(x.type.shape))
        part = slice_(x, start_indices=starts, limit_indices=limits, strides=(1,) * ndim)
        rest = (*x.type.shape[:axis], *x.type.shape[axis + 1 :])
        parts.append(reshape(part, shape=(*rest[:axis], *t.shape, *rest[axis:])))
        start += t.size
    return parts

