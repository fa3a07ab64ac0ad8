"""Transforms take functions (grad, vmap, checkpoint ...) or programs, and give functions or programs that do something else."""

from celadon.facade import facade

_HOMES = {
    "callbacks": "debug_callback debug_log debug_print effects_barrier io_callback pure_callback",
    "conversion": "closure_convert custom_gradient",
    "custom_cotangents": "custom_vjp",
    "custom_tangents": "custom_jvp",
    "gradients": "grad jvp linear_transpose linearize value_and_grad vjp",
    "jacobians": "hessian jacfwd jacobian jacrev",
    "mapping": "vmap",
    "recompute": "checkpoint print_saved_residuals remat",
    "scopes": "ensure_compile_time_eval named_call named_scope",
    "solving": "custom_linear_solve custom_root",
    "saving": "checkpoint_name checkpoint_policies",
}

__all__, __getattr__, __dir__ = facade(__name__, _HOMES)
