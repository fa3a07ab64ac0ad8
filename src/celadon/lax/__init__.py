"""jax.lax's functions that need no transform: the dictionary from JAX's names to the ops of the vocabulary."""

from celadon.facade import facade

_HOMES = {
    "barriers": "optimization_barrier stop_gradient",
    "branches": "cond platform_dependent switch",
    "loops": "fori_loop map scan while_loop",
    "solvers": "associative_scan custom_linear_solve custom_root",
    "convolutions": (
        "ConvDimensionNumbers ConvGeneralDilatedDimensionNumbers conv conv_dimension_numbers conv_general_dilated "
        "conv_general_dilated_local conv_general_dilated_patches conv_general_permutations conv_general_shape_tuple "
        "conv_shape_tuple conv_transpose conv_transpose_shape_tuple conv_with_general_padding padtype_to_pads"
    ),
    "elementwise": (
        "RoundingMethod abs acos acosh add asin asinh atan atan2 atanh bessel_i0e bessel_i1e bitcast_convert_type bitwise_and "
        "bitwise_not bitwise_or bitwise_xor cbrt ceil clamp clz complex conj convert_element_type cos cosh digamma "
        "div eq erf erf_inv erfc exp exp2 expm1 floor ge gt imag integer_pow is_finite le lgamma log log1p logistic "
        "lt max min mul mulhi ne neg nextafter polygamma population_count pow real reciprocal reduce_precision rem "
        "round rsqrt select select_n shift_left shift_right_arithmetic shift_right_logical sign sin sinh sqrt square "
        "sub tan tanh zeta"
    ),
    "parallel": (
        "all_gather all_to_all axis_index axis_size pmax pmean pmin ppermute "
        "pshuffle psum psum_scatter pswapaxes"
    ),
    "fourier": "FftType fft",
    "reductions": (
        "DotDimensionNumbers Precision PrecisionLike argmax argmin batch_matmul cumlogsumexp cummax cummin cumprod "
        "cumsum dot dot_general dtype reduce_and reduce_max reduce_min reduce_or reduce_prod reduce_sum reduce_xor"
    ),
    "indexing": (
        "GatherDimensionNumbers GatherScatterMode dynamic_index_in_dim dynamic_slice dynamic_slice_in_dim "
        "dynamic_update_index_in_dim dynamic_update_slice dynamic_update_slice_in_dim gather index_take"
    ),
    "scattering": (
        "ScatterDimensionNumbers scatter scatter_add scatter_apply scatter_max scatter_min scatter_mul scatter_sub"
    ),
    "structure": (
        "broadcast broadcast_in_dim broadcast_like broadcast_shapes broadcast_to_rank broadcasted_iota collapse "
        "concatenate empty expand_dims full full_like index_in_dim iota pad reshape rev slice slice_in_dim sort "
        "sort_key_val split squeeze stack tile top_k transpose unstack"
    ),
    "windows": "reduce reduce_window reduce_window_shape_tuple",
}

__all__, __getattr__, __dir__ = facade(__name__, _HOMES)
__all__ += ["linalg"]
