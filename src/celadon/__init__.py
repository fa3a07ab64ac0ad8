"""Celadon: array programs in JAX's terms, on a compiler that compiles structure and passes numbers."""

from celadon import errors, events, monitoring, tree, tree_util, types
from celadon import evaluate as _evaluate
from celadon import lax as lax, numpy as numpy
from celadon.array import Array
from celadon.calling import clear_caches, disable_jit, jit, no_tracing
from celadon.config import config
from celadon.explain import explain_cache_misses, log_compiles
from celadon.types import ShapeDtypeStruct, x64 as enable_x64

__version__ = "0.1.0"


def block_until_ready(x):
    """Returns `x` when all arrays in the tree are computed; programs have run when they return, so at once.

    >>> block_until_ready((1.0, 2.0))
    (1.0, 2.0)
    """
    return tree.map(lambda leaf: leaf.block_until_ready() if hasattr(leaf, "block_until_ready") else leaf, x)


def eval_shape(fun, *args, **kwargs):
    """Shapes and dtypes of fun(*args, **kwargs) without computing it; arguments need only shape and dtype.

    >>> eval_shape(lambda x: x, ShapeDtypeStruct((2,), "float32"))
    ShapeDtypeStruct(shape=(2,), dtype=float32)
    """
    return jit(fun).eval_shape(*args, **kwargs)


__all__ = [
    "Array", "ShapeDtypeStruct", "block_until_ready", "clear_caches", "config", "disable_jit", "enable_x64", "errors",
    "eval_shape", "events", "explain_cache_misses", "jit", "lax", "log_compiles", "monitoring", "no_tracing", "numpy",
    "tree", "tree_util", "types",
]  # fmt: skip
