"""jax.experimental.checkify's functions: the dictionary from its names to the checks."""

from celadon.errors import CheckFailed as JaxRuntimeError
from celadon.transforms.checking import (
    Error,
    ErrorCategory,
    all_checks,
    automatic_checks,
    check,
    check_error,
    checkify,
    debug_check,
    div_checks,
    float_checks,
    index_checks,
    init_error,
    nan_checks,
    user_checks,
)
from celadon.vocabulary.check import DivisionByZeroError, FailedCheckError, NaNError, OOBError

__all__ = [
    "DivisionByZeroError", "Error", "ErrorCategory", "FailedCheckError", "JaxRuntimeError", "NaNError", "OOBError", "all_checks",
    "automatic_checks", "check", "check_error", "checkify", "debug_check", "div_checks", "float_checks", "index_checks",
    "init_error", "nan_checks", "user_checks",
]  # fmt: skip
