"""check: raises if a code says that something failed; checkify turns it into a value that programs return."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from celadon import errors
from celadon.array import Array
from celadon.op import Op
from celadon.program import fixed
from celadon.tree import PyTreeDef
from celadon.types import ArrayType, int32
from celadon.vocabulary.comparison import compare, select
from celadon.vocabulary.index import dynamic_slice
from celadon.vocabulary.reduce import reduce_max
from celadon.vocabulary.shape import broadcast_in_dim, iota, reshape, transpose

Kind = tuple[ArrayType, ...]  # the types of the values that a message shows
Values = Sequence[Any]


class CheckError(Exception):
    """What a failed check is an instance of: a class for each kind of checks that checkify can be asked for."""


class FailedCheckError(CheckError):
    """A condition given to check or debug_check does not hold."""


class NaNError(CheckError):
    """An op gave NaN."""


class OOBError(CheckError):
    """An index lies outside of its array."""


class DivisionByZeroError(CheckError):
    """A divisor is zero."""


@dataclass(frozen=True, slots=True)
class Site:
    """Something that can fail: its class, the text of its message, the tree of (args, kwargs) that fill the text's places
    and their types, and where it stands."""

    category: type[CheckError]
    text: str
    form: PyTreeDef
    kind: Kind
    place: str

    def exception(self, values: Values) -> CheckError:
        """The exception that says what failed."""
        hosts = [np.asarray(x) for x in values]
        args, kwargs = self.form.unflatten([Array(ArrayType(x.shape, x.dtype), host=x) for x in hosts])
        return self.category(f"{self.text.format(*args, **kwargs)} (at {self.place})")


class Faults(NamedTuple):
    """What can fail, by code, and the kinds of values for which there is room: one set of values for each kind."""

    kinds: tuple[Kind, ...] = ()
    sites: tuple[tuple[int, Site], ...] = ()

    def exception(self, code: int, values: Values) -> CheckError | None:
        """The exception for a code that is not 0."""
        site = dict(self.sites).get(code)
        if site is None:
            return None
        return site.exception(self.split(values)[self.kinds.index(site.kind)] if site.kind else ())

    def split(self, values: Values) -> list[list[Any]]:
        """Values by kind."""
        rest = iter(values)
        return [[next(rest) for _ in kind] for kind in self.kinds]


def _type(code: ArrayType, *values: ArrayType, faults: Faults, debug: bool) -> list[ArrayType]:
    return []


def _raise(code: Any, *values: Any, faults: Faults, debug: bool) -> list[Any]:
    failed = None if debug else faults.exception(int(code), values)
    if failed is not None:
        raise errors.CheckFailed(reason=str(failed)) from failed
    return []


def _refuse(code: Any, *values: Any, faults: Faults, debug: bool) -> list[Any]:
    if debug:
        return []
    raise errors.CheckNotFunctionalized(place=faults.sites[0][1].place if faults.sites else "an unknown line")


def _observed(primals: Values, tangents: Values, **params: Any) -> tuple[list[Any], list[Any]]:
    return check(*primals, **params), []


def last_failed(code: Any, values: Values) -> list[Any]:
    """Of a batch (in front, of any number of axes) the code and values of the last member that failed."""
    axes = code.type.ndim
    size = code.type.size
    flat = [reshape(x, shape=(size, *x.type.shape[axes:])) for x in (code, *values)]
    numbers = iota(shape=(size,), dtype=int32, dimension=0)
    failed = compare(flat[0], fixed(0, int32), direction="NE")
    place = reduce_max(select(failed, numbers, fixed(-1, int32)), axes=(0,))
    return [_row(x, place) for x in flat]


def _row(x: Any, place: Any) -> Any:
    shape = x.type.shape[1:]
    found = dynamic_slice(x, place, *[fixed(0, int32)] * len(shape), slice_sizes=(1, *shape))
    return reshape(found, shape=shape)


def _batch(batch: Any, axes: Sequence[int | None], values: Values, **params: Any) -> tuple[list[Any], list[Any]]:
    code, *rest = [_front(x, i, batch.size) for x, i in zip(values, axes, strict=True)]
    if batch.size:
        check(*last_failed(code, rest), **params)
    return [], []


def _front(x: Any, axis: int | None, size: int) -> Any:
    shape = x.type.shape
    if axis is None:
        return broadcast_in_dim(x, shape=(size, *shape), broadcast_dimensions=tuple(range(1, len(shape) + 1)))
    return transpose(x, permutation=(axis, *(i for i in range(len(shape)) if i != axis))) if axis else x


check = Op(
    "check", _type, _raise, tangent=_observed, batch=_batch, expand=_refuse, multiple=True, exact=True, effects=True,
    kind="check",
)  # fmt: skip

__all__ = [
    "CheckError", "DivisionByZeroError", "FailedCheckError", "Faults", "Kind", "NaNError", "OOBError", "Site", "check",
    "last_failed",
]  # fmt: skip
