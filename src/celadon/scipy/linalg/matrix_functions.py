"""Functions of square matrices: the exponential, the square root, and any function of eigenvalues."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from celadon import errors, vocabulary as ops
from celadon.lax.branches import cond
from celadon.lax.loops import fori_loop, scan
from celadon.numpy import comparison, reductions
from celadon.numpy.creation import astype
from celadon.numpy.elementwise import abs as abs_of, divide, sqrt
from celadon.numpy.library import library
from celadon.numpy.linalg import norm, solve
from celadon.numpy.linalg.decompositions import matrix
from celadon.numpy.promotion import constant, fixed_like
from celadon.numpy.rounding import ceil, floor
from celadon.numpy.selection import where
from celadon.numpy.transcendentals import exp2, log2
from celadon.numpy.universal import maximum, minimum
from celadon.program import literal
from celadon.scipy.linalg.factors import schur
from celadon.scipy.linalg.systems import solve_triangular
from celadon.transforms.gradients import jvp
from celadon.transforms.mapping import vmap
from celadon.vocabulary import matrices

_PADE = {
    7: (17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0, 1.0),
    13: (
        64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0,
        10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0,
    ),
}  # fmt: skip
_DEGREES = {4: (7, 3.925724783138660), 8: (13, 5.371920351148152)}  # by bytes of a real number: degree, largest norm


def _square(function: str, a: Any) -> Any:
    x = matrix(function, a)
    if x.type.shape[-1] != x.type.shape[-2]:
        raise errors.MatricesUnfit(op=function, shapes=x.type, form="(..., n, n)")
    return x


def expm(A: Any, *, upper_triangular: bool = False, max_squarings: int = 16) -> Any:
    """The exponentials of square matrices.

    N. J. Higham, "The scaling and squaring method for the matrix exponential revisited", SIAM Journal on Matrix Analysis and
    Applications 26, 2005.

    Args: upper_triangular: A is; max_squarings: NaN where more would be needed.

    >>> expm(np.zeros((2, 2)))
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    return _expm(A, upper_triangular=upper_triangular, max_squarings=max_squarings)


@library("upper_triangular", "max_squarings", name="expm")
def _expm(A: Any, upper_triangular: bool, max_squarings: int) -> Any:
    x = _square("expm", A)

    def one(a: Any) -> Any:
        return _exponential(a, upper_triangular, max_squarings)

    for _ in x.type.shape[:-2]:
        one = vmap(one)
    return one(x)


def _exponential(a: Any, upper_triangular: bool, max_squarings: int) -> Any:
    """A Padé approximant for a matrix divided by a power of 2, squared as often."""
    size = norm(a, 1) if a.type.size else fixed_like(0, ops.real(a))
    degree, largest = _DEGREES[size.type.dtype.itemsize]
    doublings = log2(divide(size, constant(largest, size)))
    squarings = maximum(0, ceil(doublings))
    odd, even = _parts(divide(a, astype(exp2(squarings), a.type.dtype)), degree)
    start = (solve_triangular if upper_triangular else solve)(even - odd, even + odd)

    def step(x: Any, i: Any) -> tuple[Any, None]:
        return cond(comparison.less(i, squarings), lambda x: matrices.product(x, x), lambda x: x, x), None

    numbers = ops.iota(shape=(max_squarings + 1,), dtype=size.type.dtype, dimension=0)
    found, _ = scan(step, start, numbers)
    return where(comparison.greater(floor(doublings), max_squarings), np.nan, found)


def _parts(a: Any, degree: int) -> tuple[Any, Any]:
    """The odd and the even part of the approximant's numerator."""
    b = [constant(value, a) for value in _PADE[degree]]
    product, ones = matrices.product, matrices.identity(a.type)
    powers = [ones, product(a, a)]
    powers.append(product(powers[1], powers[1]))
    powers.append(product(powers[2], powers[1]))
    odd, even = (_sum([b[2 * i + side] * power for i, power in enumerate(powers)]) for side in (1, 0))
    if degree == 13:
        high = powers[3]
        odd += product(high, _sum([b[2 * i + 7] * powers[i] for i in (1, 2, 3)]))
        even += product(high, _sum([b[2 * i + 6] * powers[i] for i in (1, 2, 3)]))
    return product(a, odd), even


def _sum(terms: list[Any]) -> Any:
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def expm_frechet(A: Any, E: Any, *, method: str | None = None, compute_expm: bool = True) -> Any:
    """The exponential of A, and its derivative in the direction E.

    Args: method: ignored; compute_expm: else the derivative alone is returned.

    >>> expm_frechet(np.zeros((1, 1)), np.ones((1, 1)), compute_expm=False)
    Array([[1.]], dtype=float32)
    """
    a, direction = _square("expm_frechet", A), _square("expm_frechet", E)
    if a.type.shape != direction.type.shape:
        raise errors.ShapesDiffer(op="expm_frechet", shapes=f"{a.type.shape} and {direction.type.shape}")
    found, moved = jvp(expm, (a,), (matrices.cast(direction, a.type.dtype),))
    return (found, moved) if compute_expm else moved


def sqrtm(A: Any, blocksize: int = 1) -> Any:
    """The square root of a matrix: a complex matrix whose product with itself is A.

    A. Björck and S. Hammarling, "A Schur method for the square root of a matrix", Linear Algebra and its Applications 52, 1983.

    >>> sqrtm(np.array([[4.0]]))
    Array([[2.+0.j]], dtype=complex64)
    """
    if blocksize > 1:
        raise errors.FactorizationOptionMissing(function="sqrtm", argument="blocksize", value=blocksize, allowed="1")
    return _sqrtm(A)


@library(name="_sqrtm")
def _sqrtm(A: Any) -> Any:
    t, z = schur(_square("sqrtm", A), "complex")
    values = sqrt(matrices.diagonal(t))
    columns, rows = matrices.differences(values)
    sums = columns + rows

    def band(k: Any, u: Any) -> Any:
        """The diagonal k above the main one: u u = t there, and the bands below it are known."""
        rest = t - matrices.product(u, u)
        nothing = comparison.equal(rest, 0)
        new = where(nothing, fixed_like(0, rest), divide(rest, where(nothing, fixed_like(1, sums), sums)))
        return where(_is_band(t.type, k), new, u)

    root = fori_loop(1, t.type.shape[-1], band, matrices.with_diagonal(values))
    return matrices.product(matrices.product(z, root), matrices.adjoint(z))


def _is_band(type: Any, k: Any) -> Any:
    """Which elements stand k places above the diagonal."""
    rows, columns = matrices.places(type, -2), matrices.places(type, -1)
    return comparison.equal(columns - rows, k)


def funm(A: Any, func: Callable[[Any], Any], disp: bool = True) -> Any:
    """A function of a matrix, by the function's values at the eigenvalues; complex.

    B. N. Parlett, "A recurrence among the elements of functions of triangular matrices", Linear Algebra and its Applications
    14, 1976.

    Args: func: of a vector of complex numbers; disp: if false, return an estimate of the relative error too.

    >>> import celadon.numpy as cnp
    >>> funm(np.array([[0.0]]), cnp.cos)
    Array([[1.+0.j]], dtype=complex64)
    """
    x = _square("funm", A)
    if x.type.ndim != 2:
        raise errors.MatricesUnfit(op="funm", shapes=x.type, form="(n, n)")
    t, z = schur(x, "complex")
    values = matrices.diagonal(t)
    columns, rows = matrices.differences(values)
    gaps = rows - columns
    zero = comparison.equal(gaps, 0)
    safe = where(zero, fixed_like(1, gaps), gaps)

    def band(k: Any, f: Any) -> Any:
        """Above the diagonal: f and t commute, and the bands of f below it are known."""
        new = divide(matrices.product(f, t) - matrices.product(t, f), safe)
        return where(_is_band(t.type, k), new, f)

    start = matrices.with_diagonal(matrices.cast(func(values), t.type.dtype))
    found = fori_loop(1, t.type.shape[-1], band, start)
    found = matrices.product(matrices.product(z, found), matrices.adjoint(z))
    return found if disp else (found, _error(found, t, abs_of(gaps)))


def _error(found: Any, t: Any, gaps: Any) -> Any:
    """An estimate from the smallest difference of eigenvalues."""
    tolerance = literal(np.finfo(gaps.type.dtype).eps, gaps.type.dtype)
    above = matrices.compared(t.type, "LT")
    least = reductions.min(where(above, gaps, np.inf))
    least = minimum(least, abs_of(t[0, 0]))
    share = where(comparison.equal(least, 0), fixed_like(1, gaps), divide(tolerance, least))
    size = norm(matrices.upper(t, strict=True), 1)
    infinite = reductions.any(comparison.isinf(found))
    return where(infinite, np.inf, minimum(1, maximum(tolerance, share * size)))


