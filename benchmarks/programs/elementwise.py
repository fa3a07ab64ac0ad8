"""Programs of elementwise work: one op, a chain of transcendental functions, powers and divisions by static numbers."""

from __future__ import annotations

from typing import Any

from programs.program import Program, normal


def _scale_add(package: Any, np: Any) -> Any:
    return lambda x, s: x * s + 1.0


def _transcendental(package: Any, np: Any) -> Any:
    def chain(x: Any) -> Any:
        return np.tanh(np.sin(x) * np.exp(-x * x)) + np.log1p(np.abs(x)) * np.cos(x)

    return chain


def _power(package: Any, np: Any) -> Any:
    return lambda x, exponent: x**exponent


def _quotient(package: Any, np: Any) -> Any:
    return lambda i, divisor: i // divisor


def _remainder(package: Any, np: Any) -> Any:
    return lambda i, divisor: i % divisor


def _square(rng: Any, n: int) -> tuple[Any, ...]:
    return (normal(rng, n, n),)


def _counts(rng: Any, n: int) -> tuple[Any, ...]:
    return (rng.integers(0, 1 << 30, (n, n)).astype("int32"),)


_LARGE, _MIDDLE, _SMALL = {"n": 2048}, {"n": 1024}, {"n": 37}
PROGRAMS = (
    Program("scale_add 2048x2048", _scale_add, _square, _LARGE, _SMALL, "n", "s", numpy=True, streams=2 * 4 * 2048**2),
    Program("transcendental chain 1024x1024", _transcendental, _square, _MIDDLE, _SMALL, "n", numpy=True),
    Program("x**n 1024x1024", _power, _square, _MIDDLE, _SMALL, "n", "exponent", lambda k: 2 + k, numpy=True),
    Program("i//n 1024x1024", _quotient, _counts, _MIDDLE, _SMALL, "n", "divisor", lambda k: 3 + k, numpy=True),
    Program("i%n 1024x1024", _remainder, _counts, _MIDDLE, _SMALL, "n", "divisor", lambda k: 3 + k, numpy=True),
)
