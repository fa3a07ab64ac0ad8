"""Errors about static arguments, the signature of a jitted function and donation (codes 1xx)."""

from __future__ import annotations

from celadon.errors.catalogue import CeladonError, JaxRuntimeError


class StaticArgumentUnhashable(CeladonError, ValueError):
    code = "CEL101"
    title = "A static argument is not hashable"
    message = "static argument '{argument}' of {function} has the non-hashable type {type}: {reason}"
    cause = "The value of a static argument is part of the key under which a program is kept, so it must have a hash."
    cure = "Pass a hashable equivalent (a tuple for a list, a frozen dataclass for a config), or trace the argument."
    when = (
        "When a jitted function is called with a list, dict, array or another value without a hash as a static "
        "argument."
    )
    trigger = "celadon.jit(lambda x, n: x * len(n), static_argnums=1)(1.0, [1, 2])"
    cured = "celadon.jit(lambda x, n: x * len(n), static_argnums=1)(1.0, (1, 2))"


class ArgnumsOutOfRange(CeladonError, ValueError):
    code = "CEL102"
    title = "An argument index is out of range"
    message = (
        "{option} of {function} has the index {value}, but len(args) is {count}: indices go from -{count} to "
        "{count} - 1"
    )
    cause = "The index counts the positional parameters in the function's signature, and there are not so many."
    cure = "Use an index within the signature, or the parameter's name (static_argnames)."
    when = "When static_argnums or donate_argnums names a position that the function does not have."
    trigger = "celadon.jit(lambda x, n: x, static_argnums=5)"
    cured = "celadon.jit(lambda x, n: x, static_argnums=1)(1.0, 2)"
    related = ("CEL103", "CEL104")


class ArgnamesUnknown(CeladonError, ValueError):
    code = "CEL103"
    title = "An argument name is unknown"
    message = "{option} of {function} names '{value}', but its parameters are: {known}"
    cause = "The function has no parameter of that name and takes no **kwargs."
    cure = "Correct the name."
    when = "When static_argnames or donate_argnames holds a misspelt or removed parameter."
    trigger = "celadon.jit(lambda x, n: x, static_argnames='m')"
    cured = "celadon.jit(lambda x, n: x, static_argnames='n')(1.0, n=2)"
    related = ("CEL102", "CEL104")


class ArgnamesPositionalOnly(CeladonError, ValueError):
    code = "CEL104"
    title = "A positional-only argument was named"
    message = "{option} of {function} names '{value}', which is positional-only"
    cause = "A parameter before `/` can't be passed by name, so naming it would never match."
    cure = "Give its index in static_argnums instead."
    when = "When static_argnames or donate_argnames holds a parameter that stands before `/`."
    trigger = "celadon.jit(lambda x, n, /: x, static_argnames='n')"
    cured = "celadon.jit(lambda x, n, /: x, static_argnums=1)(1.0, 2)"
    related = ("CEL103",)


class ArgnumsNotIntegers(CeladonError, TypeError):
    code = "CEL105"
    title = "Argument indices must be integers"
    message = "{option} of {function} must be an integer or a sequence of integers, not {value}"
    cause = "An index counts positional parameters; bools, floats and strings are none."
    cure = "Pass integers, or names through static_argnames."
    when = "When static_argnums or donate_argnums is given a string, float or bool."
    trigger = "celadon.jit(lambda x, n: x, static_argnums='n')"
    cured = "celadon.jit(lambda x, n: x, static_argnames='n')(1.0, n=2)"
    related = ("CEL106",)


class ArgnamesNotStrings(CeladonError, TypeError):
    code = "CEL106"
    title = "Argument names must be strings"
    message = "{option} of {function} must be a string or a sequence of strings, not {value}"
    cause = "A name is a string."
    cure = "Pass strings, or indices through static_argnums."
    when = "When static_argnames or donate_argnames is given a number."
    trigger = "celadon.jit(lambda x, n: x, static_argnames=1)"
    cured = "celadon.jit(lambda x, n: x, static_argnums=1)(1.0, 2)"
    related = ("CEL105",)


class ArgumentsRepeated(CeladonError, ValueError):
    code = "CEL107"
    title = "An argument is named twice"
    message = "{option} of {function} holds {value} more than once"
    cause = "The same argument was selected twice (a negative index can name the same position as a positive one)."
    cure = "Name it once."
    when = "When an argnums or argnames tuple holds duplicates."
    trigger = "celadon.jit(lambda x, n: x, static_argnums=(1, -1))"
    cured = "celadon.jit(lambda x, n: x, static_argnums=(1,))(1.0, 2)"


class StaticAndDonated(CeladonError, ValueError):
    code = "CEL108"
    title = "An argument is both static and donated"
    message = "static and donated arguments of {function} intersect in: {arguments}"
    cause = "A static argument is no buffer, so there is nothing to donate."
    cure = "Name each argument in one of the two options."
    when = "When jit is applied with one argument in both static_argnums and donate_argnums."
    trigger = "celadon.jit(lambda x, n: x, static_argnums=1, donate_argnums=1)"
    cured = "celadon.jit(lambda x, n: x, static_argnums=1, donate_argnums=0)(1.0, 2)"


class StaticArgumentTraced(CeladonError, ValueError):
    code = "CEL109"
    title = "A traced value was given as a static argument"
    message = "static argument '{argument}' of {function} is a traced {type}; static values must be concrete"
    cause = "An outer traced function passes a value that is not known yet into a static slot."
    cure = "Make the value static in the outer function too, or trace it in the inner one."
    when = "When a jitted function with static arguments is called inside another trace with a traced value."
    trigger = "f = celadon.jit(lambda x, n: x * n, static_argnums=1)\nceladon.jit(lambda n: f(1.0, n))(2)"
    cured = (
        "f = celadon.jit(lambda x, n: x * n, static_argnums=1)\n"
        "celadon.jit(lambda n: f(1.0, n), static_argnums=0)(2)"
    )
    related = ("CEL101",)


class DonatedTwice(CeladonError, JaxRuntimeError, ValueError):
    code = "CEL110"
    title = "A donated buffer was passed twice"
    message = "the buffer of the donated argument '{argument}' of {function} is also passed as '{other}'"
    cause = "A donated buffer belongs to the program, which may overwrite it while it reads the other argument."
    cure = "Pass a copy (x.copy()) as one of them, or don't donate."
    when = "When the same array is passed in a donated slot and in another one."
    trigger = "x = cnp.ones(3)\nceladon.jit(lambda a, b: a + b, donate_argnums=0)(x, x)"
    cured = "x = cnp.ones(3)\nceladon.jit(lambda a, b: a + b, donate_argnums=0)(x.copy(), x)"


class NotCallable(CeladonError, TypeError):
    code = "CEL111"
    title = "A transform needs a callable"
    message = "{transform} was given a value of type {type}, which is not callable"
    cause = "Only functions, methods, partials and other callables can be traced."
    cure = "Pass the function itself, not the result of calling it."
    when = "When jit is applied to a value."
    trigger = "celadon.jit(3)"
    cured = "celadon.jit(lambda: 3)()"


class ArgumentNotArray(CeladonError, TypeError):
    code = "CEL112"
    title = "An argument is no array"
    message = "argument {argument} of {function} has the type {type}, which is no array or scalar"
    cause = "A traced argument, or one of a loop or branch, must consist of arrays and scalars; other objects can only be static."
    cure = "Convert it to an array, make it static (static_argnums or static_argnames), or register its class as a pytree node."
    when = "When a string, an object or a function is passed to a jitted function without being static."
    trigger = "celadon.jit(lambda x, mode: x)(1.0, 'fast')"
    cured = "celadon.jit(lambda x, mode: x, static_argnames='mode')(1.0, mode='fast')"
    related = ("CEL101",)


class ResultNotArray(CeladonError, TypeError):
    code = "CEL113"
    title = "A result is no array"
    message = "{function} returned a value of type {type} at result{path}, which is no array or scalar"
    cause = "A traced function must return arrays, scalars, None, or containers of them."
    cure = "Return arrays, or move the other value out of the traced function."
    when = "When a jitted function returns a string, a function or another object."
    trigger = "celadon.jit(lambda x: (x, 'done'))(1.0)"
    cured = "celadon.jit(lambda x: (x, 1))(1.0)"


class CompiledSignatureMismatch(CeladonError, TypeError):
    code = "CEL114"
    title = "A compiled program was called with other arguments"
    message = "the compiled {function} was called with arguments that it was not compiled for: {difference}"
    cause = (
        "lower().compile() makes a program for one tree of arguments with fixed types; static arguments are baked "
        "in."
    )
    cure = "Leave the static arguments out, pass arguments of the lowered types, or call the jitted function itself."
    when = "When the result of .lower(...).compile() is called with other shapes, dtypes or static arguments."
    trigger = "celadon.jit(lambda x, n: x * n, static_argnames='n').lower(1.0, n=3).compile()(1.0, n=3)"
    cured = "celadon.jit(lambda x, n: x * n, static_argnames='n').lower(1.0, n=3).compile()(1.0)"


class CompiledTransformed(CeladonError, TypeError):
    code = "CEL116"
    title = "A compiled program was traced or transformed"
    message = "the compiled {compiled} was called with a traced {type} as {name}, which {function} passes; it {origin}"
    cause = "What lower().compile() returns is machine code for arrays; there is no program left that could be transformed."
    cure = "Call the jitted function itself inside of jit, grad, vmap and loops."
    when = "When the result of .lower(...).compile() is called under jit, grad, vmap or in the body of a loop."
    trigger = "celadon.vmap(celadon.jit(lambda x: x * 2).lower(1.0).compile())(cnp.ones(3))"
    cured = "celadon.vmap(celadon.jit(lambda x: x * 2))(cnp.ones(3))"
    related = ("CEL114",)


class RetracingForbidden(CeladonError, RuntimeError):
    code = "CEL115"
    title = "Tracing is forbidden here"
    message = "re-tracing {function} is not allowed inside no_tracing: {reason}"
    cause = "The call needs a new trace, and the surrounding block forbids one."
    cure = "Call the function with these argument types once before the block, or pass arguments of the earlier types."
    when = "When a call under celadon.no_tracing(True) misses the cache."
    trigger = "f = celadon.jit(lambda x: x + 1)\nwith celadon.no_tracing(True):\n    f(1.0)"
    cured = "f = celadon.jit(lambda x: x + 1)\nf(1.0)\nwith celadon.no_tracing(True):\n    f(2.0)"


class StaticByIdentityWarning(CeladonError, UserWarning):
    code = "CEL120"
    title = "Equal-looking static values are different keys"
    message = (
        "static argument '{argument}' of {function}: two {type} objects have equal fields {fields} but each is a "
        "key of its own"
    )
    cause = (
        "The class defines no __eq__ and __hash__ by value, so objects compare by identity and each one is traced "
        "anew."
    )
    cure = "Make the class a @dataclass(frozen=True), or define __eq__ and __hash__ over its fields."
    when = "When a config object is built afresh for each call and passed as a static argument."
    trigger = (
        "class Config:\n    def __init__(self, n):\n        self.n = n\n"
        "f = celadon.jit(lambda x, c: x * c.n, static_argnums=1)\nf(1.0, Config(2))\nf(1.0, Config(2))"
    )
    cured = (
        "import dataclasses\nConfig = dataclasses.make_dataclass('Config', ['n'], frozen=True)\n"
        "f = celadon.jit(lambda x, c: x * c.n, static_argnums=1)\nf(1.0, Config(2))\nf(1.0, Config(2))"
    )
    related = ("CEL121", "CEL122")


class StaticMutatedWarning(CeladonError, UserWarning):
    code = "CEL121"
    title = "A static value was changed after it was traced"
    message = (
        "static argument '{argument}' of {function}: the {type} object was changed after it was traced; fields "
        "then {before}, now {after}"
    )
    cause = "A static value is read while tracing; the program that is reused here was made with the old fields."
    cure = (
        "Don't change static objects; make a new one (a frozen dataclass), or pass the changing values as traced "
        "arguments."
    )
    when = "When an attribute of a static self or config is assigned between two calls."
    trigger = (
        "class Model:\n    k = 1.0\n    def __init__(self):\n        self.k = 2.0\n"
        "f = celadon.jit(lambda m, x: x * m.k, static_argnums=0)\nm = Model()\nf(m, 1.0)\nm.k = 5.0\nf(m, 1.0)"
    )
    cured = "f = celadon.jit(lambda k, x: x * k)\nf(2.0, 1.0)\nf(5.0, 1.0)"
    related = ("CEL120",)


class ChurnWarning(CeladonError, UserWarning):
    code = "CEL122"
    title = "One function is traced and compiled very many times"
    message = "{function} has been traced {count} times, each a compile or a trace of its own; what changed: {axis}"
    cause = (
        "Each new static value, shape, dtype or tree needs a trace of its own, and one of them changes with every "
        "call."
    )
    cure = (
        "Trace the argument that changes, or pad the arrays to few shapes; .explain() of the function shows the "
        "misses."
    )
    when = "When a static argument takes a new value on each call, or shapes vary with the data."
    trigger = "f = celadon.jit(lambda x, n: x * n, static_argnums=1)\nfor n in range(60):\n    f(1.0, n)"
    cured = "f = celadon.jit(lambda x, n: x * n)\nfor n in range(60):\n    f(1.0, n)"
    related = ("CEL120",)


class HiddenSignatureWarning(CeladonError, UserWarning):
    code = "CEL123"
    title = "A wrapper hides the signature"
    message = "{function} takes *args, so {option} {names} can only match arguments passed by keyword"
    cause = "The positions of the named parameters are not visible: a wrapper without functools.wraps hides them."
    cure = "Put @functools.wraps(function) on the wrapper, or pass these arguments by keyword."
    when = "When jit with static_argnames is applied to a function that takes *args."
    trigger = "celadon.jit(lambda *args, **kwargs: args[0], static_argnames='n')"
    cured = "celadon.jit(lambda x, n: x, static_argnames='n')(1.0, 3)"


class DonationUnusableWarning(CeladonError, UserWarning):
    code = "CEL124"
    title = "A donated buffer could not be used"
    message = "some donated buffers of {function} were not usable: {arguments} (no result has this shape and dtype)"
    cause = "A donated buffer is reused for a result of the same shape and dtype, and there is none left."
    cure = "Don't donate this argument."
    when = "When a program has no result of the donated argument's type."
    trigger = "celadon.jit(lambda x: x.sum(), donate_argnums=0)(cnp.ones(3))"
    cured = "celadon.jit(lambda x: x + 1, donate_argnums=0)(cnp.ones(3))"


class UnsignedPromotionWarning(CeladonError, UserWarning):
    code = "CEL125"
    title = "uint32 and a signed integer meet in int32"
    message = "uint32 and {other} promote to int64, which is cut to int32 while x64 is off: values from 2**31 on wrap"
    cause = "No 32-bit type holds both; JAX's promotion gives int64, and without x64 that is int32."
    cure = "Convert one operand to the other's dtype, or turn x64 on."
    when = "When uint32 meets int8, int16 or int32 in one function for the first time; shown once for types and shapes."
    trigger = "cnp.ones((2, 7), 'uint32') + cnp.ones((2, 7), 'int8')"
    cured = "cnp.ones(2, 'uint32') + cnp.ones(2, 'int8').astype('uint32')"


class LegacyKeyWarning(CeladonError, UserWarning):
    code = "CEL126"
    title = "A raw key was made"
    message = "random.PRNGKey makes a raw uint32 key, of which the setting jax_legacy_prng_key warns"
    cause = "Raw keys are plain arrays, which arithmetic can spoil unnoticed."
    cure = "Use random.key, which makes a typed key."
    when = "When random.PRNGKey is called while jax_legacy_prng_key is warn."
    trigger = "with celadon.legacy_prng_key('warn'):\n    celadon.random.PRNGKey(0)"
    cured = "with celadon.legacy_prng_key('warn'):\n    celadon.random.key(0)"
    related = ("CEL469",)
