"""checkify and check: failures as values that functions return, and as exceptions where nobody asks for values."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from celadon import errors, tracing, tree
from celadon.program import fixed, literal
from celadon.tracing import interpreting
from celadon.transforms import check_rules
from celadon.transforms.checks import Checks, codes, site
from celadon.transforms.custom import tree_name
from celadon.transforms.values import as_value
from celadon.tree_util import register_pytree_node_class
from celadon.types import bool_, int32
from celadon.vocabulary.bitwise import not_
from celadon.vocabulary.check import (
    CheckError,
    DivisionByZeroError,
    FailedCheckError,
    Faults,
    NaNError,
    OOBError,
    check as check_op,
    last_failed,
)
from celadon.vocabulary.comparison import select

_RULES = check_rules  # imported for what it says may fail in each op
Function = Callable[..., Any]
ErrorCategory = type[CheckError]

user_checks: frozenset[ErrorCategory] = frozenset({FailedCheckError})
nan_checks: frozenset[ErrorCategory] = frozenset({NaNError})
index_checks: frozenset[ErrorCategory] = frozenset({OOBError})
div_checks: frozenset[ErrorCategory] = frozenset({DivisionByZeroError})
float_checks: frozenset[ErrorCategory] = nan_checks | div_checks
automatic_checks: frozenset[ErrorCategory] = float_checks | index_checks
all_checks: frozenset[ErrorCategory] = automatic_checks | user_checks


class BatchedError(CheckError):
    """What failed in some members of a batch."""

    def __init__(self, error_mapping: dict[tuple[int, ...], CheckError]):
        self.error_mapping = error_mapping
        lines = [f"at mapped index {', '.join(map(str, index))}: {error}" for index, error in error_mapping.items()]
        super().__init__("\n".join(lines))


@register_pytree_node_class
@dataclass(frozen=True, slots=True)
class Error:
    """What a checked function returns beside its result: what failed first, if anything did.

    A pytree: it may be returned from and passed to jitted functions. Under vmap it is one for each member.
    """

    code: Any
    values: tuple[Any, ...]
    faults: Faults

    def get(self) -> str | None:
        """The message of what failed, or None."""
        found = self.get_exception()
        return None if found is None else str(found)

    def get_exception(self) -> CheckError | None:
        """What failed as an exception, which is not raised; or None."""
        code, values = np.asarray(self.code), [np.asarray(x) for x in self.values]
        failed = {tuple(map(int, place)): code[tuple(place)] for place in np.argwhere(code)}
        found = {at: self.faults.exception(int(one), [x[at] for x in values]) for at, one in failed.items()}
        mapping = {at: error for at, error in found.items() if error is not None}
        if not mapping:
            return None
        return BatchedError(mapping) if code.ndim else mapping[()]

    def throw(self) -> None:
        """Raise `CheckFailed` if something failed."""
        check_error(self)

    def __str__(self) -> str:
        return f"Error({self.get()})"

    def tree_flatten(self) -> tuple[tuple[Any, tuple[Any, ...]], Faults]:
        return (self.code, self.values), self.faults

    @classmethod
    def tree_unflatten(cls, faults: Faults, children: tuple[Any, tuple[Any, ...]]) -> Error:
        return cls(children[0], children[1], faults)


init_error = Error(np.zeros((), np.int32), (), Faults())


def checkify(f: Function, errors: Iterable[ErrorCategory] = user_checks) -> Function:
    """A function that returns (error, result), where error says what failed first.

    It may be jitted, batched and differentiated; and f may hold jitted functions, loops, branches and derivatives.

    Args:
        f: a function whose ops and checks are looked at.
        errors: what is looked for: a union of user_checks (check and debug_check), nan_checks (an op gives NaN), div_checks (a
            divisor is zero), index_checks (an index is out of bounds); float_checks, automatic_checks and all_checks are unions.

    >>> error, _ = checkify(lambda x: 1 / x, errors=div_checks)(np.float32(0))
    >>> error.get().split(" (")[0]
    'division by zero'
    """

    @functools.wraps(f, updated=())
    def function(*args: Any, **kwargs: Any) -> tuple[Error, Any]:
        checks = Checks(tracing.active(), frozenset(errors))
        checks.name = tree_name(f)
        with interpreting(checks):
            given, named = tree.map(as_value, (args, kwargs))
            result = f(*given, **named)
        checks.open = False
        code, *values = map(as_value, checks.state.flat())
        return Error(code, tuple(values), checks.state.faults), tree.map(as_value, result)

    return function


def check(pred: Any, msg: str, *fmt_args: Any, debug: bool = False, **fmt_kwargs: Any) -> None:
    """Note a failure unless a condition holds: under checkify as a value, elsewhere as an exception.

    Args:
        pred: a boolean scalar.
        msg: the message, a text with places as for str.format.
        fmt_args, fmt_kwargs: pytrees of arrays for the places.
        debug: without checkify, nothing happens.

    Raises:
        CheckFailed, if the condition does not hold; CheckPredicateNotScalar, CheckArgumentNotArray;
        CheckNotFunctionalized, when a program that holds it is compiled.

    >>> error, _ = checkify(lambda x: check(x > 0, "{x} is not positive", x=x))(np.float32(-1))
    >>> error.get().split(" (")[0]
    '-1.0 is not positive'
    """
    name = "debug_check" if debug else "check"
    bad = not_(_condition(name, pred))
    given = tree.map(lambda x: _shown(name, x), (fmt_args, fmt_kwargs))
    own = site(FailedCheckError, msg, given)
    number = next(codes)
    faults = Faults((own.kind,) if own.kind else (), ((number, own),))
    code = select(bad, literal(number, int32), fixed(0, int32))
    check_op(code, *tree.leaves(given), faults=faults, debug=debug)


def debug_check(pred: Any, msg: str, *fmt_args: Any, **fmt_kwargs: Any) -> None:
    """As `check` under checkify; elsewhere nothing happens.

    >>> debug_check(False, "not seen")
    """
    check(pred, msg, *fmt_args, debug=True, **fmt_kwargs)


def check_error(error: Any) -> None:
    """Note what an Error says as a failure here: under checkify as a value, elsewhere as an exception.

    Raises `CheckFailed`, or `NotAnError`.

    >>> error, _ = checkify(lambda: check(False, "no"))()
    >>> again, _ = checkify(lambda: check_error(error))()
    >>> again.get().split(" (")[0]
    'no'
    """
    if not isinstance(error, Error):
        raise errors.NotAnError(type=type(error).__name__)
    code, *values = [as_value(x) for x in (error.code, *error.values)]
    if code.type.size:
        code, *values = last_failed(code, values) if code.type.ndim else (code, *values)
        check_op(code, *values, faults=error.faults, debug=False)


def _condition(name: str, pred: Any) -> Any:
    if isinstance(pred, bool | np.bool_):
        return as_value(pred)
    if not isinstance(pred, tracing.Value):
        raise errors.CheckPredicateNotScalar(name=name, given=repr(pred))
    if pred.type.dtype != bool_ or pred.type.shape:
        raise errors.CheckPredicateNotScalar(name=name, given=pred.type)
    return pred


def _shown(name: str, x: Any) -> Any:
    try:
        return as_value(x)
    except (errors.NotAnArray, errors.DTypeNotSupported):
        raise errors.CheckArgumentNotArray(name=name, value=repr(x), type=type(x).__name__) from None


__all__ = [
    "BatchedError", "Error", "ErrorCategory", "all_checks", "automatic_checks", "check", "check_error", "checkify",
    "debug_check", "div_checks", "float_checks", "index_checks", "init_error", "nan_checks", "user_checks",
]  # fmt: skip
