"""Tracers and arrays share their operators and methods."""

import numpy as np

import celadon
import celadon.numpy.methods
import celadon.transforms.batching
import celadon.transforms.forward
from celadon.tracing import Tracer, Value


def classes_of(cls: type) -> list[type]:
    return [cls, *(found for each in cls.__subclasses__() for found in classes_of(each))]


def test_no_attribute_hides_a_method() -> None:
    assert all(hasattr(Value, name) for name in list(vars(Value)))  # those found at first use stand in their places now
    methods = {name for name, value in vars(Value).items() if callable(value) or isinstance(value, property)}
    assert "var" in methods
    slots = {cls: set(vars(cls).get("__slots__", ())) - {"__weakref__"} for cls in classes_of(Value)[1:]}
    assert len(slots) > 4 and Tracer in slots
    assert {cls: names & methods for cls, names in slots.items() if names & methods - {"type"}} == {}


def test_variance_of_a_traced_array() -> None:
    x = np.arange(5, dtype=np.float32)
    assert celadon.jit(lambda x: x.var())(x).item() == x.var()
