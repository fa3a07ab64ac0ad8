"""jax.lax's branches, which the transforms define."""

from celadon.transforms.branches import cond, platform_dependent, switch

__all__ = ["cond", "platform_dependent", "switch"]
