"""Errors of callbacks, of checks, and of what looks into programs while they run (codes 9xx)."""

from __future__ import annotations

from celadon.errors.catalogue import CeladonError, JaxRuntimeError


class CallbackNotDifferentiable(CeladonError, ValueError):
    code = "CEL901"
    title = "A callback was differentiated"
    message = "{word} called {function}, whose operands depend on what is differentiated (the call is at {place})"
    cause = "A Python function that runs outside the program has no derivative that could be known."
    cure = "Wrap the call in celadon.custom_jvp or celadon.custom_vjp, or pass it lax.stop_gradient of its operands."
    when = "When grad, jvp or vjp meets pure_callback or io_callback with operands that have a tangent."
    trigger = "celadon.grad(lambda x: celadon.pure_callback(np.sin, x, x))(1.0)"
    cured = (
        "f = celadon.custom_jvp(lambda x: celadon.pure_callback(np.sin, x, x))\n"
        "f.defjvps(lambda t, out, x: t * cnp.cos(x))\nceladon.grad(f)(1.0)"
    )
    related = ("CEL705", "CEL902")


class CallbackNotBatchable(CeladonError, NotImplementedError):
    code = "CEL902"
    title = "vmap met a callback that does not say how it takes a batch"
    message = "pure_callback called {function} without a vmap_method, and vmap was applied to it (the call is at {place})"
    cause = "Whether the Python function takes a whole batch at once, or one member after the other, can't be known."
    cure = "Pass vmap_method: 'sequential', 'sequential_unrolled', 'expand_dims' or 'broadcast_all'."
    when = "When an operand of a pure_callback differs from member to member of a batch."
    trigger = "celadon.vmap(lambda x: celadon.pure_callback(np.sin, x, x))(cnp.ones(3))"
    cured = "celadon.vmap(lambda x: celadon.pure_callback(np.sin, x, x, vmap_method='expand_dims'))(cnp.ones(3))"
    related = ("CEL903", "CEL904")


class VmapMethodUnknown(CeladonError, ValueError):
    code = "CEL903"
    title = "vmap_method has an unknown value"
    message = "vmap_method of pure_callback is {given}; it may be {known}"
    cause = "The word is misspelt, or is no way of calling a function for a batch."
    cure = "Use one of the words listed, or leave vmap_method out."
    when = "When pure_callback is called."
    trigger = "celadon.pure_callback(np.sin, 1.0, 1.0, vmap_method='vectorized')"
    cured = "celadon.pure_callback(np.sin, cnp.ones(()), 1.0, vmap_method='expand_dims')"
    related = ("CEL902",)


class OrderedCallbackBatched(CeladonError, ValueError):
    code = "CEL904"
    title = "vmap met an ordered callback"
    message = "io_callback called {function} with ordered=True, and vmap was applied to it (the call is at {place})"
    cause = "The members of a batch have no order among each other, so the order that was asked for does not exist."
    cure = "Leave ordered out, or run the members one after the other with lax.map."
    when = "When an operand of an ordered io_callback differs from member to member of a batch."
    trigger = (
        "from celadon.experimental import io_callback\n"
        "celadon.vmap(lambda x: io_callback(np.sin, x, x, ordered=True))(cnp.ones(3))"
    )
    cured = (
        "from celadon.experimental import io_callback\n"
        "celadon.vmap(lambda x: io_callback(np.sin, x, x))(cnp.ones(3))"
    )
    related = ("CEL902",)


class CallbackResultMismatch(CeladonError, JaxRuntimeError):
    code = "CEL905"
    title = "A callback returned something else than it was declared to return"
    message = "{function}, called by {word}, returned {found}; declared was {wanted} (the call is at {place})"
    cause = "The program was compiled for results of the shapes and dtypes of result_shape_dtypes."
    cure = "Return arrays of exactly these shapes and dtypes, as many as declared, or change the declaration."
    when = "When the Python function of pure_callback or io_callback returns, while the program runs."
    trigger = "celadon.pure_callback(lambda x: np.ones(2, np.float32), cnp.ones(3), 1.0)"
    cured = "celadon.pure_callback(lambda x: np.ones(3, np.float32), cnp.ones(3), 1.0)"
    related = ("CEL906",)


class CallbackResultUndeclared(CeladonError, TypeError):
    code = "CEL906"
    title = "result_shape_dtypes does not say what a callback returns"
    message = "result_shape_dtypes of {word} must be a tree of arrays or ShapeDtypeStructs; it holds {found}"
    cause = "The type of each result has to be known before the Python function is called."
    cure = "Give celadon.ShapeDtypeStruct(shape, dtype), or an array of that type, for each result; None for no result."
    when = "When pure_callback or io_callback is called."
    trigger = "celadon.pure_callback(np.sin, 3, 1.0)"
    cured = "celadon.pure_callback(np.sin, celadon.ShapeDtypeStruct((), 'float32'), 1.0)"
    related = ("CEL905", "CEL907")


class CallbackResultWide(CeladonError, ValueError):
    code = "CEL907"
    title = "result_shape_dtypes declares 64-bit results, which are switched off"
    message = "result_shape_dtypes of {word} declares {dtype}, and 64-bit types are off (jax_enable_x64)"
    cause = "Without jax_enable_x64 programs hold no values of 64 bits."
    cure = "Declare the 32-bit dtype, or switch 64-bit types on: celadon.config.update('jax_enable_x64', True)."
    when = "When pure_callback or io_callback is called."
    trigger = "celadon.pure_callback(np.sin, celadon.ShapeDtypeStruct((), 'float64'), 1.0)"
    cured = "celadon.pure_callback(np.sin, celadon.ShapeDtypeStruct((), 'float32'), 1.0)"
    related = ("CEL906",)


class CallbackMissing(CeladonError, TypeError):
    code = "CEL908"
    title = "debug.print or debug.callback was given arguments, but not what to do with them"
    message = "{word} was called without its first argument, but with {given}"
    cause = "Without a first argument the call only sets options, and returns a function that takes everything else."
    cure = "Pass the options alone, and call the result with the text or function and its arguments."
    when = "When debug.print or debug.callback is called with keywords of the text or function, and without these."
    trigger = "celadon.debug.print(x=1.0)"
    cured = "celadon.debug.print(ordered=True)('{x}', x=1.0)"
    related = ("CEL909",)


class PrintArgumentUnused(CeladonError, ValueError):
    code = "CEL909"
    title = "The text of debug.print has no place for an argument"
    message = "debug.print('{text}') has no place for the arguments {unused}"
    cause = "Each argument must be named by a {} of the text; an f-string has had its own replaced already."
    cure = "Add a place for each argument, and pass a plain string, not an f-string."
    when = "When debug.print is called, also while a function is traced."
    trigger = "celadon.debug.print('x', 1.0)"
    cured = "celadon.debug.print('x = {}', 1.0)"
    related = ("CEL908",)


class PrintArgumentAbsent(CeladonError, IndexError, KeyError):
    code = "CEL910"
    title = "The text of debug.print names an argument that is not there"
    message = "debug.print('{text}') names {missing}, not passed"
    cause = "The text has a {} for which there is no argument."
    cure = "Pass an argument for each place of the text; write braces that are meant as such twice."
    when = "When debug.print is called, also while a function is traced."
    trigger = "celadon.debug.print('{} {}', 1.0)"
    cured = "celadon.debug.print('{} {}', 1.0, 2.0)"
    related = ("CEL909",)


class CheckFailed(CeladonError, ValueError):
    code = "CEL920"
    title = "A check failed"
    message = "{reason}"
    cause = "A condition given to checkify.check does not hold, or an Error that checkify returned was thrown."
    cure = "Correct what the message names, or have checkify.checkify return the failure as a value."
    when = "When check or check_error runs outside of checkify, and when throw is called on an Error."
    trigger = "from celadon.experimental import checkify\ncheckify.check(False, 'no')"
    cured = (
        "from celadon.experimental import checkify\n"
        "error, _ = checkify.checkify(lambda: checkify.check(False, 'no'))()\nassert 'no' in error.get()"
    )
    related = ("CEL921",)


class CheckNotFunctionalized(CeladonError, ValueError):
    code = "CEL921"
    title = "A program holds a check"
    message = "the check at {place} was traced into a program, which can't raise an exception"
    cause = "Under jit, scan, cond and the like, a failure has to be a value that the program returns."
    cure = "Wrap the function in checkify.checkify, inside or outside of jit, and look at the Error that it returns."
    when = "When a function with checkify.check is compiled without checkify around it."
    trigger = (
        "from celadon.experimental import checkify\n"
        "celadon.jit(lambda x: checkify.check(x > 0, 'no'))(1.0)"
    )
    cured = (
        "from celadon.experimental import checkify\n"
        "error, _ = celadon.jit(checkify.checkify(lambda x: checkify.check(x > 0, 'no')))(1.0)\nerror.throw()"
    )
    related = ("CEL920",)


class CheckPredicateNotScalar(CeladonError, TypeError):
    code = "CEL922"
    title = "A check was given no boolean scalar"
    message = "{name} needs one boolean as its condition; it was given {given}"
    cause = "A check holds or does not hold; an array of conditions, or a number, is neither."
    cure = "Reduce the conditions with .all(), or compare the number with something."
    when = "When checkify.check or debug_check is called."
    trigger = "from celadon.experimental import checkify\ncheckify.check(cnp.ones(3) > 0, 'no')"
    cured = "from celadon.experimental import checkify\ncheckify.check((cnp.ones(3) > 0).all(), 'no')"
    related = ("CEL920",)


class CheckArgumentNotArray(CeladonError, TypeError):
    code = "CEL923"
    title = "The message of a check was given something that is no array"
    message = "the values for the message of {name} must be arrays; {value} is of type {type}"
    cause = "The values are kept until the Error is looked at, which may be after a compiled program has run."
    cure = "Write what is no array into the text itself."
    when = "When checkify.check or debug_check is called."
    trigger = "from celadon.experimental import checkify\ncheckify.check(True, 'not {}', 'positive')"
    cured = "from celadon.experimental import checkify\ncheckify.check(True, 'not positive')"
    related = ("CEL922",)


class NotAnError(CeladonError, TypeError):
    code = "CEL924"
    title = "check_error was given no Error"
    message = "check_error takes an Error that checkify returned; it was given {type}"
    cause = "A function under checkify returns a pair, of which the Error comes first."
    cure = "Pass the first of the pair."
    when = "When checkify.check_error is called."
    trigger = "from celadon.experimental import checkify\ncheckify.check_error(checkify.checkify(lambda: 1)())"
    cured = "from celadon.experimental import checkify\ncheckify.check_error(checkify.checkify(lambda: 1)()[0])"
    related = ("CEL920",)


class InvalidValue(CeladonError, FloatingPointError):
    code = "CEL911"
    title = "NaN or infinity came out of a program while they are forbidden"
    message = "{what} came out of {op} at {place}"
    cause = "jax_debug_nans or jax_debug_infs is on, and a result holds what it forbids; the program was run again op by op."
    cure = "Keep the operands of that op inside the range where it has a value, or switch the setting off."
    when = "When an op or a jitted function returns, and one of these settings is on."
    trigger = "with celadon.debug_nans(True):\n    celadon.jit(lambda x: cnp.log(x) * 2)(-1.0)"
    cured = "with celadon.debug_nans(True):\n    celadon.jit(lambda x: cnp.log(x) * 2)(1.0)"
    related = ("CEL920",)


class TracerLeaked(CeladonError, RuntimeError):
    code = "CEL930"
    title = "A traced value outlived its trace"
    message = "a traced {type} of {function}, {made}, is still held by {holders} after the trace has ended"
    cause = "The function stored a traced value outside of itself: in a global, an attribute, a list."
    cure = "Return the value instead; what is stored would be of no use, as it never gets a concrete value."
    when = "When a function is traced while checking_leaks is on."
    trigger = "kept = []\nwith celadon.checking_leaks():\n    celadon.jit(lambda x: kept.append(x))(1.0)"
    cured = "with celadon.checking_leaks():\n    kept = [celadon.jit(lambda x: x)(1.0)]"
    related = ("CEL205",)


class ScopeNameInvalid(CeladonError, TypeError):
    code = "CEL931"
    title = "A named scope needs a string"
    message = "named_scope was given {name}, which is of type {type}"
    cause = "The name stands in texts and messages."
    cure = "Pass a string."
    when = "When named_scope is entered, or a function that it decorates is called."
    trigger = "with celadon.named_scope(3):\n    pass"
    cured = "with celadon.named_scope('third'):\n    pass"
