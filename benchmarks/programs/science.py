"""Programs of statistics and finance: Black and Scholes' prices, normal numbers, Hamiltonian Monte Carlo on a logistic
regression."""

from __future__ import annotations

from typing import Any

import numpy

from programs.program import Program, normal

_LEAPFROGS = 200


def _black_scholes(package: Any, np: Any) -> Any:
    def cumulative(x: Any) -> Any:
        return 0.5 * (1.0 + package.scipy.special.erf(x / numpy.sqrt(numpy.float32(2.0))))

    def price(spot: Any, strike: Any, years: Any, rate: float) -> Any:
        spread = 0.3 * np.sqrt(years)
        d1 = (np.log(spot / strike) + (rate + 0.045) * years) / spread
        discounted = strike * np.exp(-rate * years)
        call = spot * cumulative(d1) - discounted * cumulative(d1 - spread)
        return call, call - spot + discounted

    return price


def _normals(package: Any, np: Any) -> Any:
    return lambda key, like: package.random.normal(key, like.shape)


def _leapfrog(package: Any, np: Any) -> Any:
    def potential(beta: Any, x: Any, y: Any) -> Any:
        scores = x @ beta
        return np.sum(np.logaddexp(0.0, scores) - y * scores) + 0.5 * np.sum(beta * beta)

    def energy(beta: Any, momentum: Any, x: Any, y: Any) -> Any:
        return potential(beta, x, y) + 0.5 * np.sum(momentum * momentum)

    def sample(beta: Any, momentum: Any, u: Any, x: Any, y: Any, step: float) -> Any:
        slope = package.grad(potential)

        def leap(_: Any, state: Any) -> Any:
            b, p = state
            p = p - 0.5 * step * slope(b, x, y)
            b = b + step * p
            return b, p - 0.5 * step * slope(b, x, y)

        last, p = package.lax.fori_loop(0, _LEAPFROGS, leap, (beta, momentum))
        accepted = np.log(u) < energy(beta, momentum, x, y) - energy(last, p, x, y)
        return np.where(accepted, last, beta), accepted

    return sample


def _options(rng: Any, n: int) -> tuple[Any, ...]:
    return tuple([rng.uniform(low, high, n).astype(numpy.float32) for low, high in ((80, 120), (80, 120), (0.1, 2.0))])


def _key(rng: Any, n: int) -> tuple[Any, ...]:
    return rng.integers(0, 1 << 31, 2).astype(numpy.uint32), numpy.zeros(n, numpy.int8)


def _regression(rng: Any, rows: int, width: int) -> tuple[Any, ...]:
    x = normal(rng, rows, width)
    y = (x @ normal(rng, width) + normal(rng, rows) > 0).astype(numpy.float32)
    return normal(rng, width) / 10, normal(rng, width), numpy.float32(rng.random()), x, y


PROGRAMS = (
    Program(
        "Black-Scholes 1e6", _black_scholes, _options, {"n": 10**6}, {"n": 101}, "n", "rate", lambda k: 0.02 + k / 4096
    ),
    Program("normals 1e6", _normals, _key, {"n": 10**6}, {"n": 101}, "n"),
    Program(
        "HMC logistic 500x20", _leapfrog, _regression, {"rows": 500, "width": 20}, {"rows": 30, "width": 4}, "rows",
        "step", lambda k: 0.01 + k / 2**20,
    ),
)  # fmt: skip
