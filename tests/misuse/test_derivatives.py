"""Documented misuses of grad, jvp, vjp, checkpoint and of custom derivative rules."""

from __future__ import annotations

from functools import partial
from typing import Any

from celadon import errors
from tests.misuse.misuses import Misuse, Table, check

GRAD = "docs/automatic-differentiation and docstring of jax.grad"
COMPLEX = "docs/complex-differentiation"
RULES = "docs/Custom_derivative_rules_for_Python_code"
CHECKPOINT = "docs/gradient-checkpointing"

table = Table()


@table.documented(GRAD, errors.GradOfNonScalar, "<lambda>", "f32[3]")
def a_gradient_of_a_vector(jax: Any) -> None:
    jax.grad(lambda x: {"a": x}["a"] * 2)(jax.numpy.ones(3))  # here


@table.documented(GRAD, errors.GradOfNonScalar, "<lambda>", "a tuple of 2")
def a_gradient_of_a_pair(jax: Any) -> None:
    jax.grad(lambda x: (x, x))(1.0)  # here


@table.documented(GRAD, errors.GradOfNonScalar, "<lambda>", "None")
def a_gradient_of_nothing(jax: Any) -> None:
    jax.grad(lambda x: None)(1.0)  # here


@table.documented(GRAD, errors.ResultNotArray, "<lambda>", "str")
def a_gradient_of_a_string(jax: Any) -> None:
    jax.grad(lambda x: "a")(1.0)  # here


@table.documented(GRAD, errors.GradOfInteger, "p['n'] of <lambda>", "int32")
def a_gradient_by_an_integer(jax: Any) -> None:
    jax.grad(lambda p: p["n"] * 2.0)({"n": 3})  # here


@table.documented(GRAD, errors.GradOfInteger, "<lambda>", "i32[]")
def a_gradient_of_an_integer(jax: Any) -> None:
    jax.grad(lambda x: x.astype("int32"))(1.0)  # here


@table.documented(COMPLEX, errors.GradOfInteger, "<lambda>", "c64[]", "holomorphic=True")
def a_gradient_of_a_complex_number(jax: Any) -> None:
    jax.grad(lambda x: x * 1j)(1.0)  # here


@table.documented(COMPLEX, errors.GradOfInteger, "x of <lambda>", "float32", "holomorphic=True")
def holomorphic_with_a_real_argument(jax: Any) -> None:
    jax.grad(lambda x: x, holomorphic=True)(1.0)  # here


@table.documented(GRAD, errors.ArgnumsInvalid, "argnums=1", "<lambda>", "1 positional")
def argnums_out_of_range(jax: Any) -> None:
    jax.grad(lambda x: x, argnums=1)(1.0)  # here


@table.documented(GRAD, errors.ArgnumsInvalid, "argnums=0", "<lambda>", "0 positional")
def a_gradient_by_a_keyword_argument(jax: Any) -> None:
    jax.grad(lambda x, y: x)(x=1.0, y=2.0)  # here


@table.documented(GRAD, errors.AuxiliaryMissing, "<lambda>", "f32[]")
def has_aux_without_a_pair(jax: Any) -> None:
    jax.grad(lambda x: x, has_aux=True)(1.0)  # here


@table.documented(GRAD, errors.ArgumentNotArray, "argument p['name'] of <lambda>", "str")
def a_string_that_is_differentiated(jax: Any) -> None:
    jax.grad(lambda p: p["a"])({"a": 1.0, "name": "x"})  # here


@table.documented(GRAD, errors.TangentMismatch, "jvp of <lambda>", "[0]['a']", "f32[2]", "f32[]")
def a_tangent_of_another_shape(jax: Any) -> None:
    jax.jvp(lambda p: p["a"], ({"a": 1.0},), ({"a": jax.numpy.ones(2)},))  # here


@table.documented(GRAD, errors.TangentMismatch, "[0]['a']", "i32[]", "f32[]")
def a_tangent_of_another_dtype(jax: Any) -> None:
    jax.jvp(lambda p: p["a"], ({"a": 1.0},), ({"a": 1},))  # here


@table.documented(GRAD, errors.TangentMismatch, "jvp of <lambda>", "at [0]", "a list of 1", "a dict with the keys 'a'")
def a_tangent_of_another_tree(jax: Any) -> None:
    jax.jvp(lambda p: p["a"], ({"a": 1.0},), ([1.0],))  # here


@table.documented(GRAD, errors.TangentMismatch, "primals or tangents", "float")
def primals_that_are_no_tuple(jax: Any) -> None:
    jax.jvp(lambda x: x, 1.0, 1.0)  # here


@table.documented(GRAD, errors.TangentMismatch, "['y']", "f32[3]", "f32[]")
def a_cotangent_of_another_shape(jax: Any) -> None:
    jax.vjp(lambda x: {"y": x}, 1.0)[1]({"y": jax.numpy.ones(3)})  # here


@table.documented(GRAD, errors.TangentMismatch, "cotangent", "a dict with the keys 'y'", "a leaf")
def a_cotangent_of_another_tree(jax: Any) -> None:
    jax.vjp(lambda x: {"y": x}, 1.0)[1](1.0)  # here


@table.documented(GRAD, errors.GradOfInteger, "jacfwd", "x of <lambda>", "int32")
def a_jacobian_by_an_integer(jax: Any) -> None:
    jax.jacfwd(lambda x: x)(3)  # here


@table.documented(GRAD, errors.GradOfInteger, "jacrev", "x of <lambda>", "int32")
def a_backward_jacobian_by_an_integer(jax: Any) -> None:
    jax.jacrev(lambda x: x)(3)  # here


@table.documented(RULES, errors.ForwardModeOfCustomVjp, "function f")
def forward_mode_of_custom_vjp(jax: Any) -> None:
    @jax.custom_vjp
    def f(x, y):
        return jax.numpy.sin(x) * y

    f.defvjp(lambda x, y: (f(x, y), (x, y)), lambda r, g: (g, g))
    jax.jvp(lambda x, y: f(x, y), (2.0, 3.0), (1.0, 1.0))  # here


@table.documented(RULES, errors.ForwardModeOfCustomVjp, "function f")
def jacfwd_of_custom_vjp(jax: Any) -> None:
    @jax.custom_vjp
    def f(x):
        return jax.numpy.sin(x)

    f.defvjp(lambda x: (f(x), x), lambda r, g: (g,))
    jax.jacfwd(f)(2.0)  # here


@table.documented(RULES, errors.CustomRuleMissing, "custom_vjp", "defvjp")
def custom_vjp_without_a_rule(jax: Any) -> None:
    f = jax.custom_vjp(lambda x: x)
    jax.grad(f)(1.0)  # here


@table.documented(RULES, errors.CustomRuleMissing, "custom_jvp", "defjvp")
def custom_jvp_without_a_rule(jax: Any) -> None:
    f = jax.custom_jvp(lambda x: x)
    jax.grad(f)(1.0)  # here


@table.documented(RULES, errors.NotTransposable, "sine", "(f_jvp)")
def a_rule_that_is_not_linear(jax: Any) -> None:
    f = jax.custom_jvp(lambda x: x)

    @f.defjvp
    def f_jvp(primals, tangents):
        (x,), (t,) = primals, tangents
        return f(x), jax.numpy.sin(t)  # here

    jax.grad(f)(1.0)


@table.documented(RULES, errors.CustomRuleResult, "f32[]", "f32[3]")
def a_tangent_by_a_rule_of_another_shape(jax: Any) -> None:
    f = jax.custom_jvp(lambda x: x)
    f.defjvp(lambda p, t: (p[0], jax.numpy.ones(3)))
    jax.grad(f)(1.0)  # here


@table.documented(RULES, errors.CustomRuleResult, "a pair (result, tangent)")
def a_rule_that_returns_no_pair(jax: Any) -> None:
    f = jax.custom_jvp(lambda x: x)
    f.defjvp(lambda p, t: p[0])
    jax.grad(f)(1.0)  # here


@table.documented(RULES, errors.CustomRuleResult, "a tuple of 2 cotangents", "tuple of 1")
def a_rule_that_returns_too_few_cotangents(jax: Any) -> None:
    f = jax.custom_vjp(lambda x, y: x)
    f.defvjp(lambda x, y: (x, None), lambda r, g: (g,))
    jax.grad(f)(1.0, 2.0)  # here


@table.documented(RULES, errors.CustomRuleResult, "argument x", "f32[]", "f32[3]")
def a_cotangent_by_a_rule_of_another_shape(jax: Any) -> None:
    f = jax.custom_vjp(lambda x, y: x)
    f.defvjp(lambda x, y: (x, None), lambda r, g: (jax.numpy.ones(3), g))
    jax.grad(f)(1.0, 2.0)  # here


@table.documented(RULES, errors.CustomRuleResult, "a pair (result, residuals)")
def a_forward_rule_that_returns_no_pair(jax: Any) -> None:
    f = jax.custom_vjp(lambda x: x)
    f.defvjp(lambda x: x, lambda r, g: (g,))
    jax.grad(f)(1.0)  # here


@table.documented(RULES, errors.CustomRuleClosure, "f32[]", "custom derivative")
def a_rule_that_closes_over_what_is_differentiated(jax: Any) -> None:
    def outer(a):
        f = jax.custom_vjp(lambda x: x * a)
        f.defvjp(lambda x: (x * a, None), lambda r, g: (g * a,))
        return f(2.0)  # here

    jax.grad(outer)(3.0)


@table.documented(RULES, errors.NondiffTraced, "argument n of f", "f32[]")
def nondiff_argnums_of_an_array(jax: Any) -> None:
    @partial(jax.custom_vjp, nondiff_argnums=(0,))
    def f(n, x):
        return n * x

    f.defvjp(lambda n, x: (n * x, None), lambda n, r, g: (n * g,))
    jax.grad(jax.jit(f), argnums=1)(2.0, 3.0)  # here


@table.documented(CHECKPOINT, errors.ConcreteRemoved, "concrete")
def the_option_concrete_of_checkpoint(jax: Any) -> None:
    jax.checkpoint(lambda x: x, concrete=True)  # here


@table.documented(CHECKPOINT, errors.NotCallable, "policy of checkpoint", "int")
def a_policy_that_is_no_function(jax: Any) -> None:
    jax.grad(jax.checkpoint(lambda x: jax.numpy.sin(x), policy=3))(1.0)  # here


@table.each
def test_it_is_refused_with_a_reason(misuse: Misuse) -> None:
    check(misuse)
