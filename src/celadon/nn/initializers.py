"""Initial weights under JAX's names (jax.nn.initializers): functions of a key, a shape and a dtype, or makers of such."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from celadon import errors, random
from celadon.numpy import creation, elementwise, shapes, transcendentals
from celadon.numpy.dtypes import requested
from celadon.numpy.promotion import shape_from
from celadon.types import DType, Shape, kind
from celadon.vocabulary.kinds import real_dtype

__all__ = [
    "Initializer", "constant", "delta_orthogonal", "glorot_normal", "glorot_uniform", "he_normal", "he_uniform", "kaiming_normal",
    "kaiming_uniform", "lecun_normal", "lecun_uniform", "normal", "ones", "orthogonal", "truncated_normal", "uniform",
    "variance_scaling", "xavier_normal", "xavier_uniform", "zeros",
]  # fmt: skip

Axes = int | Sequence[int]
_FLOAT = np.float64


@runtime_checkable
class Initializer(Protocol):
    """What an initializer is: called with a key, a shape and a dtype, it returns an array."""

    def __call__(self, key: Any, shape: Any, dtype: Any = None, out_sharding: Any = None) -> Any: ...


def zeros(key: Any, shape: Any, dtype: Any = None, out_sharding: Any = None) -> Any:
    """Zeros, of float32 by default (float64 if x64 is on).

    >>> zeros(random.key(0), (2,))
    Array([0., 0.], dtype=float32)
    """
    return creation.zeros(shape, requested(dtype, _FLOAT))


def ones(key: Any, shape: Any, dtype: Any = None, out_sharding: Any = None) -> Any:
    """Ones, of float32 by default (float64 if x64 is on).

    >>> ones(random.key(0), (2,))
    Array([1., 1.], dtype=float32)
    """
    return creation.ones(shape, requested(dtype, _FLOAT))


def constant(value: Any, dtype: Any = None) -> Initializer:
    """Makes an initializer that repeats a value.

    >>> constant(7.0)(random.key(0), (2,))
    Array([7., 7.], dtype=float32)
    """
    return _initializer(lambda key, shape, given: creation.full(shape, value, given), dtype)


def _initializer(draw: Callable[[Any, Shape, DType], Any], default: Any) -> Initializer:
    def init(key: Any, shape: Any, dtype: Any = default, out_sharding: Any = None) -> Any:
        return draw(key, shape_from(shape), requested(dtype, _FLOAT))

    return init


def uniform(scale: Any = 1e-2, dtype: Any = None) -> Initializer:
    """Makes an initializer of numbers spread evenly from 0 up to scale.

    >>> uniform(0.1)(random.key(0), (2, 3)).shape
    (2, 3)
    """
    return _initializer(lambda key, shape, given: random.uniform(key, shape, given) * creation.array(scale, given), dtype)


def normal(stddev: Any = 1e-2, dtype: Any = None) -> Initializer:
    """Makes an initializer of normal numbers with the given standard deviation.

    >>> normal(0.1)(random.key(0), (2, 3)).shape
    (2, 3)
    """
    return _initializer(lambda key, shape, given: random.normal(key, shape, given) * creation.array(stddev, given), dtype)


def truncated_normal(stddev: Any = 1e-2, dtype: Any = None, lower: Any = -2.0, upper: Any = 2.0) -> Initializer:
    """Makes an initializer of normal numbers between bounds, times stddev.

    >>> truncated_normal(0.1)(random.key(0), (2, 3)).shape
    (2, 3)
    """

    def draw(key: Any, shape: Shape, dtype: DType) -> Any:
        return random.truncated_normal(key, lower, upper, shape, dtype) * creation.array(stddev, dtype)

    return _initializer(draw, dtype)


def variance_scaling(
    scale: Any, mode: str, distribution: str, in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (),
    dtype: Any = None,
) -> Initializer:  # fmt: skip
    """Makes an initializer whose numbers have the variance scale / n.

    Args: mode: n is the number of inputs ("fan_in"), of outputs ("fan_out"), their mean ("fan_avg") or geometric mean
    ("fan_geo_avg"); distribution: "truncated_normal", "normal" or "uniform"; in_axis, out_axis, batch_axis: of the weights.
    The initializer raises FansUnknown and OptionUnknown.
    Source: He, Zhang, Ren, Sun: Delving deep into rectifiers (2015).

    >>> variance_scaling(1.0, "fan_avg", "uniform")(random.key(0), (2, 3)).shape
    (2, 3)
    """

    def draw(key: Any, shape: Shape, dtype: DType) -> Any:
        inputs, outputs = _fans(shape, in_axis, out_axis, batch_axis)
        if mode not in _COUNTS:
            raise _unknown("mode", mode, _COUNTS)
        if distribution not in _DRAWS:
            raise _unknown("distribution", distribution, _DRAWS)
        variance = creation.array(scale / _COUNTS[mode](inputs, outputs), dtype)
        return _DRAWS[distribution](key, shape, dtype, variance)

    return _initializer(draw, dtype)


def _unknown(argument: str, value: str, known: dict[str, Any]) -> errors.CeladonError:
    allowed = ", ".join(map(repr, known))
    return errors.OptionUnknown(function="nn.initializers.variance_scaling", argument=argument, value=value, allowed=allowed)


def _fans(shape: Shape, in_axis: Axes, out_axis: Axes, batch_axis: Axes) -> tuple[float, float]:
    """How many inputs and outputs weights connect: along their axes, times what is left besides batches."""
    if len(shape) <= 1 and in_axis == -2:
        raise errors.FansUnknown(shape=shape)
    inputs, outputs, batches = (_extent(shape, axes) for axes in (in_axis, out_axis, batch_axis))
    field = math.prod(shape) / inputs / outputs / batches
    return inputs * field, outputs * field


def _extent(shape: Shape, axes: Axes) -> int:
    return shape[axes] if isinstance(axes, int) else math.prod(shape[i] for i in axes)


_COUNTS: dict[str, Callable[[float, float], float]] = {
    "fan_in": lambda inputs, outputs: inputs,
    "fan_out": lambda inputs, outputs: outputs,
    "fan_avg": lambda inputs, outputs: (inputs + outputs) / 2,
    "fan_geo_avg": lambda inputs, outputs: (inputs * outputs) ** 0.5,
}


def _draw_truncated(key: Any, shape: Shape, dtype: DType, variance: Any) -> Any:
    """Within two standard deviations; the divisor is the standard deviation of what is left."""
    if kind(dtype) == "c":
        spread = elementwise.sqrt(variance) / creation.array(0.95311164380491208, dtype)
        return _complex_truncated(key, 2, shape, dtype) * spread
    spread = elementwise.sqrt(variance) / creation.array(0.87962566103423978, dtype)
    return random.truncated_normal(key, -2, 2, shape, dtype) * spread


def _draw_normal(key: Any, shape: Shape, dtype: DType, variance: Any) -> Any:
    return random.normal(key, shape, dtype) * elementwise.sqrt(variance)


def _draw_uniform(key: Any, shape: Shape, dtype: DType, variance: Any) -> Any:
    if kind(dtype) == "c":
        radius, angle = _polar(key, shape, dtype)
        return creation.astype(elementwise.sqrt(2 * radius), dtype) * angle * elementwise.sqrt(variance)
    return random.uniform(key, shape, dtype, -1) * elementwise.sqrt(3 * variance)


_DRAWS: dict[str, Callable[..., Any]] = {
    "truncated_normal": _draw_truncated, "normal": _draw_normal, "uniform": _draw_uniform
}  # fmt: skip


def _complex_truncated(key: Any, upper: float, shape: Shape, dtype: DType) -> Any:
    """Normal in both parts, with absolute values up to `upper`."""
    radius, angle = _polar(key, shape, dtype)
    rest = (1 - transcendentals.exp(creation.array(-(upper**2), dtype))) * creation.astype(radius, dtype)
    return elementwise.sqrt(-transcendentals.log(1 - rest)) * angle


def _polar(key: Any, shape: Shape, dtype: DType) -> tuple[Any, Any]:
    """Numbers spread evenly from 0 up to 1, and numbers spread evenly on the unit circle."""
    first, second = random.split(key)
    angle = 2 * np.pi * creation.astype(random.uniform(second, shape, real_dtype(dtype)), dtype)
    return random.uniform(first, shape, real_dtype(dtype)), transcendentals.exp(1j * angle)


def _scaled(scale: float, mode: str, distribution: str, axes: tuple[Axes, Axes, Axes], dtype: Any) -> Initializer:
    return variance_scaling(scale, mode, distribution, *axes, dtype=dtype)


def glorot_uniform(in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = None) -> Initializer:
    """Makes an initializer of uniform numbers of variance 2 / (inputs + outputs).

    Source: Glorot, Bengio: Understanding the difficulty of training deep feedforward neural networks (2010).

    >>> glorot_uniform()(random.key(0), (2, 3)).shape
    (2, 3)
    """
    return _scaled(1.0, "fan_avg", "uniform", (in_axis, out_axis, batch_axis), dtype)


def glorot_normal(in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = None) -> Initializer:
    """Makes an initializer of truncated normal numbers of variance 2 / (inputs + outputs).

    >>> glorot_normal()(random.key(0), (2, 3)).shape
    (2, 3)
    """
    return _scaled(1.0, "fan_avg", "truncated_normal", (in_axis, out_axis, batch_axis), dtype)


def lecun_uniform(in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = None) -> Initializer:
    """Makes an initializer of uniform numbers of variance 1 / inputs.

    >>> lecun_uniform()(random.key(0), (2, 3)).shape
    (2, 3)
    """
    return _scaled(1.0, "fan_in", "uniform", (in_axis, out_axis, batch_axis), dtype)


def lecun_normal(in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = None) -> Initializer:
    """Makes an initializer of truncated normal numbers of variance 1 / inputs.

    >>> lecun_normal()(random.key(0), (2, 3)).shape
    (2, 3)
    """
    return _scaled(1.0, "fan_in", "truncated_normal", (in_axis, out_axis, batch_axis), dtype)


def he_uniform(in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = None) -> Initializer:
    """Makes an initializer of uniform numbers of variance 2 / inputs.

    >>> he_uniform()(random.key(0), (2, 3)).shape
    (2, 3)
    """
    return _scaled(2.0, "fan_in", "uniform", (in_axis, out_axis, batch_axis), dtype)


def he_normal(in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = None) -> Initializer:
    """Makes an initializer of truncated normal numbers of variance 2 / inputs.

    >>> he_normal()(random.key(0), (2, 3)).shape
    (2, 3)
    """
    return _scaled(2.0, "fan_in", "truncated_normal", (in_axis, out_axis, batch_axis), dtype)


def orthogonal(scale: Any = 1.0, column_axis: int = -1, dtype: Any = None) -> Initializer:
    """Makes an initializer of matrices with orthogonal rows or columns, times scale.

    Args: column_axis: which axis of the weights is the columns'; all others together are the rows'. The initializer raises
    FansUnknown for weights of fewer than two axes.

    >>> orthogonal()(random.key(0), (3, 2)).shape
    (3, 2)
    """

    def draw(key: Any, shape: Shape, dtype: DType) -> Any:
        if len(shape) < 2:
            raise errors.FansUnknown(shape=shape)
        if 0 in shape:
            return creation.zeros(shape, dtype)
        columns = shape[column_axis]
        found = random.orthogonal(key, math.prod(shape) // columns, (), dtype, columns)
        rows = [n for i, n in enumerate(shape) if i != column_axis % len(shape)]
        return creation.array(scale, dtype) * shapes.moveaxis(shapes.reshape(found, (*rows, columns)), -1, column_axis)

    return _initializer(draw, dtype)


def delta_orthogonal(scale: Any = 1.0, column_axis: int = -1, dtype: Any = None) -> Initializer:
    """Makes an initializer of convolutions that are orthogonal in the middle of their window and zero elsewhere.

    Args: column_axis: as for orthogonal, of the last two axes. The initializer raises FansUnknown for weights that don't have
    one to three axes of a window, inputs, and at least as many outputs.
    Source: Xiao, Bahri, Sohl-Dickstein, Schoenholz, Pennington: Dynamical isometry and a mean field theory of CNNs (2018).

    >>> delta_orthogonal()(random.key(0), (3, 2, 2)).shape
    (3, 2, 2)
    """

    def draw(key: Any, shape: Shape, dtype: DType) -> Any:
        if len(shape) not in (3, 4, 5) or shape[-1] < shape[-2]:
            raise errors.FansUnknown(shape=shape)
        found = orthogonal(scale, column_axis)(key, shape[-2:], dtype)
        middle = tuple((extent - 1) // 2 for extent in shape[:-2])
        return creation.zeros(shape, dtype).at[middle].set(found)

    return _initializer(draw, dtype)


xavier_uniform, xavier_normal = glorot_uniform, glorot_normal
kaiming_uniform, kaiming_normal = he_uniform, he_normal
