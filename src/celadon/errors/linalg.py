"""Errors of linear algebra and Fourier transforms (codes 473 to 480)."""

from __future__ import annotations

from celadon.errors.catalogue import CeladonError


class MatricesUnfit(CeladonError, ValueError, TypeError):
    code = "CEL473"
    title = "Matrices have shapes that an op can't use"
    message = "{op} needs operands of the shapes {form}, but got {shapes}"
    cause = "The last axes are those of a matrix or vector, equal letters are equal extents; axes ahead of them are a stack."
    cure = "Reshape or transpose the operands; a vector becomes a matrix of one column by x[:, None]."
    when = "When a matrix is not square where it must be, or when factors and right sides don't belong together."
    trigger = "celadon.lax.linalg.cholesky(cnp.ones((2, 3)), symmetrize_input=False)"
    cured = "celadon.lax.linalg.cholesky(cnp.eye(3), symmetrize_input=False)"
    related = ("CEL411",)


class FactorsNotDifferentiable(CeladonError, NotImplementedError):
    code = "CEL474"
    title = "A factorization has no derivative in this form"
    message = "{op} has no derivative: {reason}"
    cause = "Some factors are not determined by the matrix, or their derivative needs what can't be checked."
    cure = "Ask for the factors that are determined (full_matrices=False, eigenvalues only), or opt in where there is an option."
    when = "When svd(full_matrices=True) of a matrix that is not square, or eigenvectors of eig, are differentiated."
    trigger = "celadon.jvp(lambda x: cnp.linalg.svd(x)[0], (cnp.ones((3, 2)),), (cnp.ones((3, 2)),))"
    cured = "celadon.jvp(lambda x: cnp.linalg.svd(x, False)[0], (cnp.ones((3, 2)),), (cnp.ones((3, 2)),))"
    related = ("CEL705",)


class FourierUnfit(CeladonError, ValueError):
    code = "CEL475"
    title = "A Fourier transform's lengths don't fit"
    message = "{function}: {reason}; the array's shape is {shape}"
    cause = "The lengths say how many samples each transformed axis has, one to three of them, the last axes first to fit."
    cure = "Give one positive length for each axis that is transformed."
    when = "When a length is 0 or negative, or there are more lengths than axes."
    trigger = "cnp.fft.fft(cnp.ones(3), n=0)"
    cured = "cnp.fft.fft(cnp.ones(3), n=4)"


class FactorizationOptionMissing(CeladonError, NotImplementedError):
    code = "CEL476"
    title = "A factorization is not available with this option"
    message = "{function} has no {argument}={value} here; it has {allowed}"
    cause = "JAX has the option for other devices than the CPU, or LAPACK's routine has it and no caller does."
    cure = "Leave the option away; all eigenvalues or singular values can be had, and sliced."
    when = "When eigh or svd get subset_by_index, schur is asked to sort, or an algorithm of other devices is named."
    trigger = "celadon.lax.linalg.eigh(cnp.eye(3), subset_by_index=(0, 1))"
    cured = "celadon.lax.linalg.eigh(cnp.eye(3))[1][:1]"
