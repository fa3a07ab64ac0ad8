"""Parts of SciPy under JAX's names (jax.scipy), module by module."""

from celadon.scipy import special as special
