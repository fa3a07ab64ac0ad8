"""Tracers and arrays share their operators and methods."""

import numpy as np

import celadon
from celadon.array import Array
from celadon.tracing import Tracer, Value


def test_no_attribute_hides_a_method() -> None:
    methods = {name for name, value in vars(Value).items() if callable(value) or isinstance(value, property)}
    assert "var" in methods
    assert methods.isdisjoint(Tracer.__slots__)
    assert methods.isdisjoint(Array.__slots__)


def test_variance_of_a_traced_array() -> None:
    x = np.arange(5, dtype=np.float32)
    assert celadon.jit(lambda x: x.var())(x).item() == x.var()
