"""How elementwise functions are made: a rule over promoted operands in, a public function with NumPy's signature out."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any, cast

from celadon import errors
from celadon.numpy.promotion import inexact, no_out, numeric, operand, same
from celadon.types import bool_

Function = Callable[..., Any]
_PROMOTIONS: dict[str, Function] = {"same": same, "inexact": inexact, "numeric": numeric}


def unary(name: str, op: Function, promotion: str, doc: str) -> Function:
    """A function of one array: promoted, then handed to an op."""
    promote = _PROMOTIONS[promotion]

    def function(x: Any, /) -> Any:
        return op(promote(name, x)[0])

    return described(function, name, doc)


def binary(name: str, op: Function, promotion: str, doc: str) -> Function:
    """A function of two arrays: promoted together, then handed to an op."""
    promote = _PROMOTIONS[promotion]

    def function(x1: Any, x2: Any, /) -> Any:
        return op(*promote(name, x1, x2))

    return described(function, name, doc)


def described(function: Any, name: str, doc: str) -> Function:
    """Give a made function its name and its page."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def defined_in(module: str, *functions: Any) -> None:
    """Tell made functions the module that offers them, so that their doctests are found there."""
    for function in functions:
        function.__module__ = module


class ufunc:
    """An elementwise function with the methods reduce, accumulate and outer, as NumPy has them."""

    def __init__(self, function: Function, nin: int, reduce: Function | None = None, accumulate: Function | None = None):
        update_wrapper(cast(Any, self), function, updated=())
        self.__name__: str = function.__name__
        self._function, self.nin = function, nin
        self._reduce, self._accumulate = reduce, accumulate

    def __call__(self, *args: Any, out: None = None, where: None = None) -> Any:
        no_out(self.__name__, out if where is None else where)
        if len(args) != self.nin:
            raise errors.ArgumentCount(function=self.__name__, wanted=self.nin, given=len(args))
        return self._function(*args)

    def reduce(self, a: Any, axis: Any = 0, dtype: Any = None, out: None = None, keepdims: bool = False) -> Any:
        """The function applied along an axis until one element is left."""
        no_out(self.__name__, out)
        if self._reduce is None:
            raise errors.UfuncMethodMissing(function=self.__name__, method="reduce")
        return self._reduce(a if dtype is None else operand(a).astype(dtype), axis=axis, keepdims=keepdims)

    def accumulate(self, a: Any, axis: int = 0, dtype: Any = None, out: None = None) -> Any:
        """The results of applying the function to ever more elements along an axis."""
        no_out(self.__name__, out)
        if self._accumulate is None:
            raise errors.UfuncMethodMissing(function=self.__name__, method="accumulate")
        return self._accumulate(a, axis=axis, dtype=dtype)

    def outer(self, a: Any, b: Any, /) -> Any:
        """The function applied to every pair of an element of a and one of b."""
        a, b = operand(a), operand(b)
        return self._function(a.reshape(a.type.shape + (1,) * b.type.ndim), b)

    def __repr__(self) -> str:
        return f"<celadon.numpy.ufunc '{self.__name__}'>"


def is_bool(x: Any) -> bool:
    return x.type.dtype == bool_
