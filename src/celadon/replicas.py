"""pmap: a function of one device's part comes in; one of the parts of all devices, of which there is one, goes out."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from celadon import errors, tree
from celadon.calling import jit
from celadon.hardware import devices as all_devices
from celadon.numpy.shapes import moveaxis
from celadon.transforms.bodies import name_of
from celadon.transforms.mapping import vmap
from celadon.vocabulary.collective import size_of

_UNNAMED = "the axis of pmap"


def pmap(
    fun: Callable[..., Any],
    axis_name: Any = None,
    *,
    in_axes: Any = 0,
    out_axes: Any = 0,
    static_broadcasted_argnums: int | Sequence[int] = (),
    devices: Sequence[Any] | None = None,
    backend: str | None = None,
    axis_size: int | None = None,
    donate_argnums: int | Sequence[int] = (),
) -> Any:
    """A jitted function that runs `fun` on each device for its part of the arguments. There is one device, so axes have size 1.

    Args:
        fun: a function of one part; it may call collectives such as lax.psum with `axis_name`.
        in_axes: the axis along which each positional argument is cut, or None for one that all devices get whole; a tree
            that begins like the tuple of arguments. Keyword arguments are cut along axis 0.
        out_axes: the axis along which results are joined, or None for a result that is the same on all devices.
        static_broadcasted_argnums: positions of arguments that are read while tracing.
        devices: the devices to run on, the one CPU.
        axis_size: how many parts there are.
        donate_argnums: positions of arguments whose memory the call may take over.

    Returns:
        What `celadon.jit` returns.

    Raises:
        DevicesTooFew, when arguments have more parts; errors of `vmap` for axes that don't fit; OptionUnknown, NotCallable.

    >>> import celadon.numpy as cnp
    >>> pmap(lambda x, y: x * y, in_axes=(0, None))(cnp.ones((1, 2)), 3.0)
    Array([[3., 3.]], dtype=float32)
    """
    if not callable(fun):
        raise errors.NotCallable(transform="pmap", type=type(fun).__name__)
    known = all_devices(backend)
    if devices is not None and list(devices) != known:
        raise errors.OptionUnknown(function="pmap", argument="devices", value=devices, allowed=f"None or {known}")
    static = [static_broadcasted_argnums] if isinstance(static_broadcasted_argnums, int) else [*static_broadcasted_argnums]
    name = _UNNAMED if axis_name is None else axis_name

    @functools.wraps(fun)
    def replicated(*args: Any, **kwargs: Any) -> Any:
        fixed = {i % len(args): args[i] for i in static}
        moving = [i for i in range(len(args)) if i not in fixed]

        def part(*given: Any, **named: Any) -> Any:
            if (count := size_of(name)) > len(known):
                raise errors.DevicesTooFew(function=name_of(fun), count=count)
            every = fixed | dict(zip(moving, given, strict=True))
            return fun(*[every[i] for i in range(len(args))], **named)

        axes = tuple([in_axes[i] for i in moving]) if isinstance(in_axes, tuple | list) else in_axes
        found = vmap(part, axes, axis_name=name, axis_size=axis_size)(*[args[i] for i in moving], **kwargs)
        return _joined(found, out_axes)

    return jit(replicated, static_argnums=static or None, donate_argnums=donate_argnums or None)


def _joined(found: Any, out_axes: Any) -> Any:
    """Results whose axis of devices stands in front, with that axis where it is wanted."""
    leaves, form = tree.flatten(found)
    wanted = tree.spread(out_axes, form, lambda axis: axis is None, "out_axes", "the results")
    return form.unflatten([x[0] if axis is None else moveaxis(x, 0, axis) for x, axis in zip(leaves, wanted, strict=True)])
