"""A dataclass goes in; which of its fields are children and which are metadata comes out, for `register_dataclass`."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from celadon import errors


class Fields(NamedTuple):
    """The names of the fields that are children (data) and of those that are metadata (meta)."""

    data: tuple[str, ...]
    meta: tuple[str, ...]


def static(**kwargs: Any) -> Any:
    """A dataclass field that `register_dataclass` takes as metadata.

    Args:
        kwargs: the arguments of dataclasses.field.

    Returns:
        The field.


    >>> dict(static(default=1).metadata)
    {'static': True}
    """
    metadata: dict[str, Any] = {"static": True, **(kwargs.pop("metadata", None) or {})}
    return dataclasses.field(metadata=metadata, **kwargs)


def fields_of(cls: type[Any], data: Sequence[str] | None, meta: Sequence[str] | None, drop: Sequence[str]) -> Fields:
    """The fields of a class as its lists say, or as the dataclass says where there are none; checked."""
    if (data is None) != (meta is None):
        reason = f"of the two lists only one was given: data_fields={data}, meta_fields={meta}"
        raise errors.DataclassFieldsUnclear(type=cls.__name__, reason=reason)
    if data is None or meta is None:
        return _checked(cls, _declared(cls), drop)
    return _checked(cls, Fields(tuple(data), tuple(meta)), drop)


def _declared(cls: type[Any]) -> Fields:
    if not dataclasses.is_dataclass(cls):
        raise errors.DataclassFieldsUnclear(type=cls.__name__, reason="it is no dataclass, and no lists were given")
    marked = {field.name: bool(field.metadata.get("static", False)) for field in dataclasses.fields(cls)}
    data = tuple(name for name, is_static in marked.items() if not is_static)
    return Fields(data, tuple(name for name, is_static in marked.items() if is_static))


def _checked(cls: type[Any], fields: Fields, drop: Sequence[str]) -> Fields:
    listed = {*fields.data, *fields.meta}
    taken = listed
    if dataclasses.is_dataclass(cls):
        taken = {field.name for field in dataclasses.fields(cls) if field.init} - set(drop)
    faults = {
        "missing": taken - listed,
        "unknown": listed - taken,
        "in both lists": set(fields.data) & set(fields.meta),
    }
    told = [f"{', '.join(sorted(names))} {fault}" for fault, names in faults.items() if names]
    if told:
        raise errors.DataclassFieldsMismatch(type=cls.__name__, reason="; ".join(told))
    return fields


def getter(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    """A function that reads these attributes of a value as a tuple.

    >>> getter(("real", "imag"))(1j), getter(("imag",))(1j), getter(())(1j)
    ((0.0, 1.0), (1.0,), ())
    """
    if len(names) > 1:
        return operator.attrgetter(*names)
    return (lambda value: (getattr(value, names[0]),)) if names else (lambda value: ())
