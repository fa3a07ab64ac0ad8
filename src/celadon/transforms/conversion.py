"""closure_convert, custom_gradient and linear_call: functions made ready for custom rules, and rules made of functions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from celadon import tree
from celadon.tracing import Tracer
from celadon.transforms.bodies import Form, result, traced, value
from celadon.transforms.custom_cotangents import custom_vjp
from celadon.transforms.replay import replay
from celadon.transforms.values import as_value, is_inexact

Function = Callable[..., Any]


def closure_convert(fun: Function, *example_args: Any) -> tuple[Function, list[Any]]:
    """A function that takes the differentiated values it closes over as further arguments, and those values.

    Args:
        fun: a function of pytrees of arrays; example_args: arguments that give their types.

    Returns:
        (converted, values): fun(*args) is converted(*args, *values).

    >>> converted, values = closure_convert(lambda x: x * 2.0, 1.0)
    >>> converted(3.0, *values), values
    (Array(6., dtype=float32, weak_type=True), [])
    """
    leaves, form = tree.flatten(example_args)
    types = tuple([value(x).type for x in leaves])

    def flat(*args: Any) -> Any:
        return fun(*args)

    functools.update_wrapper(flat, fun, updated=())
    body = traced(flat, Form(form, types))
    hoisted = [isinstance(x, Tracer) and is_inexact(x.type) for x in body.held]
    fixed = [x for x, out in zip(body.held, hoisted, strict=True) if not out]

    def converted(*args: Any) -> Any:
        given, own = args[: len(example_args)], args[len(example_args) :]
        found, there = tree.flatten(given)
        if there != form:
            tree.match(form, given, "the example", "the arguments")
        rest, moved = iter(fixed), iter(own)
        held = [next(moved) if out else next(rest) for out in hoisted]
        return body.tree.unflatten([result(x) for x in replay(body.program, [*held, *map(value, found)])])

    return converted, [x for x, out in zip(body.held, hoisted, strict=True) if out]


def custom_gradient(fun: Function) -> Function:
    """Give a function its derivative from inside: fun returns (result, pullback).

    Args:
        fun: returns a pair of its result and a function from the result's cotangent to that of the argument, or a tuple of
            them for several.

    >>> import celadon
    >>> @custom_gradient
    ... def f(x):
    ...     return x * x, lambda ct: (ct * 10,)
    >>> celadon.grad(f)(3.0)
    Array(10., dtype=float32, weak_type=True)
    """

    @functools.wraps(fun, updated=())
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        pullbacks: list[Any] = []

        def primal(*xs: Any) -> Any:
            return fun(*xs, **kwargs)[0]

        def forward(*xs: Any) -> Any:
            out, pullback = fun(*xs, **kwargs)
            converted, values = closure_convert(pullback, tree.map(as_value, out))
            pullbacks[:] = [converted]
            return out, values

        def backward(values: Any, ct: Any) -> Any:
            found = pullbacks[0](ct, *values)
            return found if isinstance(found, tuple | list) else (found,)

        function = custom_vjp(functools.update_wrapper(primal, fun, updated=()))
        function.defvjp(forward, backward)
        return function(*args)

    return wrapped


def linear_call(fun: Function, fun_transpose: Function, residual_args: Any, linear_args: Any) -> Any:
    """Call fun(residuals, x), linear in x, whose transpose is given too: fun_transpose(residuals, ct).

    >>> import celadon
    >>> f = lambda x: linear_call(lambda r, x: x * r, lambda r, ct: ct * r, 2.0, x)
    >>> celadon.grad(f)(3.0)
    Array(2., dtype=float32, weak_type=True)
    """
    function = custom_vjp(lambda residuals, x: fun(residuals, x))
    function.defvjp(lambda r, x: (fun(r, x), r), lambda r, ct: (None, fun_transpose(r, ct)))
    return function(residual_args, linear_args)


