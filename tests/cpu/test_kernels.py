"""Every kernel against the reference executor: dtypes, ranks, shapes with 0, 1, primes, and views of operands."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import celadon
import celadon.lax
import celadon.numpy as cnp
import celadon.vocabulary
from celadon.compiler import NOTHING
from celadon.cpu import threads
from celadon.program import literal
from tests.bits import bits
from tests.cpu.programs import agrees, cpu, floats, lifted, number, on_cpu, op, types_of

SHAPES = [(), (1,), (7,), (64,), (0,), (3, 5), (1, 9), (17, 33), (0, 4), (4, 0), (2, 3, 4), (5, 1, 7), (2, 3, 4, 5)]
MATRICES = [(3, 5), (1, 4), (4, 1), (17, 33), (0, 3), (4, 0), (8, 16), (40, 23)]


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _scale_add(x: Any) -> Any:
    return op["add"](op["multiply"](x, number(2.5)), number(1.0))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_maps_of_every_rank(shape: tuple[int, ...]) -> None:
    x, y = floats(*shape), floats(*shape, seed=1)
    agrees(_scale_add, x)
    agrees(lambda x, y: [op["subtract"](x, y), op["tanh"](op["multiply"](x, y))], x, y)
    agrees(lambda x: op["convert"](x, new_dtype=np.dtype(np.float64)), x)
    agrees(lambda x: op["convert"](x, new_dtype=np.dtype(np.int8)), x)


@pytest.mark.parametrize("shape", MATRICES, ids=str)
def test_broadcasts_and_indices(shape: tuple[int, int]) -> None:
    rows, columns = shape
    x, a, b = floats(rows, columns), floats(rows), floats(columns)

    def along(v: Any, axis: int) -> Any:
        return op["broadcast_in_dim"](v, shape=shape, broadcast_dimensions=(axis,))

    agrees(lambda x, a, b: op["add"](op["add"](x, along(a, 0)), along(b, 1)), x, a, b)
    agrees(lambda a: along(a, 0), a)
    for axis in (0, 1):
        index = {"shape": shape, "dtype": np.dtype(np.float32), "dimension": axis}
        agrees(lambda x, i=index: op["add"](x, op["iota"](**i)), x)
        agrees(lambda x, i=index: op["iota"](**i), x)
    agrees(lambda x: op["transpose"](op["iota"](**index), permutation=(1, 0)), x)


@pytest.mark.parametrize("shape", MATRICES, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "bool", "bfloat16", "complex64", "complex128"])
def test_views_are_read_in_place(shape: tuple[int, int], dtype: str) -> None:
    x = floats(*shape).astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)

    def turned(x: Any) -> Any:
        return op["transpose"](x, permutation=(1, 0))

    def twice(x: Any) -> Any:
        return op["maximum"](x, x)

    agrees(turned, x)
    agrees(lambda x: twice(turned(x)), x)
    agrees(lambda x: op["reverse"](turned(x), dimensions=(0, 1)), x)
    agrees(lambda x: twice(op["reverse"](x, dimensions=(1,))), x)
    cut = {"start_indices": (0, shape[1] // 3), "limit_indices": shape, "strides": (2, 1)}
    agrees(lambda x: op["slice"](x, **cut), x)
    agrees(lambda x: twice(op["slice"](x, **cut)), x)
    agrees(lambda x: op["reshape"](turned(x), shape=(shape[0] * shape[1],)), x)


def test_transposes_of_higher_rank() -> None:
    x = floats(2, 3, 9, 10)
    for permutation in itertools.permutations(range(4)):
        agrees(lambda x, p=permutation: op["transpose"](x, permutation=p), x)
        agrees(lambda x, p=permutation: op["negate"](op["transpose"](op["negate"](x), permutation=p)), x)


def _axes(rank: int) -> list[tuple[int, ...]]:
    return [axes for k in range(rank + 1) for axes in itertools.combinations(range(rank), k)]


@pytest.mark.parametrize("shape", [*SHAPES, (70001,), (300, 401), (3, 9001), (2001, 3), (3, 70, 500)], ids=str)
def test_reductions_over_all_axes(shape: tuple[int, ...]) -> None:
    x = floats(*shape)
    x = abs(x) if x.size > 5000 else x  # sums that cancel have no accurate digits

    def every(x: Any) -> list[Any]:
        square = op["multiply"](x, x)
        found = [op["reduce_sum"](x, axes=axes) for axes in _axes(len(shape))]
        found += [op["reduce_sum"](square, axes=axes) for axes in _axes(len(shape))]
        return found + [op["reduce_max"](x, axes=axes) for axes in _axes(len(shape))]

    agrees(every, x)


@pytest.mark.parametrize("dtype", ["int8", "uint32", "int64", "float16", "bfloat16", "float64", "complex64", "bool"])
def test_reductions_of_every_kind(dtype: str) -> None:
    x = floats(13, 21).astype(dtype) if dtype == "complex64" else (floats(13, 21) * 4).astype(dtype)
    names = ["reduce_sum", "reduce_prod", "reduce_max", "reduce_min"]
    names += ["reduce_and", "reduce_or", "reduce_xor"] if dtype in ("int8", "uint32", "int64", "bool") else []

    def every(x: Any) -> list[Any]:
        return [op[name](x, axes=axes) for name in names for axes in ((0,), (1,), (0, 1))]

    agrees(every, x)


def test_reductions_of_views() -> None:
    x = floats(33, 18)
    for axes in _axes(2):
        agrees(lambda x, a=axes: op["reduce_sum"](op["transpose"](x, permutation=(1, 0)), axes=a), x)
        agrees(lambda x, a=axes: op["reduce_sum"](op["reverse"](x, dimensions=(1,)), axes=a), x)


def test_positions_of_extremes() -> None:
    x = np.array([[1.0, np.nan, 3.0, np.nan], [2.0, 5.0, 5.0, 0.0]], np.float32)
    for name, axis in itertools.product(("argmax", "argmin"), (0, 1)):
        agrees(lambda x, n=name, a=axis: op[n](x, axes=(a,), index_dtype=np.dtype(np.int32)), x)


@pytest.mark.parametrize("shape", MATRICES, ids=str)
def test_joins_and_pads(shape: tuple[int, int]) -> None:
    rows, columns = shape
    x, below, beside = floats(rows, columns), floats(rows + 2, columns), floats(rows, columns + 3)
    agrees(lambda x, y: op["concatenate"](x, y, x, dimension=0), x, below)
    agrees(lambda x, y: op["concatenate"](op["negate"](x), y, x, dimension=1), x, beside)
    for low, high, interior in itertools.product([(1, 0), (0, 2), (-1, 1)], [(0, 3), (2, -1)], [(0, 0), (1, 2)]):
        extents = [n + max(n - 1, 0) * i for n, i in zip(shape, interior, strict=True)]
        if all(n + min(a, 0) + min(b, 0) >= 0 for n, a, b in zip(extents, low, high, strict=True)):
            pads = {"low": low, "high": high, "interior": interior}
            agrees(lambda x, p=pads: op["pad"](x, number(7.5), **p), x)


@pytest.mark.parametrize("start", [(0, 0), (1, 2), (-7, 100)], ids=str)
def test_slices_at_computed_places(start: tuple[int, int]) -> None:
    x, update = floats(5, 7), floats(2, 3, seed=1)
    i, j = (np.array(k, np.int32) for k in start)

    def cut(x: Any, i: Any, j: Any) -> Any:
        return op["dynamic_slice"](x, i, j, slice_sizes=(2, 3))

    agrees(cut, x, i, j)
    agrees(lambda x, i, j: op["multiply"](cut(op["negate"](x), i, j), number(2.0)), x, i, j)
    agrees(lambda x, i, j: cut(op["transpose"](op["reverse"](x, dimensions=(0,)), permutation=(1, 0)), i, j), x, i, j)
    agrees(lambda x, u, i, j: op["dynamic_update_slice"](x, u, i, j), x, update, i, j)
    agrees(lambda x, u, i, j: [op["add"](op["dynamic_update_slice"](op["negate"](x), u, i, j), x), x], x, update, i, j)


_TAKEN = [
    {"offset_dims": (1, 2), "collapsed_slice_dims": (0,), "start_index_map": (0,), "slice_sizes": (1, 6, 4)},
    {"offset_dims": (0, 1), "collapsed_slice_dims": (2,), "start_index_map": (2,), "slice_sizes": (10, 6, 1)},
    {"offset_dims": (1, 2, 3), "collapsed_slice_dims": (), "start_index_map": (1,), "slice_sizes": (3, 2, 4)},
    {"offset_dims": (1,), "collapsed_slice_dims": (0, 2), "start_index_map": (2,), "slice_sizes": (1, 5, 1)},
]


@pytest.mark.parametrize("mode", ["clip", "fill"])
@pytest.mark.parametrize("params", _TAKEN, ids=str)
def test_gathers_stay_inside(params: dict[str, Any], mode: str) -> None:
    x, indices = floats(10, 6, 4), np.array([[0], [3], [-2], [100], [2]], np.int32)
    agrees(lambda x, i: op["gather"](x, i, **params, mode=mode), x, indices)
    turned = {**params, "mode": mode}
    agrees(lambda x, i: op["gather"](op["transpose"](x, permutation=(2, 1, 0)), i, **turned), x.T.copy(), indices)


def test_gathers_of_points_and_batches() -> None:
    x, random = floats(10, 6, 4), np.random.default_rng(0)
    points = random.integers(-1, 11, (5, 2, 3)).astype(np.int64)
    whole = {"offset_dims": (), "collapsed_slice_dims": (0, 1, 2), "start_index_map": (0, 1, 2)}
    agrees(lambda x, i: op["gather"](x, i, **whole, slice_sizes=(1, 1, 1), mode="fill"), x, points)
    batched = {"offset_dims": (2,), "collapsed_slice_dims": (), "operand_batching_dims": (0, 1)}
    batched |= {"start_indices_batching_dims": (0, 1), "start_index_map": (2,), "slice_sizes": (1, 1, 2)}
    agrees(lambda x, i: op["gather"](x, i, **batched), x, random.integers(0, 3, (10, 6, 1)).astype(np.uint8))


@pytest.mark.parametrize("shape", [(1,), (37,), (3, 17), (17, 3), (0, 4), (2, 5, 19)], ids=str)
@pytest.mark.parametrize("name", ["cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"])
def test_running_combinations(shape: tuple[int, ...], name: str) -> None:
    x = floats(*shape)
    for axis, reverse in itertools.product(range(len(shape)), (False, True)):
        agrees(lambda x, a=axis, r=reverse: op[name](x, axis=a, reverse=r), x)
        agrees(lambda x, a=axis, r=reverse: op[name](op["reverse"](x, dimensions=(0,)), axis=a, reverse=r), x)


def _dot(left: tuple[int, ...], right: tuple[int, ...], *batch: tuple[int, ...]) -> Callable[[Any, Any], Any]:
    numbers = ((left, right), batch or ((), ()))
    return lambda x, y: op["dot_general"](x, y, dimension_numbers=numbers)


@pytest.mark.parametrize(
    "sizes", [(3, 4, 5), (1, 4, 5), (4, 1, 5), (4, 5, 1), (17, 33, 65), (0, 3, 4), (3, 0, 4), (90, 300, 250)], ids=str
)
def test_contractions(sizes: tuple[int, int, int]) -> None:
    m, k, n = sizes
    x, y = floats(m, k), floats(k, n)
    agrees(_dot((1,), (0,)), x, y)
    agrees(_dot((0,), (0,)), floats(k, m), y)
    agrees(_dot((1,), (1,)), x, floats(n, k))
    agrees(_dot((0,), (1,)), floats(k, m), floats(n, k))
    agrees(_dot((2,), (1,), (0,), (0,)), floats(3, m, k), floats(3, k, n))
    agrees(_dot((2,), (0,), (1,), (2,)), floats(m, 3, k), floats(k, n, 3))
    agrees(_dot((1,), (0,)), x, floats(k))
    agrees(_dot((0,), (0,)), floats(k), y)
    agrees(_dot((0,), (0,)), floats(k), floats(k))
    agrees(_dot((), ()), floats(m), floats(n))
    agrees(_dot((1, 2), (1, 0)), floats(m, k, 3), floats(3, k, n))
    agrees(lambda x, y: _dot((1,), (1,))(op["reverse"](x, dimensions=(0,)), op["negate"](y)), x, floats(n, k))


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "bool", "bfloat16", "float16", "float64", "complex64"])
def test_contractions_of_every_kind(dtype: str) -> None:
    x, y = (floats(19, 30) * 3).astype(dtype), (floats(30, 21, seed=1) * 3).astype(dtype)
    agrees(_dot((1,), (0,)), x, y)
    agrees(_dot((0,), (1,)), y, x)
    agrees(_dot((1,), (0,)), x, y[:, 0])
    if dtype not in ("bool", "complex64"):
        wide = np.dtype(np.int32 if np.dtype(dtype).kind in "iu" and dtype != "int64" else np.float32)
        if dtype in ("int8", "bfloat16", "float16"):
            numbers = {"dimension_numbers": (((1,), (0,)), ((), ())), "preferred_element_type": wide}
            agrees(lambda x, y: op["dot_general"](x, y, **numbers), x, y)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "int8"])
def test_sums_of_products_over_several_axes_in_any_order(dtype: str) -> None:
    """What can't be walked in one loop is stored first, in the dtype of the sum."""
    x, y, z = ((floats(*shape) * 3).astype(dtype) for shape in ((11, 17), (17, 11), (17, 11, 4)))
    for one, other, contract in ((x, y, ((0, 1), (1, 0))), (x, x, ((1, 0), (1, 0))), (x, z, ((0, 1), (1, 0)))):
        agrees(_dot(*contract), one, other)


def test_a_broadcast_may_exchange_axes() -> None:
    x = floats(2, 3, 4)
    for permutation in itertools.permutations(range(3)):
        shape = tuple(x.shape[permutation.index(i)] for i in range(3))
        agrees(lambda x, p=permutation, s=shape: op["broadcast_in_dim"](x, shape=s, broadcast_dimensions=p), x)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_indices_that_are_too_many_for_their_dtype(name: str) -> None:
    x = np.asarray(np.random.default_rng(0).integers(0, 4, (3, 1000)), np.float32)
    agrees(lambda x: op[name](x, axes=(1,), index_dtype=np.dtype(np.uint8)), x)
    jitted = celadon.jit(lambda x: op[name](x, axes=(1,), index_dtype=np.dtype(np.uint8)))
    np.testing.assert_array_equal(jitted(x), op[name](cnp.asarray(x), axes=(1,), index_dtype=np.dtype(np.uint8)))


def _program(x: Any) -> list[Any]:
    rows, columns = x.type.shape
    mean = op["multiply"](op["reduce_sum"](x, axes=(1,)), number(0.01))
    centred = op["subtract"](x, op["broadcast_in_dim"](mean, shape=(rows, columns), broadcast_dimensions=(0,)))
    product = op["dot_general"](centred, x, dimension_numbers=(((0,), (0,)), ((), ())))
    return [op["exponential"](centred), product, op["reduce_sum"](op["sine"](x), axes=(0, 1)), op["cumsum"](x, axis=0)]


def test_one_executable_serves_many_shapes() -> None:
    first = floats(3, 5)
    structure, _ = lifted(_program, types_of(first))
    executable = cpu.compile(structure)
    for shape in [(3, 5), (2, 2), (64, 48), (7, 300), (300, 7), (513, 211)]:
        x = floats(*shape)
        other, _ = lifted(_program, types_of(x))
        assert other == structure
        found = on_cpu(_program, x, executable=executable)
        assert bits(found) == bits(on_cpu(_program, x))


@pytest.mark.parametrize("shape", [(3, 5), (129, 64), (700, 601)], ids=str)
def test_bits_do_not_depend_on_lifting_or_threads(shape: tuple[int, int]) -> None:
    x = floats(*shape)
    wanted = bits(on_cpu(_program, x))
    assert bits(on_cpu(_program, x, what=NOTHING)) == wanted
    threads.set_threads(1)
    try:
        assert bits(on_cpu(_program, x)) == wanted
    finally:
        threads.set_threads(None)


def test_columns_and_rows_that_pay_for_threads_keep_their_bits() -> None:
    def sums(x: Any) -> list[Any]:
        return [op["reduce_sum"](op["multiply"](x, x), axes=axes) for axes in ((0,), (1,), (0, 1))]

    for shape in [(2000000,), (3, 500000), (500000, 3), (1000, 3000)]:
        x = abs(floats(*shape))

        def function(x: Any) -> list[Any]:
            return sums(x) if x.type.ndim == 2 else [op["reduce_sum"](x, axes=(0,))]

        wanted = on_cpu(function, x)
        threads.set_threads(1)
        try:
            assert bits(on_cpu(function, x)) == bits(wanted)
        finally:
            threads.set_threads(None)
        agrees(function, x)


def test_the_order_of_a_sum_does_not_depend_on_what_is_fused_into_it() -> None:
    def heavy(x: Any, b: Any) -> Any:
        spread = op["broadcast_in_dim"](b, shape=x.type.shape, broadcast_dimensions=(2,))
        return op["convert"](op["tanh"](op["multiply"](op["add"](x, spread), spread)), new_dtype=np.dtype(np.float32))

    for shape in [(3, 5, 7), (40, 30, 20), (3, 200, 301)]:
        x, b = floats(*shape).astype(np.float64), floats(shape[2], seed=1).astype(np.float64)
        (stored,) = on_cpu(heavy, x, b)
        for axes in [(0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2)]:
            fused = on_cpu(lambda x, b, a=axes: op["reduce_sum"](heavy(x, b), axes=a), x, b)
            assert bits(fused) == bits(on_cpu(lambda y, a=axes: op["reduce_sum"](y, axes=a), stored))


@pytest.mark.parametrize("sizes", [(5, 9, 12), (33, 64, 70)], ids=str)
def test_products_do_not_depend_on_how_operands_lie(sizes: tuple[int, int, int]) -> None:
    m, k, n = sizes
    x, y = floats(m, k), floats(k, n)
    wanted = bits(on_cpu(_dot((1,), (0,)), x, y))
    assert bits(on_cpu(_dot((1,), (1,)), x, y.T.copy())) == wanted
    assert bits(on_cpu(_dot((0,), (1,)), x.T.copy(), y.T.copy())) == wanted


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("sizes", [(7, 5), (16, 97), (300, 40)], ids=str)
def test_products_with_vectors_do_not_depend_on_how_a_matrix_lies(sizes: tuple[int, int], dtype: str) -> None:
    def turned(x: Any) -> Any:
        return op["transpose"](x, permutation=(1, 0))

    k, m = sizes
    x, v, w = floats(k, m).astype(dtype), floats(k).astype(dtype), floats(m).astype(dtype)
    with celadon.enable_x64(True):
        for contract, vector, laid in (((1,), v, x), ((0,), v, x.T.copy()), ((0,), w, x), ((1,), w, x.T.copy())):
            plain = on_cpu(_dot(contract, (0,)), laid.T.copy(), vector)
            assert bits(on_cpu(lambda x, v, c=contract: _dot(c, (0,))(turned(x), v), laid, vector)) == bits(plain)


@pytest.mark.parametrize("shape", [(1,), (7,), (0,), (33,), (1000,), (3, 17), (40, 3), (2, 300, 3)], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint64", "bool", "bfloat16", "complex64"])
def test_sorts(shape: tuple[int, ...], dtype: str) -> None:
    x = (floats(*shape) * 4).astype(dtype)
    places = np.arange(x.size, dtype=np.int32).reshape(shape)
    for axis in range(len(shape)):
        agrees(lambda x, a=axis: op["sort"](x, dimension=a, is_stable=True, num_keys=1)[0], x)
        agrees(lambda x, i, a=axis: op["sort"](i, x, dimension=a, num_keys=2), places % 5, x)


def test_sorts_put_nan_last_and_keep_equal_zeros_in_order() -> None:
    x = np.array([np.nan, 1.0, 0.0, -0.0, -np.inf, -np.nan, np.inf, 0.0] * 9, np.float32)
    places = np.arange(72, dtype=np.int32)
    agrees(lambda x, i: op["sort"](x, i, dimension=0, num_keys=1), x, places)
    agrees(lambda x, i: op["sort"](x, i, dimension=0, num_keys=1), x[:9], places[:9])


@pytest.mark.parametrize("part", ["x[2]", "x[i]", "x[2:3]", "x[i:][:1]", "lax.dynamic_slice(x, (i,), (1,))", "x[::-1][1]"])
def test_a_result_that_is_one_element_of_an_argument(part: str) -> None:
    x = np.arange(4, dtype="float32")
    names = {"lax": celadon.lax, "x": cnp.asarray(x), "i": 2}
    assert np.asarray(celadon.jit(lambda x: eval(part, names | {"x": x}))(x)).item() == 2.0


def test_views_of_numbers_are_results_of_their_own():
    first, second = celadon.jit(lambda: (cnp.reshape(3.0, (1,)), cnp.reshape(cnp.float32(4), (1, 1))))()
    assert first.tolist() == [3.0] and second.tolist() == [[4.0]]


@pytest.mark.parametrize(("dtype", "narrow"), [("c16", "c8"), ("f8", "f4"), ("f8", "i2"), ("i4", "i1"), ("u8", "u2")])
def test_the_bits_of_a_number_in_parts(dtype: str, narrow: str) -> None:
    whole = np.arange(1, 17, dtype=np.uint8).view(dtype)[0]

    def parted() -> Any:
        return op["bitcast_convert"](literal(whole, np.dtype(dtype)), new_dtype=np.dtype(narrow))

    assert bits(on_cpu(parted)) == bits([whole.reshape(1).view(narrow)])


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("turned", ["", "x", "y", "xy"])
def test_small_complex_products_are_added_one_after_the_other(dtype: str, turned: str) -> None:
    """Four real products, unfused, then the sum: what a loop over the contracted axis gives, however the operands lie."""
    random = np.random.default_rng(7)
    x, y = (np.asarray(random.normal(size=n) + 1j * random.normal(size=n), dtype) for n in ((5, 7), (7, 9)))
    wanted = np.zeros((5, 9), dtype)
    for k in range(7):
        a, b = x[:, k, None], y[None, k]
        wanted.real += a.real * b.real - a.imag * b.imag
        wanted.imag += a.real * b.imag + a.imag * b.real

    def product(x: Any, y: Any) -> Any:
        x, y = (op["transpose"](v, permutation=(1, 0)) if name in turned else v for v, name in ((x, "x"), (y, "y")))
        return op["dot_general"](x, y, dimension_numbers=(((1,), (0,)), ((), ())))

    given = (x.T.copy() if "x" in turned else x, y.T.copy() if "y" in turned else y)
    assert bits(on_cpu(product, *given)) == bits([wanted])
