"""jax.lax's convolutions under JAX's names: layouts by letters, padding by words, and patches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from celadon import errors, vocabulary as ops
from celadon.numpy.contractions import precision_pair
from celadon.numpy.dtypes import requested
from celadon.numpy.promotion import array
from celadon.numpy.shapes import moveaxis, swapaxes
from celadon.program import literal
from celadon.types import DType, Shape, kind
from celadon.vocabulary.convolution import extents_of, outputs
from celadon.vocabulary.kinds import real_dtype

Pads = list[tuple[int, int]]


class ConvDimensionNumbers(NamedTuple):
    """The axes of a convolution's operands and result: batch, feature, spatial ones (of the kernel: out, in, spatial)."""

    lhs_spec: tuple[int, ...]
    rhs_spec: tuple[int, ...]
    out_spec: tuple[int, ...]


ConvGeneralDilatedDimensionNumbers = None | ConvDimensionNumbers | tuple[str, str, str]


def conv_dimension_numbers(lhs_shape: Any, rhs_shape: Any, dimension_numbers: Any) -> ConvDimensionNumbers:
    """The axes that three words of letters mean: N C and spatial letters for array and result, O I and the same for the kernel.

    >>> conv_dimension_numbers((1, 8, 8, 3), (3, 3, 3, 4), ("NHWC", "HWIO", "NHWC"))
    ConvDimensionNumbers(lhs_spec=(0, 3, 1, 2), rhs_spec=(3, 2, 0, 1), out_spec=(0, 3, 1, 2))
    """
    if isinstance(dimension_numbers, ConvDimensionNumbers):
        return dimension_numbers
    ndim = len(lhs_shape)
    if len(rhs_shape) != ndim:
        raise errors.ConvolutionMismatch(rule=f"shapes {lhs_shape} and {rhs_shape} need equally many axes")
    if dimension_numbers is None:
        axes = tuple(range(ndim))
        return ConvDimensionNumbers(axes, axes, axes)
    words = tuple(dimension_numbers)
    if len(words) != 3 or any(len(word) != ndim or len(set(word)) != ndim for word in words):
        raise errors.ConvolutionMismatch(rule=f"{words} must be three words of {ndim} different letters")
    return ConvDimensionNumbers(*conv_general_permutations(words))


def conv_general_permutations(dimension_numbers: Any) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """The axes that three words of letters mean, as plain tuples.

    >>> conv_general_permutations(("NHC", "HIO", "NHC"))
    ((0, 2, 1), (2, 1, 0), (0, 2, 1))
    """
    lhs, rhs, out = dimension_numbers
    spatial = [letter for letter in rhs if letter not in "OI"]
    if any(sorted(word) != sorted([*ends, *spatial]) for word, ends in ((lhs, "NC"), (rhs, "OI"), (out, "NC"))):
        raise errors.ConvolutionMismatch(rule=f"{(lhs, rhs, out)} must share spatial letters beside N C, O I and N C")
    return cast(
        Any, tuple(tuple(word.index(x) for x in (*ends, *spatial)) for word, ends in ((lhs, "NC"), (rhs, "OI"), (out, "NC")))
    )


def padtype_to_pads(in_shape: Any, window_shape: Any, window_strides: Any, padding: Any) -> Pads:
    """Low and high padding of each axis for "VALID" (none), "SAME" (as many windows as strides) or "SAME_LOWER".

    >>> padtype_to_pads((8,), (3,), (2,), "SAME")
    [(0, 1)]
    """
    word = str(getattr(padding, "name", padding)).upper()
    if word not in ("VALID", "SAME", "SAME_LOWER"):
        raise errors.OptionUnknown(
            function="a window", argument="padding", value=padding, allowed="'VALID', 'SAME', 'SAME_LOWER' or pairs of numbers"
        )
    if min(window_strides, default=1) < 1:
        raise errors.WindowNotPositive(param="window_strides", values=tuple(window_strides))
    sizes = list(zip(in_shape, window_shape, window_strides, strict=True))
    if word == "VALID":
        return [(0, 0)] * len(sizes)
    totals = [max((-(-n // stride) - 1) * stride + window - n, 0) for n, window, stride in sizes]
    return [(t // 2, t - t // 2) if word == "SAME" else (t - t // 2, t // 2) for t in totals]


def dilated(extents: Sequence[int], dilation: Sequence[int]) -> list[int]:
    """Extents of which the elements are taken to lie further apart."""
    return [(n - 1) * d + 1 if n else 0 for n, d in zip(extents, dilation, strict=True)]


def _pads(lhs: Shape, rhs: Shape, numbers: ConvDimensionNumbers, padding: Any, steps: Any) -> tuple[tuple[int, int], ...]:
    strides, lhs_dilation, rhs_dilation = steps
    rank = len(lhs) - 2
    if not isinstance(padding, str) and not hasattr(padding, "name"):
        given = tuple((int(low), int(high)) for low, high in padding)
        if len(given) != rank:
            raise errors.ConvolutionMismatch(rule=f"padding {given} must have a pair for each of {rank} spatial axes")
        return given
    if any(d != 1 for d in lhs_dilation):
        raise errors.ConvolutionMismatch(rule=f"padding {padding!r} has no meaning with lhs_dilation; use conv_transpose")
    found = extents_of(lhs, rhs, numbers)
    return tuple(padtype_to_pads(found.array, dilated(found.kernel, rhs_dilation), strides, padding))


def conv_general_dilated(
    lhs: Any, rhs: Any, window_strides: Sequence[int], padding: Any, lhs_dilation: Any = None, rhs_dilation: Any = None,
    dimension_numbers: Any = None, feature_group_count: int = 1, batch_group_count: int = 1, precision: Any = None,
    preferred_element_type: Any = None, out_sharding: Any = None,
) -> Any:  # fmt: skip
    """The convolution of an array of images with a kernel (a correlation: the kernel is not turned round).

    Args: lhs: batch, features and spatial axes; rhs: output and input features and the same spatial axes; window_strides:
    how far the kernel moves along each spatial axis; padding: a word of padtype_to_pads, or (low, high) for each; dilations:
    how far apart elements are taken to lie; dimension_numbers: the layout as three words, by default ("NCHW", "OIHW",
    "NCHW"); group counts: features or batches are convolved apart. Raises ConvolutionMismatch, OperandDTypesDiffer.

    >>> conv_general_dilated(np.ones((1, 1, 3), "float32"), np.ones((1, 1, 2), "float32"), (1,), "SAME")
    Array([[[2., 2., 1.]]], dtype=float32)
    """
    x, kernel = array(lhs, "lax.conv_general_dilated"), array(rhs, "lax.conv_general_dilated")
    numbers = conv_dimension_numbers(x.type.shape, kernel.type.shape, dimension_numbers)
    ones = (1,) * (x.type.ndim - 2)
    steps = [tuple(map(int, s or ones)) for s in (window_strides, lhs_dilation, rhs_dilation)]
    if any(len(s) != len(ones) for s in steps):
        raise errors.ConvolutionMismatch(rule=f"strides and dilations {steps} must have {len(ones)} entries")
    params = {
        "window_strides": steps[0], "padding": _pads(x.type.shape, kernel.type.shape, numbers, padding, steps),
        "lhs_dilation": steps[1], "rhs_dilation": steps[2], "dimension_numbers": tuple(map(tuple, numbers)),
        "feature_group_count": int(feature_group_count), "batch_group_count": int(batch_group_count),
        "precision": precision_pair(precision),
    }  # fmt: skip
    return _convolved(x, kernel, _preferred(preferred_element_type, x.type.dtype), params)


def _preferred(wanted: Any, dtype: DType) -> DType | None:
    if wanted is None:
        return None
    found = requested(wanted)
    families = [{"i": "i", "u": "i"}.get(kind(d), kind(d)) for d in (found, dtype)]
    if families[0] != families[1] or found.itemsize < dtype.itemsize:
        raise errors.DTypeNotAccepted(
            function="lax.conv_general_dilated", dtype=found, accepted=f"a preferred type of {dtype}'s kind, not narrower"
        )
    return found


def _convolved(x: Any, kernel: Any, wanted: DType | None, params: dict[str, Any]) -> Any:
    """Complex numbers by three convolutions of real ones."""
    if kind(x.type.dtype) != "c" or kernel.type.dtype != x.type.dtype:
        return ops.convolution(x, kernel, **params, preferred_element_type=wanted)
    part = None if wanted is None else real_dtype(wanted)
    a, b, c, d = ops.real(x), ops.imag(x), ops.real(kernel), ops.imag(kernel)

    def convolved(left: Any, right: Any) -> Any:
        return ops.convolution(left, right, **params, preferred_element_type=part)

    first = convolved(ops.add(a, b), c)
    second = convolved(a, ops.subtract(d, c))
    third = convolved(b, ops.add(c, d))
    return ops.complex_(ops.subtract(first, third), ops.add(first, second))


def conv(
    lhs: Any, rhs: Any, window_strides: Sequence[int], padding: str, precision: Any = None, preferred_element_type: Any = None
) -> Any:
    """conv_general_dilated in the default layout, without dilation or groups.

    >>> conv(np.ones((1, 1, 3), "float32"), np.ones((1, 1, 2), "float32"), (1,), "VALID")
    Array([[[2., 2.]]], dtype=float32)
    """
    return conv_general_dilated(
        lhs, rhs, window_strides, padding, precision=precision, preferred_element_type=preferred_element_type
    )


def conv_with_general_padding(
    lhs: Any, rhs: Any, window_strides: Sequence[int], padding: Any, lhs_dilation: Any, rhs_dilation: Any,
    precision: Any = None, preferred_element_type: Any = None,
) -> Any:  # fmt: skip
    """conv_general_dilated in the default layout, without groups.

    >>> conv_with_general_padding(np.ones((1, 1, 3), "float32"), np.ones((1, 1, 2), "float32"), (1,), [(1, 0)], None, None)
    Array([[[1., 2., 2.]]], dtype=float32)
    """
    return conv_general_dilated(
        lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation, precision=precision,
        preferred_element_type=preferred_element_type,
    )  # fmt: skip


_LAYOUTS = {
    2: ("NC", "IO", "NC"), 3: ("NHC", "HIO", "NHC"), 4: ("NHWC", "HWIO", "NHWC"), 5: ("NHWDC", "HWDIO", "NHWDC"),
}  # fmt: skip


def conv_transpose(
    lhs: Any, rhs: Any, strides: Sequence[int], padding: Any, rhs_dilation: Any = None, dimension_numbers: Any = None,
    transpose_kernel: bool = False, precision: Any = None, preferred_element_type: Any = None,
    use_consistent_padding: bool = False,
) -> Any:  # fmt: skip
    """The convolution that undoes the shape of another one: the array is spread out by the strides.

    Args: strides, padding: of the other one (pairs of numbers are this one's own, unless use_consistent_padding);
    dimension_numbers: by default channels last, e.g. ("NHWC", "HWIO", "NHWC"); transpose_kernel: rhs is the other one's, so
    it is turned round and its features are exchanged; the rest as for conv_general_dilated.

    >>> conv_transpose(np.ones((1, 2, 1), "float32"), np.ones((2, 1, 1), "float32"), (2,), "SAME").ravel()
    Array([1., 1., 1., 1.], dtype=float32)
    """
    x, kernel = array(lhs, "lax.conv_transpose"), array(rhs, "lax.conv_transpose")
    if dimension_numbers is None:
        dimension_numbers = _LAYOUTS.get(x.type.ndim)
        if dimension_numbers is None:
            raise errors.ConvolutionMismatch(rule=f"an array of {x.type.ndim} axes has no default layout")
    numbers = conv_dimension_numbers(x.type.shape, kernel.type.shape, dimension_numbers)
    extents = [kernel.type.shape[i] for i in numbers.rhs_spec[2:]]
    dilation = rhs_dilation or (1,) * len(extents)
    if use_consistent_padding or padding in ("SAME", "VALID"):
        each = [padding] * len(strides) if isinstance(padding, str) else padding
        sizes = zip(dilated(extents, dilation), strides, each, strict=True)
        padding = [_transposed_pads(k, s, p) for k, s, p in sizes]
    if transpose_kernel:
        for axis in numbers.rhs_spec[2:]:
            kernel = ops.reverse(kernel, dimensions=(axis,))
        kernel = swapaxes(kernel, numbers.rhs_spec[0], numbers.rhs_spec[1])
    return conv_general_dilated(
        x, kernel, (1,) * len(extents), padding, strides, dilation, numbers, precision=precision,
        preferred_element_type=preferred_element_type,
    )  # fmt: skip


def _transposed_pads(window: int, stride: int, padding: Any) -> tuple[int, int]:
    """The padding with which a convolution of the spread-out array undoes one with the given padding."""
    if padding == "SAME":
        total = window + stride - 2
        low = window - 1 if stride > window - 1 else -(-total // 2)
        return low, total - low
    if padding == "VALID":
        return window - 1, window + stride - 2 + max(window - stride, 0) - (window - 1)
    if not isinstance(padding, tuple | list):
        raise errors.OptionUnknown(
            function="lax.conv_transpose", argument="padding", value=padding, allowed="'SAME', 'VALID' or pairs of numbers"
        )
    low, high = padding
    return window - low - 1, window - high - 1


def conv_general_dilated_patches(
    lhs: Any, filter_shape: Sequence[int], window_strides: Sequence[int], padding: Any, lhs_dilation: Any = None,
    rhs_dilation: Any = None, dimension_numbers: Any = None, precision: Any = None, preferred_element_type: Any = None,
) -> Any:  # fmt: skip
    """The windows that a convolution would read: its features are those of lhs, each with all places of the window.

    Args: filter_shape: the window's spatial extents; the rest as for conv_general_dilated.

    >>> conv_general_dilated_patches(np.float32([[[1, 2, 3]]]), (2,), (1,), "VALID")
    Array([[[1., 2.],
            [2., 3.]]], dtype=float32)
    """
    x, window = array(lhs, "lax.conv_general_dilated_patches"), tuple(filter_shape)
    numbers = conv_dimension_numbers(x.type.shape, (1, 1, *window), dimension_numbers)
    places, features = math.prod(window), x.type.shape[numbers.lhs_spec[1]]
    rows = ops.broadcast_in_dim(_identity(places, x.type.dtype), shape=(features, places, places), broadcast_dimensions=(1, 2))
    kernel = moveaxis(ops.reshape(rows, shape=(features * places, 1, *window)), (0, 1), numbers.rhs_spec[:2])
    return conv_general_dilated(
        x, kernel, window_strides, padding, lhs_dilation, rhs_dilation, numbers, feature_group_count=features,
        precision=None if precision is None else (precision, "default"), preferred_element_type=preferred_element_type,
    )  # fmt: skip


def _identity(extent: int, dtype: DType) -> Any:
    index, shape = np.dtype(np.int32), (extent, extent)
    rows = ops.add(ops.iota(shape=shape, dtype=index, dimension=0), literal(0, index))
    columns = ops.iota(shape=shape, dtype=index, dimension=1)
    return ops.convert(ops.compare(rows, columns, direction="EQ"), new_dtype=dtype)


def conv_general_dilated_local(
    lhs: Any, rhs: Any, window_strides: Sequence[int], padding: Any, filter_shape: Sequence[int], lhs_dilation: Any = None,
    rhs_dilation: Any = None, dimension_numbers: Any = None, precision: Any = None,
) -> Any:  # fmt: skip
    """A convolution with a kernel of its own at each place: rhs has one for each spatial place of the result.

    Args: rhs: output features, input features times the window's places, and the result's spatial axes; filter_shape: the
    window's spatial extents; the rest as for conv_general_dilated.

    >>> conv_general_dilated_local(np.ones((1, 1, 3), "float32"), np.float32([[[1, 2], [3, 4]]]), (1,), "VALID", (2,))
    Array([[[4., 6.]]], dtype=float32)
    """
    x, kernels = array(lhs, "lax.conv_general_dilated_local"), array(rhs, "lax.conv_general_dilated_local")
    pair = precision_pair(precision)
    patches = conv_general_dilated_patches(
        x, filter_shape, window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers,
        None if pair is None else pair[0],
    )  # fmt: skip
    numbers = conv_dimension_numbers(x.type.shape, (1, 1, *filter_shape), dimension_numbers)
    spatial = sorted(zip(numbers.out_spec[2:], numbers.rhs_spec[2:], strict=True))
    batch = tuple(i for i, _ in spatial), tuple(j for _, j in spatial)
    contract = (numbers.out_spec[1],), (numbers.rhs_spec[1],)
    found = ops.dot_general(patches, kernels, dimension_numbers=(contract, batch), precision=pair, preferred_element_type=None)
    return moveaxis(found, (-2, -1), numbers.out_spec[:2])


def conv_shape_tuple(lhs_shape: Any, rhs_shape: Any, strides: Any, pads: Any, batch_group_count: int = 1) -> tuple[int, ...]:
    """The shape of a convolution in the default layout.

    >>> conv_shape_tuple((2, 3, 8), (4, 3, 3), (1,), [(0, 0)])
    (2, 4, 6)
    """
    ones = (1,) * len(strides)
    axes = tuple(range(len(lhs_shape)))
    found = extents_of(tuple(lhs_shape), tuple(rhs_shape), (axes, axes, axes))
    pads = padtype_to_pads(found.array, found.kernel, strides, pads) if isinstance(pads, str) else pads
    params = {"window_strides": strides, "padding": pads, "lhs_dilation": ones, "rhs_dilation": ones}
    return (found.batch // batch_group_count, found.features_out, *outputs(found, params))


def conv_general_shape_tuple(
    lhs_shape: Any, rhs_shape: Any, window_strides: Any, padding: Any, dimension_numbers: Any
) -> tuple[int, ...]:
    """The shape of a convolution in a layout.

    >>> conv_general_shape_tuple((2, 8, 3), (3, 3, 4), (1,), "SAME", ("NHC", "HIO", "NHC"))
    (2, 8, 4)
    """
    lhs, rhs, out = conv_general_permutations(dimension_numbers)
    found = conv_shape_tuple([lhs_shape[i] for i in lhs], [rhs_shape[i] for i in rhs], window_strides, padding)
    return tuple(found[out.index(i)] for i in range(len(out)))


def conv_transpose_shape_tuple(
    lhs_shape: Any, rhs_shape: Any, window_strides: Any, padding: Any, dimension_numbers: Any
) -> tuple[int, ...]:
    """The shape of conv_transpose in a layout.

    >>> conv_transpose_shape_tuple((2, 8, 3), (3, 3, 4), (2,), "SAME", ("NHC", "HIO", "NHC"))
    (2, 16, 4)
    """
    lhs, rhs, out = conv_general_permutations(dimension_numbers)
    x, kernel = [lhs_shape[i] for i in lhs], [rhs_shape[i] for i in rhs]
    each = [padding] * len(window_strides) if isinstance(padding, str) else padding
    pads = [_transposed_pads(k, s, p) for k, s, p in zip(kernel[2:], window_strides, each, strict=True)]
    spread = [n * s - s + 1 for n, s in zip(x[2:], window_strides, strict=True)]
    found = conv_shape_tuple([*x[:2], *spread], kernel, (1,) * len(spread), pads)
    return tuple(found[out.index(i)] for i in range(len(out)))
