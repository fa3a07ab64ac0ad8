"""Custom derivative rules under JAX's module name."""

from celadon.transforms.conversion import (
    closure_convert as closure_convert,
    custom_gradient as custom_gradient,
    linear_call as linear_call,
)
from celadon.transforms.custom_cotangents import custom_vjp as custom_vjp
from celadon.transforms.custom_tangents import custom_jvp as custom_jvp
from celadon.transforms.custom_zeros import (
    CustomVJPPrimal as CustomVJPPrimal,
    SymbolicZero as SymbolicZero,
    custom_vjp_primal_tree_values as custom_vjp_primal_tree_values,
    zero_from_primal as zero_from_primal,
)
