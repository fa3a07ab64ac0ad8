"""Matrices that a vector or a number describes: blocks, Toeplitz and Hankel matrices, those of Hilbert, Pascal and others."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from celadon import errors, vocabulary as ops
from celadon.array import as_array
from celadon.numpy.creation import astype
from celadon.numpy.dtypes import requested
from celadon.numpy.elementwise import abs as abs_of, conj, divide, multiply, negative
from celadon.numpy.joining import concatenate
from celadon.numpy.promotion import array, broadcasted, common_shape, constant, converted, fixed_like, inexact
from celadon.numpy.selection import select, where
from celadon.numpy.shapes import atleast_1d, atleast_2d
from celadon.numpy.taking import take
from celadon.numpy.transcendentals import cos, sin
from celadon.program import literal
from celadon.types import canonical, int32, result_type
from celadon.vocabulary.kinds import real_dtype


def _numbers(n: int, m: int) -> tuple[Any, Any]:
    """The row and column numbers of n by m matrices."""
    rows, columns = (ops.iota(shape=(n, m), dtype=int32, dimension=i) for i in (0, 1))
    return rows, columns


def _unfit(function: str, argument: str, x: Any, reason: str) -> Exception:
    return errors.DimensionsUnfit(
        function=function, argument=argument, value="an array", shape=x.type.shape, reason=reason
    )


def block_diag(*arrs: Any) -> Any:
    """A matrix with the given ones along its diagonal, zeros elsewhere.

    >>> block_diag(np.array([[1, 2]]), np.array([[3]]))
    Array([[1, 2, 0],
           [0, 0, 3]], dtype=int32)
    """
    given = [array(x, "block_diag") for x in arrs] or [array(np.zeros((1, 0), np.float32))]
    for x in given:
        if x.type.ndim > 2:
            raise _unfit("block_diag", "arrs", x, "matrices have two axes")
    dtype, weak = result_type([x.type for x in given])
    blocks = [atleast_2d(converted(x, dtype, weak)) for x in given]
    width = sum(x.type.shape[1] for x in blocks)
    rows: list[Any] = []
    before = 0
    for x in blocks:
        after = width - before - x.type.shape[1]
        rows.append(ops.pad(x, fixed_like(0, x), low=(0, before), high=(0, after), interior=(0, 0)))
        before += x.type.shape[1]
    return concatenate(rows, 0)


def toeplitz(c: Any, r: Any = None) -> Any:
    """Matrices that are constant along each diagonal.

    Args: c: the first column; r: the first row, whose first element is not read; by default the conjugate of c.

    >>> toeplitz(np.array([1, 2]), np.array([0, 5, 6]))
    Array([[1, 5, 6],
           [2, 1, 5]], dtype=int32)
    """
    column = atleast_1d(array(c, "toeplitz"))
    row = conj(column) if r is None else atleast_1d(array(r, "toeplitz"))
    elements = _beside("toeplitz", ops.reverse(column, dimensions=(column.type.ndim - 1,)), row)
    m, n = column.type.shape[-1], row.type.shape[-1]
    rows, columns = _numbers(m, n)
    return _taken(elements, ops.add(ops.subtract(columns, rows), literal(m - 1, int32)))


def _beside(function: str, first: Any, second: Any) -> Any:
    """The elements of both along the last axis, the first of the second left out."""
    dtype, weak = result_type([first.type, second.type])
    stack = common_shape(function, first.type.shape[:-1], second.type.shape[:-1])
    x, y = (
        broadcasted(converted(v, dtype, weak), (*stack, v.type.shape[-1])) for v in (first, second)
    )
    return concatenate([x, y[..., 1:]], -1)


def _taken(elements: Any, places: Any) -> Any:
    """The elements along the last axis at places that make a matrix."""
    if not elements.type.shape[-1]:
        return ops.broadcast_in_dim(
            fixed_like(0, elements), shape=(*elements.type.shape[:-1], *places.type.shape), broadcast_dimensions=()
        )
    return take(elements, places, -1, mode="clip")


def hankel(c: Any, r: Any = None) -> Any:
    """Matrices that are constant along each antidiagonal.

    Args: c: the first column; r: the last row, whose first element is not read; by default zeros.

    >>> hankel(np.array([1, 2]))
    Array([[1, 2],
           [2, 0]], dtype=int32)
    """
    column = array(c, "hankel")
    row = multiply(column, fixed_like(0, column)) if r is None else array(r, "hankel")
    for x in (column, row):
        if not x.type.ndim:
            raise _unfit("hankel", "c and r", x, "vectors are needed")
    rows, columns = _numbers(column.type.shape[-1], row.type.shape[-1])
    return _taken(_beside("hankel", column, row), ops.add(rows, columns))


def circulant(c: Any) -> Any:
    """Square matrices whose columns are the first one moved round.

    >>> circulant(np.array([1, 2, 3]))
    Array([[1, 3, 2],
           [2, 1, 3],
           [3, 2, 1]], dtype=int32)
    """
    x = atleast_1d(array(c, "circulant"))
    n = x.type.shape[-1]
    rows, columns = _numbers(n, n)
    apart = ops.subtract(rows, columns)
    return _taken(x, where(apart < 0, apart + literal(n, int32), apart))


def convolution_matrix(a: Any, n: int, mode: str = "full") -> Any:
    """The matrix whose product with a vector of n elements is the convolution with a.

    Args: mode: "full", "valid" or "same", as of convolve.

    >>> convolution_matrix(np.array([1, 2]), 2)
    Array([[1, 0],
           [2, 1],
           [0, 2]], dtype=int32)
    """
    x, n = array(a, "convolution_matrix"), operator.index(n)
    if mode not in ("full", "valid", "same"):
        raise errors.OptionUnknown(
            function="convolution_matrix", argument="mode", value=mode, allowed="'full', 'valid' or 'same'"
        )
    if n <= 0 or not x.type.ndim or not x.type.shape[-1]:
        raise _unfit("convolution_matrix", "a and n", x, f"a must have elements, and n={n} be positive")
    m = x.type.shape[-1]
    spare = {"full": 0, "valid": 2 * (min(m, n) - 1), "same": min(m, n) - 1}[mode]
    first, count = spare // 2, m + n - 1 - spare
    rows, columns = _numbers(count, n)
    place = ops.add(ops.subtract(rows, columns), literal(first, int32))
    inside = ops.and_(place >= 0, place < literal(m, int32))
    found = _taken(x, place)
    return where(inside, found, fixed_like(0, found))


def leslie(f: Any, s: Any) -> Any:
    """The Leslie matrix of fecundities f, in the first row, and survival rates s, below the diagonal.

    >>> leslie(np.array([1, 2]), np.array([3]))
    Array([[1, 2],
           [3, 0]], dtype=int32)
    """
    first, below = atleast_1d(array(f, "leslie")), atleast_1d(array(s, "leslie"))
    n = first.type.shape[-1]
    if n < 2 or below.type.shape[-1] != n - 1:
        raise _unfit("leslie", "f and s", first, "f needs two elements or more, and s one less")
    dtype, weak = result_type([first.type, below.type])
    return _over_subdiagonal("leslie", converted(first, dtype, weak), converted(below, dtype, weak))


def _over_subdiagonal(function: str, first: Any, below: Any) -> Any:
    """Square matrices with a first row, and a diagonal below the main one."""
    n = first.type.shape[-1]
    stack = common_shape(function, first.type.shape[:-1], below.type.shape[:-1])
    rows, columns = _numbers(n, n)
    shape = (*stack, n, n)
    upper = ops.broadcast_in_dim(
        broadcasted(first, (*stack, n)), shape=shape, broadcast_dimensions=(*range(len(stack)), len(stack) + 1)
    )
    padded = ops.pad(
        broadcasted(below, (*stack, n - 1)), fixed_like(0, below), low=(*(0 for _ in stack), 1),
        high=(0,) * (len(stack) + 1), interior=(0,) * (len(stack) + 1),
    )  # fmt: skip
    lower = ops.broadcast_in_dim(padded, shape=shape, broadcast_dimensions=tuple(range(len(stack) + 1)))
    return where(rows == 0, upper, where(rows == columns + 1, lower, fixed_like(0, lower)))


def companion(a: Any) -> Any:
    """The companion matrix of a polynomial, whose eigenvalues are its roots.

    Args: a: the coefficients, that of the highest power first.

    >>> companion(np.array([1.0, -3.0, 2.0], "float32"))
    Array([[ 3., -2.],
           [ 1.,  0.]], dtype=float32)
    """
    x = atleast_1d(array(inexact("companion", array(a, "companion"))[0]))
    if x.type.shape[-1] < 2:
        raise _unfit("companion", "a", x, "two coefficients or more are needed")
    first = divide(negative(x[..., 1:]), x[..., :1])
    below = ops.broadcast_in_dim(fixed_like(1, x), shape=(x.type.shape[-1] - 2,), broadcast_dimensions=())
    return _over_subdiagonal("companion", first, below)


def fiedler(a: Any) -> Any:
    """The absolute differences of all pairs of elements.

    >>> fiedler(np.array([1, 4]))
    Array([[0, 3],
           [3, 0]], dtype=int32)
    """
    x = atleast_1d(array(a, "fiedler"))
    return abs_of(x[..., :, None] - x[..., None, :])


def fiedler_companion(a: Any) -> Any:
    """Fiedler's companion matrix of a polynomial, which has five diagonals.

    >>> fiedler_companion(np.array([1.0, -3.0, 2.0], "float32"))
    Array([[ 3., -2.],
           [ 1.,  0.]], dtype=float32)
    """
    x = atleast_1d(array(inexact("fiedler_companion", array(a, "fiedler_companion"))[0]))
    n = x.type.shape[-1] - 1
    if n < 0:
        raise _unfit("fiedler_companion", "a", x, "a coefficient is needed")
    scaled = negative(divide(x, x[..., :1]))
    rows, columns = _numbers(n, n)
    even = (rows & 1) == 0
    after, here = (_taken(scaled, rows + step) for step in (2, 1))
    one, zero = fixed_like(1, here), fixed_like(0, here)
    found = select(
        [(rows == 0) & (columns == 0), (columns == rows + 1) & even, (columns == rows - 1) & even],
        [here, after, here], zero,
    )  # fmt: skip
    ones = [
        (rows == 1) & (columns == 0), (columns == rows + 2) & even, (columns == rows - 2) & ops.not_(even) & (rows >= 3)
    ]  # fmt: skip
    return where(ones[0] | ones[1] | ones[2], one, found)



def hilbert(n: int) -> Any:
    """The matrix of 1 / (i + j + 1).

    >>> hilbert(2)
    Array([[1.        , 0.5       ],
           [0.5       , 0.33333334]], dtype=float32)
    """
    i, j = _floats(n, n)
    return divide(fixed_like(1, i), i + j + fixed_like(1, i))


def _floats(n: int, m: int) -> tuple[Any, Any]:
    dtype = canonical("float64")
    rows, columns = (ops.iota(shape=(n, m), dtype=dtype, dimension=i) for i in (0, 1))
    return rows, columns


def _exact(n: int, element: Any, dtype: Any) -> Any:
    """A matrix of integers, each computed exactly and then rounded."""
    return as_array(np.array([[float(element(i, j)) for j in range(n)] for i in range(n)]).reshape(n, n).astype(dtype))


def invhilbert(n: int) -> Any:
    """The inverse of the Hilbert matrix.

    >>> invhilbert(2)
    Array([[ 4., -6.],
           [-6., 12.]], dtype=float32)
    """

    def element(i: int, j: int) -> int:
        s = i + j
        pairs = math.comb(n + i, n - j - 1) * math.comb(n + j, n - i - 1) * math.comb(s, i) ** 2
        return (-1) ** s * (s + 1) * pairs

    return _exact(n, element, canonical("float64"))


def pascal(n: int, kind: str | None = None) -> Any:
    """Pascal's triangle as a matrix: "lower", "upper", or "symmetric" (the product of both).

    >>> pascal(3, "lower")
    Array([[1., 0., 0.],
           [1., 1., 0.],
           [1., 2., 1.]], dtype=float32)
    """
    elements = {
        "symmetric": lambda i, j: math.comb(i + j, i), "lower": math.comb, "upper": lambda i, j: math.comb(j, i)
    }  # fmt: skip
    return _exact(n, elements[_kind("pascal", kind)], np.float32)


def invpascal(n: int, kind: str | None = None) -> Any:
    """The inverse of Pascal's matrix.

    >>> invpascal(3, "lower")
    Array([[ 1.,  0.,  0.],
           [-1.,  1.,  0.],
           [ 1., -2.,  1.]], dtype=float32)
    """

    def both(i: int, j: int) -> int:
        return (-1) ** (i + j) * sum(math.comb(k, i) * math.comb(k, j) for k in range(n))

    elements = {
        "symmetric": both, "lower": lambda i, j: (-1) ** (i + j) * math.comb(i, j),
        "upper": lambda i, j: (-1) ** (i + j) * math.comb(j, i),
    }  # fmt: skip
    return _exact(n, elements[_kind("invpascal", kind)], canonical("float64"))


def _kind(function: str, kind: str | None) -> str:
    found = kind or "symmetric"
    if found not in ("symmetric", "lower", "upper"):
        raise errors.OptionUnknown(
            function=function, argument="kind", value=kind, allowed="'symmetric', 'lower' or 'upper'"
        )
    return found


def helmert(n: int, full: bool = False) -> Any:
    """The Helmert matrix, whose rows are orthonormal and (but for the first, if full) sum to 0.

    >>> helmert(2, full=True).shape
    (2, 2)
    """
    if n < 1:
        raise errors.OptionUnknown(function="helmert", argument="n", value=n, allowed="a positive integer")
    i, j = _floats(n, n)
    one, zero = fixed_like(1, i), fixed_like(0, i)
    size = ops.sqrt(ops.multiply(i, i + one))
    share = divide(one, where(size == 0, one, size))
    found = where(j < i, share, where(j == i, negative(i) * share, zero))
    found = where(i == 0, constant(1 / math.sqrt(n), i), found)
    return found if full else found[1:]


def hadamard(n: int, dtype: Any = int) -> Any:
    """Hadamard's matrix of 1 and -1 with orthogonal rows, for n a power of 2.

    >>> hadamard(2)
    Array([[ 1,  1],
           [ 1, -1]], dtype=int32)
    """
    if n < 1 or n & (n - 1):
        raise errors.OptionUnknown(function="hadamard", argument="n", value=n, allowed="a power of 2")
    i, j = _numbers(n, n)
    odd = ops.popcnt(ops.and_(i, j)) & 1
    return astype(fixed_like(1, i) - odd - odd, requested(dtype))


def dft(n: int, scale: str | None = None, *, dtype: Any = None) -> Any:
    """The matrix of the Fourier transform of n samples.

    Args: scale: None, "sqrtn" (unitary) or "n"; dtype: complex64 or complex128.

    >>> dft(1)
    Array([[1.-0.j]], dtype=complex64)
    """
    if scale not in (None, "sqrtn", "n"):
        raise errors.OptionUnknown(function="dft", argument="scale", value=scale, allowed="None, 'sqrtn' or 'n'")
    wanted = canonical("complex128") if dtype is None else requested(dtype)
    if wanted.kind != "c":
        raise errors.DTypeNotAccepted(function="dft", dtype=wanted, accepted="complex numbers")
    i, j = _numbers(n, n)
    turns = ops.convert(ops.remainder(ops.multiply(i, j), literal(max(n, 1), int32)), new_dtype=real_dtype(wanted))
    angle = multiply(turns, literal(2 * math.pi / max(n, 1), turns.type.dtype))
    size = {None: 1.0, "sqrtn": math.sqrt(max(n, 1)), "n": float(max(n, 1))}[scale]
    share = literal(1 / size, turns.type.dtype)
    return ops.complex_(multiply(cos(angle), share), negative(multiply(sin(angle), share)))
