"""Transforms take functions (grad, vmap, checkpoint ...) or programs, and give functions or programs that do something else."""

from celadon.transforms.callbacks import (
    debug_callback as debug_callback,
    debug_log as debug_log,
    debug_print as debug_print,
    effects_barrier as effects_barrier,
    io_callback as io_callback,
    pure_callback as pure_callback,
)
from celadon.transforms.conversion import closure_convert as closure_convert, custom_gradient as custom_gradient
from celadon.transforms.custom_cotangents import custom_vjp as custom_vjp
from celadon.transforms.custom_tangents import custom_jvp as custom_jvp
from celadon.transforms.gradients import (
    grad as grad,
    jvp as jvp,
    linear_transpose as linear_transpose,
    linearize as linearize,
    value_and_grad as value_and_grad,
    vjp as vjp,
)
from celadon.transforms.jacobians import hessian as hessian, jacfwd as jacfwd, jacobian as jacobian, jacrev as jacrev
from celadon.transforms.mapping import vmap as vmap
from celadon.transforms.recompute import checkpoint as checkpoint, print_saved_residuals as print_saved_residuals, remat as remat
from celadon.transforms.saving import checkpoint_name as checkpoint_name, checkpoint_policies as checkpoint_policies
from celadon.transforms.scopes import (
    ensure_compile_time_eval as ensure_compile_time_eval,
    named_call as named_call,
    named_scope as named_scope,
)
from celadon.transforms.solving import custom_linear_solve as custom_linear_solve, custom_root as custom_root
