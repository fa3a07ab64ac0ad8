"""Array types: shape, dtype and weakness, JAX's promotion of them, and their short names (f32[4])."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np

from celadon import errors
from celadon.keys import shown
from celadon.settings import Setting

DType = np.dtype[Any]
Shape = tuple[int, ...]

enable_x64 = Setting("jax_enable_x64", False, keyed=True)
default_matmul_precision = Setting("jax_default_matmul_precision", None, keyed=True)  # products are always exact to their dtype
numpy_rank_promotion = Setting("jax_numpy_rank_promotion", "allow", keyed=True)
numpy_dtype_promotion = Setting("jax_numpy_dtype_promotion", "standard", keyed=True)

if TYPE_CHECKING:
    bfloat16: DType
bool_: DType = np.dtype(bool)
int32: DType = np.dtype(np.int32)
float32: DType = np.dtype(np.float32)
float0: DType = np.dtype([("float0", np.void, 0)])  # of the tangents of integers and booleans: nothing

_SHORT = {
    "bool": "bool", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
    "bfloat16": "bf16", "float16": "f16", "float32": "f32", "float64": "f64",
    "complex64": "c64", "complex128": "c128",
}  # fmt: skip
_OWN: dict[DType, str] = {np.dtype(name): short for name, short in _SHORT.items() if name != "bfloat16"}


class _ByShortName(dict[str, DType]):
    """Dtypes by their short names; ml_dtypes, which takes seconds to load in some versions, is asked for bf16 only."""

    def __missing__(self, short: str) -> DType:
        if short != "bf16":
            raise KeyError(short)
        found = self[short] = np.dtype(importlib.import_module("ml_dtypes").bfloat16)
        return found


from_short = _ByShortName({short: dtype for dtype, short in _OWN.items()})


def every_dtype() -> tuple[DType, ...]:
    """All dtypes that arrays have, but for keys.

    >>> len(every_dtype())
    15
    """
    return tuple(from_short[short] for short in _SHORT.values())


def __getattr__(name: str) -> Any:
    if name != "bfloat16":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return from_short["bf16"]


def is_bfloat16(dtype: DType) -> bool:
    return dtype.kind == "V" and dtype.type.__name__ == "bfloat16"


def is_supported(dtype: DType) -> bool:
    """Whether arrays can have this dtype.

    >>> is_supported(np.dtype("datetime64[s]"))
    False
    """
    return dtype in _OWN or is_bfloat16(dtype)


def finfo(dtype: DType) -> Any:
    """The limits of a floating dtype, as NumPy or ml_dtypes knows them.

    >>> finfo(from_short["bf16"]).nmant
    7
    """
    return importlib.import_module("ml_dtypes").finfo(dtype) if is_bfloat16(dtype) else np.finfo(dtype)


class DTypes:
    """A set of dtypes; bfloat16 may be in it without being loaded.

    >>> float32 in of_kind("f"), float32 in of_kind("f") - of_kind("f")
    (True, False)
    """

    __slots__ = ("_half", "_known")

    def __init__(self, known: Iterable[Any], half: bool = False):
        self._known, self._half = frozenset(map(np.dtype, known)), half

    def __contains__(self, dtype: object) -> bool:
        return dtype in self._known or (self._half and isinstance(dtype, np.dtype) and is_bfloat16(dtype))

    def __iter__(self) -> Iterator[DType]:
        yield from self._known
        if self._half:
            yield from_short["bf16"]

    def __or__(self, other: DTypes) -> DTypes:
        return DTypes(self._known | other._known, self._half or other._half)

    def __sub__(self, other: DTypes) -> DTypes:
        return DTypes(self._known - other._known, self._half and not other._half)


def of_kind(kinds: str) -> DTypes:
    """The dtypes of some kinds: letters of b, i, u, f and c.

    >>> sorted(map(str, of_kind("c")))
    ['complex128', 'complex64']
    """
    return DTypes((dtype for dtype in _OWN if dtype.kind in kinds), "f" in kinds)


_types: WeakValueDictionary[tuple[Shape, DType, bool], ArrayType] = WeakValueDictionary()


class ArrayType:
    """Shape, dtype and weakness of an array; equal types are one object, so they compare by identity.

    >>> ArrayType((4,), float32)
    f32[4]
    >>> ArrayType((4,), float32) is ArrayType((4,), float32)
    True
    """

    __slots__ = ("__weakref__", "dtype", "ndim", "shape", "size", "weak_type")
    shape: Shape
    dtype: DType
    weak_type: bool
    ndim: int
    size: int

    def __new__(cls, shape: Shape, dtype: DType, weak_type: bool = False) -> ArrayType:
        key = (shape, dtype, weak_type)
        found = _types.get(key)
        if found is not None:
            return found
        self = object.__new__(cls)
        self.shape, self.dtype, self.weak_type = shape, dtype, weak_type
        self.ndim, self.size = len(shape), _size(shape)
        return _types.setdefault(key, self)

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    def strong(self) -> ArrayType:
        """The same type without weakness."""
        return ArrayType(self.shape, self.dtype) if self.weak_type else self

    def with_shape(self, shape: Shape) -> ArrayType:
        return ArrayType(shape, self.dtype, self.weak_type)

    def with_dtype(self, dtype: DType) -> ArrayType:
        return ArrayType(self.shape, dtype)

    def __repr__(self) -> str:
        return f"{short_name(self.dtype)}[{','.join(map(str, self.shape))}]"

    def __reduce__(self) -> tuple[object, ...]:
        return ArrayType, (self.shape, self.dtype, self.weak_type)


def _size(shape: Shape) -> int:
    size = 1
    for extent in shape:
        size *= extent
    return size


def short_name(dtype: DType) -> str:
    """
    >>> short_name(np.dtype("complex64"))
    'c64'
    """
    return _OWN.get(dtype) or ("bf16" if is_bfloat16(dtype) else str(shown(dtype)))


def canonical(dtype: Any) -> DType:
    """The dtype that arrays really get: 64-bit ones are 32-bit unless x64 is on.

    >>> canonical("float64")
    dtype('float32')
    """
    found: DType = dtype if isinstance(dtype, np.dtype) else np.dtype(dtype)
    return found if enable_x64.value else _NARROW.get(found, found)


_NARROW: dict[DType, DType] = {np.dtype(wide): np.dtype(narrow) for wide, narrow in (
    ("int64", "int32"), ("uint64", "uint32"), ("float64", "float32"), ("complex128", "complex64"))}  # fmt: skip

scalar_dtypes: dict[type, DType] = {
    bool: bool_, int: np.dtype(np.int64), float: np.dtype(np.float64), complex: np.dtype(np.complex128)
}  # fmt: skip


def scalar_type(value: bool | int | float | complex) -> ArrayType:
    """The type of a Python scalar: weak, but for bool.

    >>> scalar_type(1.0)
    f32[]
    """
    if isinstance(value, bool):
        return ArrayType((), bool_)
    found = _scalar_type(_kind(value), enable_x64.value)
    if isinstance(value, int) and not -_BEYOND <= value < _BEYOND:
        bound = 1 << 8 * found.dtype.itemsize - 1
        if not -bound <= value < bound:
            raise errors.IntegerTooLarge(value=value, dtype=found.dtype)
    return found


_BEYOND = 1 << 31


@functools.cache
def _scalar_type(python: type, wide: bool) -> ArrayType:
    dtype = scalar_dtypes[python]
    return ArrayType((), dtype if wide else _NARROW.get(dtype, dtype), True)


def _kind(value: int | float | complex) -> type:
    return int if isinstance(value, int) else float if isinstance(value, float) else complex


def kind(dtype: DType) -> str:
    """b, i, u, f or c; bfloat16 is f, keys are V.

    >>> kind(from_short["bf16"])
    'f'
    """
    return "f" if is_bfloat16(dtype) else dtype.kind


def is_inexact(dtype: DType) -> bool:
    return kind(dtype) in "fc"


def result_type(types: Iterable[ArrayType]) -> tuple[DType, bool]:
    """The dtype and weakness that an operation of these operands has, by JAX's type promotion lattice.

    Source: the lattice on JAX's documentation page "Type promotion semantics".

    >>> result_type([ArrayType((), np.dtype("int32")), ArrayType((), float32, True)])
    (dtype('float32'), True)
    """
    seen = frozenset((t.dtype, t.weak_type) for t in types)
    dtype, weak = _promote(seen)
    return canonical(dtype), weak


@functools.lru_cache(4096)
def _promote(seen: frozenset[tuple[DType, bool]]) -> tuple[DType, bool]:
    dtypes = {dtype for dtype, _ in seen}
    all_weak = all(weak for _, weak in seen)
    if len(dtypes) == 1:
        return next(iter(dtypes)), all_weak
    nodes = {_node(dtype, weak and not all_weak) for dtype, weak in seen}
    found = _least_upper_bound(nodes)
    if found in _WEAK:
        return np.dtype(_WEAK[found]), True
    return from_short[found], all_weak


_WEAK = {"i*": np.int64, "f*": np.float64, "c*": np.complex128}
_ABOVE = {
    "bool": ("i*",), "i*": ("u8", "i8"), "u8": ("u16", "i16"), "u16": ("u32", "i32"), "u32": ("u64", "i64"),
    "u64": ("f*",), "i8": ("i16",), "i16": ("i32",), "i32": ("i64",), "i64": ("f*",),
    "f*": ("bf16", "f16", "c*"), "bf16": ("f32",), "f16": ("f32",), "f32": ("f64", "c64"), "f64": ("c128",),
    "c*": ("c64",), "c64": ("c128",), "c128": (),
}  # fmt: skip


def _node(dtype: DType, weak: bool) -> str:
    if weak and kind(dtype) != "b":
        return kind(dtype).replace("u", "i") + "*"
    return short_name(dtype)


@functools.cache
def _upper(node: str) -> frozenset[str]:
    return frozenset([node]).union(*(_upper(above) for above in _ABOVE[node]))


def _least_upper_bound(nodes: set[str]) -> str:
    unknown = nodes - _ABOVE.keys()
    if unknown:
        raise errors.NoImplicitPromotion(dtypes=" and ".join(sorted(nodes)))
    candidates = frozenset.intersection(*(_upper(node) for node in nodes))
    return next(node for node in candidates if candidates == _upper(node))


class ShapeDtypeStruct:
    """Shape and dtype of an array that is not there: an argument of `lower` and `eval_shape`, and what they return.

    >>> ShapeDtypeStruct((2,), "float32")
    ShapeDtypeStruct(shape=(2,), dtype=float32)
    """

    __slots__ = ("dtype", "shape", "weak_type")

    def __init__(self, shape: Iterable[int], dtype: Any, *, weak_type: bool = False):
        self.shape, self.dtype, self.weak_type = tuple(shape), shown(np.dtype(dtype)), weak_type

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return _size(self.shape)

    def __repr__(self) -> str:
        weak = ", weak_type=True" if self.weak_type else ""
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype}{weak})"

    def _parts(self) -> tuple[Shape, DType, bool]:
        return self.shape, self.dtype, self.weak_type

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ShapeDtypeStruct) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())
