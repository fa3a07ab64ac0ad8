"""Celadon: array programs in JAX's terms, on a compiler that compiles structure and passes numbers."""

from celadon import (
    debug as debug,
    dtypes as dtypes,
    errors as errors,
    events as events,
    experimental as experimental,
    flatten_util as flatten_util,
    lax as lax,
    monitoring as monitoring,
    nn as nn,
    numpy as numpy,
    ops as ops,
    random as random,
    scipy as scipy,
    tree as tree,
    tree_util as tree_util,
)
from celadon.array import Array as Array
from celadon.calling import (
    block_until_ready as block_until_ready,
    clear_caches as clear_caches,
    disable_jit as disable_jit,
    eval_shape as eval_shape,
    jit as jit,
    make_jaxpr as make_jaxpr,
    no_tracing as no_tracing,
)
from celadon.compiler import enable_checks as enable_checks
from celadon.configuration import config as config
from celadon.explain import explain_cache_misses as explain_cache_misses, log_compiles as log_compiles
from celadon.hardware import (
    default_backend as default_backend,
    device_count as device_count,
    device_get as device_get,
    device_put as device_put,
    devices as devices,
    live_arrays as live_arrays,
    local_device_count as local_device_count,
    local_devices as local_devices,
    process_count as process_count,
    process_index as process_index,
)
from celadon.keys import (
    default_prng_impl as default_prng_impl,
    legacy_prng_key as legacy_prng_key,
    threefry_partitionable as threefry_partitionable,
)
from celadon.leaks import checking_leaks as checking_leaks
from celadon.nans import debug_infs as debug_infs, debug_nans as debug_nans
from celadon.replicas import pmap as pmap
from celadon.transforms import (
    checkpoint as checkpoint,
    checkpoint_policies as checkpoint_policies,
    closure_convert as closure_convert,
    custom_gradient as custom_gradient,
    custom_jvp as custom_jvp,
    custom_vjp as custom_vjp,
    effects_barrier as effects_barrier,
    ensure_compile_time_eval as ensure_compile_time_eval,
    grad as grad,
    hessian as hessian,
    jacfwd as jacfwd,
    jacobian as jacobian,
    jacrev as jacrev,
    jvp as jvp,
    linear_transpose as linear_transpose,
    linearize as linearize,
    named_call as named_call,
    named_scope as named_scope,
    pure_callback as pure_callback,
    remat as remat,
    value_and_grad as value_and_grad,
    vjp as vjp,
    vmap as vmap,
)
from celadon.types import (
    ShapeDtypeStruct as ShapeDtypeStruct,
    default_matmul_precision as default_matmul_precision,
    enable_x64 as enable_x64,
    numpy_dtype_promotion as numpy_dtype_promotion,
    numpy_rank_promotion as numpy_rank_promotion,
)

__version__: str
