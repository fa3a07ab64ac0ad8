"""Rules of products of matrices, convolutions, Fourier transforms and triangular systems."""

from __future__ import annotations

from typing import Any

from celadon.op import registry as op
from celadon.types import float32
from celadon.vocabulary.fft import fft as transform
from celadon.vocabulary.linalg import cholesky as factor, triangular_solve as solve
from tests.stablehlo.reader import Site, integers, rule, type_of


@rule("stablehlo.dot_general")
def dot_general(site: Site, x: Any, y: Any) -> Any:
    from jaxlib.mlir.dialects import stablehlo

    dims = stablehlo.DotDimensionNumbers(site.attribute("dot_dimension_numbers"))
    contract = tuple(dims.lhs_contracting_dimensions), tuple(dims.rhs_contracting_dimensions)
    batch = tuple(dims.lhs_batching_dimensions), tuple(dims.rhs_batching_dimensions)
    return _product(site, x, y, (contract, batch))


@rule("stablehlo.dot")
def dot(site: Site, x: Any, y: Any) -> Any:
    return _product(site, x, y, (((type_of(x).ndim - 1,), (0,)), ((), ())))


def _product(site: Site, x: Any, y: Any, numbers: Any) -> Any:
    dtype = site.dtype()
    x, y = _alike(x, y, dtype)
    return op["dot_general"](x, y, dimension_numbers=numbers, preferred_element_type=dtype)


def _alike(x: Any, y: Any, dtype: Any) -> tuple[Any, Any]:
    """Operands of two dtypes are converted to the result's."""
    if type_of(x).dtype == type_of(y).dtype:
        return x, y
    return op["convert"](x, new_dtype=dtype), op["convert"](y, new_dtype=dtype)


@rule("stablehlo.convolution")
def convolution(site: Site, lhs: Any, rhs: Any) -> Any:
    return _convolved(site, lhs, rhs, site.pairs("padding", type_of(lhs).ndim - 2))


@rule("stablehlo.dynamic_conv")
def dynamic_conv(site: Site, lhs: Any, rhs: Any, padding: Any) -> Any:
    found = integers(padding)
    return _convolved(site, lhs, rhs, tuple(zip(found[::2], found[1::2], strict=True)))


def _convolved(site: Site, lhs: Any, rhs: Any, padding: Any) -> Any:
    from jaxlib.mlir.dialects import stablehlo

    dims = stablehlo.ConvDimensionNumbers(site.attribute("dimension_numbers"))
    ones = (1,) * (type_of(lhs).ndim - 2)
    right = (dims.kernel_output_feature_dimension, dims.kernel_input_feature_dimension, *dims.kernel_spatial_dimensions)
    turned = tuple(axis for axis, turns in zip(right[2:], site.ints("window_reversal", [0] * len(ones)), strict=True) if turns)
    rhs = op["reverse"](rhs, dimensions=turned) if turned else rhs
    lhs, rhs = _alike(lhs, rhs, site.dtype())
    return op["convolution"](
        lhs, rhs, window_strides=site.ints("window_strides", ones), padding=padding,
        lhs_dilation=site.ints("lhs_dilation", ones), rhs_dilation=site.ints("rhs_dilation", ones),
        dimension_numbers=(
            (dims.input_batch_dimension, dims.input_feature_dimension, *dims.input_spatial_dimensions), right,
            (dims.output_batch_dimension, dims.output_feature_dimension, *dims.output_spatial_dimensions),
        ),
        feature_group_count=site.number("feature_group_count", 1), batch_group_count=site.number("batch_group_count", 1),
        preferred_element_type=site.dtype(),
    )  # fmt: skip


@rule("stablehlo.fft")
def fft(site: Site, x: Any) -> Any:
    length = site.ints("fft_length")
    if 0 in type_of(x).shape:
        return op["broadcast_in_dim"](_zero(site), shape=site.shape(), broadcast_dimensions=())
    return transform(x, fft_type=site.word("fft_type"), fft_length=length, dims=len(length))


def _zero(site: Site) -> Any:
    return site.dtype().type(0)


@rule("stablehlo.cholesky")
def cholesky(site: Site, x: Any) -> Any:
    """Of the triangle that is told; an upper factor is the adjoint of the lower one."""
    lower = bool(site.number("lower", False))
    found = factor(x if lower else _adjoint(x))
    return found if lower else _adjoint(found)


def _adjoint(x: Any) -> Any:
    rank = type_of(x).ndim
    turned = op["transpose"](x, permutation=(*range(rank - 2), rank - 1, rank - 2))
    return op["conj"](turned) if type_of(x).dtype.kind == "c" else turned


@rule("stablehlo.triangular_solve")
def triangular_solve(site: Site, a: Any, b: Any) -> Any:
    named = {name: bool(site.number(name, False)) for name in ("left_side", "lower", "unit_diagonal")}
    dtype = type_of(a).dtype
    narrow = dtype.itemsize == 2
    a, b = (op["convert"](x, new_dtype=float32) for x in (a, b)) if narrow else (a, b)
    found = solve(a, b, transpose_a=site.word("transpose_a"), **named)
    return op["convert"](found, new_dtype=dtype) if narrow else found
