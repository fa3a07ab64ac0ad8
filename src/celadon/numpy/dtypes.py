"""Dtypes under NumPy's names: scalar types that are callable and count as dtypes, limits, promotion, questions."""

from __future__ import annotations

from typing import Any

import numpy as np

from celadon import errors
from celadon.array import as_array
from celadon.keys import extended, is_key, key_dtype
from celadon.tracing import Value, type_of
from celadon.types import (
    ArrayType,
    DType,
    canonical,
    enable_x64,
    every_dtype,
    finfo as _finfo,
    from_short,
    is_supported,
    kind,
    kind as kind_of,
    result_type as _result_type,
)
from celadon.vocabulary.elementwise import convert

_PYTHON = (bool, int, float, complex)


class _ScalarType(type):
    """The class of float32 and its like: a dtype that is also a function and equals the NumPy type of its name."""

    dtype: DType

    def __call__(cls, x: Any) -> Any:
        dtype = canonical(cls.dtype)
        if type(x) is int and kind(dtype) in "iu" and np.iinfo(dtype).min <= x <= np.iinfo(dtype).max:
            return as_array(dtype.type(x))
        from_python = as_array(x) if not isinstance(x, list | tuple) else as_array(np.asarray(x))
        return strong(from_python, dtype)

    def __eq__(cls, other: object) -> bool:
        return cls is other or getattr(other, "dtype", other) == cls.dtype

    def __ne__(cls, other: object) -> bool:
        return not cls == other

    def __hash__(cls) -> int:
        return hash(cls.dtype.type)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.dtype.type)

    def __repr__(cls) -> str:
        return f"celadon.numpy.{cls.__name__}"

    def __getattr__(cls, name: str) -> Any:
        if name != "dtype":
            raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")
        cls.dtype = to_dtype(cls.__name__)  # bfloat16's: it takes a library
        return cls.dtype


def strong(x: Value, dtype: DType) -> Value:
    """x converted to a dtype, with no weakness left."""
    if x.type.dtype == dtype and not x.type.weak_type:
        return x
    return convert(x, new_dtype=dtype, weak_type=False)


def _scalar_type(name: str, dtype: Any) -> Any:
    doc = f"The dtype {name}; called, it converts its argument to an array of this dtype."
    own = {} if dtype is None else {"dtype": np.dtype(dtype)}
    return _ScalarType(name, (), {**own, "__doc__": doc, "__module__": "celadon.numpy"})


bool_ = _scalar_type("bool", np.bool_)
int8, int16 = _scalar_type("int8", np.int8), _scalar_type("int16", np.int16)
int32, int64 = _scalar_type("int32", np.int32), _scalar_type("int64", np.int64)
uint8, uint16 = _scalar_type("uint8", np.uint8), _scalar_type("uint16", np.uint16)
uint32, uint64 = _scalar_type("uint32", np.uint32), _scalar_type("uint64", np.uint64)
bfloat16, float16 = _scalar_type("bfloat16", None), _scalar_type("float16", np.float16)
float32, float64 = _scalar_type("float32", np.float32), _scalar_type("float64", np.float64)
complex64, complex128 = _scalar_type("complex64", np.complex64), _scalar_type("complex128", np.complex128)


def to_dtype(dtype: Any) -> DType:
    """A NumPy dtype of anything that names one; 64-bit requests are kept.

    >>> to_dtype("bfloat16"), to_dtype(float32)
    (dtype(bfloat16), dtype('float32'))
    """
    if isinstance(dtype, str) and dtype == "bfloat16":
        return from_short["bf16"]
    return np.dtype(dtype)


def requested(dtype: Any, default: Any = None) -> DType:
    """The dtype that an array of a requested dtype really gets; warns when 64 bits were asked for and x64 is off."""
    if dtype is None:
        return canonical(default)
    found = to_dtype(dtype)
    if not is_supported(found) and not is_key(found):
        raise errors.DTypeNotSupported(dtype=found)
    given = canonical(found)
    if given != found and not any(dtype is one for one in _PYTHON):
        errors.warn(errors.WideDTypeWarning(wanted=found, given=given))
    return given


def dtype_of(x: Any) -> DType:
    """The dtype that x has, or names."""
    if isinstance(x, Value):
        return x.type.dtype
    if isinstance(x, np.ndarray | np.generic | bool | int | float | complex):
        return type_of(x).dtype
    return to_dtype(x)


def result_type(*args: Any) -> DType:
    """The dtype that an operation of these operands has.

    Args: arrays, scalars, dtypes. Returns a NumPy dtype. Raises TypeError for what is neither.

    >>> result_type(np.int32(1), 2.5)
    dtype('float32')
    """
    return _result_type([_typed(x) for x in args])[0]


def _typed(x: Any) -> ArrayType:
    if isinstance(x, type) and x in _PYTHON:
        return ArrayType((), canonical(np.dtype(x)), x is not bool)
    if isinstance(x, Value | np.ndarray | np.generic | bool | int | float | complex):
        return type_of(x)
    return ArrayType((), canonical(to_dtype(x)))


def promote_types(a: Any, b: Any) -> DType:
    """The dtype that two dtypes promote to, in JAX's lattice.

    >>> promote_types("int32", "float16")
    dtype('float16')
    """
    one, two = _wide(a), _wide(b)
    with enable_x64(True):
        return _result_type([one, two])[0] if one.dtype != two.dtype else one.dtype


def _wide(x: Any) -> ArrayType:
    if isinstance(x, type) and x in _PYTHON:
        return ArrayType((), np.dtype(x), x is not bool)
    return ArrayType((), to_dtype(x))


def finfo(dtype: Any) -> Any:
    """The limits of a floating dtype (bits, eps, max, min, tiny ...).

    >>> float(finfo(float32).eps)
    1.1920928955078125e-07
    """
    return _finfo(dtype_of(dtype))


def iinfo(int_type: Any) -> Any:
    """The limits of an integer dtype (bits, max, min).

    >>> iinfo(int8).max
    127
    """
    return np.iinfo(dtype_of(int_type))


_ABSTRACT: dict[type, str] = {
    np.generic: "biufc", np.number: "iufc", np.integer: "iu", np.signedinteger: "i", np.unsignedinteger: "u",
    np.inexact: "fc", np.floating: "f", np.complexfloating: "c",
}  # fmt: skip


def issubdtype(arg1: Any, arg2: Any) -> bool:
    """Whether a dtype is of a kind (floating, integer ...) or equals another dtype.

    >>> issubdtype(bfloat16, np.floating)
    True
    """
    if isinstance(arg2, type) and issubclass(arg2, extended):
        return arg1 == key_dtype or (isinstance(arg1, type) and issubclass(arg1, arg2))
    if isinstance(arg2, type) and arg2 in _ABSTRACT:
        return _is_abstract(arg1, arg2) if _abstract(arg1) else kind_of(dtype_of(arg1)) in _ABSTRACT[arg2]
    if _abstract(arg1):
        return bool(np.issubdtype(arg1, dtype_of(arg2)))
    return dtype_of(arg1) == dtype_of(arg2)


def _abstract(x: Any) -> bool:
    return isinstance(x, type) and not isinstance(x, _ScalarType) and x in _ABSTRACT


def _is_abstract(arg1: type, arg2: type) -> bool:
    return set(_ABSTRACT[arg1]) <= set(_ABSTRACT[arg2])


_KINDS = {
    "bool": "b", "signed integer": "i", "unsigned integer": "u", "integral": "iu", "real floating": "f",
    "complex floating": "c", "numeric": "iufc",
}  # fmt: skip


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a dtype is of a kind named as in the array API standard, or equals a dtype, or is one of a tuple of these.

    >>> isdtype(float32, "real floating")
    True
    """
    found = to_dtype(dtype)
    return any(_is_kind(found, one) for one in (kind if isinstance(kind, tuple) else (kind,)))


def _is_kind(dtype: DType, wanted: Any) -> bool:
    if isinstance(wanted, str) and wanted in _KINDS:
        return kind_of(dtype) in _KINDS[wanted]
    if isinstance(wanted, str) and wanted not in {str(d) for d in every_dtype()}:
        raise errors.OptionUnknown(function="isdtype", argument="kind", value=wanted, allowed=", ".join(_KINDS))
    return to_dtype(wanted) == dtype


def can_cast(from_: Any, to: Any, casting: str = "safe") -> bool:
    """Whether a conversion between dtypes is allowed under NumPy's casting rule.

    >>> can_cast("int8", "int16"), can_cast("float32", "int32")
    (True, False)
    """
    return bool(np.can_cast(dtype_of(from_), dtype_of(to), casting))  # pyright: ignore[reportArgumentType]


def iscomplexobj(x: Any) -> bool:
    """Whether x is of a complex dtype.

    >>> iscomplexobj(1j)
    True
    """
    return kind_of(_object_dtype(x)) == "c"


def isrealobj(x: Any) -> bool:
    """Whether x is of a dtype that is not complex.

    >>> isrealobj(1.0)
    True
    """
    return not iscomplexobj(x)


def _object_dtype(x: Any) -> DType:
    return type_of(x).dtype if not isinstance(x, list | tuple) else np.asarray(x).dtype
