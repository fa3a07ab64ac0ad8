"""Convolutions against real JAX: layouts, strides, padding, dilation, groups, dtypes; and the functions about their shapes."""

from __future__ import annotations

import warnings

import jax
import ml_dtypes
import numpy as np
import pytest

import celadon
from celadon import errors, lax
from tests.numpy.oracle import agree, sample

X, KERNEL = sample("float32", (2, 3, 8, 9)), sample("float32", (4, 3, 3, 2), seed=1)
LINE, LINE_KERNEL = sample("float32", (2, 4, 11)), sample("float32", (6, 4, 3), seed=1)
CUBE, CUBE_KERNEL = sample("float32", (2, 2, 4, 5, 6)), sample("float32", (3, 2, 2, 3, 2), seed=1)


def convolved(*args, **options) -> None:
    agree("conv_general_dilated", *args, library="lax", **options)


@pytest.mark.parametrize("padding", ["SAME", "VALID", "same_lower", [(0, 0), (2, 1)], [(-1, 2), (0, -3)], [(5, 5), (0, 9)]])
@pytest.mark.parametrize("strides", [(1, 1), (2, 1), (3, 4)])
def test_padding_and_strides(padding, strides) -> None:
    convolved(X, KERNEL, strides, padding)


@pytest.mark.parametrize("dilations", [((1, 2), None), (None, (2, 1)), ((3, 2), (2, 3))])
def test_dilations(dilations) -> None:
    convolved(X, KERNEL, (1, 2), [(1, 1), (0, 2)], *dilations)


@pytest.mark.parametrize(
    "layout", [("NCHW", "OIHW", "NCHW"), ("NHWC", "HWIO", "NHWC"), ("NHWC", "OIHW", "NCHW"), ("CNWH", "IWHO", "WHNC"), None]
)
def test_layouts(layout) -> None:
    order = {"N": 2, "C": 3, "H": 8, "W": 9} if layout else None
    kernel_order = {"O": 4, "I": 3, "H": 3, "W": 2}
    x = sample("float32", tuple(order[k] for k in layout[0])) if order else X
    kernel = sample("float32", tuple(kernel_order[k] for k in layout[1]), seed=1) if order else KERNEL
    convolved(x, kernel, (2, 1), "SAME", dimension_numbers=layout)


def test_ranks() -> None:
    convolved(LINE, LINE_KERNEL, (2,), "SAME")
    convolved(CUBE, CUBE_KERNEL, (1, 2, 1), "VALID")
    convolved(X[:, :, 0, 0], KERNEL[:, :, 0, 0], (), "VALID")


@pytest.mark.parametrize("layout", [("NCH", "OIH", "NCH"), ("NHC", "HIO", "NHC")])
def test_groups(layout) -> None:
    turned = layout[0] == "NHC"
    for features, groups in ((6, 2), (4, 4), (8, 4)):
        kernel = sample("float32", (features, 4 // groups, 3), seed=2)
        x, kernel = (LINE.transpose(0, 2, 1), kernel.transpose(2, 1, 0)) if turned else (LINE, kernel)
        convolved(x, kernel, (1,), "SAME", feature_group_count=groups, dimension_numbers=layout)
    x, kernel = (LINE.transpose(0, 2, 1), LINE_KERNEL.transpose(2, 1, 0)) if turned else (LINE, LINE_KERNEL)
    convolved(x, kernel, (1,), "VALID", batch_group_count=2, dimension_numbers=layout)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int32", "bfloat16", "float16", "complex64"])
def test_dtypes(dtype) -> None:
    x, kernel = sample(dtype, (2, 3, 6)), sample(dtype, (4, 3, 2), seed=1)
    convolved(x, kernel, (1,), "SAME")
    if dtype in ("int8", "bfloat16"):
        convolved(x, kernel, (1,), "SAME", preferred_element_type="int32" if dtype == "int8" else "float32")


def test_empty_ones() -> None:
    convolved(X[:0], KERNEL, (1, 1), "SAME")
    convolved(X[:, :0], KERNEL[:, :0], (1, 1), "SAME")
    convolved(X, KERNEL[:0], (1, 1), "SAME")
    convolved(X[:, :, :2], KERNEL, (1, 1), "VALID")
    convolved(X[:, :, :0], KERNEL, (1, 1), "SAME")


def test_other_forms() -> None:
    agree("conv", X, KERNEL, (1, 2), "SAME", library="lax")
    agree("conv_with_general_padding", X, KERNEL, (1, 1), [(1, 1), (2, 0)], (1, 1), (2, 2), library="lax")
    agree("conv_with_general_padding", X, KERNEL, (1, 1), "VALID", None, None, library="lax")


@pytest.mark.parametrize("padding", ["SAME", "VALID", [(1, 0), (2, 2)]])
@pytest.mark.parametrize("strides", [(1, 1), (2, 3)])
def test_transposed(padding, strides) -> None:
    x, kernel = sample("float32", (2, 5, 6, 3)), sample("float32", (3, 2, 3, 4), seed=1)
    agree("conv_transpose", x, kernel, strides, padding, library="lax")
    agree("conv_transpose", x, kernel, strides, padding, (2, 1), library="lax", use_consistent_padding=True)
    turned = kernel.transpose(0, 1, 3, 2)
    agree("conv_transpose", x, turned, strides, padding, library="lax", transpose_kernel=True)
    agree("conv_transpose", x[:, 0], kernel[0], strides[:1], padding[:1] if isinstance(padding, list) else padding, library="lax")


def test_patches_and_local_kernels() -> None:
    agree("conv_general_dilated_patches", X, (3, 2), (1, 2), "SAME", library="lax")
    layout = ("NHWC", "HWIO", "NHWC")
    turned = X.transpose(0, 2, 3, 1)
    agree("conv_general_dilated_patches", turned, (2, 2), (2, 1), [(1, 0), (0, 0)], library="lax", dimension_numbers=layout)
    kernels = sample("float32", (4, 18, 6, 8), seed=1)
    agree("conv_general_dilated_local", X, kernels, (1, 1), "VALID", (3, 2), library="lax")
    kernels = sample("float32", (6, 8, 18, 4), seed=1)
    agree("conv_general_dilated_local", turned, kernels, (1, 1), "VALID", (3, 2), library="lax", dimension_numbers=layout)


SHAPES = [
    ("padtype_to_pads", ((8, 9), (3, 2), (2, 1), "SAME")),
    ("padtype_to_pads", ((8, 9), (3, 2), (2, 1), "same_lower")),
    ("padtype_to_pads", ((8, 9), (3, 2), (2, 1), "VALID")),
    ("conv_dimension_numbers", ((1, 2, 3, 4), (1, 2, 3, 4), None)),
    ("conv_dimension_numbers", ((1, 2, 3, 4), (1, 2, 3, 4), ("NHWC", "WHIO", "NHWC"))),
    ("conv_general_permutations", (("NHWC", "HWIO", "NCHW"),)),
    ("conv_shape_tuple", ((2, 3, 8, 9), (4, 3, 3, 2), (1, 2), [(0, 0), (1, 2)])),
    ("conv_general_shape_tuple", ((2, 8, 9, 3), (3, 2, 3, 4), (1, 2), "SAME", ("NHWC", "HWIO", "NCHW"))),
    ("conv_transpose_shape_tuple", ((2, 8, 9, 3), (3, 2, 3, 4), (2, 3), "SAME", ("NHWC", "HWIO", "NHWC"))),
    ("conv_transpose_shape_tuple", ((2, 8, 9, 3), (3, 2, 3, 4), (2, 3), "VALID", ("NHWC", "HWIO", "NHWC"))),
]


@pytest.mark.parametrize(("name", "args"), SHAPES)
def test_shapes(name, args) -> None:
    found, expected = getattr(lax, name)(*args), getattr(jax.lax, name)(*args)
    assert found == expected
    assert type(found).__name__ == type(expected).__name__


WRONG = [
    (X, KERNEL[:, :2], (1, 1), "SAME"),
    (X, KERNEL.astype(np.float16), (1, 1), "SAME"),
    (X, KERNEL[0], (1, 1), "SAME"),
    (X, KERNEL, (1,), "SAME"),
    (X, KERNEL, (0, 1), "VALID"),
    (X, KERNEL, (1, 1), "SAME", (2, 2)),
    (X, KERNEL, (1, 1), [(0, 0)]),
    (X, KERNEL, (1, 1), [(-9, 0), (0, 0)]),
    (X, KERNEL, (1, 1), "VALID", None, None, ("NHWC", "HWIO", "NHHC")),
    (X, KERNEL, (1, 1), "VALID", None, None, ("NHWC", "HWIO", "NHW")),
    (X, KERNEL, (1, 1), "VALID", None, None, None, 2),
    (X, KERNEL, (1, 1), "VALID", None, None, None, 0),
    (X, KERNEL, (1, 1), "VALID", None, None, None, 1, 3),
    (X, KERNEL, (1, 1), "VALID", None, None, None, 3, 2),
    (X, KERNEL, (1, 1), "VALID", None, None, None, 1, 1, None, "float16"),
    (X, KERNEL, (1, 1), "VALID", None, None, None, 1, 1, None, "int32"),
]


@pytest.mark.parametrize("args", WRONG, ids=range(len(WRONG)))
def test_what_jax_refuses_is_refused(args) -> None:
    with pytest.raises((TypeError, ValueError)), np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
        jax.lax.conv_general_dilated(*args)
    with pytest.raises(errors.CeladonError):
        lax.conv_general_dilated(*args)


def test_unknown_padding() -> None:
    with pytest.raises(errors.WindowNotPositive):
        lax.conv(X, KERNEL, (0, 1), "SAME")
    with pytest.raises(errors.OptionUnknown, match="SAME_LOWER"):
        lax.conv(X, KERNEL, (1, 1), "FULL")
    with pytest.raises(errors.OptionUnknown, match="conv_transpose"):
        lax.conv_transpose(X, KERNEL, (1, 1), "FULL", use_consistent_padding=True)


def test_under_jit() -> None:
    for x, kernel, strides in ((X, KERNEL, (1, 2)), (X.astype(ml_dtypes.bfloat16), KERNEL.astype(ml_dtypes.bfloat16), (2, 1))):
        traced = celadon.jit(lambda x, k, s=strides: lax.conv(x, k, s, "SAME"))
        assert np.array_equal(traced(x, kernel), lax.conv(x, kernel, strides, "SAME"))
