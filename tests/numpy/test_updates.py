"""x.at[...] against real JAX: every kind of key, every method, dtypes, what is outside, and the functions that put."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import celadon
import celadon.numpy as cnp
from celadon import errors
from celadon.compiler import lift, lower, simplify
from tests.numpy.oracle import FEW, agree, agree_on, sample

I = np.int32  # noqa: E741
KEYS = {
    "place": 1,
    "last": -1,
    "outside": 7,
    "far below": -9,
    "range": slice(1, 3),
    "whole": slice(None),
    "steps": slice(None, None, 2),
    "backwards": slice(None, None, -1),
    "backwards by two": slice(2, None, -2),
    "nothing": slice(2, 2),
    "dots": ...,
    "empty": (),
    "new": None,
    "columns": (slice(None), 1),
    "block": (slice(0, 2), slice(1, 3)),
    "block by steps": (slice(0, 3, 2), slice(3, 0, -2)),
    "new among": (None, 1, None, slice(1, 3)),
    "point": (1, 2),
    "dots between": (1, ..., 2),
    "rows": np.array([2, 0], I),
    "rows twice": np.array([1, 1, 0], I),
    "rows outside": np.array([1, -1, 5, -7], I),
    "table of rows": np.array([[2, 0], [1, 1]], I),
    "unsigned rows": np.array([2, 0], np.uint8),
    "short rows": np.array([2, -3], np.int8),
    "points": (np.array([0, 1, 1], I), np.array([3, 2, 2], I)),
    "crossed": (np.array([[0], [2]], I), np.array([3, 1], I)),
    "rows of a column": (np.array([2, 0], I), 1),
    "rows of a range": (np.array([2, 0], I), slice(1, 4, 2)),
    "columns by array": (slice(0, 2), np.array([3, 0], I)),
    "new before rows": (None, np.array([2, 0], I)),
    "split by new": (np.array([2, 0], I), None, np.array([1, 3], I)),
    "split by dots": (np.array([2, 0], I), ..., np.array([1, 3], I)),
    "array scalar": np.array(1, I),
    "mask": np.array([[True, False, True, False]] * 3),
    "row mask": np.array([True, False, True]),
    "mask and range": (np.array([True, False, True]), slice(1, 3)),
    "true": True,
    "false": False,
    "no rows": np.array([], I),
    "list of columns": (slice(None), [0, -1]),
    "lists crossed": ([[0], [2]], [3, 1]),
    "lists split": ([0, 1], None, [1, 2]),
    "list of flags": (slice(None), [True, False, True, True]),
    "list of arrays": (..., [np.int8(1), 0]),
    "tuple of columns": (slice(None), (0, 2)),
    "list alone in a tuple": ([0, 2],),
    "no columns": (slice(None), []),
}
METHODS = ("set", "add", "subtract", "multiply", "divide", "power", "min", "max")
ROWS, COLUMNS = np.array([0, 2, 0], I), slice(1, 3)


def updated(method, key, **options):
    return lambda x, y: getattr(x.at[key], method)(y, **options)


def both(function, *args):
    agree_on(function, function, args, {}, "at")


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_every_key_reads_what_jax_reads(key) -> None:
    both(lambda x: x[key], sample("float32", (3, 4)))


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_every_key_writes_what_jax_writes(key) -> None:
    x = sample("float32", (3, 4))
    both(updated("set", key), x, 2.5)
    both(updated("add", key), x, sample("float32", x[key].shape if _fits(x, key) else jnp.asarray(x)[key].shape, seed=1))


def _fits(x, key):
    try:
        return x[key] is not None
    except IndexError:
        return False


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize(("mode", "wrap"), [("clip", True), ("fill", True), ("drop", False), (None, False)])
def test_every_key_reads_and_writes_by_every_mode(key, mode, wrap) -> None:
    x, options = sample("int32", (3, 4)), {"mode": mode, "wrap_negative_indices": wrap}
    both(updated("set", key, **options), x, 9)
    both(lambda x: x.at[key].get(**options), x)


@pytest.mark.parametrize("dtype", [*FEW, "int8", "float16"])
@pytest.mark.parametrize("method", METHODS)
def test_every_method_on_every_dtype(method, dtype) -> None:
    x = sample(dtype, (3, 4))
    for y in (2.5, sample(dtype, (3, 2), seed=1)):
        both(updated(method, (ROWS, COLUMNS)), x, y)


@pytest.mark.parametrize("dtype", ["uint8", "bfloat16", "int32"])
@pytest.mark.parametrize("value", [-1, 300, True, 1j, np.float64(1.5), [1, 2], np.array([[1.5]] * 3, np.float32)], ids=str)
def test_values_become_the_arrays_dtype(dtype, value) -> None:
    both(updated("set", (ROWS, COLUMNS)), sample(dtype, (3, 4)), value)
    both(updated("max", (ROWS, COLUMNS)), sample(dtype, (3, 4)), value)


def test_other_elements_are_left_alone_where_the_update_has_another_dtype() -> None:
    """JAX writes in the common dtype, in which 16777217 is not a number."""
    x = cnp.array([16777217, 1])
    with pytest.warns(FutureWarning, match="may lose information"):
        assert x.at[1].set(2.5).tolist() == [16777217, 2]


def test_a_weak_array_stays_weak() -> None:
    for y in (3, np.float32(3), 3.5):
        agree_on(lambda x: jnp.asarray(2.0).at[()].set(x), lambda x: cnp.asarray(2.0).at[()].set(x), (y,), {}, "set")


def test_apply_does_as_often_as_an_element_is_named() -> None:
    x, key = sample("float32", (3, 4)), (np.array([0, 2, 0, 9], I), COLUMNS)
    both(lambda x: x.at[key].apply(lambda e: e * 2 + 1), x)
    both(lambda x: x.at[key].apply(lambda e: 3.0), x)
    both(lambda x: x.at[0].apply(lambda e: e // 2), sample("int32", (3, 4)))
    both(lambda x: x.at[::-1, 1].apply(lambda e: -e, mode="clip"), x)


def test_updates_are_the_same_under_jit() -> None:
    x, rows, y = sample("float32", (5, 4)), np.array([0, 2, 0, -1, 8], I), sample("float32", (5, 4), seed=2)
    for method in METHODS:
        for options in ({}, {"mode": "clip"}):
            traced = celadon.jit(lambda x, i, y, method=method, options=options: getattr(x.at[i], method)(y, **options))
            expected = jax.jit(lambda x, i, y, method=method, options=options: getattr(x.at[i], method)(y, **options))
            np.testing.assert_allclose(traced(x, rows, y), expected(x, rows, y), 1e-6)
            np.testing.assert_array_equal(traced(x, rows, y), getattr(cnp.asarray(x).at[rows], method)(y, **options))


UPDATES = [
    lambda x, i, s, k: x.at[k].set(s),
    lambda x, i, s, k: x.at[-k, 1:].add(s),
    lambda x, i, s, k: x.at[i].multiply(x[:3] * s),
    lambda x, i, s, k: x.at[:, k::2].max(s),
    lambda x, i, s, k: x.at[k:-1, i].min(s, mode="clip"),
    lambda x, i, s, k: x.at[i[:, None], i].power(s),
]


@pytest.mark.parametrize("update", UPDATES, ids=range(len(UPDATES)))
def test_other_extents_and_scalars_give_one_structure(update) -> None:
    def digest(m, n, s, k):
        traced = celadon.jit(update, static_argnums=(2, 3)).trace(np.ones((m, n), np.float32), np.arange(3), s, k)
        return lift(simplify(lower(traced.needed)))[0].digest

    assert digest(6, 6, 2.5, 3) == digest(7, 9, 2.5, 3) == digest(6, 6, -1.5, 2)


@pytest.mark.parametrize(
    ("function", "error"),
    [
        (lambda x: x.at[0].set(np.ones(5)), errors.ShapesDiffer),
        (lambda x: x.at[0].set(np.ones((1, 1, 4))), errors.ShapesDiffer),
        (lambda x: x.at[0].set(1, mode="other"), errors.OptionUnknown),
        (lambda x: x.at["a"].set(1), errors.IndexNotSupported),
        (lambda x: x.at[[0, 1]].set(1), errors.IndexNotSupported),
        (lambda x: x.at[1.0].set(1), errors.IndexNotSupported),
        (lambda x: x.at[0, 0, 0].set(1), errors.TooManyIndices),
        (lambda x: x.at[0].apply(lambda e: cnp.broadcast_to(e, (2,))), errors.BodyMismatch),
        (lambda x: x.at[0].apply(lambda e: e > 1), errors.BodyMismatch),
        (lambda x: x.at[0].apply(lambda e: e + np.ones(2)), errors.BodyCloses),
        (lambda x: (x > 1).at[0].add(True), errors.DTypeNotAccepted),
        (lambda x: cnp.zeros((0, 3)).at[0].set(1), errors.DimensionsUnfit),
    ],
)
def test_errors(function, error) -> None:
    with pytest.raises(error):
        function(cnp.ones((3, 4)))


def test_a_traced_mask_is_refused_as_in_jax() -> None:
    with pytest.raises(errors.NonConcreteBooleanIndexError):
        celadon.jit(lambda x: x.at[x > 1].set(0))(np.ones(3))


def test_assignment_names_at() -> None:
    x = cnp.ones(3)
    with pytest.raises(errors.ArrayImmutable) as found:
        x[0] = 2.0
    assert "x.at[i].set" in type(found.value).cure


PUT = [
    (np.array([0, 7, 11], I), sample("float32", (3,))),
    (np.array([[0, -1], [30, -20]], I), 2.5),
    (np.array([1, 2, 3, 4], np.uint8), sample("float32", (3,))),
    (np.array([], I), 1.0),
    (np.array([3], I), np.array([], np.float32)),
]


@pytest.mark.parametrize("mode", [None, "clip", "wrap", "raise", "other"])
def test_put(mode) -> None:
    for case in PUT[: 3 if mode in ("raise", "other") else None]:
        agree("put", sample("float32", (3, 4)), *case, mode=mode, inplace=False)


def test_functions_that_put() -> None:
    x, square = sample("float32", (3, 4)), sample("int32", (3, 3))
    for values in (1.0, sample("float32", (3,)), sample("float32", (20,))):
        agree("place", x, x > 0, values, inplace=False)
        agree("fill_diagonal", x, values, inplace=False)
    agree("place", x, sample("int32", (12,)), 2.0, inplace=False)
    agree("place", x, np.ones(5, bool), 2.0, inplace=False)
    agree("place", square, square > 0, np.array([1.5, 2.5], np.float32), inplace=False)
    agree("fill_diagonal", sample("int32", (3, 3, 3)), 9, inplace=False)
    agree("fill_diagonal", x[0], 1, inplace=False)
    agree("fill_diagonal", sample("int32", (3, 3, 4)), 9, inplace=False)
    for axis, index in ((0, np.array([[0, 1, 2, 0]], I)), (1, np.array([[1], [-1], [5]], I)), (-1, np.array([[1, 2]] * 3, I))):
        for values in (9.0, sample("float32", index.shape)):
            agree("put_along_axis", x, index, values, axis, inplace=False)
    agree("put_along_axis", x, np.array([0, 5], I), 9.0, None, inplace=False)
    agree("put_along_axis", x, np.array([0, 5], I), 9.0, 0, inplace=False)
    agree("put_along_axis", x, np.array([[0, 5, 40, -1]], I), 9.0, 0, inplace=False, mode="clip")
    agree("put_along_axis", x, np.array([[0, 5]] * 3, I), np.ones((3, 3), np.float32), 1, inplace=False)


@pytest.mark.parametrize("name", ["put", "place", "put_along_axis", "fill_diagonal"])
def test_nothing_is_changed_in_place(name) -> None:
    arguments = {"put": (np.array([0]), 1), "place": (np.ones((2, 2), bool), 1), "fill_diagonal": (1,)}
    with pytest.raises(errors.InPlaceNotPossible, match=name):
        getattr(cnp, name)(cnp.ones((2, 2)), *arguments.get(name, (np.array([[0, 1]]), 1, 0)))
