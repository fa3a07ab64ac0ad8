"""The convolution kernels against the reference executor, in bits where sums are of small integers, which are exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import celadon
from celadon import events, lax, numpy as cnp
from celadon.cpu import threads
from celadon.op import registry as op
from celadon.types import every_dtype
from tests.bits import bits
from tests.cpu.programs import cpu, lifted, on_cpu, on_reference, types_of
from tests.vocabulary.samples import accepts

FIRST, LAST = ("NCHW", "OIHW", "NCHW"), ("NHWC", "HWIO", "NHWC")
WINDOWS = [
    ((1, 1), ((0, 0), (0, 0)), (1, 1), (1, 1)),
    ((1, 1), ((1, 2), (2, 0)), (1, 1), (1, 1)),
    ((2, 3), ((3, -1), (-2, 4)), (1, 1), (1, 1)),
    ((2, 3), ((-1, -1), (-2, 0)), (1, 1), (1, 1)),
    ((1, 1), ((4, 3), (2, -1)), (2, 3), (2, 1)),
    ((3, 2), ((-2, 9), (5, 1)), (1, 2), (1, 3)),
    ((1, 1), ((0, 0), (-8, 1)), (1, 1), (1, 1)),
]


def small(*shape: int, dtype: Any = np.float32, seed: int = 0) -> Any:
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(dtype)


def convolved(spec: tuple[str, str, str], strides: Any, padding: Any, *dilations: Any, **params: Any) -> Any:
    def function(x: Any, w: Any) -> Any:
        numbers = lax.conv_dimension_numbers(x.shape, w.shape, spec)
        spread = dict(zip(("lhs_dilation", "rhs_dilation"), dilations, strict=False))
        return lax.conv_general_dilated(x, w, strides, padding, dimension_numbers=numbers, **spread, **params)

    return function


def same(function: Any, *arrays: Any) -> None:
    assert bits(on_cpu(function, *arrays)) == bits(on_reference(function, *arrays))


def placed(spec: str, **extents: int) -> tuple[int, ...]:
    return tuple(extents[letter] for letter in spec)


@pytest.mark.parametrize("window", WINDOWS, ids=str)
@pytest.mark.parametrize("spec", [FIRST, LAST, ("CHNW", "IWOH", "HWNC"), ("NCHW", "OIHW", "NHWC")], ids="-".join)
def test_windows(spec: tuple[str, str, str], window: tuple[Any, ...]) -> None:
    for features, outputs in ((3, 5), (1, 1), (9, 28)):
        x = small(*placed(spec[0], N=2, C=features, H=8, W=9))
        w = small(*placed(spec[1], O=outputs, I=features, H=3, W=2), seed=1)
        same(convolved(spec, *window), x, w)


@pytest.mark.parametrize("spec", [FIRST, LAST], ids="-".join)
@pytest.mark.parametrize("features, batches", [(4, 1), (2, 1), (1, 3), (8, 1)])
def test_groups(spec: tuple[str, str, str], features: int, batches: int) -> None:
    x, groups = small(*placed(spec[0], N=6, C=8, H=5, W=6)), {"feature_group_count": features, "batch_group_count": batches}
    w = small(*placed(spec[1], O=24, I=8 // features, H=2, W=3), seed=1)
    for window in WINDOWS[:3]:
        same(convolved(spec, *window, **groups), x, w)


@pytest.mark.parametrize("dtype", every_dtype(), ids=str)
def test_dtypes(dtype: Any) -> None:
    for spec in (FIRST, LAST):
        x, w = small(*placed(spec[0], N=2, C=3, H=5, W=20)), small(*placed(spec[1], O=5, I=3, H=3, W=3), seed=1)
        x, w = (np.abs(a).astype(dtype) if np.dtype(dtype).kind == "u" else a.astype(dtype) for a in (x, w))
        if accepts(op["convolution"], *types_of(x, w)):
            same(convolved(spec, (1, 1), "SAME"), x, w)
            same(convolved(spec, (2, 2), "VALID"), x, w)


@pytest.mark.parametrize("rank", range(4))
def test_ranks(rank: int) -> None:
    for first in (True, False):
        letters = "HWD"[:rank]
        spec = (
            ("NC" + letters, "OI" + letters, "NC" + letters)
            if first
            else ("N" + letters + "C", letters + "IO", "N" + letters + "C")
        )
        x = small(*placed(spec[0], N=3, C=4, H=7, W=6, D=5))
        w = small(*placed(spec[1], O=10, I=4, H=3, W=2, D=2), seed=1)
        same(convolved(spec, (1,) * rank, "SAME"), x, w)
        same(convolved(spec, (2,) * rank, [(0, 0)] * rank), x, w)


def test_views_and_wider_results() -> None:
    def function(x: Any, w: Any) -> Any:
        x = op["transpose"](x, permutation=(3, 1, 2, 0))
        x = op["slice"](x, start_indices=(0, 1, 0, 0), limit_indices=(3, 3, 9, 8), strides=(2, 1, 2, 3))
        w = op["reverse"](w, dimensions=(2, 3))
        return lax.conv_general_dilated(x, w, (1, 1), "SAME", preferred_element_type=np.float32)

    for dtype in ("f2", "f4"):
        same(function, small(8, 3, 9, 4, dtype=dtype), small(5, 2, 3, 3, dtype=dtype, seed=1))


def test_no_elements() -> None:
    for x, w in (((0, 3, 8, 9), (4, 3, 3, 2)), ((2, 0, 8, 9), (4, 0, 3, 2)), ((2, 3, 8, 9), (0, 3, 3, 2))):
        same(convolved(FIRST, (1, 1), "SAME"), small(*x), small(*w))
    same(convolved(FIRST, (1, 1), "VALID"), small(2, 3, 2, 9), small(4, 3, 3, 2))
    same(convolved(FIRST, (1, 1), ((2, 2), (2, 2))), small(2, 3, 0, 9), small(4, 3, 3, 2))
    same(convolved(LAST, (1, 1), ((2, 2), (2, 2))), small(2, 0, 9, 3), small(3, 2, 3, 12))


@pytest.mark.parametrize("spec", [FIRST, LAST], ids="-".join)
def test_bits_do_not_depend_on_threads_or_views(spec: tuple[str, str, str]) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal(placed(spec[0], N=5, C=7, H=40, W=45)).astype("f4")
    w = rng.standard_normal(placed(spec[1], O=30, I=7, H=3, W=3)).astype("f4")
    function = convolved(spec, (1, 1), "SAME")
    wanted = on_cpu(function, x, w)
    np.testing.assert_allclose(wanted, on_reference(function, x, w), 1e-4, 1e-4)
    turned = on_cpu(lambda x, w: function(x.transpose(3, 2, 1, 0), w), np.ascontiguousarray(x.transpose(3, 2, 1, 0)), w)
    assert bits(turned) == bits(wanted)
    threads.set_threads(1)
    try:
        assert bits(on_cpu(function, x, w)) == bits(wanted)
    finally:
        threads.set_threads(None)


def test_one_executable_serves_many_shapes() -> None:
    function = convolved(FIRST, (1, 2), "VALID")

    def arrays(n: int, c: int, o: int, k: int) -> tuple[Any, ...]:
        return small(n, c, 3 * k, 4 * k), small(o, c, k, k, seed=1)

    structure, _ = lifted(function, types_of(*arrays(2, 3, 4, 2)))
    executable = cpu.compile(structure)
    for sizes in ((2, 3, 4, 2), (3, 2, 17, 3), (7, 5, 2, 5)):
        given = arrays(*sizes)
        assert bits(on_cpu(function, *given, executable=executable)) == bits(on_reference(function, *given))


def test_derivatives_and_batches_run_on_the_kernels() -> None:
    x, w = small(2, 9, 9, 3), small(3, 3, 3, 8, seed=1)
    function = convolved(LAST, (2, 2), "SAME")

    def total(x: Any, w: Any) -> Any:
        return celadon.numpy.sum(function(x, w) ** 2)

    with events.watching() as seen:
        found = celadon.jit(celadon.grad(total, (0, 1)))(x, w)
        batched = celadon.jit(celadon.vmap(function, (0, None)))(small(4, 2, 9, 9, 3), w)
    assert not [event for event in seen if event.kind == "fallback"]
    assert [part.shape for part in found] == [x.shape, w.shape]
    assert bits(batched[0]) == bits(celadon.jit(function)(small(4, 2, 9, 9, 3)[0], w))


@pytest.mark.parametrize("outputs", [61, 64, 200])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, cnp.bfloat16])
def test_sums_of_many_terms_are_made_in_parts(outputs: int, dtype: Any) -> None:
    """Weights of more bytes than are met at a time: a part of a sum goes on from what the ones before it came to."""
    with celadon.enable_x64(True):
        x, w = small(2, 14, 15, 16, dtype=dtype), small(13, 13, 16, outputs, dtype=dtype, seed=1)
        same(convolved(LAST, (1, 1), ((1, 1), (0, 2))), x, w)
