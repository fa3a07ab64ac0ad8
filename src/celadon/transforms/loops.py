"""while_loop, fori_loop, scan and map: functions in, ops with their traced programs as bodies out."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from celadon import errors, tracing, tree, voids
from celadon.facade import Lazy
from celadon.program import Program, Var, fixed, remembered
from celadon.tracing import type_of
from celadon.transforms.bodies import (
    Body,
    Form,
    Names,
    Types,
    check_carry,
    known,
    name_of,
    operands,
    require_callable,
    result,
    returning,
    settled,
    traced,
    value,
)  # fmt: skip
from celadon.transforms.values import form_words
from celadon.tree import PyTreeDef
from celadon.types import ArrayType, bool_, kind
from celadon.vocabulary import control as ops
from celadon.vocabulary.arithmetic import add
from celadon.vocabulary.bodies import chosen, effectful, taking
from celadon.vocabulary.comparison import compare
from celadon.vocabulary.conversion import convert
from celadon.vocabulary.scan import row_type, rows, scan as scan_op, stacked, static_row
from celadon.vocabulary.shape import concatenate, reshape

if TYPE_CHECKING:
    from celadon.transforms import mapping
else:
    mapping = Lazy("celadon.transforms.mapping")

Function = Callable[..., Any]


def while_loop(cond_fun: Function, body_fun: Function, init_val: Any) -> Any:
    """The value v = init_val, replaced by body_fun(v) as long as cond_fun(v) holds.

    Args:
        cond_fun: a function of the carried value that returns a boolean scalar.
        body_fun: a function from the carried value to one of the same tree, shapes and dtypes.
        init_val: a pytree of arrays.

    Returns:
        The carried value for which the condition first fails. There is no reverse-mode derivative; see `scan`.

    Raises:
        BodyNotCallable, ConditionNotBoolean, CarryTypeChanges, CarryTreeChanges.

    >>> while_loop(lambda v: v < 100, lambda v: v * 2, 3)
    Array(192, dtype=int32, weak_type=True)
    """
    require_callable("lax.while_loop", cond_fun=cond_fun, body_fun=body_fun)
    if tracing.disable_jit.value:
        with contextlib.suppress(errors.ConcretizationTypeError):  # a transform stands around the loop: no Python loop can run
            return _python_while(cond_fun, body_fun, init_val)
    given, form = tree.flatten(voids.hidden(init_val))
    words = _words(body_fun, "while_loop", form)
    one, names, state = _one_argument(form), Names(*words.carried), operands(words.loop, "init_val", given, form)
    body, values = settled(lambda types: traced(body_fun, Form(one, types, names)), state, lambda body: body.types)
    shape = Form(form, tuple([x.type for x in values]), names)
    check_carry(words.loop, body_fun, shape, body.tree, body.types)
    condition = traced(cond_fun, Form(one, shape.types, names))
    _check_condition(condition, cond_fun)
    return body.tree.unflatten(_looped(condition, body, values))


def _python_while(cond_fun: Function, body_fun: Function, init_val: Any) -> Any:
    carried = tree.map(tracing.outside.as_array, init_val)
    while cond_fun(carried):
        carried = tree.map(tracing.outside.as_array, body_fun(carried))
    return carried


def _one_argument(form: PyTreeDef) -> PyTreeDef:
    return tree.treedef_tuple([form])


class Words(NamedTuple):
    """How messages call a loop and what it carries; one that is made of another gives them to its step (`_calling`)."""

    loop: str
    carried: Sequence[tuple[PyTreeDef, str]]
    row: str


def _words(step: Function, loop: str, form: PyTreeDef) -> Words:
    given = getattr(step, "words", None)
    if given is None:
        carry, row = _parameters(step)
        return Words(loop, [(form, carry)], row)
    loop, carried, row = given
    return Words(loop, list(zip(form.children(), carried, strict=True)), row)


def _calling(step: Function, function: Function, loop: str, carried: Sequence[str] = ()) -> Function:
    """A step of ours, which messages call by the names of the function that it calls and of the loop that it makes up."""
    step.__name__, vars(step)["words"] = name_of(function), (loop, carried, _parameters(function)[0])
    return step


def _parameters(function: Function) -> tuple[str, str]:
    """How messages call the first two arguments of a function."""
    code = getattr(function, "__code__", None)
    found = code.co_varnames[hasattr(function, "__self__") : code.co_argcount] if code is not None else ()
    first, second = (found + ("carry", "x")[len(found) :])[:2]
    return first, second


def _check_condition(condition: Body, cond_fun: Function) -> None:
    types = condition.types
    if condition.tree != tree.LEAF_TREEDEF:
        raise errors.ConditionNotBoolean(function=name_of(cond_fun), found=f"a tree: {condition.tree}")
    if types[0].shape or types[0].dtype != bool_:
        raise errors.ConditionNotBoolean(function=name_of(cond_fun), found=types[0])


class Loop(NamedTuple):
    """Bodies ready for their op, and which carried values stand still: they are constants of the body."""

    condition: Program | None
    body: Program
    still: tuple[bool, ...]
    moving: tuple[bool, ...]
    back: tuple[int | None, ...] = ()

    @property
    def is_idle(self) -> bool:
        programs = [self.body, *([self.condition] if self.condition else [])]
        return not self.body.outputs and not any(effectful(one) for one in programs)


def _looped(condition: Body, body: Body, values: Sequence[Any]) -> list[Any]:
    """The loop; carried values that nothing changes and the condition does not read are constants of the body."""
    tested, held = len(condition.held), len(body.held)
    key = ("while_loop", condition.program, tested, held)
    loop = remembered(body.program, key, lambda: _while_of(condition.program, tested, body.program, held))
    if loop.is_idle:
        return [result(x) for x in values]
    consts = [*body.held, *chosen(values, loop.still)]
    operands = [*condition.held, *consts, *chosen(values, loop.moving)]
    counts = {"condition_consts": tested, "body_consts": len(consts)}
    found = iter(ops.while_loop(*operands, condition=loop.condition, body=loop.body, **counts))
    return [next(found) if moves else result(x) for x, moves in zip(values, loop.moving, strict=True)]


def _while_of(condition: Program, tested: int, body: Program, held: int) -> Loop:
    read = {x for equation in condition.equations for x in equation.inputs} | set(condition.outputs)
    rows = zip(body.outputs, body.inputs[held:], condition.inputs[tested:], strict=True)
    still = tuple([out is into and test not in read for out, into, test in rows])
    moving = tuple([not one for one in still])
    return Loop(taking(condition, (True,) * tested + moving), _consts_first(body, held, still, moving), still, moving)


def _consts_first(program: Program, held: int, still: Sequence[bool], moving: Sequence[bool]) -> Program:
    """A loop's body whose carried values that stand still are constants."""
    carry = program.inputs[held : held + len(still)]
    inputs = [*program.inputs[:held], *chosen(carry, still), *chosen(carry, moving), *program.inputs[held + len(still) :]]
    outputs = [*chosen(program.outputs[: len(still)], moving), *program.outputs[len(still) :]]
    return Program(inputs, program.equations, outputs, (), program.name)


# fori


def fori_loop(lower: Any, upper: Any, body_fun: Function, init_val: Any, *, unroll: Any = None) -> Any:
    """The value v = init_val, replaced by body_fun(i, v) for i from lower to upper - 1.

    Args:
        lower, upper: real scalars of one dtype. If both are concrete, the loop is a `scan` and has a reverse-mode
            derivative; a new trip count costs no compile in either case.
        body_fun: a function from the index and the carried value to one of the same tree, shapes and dtypes.
        unroll: as for `scan`; only with concrete bounds.

    Raises:
        BodyNotCallable, LoopBoundsDiffer, UnrollInvalid, CarryTypeChanges, CarryTreeChanges.

    >>> fori_loop(0, 4, lambda i, v: v + i, 0)
    Array(6, dtype=int32, weak_type=True)
    """
    require_callable("lax.fori_loop", body_fun=body_fun)
    low, high = type_of(lower), type_of(upper)
    dtype = _bound_dtype(low, high)
    first, last = known(int, lower), known(int, upper)
    if first is not None and last is not None:
        return _counted(first, max(last - first, 0), body_fun, init_val, unroll)
    if unroll not in (None, False, 1):
        raise errors.UnrollInvalid(name="fori_loop", unroll=unroll, reason="but the bounds are traced")
    start, stop = (_of_dtype(value(x), dtype) for x in (lower, upper))

    def step(carry: Any) -> Any:
        i, end, v = carry
        return add(i, fixed(1, i.type.dtype)), end, body_fun(i, v)

    i, v = _parameters(body_fun)
    step = _calling(step, body_fun, "fori_loop", (i, "upper", v))
    return while_loop(_below, step, (start, stop, init_val))[2]


def _below(carry: Any) -> Any:
    return compare(carry[0], carry[1], direction="LT")


def _of_dtype(x: Any, dtype: Any) -> Any:
    return x if x.type.dtype == dtype else convert(x, new_dtype=dtype)


def _bound_dtype(low: ArrayType, high: ArrayType) -> Any:
    """The dtype of the index: the bounds', where a weak one takes the other's."""
    scalars = not low.shape and not high.shape
    if scalars and low.dtype == high.dtype:
        return low.dtype
    if scalars and low.weak_type != high.weak_type and kind(low.dtype) == kind(high.dtype) == "i":
        return high.dtype if low.weak_type else low.dtype
    raise errors.LoopBoundsDiffer(lower=low, upper=high)


def _counted(start: int, length: int, body_fun: Function, init_val: Any, unroll: Any) -> Any:
    if tracing.disable_jit.value and not length:
        return init_val

    def step(carry: Any, _: None) -> Any:
        i, v = carry
        return (i + 1 if isinstance(i, int) else add(i, fixed(1, i.type.dtype)), body_fun(i, v)), None

    step = _calling(step, body_fun, "fori_loop", _parameters(body_fun))
    (_, found), _ = scan(step, (start, init_val), None, length=length, unroll=False if unroll is None else unroll)
    return found


# scan


def scan(
    f: Function, init: Any, xs: Any = None, length: Any = None, reverse: bool = False, unroll: Any = 1,
    _split_transpose: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """Carry a value along the leading axis of arrays: (carry, y) = f(carry, x) for each row x of xs, the ys stacked.

    Args:
        f: a function from the carried value and a row of xs to a pair: the carried value, of the same tree, shapes and
            dtypes, and what is stacked (a pytree of arrays, or None).
        init: the carried value before the first step, a pytree of arrays; weak ones take the dtype that f gives them.
        xs: a pytree of arrays with one leading extent, or None.
        length: the number of steps, needed if xs has no arrays.
        reverse: take the rows from the last to the first; the ys stand in the order of the xs all the same.
        unroll: how many steps a round of the loop takes in the text; a bool means all, or one. Results do not depend on it.

    Returns:
        The carried value after the last step, and the ys stacked along a new leading axis.

    Raises:
        BodyNotCallable, ScanLengthsDiffer, ScanNoAxis, ScanLengthTraced, ScanResultNotPair, UnrollInvalid,
        CarryTypeChanges, CarryTreeChanges.

    >>> scan(lambda c, x: (c + x, c), 0, np.int32([1, 2, 3]))
    (Array(6, dtype=int32), Array([0, 1, 3], dtype=int32, weak_type=True))
    """
    require_callable("lax.scan", f=f)
    given, form = tree.flatten(voids.hidden(init))
    given_rows, rows_form = tree.flatten(xs)
    words = _words(f, "scan", form)
    arrays = operands(words.loop, "xs", given_rows, rows_form)
    count = _length(words.loop, arrays, Names((rows_form, "xs")), length)
    steps = _unrolled(unroll, count)
    if tracing.disable_jit.value:
        return _python_scan(f, init, (arrays, rows_form), (count, bool(reverse)))
    both, names = tree.treedef_tuple([form, rows_form]), Names(*words.carried, (rows_form, words.row))
    row_types = tuple([row_type(x.type) for x in arrays])

    def trace(types: Types) -> Body:
        body = traced(f, Form(both, types + row_types, names))
        _check_pair(body, f)
        return body

    body, values = settled(trace, operands(words.loop, "init", given, form), _carried)
    shape = Form(form, tuple([x.type for x in values]), Names(*words.carried))
    check_carry(words.loop, f, shape, body.tree.children()[0], _carried(body))
    params = {"length": count, "reverse": bool(reverse), "unroll": steps}
    last, rows = body.tree.unflatten(_scanned(body, values, arrays, params))
    return last, voids.stacked(rows, count)


def _check_pair(body: Body, f: Function) -> None:
    if body.tree == tree.LEAF_TREEDEF or len(body.tree.children()) != 2:
        raise errors.ScanResultNotPair(function=name_of(f), found=form_words(body.tree, body.types))


def _carried(body: Body) -> Types:
    return body.types[: body.tree.children()[0].num_leaves]


def _length(name: str, arrays: Sequence[Any], names: Names, length: Any) -> int:
    counts = [x.type.shape[0] if x.type.shape else None for x in arrays]
    if None in counts:
        k = counts.index(None)
        raise errors.ScanNoAxis(name=name, reason=f"{[*names][k]} is a scalar, {arrays[k].type}")
    if length is not None:
        count = _static(name, "length", length)
    elif arrays:
        count = arrays[0].type.shape[0]
    else:
        raise errors.ScanNoAxis(name=name, reason="xs has no arrays, and no length is given")
    for k, found in enumerate(counts):
        if found != count:
            first = next(iter(names)) if length is None else "the argument length"
            raise errors.ScanLengthsDiffer(name=name, one=first, size=count, other=[*names][k], length=found)
    return count


def _static(name: str, argument: str, given: Any) -> int:
    found = known(int, given)
    if found is None:
        raise errors.ScanLengthTraced(name=name, argument=argument, given=f"a traced {given.type}")
    return found


def _unrolled(unroll: Any, length: int) -> int:
    if isinstance(unroll, bool | np.bool_):
        return max(length, 1) if unroll else 1
    found = _static("scan", "unroll", unroll)
    if found < 0:
        raise errors.UnrollInvalid(name="scan", unroll=unroll, reason="which is negative")
    return found


def _python_scan(f: Function, init: Any, xs: tuple[list[Any], PyTreeDef], how: tuple[int, bool]) -> tuple[Any, Any]:
    (arrays, form), (count, reverse) = xs, how
    if not count:
        raise errors.EmptyScanEager()
    carry, made = init, []
    for i in reversed(range(count)) if reverse else range(count):
        carry, y = f(carry, form.unflatten([static_row(x, i) for x in arrays]))
        made.append(y)
    made = made[::-1] if reverse else made
    return carry, tree.map(lambda *ys: stacked([value(y) for y in ys]), *made)


def _scanned(body: Body, values: Sequence[Any], arrays: Sequence[Any], params: dict[str, Any]) -> list[Any]:
    """The scan; carried values that stand still are constants, and rows that come back unchanged are the arrays."""
    held, carry = len(body.held), len(values)
    loop = remembered(body.program, ("scan", held, carry), lambda: _scan_of(body.program, held, carry))
    found: list[Any] = []
    if not loop.is_idle:
        consts, state = [*body.held, *chosen(values, loop.still)], chosen(values, loop.moving)
        found = scan_op(*consts, *state, *arrays, body=loop.body, consts=len(consts), carry=len(state), **params)
    made = iter(found)
    first = [next(made) if moves else result(x) for x, moves in zip(values, loop.moving, strict=True)]
    return [*first, *(next(made) if place is None else arrays[place] for place in loop.back)]


def _scan_of(program: Program, held: int, carry: int) -> Loop:
    inputs = program.inputs[held:]
    still = tuple([a is b for a, b in zip(program.outputs[:carry], inputs[:carry], strict=True)])
    moving = tuple([not one for one in still])
    places = {var: i for i, var in enumerate(inputs[carry:])}
    back = tuple([places.get(x) if type(x) is Var else None for x in program.outputs[carry:]])
    kept = [True] * sum(moving) + [place is None for place in back]
    return Loop(None, returning(_consts_first(program, held, still, moving), kept), still, moving, back)


def map(f: Function, xs: Any, *, batch_size: int | None = None) -> Any:
    """f applied to each row of arrays one after the other, the results stacked.

    Args:
        f: a function of a pytree of rows that returns a pytree of arrays.
        xs: a pytree of arrays with one leading extent.
        batch_size: how many rows vmap takes at once; what remains is mapped by itself. 0 takes all.

    Raises:
        BodyNotCallable, ScanLengthsDiffer, ScanNoAxis.

    >>> map(lambda x: x * x, np.int32([1, 2, 3]))
    Array([1, 4, 9], dtype=int32)
    """
    require_callable("lax.map", f=f)
    if batch_size is not None:
        return _in_batches(f, xs, batch_size)

    def step(carry: tuple[()], x: Any) -> Any:
        return carry, f(x)

    return scan(_calling(step, f, "map"), (), xs)[1]


def _in_batches(f: Function, xs: Any, size: int) -> Any:
    given, form = tree.flatten(xs)
    arrays = operands("map", "xs", given, form)
    count = _length("map", arrays, Names((form, "xs")), None)
    mapped = mapping.vmap(f)
    batches = count // size if size else 0
    if not batches:
        return mapped(form.unflatten(arrays))
    taken = batches * size
    grouped = [reshape(rows(x, 0, taken), shape=(batches, size, *x.type.shape[1:])) for x in arrays]
    _, made = scan(lambda carry, x: (carry, mapped(x)), (), form.unflatten(grouped))
    found = tree.map(lambda y: reshape(y, shape=(taken, *y.type.shape[2:])), made)
    if taken == count:
        return found
    rest = mapped(form.unflatten([rows(x, taken, count) for x in arrays]))
    return tree.map(lambda a, b: concatenate(a, value(b), dimension=0), found, rest)


__all__ = ["fori_loop", "map", "scan", "while_loop"]
