"""Linear algebra under JAX's names (jax.numpy.linalg)."""

from celadon.numpy.linalg.decompositions import (
    cholesky as cholesky,
    eig as eig,
    eigh as eigh,
    eigvals as eigvals,
    eigvalsh as eigvalsh,
    qr as qr,
    svd as svd,
    svdvals as svdvals,
)
from celadon.numpy.linalg.determinants import (
    cond as cond,
    det as det,
    matrix_power as matrix_power,
    matrix_rank as matrix_rank,
    multi_dot as multi_dot,
    slogdet as slogdet,
)
from celadon.numpy.linalg.norms import (
    matrix_norm as matrix_norm,
    norm as norm,
    vector_norm as vector_norm,
)
from celadon.numpy.linalg.products import (
    cross as cross,
    diagonal as diagonal,
    matmul as matmul,
    matrix_transpose as matrix_transpose,
    outer as outer,
    tensordot as tensordot,
    trace as trace,
    vecdot as vecdot,
)
from celadon.numpy.linalg.systems import (
    inv as inv,
    lstsq as lstsq,
    pinv as pinv,
    solve as solve,
    tensorinv as tensorinv,
    tensorsolve as tensorsolve,
)
