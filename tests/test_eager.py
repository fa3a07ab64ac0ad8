"""Eager equals jit, bit for bit: every op of the registry on its samples, and every public callable."""

import numpy as np
import pytest

import celadon
from celadon.array import as_array
from celadon.op import registry
from tests import callables
from tests.bits import bits
from tests.vocabulary.samples import sampled, samples

CALLS = list(callables.calls())


@pytest.mark.parametrize("name", sampled())
def test_an_op_gives_the_same_bits_outside_and_inside_jit(name):
    op = registry[name]
    with celadon.enable_x64(True):
        for sample in samples(name):
            arrays = [as_array(x) for x in sample.arrays]
            jitted = celadon.jit(lambda *xs, params=sample.params: op(*xs, **params))
            assert bits(op(*arrays, **sample.params)) == bits(jitted(*arrays)), str(sample)


@pytest.mark.parametrize("call", CALLS, ids=[call.name for call in CALLS])
def test_a_public_callable_gives_the_same_bits_outside_and_inside_jit(call):
    function, arrays = call.on(callables.FIRST)
    assert bits(function({name: as_array(x) for name, x in arrays.items()})) == bits(celadon.jit(function)(arrays))


def test_a_product_is_rounded_before_a_sum_uses_it():
    """Nothing contracts a*b+c that the program did not, neither inside nor outside jit."""
    x = np.float32(1) + np.float32(2) ** -12 * np.arange(1, 65, dtype=np.float32)
    expected = (x * x).astype(np.float32) - x
    np.testing.assert_array_equal(celadon.jit(lambda a: a * a - a)(x), expected)
    a = as_array(x)
    np.testing.assert_array_equal(a * a - a, expected)
