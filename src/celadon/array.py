"""Array: a concrete immutable array in aligned pool memory; arrays of others come in here, NumPy views go out."""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import numpy as np

from celadon import errors, tracing
from celadon.keys import is_key
from celadon.memory import Block, allocate
from celadon.program import Literal
from celadon.tracing import Tracer, Value
from celadon.types import ArrayType, DType, canonical, is_supported, kind, scalar_type

NDArray = np.ndarray[Any, Any]


class _IsArray(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Value)


class Array(Value, metaclass=_IsArray):
    """A concrete array. `isinstance(x, Array)` holds for traced values too.

    It has a block of pool memory, or a NumPy array not yet copied to one, or both; without either it was donated.
    """

    __slots__ = ("_block", "_host", "_taker", "type")

    def __init__(self, type: ArrayType, block: Block | None = None, host: NDArray | None = None):
        self.type, self._block, self._host = type, block, host
        if host is not None and host.flags.writeable:
            host.flags.writeable = False

    @property
    def block(self) -> Block:
        """The aligned, padded memory that kernels read."""
        if self._block is None:
            self._block = _copied(self.host)
            self._host = None
        return self._block

    @property
    def host(self) -> NDArray:
        """A read-only NumPy view."""
        if self._host is None:
            if self._block is None:
                raise self._deleted()
            self._host = self._block.view(self.type.dtype, self.type.shape)
            self._host.flags.writeable = False
        return self._host

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray:
        self._readable()
        if dtype is not None and np.dtype(dtype) != self.type.dtype:
            return self.host.astype(dtype)
        return self.host.copy() if copy else self.host

    def is_deleted(self) -> bool:
        """True once the array was donated to a program."""
        return self._block is None and self._host is None

    def delete(self) -> None:
        """Give the memory back at once."""
        self._block = self._host = None

    def donate(self, function: str, argument: str) -> None:
        """Give the memory up to a program, which took the array as an argument."""
        self.delete()
        self._taker = function, argument

    def _deleted(self) -> errors.CeladonError:
        taker = getattr(self, "_taker", None)
        how = f"donated to {taker[0]} as its argument {taker[1]}" if taker else "deleted"
        return errors.ArrayDeleted(type=self.type, how=how)

    def typed(self, type: ArrayType) -> Array:
        """The same memory under a type that differs in weakness, or has keys for their bits, or bits for keys."""
        if type is self.type:
            return self
        return Array(type, self._block, self._host) if type.dtype == self.type.dtype else Array(type, self.block)

    def block_until_ready(self) -> Array:
        """Returns self: programs have run when they return."""
        if self.is_deleted():
            raise self._deleted()
        return self

    def item(self, *args: int) -> Any:
        self._readable()
        return self.host.item(*args)

    def tolist(self) -> Any:
        self._readable()
        return self.host.tolist()

    def __bool__(self) -> bool:
        self._one("bool")
        return bool(self.host)

    def __int__(self) -> int:
        self._one("int")
        return int(self.host.item())

    def __float__(self) -> float:
        self._one("float")
        return float(self.host.item())

    def __complex__(self) -> complex:
        self._one("complex")
        return complex(self.host.item())

    def __index__(self) -> int:
        if self.type.shape or kind(self.type.dtype) not in "iu":
            raise errors.NoIndex(type=self.type)
        return int(self.host)

    def _readable(self) -> None:
        if is_key(self.type.dtype):
            raise errors.KeysNotReadable(type=self.type)

    def _one(self, wanted: str) -> None:
        self._readable()
        if self.type.size != 1:
            raise errors.NotOneElement(type=self.type, wanted=wanted)

    def __format__(self, spec: str) -> str:
        if is_key(self.type.dtype):
            return format(str(self), spec)
        return format(self.host if self.type.shape else self.host[()], spec)

    def __repr__(self) -> str:
        if self.is_deleted():
            return f"Array(deleted, {self.type})"
        if is_key(self.type.dtype):
            return f"Array({self.type.shape}, dtype={self.dtype}) overlaying:\n{self.host['fry']}"
        body = np.array2string(self.host, separator=", ", prefix="Array(")
        weak = ", weak_type=True" if self.type.weak_type else ""
        return f"Array({body}, dtype={self.type.dtype}{weak})"

    def __str__(self) -> str:
        return repr(self) if is_key(self.type.dtype) else str(self.host)

    def __reduce__(self) -> tuple[object, ...]:
        return _unpickled, (np.array(self.host), self.type.weak_type)

    def __copy__(self) -> Array:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Array:
        return Array(self.type, host=np.array(self.host))

    __hash__ = Value.__hash__


def _unpickled(host: NDArray, weak_type: bool) -> Array:
    return Array(ArrayType(host.shape, host.dtype, weak_type), host=host)


def _copied(host: NDArray) -> Block:
    block = allocate(host.nbytes)
    block.view(host.dtype, host.shape)[...] = host
    return block


def from_host(host: NDArray, weak_type: bool = False) -> Array:
    """An Array of a fresh NumPy array that nobody else will write to (no copy is made now)."""
    return Array(ArrayType(host.shape, host.dtype, weak_type), host=host)


def as_array(x: Any) -> Any:
    """An Array of anything array-like: a NumPy array is copied, a Python scalar is weak, an Array or Tracer is itself.

    Raises `NotAnArray` for what is none.

    >>> as_array(2.0)
    Array(2., dtype=float32, weak_type=True)
    """
    if isinstance(x, Value):
        return x
    if isinstance(x, Literal):
        return Array(x.type, host=np.asarray(x.value))
    if isinstance(x, np.ndarray | np.generic):
        return _from_numpy(np.asarray(x), is_masked(x))
    if isinstance(x, bool | int | float | complex):
        return _from_scalar(x)
    return _from_protocol(x)


_CELLS: dict[DType, Any] = {
    np.dtype(cell): cell for cell in (ctypes.c_float, ctypes.c_double, ctypes.c_bool, ctypes.c_int32, ctypes.c_int64)
}


def _from_scalar(x: complex) -> Array:
    found = scalar_type(x)
    cell = _CELLS.get(found.dtype)
    if cell is None:
        return Array(found, host=np.asarray(x, found.dtype))
    block = allocate(found.dtype.itemsize)
    cell.from_address(block.pointer).value = x
    return Array(found, block)


def is_masked(x: Any) -> bool:
    """Whether this is a NumPy masked array; asking does not load numpy.ma."""
    masked = sys.modules.get("numpy.ma")
    return masked is not None and isinstance(x, masked.MaskedArray)


def concrete(x: Any) -> Array:
    """`as_array` for where no trace is open: a Tracer met there left its own.

    Raises `UnexpectedTracerError`.
    """
    if isinstance(x, Tracer):
        raise tracing.leaked(x)
    return as_array(x)


def _from_numpy(x: NDArray, masked: bool) -> Array:
    if masked:
        raise errors.MaskedArrayInput(shape=x.shape)
    dtype = canonical(x.dtype)
    if not is_supported(dtype):
        raise errors.DTypeNotSupported(dtype=x.dtype)
    block = allocate(x.size * dtype.itemsize)
    if x.dtype == dtype and x.flags.c_contiguous:
        ctypes.memmove(block.pointer, x.__array_interface__["data"][0], x.nbytes)
    else:
        with np.errstate(all="ignore"):
            block.view(dtype, x.shape)[...] = x
    return Array(ArrayType(x.shape, dtype), block)


def _from_protocol(x: Any) -> Any:
    if hasattr(x, "__jax_array__"):
        return as_array(x.__jax_array__())
    if hasattr(x, "__array__") and not isinstance(x, type):
        return as_array(np.asarray(x))
    raise errors.NotAnArray(type=type(x).__name__)


tracing.outside.as_array = as_array

__all__ = ["Array", "Tracer", "as_array", "from_host"]
