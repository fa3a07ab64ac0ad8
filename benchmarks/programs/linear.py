"""Programs of linear algebra: matrix products large, small and by a vector, a Cholesky solve, a Fourier transform, Jacobians."""

from __future__ import annotations

from typing import Any

from programs.program import Program, normal


def _product(package: Any, np: Any) -> Any:
    return lambda a, b: a @ b


def _solve(package: Any, np: Any) -> Any:
    linalg = package.scipy.linalg
    return lambda a, b: linalg.cho_solve(linalg.cho_factor(a), b)


def _rfft(package: Any, np: Any) -> Any:
    return lambda x: np.fft.rfft(x)


def _jacobians(package: Any, np: Any) -> Any:
    def field(x: Any, weights: Any) -> Any:
        return np.tanh(weights @ x) * np.sum(x * x)

    return package.vmap(package.jacrev(field), in_axes=(0, None))


def _squares(rng: Any, n: int) -> tuple[Any, ...]:
    return normal(rng, n, n), normal(rng, n, n)


def _vector(rng: Any, n: int) -> tuple[Any, ...]:
    return normal(rng, n, n), normal(rng, n)


def _definite(rng: Any, n: int) -> tuple[Any, ...]:
    a = normal(rng, n, n)
    return a @ a.T / n + 2 * _eye(n), normal(rng, n)


def _eye(n: int) -> Any:
    import numpy

    return numpy.eye(n, dtype=numpy.float32)


def _signals(rng: Any, rows: int, length: int) -> tuple[Any, ...]:
    return (normal(rng, rows, length),)


def _points(rng: Any, batch: int, n: int) -> tuple[Any, ...]:
    return normal(rng, batch, n), normal(rng, n, n)


PROGRAMS = (
    Program("matmul 768", _product, _squares, {"n": 768}, {"n": 37}, "n", numpy=True, flops=2 * 768**3),
    Program("matmul 64", _product, _squares, {"n": 64}, {"n": 17}, "n", numpy=True),
    Program("matrix-vector 2048", _product, _vector, {"n": 2048}, {"n": 37}, "n", numpy=True, streams=4 * 2048**2),
    Program("Cholesky solve 400", _solve, _definite, {"n": 400}, {"n": 17}, "n"),
    Program("rfft 16x65536", _rfft, _signals, {"rows": 16, "length": 65536}, {"rows": 3, "length": 64}, "rows", numpy=True),
    Program("vmap of a Jacobian 256x16", _jacobians, _points, {"batch": 256, "n": 16}, {"batch": 3, "n": 5}, "batch"),
)
