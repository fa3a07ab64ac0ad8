"""Parts of SciPy under JAX's names (jax.scipy), module by module."""

from celadon.facade import facade

__all__, __getattr__, __dir__ = facade(__name__, {})
__all__ += ["special"]
