"""Parts of SciPy under JAX's names (jax.scipy), module by module."""

from celadon.facade import facade

_HOMES: dict[str, str] = {}

__all__, __getattr__, __dir__ = facade(__name__, _HOMES)
__all__ += ["linalg", "special"]
