"""Linear algebra under JAX's names (jax.scipy.linalg)."""

from celadon.facade import facade

_HOMES = {
    "factors": (
        "cho_factor cholesky eigh eigh_tridiagonal hessenberg lu lu_factor polar qr qr_multiply rsf2csf schur svd"
    ),
    "matrix_functions": "expm expm_frechet funm sqrtm",
    "structured": (
        "block_diag circulant companion convolution_matrix dft fiedler fiedler_companion hadamard hankel helmert hilbert "
        "invhilbert invpascal leslie pascal toeplitz"
    ),
    "systems": "cho_solve det inv lu_solve solve solve_sylvester solve_triangular",
}

__all__, __getattr__, __dir__ = facade(__name__, _HOMES)
