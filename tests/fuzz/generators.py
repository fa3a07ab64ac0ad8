"""How the fuzzer makes a random call of each op of the registry; a seed is a case."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable

import numpy as np

from celadon import transforms, vocabulary
from celadon.op import registry
from celadon.types import from_short
from celadon.vocabulary.window import combiner, second
from tests.fuzz import indexing, makers, matrices, nested
from tests.fuzz.draw import Draw
from tests.fuzz.indexing import comparing, squared
from tests.fuzz.trees import Node
from tests.fuzz.values import array

for package in (vocabulary, transforms):
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")

NESTED = nested.NAMES
Maker = Callable[[Draw, str], Node]
MAKERS: dict[str, Maker] = makers.MAKERS | indexing.MAKERS | nested.MAKERS | matrices.MAKERS
KINDS: dict[str, Maker] = makers.KINDS | nested.KINDS
WITHOUT_MEANING = frozenset({"custom_vjp_tangent"})
"""It stands in linear programs only, which no program holds once it is made."""


def maker(name: str) -> Maker | None:
    """What makes calls of an op."""
    return MAKERS.get(name) or KINDS.get(registry[name].kind)


NAMES = tuple(name for name in registry if maker(name) is not None)


def case(seed: int, name: str = "") -> Node:
    """The call of a seed: of the op of a name, or of any."""
    draw = Draw(seed)
    chosen = name or draw.pick(NAMES)
    make = maker(chosen)
    assert make is not None
    return make(draw, chosen)


__all__ = ["NAMES", "NESTED", "array", "case", "combiner", "comparing", "from_short", "maker", "np", "second", "squared"]
