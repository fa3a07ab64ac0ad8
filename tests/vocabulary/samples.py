"""Sample operands and parameters for every op of the registry: edge values of all dtypes that it takes, and shapes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from celadon import errors, vocabulary
from celadon.op import Op, registry
from celadon.program import Program
from celadon.tracing import recorded
from celadon.types import ArrayType, DType, bfloat16, bool_, every_dtype, float32, int32, kind
from celadon.vocabulary.window import combiner, second

Maker = Callable[[Op], Iterator["Sample"]]
DTYPES: tuple[DType, ...] = every_dtype()
DOUBLE: tuple[DType, ...] = (np.dtype(np.float64), np.dtype(np.complex128))


@dataclass(frozen=True, eq=False)
class Sample:
    """Operands and parameters for one op."""

    op: Op
    arrays: tuple[np.ndarray[Any, Any], ...]
    params: dict[str, Any]
    theirs: Callable[..., Any] | None = None  # in JAX, if its function depends on the sample
    mine: Callable[..., Any] | None = None  # a function that calls the op, if operands of it depend on each other

    @property
    def types(self) -> tuple[ArrayType, ...]:
        return tuple(ArrayType(x.shape, x.dtype) for x in self.arrays)

    @property
    def dtype(self) -> DType:
        """The dtype of the last operand (of the result, if there is none)."""
        return self.arrays[-1].dtype if self.arrays else self.params["dtype"]

    def __str__(self) -> str:
        shown = ",".join(f"{key}={_word(value)}" for key, value in self.params.items())
        return f"{self.op.name}({','.join(map(str, self.types))};{shown})".replace(" ", "")


def _word(value: Any) -> str:
    return value.name if isinstance(value, Program) else str(value)


def edges(dtype: DType) -> np.ndarray[Any, Any]:
    """The values of a dtype at which rules go wrong; none is subnormal."""
    letter = kind(dtype)
    if letter == "b":
        return np.array([False, True])
    if letter in "iu":
        info = np.iinfo(dtype)
        near = [0, 1, 2, 3, 5, 7, 8, 31, 33, 64, 100, info.max, info.max - 1, info.min, info.min + 1]
        return np.array(near + ([-1, -2, -3, -7, -100] if letter == "i" else []), dtype)
    parts = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -2.5, 3.75, -7.25, 0.01, 100.0, np.inf, -np.inf, np.nan]
    if letter == "f":
        return np.array([*parts, *_range_of(dtype)], dtype)
    few = np.array([0.0, -0.0, 1.0, -2.5, 0.01, 30.0, np.inf, np.nan], f"f{dtype.itemsize // 2}")
    result = np.empty((len(few), len(few)), dtype)
    result.real, result.imag = few[:, None], few
    return result.ravel()


def _range_of(dtype: DType) -> list[float]:
    largest = {"float16": 6e4, "bfloat16": 3e38, "float32": 3e38, "float64": 1e308}[dtype.name]
    return [largest, -largest, 1e-3, -1e-3, 12345.0]


def values(dtype: DType, shape: tuple[int, ...], seed: int = 0) -> np.ndarray[Any, Any]:
    """Random values of a dtype, of moderate size."""
    random = np.random.default_rng([seed, *shape])
    letter = kind(dtype)
    if letter == "b":
        return np.asarray(random.random(shape) < 0.5)
    if letter in "iu":
        return np.asarray(random.integers(0 if letter == "u" else -20, 21, shape), dtype)
    found = random.normal(0, 3, shape)
    return np.asarray(found + 1j * random.normal(0, 3, shape) if letter == "c" else found).astype(dtype)


def accepts(op: Op, *types: ArrayType, **params: Any) -> bool:
    """Whether the op's own type rule takes operands of these types."""
    try:
        op.result_type(*types, **params)
    except (errors.CeladonError, TypeError):  # a wrong number of operands, too
        return False
    return True


def _scalars(dtype: DType, count: int) -> list[ArrayType]:
    return [ArrayType((), dtype)] * count


def _unary(op: Op, **params: Any) -> Iterator[Sample]:
    for dtype in DTYPES:
        if accepts(op, *_scalars(dtype, 1), **params):
            yield Sample(op, (np.concatenate([edges(dtype), values(dtype, (40,))]),), params)
            if not params:
                yield Sample(op, (values(dtype, ()),), params)
                yield Sample(op, (values(dtype, (2, 0)),), params)


def _pairs(op: Op, **params: Any) -> Iterator[Sample]:
    for dtype in DTYPES:
        if accepts(op, *_scalars(dtype, 2), **params):
            x, y = (side.ravel() for side in np.meshgrid(edges(dtype), edges(dtype)))
            yield Sample(op, (x, y), params)
            if not params or params == {"direction": "LT"}:
                yield Sample(op, (values(dtype, (2, 3)), values(dtype, ())), params)
                yield Sample(op, (values(dtype, ()), values(dtype, (2, 3), 1)), params)


def _compare(op: Op) -> Iterator[Sample]:
    for direction in ("EQ", "NE", "GE", "GT", "LE", "LT"):
        yield from _pairs(op, direction=direction)
    yield from _pairs(op, direction="LT", total_order=True)


def _select(op: Op) -> Iterator[Sample]:
    for dtype in DTYPES:
        x, y = values(dtype, (6,)), values(dtype, (6,), 1)
        yield Sample(op, (values(bool_, (6,)), x, y), {})
        yield Sample(op, (np.array(True), x, y), {})
        yield Sample(op, (values(bool_, (6,)), x[0:1].reshape(()), y), {})
        yield Sample(op, (values(bool_, (6,)), x[0:1].reshape(()), y[0:1].reshape(())), {})


def _clamp(op: Op) -> Iterator[Sample]:
    for dtype in DTYPES:
        if accepts(op, *_scalars(dtype, 3)):
            x = edges(dtype)
            low, high = values(dtype, x.shape), values(dtype, x.shape, 1)
            yield Sample(op, (low, x, high), {})
            yield Sample(op, (low[:1].reshape(()), x, high[:1].reshape(())), {})


def _convert(op: Op) -> Iterator[Sample]:
    for old, new in itertools.product(DTYPES, DTYPES):
        yield Sample(op, (edges(old),), {"new_dtype": new})


def _bitcast(op: Op) -> Iterator[Sample]:
    for old, new in itertools.product(DTYPES, DTYPES):
        ratio = max(1, new.itemsize // old.itemsize)
        if accepts(op, ArrayType((3, ratio), old), new_dtype=new):
            yield Sample(op, (values(old, (3, ratio)),), {"new_dtype": new})


def _precision(op: Op) -> Iterator[Sample]:
    for exponent_bits, mantissa_bits in ((8, 7), (5, 10), (2, 1), (11, 52), (5, 0)):
        yield from _unary(op, exponent_bits=exponent_bits, mantissa_bits=mantissa_bits)


def _integer_pow(op: Op) -> Iterator[Sample]:
    for y in (-3, -1, 0, 1, 2, 3, 11):
        yield from _unary(op, y=y)


def _whole_power(op: Op) -> Iterator[Sample]:
    for n in (1, 2, 3, 6, 11, 31):
        for sample in _unary(registry["integer_pow"], y=n):
            if kind(sample.dtype) != "c":
                yield Sample(op, (*sample.arrays, np.asarray(n, np.int32)), {}, _their_power(n))


def _their_power(n: int) -> Callable[..., Any]:
    def power(x: Any, _: Any) -> Any:
        from jax import lax

        return lax.integer_pow(x, n)

    return power


def _reduction(op: Op) -> Iterator[Sample]:
    for dtype in DTYPES:
        if accepts(op, *_scalars(dtype, 1), axes=()):
            yield Sample(op, (edges(dtype)[np.isfinite(edges(dtype))],), {"axes": (0,)})
            yield Sample(op, (edges(dtype),), {"axes": (0,)})
            for axes in ((), (0,), (1,), (0, 2), (0, 1, 2)):
                yield Sample(op, (values(dtype, (3, 4, 5)),), {"axes": axes})
                yield Sample(op, (values(dtype, (2, 3, 2)),), {"axes": axes})
            yield Sample(op, (values(dtype, (0, 2)),), {"axes": (0,)})
            yield Sample(op, (values(dtype, (2, 0)),), {"axes": (0,)})
            yield Sample(op, (values(dtype, (200,)),), {"axes": (0,)})


def _arg(op: Op) -> Iterator[Sample]:
    for dtype in DTYPES:
        if accepts(op, ArrayType((1,), dtype), axes=(0,), index_dtype=int32):
            yield Sample(op, (edges(dtype),), {"axes": (0,), "index_dtype": int32})
            for axis in range(3):
                params = {"axes": (axis,), "index_dtype": np.dtype(np.uint8)}
                yield Sample(op, (values(dtype, (3, 4, 5)),), params)


def _cumulative(op: Op) -> Iterator[Sample]:
    for dtype in DTYPES:
        for reverse in (False, True):
            if accepts(op, ArrayType((1,), dtype), axis=0):
                yield Sample(op, (values(dtype, (37,)),), {"axis": 0, "reverse": reverse})
                yield Sample(op, (values(dtype, (3, 4)),), {"axis": 1, "reverse": reverse})
                yield Sample(op, (values(dtype, (3,)),), {"axis": 0, "reverse": reverse})
                yield Sample(op, (values(dtype, (0, 4)),), {"axis": 0, "reverse": reverse})


def _reduce(op: Op) -> Iterator[Sample]:
    for dtype in (float32, int32, bfloat16, *DOUBLE):
        x, start = values(dtype, (3, 4)), np.array(1, dtype)
        yield Sample(op, (x, start), {"axes": (0,), "body": combiner(vocabulary.maximum, dtype)})
        yield Sample(op, (x, start), {"axes": (0, 1), "body": combiner(vocabulary.add, dtype)})
    with recorded("body") as record:
        a, i, b, j = (record.input(ArrayType((), t)) for t in (float32, int32, float32, int32))
        wins = vocabulary.compare(a, b, direction="GE")
        body = record.program([vocabulary.select(wins, a, b), vocabulary.select(wins, i, j)])
    index = np.arange(12, dtype=int32).reshape(3, 4)
    start = np.array(-np.inf, float32), np.array(0, int32)
    yield Sample(op, (values(float32, (3, 4)), index, *start), {"axes": (1,), "body": body})


def _window(op: Op) -> Iterator[Sample]:
    ones = (1, 1)
    plain = {"window_strides": ones, "base_dilations": ones, "window_dilations": ones, "padding": ((0, 0), (0, 0))}
    bodies = (vocabulary.maximum, vocabulary.add, vocabulary.multiply)
    for dtype, body in itertools.product((float32, int32, *DOUBLE), bodies):
        x, body = values(dtype, (5, 7)), combiner(body, dtype)
        start = np.array(3, dtype)
        yield Sample(op, (x, start), {"body": body, "window_dimensions": (2, 3), **plain})
        strided = {"window_strides": (2, 1), "base_dilations": (1, 2), "window_dilations": (2, 1)}
        padded = {**strided, "padding": ((1, 0), (2, -1))}
        yield Sample(op, (x, start), {"body": body, "window_dimensions": (2, 3), **padded})


def _pooling(op: Op) -> Iterator[Sample]:
    ones = {"base_dilations": (1, 1), "window_dilations": (1, 1)}
    plain = {"window_dimensions": (2, 3), "window_strides": (2, 1), "padding": ((0, 1), (1, 1)), **ones}
    spread = {**plain, "padding": ((1, 0), (2, -1)), "base_dilations": (1, 2), "window_dilations": (2, 1)}
    pairs = op.name == "select_and_gather_add"
    for dtype in (float32, int32, bfloat16, DOUBLE[0]):
        x = values(dtype, (5, 7)), values(dtype, (5, 7), 1)
        for params, direction in itertools.product((plain, spread), ("GE", "LE") if pairs else ("",)):
            more = {"direction": direction} if pairs else {}
            yield Sample(op, x if pairs else x[:1], {**params, **more})
    for dtype, direction in itertools.product((float32, DOUBLE[0]), ("GE", "LE") if pairs else ("",)):
        x = values(dtype, (8,), 1), np.array([np.inf, 1, -np.inf, -np.inf, 0, np.inf, np.inf, 3], dtype)
        more = {"direction": direction} if pairs else {}
        line = {"window_dimensions": (2,), "window_strides": (1,), "padding": ((1, 1),), **more}
        yield Sample(op, x if pairs else x[1:], {**line, "base_dilations": (1,), "window_dilations": (1,)})


def _select_and_scatter(op: Op) -> Iterator[Sample]:
    for dtype in (float32, int32, bfloat16, DOUBLE[0]):
        with recorded("select") as record:
            select = record.program([vocabulary.compare(*(record.input(ArrayType((), dtype)) for _ in "xy"), direction="GE")])
        params = {"select": select, "scatter": combiner(vocabulary.add, dtype), "window_dimensions": (2, 3)}
        zero = np.array(0, dtype)
        x = values(dtype, (5, 7))
        yield Sample(op, (x, values(dtype, (2, 7), 1), zero), {**params, "window_strides": (2, 1), "padding": ((0, 0), (1, 1))})
        yield Sample(op, (x, values(dtype, (4, 3), 1), zero), {**params, "window_strides": (1, 2), "padding": ((0, 0), (0, 0))})


def _broadcast(op: Op) -> Iterator[Sample]:
    for dtype in DTYPES:
        yield Sample(op, (values(dtype, ()),), {"shape": (2, 3), "broadcast_dimensions": ()})
        yield Sample(op, (values(dtype, (1, 3)),), {"shape": (3, 2, 4), "broadcast_dimensions": (1, 0)})
        yield Sample(op, (values(dtype, (3,)),), {"shape": (3, 4), "broadcast_dimensions": (0,)})


def _each(*cases: tuple[tuple[tuple[int, ...], ...], dict[str, Any]]) -> Maker:
    """Samples of every dtype from shapes of operands and parameters."""

    def make(op: Op) -> Iterator[Sample]:
        for dtype, (shapes, params) in itertools.product(DTYPES, cases):
            yield Sample(op, tuple(values(dtype, shape, k) for k, shape in enumerate(shapes)), params)

    return make


def _iota(op: Op) -> Iterator[Sample]:
    for dtype in DTYPES:
        for shape, dimension in (((5,), 0), ((2, 3), 1), ((2, 3, 0), 0)):
            params = {"shape": shape, "dtype": dtype, "dimension": dimension}
            if accepts(op, **params):
                yield Sample(op, (), params)


def _starts(*places: int, dtype: Any = int32) -> tuple[np.ndarray[Any, Any], ...]:
    return tuple(np.array(place, dtype) for place in places)


def _dynamic_slice(op: Op) -> Iterator[Sample]:
    for dtype in DTYPES:
        x = values(dtype, (4, 5))
        for starts in (_starts(1, 2), _starts(-3, 9), _starts(2, 250, dtype=np.uint8)):
            yield Sample(op, (x, *starts), {"slice_sizes": (2, 3)})
    yield Sample(op, (values(float32, ()),), {"slice_sizes": ()})


def _dynamic_update_slice(op: Op) -> Iterator[Sample]:
    for dtype in DTYPES:
        x, update = values(dtype, (4, 5)), values(dtype, (2, 3), 1)
        for starts in (_starts(1, 2), _starts(-3, 9)):
            yield Sample(op, (x, update, *starts), {})


def _gather(op: Op) -> Iterator[Sample]:
    rows = {"offset_dims": (1,), "collapsed_slice_dims": (0,), "start_index_map": (0,), "slice_sizes": (1, 3)}
    points = {"offset_dims": (), "collapsed_slice_dims": (0, 1), "start_index_map": (1, 0), "slice_sizes": (1, 1)}
    blocks = {"offset_dims": (0, 2), "collapsed_slice_dims": (), "start_index_map": (0, 1), "slice_sizes": (2, 2)}
    indices = np.array([[0, 3], [2, 1], [-1, 2], [9, 0]], int32)
    for dtype, mode in itertools.product(DTYPES, ("clip", "fill", "promise_in_bounds")):
        x = values(dtype, (4, 3))
        safe = np.clip(indices, 0, 1) if mode == "promise_in_bounds" else indices
        yield Sample(op, (x, safe[:, :1]), {**rows, "mode": mode})
        yield Sample(op, (x, safe), {**points, "mode": mode})
        yield Sample(op, (x, safe), {**blocks, "mode": mode})
    batched = {
        "offset_dims": (), "collapsed_slice_dims": (1,), "start_index_map": (1,), "slice_sizes": (1, 1),
        "operand_batching_dims": (0,), "start_indices_batching_dims": (0,),
    }  # fmt: skip
    yield Sample(op, (values(float32, (4, 3)), np.array([[[0], [2]]] * 4, int32)), {**batched, "mode": "clip"})
    yield Sample(
        op, (values(float32, (4, 3)), np.array([[[0], [7]]] * 4, int32)), {**batched, "mode": "fill", "fill_value": 5.0}
    )


def _scatter(op: Op) -> Iterator[Sample]:
    rows = {"update_window_dims": (1,), "inserted_window_dims": (0,), "scatter_dims_to_operand_dims": (0,)}
    points = {"update_window_dims": (), "inserted_window_dims": (0, 1), "scatter_dims_to_operand_dims": (1, 0)}
    blocks = {"update_window_dims": (0, 2), "inserted_window_dims": (), "scatter_dims_to_operand_dims": (0, 1)}
    indices = np.array([[0, 3], [2, 1], [-1, 2], [9, 0], [2, 1]], int32)
    combined = ("add", "subtract", "multiply", "maximum", "minimum")
    for dtype, name in itertools.product(DTYPES, ("second", *combined)):
        if name in combined[:3] and kind(dtype) == "b":
            continue
        body = combiner(second if name == "second" else getattr(vocabulary, name), dtype)
        x = values(dtype, (4, 3))
        yield Sample(op, (x, indices[:, :1], values(dtype, (5, 3), 1)), {**rows, "body": body})
        if dtype in (float32, int32):
            yield Sample(op, (x, indices, values(dtype, (5,), 1)), {**points, "body": body, "mode": "clip"})
            yield Sample(op, (x, indices, values(dtype, (2, 5, 2), 1)), {**blocks, "body": body})
            yield Sample(op, (x, indices, values(dtype, (2, 5, 2), 1)), {**blocks, "body": body, "mode": "clip"})
            yield Sample(op, (x, indices[0], values(dtype, (), 1)), {**points, "body": body})
            yield Sample(op, (values(dtype, (3, 4)).T, indices[:, :1], values(dtype, (5, 3), 1)), {**rows, "body": body})
            yield Sample(op, (x, indices[1, :1], values(dtype, (2,), 1)), {**rows, "update_window_dims": (0,), "body": body})
    batched = {
        "update_window_dims": (), "inserted_window_dims": (1,), "scatter_dims_to_operand_dims": (1,),
        "operand_batching_dims": (0,), "scatter_indices_batching_dims": (1,), "body": combiner(vocabulary.add, float32),
    }  # fmt: skip
    places = np.array([[[0], [2], [7], [1]]] * 2, np.uint8)
    yield Sample(op, (values(float32, (4, 3)), places, values(float32, (2, 4))), batched)


def _scatter_apply(op: Op) -> Iterator[Sample]:
    rows = {"update_window_dims": (1,), "inserted_window_dims": (0,), "scatter_dims_to_operand_dims": (0,)}
    indices = np.array([[0], [2], [9], [2]], int32)
    for dtype in (float32, *DOUBLE):
        with recorded("body") as record:
            x, _ = (record.input(ArrayType((), dtype)) for _ in range(2))
            body = record.program([vocabulary.add(vocabulary.multiply(x, x), x)])
        yield Sample(op, (values(dtype, (4, 3)), indices), {**rows, "body": body, "update_shape": (4, 2)})


def _negative_nans(dtype: DType) -> np.ndarray[Any, Any]:
    return np.array([-np.nan] * 3 if kind(dtype) == "f" else [1] * 3, dtype)


def _sort(op: Op) -> Iterator[Sample]:
    for dtype in DTYPES:
        x = np.concatenate([edges(dtype), values(dtype, (20,)), _negative_nans(dtype)])
        yield Sample(op, (x,), {"dimension": 0, "is_stable": True, "num_keys": 1})
        grid = values(dtype, (3, 6))
        index = np.arange(18, dtype=int32).reshape(3, 6)
        yield Sample(op, (grid, index), {"dimension": 1, "is_stable": True, "num_keys": 1})
        yield Sample(op, (values(bool_, (3, 6)), grid, index), {"dimension": 0, "is_stable": True, "num_keys": 2})


def _top_k(op: Op) -> Iterator[Sample]:
    for dtype in [dtype for dtype in DTYPES if kind(dtype) != "c"]:
        x = np.concatenate([edges(dtype), values(dtype, (20,)), _negative_nans(dtype)])
        yield Sample(op, (x,), {"k": 7})
        yield Sample(op, (values(dtype, (3, 6)),), {"k": 6})
        yield Sample(op, (values(dtype, (2, 0, 4)),), {"k": 0})


def _dot_general(op: Op) -> Iterator[Sample]:
    cases = (
        (((3, 4), (4, 5)), (((1,), (0,)), ((), ()))),
        (((4,), (4,)), (((0,), (0,)), ((), ()))),
        (((2,), (3,)), (((), ()), ((), ()))),
        (((2, 3, 4), (4, 2, 5)), (((2,), (0,)), ((0,), (1,)))),
        (((2, 3, 4, 6), (6, 3, 2)), (((1, 3), (1, 0)), ((0,), (2,)))),
        (((3, 0), (0, 2)), (((1,), (0,)), ((), ()))),
    )
    for dtype, (shapes, numbers) in itertools.product(DTYPES, cases):
        arrays = tuple(values(dtype, shape, k) for k, shape in enumerate(shapes))
        yield Sample(op, arrays, {"dimension_numbers": numbers})
    for old, new in (
        ("int8", int32),
        ("uint8", int32),
        ("float16", float32),
        (bfloat16, float32),
        ("float32", np.dtype("f8")),
    ):
        arrays = tuple(values(np.dtype(old), shape, k) for k, shape in enumerate(((3, 4), (4, 5))))
        params = {"dimension_numbers": (((1,), (0,)), ((), ())), "preferred_element_type": np.dtype(new)}
        yield Sample(op, arrays, params)


def _threefry(op: Op) -> Iterator[Sample]:
    word = np.dtype(np.uint32)
    random = np.random.default_rng(0)
    for shapes in (((50,),) * 4, ((), (), (50,), (50,)), ((), (), (), (3, 4)), ((),) * 4, ((0,),) * 4):
        words = tuple(np.asarray(random.integers(0, 1 << 32, shape), word) for shape in shapes)
        for folded in (False, True):
            yield Sample(op, words, {"folded": folded})


def _convolution(op: Op) -> Iterator[Sample]:
    plain = {"window_strides": (1, 2), "padding": ((1, 0), (0, 1)), "lhs_dilation": (1, 1), "rhs_dilation": (2, 1)}
    first, last = ((0, 1, 2, 3),) * 3, ((0, 3, 1, 2), (3, 2, 0, 1), (0, 3, 1, 2))
    for dtype in DTYPES:
        x, kernel = values(dtype, (2, 4, 5, 6)), values(dtype, (4, 4, 2, 3), 1)
        yield Sample(op, (x, kernel), {**plain, "dimension_numbers": first})
        if dtype in (float32, int32, bfloat16, np.dtype(np.complex64)):
            spread = {**plain, "padding": ((-1, 2), (3, 3)), "lhs_dilation": (2, 3)}
            turned = np.transpose(x, (0, 2, 3, 1)).copy(), np.transpose(kernel, (2, 3, 1, 0)).copy()
            yield Sample(op, turned, {**spread, "dimension_numbers": last})
            yield Sample(op, (x, kernel[:, :2]), {**plain, "dimension_numbers": first, "feature_group_count": 2})
            yield Sample(op, (x, kernel), {**plain, "dimension_numbers": first, "batch_group_count": 2})
    line = {"window_strides": (2,), "padding": ((0, 0),), "lhs_dilation": (1,), "rhs_dilation": (1,)}
    numbers = {"dimension_numbers": ((0, 1, 2),) * 3, "preferred_element_type": int32}
    yield Sample(op, (values(np.dtype("i1"), (1, 2, 9)), values(np.dtype("i1"), (3, 2, 4), 1)), {**line, **numbers})
    shapes = {"window_strides": (), "padding": (), "lhs_dilation": (), "rhs_dilation": (), "dimension_numbers": ((0, 1),) * 3}
    yield Sample(op, (values(float32, (3, 4)), values(float32, (2, 4), 1)), shapes)


def _call(op: Op) -> Iterator[Sample]:
    for dtype in (float32, *DOUBLE):
        with recorded("twice") as record:
            x = record.input(ArrayType((3,), dtype))
            program = record.program([vocabulary.multiply(x, x), x])
        yield Sample(op, (values(dtype, (3,)),), {"program": program})


MAKERS: dict[str, Maker] = {
    "compare": _compare, "select": _select, "clamp": _clamp, "convert": _convert, "bitcast_convert": _bitcast,
    "reduce_precision": _precision, "integer_pow": _integer_pow, "whole_power": _whole_power,
    "argmax": _arg, "argmin": _arg, "reduce": _reduce,
    "reduce_window": _window, "select_and_scatter": _select_and_scatter,
    **dict.fromkeys(("reduce_window_max", "reduce_window_min", "select_and_gather_add"), _pooling),
    "broadcast_in_dim": _broadcast, "iota": _iota, "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update_slice, "gather": _gather, "scatter": _scatter,
    "scatter_apply": _scatter_apply, "sort": _sort, "top_k": _top_k, "dot_general": _dot_general,
    "convolution": _convolution,
    "call": _call, "threefry2x32": _threefry,
    "reshape": _each((((2, 6),), {"shape": (3, 4)}), (((2, 0),), {"shape": (0,)}), (((1,),), {"shape": ()})),
    "transpose": _each((((2, 3, 4),), {"permutation": (2, 0, 1)}), (((),), {"permutation": ()})),
    "reverse": _each((((2, 3, 4),), {"dimensions": (0, 2)}), (((3,),), {"dimensions": ()})),
    "concatenate": _each((((2, 3), (2, 0), (2, 4)), {"dimension": 1}), (((3,),), {"dimension": 0})),
    "pad": _each(
        (((2, 3), ()), {"low": (1, 0), "high": (0, 2), "interior": (0, 1)}),
        (((3, 4), ()), {"low": (-1, 2), "high": (1, -3), "interior": (2, 0)}),
        (((0,), ()), {"low": (2,), "high": (0,), "interior": (1,)}),
    ),
    "slice": _each(
        (((5, 6),), {"start_indices": (1, 0), "limit_indices": (4, 6), "strides": (1, 2)}),
        (((5,),), {"start_indices": (2,), "limit_indices": (2,), "strides": (3,)}),
    ),
}  # fmt: skip
KINDS: dict[str, Maker] = {"reduce": _reduction, "cumulative": _cumulative}


def _elementwise(op: Op) -> Iterator[Sample]:
    yield from _unary(op)
    yield from _pairs(op)


def samples(name: str) -> list[Sample]:
    """All samples for an op of the registry."""
    op = registry[name]
    return list((MAKERS.get(name) or KINDS.get(op.kind) or _elementwise)(op))


# Ops whose operands or bodies no table of samples holds, by kind, and the tests that prove them.
ELSEWHERE = {
    "call": "transforms/test_recompute.py", "callback": "transforms/test_callbacks.py", "check": "transforms/test_checkify.py",
    "collective": "transforms/test_mapping.py", "control": "transforms/test_control.py",
    "custom": "transforms/test_custom_rules.py",
    "custom_tangent": "transforms/test_custom_rules.py", "factorization": "numpy/test_linalg.py", "fft": "numpy/test_fft.py",
    "lapack": "numpy/test_linalg.py", "name": "transforms/test_recompute.py", "solve": "transforms/test_custom_rules.py",
}  # fmt: skip


def sampled() -> list[str]:
    """The ops of the registry that have samples."""
    return [name for name, op in registry.items() if op.kind not in ELSEWHERE or name == "call"]
