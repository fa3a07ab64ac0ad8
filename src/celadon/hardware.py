"""Devices: there is one, the CPU; what JAX's programs ask about devices is answered, and placing an array changes nothing."""

from __future__ import annotations

import gc
from typing import Any, NamedTuple

import numpy as np

from celadon import errors, tree, voids
from celadon.array import Array
from celadon.transforms.values import as_value


class Device(NamedTuple):
    """The CPU that all programs run on."""

    id: int = 0
    platform: str = "cpu"
    device_kind: str = "cpu"
    process_index: int = 0

    def __repr__(self) -> str:
        return f"CpuDevice(id={self.id})"


_CPU = Device()


def _check_backend(backend: Any) -> None:
    if backend not in (None, "cpu"):
        raise errors.OptionUnknown(function="devices", argument="backend", value=backend, allowed="cpu")


def devices(backend: Any = None) -> list[Device]:
    """The devices: one CPU.

    >>> devices()
    [CpuDevice(id=0)]
    """
    _check_backend(backend)
    return [_CPU]


def local_devices(process_index: int | None = None, backend: Any = None, host_id: int | None = None) -> list[Device]:
    """The devices of this process: one CPU."""
    return devices(backend)


def device_count(backend: Any = None) -> int:
    """How many devices there are: 1."""
    return len(devices(backend))


def local_device_count(backend: Any = None) -> int:
    """How many devices this process has: 1."""
    return len(devices(backend))


def live_arrays(platform: str | None = None) -> list[Array]:
    """The arrays that this process holds: those of the program, and those that its functions captured. It looks at all objects.

    >>> before = len(live_arrays())
    >>> kept = device_put(np.ones(3))
    >>> len(live_arrays()) - before
    1
    """
    _check_backend(platform)
    return [found for found in gc.get_objects() if type(found) is Array and not found.is_deleted()]


def default_backend() -> str:
    """The platform that programs run on."""
    return _CPU.platform


def process_index(backend: Any = None) -> int:
    """The number of this process among those that run a program together: 0."""
    _check_backend(backend)
    return 0


def process_count(backend: Any = None) -> int:
    """How many processes run a program together: 1."""
    _check_backend(backend)
    return 1


def device_put(x: Any, device: Any = None, *, src: Any = None, donate: bool = False, may_alias: bool | None = None) -> Any:
    """A tree of arrays on a device: there is one, so leaves become arrays and stay where they are.

    >>> device_put((1.0, 2))
    (Array(1., dtype=float32, weak_type=True), Array(2, dtype=int32, weak_type=True))
    """
    return tree.map(lambda leaf: leaf if voids.is_void(leaf) else as_value(leaf), x)


def device_get(x: Any) -> Any:
    """A tree of arrays as NumPy arrays.

    >>> device_get(device_put(np.arange(2)))
    array([0, 1], dtype=int32)
    """
    return tree.map(np.asarray, x)
