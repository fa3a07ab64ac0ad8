"""Errors of loops and branches: what bodies return, carried values, predicates, lengths (codes 8xx)."""

from __future__ import annotations

from celadon.errors.catalogue import CeladonError
from celadon.errors.tracers import ConcretizationTypeError


class BodyUnfit(CeladonError, TypeError):
    code = "CEL801"
    title = "A body does not fit the operands of its op"
    message = "the op {op} on {operands} can't use:\n{body}"
    cause = "An op with a body hands its operands to the body; their shapes and dtypes must be those of the body's inputs."
    cure = "Build such ops with celadon.lax.cond, while_loop and scan, which trace bodies for their operands."
    when = "When an op with a body is applied directly to operands of other types than its body's."
    trigger = (
        "from celadon.vocabulary import cond\nfrom celadon.vocabulary.bodies import traced\n"
        "body, _ = traced('body', lambda x: [x], [cnp.ones(2).type])\ncond(np.int32(0), cnp.ones(3), branches=(body,))"
    )
    cured = (
        "from celadon.vocabulary import cond\nfrom celadon.vocabulary.bodies import traced\n"
        "body, _ = traced('body', lambda x: [x], [cnp.ones(3).type])\ncond(np.int32(0), cnp.ones(3), branches=(body,))"
    )


class CarryTypeChanges(CeladonError, TypeError):
    code = "CEL802"
    title = "A carried value changes its type"
    message = "{loop}: {function} takes the carried value {path} as {before}, but returns it as {after}"
    cause = "A loop's carried values keep their shapes and dtypes from step to step, so that one program does for all steps."
    cure = "Start from a value of the type that the body returns, or convert the result with .astype or reshape."
    when = "When the body of scan, while_loop or fori_loop returns a carried value of another shape or dtype."
    trigger = "celadon.lax.scan(lambda c, x: (cnp.stack([c, c]), x), cnp.float32(0), cnp.ones(3))"
    cured = "celadon.lax.scan(lambda c, x: (c + x, x), cnp.float32(0), cnp.ones(3))"
    related = ("CEL803",)


class CarryTreeChanges(CeladonError, TypeError):
    code = "CEL803"
    title = "What a loop carries changes its structure"
    message = "{loop}: {function} takes {here} as the carried value {path}, but returns {there} there"
    cause = "The body's result is the next step's argument, so both have the same tree of containers."
    cure = "Return the carried values in the containers in which they come, with the same keys and lengths."
    when = "When the body of scan, while_loop or fori_loop returns another tree than its carried argument."
    trigger = "celadon.lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1], c[1]), (0, 1.0))"
    cured = "celadon.lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1]), (0, 1.0))"
    related = ("CEL802",)


class BranchTypesDiffer(CeladonError, TypeError):
    code = "CEL804"
    title = "Branches return different types"
    message = "{name}: {first} returns {type}{path}, but {second} returns {other}{place}"
    cause = "Which branch runs is decided at run time, so the results of all have the same shapes and dtypes."
    cure = "Convert the results with .astype, or reshape or broadcast them, so that they agree."
    when = "When the branches of cond or switch return arrays of different shapes or dtypes."
    trigger = "celadon.lax.cond(True, lambda: cnp.ones(2), lambda: cnp.ones(3))"
    cured = "celadon.lax.cond(True, lambda: cnp.ones(2), lambda: cnp.zeros(2))"
    related = ("CEL805",)


class BranchTreesDiffer(CeladonError, TypeError):
    code = "CEL805"
    title = "Branches return different structures"
    message = "{name}: {first} returns {here}{path}, but {second} returns {there} there"
    cause = "Which branch runs is decided at run time, so the results of all have the same tree of containers."
    cure = "Return the same containers with the same keys and lengths from all branches."
    when = "When the branches of cond or switch return different trees."
    trigger = "celadon.lax.cond(True, lambda: (1.0, 2.0), lambda: 1.0)"
    cured = "celadon.lax.cond(True, lambda: (1.0, 2.0), lambda: (1.0, 1.0))"
    related = ("CEL804",)


class PredicateNotScalar(CeladonError, TypeError):
    code = "CEL806"
    title = "What decides a branch is no scalar of a suitable type"
    message = "{name} needs {wanted}, but got {given}"
    cause = "One branch is taken as a whole, so one number or truth value decides."
    cure = "Reduce the predicate with .all() or .any(), or choose element by element with celadon.numpy.where."
    when = "When cond or switch is given an array with dimensions, a complex number, or a float as an index."
    trigger = "celadon.lax.cond(cnp.ones(3) > 0, lambda: 1.0, lambda: 2.0)"
    cured = "celadon.lax.cond((cnp.ones(3) > 0).all(), lambda: 1.0, lambda: 2.0)"
    related = ("CEL807",)


class ConditionNotBoolean(CeladonError, TypeError):
    code = "CEL807"
    title = "The condition of a loop returns no boolean scalar"
    message = "while_loop: {function} must return one boolean scalar, but returns {found}"
    cause = "Before each step the condition decides whether the loop goes on."
    cure = "Return a comparison of scalars; reduce arrays with .all() or .any()."
    when = "When the condition of while_loop returns an array, a number or a container."
    trigger = "celadon.lax.while_loop(lambda c: c, lambda c: c + 1, 0)"
    cured = "celadon.lax.while_loop(lambda c: c < 3, lambda c: c + 1, 0)"
    related = ("CEL806",)


class NoBranches(CeladonError, ValueError):
    code = "CEL808"
    title = "switch has no branches"
    message = "switch was given an empty sequence of branches"
    cause = "One of the branches computes the result."
    cure = "Give at least one function."
    when = "When the branches of switch are an empty list or tuple."
    trigger = "celadon.lax.switch(0, [], 1.0)"
    cured = "celadon.lax.switch(0, [lambda x: x], 1.0)"
    related = ("CEL809",)


class BodyNotCallable(CeladonError, TypeError):
    code = "CEL809"
    title = "A loop or branch needs functions"
    message = "{name}: {argument} is {type}, which is not callable"
    cause = "Bodies, conditions and branches are functions, which are traced."
    cure = "Pass the function itself, not the result of calling it."
    when = "When cond, switch, while_loop, fori_loop, scan or associative_scan gets something else for a function."
    trigger = "celadon.lax.cond(True, 1.0, 2.0)"
    cured = "celadon.lax.cond(True, lambda: 1.0, lambda: 2.0)"
    related = ("CEL808",)


class OperandTwice(CeladonError, TypeError):
    code = "CEL810"
    title = "Operands are given by position and by keyword"
    message = "{name} was given operand= and {count} operands by position"
    cause = "operand= is an older way to pass a single operand, and excludes the other."
    cure = "Pass all operands by position."
    when = "When cond or switch is called with operands by position and with operand=."
    trigger = "celadon.lax.cond(True, lambda x: x, lambda x: x, 1.0, operand=2.0)"
    cured = "celadon.lax.cond(True, lambda x: x, lambda x: x, 1.0)"


class ScanLengthsDiffer(CeladonError, ValueError):
    code = "CEL811"
    title = "The arrays of a scan have different lengths"
    message = "{name}: {one} has the leading axis of {size}, but {other} has {length}"
    cause = "Each step takes one row of each array, so all leading axes have one extent, which is also the length."
    cure = "Cut or pad the arrays to one length, and leave length= out."
    when = "When the leaves of xs differ in their leading axes, or differ from the argument length."
    trigger = "celadon.lax.scan(lambda c, x: (c, x), 0.0, {'a': cnp.ones(3), 'b': cnp.ones(4)})"
    cured = "celadon.lax.scan(lambda c, x: (c, x), 0.0, {'a': cnp.ones(3), 'b': cnp.ones(3)})"
    related = ("CEL812", "CEL813")


class ScanNoAxis(CeladonError, ValueError):
    code = "CEL812"
    title = "A scan has nothing to go along"
    message = "{name}: {reason}"
    cause = "The number of steps is the extent of the leading axis of the arrays, or the argument length."
    cure = "Give arrays with at least one dimension, or length=; what all steps share belongs in the body's closure."
    when = "When a leaf of xs is a scalar, or there is no array and no length."
    trigger = "celadon.lax.scan(lambda c, x: (c, x), 0.0, 1.0)"
    cured = "celadon.lax.scan(lambda c, x: (c, x), 0.0, None, length=3)"
    related = ("CEL811", "CEL813")


class ScanLengthTraced(ConcretizationTypeError):
    code = "CEL813"
    title = "The length of a scan is not known while tracing"
    message = "{name}: {argument} must be a concrete integer, but is {given}"
    cause = "The length is the extent of the stacked results, and extents are known while a program is traced."
    cure = "Make the argument static (static_argnums), or use fori_loop or while_loop, whose trip counts may be traced."
    when = "When scan's length or unroll is a traced value."
    trigger = "celadon.jit(lambda n: celadon.lax.scan(lambda c, x: (c + 1, None), 0, None, length=n))(3)"
    cured = "celadon.jit(lambda n: celadon.lax.fori_loop(0, n, lambda i, c: c + 1, 0))(3)"
    related = ("CEL811", "CEL812")


class ScanResultNotPair(CeladonError, TypeError):
    code = "CEL814"
    title = "The body of a scan returns no pair"
    message = "scan: {function} must return a pair (carried value, output of the step), but returns {found}"
    cause = "A scan's body returns what is carried on and what is stacked."
    cure = "Return (carry, None) if nothing is stacked."
    when = "When the body of scan returns one value, or a container of another length than 2."
    trigger = "celadon.lax.scan(lambda c, x: c + x, 0.0, cnp.ones(3))"
    cured = "celadon.lax.scan(lambda c, x: (c + x, None), 0.0, cnp.ones(3))"
    related = ("CEL803",)


class LoopBoundsDiffer(CeladonError, TypeError):
    code = "CEL815"
    title = "The bounds of a loop have different dtypes"
    message = "fori_loop: lower is {lower} and upper is {upper}; they must be scalars of one dtype"
    cause = "The loop's index has the dtype of its bounds."
    cure = "Convert one of the bounds with .astype; Python integers take the other one's dtype."
    when = "When lower and upper have dtypes that differ, or are no scalars."
    trigger = "celadon.lax.fori_loop(cnp.int8(0), cnp.int32(3), lambda i, c: c, 0.0)"
    cured = "celadon.lax.fori_loop(0, cnp.int32(3), lambda i, c: c, 0.0)"


class UnrollInvalid(CeladonError, ValueError):
    code = "CEL816"
    title = "A loop can't be unrolled like this"
    message = "{name}: unroll={unroll}, {reason}"
    cause = "unroll is the number of steps in one round of the loop, or a truth value: all of them, or one."
    cure = "Give a bool or an integer of at least 0, and static bounds."
    when = "When unroll is negative, or is given to a fori_loop whose bounds are traced."
    trigger = "celadon.lax.scan(lambda c, x: (c, x), 0.0, cnp.ones(3), unroll=-1)"
    cured = "celadon.lax.scan(lambda c, x: (c, x), 0.0, cnp.ones(3), unroll=2)"


class EmptyScanEager(CeladonError, ValueError):
    code = "CEL817"
    title = "A scan of no steps was to run as a Python loop"
    message = "scan of length 0 under disable_jit: no step says what its results would look like"
    cause = "With jit disabled the body runs as Python, and the types of stacked results are those of its steps."
    cure = "Run it without disable_jit, or leave empty scans out."
    when = "When scan has length 0 and jax_disable_jit is set."
    trigger = "with celadon.disable_jit():\n    celadon.lax.scan(lambda c, x: (c, x), 0.0, cnp.ones(0))"
    cured = "celadon.lax.scan(lambda c, x: (c, x), 0.0, cnp.ones(0))"


class WhileBackwards(CeladonError, ValueError):
    code = "CEL818"
    title = "A loop of unknown length can't run backwards"
    message = "reverse-mode differentiation met while_loop{where}, which does not know its number of steps"
    cause = "Going backwards needs values of every step, and memory for them is set aside before the loop runs."
    cure = "Use lax.scan, or fori_loop with bounds that are concrete integers; or use forward mode (jvp, jacfwd)."
    when = "When grad, vjp or jacrev differentiates through while_loop, or fori_loop with traced bounds."
    trigger = "celadon.grad(lambda x: celadon.lax.while_loop(lambda c: c < 9.0, lambda c: c * 2.0, x))(1.0)"
    cured = "celadon.grad(lambda x: celadon.lax.fori_loop(0, 3, lambda i, c: c * 2.0, x))(1.0)"


class PlatformMissing(CeladonError, NotImplementedError):
    code = "CEL819"
    title = "platform_dependent has no function for the CPU"
    message = "platform_dependent has functions for {platforms}, but none for cpu and no default"
    cause = "Programs run on the CPU, and the function for it is chosen when the call is traced."
    cure = "Give a function as cpu=..., or as default=..."
    when = "When platform_dependent is called without either."
    trigger = "celadon.lax.platform_dependent(1.0, tpu=lambda x: x)"
    cured = "celadon.lax.platform_dependent(1.0, tpu=lambda x: x, default=lambda x: x)"
