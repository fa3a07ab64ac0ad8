"""Row kernels: what becomes one, and that its results are, in bits, those of the kernels that it stands for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import celadon
import celadon.numpy as cnp
from celadon import lax, nn, tree
from celadon.cpu import rows, threads
from celadon.cpu.fuse import fuse
from celadon.cpu.recipe import Launch, Nested, Reduce, Rows, Schedule
from celadon.types import ArrayType
from tests.bits import bits
from tests.cpu.programs import floats, lifted, on_cpu

Function = Callable[..., Any]


def softmax(x: Any) -> Any:
    return nn.softmax(x, -1)


def layer_norm(x: Any, scale: Any, shift: Any) -> Any:
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) / cnp.sqrt(variance + 1e-5) * scale + shift


def with_moments(x: Any) -> list[Any]:
    mean, variance = x.mean(-1), x.var(-1)
    return [(x - mean[..., None]) * lax.rsqrt(variance[..., None] + 1e-5), mean, variance]


def of_sines(x: Any) -> list[Any]:
    waves = cnp.sin(x)
    shifted = waves - waves.max(-1, keepdims=True)
    return [waves, shifted / cnp.exp(shifted).sum(-1, keepdims=True)]


def by_place(x: Any) -> Any:
    shifted = x - x.max(-1, keepdims=True) + cnp.arange(x.shape[-1]) + cnp.arange(x.shape[0])[:, None]
    return shifted - shifted.sum(-1, keepdims=True)


def of_every_kind(x: Any) -> list[Any]:
    whole = cnp.round(x * 8).astype(np.int32)
    low, high = whole.min(-1, keepdims=True), whole.max(-1, keepdims=True)
    kept = (whole > low) & (whole < high)
    return [kept, kept.any(-1), (whole - low) * kept.all(-1, keepdims=True), x.prod(-1), whole.sum(-1)]


def twice(x: Any) -> Any:
    return softmax(softmax(x) + x)


def masked(x: Any) -> Any:
    return nn.softmax(cnp.where(cnp.tril(cnp.ones(x.shape, bool)), x, -cnp.inf), -1)


def turned(x: Any) -> Any:
    return softmax(x.T) * 2.0


def loss(x: Any, y: Any) -> Any:
    return -(nn.log_softmax(x, -1) * y).sum(-1).mean()


def normed_loss(x: Any, scale: Any, shift: Any) -> Any:
    return (layer_norm(x, scale, shift) ** 3).sum()


def smoothed(x: Any) -> Any:
    return lax.fori_loop(0, 3, lambda i, y: softmax(y * 2.0), x)


def attention(q: Any, k: Any) -> Any:
    return softmax(q @ k.swapaxes(-1, -2) * 0.3) @ k


def seen_otherwise(x: Any) -> list[Any]:
    """What one launch makes is the memory that others see as numbers of another dtype."""
    words = lax.bitcast_convert_type(x, np.uint32)
    words = words * (words ^ 5).sum(-1, keepdims=True)
    whole, real = (lax.bitcast_convert_type(words, dtype) for dtype in (np.int32, np.float32))
    return [words, whole // 3, whole.min(-1), real - 1, (real > 1).any(-1), words.max(-1)]


ONE = [softmax, with_moments, of_sines, by_place, of_every_kind, twice, masked, turned, smoothed, seen_otherwise]
SHAPES = [(3, 5), (17, 8), (5, 100), (40, 1), (3, 70000)]


def schedule(function: Function, *arrays: Any) -> Schedule:
    structure, _ = lifted(function, [ArrayType(x.shape, x.dtype) for x in arrays])
    count = len(structure.program.inputs)
    return fuse(structure.program, range(count - structure.scalars, count))


def kernels(function: Function, *arrays: Any) -> list[Any]:
    found = schedule(function, *arrays)
    return [found.kernels[step.kernel] for step in found.steps if isinstance(step, Launch)]


def agrees(function: Function, *arrays: Any) -> None:
    """Bits with row kernels are those without them."""
    found = on_cpu(function, *arrays)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "joined", lambda schedule, known: schedule)
        assert not any(isinstance(kernel, Rows) for kernel in kernels(function, *arrays))
        assert bits(found) == bits(on_cpu(function, *arrays))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("function", ONE, ids=lambda f: f.__name__)
def test_bits_are_those_of_single_kernels(function: Function, shape: tuple[int, ...]) -> None:
    agrees(function, floats(*shape))


@pytest.mark.parametrize("dtype", ["float64", "float16", "int8", "uint32", "complex64"])
@pytest.mark.parametrize("function", [softmax, with_moments, of_sines], ids=lambda f: f.__name__)
def test_bits_of_every_dtype(function: Function, dtype: str) -> None:
    with celadon.enable_x64(dtype == "float64"):
        agrees(function, (floats(7, 21) * 3).astype(dtype))


@pytest.mark.parametrize("function", [softmax, of_sines, by_place], ids=lambda f: f.__name__)
def test_special_values(function: Function) -> None:
    x = floats(6, 11)
    x[0, 3], x[1, :], x[2, 10], x[3, 0], x[4, :] = np.nan, -np.inf, np.inf, -0.0, 0.0
    agrees(function, x)


@pytest.mark.parametrize("shape", [(4, 6), (33, 40)], ids=str)
def test_gradients(shape: tuple[int, int]) -> None:
    x, y, scale, shift = floats(*shape), floats(*shape, seed=1), floats(shape[1]), floats(shape[1], seed=2)
    agrees(lambda x, y: list(celadon.value_and_grad(loss)(x, y)), x, y)
    agrees(lambda x, y: list(celadon.vjp(softmax, x)[1](y)), x, y)
    agrees(lambda *xs: list(celadon.grad(normed_loss, (0, 1, 2))(*xs)), x, scale, shift)
    agrees(lambda x: tree.leaves(celadon.jvp(with_moments, [x], [x * 2.0])), x)


def test_other_ranks() -> None:
    agrees(softmax, floats(2, 3, 4, 50))
    agrees(lambda x: layer_norm(x, x[0], x[1]), floats(2, 5, 6))
    agrees(lambda x: (x - x.mean((1, 2), keepdims=True)) / x.std((1, 2), keepdims=True), floats(4, 3, 7))
    agrees(lambda x: (x - x.mean((-1, -3), keepdims=True)) / x.std((-1, -3), keepdims=True), floats(4, 3, 7))
    agrees(lambda x, m: nn.softmax(x + m[:, None, None, :], -1), floats(3, 2, 4, 10), floats(3, 10))
    agrees(attention, floats(2, 3, 4, 8), floats(2, 3, 5, 8))


def test_softmax_is_one_kernel_that_uses_no_other_memory() -> None:
    found = schedule(softmax, floats(8, 10))
    (kernel,) = found.kernels
    assert isinstance(kernel, Rows) and len(kernel.passes) == 3
    assert [leaf.source for leaf in kernel.operands] == ["array", "number", "array", "value", "value"]
    (step,) = [step for step in found.steps if isinstance(step, Launch)]
    assert len(step.writes) == 1


def test_norms_and_their_moments_are_one_kernel() -> None:
    assert [type(kernel) for kernel in kernels(layer_norm, floats(8, 10), floats(10), floats(10))] == [Rows]
    (kernel,) = kernels(with_moments, floats(8, 10))
    assert isinstance(kernel, Rows)


def test_gradients_of_rows_are_one_kernel() -> None:
    found = kernels(lambda x, y: list(celadon.vjp(softmax, x)[1](y)), floats(8, 10), floats(8, 10))
    assert [type(kernel) for kernel in found] == [Rows]


def test_rows_within_loops() -> None:
    (loop,) = [step for step in schedule(smoothed, floats(4, 6)).steps if isinstance(step, Nested)]
    found = schedule(smoothed, floats(4, 6)).kernels
    assert any(isinstance(step, Launch) and isinstance(found[step.kernel], Rows) for step in loop.regions[-1].steps)


def test_a_single_reduction_stays_one() -> None:
    assert isinstance(kernels(lambda x: x.mean(-1), floats(8, 10))[0], Reduce)


def test_columns_are_no_rows() -> None:
    assert not any(isinstance(kernel, Rows) for kernel in kernels(lambda x: nn.softmax(x, 0), floats(8, 10)))


def test_what_needs_another_row_is_not_joined() -> None:
    def crossed(x: Any) -> Any:
        most = x.max(-1)
        return x - most[::-1][:, None]

    assert not any(isinstance(kernel, Rows) for kernel in kernels(crossed, floats(8, 10)))
    agrees(crossed, floats(8, 10))


def test_what_waits_for_another_kernel_is_not_joined() -> None:
    def sorted_between(x: Any) -> Any:
        shifted = x - x.max(-1, keepdims=True)
        order = cnp.sort(cnp.exp(shifted), -1)
        return order / order.sum(-1, keepdims=True) + shifted

    agrees(sorted_between, floats(8, 10))


@pytest.mark.parametrize("shape", [(2000, 100), (3, 90000)], ids=str)
def test_threads_do_not_change_bits(shape: tuple[int, int]) -> None:
    x, count, found = floats(*shape), threads.threads(), []
    try:
        for n in (1, 2):
            threads.set_threads(n)
            found.append(bits(on_cpu(of_sines, x)))
    finally:
        threads.set_threads(count)
    assert found[0] == found[1]


def powers_of_rows(x: Any, y: Any) -> list[Any]:
    total, spread = x.sum(-1, keepdims=True), (x * x).sum(-1, keepdims=True)
    whole = cnp.round(spread * 8).astype(np.int32)
    count = whole.sum(-1, keepdims=True) + 3
    return [x * spread**0.5, spread ** (total - total + 2.0), whole // 7, whole // count, (x + 2.0) ** total, spread**-1.0 * y]


def test_what_a_call_knows_of_a_number_is_used_for_rows_too() -> None:
    agrees(powers_of_rows, floats(9, 13), floats(9, 13, seed=1))
