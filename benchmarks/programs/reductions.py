"""Programs that reduce: softmax and layer norm of rows, sums of squares over either axis and over all, over a difference."""

from __future__ import annotations

from typing import Any

from programs.program import Program, normal


def _softmax(package: Any, np: Any) -> Any:
    def softmax(x: Any) -> Any:
        shifted = np.exp(x - np.max(x, axis=-1, keepdims=True))
        return shifted / np.sum(shifted, axis=-1, keepdims=True)

    return softmax


def _layer_norm(package: Any, np: Any) -> Any:
    def layer_norm(x: Any, scale: Any, bias: Any) -> Any:
        centred = x - np.mean(x, axis=-1, keepdims=True)
        return centred / np.sqrt(np.mean(centred * centred, axis=-1, keepdims=True) + 1e-5) * scale + bias

    return layer_norm


def _squares(axis: int | None) -> Any:
    return lambda package, np: lambda x: np.sum(x * x, axis=axis)


def _difference(package: Any, np: Any) -> Any:
    def difference(x: Any) -> Any:
        steps = np.diff(x)
        return np.sum(steps * steps)

    return difference


def _square(rng: Any, n: int) -> tuple[Any, ...]:
    return (normal(rng, n, n),)


def _rows(rng: Any, rows: int, width: int) -> tuple[Any, ...]:
    return normal(rng, rows, width), normal(rng, width), normal(rng, width)


def _line(rng: Any, n: int) -> tuple[Any, ...]:
    return (normal(rng, n),)


_LARGE, _MIDDLE, _SMALL = {"n": 2048}, {"n": 1024}, {"n": 37}
_BYTES = 4 * 2048**2
PROGRAMS = (
    Program("softmax 1024x1024", _softmax, _square, _MIDDLE, _SMALL, "n", numpy=True),
    Program(
        "layer norm 4096x512", _layer_norm, _rows, {"rows": 4096, "width": 512}, {"rows": 9, "width": 37}, "rows", numpy=True
    ),
    Program("sum of squares, axis 0, 2048x2048", _squares(0), _square, _LARGE, _SMALL, "n", numpy=True, streams=_BYTES),
    Program("sum of squares, axis 1, 2048x2048", _squares(1), _square, _LARGE, _SMALL, "n", numpy=True, streams=_BYTES),
    Program("sum of squares, 2048x2048", _squares(None), _square, _LARGE, _SMALL, "n", numpy=True, streams=_BYTES),
    Program("diff + sum of squares 1e7", _difference, _line, {"n": 10**7}, {"n": 1001}, "n", numpy=True, streams=4 * 10**7),
)
