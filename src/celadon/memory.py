"""Recycled host memory: a size comes in, an aligned, padded Block goes out, which arrays hold and kernels address."""

from __future__ import annotations

import atexit
import ctypes
import os
import weakref
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from celadon import errors
from celadon.background import begin
from celadon.locks import process_lock

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

ALIGNMENT = 64
ADDRESSABLE = 1 << 47  # bytes: what no machine has
_SMALL_UNITS = 1024
SMALL_BYTES = _SMALL_UNITS * ALIGNMENT
_SMALL_SHELF = 1 << 21
_SLAB = 1 << 14
_LIMIT_AT_MOST = 1 << 31
_AHEAD_AT_LEAST, _AHEAD_AT_MOST = 1 << 21, 1 << 25


class Region(NamedTuple):
    """Memory that a block borrows: its start, its bytes, what keeps it, the shelf it returns to and the room there."""

    pointer: int
    capacity: int
    keeper: NDArray[np.uint8]
    shelf: list[Region]
    room: int


class Block:
    """`size` bytes at `pointer`, 64-byte aligned, padded to a multiple of 64 and 64 more; recycled when not held.

    A view holds its block, so a block never returns to the pool while an array over it lives.
    """

    __slots__ = ("__weakref__", "_window", "owner", "pointer", "size")

    def __init__(self, owner: Region, size: int):
        self.owner = owner
        self.pointer = owner[0]
        self.size = size
        self._window: weakref.ref[NDArray[np.uint8]] | None = None

    def __del__(self) -> None:
        owner = self.owner
        shelf = owner[3]
        if len(shelf) < owner[4]:
            shelf.append(owner)
        elif owner[1] > SMALL_BYTES:
            keep_large(owner)

    def view(self, dtype: DTypeLike, shape: Sequence[int]) -> NDArray[Any]:
        """A writable C-ordered array over the block's first bytes; it and what is made from it keep the block.

        Args:
            dtype: any NumPy dtype, ml_dtypes' included.
            shape: extents; they may need fewer bytes than the block has.

        Raises:
            TypeError: if the block is too small, as `numpy.ndarray` does.

        >>> allocate(16).view("float32", (2, 2)).shape
        (2, 2)
        """
        window = self._window() if self._window is not None else None
        return np.ndarray(shape, dtype, self._open() if window is None else window)

    def is_viewed(self) -> bool:
        """Whether an array over the block is alive, so that writing to the block would be seen.

        >>> block = allocate(8)
        >>> view = block.view("int64", (1,))
        >>> block.is_viewed()
        True
        """
        return self._window is not None and self._window() is not None

    def _open(self) -> NDArray[np.uint8]:
        with _opening:
            window = self._window() if self._window is not None else None
            if window is None:
                window = np.asarray(_Exporter(self))
                self._window = weakref.ref(window)
            return window


class _Exporter:
    """What NumPy takes as the base of a block's window; it holds the block."""

    __slots__ = ("__array_interface__", "block")

    def __init__(self, block: Block):
        self.block = block
        self.__array_interface__ = {
            "version": 3,
            "shape": (block.size,),
            "typestr": "|u1",
            "data": (block.pointer, False),
        }


def allocate(nbytes: int) -> Block:
    """A block of at least `nbytes` bytes with whatever content, recycled where one fits, else fresh.

    Args:
        nbytes: bytes wanted, zero or more.

    Raises:
        OutOfMemory: if the machine has no such room.

    >>> block = allocate(100)
    >>> block.size, block.pointer % 64
    (100, 0)
    """
    try:
        return Block(_small[(nbytes + 127) >> 6].pop(), nbytes)
    except IndexError:
        return Block(find(nbytes), nbytes)


def copy_in(array: NDArray[Any]) -> Block:
    """A block with the elements of `array`, in C order and the machine's byte order.

    >>> copy_in(np.arange(3)).view("int64", (3,)).tolist()
    [0, 1, 2]
    """
    block = allocate(array.nbytes)
    block.view(array.dtype.newbyteorder("="), array.shape)[...] = array
    return block


def kept() -> int:
    """Bytes that the pool holds for later.

    >>> trim()
    >>> kept()
    0
    """
    return sum(units * ALIGNMENT * len(shelf) for units, shelf in list(_shelves.items()))


def trim() -> None:
    """Give all memory that no block uses back to the system; small memory with the last of those that it was fetched with."""
    for shelf in list(_shelves.values()):
        shelf.clear()


def set_limit(nbytes: int) -> None:
    """Bound what the pool keeps of large blocks; small ones (64 kB and less) have a bound of 2 MB a size.

    >>> set_limit(1 << 30)
    """
    global _limit
    _limit = nbytes
    _audit()


def _default_limit() -> int:
    try:
        physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return _LIMIT_AT_MOST // 2
    return min(_LIMIT_AT_MOST, physical // 8)


def _rounded(units: int) -> int:
    """Four sizes an octave: at most a quarter of a block is spare, and few shelves serve all sizes."""
    step = 1 << max(units.bit_length() - 3, 0)
    return (units + step - 1) // step * step


def shelf(nbytes: int) -> list[Region] | None:
    """The shelf from whose end a block of this size is taken first; None for a large one, which several shelves serve.

    >>> shelf(1) is shelf(2), shelf(1 << 20)
    (True, None)
    """
    units = (nbytes + 127) >> 6
    return _small[units] if units < len(_small) else None


def find(nbytes: int) -> Region:
    """Memory for a block of `nbytes` bytes, from a shelf or fresh.

    >>> find(100).capacity
    192
    """
    units = _rounded((nbytes + 2 * ALIGNMENT - 1) // ALIGNMENT)
    size = units
    while size <= 2 * units:
        try:
            return _shelves[size].pop()
        except (KeyError, IndexError):
            size = _rounded(size + 1)
    return _fresh(units, nbytes)


def _fresh(units: int, nbytes: int) -> Region:
    """Memory from the system; where more and more small blocks of a size are wanted, several at once, for the shelf."""
    capacity = units * ALIGNMENT
    count = max(min(_made.get(units, 0), _SLAB // capacity), 1)
    try:
        keeper = _raw(capacity * count)
    except (MemoryError, ValueError, OverflowError):
        raise errors.OutOfMemory(bytes=nbytes) from None
    address = -(-keeper.__array_interface__["data"][0] // ALIGNMENT) * ALIGNMENT
    room = min(max(_SMALL_SHELF // capacity, 4), 1024) if units <= _SMALL_UNITS else 0
    shelf = _shelves.setdefault(units, [])
    if capacity < _SLAB:
        _made[units] = _made.get(units, 0) + count
    shelf += [Region(address + capacity * i, capacity, keeper, shelf, room) for i in range(1, count)]
    return Region(address, capacity, keeper, shelf, room)


def _raw(capacity: int) -> NDArray[np.uint8]:
    try:
        return np.empty(capacity + ALIGNMENT, np.uint8)
    except MemoryError:
        trim()
        return np.empty(capacity + ALIGNMENT, np.uint8)


def keep_large(region: Region) -> None:
    """Put large memory on its shelf. What was returned is counted, not what is kept, so that the exact sum is taken seldom
    and no lock is needed."""
    global _returned
    if region.capacity > _limit:
        return
    region.shelf.append(region)
    _returned += region.capacity
    if _returned > _limit:
        _audit()


def _audit() -> None:
    """Drop the older half of every large shelf until what is kept fits the limit."""
    global _returned
    while _large_kept() > _limit:
        for units, shelf in list(_shelves.items()):
            if units > _SMALL_UNITS:
                del shelf[: (len(shelf) + 1) // 2]
    _returned = _large_kept()


def _large_kept() -> int:
    large = [(units, shelf) for units, shelf in list(_shelves.items()) if units > _SMALL_UNITS]
    return sum(units * ALIGNMENT * len(shelf) for units, shelf in large)


def _small_shelves() -> list[list[Region]]:
    """For each number of units, up to the last small one, the shelf of the size that it is rounded to."""
    found: list[list[Region]] = []
    while len(found) <= _SMALL_UNITS:
        units = _rounded(max(len(found), 1))
        shelf = _shelves[units] = []
        found += [shelf] * (units + 1 - len(found))
    return found


def _stop_recycling() -> None:
    """At the interpreter's end blocks outlive this module's names; what they borrow is then simply freed."""
    del Block.__del__


atexit.register(_stop_recycling)
@contextmanager
def got_ready(sizes: Sequence[int]) -> Generator[None]:
    """While the block runs, another thread has the system hand out memory for blocks of some sizes, which are then recycled:
    the first results of a program need not wait for their pages where machine code was waited for.

    >>> with got_ready([8]):
    ...     pass
    """
    if not _AHEAD_AT_LEAST <= sum(sizes) <= min(_AHEAD_AT_MOST, _limit):
        yield
        return
    wait = begin(_touch, sizes)
    try:
        yield
    finally:
        wait()


def _touch(sizes: Sequence[int]) -> None:
    try:
        blocks = [allocate(nbytes) for nbytes in sizes]
    except errors.OutOfMemory:  # the call that needs the memory says so
        return
    for block in blocks:
        ctypes.memset(block.pointer, 0, block.size)


_shelves: dict[int, list[Region]] = {}
_made: dict[int, int] = {}  # how many small regions there are, by their units
_small = _small_shelves()
_opening = process_lock()
_limit = _default_limit()
_returned = 0
