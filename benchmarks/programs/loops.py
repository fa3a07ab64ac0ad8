"""Programs that loop: a recurrent network, Lorenz's equations by Runge and Kutta, Mandelbrot's set, k-means, a scan of many
small leaves with its gradient."""

from __future__ import annotations

from typing import Any

import numpy

from programs.program import Program, normal

_LEAVES = 60


def _recurrent(package: Any, np: Any) -> Any:
    def run(state: Any, weights: Any, inputs: Any) -> Any:
        def step(h: Any, x: Any) -> Any:
            h = np.tanh(weights @ h + x)
            return h, h[0]

        return package.lax.scan(step, state, inputs)

    return run


def _lorenz(package: Any, np: Any) -> Any:
    def slope(x: Any, y: Any, z: Any) -> Any:
        return 10.0 * (y - x), x * (28.0 - z) - y, x * y - (8.0 / 3.0) * z

    def moved(state: Any, slopes: Any, h: float) -> Any:
        return tuple([s + h * k for s, k in zip(state, slopes, strict=True)])

    def run(x: Any, y: Any, z: Any, steps: Any, h: float) -> Any:
        def step(_: Any, state: Any) -> Any:
            a = slope(*state)
            b = slope(*moved(state, a, h / 2))
            c = slope(*moved(state, b, h / 2))
            d = slope(*moved(state, c, h))
            mean = tuple([(p + 2 * q + 2 * r + s) / 6 for p, q, r, s in zip(a, b, c, d, strict=True)])
            return moved(state, mean, h)

        return package.lax.fori_loop(0, steps.shape[0], step, (x, y, z))

    return run


def _mandelbrot(package: Any, np: Any) -> Any:
    def run(re: Any, im: Any, limit: float) -> Any:
        def step(_: Any, state: Any) -> Any:
            x, y, count = state
            inside = x * x + y * y < limit
            return np.where(inside, x * x - y * y + re, x), np.where(inside, 2 * x * y + im, y), count + inside

        zero = np.zeros(re.shape, np.float32)
        return package.lax.fori_loop(0, 100, step, (zero, zero, np.zeros(re.shape, np.int32)))[2]

    return run


def _k_means(package: Any, np: Any) -> Any:
    def run(points: Any, centres: Any) -> Any:
        def step(centres: Any, _: Any) -> Any:
            distances = np.sum(centres**2, axis=1) - 2 * points @ centres.T
            member = package.nn.one_hot(np.argmin(distances, axis=1), centres.shape[0])
            return member.T @ points / np.maximum(np.sum(member, axis=0)[:, None], 1.0), None

        return package.lax.scan(step, centres, None, length=10)[0]

    return run


def _many_leaves(package: Any, np: Any) -> Any:
    def total(state: Any, inputs: Any) -> Any:
        def step(leaves: Any, x: Any) -> Any:
            turned = [*leaves[1:], leaves[0]]
            return [np.sin(a) * 0.9 + b * x for a, b in zip(leaves, turned, strict=True)], None

        return sum(np.sum(leaf) for leaf in package.lax.scan(step, state, inputs)[0])

    return package.value_and_grad(total)


def _states(rng: Any, steps: int, width: int) -> tuple[Any, ...]:
    return normal(rng, width), normal(rng, width, width) / numpy.float32(width**0.5), normal(rng, steps, width)


def _start(rng: Any, steps: int) -> tuple[Any, ...]:
    return *[numpy.float32(x) for x in 1 + rng.random(3)], numpy.zeros(steps, numpy.int8)


def _plane(rng: Any, n: int) -> tuple[Any, ...]:
    re, im = numpy.meshgrid(numpy.linspace(-2, 0.5, n), numpy.linspace(-1.2, 1.2, n))
    return (re + rng.random() / n).astype(numpy.float32), im.astype(numpy.float32)


def _cloud(rng: Any, points: int, width: int, centres: int) -> tuple[Any, ...]:
    return normal(rng, points, width), normal(rng, centres, width)


def _leaves(rng: Any, steps: int, width: int) -> tuple[Any, ...]:
    return [normal(rng, width) for _ in range(_LEAVES)], normal(rng, steps)


PROGRAMS = (
    Program("RNN scan 10000x64", _recurrent, _states, {"steps": 10_000, "width": 64}, {"steps": 11, "width": 9}, "steps"),
    Program(
        "Lorenz RK4 20000 steps", _lorenz, _start, {"steps": 20_000}, {"steps": 13}, "steps", "h", lambda k: 0.001 + k / 2**20
    ),
    Program("Mandelbrot 400x400x100", _mandelbrot, _plane, {"n": 400}, {"n": 17}, "n", "limit", lambda k: 4.0 + k / 64),
    Program(
        "k-means 20000x16x32", _k_means, _cloud, {"points": 20_000, "width": 16, "centres": 32},
        {"points": 50, "width": 3, "centres": 4}, "points",
    ),
    Program("scan of 60 leaves, gradient", _many_leaves, _leaves, {"steps": 1000, "width": 4}, {"steps": 5, "width": 3}, "steps"),
)  # fmt: skip
