"""The rule of plan for matrix products: our own kernel while the right operand stays in cache, else BLAS on panels."""

from __future__ import annotations

from typing import NamedTuple

from celadon.cpu import blas, kinds
from celadon.cpu.contract import BLAS
from celadon.cpu.layout import dense_strides
from celadon.cpu.plan import PAYS, WORD, Place, Planner, extents_of, product as extent_product, rules, unit_of
from celadon.cpu.recipe import TILE_ROWS, Launch, Moved
from celadon.cpu.tables import STEP
from celadon.types import short_name

_OWN_BELOW = 200_000  # bytes of the right operand
_OWN_BELOW_COMPLEX = 1024  # the products of complex numbers are not fused, so that BLAS soon gains
_BLOCK = 16
_SIDE, _ACROSS, _PARTS = 512, 4, 16  # of a panel; panels side by side; panels
_OWN_NANOSECONDS, _BLAS_NANOSECONDS = 0.06, 0.03
_PLAIN, _TRANSPOSED = 111, 112


class _Product(NamedTuple):
    """Extents of batch, rows, columns and depth, and strides of left, right and result along them, in bytes."""

    extents: dict[str, int]
    places: tuple[Place, ...]
    strides: tuple[dict[str, int], ...]

    def size(self, letters: str) -> int:
        size = 1
        for letter in letters:
            size *= self.extents[letter]
        return size


def _product(planner: Planner, launch: Launch, right: int) -> _Product:
    rank = len(planner.shapes[launch.like])
    params = planner.equations[launch.equation].params
    (contract, _), (batch, _) = params["dimension_numbers"]
    left = len(planner.equations[launch.equation].inputs[0].type.shape) - len(contract) - len(batch)
    letters = "b" * len(batch) + "m" * left
    letters += "n" * (rank - len(letters) - len(contract)) + "k" * len(contract)
    sizes = extents_of(planner.shapes[launch.like], launch.loops)
    names = [letters[loop[0]] for loop in launch.loops]
    extents = {"b": 1, "m": 1, "n": 1, "k": 1} | dict(zip(names, sizes, strict=True))
    kept = iter(planner.place(launch.writes[0]).strides)
    out = [0 if letter == "k" else next(kept) for letter in letters]
    places = (planner.place(launch.reads[0]), planner.place(right), planner.place(launch.writes[0]))
    walks = (places[0].strides, places[1].strides, out)
    ends = [loop[-1] for loop in launch.loops]
    strides = tuple({"b": 0} | {name: walk[i] for name, i in zip(names, ends, strict=True)} for walk in walks)
    return _Product(extents, places, strides)


def _contract(planner: Planner, launch: Launch) -> None:
    product = _product(planner, launch, launch.reads[1])
    if not product.size("bmn"):
        return
    kernel = planner.outline.schedule.kernels[launch.kernel]
    assert isinstance(kernel, Moved)
    size = kinds.itemsize(kernel.dtypes[0])
    if kernel.kind == "matmul" and (launch.then < 0 or product.size("kn") * size < _limit(kernel.dtypes[1])):
        _own(planner, launch.kernel, _product(planner, launch, launch.reads[-1]))
    else:
        _panels(planner, launch.kernel if launch.then < 0 else launch.then, product)


def _limit(dtype: str) -> int:
    return _OWN_BELOW_COMPLEX if kinds.letter(dtype) == "c" else _OWN_BELOW


def _own(planner: Planner, kernel: int, product: _Product) -> None:
    at = planner.here
    rows = product.extents["m"]
    block = max(_BLOCK, -(-rows // (64 * TILE_ROWS)) * TILE_ROWS)
    blocks = -(-rows // block)
    words = [rows, product.extents["n"], product.extents["k"], block, blocks]
    for place, strides, letter in zip(product.places, product.strides, "mkm", strict=True):
        words += (place.cell * WORD - at, place.offset, strides["b"], strides[letter])
    words.append(product.strides[0]["k"])
    nanoseconds = product.size("bmnk") * _OWN_NANOSECONDS
    extent = blocks * product.extents["b"]
    planner.step(kernel, words, extent, unit_of(extent, nanoseconds), nanoseconds + STEP)


def _panels(planner: Planner, kernel: int, product: _Product) -> None:
    at = planner.here
    recipe = planner.outline.schedule.kernels[kernel]
    assert isinstance(recipe, Moved)
    dtype = recipe.dtypes[0]
    size = kinds.itemsize(dtype)
    nanoseconds = product.size("bmnk") * _BLAS_NANOSECONDS * size / 4
    rows, columns = product.extents["m"], product.extents["n"]
    height, width = _panel(product, nanoseconds)
    down, across = -(-rows // height), -(-columns // width)
    words = [blas.address(BLAS[dtype]), rows, columns, product.extents["k"], height, width, down, across]
    words += _order(product.strides[0], "m", "k", product, size)
    words += _order(product.strides[1], "k", "n", product, size)
    words.append(max(product.strides[2]["m"] // size, columns))
    for place, strides, letters in zip(product.places, product.strides, ("bm", "bn", "bmn"), strict=True):
        words += (place.cell * WORD - at, place.offset, *(strides[x] if x in letters else 0 for x in "bmn"))
    extent = down * across * product.extents["b"]
    unit = 1 if nanoseconds >= PAYS else extent
    planner.step(kernel, words, extent, max(unit, -(-extent // 64)), nanoseconds + STEP)


def _panel(product: _Product, nanoseconds: float) -> tuple[int, int]:
    """Rows and columns of a panel: borders depend on extents alone. Each packs its own rows and columns, so that the nearer it
    is to a square the better; what one thread could do alone, but not in time, is halved."""
    rows, columns = product.extents["m"], product.extents["n"]
    if nanoseconds < PAYS or product.extents["b"] >= _PARTS:
        return rows, columns
    across = min(-(-columns // _SIDE), _ACROSS)
    down = min(-(-rows // _SIDE), _PARTS // across)
    if down == across == 1:
        down, across = (2, 1) if rows >= columns else (1, 2)
    return _part(rows, down), _part(columns, across)


def _part(extent: int, parts: int) -> int:
    """The length of all parts but the last, whole tiles of BLAS."""
    return -(-extent // (16 * parts)) * 16


def _order(strides: dict[str, int], rows: str, columns: str, product: _Product, size: int) -> tuple[int, int]:
    """BLAS' word for whether a matrix is transposed, and its leading dimension."""
    if strides[columns] == size:
        return _PLAIN, max(strides[rows] // size, product.extents[columns], 1)
    return _TRANSPOSED, max(strides[columns] // size, product.extents[rows], 1)


def _small(planner: Planner, launch: Launch) -> None:
    """A copy of a right operand by lines, for our own kernel."""
    copy = launch.writes[0]
    (_, _), (batch, _) = planner.equations[launch.equation].params["dimension_numbers"]
    dtype = short_name(planner.equations[launch.equation].inputs[1].type.dtype)
    if extent_product(planner.shapes[launch.like][len(batch) :]) * planner.sizes[copy] < _limit(dtype):
        planner.define(copy)
        rules["map"](planner, launch)
    else:
        planner.places[copy] = Place(0, 0, dense_strides(planner.shapes[copy], planner.sizes[copy]))


rules["contract"] = _contract
rules["small"] = _small
