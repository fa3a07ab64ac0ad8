"""Errors about windows, convolutions and updates at computed places (codes 49x)."""

from __future__ import annotations

from celadon.errors.catalogue import CeladonError


class ScatterMismatch(CeladonError, TypeError, ValueError):
    code = "CEL490"
    title = "The dimension numbers of a scatter don't agree"
    message = "scatter: {rule}"
    cause = "The dimension numbers say which axes the indices name and where windows stand; they must cover all axes."
    cure = "Use x.at[...], which works them out, or correct the dimension numbers."
    when = "When celadon.lax.scatter and its kin get dimension numbers that don't fit operand, indices and updates."
    trigger = (
        "from celadon import lax\nnumbers = lax.ScatterDimensionNumbers((), (), (0,))\n"
        "lax.scatter(cnp.ones(3), cnp.zeros((2, 1), 'int32'), cnp.ones(2), numbers)"
    )
    cured = (
        "from celadon import lax\nnumbers = lax.ScatterDimensionNumbers((), (0,), (0,))\n"
        "lax.scatter(cnp.ones(3), cnp.zeros((2, 1), 'int32'), cnp.ones(2), numbers)"
    )
    related = ("CEL488",)


class BodyCloses(CeladonError, NotImplementedError):
    code = "CEL491"
    title = "A function for single elements uses an array from outside"
    message = "the function of a {op} uses the array {type} that it was not given"
    cause = "The function becomes the body of an op and sees the element alone: neither traced values nor arrays with axes."
    cure = (
        "Read the elements (x.at[i].get()), compute with whole arrays, and write the results back (x.at[i].set(...)); give a "
        "reduction the array as one more operand, or combine with it before or after."
    )
    when = "When the function given to x.at[i].apply, lax.reduce or the like uses another argument of the jitted function."
    trigger = "celadon.jit(lambda x, s: x.at[0].apply(lambda e: e * s))(cnp.ones(3), 2.0)"
    cured = "celadon.jit(lambda x, s: x.at[0].set(x[0] * s))(cnp.ones(3), 2.0)"


class UpdateConvertedWarning(CeladonError, FutureWarning):
    code = "CEL492"
    title = "An update is converted to a narrower dtype"
    message = "an update {update} of an array {array} is converted to the array's dtype, which may lose information"
    cause = "x.at[...] returns an array of x's dtype, and the update's dtype holds values that x's does not."
    cure = "Convert the update yourself with .astype(x.dtype), or the array to the wider dtype before."
    when = "When floats are written into integers, complex numbers into floats, or 64 bits into 32."
    trigger = "cnp.ones(3, 'int32').at[0].set(1.5)"
    cured = "cnp.ones(3, 'int32').at[0].set(int(1.5))"


class ConvolutionMismatch(CeladonError, TypeError, ValueError):
    code = "CEL493"
    title = "The operands of a convolution don't fit together"
    message = "convolution: {rule}"
    cause = "The array has a batch, a feature and the spatial axes, the kernel output, input and the same spatial axes."
    cure = "Give the layout by dimension_numbers, e.g. ('NHWC', 'HWIO', 'NHWC'), and one number for each spatial axis."
    when = "When shapes, groups, strides or dimension numbers of a convolution don't agree."
    trigger = "celadon.lax.conv(cnp.ones((1, 3, 8, 8)), cnp.ones((4, 2, 3, 3)), (1, 1), 'SAME')"
    cured = "celadon.lax.conv(cnp.ones((1, 3, 8, 8)), cnp.ones((4, 3, 3, 3)), (1, 1), 'SAME')"


class InitialTreeDiffers(CeladonError, ValueError):
    code = "CEL494"
    title = "The initial values of a reduction have another structure than its operands"
    message = "{function} was given operands {operands} and initial values {given}: both need one tree, with an array or more"
    cause = "Each array is reduced from an initial value of its own, and the function gets both in the operands' containers."
    cure = "Pass one initial scalar for each array, in the same containers."
    when = "When lax.reduce or lax.reduce_window are called with trees that differ, or that are empty."
    trigger = "celadon.lax.reduce((cnp.ones(3), cnp.ones(3)), 0.0, celadon.lax.add, (0,))"
    cured = "celadon.lax.reduce((cnp.ones(3),), (0.0,), lambda x, y: (x[0] + y[0],), (0,))"
