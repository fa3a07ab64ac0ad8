"""Rules of plan: how the table and the range of each kind of loop kernel are filled for concrete shapes."""

from __future__ import annotations

import functools

from celadon.cpu.plan import Planner, extents_of, product, rules, unit_of
from celadon.cpu.recipe import Body, Launch, Map

NATIVE: frozenset[str] = frozenset()  # macro ops that have a kernel
_CHEAP = 0.1
_DEAR = 1.0
_ARRAY = 0.15
_STEP = 20.0
_DEAR_OPS = frozenset(
    """divide remainder power sine cosine tan tanh exponential exponential_minus_one log log_plus_one logistic sqrt rsqrt
    cbrt atan2 erf erfc erf_inv lgamma digamma zeta polygamma bessel_i1e acos acosh asin asinh atan atanh cosh sinh
    next_after""".split()
)


@functools.lru_cache(4096)
def cost(body: Body) -> float:
    """Nanoseconds an element, roughly."""
    dear = sum(node.op in _DEAR_OPS for node in body.nodes)
    arrays = sum(leaf.source == "array" for leaf in body.leaves) + len(body.results)
    return _ARRAY * arrays + _DEAR * dear + _CHEAP * len(body.nodes)


def fill_map(planner: Planner, launch: Launch) -> None:
    kernel = planner.outline.schedule.kernels[launch.kernel]
    assert isinstance(kernel, Map)
    loops, at = launch.loops, planner.here
    extents = extents_of(planner.shapes[launch.like], loops)
    words = list(extents)
    reads = iter(launch.reads)
    for leaf in kernel.body.leaves:
        if leaf.source != "iota":
            words += planner.operand(next(reads), loops, leaf.access, at)
    for number, access in zip(launch.writes, kernel.writes, strict=True):
        words += planner.operand(number, loops, access, at)
    nanoseconds = product(extents) * cost(kernel.body)
    extent = extents[0] if loops else 1
    multiple = 64 if len(loops) == 1 else 1
    planner.step(launch.kernel, words, extent, unit_of(extent, nanoseconds, multiple), nanoseconds + _STEP)


rules["map"] = fill_map
