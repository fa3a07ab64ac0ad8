"""The gamma distribution, by rejection, and what is made of its samples: beta, Dirichlet, chi-square, t, F and others."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from celadon import errors, vocabulary as ops
from celadon.nn.normalization import softmax
from celadon.numpy import elementwise, powers, reductions, shapes
from celadon.numpy.promotion import broadcasted, converted, operand, shape_from
from celadon.program import fixed
from celadon.random.blocks import Words, row_of_keys, subkeys
from celadon.random.continuous import floats, in_shape, row_of_exponential, row_of_normal, shaped_normal
from celadon.random.intervals import float_dtype, row_between, sample_shape, signs
from celadon.random.keys import as_program, single
from celadon.random.parametric import sampled, sampler
from celadon.transforms.custom_tangents import custom_jvp
from celadon.transforms.loops import while_loop
from celadon.transforms.mapping import vmap
from celadon.types import DType, Shape

State = tuple[Any, ...]


def _undifferentiated(function: str, draw: Callable[..., Any]) -> Callable[..., Any]:
    """A sampler of one parameter, whose derivative is refused."""

    @functools.partial(custom_jvp, nondiff_argnums=(2, 3))
    def wrapped(key: Any, a: Any, shape: Shape, dtype: DType) -> Any:
        return draw(key, a, shape=shape, dtype=dtype)

    @wrapped.defjvp
    def refused(shape: Shape, dtype: DType, primals: Any, tangents: Any) -> Any:
        raise errors.SampleNotDifferentiable(function=function, parameter="the shape parameter")

    return lambda key, a, *, shape, dtype: wrapped(key, a, shape, dtype)


def gamma(key: Any, a: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """Samples of the gamma distribution with shape parameter a and scale 1.

    Args: shape: of the result, by default that of a; dtype: a float one, by default float32 (float64 if x64 is on).
    Raises KeyInvalid, KeyNotSingle, DTypeNotAccepted, SampleShapeTooSmall; SampleNotDifferentiable under grad.
    Source: Marsaglia, Tsang: A simple method for generating gamma variables (2000).

    >>> bool((gamma(np.uint32([0, 42]), 2.0, (9,)) > 0).all())
    True
    """
    return _gammas("random.gamma", _gamma, key, a, (shape, dtype))


def loggamma(key: Any, a: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """The logarithms of samples of the gamma distribution, also where these are too small for a float.

    Args: shape: of the result, by default that of a; dtype: a float one, by default float32 (float64 if x64 is on).
    Raises KeyInvalid, KeyNotSingle, DTypeNotAccepted, SampleShapeTooSmall; SampleNotDifferentiable under grad.

    >>> loggamma(np.uint32([0, 42]), 0.001, (3,)).shape
    (3,)
    """
    return _gammas("random.loggamma", _loggamma, key, a, (shape, dtype))


def _gammas(function: str, draw: Callable[..., Any], key: Any, a: Any, options: tuple[Any, Any]) -> Any:
    found, wanted = single(function, key), float_dtype(function, options[1])
    return draw(found, a, shape=sample_shape(function, options[0], a), dtype=wanted)


def shaped_gamma(key: Words, a: Any, *, shape: Shape, dtype: DType, log: bool = False) -> Any:
    """Gamma samples in a shape, each of a key of its own; or their logarithms."""
    count = math.prod(shape)
    own = row_of_keys(key, count)
    first, second = (shapes.reshape(_column(own, i), (count,)) for i in (0, 1))
    row = shapes.reshape(broadcasted(converted(a, dtype), shape), (count,))
    return shapes.reshape(vmap(functools.partial(_one, log=log))(first, second, row), shape)


def _column(x: Any, i: int) -> Any:
    return ops.slice_(x, start_indices=(0, i), limit_indices=(x.type.shape[0], i + 1), strides=(1, 1))


def _one(first: Any, second: Any, a: Any, *, log: bool) -> Any:
    """One sample: of a parameter of at least 1, or of a + 1 and then scaled."""
    dtype = a.type.dtype
    zero, one, third = (fixed(value, dtype) for value in (0, 1, 1 / 3))
    large = ops.compare(a, one, direction="GE")
    d = ops.subtract(ops.select(large, a, ops.add(a, one)), third)
    own, rest = subkeys((first, second), 2)
    state = (*own, zero, one, fixed(2, dtype))
    accepted = while_loop(functools.partial(_is_rejected, d), functools.partial(_proposed, d, third), state)
    return _scaled(rest, a, d, (large, accepted[3]), log)


def _is_rejected(d: Any, state: State) -> Any:
    """Whether a proposal, of which the square of the normal number, the cube and a uniform number are known, is refused."""
    _, _, square, cube, even = state
    dtype = d.type.dtype
    one, half, squeeze = (fixed(value, dtype) for value in (1, 0.5, 0.0331))
    surely = ops.compare(even, ops.subtract(one, ops.multiply(squeeze, ops.multiply(square, square))), direction="GE")
    inner = ops.multiply(d, ops.add(ops.subtract(one, cube), ops.log(cube)))
    bound = ops.add(ops.multiply(square, half), inner)
    return ops.and_(surely, ops.compare(ops.log(even), bound, direction="GE"))


def _proposed(d: Any, third: Any, state: State) -> State:
    dtype = d.type.dtype
    key, normal_key, even_key = subkeys(state[:2], 3)
    c, one = ops.divide(third, ops.sqrt(d)), fixed(1, dtype)

    def is_negative(inner: State) -> Any:
        return ops.compare(inner[3], fixed(0, dtype), direction="LE")

    def next_one(inner: State) -> State:
        following, own = subkeys(inner[:2], 2)
        x = row_of_normal(own, None, dtype)
        return *following, x, ops.add(one, ops.multiply(x, c))

    _, _, x, v = while_loop(is_negative, next_one, (*normal_key, fixed(0, dtype), fixed(-1, dtype)))
    even = row_between(even_key, None, dtype, fixed(0, dtype), one)
    return *key, ops.multiply(x, x), ops.multiply(ops.multiply(v, v), v), even


def _scaled(key: Words, a: Any, d: Any, parts: tuple[Any, Any], log: bool) -> Any:
    """d times the cube, times a power of a uniform number if the parameter was raised."""
    (large, cube), dtype = parts, a.type.dtype
    zero, one = fixed(0, dtype), fixed(1, dtype)
    if log:
        even = ops.negate(row_of_exponential(key, None, dtype))
        whole = ops.or_(large, ops.compare(even, zero, direction="EQ"))
        boost = ops.select(whole, zero, ops.multiply(even, ops.divide(one, a)))
        return ops.add(ops.add(ops.log(d), ops.log(cube)), boost)
    even = ops.subtract(one, row_between(key, None, dtype, zero, one))
    boost = ops.select(large, one, ops.power(even, ops.divide(one, a)))
    return ops.multiply(ops.multiply(d, cube), boost)


_gamma = _undifferentiated("random.gamma", as_program("_gamma", shaped_gamma))
_loggamma = _undifferentiated("random.loggamma", as_program("_gamma", functools.partial(shaped_gamma, log=True)))


def beta(key: Any, a: Any, b: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """Samples of the beta distribution.

    Args: a, b: its parameters; shape: of the result, by default that of both together; dtype: a float one, by default
    float32 (float64 if x64 is on). Raises KeyInvalid, KeyNotSingle, DTypeNotAccepted, SampleShapeTooSmall.

    >>> bool((beta(np.uint32([0, 42]), 2.0, 3.0, (9,)) < 1).all())
    True
    """
    return sampled("random.beta", _beta, key, (a, b), (shape, dtype))


def _beta_body(key: Words, a: Any, b: Any, *, shape: Shape, dtype: DType) -> Any:
    keys = subkeys(key, 2)
    x, y = (shaped_gamma(k, p, shape=shape, dtype=dtype, log=True) for k, p in zip(keys, (a, b), strict=True))
    larger = ops.maximum(x, y)
    x, y = (ops.exponential(ops.subtract(z, larger)) for z in (x, y))
    return ops.divide(x, ops.add(x, y))


_beta = sampler("_beta", _beta_body)


def dirichlet(key: Any, alpha: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """Samples of the Dirichlet distribution: vectors of shares.

    Args: alpha: parameters, along the last axis; shape: of the result without that axis, by default alpha's; dtype: a float
    one, by default float32 (float64 if x64 is on). Raises KeyInvalid, KeyNotSingle, DTypeNotAccepted, SampleShapeTooSmall.

    >>> dirichlet(np.uint32([0, 42]), np.ones(3, "float32"), (2,)).shape
    (2, 3)
    """
    function = "random.dirichlet"
    found, wanted, given = single(function, key), float_dtype(function, dtype), operand(alpha, function)
    if not given.type.ndim:
        raise errors.SampleShapeTooSmall(function=function, shape=(), given="(), of which one axis is wanted")
    lead = given.type.shape[:-1] if shape is None else shape_from(shape)
    return _dirichlet(found, given, shape=sample_shape(function, lead + given.type.shape[-1:], alpha), dtype=wanted)


def _dirichlet_body(key: Words, alpha: Any, *, shape: Shape, dtype: DType) -> Any:
    return softmax(shaped_gamma(key, alpha, shape=shape, dtype=dtype, log=True), -1)


_dirichlet = as_program("_dirichlet", _dirichlet_body)


def chisquare(key: Any, df: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """Samples of the chi-square distribution with df degrees of freedom.

    Args: shape: of the result, by default that of df; dtype: a float one, by default float32 (float64 if x64 is on).
    Raises KeyInvalid, KeyNotSingle, DTypeNotAccepted, SampleShapeTooSmall.

    >>> bool((chisquare(np.uint32([0, 42]), 3.0, (9,)) > 0).all())
    True
    """
    return sampled("random.chisquare", _chisquare, key, (df,), (shape, dtype))


def _chisquare_body(key: Words, df: Any, *, shape: Shape, dtype: DType) -> Any:
    two = fixed(2, dtype)
    found = shaped_gamma(key, ops.divide(df, two), shape=shape, dtype=dtype, log=True)
    return ops.multiply(ops.exponential(found), two)


_chisquare = sampler("_chisquare", _chisquare_body)


def f(key: Any, dfnum: Any, dfden: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """Samples of the F distribution: quotients of two chi-square ones, each by its degrees of freedom.

    Args: shape: of the result, by default that of both together; dtype: a float one, by default float32 (float64 if x64 is
    on). Raises KeyInvalid, KeyNotSingle, DTypeNotAccepted, SampleShapeTooSmall.

    >>> bool((f(np.uint32([0, 42]), 3.0, 4.0, (9,)) > 0).all())
    True
    """
    return sampled("random.f", _f, key, (dfnum, dfden), (shape, dtype))


def _f_body(key: Words, dfnum: Any, dfden: Any, *, shape: Shape, dtype: DType) -> Any:
    below, above = (
        ops.divide(_chisquare_body(k, df, shape=shape, dtype=dtype), df)
        for k, df in zip(subkeys(key, 2), (dfden, dfnum), strict=True)
    )
    return ops.divide(above, below)


_f = sampler("_f", _f_body)


def t(key: Any, df: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """Samples of Student's t distribution with df degrees of freedom.

    Args: shape: of the result, by default that of df; dtype: a float one, by default float32 (float64 if x64 is on).
    Raises KeyInvalid, KeyNotSingle, DTypeNotAccepted, SampleShapeTooSmall.

    >>> t(np.uint32([0, 42]), 3.0, (9,)).shape
    (9,)
    """
    return sampled("random.t", _t, key, (df,), (shape, dtype))


def _t_body(key: Words, df: Any, *, shape: Shape, dtype: DType) -> Any:
    first, second = subkeys(key, 2)
    half = ops.divide(df, fixed(2, dtype))
    spread = ops.divide(half, shaped_gamma(second, half, shape=shape, dtype=dtype))
    return ops.multiply(shaped_normal(first, shape=shape, dtype=dtype), ops.sqrt(spread))


_t = sampler("_t", _t_body)


def generalized_normal(
    key: Any, p: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Samples with the density proportional to exp(-|x|**p).

    Args: p: a scalar; shape: of the result; dtype: a float one, by default float32 (float64 if x64 is on).
    Raises KeyInvalid, KeyNotSingle, DTypeNotAccepted.

    >>> generalized_normal(np.uint32([0, 42]), 3.0, (9,)).shape
    (9,)
    """
    return _powered("random.generalized_normal", _generalized, key, p, (shape, dtype))


def _powered(function: str, draw: Callable[..., Any], key: Any, p: Any, options: tuple[Any, Any]) -> Any:
    return floats(function, lambda found, **rest: draw(found, p, **rest), key, *options)


def _generalized_body(key: Words, p: Any, *, shape: Shape, dtype: DType) -> Any:
    first, second = subkeys(key, 2)
    size = shaped_gamma(first, operand(1 / p), shape=shape, dtype=dtype)
    return elementwise.multiply(signs(second, shape=shape, dtype=dtype), powers.power(size, 1 / p))


_generalized = as_program("_generalized_normal", _generalized_body)


def ball(
    key: Any, d: int, p: Any = 2, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Points spread evenly in the unit ball of d dimensions, in the norm of exponent p.

    Args: shape: of the result, before its last axis of extent d; dtype: a float one, by default float32 (float64 if x64 is
    on). Raises KeyInvalid, KeyNotSingle, DTypeNotAccepted.
    Source: Barthe, Guedon, Mendelson, Naor: A probabilistic approach to the geometry of the l_p^n ball (2005).

    >>> ball(np.uint32([0, 42]), 3, shape=(9,)).shape
    (9, 3)
    """
    return _powered("random.ball", functools.partial(_ball, size=d), key, p, (shape, dtype))


def _ball_body(key: Words, p: Any, *, shape: Shape, dtype: DType, size: int) -> Any:
    first, second = subkeys(key, 2)
    inside = _generalized_body(first, p, shape=(*shape, size), dtype=dtype)
    waited = in_shape(row_of_exponential)(second, shape=shape, dtype=dtype)
    total = reductions.sum(powers.power(elementwise.abs(inside), p), -1)
    return elementwise.divide(inside, shapes.expand_dims(powers.power(total + waited, 1 / p), -1))


_ball = as_program("_ball", _ball_body)
