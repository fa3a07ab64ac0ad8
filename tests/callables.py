"""How to call every public callable of celadon.numpy, lax, random, nn and scipy: on the shapes and numbers of a Kit."""

from __future__ import annotations

import inspect
import types as python_types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import celadon.lax
import celadon.nn.initializers
import celadon.numpy as cnp
import celadon.ops
import celadon.random
import celadon.scipy.special
from celadon import errors
from tests import callables_random

Form = Callable[[Any, "Kit"], Any]
MODULES: dict[str, Any] = {
    "numpy": celadon.numpy, "lax": celadon.lax, "ops": celadon.ops, "random": celadon.random, "nn": celadon.nn,
    "nn.initializers": celadon.nn.initializers, "scipy.special": celadon.scipy.special,
}  # fmt: skip


@dataclass(frozen=True)
class Sizes:
    """Extents above 1, and the static scalars: floats s and t, integers whole and other."""

    m: int
    n: int
    p: int
    s: float
    t: float
    whole: int
    other: int


FIRST = Sizes(m=6, n=6, p=8, s=2.5, t=0.75, whole=3, other=2)
OTHER_SHAPES = Sizes(m=5, n=9, p=7, s=2.5, t=0.75, whole=3, other=2)
OTHER_SCALARS = Sizes(m=6, n=6, p=8, s=-1.25, t=3.5, whole=5, other=4)


def _floats(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng([seed, *shape]).normal(0.4, 1.0, shape).astype(np.float32)


def _integers(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng([seed, *shape]).integers(1, 20, shape).astype(np.int32)


def arrays_of(d: Sizes) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays of a Kit, by name: matrices x y (float) i j (integer) u (unsigned) b c (boolean) z (complex), vectors v w,
    a cube, a square, a right side of matrix products, indices of rows."""
    m, n, p = d.m, d.n, d.p
    return {
        "x": _floats(m, n), "y": _floats(m, n, seed=1), "i": _integers(m, n), "j": _integers(m, n, seed=1),
        "u": _integers(m, n).astype(np.uint8), "b": _floats(m, n) > 0.4, "c": _floats(m, n, seed=1) > 0.4,
        "z": (_floats(m, n) + 1j * _floats(m, n, seed=1)).astype(np.complex64),
        "v": _floats(n), "v2": _floats(n, seed=1), "w": _floats(m), "iv": _integers(n), "bv": _floats(n) > 0.4,
        "cube": _floats(m, n, p), "square": _floats(n, n), "right": _floats(n, p), "batched": _floats(m, n, p, seed=1),
        "triples": _floats(m, 3), "triples2": _floats(m, 3, seed=1), "thin": _floats(m, 1, n),
        "images": _floats(m, 2, n, p), "filters": _floats(4, 2, 3, 2),
        "rows": np.arange(m, dtype=np.int32)[::-1].copy(), "places": _integers(m, n) % m, "start": np.int32(1),
        "ordered": np.sort(_floats(n)), "scalar": np.float32(0.6), "ready": np.bool_(True),
        **callables_random.arrays_of(d),
    }  # fmt: skip


class Kit:
    """Arrays by name (concrete or traced) and numbers by name."""

    def __init__(self, sizes: Sizes, arrays: dict[str, Any]):
        self.sizes, self.arrays = sizes, arrays

    def __getattr__(self, name: str) -> Any:
        return self.arrays[name] if name in self.arrays else getattr(self.sizes, name)

    @cached_property
    def shape(self) -> tuple[int, int]:
        return self.sizes.m, self.sizes.n


_BY_DTYPE = (("x", "y", "s"), ("i", "j", "whole"), ("b", "c", "ready"), ("z", "z", "s"))
_ONE = ({"x"}, {"a"}, {"m"}, {"z"}, {"val"}, {"arr"}, {"ary"}, {"operand"}, {"array"})
_TWO = ({"x", "y"}, {"x1", "x2"}, {"a", "b"}, {"a1", "a2"})


def generic(function: Any) -> list[Form] | None:
    """Forms by the signature: one or two arrays, two with a scalar, an axis where there is one; None for other ones."""
    if isinstance(function, type):
        return [lambda f, k: f(k.x), lambda f, k: f(k.s)]
    parameters = inspect.signature(function).parameters
    needed = {p.name for p in parameters.values() if p.default is p.empty and p.kind is not p.VAR_KEYWORD}
    if needed in _TWO or getattr(function, "nin", 0) == 2:
        return [_accepted(2, False), _accepted(2, True)]
    if needed not in _ONE:
        return None
    with_axis = [_accepted(1, False, axis=0), _accepted(1, False, axis=-1)] if "axis" in parameters else []
    return [_accepted(1, False), *with_axis]


def _accepted(count: int, scalar: bool, **options: Any) -> Form:
    """A call on floats, or if they are not accepted on integers, booleans, complex numbers."""

    def form(f: Any, k: Kit) -> Any:
        for first, second, number in _BY_DTYPE:
            given = [getattr(k, first), getattr(k, number if scalar else second)][:count]
            try:
                return f(*given, **options)
            except (errors.DTypeNotAccepted, errors.OperandDTypeNotAccepted) as error:
                refused = error
        raise refused

    return form


_pairs: list[Form] = [lambda f, k: f(k.x, k.y), lambda f, k: f(k.x, k.s)]

NUMPY: dict[str, Form | list[Form]] = {
    # creation
    "array": [lambda f, k: f(k.x), lambda f, k: f([k.s, k.t]), lambda f, k: f([[k.w, k.w], [k.w, k.w]])],
    "asarray": [lambda f, k: f(k.x, "int32"), lambda f, k: f(k.s)],
    "astype": lambda f, k: f(k.x, "int32"),
    "zeros": lambda f, k: f(k.shape),
    "ones": lambda f, k: f(k.shape, "int32"),
    "empty": lambda f, k: f(k.shape),
    "full": lambda f, k: f(k.shape, k.s),
    "zeros_like": lambda f, k: f(k.x),
    "ones_like": lambda f, k: f(k.x),
    "empty_like": lambda f, k: f(k.x),
    "full_like": lambda f, k: f(k.x, k.s),
    "eye": [lambda f, k: f(k.n), lambda f, k: f(k.m, k.n, k.whole)],
    "identity": lambda f, k: f(k.n),
    "tri": lambda f, k: f(k.m, k.n, k.whole),
    "tril": lambda f, k: f(k.x, k.whole),
    "triu": lambda f, k: f(k.x, k.whole),
    "arange": [lambda f, k: f(k.n), lambda f, k: f(k.s, k.s + k.n - 0.5), lambda f, k: f(k.whole, k.whole + 2 * k.n, 2)],
    "linspace": [lambda f, k: f(k.s, k.t, k.n), lambda f, k: f(k.v, k.v2, k.m, endpoint=False)],
    "logspace": lambda f, k: f(k.s, k.t, k.n),
    "geomspace": lambda f, k: f(abs(k.s), k.t, k.n),
    "meshgrid": [lambda f, k: f(k.v, k.w), lambda f, k: f(k.v, k.w, sparse=True, indexing="ij")],
    "indices": lambda f, k: f(k.shape),
    "fromfunction": lambda f, k: f(lambda a, b: a + b * k.s, k.shape),
    "vander": lambda f, k: f(k.v, k.m),
    "diag": [lambda f, k: f(k.v), lambda f, k: f(k.square, k.other)],
    "diagflat": lambda f, k: f(k.v),
    "diagonal": lambda f, k: f(k.x),
    "trace": lambda f, k: f(k.x),
    # elementwise with more than arrays
    "power": [*_pairs, lambda f, k: f(k.i, k.j)],
    "clip": [lambda f, k: f(k.x, k.s - 9, k.t), lambda f, k: f(k.x, min=k.s)],
    "round": lambda f, k: f(k.x, k.other),
    "around": lambda f, k: f(k.x, k.other),
    "ldexp": lambda f, k: f(k.x, k.i),
    "isclose": lambda f, k: f(k.x, k.y, abs(k.s), k.t),
    "allclose": lambda f, k: f(k.x, k.y, abs(k.s), k.t),
    "nan_to_num": [lambda f, k: f(k.x, nan=k.s, posinf=k.t), lambda f, k: f(k.x, nan=k.s - 2.5)],
    "where": [lambda f, k: f(k.b, k.x, k.y), lambda f, k: f(k.x > k.s, k.x, k.t)],
    "select": lambda f, k: f([k.b, k.c], [k.x, k.y], k.s),
    "choose": lambda f, k: f(k.places % 2, [k.x, k.y], mode="clip"),
    "piecewise": lambda f, k: f(k.x, [k.b, k.c], [k.s, lambda x: x * k.t, 0.0]),
    "left_shift": lambda f, k: f(k.i, k.other),
    "right_shift": lambda f, k: f(k.i, k.other),
    "bitwise_left_shift": lambda f, k: f(k.i, k.other),
    "bitwise_right_shift": lambda f, k: f(k.i, k.other),
    "unwrap": lambda f, k: f(k.x, abs(k.s)),
    # shapes
    "reshape": [lambda f, k: f(k.x, (k.m * k.n,)), lambda f, k: f(k.cube, (k.m, -1))],
    "transpose": [lambda f, k: f(k.x), lambda f, k: f(k.cube, (2, 0, 1))],
    "permute_dims": lambda f, k: f(k.cube, (2, 0, 1)),
    "swapaxes": lambda f, k: f(k.cube, 0, 2),
    "moveaxis": lambda f, k: f(k.cube, 0, -1),
    "rollaxis": lambda f, k: f(k.cube, 2),
    "expand_dims": lambda f, k: f(k.x, 1),
    "squeeze": lambda f, k: f(k.thin),
    "broadcast_to": lambda f, k: f(k.v, k.shape),
    "broadcast_arrays": lambda f, k: f(k.x, k.v, k.s),
    "atleast_1d": lambda f, k: f(k.x),
    "atleast_2d": lambda f, k: f(k.v),
    "atleast_3d": lambda f, k: f(k.x),
    # joining and parting
    "concatenate": lambda f, k: f([k.x, k.y], axis=1),
    "concat": lambda f, k: f([k.x, k.y]),
    "stack": lambda f, k: f([k.x, k.y], axis=1),
    "unstack": lambda f, k: f(cnp.stack([k.x, k.y])),
    "vstack": lambda f, k: f([k.x, k.y]),
    "hstack": lambda f, k: f([k.x, k.y]),
    "dstack": lambda f, k: f([k.x, k.y]),
    "column_stack": lambda f, k: f([k.v, k.v2]),
    "block": lambda f, k: f([[k.x, k.y], [k.y, k.x]]),
    "append": lambda f, k: f(k.x, k.y, axis=0),
    "split": lambda f, k: f(k.cube, [1], axis=1),
    "array_split": lambda f, k: f(k.cube, 2, axis=0),
    "vsplit": lambda f, k: f(k.cube, [2]),
    "hsplit": lambda f, k: f(k.cube, [2]),
    "dsplit": lambda f, k: f(k.cube, [2]),
    "tile": lambda f, k: f(k.x, (2, 3)),
    "repeat": [lambda f, k: f(k.x, k.whole, axis=0), lambda f, k: f(k.v, k.iv, total_repeat_length=k.m * k.p)],
    "flip": [lambda f, k: f(k.x), lambda f, k: f(k.x, 1)],
    "rot90": lambda f, k: f(k.x),
    "roll": [lambda f, k: f(k.x, k.other, axis=1), lambda f, k: f(k.x, -k.other), lambda f, k: f(k.x, k.start)],
    "resize": lambda f, k: f(k.x, (k.n + 2 * k.m, k.n)),
    "pad": [
        lambda f, k: f(k.x, k.other, constant_values=k.s),
        lambda f, k: f(k.x, ((1, k.other), (k.whole, 1))),
        lambda f, k: f(k.x, 1, mode="edge"),
        lambda f, k: f(k.x, 1, mode="wrap"),
        lambda f, k: f(k.x, 1, mode="reflect"),
    ],
    "delete": lambda f, k: f(k.x, k.other - 2, axis=0),
    "insert": lambda f, k: f(k.x, k.other - 2, k.s, axis=0),
    # reductions and order
    "average": [lambda f, k: f(k.x), lambda f, k: f(k.x, axis=0, weights=k.w)],
    "quantile": lambda f, k: f(k.x, 1 / k.whole, axis=0),
    "percentile": lambda f, k: f(k.x, 10 * k.whole, axis=0),
    "nanquantile": lambda f, k: f(k.x, 1 / k.whole, axis=0),
    "nanpercentile": lambda f, k: f(k.x, 10 * k.whole, axis=0),
    "var": [lambda f, k: f(k.x), lambda f, k: f(k.x, axis=0, ddof=k.other)],
    "std": [lambda f, k: f(k.x), lambda f, k: f(k.x, axis=0, ddof=k.other)],
    "nanvar": [lambda f, k: f(k.x), lambda f, k: f(k.x, axis=0, ddof=k.other)],
    "nanstd": [lambda f, k: f(k.x), lambda f, k: f(k.x, axis=0, ddof=k.other)],
    "sum": [lambda f, k: f(k.x), lambda f, k: f(k.x, axis=0), lambda f, k: f(k.x, axis=1, initial=k.s, where=k.b)],
    "max": [lambda f, k: f(k.x), lambda f, k: f(k.x, axis=1, initial=k.s, where=k.b)],
    "cumulative_sum": [lambda f, k: f(k.v), lambda f, k: f(k.x, axis=1)],
    "cumulative_prod": [lambda f, k: f(k.v), lambda f, k: f(k.x, axis=1)],
    "diff": [lambda f, k: f(k.x), lambda f, k: f(k.x, prepend=k.s)],
    "ediff1d": lambda f, k: f(k.x, k.s, k.t),
    "trapezoid": [lambda f, k: f(k.x, dx=k.s), lambda f, k: f(k.x, k.v)],
    "gradient": lambda f, k: f(k.x, k.s),
    "partition": lambda f, k: f(k.x, 1),
    "argpartition": lambda f, k: f(k.x, 1),
    "lexsort": lambda f, k: f((k.v, k.v2)),
    "searchsorted": [lambda f, k: f(k.ordered, k.x), lambda f, k: f(k.ordered, k.s)],
    "digitize": lambda f, k: f(k.x, k.ordered),
    "bincount": lambda f, k: f(k.iv, length=k.m),
    # positions and indexing
    "nonzero": lambda f, k: f(k.b, size=k.m, fill_value=k.whole),
    "flatnonzero": lambda f, k: f(k.b, size=k.m, fill_value=k.whole),
    "argwhere": lambda f, k: f(k.b, size=k.m, fill_value=k.whole),
    "ix_": lambda f, k: f(k.rows, k.iv),
    "take": [
        lambda f, k: f(k.x, k.iv, axis=1, fill_value=k.s),
        lambda f, k: f(k.x, k.rows, axis=0),
        lambda f, k: f(k.x, k.whole, axis=1),
    ],
    "take_along_axis": lambda f, k: f(k.x, k.places, axis=0),
    "put": lambda f, k: f(k.x, k.rows, k.s, inplace=False),
    "place": lambda f, k: f(k.x, k.b, k.v, inplace=False),
    "put_along_axis": lambda f, k: f(k.x, k.places, k.s, 0, inplace=False),
    "fill_diagonal": [lambda f, k: f(k.square, k.s, inplace=False), lambda f, k: f(k.square, k.v, inplace=False)],
    "compress": lambda f, k: f(k.bv, k.x, axis=1, size=k.m),
    "extract": lambda f, k: f(k.b, k.x, size=k.m),
    "unravel_index": lambda f, k: f(k.rows, k.shape),
    "ravel_multi_index": lambda f, k: f((k.rows, k.rows), (k.m, k.m), mode="clip"),
    "tril_indices_from": lambda f, k: f(k.x),
    "triu_indices_from": lambda f, k: f(k.x),
    "unique": lambda f, k: f(k.i, size=k.m),
    "unique_values": lambda f, k: f(k.i, size=k.m),
    **{f"unique_{kind}": lambda f, k: f(k.i, size=k.m) for kind in ("all", "counts", "inverse")},
    "isin": lambda f, k: f(k.i, k.iv),
    "union1d": lambda f, k: f(k.iv, k.rows, size=k.p),
    "intersect1d": lambda f, k: f(k.iv, k.rows, size=k.p),
    "setdiff1d": lambda f, k: f(k.iv, k.rows, size=k.p),
    "setxor1d": lambda f, k: f(k.iv, k.rows, size=k.p),
    # contractions
    "dot": [lambda f, k: f(k.x, k.right), lambda f, k: f(k.v, k.v2), lambda f, k: f(k.x, k.s)],
    "matmul": [lambda f, k: f(k.x, k.right), lambda f, k: f(k.x, k.v), lambda f, k: f(k.square, k.batched)],
    "vdot": lambda f, k: f(k.x, k.y),
    "vecdot": lambda f, k: f(k.x, k.y),
    "matvec": lambda f, k: f(k.x, k.v),
    "vecmat": lambda f, k: f(k.v, k.right),
    "inner": lambda f, k: f(k.x, k.y),
    "outer": [lambda f, k: f(k.v, k.w), lambda f, k: f(k.v, k.s)],
    "tensordot": [lambda f, k: f(k.x, k.right, 1), lambda f, k: f(k.cube, k.batched, ((0, 2), (0, 2)))],
    "einsum": [lambda f, k: f("ij,jk->ik", k.x, k.right), lambda f, k: f("ijk,ijk->i", k.cube, k.batched)],
    "kron": lambda f, k: f(k.x, k.right),
    "cross": lambda f, k: f(k.triples, k.triples2),
    "convolve": lambda f, k: f(k.v, k.w),
    "correlate": lambda f, k: f(k.v, k.w, "full"),
}


def _mapped(function: Callable[..., Any], rows: Any) -> Any:
    return celadon.vmap(function, axis_name="i")(rows)


SCATTER = celadon.lax.ScatterDimensionNumbers((1,), (0,), (0,))
LAX: dict[str, Form | list[Form]] = {
    "full": lambda f, k: f(k.shape, k.s),
    "full_like": lambda f, k: f(k.x, k.s),
    "empty": lambda f, k: f(k.shape, np.dtype("float32")),
    "iota": lambda f, k: f(np.dtype("int32"), k.n),
    "broadcasted_iota": lambda f, k: f(np.dtype("int32"), k.shape, 1),
    "broadcast": lambda f, k: f(k.x, (k.p,)),
    "broadcast_in_dim": lambda f, k: f(k.v, k.shape, (1,)),
    "broadcast_to_rank": lambda f, k: f(k.x, 3),
    "broadcast_like": lambda f, k: f(k.scalar, k.x),
    "clamp": lambda f, k: f(k.s - 9, k.x, k.t),
    "select": lambda f, k: f(k.b, k.x, k.y),
    "select_n": lambda f, k: f(k.b, k.x, k.y),
    "convert_element_type": lambda f, k: f(k.x, np.dtype("int32")),
    "bitcast_convert_type": lambda f, k: f(k.x, np.dtype("int32")),
    "integer_pow": lambda f, k: f(k.x, 3),
    "pow": [*_pairs, lambda f, k: f(k.x, k.i)],
    "reduce_precision": lambda f, k: f(k.x, 5, 10),
    "polygamma": lambda f, k: f(abs(k.x), abs(k.y)),
    "reshape": lambda f, k: f(k.x, (k.m * k.n,)),
    "transpose": lambda f, k: f(k.cube, (2, 0, 1)),
    "rev": lambda f, k: f(k.x, (0,)),
    "expand_dims": lambda f, k: f(k.x, (1,)),
    "squeeze": lambda f, k: f(k.thin, (1,)),
    "collapse": lambda f, k: f(k.cube, 0, 2),
    "concatenate": lambda f, k: f([k.x, k.y], 0),
    "stack": lambda f, k: f([k.x, k.y], 0),
    "unstack": lambda f, k: f(cnp.stack([k.x, k.y])),
    "split": lambda f, k: f(k.x, (1, k.n - 1), 1),
    "tile": lambda f, k: f(k.x, (2, 3)),
    "pad": lambda f, k: f(k.x, k.s, ((1, k.other, 0), (k.whole, 1, 0))),
    "slice": lambda f, k: f(k.x, (0, 1), (k.m, k.n)),
    "slice_in_dim": lambda f, k: f(k.x, 1, k.n, axis=1),
    "index_in_dim": lambda f, k: f(k.x, k.other - 2, 1),
    "index_take": lambda f, k: f(k.x, (k.rows,), (0,)),
    "gather": lambda f, k: f(k.x, k.rows[:, None], celadon.lax.GatherDimensionNumbers((1,), (0,), (0,)), (1, k.n)),
    "dynamic_slice": [lambda f, k: f(k.x, (k.start, 0), (2, k.n)), lambda f, k: f(k.x, (k.other, k.whole), (2, k.n))],
    "dynamic_slice_in_dim": lambda f, k: f(k.x, k.start, 2, axis=1),
    "dynamic_index_in_dim": lambda f, k: f(k.x, k.start, 1),
    "dynamic_update_slice": lambda f, k: f(k.x, k.y[:2, :2], (k.start, k.other)),
    "dynamic_update_slice_in_dim": lambda f, k: f(k.x, k.y[:2], k.start, 0),
    "dynamic_update_index_in_dim": lambda f, k: f(k.x, k.v, k.start, 0),
    "sort": [lambda f, k: f(k.x), lambda f, k: f((k.x, k.y), dimension=0, num_keys=2)],
    "sort_key_val": lambda f, k: f(k.x, k.y),
    "top_k": lambda f, k: f(k.x, 2),
    "argmax": lambda f, k: f(k.x, 1, np.dtype("int32")),
    "argmin": lambda f, k: f(k.x, 1, np.dtype("int32")),
    **{f"reduce_{kind}": lambda f, k: f(k.x, (0,)) for kind in ("sum", "prod", "max", "min")},
    **{f"reduce_{kind}": lambda f, k: f(k.b, (0,)) for kind in ("and", "or", "xor")},
    "dot": lambda f, k: f(k.x, k.right),
    "dot_general": lambda f, k: f(k.cube, k.batched, (((1, 2), (1, 2)), ((0,), (0,)))),
    "batch_matmul": lambda f, k: f(k.cube, cnp.swapaxes(k.batched, 1, 2)),
    **{
        f"scatter{kind}": lambda f, k: f(k.x, k.rows[:2, None], k.y[:2], SCATTER)
        for kind in ("", "_add", "_sub", "_mul", "_min", "_max")
    },
    "scatter_apply": lambda f, k: f(k.x, k.rows[:2, None], lambda e: e * k.s, SCATTER, update_shape=(2, k.n)),
    "conv": lambda f, k: f(k.images, k.filters, (1, 1), "SAME"),
    "conv_with_general_padding": lambda f, k: f(k.images, k.filters, (1, 1), [(1, k.other), (0, 0)], None, None),
    "conv_general_dilated": [
        lambda f, k: f(k.images, k.filters, (2, 1), [(1, k.other), (0, 0)], (1, 2), (2, 1)),
        lambda f, k: f(k.images, k.filters, (1, 1), "SAME", dimension_numbers=("NCHW", "OIHW", "NHWC")),
        lambda f, k: f(k.images, k.filters[:, :1], (1, 1), "VALID", feature_group_count=2),
    ],
    "conv_transpose": lambda f, k: f(k.images, k.filters, (2, 1), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW")),
    "conv_general_dilated_patches": lambda f, k: f(k.images, (2, 3), (1, 1), "SAME"),
    "conv_general_dilated_local": lambda f, k: f(k.cube, cnp.concatenate([k.batched, k.batched], 1), (1,), "SAME", (2,)),
    "reduce": [lambda f, k: f(k.x, k.s, lambda a, b: a + b, (0,)), lambda f, k: f(k.x, 0.0, celadon.lax.add, (0,))],
    "reduce_window": [
        lambda f, k: f(k.x, 0.0, celadon.lax.add, (k.other, 2), padding="SAME"),
        lambda f, k: f(k.x, -np.inf, celadon.lax.max, (2, 2), (2, 1)),
        lambda f, k: f(k.x, k.s, lambda a, b: a * b, (2, 2)),
    ],
    "cond": [
        lambda f, k: f(k.ready, lambda x: x * k.s, lambda x: x + k.t, k.x),
        lambda f, k: f(k.scalar > k.s, lambda: (k.x, k.y), lambda: (k.y, k.x)),
    ],
    "switch": lambda f, k: f(k.start, [lambda x: x * k.s, lambda x: x - k.t, lambda x: x], k.x),
    "while_loop": [
        lambda f, k: f(lambda c: c[0] < k.whole, lambda c: (c[0] + 1, c[1] * k.s), (0, k.x)),
        lambda f, k: f(lambda c: c[0] < k.start, lambda c: (c[0] + 1, c[2], c[1]), (0, k.x, k.y)),
    ],
    "fori_loop": [
        lambda f, k: f(0, k.whole, lambda i, c: c * k.s + i, k.x),
        lambda f, k: f(k.other, k.start + k.whole, lambda i, c: c * k.s + i, k.x),
    ],
    "scan": [
        lambda f, k: f(lambda c, row: (c * k.s + row, (c, row * k.t)), k.v, k.x),
        lambda f, k: f(lambda c, row: (c * k.s + row.sum(), c * k.w), k.t, k.x, reverse=True, unroll=k.other),
        lambda f, k: f(lambda c, _: (c.T @ k.square * k.t, None), k.square, None, length=k.whole),
        lambda f, k: f(lambda c, row: (celadon.lax.cond(c > k.s, lambda: c, lambda: c * k.t), row), 1.0, k.x),
        lambda f, k: celadon.grad(lambda x: f(lambda c, row: (cnp.sin(c * k.s) * row, c), k.v, x)[0].sum())(k.x),
    ],
    "map": [lambda f, k: f(lambda row: row * k.s, k.x), lambda f, k: f(lambda row: row * k.s, k.x, batch_size=2)],
    "associative_scan": lambda f, k: f(lambda a, b: a + b * k.s, k.x),
    "platform_dependent": lambda f, k: f(k.x, cpu=lambda x: x * k.s, default=lambda x: x),
    "custom_linear_solve": [
        lambda f, k: f(lambda x: x * k.s, k.v, lambda _, b: b / k.s, symmetric=True),
        lambda f, k: celadon.grad(lambda v: f(lambda x: x * v, v, lambda _, b: b / v * k.t, symmetric=True).sum())(k.v),
    ],
    "custom_root": [
        lambda f, k: f(lambda x: x - k.v * k.s, k.v, lambda g, x: x - g(x), lambda g, y: y),
        lambda f, k: celadon.grad(
            lambda v: f(lambda x: x - v * k.s, v, lambda g, x: x - g(x), lambda g, y: y * k.t).sum()
        )(k.v),
    ],
    # across a mapped axis
    **{f"p{kind}": lambda f, k: _mapped(lambda row: f(row * k.s, "i"), k.x) for kind in ("sum", "mean", "max", "min")},
    "axis_index": lambda f, k: _mapped(lambda row: row * f("i"), k.x),
    "axis_size": lambda f, k: _mapped(lambda row: row * f("i"), k.x),
    "all_gather": [
        lambda f, k: _mapped(lambda row: f(row * k.s, "i"), k.x),
        lambda f, k: _mapped(lambda row: f(row, "i", axis=0, tiled=True), k.x),
    ],
    "all_to_all": lambda f, k: _mapped(lambda row: f(row * k.s, "i", 0, 0), k.square),
    "psum_scatter": lambda f, k: _mapped(lambda row: f(row * k.s, "i"), k.square),
    "pswapaxes": lambda f, k: _mapped(lambda row: f(row * k.s, "i", 0), k.square),
    "ppermute": lambda f, k: _mapped(lambda row: f(row * k.s, "i", [(0, 1), (1, 0), (2, 3)]), k.x),
    "pshuffle": lambda f, k: _mapped(lambda row: f(row * k.s, "i", range(k.m)), k.x),
    "fft": [lambda f, k: f(k.z, "fft", (k.n,)), lambda f, k: f(k.x, celadon.lax.FftType.RFFT, (k.m, k.n))],
    "shift_left": lambda f, k: f(k.i, k.j),
    "shift_right_arithmetic": lambda f, k: f(k.i, k.j),
    "shift_right_logical": lambda f, k: f(k.i, k.j),
}

_TYPES_ONLY = "answers from dtypes and shapes alone"
_HOST = "works on the host: reads, prints or makes concrete arrays"
NO_PROGRAM: dict[str, str] = {
    **{
        f"numpy.{name}": _TYPES_ONLY
        for name in ("broadcast_shapes", "can_cast", "einsum_path", "finfo", "iinfo", "isdtype", "isscalar",
                     "issubdtype", "iterable", "iscomplexobj", "isrealobj", "ndim", "promote_types", "result_type",
                     "shape", "size")
    },
    **{
        f"numpy.{name}": _HOST
        for name in ("diag_indices", "diag_indices_from", "from_dlpack", "frombuffer",
                     "fromstring", "get_printoptions", "printoptions", "save", "savez", "set_printoptions",
                     "tril_indices", "triu_indices", "tril_indices_from", "triu_indices_from")
    },
    "random.key_dtype": _TYPES_ONLY,
    "random.key_impl": _TYPES_ONLY,
    "lax.broadcast_shapes": _TYPES_ONLY,
    "lax.dtype": _TYPES_ONLY,
    **{
        f"lax.{name}": _TYPES_ONLY
        for name in ("conv_dimension_numbers", "conv_general_permutations", "conv_general_shape_tuple", "conv_shape_tuple",
                     "conv_transpose_shape_tuple", "padtype_to_pads", "reduce_window_shape_tuple")
    },
}  # fmt: skip


OPS: dict[str, Form | list[Form]] = {
    f"segment_{kind}": lambda f, k: f(k.x, k.rows % 2, 3) for kind in ("sum", "prod", "min", "max")
}
TABLES: dict[str, dict[str, Form | list[Form]]] = {
    "numpy": NUMPY, "lax": LAX, "ops": OPS, "random": callables_random.RANDOM, "nn": callables_random.NN,
    "nn.initializers": callables_random.INITIALIZERS, "scipy.special": callables_random.SPECIAL,
}  # fmt: skip


def public(module: Any) -> dict[str, Any]:
    """The public callables of a module, by name."""
    names = getattr(module, "__all__", None) or [name for name in vars(module) if name[0] != "_"]
    found = {name: getattr(module, name) for name in names}
    return {name: x for name, x in found.items() if callable(x) and not _is_class(x)}


def _is_class(x: Any) -> bool:
    """Whether x is a class or the name of a type for annotations; dtypes are functions as well."""
    named = isinstance(x, type | python_types.GenericAlias)
    return named and not isinstance(getattr(x, "dtype", None), np.dtype)


@dataclass(frozen=True)
class Call:
    """One form of calling one callable."""

    name: str
    function: Any
    form: Form

    def __str__(self) -> str:
        return self.name

    def __call__(self, kit: Kit) -> Any:
        return self.form(self.function, kit)

    def on(self, sizes: Sizes) -> tuple[Callable[[dict[str, Any]], Any], dict[str, Any]]:
        """A function of a dict of arrays, the static numbers bound, and the arrays to call it on."""
        return lambda arrays: self(Kit(sizes, arrays)), arrays_of(sizes)


def calls() -> Iterator[Call]:
    """Every form of every public callable that makes a program."""
    for module, table in TABLES.items():
        for name, function in public(MODULES[module]).items():
            if f"{module}.{name}" in NO_PROGRAM:
                continue
            forms = table.get(name) or generic(function) or []
            forms = forms if isinstance(forms, list) else [forms]
            for index, form in enumerate(forms):
                yield Call(f"{module}.{name}" + (f"/{index}" if index else ""), function, form)


def left_out() -> list[str]:
    """Public callables that no form and no reason stands for."""
    known = {call.name.partition("/")[0] for call in calls()} | NO_PROGRAM.keys()
    return [f"{m}.{name}" for m, module in MODULES.items() for name in public(module) if f"{m}.{name}" not in known]


def stale() -> list[str]:
    """Names in the tables that are not public."""
    tables = {f"{module}.{name}" for module, table in TABLES.items() for name in table} | NO_PROGRAM.keys()
    return sorted(tables - {f"{m}.{name}" for m, module in MODULES.items() for name in public(module)})
