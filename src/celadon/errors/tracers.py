"""Errors about traced values that leave their trace or are asked for a concrete value (codes 2xx)."""

from __future__ import annotations

from celadon.errors.catalogue import CeladonError


class ConcretizationTypeError(CeladonError, TypeError):
    code = "CEL201"
    title = "A traced value was asked for a concrete value"
    message = "a concrete {wanted} was asked of a traced {type} in {function}; it {origin}"
    cause = "While a function is traced its arguments have a type but no value yet."
    cure = (
        "Mark the argument static (static_argnums), use celadon.numpy on it, or compute it with numpy if it is "
        "fixed."
    )
    when = "When int(), float(), complex(), .item() or .tolist() is called on a traced value."
    trigger = "celadon.jit(lambda x: float(x))(1.0)"
    cured = "celadon.jit(lambda x: float(x), static_argnums=0)(1.0)"
    related = ("CEL202", "CEL203", "CEL204")


class TracerBoolConversionError(ConcretizationTypeError):
    code = "CEL202"
    title = "A traced value was used as a condition"
    message = "the concrete truth value of a traced {type} was asked for in {function}; it {origin}"
    cause = "A Python `if`, `while`, `and`, `or` or `not` needs a concrete bool, and a traced value has none yet."
    cure = (
        "Use celadon.numpy.where for the choice, or mark the argument static (static_argnums) if it takes few "
        "values."
    )
    when = "When a traced value decides a Python branch or loop."
    trigger = "celadon.jit(lambda x: 1 if x > 0 else 2)(1.0)"
    cured = "celadon.jit(lambda x: cnp.where(x > 0, 1, 2))(1.0)"
    related = ("CEL201", "CEL203")


class TracerIntegerConversionError(ConcretizationTypeError):
    code = "CEL203"
    title = "A traced value was used as an index or a size"
    message = (
        "a concrete integer (an index, a length or a size) was asked of a traced {type} in {function}; it "
        "{origin}"
    )
    cause = "Shapes and Python containers need concrete integers, and a traced value has none yet."
    cure = "Mark the argument static (static_argnums) if a shape depends on it, or index a celadon array with it."
    when = "When a traced value is used as a shape, a range, or the index of a Python list."
    trigger = "celadon.jit(lambda n: [10, 20, 30][n])(1)"
    cured = "celadon.jit(lambda n: [10, 20, 30][n], static_argnums=0)(1)"
    related = ("CEL201", "CEL204")


class TracerArrayConversionError(CeladonError, TypeError):
    code = "CEL204"
    title = "A traced value was handed to NumPy"
    message = "a concrete NumPy array was asked of a traced {type} in {function}; it {origin}"
    cause = "NumPy's functions need concrete arrays, and a traced value has no contents yet."
    cure = "Call the function of the same name in celadon.numpy, or mark the argument static (static_argnums)."
    when = "When numpy.asarray or a NumPy function is called on a traced value."
    trigger = "celadon.jit(lambda x: np.sin(x))(1.0)"
    cured = "celadon.jit(lambda x: cnp.sin(x))(1.0)"
    related = ("CEL201", "CEL203")


class ResultSizeTraced(ConcretizationTypeError):
    code = "CEL206"
    title = "The size of a result depends on traced values"
    message = "{called} needs the values of a traced {type} in {function}, as they decide the size of its result; it {origin}"
    cause = "Shapes are known while a function is traced, and the values of its arguments are not."
    cure = (
        "Say how many results there are (size=, length=, num_segments= ...), or keep the size with the "
        "three-argument celadon.numpy.where."
    )
    when = "When nonzero, where(mask), unique, repeat, bincount and their kin meet a traced array under jit, vmap or in a loop."
    trigger = "celadon.jit(lambda x: cnp.where(x > 0))(cnp.ones(3))"
    cured = "celadon.jit(lambda x: cnp.where(x > 0, size=3))(cnp.ones(3))"
    related = ("CEL201", "CEL439")


class UnexpectedTracerError(CeladonError, TypeError):
    code = "CEL205"
    title = "A traced value left its trace"
    message = "a traced {type} of {function}, {made}, was used after or outside the trace of {function}"
    cause = "A value saved while tracing (in a global, an attribute, a list) stands for nothing once the trace is over."
    cure = "Return the value from the traced function instead of storing it elsewhere."
    when = "When a function under jit stores an intermediate outside itself and the stored value is used later."
    trigger = "kept = []\nceladon.jit(lambda x: (kept.append(x), x)[1])(1.0)\nkept[0] + 1"
    cured = "y = celadon.jit(lambda x: x)(1.0)\ny + 1"
