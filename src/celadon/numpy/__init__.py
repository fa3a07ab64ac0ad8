"""The array functions under JAX's names (jax.numpy); see promotion.py for how operands meet, methods.py for operators."""

from celadon.facade import facade

_HOMES = {
    "comparison": (
        "allclose array_equal array_equiv bitwise_count bitwise_invert bitwise_left_shift bitwise_not "
        "bitwise_right_shift equal greater greater_equal invert isclose iscomplex isfinite isinf isnan isneginf "
        "isposinf isreal left_shift less less_equal logical_not not_equal right_shift signbit"
    ),
    "constants": (
        "ComplexWarning bool cdouble character complex_ complexfloating csingle double dtype e euler_gamma flexible "
        "float_ floating generic get_printoptions index_exp inexact inf int_ integer nan ndarray newaxis number "
        "object_ pi printoptions s_ save savez set_printoptions signedinteger single uint unsignedinteger"
    ),
    "contractions": (
        "convolve correlate cross dot inner kron matmul matvec outer tensordot trace vander vdot vecdot vecmat"
    ),
    "creation": (
        "array asarray astype copy empty empty_like eye from_dlpack frombuffer fromfunction fromstring full full_like "
        "identity ones ones_like tri zeros zeros_like"
    ),
    "cumulative": (
        "cumprod cumsum cumulative_prod cumulative_sum diff ediff1d gradient nancumprod nancumsum trapezoid unwrap"
    ),
    "division": "copysign divmod floor_divide fmod frexp gcd lcm ldexp mod modf remainder spacing",
    "dtypes": (
        "bfloat16 bool_ can_cast complex128 complex64 finfo float16 float32 float64 iinfo int16 int32 int64 int8 "
        "iscomplexobj isdtype isrealobj issubdtype promote_types result_type uint16 uint32 uint64 uint8"
    ),
    "elementwise": (
        "abs absolute angle cbrt conj conjugate divide fabs imag nextafter positive real reciprocal sign sqrt square "
        "true_divide"
    ),
    "joining": (
        "append array_split block column_stack concat concatenate dsplit dstack flip fliplr flipud hsplit hstack "
        "repeat resize roll rot90 split stack tile unstack vsplit vstack"
    ),
    "nanreductions": "nanargmax nanargmin nanmax nanmean nanmin nanprod nanstd nansum nanvar",
    "ordering": "argpartition argsort bincount digitize isin lexsort partition searchsorted sort sort_complex",
    "padding": "pad",
    "placing": "fill_diagonal place put put_along_axis",
    "positions": "argwhere flatnonzero nonzero",
    "powers": "float_power pow power",
    "ranges": (
        "arange diag_indices diag_indices_from geomspace indices linspace logspace meshgrid mgrid ogrid tril_indices "
        "tril_indices_from triu_indices triu_indices_from"
    ),
    "reductions": "all amax amin any argmax argmin count_nonzero max mean min prod ptp sum",
    "rounding": "around ceil floor hypot rint round sinc trunc",
    "selection": "choose clip fmax fmin heaviside nan_to_num piecewise select where",
    "sets": "intersect1d setdiff1d setxor1d union1d unique unique_all unique_counts unique_inverse unique_values",
    "shapes": (
        "atleast_1d atleast_2d atleast_3d broadcast_arrays broadcast_shapes broadcast_to expand_dims isscalar "
        "iterable matrix_transpose moveaxis ndim permute_dims ravel reshape rollaxis shape size squeeze swapaxes "
        "transpose"
    ),
    "statistics": "average median nanmedian nanpercentile nanquantile percentile quantile std var",
    "subscripts": "einsum einsum_path",
    "taking": (
        "compress delete diag diagflat diagonal extract insert ix_ ravel_multi_index take take_along_axis tril triu "
        "unravel_index"
    ),
    "transcendentals": (
        "acos acosh arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin asinh atan atan2 atanh cos cosh deg2rad "
        "degrees exp exp2 expm1 log log10 log1p log2 rad2deg radians sin sinh tan tanh"
    ),
    "universal": (
        "add bitwise_and bitwise_or bitwise_xor logaddexp logaddexp2 logical_and logical_or logical_xor maximum "
        "minimum multiply negative subtract"
    ),
}

__all__, __getattr__, __dir__ = facade(__name__, _HOMES)
__all__ += ["fft", "linalg"]
