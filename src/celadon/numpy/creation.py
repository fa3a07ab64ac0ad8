"""Arrays made of data, or filled with one value, and matrices of ones and zeros."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from celadon import errors, vocabulary as ops
from celadon.array import Array, as_array, from_host
from celadon.numpy.dtypes import requested, strong, to_dtype
from celadon.numpy.promotion import broadcasted, constant, converted, operand, shape_from
from celadon.program import fixed, literal
from celadon.tracing import Value, recording, type_of
from celadon.types import ArrayType, DType, Shape, canonical, result_type, scalar_type

_NUMBERS = (bool, int, float, complex)


def array(
    object: Any,
    dtype: Any = None,
    copy: bool = True,
    order: str | None = "K",
    ndmin: int = 0,
    *,
    device: Any = None,
    out_sharding: Any = None,
) -> Any:
    """An array of numbers, NumPy arrays, Celadon arrays, or nested sequences of them.

    Args: dtype: of the result, by default the common dtype of the parts; ndmin: the least number of dimensions, filled up
    with leading extents of 1. Raises NotAnArray, IntegerTooLarge and ValueError for sequences of uneven lengths.

    >>> array([[1, 2.5], [3, 4]])
    Array([[1. , 2.5],
           [3. , 4. ]], dtype=float32)
    """
    x = _array(object, dtype)
    if copy and x is object and recording() is None:
        x = from_host(np.array(x.host), x.type.weak_type)
    lead = ndmin - x.type.ndim
    return ops.broadcast_in_dim(
        x, shape=(1,) * lead + x.type.shape, broadcast_dimensions=tuple(range(lead, ndmin))
    ) if lead > 0 else x  # fmt: skip


def asarray(
    a: Any, dtype: Any = None, order: str | None = None, *, copy: bool | None = None, device: Any = None,
    out_sharding: Any = None,
) -> Any:  # fmt: skip
    """As array, but an array that already fits is returned itself.

    >>> asarray(2)
    Array(2, dtype=int32, weak_type=True)
    """
    return array(a, dtype, copy=bool(copy), order=order)


def _array(x: Any, dtype: Any) -> Any:
    if isinstance(x, list | tuple):
        return _from_sequence(x, dtype)
    if hasattr(x, "__jax_array__") or not isinstance(x, Value | np.ndarray | np.generic | bool | int | float | complex):
        x = as_array(np.asarray(x) if isinstance(x, bytes | memoryview | range) else x)
    if dtype is None:
        return as_array(x)
    wanted = requested(dtype)
    if isinstance(x, int) and not isinstance(x, bool) and wanted.kind in "iu":
        return _from_host(_checked(x, wanted), wanted)
    if isinstance(x, np.ndarray | np.generic | bool | int | float | complex):
        return _from_host(np.asarray(x), wanted)
    return strong(x, wanted)


def _from_host(x: np.ndarray[Any, Any], dtype: DType) -> Any:
    found = as_array(x)  # refuses what is no array
    with np.errstate(all="ignore"):
        return found if found.type.dtype == x.dtype == dtype else as_array(x.astype(dtype))


def _checked(x: Any, dtype: DType) -> np.ndarray[Any, Any]:
    try:
        return np.array(x, dtype)
    except OverflowError:
        raise errors.IntegerTooLarge(value=x, dtype=dtype) from None


def _from_sequence(parts: Any, dtype: Any) -> Any:
    leaves: dict[object, ArrayType] = {}
    traced = _survey(parts, leaves)
    wanted = requested(dtype) if dtype is not None else result_type(leaves.values())[0] if leaves else canonical("f8")
    if traced:
        return _stacked(parts, wanted)
    host = _checked(_hosts(parts), wanted) if wanted.kind in "iu" and _python_only(leaves) else _cast(parts, wanted)
    return from_host(host)


def _cast(parts: Any, dtype: DType) -> np.ndarray[Any, Any]:
    with np.errstate(all="ignore"):
        return np.array(_hosts(parts)).astype(dtype)


def _python_only(leaves: dict[Any, ArrayType]) -> bool:
    return all(key in _NUMBERS for key in leaves)


def _survey(parts: Any, leaves: dict[Any, ArrayType]) -> bool:
    """Collect one type for each kind of leaf; True if any leaf is traced."""
    traced = False
    for x in parts:
        if isinstance(x, list | tuple):
            traced |= _survey(x, leaves)
        elif type(x) in _NUMBERS:
            if type(x) not in leaves:
                leaves[type(x)] = scalar_type(type(x)(0))
        else:
            found = type_of(x)
            leaves[found] = found
            traced |= isinstance(x, Value) and not is_concrete(x)
    return traced


def is_concrete(x: Any) -> bool:
    return type(x) is Array


def _hosts(parts: Any) -> Any:
    if isinstance(parts, list | tuple):
        return [_hosts(x) for x in parts]
    return parts.host if isinstance(parts, Value) else as_array(parts).host if _odd(parts) else parts


def _odd(x: Any) -> bool:
    return not isinstance(x, np.ndarray | np.generic | bool | int | float | complex)


def _stacked(parts: Any, dtype: DType) -> Any:
    if not isinstance(parts, list | tuple):
        return converted(operand(parts), dtype)
    rows = [_stacked(x, dtype) for x in parts]
    shapes = [x.type.shape for x in rows]
    if any(shape != shapes[0] for shape in shapes):
        raise errors.ShapesDiffer(op="array", shapes=", ".join(map(str, shapes)))
    return stacked(rows)


def stacked(rows: Sequence[Any]) -> Any:
    """Arrays of one type joined along a new leading axis."""
    lifted = [
        ops.broadcast_in_dim(x, shape=(1, *x.type.shape), broadcast_dimensions=tuple(range(1, x.type.ndim + 1)))
        for x in rows
    ]
    return ops.concatenate(*lifted, dimension=0)


def copy(a: Any, order: str | None = None) -> Any:
    """A copy of an array.

    >>> copy(np.array([1, 2]))
    Array([1, 2], dtype=int32)
    """
    return array(a, copy=True)


def astype(x: Any, dtype: Any, /, *, copy: bool = False, device: Any = None) -> Any:
    """x converted to a dtype, with no weakness left; complex numbers lose their imaginary part.

    >>> astype(np.array([1.7, -1.7]), "int32")
    Array([ 1, -1], dtype=int32)
    """
    x = as_array(operand(x, "astype"))
    wanted = requested(dtype, np.float64)
    if wanted.kind == "b" and x.type.dtype.kind == "c":
        return ops.compare(x, constant(0, x), direction="NE")
    if x.type.dtype.kind == "c" and wanted.kind != "c":
        x = ops.real(x)
    return strong(x, wanted)


def filled(shape: Shape, value: Any) -> Any:
    """An array of a shape that repeats one scalar operand."""
    return ops.broadcast_in_dim(value, shape=shape, broadcast_dimensions=())


def zeros(shape: Any, dtype: Any = None, *, device: Any = None, out_sharding: Any = None) -> Any:
    """An array of zeros, by default of the default float dtype.

    >>> zeros(3)
    Array([0., 0., 0.], dtype=float32)
    """
    return filled(shape_from(shape), fixed(0, requested(dtype, np.float64)))


def ones(shape: Any, dtype: Any = None, *, device: Any = None, out_sharding: Any = None) -> Any:
    """An array of ones, by default of the default float dtype.

    >>> ones((1, 2), "int32")
    Array([[1, 1]], dtype=int32)
    """
    return filled(shape_from(shape), fixed(1, requested(dtype, np.float64)))


def empty(shape: Any, dtype: Any = None, *, device: Any = None, out_sharding: Any = None) -> Any:
    """The same as zeros: no array has undefined contents.

    >>> empty(2)
    Array([0., 0.], dtype=float32)
    """
    return zeros(shape, dtype)


def full(shape: Any, fill_value: Any, dtype: Any = None, *, device: Any = None, out_sharding: Any = None) -> Any:
    """An array that repeats fill_value, a scalar or an array that broadcasts to the shape.

    >>> full(2, 7)
    Array([7, 7], dtype=int32, weak_type=True)
    """
    value = operand(fill_value, "full")
    if dtype is not None:
        value = converted(value, requested(dtype))
    return _repeated(value, shape_from(shape))


def _repeated(value: Any, shape: Shape) -> Any:
    return as_array(value) if value.type.shape == shape else broadcasted(value, shape)


def zeros_like(a: Any, dtype: Any = None, shape: Any = None, *, device: Any = None, out_sharding: Any = None) -> Any:
    """Zeros of the shape and dtype of an array, where they are not given.

    >>> zeros_like(np.array([1, 2]))
    Array([0, 0], dtype=int32)
    """
    return _alike(a, 0, dtype, shape)


def ones_like(a: Any, dtype: Any = None, shape: Any = None, *, device: Any = None, out_sharding: Any = None) -> Any:
    """Ones of the shape and dtype of an array, where they are not given.

    >>> ones_like(np.array([1.5, 2]), "int32")
    Array([1, 1], dtype=int32)
    """
    return _alike(a, 1, dtype, shape)


def empty_like(prototype: Any, dtype: Any = None, shape: Any = None, *, device: Any = None) -> Any:
    """The same as zeros_like.

    >>> empty_like(np.array([1, 2]))
    Array([0, 0], dtype=int32)
    """
    return _alike(prototype, 0, dtype, shape)


def _alike(a: Any, value: int, dtype: Any, shape: Any) -> Any:
    like = _like_type(a)
    weak = like.weak_type and dtype is None
    given = fixed(value, requested(dtype, like.dtype))
    given = converted(literal(value, given.type.dtype), given.type.dtype, True) if weak else given
    return filled(like.shape if shape is None else shape_from(shape), given)


def _like_type(a: Any) -> ArrayType:
    if not isinstance(a, Value) and hasattr(a, "shape") and hasattr(a, "dtype"):
        return ArrayType(tuple(a.shape), canonical(a.dtype))
    return operand(a, "the function").type


def full_like(a: Any, fill_value: Any, dtype: Any = None, shape: Any = None, *, device: Any = None) -> Any:
    """fill_value repeated, in the shape and dtype of an array where these are not given.

    >>> full_like(np.array([1, 2]), 7.9)
    Array([7, 7], dtype=int32)
    """
    like = _like_type(a)
    weak = like.weak_type and dtype is None
    value = converted(operand(fill_value, "full_like"), requested(dtype, like.dtype), weak)
    return _repeated(value, like.shape if shape is None else shape_from(shape))


def eye(N: Any, M: Any = None, k: Any = 0, dtype: Any = None, *, device: Any = None) -> Any:
    """A matrix of N rows and M columns with ones on its k-th diagonal and zeros elsewhere.

    >>> eye(2)
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    shape = shape_from((N, N if M is None else M))
    wanted, index = requested(dtype, np.float64), canonical(np.int32)
    rows, columns = (ops.iota(shape=shape, dtype=index, dimension=axis) for axis in (0, 1))
    moved = ops.add(rows, converted(operand(k), index))
    return converted(ops.compare(moved, columns, direction="EQ"), wanted)


def identity(n: Any, dtype: Any = None) -> Any:
    """The square matrix with ones on its diagonal.

    >>> identity(2, "int32")
    Array([[1, 0],
           [0, 1]], dtype=int32)
    """
    return eye(n, dtype=dtype)


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Any:
    """A matrix with ones on and below its k-th diagonal and zeros above.

    >>> tri(2)
    Array([[1., 0.],
           [1., 1.]], dtype=float32)
    """
    return converted(lower_mask(shape_from((N, N if M is None else M)), k), requested(dtype, np.float32))


def lower_mask(shape: Shape, k: int) -> Any:
    """Booleans, true on and below the k-th diagonal of a matrix."""
    index = np.dtype(np.int32)
    rows = ops.add(ops.iota(shape=shape, dtype=index, dimension=0), literal(k, index))
    return ops.compare(rows, ops.iota(shape=shape, dtype=index, dimension=1), direction="GE")


def fromfunction(function: Callable[..., Any], shape: Any, *, dtype: Any = float, **kwargs: Any) -> Any:
    """The array whose element at an index is function(index): the function is called once, with arrays of indices.

    >>> fromfunction(lambda i, j: i + j, (2, 2), dtype="int32")
    Array([[0, 1],
           [1, 2]], dtype=int32)
    """
    extents = shape_from(shape)
    grids = [ops.iota(shape=extents, dtype=requested(dtype), dimension=axis) for axis in range(len(extents))]
    return function(*grids, **kwargs)


def frombuffer(buffer: Any, dtype: Any = float, count: int = -1, offset: int = 0) -> Any:
    """An array of the bytes of a buffer.

    >>> frombuffer(b"abc", "uint8")
    Array([97, 98, 99], dtype=uint8)
    """
    return asarray(np.frombuffer(buffer, to_dtype(dtype), count, offset))


def fromstring(string: str, dtype: Any = float, count: int = -1, *, sep: str) -> Any:
    """An array of the numbers in a text.

    >>> fromstring("1 2", "int32", sep=" ")
    Array([1, 2], dtype=int32)
    """
    return asarray(np.fromstring(string, to_dtype(dtype), count, sep=sep))


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Any:
    """An array of the data of another library's array.

    >>> from_dlpack(np.array([1, 2], "int32"))
    Array([1, 2], dtype=int32)
    """
    return asarray(np.from_dlpack(x))
