"""The array functions under JAX's names (jax.numpy); see promotion.py for how operands meet, methods.py for operators."""

from __future__ import annotations

from celadon.numpy.comparison import (
    allclose, array_equal, array_equiv, bitwise_count, bitwise_invert, bitwise_left_shift, bitwise_not,
    bitwise_right_shift, equal, greater, greater_equal, invert, isclose, iscomplex, isfinite, isinf, isnan,
    isneginf, isposinf, isreal, left_shift, less, less_equal, logical_not, not_equal, right_shift, signbit,
)  # fmt: skip
from celadon.numpy.constants import (
    ComplexWarning, bool, cdouble, character, complex_, complexfloating, csingle, double, dtype, e,
    euler_gamma, flexible, float_, floating, generic, get_printoptions, index_exp, inexact, inf, int_, integer,
    nan, ndarray, newaxis, number, object_, pi, printoptions, s_, save, savez, set_printoptions, signedinteger,
    single, uint, unsignedinteger,
)  # fmt: skip
from celadon.numpy.contractions import (
    convolve, correlate, cross, dot, inner, kron, matmul, matvec, outer, tensordot, trace, vander, vdot,
    vecdot, vecmat,
)  # fmt: skip
from celadon.numpy.creation import (
    array, asarray, astype, copy, empty, empty_like, eye, from_dlpack, frombuffer, fromfunction, fromstring,
    full, full_like, identity, ones, ones_like, tri, zeros, zeros_like,
)  # fmt: skip
from celadon.numpy.cumulative import (
    cumprod, cumsum, cumulative_prod, cumulative_sum, diff, ediff1d, gradient, nancumprod, nancumsum,
    trapezoid, unwrap,
)  # fmt: skip
from celadon.numpy.division import (
    copysign, divmod, floor_divide, fmod, frexp, gcd, lcm, ldexp, mod, modf, remainder, spacing,
)  # fmt: skip
from celadon.numpy.dtypes import (
    bfloat16, bool_, can_cast, complex128, complex64, finfo, float16, float32, float64, iinfo, int16, int32,
    int64, int8, iscomplexobj, isdtype, isrealobj, issubdtype, promote_types, result_type, uint16, uint32,
    uint64, uint8,
)  # fmt: skip
from celadon.numpy.elementwise import (
    abs, absolute, angle, cbrt, conj, conjugate, divide, fabs, imag, nextafter, positive, real, reciprocal,
    sign, sqrt, square, true_divide,
)  # fmt: skip
from celadon.numpy.joining import (
    append, array_split, block, column_stack, concat, concatenate, dsplit, dstack, flip, fliplr, flipud,
    hsplit, hstack, repeat, resize, roll, rot90, split, stack, tile, unstack, vsplit, vstack,
)  # fmt: skip
from celadon.numpy.nanreductions import (
    nanargmax, nanargmin, nanmax, nanmean, nanmin, nanprod, nanstd, nansum, nanvar,
)  # fmt: skip
from celadon.numpy.ordering import (
    argpartition, argsort, bincount, digitize, isin, lexsort, partition, searchsorted, sort, sort_complex,
)  # fmt: skip
from celadon.numpy.padding import pad
from celadon.numpy.positions import argwhere, flatnonzero, nonzero
from celadon.numpy.powers import float_power, pow, power
from celadon.numpy.ranges import (
    arange, diag_indices, diag_indices_from, geomspace, indices, linspace, logspace, meshgrid, mgrid, ogrid,
    tril_indices, tril_indices_from, triu_indices, triu_indices_from,
)  # fmt: skip
from celadon.numpy.reductions import (
    all, amax, amin, any, argmax, argmin, count_nonzero, max, mean, min, prod, ptp, sum,
)  # fmt: skip
from celadon.numpy.rounding import around, ceil, floor, hypot, rint, round, sinc, trunc
from celadon.numpy.selection import choose, clip, fmax, fmin, heaviside, nan_to_num, piecewise, select, where
from celadon.numpy.sets import (
    intersect1d, setdiff1d, setxor1d, union1d, unique, unique_all, unique_counts, unique_inverse,
    unique_values,
)  # fmt: skip
from celadon.numpy.shapes import (
    atleast_1d, atleast_2d, atleast_3d, broadcast_arrays, broadcast_shapes, broadcast_to, expand_dims,
    isscalar, iterable, matrix_transpose, moveaxis, ndim, permute_dims, ravel, reshape, rollaxis, shape, size,
    squeeze, swapaxes, transpose,
)  # fmt: skip
from celadon.numpy.statistics import (
    average, median, nanmedian, nanpercentile, nanquantile, percentile, quantile, std, var,
)  # fmt: skip
from celadon.numpy.subscripts import einsum, einsum_path
from celadon.numpy.taking import (
    compress, delete, diag, diagflat, diagonal, extract, insert, ix_, ravel_multi_index, take, take_along_axis,
    tril, triu, unravel_index,
)  # fmt: skip
from celadon.numpy.transcendentals import (
    acos, acosh, arccos, arccosh, arcsin, arcsinh, arctan, arctan2, arctanh, asin, asinh, atan, atan2, atanh,
    cos, cosh, deg2rad, degrees, exp, exp2, expm1, log, log10, log1p, log2, rad2deg, radians, sin, sinh, tan,
    tanh,
)  # fmt: skip
from celadon.numpy.universal import (
    add, bitwise_and, bitwise_or, bitwise_xor, logaddexp, logaddexp2, logical_and, logical_or, logical_xor,
    maximum, minimum, multiply, negative, subtract,
)  # fmt: skip
from celadon.numpy import methods as methods
