"""Errors of the array functions: axes, shapes, options and indices that a call can't have (codes 43x to 45x)."""

from __future__ import annotations

from celadon.errors.catalogue import CeladonError


class OutNotSupported(CeladonError, NotImplementedError):
    code = "CEL430"
    title = "The argument out is not supported"
    message = "{function} was given out=, and arrays can't be written in place"
    cause = "Celadon's arrays are immutable, so no function writes its result into an array that exists already."
    cure = "Leave out= away and use the returned array."
    when = "When a function of celadon.numpy is called with out= other than None."
    trigger = "cnp.sum(cnp.ones(3), out=np.zeros(()))"
    cured = "cnp.sum(cnp.ones(3))"


class AxisNotInArray(CeladonError, ValueError):
    code = "CEL431"
    title = "An axis is out of range"
    message = "axis {axis} is out of range for an array with {ndim} dimensions"
    cause = "Axes count from 0 to the number of dimensions less one, or from the end with negative numbers."
    cure = "Pass an axis between -ndim and ndim - 1."
    when = "When an axis argument names a dimension that the array does not have."
    trigger = "cnp.sum(cnp.ones(3), axis=1)"
    cured = "cnp.sum(cnp.ones(3), axis=0)"


class AxisNamedTwice(CeladonError, ValueError):
    code = "CEL432"
    title = "An axis is named twice"
    message = "the axes {axes} of an array with {ndim} dimensions name one dimension twice"
    cause = "Each dimension can be reduced, moved or inserted only once; a negative axis may be the same as a positive one."
    cure = "Name each axis once."
    when = "When a tuple of axes holds the same dimension more than once."
    trigger = "cnp.sum(cnp.ones((2, 3)), axis=(0, -2))"
    cured = "cnp.sum(cnp.ones((2, 3)), axis=(0, 1))"


class ReshapeImpossible(CeladonError, TypeError, ValueError):
    code = "CEL433"
    title = "An array can't take the requested shape"
    message = "an array of shape {shape} ({size} elements) can't be reshaped to {wanted}"
    cause = "Reshaping keeps the number of elements; one extent may be -1, and is then computed from the others."
    cure = "Ask for a shape with the same number of elements."
    when = "When reshape is called with a shape of another size, or with more than one -1."
    trigger = "cnp.ones(6).reshape(4, 2)"
    cured = "cnp.ones(6).reshape(3, 2)"


class DTypeNotAccepted(CeladonError, TypeError, ValueError):
    code = "CEL434"
    title = "A function does not accept a dtype"
    message = "{function} does not accept {dtype}; it accepts {accepted}"
    cause = "The function has no meaning for values of this dtype."
    cure = "Convert the array first with .astype(dtype)."
    when = "When, for instance, a bitwise function gets floats, or an ordering function gets complex numbers."
    trigger = "cnp.bitwise_and(cnp.ones(2), 1)"
    cured = "cnp.bitwise_and(cnp.ones(2, int), 1)"


class OptionUnknown(CeladonError, ValueError):
    code = "CEL435"
    title = "An option has no such value"
    message = "{function} got {argument}={value!r}; it takes {allowed}"
    cause = "The argument chooses between a few named ways to work, and the given one is none of them."
    cure = "Pass one of the values that the message lists."
    when = "When a mode, method, order or similar argument is misspelled or not supported."
    trigger = "cnp.pad(cnp.ones(2), 1, mode='mirrored')"
    cured = "cnp.pad(cnp.ones(2), 1, mode='reflect')"


class EmptyReduction(CeladonError, ValueError):
    code = "CEL436"
    title = "A reduction of nothing has no value"
    message = "{function} of an array of shape {shape} over axes {axes} reduces no elements, and has no identity"
    cause = "The largest or smallest of no elements is undefined."
    cure = "Pass initial=, or don't reduce over an extent of 0."
    when = "When max, min, argmax or argmin reduce over an empty dimension."
    trigger = "cnp.max(cnp.ones((0,)))"
    cured = "cnp.max(cnp.ones((0,)), initial=0.0)"


class TooManyIndices(CeladonError, IndexError):
    code = "CEL437"
    title = "An array has fewer dimensions than it was indexed with"
    message = "{given} were given for an array of shape {shape}"
    cause = "Each integer, slice or array in the brackets takes one dimension (a boolean array takes its own number of them)."
    cure = "Give at most as many indices as there are dimensions."
    when = "When x[i, j, ...] names more dimensions than x has, or holds more than one ellipsis (...)."
    trigger = "cnp.ones(3)[0, 0]"
    cured = "cnp.ones((3, 1))[0, 0]"


class IndexNotSupported(CeladonError, TypeError):
    code = "CEL438"
    title = "A value is no index"
    message = "{index} can't index an array; an index is an integer, a slice, None, ..., or an integer or boolean array"
    cause = "Floats and strings name no place, and of a list that stands alone it is open whether each entry is for a dimension."
    cure = "Convert a list with celadon.numpy.asarray, or use a tuple for several dimensions."
    when = "When an array is indexed with a list alone, a float, a string or another object."
    trigger = "cnp.ones(3)[[0, 1]]"
    cured = "cnp.ones(3)[cnp.asarray([0, 1])]"


class NonConcreteBooleanIndexError(CeladonError, IndexError):
    code = "CEL439"
    title = "A traced boolean array was used as an index"
    message = "a traced boolean array {type} was used as an index of an array of shape {shape} in {function}; it {origin}"
    cause = "The number of selected elements, and so the result's shape, depends on values that are not known while tracing."
    cure = "Use the three-argument celadon.numpy.where(mask, x, fill), or the where= argument of a reduction."
    when = "When x[mask] is evaluated under jit and the mask depends on an argument."
    trigger = "celadon.jit(lambda x: x[x > 0])(cnp.ones(3))"
    cured = "celadon.jit(lambda x: cnp.where(x > 0, x, 0))(cnp.ones(3))"


class BooleanIndexShape(CeladonError, IndexError):
    code = "CEL440"
    title = "A boolean index does not fit the array"
    message = "a boolean index of shape {mask} does not fit the dimensions {dimensions} of the array"
    cause = "A mask selects by position, so its extents must equal those of the dimensions it stands for."
    cure = "Use a mask of the array's own shape, or of its leading dimensions."
    when = "When an array is indexed with a boolean array of another shape."
    trigger = "cnp.ones(3)[np.array([True, False])]"
    cured = "cnp.ones(3)[np.array([True, False, True])]"


class NoArraysGiven(CeladonError, ValueError):
    code = "CEL441"
    title = "At least one array is needed"
    message = "{function} was given no arrays"
    cause = "The result's shape and dtype come from the arrays, and there are none."
    cure = "Pass at least one array."
    when = "When concatenate, stack or another joining function gets an empty sequence."
    trigger = "cnp.stack([])"
    cured = "cnp.stack([cnp.ones(2)])"


class SplitUneven(CeladonError, ValueError):
    code = "CEL442"
    title = "An array can't be split into equal parts"
    message = "an extent of {extent} can't be split into {sections} equal parts"
    cause = "The number of parts does not divide the extent of the axis."
    cure = "Use array_split, which allows parts of unlike sizes, or give the places to split at."
    when = "When split, hsplit, vsplit or dsplit get a number of parts that does not divide the extent."
    trigger = "cnp.split(cnp.ones(5), 2)"
    cured = "cnp.array_split(cnp.ones(5), 2)"


class ArrayImmutable(CeladonError, TypeError):
    code = "CEL443"
    title = "An array can't be changed in place"
    message = "an assignment to elements of an array {type}, which is immutable"
    cause = "Programs share and reuse arrays, so none may change after it is made."
    cure = "Make a new array: x = x.at[i].set(value), or .add(value), .multiply(value) and so on."
    when = "When x[i] = value or x[i] += value is executed on a Celadon array."
    trigger = "x = cnp.ones(3)\nx[0] = 2.0"
    cured = "x = cnp.ones(3)\nx = x.at[0].set(2.0)"


class SubscriptsInvalid(CeladonError, ValueError, TypeError):
    code = "CEL444"
    title = "The subscripts of einsum don't fit the operands"
    message = "einsum can't read {subscripts!r} with operands of shapes {shapes}: {reason}"
    cause = "Each operand needs one letter a dimension, and a letter stands for one extent wherever it occurs."
    cure = "Correct the subscripts, or the shapes of the operands."
    when = "When einsum's subscripts name too few or too many dimensions, or one letter stands for two extents."
    trigger = "cnp.einsum('ij,jk->ik', cnp.ones((2, 3)), cnp.ones((4, 5)))"
    cured = "cnp.einsum('ij,jk->ik', cnp.ones((2, 3)), cnp.ones((3, 5)))"


class ShapeInvalid(CeladonError, TypeError, ValueError):
    code = "CEL445"
    title = "A shape must be a sequence of integers"
    message = "{shape!r} is no shape; a shape is an integer or a sequence of integers of at least 0"
    cause = "Extents count elements, so they are whole numbers that are not negative."
    cure = "Pass integers, for instance int(n) or n // 2 instead of n / 2."
    when = "When a shape holds a float, a negative number or something that is no number."
    trigger = "cnp.zeros((2, 1.5))"
    cured = "cnp.zeros((2, 1))"


class NegativeIntegerPower(CeladonError, TypeError):
    code = "CEL446"
    title = "An integer array can't be raised to a negative power"
    message = "an array {type} was raised to the power {power}"
    cause = "The result is no integer, and the dtype of x ** n does not depend on the value of n."
    cure = "Convert the array to floats first, or use celadon.numpy.float_power."
    when = "When an integer array is raised to a negative Python integer."
    trigger = "cnp.arange(3) ** -1"
    cured = "cnp.arange(3.0) ** -1"


class SqueezeNotOne(CeladonError, ValueError):
    code = "CEL447"
    title = "Only an extent of 1 can be squeezed out"
    message = "axis {axis} of an array of shape {shape} can't be squeezed out; its extent is not 1"
    cause = "Dropping a dimension of another extent would drop elements."
    cure = "Name axes of extent 1 only, or index the array."
    when = "When squeeze is called with an axis whose extent is not 1."
    trigger = "cnp.squeeze(cnp.ones((2, 1)), axis=0)"
    cured = "cnp.squeeze(cnp.ones((2, 1)), axis=1)"


class DimensionsUnfit(CeladonError, ValueError, TypeError):
    code = "CEL448"
    title = "An argument does not fit the array's dimensions"
    message = "{function} got {argument}={value} for an array of shape {shape}: {reason}"
    cause = "The argument names dimensions, positions or sizes, and the array's shape does not allow them."
    cure = "Correct the argument, or reshape the array first."
    when = "When axes are no permutation, an array has too few dimensions, or a slice exceeds an extent."
    trigger = "cnp.transpose(cnp.ones((2, 3)), (0,))"
    cured = "cnp.transpose(cnp.ones((2, 3)), (1, 0))"


class SequenceNotArray(CeladonError, TypeError):
    code = "CEL449"
    title = "A list or tuple was given where an array belongs"
    message = "{function} got a {type} where an array belongs"
    cause = "Converting a list element by element on every call would be slow and hide mistakes, so it is not done silently."
    cure = "Convert it once with celadon.numpy.array(...)."
    when = "When a list or tuple is an operand of a function of celadon.numpy."
    trigger = "cnp.sin([1.0, 2.0])"
    cured = "cnp.sin(cnp.array([1.0, 2.0]))"


class SliceTraced(CeladonError, IndexError):
    code = "CEL450"
    title = "A slice has a bound that is no concrete integer"
    message = "a slice of an array of shape {shape} has the bound {bound}, which is no concrete integer{origin}"
    cause = "The bounds of a slice decide the result's shape, which must be known while tracing."
    cure = "Use celadon.lax.dynamic_slice, which takes a traced start and a fixed size, or mark the argument static."
    when = "When x[i:j] is evaluated under jit and i or j depends on a traced argument, or is a float."
    trigger = "celadon.jit(lambda x, i: x[i:])(cnp.ones(3), 1)"
    cured = "celadon.jit(lambda x, i: x[i:], static_argnums=1)(cnp.ones(3), 1)"


class ArgumentCount(CeladonError, TypeError):
    code = "CEL451"
    title = "A function got too few or too many arguments"
    message = "{function} takes {wanted} arrays and got {given}"
    cause = "The function has a fixed number of operands."
    cure = "Pass that many arrays."
    when = "When a ufunc is called with another number of arrays than it takes."
    trigger = "cnp.add(1.0)"
    cured = "cnp.add(1.0, 2.0)"


class UfuncMethodMissing(CeladonError, NotImplementedError):
    code = "CEL452"
    title = "A ufunc does not have this method"
    message = "{function} has no {method}"
    cause = "reduce and accumulate exist where celadon.numpy has a function of the same meaning."
    cure = "Use a reduction (sum, prod, max, min, any, all) or a cumulative function (cumsum, cumprod)."
    when = "When .reduce or .accumulate of a ufunc without one is called."
    trigger = "cnp.subtract.reduce(cnp.ones(3))"
    cured = "cnp.add.reduce(cnp.ones(3))"


class InitialMissing(CeladonError, ValueError):
    code = "CEL453"
    title = "A masked maximum or minimum needs an initial value"
    message = "{function} was given where= without initial=; where the mask leaves no element there is no result"
    cause = "The largest or smallest of no elements is undefined, and a mask may leave none."
    cure = "Pass initial=, the result for no elements."
    when = "When max or min are called with where= and without initial=."
    trigger = "cnp.max(cnp.ones(2), where=np.array([True, False]))"
    cured = "cnp.max(cnp.ones(2), where=np.array([True, False]), initial=0.0)"


class PlaceOutOfRange(CeladonError, IndexError, ValueError):
    code = "CEL454"
    title = "A number lies outside an axis"
    message = "{function} got {index} for an axis of extent {extent}"
    cause = "The axis has no such place, or not as many elements."
    cure = "Pass a number that the extent allows."
    when = "When index_in_dim or choose get a place outside the axis, or top_k more elements than there are."
    trigger = "from celadon import lax\nlax.top_k(cnp.ones(3), 4)"
    cured = "from celadon import lax\nlax.top_k(cnp.ones(3), 2)"


class InPlaceNotPossible(CeladonError, ValueError, NotImplementedError):
    code = "CEL455"
    title = "A function can't change its argument"
    message = "{function} can't change an array in place; pass inplace=False and use what it returns"
    cause = "NumPy's function changes its argument, and arrays are immutable here; inplace=False says that you know."
    cure = "Pass inplace=False and use the result."
    when = "When put, place, put_along_axis or fill_diagonal are called without inplace=False."
    trigger = "cnp.put(cnp.ones(3), np.array([0]), 2.0)"
    cured = "cnp.put(cnp.ones(3), np.array([0]), 2.0, inplace=False)"
    related = ("CEL443",)
