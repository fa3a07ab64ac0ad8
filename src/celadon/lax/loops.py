"""jax.lax's loops, which the transforms define."""

from celadon.transforms.loops import fori_loop, map, scan, while_loop

__all__ = ["fori_loop", "map", "scan", "while_loop"]
