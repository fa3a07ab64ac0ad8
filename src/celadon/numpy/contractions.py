"""Products of vectors and matrices: operands are promoted and their axes named, dot_general does the rest."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from celadon import errors, vocabulary as ops
from celadon.facade import Lazy
from celadon.numpy.dtypes import requested
from celadon.numpy.elementwise import conj, multiply
from celadon.numpy.promotion import array, axes_of, converted, operand
from celadon.numpy.shapes import expanded, moveaxis, ravel, reshape, squeezed
from celadon.program import fixed, literal
from celadon.types import canonical, kind, result_type
from celadon.vocabulary.call import named

if TYPE_CHECKING:
    from celadon.numpy import joining, reductions, selection
else:  # a product needs none of them
    joining, reductions = Lazy("celadon.numpy.joining"), Lazy("celadon.numpy.reductions")
    selection = Lazy("celadon.numpy.selection")

Axes = tuple[int, ...]
Dimensions = tuple[tuple[Axes, Axes], tuple[Axes, Axes]]


def contracted(function: str, a: Any, b: Any, dimensions: Dimensions, options: tuple[Any, Any] = (None, None)) -> Any:
    """dot_general of operands of any dtypes; options are the precision and the preferred dtype of the result."""
    precision, preferred = options
    dtype, weak = result_type([a.type, b.type])
    wanted = requested(preferred) if preferred is not None else dtype
    found = ops.dot_general(
        converted(a, dtype, a.type.weak_type), converted(b, dtype, b.type.weak_type), dimension_numbers=dimensions,
        precision=precision_pair(precision), preferred_element_type=wanted,
    )  # fmt: skip
    return converted(found, wanted, True) if weak and preferred is None else found


def precision_pair(precision: Any) -> tuple[str, str] | None:
    """The names of both operands' precisions, or None for the default."""
    if precision is None:
        return None
    pair = precision if isinstance(precision, tuple | list) else (precision, precision)
    left, right = (_PRECISIONS.get(str(getattr(p, "name", p)).lower()) for p in pair)
    if left is None or right is None:
        raise errors.OptionUnknown(
            function="a contraction", argument="precision", value=precision, allowed="'default', 'high' or 'highest'"
        )
    return None if left == right == "DEFAULT" else (left, right)


_PRECISIONS = {
    "default": "DEFAULT", "high": "HIGH", "highest": "HIGHEST", "fastest": "DEFAULT", "bfloat16": "DEFAULT",
    "tensorfloat32": "HIGH", "bfloat16_3x": "HIGH", "float32": "HIGHEST", "none": "DEFAULT",
}  # fmt: skip


def matmul(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None, out_sharding: Any = None) -> Any:
    """The matrix product over the last axis of a and the last but one of b; axes before these broadcast.

    Args: a: f[..., n, k] or f[k]; b: f[..., k, m] or f[k]; precision: "default", "high" or "highest";
    preferred_element_type: of the result.

    >>> matmul(np.array([[1, 2], [3, 4]]), np.array([1, 1]))
    Array([3, 7], dtype=int32)
    """
    x, y = operand(a, "matmul"), operand(b, "matmul")
    if not x.type.shape or not y.type.shape:
        raise errors.DimensionsUnfit(
            function="matmul", argument="a and b", value="a scalar", shape=(), reason="use multiply for scalars"
        )
    if x.type.shape[-1] != y.type.shape[-2 if y.type.ndim > 1 else 0]:
        raise errors.ShapesDiffer(op="matmul", shapes=f"{x.type.shape} and {y.type.shape}")
    options = (precision, preferred_element_type)
    if x.type.ndim <= 2 and y.type.ndim <= 2:
        return contracted("matmul", x, y, (((x.type.ndim - 1,), (0,)), ((), ())), options)
    return _batched(x, y, options)


def _batched(x: Any, y: Any, options: tuple[Any, Any]) -> Any:
    """Axes of extent 1 that meet a larger one are dropped; the rest are batched, or free on one side."""
    left, right = x.type.shape[:-2], y.type.shape[:-2]
    count = max(len(left), len(right))
    sizes = [(1,) * (count - len(s)) + s for s in (left, right)]
    for n, m in zip(*sizes, strict=True):
        if n != m and 1 not in (n, m):
            raise errors.ShapesDiffer(op="matmul", shapes=f"{x.type.shape} and {y.type.shape}")
    meets = [_meet(i, (left, right), count) for i in range(count)]
    x = squeezed(x, [i - count + len(left) for i, m in enumerate(meets) if m == "right" and i >= count - len(left)])
    y = squeezed(y, [i - count + len(right) for i, m in enumerate(meets) if m == "left" and i >= count - len(right)])
    names = [i for i, m in enumerate(meets) if m != "right"], [i for i, m in enumerate(meets) if m != "left"]
    both = [i for i, m in enumerate(meets) if m == "both"]
    batch = tuple(names[0].index(i) for i in both), tuple(names[1].index(i) for i in both)
    contract = (x.type.ndim - 1,), (y.type.ndim - 2 if y.type.ndim > 1 else 0,)
    free = [[i for i in n if i not in both] for n in names]
    rows, columns = [count] * (x.type.ndim > len(names[0]) + 1), [count + 1] * (y.type.ndim > len(names[1]) + 1)
    found = contracted("matmul", x, y, (contract, batch), options)
    order = [*both, *free[0], *rows, *free[1], *columns]
    wanted = [*range(count), *rows, *columns]
    return found if order == wanted else ops.transpose(found, permutation=tuple(order.index(i) for i in wanted))


def _meet(i: int, shapes: tuple[Axes, Axes], count: int) -> str:
    """Which operands keep a batch axis: both, or the left or right one alone."""
    left, right = (s[i - count + len(s)] if i >= count - len(s) else None for s in shapes)
    if left is None:
        return "right"
    if right is None:
        return "left"
    if left == right == 1 or left == right:
        return "both"
    return "right" if left == 1 else "left"


def dot(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None, out_sharding: Any = None) -> Any:
    """The product over the last axis of a and the last but one (or only one) of b; with a scalar, the plain product.

    >>> dot(np.array([1, 2]), np.array([3, 4]))
    Array(11, dtype=int32)
    """
    x, y = operand(a, "dot"), operand(b, "dot")
    options = (precision, preferred_element_type)
    if not x.type.ndim or not y.type.ndim:
        return contracted("dot", x, y, (((), ()), ((), ())), options)
    other = max(y.type.ndim - 2, 0)
    if x.type.shape[-1] != y.type.shape[other]:
        raise errors.ShapesDiffer(op="dot", shapes=f"{x.type.shape} and {y.type.shape}")
    return contracted("dot", x, y, (((x.type.ndim - 1,), (other,)), ((), ())), options)


def vdot(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None) -> Any:
    """The scalar product of two arrays as vectors, the first one conjugated.

    >>> vdot(np.array([1, 2]), np.array([3, 4]))
    Array(11, dtype=int32)
    """
    x = ravel(a)
    x = conj(x) if kind(x.type.dtype) == "c" else x
    return dot(x, ravel(b), precision=precision, preferred_element_type=preferred_element_type)


def vecdot(
    x1: Any, x2: Any, /, *, axis: int = -1, precision: Any = None, preferred_element_type: Any = None
) -> Any:
    """The scalar products of vectors along an axis, the first ones conjugated; the other axes broadcast.

    >>> vecdot(np.array([[1, 2], [3, 4]]), np.array([1, 1]))
    Array([3, 7], dtype=int32)
    """
    x, y = operand(x1, "vecdot"), operand(x2, "vecdot")
    x = conj(x) if kind(x.type.dtype) == "c" else x
    x, y = (moveaxis(one, axis, -1) for one in (x, y))
    if x.type.shape[-1] != y.type.shape[-1]:
        raise errors.ShapesDiffer(op="vecdot", shapes=f"{x.type.shape} and {y.type.shape}")
    left, right = expanded(x, (x.type.ndim - 1,)), expanded(y, (y.type.ndim,))
    found = matmul(left, right, precision=precision, preferred_element_type=preferred_element_type)
    return squeezed(found, (found.type.ndim - 2, found.type.ndim - 1))


def matvec(x1: Any, x2: Any, /) -> Any:
    """Matrices times vectors.

    >>> matvec(np.array([[1, 2], [3, 4]]), np.array([1, 1]))
    Array([3, 7], dtype=int32)
    """
    y = array(x2, "matvec")
    found = matmul(x1, expanded(y, (y.type.ndim,)))
    return squeezed(found, (found.type.ndim - 1,))


def vecmat(x1: Any, x2: Any, /) -> Any:
    """Vectors, conjugated, times matrices.

    >>> vecmat(np.array([1, 1]), np.array([[1, 2], [3, 4]]))
    Array([4, 6], dtype=int32)
    """
    x = array(x1, "vecmat")
    x = conj(x) if kind(x.type.dtype) == "c" else x
    found = matmul(expanded(x, (x.type.ndim - 1,)), x2)
    return squeezed(found, (found.type.ndim - 2,))


def inner(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None) -> Any:
    """The products over the last axes of both.

    >>> inner(np.array([1, 2]), np.array([3, 4]))
    Array(11, dtype=int32)
    """
    x, y = operand(a, "inner"), operand(b, "inner")
    if not x.type.ndim or not y.type.ndim:
        return contracted("inner", x, y, (((), ()), ((), ())), (precision, preferred_element_type))
    return tensordot(x, y, (-1, -1), precision=precision, preferred_element_type=preferred_element_type)


def outer(a: Any, b: Any, out: None = None) -> Any:
    """The products of each element of a with each of b, both as vectors.

    >>> outer(np.array([1, 2]), np.array([3, 4]))
    Array([[3, 4],
           [6, 8]], dtype=int32)
    """
    if out is not None:
        raise errors.OutNotSupported(function="outer")
    return multiply(expanded(ravel(a), (1,)), expanded(ravel(b), (0,)))


def tensordot(
    a: Any, b: Any, axes: Any = 2, *, precision: Any = None, preferred_element_type: Any = None, out_sharding: Any = None
) -> Any:
    """The sum of products over axes of both.

    Args: axes: the number of last axes of a and first ones of b, or a pair of axes, or of sequences of axes.

    >>> tensordot(np.array([[1, 2]]), np.array([[3], [4]]), 1)
    Array([[11]], dtype=int32)
    """
    x, y = operand(a, "tensordot"), operand(b, "tensordot")
    left, right = _tensor_axes(x, y, axes)
    if [x.type.shape[i] for i in left] != [y.type.shape[j] for j in right]:
        raise errors.ShapesDiffer(op="tensordot", shapes=f"{x.type.shape} and {y.type.shape} over {axes}")
    return contracted("tensordot", x, y, ((left, right), ((), ())), (precision, preferred_element_type))


def _tensor_axes(x: Any, y: Any, axes: Any) -> tuple[Axes, Axes]:
    if not isinstance(axes, tuple | list):
        count = operator.index(axes)
        if not 0 <= count <= min(x.type.ndim, y.type.ndim):
            raise errors.AxisNotInArray(axis=count, ndim=min(x.type.ndim, y.type.ndim))
        return tuple(range(x.type.ndim - count, x.type.ndim)), tuple(range(count))
    if len(axes) != 2:
        raise errors.DimensionsUnfit(
            function="tensordot", argument="axes", value=axes, shape=x.type.shape, reason="a pair is needed"
        )
    left, right = (a if isinstance(a, tuple | list) else (a,) for a in axes)
    if len(left) != len(right):
        raise errors.DimensionsUnfit(
            function="tensordot", argument="axes", value=axes, shape=x.type.shape, reason="both need as many axes"
        )
    return axes_of(tuple(left), x.type.ndim), axes_of(tuple(right), y.type.ndim)


def kron(a: Any, b: Any) -> Any:
    """The Kronecker product: a with each element replaced by its product with all of b.

    >>> kron(np.array([1, 2]), np.array([1, 1]))
    Array([1, 1, 2, 2], dtype=int32)
    """
    return _kron(operand(a, "kron"), operand(b, "kron"))


@named("kron")
def _kron(x: Any, y: Any) -> Any:
    ndim = max(x.type.ndim, y.type.ndim)
    x, y = (expanded(one, tuple(range(ndim - one.type.ndim))) for one in (x, y))
    found = multiply(expanded(x, tuple(range(1, 2 * ndim, 2))), expanded(y, tuple(range(0, 2 * ndim, 2))))
    return reshape(found, tuple(n * m for n, m in zip(x.type.shape, y.type.shape, strict=True)))


def trace(
    a: Any, offset: Any = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: None = None
) -> Any:
    """The sum of a diagonal of the matrices in two axes.

    >>> trace(np.array([[1, 2], [3, 4]]))
    Array(5, dtype=int32)
    """
    if out is not None:
        raise errors.OutNotSupported(function="trace")
    x = operand(a, "trace")
    axes = axes_of((axis1, axis2), x.type.ndim)
    wanted = None if dtype is None else requested(dtype)
    if isinstance(offset, int):
        return _trace(x, axes=axes, dtype=wanted, number=offset)
    return _trace(x, operand(offset), axes=axes, dtype=wanted, number=None)


@named("trace")
def _trace(x: Any, *offset: Any, axes: Axes, dtype: Any, number: int | None) -> Any:
    x = moveaxis(x, axes, (-2, -1))
    shape = x.type.shape[-2:]
    index = np.dtype(np.int32)
    rows, columns = (ops.iota(shape=shape, dtype=index, dimension=i) for i in (0, 1))
    mask = ops.compare(ops.add(rows, converted(offset[0] if offset else literal(number, index), index)), columns, direction="EQ")
    zeros = ops.broadcast_in_dim(fixed(0, x.type.dtype), shape=x.type.shape, broadcast_dimensions=())
    if x.type.ndim > 2:
        mask = ops.broadcast_in_dim(mask, shape=x.type.shape, broadcast_dimensions=(x.type.ndim - 2, x.type.ndim - 1))
    return reductions.sum(selection.chosen(mask, x, zeros), (-2, -1), dtype)


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
    """The vector products of vectors of two or three elements along an axis.

    >>> cross(np.array([1, 0, 0]), np.array([0, 1, 0]))
    Array([0, 0, 1], dtype=int32)
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = moveaxis(a, axisa, -1), moveaxis(b, axisb, -1)
    if x.type.shape[-1] not in (2, 3) or y.type.shape[-1] not in (2, 3):
        raise errors.DimensionsUnfit(
            function="cross", argument="a and b", value="arrays", shape=x.type.shape, reason="vectors have 2 or 3 elements"
        )
    flat = x.type.shape[-1] == y.type.shape[-1] == 2
    found = _cross(x, y)
    return found if flat else moveaxis(found, -1, axisc)


@named("cross")
def _cross(x: Any, y: Any) -> Any:
    xs = [x[..., i] for i in range(x.type.shape[-1])]
    ys = [y[..., i] for i in range(y.type.shape[-1])]
    if len(xs) == len(ys) == 2:
        return xs[0] * ys[1] - xs[1] * ys[0]
    xs, ys = (one if len(one) == 3 else [*one, one[0] - one[0]] for one in (xs, ys))
    return joining.stack([xs[i] * ys[j] - xs[j] * ys[i] for i, j in ((1, 2), (2, 0), (0, 1))], -1)


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """The powers of a vector's elements as the columns of a matrix, from the highest to 0.

    >>> vander(np.array([1, 2]), 3)
    Array([[1, 1, 1],
           [4, 2, 1]], dtype=int32)
    """
    column = expanded(array(x, "vander"), (1,))
    count = column.type.shape[0] if N is None else N
    powers = ops.iota(shape=(count,), dtype=canonical(np.int64), dimension=0)
    exponents = powers if increasing else ops.subtract(literal(count - 1, powers.type.dtype), powers)
    return column ** expanded(exponents, (0,))


def convolve(
    a: Any, v: Any, mode: str = "full", *, precision: Any = None, preferred_element_type: Any = None
) -> Any:
    """The convolution of two vectors.

    Args: mode: "full", "same" (as long as the longer one) or "valid" (where both overlap wholly).

    >>> convolve(np.array([1, 2]), np.array([1, 1]))
    Array([1., 3., 2.], dtype=float32)
    """
    return _convolved("convolve", a, array(v, "convolve"), mode, (precision, preferred_element_type))


def correlate(
    a: Any, v: Any, mode: str = "valid", *, precision: Any = None, preferred_element_type: Any = None
) -> Any:
    """The correlation of two vectors, the second one conjugated; mode as for convolve.

    >>> correlate(np.array([1, 2, 3]), np.array([1, 1]))
    Array([3., 5.], dtype=float32)
    """
    kernel, x = array(v, "correlate"), array(a, "correlate")
    kernel = conj(kernel) if kind(kernel.type.dtype) == "c" else kernel
    return _convolved("correlate", x, ops.reverse(kernel, dimensions=(0,)), mode, (precision, preferred_element_type))


def _convolved(function: str, a: Any, v: Any, mode: str, options: tuple[Any, Any]) -> Any:
    if mode not in ("full", "same", "valid"):
        raise errors.OptionUnknown(function=function, argument="mode", value=mode, allowed="'full', 'same' or 'valid'")
    x, kernel = array(a, function), v
    if kind(result_type([x.type, kernel.type])[0]) in "biu":
        x, kernel = converted(x, canonical(np.float64)), converted(kernel, canonical(np.float64))
    if x.type.ndim != 1 or kernel.type.ndim != 1 or not x.type.size or not kernel.type.size:
        raise errors.DimensionsUnfit(
            function=function, argument="a and v", value="arrays", shape=x.type.shape, reason="both must be vectors"
        )
    if x.type.size < kernel.type.size:
        x, kernel = kernel, x
    n, k = x.type.size, kernel.type.size
    low, count = {"full": (k - 1, n + k - 1), "same": (k // 2, n), "valid": (0, n - k + 1)}[mode]
    high = count + k - 1 - n - low
    padded = ops.pad(x, fixed(0, x.type.dtype), low=(low,), high=(high,), interior=(0,))
    flipped = ops.reverse(kernel, dimensions=(0,))
    return contracted(function, flipped, _windows(padded, k, count), (((0,), (0,)), ((), ())), options)


def _windows(x: Any, k: int, count: int) -> Any:
    """The k parts of `count` elements that begin at the first elements of a vector, as rows."""
    index, shape = np.dtype(np.int32), (k, count)
    places = ops.add(*[ops.iota(shape=shape, dtype=index, dimension=i) for i in (0, 1)])
    return ops.gather(
        x, ops.reshape(places, shape=(*shape, 1)), offset_dims=(), collapsed_slice_dims=(0,), start_index_map=(0,),
        slice_sizes=(1,), mode="promise_in_bounds",
    )  # fmt: skip
