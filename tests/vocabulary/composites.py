"""Samples of ops that hold programs or functions, or speak of named axes, each with what it is in real JAX."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.ad_checkpoint
import jax.experimental
import jax.numpy as jnp
import numpy as np
from jax import lax as jax_lax

import celadon
from celadon import lax, numpy as cnp, transforms, vocabulary
from celadon.op import Op
from celadon.program import Program
from celadon.tracing import recorded
from celadon.types import ArrayType, DType, bool_, float32, int32
from celadon.vocabulary import collective
from celadon.vocabulary.check import Faults
from tests.vocabulary.oracle import body_of
from tests.vocabulary.samples import DOUBLE, Maker, Sample, values

AXIS = "members"
INEXACT: tuple[DType, ...] = (float32, *DOUBLE)


def program(name: str, function: Callable[..., Sequence[Any]], *types: ArrayType) -> Program:
    with recorded(name) as record:
        return record.program(function(*[record.input(t) for t in types]))


def equation_of(op: Op, function: Callable[..., Any], arrays: Sequence[Any], theirs: Callable[..., Any]) -> Sample:
    """The one equation of an op that a function of ours makes, on the function's own operands."""
    with recorded() as record:
        inputs = [record.input(ArrayType(x.shape, x.dtype)) for x in arrays]
        record.program(celadon.tree.leaves(function(*inputs)))
    [equation] = [one for one in record.equations if one.op is op]
    assert list(equation.inputs) == record.inputs
    return Sample(op, tuple(arrays), equation.params, lambda *xs, **params: theirs(*xs))


# Loops and branches


def _cond(op: Op) -> Iterator[Sample]:
    for dtype in INEXACT:
        t = ArrayType((3,), dtype)
        first = program("first", lambda x, y: [vocabulary.multiply(x, y), vocabulary.sine(x)], t, t)
        second = program("second", lambda x, y: [vocabulary.add(y, y), x], t, t)
        for index in (0, 1, -3, 7):
            arrays = np.array(index, int32), values(dtype, (3,)), values(dtype, (3,), 1)
            yield Sample(op, arrays, {"branches": (first, second)}, _switch)


def _switch(index: Any, *xs: Any, branches: Any) -> Any:
    return jax_lax.switch(index, [body_of(one) for one in branches], *xs)


def _while(op: Op) -> Iterator[Sample]:
    for dtype in INEXACT:
        i, x = ArrayType((), int32), ArrayType((3,), dtype)
        condition = program("cond", lambda n, i, x: [vocabulary.compare(i, n, direction="LT")], i, i, x)
        body = program("body", lambda y, i, x: [cnp.add(i, np.int32(1)), vocabulary.multiply(vocabulary.sine(x), y)], x, i, x)
        params = {"condition": condition, "body": body, "condition_consts": 1, "body_consts": 1}
        yield Sample(op, (np.int32(3), values(dtype, (3,)), np.int32(0), values(dtype, (3,), 1)), params, _while_loop)


def _while_loop(*xs: Any, condition: Program, body: Program, condition_consts: int, body_consts: int) -> Any:
    tested, held = xs[:condition_consts], xs[condition_consts : condition_consts + body_consts]
    return jax_lax.while_loop(
        lambda carry: body_of(condition)(*tested, *carry)[0],
        lambda carry: body_of(body)(*held, *carry),
        list(xs[condition_consts + body_consts :]),
    )


def _scan(op: Op) -> Iterator[Sample]:
    for dtype in INEXACT:
        x, row = ArrayType((3,), dtype), ArrayType((), dtype)
        body = program("body", _step, x, x, ArrayType((), int32), row)
        params = {"body": body, "length": 4, "unroll": 1, "consts": 1, "carry": 2}
        arrays = values(dtype, (3,)), values(dtype, (3,), 1), np.int32(5), values(dtype, (4,), 2)
        for reverse in (False, True):
            yield Sample(op, arrays, params | {"reverse": reverse}, _scanned)


def _step(held: Any, state: Any, count: Any, row: Any) -> list[Any]:
    product = vocabulary.multiply(vocabulary.sine(state), row)
    return [vocabulary.add(product, held), cnp.add(count, np.int32(1)), vocabulary.multiply(product, product)]


def _scanned(*xs: Any, body: Program, length: int, reverse: bool, unroll: int, consts: int, carry: int) -> Any:
    def step(state: Any, rows: Any) -> Any:
        found = body_of(body)(*xs[:consts], *state, *rows)
        return found[:carry], found[carry:]

    state, ys = jax_lax.scan(step, list(xs[consts : consts + carry]), list(xs[consts + carry :]), length, reverse)
    return [*state, *ys]


# Rules of the user's, and what holds a program


def _rule(cos: Any) -> Callable[..., Any]:
    def rule(primals: Any, tangents: Any) -> Any:
        (x, y), (dx, dy) = primals, tangents
        return x * y, dx * y + x * dy + 0 * cos(x)

    return rule


def _product(wrapper: Any) -> Any:
    def product(x: Any, y: Any) -> Any:
        return x * y

    return wrapper(product)


def _custom_jvp(op: Op) -> Iterator[Sample]:
    mine, other = _product(transforms.custom_jvp), _product(jax.custom_jvp)
    mine.defjvp(_rule(cnp.cos))
    other.defjvp(_rule(jnp.cos))
    for dtype in INEXACT:
        yield equation_of(op, mine, (values(dtype, (3,)), values(dtype, (3,), 1)), other)


def _custom_vjp(op: Op) -> Iterator[Sample]:
    mine, other = _product(transforms.custom_vjp), _product(jax.custom_vjp)
    for function in (mine, other):
        function.defvjp(lambda x, y: (x * y, (x, y)), lambda kept, ct: (kept[1] * ct, kept[0] * ct))
    for dtype in INEXACT:
        yield equation_of(op, mine, (values(dtype, (3,)), values(dtype, (3,), 1)), other)


def _custom_vmap(op: Op) -> Iterator[Sample]:
    mine, other = _product(celadon.custom_batching.custom_vmap), _product(jax.custom_batching.custom_vmap)
    for function in (mine, other):
        function.def_vmap(lambda size, batched, x, y: (x * y, any(batched)))
    for dtype in INEXACT:
        yield equation_of(op, mine, (values(dtype, (3,)), values(dtype, (3,), 1)), other)


def _checkpoint(op: Op) -> Iterator[Sample]:
    def chain(package: Any) -> Callable[..., Any]:
        return lambda x, y: package.sin(package.sin(x * y) * y)

    for dtype in INEXACT:
        arrays = values(dtype, (3,)), values(dtype, (3,), 1)
        yield equation_of(op, transforms.checkpoint(chain(cnp)), arrays, jax.checkpoint(chain(jnp)))


def _linear_solve(op: Op) -> Iterator[Sample]:
    """A diagonal system; matrix and solver have the same constants."""
    for dtype in INEXACT:
        arrays = values(dtype, (3,)), values(dtype, (3,), 1)
        yield Sample(op, arrays, {}, _solved(jax_lax), _solved(lax))


def _solved(package: Any) -> Callable[..., Any]:
    def solve(d: Any, b: Any) -> Any:
        divide = lambda _, y: y / d  # noqa: E731
        return package.custom_linear_solve(lambda x: d * x, b, divide, divide)

    return solve


# Callbacks and checks


def _pure_callback(op: Op) -> Iterator[Sample]:
    for dtype in INEXACT:
        yield _called(op, dtype, transforms.pure_callback, jax.pure_callback, vmap_method="sequential")


def _io_callback(op: Op) -> Iterator[Sample]:
    for dtype in INEXACT:
        yield _called(op, dtype, transforms.io_callback, jax.experimental.io_callback)


def _called(op: Op, dtype: DType, mine: Any, other: Any, **options: Any) -> Sample:
    def calling(package: Any, shape: Any) -> Callable[..., Any]:
        return lambda x, y: package(lambda x, y: np.asarray(x) * np.asarray(y), shape, x, y, **options)

    arrays = values(dtype, (3,)), values(dtype, (3,), 1)
    return equation_of(op, calling(mine, arrays[0]), arrays, calling(other, jax.ShapeDtypeStruct((3,), dtype)))


def _debug_callback(op: Op) -> Iterator[Sample]:
    for dtype in INEXACT:
        arrays = (values(dtype, (3,)),)
        mine = lambda x: transforms.debug_callback(lambda x: None, x)  # noqa: E731
        yield equation_of(op, mine, arrays, lambda x: jax.debug.callback(lambda x: None, x) or [])


def _check(op: Op) -> Iterator[Sample]:
    yield Sample(op, (np.int32(0),), {"faults": Faults(), "debug": False}, lambda code, faults, debug: [])


# Named axes


def _over_axis(*shape: int, **params: Any) -> Maker:
    """Four members, each of a shape."""

    def make(op: Op) -> Iterator[Sample]:
        known = _COLLECTIVES[op.name]
        for dtype in (*INEXACT, int32, bool_) if op in (collective.all_gather, collective.all_to_all) else (*INEXACT, int32):
            if dtype.kind != "c" or op not in (collective.pmax, collective.pmin):
                yield Sample(op, (values(dtype, (4, *shape)),), {"axes": (AXIS,), **params}, known)

    return make


_COLLECTIVES: dict[str, Callable[..., Any]] = {
    "psum": lambda x, axes: jax_lax.psum(x, axes),
    "pmax": lambda x, axes: jax_lax.pmax(x, axes),
    "pmin": lambda x, axes: jax_lax.pmin(x, axes),
    "axis_index": lambda axes: jax_lax.axis_index(axes),
    "all_gather": lambda x, axes, size, axis: jax_lax.all_gather(x, axes, axis=axis),
    "psum_scatter": lambda x, axes, size, axis: jax_lax.psum_scatter(x, axes, scatter_dimension=axis),
    "ppermute": lambda x, axes, perm: jax_lax.ppermute(x, axes, perm),
    "all_to_all": lambda x, axes, size, split, concat: jax_lax.all_to_all(x, axes, split, concat),
}


def _axis_index(op: Op) -> Iterator[Sample]:
    yield Sample(op, (), {"axes": (AXIS,)}, _COLLECTIVES[op.name])


def _named(op: Op) -> Iterator[Sample]:
    for dtype in INEXACT:
        yield Sample(op, (values(dtype, (3,)),), {"name": "kept"}, lambda x, name: jax.ad_checkpoint.checkpoint_name(x, name))


MAKERS: dict[str, Maker] = {
    "cond": _cond, "while_loop": _while, "scan": _scan, "custom_jvp": _custom_jvp, "custom_vjp": _custom_vjp,
    "custom_vmap": _custom_vmap, "checkpoint": _checkpoint, "linear_solve": _linear_solve, "pure_callback": _pure_callback,
    "io_callback": _io_callback, "debug_callback": _debug_callback, "check": _check, "name": _named, "axis_index": _axis_index,
    "psum": _over_axis(3), "pmax": _over_axis(3), "pmin": _over_axis(3), "all_gather": _over_axis(3, size=4, axis=1),
    "psum_scatter": _over_axis(3, 4, size=4, axis=1), "ppermute": _over_axis(3, perm=((0, 2), (2, 3), (1, 0), (3, 1))),
    "all_to_all": _over_axis(3, 4, 2, size=4, split=1, concat=0),
}  # fmt: skip
