"""grad, vjp, jvp, linearize and linear_transpose: functions in, their derivatives out, on pytrees."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from celadon import errors, tracing, tree, voids
from celadon.program import Program
from celadon.signature import parameters_of
from celadon.tracing import interpreting, type_of
from celadon.transforms import rules  # noqa: F401  # pyright: ignore[reportUnusedImport]  (of ops that hold programs)
from celadon.transforms.backward import Linear, pull
from celadon.transforms.forward import Dual, Jvp
from celadon.transforms.replay import replay
from celadon.transforms.values import as_value, form_words, is_inexact, tangent_type, zero_tangent
from celadon.tree import PyTreeDef
from celadon.tree_paths import KeyPath, keystr
from celadon.tree_util import Partial
from celadon.types import ArrayType, float0, kind
from celadon.vocabulary.kinds import like

Function = Callable[..., Any]
Types = tuple[ArrayType, ...]


class Form(NamedTuple):
    """A tree of values without the values."""

    tree: PyTreeDef
    types: Types


class Derivative(NamedTuple):
    """A function's result at a point, and its derivative there: a linear program from the tangents of inputs that have
    any to those of results that depend on them."""

    leaves: list[Any]
    tree: PyTreeDef
    program: Program
    moves: tuple[bool, ...]
    reached: tuple[bool, ...]
    auxiliary: Any


def name_of(function: Any) -> str:
    """How messages call a function."""
    return getattr(function, "__name__", None) or type(function).__name__


def differentiated(
    function: Function, leaves: Sequence[Any], has_aux: bool, transform: str, labels: Labels | None = None
) -> Derivative:
    """Run a function of flat values once, its tangents recorded; messages call the leaves by their labels."""
    outer = tracing.active()
    linear = Linear(name_of(function), outer, False)
    jvp = Jvp(outer, linear)
    jvp.name = name_of(function)
    moves = tuple([is_inexact(x.type) for x in leaves])
    linear.late_names = labels.of(moves) if labels else ()
    inputs = [Dual(jvp, x, linear.input(x.type)) if moving else x for x, moving in zip(leaves, moves, strict=True)]
    with interpreting(jvp):
        result = function(inputs)
    result, auxiliary = _split(result, has_aux, transform, name_of(function))
    result = voids.hidden(result)
    found, out_tree = tree.flatten(result)
    pairs = [jvp.parts(x) for x in found]
    program = linear.program([t for _, t in pairs if t is not None])
    linear.open = jvp.open = False
    primals = [_result(x, i, result, function) for i, (x, _) in enumerate(pairs)]
    auxiliary = tree.map(lambda x: jvp.parts(x)[0], auxiliary)
    return Derivative(primals, out_tree, program, moves, tuple([t is not None for _, t in pairs]), auxiliary)


def _split(result: Any, has_aux: bool, transform: str, function: str) -> tuple[Any, Any]:
    if not has_aux:
        return result, None
    if not isinstance(result, tuple) or len(result) != 2:
        leaves, form = tree.flatten(result)
        found = form_words(form, [x.type for x in leaves if isinstance(x, tracing.Value)] or [type(result).__name__])
        raise errors.AuxiliaryMissing(transform=transform, function=function, found=found)
    return result


def _result(x: Any, index: int, result: Any, function: Function) -> Any:
    try:
        return as_value(x)
    except errors.NotAnArray:
        path = keystr(tree.flatten_with_path(result)[0][index][0])
        raise errors.ResultNotArray(function=name_of(function), path=path, type=type(x).__name__) from None


def pulled(made: Derivative, cts: Sequence[Any]) -> list[Any]:
    """Cotangents of the inputs, zeros where nothing arrives."""
    given = [ct for ct, reached in zip(cts, made.reached, strict=True) if reached]
    return _spread(pull(made.program, given), made.moves)


def _spread(found: Iterable[Any], marks: Sequence[bool]) -> list[Any]:
    rest = iter(found)
    return [next(rest) if mark else None for mark in marks]


def instantiated(ct: Any, type: ArrayType) -> Any:
    """A cotangent as its receiver gets it: a value, zeros for None."""
    return zero_tangent(type) if ct is None else as_value(ct)


# grad


def chosen(argnums: Any, count: int, transform: str, function: str) -> tuple[int, ...]:
    """Positions from argnums, counted from 0, each once."""
    facts = dict(argnums=repr(argnums), transform=transform, function=function, count=count, last=count - 1)
    several: list[Any] = list(argnums) if isinstance(argnums, Iterable) and not isinstance(argnums, str) else [argnums]
    try:
        given = [operator.index(i) for i in several]
    except TypeError:
        raise errors.ArgnumsInvalid(**facts) from None
    if any(not -count <= i < count for i in given) or len({i % count for i in given}) < len(given):
        raise errors.ArgnumsInvalid(**facts)
    return tuple([i % count for i in given])


def value_and_grad(
    fun: Function, argnums: int | Sequence[int] = 0, has_aux: bool = False, holomorphic: bool = False,
    allow_int: bool = False, reduce_axes: Sequence[Any] = (),
) -> Function:  # fmt: skip
    """A function that returns fun's value and its gradient by some arguments.

    Args:
        fun: returns one real scalar, or a pair of it and anything else if has_aux.
        argnums: the positional arguments (pytrees of floats) to differentiate by; a tuple of gradients for a sequence.
        has_aux: the value is the pair that fun returned, the second part undifferentiated.
        holomorphic: fun is complex-differentiable; arguments and result are complex.
        allow_int: integer arguments are allowed; their gradient is zeros of dtype float0.

    Raises:
        GradOfNonScalar, GradOfInteger, ArgnumsInvalid, AuxiliaryMissing.

    >>> value_and_grad(lambda x: x * x)(3.0)
    (Array(9., dtype=float32, weak_type=True), Array(6., dtype=float32, weak_type=True))
    """
    return _gradient(fun, argnums, has_aux, (holomorphic, allow_int, "value_and_grad"))


def grad(
    fun: Function, argnums: int | Sequence[int] = 0, has_aux: bool = False, holomorphic: bool = False,
    allow_int: bool = False, reduce_axes: Sequence[Any] = (),
) -> Function:  # fmt: skip
    """A function that returns the gradient of fun; arguments and errors as for `value_and_grad`.

    Returns:
        A function of fun's arguments: the gradient, or with has_aux a pair of it and the auxiliary result.

    >>> grad(lambda x: x * x)(3.0)
    Array(6., dtype=float32, weak_type=True)
    """
    both = _gradient(fun, argnums, has_aux, (holomorphic, allow_int, "grad"))

    @functools.wraps(fun, updated=())
    def gradient(*args: Any, **kwargs: Any) -> Any:
        value, found = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return gradient


def _gradient(fun: Function, argnums: Any, has_aux: bool, kind_of: tuple[bool, bool, str]) -> Function:
    holomorphic, _, transform = kind_of
    if not callable(fun):
        raise errors.NotCallable(transform=transform, type=type(fun).__name__)

    @functools.wraps(fun, updated=())
    def both(*args: Any, **kwargs: Any) -> Any:
        places = chosen(argnums, len(args), transform, name_of(fun))
        leaves, labels = value_leaves([args[i] for i in places], fun, places)
        form = labels.form
        for i, x in enumerate(leaves):
            check_input(x.type, lambda i=i: labels[i], kind_of, name_of(fun))
        made = differentiated(flat_function(fun, form, places, args, kwargs), leaves, has_aux, transform, labels)
        value = _scalar(made, transform, name_of(fun), holomorphic)
        cts = pulled(made, [like(1, value)])
        found = form.unflatten([instantiated(ct, x.type) for ct, x in zip(cts, leaves, strict=True)])
        gradient = tuple(found) if isinstance(argnums, Iterable) else found[0]
        return ((value, made.auxiliary) if has_aux else value), gradient

    return both


class Labels:
    """How messages call the leaves of some positional arguments of a function: by the parameter and the path in it."""

    def __init__(self, fun: Function, form: PyTreeDef, places: Sequence[int], marks: Sequence[bool] = ()):
        self.fun, self.form, self.places, self.marks = fun, form, places, marks

    def of(self, marks: Sequence[bool]) -> Labels:
        """Those of the leaves that are marked."""
        return Labels(self.fun, self.form, self.places, marks)

    def __getitem__(self, index: int) -> str:
        first, *rest = tree.paths(self.form)[index]
        return f"{parameters_of(self.fun).name_of(self.places[first.idx])}{keystr(tuple(rest))}"

    def __iter__(self) -> Iterator[str]:
        return (self[i] for i in range(self.form.num_leaves) if not self.marks or self.marks[i])


def value_leaves(parts: Any, fun: Function, places: Sequence[int]) -> tuple[list[Any], Labels]:
    """The leaves of some arguments of a function as values. Raises ArgumentNotArray, which names the leaf."""
    given, form = tree.flatten(parts)
    labels = Labels(fun, form, places)
    found: list[Any] = []
    for x in given:
        try:
            found.append(as_value(x))
        except errors.NotAnArray:
            raise errors.ArgumentNotArray(
                argument=labels[len(found)], function=name_of(fun), type=type(x).__name__
            ) from None
    return found, labels


def check_input(type: ArrayType, path: Callable[[], str], kind_of: tuple[bool, bool, str], function: str) -> None:
    holomorphic, allow_int, transform = kind_of
    letter = kind(type.dtype)
    if holomorphic and letter != "c":
        wanted = "complex arguments, because holomorphic=True"
    elif letter == "c" and not holomorphic and transform in ("jacfwd",):
        wanted = "real arguments (holomorphic=True takes complex ones)"
    elif letter not in "fc" and not allow_int:
        wanted = "float arguments"
    else:
        return
    raise errors.GradOfInteger(transform=transform, wanted=wanted, what=path(), function=function, found=f"{type} ({type.dtype})")


def flat_function(
    fun: Function, form: PyTreeDef, places: tuple[int, ...], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Function:
    """The function of flat values of some arguments, the others as they were."""

    @functools.wraps(fun, updated=())
    def flat(leaves: Sequence[Any]) -> Any:
        whole = list(args)
        for i, x in zip(places, form.unflatten(leaves), strict=True):
            whole[i] = x
        return fun(*whole, **kwargs)

    return flat


def _scalar(made: Derivative, transform: str, function: str, holomorphic: bool) -> Any:
    if len(made.leaves) != 1 or made.tree != tree.structure(0) or made.leaves[0].type.shape:
        found = form_words(made.tree, [x.type for x in made.leaves])
        raise errors.GradOfNonScalar(transform=transform, function=function, found=found)
    [value] = made.leaves
    letter = kind(value.type.dtype)
    if letter != ("c" if holomorphic else "f"):
        wanted = "a complex result, because holomorphic=True" if holomorphic else "a real float result"
        raise errors.GradOfInteger(transform=transform, wanted=wanted, what="the result", function=function, found=value.type)
    return value


# vjp


def vjp(fun: Function, *primals: Any, has_aux: bool = False, reduce_axes: Any = ()) -> Any:
    """fun's value at a point and the function that sends cotangents back from there.

    Args:
        primals: fun's positional arguments, pytrees of arrays.
        has_aux: fun returns a pair; its second part is returned too, undifferentiated.

    Returns:
        (value, pullback) or (value, pullback, aux). The pullback takes a tree like the value and returns a tuple of
        cotangents, one for each primal. It is a pytree of its residuals, so it may cross jit.

    Raises:
        TangentMismatch, when the pullback gets another structure, shape or dtype.

    >>> value, pullback = vjp(lambda x, y: x * y, 2.0, 3.0)
    >>> [float(ct) for ct in pullback(1.0)]
    [3.0, 2.0]
    """
    places = tuple(range(len(primals)))
    leaves, labels = value_leaves(list(primals), fun, places)
    made = differentiated(flat_function(fun, labels.form, places, primals, {}), leaves, has_aux, "vjp", labels)
    inputs, outputs = Form(labels.form, _types(leaves)), Form(made.tree, _types(made.leaves))
    pullback = Partial(_Pullback(made._replace(leaves=[], auxiliary=None), inputs, outputs), _captured(made.program))
    value = made.tree.unflatten(made.leaves)
    return (value, pullback, made.auxiliary) if has_aux else (value, pullback)


def _types(leaves: Iterable[Any]) -> Types:
    return tuple([x.type for x in leaves])


def _captured(program: Program) -> list[Any]:
    return [as_value(kept) for _, kept in program.captures]


def _with(program: Program, captured: Sequence[Any]) -> Program:
    captures = tuple([(var, kept) for (var, _), kept in zip(program.captures, captured, strict=True)])
    return Program(program.inputs, program.equations, program.outputs, captures, program.name)


class _Pullback:
    """The function behind a pullback: residuals, then cotangents."""

    def __init__(self, made: Derivative, inputs: Form, outputs: Form):
        self.made, self.inputs, self.outputs = made, inputs, outputs

    def __call__(self, captured: Sequence[Any], cotangents: Any) -> Any:
        cts = fitting(cotangents, self.outputs, "the function of vjp", "the cotangent", unread=True)
        made = self.made._replace(program=_with(self.made.program, captured))
        found = [instantiated(ct, t) for ct, t in zip(pulled(made, cts), self.inputs.types, strict=True)]
        return tuple(self.inputs.tree.unflatten(found))


def fitting(given: Any, form: Form, transform: str, what: str, unread: bool = False) -> list[Any]:
    """The leaves of a tree of tangents, checked against what they belong to; float0 ones are None.

    `unread`: what belongs to integers may have any dtype, as nobody reads it.
    """
    leaves, structure = tree.flatten(given)
    if structure != form.tree:
        whole, keep = voids.shown(form.tree)
        if (parting := tree.difference(whole, structure)) is not None:
            place = {"transform": transform, "what": what, "path": _at(parting.path)}
            raise errors.TangentMismatch(**place, found=parting.there, wanted=parting.here)
        leaves = list(itertools.compress(whole.flatten_up_to(given), keep))
    found: list[Any] = []
    for i, (x, type) in enumerate(zip(leaves, form.types, strict=True)):
        wanted, own = tangent_type(type), _tangent_type_of(x)
        free = unread and wanted.dtype == float0
        if own is None or own.shape != wanted.shape or (own.dtype != wanted.dtype and not free):
            place = {"transform": transform, "what": what, "path": _at(tree.paths(form.tree)[i])}
            raise errors.TangentMismatch(**place, found=own or f"{x.__class__.__name__}", wanted=wanted)
        found.append(None if wanted.dtype == float0 else as_value(x))
    return found


def _at(path: KeyPath) -> str:
    return f" at {keystr(path)}" if path else ""


def _tangent_type_of(x: Any) -> ArrayType | None:
    if getattr(x, "dtype", None) == float0:
        return ArrayType(x.shape, float0)
    try:
        return type_of(x)
    except errors.NotAnArray:
        return None


# jvp


def jvp(fun: Function, primals: Any, tangents: Any, has_aux: bool = False) -> Any:
    """fun's value at a point, and its derivative there along tangents.

    Args:
        primals, tangents: a tuple or list each, of fun's arguments and of their tangents, of the same trees and types
            (float0 for integers).
        has_aux: fun returns a pair; its second part is returned too, undifferentiated.

    Raises:
        TangentMismatch.

    >>> jvp(lambda x: x * x, (3.0,), (1.0,))
    (Array(9., dtype=float32, weak_type=True), Array(6., dtype=float32, weak_type=True))
    """
    if not isinstance(primals, tuple | list) or not isinstance(tangents, tuple | list):
        wrong = primals if not isinstance(primals, tuple | list) else tangents
        raise errors.TangentMismatch(
            transform="jvp", what="primals or tangents", path="", found=type(wrong).__name__, wanted="a tuple or list"
        )
    leaves, labels = value_leaves(list(primals), fun, range(len(primals)))
    form = labels.form
    moved = fitting(list(tangents), Form(form, _types(leaves)), f"jvp of {name_of(fun)}", "the tangent")
    outer = tracing.active()
    carrier = Jvp(outer)
    carrier.name = name_of(fun)
    inputs = [x if t is None else Dual(carrier, x, t) for x, t in zip(leaves, moved, strict=True)]
    with interpreting(carrier):
        result = fun(*form.unflatten(inputs))
    result, auxiliary = _split(result, has_aux, "jvp", name_of(fun))
    result = voids.hidden(result)
    found, out_tree = tree.flatten(result)
    pairs = [carrier.parts(x) for x in found]
    carrier.open = False
    values = [_result(x, i, result, fun) for i, (x, _) in enumerate(pairs)]
    out = out_tree.unflatten(values)
    along = out_tree.unflatten([instantiated(t, x.type) for x, (_, t) in zip(values, pairs, strict=True)])
    return (out, along, tree.map(lambda x: carrier.parts(x)[0], auxiliary)) if has_aux else (out, along)


def linearize(fun: Function, *primals: Any, has_aux: bool = False) -> Any:
    """fun's value at a point, and its derivative there as a linear function of tangents, which runs no part of fun again.

    Returns:
        (value, pushforward) or (value, pushforward, aux).

    >>> value, pushforward = linearize(lambda x: x * x, 3.0)
    >>> pushforward(2.0)
    Array(12., dtype=float32, weak_type=True)
    """
    places = tuple(range(len(primals)))
    leaves, labels = value_leaves(list(primals), fun, places)
    made = differentiated(flat_function(fun, labels.form, places, primals, {}), leaves, has_aux, "linearize", labels)
    inputs, outputs = Form(labels.form, _types(leaves)), Form(made.tree, _types(made.leaves))
    pushforward = Partial(_Pushforward(made._replace(leaves=[], auxiliary=None), inputs, outputs), _captured(made.program))
    value = made.tree.unflatten(made.leaves)
    return (value, pushforward, made.auxiliary) if has_aux else (value, pushforward)


class _Pushforward:
    """The function behind linearize's result: residuals, then tangents."""

    def __init__(self, made: Derivative, inputs: Form, outputs: Form):
        self.made, self.inputs, self.outputs = made, inputs, outputs

    def __call__(self, captured: Sequence[Any], *tangents: Any) -> Any:
        given = fitting(list(tangents), self.inputs, "the function of linearize", "the tangent")
        moving = [t for t, moves in zip(given, self.made.moves, strict=True) if moves]
        found = _spread(replay(_with(self.made.program, captured), moving), self.made.reached)
        return self.outputs.tree.unflatten([instantiated(t, x) for t, x in zip(found, self.outputs.types, strict=True)])


def linear_transpose(fun: Function, *primals: Any, reduce_axes: Any = ()) -> Function:
    """The transpose of a linear function: from cotangents of its result to those of its arguments.

    Args:
        primals: arrays, or anything with shape and dtype; only their types matter.

    Raises:
        NotTransposable, if fun is not linear.

    >>> linear_transpose(lambda x: 2 * x, 1.0)(3.0)
    (Array(6., dtype=float32, weak_type=True),)
    """
    leaves, form = tree.flatten(list(primals))
    types = tuple([_shaped(x) for x in leaves])

    def transposed(cotangents: Any) -> Any:
        linear = Linear(name_of(fun), tracing.active(), False)
        inputs = [linear.input(t) for t in types]
        with interpreting(linear):
            result = fun(*form.unflatten(inputs))
        found, out_tree = tree.flatten(result)
        outputs = Form(out_tree, tuple([type_of(x) for x in found]))
        cts = fitting(cotangents, outputs, "linear_transpose", "the cotangent")
        back = pull(linear.program(found), cts)
        linear.open = False
        return tuple(form.unflatten([instantiated(ct, t) for ct, t in zip(back, types, strict=True)]))

    return transposed


def _shaped(x: Any) -> ArrayType:
    if hasattr(x, "shape") and hasattr(x, "dtype") and not hasattr(x, "__array__"):
        return ArrayType(tuple(x.shape), x.dtype, getattr(x, "weak_type", False))
    return type_of(x)


__all__ = ["grad", "jvp", "linear_transpose", "linearize", "value_and_grad", "vjp"]
