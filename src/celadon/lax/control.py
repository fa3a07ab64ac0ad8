"""jax.lax's loops, branches and solvers, which the transforms define."""

from celadon.transforms.associative import associative_scan
from celadon.transforms.branches import cond, platform_dependent, switch
from celadon.transforms.loops import fori_loop, map, scan, while_loop
from celadon.transforms.solving import custom_linear_solve, custom_root

__all__ = [
    "associative_scan", "cond", "custom_linear_solve", "custom_root", "fori_loop", "map", "platform_dependent", "scan", "switch",
    "while_loop",
]  # fmt: skip
