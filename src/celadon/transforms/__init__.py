"""Transforms take functions (grad, vmap, checkpoint ...) or programs, and give functions or programs that do something else."""

from celadon.facade import facade

_HOMES = {
    "custom_jvp": "custom_jvp",
    "custom_vjp": "custom_vjp",
    "gradients": "grad jvp linear_transpose linearize value_and_grad vjp",
    "mapping": "vmap",
}

__all__, __getattr__, __dir__ = facade(__name__, _HOMES)
