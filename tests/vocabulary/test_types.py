"""Every op has samples; NumPy yields the shapes and dtypes that the type rules say; united axes have equal extents."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import celadon.vocabulary  # noqa: F401
from celadon.program import Equation, Var
from tests.vocabulary.samples import ELSEWHERE, sampled, samples


@pytest.mark.parametrize("name", sampled())
def test_op_has_samples(name: str) -> None:
    assert samples(name)


def test_what_has_no_samples_is_proven_elsewhere() -> None:
    folder = Path(__file__).parent.parent
    assert all((folder / place).exists() for place in ELSEWHERE.values())


@pytest.mark.parametrize("name", sampled())
def test_numpy_rule_yields_the_declared_type(name: str) -> None:
    for sample in samples(name):
        op = sample.op
        declared = op.result_type(*sample.types, **sample.params)
        with np.errstate(all="ignore"):
            found = op.numpy(*sample.arrays, **sample.params)
        pairs = zip(declared, found, strict=True) if op.multiple else [(declared, found)]
        for type, array in pairs:
            array = np.asarray(array)
            assert (array.shape, array.dtype) == (type.shape, type.dtype), str(sample)


@pytest.mark.parametrize("name", sampled())
def test_united_axes_have_equal_extents(name: str) -> None:
    for sample in samples(name):
        op = sample.op
        declared = op.result_type(*sample.types, **sample.params)
        outputs = [Var(t) for t in (declared if op.multiple else [declared])]
        equation = Equation(op, [Var(t) for t in sample.types], outputs, sample.params)
        values = [*equation.inputs, *equation.outputs]
        for (k, i), (m, j) in op.unite(equation):
            assert values[k].type.shape[i] == values[m].type.shape[j], str(sample)


@pytest.mark.parametrize("name", sampled())
def test_operands_are_left_alone(name: str) -> None:
    for sample in samples(name):
        copies = [np.array(x) for x in sample.arrays]
        for x in sample.arrays:
            x.flags.writeable = False
        with np.errstate(all="ignore"):
            sample.op.numpy(*sample.arrays, **sample.params)
        assert all(x.tobytes() == y.tobytes() for x, y in zip(copies, sample.arrays, strict=True))
