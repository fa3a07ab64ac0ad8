"""Linear algebra under JAX's names (jax.numpy.linalg)."""

from celadon.facade import facade

_HOMES = {
    "decompositions": "cholesky eig eigh eigvals eigvalsh qr svd svdvals",
    "determinants": "cond det matrix_power matrix_rank multi_dot slogdet",
    "norms": "matrix_norm norm vector_norm",
    "products": "cross diagonal matmul matrix_transpose outer tensordot trace vecdot",
    "systems": "inv lstsq pinv solve tensorinv tensorsolve",
}

__all__, __getattr__, __dir__ = facade(__name__, _HOMES)
