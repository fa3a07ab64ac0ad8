"""The ops, family by family; importing this package fills the registry."""

from celadon.vocabulary import elementwise
from celadon.vocabulary.barrier import optimization_barrier
from celadon.vocabulary.call import call, execute, named
from celadon.vocabulary.callback import debug_callback, io_callback, pure_callback
from celadon.vocabulary.contract import dot_general
from celadon.vocabulary.control import cond, while_loop
from celadon.vocabulary.convolution import convolution
from celadon.vocabulary.elementwise import *  # noqa: F403
from celadon.vocabulary.index import dynamic_slice, dynamic_update_slice, gather, sort
from celadon.vocabulary.largest import top_k
from celadon.vocabulary.pooling import (
    reduce_window_max,
    reduce_window_min,
    select_and_gather_add,
    select_and_scatter,
)
from celadon.vocabulary.reduce import (
    argmax,
    argmin,
    reduce_and,
    reduce_max,
    reduce_min,
    reduce_or,
    reduce_prod,
    reduce_sum,
    reduce_xor,
)  # fmt: skip
from celadon.vocabulary.scan import scan
from celadon.vocabulary.scatter import scatter, scatter_apply
from celadon.vocabulary.shape import broadcast_in_dim, concatenate, iota, pad, reshape, reverse, slice_, transpose
from celadon.vocabulary.stop_gradient import stop_gradient
from celadon.vocabulary.window import cumlogsumexp, cummax, cummin, cumprod, cumsum, reduce_window

__all__ = [
    "argmax", "argmin", "broadcast_in_dim", "call", "concatenate", "cond", "convolution", "cumlogsumexp", "cummax", "cummin",
    "cumprod", "cumsum", "debug_callback", "dot_general", "dynamic_slice", "dynamic_update_slice", "execute", "gather",
    "io_callback", "iota", "named", "optimization_barrier", "pad", "pure_callback", "reduce_and", "reduce_max", "reduce_min",
    "reduce_or", "reduce_prod", "reduce_sum", "reduce_window", "reduce_window_max", "reduce_window_min",
    "reduce_xor", "reshape", "reverse", "scan", "scatter", "scatter_apply", "select_and_gather_add", "select_and_scatter",
    "slice_", "sort", "stop_gradient", "top_k", "transpose", "while_loop",
]  # fmt: skip
__all__ += elementwise.__all__
