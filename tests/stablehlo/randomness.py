"""The rule of the op that makes random bits out of a state, and the state that follows."""

from __future__ import annotations

from typing import Any

import numpy as np

from celadon.op import registry as op
from celadon.program import fixed
from tests.stablehlo.elements import Unreadable
from tests.stablehlo.reader import Site, rule, type_of

PAIR, WORD = np.dtype(np.uint64), np.dtype(np.uint32)


@rule("stablehlo.rng_bit_generator")
def rng_bit_generator(site: Site, state: Any) -> Any:
    """Threefry on a key and a counter, a count for each element: two words, of which the first are the lower bits."""
    if site.word("rng_algorithm") != "THREE_FRY" or site.dtype(1) != PAIR or type_of(state).shape != (2,):
        raise Unreadable(f"random bits of {site.dtype(1)} by {site.word('rng_algorithm')}")
    shape, size = site.shape(1), int(np.prod(site.shape(1)))
    key, first = (op["reshape"](_part(state, i), shape=()) for i in range(2))
    counts = op["add"](op["iota"](shape=(size,), dtype=PAIR, dimension=0), first)
    bits = op["threefry2x32"](*_words(key), *_words(counts), folded=False)
    after = op["concatenate"](_part(state, 0), op["add"](_part(state, 1), fixed(size, PAIR)), dimension=0)
    return [after, op["reshape"](bits, shape=shape)]


def _part(x: Any, i: int) -> Any:
    return op["slice"](x, start_indices=(i,), limit_indices=(i + 1,), strides=(1,))


def _words(x: Any) -> list[Any]:
    """The lower and the upper 32 bits."""
    upper = op["shift_right_logical"](x, fixed(32, PAIR))
    return [op["convert"](v, new_dtype=WORD) for v in (x, upper)]
