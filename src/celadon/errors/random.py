"""Errors about random keys and samples (codes 46x)."""

from __future__ import annotations

from celadon.errors.catalogue import CeladonError


class KeysNotReadable(CeladonError, TypeError):
    code = "CEL460"
    title = "Random keys have no value"
    message = "{type} is an array of random keys, which have no value to read or to convert"
    cause = "A typed key stands for a stream of random numbers; its bits are no number, so NumPy and casts can't have them."
    cure = "Use celadon.random.key_data(keys) where the bits themselves are wanted."
    when = "When an array of typed keys is converted to NumPy, to a Python scalar or to another dtype."
    trigger = "np.asarray(celadon.random.key(0))"
    cured = "np.asarray(celadon.random.key_data(celadon.random.key(0)))"


class KeyInvalid(CeladonError, TypeError):
    code = "CEL461"
    title = "A value is no random key"
    message = "{function} needs a random key, and got {given}"
    cause = "A key comes from random.key or random.split, or is an array of uint32 whose last axis has two elements."
    cure = "Make one with celadon.random.key(seed)."
    when = "When a seed, a float or an array of another shape is passed where a key belongs."
    trigger = "celadon.random.normal(3)"
    cured = "celadon.random.normal(celadon.random.key(3))"
    related = ("CEL462",)


class KeyNotSingle(CeladonError, ValueError, TypeError):
    code = "CEL462"
    title = "One key is wanted, and there are several"
    message = "{function} takes one random key, and got keys of shape {shape}"
    cause = "One call draws from one stream; many keys are many streams."
    cure = "Index one key, keys[i], or map over them with celadon.vmap."
    when = "When the result of random.split is passed on as a whole."
    trigger = "celadon.random.normal(celadon.random.split(celadon.random.key(0)))"
    cured = "celadon.random.normal(celadon.random.split(celadon.random.key(0))[0])"
    related = ("CEL461",)


class SeedInvalid(CeladonError, TypeError):
    code = "CEL463"
    title = "A seed is no integer"
    message = "{function} needs an integer scalar as its seed, and got {given}"
    cause = "The seed's 64 bits become the key."
    cure = "Pass an integer."
    when = "When random.key or random.PRNGKey gets a float, an array with dimensions, or a key."
    trigger = "celadon.random.key(0.5)"
    cured = "celadon.random.key(5)"


class GeneratorUnknown(CeladonError, ValueError, NotImplementedError):
    code = "CEL464"
    title = "There is no such generator of random bits"
    message = "no generator of random bits is called {impl!r}"
    cause = "Keys are those of Threefry, as JAX's are by default; generators that a device brings along are not there."
    cure = "Use impl='threefry2x32', or leave it out."
    when = "When impl= or dtype= names another generator, such as 'rbg'."
    trigger = "celadon.random.key(0, impl='rbg')"
    cured = "celadon.random.key(0, impl='threefry2x32')"


class SampleShapeTooSmall(CeladonError, ValueError):
    code = "CEL465"
    title = "The parameters of a distribution don't fit the shape asked for"
    message = "{function} was asked for samples of shape {shape}, but its parameters have the shapes {given}"
    cause = "Parameters are broadcast to the shape of the samples, so they may not be larger than it."
    cure = "Ask for a shape to which all parameters broadcast, or leave shape= out."
    when = "When an array of parameters has more axes, or other extents, than shape= says."
    trigger = "celadon.random.bernoulli(celadon.random.key(0), cnp.ones(3), shape=(2,))"
    cured = "celadon.random.bernoulli(celadon.random.key(0), cnp.ones(3), shape=(2, 3))"


class TooFewToChoose(CeladonError, ValueError):
    code = "CEL466"
    title = "There are fewer elements than are to be chosen"
    message = "{function} can't choose {wanted} of {count} elements{how}"
    cause = "Without replacement each element can be chosen once; and from nothing, nothing can be chosen."
    cure = "Ask for fewer, or choose with replacement (replace=True) from at least one element."
    when = "When random.choice or random.categorical is asked for more samples without replacement than there are elements."
    trigger = "celadon.random.choice(celadon.random.key(0), 3, (4,), replace=False)"
    cured = "celadon.random.choice(celadon.random.key(0), 3, (4,))"


class ProbabilitiesMismatch(CeladonError, ValueError):
    code = "CEL467"
    title = "There is not one probability for each element"
    message = "{function} chooses among {count} elements and got probabilities of shape {shape}"
    cause = "p has one number for each element along the axis."
    cure = "Pass a vector of that length, or leave p out for equal probabilities."
    when = "When p= of random.choice has another length than the axis, or more dimensions than one."
    trigger = "celadon.random.choice(celadon.random.key(0), 3, p=cnp.ones(2) / 2)"
    cured = "celadon.random.choice(celadon.random.key(0), 3, p=cnp.ones(3) / 3)"


class OptionsExclude(CeladonError, ValueError):
    code = "CEL468"
    title = "Two options say the same thing"
    message = "{function} got both {one} and {other}, which exclude each other"
    cause = "Both options set the same thing, and only one of them can hold."
    cure = "Pass one of them."
    when = "When random.key or random.wrap_key_data gets impl= and dtype=, or var or std get ddof= and correction=."
    trigger = "celadon.random.key(0, impl='threefry2x32', dtype='threefry2x32')"
    cured = "celadon.random.key(0, dtype='threefry2x32')"


class LegacyKeyError(CeladonError, ValueError):
    code = "CEL469"
    title = "A raw key was made, and raw keys are off"
    message = "random.PRNGKey makes a raw uint32 key, which the setting jax_legacy_prng_key forbids"
    cause = "Raw keys are plain arrays, which arithmetic can spoil unnoticed."
    cure = "Use random.key, which makes a typed key."
    when = "When random.PRNGKey is called while jax_legacy_prng_key is error."
    trigger = "with celadon.legacy_prng_key('error'):\n    celadon.random.PRNGKey(0)"
    cured = "with celadon.legacy_prng_key('error'):\n    celadon.random.key(0)"
    related = ("CEL126",)


class SampleNotDifferentiable(CeladonError, NotImplementedError):
    code = "CEL459"
    title = "A sample has no derivative with respect to this parameter"
    message = "samples of {function} have no derivative with respect to {parameter}"
    cause = "They come from a loop that rejects proposals, and the derivative of what it accepts is not the samples' own."
    cure = "Stop the derivative with celadon.lax.stop_gradient(parameter), or draw samples that are smooth in the parameter."
    when = "When grad or jvp reaches random.gamma and its kin through the parameter of the distribution."
    trigger = "celadon.grad(lambda a: celadon.random.gamma(celadon.random.key(0), a))(1.5)"
    cured = "celadon.grad(lambda a: a * celadon.random.gamma(celadon.random.key(0), celadon.lax.stop_gradient(a)))(1.5)"
