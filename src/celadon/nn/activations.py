"""Activation functions under JAX's names (jax.nn): elementwise, but for glu."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from celadon import errors, vocabulary as ops
from celadon.facade import Lazy
from celadon.numpy import elementwise, transcendentals
from celadon.numpy.library import library
from celadon.numpy.promotion import array, axis_of, fixed_like, inexact
from celadon.program import literal
from celadon.transforms.custom_tangents import custom_jvp

if TYPE_CHECKING:
    from celadon.numpy import comparison, joining, powers, selection, universal
else:
    comparison, joining, powers = (Lazy(f"celadon.numpy.{name}") for name in ("comparison", "joining", "powers"))
    selection, universal = Lazy("celadon.numpy.selection"), Lazy("celadon.numpy.universal")


@library()
def identity(x: Any) -> Any:
    """x itself, as an array.

    >>> identity(2.0)
    Array(2., dtype=float32, weak_type=True)
    """
    return array(x, "nn.identity")


@custom_jvp
@library()
def relu(x: Any) -> Any:
    """The larger of x and 0; its derivative at 0 is 0.

    >>> relu(np.array([-1.0, 2.0], "float32"))
    Array([0., 2.], dtype=float32)
    """
    return elementwise.maximum(x, 0)


def _where_inside(inside: Any, t: Any) -> Any:
    return ops.select(inside, t, fixed_like(0, t))


relu.defjvps(lambda t, out, x: _where_inside(x > 0, t))


@custom_jvp
@library()
def relu6(x: Any) -> Any:
    """The larger of x and 0, but at most 6; its derivative at 0 and 6 is 0.

    >>> relu6(np.array([-1.0, 2.0, 9.0], "float32"))
    Array([0., 2., 6.], dtype=float32)
    """
    return elementwise.minimum(elementwise.maximum(x, 0), 6.0)


relu6.defjvps(lambda t, out, x: _where_inside((x > 0) & (x < 6), t))


def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x)).

    >>> sigmoid(0.0)
    Array(0.5, dtype=float32, weak_type=True)
    """
    [found] = inexact("nn.sigmoid", x)
    return ops.logistic(found)


@library()
def softplus(x: Any) -> Any:
    """log(1 + exp(x)).

    >>> softplus(np.array([-1000.0, 100.0], "float32"))
    Array([  0., 100.], dtype=float32)
    """
    return universal.logaddexp(x, 0)


@library()
def squareplus(x: Any, b: Any = 4) -> Any:
    """(x + sqrt(x² + b)) / 2.

    >>> squareplus(np.float32(0.0))
    Array(1., dtype=float32)
    """
    return (x + elementwise.sqrt(elementwise.square(x) + b)) / 2


@library()
def sparse_plus(x: Any) -> Any:
    """0 up to -1, x from 1 on, and (x + 1)² / 4 between.

    >>> sparse_plus(np.array([-2.0, 0.0, 2.0], "float32"))
    Array([0.  , 0.25, 2.  ], dtype=float32)
    """
    low, high = x <= -1.0, x >= 1.0
    return selection.where(low, 0.0, selection.where(high, x, (x + 1.0) ** 2 / 4))


@library()
def soft_sign(x: Any) -> Any:
    """x / (|x| + 1).

    >>> soft_sign(np.float32(1.0))
    Array(0.5, dtype=float32)
    """
    return x / (elementwise.abs(x) + 1)


@library()
def sparse_sigmoid(x: Any) -> Any:
    """0 up to -1, 1 from 1 on, and (x + 1) / 2 between.

    >>> sparse_sigmoid(np.array([-2.0, 0.0, 2.0], "float32"))
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    return 0.5 * selection.clip(x + 1.0, 0.0, 2.0)


@library()
def silu(x: Any) -> Any:
    """x times sigmoid(x).

    >>> silu(np.float32(0.0))
    Array(0., dtype=float32)
    """
    return x * sigmoid(x)


swish, tanh = silu, transcendentals.tanh


@library()
def mish(x: Any) -> Any:
    """x times tanh(softplus(x)).

    >>> mish(np.float32(0.0))
    Array(0., dtype=float32)
    """
    return x * transcendentals.tanh(softplus(x))


@library()
def log_sigmoid(x: Any) -> Any:
    """log(sigmoid(x)).

    >>> log_sigmoid(np.float32(-100.0))
    Array(-100., dtype=float32)
    """
    return -softplus(-x)


@library()
def elu(x: Any, alpha: Any = 1.0) -> Any:
    """x where it is positive, alpha (exp(x) - 1) elsewhere.

    >>> elu(np.array([-100.0, 2.0], "float32"))
    Array([-1.,  2.], dtype=float32)
    """
    positive = x > 0
    return selection.where(positive, x, alpha * transcendentals.expm1(selection.where(x > 0, 0.0, x)))


@library()
def celu(x: Any, alpha: Any = 1.0) -> Any:
    """max(x, 0) + alpha (exp(min(x, 0) / alpha) - 1).

    >>> celu(np.array([-100.0, 2.0], "float32"))
    Array([-1.,  2.], dtype=float32)
    """
    return elementwise.maximum(x, 0.0) + alpha * transcendentals.expm1(elementwise.minimum(x, 0.0) / alpha)


@library()
def selu(x: Any) -> Any:
    """elu, scaled so that means of 0 and variances of 1 stay so from layer to layer.

    Source: Klambauer, Unterthiner, Mayr, Hochreiter: Self-normalizing neural networks (2017).

    >>> selu(np.array([-100.0, 1.0], "float32"))
    Array([-1.7580993,  1.050701 ], dtype=float32)
    """
    return 1.0507009873554804934193349852946 * elu(x, 1.6732632423543772848170429916717)


@library()
def leaky_relu(x: Any, negative_slope: Any = 1e-2) -> Any:
    """x where it is not negative, negative_slope times x elsewhere.

    >>> leaky_relu(np.array([-100.0, 2.0], "float32"))
    Array([-1.,  2.], dtype=float32)
    """
    return selection.where(x >= 0, x, negative_slope * x)


@library()
def hard_tanh(x: Any) -> Any:
    """x, but at least -1 and at most 1.

    >>> hard_tanh(np.array([-3.0, 0.5, 3.0], "float32"))
    Array([-1. ,  0.5,  1. ], dtype=float32)
    """
    large = x > 1
    return selection.where(large, 1, selection.where(x < -1, -1, x))


@library()
def hard_sigmoid(x: Any) -> Any:
    """relu6(x + 3) / 6.

    >>> hard_sigmoid(np.array([-3.0, 0.0, 3.0], "float32"))
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    return relu6(x + 3.0) / 6.0


@library()
def hard_silu(x: Any) -> Any:
    """x times hard_sigmoid(x).

    >>> hard_silu(np.array([-3.0, 3.0], "float32"))
    Array([-0.,  3.], dtype=float32)
    """
    return x * hard_sigmoid(x)


hard_swish = hard_silu


def gelu(x: Any, approximate: bool = True) -> Any:
    """x times the probability that a normal number is below x; approximate: by tanh, within 0.001, instead of erf.

    Source: Hendrycks, Gimpel: Gaussian error linear units (2016).

    >>> gelu(np.array([-100.0, 100.0], "float32"))
    Array([ -0., 100.], dtype=float32)
    """
    x = array(inexact("nn.gelu", x)[0])
    dtype = x.type.dtype
    if approximate:
        inner = literal(np.sqrt(2 / np.pi), dtype) * (x + 0.044715 * powers.power(x, 3))
        return x * (0.5 * (1.0 + transcendentals.tanh(inner)))
    return 0.5 * x * ops.erfc(-x * literal(np.sqrt(0.5), dtype))


@library("axis")
def glu(x: Any, axis: int = -1) -> Any:
    """The first half along an axis times the sigmoid of the second.

    Raises DimensionsUnfit for an odd extent.

    >>> glu(np.array([3.0, 0.0], "float32"))
    Array([1.5], dtype=float32)
    """
    x = array(x, "nn.glu")
    along = axis_of(axis, x.type.ndim)
    if x.type.shape[along] % 2:
        raise errors.DimensionsUnfit(
            function="nn.glu", argument="axis", value=axis, shape=x.type.shape, reason="its extent must be even"
        )
    first, second = joining.split(x, 2, along)
    return first * sigmoid(second)


@custom_jvp
@library()
def log1mexp(x: Any) -> Any:
    """log(1 - exp(-x)) for x not negative.

    Source: Mächler: Accurately computing log(1 - exp(-|a|)) (2012).

    >>> log1mexp(np.float32(np.inf))
    Array(-0., dtype=float32)
    """
    small = comparison.less(x, float(np.log(2.0)))
    near = transcendentals.log(-transcendentals.expm1(-x))
    return selection.where(small, near, transcendentals.log1p(-transcendentals.exp(-x)))


log1mexp.defjvps(lambda t, out, x: t / transcendentals.expm1(x))
