"""Errors and warnings about dtypes and ranks that are brought together, or asked for in vain (codes 456 to 458, 495)."""

from __future__ import annotations

from celadon.errors.catalogue import CeladonError


class TypePromotionError(CeladonError, ValueError):
    code = "CEL456"
    title = "Dtypes differ, and promotion is strict"
    message = "{function} got the types {types}, which strict promotion does not bring together"
    cause = "With jax_numpy_dtype_promotion set to strict, only Python scalars adapt to an array's dtype."
    cure = "Convert the operands with astype, or set jax_numpy_dtype_promotion to standard."
    when = "When arrays of different dtypes meet while the setting is strict."
    trigger = "with celadon.numpy_dtype_promotion('strict'):\n    cnp.ones(2, 'int32') + cnp.ones(2, 'float32')"
    cured = "with celadon.numpy_dtype_promotion('strict'):\n    cnp.ones(2, 'int32').astype('float32') + cnp.ones(2, 'float32')"


class RankPromotionError(CeladonError, ValueError):
    code = "CEL457"
    title = "Ranks differ, and rank promotion is off"
    message = "{function} got the types {types}, whose numbers of dimensions differ"
    cause = "With jax_numpy_rank_promotion set to raise, arrays are not given leading dimensions silently."
    cure = "Reshape the operands to one rank, or set jax_numpy_rank_promotion to allow."
    when = "When arrays with different numbers of dimensions, none of them 0, meet while the setting is raise."
    trigger = "with celadon.numpy_rank_promotion('raise'):\n    cnp.ones((2, 3)) + cnp.ones(3)"
    cured = "with celadon.numpy_rank_promotion('raise'):\n    cnp.ones((2, 3)) + cnp.ones((1, 3))"
    related = ("CEL458",)


class RankPromotionWarning(CeladonError, UserWarning):
    code = "CEL458"
    title = "An array was given leading dimensions"
    message = "{function} got the types {types}, whose numbers of dimensions differ"
    cause = "With jax_numpy_rank_promotion set to warn, every such broadcast is reported."
    cure = "Reshape the operands to one rank, or set jax_numpy_rank_promotion to allow."
    when = "When arrays with different numbers of dimensions, none of them 0, meet while the setting is warn."
    trigger = "with celadon.numpy_rank_promotion('warn'):\n    cnp.ones((2, 3)) + cnp.ones(3)"
    cured = "with celadon.numpy_rank_promotion('warn'):\n    cnp.ones((2, 3)) + cnp.ones((1, 3))"
    related = ("CEL457",)


class WideDTypeWarning(CeladonError, UserWarning):
    code = "CEL495"
    title = "A 64-bit dtype was asked for while 64 bits are switched off"
    message = "dtype {wanted} was asked for, and x64 is off: {given} is used"
    cause = "By default arrays have dtypes of at most 32 bits, so that no program gets slow by accident."
    cure = "Ask for the 32-bit dtype, or switch 64 bits on at the start: celadon.config.update('jax_enable_x64', True)."
    when = "When a function is given a dtype such as float64 or int64 by name; Python's float and int are no such request."
    trigger = "cnp.zeros(3, dtype='float64')"
    cured = "cnp.zeros(3, dtype='float32')"
