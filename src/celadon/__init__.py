"""Celadon: array programs in JAX's terms, on a compiler that compiles structure and passes numbers."""

from celadon.facade import facade

__version__ = "0.1.0"

_HOMES = {
    "array": "Array",
    "calling": "block_until_ready clear_caches disable_jit eval_shape jit make_jaxpr no_tracing",
    "compiler": "enable_checks",
    "configuration": "config",
    "explain": "explain_cache_misses log_compiles",
    "hardware": (
        "default_backend device_count device_get device_put devices live_arrays local_device_count local_devices process_count "
        "process_index"
    ),
    "keys": "default_prng_impl legacy_prng_key threefry_partitionable",
    "leaks": "checking_leaks",
    "nans": "debug_infs debug_nans",
    "replicas": "pmap",
    "transforms": (
        "checkpoint checkpoint_policies closure_convert custom_gradient custom_jvp custom_vjp effects_barrier "
        "ensure_compile_time_eval grad hessian jacfwd jacobian jacrev jvp linear_transpose linearize named_call named_scope "
        "pure_callback remat value_and_grad vjp vmap"
    ),
    "types": "ShapeDtypeStruct default_matmul_precision enable_x64 numpy_dtype_promotion numpy_rank_promotion",
}

__all__, __getattr__, __dir__ = facade(__name__, _HOMES)
__all__ += ["debug", "dtypes", "errors", "events", "experimental", "flatten_util", "lax", "monitoring", "nn", "numpy", "ops"]
__all__ += ["random", "scipy", "tree", "tree_util"]
