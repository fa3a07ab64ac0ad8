"""The rule of plan for Fourier transforms: a length is parted into two, each into small factors, with their roots of unity."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from celadon.cpu.kinds import itemsize, lanes_of
from celadon.cpu.plan import WORD, Planner, product, rules, unit_of
from celadon.cpu.recipe import Hosted, Launch, Moved
from celadon.cpu.tables import STEP

if TYPE_CHECKING:
    from numpy.typing import NDArray

RADICES = (4, 2, 3, 5, 7, 11, 13)  # larger ones are left to NumPy, which does them otherwise than by the definition
_LONGEST = 1 << 16  # more roots of unity than this are not kept with a plan
_NANOSECONDS = 0.4  # for an element and a factor


class _Rooms(NamedTuple):
    """Bytes of a thread's room, and where its parts begin: what stands between the phases, a tile, its other copy, and the
    transform that a real one is made from."""

    nbytes: int
    between: int
    tile: int
    other: int
    halves: int


def factors(n: int) -> list[int] | None:
    """The radices whose product is n, or None.

    >>> factors(48), factors(34)
    ([4, 4, 3], None)
    """
    found: list[int] = []
    for radix in RADICES:
        while n % radix == 0:
            found.append(radix)
            n //= radix
    return found if n == 1 else None


def parts(n: int) -> tuple[int, int] | None:
    """Two lengths with product n, both products of radices, the second not much longer than the first.

    >>> parts(32768), parts(38)
    ((128, 256), None)
    """
    if not 0 < n <= _LONGEST or factors(n) is None:
        return None
    first = max(d for d in range(1, int(n**0.5) + 1) if n % d == 0)
    return first, n // first


def _fourier(planner: Planner, launch: Launch) -> None:
    kernel = planner.outline.schedule.kernels[launch.kernel]
    assert isinstance(kernel, Moved)
    length = planner.equations[launch.equation].params["fft_length"][0]
    half = kernel.facts[0] == "RFFT"
    found = None if half and length % 2 else parts(length // 2 if half else length)
    if found is None:
        planner.hosted(Hosted(launch.equation, launch.reads, launch.writes))
        return
    count = product(planner.shapes[launch.reads[0]][:-1])
    if count:
        _Transform(planner, launch, kernel, found).step(count, length)


class _Transform:
    """One step on its way to its table; see emit_fourier for that."""

    def __init__(self, planner: Planner, launch: Launch, kernel: Moved, lengths: tuple[int, int]):
        self.planner, self.launch = planner, launch
        self.size = itemsize(kernel.dtypes[0])
        self.float = np.float32 if self.size == 4 else np.float64
        self.lanes = lanes_of(self.size)
        self.type, self.lengths = kernel.facts[0], lengths
        self.sign = 1 if self.type == "IFFT" else -1
        self.padded = [-(-n // self.lanes) * self.lanes for n in lengths]

    def step(self, count: int, length: int) -> None:
        planner, launch = self.planner, self.launch
        passes = [factors(n) or [] for n in self.lengths]
        nanoseconds = count * length * (sum(map(len, passes)) + 2) * _NANOSECONDS
        block = unit_of(count, nanoseconds)
        pieces = -(-count // block)
        rooms = self._rooms()
        offset, at = planner.scratch(pieces * rooms.nbytes), planner.here
        head = [block, count, planner.outline.arena_cell * WORD - at, offset, rooms.nbytes]
        head += [rooms.between, rooms.tile, rooms.other, rooms.halves, self.padded[0], length // 2]
        for number in (launch.reads[0], launch.writes[0]):
            place = planner.place(number)
            head += [place.cell * WORD - at, place.offset, planner.shapes[number][-1] * planner.sizes[number]]
        planner.step(launch.kernel, self._table(head, passes), pieces, 1, nanoseconds + STEP)

    def _rooms(self) -> _Rooms:
        pair = 2 * self.size
        between = self.padded[0] * self.padded[1] * pair
        tile = max(self.padded) * pair * self.lanes
        margin = self.lanes * pair
        halves = (self.lengths[0] * self.lengths[1] + 2 * self.lanes) * pair + margin if self.type == "RFFT" else 0
        first = [0, between, between + tile, between + 2 * tile + margin]
        return _Rooms(-(-(first[-1] + halves) // 64) * 64, *first)

    def _table(self, head: list[int], passes: list[list[int]]) -> list[int]:
        """The head, two words for roots between the phases and for those of halves, for each phase where its passes are and how
        many, then all of that."""
        words = [*head, 0, 0, 0, 0, 0, 0]
        at = len(head)
        words[at] = len(words) * WORD
        words += self._words(self._between())
        if self.type == "RFFT":
            words[at + 1] = len(words) * WORD
            words += self._words(self._halves())
        for k, (n, radices) in enumerate(zip(self.lengths, passes, strict=True)):
            words[at + 2 + 2 * k], words[at + 3 + 2 * k] = len(words) * WORD, len(radices)
            words += self._passes(n, radices)
        return words

    def _passes(self, n: int, radices: list[int]) -> list[int]:
        """For each pass its radix, the transforms that are left in one, and those side by side; where the next begins; for an
        odd radix its own roots; the roots of the pass, of an odd radix the first one too, which is 1."""
        words: list[int] = []
        beside = 1
        for radix in radices:
            left = n // radix
            odd = radix % 2
            roots = self._words(self._roots(np.outer(np.arange(left), np.arange(1 - odd, radix)), n).ravel())
            if odd:
                roots = self._words(self._roots(np.outer(np.arange(radix), np.arange(radix)), radix).ravel()) + roots
            words += [radix, left, beside, (4 + len(roots)) * WORD, *roots]
            n, beside = left, beside * radix
        return words

    def _roots(self, k: NDArray[np.int64], n: int) -> NDArray[np.complex128]:
        nearest = (k + n // 2) % n - n // 2  # to no turn at all: small angles are exact
        return np.exp(self.sign * 2j * np.pi * nearest / n)

    def _between(self) -> NDArray[np.float64]:
        """For each tile of columns and each row of its transforms a vector of real parts, then one of imaginary parts."""
        n = self.lengths[0] * self.lengths[1]
        roots = self._roots(np.outer(np.arange(self.padded[1]), np.arange(self.padded[0])), n)
        if self.type == "IFFT":
            roots = roots / n
        tiles = roots.reshape(-1, self.lanes, self.padded[0]).swapaxes(1, 2)
        return np.stack([tiles.real, tiles.imag], axis=2).ravel()

    def _halves(self) -> NDArray[np.complex128]:
        """What the difference of two elements of the half transform is multiplied by."""
        n = self.lengths[0] * self.lengths[1]
        return -0.5j * self._roots(np.arange(n + 1 + self.lanes), 2 * n)

    def _words(self, numbers: NDArray[np.float64] | NDArray[np.complex128]) -> list[int]:
        parts = numbers.view(np.float64).astype(self.float)
        return parts.view(np.int64).tolist()


rules["fourier"] = _fourier
