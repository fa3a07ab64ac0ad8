"""jax.lax's loops and branches, which the transforms define."""

from celadon.transforms.associative import associative_scan
from celadon.transforms.branches import cond, switch
from celadon.transforms.loops import fori_loop, map, scan, while_loop

__all__ = ["associative_scan", "cond", "fori_loop", "map", "scan", "switch", "while_loop"]
