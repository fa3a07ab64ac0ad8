"""Functions whose arguments have each kind of price: run `celadon price examples/scale.py:scale_add ...` on them."""

from dataclasses import dataclass

import celadon.numpy as cnp


def scale_add(x, s):
    """Scale and add one: `s` is a number like any other, so static buys nothing."""
    return x * s + 1.0


def tiled(x, repeats):
    """Stack copies: the shape of the result depends on `repeats`, so it must be static."""
    return cnp.concatenate([x] * repeats)


def filled(x, size):
    """A ramp of `size` steps, scaled: a shape needs a concrete size, so it must be static."""
    return cnp.arange(size) * x.sum()


def activated(x, mode):
    """`mode` is a string, which is no array; it chooses the program."""
    return cnp.tanh(x) if mode == "tanh" else cnp.maximum(x, 0.0)


class Config:
    """Settings without equality: each object is a key of its own."""

    def __init__(self, gain):
        self.gain = gain


@dataclass(frozen=True)
class KeyedConfig:
    """The same with equality by value: equal settings are one key."""

    gain: float


def configured(x, config):
    """`config` should be keyed by value: compare Config(2.0) with KeyedConfig(2.0)."""
    return x * config.gain


def normalised(x, epsilon):
    """`epsilon` has one value for life: it needs to be no argument."""
    return x / (abs(x) + epsilon)
