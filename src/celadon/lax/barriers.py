"""jax.lax's functions that change no value: what derivatives, and what the compiler, must not look through."""

from __future__ import annotations

from typing import Any

from celadon import tree, vocabulary as ops
from celadon.numpy.promotion import array
from celadon.types import is_inexact


def stop_gradient(x: Any) -> Any:
    """The same values, as constants in the eyes of grad, jvp and the like.

    Args:
        x: a pytree of arrays; those of integers and booleans have no derivative, and are returned as they are.

    >>> import celadon
    >>> celadon.grad(lambda x: x * stop_gradient(x))(3.0)
    Array(3., dtype=float32, weak_type=True)
    """
    return tree.map(_stopped, x)


def _stopped(x: Any) -> Any:
    found = array(x)
    return ops.stop_gradient(found) if is_inexact(found.type.dtype) else x


def optimization_barrier(operand: Any, /) -> Any:
    """The same values, none of which may be used before all are computed; nothing is shared or moved across.

    Args:
        operand: a pytree of arrays.

    >>> optimization_barrier((1, 2.0))
    (Array(1, dtype=int32, weak_type=True), Array(2., dtype=float32, weak_type=True))
    """
    leaves, form = tree.flatten(operand)
    return form.unflatten(ops.optimization_barrier(*map(array, leaves)))


__all__ = ["optimization_barrier", "stop_gradient"]
