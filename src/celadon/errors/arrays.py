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
    message = "the array {type} was {how}; its memory may hold something else by now"
    cause = "donate_argnums hands an argument's memory to the program; the array holds nothing afterwards."
    cure = "Don't use the array after the call, or don't donate it."
    when = "When an argument named in donate_argnums is used again after the call."
    trigger = "x = cnp.ones(3)\nceladon.jit(lambda a: a + 1, donate_argnums=0)(x)\nx + 1"
    cured = "x = cnp.ones(3)\nx = celadon.jit(lambda a: a + 1, donate_argnums=0)(x)\nx + 1"


class NotOneElement(CeladonError, TypeError, ValueError):
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


class OperandDTypesDiffer(CeladonError, TypeError):
    code = "CEL412"
    title = "The operands of an op have different dtypes"
    message = "{op} needs operands of one dtype, but got {types}"
    cause = "The functions of celadon.lax promote nothing; those of celadon.numpy do."
    cure = "Convert one operand with .astype, or use the function of celadon.numpy."
    when = "When arrays of different dtypes meet in an op without promotion."
    trigger = "celadon.lax.add(cnp.ones(2, 'float32'), cnp.ones(2, 'int32'))"
    cured = "cnp.add(cnp.ones(2, 'float32'), cnp.ones(2, 'int32'))"
    related = ("CEL413",)


class OperandDTypeNotAccepted(CeladonError, TypeError):
    code = "CEL413"
    title = "An op does not take this dtype"
    message = "{op} does not take {type}; it takes {accepted}"
    cause = "The op is defined for some dtypes only: shifts for integers, sine for inexact numbers, and so on."
    cure = "Convert the operand with .astype first."
    when = "When an array of a dtype that the op has no meaning for is given to it."
    trigger = "celadon.lax.sin(cnp.ones(2, 'int32'))"
    cured = "celadon.lax.sin(cnp.ones(2, 'int32').astype('float32'))"
    related = ("CEL412",)


class AxisOutOfRange(CeladonError, ValueError, IndexError):
    code = "CEL414"
    title = "An axis does not exist"
    message = "{op} was given axis {axis} of an array with {ndim} axes (0 to {last})"
    cause = "Axes are counted from 0; negative ones are counted from the end by functions of celadon.numpy only."
    cure = "Name an axis that the array has."
    when = "When an axis is not below the array's number of dimensions."
    trigger = "from celadon import vocabulary\nvocabulary.reverse(cnp.ones((2, 3)), dimensions=(2,))"
    cured = "from celadon import vocabulary\nvocabulary.reverse(cnp.ones((2, 3)), dimensions=(1,))"
    related = ("CEL415",)


class AxisRepeated(CeladonError, ValueError):
    code = "CEL415"
    title = "An axis is named twice"
    message = "{op} was given axis {axis} twice"
    cause = "Each axis can be reduced, reversed or contracted once."
    cure = "Name each axis once."
    when = "When the same axis stands twice in a list of axes."
    trigger = "from celadon import vocabulary\nvocabulary.reverse(cnp.ones((2, 3)), dimensions=(0, 0))"
    cured = "from celadon import vocabulary\nvocabulary.reverse(cnp.ones((2, 3)), dimensions=(0,))"
    related = ("CEL414",)


class OneNumberPerAxis(CeladonError, ValueError, TypeError):
    code = "CEL416"
    title = "A parameter needs one number for each axis"
    message = "{op} needs one number for each of {ndim} axes, but {param} is {values}"
    cause = "Starts, limits, strides, paddings and windows are given for every axis, also for those that stay whole."
    cure = "Give as many numbers as the array has axes."
    when = "When a list of starts, limits, strides or paddings is too short or too long."
    trigger = "celadon.lax.slice(cnp.ones((2, 3)), (0,), (1,))"
    cured = "celadon.lax.slice(cnp.ones((2, 3)), (0, 0), (1, 3))"


class NotBroadcastable(CeladonError, ValueError, TypeError):
    code = "CEL417"
    title = "An array can't be broadcast to a shape"
    message = "an array of shape {shape} can't be broadcast to {wanted}, with its axes standing at {dimensions}"
    cause = "Each extent must be 1 or equal to the extent that it is broadcast to."
    cure = "Choose a shape whose extents agree with those of the array, or reshape the array first."
    when = "When an extent other than 1 would have to change."
    trigger = "celadon.lax.broadcast_in_dim(cnp.ones(3), (4,), (0,))"
    cured = "celadon.lax.broadcast_in_dim(cnp.ones(3), (4, 3), (1,))"
    related = ("CEL411",)


class ReshapeChangesSize(CeladonError, TypeError, ValueError):
    code = "CEL418"
    title = "A reshape can't change the number of elements"
    message = "an array of shape {shape} ({size} elements) can't be reshaped to {wanted} ({wanted_size} elements)"
    cause = "Reshape gives the same elements new axes; it adds and drops none."
    cure = "Choose a shape with as many elements, or let one extent be -1 in celadon.numpy.reshape."
    when = "When the product of the new extents is not the size of the array."
    trigger = "from celadon import vocabulary\nvocabulary.reshape(cnp.ones((2, 3)), shape=(4,))"
    cured = "from celadon import vocabulary\nvocabulary.reshape(cnp.ones((2, 3)), shape=(6,))"


class NotAPermutation(CeladonError, TypeError, ValueError):
    code = "CEL419"
    title = "A transpose needs every axis once"
    message = "{permutation} does not name each of {ndim} axes once"
    cause = "A transpose reorders all axes of the array."
    cure = "Name each axis from 0 to the last exactly once."
    when = "When the axes given to transpose are too few, too many or repeated."
    trigger = "celadon.lax.transpose(cnp.ones((2, 3)), (0, 0))"
    cured = "celadon.lax.transpose(cnp.ones((2, 3)), (1, 0))"


class NothingToConcatenate(CeladonError, ValueError):
    code = "CEL420"
    title = "Nothing to concatenate"
    message = "concatenate was given no arrays"
    cause = "Without an array there is neither a shape nor a dtype."
    cure = "Give at least one array; an empty one has a shape with a 0."
    when = "When a list of arrays to be joined is empty."
    trigger = "from celadon import vocabulary\nvocabulary.concatenate(dimension=0)"
    cured = "from celadon import vocabulary\nvocabulary.concatenate(cnp.zeros(0), dimension=0)"


class PaddingNotScalar(CeladonError, TypeError, ValueError):
    code = "CEL421"
    title = "The padding value is no scalar"
    message = "pad fills with one value, but was given {type}"
    cause = "The value that stands in the new places is one scalar."
    cure = "Give a scalar of the array's dtype."
    when = "When an array with axes is given as the value to pad with."
    trigger = "celadon.lax.pad(cnp.ones(2), cnp.zeros(1), [(1, 1, 0)])"
    cured = "celadon.lax.pad(cnp.ones(2), cnp.zeros(()), [(1, 1, 0)])"


class PaddingNegative(CeladonError, ValueError):
    code = "CEL422"
    title = "Padding removes more than there is"
    message = "padding {shape} by {low} below, {high} above and {interior} between elements leaves a negative extent"
    cause = "A negative padding cuts off at most the elements there are; between elements none is negative."
    cure = "Cut less off."
    when = "When an extent would become negative, or the padding between elements is negative."
    trigger = "celadon.lax.pad(cnp.ones(2), 0.0, [(-2, -2, 0)])"
    cured = "celadon.lax.pad(cnp.ones(2), 0.0, [(-1, -1, 0)])"


class SliceOutOfBounds(CeladonError, TypeError, ValueError):
    code = "CEL423"
    title = "A slice reaches outside the array"
    message = "the slice from {start} to {limit} by {strides} is not inside an array of shape {shape}"
    cause = "A static slice needs 0 <= start <= limit <= extent on every axis, and positive strides."
    cure = "Keep the limits within the shape; celadon.numpy indexing (x[a:b]) does so by itself."
    when = "When a start, limit or stride of celadon.lax.slice does not fit the array."
    trigger = "celadon.lax.slice(cnp.ones(3), (1,), (5,))"
    cured = "celadon.lax.slice(cnp.ones(3), (1,), (3,))"


class ContractionMismatch(CeladonError, TypeError, ValueError):
    code = "CEL424"
    title = "Contracted axes have different extents"
    message = "{left} and {right} can't be contracted: axes {contract}, batched {batch}, differ in extent or number"
    cause = "A product of arrays sums over pairs of axes of equal extent; batched axes pair up likewise."
    cure = "Transpose or reshape one operand so that the axes agree; @ contracts the last axis with the second to last."
    when = "When arrays whose inner extents differ are multiplied as matrices."
    trigger = "celadon.lax.dot_general(cnp.ones((2, 3)), cnp.ones((4, 5)), (((1,), (0,)), ((), ())))"
    cured = "celadon.lax.dot_general(cnp.ones((2, 3)), cnp.ones((3, 5)), (((1,), (0,)), ((), ())))"
    related = ("CEL411",)


class OneAxisOnly(CeladonError, ValueError):
    code = "CEL425"
    title = "Exactly one axis is needed"
    message = "{op} works along one axis, but was given {axes}"
    cause = "The result is a position along one axis."
    cure = "Name one axis, or flatten the array first."
    when = "When argmax or argmin is given no axis or several."
    trigger = (
        "from celadon import vocabulary\n"
        "vocabulary.argmax(cnp.ones((2, 3)), axes=(0, 1), index_dtype=np.dtype('int32'))"
    )
    cured = (
        "from celadon import vocabulary\n"
        "vocabulary.argmax(cnp.ones((2, 3)), axes=(1,), index_dtype=np.dtype('int32'))"
    )


class EmptyAxis(CeladonError, ValueError):
    code = "CEL426"
    title = "An axis without elements has no largest one"
    message = "{op} along axis {axis} of an array of shape {shape}: there are no elements"
    cause = "There is no position to return."
    cure = "Check the extent first, or pad the array with the value that should win."
    when = "When argmax or argmin meets an axis of extent 0."
    trigger = "celadon.lax.argmax(cnp.ones((0, 3)), 0, 'int32')"
    cured = "celadon.lax.argmax(cnp.ones((1, 3)), 0, 'int32')"


class BitcastNotPossible(CeladonError, ValueError, TypeError):
    code = "CEL428"
    title = "The bits don't fit the other dtype"
    message = "the bits of {type} can't be read as {dtype}"
    cause = "Complex numbers and booleans keep their kind; for a wider dtype, the last axis must hold one element."
    cure = "Give the array a last axis of the ratio of the widths, or choose a dtype of the same width."
    when = "When bitcast_convert_type is asked for a dtype that the bits don't fill exactly."
    trigger = "celadon.lax.bitcast_convert_type(cnp.ones(3, 'int8'), 'int16')"
    cured = "celadon.lax.bitcast_convert_type(cnp.ones((3, 2), 'int8'), 'int16')"


class NoSuchPrecision(CeladonError, ValueError):
    code = "CEL429"
    title = "A floating format needs an exponent"
    message = "there is no floating format of {exponent_bits} exponent and {mantissa_bits} mantissa bits"
    cause = "A format has at least one bit of exponent and no negative number of bits of mantissa."
    cure = "Choose at least one exponent bit."
    when = "When reduce_precision is given an impossible format."
    trigger = "celadon.lax.reduce_precision(1.0, 0, 3)"
    cured = "celadon.lax.reduce_precision(1.0, 5, 3)"


class NoSuchDirection(CeladonError, ValueError):
    code = "CEL481"
    title = "There is no such comparison"
    message = "{direction!r} is no comparison; there are EQ NE GE GT LE LT"
    cause = "The op named compare has six directions."
    cure = "Choose one of the six."
    when = "When the compare op is called directly with another word."
    trigger = "from celadon.vocabulary import compare\ncompare(cnp.ones(2), cnp.ones(2), direction='=')"
    cured = "from celadon.vocabulary import compare\ncompare(cnp.ones(2), cnp.ones(2), direction='EQ')"


class CallMismatch(CeladonError, TypeError):
    code = "CEL482"
    title = "A program was called with other types"
    message = "the program {name} takes {wanted}, but was given {given}"
    cause = "A program is traced for operands of certain types and can be called with those only."
    cure = "Trace it again for the new types."
    when = "When the op named call is given a program of another signature."
    trigger = (
        "from celadon.program import Program\nfrom celadon.vocabulary import call\n"
        "call(cnp.ones(2), program=Program((), (), ()))"
    )
    cured = (
        "from celadon.program import Program\nfrom celadon.vocabulary import call\ncall(program=Program((), (), ()))"
    )


class OpWithoutMeaning(CeladonError, NotImplementedError):
    code = "CEL483"
    title = "An op has neither a NumPy rule nor an expansion"
    message = "the op {op} has no NumPy rule and expands to nothing"
    cause = "The reference executor computes an op by its NumPy rule, or expands it to ops that have one."
    cure = "Give the op one of the two rules."
    when = "When an op from outside, defined without a meaning, is executed."
    trigger = (
        "from celadon.op import Op\nfrom celadon.program import Equation, Program, Var\n"
        "from celadon.vocabulary.call import execute\n"
        "from celadon.types import ArrayType, float32\nfrom celadon.op import registry\n"
        "op = Op('nothing', lambda x: x)\ndel registry['nothing']\nx = Var(ArrayType((), float32))\n"
        "execute(Program([x], [Equation(op, [x], [x], {})], [x]), [np.float32(1)])"
    )
    cured = (
        "from celadon.op import Op\nfrom celadon.program import Equation, Program, Var\n"
        "from celadon.vocabulary.call import execute\n"
        "from celadon.types import ArrayType, float32\nfrom celadon.op import registry\n"
        "op = Op('nothing', lambda x: x, lambda x: x)\ndel registry['nothing']\nx = Var(ArrayType((), float32))\n"
        "execute(Program([x], [Equation(op, [x], [x], {})], [x]), [np.float32(1)])"
    )


class BodyMismatch(CeladonError, TypeError, ValueError):
    code = "CEL484"
    title = "A reduction's body does not fit its operands"
    message = "{op} of {operands} can't use a body of this type:\n{body}"
    cause = "Operands share a shape, each has an initial scalar of its dtype, and the body maps two of these to one."
    cure = "Give initial values of the operands' dtypes, and a body that keeps the dtypes."
    when = "When the operands, initial values or function of a reduction don't agree."
    trigger = (
        "from celadon.vocabulary import add\nfrom celadon.vocabulary.window import combiner, reduce\n"
        "reduce(cnp.ones(3), np.int32(0), axes=(0,), body=combiner(add, np.dtype('float32')))"
    )
    cured = (
        "from celadon.vocabulary import add\nfrom celadon.vocabulary.window import combiner, reduce\n"
        "reduce(cnp.ones(3), np.float32(0), axes=(0,), body=combiner(add, np.dtype('float32')))"
    )


class WindowNotPositive(CeladonError, ValueError):
    code = "CEL485"
    title = "A window must have positive sizes and steps"
    message = "{param} must be positive on every axis, not {values}"
    cause = "A window of no elements, or one that doesn't move, has no meaning."
    cure = "Use 1 for axes that the window leaves alone."
    when = "When a size, stride or dilation of a window is 0 or negative."
    trigger = (
        "from celadon.vocabulary import add, reduce_window\nfrom celadon.vocabulary.window import combiner\n"
        "reduce_window(cnp.ones(3), np.float32(0), body=combiner(add, np.dtype('float32')), window_dimensions=(0,), "
        "window_strides=(1,), base_dilations=(1,), window_dilations=(1,), padding=((0, 0),))"
    )
    cured = (
        "from celadon.vocabulary import add, reduce_window\nfrom celadon.vocabulary.window import combiner\n"
        "reduce_window(cnp.ones(3), np.float32(0), body=combiner(add, np.dtype('float32')), window_dimensions=(2,), "
        "window_strides=(1,), base_dilations=(1,), window_dilations=(1,), padding=((0, 0),))"
    )


class StartsMismatch(CeladonError, TypeError, ValueError):
    code = "CEL486"
    title = "A dynamic slice needs one scalar start for each axis"
    message = "{op} of {type} needs one scalar start for each axis, but got {given}"
    cause = "The place of a slice is given by one integer scalar an axis."
    cure = "Pass as many scalar starts as the array has axes; 0 for axes that stay whole."
    when = "When dynamic_slice or dynamic_update_slice is given too few, too many, or array-valued starts."
    trigger = "from celadon import vocabulary\nvocabulary.dynamic_slice(cnp.ones((2, 3)), 0, slice_sizes=(1, 1))"
    cured = "from celadon import vocabulary\nvocabulary.dynamic_slice(cnp.ones((2, 3)), 0, 0, slice_sizes=(1, 1))"


class SliceTooLarge(CeladonError, TypeError, ValueError):
    code = "CEL487"
    title = "A slice is larger than the array"
    message = "{op}: a slice of {sizes} does not fit in an array of shape {shape}"
    cause = "A slice has at most the array's extent on every axis; its place is computed, its size is not."
    cure = "Take a smaller slice, or pad the array first."
    when = "When the sizes of a dynamic slice, an update or a gather exceed the array."
    trigger = "celadon.lax.dynamic_slice(cnp.ones(3), (0,), (4,))"
    cured = "celadon.lax.dynamic_slice(cnp.ones(3), (0,), (2,))"


class GatherMismatch(CeladonError, TypeError, ValueError):
    code = "CEL488"
    title = "The dimension numbers of a gather don't agree"
    message = "gather: {rule}"
    cause = "The dimension numbers say which axes the indices name and where slices stand; they must cover all axes."
    cure = "Use celadon.numpy indexing or take, which work them out, or correct the dimension numbers."
    when = "When celadon.lax.gather is given dimension numbers that don't fit the operand and indices."
    trigger = (
        "from celadon.vocabulary import gather\ngather(cnp.ones(3), cnp.zeros((2, 1), 'int32'), offset_dims=(), "
        "collapsed_slice_dims=(), start_index_map=(0,), slice_sizes=(1,))"
    )
    cured = (
        "from celadon.vocabulary import gather\ngather(cnp.ones(3), cnp.zeros((2, 1), 'int32'), offset_dims=(), "
        "collapsed_slice_dims=(0,), start_index_map=(0,), slice_sizes=(1,))"
    )


class SortKeys(CeladonError, ValueError):
    code = "CEL489"
    title = "A sort needs at least one key"
    message = "sort by {num_keys} keys of {operands} operands"
    cause = "The first num_keys operands decide the order, so there must be from one to all of them."
    cure = "Choose num_keys from 1 to the number of operands."
    when = "When num_keys is 0 or larger than the number of operands."
    trigger = "celadon.lax.sort((cnp.ones(2), cnp.ones(2)), num_keys=3)"
    cured = "celadon.lax.sort((cnp.ones(2), cnp.ones(2)), num_keys=2)"
