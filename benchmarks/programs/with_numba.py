"""Some of the programs as numba's users write them: loops over elements, the outermost in parallel."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from programs.program import Program


def function_of(program: Program) -> Callable[..., Any] | None:
    """numba's function for a program, of the same arguments; None where it has none or numba is not installed."""
    try:
        import numba
    except ImportError:
        return None
    write = _WRITTEN.get(program.name)
    return write(numba) if write else None


def _scale_add(numba: Any) -> Any:
    @numba.njit(parallel=True)
    def run(x: Any, s: float) -> Any:
        out, factor, one = np.empty_like(x), np.float32(s), np.float32(1)
        for i in numba.prange(x.shape[0]):
            for j in range(x.shape[1]):
                out[i, j] = x[i, j] * factor + one
        return out

    return run


def _transcendental(numba: Any) -> Any:
    @numba.njit(parallel=True)
    def run(x: Any) -> Any:
        out = np.empty_like(x)
        for i in numba.prange(x.shape[0]):
            for j in range(x.shape[1]):
                v = x[i, j]
                out[i, j] = np.tanh(np.sin(v) * np.exp(-v * v)) + np.log1p(abs(v)) * np.cos(v)
        return out

    return run


def _quotient(numba: Any) -> Any:
    @numba.njit(parallel=True)
    def run(x: Any, divisor: int) -> Any:
        out, by = np.empty_like(x), np.int32(divisor)
        for i in numba.prange(x.shape[0]):
            for j in range(x.shape[1]):
                out[i, j] = x[i, j] // by
        return out

    return run


def _softmax(numba: Any) -> Any:
    @numba.njit(parallel=True)
    def run(x: Any) -> Any:
        out = np.empty_like(x)
        for i in numba.prange(x.shape[0]):
            most = x[i, 0]
            for j in range(x.shape[1]):
                most = max(most, x[i, j])
            total = np.float32(0)
            for j in range(x.shape[1]):
                out[i, j] = np.exp(x[i, j] - most)
                total += out[i, j]
            for j in range(x.shape[1]):
                out[i, j] /= total
        return out

    return run


def _squares(numba: Any) -> Any:
    @numba.njit(parallel=True)
    def run(x: Any) -> Any:
        rows = np.empty(x.shape[0], np.float32)
        for i in numba.prange(x.shape[0]):
            total = np.float32(0)
            for j in range(x.shape[1]):
                total += x[i, j] * x[i, j]
            rows[i] = total
        return rows

    return run


def _lorenz(numba: Any) -> Any:
    @numba.njit
    def slope(x: Any, y: Any, z: Any) -> Any:
        f = np.float32
        return f(10) * (y - x), x * (f(28) - z) - y, x * y - f(8 / 3) * z

    @numba.njit
    def run(x: Any, y: Any, z: Any, steps: Any, h: float) -> Any:
        f = np.float32
        step = f(h)
        half, sixth = step / f(2), step / f(6)
        for _ in range(steps.shape[0]):
            a, b, c = slope(x, y, z)
            d, e, g = slope(x + half * a, y + half * b, z + half * c)
            k, m, n = slope(x + half * d, y + half * e, z + half * g)
            p, q, r = slope(x + step * k, y + step * m, z + step * n)
            x += sixth * (a + f(2) * d + f(2) * k + p)
            y += sixth * (b + f(2) * e + f(2) * m + q)
            z += sixth * (c + f(2) * g + f(2) * n + r)
        return x, y, z

    return run


def _recurrent(numba: Any) -> Any:
    @numba.njit
    def run(state: Any, weights: Any, inputs: Any) -> Any:
        seen = np.empty(inputs.shape[0], np.float32)
        for t in range(inputs.shape[0]):
            state = np.tanh(weights @ state + inputs[t])
            seen[t] = state[0]
        return state, seen

    return run


def _mandelbrot(numba: Any) -> Any:
    @numba.njit(parallel=True)
    def run(re: Any, im: Any, limit: float) -> Any:
        count, most, two = np.zeros(re.shape, np.int32), np.float32(limit), np.float32(2)
        for i in numba.prange(re.shape[0]):
            for j in range(re.shape[1]):
                x = y = np.float32(0)
                for _ in range(100):
                    if x * x + y * y >= most:
                        break
                    x, y = x * x - y * y + re[i, j], two * x * y + im[i, j]
                    count[i, j] += 1
        return count

    return run


def _black_scholes(numba: Any) -> Any:
    @numba.njit
    def cumulative(x: Any) -> Any:
        return 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))

    @numba.njit(parallel=True)
    def run(spot: Any, strike: Any, years: Any, rate: float) -> Any:
        call, put = np.empty_like(spot), np.empty_like(spot)
        for i in numba.prange(spot.shape[0]):
            spread = 0.3 * math.sqrt(years[i])
            d1 = (math.log(spot[i] / strike[i]) + (rate + 0.045) * years[i]) / spread
            discounted = strike[i] * math.exp(-rate * years[i])
            call[i] = spot[i] * cumulative(d1) - discounted * cumulative(d1 - spread)
            put[i] = call[i] - spot[i] + discounted
        return call, put

    return run


def _sorted_sum(numba: Any) -> Any:
    return numba.njit(lambda x: np.cumsum(np.sort(x)))


_WRITTEN: dict[str, Callable[[Any], Any]] = {
    "scale_add 2048x2048": _scale_add,
    "transcendental chain 1024x1024": _transcendental,
    "i//n 1024x1024": _quotient,
    "softmax 1024x1024": _softmax,
    "sum of squares, axis 1, 2048x2048": _squares,
    "Lorenz RK4 20000 steps": _lorenz,
    "RNN scan 10000x64": _recurrent,
    "Mandelbrot 400x400x100": _mandelbrot,
    "Black-Scholes 1e6": _black_scholes,
    "sort + cumsum 1e6": _sorted_sum,
}
