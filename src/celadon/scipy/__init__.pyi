"""Parts of SciPy under JAX's names (jax.scipy), module by module."""

from celadon.scipy import linalg as linalg, special as special
