"""Errors of grad, vmap and the other transforms (codes 7xx)."""

from __future__ import annotations

from celadon.errors.catalogue import CeladonError
from celadon.errors.tracers import UnexpectedTracerError


class GradOfNonScalar(CeladonError, TypeError):
    code = "CEL701"
    title = "The gradient of something that is no scalar was asked for"
    message = "{transform} needs a function with one scalar result; {function} returned {found}"
    cause = "A gradient is the derivative of one number; for an array each element would have its own."
    cure = "Sum or average the result, or use jacrev, jacfwd or vjp."
    when = "When the function under grad or value_and_grad returns an array with dimensions, or no array."
    trigger = "celadon.grad(lambda x: x * 2)(cnp.ones(3))"
    cured = "celadon.grad(lambda x: (x * 2).sum())(cnp.ones(3))"
    related = ("CEL702", "CEL703")


class GradOfInteger(CeladonError, TypeError):
    code = "CEL702"
    title = "A derivative by, or of, something that is no real number was asked for"
    message = "{transform} needs {wanted}; {what} of {function} is {found}"
    cause = "Integers and booleans have no tangents, and the derivative by a complex number needs a convention."
    cure = "Convert the argument to a float dtype, choose others with argnums, or pass allow_int=True or holomorphic=True."
    when = "When an argument chosen by argnums, or the result, has a dtype that the transform does not take."
    trigger = "celadon.grad(lambda x: x * 2.0)(3)"
    cured = "celadon.grad(lambda x: x * 2.0)(3.0)"
    related = ("CEL701", "CEL703")


class ArgnumsInvalid(CeladonError, TypeError, ValueError):
    code = "CEL703"
    title = "argnums names no argument of the call"
    message = "argnums={argnums} of {transform} does not fit a call of {function} with {count} positional arguments"
    cause = "argnums are integers that count positional arguments from 0, or from the end if negative, each once."
    cure = "Give indices that count positional arguments of the call, and pass what is differentiated by position."
    when = "When argnums is out of range, names one argument twice, or is no integer or sequence of integers."
    trigger = "celadon.grad(lambda x: x * 2.0, argnums=1)(3.0)"
    cured = "celadon.grad(lambda x: x * 2.0, argnums=0)(3.0)"
    related = ("CEL701",)


class TangentMismatch(CeladonError, TypeError, ValueError):  # JAX raises the one or the other
    code = "CEL704"
    title = "A tangent or cotangent does not fit what it belongs to"
    message = "{transform}: {what}{path} is {found}, where {wanted} is needed"
    cause = (
        "A tangent has the shape and dtype of its primal (float0 for integers), a cotangent those of the result; that of "
        "an integer result may have any dtype."
    )
    cure = "Give one of that shape and dtype, in a tree of the same structure."
    when = "When jvp, vjp's function, linearize's function or a custom rule meets another type or tree."
    trigger = "celadon.jvp(lambda x: x * 2, (cnp.ones(3),), (cnp.ones(2),))"
    cured = "celadon.jvp(lambda x: x * 2, (cnp.ones(3),), (cnp.ones(3),))"
    related = ("CEL701",)


class NotDifferentiable(CeladonError, NotImplementedError):
    code = "CEL705"
    title = "An op has no derivative"
    message = "the op {op} has no derivative rule"
    cause = "The op's derivative is not known, or it computes something that has none."
    cure = "Wrap the computation in celadon.custom_jvp or celadon.custom_vjp, or keep it apart with lax.stop_gradient."
    when = "When grad, jvp, vjp or linearize meets an op of float results without a derivative."
    trigger = (
        "from celadon.op import Op\n"
        "odd = Op('without_derivative', lambda x: x, lambda x: x, exact=True)\n"
        "celadon.grad(lambda x: odd(x))(1.0)"
    )
    cured = "celadon.grad(lambda x: celadon.lax.lgamma(x))(1.0)"
    related = ("CEL706", "CEL707")


class NotTransposable(CeladonError, NotImplementedError):
    code = "CEL706"
    title = "Reverse mode met an op that it can't run backwards"
    message = "the op {op}{place} can't be transposed in {what}"
    cause = "Reverse mode runs linear ops backwards; this one is not linear in what is differentiated, or of unknown length."
    cure = "Use forward mode (jvp, jacfwd), or make the function linear in the arguments that are transposed."
    when = "When linear_transpose is given a function that is not linear."
    trigger = "celadon.linear_transpose(lambda x: x * x, cnp.ones(3))(cnp.ones(3))"
    cured = "celadon.linear_transpose(lambda x: x * 2, cnp.ones(3))(cnp.ones(3))"
    related = ("CEL705",)


class NotBatchable(CeladonError, NotImplementedError):
    code = "CEL707"
    title = "An op has no batch rule"
    message = "the op {op} can't run on a whole batch"
    cause = "vmap needs for each op one that does the same for all members at once."
    cure = "Map with lax.map, or give the function a rule with celadon.custom_batching.custom_vmap."
    when = "When vmap meets an op from outside that was defined without a batch rule."
    trigger = (
        "from celadon.op import Op\n"
        "odd = Op('without_batch', lambda x: x, lambda x: x)\n"
        "celadon.vmap(odd)(cnp.ones(3))"
    )
    cured = "celadon.vmap(lambda x: x * 2)(cnp.ones(3))"
    related = ("CEL705",)


class BatchSizesDiffer(CeladonError, ValueError):
    code = "CEL708"
    title = "Arguments of vmap have batches of different sizes"
    message = "the mapped axes of {function}'s arguments have different sizes: {sizes}"
    cause = "vmap runs the function once for each index of the mapped axes, which must all be of one length."
    cure = "Map an axis of the same size of each argument, or give in_axes None for what all members share."
    when = "When the axes named by in_axes do not have one size."
    trigger = "celadon.vmap(lambda x, y: x + y)(cnp.ones(3), cnp.ones(2))"
    cured = "celadon.vmap(lambda x, y: x + y)(cnp.ones(3), cnp.ones(3))"
    related = ("CEL709", "CEL710")


class BatchAxisOutOfRange(CeladonError, ValueError):
    code = "CEL709"
    title = "in_axes or out_axes names an axis that is not there"
    message = "{option} of vmap gives axis {axis} for {argument}, which has {ndim} dimensions"
    cause = "A batch axis counts the dimensions of its array, from 0, or from the end if negative."
    cure = "Give an axis that the array has (negative ones count from the end), or None for what is not mapped."
    when = "When an axis is out of range, or a scalar is mapped."
    trigger = "celadon.vmap(lambda x: x, in_axes=1)(cnp.ones(3))"
    cured = "celadon.vmap(lambda x: x, in_axes=0)(cnp.ones(3))"
    related = ("CEL708", "CEL710")


class BatchSpecInvalid(CeladonError, TypeError, ValueError):
    code = "CEL710"
    title = "in_axes or out_axes does not fit"
    message = "{option} of vmap is {value}: {reason}"
    cause = "in_axes is an integer, None, or a tree of them that begins like the tuple of positional arguments."
    cure = "Give one entry for each positional argument or result, each an integer, None, or a tree like its own."
    when = "When in_axes or out_axes holds something else, has another structure, or maps nothing."
    trigger = "celadon.vmap(lambda x: x, in_axes=None)(cnp.ones(3))"
    cured = "celadon.vmap(lambda x: x, in_axes=None, axis_size=3)(cnp.ones(3))"
    related = ("CEL708", "CEL709")


class AxisNameUnbound(CeladonError, NameError):
    code = "CEL711"
    title = "A named axis is not bound"
    message = "no axis of the name {name} is bound here; bound are: {bound}"
    cause = "A collective works over a named axis, and only vmap(..., axis_name=...) around it binds one."
    cure = "Call it inside a function that is mapped with vmap and that axis_name."
    when = "When psum, axis_index and their like run outside such a function."
    trigger = "celadon.lax.psum(1.0, 'i')"
    cured = "celadon.vmap(lambda x: celadon.lax.psum(x, 'i'), axis_name='i')(cnp.ones(3))"
    related = ("CEL708",)


class MembersNotPaired(CeladonError, ValueError):
    code = "CEL721"
    title = "A permutation of a batch names a member twice, or one that is not there"
    message = "the pairs {pairs} do not send each of {size} members to at most one other, and from at most one"
    cause = "ppermute sends the value of each source to its target; two values cannot arrive at one member."
    cure = "Let each member from 0 to the size of the axis be a source at most once and a target at most once."
    when = "When two pairs of ppermute or pshuffle have one source or one target, or one is outside of the axis."
    trigger = "celadon.vmap(lambda x: celadon.lax.ppermute(x, 'i', [(0, 1), (2, 1)]), axis_name='i')(cnp.ones(3))"
    cured = "celadon.vmap(lambda x: celadon.lax.ppermute(x, 'i', [(0, 1), (2, 0)]), axis_name='i')(cnp.ones(3))"
    related = ("CEL711",)


class CustomRuleMissing(CeladonError, AttributeError):
    code = "CEL712"
    title = "A function with a custom derivative has no rule yet"
    message = "{function} was wrapped by {wrapper}, but its rule was not defined with {method}"
    cause = "The wrapper only marks the function; the rule is given separately."
    cure = "Call defjvp or defvjp once, with the rule, before the function is called."
    when = "When a function under custom_jvp or custom_vjp is called before defjvp, defjvps or defvjp."
    trigger = "celadon.custom_jvp(lambda x: x)(1.0)"
    cured = "f = celadon.custom_jvp(lambda x: x)\nf.defjvps(lambda t, out, x: t)\nf(1.0)"
    related = ("CEL713", "CEL714")


class CustomRuleResult(CeladonError, TypeError, ValueError):
    code = "CEL713"
    title = "A custom derivative rule returned something else than it must"
    message = "the {rule} rule of {function} must return {wanted}; it returned {found}"
    cause = "The results of a rule take the place of computed ones, so their trees, shapes and dtypes are fixed."
    cure = "Return a value of that structure."
    when = "When the rule of custom_jvp or custom_vjp returns another structure, shape or dtype."
    trigger = (
        "f = celadon.custom_jvp(lambda x: x)\nf.defjvp(lambda primals, tangents: primals[0])\n"
        "celadon.jvp(f, (1.0,), (1.0,))"
    )
    cured = (
        "f = celadon.custom_jvp(lambda x: x)\nf.defjvp(lambda primals, tangents: (primals[0], tangents[0]))\n"
        "celadon.jvp(f, (1.0,), (1.0,))"
    )
    related = ("CEL712",)


class ForwardModeOfCustomVjp(CeladonError, TypeError):
    code = "CEL714"
    title = "Forward mode met a function that has a rule for reverse mode only"
    message = "the function {function} has a custom_vjp rule, and forward mode (jvp, jacfwd, hessian) was applied to it"
    cause = "A custom_vjp function says how to send cotangents back; tangents can't be sent forward with that."
    cure = "Use reverse mode (grad, vjp, jacrev), or define the function with custom_jvp, which serves both."
    when = "When jvp, jacfwd, linearize's function or hessian differentiates a custom_vjp function."
    trigger = (
        "f = celadon.custom_vjp(lambda x: x)\nf.defvjp(lambda x: (x, None), lambda res, ct: (ct,))\n"
        "celadon.jvp(f, (1.0,), (1.0,))"
    )
    cured = (
        "f = celadon.custom_vjp(lambda x: x)\nf.defvjp(lambda x: (x, None), lambda res, ct: (ct,))\n"
        "celadon.grad(f)(1.0)"
    )
    related = ("CEL712", "CEL713")


class AuxiliaryMissing(CeladonError, TypeError):
    code = "CEL715"
    title = "has_aux was asked for, but the function returned no pair"
    message = "with has_aux=True {transform} needs a pair (value, aux) from {function}; it returned {found}"
    cause = "has_aux says that the function returns a tuple of two: what is differentiated, and anything else."
    cure = "Return (value, aux), or leave has_aux out."
    when = "When the function returns anything but a tuple of two."
    trigger = "celadon.grad(lambda x: x * x, has_aux=True)(1.0)"
    cured = "celadon.grad(lambda x: (x * x, x), has_aux=True)(1.0)"
    related = ("CEL701",)


class CustomRuleClosure(UnexpectedTracerError):
    code = "CEL716"
    title = "A function with a custom derivative closes over what is differentiated"
    message = "the function {function} with a custom derivative uses a differentiated value that is no argument of it{place}"
    cause = "Its rule knows tangents and cotangents of its arguments only."
    cure = "Pass the value as an argument, or use celadon.closure_convert."
    when = "When grad or jvp differentiates by a value that such a function, or its rule, takes from the scope around it."
    trigger = (
        "def g(y):\n    f = celadon.custom_jvp(lambda x: x * y)\n    f.defjvps(lambda t, out, x: t)\n    return f(1.0)\n"
        "celadon.grad(celadon.jit(g))(1.0)"
    )
    cured = (
        "f = celadon.custom_jvp(lambda x, y: x * y)\nf.defjvps(lambda t, out, x, y: t, lambda t, out, x, y: t)\n"
        "celadon.grad(celadon.jit(lambda y: f(1.0, y)))(1.0)"
    )
    related = ("CEL712", "CEL713")


class NondiffTraced(UnexpectedTracerError):
    code = "CEL722"
    title = "nondiff_argnums of custom_vjp names a traced argument"
    message = "argument {argument} of {wrapped} is named by nondiff_argnums, and is a traced {type} of {function}; it {origin}"
    cause = "The backward rule may run when the trace that the value belongs to is over."
    cure = "Leave the array out of nondiff_argnums; the backward rule returns None as its cotangent."
    when = "When a custom_vjp function is called under jit, grad or vmap with a traced value for such an argument."
    trigger = (
        "f = celadon.custom_vjp(lambda n, x: n * x, nondiff_argnums=(0,))\n"
        "f.defvjp(lambda n, x: (n * x, None), lambda n, res, ct: (n * ct,))\nceladon.jit(f)(2.0, 3.0)"
    )
    cured = (
        "f = celadon.custom_vjp(lambda n, x: n * x)\n"
        "f.defvjp(lambda n, x: (n * x, n), lambda n, ct: (None, n * ct))\nceladon.jit(f)(2.0, 3.0)"
    )
    related = ("CEL716",)


class KeywordOnlyArguments(CeladonError, TypeError):
    code = "CEL717"
    title = "A function with a custom rule got keyword-only arguments"
    message = "{function} was called with the keyword-only arguments {names}; its rule takes positional ones"
    cause = "Rules receive arguments by position, so each needs a place."
    cure = "Make the parameters positional, or bind them with functools.partial before wrapping the function."
    when = "When a function under custom_jvp or custom_vjp has keyword-only parameters."
    trigger = (
        "f = celadon.custom_jvp(lambda x, *, n: x * n)\nf.defjvps(lambda t, out, x: t)\nf(1.0, n=2)"
    )
    cured = "f = celadon.custom_jvp(lambda x, n: x * n)\nf.defjvps(lambda t, out, x, n: t, None)\nf(1.0, n=2.0)"
    related = ("CEL712",)


class ConcreteRemoved(CeladonError, TypeError, NotImplementedError):
    code = "CEL718"
    title = "checkpoint no longer takes concrete"
    message = "the option concrete of checkpoint was removed"
    cause = "Arguments that must be concrete while tracing are static arguments, as for jit."
    cure = "Name them with static_argnums or static_argnames."
    when = "When checkpoint is called with concrete=..."
    trigger = "celadon.checkpoint(lambda x: x, concrete=True)"
    cured = "celadon.checkpoint(lambda x, n: x * n, static_argnums=1)(1.0, 2)"
    related = ("CEL719",)


class PreventCseWithStatics(CeladonError, ValueError):
    code = "CEL719"
    title = "prevent_cse as a tree can't be combined with static arguments"
    message = "checkpoint of {function} has static arguments and prevent_cse={value}, which is no bool"
    cause = "A tree of booleans has a place for each positional argument, and static ones are taken out of the call."
    cure = "Give prevent_cse True or False, or bind the static arguments with functools.partial before."
    when = "When checkpoint is given both."
    trigger = "celadon.checkpoint(lambda x, n: x * n, prevent_cse=(True, False), static_argnums=1)"
    cured = "celadon.checkpoint(lambda x, n: x * n, prevent_cse=True, static_argnums=1)(1.0, 2)"
    related = ("CEL718",)


class MappedNotArray(CeladonError, TypeError):
    code = "CEL720"
    title = "vmap was to map what is no array"
    message = "argument {argument} of {function} is to be mapped, but it has the type {type}, which is no array or scalar"
    cause = "A mapped argument is cut along one axis; keyword arguments are always mapped over axis 0."
    cure = "Give None in in_axes for a positional argument; bind a keyword argument with functools.partial before."
    when = "When a leaf of a mapped argument is a string, a function or another object."
    trigger = "celadon.vmap(lambda x, *, m: x)(cnp.ones(2), m='a')"
    cured = "import functools\nceladon.vmap(functools.partial(lambda x, *, m: x, m='a'))(cnp.ones(2))"
    related = ("CEL709", "CEL710")
