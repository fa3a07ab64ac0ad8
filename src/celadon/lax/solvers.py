"""jax.lax's solvers and its scan by an associative function, which the transforms define."""

from celadon.transforms.associative import associative_scan
from celadon.transforms.solving import custom_linear_solve, custom_root

__all__ = ["associative_scan", "custom_linear_solve", "custom_root"]
