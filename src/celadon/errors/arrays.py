"""Errors about shapes, dtypes and values of arrays (codes 4xx)."""

from __future__ import annotations

from celadon.errors.catalogue import CeladonError


class IntegerTooLarge(CeladonError, OverflowError):
    code = "CEL401"
    title = "A Python integer does not fit"
    message = "the Python integer {value} does not fit {dtype}"
    cause = "A Python integer becomes an array of the default integer dtype, which has 32 bits unless x64 is on."
    cure = "Turn x64 on (celadon.config.update('jax_enable_x64', True)), or pass a float or a smaller integer."
    when = "When an integer outside the range of the default integer dtype meets an array or a jitted function."
    trigger = "cnp.asarray(1 << 40)"
    cured = "cnp.asarray(float(1 << 40))"


class NoImplicitPromotion(CeladonError, TypeError):
    code = "CEL402"
    title = "Two dtypes have no common dtype"
    message = "there is no implicit promotion between {dtypes}"
    cause = "The dtypes stand in no order in the promotion lattice, so neither can become the other by itself."
    cure = "Convert one operand with .astype(dtype) first."
    when = "When an operation meets a dtype that promotes to nothing else."
    trigger = "from celadon import types, errors\nraise errors.NoImplicitPromotion(dtypes='key and f32')"
    cured = "cnp.add(cnp.ones(2, 'bfloat16').astype('float32'), cnp.ones(2))"


class LengthOfScalar(CeladonError, TypeError):
    code = "CEL403"
    title = "A scalar has no length"
    message = "len() of an array without dimensions: {type}"
    cause = "len() is the extent of the first dimension, and this array has none."
    cure = "Use .size for the number of elements, or give the array a dimension with celadon.numpy.atleast_1d."
    when = "When len() or iteration is applied to an array of rank 0."
    trigger = "len(cnp.asarray(1.0))"
    cured = "len(cnp.atleast_1d(cnp.asarray(1.0)))"


class UnhashableArray(CeladonError, TypeError):
    code = "CEL404"
    title = "An array has no hash"
    message = "an array is not hashable: {type}"
    cause = "Arrays compare element by element, so they can't be keys of a dict, members of a set, or static arguments."
    cure = "Pass the array as a traced argument, or use a tuple of its values (tuple(x.tolist())) as the key."
    when = "When an array is put in a set or dict, or given as a static argument."
    trigger = "hash(cnp.ones(2))"
    cured = "hash(tuple(cnp.ones(2).tolist()))"


class ArrayDeleted(CeladonError, RuntimeError):
    code = "CEL405"
    title = "An array was used after it was deleted or donated"
    message = "the array {type} was deleted, or donated to a jitted function that reused its memory"
    cause = "donate_argnums hands an argument's memory to the program; the array holds nothing afterwards."
    cure = "Don't use the array after the call, or don't donate it."
    when = "When an argument named in donate_argnums is used again after the call."
    trigger = "x = cnp.ones(3)\nceladon.jit(lambda a: a + 1, donate_argnums=0)(x)\nx + 1"
    cured = "x = cnp.ones(3)\nx = celadon.jit(lambda a: a + 1, donate_argnums=0)(x)\nx + 1"


class NotOneElement(CeladonError, TypeError):
    code = "CEL406"
    title = "Only an array of one element is a Python scalar"
    message = "{wanted}() of an array with more or fewer than one element: {type}"
    cause = "The array has no single value that could be converted."
    cure = "Reduce it first (x.any(), x.all(), x.sum()), or index one element."
    when = "When bool(), int(), float() or complex() is applied to an array of several elements or none."
    trigger = "bool(cnp.ones(3))"
    cured = "bool(cnp.ones(3).all())"


class NoIndex(CeladonError, TypeError):
    code = "CEL407"
    title = "Only an integer scalar array can be an index"
    message = "an array used as an index or size must be an integer scalar, not {type}"
    cause = "Python asks for an exact integer here, and the array is of another dtype or has dimensions."
    cure = "Convert it: int(x) for one element."
    when = "When a float or multi-element array is used as a size or list index."
    trigger = "range(cnp.asarray(1.0))"
    cured = "range(cnp.asarray(1))"


class MaskedArrayInput(CeladonError, ValueError):
    code = "CEL408"
    title = "Masked arrays are not supported"
    message = "a numpy masked array of shape {shape} was given; its mask would be lost"
    cause = "Celadon's arrays have no mask, and dropping one silently would change results."
    cure = "Pass x.filled(value), or the data and the mask as two arrays."
    when = "When a numpy.ma array is an argument or is converted."
    trigger = "cnp.asarray(np.ma.masked_array([1.0, 2.0], [True, False]))"
    cured = "cnp.asarray(np.ma.masked_array([1.0, 2.0], [True, False]).filled(0.0))"


class DTypeNotSupported(CeladonError, TypeError):
    code = "CEL409"
    title = "The dtype is not supported"
    message = "arrays of dtype {dtype} are not supported"
    cause = "The dtype is no boolean, integer, floating or complex dtype that programs can hold."
    cure = "Convert the data to one of the supported dtypes first."
    when = "When an array of objects, strings, dates or an unknown dtype is given."
    trigger = "cnp.asarray(np.array(['a', 'b']))"
    cured = "cnp.asarray(np.array([ord('a'), ord('b')]))"


class NotAnArray(CeladonError, TypeError):
    code = "CEL410"
    title = "A value is no array"
    message = "a value of type {type} is no array or scalar"
    cause = "Only arrays, NumPy and Python scalars, and objects that offer __array__ or __jax_array__ can be traced."
    cure = "Convert it to an array, or pass it as a static argument (static_argnums)."
    when = "When a string, a function, a set or another object is given where an array belongs."
    trigger = "cnp.sin('a')"
    cured = "cnp.sin(1.0)"


class ShapesDiffer(CeladonError, TypeError, ValueError):
    code = "CEL411"
    title = "Shapes don't fit together"
    message = "{op} got shapes that don't fit together: {shapes}"
    cause = "The operands must have the same shape, or shapes that broadcast: equal extents, or extents of 1."
    cure = "Reshape or broadcast one of them so that the extents agree."
    when = "When arrays of unlike shapes are combined."
    trigger = "cnp.ones(3) + cnp.ones(4)"
    cured = "cnp.ones(3) + cnp.ones((4, 1))"
