"""What fuse makes of programs: how many kernels and steps, which form they have, and that extents do not matter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import celadon
import celadon.numpy as cnp
from celadon.cpu.fuse import fuse
from celadon.cpu.layout import Axis, dense, is_dense, merged
from celadon.cpu.recipe import Alias, Launch, Map, Reduce, Schedule, digest
from celadon.types import ArrayType, float32
from tests.cpu.programs import lifted, number, op


def schedule(function: Any, *shapes: tuple[int, ...]) -> Schedule:
    structure, _ = lifted(function, [ArrayType(shape, float32) for shape in shapes])
    inputs = len(structure.program.inputs)
    return fuse(structure.program, range(inputs - structure.scalars, inputs))


def launches(found: Schedule) -> list[Launch]:
    return [step for step in found.steps if isinstance(step, Launch)]


def kernels(function: Any, *shapes: tuple[int, ...]) -> list[Any]:
    found = schedule(function, *shapes)
    return [found.kernels[step.kernel] for step in launches(found)]


def along(v: Any, shape: tuple[int, ...], axis: int) -> Any:
    return op["broadcast_in_dim"](v, shape=shape, broadcast_dimensions=(axis,))


def scale_add(x: Any) -> Any:
    return op["add"](op["multiply"](x, number(2.0)), number(1.0))


def softmax(x: Any) -> Any:
    shape = x.type.shape
    shifted = op["exponential"](op["subtract"](x, along(op["reduce_max"](x, axes=(1,)), shape, 0)))
    return op["divide"](shifted, along(op["reduce_sum"](shifted, axes=(1,)), shape, 0))


def centred(x: Any) -> Any:
    shape = x.type.shape
    mean = op["multiply"](op["reduce_sum"](x, axes=(1,)), number(0.1))
    apart = op["subtract"](x, along(mean, shape, 0))
    spread = op["reduce_sum"](op["multiply"](apart, apart), axes=(1,))
    return op["multiply"](apart, along(op["rsqrt"](spread), shape, 0))


def mixed(x: Any) -> list[Any]:
    rows, columns = x.type.shape
    turned = op["transpose"](x, permutation=(1, 0))
    product = op["dot_general"](x, op["negate"](turned), dimension_numbers=(((1,), (0,)), ((), ())))
    padded = op["pad"](x, number(0.0), low=(1, 0), high=(0, 1), interior=(0, 0))
    joined = op["concatenate"](x, op["negate"](x), dimension=1)
    return [product, padded, joined, op["cumsum"](turned, axis=0), op["reshape"](turned, shape=(rows * columns,))]


def test_a_chain_of_elementwise_ops_is_one_flat_kernel() -> None:
    (kernel,) = kernels(scale_add, (4, 5))
    assert isinstance(kernel, Map) and kernel.whole and kernel.loops == 1
    assert [leaf.source for leaf in kernel.body.leaves] == ["array", "number", "number"]


def test_flat_kernels_of_all_ranks_are_one() -> None:
    found = {digest(kernel) for shape in ((4,), (4, 5), (2, 3, 4)) for kernel in kernels(scale_add, shape)}
    assert len(found) == 1


@pytest.mark.parametrize("function", [scale_add, softmax, centred, mixed], ids=lambda f: f.__name__)
def test_no_extent_above_one_is_in_a_schedule(function: Any) -> None:
    assert schedule(function, (3, 5)) == schedule(function, (64, 1000))


def test_cheap_work_is_done_again_instead_of_stored() -> None:
    def centred_columns(x: Any) -> Any:
        mean = op["multiply"](op["reduce_sum"](x, axes=(0,)), number(0.1))
        apart = op["subtract"](x, along(mean, x.type.shape, 1))
        spread = op["reduce_sum"](op["multiply"](apart, apart), axes=(0,))
        return op["multiply"](apart, along(op["rsqrt"](spread), x.type.shape, 1))

    found = kernels(centred_columns, (8, 10))
    assert [type(kernel) for kernel in found] == [Reduce, Map, Reduce, Map, Map]
    assert [node.op for node in found[2].body.nodes] == ["subtract", "multiply"]
    assert [node.op for node in found[4].body.nodes] == ["subtract", "multiply"]


def test_results_of_one_shape_share_a_kernel() -> None:
    def both(x: Any) -> list[Any]:
        return [op["sine"](x), op["cosine"](x)]

    (kernel,) = kernels(both, (3, 5))
    assert len(kernel.body.results) == 2 and len(kernel.body.leaves) == 1


def test_what_would_wait_for_itself_is_not_joined() -> None:
    def crossing(x: Any) -> Any:
        waves = op["sine"](x)
        total = op["reduce_sum"](waves, axes=(0,))
        return op["add"](waves, op["tanh"](along(total, x.type.shape, 1)))

    assert [type(kernel) for kernel in kernels(crossing, (4, 6))] == [Map, Reduce, Map]


def test_views_are_no_kernels() -> None:
    def turned(x: Any) -> Any:
        cut = op["slice"](x, start_indices=(1, 0), limit_indices=(3, 5), strides=(1, 1))
        return op["negate"](op["reverse"](op["transpose"](cut, permutation=(1, 0)), dimensions=(0,)))

    found = schedule(turned, (4, 6))
    assert len(launches(found)) == 1
    assert [step.rule for step in found.steps if isinstance(step, Alias)] == ["slice", "transpose", "reverse"]


def test_an_index_needs_no_memory() -> None:
    def counted(x: Any) -> Any:
        return op["multiply"](x, op["iota"](shape=x.type.shape, dtype=float32, dimension=1))

    (kernel,) = kernels(counted, (4, 6))
    assert [leaf.source for leaf in kernel.body.leaves] == ["array", "iota"]


def test_loops_merge_where_all_operands_are_in_order() -> None:
    def biased(x: Any, b: Any) -> Any:
        return op["add"](x, along(b, x.type.shape, 2))

    (kernel,) = kernels(biased, (3, 4, 5), (5,))
    assert kernel.loops == 2
    assert [leaf.access for leaf in kernel.body.leaves] == ["s1", "01"]


def test_layouts() -> None:
    layout = dense((3, 1, 4))
    assert layout == (Axis(0, False), None, Axis(1, True))
    assert is_dense(layout, (3, 1, 4)) and not is_dense(layout[::-1], (4, 1, 3))
    assert not is_dense((None, *layout), (2, 3, 1, 4))
    assert merged((3, 1, 4), [layout]) == ((0, 2),)
    assert merged((3, 1, 4), [layout], "abc") == ((0,), (2,))


def test_constants_and_scalars_that_are_results_get_memory() -> None:
    found = schedule(lambda x: [x, number(3.0)], (4,))
    assert found.outputs[0] == 0
    assert len(launches(found)) == 1


def test_dead_work_has_no_step() -> None:
    def partly(x: Any) -> Any:
        op["sine"](x)
        return op["cosine"](x)

    (kernel,) = kernels(partly, (np.int64(4).item(),))
    assert [node.op for node in kernel.body.nodes] == ["cosine"]


def test_what_reads_a_stored_value_joins_no_unit_that_it_was_made_of():
    """A sum of x * 2 and of a product that x * x went into: it would close a circle with what reads x."""

    def square(x: Any) -> Any:
        return op["dot_general"](x, x, dimension_numbers=(((1,), (0,)), ((), ())))

    def circle(x: Any) -> list[Any]:
        first = square(op["multiply"](x, x))
        second = square(first)  # stores what it reads
        both = op["add"](op["multiply"](x, number(2.0)), first)
        return [second, square(both)]

    found = schedule(circle, (4, 4))
    assert len([step for step in launches(found) if not isinstance(found.kernels[step.kernel], Map)]) == 3


def long_chain(ops: int) -> Any:
    def chain(x: Any) -> Any:
        for k in range(ops // 4):
            x = op["add"](op["multiply"](op["sine"](x), number(1.0 + k / ops)), op["multiply"](x, number(0.5)))
        return x

    return chain


def test_a_long_chain_is_many_kernels_of_a_few_forms() -> None:
    """Code for a body takes longer to make than in proportion; what recurs is one kernel, however long the chain is."""
    for ops in (1000, 4000):
        found = schedule(long_chain(ops), (3, 5))
        assert sum(len(found.kernels[step.kernel].body.nodes) for step in launches(found)) == ops
        assert max(len(kernel.body.nodes) for kernel in found.kernels) <= 128
        assert len(found.kernels) <= 4


def test_where_a_long_chain_is_cut_does_not_show() -> None:
    def chain(x: Any) -> Any:
        for k in range(100):
            x = cnp.sin(x) * (1.0 + k / 100) + x * 0.5
        return x

    x = cnp.asarray(np.linspace(-2, 2, 15, dtype=np.float32))
    assert np.asarray(celadon.jit(chain)(x)).tobytes() == np.asarray(chain(x)).tobytes()
